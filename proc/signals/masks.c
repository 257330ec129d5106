// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * masks: take caught signals out of the signal masks of a process, and put them back.
 *
 * While the agent's signal actions are in force, no thread blocks a caught signal in the
 * kernel (port/user/signals/mask.c). At attach the tool writes the caught signals that threads
 * and signal actions block into the tables of the hit half. At detach it sets the kernel's
 * masks to what the tables say.
 *
 * The tool may be killed at any moment. So a virtual mask is entered before the kernel's mask
 * differs from it, and cleared after the two are equal again.
 */
#include "arch/arch.h"
#include "engine/layout/marks.h"
#include "engine/layout/private.h"
#include "engine/site/engine.h"
#include "engine/site/view.h"
#include "arch/uframe.h"
#include "arch/uregs.h"
#include "proc/proc.h"
#include "proc/ptrace/remote.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/stop.h"
#include "proc/signals/frames.h"
#include "proc/signals/masks.h"
#include "proc/signals/masked_waits.h"
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#define NR_SIGNALS 64
#define SETTLE_TRIES 2000
#define SETTLE_NAP_NS 50000

static u64 *find(u64 *words, u64 thread, bool make)
{
	u32 i = dp_mask_slot(thread), n;

	for (n = 0; n < DP_MASK_PROBES; n++, i = (i + 1) % DP_MASKS) {
		if ((words[i] & ~DP_MASK_BITS) == thread &&
		    !(words[i] & DP_MASK_VM_CHILD))
			return &words[i];
		if (!words[i])
			return make ? &words[i] : NULL;
	}
	return NULL;
}

static u64 *read_words(const struct dp_process *proc, u64 base)
{
	u64 *words = malloc(DP_MASKS * sizeof(*words));

	if (words && dp_process_read(proc, base + DP_PRIVATE_AT(masks), words,
				     DP_MASKS * sizeof(*words))) {
		free(words);
		return NULL;
	}
	return words;
}

/* Read only the words among which find() looks for @thread. */
static int read_about(const struct dp_process *proc, u64 *words, u64 thread)
{
	u32 at = dp_mask_slot(thread);
	u32 n = DP_MASKS - at < DP_MASK_PROBES ? DP_MASKS - at : DP_MASK_PROBES;
	u64 table = proc->base + DP_PRIVATE_AT(masks);
	int err = dp_process_read(proc, table + at * sizeof(*words), words + at,
				  n * sizeof(*words));

	if (err || n == DP_MASK_PROBES)
		return err;
	return dp_process_read(proc, table, words,
			       (DP_MASK_PROBES - n) * sizeof(*words));
}

static int write_word(const struct dp_process *proc, u64 base, const u64 *words,
		      const u64 *word)
{
	return dp_process_write(
		proc, base + DP_PRIVATE_AT(masks) + (u64)(word - words) * 8,
		word, sizeof(*word));
}

static struct dp_caller caller_of(const struct dp_process *proc,
				  struct dp_thread *t)
{
	struct user_regs_struct *r = &t->regs;

	return (struct dp_caller){ .thread = dp_thread_known(proc, t),
				   .call = dp_uregs_call(r),
				   DP_UREGS_PLACES(r) };
}

static struct dp_caller caller_in(struct dp_mcontext *mc, u64 thread)
{
	return (struct dp_caller){ .thread = thread,
				   .handled = true,
				   DP_UFRAME_PLACES(mc) };
}

/**
 * struct masking - a change of the masks of a thread, from its innermost frame outwards
 * @view: of the agent that is to go
 * @caught: the caught signals of this process
 * @virtual_mask: the virtual mask, as far as it is known
 * @words, @word: the hit half's virtual masks of all threads, and of this one
 * @marks: masks have marks, or may get them
 * @real: if @closed, the thread's mask; the kernel has all signals blocked instead
 * @late: the intercepts are out; but for masked waits the kernel's masks are right
 */
struct masking {
	struct dp_process *proc;
	struct dp_masked_waits *waits;
	const struct dp_view *view;
	struct dp_thread *thread;
	u64 caught;
	u64 virtual_mask;
	u64 real;
	u64 *words, *word;
	bool closed, late, marks;
};

static bool marks_in_use(u64 marks)
{
	return marks & DP_MARKS_USED && !(marks & DP_MARKS_REFUSED);
}

/* DP_MARKS_ flags of the target */
static u64 marks_of(const struct dp_process *proc, u64 base)
{
	u64 marks = 0;

	dp_process_read(proc, base + DP_PRIVATE_AT(marks), &marks,
			sizeof(marks));
	return marks;
}

/* In a handler the virtual mask is that of its frame, which the handler's return restores. If
 * the handler interrupted a masked wait, the agent sees the return. */
static int take_frame(void *arg, struct dp_sigframe *f, bool innermost)
{
	struct masking *m = arg;
	struct dp_caller c =
		caller_in(&f->uc.mc, dp_thread_known(m->proc, m->thread));
	u64 mask = f->uc.sigmask, inside = m->virtual_mask;
	int got = dp_masked_waits_take(m->proc, m->waits, &c, mask & m->caught,
				       mask, &inside);

	if (innermost && got <= 0)
		m->virtual_mask = mask & m->caught;
	f->uc.sigmask &= ~m->caught;
	return got < 0 ? got : 0;
}

/* Find the slot of the thread. A thread that is not stopped may take one at any time. */
static int read_slot(struct masking *m)
{
	u64 thread = dp_thread_known(m->proc, m->thread);
	int err = read_about(m->proc, m->words, thread);

	m->word = err ? NULL : find(m->words, thread, true);
	return err ? err : m->word ? 0 : -ENOMEM;
}

/* Enter the virtual mask into the table, before the kernel's mask changes. Outside of masked
 * waits the thread may have got one already, if it was stopped late. */
static int write_down(struct masking *m, bool waits)
{
	int err = read_slot(m);
	u64 bits = dp_mask_bits_of(m->virtual_mask), had;

	if (err)
		return err;
	had = *m->word & DP_MASK_STATE;
	if (!waits)
		bits |= had & DP_MASK_BLOCKED;
	bits |= had & ~DP_MASK_BLOCKED;
	if (bits == had)
		return 0;
	*m->word = dp_thread_known(m->proc, m->thread) | bits;
	return write_word(m->proc, m->proc->base, m->words, m->word);
}

/* The kernel's mask of the thread: that of a handler has marks. */
static u64 in_kernel(struct masking *m, u64 mask)
{
	u64 in_handler = mask & m->caught & ~m->virtual_mask;

	return m->marks && in_handler ? dp_marks_on(mask, m->caught) :
					mask & ~m->caught;
}

/* Take caught signals out of a thread's masks. Return: 0 or a negative errno;
 * @m->virtual_mask: the caught signals that were blocked */
static int unblock(struct masking *m, const struct dp_maps *maps)
{
	struct dp_thread *t = m->thread;
	struct dp_caller c = caller_of(m->proc, t);
	u64 mask, pc = dp_uregs_pc(&t->regs);
	int err;

	if (ptrace(PTRACE_GETSIGMASK, t->tid, 8, &mask))
		return -errno;
	m->virtual_mask = mask & m->caught;
	err = dp_frames_each(m->proc, t, maps, take_frame, m);
	if (err)
		return err;
	err = dp_masked_waits_take(m->proc, m->waits, &c, m->virtual_mask, mask,
				   &m->virtual_mask);
	if (err < 0 || write_down(m, err > 0))
		return err < 0 ? err : -EFAULT;
	if (err)
		dp_uregs_leave_call(&t->regs);
	if ((err || dp_uregs_pc(&t->regs) != pc) &&
	    ptrace(PTRACE_SETREGS, t->tid, 0, &t->regs))
		return -errno;
	/* The mask of a masked wait is in force until this replaces it. */
	mask = err == DP_MASKED_WAIT_CLOSED ? ~0ull : in_kernel(m, mask);
	return ptrace(PTRACE_SETSIGMASK, t->tid, 8, &mask) ? -errno : 0;
}

static int take_thread(struct masking *m, const struct dp_maps *maps)
{
	/* Without room nothing is changed. */
	int err = read_slot(m);

	return err ? err : unblock(m, maps);
}

static int write_natives(const struct dp_process *proc, u64 base,
			 const struct dp_kernel_wait *kernel_waits, size_t n)
{
	return dp_process_write(proc, base + DP_PRIVATE_AT(kernel_waits),
				kernel_waits, n * sizeof(*kernel_waits));
}

int dp_masks_note(struct dp_process *proc)
{
	struct dp_kernel_wait *kernel_waits =
		calloc(DP_MASKED_WAITS, sizeof(*kernel_waits));
	size_t i, n = 0;
	int err;

	for (i = 0; kernel_waits && i < proc->nr_threads && n < DP_MASKED_WAITS;
	     i++) {
		struct dp_caller c = caller_of(proc, &proc->threads[i]);

		n += dp_masked_waits_in_kernel(proc, &c, &kernel_waits[n]);
	}
	err = kernel_waits ? write_natives(proc, proc->base, kernel_waits, n) :
			     -ENOMEM;
	free(kernel_waits);
	return err;
}

void dp_masks_forget_noted(struct dp_process *proc, u64 base)
{
	static const struct dp_kernel_wait none[DP_MASKED_WAITS];

	write_natives(proc, base, none, DP_MASKED_WAITS);
}

int dp_masks_in_force(struct dp_process *proc, u64 base, bool all)
{
	u64 word = all;

	return dp_process_write(proc, base + DP_PRIVATE_AT(in_force), &word,
				sizeof(word));
}

int dp_masks_take(struct dp_process *proc, size_t from)
{
	struct masking m = { .proc = proc,
			     .caught = dp_caught_mask(
				     dp_engine_caught(proc->engine)),
			     .marks = marks_in_use(marks_of(proc, proc->base)),
			     .words = calloc(DP_MASKS, sizeof(*m.words)) };
	const struct dp_maps *maps = dp_stop_maps(proc);
	int err = maps ? 0 : dp_memory_gone(proc) ? -ESRCH : -ENOMEM;
	size_t i;

	m.waits = dp_masked_waits_read(proc, proc->base);
	if (!err && (!m.words || !m.waits))
		err = -ENOMEM;
	for (i = from; i < proc->nr_threads && !err; i++) {
		m.thread = &proc->threads[i];
		err = take_thread(&m, maps);
	}
	free(m.waits);
	free(m.words);
	return err;
}

/* The deferred signals of a thread, as a set. */
static u64 deferred_for(const struct dp_deferred *deferred, u64 thread)
{
	u64 signals = 0;
	int i;

	for (i = 0; i < DP_DEFERRED; i++)
		if (deferred[i].thread == thread)
			signals |= 1ull << ((u32)deferred[i].info[0] - 1);
	return signals;
}

static void send_signals(const struct dp_process *proc, pid_t tid, u64 signals)
{
	int sig;

	for (sig = 1; sig <= NR_SIGNALS; sig++)
		if (signals >> (sig - 1) & 1)
			syscall(SYS_tgkill, proc->pid, tid, sig);
}

/* Is masked wait @s still to sleep? Behind its call it is over, unless a stop has ended it. */
static bool will_wait(const struct dp_thread *t, const struct dp_masked_wait *s,
		      u64 pc)
{
	if (dp_uregs_call(&t->regs) == (long)s->nr &&
	    dp_uregs_ret(&t->regs) == -DP_ERESTARTNOHAND)
		return true;
	return s->through ? (u32)dp_uregs_number(&t->regs) == s->nr :
			    pc < s->behind;
}

/*
 * Send a thread its deferred signals. Those that only the mask of masked wait @s blocks are
 * sent once the thread sleeps again: see dp_masks_settle(). Return: these.
 */
static u64 send_deferred(struct dp_process *proc, const struct dp_thread *t,
			 u64 signals, const struct dp_masked_wait *s, u64 pc,
			 u64 inside)
{
	u64 late = s && will_wait(t, s, pc) ? inside & ~s->was : 0;

	if (late && proc->nr_waiters < DP_WAITERS_MAX)
		proc->waiters[proc->nr_waiters++] =
			(struct dp_waiter){ t->tid, late, signals & late };
	else
		late = 0;
	send_signals(proc, t->tid, signals & ~late);
	return signals & late;
}

/* Is the thread in its masked wait again? True also if it sleeps elsewhere, or has ended. */
static bool waits_again(const struct dp_process *proc,
			const struct dp_waiter *s)
{
	struct dp_status st;

	return dp_status_read(proc->pid, s->tid, &st) ||
	       (st.blocked & s->mask) == s->mask || st.state == 'S' ||
	       st.state == 'D';
}

void dp_masks_settle(struct dp_process *proc)
{
	int tries;

	while (proc->nr_waiters > 0) {
		const struct dp_waiter *s = &proc->waiters[--proc->nr_waiters];

		dp_stop_release_one(proc, s->tid);
		for (tries = 0; tries < SETTLE_TRIES && !waits_again(proc, s);
		     tries++)
			dp_nap(SETTLE_NAP_NS);
		send_signals(proc, s->tid, s->signals);
	}
}

/* Return: the original address of a pc in a copy: the thread is moved there later. */
static u64 original(const struct masking *m, u64 pc)
{
	u64 to;

	return dp_view_original(m->view, pc, &to) ? pc : to;
}

/* Take a caller out of the masked wait that it is in, if any. Return: the wait, or NULL. */
static const struct dp_masked_wait *leave_masked_wait(struct masking *m,
						      const struct dp_caller *c)
{
	const struct dp_masked_wait *s =
		dp_masked_waits_find(m->proc, m->waits, c, true);

	if (!s)
		return NULL;
	m->virtual_mask = s->was;
	m->closed = s->closed;
	m->real = s->real;
	return s;
}

static u64 masked(struct masking *m, u64 mask)
{
	if (m->closed)
		mask = m->real;
	m->closed = false;
	return (m->marks ? dp_marks_off(mask) : mask) | m->virtual_mask;
}

static int give_frame(void *arg, struct dp_sigframe *f, bool innermost)
{
	struct masking *m = arg;
	struct dp_caller c =
		caller_in(&f->uc.mc, dp_thread_known(m->proc, m->thread));
	u64 pc = original(m, dp_mcontext_pc(&f->uc.mc));

	c.pc = &pc;
	leave_masked_wait(m, &c);
	f->uc.sigmask = masked(m, f->uc.sigmask);
	return 0;
}

/* Put caught signals back into a thread's masks. Return: its masked wait, or NULL. */
static const struct dp_masked_wait *block(struct masking *m,
					  const struct dp_maps *maps)
{
	struct dp_thread *t = m->thread;
	struct dp_caller c = caller_of(m->proc, t);
	u64 pc = original(m, dp_uregs_pc(&t->regs)), mask;
	const struct dp_masked_wait *s;

	c.pc = &pc;
	s = leave_masked_wait(m, &c);
	if (s)
		ptrace(PTRACE_SETREGS, t->tid, 0, &t->regs);
	/* The mask of the wait is the agent's: replace it with the thread's. */
	if ((s || m->virtual_mask || m->marks) &&
	    !ptrace(PTRACE_GETSIGMASK, t->tid, 8, &mask)) {
		mask = masked(m, mask);
		ptrace(PTRACE_SETSIGMASK, t->tid, 8, &mask);
	}
	dp_frames_each(m->proc, t, maps, give_frame, m);
	return s;
}

/* Clear the deferred signals of a thread, which are pending in the kernel now. */
static void forget_deferred(const struct masking *m,
			    const struct dp_deferred *deferred, u64 thread,
			    u64 but)
{
	u64 at = m->view->arena->control.base + DP_PRIVATE_AT(deferred);
	const u64 none = 0;
	int i;

	for (i = 0; i < DP_DEFERRED; i++)
		if (deferred[i].thread == thread &&
		    !(but >> ((u32)deferred[i].info[0] - 1) & 1))
			dp_process_write(m->proc,
					 at + (u64)i * sizeof(*deferred), &none,
					 sizeof(none));
}

/* Does a handler run whose mask has marks? */
static bool has_marks(const struct masking *m)
{
	u64 mask;

	return m->marks &&
	       !ptrace(PTRACE_GETSIGMASK, m->thread->tid, 8, &mask) &&
	       dp_marks_are(mask);
}

/* Return: is the thread in a masked wait that goes on in the kernel? Then @in_kernel is set. */
static bool return_thread(struct masking *m, const struct dp_maps *maps,
			  const struct dp_deferred *deferred,
			  struct dp_kernel_wait *in_kernel)
{
	u64 thread = dp_thread_known(m->proc, m->thread);
	u64 *word = find(m->words, thread, false);
	u64 inside = word ? dp_mask_of_bits(*word) : 0, late;
	const struct dp_masked_wait *s;

	if (!word && !dp_masked_waits_has(m->waits, thread) && !has_marks(m))
		return false;
	/* Without intercepts, the virtual mask may be that of a masked wait that has returned
	 * since, unseen. */
	m->virtual_mask = m->late ? 0 : inside;
	m->closed = false;
	s = block(m, maps);
	late = send_deferred(m->proc, m->thread, deferred_for(deferred, thread),
			     s, original(m, dp_uregs_pc(&m->thread->regs)),
			     inside);
	forget_deferred(m, deferred, thread, late);
	/* The masks are equal now: clear the entry. */
	if (word) {
		*word &= late ? ~DP_MASK_STATE | DP_MASK_DEFERRED :
				~DP_MASK_STATE;
		write_word(m->proc, m->view->arena->control.base, m->words,
			   word);
	}
	if (!s || s->unknown)
		return false;
	*in_kernel = dp_masked_waits_seen(s, inside);
	return true;
}

static void return_threads(struct masking *m, const struct dp_maps *maps,
			   u64 base, struct dp_kernel_wait *kernel_waits)
{
	struct dp_process *proc = m->proc;
	struct dp_deferred deferred[DP_DEFERRED];
	size_t i, n = 0;

	if (dp_process_read(proc, base + DP_PRIVATE_AT(deferred), deferred,
			    sizeof(deferred)))
		memset(deferred, 0, sizeof(deferred));
	for (i = 0; i < proc->nr_threads; i++) {
		m->thread = &proc->threads[i];
		if (m->late && m->thread->returned)
			continue;
		m->thread->returned = true;
		if (return_thread(m, maps, deferred, &kernel_waits[n]) &&
		    n < DP_MASKED_WAITS)
			n++;
	}
	write_natives(proc, base, kernel_waits, n);
}

int dp_masks_return(struct dp_process *proc, const struct dp_view *view,
		    bool late)
{
	u64 base = view->arena->control.base;
	struct masking m = { .proc = proc,
			     .view = view,
			     .waits = dp_masked_waits_read(proc, base),
			     .words = read_words(proc, base),
			     .marks = marks_in_use(marks_of(proc, base)),
			     .late = late };
	/* With room for one more than is written. */
	struct dp_kernel_wait *kernel_waits =
		calloc(DP_MASKED_WAITS + 1, sizeof(*kernel_waits));
	/* Handlers have masks in frames on their stacks. */
	const struct dp_maps *maps = dp_stop_maps(proc);
	bool able = m.words && m.waits && kernel_waits && maps &&
		    !dp_kill_point_fails("leave: memory for masks");

	if (able) {
		return_threads(&m, maps, base, kernel_waits);
		dp_masked_waits_clear(proc, m.waits);
	}
	free(kernel_waits);
	free(m.waits);
	free(m.words);
	return able ? 0 : dp_memory_gone(proc) ? -ESRCH : -ENOMEM;
}

bool dp_masks_waking(const struct dp_process *proc, u64 base)
{
	struct dp_masked_waits *waits = dp_masked_waits_read(proc, base);
	bool waking = false;
	struct dp_status st;
	size_t i;

	for (i = 0; waits && i < proc->nr_threads && !waking; i++) {
		struct dp_thread t = proc->threads[i];
		struct dp_caller c = caller_of(proc, &t);
		const struct dp_masked_wait *s =
			dp_masked_waits_find(proc, waits, &c, false);

		waking = s && !dp_status_read(proc->pid, t.tid, &st) &&
			 (st.pending | st.shared_pending) & ~s->mask;
	}
	free(waits);
	return waking;
}

bool dp_masks_absent(const struct dp_process *proc, u64 base)
{
	struct dp_masked_waits *waits = dp_masked_waits_read(proc, base);
	u64 *words = read_words(proc, base), *word;
	bool absent = !words || !waits || dp_masked_waits_absent(proc, waits);
	size_t i;

	for (i = 0; words && i < proc->nr_threads; i++) {
		word = find(words, dp_thread_known(proc, &proc->threads[i]),
			    false);
		if (word)
			*word = 0;
	}
	for (i = 0; words && i < DP_MASKS; i++)
		absent |= (words[i] & DP_MASK_BLOCKED) != 0;
	free(waits);
	free(words);
	return absent;
}

int dp_masks_action(struct dp_process *proc, u32 sig, u64 from, u64 to)
{
	return (int)dp_remote_call(proc, SYS_rt_sigaction, sig, from, to, 8);
}

/* Read the kernel's action for a signal, via @at in the target. Return: 0, a negative errno. */
static int read_action(struct dp_process *proc, u64 at, u32 sig,
		       struct dp_kernel_sigaction *act)
{
	int err = dp_masks_action(proc, sig, 0, at);

	return !err && dp_process_read(proc, at, act, sizeof(*act)) ? -EFAULT :
								      err;
}

/* An action, as the tool finds or leaves it. */
typedef int action_fn(struct dp_process *proc, u32 sig,
		      struct dp_kernel_sigaction *act, void *arg);

/* Call @fn for the actions of a set of signals. If it returns 1, the kernel gets what it has
 * made of the action. */
static int each_action(struct dp_process *proc, u64 at, u64 signals,
		       action_fn *fn, void *arg)
{
	struct dp_kernel_sigaction act;
	u32 sig;
	int err = 0;

	for (sig = 1; sig <= NR_SIGNALS && err >= 0; sig++) {
		if (!(signals >> (sig - 1) & 1))
			continue;
		err = read_action(proc, at, sig, &act);
		if (!err)
			err = fn(proc, sig, &act, arg);
		if (err <= 0)
			continue;
		err = dp_process_write(proc, at, &act, sizeof(act)) ?
			      -EFAULT :
			      dp_masks_action(proc, sig, at, 0);
	}
	return err < 0 ? err : 0;
}

/* For each caught signal, the actions that block it. */
struct blocking {
	u64 caught;
	u64 actions[DP_CAUGHT];
	u64 marks;
};

static int note_blocking(struct dp_process *proc, u32 sig,
			 struct dp_kernel_sigaction *act, void *arg)
{
	struct blocking *b = arg;
	u32 k;

	for (k = 0; k < DP_CAUGHT; k++)
		if (act->mask & b->caught & 1ull << (dp_caught(k) - 1))
			b->actions[k] |= 1ull << (sig - 1);
	if (!dp_marks_even(act->mask))
		b->marks = DP_MARKS_REFUSED;
	return 0;
}

static int unblock_action(struct dp_process *proc, u32 sig,
			  struct dp_kernel_sigaction *act, void *arg)
{
	const struct blocking *b = arg;

	if (!(act->mask & b->caught))
		return 0;
	act->mask = b->marks & DP_MARKS_REFUSED ?
			    act->mask & ~b->caught :
			    dp_marks_on(act->mask, b->caught);
	return 1;
}

static int block_action(struct dp_process *proc, u32 sig,
			struct dp_kernel_sigaction *act, void *arg)
{
	const struct blocking *b = arg;
	u64 was = act->mask;
	u32 k;

	if (marks_in_use(b->marks))
		act->mask = dp_marks_off(act->mask);
	for (k = 0; k < DP_CAUGHT; k++)
		if (b->actions[k] >> (sig - 1) & 1)
			act->mask |= 1ull << (dp_caught(k) - 1);
	return act->mask != was;
}

static u64 any_action(const struct blocking *b)
{
	u64 signals = 0;
	u32 k;

	for (k = 0; k < DP_CAUGHT; k++)
		signals |= b->actions[k];
	return signals;
}

/* Does the program use one of the signals of which marks are made? */
static bool marks_are_taken(const struct dp_status *st)
{
	return (st->caught | st->ignored) & DP_MARKS_ALL ||
	       !dp_marks_even(st->blocked);
}

/* Has the program a handler for a caught signal, in which a thread may be now? */
static bool has_handlers(const struct dp_process *proc)
{
	u64 at = proc->base + DP_PRIVATE_AT(actions[0].ring[0].action.handler);
	u64 handler = 0;
	u32 k;

	for (k = 0; k < DP_CAUGHT && handler <= DP_SIG_IGN; k++)
		dp_process_read(proc, at + k * sizeof(struct dp_actions),
				&handler, sizeof(handler));
	return handler > DP_SIG_IGN;
}

int dp_masks_take_actions(struct dp_process *proc)
{
	struct blocking b = { .caught = dp_caught_mask(
				      dp_engine_caught(proc->engine)) };
	u64 at = proc->base + DP_PRIVATE_SCRATCH, others;
	struct dp_status st;
	int err;

	if (dp_status_read(proc->pid, proc->pid, &st))
		return -ESRCH;
	/* The actions for the caught signals are the agent's already. */
	others = st.caught & ~b.caught;
	if (marks_are_taken(&st))
		b.marks = DP_MARKS_REFUSED;
	err = each_action(proc, at, others, note_blocking, &b);
	if (err)
		return err;
	if (any_action(&b) || has_handlers(proc))
		b.marks |= DP_MARKS_USED;
	if (dp_process_write(proc, proc->base + DP_PRIVATE_AT(in_masks),
			     b.actions, sizeof(b.actions)) ||
	    dp_process_write(proc, proc->base + DP_PRIVATE_AT(marks), &b.marks,
			     sizeof(b.marks)))
		return -EFAULT;
	return each_action(proc, at, any_action(&b), unblock_action, &b);
}

/* What is ignored for a moment does not wait any more. */
static int end_nudges(struct dp_process *proc, u64 at)
{
	static const u64 handlers[] = { DP_SIG_IGN, DP_SIG_DFL };
	struct dp_kernel_sigaction act = { 0 };
	int err = 0;
	u32 i;

	for (i = 0; i < 2 && !err; i++) {
		act.handler = handlers[i];
		err = dp_process_write(proc, at, &act, sizeof(act)) ?
			      -EFAULT :
			      dp_masks_action(proc, DP_MARKS_FIRST, at, 0);
	}
	return err;
}

int dp_masks_return_actions(struct dp_process *proc,
			    const struct dp_arena_control *c)
{
	struct blocking b = { .marks = marks_of(proc, c->base) };
	u64 at = c->base + DP_PRIVATE_SCRATCH;
	int err;

	if (dp_process_read(proc, c->base + DP_PRIVATE_AT(in_masks), b.actions,
			    sizeof(b.actions)))
		return -EFAULT;
	err = each_action(proc, at, any_action(&b), block_action, &b);
	return err || !(b.marks & DP_MARKS_NUDGES) ? err : end_nudges(proc, at);
}
