// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * seize: PTRACE_SEIZE that returns -EINTR instead of waiting in a circle.
 *
 * While a thread executes a program, PTRACE_SEIZE of any thread of its process waits for the
 * exec. The exec waits for the ends of all other threads. A traced thread's end waits until
 * its tracer reaps the thread:
 *
 *     exec:    cred_guard_mutex ──► the end of a thread that we trace ──► our waitid(2)
 *     tracer:  PTRACE_SEIZE     ──► cred_guard_mutex
 *
 * A signal ends the tracer's wait, but the kernel restarts the call whatever SA_RESTART says
 * (ERESTARTNOINTR). So a periodic timer raises a signal. If the interrupted thread is just
 * before the system call instruction, the handler moves it behind, as if the call had
 * returned EINTR. The caller then reaps ended threads by dp_stop_ends().
 *
 * SIGURG is ignored by default. In a process that uses the library the handler passes all
 * signals but the timer's on to the process's own action.
 */
#include "proc/ptrace/stop.h"
#include <errno.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define SIGNAL SIGURG
#define PERIOD_NS 2000000

/* The system call instruction of seize(), and the one behind it. */
extern const char dp_seize_waits[] __attribute__((visibility("hidden")));
extern const char dp_seize_done[] __attribute__((visibility("hidden")));

static struct sigaction before;

__attribute__((noinline)) static long seize(pid_t tid, u64 options)
{
	register u64 data asm("r10") = options;
	long ret = SYS_ptrace;

	asm volatile("dp_seize_waits: syscall\n"
		     "dp_seize_done:"
		     : "+a"(ret)
		     : "D"((long)PTRACE_SEIZE), "S"((long)tid), "d"(0l),
		       "r"(data)
		     : "rcx", "r11", "memory");
	return ret;
}

static void hand_on(int sig, siginfo_t *info, void *context)
{
	if (before.sa_flags & SA_SIGINFO)
		before.sa_sigaction(sig, info, context);
	else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
		before.sa_handler(sig);
}

static void come_back(int sig, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;

	if (info->si_code != SI_TIMER || info->si_ptr != &before) {
		hand_on(sig, info, context);
		return;
	}
	if (regs[REG_RIP] != (greg_t)dp_seize_waits)
		return;
	regs[REG_RAX] = -EINTR;
	regs[REG_RIP] = (greg_t)dp_seize_done;
}

/* If timer_create() fails (RLIMIT_SIGPENDING), seize() may wait without end. */
static void begin(struct dp_seizer *s)
{
	const struct itimerspec often = { { 0, PERIOD_NS }, { 0, PERIOD_NS } };
	struct sigaction action = { .sa_sigaction = come_back };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID,
				  .sigev_signo = SIGNAL,
				  .sigev_value.sival_ptr = &before };
	sigset_t open;

	event._sigev_un._tid = gettid();
	if (timer_create(CLOCK_MONOTONIC, &event, &s->timer))
		return;
	s->begun = true;
	sigaction(SIGNAL, NULL, &before);
	action.sa_flags = SA_SIGINFO | SA_ONSTACK |
			  (before.sa_flags & SA_RESTART);
	action.sa_mask = before.sa_mask;
	sigaction(SIGNAL, &action, NULL);
	sigemptyset(&open);
	sigaddset(&open, SIGNAL);
	pthread_sigmask(SIG_UNBLOCK, &open, &s->mask);
	timer_settime(s->timer, 0, &often, NULL);
}

int dp_seize(struct dp_seizer *s, pid_t tid, u64 options, bool traces)
{
	if (traces && !s->begun)
		begin(s);
	return (int)seize(tid, options);
}

/* A signal that the timer has raised comes at the latest when timer_delete() returns. */
void dp_seizer_end(struct dp_seizer *s)
{
	if (!s->begun)
		return;
	timer_delete(s->timer);
	pthread_sigmask(SIG_SETMASK, &s->mask, NULL);
	sigaction(SIGNAL, &before, NULL);
	s->begun = false;
}
