// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * slow_motion: counts how often another process comes to an address, says who does
 * and with what arguments, and, if asked to, changes the first argument there.
 *
 *     cc -o slow_motion slow_motion.c -ldprobes
 *     ./slow_motion PID 0xADDRESS [SECONDS [NEW-FIRST-ARGUMENT]]
 *
 * The address of a function is that of its file's mapping (/proc/PID/maps) plus its
 * value in the symbol table (nm), for a program that is not linked to a fixed place.
 */
#include <dprobes/uprobes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned long hits;
static const char *replacement;

/* Runs here, while the thread that has come there is held. Several may at once. */
static void handler(struct uprobe *u, struct pt_regs *regs)
{
	unsigned long n = __atomic_add_fetch(&hits, 1, __ATOMIC_RELAXED);

	if (n <= 10)
		printf("%s/%d: (%#lx, %#lx, %#lx)\n", current->comm,
		       current->pid, regs->di, regs->si, regs->dx);
	if (replacement)
		regs->di = strtoul(replacement, NULL, 0);
}

int main(int argc, char **argv)
{
	struct uprobe probe = { .handler = handler };

	if (argc < 3) {
		fprintf(stderr, "slow_motion PID 0xADDRESS [SECONDS [NEW]]\n");
		return 2;
	}
	probe.pid = atoi(argv[1]);
	probe.vaddr = strtoul(argv[2], NULL, 0);
	if (argc > 4)
		replacement = argv[4];
	if (register_uprobe(&probe)) {
		fprintf(stderr, "slow_motion: %s\n", dp_last_diag()->text);
		return 1;
	}
	printf("process %d is probed\n", probe.pid);
	fflush(stdout);
	sleep(argc > 3 ? (unsigned int)atoi(argv[3]) : 10);
	unregister_uprobe(&probe);
	printf("%lu hits\n", hits);
	return 0;
}
