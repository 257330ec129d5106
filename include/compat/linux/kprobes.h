/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Kprobes, with all that kernel sources expect to come with them. */
#ifndef DP_LINUX_KPROBES_H
#define DP_LINUX_KPROBES_H

#include <linux/kernel.h>
#include <linux/types.h>
#include <linux/errno.h>
#include <linux/err.h>
#include <linux/init.h>
#include <linux/list.h>
#include <linux/bitops.h>
#include <linux/mm.h>
#include <linux/uaccess.h>
#include <linux/delay.h>
#include <linux/random.h>
#include <linux/timex.h>
#include <linux/stacktrace.h>
#include <linux/notifier.h>
#include <linux/wait.h>
#include <linux/completion.h>
#include <linux/timer.h>
#include <linux/workqueue.h>
#include <linux/string.h>
#include <linux/atomic.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/ptrace.h>
#include <linux/kallsyms.h>
#include <linux/ktime.h>
#include <dprobes/kprobes.h>

#define __kprobes
#define MAX_INSN_SIZE 16
#define JPROBE_ENTRY(handler) ((void *)(handler))

static inline int kprobe_disabled(struct kprobe *p)
{
	return !!(p->flags & (KPROBE_FLAG_DISABLED | KPROBE_FLAG_GONE));
}

static inline int kprobe_gone(struct kprobe *p)
{
	return !!(p->flags & KPROBE_FLAG_GONE);
}

static inline int kprobe_optimized(struct kprobe *p)
{
	return !!(p->flags & KPROBE_FLAG_OPTIMIZED);
}

static inline unsigned long
get_kretprobe_retaddr(const struct kretprobe_instance *ri)
{
	return (unsigned long)ri->ret_addr;
}

/* A failed register_kretprobe() is undone here by itself. */
static inline bool kprobes_built_in(void)
{
	return true;
}

#endif
