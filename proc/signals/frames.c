// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* frames: the signal frames on the stacks of a stopped thread. */
#include "arch/arch.h"
#include "arch/uframe.h"
#include "arch/uregs.h"
#include "proc/proc.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/remote.h"
#include "proc/ptrace/stop.h"
#include "proc/signals/frames.h"
#include <stddef.h>
#include <stdlib.h>

/* The most stacks of one thread: its own and those of signal handlers. */
#define STACKS 8

/* What lies between a frame and where its handler interrupted this stack is the kernel's.
 * Return: index of the last word of @stack before that, the frame's own if it is elsewhere */
static size_t end_of(const struct dp_stack_scan *stack, size_t frame, u64 sp)
{
	size_t i = (sp - stack->at) / sizeof(*stack->v);

	return sp > stack->at && i > frame && i <= stack->n ? i - 1 : frame;
}

/**
 * struct walk - from frame to frame
 * @sp: where the next stack begins: that from which a handler came to the last one; 0: none
 * @innermost: the next frame is the first
 */
struct walk {
	struct dp_process *proc;
	const struct dp_maps *maps;
	dp_frame_fn *fn;
	void *arg;
	u64 sp;
	bool innermost;
};

/* Call the function for the signal frames of one stack. */
static int stack_frames(struct walk *w)
{
	struct dp_sigframe f;
	struct dp_stack_scan stack;
	size_t i;
	u64 back;
	int err = dp_stack_scan_read(w->proc, w->maps, w->sp, &stack);

	w->sp = 0;
	if (err)
		return 0;
	for (i = 0; i < stack.n && !err; i++) {
		u64 at = stack.at + i * 8;

		if (!dp_restorer_known(w->proc, stack.v[i]) ||
		    !dp_frame_read(w->proc, at, stack.at, &f))
			continue;
		back = dp_mcontext_sp(&f.uc.mc);
		if (back - stack.at > stack.n * sizeof(*stack.v))
			w->sp = back;
		err = w->fn(w->arg, &f, w->innermost);
		dp_process_write(w->proc, at, &f,
				 offsetof(struct dp_sigframe, info));
		w->innermost = false;
		i = end_of(&stack, i, back);
	}
	free(stack.v);
	return err;
}

/* Is @pc in a restorer? The handler has returned, and its frame begins one word below sp. */
static bool is_ending(const struct dp_process *proc, u64 pc)
{
	u64 n;

	for (n = 0; n < DP_RESTORER_MAX; n++)
		if (dp_restorer_known(proc, pc - n))
			return true;
	return false;
}

int dp_frames_each(struct dp_process *proc, const struct dp_thread *thread,
		   const struct dp_maps *maps, dp_frame_fn *fn, void *arg)
{
	struct walk w = { .proc = proc,
			  .maps = maps,
			  .fn = fn,
			  .arg = arg,
			  .sp = dp_uregs_sp(&thread->regs),
			  .innermost = true };
	int stacks, err = 0;

	if (is_ending(proc, dp_uregs_pc(&thread->regs)))
		w.sp -= sizeof(u64);
	for (stacks = 0; w.sp && stacks < STACKS && !err; stacks++)
		err = stack_frames(&w);
	return err;
}
