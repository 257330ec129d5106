/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* stepping: a thread that is traced goes one instruction, in generated code, too. */
#ifndef DP_TEST_STEPPING_H
#define DP_TEST_STEPPING_H

#include <signal.h>
#include <stdbool.h>
#include <sys/ptrace.h>
#include <sys/rseq.h>
#include <sys/user.h>
#include <sys/wait.h>

static inline unsigned long pc_of(pid_t pid)
{
	struct user_regs_struct regs;

	return ptrace(PTRACE_GETREGS, pid, 0, &regs) ? 0 : regs.rip;
}

/* The kernel would restart a sequence for ever. */
static inline void clear_sequence(pid_t pid)
{
	struct user_regs_struct regs;

	if (!ptrace(PTRACE_GETREGS, pid, 0, &regs))
		ptrace(PTRACE_POKEDATA, pid,
		       regs.fs_base + (unsigned long)__rseq_offset + 8, 0);
}

/** step_with() - @signal: comes first, or 0. Return: the signal it stopped for, or -1. */
static inline int step_with(pid_t pid, int signal)
{
	int status;

	clear_sequence(pid);
	if (ptrace(PTRACE_SINGLESTEP, pid, 0, signal) ||
	    waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
		return -1;
	return WSTOPSIG(status);
}

/* While a tool arms, a thread may come to a breakpoint, which is for the process's own handler. */
static inline bool is_at_breakpoint(pid_t pid)
{
	siginfo_t si;

	return !ptrace(PTRACE_GETSIGINFO, pid, 0, &si) &&
	       si.si_signo == SIGTRAP && si.si_code == SI_KERNEL;
}

/** go_on() - from where the thread has stopped. Return: false: it cannot be stepped. */
static inline bool go_on(pid_t pid)
{
	return !is_at_breakpoint(pid) || step_with(pid, SIGTRAP) >= 0;
}

static inline bool step(pid_t pid)
{
	return step_with(pid, 0) >= 0 && go_on(pid);
}

#endif
