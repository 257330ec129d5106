// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * ordered: give an order to a process that may have changed since it was looked at:
 * ordered PID ADDR.
 *
 * Opens the process, says so, and waits for a line. Then it writes a word at ADDR, and wants
 * the code at ADDR called by a thread that finds the word there. Prints what came of each.
 */
#include "proc/call.h"
#include "proc/proc.h"
#include <dprobes/diag.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	struct dp_diag diag = { 0 };
	struct dp_process *proc;
	struct dp_call call = { .word = 0x6f72646572656421 };
	char line[8];
	int err;

	call.entry = call.word_addr = strtoull(argv[2], NULL, 0);
	err = dp_process_open(atoi(argv[1]), &proc, &diag);
	if (err) {
		printf("%s\n", diag.text);
		return 1;
	}
	puts("open");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 2;
	err = dp_process_write(proc, call.word_addr, &call.word,
			       sizeof(call.word));
	printf("write %d\n", err);
	err = dp_process_call(proc, &call, &diag);
	printf("call %d %s\n", err, diag.text);
	dp_process_close(proc);
	return 0;
}
