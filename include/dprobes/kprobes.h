/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Kprobes for one's own process: the kernel's interface, in user space.
 *
 * A probe sits on an instruction; its handlers run in whichever thread comes
 * there, as part of that thread. Registering is thread-safe and may sleep.
 *
 * Handlers. They run concurrently on several threads, on a stack of the library's
 * own (DP_HANDLER_STACK bytes), and must not block for long, throw, or leave by
 * longjmp. They may use vector and floating-point registers, and errno: all
 * are as before when the program goes on. A probe that is hit while the same
 * thread is in a handler does not run its handlers; its nmissed counts instead.
 * A signal handler of the program that interrupts a handler runs on the same stack,
 * unless it has SA_ONSTACK, and has DP_SIGNAL_STACK bytes.
 *
 * Errors. Every function that can fail returns 0 or a negative errno; why it
 * failed is said in words by dp_last_diag().
 *
 * Source of everything here, unless it says otherwise: Linux,
 * Documentation/trace/kprobes.rst and include/linux/kprobes.h.
 */
#ifndef DPROBES_KPROBES_H
#define DPROBES_KPROBES_H

/* Kbuild has included its <linux/kconfig.h>: this is for a kernel. */
#ifdef __LINUX_KCONFIG_H
#include <dprobes/kernel/kprobes.h>
#else

#include <stddef.h>
#include <dprobes/diag.h>
#include <dprobes/library.h>
#include <dprobes/marks.h>
#include <dprobes/regs.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

typedef unsigned char kprobe_opcode_t;

/* Bytes of the stack on which handlers run */
#define DP_HANDLER_STACK 16384
/* Bytes that the program's signal handlers have above a handler */
#define DP_SIGNAL_STACK 229376

struct kprobe;
struct kretprobe;
struct kretprobe_instance;
struct task_struct;

/**
 * typedef kprobe_pre_handler_t - called before the probed instruction
 *
 * Context: the thread that hit; async-signal-safe functions only, and whatever
 * the probed code does not hold a lock of.
 * Return: 0; non-zero: the instruction is not executed, no post_handler is
 * called, and the thread goes on at @regs->ip, which the handler has set.
 */
typedef int (*kprobe_pre_handler_t)(struct kprobe *p, struct pt_regs *regs);

/** typedef kprobe_post_handler_t - called after the probed instruction; @flags
 *  is always 0. Context: as above. */
typedef void (*kprobe_post_handler_t)(struct kprobe *p, struct pt_regs *regs,
				      unsigned long flags);

/**
 * typedef kprobe_fault_handler_t - called when a handler, or the probed
 * instruction, has faulted
 * @trapnr: the processor's number: 0 divide error, 6 invalid opcode, 13 general
 *          protection, 14 page fault, …
 *
 * Return: 1, it is dealt with: the thread goes on as @regs say; 0, it is not.
 * Then a fault of the instruction is the program's own, as if there were no
 * probe, and one in a handler ends that handler and disables the probe.
 */
typedef int (*kprobe_fault_handler_t)(struct kprobe *p, struct pt_regs *regs,
				      int trapnr);

/** typedef kprobe_break_handler_t - never called; a probe that has one is not
 *  optimised */
typedef int (*kprobe_break_handler_t)(struct kprobe *p, struct pt_regs *regs);

#define KPROBE_FLAG_GONE 1 /* the code it was on is no longer there */
#define KPROBE_FLAG_DISABLED 2 /* registered, but not armed */
#define KPROBE_FLAG_OPTIMIZED 4 /* armed with a jump */
#define KPROBE_FLAG_FTRACE 8 /* never in user space */
#define KPROBE_FLAG_UNWIND 0x100 /* see struct kretprobe; the caller's */
#define KPROBE_FLAG_RET_SITES 0x200 /* the same */

/**
 * struct kprobe - one probe; the caller's, until it is unregistered
 * @nmissed: hits whose handlers did not run
 * @addr: where; or NULL, with @symbol_name. Set by registering.
 * @symbol_name: a function, looked up in the main program and then in the
 *               libraries in load order, exported names before static ones;
 *               "MODULE:NAME" looks in one module only
 * @offset: bytes, added to either
 * @flags: KPROBE_FLAG_DISABLED may be set before registering; otherwise the
 *         library's
 *
 * Everything that is not used is 0. Fields other than @nmissed are not changed
 * while the probe is registered.
 */
struct kprobe {
	unsigned long nmissed;
	kprobe_opcode_t *addr;
	const char *symbol_name;
	unsigned int offset;
	kprobe_pre_handler_t pre_handler;
	kprobe_post_handler_t post_handler;
	kprobe_fault_handler_t fault_handler;
	kprobe_break_handler_t break_handler;
	unsigned int flags;
	kprobe_opcode_t opcode; /* first byte of the probed instruction */
	void *dp_private[4]; /* the library's */
};

/**
 * register_kprobe() - put a probe on an instruction
 *
 * When it returns the probe is armed, unless it is disabled.
 * Context: may sleep; not in a handler.
 * Return: 0; -EINVAL the address may not be probed (the library itself, a
 * NOKPROBE_SYMBOL, an instruction that cannot run elsewhere), @addr and
 * @symbol_name are both set or both missing, the probe is registered already, or
 * a name means several functions; -EILSEQ no instruction begins there; -ENOENT
 * no such symbol; -EBUSY somebody else's breakpoint is there; -EFAULT nothing is
 * mapped there; -ENOMEM; -EAGAIN called in a handler; -EMFILE no descriptor is left;
 * -EPERM, -EOPNOTSUPP the process cannot be prepared (see dp_last_diag()).
 */
int register_kprobe(struct kprobe *p);

/**
 * unregister_kprobe() - take it away
 *
 * When it returns none of its handlers runs any more, unless it was called from
 * one. @p->addr of a probe that was not registered becomes NULL. Without a descriptor
 * or /proc, by which text is written, the probe's bytes stay for a later call.
 * Context: may sleep; from a handler it does not wait for other handlers.
 */
void unregister_kprobe(struct kprobe *p);

/**
 * register_kprobes() - several at once, much faster than one by one
 *
 * Return: 0, or as register_kprobe() for the first that fails; then none of them
 * is registered. -EINVAL if @num is not positive or an entry is NULL.
 */
int register_kprobes(struct kprobe **kps, int num);
void unregister_kprobes(struct kprobe **kps, int num);

/** disable_kprobe() - keep it registered, but do not run its handlers. None runs any more
 *  when it returns, but for the calling one.
 *  Return: 0; -EINVAL it is not registered; -EAGAIN, -EMFILE as register_kprobe(). */
int disable_kprobe(struct kprobe *p);
/** enable_kprobe() - Return: as disable_kprobe(); -EINVAL also: it is gone. */
int enable_kprobe(struct kprobe *p);

/** get_kprobe() - of the probes that are registered at @addr the oldest, or NULL. A
 *  jprobe only if there is no other. */
struct kprobe *get_kprobe(void *addr);

/* --- return probes --- */

/**
 * typedef kretprobe_handler_t - called when a probed function returns, or, as
 * entry_handler, when it is entered
 *
 * Return: of an entry_handler non-zero: this call is not followed; otherwise
 * ignored.
 */
typedef int (*kretprobe_handler_t)(struct kretprobe_instance *ri,
				   struct pt_regs *regs);

/**
 * struct kretprobe - a probe on the return of a function
 * @kp: says which function: @kp.addr or @kp.symbol_name. Its handlers are the
 *      library's. KPROBE_FLAG_UNWIND in @kp.flags: @handler is called for calls that
 *      an exception ends, or the end of their thread, too; see
 *      dp_kretprobe_unwound(). KPROBE_FLAG_RET_SITES: the return address on the
 *      stack is left alone; instead there is a probe on each instruction by which the
 *      function is left. Calls that an exception ends count as abandoned then. So it
 *      is, without the flag, where a function looks at its return address
 * @maxactive: calls that can be followed at once, at most 131,072. 0 or less
 *             becomes max(10, 2 * CPUs) when it is registered.
 * @nmissed: calls that could not be followed for want of an instance
 * @data_size: bytes of @data that every instance has
 */
struct kretprobe {
	struct kprobe kp;
	kretprobe_handler_t handler;
	kretprobe_handler_t entry_handler;
	int maxactive;
	int nmissed;
	size_t data_size;
	void *dp_private[4];
};

/**
 * struct kretprobe_instance - one call that is being followed
 * @rp: its probe
 * @ret_addr: where the call returns to
 * @task: the thread, as current
 * @data: the probe's own, zero at first, the same in both handlers
 */
struct kretprobe_instance {
	struct kretprobe *rp;
	kprobe_opcode_t *ret_addr;
	struct task_struct *task;
	void *dp_private[10];
#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L
	char data[];
#else
	char data[1];
#endif
};

/** get_kretprobe() - the probe of an instance */
static __inline__ struct kretprobe *get_kretprobe(struct kretprobe_instance *ri)
{
	return ri->rp;
}

/** register_kretprobe() - Return: as register_kprobe(); -EINVAL also where a
 *  function has no return address, or looks at it and where it is left is not known;
 *  with KPROBE_FLAG_RET_SITES that is -EOPNOTSUPP. */
int register_kretprobe(struct kretprobe *rp);
void unregister_kretprobe(struct kretprobe *rp);
int register_kretprobes(struct kretprobe **rps, int num);
void unregister_kretprobes(struct kretprobe **rps, int num);
int disable_kretprobe(struct kretprobe *rp);
int enable_kretprobe(struct kretprobe *rp);

/**
 * dp_kretprobe_unwound() - has the call not returned, but an exception ended it?
 *
 * The registers that the handler sees are then those with which the exception
 * leaves the function: there is no return value, and changing them has no effect.
 * Context: the handler of a probe with KPROBE_FLAG_UNWIND. Source: ours.
 */
int dp_kretprobe_unwound(const struct kretprobe_instance *ri);

/**
 * dp_kretprobe_jumped() - has the function not returned, but jumped to another one,
 * which will return in its place?
 *
 * There is no return value yet.
 * Context: the handler of a probe with KPROBE_FLAG_RET_SITES. Source: ours.
 */
int dp_kretprobe_jumped(const struct kretprobe_instance *ri);

/**
 * struct dp_kretprobe_account - what became of a function's calls
 * @entries: calls that were followed: the sum of the next four
 * @returned: have returned
 * @unwound: ended by an exception, pthread_exit() or a cancellation; of a thread's
 *           outermost function nobody is told, so it counts as abandoned
 * @abandoned: left by longjmp, or with a thread that ended otherwise
 * @inside: not ended yet
 * @missed: not followed, for want of an instance
 * @vetoed: not followed, because the entry_handler has said so
 * @late: of all probes together: returns of calls that had been counted as
 *        abandoned. Something has copied a stack away and back.
 */
struct dp_kretprobe_account {
	unsigned long entries;
	unsigned long returned, unwound, abandoned, inside;
	unsigned long missed, vetoed, late;
};

/**
 * dp_kretprobe_account() - of a probe since it was registered
 *
 * While calls begin and end the figures are of different moments.
 * Context: may sleep; not in a handler.
 * Return: 0; -EINVAL it is not registered; -EAGAIN called in a handler.
 * Source: ours.
 */
int dp_kretprobe_account(const struct kretprobe *rp,
			 struct dp_kretprobe_account *account);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#include <dprobes/jprobe.h>

#endif
#endif
