// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * debugger_init: programs that end by "exit 1", where gdb is at the kernel's debugger: tests/kernel/debugger.
 *
 *     guest                                gdb, by debugger.py
 *     getsid(ASK_…) ─► hit ─► kgdb ──────► reads the argument, does as it says, continues
 *     has its result, reads the record ◄──
 */
#include "tests/kernel/device_init.h"
#include "tests/kernel/init.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#define OF "debugger: "
#define SIGPENDING "recalc_sigpending"

/* No process has such a number. The same order as in debugger.py */
enum ask {
	ASK_NOTHING = 1000001,
	ASK_BREAK, /* a breakpoint at the probe */
	ASK_MASKED, /* the probe takes it */
	ASK_DELETE, /* no more breakpoints */
	ASK_FORBID, /* a breakpoint where the probe was */
	ASK_BYE,
};

static int getsid_of(enum ask ask)
{
	return syscall(SYS_getsid, ask) == -1 && errno == ESRCH;
}

static int getpgid_of(enum ask ask)
{
	return syscall(SYS_getpgid, ask) == -1 && errno == ESRCH;
}

/* Return: how many records there are, all of a debugger that was called; -1: others */
static int taken(int fd)
{
	static char buffer[1 << 16];
	const struct dp_device_record *r;
	ssize_t n, i;

	fcntl(fd, F_SETFL, O_NONBLOCK);
	n = read(fd, buffer, sizeof(buffer));
	if (n < 0)
		return errno == EAGAIN ? 0 : -1;
	r = (const void *)buffer;
	for (i = 0; i < n / (ssize_t)sizeof(*r); i++)
		if (r[i].facility != 1 || r[i].flags != DP_DEVICE_TAKEN)
			return -1;
	return (int)i;
}

static void hits(unsigned int arming, const char *of)
{
	char words[DP_DEVICE_WORDS] = "";
	int fd = dp_facilities_ask(DP_GETSID, arming, 1, words), i, good = 0;

	printf("# a program calls the debugger%s\n", words);
	fflush(stdout);
	/* Once the kernel stands still nothing is sent any more. */
	tcdrain(STDOUT_FILENO);
	for (i = 0; fd >= 0 && i < 3; i++)
		good += getsid_of(ASK_NOTHING);
	dp_init_check(good == 3, "the system calls have their results", of);
	dp_init_check(fd >= 0 && taken(fd) == 3, "the records say so", of);
	close(fd);
	dp_init_check(!dp_device_changed(), "the text is as it was", of);
}

static void *call_on(void *cpu)
{
	cpu_set_t set;
	long i, good = 0;

	CPU_ZERO(&set);
	CPU_SET((long)cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	for (i = 0; i < 5; i++)
		good += getsid_of(ASK_NOTHING);
	return (void *)good;
}

static void two(void)
{
	char words[DP_DEVICE_WORDS] = "";
	int fd = dp_facilities_ask(DP_GETSID, DP_DEVICE_JUMP, 1, words);
	void *good[2] = { NULL, NULL };
	pthread_t thread[2];
	long i;

	for (i = 0; fd >= 0 && i < 2; i++)
		pthread_create(&thread[i], NULL, call_on, (void *)i);
	for (i = 0; fd >= 0 && i < 2; i++)
		pthread_join(thread[i], &good[i]);
	dp_init_check(fd >= 0 && (long)good[0] == 5 && (long)good[1] == 5 &&
			      taken(fd) == 10,
		      "two CPUs call it at a time", OF);
	close(fd);
}

/* Interrupts are off there. Who gets a signal meanwhile comes by, too. */
static void atomic(void)
{
	char words[DP_DEVICE_WORDS] = "";
	int fd = dp_facilities_ask(SIGPENDING, DP_DEVICE_TRAP, 1, words);
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	if (fd >= 0)
		sigprocmask(SIG_BLOCK, &set, NULL);
	dp_init_check(fd >= 0 && taken(fd) >= 1,
		      "it is called where interrupts are off", OF);
	if (fd < 0)
		printf("# %s: %s\n", SIGPENDING, words);
	close(fd);
}

/*
 * The kernel takes a lock for gdb's first breakpoint that it may not take in an int3, which lockdep tells, once.
 * Wherever gdb comes to it by a breakpoint, it does so.
 */
static void complaints(void)
{
	char *log = dp_init_log();
	const char *lock = strstr(log, "WARNING: inconsistent lock state");

	if (lock && strstr(lock, "kgdb_arch_set_breakpoint"))
		dp_init_check(!strstr(lock + 1, "WARNING:") &&
				      !strstr(lock, "BUG:") &&
				      !strstr(lock, "Oops") &&
				      !strstr(lock, "rcu: INFO"),
			      "the kernel complains of its own lock alone", OF);
	else
		dp_init_check(dp_init_is_quiet(log),
			      "the kernel complains of nothing", OF);
}

/* gdb has a breakpoint at the probe, and keeps it until another probe's hit. */
static void breakpoint(unsigned int arming, const char *of)
{
	char words[DP_DEVICE_WORDS] = "";
	int other = dp_facilities_ask(DP_GETPGID, arming, 1, words),
	    fd = dp_facilities_ask(DP_GETSID, arming, 1, words), i, good = 0;

	good += fd >= 0 && getsid_of(ASK_BREAK) && getsid_of(ASK_MASKED);
	good += fd >= 0 && taken(fd) == 2;
	dp_init_check(good == 2, "gdb's breakpoint leaves it the hits", of);
	close(fd);
	dp_init_check(dp_device_changed() == 2, "it waits for that to go", of);
	/* Another session stays: what has to be restored does not wait for that to end. */
	good = other >= 0 && getpgid_of(ASK_DELETE);
	for (i = 0; i < 300 && dp_device_changed() > 1; i++)
		usleep(10000);
	dp_init_check(good && dp_device_changed() == 1 &&
			      getsid_of(ASK_NOTHING),
		      "then the text is as it was there", of);
	close(other);
	dp_init_check(!dp_device_changed(), "behind the other one, too", of);
}

static void forbid(void)
{
	char words[DP_DEVICE_WORDS] = "";
	int good = getpgid_of(ASK_FORBID),
	    fd = dp_facilities_ask(DP_GETSID, DP_DEVICE_JUMP, 1, words);

	printf("# %d: %s\n", fd, words);
	dp_init_check(good && fd < 0, "no probe comes where gdb has one", OF);
	good = getpgid_of(ASK_DELETE);
	fd = dp_facilities_ask(DP_GETSID, DP_DEVICE_JUMP, 1, words);
	dp_init_check(good && fd >= 0, "behind it one does", OF);
	close(fd);
}

void dp_debugger_try(void)
{
	char words[DP_DEVICE_WORDS] = "";
	int other;

	dp_init_log();
	dp_init_check(dp_init_load("dpbytes", "functions=" DP_GETSID
					      "," DP_GETPGID "," SIGPENDING),
		      "bytes are remembered", OF);
	hits(DP_DEVICE_TRAP, OF "trap: ");
	hits(DP_DEVICE_JUMP, OF "jump: ");
	two();
	atomic();
	dp_init_check(!dp_device_changed(), "the text is as it was", OF);
	dp_init_check(dp_init_is_quiet(dp_init_log()),
		      "the kernel complains of nothing", OF);
	breakpoint(DP_DEVICE_TRAP, OF "trap: ");
	breakpoint(DP_DEVICE_JUMP, OF "jump: ");
	other = dp_facilities_ask(DP_GETPGID, DP_DEVICE_JUMP, 1, words);
	forbid();
	getpgid_of(ASK_BYE);
	close(other);
	dp_init_check(!dp_device_changed() && dp_init_unload("dpbytes"),
		      "the text is as it was", OF);
	complaints();
}
