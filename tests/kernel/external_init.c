// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* external_init: programs in the kernel call functions of a module: external_test.c */
#include "tests/kernel/assemble.h"
#include "tests/kernel/device_init.h"
#include "tests/kernel/init.h"
#include "tests/kernel/tool_init.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OF "external: "
#define NAME "dpexternal"
#define STATUS 3
/* See external_test.c */
#define MIX 3
#define COUNT 255
#define LEFT 7
#define FILE_DP "/program.dp"

static unsigned int parameter(const char *name)
{
	char path[96];

	snprintf(path, sizeof(path), "/sys/module/" NAME "/parameters/%s",
		 name);
	return dp_init_number(path);
}

static void getsids(int n)
{
	while (n--)
		syscall(SYS_getsid, 0);
}

/* What @number returns goes to variable 1; variable 0 counts. @computed: the number is not named
 * Return: a session whose program calls at getsid(2), armed; a negative errno. */
static int run(unsigned int number, unsigned int args, int computed,
	       unsigned int arming, char *words)
{
	struct dp_device_program want = { .variables = 2,
					  .jumps = 10,
					  .log = 32,
					  .allow = DP_DEVICE_FUNCTIONS };
	struct dp_device_add add = { 0 };
	int fd = dp_device_open(0), err = dp_device_start(fd, arming);
	struct dp_asm c = { 0 };
	char unused[DP_DEVICE_WORDS];
	unsigned int i;

	for (i = 1; i <= args; i++)
		dp_asm_op64(&c, DP_OPCODE_PUSH, i);
	dp_asm_op16(&c, DP_OPCODE_INC_LV_I, 0);
	dp_asm_op64(&c, DP_OPCODE_PUSH, number);
	if (computed) {
		dp_asm_op64(&c, DP_OPCODE_PUSH, 0);
		dp_asm_op(&c, DP_OPCODE_ADD);
	}
	dp_asm_op(&c, DP_OPCODE_CALL_KMOD);
	dp_asm_op16(&c, DP_OPCODE_POP_LV_I, 1);
	dp_asm_op(&c, DP_OPCODE_EXIT);
	err = err ?: dp_device_add(fd, DP_GETSID, unused, &add);
	err = err ?: dp_device_program(fd, c.bytes, c.n, &want, words);
	err = err ?: dp_device_bind(fd, add.probe, want.program, 0);
	err = err ?: dp_device_commit(fd, 0);
	if (!err)
		return fd;
	close(fd);
	return err;
}

static void call(unsigned int arming)
{
	char words[DP_DEVICE_WORDS];
	unsigned int before = parameter("calls");
	int fd = run(MIX, 6, 0, arming, words);

	getsids(20);
	dp_init_check(
		fd >= 0 && dp_device_variable(fd, 0, 0) == 20 &&
			dp_device_variable(fd, 0, 1) == 123456,
		"a function has its arguments, and its value is on the stack",
		OF);
	dp_init_check(!dp_init_unload(NAME), "who is named by a program stays",
		      OF);
	close(fd);
	fd = run(COUNT, 0, 1, arming, words);
	getsids(30);
	dp_init_check(fd >= 0 && parameter("calls") == before + 30 &&
			      dp_device_variable(fd, 0, 1) == (long)before + 30,
		      "a number may be computed", OF);
	close(fd);
}

static void refuse(void)
{
	static const unsigned char code[] = {
		DP_OPCODE_PUSH, 3, 0, 0, 0, 0, 0, 0, 0, DP_OPCODE_CALL_KMOD,
		DP_OPCODE_EXIT
	};
	struct dp_device_program want = { .flags = DP_DEVICE_USER,
					  .allow = DP_DEVICE_FUNCTIONS };
	char words[DP_DEVICE_WORDS] = "";
	int fd = dp_device_open(0), err = dp_device_start(fd, DP_DEVICE_JUMP);

	dp_init_check(!err &&
			      dp_device_program(fd, code, sizeof(code), &want,
						words) == -EINVAL &&
			      strstr(words, "modtype = kernel"),
		      "not of programs on files", OF);
	want = (struct dp_device_program){ 0 };
	err = dp_device_program(fd, code, sizeof(code), &want, words);
	dp_init_check(err == -EINVAL, "nor without allow", OF);
	close(fd);
	err = run(9, 0, 0, DP_DEVICE_JUMP, words);
	dp_init_check(err == -EINVAL &&
			      strstr(words, "no module has registered"),
		      "nor one that nobody has registered", OF);
	err = run(256, 0, 0, DP_DEVICE_JUMP, words);
	dp_init_check(err == -EINVAL, "nor one beyond the last", OF);
}

/* A computed number keeps no module: its calls fail when that has gone. */
static void go(void)
{
	char words[DP_DEVICE_WORDS];
	int fd = run(LEFT, 0, 1, DP_DEVICE_JUMP, words), err;

	getsids(4);
	dp_init_check(fd >= 0 && dp_device_variable(fd, 0, 1) > 0,
		      "another one is called", OF);
	dp_init_check(dp_init_unload(NAME),
		      "its module goes, and has left it registered", OF);
	getsids(5);
	dp_init_check(dp_device_variable(fd, 0, 0) == 9,
		      "calls of what is not there end the program", OF);
	close(fd);
	err = run(LEFT, 0, 0, DP_DEVICE_JUMP, words);
	dp_init_check(err == -EINVAL, "and then it is refused", OF);
}

static void tool(void)
{
	FILE *f = fopen(FILE_DP, "w");
	int status;

	if (!f)
		return;
	fprintf(f,
		"name = vmlinux\nmodtype = kernel\nmajor = 1\nallow = call\nvars = 1\noffset = %s\npush %d\ncall_kmod\npop lv,0\nexit\n",
		DP_GETSID, COUNT);
	fclose(f);
	status = DP_TOOL("run", FILE_DP, "--allow", "call", "--", "/init",
			 "work", "6", "0", "3");
	dp_tool_check(status == STATUS && dp_tool_says("vmlinux lv[0] = "),
		      "external: dprobes run calls it");
	f = fopen(FILE_DP, "w");
	if (!f)
		return;
	fprintf(f,
		"name = vmlinux\nmodtype = kernel\nmajor = 1\nallow = call\noffset = %s\npush 99\ncall_kmod\npop lp\nexit\n",
		DP_GETSID);
	fclose(f);
	status = DP_TOOL("run", FILE_DP, "--allow", "call", "--", "/init",
			 "work", "6", "0", "3");
	dp_tool_check(status != STATUS &&
			      dp_tool_says("no module has registered"),
		      "external: and says what is not there");
}

void dp_external_try(void)
{
	dp_init_check(dp_init_load(NAME, "leaves=1") && !parameter("wrong"),
		      "functions are registered", OF);
	call(DP_DEVICE_TRAP);
	call(DP_DEVICE_JUMP);
	refuse();
	tool();
	dp_init_check(!parameter("wrong"), "they have what they were given",
		      OF);
	go();
	dp_init_check(dp_init_load(NAME, "") && !parameter("wrong") &&
			      dp_init_unload(NAME),
		      "numbers are free again", OF);
}
