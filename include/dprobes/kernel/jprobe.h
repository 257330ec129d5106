/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Jprobes for a kernel's modules: handlers with the probed function's own arguments. Kernels have dropped theirs.
 *
 * Contexts and errors as in <dprobes/kernel/kprobes.h>, which includes this.
 * Source: Linux 4.14, Documentation/kprobes.txt.
 */
#ifndef DPROBES_KERNEL_JPROBE_H
#define DPROBES_KERNEL_JPROBE_H

#include <linux/compiler.h>
#include <dprobes/kernel/kprobes.h>

/* Bytes of arguments on the stack that a handler sees */
#define DP_JPROBE_STACK 64

/**
 * struct dp_jprobe - a handler with the signature of the probed function
 * @kp: says which function; its handlers are dprobes.ko's
 * @entry: called before the function, with its arguments; ends with dp_jprobe_return(), or by returning, which
 *         says nothing. It has a copy of the arguments: what it does to them is undone.
 */
struct dp_jprobe {
	struct dp_kprobe kp;
	void *entry;
};

/** dp_register_jprobe() - Return: as dp_register_kprobe(); -EINVAL also without @entry, or not at a function's
 *  beginning; -EEXIST the function has one already. */
int dp_register_jprobe(struct dp_jprobe *jp);
void dp_unregister_jprobe(struct dp_jprobe *jp);
int dp_register_jprobes(struct dp_jprobe **jps, int num);
void dp_unregister_jprobes(struct dp_jprobe **jps, int num);

static inline int dp_disable_jprobe(struct dp_jprobe *jp)
{
	return dp_disable_kprobe(&jp->kp);
}

static inline int dp_enable_jprobe(struct dp_jprobe *jp)
{
	return dp_enable_kprobe(&jp->kp);
}

/** dp_jprobe_end() - dprobes.ko's part of dp_jprobe_return() */
void dp_jprobe_end(void);

/** dp_jprobe_return() - end a jprobe's handler, from whatever it has called. Context: such a handler only. */
static inline void __noreturn dp_jprobe_return(void)
{
	dp_jprobe_end();
	unreachable();
}

#endif
