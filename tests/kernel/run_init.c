// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* run_init: programs from files in the kernel: what they log and count, what they may do, and what is refused. */
#include "tests/kernel/device_init.h"
#include "tests/kernel/init.h"
#include "tests/kernel/tool_init.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILE_DP "/program.dp"
#define OTHER_DP "/other.dp"
#define RAW "/raw"
#define RECORDS "/records"
#define STATUS 3
/* What nothing else in the guest reads at once */
#define ODD 777

/* getsid(2) gets the registers of the call, with its argument at 0x70. */
#define HEAD "name = vmlinux\nmodtype = kernel\n"
#define GETSID_AT "offset = " DP_GETSID "\n"
#define UMASK_AT "offset = " DP_UMASK "\n"
#define EMPTY HEAD GETSID_AT "exit\n"

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		dp_init_check(0, path, "run: written: ");
	close(fd);
}

/* With so many calls of getsid(2), and of it with 5 */
#define RUN(getsids, fives, ...)                                             \
	DP_TOOL("run", __VA_ARGS__, FILE_DP, "--", "/init", "work", getsids, \
		"5", "9", fives)

static long size_of(const char *path)
{
	int fd = open(path, O_RDONLY);
	long size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);

	close(fd);
	return size;
}

static void limits(const char *mode)
{
	int status;

	write_file(FILE_DP, HEAD
		   "major = 7\nvars = 2\nlogmax = 64\n" GETSID_AT
		   "minor = 1\npass_count = 3\nmax_hits = 10\n"
		   "inc lv,0\ninc gv,0\npush 0x1234\nlog 1\nexit\n" UMASK_AT
		   "minor = 2\ninc lv,1\ninc gv,0\nexit\n");
	status = RUN("20", "0", "-v");
	dp_tool_check(status == STATUS &&
			      dp_tool_occurrences("major=7 minor=1") == 10 &&
			      dp_tool_occurrences(" init kernel:" DP_GETSID
						  " ") == 10 &&
			      dp_tool_occurrences("  elements 0x1234\n") == 10,
		      mode);
	dp_tool_check(dp_tool_says("vmlinux lv[0] = 0xa (10)") &&
			      dp_tool_says("vmlinux lv[1] = 0x5 (5)") &&
			      dp_tool_says("global gv[0] = 0xf (15)") &&
			      dp_tool_says(", 3 let pass") &&
			      dp_tool_says(", 7 after the probe's end") &&
			      dp_tool_says("25 hits"),
		      "run: and every hit is accounted for");
	dp_tool_check(!dp_device_changed(), "run: and nothing is left");
}

static void logs(void)
{
	int status;

	write_file(
		FILE_DP, HEAD GETSID_AT
		"setmaj 9\nsetmin 8\npush d,13\npush &linux_banner\nlog str\n"
		"push v,\"*(u64 *)(arg0 + 0x70)\"\nlog 1\npush 17\npush lp\n"
		"log 2\nexit\n");
	status = RUN("1", "2", "--json");
	dp_tool_check(status == STATUS && dp_tool_occurrences("\n") == 3 &&
			      dp_tool_occurrences(
				      "\"minor\":8,\"major\":9,\"cpu\":") == 3,
		      "run: records as JSON, with codes of the program's");
	if (!access("/sys/kernel/btf/vmlinux", R_OK)) {
		write_file("/names.dp",
			   HEAD GETSID_AT "push v,\"regs->di\"\nlog 1\n");
		status = DP_TOOL("run", "-q", "/names.dp", "--", "/init",
				 "work", "0", "0", "0", "4");
		dp_tool_check(status == STATUS &&
				      dp_tool_occurrences("elements 0x5\n") ==
					      4,
			      "run: names of the source");
	}
	status = RUN("0", "1", "-q");
	dp_tool_check(status == STATUS &&
			      dp_tool_occurrences("|Linux version|") == 1 &&
			      dp_tool_occurrences("elements 0x5\n") == 1 &&
			      dp_tool_occurrences("elements 0x1b 0x11\n") == 1,
		      "run: memory, values and the log's own length");
	status =
		RUN("2", "0", "--log-target", "file", "--log", "PID,UID,CSEIP");
	dp_tool_check(
		status == STATUS &&
			dp_tool_occurrences("dprobes(9,8) cpu=") == 2 &&
			dp_tool_occurrences(" uid=0 cs=10 eip=ffffffff") == 2,
		"run: the log as DProbes wrote it");
	unlink(RAW);
	status = RUN("2", "0", "--raw", RAW);
	dp_tool_check(status == STATUS && size_of(RAW) > 100,
		      "run: and in binary");
}

static void exceptions(void)
{
	int status;

	write_file(FILE_DP, HEAD GETSID_AT
		   "push 8\npush mem,u64\nexit\n" UMASK_AT "L:\njmp L\n");
	status = RUN("2", "0", "--json");
	dp_tool_check(
		status == STATUS &&
			dp_tool_occurrences(
				"\"exception\":\"EX_INVALID_ADDR\",\"parm\":\"0x8\"") ==
				2 &&
			dp_tool_occurrences(
				"\"exception\":\"EX_MAX_JMPS\",\"parm\":\"0x1000\"") ==
				5,
		"run: bad addresses, and too many jumps");
	write_file(FILE_DP,
		   HEAD GETSID_AT "push 1\nlog 1\nremove\n" UMASK_AT
				  "minor = 2\npush 2\nlog 1\nsuspend\n");
	status = RUN("4", "0", "--json");
	dp_tool_check(status == STATUS && dp_tool_occurrences("\n") == 2 &&
			      dp_tool_says(", 7 after the probe's end"),
		      "run: probes that end themselves");
	write_file(FILE_DP, HEAD GETSID_AT
		   "heap = 64\npush 16\nmalloc\ndup 1\nfree\nlog 1\nexit 20\n");
	status = RUN("1", "0", "--json");
	dp_tool_check(status == STATUS &&
			      dp_tool_occurrences("\"facility\":20") == 1 &&
			      dp_tool_says("for a facility that is not there"),
		      "run: a facility of the tool's");
}

/* Of a module, and what the file says of the instruction */
static void modules(void)
{
	int status;

	write_file(FILE_DP, "name = dpbytes\nmodtype = kmod\nvars = 1\n"
			    "offset = tell\ninc lv,0\nexit\n");
	status = RUN("0", "0", "-v");
	dp_tool_check(status == STATUS && dp_tool_says("dpbytes lv[0] = 0x9"),
		      "run: a module's function");
	write_file(FILE_DP, "name = nothere\nmodtype = kmod\n"
			    "offset = tell\nexit\n");
	status = RUN("0", "0", "-v");
	dp_tool_check(status == 2 && dp_tool_says(FILE_DP ":3:10: ") &&
			      dp_tool_says("neither the kernel nor"),
		      "run: a module that is not there");
	write_file(FILE_DP, HEAD "offset = tell\nexit\n");
	status = RUN("0", "0", "-v");
	dp_tool_check(status == 2 && dp_tool_says("neither the kernel nor"),
		      "run: a module's function is not the kernel's");
	write_file(FILE_DP, HEAD GETSID_AT "opcode = 0xcc\nexit\n");
	status = RUN("0", "0", "-v");
	dp_tool_check(status == 2 && dp_tool_says(FILE_DP ":4:10: the opcode"),
		      "run: another opcode");
}

/* Handlers at returns: of calls that are let pass, that are the last, that abort, and that raise exceptions */
static void returns(void)
{
	int status;

	write_file(FILE_DP,
		   HEAD "major = 5\nvars = 1\n" GETSID_AT
			"retprobe = yes\nminor = 6\npass_count = 1\n"
			"max_hits = 3\ninc lv,0\npush v,\"(int)retval\"\n"
			"log 1\npush retval\nlog 1\nsetmin 9\nexit\n");
	status = RUN("0", "6", "-v");
	dp_tool_check(status == STATUS &&
			      dp_tool_occurrences("r:kernel:" DP_GETSID
						  " major=5 minor=9\n") +
					      dp_tool_occurrences(
						      "kernel:" DP_GETSID
						      " major=5 minor=9\n") >=
				      3 &&
			      dp_tool_occurrences(" major=5 minor=9\n") == 3 &&
			      dp_tool_occurrences("  elements 0x") == 6 &&
			      dp_tool_says("vmlinux lv[0] = 0x3 (3)"),
		      "run: programs at returns");
	write_file(FILE_DP, HEAD GETSID_AT
		   "retprobe = yes\npush 8\npush mem,u64\nexit\n"
		   "offset = " DP_UMASK "\nretprobe = yes\nlog 0\nabort\n");
	status = RUN("2", "0", "--json");
	dp_tool_check(status == STATUS && dp_tool_occurrences("\n") == 2 &&
			      dp_tool_occurrences("INVALID_ADDR") == 2,
		      "run: exceptions there, and what is aborted");
	write_file(FILE_DP,
		   HEAD "offset = " DP_GETSID " + 4\nretprobe = yes\nexit\n");
	status = RUN("0", "0", "-v");
	dp_tool_check(status == 2 && dp_tool_says("write offset = FUNCTION"),
		      "run: refused: the return of a place");
}

/* Registers of the call itself, and of a thread that has no user space */
static void users(void)
{
	int status;

	write_file(FILE_DP, HEAD GETSID_AT "push u,rdi\nlog 1\nexit\n");
	status = RUN("0", "3", "-q");
	dp_tool_check(status == STATUS &&
			      dp_tool_occurrences("  elements 0x5\n") == 3,
		      "run: registers of user space");
	/* Nothing is in r9 behind a call of one argument. */
	write_file(FILE_DP,
		   HEAD "allow = reg\n" GETSID_AT
			"push 777\npop u,r9\npush u,r9\nlog 1\nexit\n");
	status = RUN("0", "2", "-q");
	dp_tool_check(status == STATUS &&
			      dp_tool_occurrences("  elements 0x309\n") == 2,
		      "run: they can be changed");
	write_file(FILE_DP, HEAD "offset = process_one_work\nmax_hits = 1\n"
				 "push u,rdi\nlog 1\nexit\n");
	status = DP_TOOL("run", "--duration", "4s", "--json", FILE_DP);
	dp_tool_check(
		!status && dp_tool_occurrences("\n") == 1 &&
			dp_tool_occurrences(
				"\"exception\":\"EX_INVALID_ADDR\",\"parm\":\"0x0\"") ==
				1,
		"run: which a kernel's thread has not");
}

/* @words: what is said of the instructions */
static void refused(const char *code, const char *words, const char *what)
{
	char text[512];
	int status;

	snprintf(text, sizeof(text),
		 HEAD "allow = write,reg,io,call\n" GETSID_AT "%s\nexit\n",
		 code);
	write_file(FILE_DP, text);
	status = RUN("0", "0", "-v");
	dp_tool_check(status != STATUS && dp_tool_says(words) &&
			      !dp_device_changed(),
		      what);
}

static void refusals(void)
{
	int status;

	refused("log st", "log st: stack traces are not there yet in a kernel",
		"run: refused: stack traces");
	refused("push 1\nvfy rw\npop lp", "vfy rw: a kernel does not tell",
		"run: refused: vfy rw");
	refused("exit 3", "exit 3: a kernel has no core dumps",
		"run: refused: a core dump");
	refused("push v,\"errno\"\nlog 1", "errno is of processes",
		"run: refused: errno");
	refused("push v,\"task\"\nlog 1", "task",
		"run: refused: names of the source");
	refused("push &no_such_symbol\nlog 1", "has such a symbol",
		"run: refused: a symbol that is not there");
	write_file(FILE_DP, HEAD "logmax = 2000\n" GETSID_AT "push 1\nlog 1\n");
	status = RUN("0", "0", "-v");
	dp_tool_check(status != STATUS && dp_tool_says("write logmax = 1024"),
		      "run: refused: long records");
	write_file(FILE_DP, HEAD GETSID_AT "push 1\npush 2\npop mem,u8\n");
	status = RUN("0", "0", "-v");
	dp_tool_check(status == 2 && dp_tool_says("allow"),
		      "run: refused: to write without allow");
	write_file(FILE_DP, HEAD "allow = write\n" GETSID_AT "exit\n");
	status = RUN("0", "0", "--allow", "none");
	dp_tool_check(status == 2 && dp_tool_says("more than --allow permits"),
		      "run: refused: more than --allow permits");
	write_file(FILE_DP, EMPTY);
	status = DP_TOOL("run", "-p", "1", FILE_DP);
	dp_tool_check(status == 2 && dp_tool_says("leave -p away"),
		      "run: refused: in one process");
}

/* The program is at vfs_read() as well, where only ODD bytes mean it. */
static pid_t start_at_reads(const char *allow, const char *code)
{
	static const char *const argv[] = { "run", FILE_DP, NULL };
	char text[1024];
	pid_t tool;

	snprintf(text, sizeof(text),
		 HEAD "vars = 1\nallow = %s\n" GETSID_AT "exit\n"
		      "offset = vfs_read\npush r,rdx\npush d,%d\nsub\njnz L\n"
		      "inc lv,0\n%s\nL:\nexit\n",
		 allow, ODD, code);
	write_file(FILE_DP, text);
	tool = dp_tool_start(argv);
	dp_tool_wait(1);
	return tool;
}

static int stop(pid_t tool)
{
	kill(tool, SIGINT);
	return dp_tool_finish(tool);
}

static void writes(const char *mode)
{
	/* Read-only; no address of the processor's; the last ones; nothing is there */
	static const char *const bad[] = {
		"push &linux_banner\npush 0x41\npop mem,u8",
		"push 0x8000000000000000\npush 0x41\npop mem,u64",
		"push 0xfffffffffffffffc\npush 0x41\npop mem,u64",
		"push 16\npush 0x41\npop mem,u32",
	};
	unsigned int i;
	char bytes[ODD] = "x", said[64];
	int zero = open("/dev/zero", O_RDONLY);
	int null = open("/dev/null", O_RDONLY);
	ssize_t n;
	pid_t tool;
	int status;

	tool = start_at_reads("reg", "push 3\npop r,rdx");
	n = read(zero, bytes, ODD);
	status = stop(tool);
	snprintf(said, sizeof(said), "run: registers are changed, %s", mode);
	dp_tool_check(!status && n == 3 && dp_tool_says("lv[0] = 0x1"), said);
	n = read(zero, bytes, ODD);
	tool = start_at_reads("write", "push r,rsi\npush 0x41\npop mem,u8");
	memset(bytes, 'x', sizeof(bytes));
	n = read(null, bytes, ODD);
	status = stop(tool);
	snprintf(said, sizeof(said), "run: a process's memory is written, %s",
		 mode);
	dp_tool_check(!status && !n && bytes[0] == 'A' && bytes[1] == 'x' &&
			      dp_tool_says("lv[0] = 0x1"),
		      said);
	/* Below what the function has of the stack */
	tool = start_at_reads(
		"write",
		"push d,4096\npush r,rsp\nsub\ndup 1\n"
		"push 0x1122334455667788\npop mem,u64\npush mem,u64\nlog 1");
	n = read(null, bytes, ODD);
	status = stop(tool);
	snprintf(said, sizeof(said), "run: and the kernel's, %s", mode);
	dp_tool_check(!status && dp_tool_occurrences(
					 "elements 0x1122334455667788\n") == 1,
		      said);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		tool = start_at_reads("write", bad[i]);
		n = read(null, bytes, ODD);
		status = stop(tool);
		snprintf(said, sizeof(said),
			 "run: what cannot be stays, %u, %s", i, mode);
		dp_tool_check(!status &&
				      dp_tool_occurrences(
					      "ended by EX_INVALID_ADDR") == 1,
			      said);
	}
	close(zero);
	close(null);
}

/* A register of the serial line's that does nothing */
static void ports(void)
{
	int status;

	write_file(FILE_DP,
		   HEAD "allow = io\n" GETSID_AT
			"push 0x3ff\npush 0x5a\npop io,u8\npush 0x3ff\n"
			"push io,u8\nlog 1\nexit\n");
	status = RUN("1", "0", "-q");
	dp_tool_check(status == STATUS &&
			      dp_tool_occurrences("elements 0x5a\n") == 1,
		      "run: ports");
}

static void several(void)
{
	int status;

	write_file(FILE_DP,
		   HEAD GETSID_AT "minor = 1\ninc gv,3\npush 1\nlog 1\nexit\n");
	write_file(OTHER_DP,
		   HEAD UMASK_AT "minor = 2\ninc gv,3\npush 2\nlog 1\nexit\n");
	status = RUN("2", "0", OTHER_DP);
	dp_tool_check(status == STATUS && dp_tool_occurrences("minor=1") == 2 &&
			      dp_tool_occurrences("minor=2") == 5 &&
			      dp_tool_says("global gv[3] = 0x7 (7)"),
		      "run: two files, which share global variables");
	status = RUN("2", "0", "-n", "1");
	dp_tool_check(status != 2 && dp_tool_occurrences("minor=1") == 1 &&
			      !dp_device_changed(),
		      "run: -n ends it");
	write_file(OTHER_DP,
		   "name = libc.so.6\nmodtype = user\noffset = read\nexit\n");
	status = RUN("2", "0", OTHER_DP);
	dp_tool_check(status == 2 && dp_tool_says("the path of its file"),
		      "run: not with a program whose file has no path");
}

/* Return: the process that holds what has been inserted, or 0 */
static pid_t insert(int n)
{
	const char *at;
	char said[64];
	int status = DP_TOOL("--insert", FILE_DP, "-o", RECORDS);

	snprintf(said, sizeof(said), "%d of %d points armed in the kernel; ", n,
		 n);
	at = strstr(dp_tool_said, "; process ");
	dp_tool_check(!status && dp_tool_says(said) && at &&
			      dp_device_changed() == n,
		      "hold: a program stays in the kernel");
	return at ? atoi(at + strlen("; process ")) : 0;
}

static void work(int getsids, int umasks)
{
	while (getsids--)
		syscall(SYS_getsid, 0);
	while (umasks--)
		syscall(SYS_umask, 022);
}

/* As held() has left them: gv[0] is 4, lv[1] is 8. */
static void reset_held(void)
{
	int status = DP_TOOL("--getvars", "--name", "vmlinux", "--local",
			     "--index=1", "--reset");

	dp_tool_check(
		!status && !DP_TOOL("--getvars", "--all") &&
			dp_tool_occurrences("0 vmlinux lv[1] = 0x0 (0)\n") &&
			dp_tool_occurrences("0 global gv[0] = 0x4 (4)\n"),
		"hold: a variable of one program is reset");
	status = DP_TOOL("--getvars", "--all", "--reset");
	work(0, 2);
	dp_tool_check(!status && !DP_TOOL("--getvars", "--all", "--global") &&
			      dp_tool_occurrences("0 global gv[0] = 0x2 (2)\n"),
		      "hold: and all of them");
	status = DP_TOOL("--getvars", "--name", "none", "--local", "--reset");
	dp_tool_check(status == 1, "hold: none of another name");
}

/* Others may probe the kernel meanwhile. */
static void beside_held(void)
{
	int status = DP_TOOL("stat", "kernel:" DP_UMASK, "--", "/init", "work",
			     "0", "6", "3");

	dp_tool_check(status == STATUS && dp_tool_occurrences("6") &&
			      dp_device_changed() == 2,
		      "hold: dprobes stat beside it");
	status = DP_TOOL("trace", "kernel:" DP_UMASK, "--", "/init", "work",
			 "0", "5", "3");
	dp_tool_check(status == STATUS &&
			      dp_tool_occurrences(" kernel:" DP_UMASK) == 5 &&
			      dp_device_changed() == 2,
		      "hold: dprobes trace beside it");
	dp_tool_check(
		!DP_TOOL("--getvars", "--all", "--global") &&
			dp_tool_occurrences("0 global gv[0] = 0xd (13)\n"),
		"hold: whose programs go on");
}

/* The paper's name of the kernel is another one. */
static void second_held(void)
{
	int status;

	write_file(OTHER_DP,
		   "name = bzImage\nmodtype = kernel\nvars = 1\n" UMASK_AT
		   "minor = 3\ninc lv,0\npush 9\nlog 1\nexit\n");
	status = DP_TOOL("--insert", OTHER_DP);
	work(0, 7);
	dp_tool_check(!status &&
			      dp_tool_says("1 of 1 point armed in the kernel"),
		      "hold: a second program");
	status = DP_TOOL("--query", "--all");
	dp_tool_check(
		!status && dp_tool_occurrences("in the kernel, held by") == 2 &&
			dp_tool_occurrences("7 hits, 7 run"),
		"hold: both are listed");
	status = DP_TOOL("--query", "--name", "bzImage", "--extended");
	dp_tool_check(
		!status && dp_tool_occurrences("in the kernel, held by") == 1 &&
			dp_tool_occurrences("  lv[0] = 0x7 (7)\n"),
		"hold: and each by its name");
	status = DP_TOOL("--remove", "--name", "bzImage");
	work(0, 1);
	dp_tool_check(
		!status && dp_device_changed() == 2 &&
			!DP_TOOL("--getvars", "--all") &&
			!dp_tool_occurrences("bzImage") &&
			dp_tool_occurrences("0 global gv[0] = 0x15 (21)\n"),
		"hold: one goes, and the other goes on");
}

/* At umask(2) the new one comes in the place of the old one; variables are those of that. */
static void merge_held(void)
{
	int status;

	write_file(OTHER_DP,
		   HEAD "vars = 3\n" UMASK_AT "minor = 4\ninc lv,1\nexit\n");
	status = DP_TOOL("--insert", OTHER_DP, "--merge");
	work(0, 5);
	dp_tool_check(
		!status && dp_device_changed() == 2 &&
			!DP_TOOL("--getvars", "--all") &&
			dp_tool_occurrences("0 vmlinux lv[1] = 0x5 (5)\n") &&
			dp_tool_occurrences("0 vmlinux lv[2] = 0x0 (0)\n") &&
			dp_tool_occurrences("0 global gv[0] = 0x15 (21)\n"),
		"hold: --merge: points change places, variables are shared");
	status = DP_TOOL("--query", "--all");
	dp_tool_check(!status && dp_tool_occurrences("  0,4 kernel:") == 1 &&
			      dp_tool_occurrences("  0,2 kernel:") == 0,
		      "hold: --merge: the place has one point");
}

static void replace_held(void)
{
	int status;

	write_file(OTHER_DP,
		   HEAD "vars = 1\n" GETSID_AT "minor = 5\ninc lv,0\nexit\n");
	status = DP_TOOL("--insert", OTHER_DP, "--replace");
	work(4, 1);
	dp_tool_check(
		!status && dp_device_changed() == 1 &&
			!DP_TOOL("--getvars", "--all") &&
			dp_tool_occurrences("0 vmlinux lv[0] = 0x4 (4)\n") &&
			dp_tool_occurrences("vmlinux") == 1,
		"hold: --replace: all of the name go, variables begin anew");
	write_file(OTHER_DP, HEAD "offset = no_such\nexit\n");
	status = DP_TOOL("--insert", OTHER_DP, "--replace");
	work(2, 0);
	dp_tool_check(
		status == 1 && !DP_TOOL("--getvars", "--all") &&
			dp_tool_occurrences("0 vmlinux lv[0] = 0x6 (6)\n"),
		"hold: one without any point changes nothing");
}

static void held(void)
{
	int status, fd;
	pid_t hold;

	unlink(RECORDS);
	write_file(
		FILE_DP, HEAD
		"vars = 2\n" GETSID_AT
		"minor = 1\nmax_hits = 8\ninc lv,1\npush 5\nlog 1\nexit\n" UMASK_AT
		"minor = 2\ninc gv,0\nexit\n");
	write_file(OTHER_DP, EMPTY);
	hold = insert(2);
	work(10, 4);
	status = DP_TOOL("--query", "--all", "--extended");
	dp_tool_check(
		!status &&
			dp_tool_occurrences("vmlinux (" FILE_DP
					    ") in the kernel, held by") == 1 &&
			dp_tool_occurrences(
				"10 hits, 8 run, 0 passed, 2 over maxhits") ==
				1 &&
			dp_tool_occurrences("compiled,disabled") == 1 &&
			dp_tool_occurrences("4 hits, 4 run") == 1 &&
			dp_tool_occurrences("  lv[1] = 0x8 (8)\n") == 1,
		"hold: --query tells of it");
	status = DP_TOOL("--getvars", "--all");
	dp_tool_check(
		!status &&
			dp_tool_occurrences("0 global gv[0] = 0x4 (4)\n") ==
				1 &&
			dp_tool_occurrences("0 vmlinux lv[1] = 0x8 (8)\n") == 1,
		"hold: and --getvars of its variables");
	status = DP_TOOL("--getvars", "--name", "vmlinux", "--local", "-i", "1",
			 "--json");
	dp_tool_check(!status && dp_tool_occurrences("\n") == 1 &&
			      dp_tool_occurrences("\"value\":8}") == 1,
		      "hold: by name and number");
	reset_held();
	beside_held();
	status = DP_TOOL("--insert", OTHER_DP);
	dp_tool_check(
		status == 1 &&
			dp_tool_says("the kernel has a program for vmlinux"),
		"hold: one of each name");
	second_held();
	merge_held();
	replace_held();
	status = DP_TOOL("--remove", "--name", "vmlinux");
	dp_tool_check(!status && !dp_device_changed() && size_of(RECORDS) > 100,
		      "hold: the last one is removed, and records are kept");
	status = DP_TOOL("--query", "--all");
	dp_tool_check(status == 1, "hold: nothing is left");
	hold = insert(2);
	kill(hold, SIGKILL);
	waitpid(hold, NULL, 0);
	fd = dp_device_open(0);
	dp_tool_check(fd >= 0 && !dp_device_changed(),
		      "hold: killed, it leaves nothing");
	close(fd);
	write_file(FILE_DP, HEAD GETSID_AT "exit\noffset = no_such\nexit\n");
	status = DP_TOOL("--insert", FILE_DP, "-o", RECORDS);
	dp_tool_check(status == 1 && dp_tool_says("1 of 2 points armed") &&
			      dp_tool_says(FILE_DP ":5:10: ") &&
			      !DP_TOOL("--remove", "--all"),
		      "hold: a point that cannot be armed is told");
}

static void examples(void)
{
	int status = DP_TOOL("run", "/fork-kill.dp", "--", "/init", "work", "0",
			     "0", "0", "0", "12");

	dp_tool_check(
		status == STATUS && dp_tool_says("vmlinux lv[0] = 0xc (12)") &&
			dp_tool_says("vmlinux lv[1] = 0xc (12)") &&
			dp_tool_occurrences(
				"kernel:__x64_sys_kill major=1 minor=1") ==
				12 &&
			dp_tool_occurrences(
				"kernel:kernel_clone major=1 minor=2") == 12 &&
			dp_tool_occurrences("  memory, 16 bytes\n") == 24,
		"run: forks and kills");
	status = DP_TOOL("run", "/fork-kill-paper.dp");
	dp_tool_check(status == 2 && dp_tool_says("/fork-kill-paper.dp:") &&
			      dp_tool_says("neither the kernel nor"),
		      "run: those that kernels had once");
}

void dp_run_try(void)
{
	dp_init_check(dp_init_load("dpbytes",
				   "functions=" DP_GETSID "," DP_UMASK),
		      "bytes are remembered", "run: ");
	limits("run: passcount, maxhits and codes, by jump");
	setenv("DPROBES_ARM", "trap", 1);
	limits("run: passcount, maxhits and codes, by trap");
	writes("by trap");
	unsetenv("DPROBES_ARM");
	writes("by jump");
	logs();
	exceptions();
	modules();
	returns();
	users();
	refusals();
	ports();
	several();
	held();
	examples();
	dp_init_check(dp_init_unload("dpbytes"), "bytes are forgotten",
		      "run: ");
}
