// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * stepout: bring threads out of the agent while all others are held.
 *
 * Such a thread is single-stepped, so that it executes nothing of the program that is not
 * probed at the moment.
 *
 * When a tracer is killed, the kernel leaves the trap flag of its thread set, and
 * delivers the SIGTRAP of a step. So each step of this protocol is noted in the agent
 * before it is taken, and the agent's handler ends it (port/user/signals/stepped.c):
 *
 *   noted ─► trap flag ─► noted: masked ─► mask ─► steps ─► mask ─► noted ─► no flag ─► not noted
 *
 * A system call reads and changes the mask, and its step ends behind the call. If the
 * tool were killed in between, the handler would come too late. So the thread gets its
 * own mask back one instruction before the call. It is stopped at the call's entry and
 * exit, not stepped through.
 *
 * If a step ended while SIGTRAP is blocked, the kernel would reset our action. So the mask
 * for stepping never blocks SIGTRAP, not even for a thread that slept. All other signals of
 * such a thread are blocked until it is back from its call (struct dp_masked_wait, closed).
 *
 * A thread that is out is in a stop of another kind, without the flag: its handler may go.
 */
#include "arch/calls.h"
#include "arch/uframe.h"
#include "arch/uregs.h"
#include "arch/arch.h"
#include "proc/attach/drain.h"
#include "proc/proc.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/remote.h"
#include "proc/ptrace/stop.h"
#include "proc/signals/masks.h"
#include "proc/signals/masked_waits.h"
#include <errno.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include "engine/insn/insn.h"
#include "engine/layout/private.h"

#define STEPS_MAX 200000
#define FROM_INT3 0x80 /* SI_KERNEL: a breakpoint raises it; a step does not */
#define STEPPED_AT (DP_PRIVATE_OFFSET + offsetof(struct dp_private, stepped))
/* An instruction that raises one of these while it is blocked ends the process. */
#define RAISED                                                                 \
	(1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1) | 1ull << (SIGFPE - 1) | \
	 1ull << (SIGILL - 1) | DP_SIGTRAP_BIT)
#define NEVER_MASKED (1ull << (SIGKILL - 1) | 1ull << (SIGSTOP - 1))

/* A thread that was stopped in a restartable sequence begins it again, so single steps
 * would never end it. The threads that could disturb the sequence are held now. They ran
 * when it was stopped, so the first step still has to lead to the beginning. */
static void end_sequence(const struct dp_process *proc, u64 word)
{
	static const u64 none;

	if (word)
		dp_process_write(proc, word, &none, sizeof(none));
}

/*
 * The thread must not notice that it is stepped. The kernel clears the trap flag where it
 * saves the flags itself, but not where an instruction saves them. After a popf it takes
 * the flag for the thread's own, leaves it set, and saves it with a signal. So the
 * stepper keeps track of whose flag it is.
 */
static enum dp_flags_use instruction_at(const struct dp_process *proc, u64 pc)
{
	u8 code[2] = { 0 };

	dp_process_read(proc, pc, code, sizeof(code));
	return dp_code_of_flags(code);
}

/** enum ahead - what the next instruction, or the one behind it, is
 *  @MAYBE_CALL: possibly a system call; @CALL: a system call, unless a signal comes first */
enum ahead { NO_CALL, MAYBE_CALL, CALL };

static enum ahead maybe(const struct dp_process *proc, u64 to)
{
	return instruction_at(proc, to) == DP_FLAGS_BY_CALL ? MAYBE_CALL :
							      NO_CALL;
}

static enum ahead behind_branch(const struct dp_process *proc,
				const struct user_regs_struct *regs,
				const struct insn_facts *f)
{
	u64 next = dp_uregs_pc(regs) + f->len, to;

	switch (f->class) {
	case DP_INSN_JMP:
	case DP_INSN_CALL:
		return maybe(proc, next + (u64)f->target);
	case DP_INSN_JCC:
	case DP_INSN_LOOP:
		return maybe(proc, next) ?: maybe(proc, next + (u64)f->target);
	case DP_INSN_RET:
		return dp_process_read(proc, dp_uregs_sp(regs), &to,
				       sizeof(to)) ?
			       MAYBE_CALL :
			       maybe(proc, to);
	default:
		return MAYBE_CALL;
	}
}

static enum ahead look_ahead(const struct dp_process *proc,
			     const struct user_regs_struct *regs)
{
	u8 code[DP_INSN_MAX + 2] = { 0 };
	struct insn_facts f;

	if (dp_process_read(proc, dp_uregs_pc(regs), code, sizeof(code)) ||
	    dp_insn_facts(code, DP_INSN_MAX, &f))
		return MAYBE_CALL;
	if (f.class == DP_INSN_SYSCALL)
		return CALL;
	if (f.class == DP_INSN_PLAIN)
		return dp_code_of_flags(code + f.len) == DP_FLAGS_BY_CALL ?
			       CALL :
			       NO_CALL;
	return behind_branch(proc, regs, &f);
}

/* Is the trap flag set in the flags saved at @addr? */
static bool has_trap_flag(const struct dp_process *proc, u64 addr)
{
	u16 flags = 0;

	dp_process_read(proc, addr, &flags, sizeof(flags));
	return flags & DP_X86_TF;
}

static void clear_trap_flag(const struct dp_process *proc, u64 addr)
{
	u16 flags;

	if (dp_process_read(proc, addr, &flags, sizeof(flags)) ||
	    !(flags & DP_X86_TF))
		return;
	flags &= (u16)~DP_X86_TF;
	dp_process_write(proc, addr, &flags, sizeof(flags));
}

/* Hide the flag in what the instruction at @pc, or a signal before it, has saved. */
static void hide_saved(const struct dp_process *proc, struct dp_thread *t,
		       u64 pc, enum dp_flags_use what, bool signalled)
{
	struct dp_sigframe f;
	u64 sp = dp_uregs_sp(&t->regs);

	if (dp_uregs_pc(&t->regs) == pc)
		return;
	if (signalled) {
		if (!dp_process_read(proc, sp, &f,
				     offsetof(struct dp_sigframe, info)) &&
		    dp_uframe_is_user(&f.uc.mc) &&
		    dp_mcontext_pc(&f.uc.mc) == pc)
			clear_trap_flag(proc, sp + DP_UFRAME_FLAGS);
	} else if (what == DP_FLAGS_PUSHED) {
		dp_kill_point("stepout: flags saved");
		clear_trap_flag(proc, sp);
	}
}

/**
 * struct stepping - state of a thread while it is stepped
 * @mask: its own signal mask; @now: the mask in force
 * @open: signals that do not wait while it is masked
 * @caught: signals that the agent catches
 * @own: is the trap flag its own?
 */
struct stepping {
	struct dp_process *proc;
	struct dp_thread *thread;
	u64 caught, open, mask, now;
	bool own;
};

static u64 stepping_mask(const struct stepping *s)
{
	return (s->mask | ~s->open) & ~(NEVER_MASKED | DP_SIGTRAP_BIT);
}

static int write_note(const struct dp_process *proc,
		      const struct dp_stepped *note)
{
	return dp_process_write(proc, proc->base + STEPPED_AT, note,
				sizeof(*note));
}

/* Tell the agent what to undo if this tool ends. */
static int note(const struct stepping *s)
{
	const struct dp_stepped n = {
		.thread = dp_thread_known(s->proc, s->thread),
		.mask = s->mask,
		.masked = s->now == s->mask ? 0 : stepping_mask(s),
		.own = s->own,
	};

	return write_note(s->proc, &n);
}

/* Let the thread go by @how, with @sig, to its next stop. */
static int to_stop(const struct stepping *s, enum __ptrace_request how, int sig,
		   int *status)
{
	struct dp_thread *t = s->thread;

	if (ptrace(how, t->tid, 0, sig) ||
	    dp_stop_await(s->proc, t->tid, status) != t->tid ||
	    dp_stop_lost(s->proc, t->tid, *status) ||
	    ptrace(PTRACE_GETREGS, t->tid, 0, &t->regs))
		return -ESRCH;
	return 0;
}

/* The same, to a stop that is sure to come first. */
static int stop_in_place(const struct stepping *s, enum __ptrace_request how,
			 int sig)
{
	int status;

	if (ptrace(PTRACE_INTERRUPT, s->thread->tid, 0, 0))
		return -ESRCH;
	return to_stop(s, how, sig, &status);
}

static int step_hidden(struct stepping *s, int sig, int *status)
{
	const struct dp_process *proc = s->proc;
	struct dp_thread *t = s->thread;
	u64 pc = dp_uregs_pc(&t->regs), sp = dp_uregs_sp(&t->regs);
	enum dp_flags_use what = instruction_at(proc, pc);

	if (what == DP_FLAGS_PUSHED)
		dp_kill_point("stepout: flags to be saved");
	if (to_stop(s, PTRACE_SINGLESTEP, sig, status))
		return -ESRCH;
	if (what == DP_FLAGS_POPPED && !sig && dp_uregs_pc(&t->regs) != pc)
		s->own = has_trap_flag(proc, sp);
	if (s->own)
		return 0;
	hide_saved(proc, t, pc, what, sig);
	if (!dp_uregs_steps(&t->regs))
		return 0;
	dp_uregs_end_steps(&t->regs);
	return ptrace(PTRACE_SETREGS, t->tid, 0, &t->regs) ? -ESRCH : 0;
}

/* Return: the signal that the thread has stopped for, unless a step ended; or 0. */
static int signal_of(const struct dp_thread *t, int status)
{
	siginfo_t info;

	if (status >> 16 || ptrace(PTRACE_GETSIGINFO, t->tid, 0, &info))
		return 0;
	return WSTOPSIG(status) != SIGTRAP || info.si_code == FROM_INT3 ||
			       info.si_code <= 0 ?
		       WSTOPSIG(status) :
		       0;
}

/* A system call, or the delivery of a signal, may have changed the mask. */
static int look_at_mask(struct stepping *s)
{
	u64 mask;

	if (ptrace(PTRACE_GETSIGMASK, s->thread->tid, 8, &mask))
		return -ESRCH;
	if (mask != s->now)
		s->now = s->mask = mask;
	return 0;
}

/* @sig: in: to be delivered with this step; out: the signal at its end, or 0.
 * Return: 0; -ESRCH. */
static int step(struct stepping *s, int *sig)
{
	bool changes = *sig;
	int status;

	if (step_hidden(s, *sig, &status))
		return -ESRCH;
	*sig = signal_of(s->thread, status);
	return changes ? look_at_mask(s) : 0;
}

static int mask_all(struct stepping *s)
{
	int err;

	if (s->now == stepping_mask(s))
		return 0;
	s->now = stepping_mask(s);
	err = note(s);
	if (!err && ptrace(PTRACE_SETSIGMASK, s->thread->tid, 8, &s->now))
		err = -ESRCH;
	dp_kill_point("stepout: masked");
	return err;
}

/* The thread's own mask for stepping, without SIGTRAP. */
static int mask_open(struct stepping *s)
{
	u64 mask = s->mask & ~DP_SIGTRAP_BIT;
	int err = 0;

	if (s->now == mask)
		return 0;
	if (ptrace(PTRACE_SETSIGMASK, s->thread->tid, 8, &mask))
		return -ESRCH;
	s->now = mask;
	if (mask == s->mask)
		err = note(s);
	dp_kill_point(err || mask == s->mask ? "stepout: not masked" :
					       "stepout: SIGTRAP alone");
	return err;
}

/* Afterwards the thread must not be stepped if its mask blocks SIGTRAP. */
static int mask_own(struct stepping *s)
{
	int err = mask_open(s);

	if (err || s->now == s->mask)
		return err;
	err = stop_in_place(s, PTRACE_CONT, 0);
	if (!err && ptrace(PTRACE_SETSIGMASK, s->thread->tid, 8, &s->mask))
		err = -ESRCH;
	s->now = s->mask;
	return err ? err : note(s);
}

static int begin(struct stepping *s)
{
	int err = mask_open(s);

	if (!err)
		err = note(s);
	dp_kill_point("stepout: noted");
	if (!err)
		err = stop_in_place(s, PTRACE_SINGLESTEP, 0);
	dp_kill_point("stepout: trap flag");
	return err;
}

/* Run to behind the next system call, or to a signal that comes before. */
static int pass_call(struct stepping *s, int *sig)
{
	int status, stops = 0;
	int err = mask_own(s);

	if (err)
		return err;
	dp_kill_point("stepout: at a call");
	while (stops < 2 && !*sig) {
		if (to_stop(s, PTRACE_SYSCALL, 0, &status))
			return -ESRCH;
		if (WSTOPSIG(status) == (SIGTRAP | 0x80))
			stops++;
		else
			*sig = signal_of(s->thread, status);
	}
	dp_kill_point("stepout: step with its mask");
	return look_at_mask(s);
}

/* Only the stepping had kept away a signal that comes now; blocked again, it would go
 * back to the pending ones. Its frame gets the mask in force. */
static int step_once(struct stepping *s, int *sig)
{
	enum ahead what = look_ahead(s->proc, &s->thread->regs);
	int err;

	if (!*sig && what == CALL)
		return pass_call(s, sig);
	err = *sig || what != NO_CALL ? mask_open(s) : mask_all(s);
	if (!err)
		err = step(s, sig);
	dp_kill_point("stepout: step");
	return err;
}

/* @sig: the signal at the end of the last step */
static int finish(struct stepping *s, int sig)
{
	int err = mask_own(s);

	if (!err)
		err = stop_in_place(s, PTRACE_CONT, sig);
	dp_kill_point("stepout: no trap flag");
	return err;
}

static int step_out(struct stepping *s,
		    bool (*out)(const void *arg, const struct dp_thread *t),
		    const void *arg)
{
	static const struct dp_stepped none;
	struct dp_thread *t = s->thread;
	bool coming = dp_signal_coming(s->proc, t->tid, s->caught);
	u64 word = dp_rseq_word(t);
	int sig = 0, n, err;

	if ((!coming && out(arg, t)) ||
	    ptrace(PTRACE_GETSIGMASK, t->tid, 8, &s->mask))
		return 0;
	s->now = s->mask;
	err = begin(s);
	for (n = 0; !err && n < STEPS_MAX; n++) {
		if (!coming && !sig && out(arg, t))
			break;
		if (n)
			end_sequence(s->proc, word);
		err = step_once(s, &sig);
		coming = coming && !sig;
	}
	if (!err)
		err = finish(s, sig);
	write_note(s->proc, &none);
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
				      .open = caught | RAISED,
				      .own = dp_uregs_steps(&t->regs) };

		if (step_out(&s, out, arg))
			*t = proc->threads[--proc->nr_threads];
		else
			i++;
	}
}

void dp_stop_step_undo(const struct dp_process *proc, u64 base)
{
	static const struct dp_stepped none;
	struct dp_stepped n;
	u64 mask;
	size_t i;

	if (dp_process_read(proc, base + STEPPED_AT, &n, sizeof(n)) ||
	    !n.thread)
		return;
	for (i = 0; i < proc->nr_threads; i++) {
		const struct dp_thread *t = &proc->threads[i];

		if (dp_thread_known(proc, t) != n.thread)
			continue;
		if (!ptrace(PTRACE_GETSIGMASK, t->tid, 8, &mask) &&
		    dp_stepped_undoes(&n, mask))
			ptrace(PTRACE_SETSIGMASK, t->tid, 8, &n.mask);
		dp_process_write(proc, base + STEPPED_AT, &none, sizeof(none));
	}
}
