// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * stepout: threads in the agent, brought out of it while all others are held.
 *
 * They go instruction by instruction, so that none executes anything of the program
 * that is not probed at the moment.
 */
#include "proc/private.h"
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#define STEPS_MAX 200000
#define FROM_INT3 \
	0x80 /* SI_KERNEL: what a breakpoint raises; a step does not */

static bool is_coming(const struct dp_process *proc, const struct dp_thread *t,
		      u64 caught)
{
	struct dp_status st;

	return !dp_status_read(proc->pid, t->tid, &st) &&
	       (st.pending | st.shared_pending) & ~st.blocked & caught;
}

/* A thread that has been stopped in a restartable sequence begins it again, so step by
 * step none would come to its end. Those that it is to be kept apart from are held. */
static void end_sequence(const struct dp_process *proc, u64 word)
{
	static const u64 none;

	if (word)
		dp_process_write(proc, word, &none, sizeof(none));
}

/* @sig: to be delivered with this step; and the one that has come at its end, or 0.
 * Return: 0; -ESRCH. */
static int step(struct dp_process *proc, struct dp_thread *t, int *sig)
{
	siginfo_t info;
	int status;

	if (ptrace(PTRACE_SINGLESTEP, t->tid, 0, *sig) ||
	    waitpid(t->tid, &status, __WALL) != t->tid ||
	    dp_stop_lost(proc, t->tid, status) ||
	    ptrace(PTRACE_GETREGS, t->tid, 0, &t->regs))
		return -ESRCH;
	*sig = 0;
	if (status >> 16 || ptrace(PTRACE_GETSIGINFO, t->tid, 0, &info))
		return 0;
	if (WSTOPSIG(status) != SIGTRAP || info.si_code == FROM_INT3 ||
	    info.si_code <= 0)
		*sig = WSTOPSIG(status);
	return 0;
}

static int step_out(struct dp_process *proc, struct dp_thread *t, u64 caught,
		    bool (*out)(const void *arg, u64 pc), const void *arg)
{
	bool coming = is_coming(proc, t, caught);
	u64 mask, only, now, word = dp_rseq_word(t);
	int sig = 0, n, err = 0;

	if ((!coming && out(arg, t->regs.rip)) ||
	    ptrace(PTRACE_GETSIGMASK, t->tid, 8, &mask))
		return 0;
	only = mask | ~caught;
	ptrace(PTRACE_SETSIGMASK, t->tid, 8, &only);
	for (n = 0; !err && n < STEPS_MAX; n++) {
		if (!coming && !sig && out(arg, t->regs.rip))
			break;
		end_sequence(proc, word);
		err = step(proc, t, &sig);
		coming = coming && !sig;
	}
	/* What a return from a handler has put in force is right already. */
	if (!err && !ptrace(PTRACE_GETSIGMASK, t->tid, 8, &now) && now == only)
		ptrace(PTRACE_SETSIGMASK, t->tid, 8, &mask);
	return err;
}

void dp_stop_step_out(struct dp_process *proc, u64 caught,
		      bool (*out)(const void *arg, u64 pc), const void *arg)
{
	size_t i = 0;

	while (i < proc->nr_threads)
		if (step_out(proc, &proc->threads[i], caught, out, arg))
			proc->threads[i] = proc->threads[--proc->nr_threads];
		else
			i++;
}
