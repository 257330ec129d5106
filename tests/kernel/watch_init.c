// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* watch_init: the kernel's data is watched, by the device, the command, and programs. */
#include "tests/kernel/assemble.h"
#include "tests/kernel/device_init.h"
#include "tests/kernel/init.h"
#include "tests/kernel/tool_init.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define OF "watch: "
/* A sysctl, whose variable is an int that a write(2) writes once */
#define VARIABLE "vm_swappiness"
#define FILE_OF "/proc/sys/vm/swappiness"
#define WRITES 50
#define FILE_DP "/program.dp"
#define STATUS 3

void dp_watch_write(unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		dp_init_put(FILE_OF, i & 1 ? "60" : "59");
}

static int add(int fd, unsigned long addr, unsigned int len,
	       unsigned int access, char *words, unsigned int *probe)
{
	struct dp_device_watch want = { .addr = addr,
					.len = len,
					.access = access,
					.words = (unsigned long)words,
					.words_size = DP_DEVICE_WORDS };
	int err = ioctl(fd, DP_DEVICE_WATCH, &want) ? -errno : 0;

	*probe = want.probe;
	return err;
}

static int is(int fd, unsigned int probe, unsigned long long hits,
	      unsigned int state)
{
	struct dp_device_count v = { 0 };

	if (dp_device_counts(fd, &v, probe, 1) == 1 && v.hits == hits &&
	    v.state == state && v.mode == DP_DEVICE_BY_WATCH && !v.missed)
		return 1;
	printf("# %llu hits, %llu missed, mode %u, state %u\n", v.hits,
	       v.missed, v.mode, v.state);
	return 0;
}

static int turn(int fd, unsigned int probe, unsigned int on)
{
	struct dp_device_turn turn = { .probe = probe, .on = on };

	return ioctl(fd, DP_DEVICE_TURN, &turn) ? -errno :
						  dp_device_commit(fd, 0);
}

static int is_listed(const char *flags)
{
	char line[128];

	snprintf(line, sizeof(line), "  w  " VARIABLE "+0x0    [WATCH/4:w]%s\n",
		 flags);
	if (!dp_init_debugfs() || strstr(dp_files_list(), line))
		return 1;
	printf("# %s\n", dp_files_list());
	return 0;
}

unsigned long dp_watch_address(void)
{
	return dp_init_address(VARIABLE);
}

static void counts(void)
{
	char words[DP_DEVICE_WORDS];
	unsigned int probe = 0;
	int fd = dp_device_open(0), err = dp_device_start(fd, DP_DEVICE_JUMP);
	unsigned long at = dp_init_address(VARIABLE);

	err = err ?: add(fd, at, 4, DP_DEVICE_WRITTEN, words, &probe);
	dp_watch_write(1);
	err = err ?: dp_device_commit(fd, DP_DEVICE_PLAN);
	dp_watch_write(1);
	dp_init_check(!err && is(fd, probe, 0, DP_DEVICE_IS_THERE),
		      "data is added, and is not watched yet", OF);
	err = err ?: dp_device_commit(fd, 0);
	dp_watch_write(WRITES);
	dp_init_check(!err && is(fd, probe, WRITES, DP_DEVICE_IS_THERE) &&
			      is_listed(""),
		      "each write is counted, and it is listed", OF);
	dp_init_check(dp_init_number(FILE_OF) == 60 &&
			      is(fd, probe, WRITES, DP_DEVICE_IS_THERE),
		      "what reads is not", OF);
	err = turn(fd, probe, 0);
	dp_watch_write(WRITES);
	dp_init_check(!err && is(fd, probe, WRITES, DP_DEVICE_IS_THERE) &&
			      is_listed("[DISABLED]"),
		      "it can be turned off", OF);
	err = turn(fd, probe, 1);
	dp_watch_write(1);
	dp_init_check(!err && is(fd, probe, WRITES + 1, DP_DEVICE_IS_THERE),
		      "and on", OF);
	if (dp_init_debugfs()) {
		err = dp_files_put("enabled", "0");
		dp_watch_write(WRITES);
		err = err ?: dp_files_put("enabled", "1");
		dp_watch_write(1);
		dp_init_check(!err && is(fd, probe, WRITES + 2,
					 DP_DEVICE_IS_THERE),
			      "and so can all, by the knob", OF);
	}
	close(fd);
}

/* An emulator that finds one register for an access has no two at one place. */
static void reads(void)
{
	char words[DP_DEVICE_WORDS];
	unsigned int probe = 0;
	int fd = dp_device_open(0), err = dp_device_start(fd, DP_DEVICE_JUMP);

	err = err   ?:
		      add(fd, dp_watch_address(), 4, DP_DEVICE_ACCESSED, words,
			  &probe);
	err = err ?: dp_device_commit(fd, 0);
	dp_watch_write(WRITES);
	dp_init_check(!err && dp_init_number(FILE_OF) == 60 &&
			      is(fd, probe, WRITES + 1, DP_DEVICE_IS_THERE),
		      "what reads hits a probe that asks for it", OF);
	close(fd);
}

static void refuses(void)
{
	static const struct {
		unsigned long addr;
		unsigned int len, access;
		int err;
		const char *words;
	} bad[] = {
		{ 0, 4, 2, -EINVAL, "" },
		{ 1, 4, 0, -EINVAL, "no multiple" },
		{ 0, 5, 0, -EINVAL, "1, 2, 4 or 8" },
		{ 0, 0, 0, -EINVAL, "1, 2, 4 or 8" },
		{ 0, 4, 0, -ENOSPC, "four" },
	};
	char words[DP_DEVICE_WORDS];
	unsigned int probe, i;
	int fd = dp_device_open(0), err = dp_device_start(fd, DP_DEVICE_JUMP);
	unsigned long at = dp_init_address(VARIABLE),
		      own = dp_init_address("dp_kernel_sites");

	dp_init_check(add(fd, 0x1000, 4, 0, words, &probe) == -EINVAL &&
			      strstr(words, "no address of the kernel's"),
		      "refused: memory of processes", OF);
	dp_init_check(own && add(fd, own, 8, 0, words, &probe) == -EPERM &&
			      strstr(words, "dprobes.ko's own"),
		      "refused: the module's own", OF);
	for (i = 0; i < 4; i++)
		err = err ?: add(fd, at, 4, 0, words, &probe);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		*words = '\0';
		dp_init_check(add(fd, at + bad[i].addr, bad[i].len,
				  bad[i].access, words, &probe) == bad[i].err &&
				      strstr(words, bad[i].words),
			      bad[i].words, OF "refused: ");
	}
	err = err ?: dp_device_commit(fd, 0);
	dp_init_check(!err && add(fd, at, 4, 0, words, &probe) == -ENOSPC,
		      "refused: a fifth one, later", OF);
	close(fd);
	/* What a session has had is free again. */
	fd = dp_device_open(0);
	err = dp_device_start(fd, DP_DEVICE_JUMP);
	for (i = 0; i < 4; i++)
		err = err ?: add(fd, at, 4, 0, words, &probe);
	dp_init_check(!err, "registers are there again", OF);
	close(fd);
}

/* Logs what is there, and what was */
static void log_values(int fd, unsigned int probe)
{
	struct dp_asm c = { 0 };
	unsigned long addr = dp_init_address(VARIABLE);
	struct dp_device_program want = { .log = 64 };
	char words[DP_DEVICE_WORDS] = "", buffer[4096];
	const struct dp_device_record *r = (const void *)buffer;
	unsigned long new = 0, old = 0;
	ssize_t n;
	int err;

	dp_asm_op64(&c, DP_OPCODE_PUSH, addr);
	dp_asm_op(&c, DP_OPCODE_PUSH_MEM_U32);
	dp_asm_op(&c, DP_OPCODE_PUSH_TOLD);
	dp_asm_op16(&c, DP_OPCODE_LOG_I, 2);
	dp_asm_op(&c, DP_OPCODE_EXIT);
	err = dp_device_program(fd, c.bytes, c.n, &want, words);
	err = err ?: dp_device_bind(fd, probe, want.program, 0);
	dp_init_put(FILE_OF, "41");
	err = err ?: dp_device_commit(fd, 0);
	dp_init_put(FILE_OF, "42");
	n = read(fd, buffer, sizeof(buffer));
	memcpy(&old, buffer + sizeof(*r) + 3, 8);
	memcpy(&new, buffer + sizeof(*r) + 11, 8);
	if (old == 42) {
		old = new;
		new = 42;
	}
	dp_init_check(!err && n >= (ssize_t)sizeof(*r) && r->log == 19 &&
			      r->tid == (unsigned int)getpid() &&
			      r->context == DP_DEVICE_IN_TASK && new == 42 &&
			      old == 41,
		      "its program has what was there, and what is", OF);
	if (err || new != 42 || old != 41)
		printf("# %d %s: %zd bytes, %lu, %lu, context %u\n", err, words,
		       n, new, old, r->context);
}

static void programs(void)
{
	char words[DP_DEVICE_WORDS];
	unsigned int probe = 0;
	int fd = dp_device_open(0), err = dp_device_start(fd, DP_DEVICE_TRAP);

	err = err   ?:
		      add(fd, dp_init_address(VARIABLE), 4, DP_DEVICE_WRITTEN,
			  words, &probe);
	if (!err)
		log_values(fd, probe);
	close(fd);
	dp_init_put(FILE_OF, "60");
}

/* The victim's module goes, with its data */
static void module_goes(void)
{
	char words[DP_DEVICE_WORDS];
	unsigned int probe = 0;
	int fd, err = !dp_init_load("dpvictim", "");

	fd = dp_device_open(0);
	err = err ?: dp_device_start(fd, DP_DEVICE_JUMP);
	err = err   ?:
		      add(fd, dp_init_address("dpvictim_written"), 8,
			  DP_DEVICE_WRITTEN, words, &probe);
	err = err ?: dp_device_commit(fd, 0);
	dp_init_put("/sys/module/dpvictim/parameters/work", "4");
	dp_init_check(!err && is(fd, probe, 4, DP_DEVICE_IS_THERE),
		      "a module's data is watched", OF);
	dp_init_check(dp_init_unload("dpvictim") &&
			      is(fd, probe, 4, DP_DEVICE_IS_GONE),
		      "and goes with it; the count stays", OF);
	close(fd);
}

/* A session is killed; a module leaves a handler behind. */
static void left_behind(void)
{
	char words[DP_DEVICE_WORDS];
	unsigned int probe, i;
	int status = 0, fd, err;
	pid_t child = fork();

	if (!child) {
		fd = dp_device_open(0);
		err = dp_device_start(fd, DP_DEVICE_JUMP);
		for (i = 0; i < 4; i++)
			err = err   ?:
				      add(fd, dp_init_address(VARIABLE), 4,
					  DP_DEVICE_ACCESSED, words, &probe);
		err = err ?: dp_device_commit(fd, 0);
		if (!err)
			kill(getpid(), SIGKILL);
		_exit(1);
	}
	waitpid(child, &status, 0);
	dp_watch_write(WRITES);
	err = !dp_init_load("dpwatch", "leave=1") || !dp_init_unload("dpwatch");
	usleep(20000);
	fd = dp_device_open(0);
	err = err ?: dp_device_start(fd, DP_DEVICE_JUMP);
	for (i = 0; i < 4; i++)
		err = err   ?:
			      add(fd, dp_init_address(VARIABLE), 4,
				  DP_DEVICE_ACCESSED, words, &probe);
	dp_init_check(
		WIFSIGNALED(status) && !err,
		"neither a killed tool nor a module that goes keeps registers",
		OF);
	close(fd);
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (f)
		fputs(text, f);
	dp_init_check(f && !fclose(f), path, OF "written: ");
}

static void tool(void)
{
	int status = DP_TOOL("stat", "w:kernel:" VARIABLE "/4",
			     "kernel:" DP_GETSID, "--", "/init", "work", "7",
			     "0", "0", "0", "0", "25");

	dp_tool_check(status == STATUS &&
			      dp_tool_occurrences(
				      " 25        0  watch  kernel:" VARIABLE
				      "/4\n") == 1 &&
			      dp_tool_occurrences(
				      " 7        0  jump  kernel:" DP_GETSID
				      "\n") == 1,
		      OF "stat counts writes, beside calls");
	status = DP_TOOL("stat", "w:kernel:" VARIABLE, "--", "/init");
	dp_tool_check(status && dp_tool_says("/1, /2, /4 or /8"),
		      OF "stat: a length has to be said");
	status = DP_TOOL("trace", "w:kernel:" VARIABLE "/4", "--", "/init");
	dp_tool_check(status && dp_tool_says("dprobes run"),
		      OF "trace says who shows values");
	status = DP_TOOL("stat", "w:kernel:no_such_variable/4", "--", "/init");
	dp_tool_check(status && dp_tool_says("has such a symbol") &&
			      dp_tool_says("\n           ^~~~~~~~~~~~~~~~\n"),
		      OF "stat: what is not there");
	write_file(FILE_DP,
		   "name = vmlinux\nmodtype = kernel\nvars = 1\n"
		   "offset = " VARIABLE "\nwatch = w\nlen = 4\n"
		   "inc lv,0\npush v,\"old\"\npush v,\"new\"\nlog 2\nexit\n");
	dp_init_put(FILE_OF, "60");
	status = DP_TOOL("run", FILE_DP, "--", "/init", "work", "0", "0", "0",
			 "0", "0", "3");
	dp_tool_check(status == STATUS &&
			      dp_tool_says("vmlinux lv[0] = 0x3 (3)") &&
			      dp_tool_occurrences("elements 0x3b 0x3c\n") +
					      dp_tool_occurrences(
						      "elements 0x3c 0x3b\n") ==
				      3,
		      OF "run: a program at each write");
}

void dp_watch_try(void)
{
	counts();
	reads();
	refuses();
	programs();
	module_goes();
	left_behind();
	tool();
}
