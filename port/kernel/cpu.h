/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* cpu: what each CPU does, as far as hits are concerned. */
#ifndef DP_KERNEL_CPU_H
#define DP_KERNEL_CPU_H

#include "port/kernel/compat.h"
#include "port/kernel/hit.h"
#include "port_types.h"
#include <linux/percpu.h>
#include <linux/preempt.h>

/**
 * struct dp_kernel_cpu - what a CPU does
 * @hits: how many hits it is in; @handlers: handlers in C that run, those of hits that are not in @hits too;
 * @busy: both
 * @innermost: the kind of the innermost hit; @depths: how many hits it is in, by kind of context, but for those that
 *          have called a handler
 * @traps: how many hits are in traps
 * @all: all of these
 */
struct dp_kernel_cpu {
	union {
		struct {
			u8 hits, handlers, innermost, traps;
		};
		u16 busy;
		u32 all;
	};
	u8 depths[DP_KERNEL_CONTEXTS];
};

/* entry.S, readers.S and detours use the first byte. */
DECLARE_PER_CPU(struct dp_kernel_cpu, dp_kernel_cpu);
_Static_assert(!offsetof(struct dp_kernel_cpu, hits), "it is the first byte");

/** dp_kernel_handle() - a handler is to be called, for which the hit half has nothing else to do: the CPU need not be
 *  in a hit. Context: preemption is off. Return: false: the CPU is in one, or a handler runs; else dp_kernel_handled()
 *  follows the call. */
static inline bool dp_kernel_handle(void)
{
	if (__this_cpu_read(dp_kernel_cpu.busy))
		return false;
	__this_cpu_inc(dp_kernel_cpu.handlers);
	barrier();
	return true;
}

static inline void dp_kernel_handled(void)
{
	barrier();
	__this_cpu_dec(dp_kernel_cpu.handlers);
}

/* A handler that runs, and a trap, in @all */
#define DP_KERNEL_TRAP_HANDLER (1 << 8 | 1 << 24)

/** dp_kernel_handle_trap() - as dp_kernel_handle(), in a trap that is not counted yet: both in one word, as each access
 *  to memory takes its time; dp_kernel_handled_trap() follows */
static inline bool dp_kernel_handle_trap(void)
{
	u32 all = __this_cpu_read(dp_kernel_cpu.all);

	if ((u16)all)
		return false;
	__this_cpu_write(dp_kernel_cpu.all, all + DP_KERNEL_TRAP_HANDLER);
	barrier();
	return true;
}

static inline void dp_kernel_handled_trap(void)
{
	barrier();
	__this_cpu_sub(dp_kernel_cpu.all, DP_KERNEL_TRAP_HANDLER);
}

/** dp_kernel_preempt_on() - preemption is on again, and a hit has ended: see dp_kernel_preempt() */
static inline void dp_kernel_preempt_on(void)
{
	if (!dp_compat_preempt_due())
		return;
	preempt_disable_notrace();
	dp_kernel_preempt();
}

#endif
