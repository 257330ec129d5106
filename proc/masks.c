// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * masks: SIGTRAP out of the signal masks of a process, and back into them.
 *
 * From the moment that our signal action is in force until it is gone again, no
 * thread has SIGTRAP really blocked (engine/hit/mask.c). What threads and signal
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
#define IN_MASKS_AT (DP_PRIVATE_OFFSET + offsetof(struct dp_private, in_masks))
#define NR_SIGNALS 64

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

/* Return: 1 it had SIGTRAP blocked, 0 not, or a negative errno. */
static int unblock(const struct dp_thread *t)
{
	u64 mask;

	if (ptrace(PTRACE_GETSIGMASK, t->tid, 8, &mask))
		return -errno;
	if (!(mask & DP_SIGTRAP_BIT))
		return 0;
	mask &= ~DP_SIGTRAP_BIT;
	return ptrace(PTRACE_SETSIGMASK, t->tid, 8, &mask) ? -errno : 1;
}

int dp_masks_take(struct dp_process *proc)
{
	u64 *words = read_words(proc, proc->base), *word;
	int err = words ? 0 : -ENOMEM, had;
	size_t i;

	for (i = 0; i < proc->nr_threads && !err; i++) {
		word = find(words, proc->threads[i].regs.fs_base, true);
		had = word ? unblock(&proc->threads[i]) : -ENOMEM;
		if (had > 0)
			*word = proc->threads[i].regs.fs_base | DP_MASK_BLOCKED;
		else
			err = had;
	}
	/* Of threads that have blocked it already, even after an error. */
	if (words &&
	    dp_process_write(proc, proc->base + WORDS_AT, words,
			     DP_MASKS * sizeof(*words)) &&
	    !err)
		err = -EFAULT;
	free(words);
	return err;
}

static void block(struct dp_process *proc, const struct dp_thread *t, u64 word)
{
	u64 mask;

	if (word & DP_MASK_BLOCKED &&
	    !ptrace(PTRACE_GETSIGMASK, t->tid, 8, &mask)) {
		mask |= DP_SIGTRAP_BIT;
		ptrace(PTRACE_SETSIGMASK, t->tid, 8, &mask);
	}
	if (word & DP_MASK_HELD)
		syscall(SYS_tgkill, proc->pid, t->tid, SIGTRAP);
}

void dp_masks_return(struct dp_process *proc, u64 base)
{
	u64 *words = read_words(proc, base), *word;
	size_t i;

	for (i = 0; words && i < proc->nr_threads; i++) {
		word = find(words, proc->threads[i].regs.fs_base, false);
		if (word)
			block(proc, &proc->threads[i], *word);
	}
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

/* Change SIGTRAP in the masks of the actions for a set of signals.
 * @changed: the set of those in which it was the other way */
static int change_actions(struct dp_process *proc, struct dp_remote *rem,
			  u64 at, u64 signals, bool add, u64 *changed)
{
	struct dp_kernel_sigaction act;
	long ret = 0;
	int sig;

	*changed = 0;
	for (sig = 1; sig <= NR_SIGNALS && !ret; sig++) {
		u64 bit = 1ull << (sig - 1);

		if (!(signals & bit) || sig == SIGTRAP)
			continue;
		ret = dp_remote_call(rem, SYS_rt_sigaction, (u64)sig, 0, at, 8,
				     0, 0);
		if (ret || dp_process_read(proc, at, &act, sizeof(act)) ||
		    !(act.mask & DP_SIGTRAP_BIT) != add)
			continue;
		act.mask ^= DP_SIGTRAP_BIT;
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
	struct dp_status st;
	u64 changed;
	int err;

	if (dp_status_read(proc->pid, proc->pid, &st))
		return -ESRCH;
	err = change_actions(proc, rem, scratch(proc->base), st.caught, false,
			     &changed);
	if (dp_process_write(proc, proc->base + IN_MASKS_AT, &changed,
			     sizeof(changed)) &&
	    !err)
		err = -EFAULT;
	return err;
}

int dp_masks_return_actions(struct dp_process *proc, struct dp_remote *rem,
			    u64 base)
{
	u64 signals, changed;

	if (dp_process_read(proc, base + IN_MASKS_AT, &signals,
			    sizeof(signals)))
		return -EFAULT;
	return change_actions(proc, rem, scratch(base), signals, true,
			      &changed);
}
