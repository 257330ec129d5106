// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* tool_init: dprobes(1) in the guest: what it counts is what was done, and it leaves nothing. */
#include "tests/kernel/device_init.h"
#include "tests/kernel/init.h"
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
#define UNLOADS 12

#define GETSID_SPEC "kernel:" DP_GETSID
#define UMASK_SPEC "kernel:" DP_UMASK

static char out[1 << 18], said[1 << 16];
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

int dp_tool_work(char *const *argv)
{
	int fives = argv[3] ? atoi(argv[3]) : 0;

	work(atoi(argv[0]), atoi(argv[1]), atoi(argv[2]));
	while (fives--)
		syscall(SYS_getsid, 5);
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
static pid_t start(const char *const *argv)
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
static int finish(pid_t tool)
{
	int status = -1;

	if (waitpid(tool, &status, 0) != tool)
		return -1;
	read_file(OUT, out, sizeof(out));
	read_file(SAID, said, sizeof(said));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#define RUN(...) finish(start((const char *const[]){ __VA_ARGS__, NULL }))

/* Of a function in what --json has printed; -1: it is not there */
static long hits(const char *spec)
{
	char start[128];
	const char *at;

	snprintf(start, sizeof(start), "{\"probe\":\"%s\",\"hits\":", spec);
	at = strstr(out, start);
	return at ? atol(at + strlen(start)) : -1;
}

static void check(int is, const char *what)
{
	dp_init_check(is, what, "tool: ");
	if (!is)
		printf("# out: %.2000s\n# said: %.2000s\n", out, said);
}

static int says(const char *words)
{
	return strstr(said, words) != NULL;
}

/* Until so many functions have other bytes, or the tool has ended */
static int wait_changed(int n)
{
	time_t until = time(NULL) + SECONDS;

	while (dp_device_changed() != n && time(NULL) < until)
		usleep(1000);
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
	int status = RUN("stat", "--json", GETSID_SPEC, UMASK_SPEC, "--",
			 "/init", "work", "1234", "77", "0");

	check(status == STATUS && hits(GETSID_SPEC) == GETSIDS &&
		      hits(UMASK_SPEC) == UMASKS,
	      "it counts what a command does, and ends as that");
	check(strstr(out, mode) && says("2 probes at 2 sites") &&
		      says("init exited with status 3"),
	      "it says how");
	check(!dp_device_changed(), "and leaves nothing");
}

static void interrupts(void)
{
	static const char *const argv[] = { "stat", "--json", GETSID_SPEC,
					    UMASK_SPEC, NULL };
	pid_t tool = start(argv);
	int armed = wait_changed(2), status;

	work(GETSIDS, UMASKS, 0);
	kill(tool, SIGINT);
	status = finish(tool);
	check(armed && !status && hits(GETSID_SPEC) == GETSIDS &&
		      hits(UMASK_SPEC) == UMASKS && says("interrupted"),
	      "^C ends it, and it has counted all");
	status = RUN("stat", "--duration", "300ms", GETSID_SPEC);
	check(!status && says("--duration is over") && strstr(out, GETSID_SPEC),
	      "--duration ends it");
	status = RUN("stat", "-v", "-i", "100ms", "--duration", "1s",
		     GETSID_SPEC, "--", "/init", "work", "50", "0", "0");
	check(status == STATUS && strstr(out, " 50 ") && strstr(out, "0xffff"),
	      "-v and -i");
}

static void names(void)
{
	int status = RUN("stat", "--json", "kernel:__x64_sys_[gu]*", "--",
			 "/init", "work", "1234", "77", "0");

	check(status == STATUS && hits(GETSID_SPEC) == GETSIDS &&
		      hits(UMASK_SPEC) == UMASKS &&
		      !hits("kernel:" DP_GETPGID) &&
		      hits("kernel:__x64_sys_getppid") >= 0,
	      "a glob");
	status = RUN("stat", "--json", "kernel:dpbytes:tell", GETSID_SPEC, "--",
		     "/init", "work", "3", "0", "9");
	check(status == STATUS && hits("kernel:dpbytes:tell") == READS &&
		      hits(GETSID_SPEC) == 3,
	      "a module's function");
	status = RUN("list", "kernel:vfs_*");
	check(!status && strstr(out, "kernel:vfs_read\n") &&
		      strstr(out, "kernel:vfs_write\n"),
	      "list shows what could be probed");
	status = RUN("list", "-v", GETSID_SPEC);
	check(!status && strstr(out, GETSID_SPEC "  jump") &&
		      !dp_device_changed(),
	      "and how, without probing it");
	status = RUN("stat", "kernel:no_such_function");
	check(status == 2 && says("neither the kernel nor"), "no such name");
	status = RUN("stat", "kernel:notify_die");
	check(status == 2 && says("a breakpoint comes by there"),
	      "what may not be probed");
	status = RUN("stat", GETSID_SPEC "+0x100000");
	check(status == 2 && says("beyond the function's end"), "an offset");
	status = RUN("stat", "kernel:*");
	check(status == 2 && says("can be probed at a time"), "too many");
	status = RUN("stat", GETSID_SPEC, "--", "/nothing");
	check(status == 127 && says("cannot execute /nothing"),
	      "a command that is not there");
}

/* __x64_sys_getsid() gets the registers of the call, with its argument at 0x70. */
static void conditions(void)
{
	static const char spec[] = GETSID_SPEC " if *(u64 *)(arg0 + 0x70) == 5";
	int status = RUN("stat", "--json", spec, UMASK_SPEC " if arg0 == 1",
			 "--", "/init", "work", "40", "7", "0", "60");

	check(status == STATUS && hits(GETSID_SPEC) == 60 &&
		      !hits(UMASK_SPEC) && says("107 hits (60 counted)"),
	      "a condition");
	status = RUN("stat", GETSID_SPEC " if task == 3");
	check(status == 2 && says("debug information is not read"),
	      "a name of the source");
	status = RUN("stat", GETSID_SPEC "{count() by arg0}");
	check(status == 2 && says("in braces"), "what is not there yet");
}

static unsigned int occurrences(const char *words)
{
	unsigned int n = 0;
	const char *at = out;

	while ((at = strstr(at, words))) {
		at += strlen(words);
		n++;
	}
	return n;
}

#define SID "sid=*(u64 *)(arg0 + 0x70)"

static void traces(void)
{
	int status = RUN("trace", GETSID_SPEC "(" SID ")", "--", "/init",
			 "work", "3", "2", "0", "6");

	check(status == STATUS && occurrences("\n") == 9 &&
		      occurrences(" init " GETSID_SPEC " sid=5\n") == 6 &&
		      occurrences(" init " GETSID_SPEC " sid=0\n") == 3 &&
		      says("9 records"),
	      "a line for each call, with values");
	status = RUN("trace", "--json", GETSID_SPEC "(" SID ") if arg0->x == 1",
		     "--", "/init", "work", "3", "2", "0", "6");
	check(status == 2, "a member of what is not known");
	status = RUN("trace", "--json", GETSID_SPEC "(" SID ")",
		     UMASK_SPEC " if 0 == 1", "--", "/init", "work", "3", "2",
		     "0", "6");
	check(status == STATUS && occurrences("\"args\":{\"sid\":5}") == 6 &&
		      occurrences("\"comm\":\"init\"") == 9,
	      "as JSON");
	status = RUN("trace", "-n", "4", GETSID_SPEC, "--", "/init", "work",
		     "300", "0", "0");
	check(!status || occurrences("\n") == 4, "-n ends it");
	status = RUN("trace", "--duration", "300ms",
		     "kernel:update_process_times(arg0)");
	check(!status && occurrences("kernel:update_process_times") > 10 &&
		      occurrences("[irq]") > 10,
	      "interrupts");
}

static void rights(void)
{
	int status;

	as_user = 1000;
	status = RUN("stat", GETSID_SPEC);
	as_user = 0;
	check(status == 1 && says("CAP_SYS_ADMIN"), "others may not");
	put(RESTRICT, "2");
	status = RUN("stat", "--json", GETSID_SPEC, "--", "/init", "work", "5",
		     "0", "0");
	check(status == STATUS && hits(GETSID_SPEC) == 5,
	      "where addresses are shown to nobody");
	status = RUN("list", "--json", GETSID_SPEC);
	check(!status && strstr(out, "\"addr\":\"0x0\""), "none is shown");
	put(RESTRICT, "0");
}

static void ends(int sig, const char *what)
{
	static const char *const argv[] = { "stat", GETSID_SPEC, UMASK_SPEC,
					    NULL };
	pid_t tool = start(argv);
	int armed = wait_changed(2), second, fd, status;

	second = RUN("stat", GETSID_SPEC);
	check(armed && second == 1 && says("another program probes"),
	      "one at a time");
	kill(tool, sig);
	status = finish(tool);
	fd = dp_device_open(0);
	check(armed && fd >= 0 && !dp_device_changed() && status >= 0, what);
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

	finish(start(argv));
	step = (now() - began) / KILLS;
	for (i = 0; i < KILLS; i++) {
		tool = start(argv);
		usleep((useconds_t)(i * step * 1e6));
		armed += dp_device_changed() > 0;
		kill(tool, SIGKILL);
		finish(tool);
		fd = dp_device_open(0);
		lost += fd < 0;
		left += dp_device_changed() != 0;
		close(fd);
	}
	printf("# killed %d times, %d of these armed\n", KILLS, armed);
	check(armed && armed < KILLS && !lost && !left,
	      "killed anywhere, it leaves nothing");
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
	check(tries && back == UNLOADS,
	      "the module comes and goes while its device is opened");
}

void dp_tool_try(void)
{
	dp_init_check(dp_init_load("dpbytes",
				   "functions=" DP_GETSID "," DP_UMASK),
		      "bytes are remembered", "tool: ");
	commands("\"mode\":\"jump\"");
	setenv("DPROBES_ARM", "trap", 1);
	commands("\"mode\":\"trap\"");
	unsetenv("DPROBES_ARM");
	interrupts();
	names();
	conditions();
	traces();
	rights();
	ends(SIGKILL, "killed, it leaves nothing");
	ends(SIGTERM, "terminated, neither");
	killed_anywhere();
	check(dp_init_unload("dpbytes"), "modules that were probed can go");
	unloaded_anywhere();
}

void dp_tool_absent(void)
{
	int status = RUN("stat", GETSID_SPEC);

	check(status == 1 && says("there is no /dev/dprobes: load dprobes.ko"),
	      "without the module it says so");
}
