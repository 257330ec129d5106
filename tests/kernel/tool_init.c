// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* tool_init: dprobes(1) in the guest: what it counts is what was done, and it leaves nothing. */
#include "tests/kernel/device_init.h"
#include "tests/kernel/init.h"
#include "tests/kernel/tool_init.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TOOL "/dprobes"
#define OUT "/out"
#define SAID "/said"
#define RESTRICT "/proc/sys/kernel/kptr_restrict"
#define WORDS 20
#define SECONDS 60
#define STATUS 3
#define GETSIDS 1234
#define UMASKS 77
#define READS 9
#define KILLS 16
#define MANY 1000
#define UNLOADS 12

#define GETSID_SPEC "kernel:" DP_GETSID
#define UMASK_SPEC "kernel:" DP_UMASK

char dp_tool_out[1 << 18], dp_tool_said[1 << 16];
static uid_t as_user;

static void work(int getsids, int umasks, int reads)
{
	while (getsids--)
		syscall(SYS_getsid, 0);
	while (umasks--)
		syscall(SYS_umask, 022);
	while (reads--)
		dp_device_changed();
}

/* Each child ends by a signal. */
static void fork_and_kill(int n)
{
	int status;
	pid_t child;

	while (n--) {
		child = fork();
		if (!child) {
			pause();
			_exit(0);
		}
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
	}
}

int dp_tool_work(char *const *argv)
{
	int fives = argv[3] ? atoi(argv[3]) : 0;

	work(atoi(argv[0]), atoi(argv[1]), atoi(argv[2]));
	while (fives--)
		syscall(SYS_getsid, 5);
	fork_and_kill(argv[3] && argv[4] ? atoi(argv[4]) : 0);
	dp_watch_write(argv[3] && argv[4] && argv[5] ?
			       (unsigned int)atoi(argv[5]) :
			       0);
	return STATUS;
}

static void read_file(const char *path, char *to, size_t size)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, to, size - 1);

	to[n > 0 ? n : 0] = '\0';
	close(fd);
}

static void redirect(const char *path, int to)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	dup2(fd, to);
	close(fd);
}

/* @argv: behind the tool's name, to NULL */
pid_t dp_tool_start(const char *const *argv)
{
	char *words[WORDS + 2] = { (char *)TOOL };
	unsigned int i;
	pid_t tool = fork();

	if (tool)
		return tool;
	for (i = 0; i < WORDS && argv[i]; i++)
		words[i + 1] = (char *)argv[i];
	redirect(OUT, 1);
	redirect(SAID, 2);
	if (as_user && (setgid(as_user) || setuid(as_user)))
		_exit(125);
	alarm(SECONDS);
	execv(TOOL, words);
	_exit(127);
}

/* Return: exit status, or 128 and the signal */
int dp_tool_finish(pid_t tool)
{
	int status = -1;

	if (waitpid(tool, &status, 0) != tool)
		return -1;
	read_file(OUT, dp_tool_out, sizeof(dp_tool_out));
	read_file(SAID, dp_tool_said, sizeof(dp_tool_said));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Of a function in what --json has printed; -1: it is not there */
static long hits(const char *spec)
{
	char start[128];
	const char *at;

	snprintf(start, sizeof(start), "{\"probe\":\"%s\",\"hits\":", spec);
	at = strstr(dp_tool_out, start);
	return at ? atol(at + strlen(start)) : -1;
}

void dp_tool_check(int is, const char *what)
{
	dp_init_check(is, what, "tool: ");
	if (!is)
		printf("# out: %.2000s\n# said: %.2000s\n", dp_tool_out,
		       dp_tool_said);
}

int dp_tool_says(const char *words)
{
	return strstr(dp_tool_said, words) != NULL;
}

/* Until so many functions have other bytes, or the tool has ended */
int dp_tool_wait(int n)
{
	time_t until = time(NULL) + SECONDS;

	while (dp_device_changed() != n && time(NULL) < until)
		usleep(1000);
	/* Others may be armed behind these: who reads the list waits for that. */
	if (dp_init_debugfs())
		dp_files_list();
	else
		usleep(100000);
	return dp_device_changed() == n;
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		dp_init_check(0, path, "written: ");
	close(fd);
}

static void commands(const char *mode)
{
	int status = DP_TOOL("stat", "--json", GETSID_SPEC, UMASK_SPEC, "--",
			     "/init", "work", "1234", "77", "0");

	dp_tool_check(status == STATUS && hits(GETSID_SPEC) == GETSIDS &&
			      hits(UMASK_SPEC) == UMASKS,
		      "it counts what a command does, and ends as that");
	dp_tool_check(strstr(dp_tool_out, mode) &&
			      dp_tool_says("2 probes at 2 sites") &&
			      dp_tool_says("init exited with status 3"),
		      "it says how");
	dp_tool_check(!dp_device_changed(), "and leaves nothing");
}

static void interrupts(void)
{
	static const char *const argv[] = { "stat", "--json", GETSID_SPEC,
					    UMASK_SPEC, NULL };
	pid_t tool = dp_tool_start(argv);
	int armed = dp_tool_wait(2), status;

	work(GETSIDS, UMASKS, 0);
	kill(tool, SIGINT);
	status = dp_tool_finish(tool);
	dp_tool_check(armed && !status && hits(GETSID_SPEC) == GETSIDS &&
			      hits(UMASK_SPEC) == UMASKS &&
			      dp_tool_says("interrupted"),
		      "^C ends it, and it has counted all");
	status = DP_TOOL("stat", "--duration", "300ms", GETSID_SPEC);
	dp_tool_check(!status && dp_tool_says("--duration is over") &&
			      strstr(dp_tool_out, GETSID_SPEC),
		      "--duration ends it");
}

/* Has the tool printed that, or does it so soon? */
static int prints(const char *words)
{
	time_t until = time(NULL) + SECONDS;

	do {
		read_file(OUT, dp_tool_out, sizeof(dp_tool_out));
		if (strstr(dp_tool_out, words))
			return 1;
		usleep(1000);
	} while (time(NULL) < until);
	return 0;
}

static void intervals(void)
{
	static const char *const argv[] = { "stat", "-i", "100ms", GETSID_SPEC,
					    NULL };
	pid_t tool = dp_tool_start(argv);
	int armed = dp_tool_wait(1), idle = prints("no hits"), status;

	work(50, 0, 0);
	kill(tool, SIGINT);
	status = dp_tool_finish(tool);
	dp_tool_check(armed && idle && !status && strstr(dp_tool_out, " 50 "),
		      "-i prints meanwhile, and the sum at the end");
	status = DP_TOOL("stat", "-v", GETSID_SPEC, "--", "/init", "work", "50",
			 "0", "0");
	dp_tool_check(status == STATUS && strstr(dp_tool_out, " 50 ") &&
			      strstr(dp_tool_out, "0xffff"),
		      "-v prints addresses");
}

static void names(void)
{
	int status = DP_TOOL("stat", "--json", "kernel:__x64_sys_[gu]*", "--",
			     "/init", "work", "1234", "77", "0");

	dp_tool_check(status == STATUS && hits(GETSID_SPEC) == GETSIDS &&
			      hits(UMASK_SPEC) == UMASKS &&
			      !hits("kernel:" DP_GETPGID) &&
			      hits("kernel:__x64_sys_getppid") >= 0,
		      "a glob");
	status = DP_TOOL("stat", "--json", "kernel:dpbytes:tell", GETSID_SPEC,
			 "--", "/init", "work", "3", "0", "9");
	dp_tool_check(status == STATUS &&
			      hits("kernel:dpbytes:tell") == READS &&
			      hits(GETSID_SPEC) == 3,
		      "a module's function");
	status = DP_TOOL("list", "kernel:vfs_*");
	dp_tool_check(!status && strstr(dp_tool_out, "kernel:vfs_read\n") &&
			      strstr(dp_tool_out, "kernel:vfs_write\n"),
		      "list shows what could be probed");
	status = DP_TOOL("list", "-v", GETSID_SPEC);
	dp_tool_check(!status && strstr(dp_tool_out, GETSID_SPEC "  jump") &&
			      !dp_device_changed(),
		      "and how, without probing it");
	status = DP_TOOL("stat", "kernel:no_such_function");
	dp_tool_check(status == 2 && dp_tool_says("neither the kernel nor"),
		      "no such name");
	status = DP_TOOL("stat", "kernel:notify_die");
	dp_tool_check(status == 2 &&
			      dp_tool_says("a breakpoint comes by there"),
		      "what may not be probed");
	status = DP_TOOL("stat", GETSID_SPEC "+0x100000");
	dp_tool_check(status == 2 && dp_tool_says("beyond the function's end"),
		      "an offset");
	status = DP_TOOL("stat", "kernel:*");
	dp_tool_check(status == 2 && dp_tool_says("can be probed at a time"),
		      "too many");
	status = DP_TOOL("stat", GETSID_SPEC, "--", "/nothing");
	dp_tool_check(status == 127 && dp_tool_says("cannot execute /nothing"),
		      "a command that is not there");
}

/* __x64_sys_getsid() gets the registers of the call, with its argument at 0x70. */
static void condition(const char *native, const char *what)
{
	static const char spec[] = GETSID_SPEC " if *(u64 *)(arg0 + 0x70) == 5";
	int status;

	setenv("DPROBES_NATIVE", native, 1);
	status = DP_TOOL("stat", "--json", spec, UMASK_SPEC " if arg0 == 1",
			 "--", "/init", "work", "40", "7", "0", "60");
	unsetenv("DPROBES_NATIVE");
	dp_tool_check(status == STATUS && hits(GETSID_SPEC) == 60 &&
			      !hits(UMASK_SPEC) &&
			      dp_tool_says("107 hits (60 counted)"),
		      what);
}

static void conditions(void)
{
	int status;

	condition("1", "a condition");
	condition("0", "a condition that is interpreted");
	condition("leave:3", "a condition that is left to the interpreter");
	setenv("DPROBES_NATIVE", "leave:", 1);
	status = DP_TOOL("stat", GETSID_SPEC);
	unsetenv("DPROBES_NATIVE");
	dp_tool_check(status == 1 && dp_tool_says("0, 1 or leave:N"),
		      "how conditions run is said wrongly");
}

#define WORK_SPEC "kernel:dpvictim:dpvictim_work"

/* A module comes and goes while the tool runs. */
static void waits(void)
{
	static const char *const argv[] = { "stat",    "--json",    "--pending",
					    WORK_SPEC, GETSID_SPEC, NULL };
	int status = DP_TOOL("stat", WORK_SPEC), armed, comes;
	pid_t tool;

	dp_tool_check(
		status == 2 &&
			dp_tool_says("nor a loaded module has such a function"),
		"a module that is not there");
	status = DP_TOOL("stat", "--pending", "--duration", "100ms", WORK_SPEC);
	dp_tool_check(
		!status &&
			dp_tool_says("1 probe waited for a module in vain") &&
			strstr(dp_tool_out, "  off   " WORK_SPEC "\n") &&
			!dp_tool_says("by breakpoint"),
		"it is waited for, and is no breakpoint meanwhile");
	status = DP_TOOL("stat", "--pending", "kernel:dpvictim_work");
	dp_tool_check(status == 2, "a function alone is not");
	dp_init_load("dpvictim", "");
	tool = dp_tool_start(argv);
	armed = dp_tool_wait(1);
	comes = dp_init_unload("dpvictim") &&
		dp_init_load("dpvictim", "calls=31") &&
		dp_init_unload("dpvictim");
	kill(tool, SIGINT);
	status = dp_tool_finish(tool);
	dp_tool_check(armed && comes && !status && hits(WORK_SPEC) == 31 &&
			      dp_tool_says("1 probe went with the module"),
		      "it comes and goes meanwhile");
	if (status)
		printf("# status %d\n", status);
}

/* Of whomever they are. */
static void lists(void)
{
	static const char *const argv[] = { "stat",  GETSID_SPEC, "--",
					    "/init", "work",	  "0",
					    "0",     "0",	  NULL };
	static const char *const waits_for_end[] = { "stat", GETSID_SPEC,
						     NULL };
	pid_t tool = dp_tool_start(waits_for_end);
	int armed = dp_tool_wait(1), status = DP_TOOL("list"), all;
	char line[256];

	dp_tool_check(armed && !status &&
			      strstr(dp_tool_out, "  k  " DP_GETSID "+0x") &&
			      strstr(dp_tool_out, "    [OPTIMIZED]\n"),
		      "list has the kernel's probes");
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(dp_tool_out, "\n"),
		 dp_tool_out);
	status = DP_TOOL("list", "--json");
	dp_tool_check(
		!status &&
			strstr(dp_tool_out,
			       ",\"kind\":\"k\",\"symbol\":\"" DP_GETSID
			       "\"") &&
			strstr(dp_tool_out,
			       "\"module\":\"kernel\",\"mode\":\"jump\"") &&
			strstr(dp_tool_out, "\"flags\":\"[OPTIMIZED]\"}\n"),
		"as JSON, too");
	status = DP_TOOL("enabled", "kernel");
	dp_tool_check(!status && !strcmp(dp_tool_out, "1\n"), "enabled");
	status = DP_TOOL("enabled", "0", "kernel");
	dp_tool_check(!status && !strcmp(dp_tool_out, "0\n") &&
			      !dp_device_changed(),
		      "enabled 0");
	status = DP_TOOL("list", "-v");
	dp_tool_check(!status && strstr(dp_tool_out, "kernel  trap\n"),
		      "list -v");
	status = DP_TOOL("enable", "kernel");
	dp_tool_check(!status && !*dp_tool_out && dp_device_changed() == 1,
		      "enable");
	status = DP_TOOL("disable", "kernel");
	dp_tool_check(!status && !*dp_tool_out && !dp_device_changed(),
		      "disable");
	status = DP_TOOL("stat", "--duration", "10ms", GETSID_SPEC);
	dp_tool_check(
		!status && dp_tool_says("switched off, and nothing is counted"),
		"which a tool that comes then says");
	status = DP_TOOL("enabled", "kernel", "1");
	dp_tool_check(!status && !strcmp(dp_tool_out, "1\n") &&
			      dp_device_changed() == 1,
		      "enabled 1");
	status = DP_TOOL("stat", "--duration", "10ms", GETSID_SPEC);
	dp_tool_check(!status && !dp_tool_says("switched off"),
		      "and then it does not");
	status = DP_TOOL("sysctl", "debug.kprobes-optimization=0", "kernel");
	dp_tool_check(!status && !strcmp(dp_tool_out,
					 "debug.kprobes_optimization = 0\n"),
		      "sysctl");
	all = DP_TOOL("list");
	dp_tool_check(!all && !strstr(dp_tool_out, "[OPTIMIZED]"),
		      "which list shows");
	status = DP_TOOL("sysctl", "kernel", "debug.kprobes-optimization=y");
	dp_tool_check(!status && !strcmp(dp_tool_out,
					 "debug.kprobes_optimization = 1\n"),
		      "sysctl y");
	status = DP_TOOL("disable", GETSID_SPEC);
	dp_tool_check(
		status == 2 &&
			dp_tool_says("all at once: dprobes disable kernel"),
		"one alone is not switched");
	status = DP_TOOL("enabled", "0", "kernel", "-p", "1");
	dp_tool_check(status == 2 && dp_tool_says("leave -p away"),
		      "nor of a process");
	as_user = 1000;
	status = DP_TOOL("enabled", "0", "kernel");
	dp_tool_check(status == 1 && dp_tool_says("by root"), "others may not");
	status = DP_TOOL("list");
	dp_tool_check(!status && !strstr(dp_tool_out, DP_GETSID) &&
			      !*dp_tool_said,
		      "nor see any, in silence");
	as_user = 0;
	kill(tool, SIGINT);
	waitpid(tool, &status, 0);
	status = DP_TOOL("list");
	dp_tool_check(!status && !strstr(dp_tool_out, "  k  "),
		      "then there are none");
	status = DP_TOOL("list", line);
	dp_tool_check(!status && strstr(dp_tool_out, GETSID_SPEC "+0x") ==
					 dp_tool_out,
		      "a line of the list is a spec");
	status = dp_tool_finish(dp_tool_start(argv));
	dp_tool_check(status == STATUS, "and all goes on");
}

unsigned int dp_tool_occurrences(const char *words)
{
	unsigned int n = 0;
	const char *at = dp_tool_out;

	while ((at = strstr(at, words))) {
		at += strlen(words);
		n++;
	}
	return n;
}

#define SID "sid=*(u64 *)(arg0 + 0x70)"

static void traces(void)
{
	int status = DP_TOOL("trace", GETSID_SPEC "(" SID ")", "--", "/init",
			     "work", "3", "2", "0", "6");

	dp_tool_check(status == STATUS && dp_tool_occurrences("\n") == 9 &&
			      dp_tool_occurrences(" init " GETSID_SPEC
						  " sid=5\n") == 6 &&
			      dp_tool_occurrences(" init " GETSID_SPEC
						  " sid=0\n") == 3 &&
			      dp_tool_says("9 records"),
		      "a line for each call, with values");
	status = DP_TOOL("trace", "--json",
			 GETSID_SPEC "(" SID ") if arg0->x == 1", "--", "/init",
			 "work", "3", "2", "0", "6");
	dp_tool_check(status == 2, "a member of what is not known");
	status = DP_TOOL("trace", "--json", GETSID_SPEC "(" SID ")",
			 UMASK_SPEC " if 0 == 1", "--", "/init", "work", "3",
			 "2", "0", "6");
	dp_tool_check(status == STATUS &&
			      dp_tool_occurrences("\"args\":{\"sid\":5}") ==
				      6 &&
			      dp_tool_occurrences("\"comm\":\"init\"") == 9,
		      "as JSON");
	status = DP_TOOL("trace", "-n", "4", GETSID_SPEC, "--", "/init", "work",
			 "300", "0", "0");
	dp_tool_check(!status || dp_tool_occurrences("\n") == 4, "-n ends it");
	status = DP_TOOL("trace", "--duration", "300ms",
			 "kernel:update_process_times(arg0)");
	dp_tool_check(!status &&
			      dp_tool_occurrences(
				      "kernel:update_process_times") > 10 &&
			      dp_tool_occurrences("[irq]") > 10,
		      "interrupts");
}

static void rights(void)
{
	int status;

	as_user = 1000;
	status = DP_TOOL("stat", GETSID_SPEC);
	as_user = 0;
	dp_tool_check(status == 1 && dp_tool_says("CAP_SYS_ADMIN"),
		      "others may not");
	put(RESTRICT, "2");
	status = DP_TOOL("stat", "--json", GETSID_SPEC, "--", "/init", "work",
			 "5", "0", "0");
	dp_tool_check(status == STATUS && hits(GETSID_SPEC) == 5,
		      "where addresses are shown to nobody");
	status = DP_TOOL("list", "--json", GETSID_SPEC);
	dp_tool_check(!status && strstr(dp_tool_out, "\"addr\":\"0x0\""),
		      "none is shown");
	put(RESTRICT, "0");
}

/* As many as there can be */
static void crowd(void)
{
	int fd[16], i, status;

	for (i = 0; i < 16; i++)
		fd[i] = dp_device_open(0);
	status = DP_TOOL("stat", GETSID_SPEC);
	dp_tool_check(status == 1 &&
			      dp_tool_says("sixteen programs probe the kernel"),
		      "sixteen at a time");
	for (i = 0; i < 16; i++)
		close(fd[i]);
}

static void ends(int sig, const char *what)
{
	static const char *const argv[] = { "stat", GETSID_SPEC, UMASK_SPEC,
					    NULL };
	pid_t tool = dp_tool_start(argv);
	int armed = dp_tool_wait(2), second, fd, status;

	second = DP_TOOL("stat", GETSID_SPEC, "--", "/init", "work", "7", "0",
			 "3");
	dp_tool_check(armed && second == STATUS &&
			      dp_tool_says("7 hits, 0 missed"),
		      "another one beside it counts its own");
	setenv("DPROBES_ARM", "trap", 1);
	second = DP_TOOL("stat", GETSID_SPEC);
	unsetenv("DPROBES_ARM");
	dp_tool_check(second == 1 && dp_tool_says("in another way"),
		      "which has to be armed as it is");
	kill(tool, sig);
	status = dp_tool_finish(tool);
	fd = dp_device_open(0);
	dp_tool_check(armed && fd >= 0 && !dp_device_changed() && status >= 0,
		      what);
	close(fd);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* At moments that are spread over its life: it looks for names, adds, arms, counts, disarms. */
static void killed_anywhere(void)
{
	static const char *const argv[] = {
		"stat", GETSID_SPEC, "kernel:vfs_get*", "--duration", "2s", NULL
	};
	double began = now(), step;
	int i, fd, armed = 0, left = 0, lost = 0;
	pid_t tool;

	dp_tool_finish(dp_tool_start(argv));
	step = (now() - began) / KILLS;
	for (i = 0; i < KILLS; i++) {
		tool = dp_tool_start(argv);
		usleep((useconds_t)(i * step * 1e6));
		armed += dp_device_changed() > 0;
		kill(tool, SIGKILL);
		dp_tool_finish(tool);
		fd = dp_device_open(0);
		lost += fd < 0;
		left += dp_device_changed() != 0;
		close(fd);
	}
	printf("# killed %d times, %d of these armed\n", KILLS, armed);
	dp_tool_check(armed && armed < KILLS && !lost && !left,
		      "killed anywhere, it leaves nothing");
}

static double seconds(char *const *argv)
{
	double began = now();
	pid_t tool = fork();

	if (!tool) {
		redirect(OUT, 1);
		redirect(SAID, 2);
		execv(TOOL, argv);
		_exit(127);
	}
	return dp_tool_finish(tool) ? 1e9 : now() - began;
}

/* Each of so many functions is named. */
static void many(void)
{
	/* Some kernels have no functions of some of these names. */
	static const char *const globs[] = { "kernel:vfs_*",  "kernel:dev_*",
					     "kernel:tcp_*",  "kernel:do_*",
					     "kernel:blk_*",  "kernel:kernfs_*",
					     "kernel:sock_*", "kernel:skb_*",
					     "kernel:get_*",  "kernel:sys*",
					     "kernel:tty_*",  "kernel:pci_*",
					     "kernel:sk_*",   "kernel:netif_*",
					     "kernel:acpi_*", NULL };
	static char copy[2 * sizeof(dp_tool_out)],
		*argv[MANY + 3] = { (char *)TOOL, (char *)"list" };
	unsigned int n = 0, lines, i;
	double one, all;
	char *at, *end = copy;

	for (i = 0; n < MANY && globs[i]; i++) {
		DP_TOOL("list", globs[i]);
		strcpy(end, dp_tool_out);
		for (at = end; n < MANY && (end = strchr(at, '\n'));
		     at = ++end) {
			*end = '\0';
			argv[2 + n++] = at;
		}
		end = at;
	}
	all = seconds(argv);
	lines = dp_tool_occurrences("\n");
	argv[3] = NULL;
	one = seconds(argv);
	printf("# %u probes named one by one take %.2f s, one takes %.2f s\n",
	       n, all, one);
	dp_tool_check(n == MANY && lines >= MANY && all < 50 * one,
		      "a thousand names are looked up at once");
}

/* @begun: a byte goes there when there is the first one */
static int have_sessions(unsigned int arming, int n, int begun)
{
	int i, fd;

	for (i = 0; i < n; i++) {
		fd = dp_device_open(0);
		if (fd >= 0)
			dp_device_start(fd, arming % 3);
		if (!i && write(begun, "", 1) != 1)
			return 1;
		close(fd);
	}
	return 0;
}

/* The module is to go, while others open its device and have sessions. */
static void unloaded_anywhere(void)
{
	int i, status, begun[2], tries = 0, back = 0;
	pid_t child;
	char byte;

	if (pipe(begun))
		return;
	for (i = 0; i < UNLOADS; i++) {
		child = fork();
		if (!child)
			_exit(have_sessions((unsigned int)i, 1 + i % 4,
					    begun[1]));
		if (read(begun[0], &byte, 1) != 1)
			break;
		while (!dp_init_unload("dprobes"))
			tries++;
		waitpid(child, &status, 0);
		back += dp_init_load_probes();
	}
	printf("# it could not go %d times\n", tries);
	dp_tool_check(tries && back == UNLOADS,
		      "the module comes and goes while its device is opened");
}

void dp_tool_try(void)
{
	dp_init_check(dp_init_load("dpbytes",
				   "functions=" DP_GETSID "," DP_UMASK),
		      "bytes are remembered", "tool: ");
	waits();
	if (dp_init_debugfs())
		lists();
	else
		dp_init_skip("tool: lists", DP_INIT_NO_DEBUGFS);
	commands("\"mode\":\"jump\"");
	setenv("DPROBES_ARM", "trap", 1);
	commands("\"mode\":\"trap\"");
	unsetenv("DPROBES_ARM");
	interrupts();
	intervals();
	names();
	conditions();
	traces();
	dp_tool_names();
	dp_tool_returns();
	dp_tool_kept();
	rights();
	crowd();
	ends(SIGKILL, "killed, it leaves nothing");
	ends(SIGTERM, "terminated, neither");
	killed_anywhere();
	many();
	dp_tool_check(dp_init_unload("dpbytes"),
		      "modules that were probed can go");
	unloaded_anywhere();
}

void dp_tool_absent(void)
{
	int status = DP_TOOL("stat", GETSID_SPEC);

	dp_tool_check(
		status == 1 &&
			dp_tool_says(
				"there is no /dev/dprobes: load dprobes.ko"),
		"without the module it says so");
	status = DP_TOOL("enabled", "kernel");
	dp_tool_check(
		status == 1 &&
			dp_tool_says("debug/dprobes/enabled: load dprobes.ko"),
		"of the knobs, too");
}
