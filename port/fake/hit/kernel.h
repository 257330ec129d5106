/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* kernel: the state that the files of the fake world share. */
#ifndef DP_FAKE_KERNEL_H
#define DP_FAKE_KERNEL_H

#include "port/fake/hit/world.h"
#include "arch/arch.h"
#include "engine/layout/base.h"

#define DP_FAKE_THREADS 4
#define DP_FAKE_SIGNALS 65

/** struct dp_fake_task - one thread; @self: its local storage, which begins with its own
 *  address */
struct dp_fake_task {
	u64 self[64];
	u64 mask, alt_sp, alt_size;
	bool pends[DP_FAKE_SIGNALS];
	struct dp_siginfo info[DP_FAKE_SIGNALS];
	struct dp_mcontext regs;
	/* What the program's handler that runs returns to. */
	struct dp_ucontext frame;
	bool in_handler;
};

struct dp_kernel {
	u32 pid, current, cpu;
	struct dp_fake_task tasks[DP_FAKE_THREADS];
	struct dp_kernel_sigaction actions[DP_FAKE_SIGNALS];
	void (*tool)(void);
	u64 ticks, ms;
};

extern struct dp_kernel dp_kernel;

static inline struct dp_fake_task *dp_kernel_task(void)
{
	return &dp_kernel.tasks[dp_kernel.current];
}

/** dp_kernel_begin() - start anew, with our actions in force for @caught signals */
void dp_kernel_begin(u32 caught);

/** dp_kernel_deliver() - deliver the pending signals that are not blocked */
void dp_kernel_deliver(void);

/** dp_kernel_read(), dp_kernel_write() - access memory of the program. Return: bytes before
 *  the first bad one */
u64 dp_kernel_read(void *to, u64 from, u64 len);
u64 dp_kernel_write(u64 to, const void *from, u64 len);
/** dp_kernel_drop() - give private copies of text pages back */
void dp_kernel_drop(u64 start, u64 size);
/** dp_kernel_forget() - drop all texts and bad memory */
void dp_kernel_forget(void);

#endif
