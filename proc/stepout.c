// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * stepout: threads in the agent, brought out of it while all others are held.
 *
 * They go instruction by instruction, so that none executes anything of the program
 * that is not probed at the moment.
 *
 * The kernel does not clear the trap flag of a thread whose tracer is killed, and a stop for
 * a step is a SIGTRAP that it then delivers. So what is done is written down in the agent
 * before it is done, and its handler ends it (port/user/signals/stepped.c):
 *
 *   noted ─► trap flag ─► noted: masked ─► mask ─► steps ─► mask ─► noted ─► no flag ─► not noted
 *
 * A thread that is out is in a stop of another kind, with no flag: its handler may go.
 */
#include "proc/private.h"
#include "engine/arch/x86/sigframe.h"
#include "proc/step.h"
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#define STEPS_MAX 200000
#define TRAP_FLAG 0x100ull
#define FROM_INT3 \
	0x80 /* SI_KERNEL: what a breakpoint raises; a step does not */
#define STEPPED_AT (DP_PRIVATE_OFFSET + offsetof(struct dp_private, stepped))
/* What an instruction raises ends the process if it is blocked. */
#define RAISED                                                                 \
	(1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1) | 1ull << (SIGFPE - 1) | \
	 1ull << (SIGILL - 1) | DP_SIGTRAP_BIT)
#define NEVER_MASKED (1ull << (SIGKILL - 1) | 1ull << (SIGSTOP - 1))

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
		dp_step("stepout: flags saved");
		clear_trap_flag(proc, sp);
	} else if (what == SYSCALL && (s64)t->regs.orig_rax >= 0) {
		/* But for rt_sigreturn: that brings r11 back. */
		t->regs.r11 &= ~TRAP_FLAG;
	}
}

/**
 * struct stepping - what of a thread is not what it seems while it is stepped
 * @mask: its signal mask; but for @open all signals wait until it is out
 * @caught: signals of the agent's
 * @own: is the trap flag its own?
 */
struct stepping {
	struct dp_process *proc;
	struct dp_thread *thread;
	u64 caught, open, mask;
	bool own;
};

static u64 stepping_mask(const struct stepping *s)
{
	return (s->mask | ~s->open) & ~NEVER_MASKED;
}

static int write_note(const struct dp_process *proc,
		      const struct dp_stepped *note)
{
	return dp_process_write(proc, proc->base + STEPPED_AT, note,
				sizeof(*note));
}

/* For the agent, should this tool end. */
static int note(const struct stepping *s, bool masked)
{
	const struct dp_stepped n = {
		.thread = dp_thread_known(s->proc, s->thread),
		.mask = s->mask,
		.masked = masked ? stepping_mask(s) : 0,
		.own = s->own,
	};

	return write_note(s->proc, &n);
}

/* Let it go by @how, with @sig, to a stop that is sure to come first. */
static int stop_in_place(const struct stepping *s, enum __ptrace_request how,
			 int sig)
{
	struct dp_thread *t = s->thread;
	int status;

	if (ptrace(PTRACE_INTERRUPT, t->tid, 0, 0) ||
	    ptrace(how, t->tid, 0, sig) ||
	    dp_stop_await(s->proc, t->tid, &status) != t->tid ||
	    dp_stop_lost(s->proc, t->tid, status) ||
	    ptrace(PTRACE_GETREGS, t->tid, 0, &t->regs))
		return -ESRCH;
	return 0;
}

static int step_hidden(struct stepping *s, int sig, int *status)
{
	const struct dp_process *proc = s->proc;
	struct dp_thread *t = s->thread;
	u64 pc = t->regs.rip, sp = t->regs.rsp, r11;
	enum instruction what = instruction_at(proc, pc);

	if (what == PUSHF)
		dp_step("stepout: flags to be saved");
	if (ptrace(PTRACE_SINGLESTEP, t->tid, 0, sig) ||
	    dp_stop_await(s->proc, t->tid, status) != t->tid ||
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

static int set_mask(const struct stepping *s, u64 mask)
{
	return ptrace(PTRACE_SETSIGMASK, s->thread->tid, 8, &mask) ? -ESRCH : 0;
}

static int mask_all(const struct stepping *s)
{
	int err = note(s, true);

	if (!err)
		err = set_mask(s, stepping_mask(s));
	dp_step("stepout: masked");
	return err;
}

static int mask_own(const struct stepping *s)
{
	int err = set_mask(s, s->mask);

	if (!err)
		err = note(s, false);
	dp_step("stepout: not masked");
	return err;
}

/* One step with the mask that it has: calls read and change it, and frames save it. */
static int step_unmasked(struct stepping *s, int *sig)
{
	int err = mask_own(s);

	if (!err)
		err = step(s, sig);
	dp_step("stepout: step with its mask");
	if (!err && ptrace(PTRACE_GETSIGMASK, s->thread->tid, 8, &s->mask))
		err = -ESRCH;
	return err ? err : mask_all(s);
}

/* A signal that has come before such a call is one that only the stepping had kept away:
 * blocked again it would go back to the others, and the call be made under that mask. */
static bool minds_mask(const struct stepping *s, int sig)
{
	return sig || instruction_at(s->proc, s->thread->regs.rip) == SYSCALL;
}

static int begin(const struct stepping *s)
{
	int err = note(s, false);

	dp_step("stepout: noted");
	if (!err)
		err = stop_in_place(s, PTRACE_SINGLESTEP, 0);
	dp_step("stepout: trap flag");
	return err ? err : mask_all(s);
}

/* @sig: that has come with the last step */
static int finish(const struct stepping *s, int sig)
{
	int err = mask_own(s);

	if (!err)
		err = stop_in_place(s, PTRACE_CONT, sig);
	dp_step("stepout: no trap flag");
	return err;
}

static int step_out(struct stepping *s,
		    bool (*out)(const void *arg, const struct dp_thread *t),
		    const void *arg)
{
	static const struct dp_stepped none;
	struct dp_thread *t = s->thread;
	bool coming = is_coming(s->proc, t, s->caught);
	u64 word = dp_rseq_word(t);
	int sig = 0, n, err;

	if ((!coming && out(arg, t)) ||
	    ptrace(PTRACE_GETSIGMASK, t->tid, 8, &s->mask))
		return 0;
	err = begin(s);
	for (n = 0; !err && n < STEPS_MAX; n++) {
		if (!coming && !sig && out(arg, t))
			break;
		if (n)
			end_sequence(s->proc, word);
		err = minds_mask(s, sig) ? step_unmasked(s, &sig) :
					   step(s, &sig);
		dp_step("stepout: step");
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
				      .own = t->regs.eflags & TRAP_FLAG };

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
		if (n.masked && !ptrace(PTRACE_GETSIGMASK, t->tid, 8, &mask) &&
		    mask == n.masked)
			ptrace(PTRACE_SETSIGMASK, t->tid, 8, &n.mask);
		dp_process_write(proc, base + STEPPED_AT, &none, sizeof(none));
	}
}
