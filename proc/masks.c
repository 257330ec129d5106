// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * masks: caught signals out of the signal masks of a process, and back into them.
 *
 * From the moment that our signal actions are in force until they are gone again,
 * no thread has one of these really blocked (engine/hit/mask.c). What threads and signal
 * actions had of it when we came is entered into the tables of the hit half;
 * what these say when we go is made true.
 */
#include "proc/private.h"
#include "engine/arch/x86/sigframe.h"
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WORDS_AT (DP_PRIVATE_OFFSET + offsetof(struct dp_private, masks))
#define HELD_AT (DP_PRIVATE_OFFSET + offsetof(struct dp_private, held))
#define IN_MASKS_AT (DP_PRIVATE_OFFSET + offsetof(struct dp_private, in_masks))
#define NR_SIGNALS 64
#define STACK_MAX (8u << 20)
#define USER_CS 0x33

static u64 *find(u64 *words, u64 thread, bool make)
{
	u32 i = dp_mask_slot(thread), n;

	for (n = 0; n < DP_MASK_PROBES; n++, i = (i + 1) % DP_MASKS) {
		if ((words[i] & ~DP_MASK_BITS) == thread &&
		    !(words[i] & DP_MASK_SHARER))
			return &words[i];
		if (!words[i])
			return make ? &words[i] : NULL;
	}
	return NULL;
}

static u64 *read_words(const struct dp_process *proc, u64 base)
{
	u64 *words = malloc(DP_MASKS * sizeof(*words));

	if (words && dp_process_read(proc, base + WORDS_AT, words,
				     DP_MASKS * sizeof(*words))) {
		free(words);
		return NULL;
	}
	return words;
}

/* How many of them are kept out of masks. */
static u32 kept(u32 caught)
{
	return caught < DP_CAUGHT_JUMPS ? caught : DP_CAUGHT_JUMPS;
}

static u64 caught_by(const struct dp_process *proc)
{
	return dp_caught_mask(dp_engine_caught(proc->engine));
}

static u64 bits_for(u64 mask)
{
	u64 bits = 0;
	u32 k;

	for (k = 0; k < DP_CAUGHT_JUMPS; k++)
		if (mask >> (dp_caught(k) - 1) & 1)
			bits |= 1ull << k;
	return bits;
}

/*
 * Masks that a thread gets back when its signal handlers return: in the frames
 * on its stack, the innermost first. @set goes in, @clear out of each.
 * Return: is there a frame? @first is what was in the innermost one.
 */
static bool change_frames(const struct dp_process *proc,
			  const struct dp_thread *t, const struct dp_maps *maps,
			  u64 set, u64 clear, u64 *first)
{
	u64 sp = t->regs.rsp & ~7ull, size, at, i, *words;
	const struct dp_map *m = dp_maps_find(maps, sp);
	struct dp_sigframe frame;
	bool found = false;

	size = m && m->end - sp < STACK_MAX ? m->end - sp : STACK_MAX;
	words = m ? malloc(size) : NULL;
	if (!words || dp_process_read(proc, sp, words, size)) {
		free(words);
		return false;
	}
	for (i = 0; i < size / 8; i++) {
		at = sp + i * 8;
		if (words[i] != proc->restorer ||
		    dp_process_read(proc, at, &frame, sizeof(frame)) ||
		    frame.uc.mc.cs != USER_CS)
			continue;
		if (!found)
			*first = frame.uc.sigmask;
		found = true;
		frame.uc.sigmask = (frame.uc.sigmask & ~clear) | set;
		dp_process_write(proc,
				 at + offsetof(struct dp_sigframe, uc.sigmask),
				 &frame.uc.sigmask, sizeof(frame.uc.sigmask));
	}
	free(words);
	return found;
}

/* In a handler, what counts is what was blocked before: its return brings that
 * back. Return: 0 or a negative errno; @bits say what was blocked. */
static int unblock(const struct dp_process *proc, const struct dp_thread *t,
		   const struct dp_maps *maps, u64 *bits)
{
	u64 caught = caught_by(proc), mask, before;

	if (ptrace(PTRACE_GETSIGMASK, t->tid, 8, &mask))
		return -errno;
	before = mask;
	change_frames(proc, t, maps, 0, caught, &before);
	*bits = bits_for(before & caught);
	if (!(mask & caught))
		return 0;
	mask &= ~caught;
	return ptrace(PTRACE_SETSIGMASK, t->tid, 8, &mask) ? -errno : 0;
}

int dp_masks_take(struct dp_process *proc)
{
	u64 *words = read_words(proc, proc->base), *word;
	struct dp_maps maps = { 0 };
	int err = words ? dp_maps_read(proc->pid, &maps) : -ENOMEM;
	u64 bits = 0;
	size_t i;

	for (i = 0; i < proc->nr_threads && !err; i++) {
		word = find(words, proc->threads[i].regs.fs_base, true);
		err = word ? unblock(proc, &proc->threads[i], &maps, &bits) :
			     -ENOMEM;
		if (!err && bits)
			*word = proc->threads[i].regs.fs_base | bits;
	}
	/* Of threads that have blocked it already, even after an error. */
	if (words &&
	    dp_process_write(proc, proc->base + WORDS_AT, words,
			     DP_MASKS * sizeof(*words)) &&
	    !err)
		err = -EFAULT;
	dp_maps_free(&maps);
	free(words);
	return err;
}

/* Signals that were held for a thread wait for it as if they had just come. */
static void send_held(const struct dp_process *proc, const struct dp_held *held,
		      const struct dp_thread *t)
{
	int i;

	for (i = 0; i < DP_HELD; i++)
		if (held[i].thread == t->regs.fs_base)
			syscall(SYS_tgkill, proc->pid, t->tid,
				(int)held[i].info[0]);
}

static void block(const struct dp_process *proc, const struct dp_thread *t,
		  const struct dp_maps *maps, u64 word)
{
	u64 mask, add = 0, first;
	u32 k;

	for (k = 0; k < DP_CAUGHT_JUMPS; k++)
		if (word >> k & 1)
			add |= 1ull << (dp_caught(k) - 1);
	if (!add || ptrace(PTRACE_GETSIGMASK, t->tid, 8, &mask))
		return;
	mask |= add;
	ptrace(PTRACE_SETSIGMASK, t->tid, 8, &mask);
	change_frames(proc, t, maps, add, 0, &first);
}

void dp_masks_return(struct dp_process *proc, u64 base)
{
	u64 *words = read_words(proc, base), *word;
	struct dp_held held[DP_HELD];
	struct dp_maps maps = { 0 };
	size_t i;

	if (dp_maps_read(proc->pid, &maps))
		maps.n = 0;
	if (dp_process_read(proc, base + HELD_AT, held, sizeof(held)))
		memset(held, 0, sizeof(held));
	for (i = 0; words && i < proc->nr_threads; i++) {
		word = find(words, proc->threads[i].regs.fs_base, false);
		if (!word)
			continue;
		block(proc, &proc->threads[i], &maps, *word);
		send_held(proc, held, &proc->threads[i]);
		*word &= ~DP_MASK_STATE;
	}
	/* It is true now: nobody is to do it again. */
	if (words)
		dp_process_write(proc, base + WORDS_AT, words,
				 DP_MASKS * sizeof(*words));
	dp_maps_free(&maps);
	free(words);
}

bool dp_masks_absent(const struct dp_process *proc, u64 base)
{
	u64 *words = read_words(proc, base), *word;
	bool absent = false;
	size_t i;

	for (i = 0; words && i < proc->nr_threads; i++) {
		word = find(words, proc->threads[i].regs.fs_base, false);
		if (word)
			*word = 0;
	}
	for (i = 0; words && i < DP_MASKS; i++)
		absent |= (words[i] & DP_MASK_BLOCKED) != 0;
	free(words);
	return absent;
}

/* Change one caught signal in the masks of the actions for a set of signals.
 * @changed: the set of those in which it was the other way */
static int change_actions(struct dp_process *proc, struct dp_remote *rem,
			  u64 at, u32 k, u64 signals, bool add, u64 *changed)
{
	u64 caught = 1ull << (dp_caught(k) - 1);
	struct dp_kernel_sigaction act;
	long ret = 0;
	int sig;

	*changed = 0;
	for (sig = 1; sig <= NR_SIGNALS && !ret; sig++) {
		u64 bit = 1ull << (sig - 1);

		if (!(signals & bit))
			continue;
		ret = dp_remote_call(rem, SYS_rt_sigaction, (u64)sig, 0, at, 8,
				     0, 0);
		if (ret || dp_process_read(proc, at, &act, sizeof(act)) ||
		    !(act.mask & caught) != add)
			continue;
		act.mask ^= caught;
		if (dp_process_write(proc, at, &act, sizeof(act)))
			return -EFAULT;
		ret = dp_remote_call(rem, SYS_rt_sigaction, (u64)sig, at, 0, 8,
				     0, 0);
		*changed |= bit;
	}
	return (int)ret;
}

static u64 scratch(u64 base)
{
	return base + DP_PRIVATE_OFFSET + sizeof(struct dp_private);
}

int dp_masks_take_actions(struct dp_process *proc, struct dp_remote *rem)
{
	u64 changed[DP_CAUGHT_JUMPS] = { 0 }, others;
	struct dp_status st;
	int err = 0;
	u32 k;

	if (dp_status_read(proc->pid, proc->pid, &st))
		return -ESRCH;
	/* Those of the caught signals are ours already. */
	others = st.caught & ~dp_caught_set(dp_engine_caught(proc->engine));
	for (k = 0; k < kept(dp_engine_caught(proc->engine)) && !err; k++)
		err = change_actions(proc, rem, scratch(proc->base), k, others,
				     false, &changed[k]);
	if (dp_process_write(proc, proc->base + IN_MASKS_AT, changed,
			     sizeof(changed)) &&
	    !err)
		err = -EFAULT;
	return err;
}

int dp_masks_return_actions(struct dp_process *proc, struct dp_remote *rem,
			    const struct dp_arena_control *c)
{
	u64 signals[DP_CAUGHT_JUMPS], changed;
	int err = 0;
	u32 k;

	if (dp_process_read(proc, c->base + IN_MASKS_AT, signals,
			    sizeof(signals)))
		return -EFAULT;
	for (k = 0; k < kept(c->nr_caught) && !err; k++)
		err = change_actions(proc, rem, scratch(c->base), k, signals[k],
				     true, &changed);
	return err;
}
