// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * facilities_init: programs that end by "exit N": what the kernel carries out, and what it does not.
 *
 * The last one ends the guest, so it has a boot of its own: only=dump.
 */
#include "engine/vm/ops.h"
#include "tests/kernel/device_init.h"
#include "tests/kernel/init.h"
#include "tests/kernel/tool_init.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OF "facilities: "
#define FILE_DP "/program.dp"
#define STATUS 3
#define WORDS \
	"programs may not end this kernel: see /sys/kernel/debug/dprobes/dump"

static int add_program(int fd, unsigned char n, unsigned int *program,
		       char *words)
{
	const unsigned char code[] = { DP_OPCODE_EXIT_N, n };
	struct dp_device_program want = { 0 };
	int err = dp_device_program(fd, code, sizeof(code), &want, words);

	*program = want.program;
	return err;
}

int dp_facilities_ask(const char *function, unsigned int arming,
		      unsigned char n, char *words)
{
	struct dp_device_add add = { 0 };
	unsigned int program = 0;
	int fd = dp_device_open(0), err = dp_device_start(fd, arming);

	err = err ?: dp_device_add(fd, function, words, &add);
	err = err ?: add_program(fd, n, &program, words);
	err = err ?: dp_device_bind(fd, add.probe, program, 0);
	err = err ?: dp_device_commit(fd, 0);
	if (!err)
		return fd;
	close(fd);
	return err;
}

static int begin(unsigned char n, char *words)
{
	return dp_facilities_ask(DP_GETSID, DP_DEVICE_TRAP, n, words);
}

static void refuse(void)
{
	char words[DP_DEVICE_WORDS] = "";
	int err = begin(2, words);

	dp_init_check(err == -EINVAL && strstr(words, "exit 2: " WORDS),
		      "no program ends the kernel, unless that is permitted",
		      OF);
	err = begin(1, words);
	dp_init_check(err == -EINVAL && strstr(words, "exit 1: ") &&
			      (strstr(words, "no debugger (KGDB)") ||
			       strstr(words, "no console (kgdboc=)")),
		      "nor stops it for a debugger that is not there", OF);
	err = begin(3, words);
	dp_init_check(err == -EINVAL && strstr(words, "exit 3: "),
		      "nor is there a core dump", OF);
	dp_init_check(dp_files_put("dump", "2") == EINVAL &&
			      begin(2, words) == -EINVAL,
		      "the knob is a knob", OF);
}

/* It was permitted as the program came, and is not any more. */
static void forbid(void)
{
	char words[DP_DEVICE_WORDS] = "", buffer[4096];
	const struct dp_device_record *r = (const void *)buffer;
	int err = dp_files_put("dump", "1"), fd = begin(2, words);
	ssize_t n;

	err = err ?: dp_files_put("dump", "0");
	if (fd >= 0 && !err)
		syscall(SYS_getsid, 0);
	n = fd < 0 ? -1 : read(fd, buffer, sizeof(buffer));
	dp_init_check(!err && n == (ssize_t)sizeof(*r) && r->facility == 2 &&
			      r->flags == DP_DEVICE_DENIED,
		      "what is not permitted any more is not done, and told",
		      OF);
	close(fd);
}

/* The record of a call comes when it is over. */
static void returns(void)
{
	struct dp_device_add add = { .flags = DP_DEVICE_RETURNS };
	char words[DP_DEVICE_WORDS] = "";
	unsigned int program = 0, other = 0;
	int fd = dp_device_open(0), err = dp_device_start(fd, DP_DEVICE_TRAP);

	err = err ?: dp_files_put("dump", "1");
	err = err ?: dp_device_add(fd, DP_GETSID, words, &add);
	err = err ?: add_program(fd, 2, &program, words);
	err = err ?: add_program(fd, 16, &other, words);
	dp_init_check(
		!err && dp_device_bind(fd, add.probe, program, 0) == -EINVAL &&
			!dp_device_bind(fd, add.probe, other, 0),
		"a followed call asks for none", OF);
	dp_files_put("dump", "0");
	close(fd);
}

static void write_program(const char *end)
{
	FILE *f = fopen(FILE_DP, "w");

	if (f)
		fprintf(f,
			"name = vmlinux\nmodtype = kernel\nmajor = 41\n"
			"offset = " DP_GETSID
			"\nminor = 42\npush 0x1234\nlog 1\n%s\n",
			end);
	dp_init_check(f && !fclose(f), FILE_DP, OF "written: ");
}

static void tool(void)
{
	int status;
	char *log;

	write_program("exit");
	dp_init_log();
	status = DP_TOOL("run", "-q", "--log-target", "klog", FILE_DP, "--",
			 "/init", "work", "2", "0", "0");
	log = dp_init_log();
	dp_tool_check(status == STATUS && strstr(log, "dprobes(41,42) cpu="),
		      OF "records go to the kernel's log");
	write_program("exit 2");
	status = DP_TOOL("run", FILE_DP, "--", "/init", "work", "2", "0", "0");
	dp_tool_check(status != STATUS && dp_tool_says(WORDS),
		      OF "a dump takes root's word");
	write_program("exit 16");
	status = DP_TOOL("run", "--facility", "16=cat > /facility", FILE_DP,
			 "--", "/init", "work", "2", "0", "0");
	dp_tool_check(
		status == STATUS &&
			dp_tool_occurrences("exit 16: a facility that nobody") +
					dp_tool_occurrences("exit 16: ") ==
				2,
		OF "a command's facility is the tool's");
}

void dp_facilities_try(void)
{
	refuse();
	forbid();
	returns();
	tool();
}

void dp_facilities_dump(void)
{
	char words[DP_DEVICE_WORDS] = "";
	int err = dp_files_put("dump", "1"), fd = begin(2, words);

	dp_init_check(!err && fd >= 0, "a program may end the kernel", OF);
	fflush(stdout);
	syscall(SYS_getsid, 0);
	dp_init_check(0, "and does", OF);
	close(fd);
}
