/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Watchpoints for a kernel's modules, by dprobes.ko.
 *
 * The names are those of <linux/hw_breakpoint.h> with dp_ before them. A module says MODULE_IMPORT_NS(DPROBES) and has a
 * licence that is compatible with the GPL.
 *
 *     hw_breakpoint_init(&attr);
 *     attr.bp_addr = (unsigned long)&counter;
 *     attr.bp_len = HW_BREAKPOINT_LEN_8;
 *     attr.bp_type = HW_BREAKPOINT_W;
 *     bp = dp_register_wide_hw_breakpoint(&attr, handler, NULL);
 *     if (IS_ERR(bp))
 *             return PTR_ERR(bp);
 *
 * What differs from the kernel's own: a CPU that comes later watches, too; an access within a hit calls no handler,
 * and is counted; the data of a module may go, and is watched no more; a module that goes takes its watchpoints along.
 *
 * Handlers run as in an NMI, just behind the instruction that has accessed the data. See <dprobes/kernel/kprobes.h> for
 * what they may do. Not seen are accesses by NMIs, and those while a debug exception is handled: the processor's
 * registers are off then.
 */
#ifndef DPROBES_KERNEL_HW_BREAKPOINT_H
#define DPROBES_KERNEL_HW_BREAKPOINT_H

#include <linux/err.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/types.h>

struct dp_perf_event;

/** struct dp_perf_sample_data - what a hit tells; @addr: bp_addr of its watchpoint */
struct dp_perf_sample_data {
	u64 addr;
};

/** typedef dp_perf_overflow_handler_t - called at a hit. @regs: of the thread; what the handler changes is in force,
 *  but ip and sp stay */
typedef void (*dp_perf_overflow_handler_t)(struct dp_perf_event *bp,
					   struct dp_perf_sample_data *data,
					   struct pt_regs *regs);

/**
 * struct dp_perf_event - a watchpoint; dprobes.ko's, read only
 * @attr: as it was registered
 * @overflow_handler, @overflow_handler_context: likewise; the context is the handler's
 * @nmissed: hits for which no handler was called, as another one ran on that CPU
 */
struct dp_perf_event {
	struct perf_event_attr attr;
	dp_perf_overflow_handler_t overflow_handler;
	void *overflow_handler_context;
	unsigned long nmissed;
};

/**
 * dp_register_wide_hw_breakpoint() - watch by all CPUs
 * @attr: copied; type PERF_TYPE_BREAKPOINT; bp_type HW_BREAKPOINT_W or _RW; bp_len 1, 2, 4 or 8, of which bp_addr, an
 *        address of the kernel's, is a multiple. Nothing else is looked at, but disabled, which is not set.
 * @triggered: the handler
 * @context: for overflow_handler_context
 *
 * Context: task, may sleep.
 * Return: a list of one, which ends with NULL; else an error, for IS_ERR(): -EINVAL @attr makes no sense; -EOPNOTSUPP
 * HW_BREAKPOINT_X: a kprobe does that; -EPERM it is dprobes.ko's own memory; -EFAULT there is none; -ENOSPC no
 * debug register is left; -ENOMEM.
 */
struct dp_perf_event **
dp_register_wide_hw_breakpoint(const struct perf_event_attr *attr,
			       dp_perf_overflow_handler_t triggered,
			       void *context);
/** dp_unregister_wide_hw_breakpoint() - watch no more, and free it. When it returns, no handler runs any more. NULL,
 *  errors, and what is not registered are fine. Context: task, may sleep. */
void dp_unregister_wide_hw_breakpoint(struct dp_perf_event **events);
/** dp_hw_breakpoint_hits() - accesses so far. @missed: of these have called no handler; or NULL.
 *  Context: task, may sleep. */
unsigned long dp_hw_breakpoint_hits(const struct dp_perf_event *bp,
				    unsigned long *missed);

#endif
