// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * stepout: threads in the agent, brought out of it while all others are held.
 *
 * They go instruction by instruction, so that none executes anything of the program
 * that is not probed at the moment.
 */
#include "proc/private.h"
#include "engine/arch/x86/sigframe.h"
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#define STEPS_MAX 200000
#define TRAP_FLAG 0x100ull
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
 * step none would come to its end. Those that it is to be kept apart from are held; but
 * they were not when it was stopped, so the first step has to lead to the beginning. */
static void end_sequence(const struct dp_process *proc, u64 word)
{
	static const u64 none;

	if (word)
		dp_process_write(proc, word, &none, sizeof(none));
}

/*
 * The thread is not to find out that it is stepped. The kernel clears the trap flag in what
 * it saves of the thread itself, but not in what an instruction saves; and once it was at a
 * popf it takes the flag for the thread's own, leaves it there, and saves it with a signal.
 * So we keep count of whose it is.
 */
enum instruction { OTHER, PUSHF, POPF, SYSCALL };

static enum instruction instruction_at(const struct dp_process *proc, u64 pc)
{
	u8 code[2] = { 0 };
	u8 op;

	dp_process_read(proc, pc, code, sizeof(code));
	op = code[code[0] == 0x66];
	if (op == 0x9c || op == 0x9d)
		return op == 0x9c ? PUSHF : POPF;
	return code[0] == 0x0f && code[1] == 0x05 ? SYSCALL : OTHER;
}

/* What of the flags is at @addr. */
static bool has_trap_flag(const struct dp_process *proc, u64 addr)
{
	u16 flags = 0;

	dp_process_read(proc, addr, &flags, sizeof(flags));
	return flags & TRAP_FLAG;
}

static void clear_trap_flag(const struct dp_process *proc, u64 addr)
{
	u16 flags;

	if (dp_process_read(proc, addr, &flags, sizeof(flags)) ||
	    !(flags & TRAP_FLAG))
		return;
	flags &= (u16)~TRAP_FLAG;
	dp_process_write(proc, addr, &flags, sizeof(flags));
}

/* What has been saved by an instruction that was at @pc, or by a signal before it. */
static void hide_saved(const struct dp_process *proc, struct dp_thread *t,
		       u64 pc, enum instruction what, bool signalled)
{
	struct dp_sigframe f;
	u64 sp = t->regs.rsp;

	if (t->regs.rip == pc)
		return;
	if (signalled) {
		if (!dp_process_read(proc, sp, &f,
				     offsetof(struct dp_sigframe, info)) &&
		    f.uc.mc.cs == DP_USER_CS && f.uc.mc.rip == pc)
			clear_trap_flag(proc, sp + offsetof(struct dp_sigframe,
							    uc.mc.eflags));
	} else if (what == PUSHF) {
		clear_trap_flag(proc, sp);
	} else if (what == SYSCALL && (s64)t->regs.orig_rax >= 0) {
		/* But for rt_sigreturn: that brings r11 back. */
		t->regs.r11 &= ~TRAP_FLAG;
	}
}

/**
 * struct stepping - what of a thread is not what it seems while it is stepped
 * @mask: its signal mask; but for @caught all signals wait until it is out
 * @own: is the trap flag its own?
 */
struct stepping {
	struct dp_process *proc;
	struct dp_thread *thread;
	u64 caught, mask;
	bool own;
};

static int step_hidden(struct stepping *s, int sig, int *status)
{
	const struct dp_process *proc = s->proc;
	struct dp_thread *t = s->thread;
	u64 pc = t->regs.rip, sp = t->regs.rsp, r11;
	enum instruction what = instruction_at(proc, pc);

	if (ptrace(PTRACE_SINGLESTEP, t->tid, 0, sig) ||
	    dp_stop_wait(t->tid, status) != t->tid ||
	    dp_stop_lost(s->proc, t->tid, *status) ||
	    ptrace(PTRACE_GETREGS, t->tid, 0, &t->regs))
		return -ESRCH;
	if (what == POPF && !sig && t->regs.rip != pc)
		s->own = has_trap_flag(proc, sp);
	if (s->own)
		return 0;
	r11 = t->regs.r11;
	hide_saved(proc, t, pc, what, sig);
	if (r11 == t->regs.r11 && !(t->regs.eflags & TRAP_FLAG))
		return 0;
	t->regs.eflags &= ~TRAP_FLAG;
	return ptrace(PTRACE_SETREGS, t->tid, 0, &t->regs) ? -ESRCH : 0;
}

/* @sig: to be delivered with this step; and the one that has come at its end, or 0.
 * Return: 0; -ESRCH. */
static int step(struct stepping *s, int *sig)
{
	siginfo_t info;
	int status;

	if (step_hidden(s, *sig, &status))
		return -ESRCH;
	*sig = 0;
	if (status >> 16 || ptrace(PTRACE_GETSIGINFO, s->thread->tid, 0, &info))
		return 0;
	if (WSTOPSIG(status) != SIGTRAP || info.si_code == FROM_INT3 ||
	    info.si_code <= 0)
		*sig = WSTOPSIG(status);
	return 0;
}

static void set_mask(const struct stepping *s, u64 mask)
{
	ptrace(PTRACE_SETSIGMASK, s->thread->tid, 8, &mask);
}

/* One step with the mask that it has: calls read and change it, and frames save it. */
static int step_unmasked(struct stepping *s, int *sig)
{
	int err;

	set_mask(s, s->mask);
	err = step(s, sig);
	if (!err && ptrace(PTRACE_GETSIGMASK, s->thread->tid, 8, &s->mask))
		err = -ESRCH;
	if (!err)
		set_mask(s, s->mask | ~s->caught);
	return err;
}

/* A signal that has come before such a call is one that only the stepping had kept away:
 * blocked again it would go back to the others, and the call be made under that mask. */
static bool minds_mask(const struct stepping *s, int sig)
{
	return sig ||
	       instruction_at(s->proc, s->thread->regs.rip) == SYSCALL;
}

static int step_out(struct stepping *s,
		    bool (*out)(const void *arg, const struct dp_thread *t),
		    const void *arg)
{
	struct dp_thread *t = s->thread;
	bool coming = is_coming(s->proc, t, s->caught);
	u64 word = dp_rseq_word(t);
	int sig = 0, n, err = 0;

	if ((!coming && out(arg, t)) ||
	    ptrace(PTRACE_GETSIGMASK, t->tid, 8, &s->mask))
		return 0;
	set_mask(s, s->mask | ~s->caught);
	for (n = 0; !err && n < STEPS_MAX; n++) {
		if (!coming && !sig && out(arg, t))
			break;
		if (n)
			end_sequence(s->proc, word);
		err = minds_mask(s, sig) ? step_unmasked(s, &sig) :
					   step(s, &sig);
		coming = coming && !sig;
	}
	if (!err)
		set_mask(s, s->mask);
	return err;
}

void dp_stop_step_out(struct dp_process *proc, u64 caught,
		      bool (*out)(const void *arg, const struct dp_thread *t),
		      const void *arg)
{
	size_t i = 0;

	while (i < proc->nr_threads) {
		struct dp_thread *t = &proc->threads[i];
		struct stepping s = { .proc = proc,
				      .thread = t,
				      .caught = caught,
				      .own = t->regs.eflags & TRAP_FLAG };

		if (step_out(&s, out, arg))
			*t = proc->threads[--proc->nr_threads];
		else
			i++;
	}
}
