// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* user_tool_init: dprobes(1) runs programs in all processes at once, and holds them. */
#include "tests/kernel/device_init.h"
#include "tests/kernel/init.h"
#include "tests/kernel/tool_init.h"
#include "tests/kernel/user_init.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FILE_DP "/user.dp"
#define OTHER_DP "/other.dp"
#define STATUS 4
#define BREAKPOINT 0xcc
#define HEAD "name = \"" DP_USER_FILE "\"\nmodtype = user\nmajor = 5\n"
#define STEP_AT "offset = dp_user_step\n"

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		dp_init_check(0, path, "user, tool: written: ");
	close(fd);
}

/* Return: is there a breakpoint, or none, soon? */
static int wait_at(const void *code, int armed)
{
	const struct timespec ms = { 0, 1000000 };
	int left = 20000;

	while ((dp_user_byte(code) == BREAKPOINT) != armed && left--)
		nanosleep(&ms, NULL);
	return left >= 0;
}

static int wait_for(int armed)
{
	return wait_at((void *)dp_user_step, armed);
}

static pid_t start(const char *const *argv)
{
	pid_t tool = dp_tool_start(argv);

	wait_for(1);
	return tool;
}

static int stop(pid_t tool)
{
	kill(tool, SIGINT);
	return dp_tool_finish(tool);
}

static void run(void)
{
	static const char *const argv[] = { "run", "-v", FILE_DP, NULL };
	int first, second, status;
	char said[64];
	pid_t tool;

	write_file(FILE_DP, HEAD
		   "vars = 2\n" STEP_AT
		   "minor = 1\nopcode = 0x90\npass_count = 4\ninc lv,0\n"
		   "push r,rsi\npush d,16\nxchg\nlog str\npush r,rdi\nlog 1\n"
		   "exit\noffset = dp_user_step + 1\nminor = 2\n"
		   "inc lv,1\nexit\n");
	tool = start(argv);
	wait_at(dp_user_lea, 1);
	first = dp_user_run(20);
	dp_user_ended(first);
	second = dp_user_run(10);
	dp_user_ended(second);
	usleep(100000);
	status = stop(tool);
	dp_tool_check(!status && dp_tool_occurrences("major=5 minor=1") == 26 &&
			      dp_tool_occurrences(" init:dp_user_step ") ==
				      26 &&
			      dp_tool_occurrences("|stepping|") == 26,
		      "user: records of each process");
	snprintf(said, sizeof(said), " %d %d ", first, first);
	status = dp_tool_occurrences(said) == 16;
	snprintf(said, sizeof(said), " %d %d ", second, second);
	dp_tool_check(status && dp_tool_occurrences(said) == 10,
		      "user: and whose they are");
	dp_tool_check(dp_tool_says("lv[0] = 0x1a (26)") &&
			      dp_tool_says("lv[1] = 0x1e (30)") &&
			      dp_tool_says(", 4 let pass") &&
			      dp_tool_says("60 hits"),
		      "user: every hit is accounted for");
	dp_tool_check(wait_for(0), "user: and nothing is left");
}

static void held(void)
{
	int status;

	write_file(FILE_DP,
		   HEAD "vars = 1\n" STEP_AT "minor = 1\ninc lv,0\nexit\n");
	status = DP_TOOL("--insert", FILE_DP, "-q");
	dp_tool_check(!status && wait_for(1), "user: a program is inserted");
	dp_user_ended(dp_user_run(33));
	dp_user_ended(dp_user_run(44));
	status = DP_TOOL("--getvars", "--all");
	dp_tool_check(!status && dp_tool_occurrences("77"),
		      "user: it counts when the command has ended");
	status = DP_TOOL("--query", "--all");
	dp_tool_check(!status && dp_tool_occurrences(DP_USER_FILE) &&
			      dp_tool_occurrences("77") &&
			      dp_tool_occurrences(" 0 missed  trap\n") == 1,
		      "user: it can be asked for, and is a breakpoint");
	status = DP_TOOL("list");
	dp_tool_check(!status && dp_tool_occurrences("  u  init+0x") == 1,
		      "user: it is listed");
	write_file(OTHER_DP,
		   "name = vmlinux\nmodtype = kernel\noffset = " DP_UMASK
		   "\nminor = 2\nexit\n");
	status = DP_TOOL("--insert", OTHER_DP, "-q") ?:
			 DP_TOOL("--query", "--all");
	dp_tool_check(!status && dp_tool_occurrences("held by process") == 2 &&
			      dp_tool_occurrences("77"),
		      "user: another one is held beside it, in the kernel");
	write_file(FILE_DP,
		   HEAD "vars = 1\n" STEP_AT "minor = 3\ninc lv,0\nexit\n");
	status = DP_TOOL("--insert", FILE_DP, "--replace", "-q");
	dp_user_ended(dp_user_run(9));
	dp_tool_check(!status && !DP_TOOL("--getvars", "--all") &&
			      dp_tool_occurrences(" lv[0] = 0x9 (9)") == 1 &&
			      wait_for(1),
		      "user: one comes in its place");
	status = DP_TOOL("--remove", "--all");
	dp_tool_check(!status && wait_for(0), "user: it is removed");
}

/* Probes in the kernel and on a file share variables. */
static void both(void)
{
	int status;

	write_file(FILE_DP, HEAD STEP_AT "minor = 1\ninc gv,0\nexit\n");
	write_file(OTHER_DP,
		   "name = vmlinux\nmodtype = kernel\noffset = " DP_GETSID
		   "\ninc gv,0\nexit\n");
	status = DP_TOOL("run", "-v", OTHER_DP, FILE_DP, "--", DP_USER_FILE,
			 "steps", "30");
	dp_tool_check(status == STATUS &&
			      dp_tool_says("global gv[0] = 0x1e (30)"),
		      "user: with probes in the kernel: steps");
	status = DP_TOOL("run", "-v", OTHER_DP, FILE_DP, "--", DP_USER_FILE,
			 "work", "7", "0", "0");
	dp_tool_check(status == 3 && dp_tool_says("global gv[0] = 0x7 (7)"),
		      "user: with probes in the kernel: calls");
}

/* What a program on a file has the kernel do may be probed, too: its program runs within the other one's. */
static void within(void)
{
	int status;

	write_file(FILE_DP,
		   HEAD STEP_AT "minor = 1\ninc gv,0\npush r,rdi\npush r,rsi\n"
				"push mem,u64\nlog 2\nexit\n");
	write_file(OTHER_DP, "name = vmlinux\nmodtype = kernel\n"
			     "offset = copy_from_user_nofault\nmajor = 6\n"
			     "inc gv,1\npush 1\nlog 1\nexit\n");
	status = DP_TOOL("run", "-v", OTHER_DP, FILE_DP, "--", DP_USER_FILE,
			 "steps", "30");
	dp_tool_check(
		status == STATUS && dp_tool_says("global gv[0] = 0x1e (30)") &&
			dp_tool_says("global gv[1] = 0x1e (30)") &&
			dp_tool_occurrences("major=5") == 30 &&
			dp_tool_occurrences("major=6") == 30 &&
			dp_tool_occurrences(
				"elements 0x676e697070657473 0x1d\n") == 1,
		"user: a hit of the kernel's within one of a file's");
}

static void refused(const char *text, const char *words, const char *what)
{
	int status;

	write_file(FILE_DP, text);
	status = DP_TOOL("run", FILE_DP);
	dp_tool_check((status == 1 || status == 2) && dp_tool_says(words),
		      what);
}

/* Each process has the file elsewhere. */
static void variables(void)
{
	static const char *const argv[] = { "run", "-v", FILE_DP, NULL };
	int first, second, status;
	pid_t tool;

	write_file(
		FILE_DP, HEAD
		"vars = 2\n" STEP_AT
		"push &dp_user_words\npush mem,u64\npush pid\nsub\njnz other\n"
		"inc lv,0\nother:\nabort\n"
		"offset = dp_user_step + 1\n"
		"push &dp_user_words + 8\npush mem,u64\npush d,77\nsub\njnz out\n"
		"inc lv,1\nout:\nabort\n");
	tool = start(argv);
	wait_at(dp_user_lea, 1);
	first = dp_user_run(20);
	second = dp_user_run(10);
	status = dp_user_ended(first);
	status &= dp_user_ended(second);
	dp_tool_check(!stop(tool) && status &&
			      dp_tool_says("lv[0] = 0x1e (30)") &&
			      dp_tool_says("lv[1] = 0x1e (30)"),
		      "user: variables of the file");
}

static void refusals(void)
{
	char text[256];

	refused(HEAD "offset = dp_user_step + 2\nexit\n",
		"no instruction that begins there",
		"user: refused: inside an instruction");
	refused(HEAD "offset = dp_user_breakpoint\nexit\n",
		FILE_DP ":4:10: init:+0x", "user: refused: with its place");
	dp_tool_check(dp_tool_says("a breakpoint of the file's own"),
		      "user: refused: a breakpoint");
	refused(HEAD "watch = w\noffset = environ\nexit\n",
		"memory of one process", "user: refused: watchpoints");
	refused(HEAD STEP_AT "push &dp_user_nothing\nexit\n",
		"dp_user_nothing is no symbol of the file",
		"user: refused: a variable that is not there");
	snprintf(text, sizeof(text),
		 HEAD STEP_AT "exit\noffset = %#lx\npush &environ\nexit\n",
		 dp_user_offset((void *)dp_user_step) - 4096);
	refused(text, "have the same; make two programs of it",
		"user: refused: a variable, at places that are alike");
	refused("name = libc.so.6\nmodtype = user\noffset = read\nexit\n",
		"the path of its file", "user: refused: a file without a path");
	refused(HEAD "pid = 1\n" STEP_AT "exit\n", "compares push pid",
		"user: refused: one process");
	refused(HEAD STEP_AT "log st\nexit\n", "stack traces are not there",
		"user: refused: stack traces");
	refused(HEAD "allow = io\n" STEP_AT "push 1\npush io,u8\nexit\n",
		"ports are the kernel's", "user: refused: ports");
	refused(HEAD STEP_AT "exit 3\n", "wait for its core file",
		"user: refused: core files");
	refused(HEAD STEP_AT "opcode = 0x55\nexit\n", "the opcode",
		"user: refused: another opcode");
}

/* As DProbes wrote it */
static void logged(void)
{
	static const char *const argv[] = { "run",   "--log-target", "file",
					    "--log", "PID,CSEIP",    FILE_DP,
					    NULL };
	char said[64];
	pid_t tool;
	int child, status;

	write_file(FILE_DP, HEAD STEP_AT "minor = 1\npush 1\nlog 1\nexit\n");
	tool = start(argv);
	child = dp_user_run(3);
	dp_user_ended(child);
	usleep(100000);
	status = stop(tool);
	snprintf(said, sizeof(said), "pid=%d cs=33 eip=%08lx", child,
		 dp_user_offset((void *)dp_user_step));
	dp_tool_check(!status && dp_tool_occurrences(said) == 3,
		      "user: a log has the offset in the file");
}

/* It is on the C library, which this program is linked with. */
static void example(void)
{
	static const char *const argv[] = { "run", "/every-program.dp", NULL };
	pid_t tool = dp_tool_start(argv);
	int left = 1000, status;

	while (left-- && !strstr(dp_files_list(), "libc.so.6+0x"))
		usleep(10000);
	dp_user_ended(dp_user_run(1));
	dp_user_ended(dp_user_run(1));
	usleep(100000);
	status = stop(tool);
	dp_tool_check(!status && dp_tool_occurrences("elements 0x3\n") == 2 &&
			      dp_tool_occurrences("|init|") == 2,
		      "user: examples/every-program.dp");
}

void dp_user_tool(void)
{
	run();
	held();
	both();
	within();
	variables();
	refusals();
	logged();
	example();
}
