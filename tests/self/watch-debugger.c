// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * watch-debugger: gdb attaches to a process that watches its own memory, passes its traps on, goes, and is killed.
 *
 * gdb is a child of the process, which it stops. So it says by a variable that the process goes on.
 */
#include "tests/self/tap.h"
#include <dprobes/hw_breakpoint.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define EACH 20
#define WAIT_SECONDS 300.0

static volatile long word __attribute__((aligned(8)));
static volatile long others[4] __attribute__((aligned(8)));
static volatile int gdb_goes_on; /* set by gdb, behind its commands */
static volatile unsigned long calls;

/* gdb stops the process by it. */
static void interrupted(int sig)
{
}

static void count(struct perf_event *bp, struct perf_sample_data *data,
		  struct pt_regs *regs)
{
	__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
}

static struct perf_event **watch(void)
{
	struct perf_event_attr attr;

	hw_breakpoint_init(&attr);
	attr.bp_addr = (unsigned long)&word;
	attr.bp_len = HW_BREAKPOINT_LEN_8;
	attr.bp_type = HW_BREAKPOINT_W;
	calls = 0;
	return register_wide_hw_breakpoint(&attr, count, NULL);
}

static void *store(void *unused)
{
	int i;

	for (i = 0; i < EACH; i++)
		word = i;
	return NULL;
}

/* Two threads write: one that was there when the debugger came, and a new one, which may be @bare. */
static void exactly(struct perf_event **bp, bool bare, const char *what)
{
	unsigned long missed = 0, had = calls, hits;
	long wanted = bare ? EACH : 2 * EACH;
	pthread_t t;

	hits = dp_hw_breakpoint_hits(*bp, &missed);
	pthread_create(&t, NULL, store, NULL);
	store(NULL);
	pthread_join(t, NULL);
	is((long)(calls - had), wanted, what);
	hits = dp_hw_breakpoint_hits(*bp, &missed) - hits;
	is((long)hits, wanted, "… all counted");
	is((long)missed, 0, "… and none missed");
	if (bare)
		is((long)(dp_hw_breakpoint_bare(*bp) > 0), 1,
		   "… a thread that begins under a debugger is told to be bare");
}

static long tracer(void)
{
	char text[4096], *at;
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, text, sizeof(text) - 1);

	close(fd);
	text[n > 0 ? n : 0] = 0;
	at = strstr(text, "TracerPid:");
	return at ? atol(at + strlen("TracerPid:")) : -1;
}

static void debug(const char *command)
{
	char set[80], pid[16];

	snprintf(pid, sizeof(pid), "%d", getppid());
	snprintf(set, sizeof(set), "set var *(int *)%p = 1",
		 (void *)&gdb_goes_on);
	dup2(open("/dev/null", O_RDWR), STDIN_FILENO);
	dup2(STDIN_FILENO, STDOUT_FILENO);
	dup2(STDIN_FILENO, STDERR_FILENO);
	/* What stopped the process was no trap of its own: that is not passed on. */
	execlp("gdb", "gdb", "-q", "-nx", "-batch", "-iex",
	       "set debuginfod enabled off", "-p", pid, "-ex",
	       "handle SIGTRAP nostop noprint pass", "-ex", command, "-ex", set,
	       "-ex", "signal 0", NULL);
	_exit(127);
}

/* Return: gdb's id, when it has come and the process goes on; 0: it has not come */
static pid_t begin(const char *command)
{
	double began = seconds();
	int status;
	pid_t pid;

	gdb_goes_on = 0;
	pid = fork();
	if (!pid)
		debug(command);
	prctl(PR_SET_PTRACER, pid, 0, 0, 0);
	while (!gdb_goes_on && seconds() - began < WAIT_SECONDS) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return 0;
		usleep(1000);
	}
	return tracer() == pid ? pid : 0;
}

static void end(pid_t gdb, int sig)
{
	kill(gdb, sig);
	waitpid(gdb, NULL, 0);
}

/* @bare: registers are set by ptrace(2), which is the debugger's while it is there */
static void leaves_alone(bool bare)
{
	struct perf_event **bp = watch();
	pid_t gdb = begin("print 1");

	if (!ok(gdb != 0, "gdb attaches"))
		return;
	exactly(bp, bare, "it passes traps on");
	end(gdb, SIGINT);
	is(tracer(), 0, "it goes");
	exactly(bp, false, "and leaves the watchpoint");
	gdb = begin("print 1");
	ok(gdb != 0, "another one attaches");
	end(gdb, SIGKILL);
	is(tracer(), 0, "it is killed");
	exactly(bp, false, "which leaves the watchpoint, too");
	unregister_wide_hw_breakpoint(bp);
}

/* By perf events the kernel gives it another register. One that is set by ptrace(2) is overwritten. */
static void has_its_own(bool events)
{
	struct perf_event **bp = watch();
	char command[80];
	pid_t gdb;

	snprintf(command, sizeof(command), "watch *(long *)%p",
		 (void *)&others[1]);
	gdb = begin(command);
	if (!ok(gdb != 0, "gdb attaches, and watches something itself"))
		return;
	if (events) {
		exactly(bp, false, "beside its watchpoint");
	} else {
		store(NULL);
		ok(true, "the process goes on");
	}
	end(gdb, SIGINT);
	is(tracer(), 0, "it goes");
	unregister_wide_hw_breakpoint(bp);
	bp = watch();
	is(dp_hw_breakpoint_error(bp), 0, "a new watchpoint can be had");
	if (dp_hw_breakpoint_error(bp))
		return;
	exactly(bp, false, "and has all hits");
	unregister_wide_hw_breakpoint(bp);
}

int main(void)
{
	struct perf_event **bp = watch();

	signal(SIGINT, interrupted);
	if (dp_hw_breakpoint_error(bp)) {
		skip("watchpoints beside gdb", dp_last_diag()->text);
		return plan();
	}
	unregister_wide_hw_breakpoint(bp);
	if (system("gdb --version >/dev/null 2>&1")) {
		skip("watchpoints beside gdb", "needs gdb");
		return plan();
	}
	leaves_alone(false);
	has_its_own(true);
	puts("# by registers");
	setenv("DPROBES_WATCH", "registers", 1);
	leaves_alone(true);
	has_its_own(false);
	return plan();
}
