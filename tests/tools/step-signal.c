// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * step-signal DPROBES MODE: a caught signal comes at each instruction on the way into a masked
 * wait, and out of it.
 *
 * open     SIGTRAP is blocked but in the call. It has to end the call, wherever it came before.
 * blocked  SIGTRAP is blocked in the call only, which a SIGUSR1 ends. It has to come.
 *
 * A child stops itself, makes the call, and counts. The tool probes it. One round is stepped, to find
 * out where it passes. Then, in a round for each of these places, the child runs there by a debug
 * register, and the signal is sent.
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include "tests/tools/stepping.h"

/* So long may a round last. */
#define ROUND_MS 5000

static volatile struct {
	long rounds, traps, traced;
} * seen;

static void on_trap(int sig)
{
	seen->traps++;
}

static void on_wake(int sig)
{
}

/* What the tool probes */
long counted(long n);
__attribute__((noipa)) long counted(long n)
{
	return n + 1;
}

static void victim(bool open)
{
	sigset_t outside, inside;

	signal(SIGTRAP, on_trap);
	signal(SIGUSR1, on_wake);
	sigemptyset(&outside);
	sigemptyset(&inside);
	sigaddset(&outside, SIGUSR1);
	sigaddset(open ? &outside : &inside, SIGTRAP);
	sigprocmask(SIG_SETMASK, &outside, NULL);
	for (;;) {
		seen->rounds = counted(seen->rounds);
		if (seen->traced)
			syscall(SYS_tgkill, getpid(), getpid(), SIGSTOP);
		sigsuspend(&inside);
	}
}

static int wait_ms(pid_t pid, int ms)
{
	int status;

	while (ms-- > 0) {
		if (waitpid(pid, &status, __WALL | WNOHANG) == pid)
			return WIFSTOPPED(status) ? WSTOPSIG(status) : -1;
		usleep(1000);
	}
	return 0;
}

static bool is_sent(pid_t pid)
{
	siginfo_t info;

	return !ptrace(PTRACE_GETSIGINFO, pid, 0, &info) && info.si_code <= 0;
}

/* Let it run, its signals come, up to its next stop. */
static bool to_stop(pid_t pid, int signal)
{
	while (signal != SIGSTOP) {
		if (ptrace(PTRACE_CONT, pid, 0, signal))
			return false;
		signal = wait_ms(pid, ROUND_MS);
		if (signal <= 0)
			return false;
	}
	return true;
}

static bool is_at_call(pid_t pid)
{
	struct user_regs_struct regs;
	long code;

	if (ptrace(PTRACE_GETREGS, pid, 0, &regs))
		return true;
	code = ptrace(PTRACE_PEEKTEXT, pid, regs.rip, 0);
	return (code & 0xffff) == 0x050f && regs.rax == SYS_rt_sigsuspend;
}

#define MOST 20000
static unsigned long places[MOST];
static int nr_places;

/* Not right behind the call: there, a signal is taken for what has ended it (DESIGN.md, limits). */
static void note(pid_t pid, unsigned long pc)
{
	int i;

	if ((ptrace(PTRACE_PEEKTEXT, pid, pc - 2, 0) & 0xffff) == 0x050f)
		return;

	for (i = 0; i < nr_places; i++)
		if (places[i] == pc)
			return;
	if (nr_places < MOST)
		places[nr_places++] = pc;
}

/* Note where a round passes: up to the call or, where a SIGUSR1 is to end that, up to the child's
 * stop. Return: is it there? */
static bool pass(pid_t pid, bool open)
{
	int got = 0;

	while (!(open && is_at_call(pid)) && got >= 0) {
		note(pid, pc_of(pid));
		got = step_with(pid, got);
		if (got == SIGSTOP)
			return true;
		got = got == SIGTRAP && !is_sent(pid) ? 0 : got;
	}
	return got >= 0 && to_stop(pid, SIGUSR1);
}

/* Run to @pc by a breakpoint of the processor's. Return: the signal it stopped for. */
static int run_to(pid_t pid, unsigned long pc)
{
	int got = 0;

	ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, u_debugreg[0]), pc);
	ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, u_debugreg[7]), 1);
	do {
		if (ptrace(PTRACE_CONT, pid, 0, got))
			got = -1;
		else
			got = wait_ms(pid, ROUND_MS);
	} while (got == SIGUSR1);
	ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, u_debugreg[7]), 0);
	return got;
}

/* A round with a SIGTRAP at @pc. Return: 1 it came, 0 the round did not pass there, -1 it did not
 * come */
static int signal_at(pid_t pid, unsigned long pc, bool open)
{
	long sent = seen->traps + 1;
	int got;

	if (!open)
		syscall(SYS_tgkill, pid, pid, SIGUSR1);
	got = pc_of(pid) == pc ? SIGTRAP : run_to(pid, pc);
	if (got == SIGSTOP)
		return 0;
	syscall(SYS_tgkill, pid, pid, SIGTRAP);
	if (got == SIGTRAP && to_stop(pid, 0) && seen->traps == sent)
		return 1;
	printf("# at %#lx: %ld of %ld came\n", pc, seen->traps, sent);
	return -1;
}

static pid_t tool(const char *command, pid_t pid)
{
	char text[16];
	pid_t child = fork();

	if (child)
		return child;
	snprintf(text, sizeof(text), "%d", pid);
	if (!freopen("/dev/null", "w", stdout))
		_exit(1);
	execl(command, command, "stat", "-q", "-p", text, "counted", NULL);
	_exit(1);
}

static bool is_probed(pid_t pid)
{
	unsigned char first = 0;
	struct iovec here = { &first, 1 }, there = { counted, 1 };

	process_vm_readv(pid, &here, 1, &there, 1, 0);
	return first == 0xe9 || first == 0xcc;
}

/* Stopped where it stops itself, when the tool has come and let go of it */
static bool begin(pid_t pid)
{
	int i;

	for (i = 0; i < 1000 && !is_probed(pid); i++)
		usleep(10000);
	for (i = 0; i < 100 && ptrace(PTRACE_SEIZE, pid, 0, 0); i++)
		usleep(10000);
	seen->traced = 1;
	if (ptrace(PTRACE_INTERRUPT, pid, 0, 0) || wait_ms(pid, ROUND_MS) <= 0)
		return false;
	syscall(SYS_tgkill, pid, pid, SIGUSR1);
	return to_stop(pid, 0);
}

int main(int argc, char **argv)
{
	bool open = argc == 3 && !strcmp(argv[2], "open");
	int i, got = 1, came = 0;
	pid_t pid, child;

	if (argc != 3)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	seen = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid = fork();
	if (!pid)
		victim(open);
	child = tool(argv[1], pid);
	if (!begin(pid))
		got = -1;
	if (!open)
		syscall(SYS_tgkill, pid, pid, SIGUSR1);
	if (got > 0 && !pass(pid, open))
		got = -1;
	for (i = 0; i < nr_places && got >= 0; i++) {
		got = signal_at(pid, places[i], open);
		came += got > 0;
	}
	kill(child, SIGKILL);
	kill(pid, SIGKILL);
	printf("%d of %d places, %s\n", came, nr_places,
	       got < 0 ? "wrong" : "to the end");
	return got < 0;
}
