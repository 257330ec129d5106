/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Kprobes for a kernel's modules, by dprobes.ko.
 *
 * The names are those of <linux/kprobes.h> with dp_ before them: both can be used in one module. A module says
 * MODULE_IMPORT_NS(DPROBES) and has a licence that is compatible with the GPL. Sources for <linux/kprobes.h>
 * use these probes by <dprobes/kernel/instead.h>.
 *
 * What differs from the kernel's own probes: a probe is a jump as soon as it is registered, if it can be one,
 * and jumps may displace calls. An entry's probe stands behind endbr64 and the place where ftrace calls from;
 * arguments and stack are as at the entry. A function of a module may be probed, which then may still go: its probes stay
 * registered, with KPROBE_FLAG_GONE, and so do those on a module's init code when that has run.
 *
 * Handlers. Context: that of the probed code, with preemption off; where the probe is a breakpoint, with interrupts off,
 * too, and in_nmi() is true, as it is for the kernel's own. They may not sleep. No handler runs while another one runs
 * on that CPU, in whatever context: its probe's @nmissed counts the hit. What a handler changes in @regs is in force when
 * the probed code goes on.
 *
 * Source: Linux 6.1, include/linux/kprobes.h and Documentation/trace/kprobes.rst, unless it says otherwise.
 */
#ifndef DPROBES_KERNEL_KPROBES_H
#define DPROBES_KERNEL_KPROBES_H

#include <linux/kprobes.h>
#include <linux/ptrace.h>
#include <linux/types.h>

typedef u8 dp_kprobe_opcode_t;

struct dp_kprobe;

/**
 * typedef dp_kprobe_pre_handler_t - called before the probed instruction
 *
 * @regs->ip is the probe's address plus one, as behind an int3, in every mode.
 * Return: 0; 1: the instruction is not executed, no post_handler is called, and the code goes on at
 * @regs->ip, which the handler has set, with @regs->sp. That may be any instruction, also one whose bytes a jump has
 * replaced.
 */
typedef int (*dp_kprobe_pre_handler_t)(struct dp_kprobe *p,
				       struct pt_regs *regs);
/** typedef dp_kprobe_post_handler_t - called after the probed instruction, unless that is a call; @flags is
 *  always 0. A probe that has one is a breakpoint. */
typedef void (*dp_kprobe_post_handler_t)(struct dp_kprobe *p,
					 struct pt_regs *regs,
					 unsigned long flags);

/**
 * struct dp_kprobe - one probe; the caller's, until it is unregistered
 * @nmissed: hits whose handlers did not run
 * @addr: where; or NULL, with @symbol_name. Set by registering.
 * @symbol_name: a function, "MODULE:NAME" for one module's
 * @offset: bytes, added to either
 * @pre_handler, @post_handler: or NULL
 * @opcode: first byte of the probed instruction
 * @flags: KPROBE_FLAG_DISABLED may be set before registering. KPROBE_FLAG_OPTIMIZED: it is a jump;
 *         KPROBE_FLAG_GONE: the module has gone whose code it was on
 * @dp_number: dprobes.ko's
 *
 * Everything that is not used is 0. Fields other than @nmissed are not changed while it is registered.
 */
struct dp_kprobe {
	unsigned long nmissed;
	dp_kprobe_opcode_t *addr;
	const char *symbol_name;
	unsigned int offset;
	dp_kprobe_pre_handler_t pre_handler;
	dp_kprobe_post_handler_t post_handler;
	dp_kprobe_opcode_t opcode;
	u32 flags;
	u32 dp_number;
};

/*
 * Context of all functions: task, may sleep; a lock keeps callers apart. A call waits for RCU, and for a moment for tasks to
 * leave the bytes of a jump, so many probes at once are far cheaper than one by one. Where a task stays there, the probe
 * is a breakpoint, and becomes a jump later: KPROBE_FLAG_OPTIMIZED. Who takes the last probe away waits until no task
 * is in a copy, for two seconds at most.
 */

/**
 * dp_register_kprobe() - put a probe on an instruction
 *
 * When it returns the probe is armed, unless it is disabled. Probes at one address are called from the newest to
 * the oldest. A session of dprobes.ko may have probes there, too.
 * Return: 0; -EINVAL the instruction may not be probed, @addr and @symbol_name are both set or both missing,
 * or it is registered already; -EILSEQ no instruction begins there; -ENOENT there is no such symbol, or no
 * function; -EBUSY another's breakpoint is there; -ENOMEM; -ENOSPC there are too many.
 */
int dp_register_kprobe(struct dp_kprobe *p);
/** dp_unregister_kprobe() - take it away: none of its handlers runs any more. @p->addr of one that was not
 *  registered becomes NULL. A module does it before it goes. */
void dp_unregister_kprobe(struct dp_kprobe *p);
/** dp_register_kprobes() - several at once. Return: as dp_register_kprobe() for the first that
 *  fails; then none is registered. -EINVAL if @num is not positive or an entry is NULL. */
int dp_register_kprobes(struct dp_kprobe **kps, int num);
/** dp_unregister_kprobes() - take several away; entries that are NULL are passed by */
void dp_unregister_kprobes(struct dp_kprobe **kps, int num);
/** dp_disable_kprobe() - keep it registered, but do not run its handlers. None runs any more when it
 *  returns. Return: 0; -EINVAL it is not registered. */
int dp_disable_kprobe(struct dp_kprobe *p);
/** dp_enable_kprobe() - Return: as dp_disable_kprobe(); -EBUSY another's breakpoint is there; -ENOMEM. */
int dp_enable_kprobe(struct dp_kprobe *p);

static inline bool dp_kprobe_disabled(const struct dp_kprobe *p)
{
	return p->flags & (KPROBE_FLAG_DISABLED | KPROBE_FLAG_GONE);
}

static inline bool dp_kprobe_gone(const struct dp_kprobe *p)
{
	return p->flags & KPROBE_FLAG_GONE;
}

static inline bool dp_kprobe_optimized(const struct dp_kprobe *p)
{
	return p->flags & KPROBE_FLAG_OPTIMIZED;
}

/* --- return probes --- */

struct dp_kretprobe;
struct dp_kretprobe_instance;
struct dp_kretprobe_pool;

/**
 * typedef dp_kretprobe_handler_t - called when a probed function returns, or, as entry_handler, when it is entered
 *
 * At the return @regs->ip is the address that the function returns to, and @regs->sp is behind that. What is done to
 * these two has no effect.
 * Return: of an entry_handler non-zero: this call is not followed; otherwise ignored.
 */
typedef int (*dp_kretprobe_handler_t)(struct dp_kretprobe_instance *ri,
				      struct pt_regs *regs);

/**
 * struct dp_kretprobe - a probe on the return of a function
 * @kp: says which function, by its beginning. Its handlers are dprobes.ko's; @kp.nmissed counts calls and returns
 *      that another handler on their CPU has hidden
 * @handler, @entry_handler: one of them may be NULL
 * @maxactive: calls that can be followed at once; 0 or less becomes max(10, 2 * CPUs). All of the probes that
 *             there are, and calls of those that have gone, have 8192.
 * @nmissed: calls that could not be followed for want of an instance
 * @data_size: bytes of @data that every instance has
 * @dp_pool: dprobes.ko's
 *
 * While a call is followed, its return address on the stack is another one. Where that is the kernel's trampoline
 * (CONFIG_RETHOOK), traces of stacks that are taken inside, or by handlers, are whole. Where it is a stub, they end there, as
 * unreliable; a handler's go to the next stub. A call that never returns, because its task ends inside, has its instance
 * for half a second more.
 */
struct dp_kretprobe {
	struct dp_kprobe kp;
	dp_kretprobe_handler_t handler;
	dp_kretprobe_handler_t entry_handler;
	int maxactive;
	int nmissed;
	size_t data_size;
	struct dp_kretprobe_pool *dp_pool;
};

/**
 * struct dp_kretprobe_instance - a call that is followed, until its handler returns
 * @rp: its probe; @ret_addr: where it returns to; @task: whose it is
 * @data: the probe's own, the same in both handlers, of undefined contents at the entry
 */
struct dp_kretprobe_instance {
	struct dp_kretprobe *rp;
	dp_kprobe_opcode_t *ret_addr;
	struct task_struct *task;
	char data[];
};

/** dp_register_kretprobe() - Return: as dp_register_kprobe(); -EINVAL also if it is not a function's beginning, or the
 *  function has no return address of its own; -ENOMEM also if too many calls are to be followed. */
int dp_register_kretprobe(struct dp_kretprobe *rp);
/**
 * dp_unregister_kretprobe() - take it away: none of its handlers runs any more
 *
 * Calls that are inside, perhaps asleep, return as if there had been no probe. Until all have, dprobes.ko cannot go;
 * @rp, and the module that has registered it, can.
 */
void dp_unregister_kretprobe(struct dp_kretprobe *rp);
int dp_register_kretprobes(struct dp_kretprobe **rps, int num);
void dp_unregister_kretprobes(struct dp_kretprobe **rps, int num);

/** dp_disable_kretprobe() - Return: as dp_disable_kprobe(). Calls that are inside have their handler yet. */
static inline int dp_disable_kretprobe(struct dp_kretprobe *rp)
{
	return dp_disable_kprobe(&rp->kp);
}

static inline int dp_enable_kretprobe(struct dp_kretprobe *rp)
{
	return dp_enable_kprobe(&rp->kp);
}

static inline struct dp_kretprobe *
dp_get_kretprobe(const struct dp_kretprobe_instance *ri)
{
	return ri->rp;
}

static inline unsigned long
dp_get_kretprobe_retaddr(const struct dp_kretprobe_instance *ri)
{
	return (unsigned long)ri->ret_addr;
}

/** dp_get_kretprobe_retval() - what the function returns. Context: at the return. */
static inline unsigned long dp_get_kretprobe_retval(const struct pt_regs *regs)
{
	return regs_return_value((struct pt_regs *)regs);
}

#include <dprobes/kernel/jprobe.h>

#endif
