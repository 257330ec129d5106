/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * compat: what kernels have under other names, and what some do not have.
 *
 * The only file that asks which kernel this is, and how it is configured. Shared with assembly.
 */
#ifndef DP_KERNEL_COMPAT_H
#define DP_KERNEL_COMPAT_H

#include <linux/kconfig.h>
#include <linux/version.h>

/* Of struct pcpu_hot, where the kernel has it */
#define DP_COMPAT_PREEMPT_AT 8

#ifdef __ASSEMBLY__

#include <asm/unwind_hints.h>

/* DP_UNWIND_END: no frame is above. DP_UNWIND_LOST: there is one, and the unwinder cannot know where it
 * returns to: it stops, and tells that it has failed. */
/* clang-format off */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
#define DP_UNWIND_END UNWIND_HINT_END_OF_STACK
#define DP_UNWIND_LOST UNWIND_HINT_UNDEFINED
#else
#define DP_UNWIND_END UNWIND_HINT_EMPTY
#define DP_UNWIND_LOST UNWIND_HINT type=UNWIND_HINT_TYPE_CALL end=0
#endif
/* DP_PREEMPT_OFF: the task stays on its CPU. DP_PREEMPT_ON: it need not; the zero flag says that another one
 * should run. Where nothing is preempted, it does not say so. */
#ifndef CONFIG_PREEMPT_COUNT
#define DP_PREEMPT_OFF
#define DP_PREEMPT_ON test %rsp, %rsp
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0) && \
	LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0)
#define DP_PREEMPT_OFF incl PER_CPU_VAR(pcpu_hot + DP_COMPAT_PREEMPT_AT)
#define DP_PREEMPT_ON decl PER_CPU_VAR(pcpu_hot + DP_COMPAT_PREEMPT_AT)
#else
#define DP_PREEMPT_OFF incl PER_CPU_VAR(__preempt_count)
#define DP_PREEMPT_ON decl PER_CPU_VAR(__preempt_count)
#endif
/* clang-format on */

#else

#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/jump_label.h>
#include <linux/build_bug.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/preempt.h>
#include <linux/rethook.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <linux/uprobes.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0) && \
	LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0)
static_assert(offsetof(struct pcpu_hot, preempt_count) == DP_COMPAT_PREEMPT_AT);
#endif

/** dp_compat_preempt_due() - preemption is on again, as by preempt_enable_notrace(). Return: another task is to run */
static inline bool dp_compat_preempt_due(void)
{
	barrier();
#ifdef CONFIG_PREEMPT_COUNT
	return __preempt_count_dec_and_test();
#else
	return false;
#endif
}

/* What the kernel tells by functions that are there only if the feature is. Without one of these, nothing of
 * the kind is in the kernel's text. */
#define DP_KERNEL_HAS_KPROBES IS_ENABLED(CONFIG_KPROBES)
#define DP_KERNEL_HAS_JUMP_LABELS IS_ENABLED(CONFIG_JUMP_LABEL)
#define DP_KERNEL_HAS_STATIC_CALLS IS_ENABLED(CONFIG_HAVE_STATIC_CALL_INLINE)
#define DP_KERNEL_HAS_LOCKS IS_ENABLED(CONFIG_SMP)
#define DP_KERNEL_HAS_UPROBES IS_ENABLED(CONFIG_UPROBES)
#define DP_KERNEL_NO_UPROBES "this kernel has no uprobes (CONFIG_UPROBES)"
#define DP_KERNEL_HAS_FTRACE IS_ENABLED(CONFIG_DYNAMIC_FTRACE)

/* Is a function called only by a pointer of its own type (kCFI)? Handlers are called by others. */
#define DP_KERNEL_CHECKS_CALLS \
	(IS_ENABLED(CONFIG_CFI_CLANG) || IS_ENABLED(CONFIG_CFI))

/* Does synchronize_rcu_tasks() wait for tasks that have been preempted? Where nothing of the kernel's own
 * asks for that, it is another name of synchronize_rcu(), which does not. */
#define DP_KERNEL_HAS_RCU_TASKS \
	(IS_ENABLED(CONFIG_TASKS_RCU) || !IS_ENABLED(CONFIG_PREEMPTION))

/** dp_compat_exchange() - replace both words of @pair, which is aligned to 16 bytes, if they are @was */
static inline bool dp_compat_exchange(u64 *pair, const u64 was[2], u64 first,
				      u64 second)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
	u128 old = (u128)was[1] << 64 | was[0];

	return cmpxchg128((u128 *)pair, old, (u128)second << 64 | first) == old;
#else
	return cmpxchg_double(&pair[0], &pair[1], was[0], was[1], first,
			      second);
#endif
}

/* Parameters of what kallsyms_on_each_symbol() calls, for each symbol of the kernel's image */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
#define DP_COMPAT_SYMBOL void *data, const char *name, unsigned long addr
#else
#define DP_COMPAT_SYMBOL \
	void *data, const char *name, struct module *of, unsigned long addr
#endif

/** dp_compat_fpstate() - where the kernel puts the current task's registers of the floating-point units */
static inline const struct fpstate *dp_compat_fpstate(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
	return x86_task_fpu(current)->fpstate;
#else
	return current->thread.fpu.fpstate;
#endif
}

/** dp_compat_on_cpu() - does a CPU run the task, or leave it, or come to it? */
static inline bool dp_compat_on_cpu(const struct task_struct *task)
{
#ifdef CONFIG_SMP
	return smp_load_acquire(&task->on_cpu);
#else
	return task == current;
#endif
}

/** dp_compat_returns() - a task's list of return addresses, each for a trampoline's on its stack, where unwinders look them
 *  up. Return: NULL: kernels without */
static inline struct llist_head *dp_compat_returns(struct task_struct *task)
{
#ifdef CONFIG_RETHOOK
	return &task->rethooks;
#else
	return NULL;
#endif
}

/* Parameters of what the trampoline calls, in the order of the list */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#define DP_COMPAT_RETURNED                                                \
	struct rethook_node *node, void *data, unsigned long returned_to, \
		struct pt_regs *regs
#else
#define DP_COMPAT_RETURNED \
	struct rethook_node *node, void *data, struct pt_regs *regs
#endif

/* Does lockdep look for mistakes in what it has been told? Then it complains where functions return, by the kernel's
 * trampoline, in the middle of telling it: handle_softirqs(), and what the tracer's clocks call. */
#define DP_KERNEL_DOUBTS_LOCKDEP IS_ENABLED(CONFIG_DEBUG_LOCKDEP)

/** dp_compat_may_list() - does the kernel put nodes back without a complaint? One that looks for mistakes does not where RCU
 *  is not told of. */
static inline bool dp_compat_may_list(void)
{
	return !IS_ENABLED(CONFIG_PROVE_RCU) || rcu_is_watching();
}

/* Where nodes of these lists are put back: rings of pointers, or a list of free ones? */
#define DP_KERNEL_HAS_NODE_RINGS (LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0))

/** dp_compat_is_of_cpu() - is it in what a CPU has for itself of a module? */
static inline bool dp_compat_is_of_cpu(const struct module *m, u64 addr,
				       unsigned int cpu)
{
#ifdef CONFIG_SMP
	return addr - (u64)per_cpu_ptr(m->percpu, cpu) < m->percpu_size;
#else
	return false;
#endif
}

/** struct dp_compat_label - a jump label: where it is, and where it leads to */
struct dp_compat_label {
	u64 code, target;
};

/** dp_compat_label() - the @i-th one of @m or of @table, which is the kernel's
 *  dp_compat_labels() - how many a module has */
#ifdef CONFIG_JUMP_LABEL
static inline u32 dp_compat_labels(const struct module *m)
{
	return m->num_jump_entries;
}

static inline struct dp_compat_label dp_compat_label(const struct module *m,
						     const void *table, u32 i)
{
	const struct jump_entry *entries = m ? m->jump_entries : table;

	return (struct dp_compat_label){ jump_entry_code(&entries[i]),
					 jump_entry_target(&entries[i]) };
}

#define DP_KERNEL_LABEL_SIZE sizeof(struct jump_entry)
#else
static inline u32 dp_compat_labels(const struct module *m)
{
	return 0;
}

static inline struct dp_compat_label dp_compat_label(const struct module *m,
						     const void *table, u32 i)
{
	return (struct dp_compat_label){ 0 };
}

#define DP_KERNEL_LABEL_SIZE 1
#endif

/* Parameters of what the kernel's uprobes call: at a hit; and to ask whether a process is meant. Is it asked whether one
 * that is probed still is? Not each kernel tells that. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
#define DP_COMPAT_UPROBE_HIT \
	struct uprobe_consumer *self, struct pt_regs *regs, __u64 *data
#else
#define DP_COMPAT_UPROBE_HIT struct uprobe_consumer *self, struct pt_regs *regs
#endif
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#define DP_COMPAT_UPROBE_FILTER \
	struct uprobe_consumer *self, struct mm_struct *mm
#define DP_COMPAT_UPROBE_STILL false
#else
#define DP_COMPAT_UPROBE_FILTER                                     \
	struct uprobe_consumer *self, enum uprobe_filter_ctx place, \
		struct mm_struct *mm
#define DP_COMPAT_UPROBE_STILL (place == UPROBE_FILTER_UNREGISTER)
#endif

/** dp_compat_mtime() - when a file was written last */
static inline struct timespec64 dp_compat_mtime(const struct inode *inode)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
	return inode_get_mtime(inode);
#else
	return inode->i_mtime;
#endif
}

/** struct dp_compat_uprobe - a consumer that is registered, once it is */
struct dp_compat_uprobe {
	struct inode *inode;
	loff_t offset;
	struct uprobe *handle;
};

/** dp_compat_uprobe_register() - Return: as the kernel has it; -ENOSYS: it is built without uprobes
 *  dp_compat_uprobe_unregister() - the handler may still run until dp_compat_uprobe_sync() */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
static inline int dp_compat_uprobe_register(struct dp_compat_uprobe *u,
					    struct uprobe_consumer *c)
{
	u->handle = uprobe_register(u->inode, u->offset, 0, c);
	return PTR_ERR_OR_ZERO(u->handle);
}

static inline void dp_compat_uprobe_unregister(struct dp_compat_uprobe *u,
					       struct uprobe_consumer *c)
{
	uprobe_unregister_nosync(u->handle, c);
}

static inline void dp_compat_uprobe_sync(void)
{
	uprobe_unregister_sync();
}
#else
static inline int dp_compat_uprobe_register(struct dp_compat_uprobe *u,
					    struct uprobe_consumer *c)
{
	return uprobe_register(u->inode, u->offset, c);
}

static inline void dp_compat_uprobe_unregister(struct dp_compat_uprobe *u,
					       struct uprobe_consumer *c)
{
	uprobe_unregister(u->inode, u->offset, c);
}

static inline void dp_compat_uprobe_sync(void)
{
}
#endif

#endif
#endif
