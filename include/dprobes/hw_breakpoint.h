/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Watchpoints in one's own process: the kernel's interface to debug registers, in user space.
 *
 * A handler runs in the thread that has accessed the data, just behind the instruction that did; or,
 * with HW_BREAKPOINT_X, just before the instruction. A thread has four debug registers, which debuggers
 * and perf(1) take, too.
 *
 *     hw_breakpoint_init(&attr);
 *     attr.bp_addr = (unsigned long)&counter;
 *     attr.bp_len = HW_BREAKPOINT_LEN_8;
 *     attr.bp_type = HW_BREAKPOINT_W;
 *     bp = register_wide_hw_breakpoint(&attr, handler, NULL);
 *     if (dp_hw_breakpoint_error(bp))
 *             … dp_last_diag()->text
 *
 * Handlers. They are called like those of kprobes, and may do what these may: see dprobes/kprobes.h.
 * Registers that a handler changes are changed, but ip stays. An access by a handler itself is
 * missed, and counts in nmissed.
 *
 * Not seen are accesses by the kernel, as in read(2), and by children. An exec ends watchpoints.
 * With HW_BREAKPOINT_X an instruction that the jump of a kprobe displaces is executed elsewhere: use a
 * kprobe there.
 *
 * By perf events each thread takes a descriptor a watchpoint, which has a high number and is closed by an
 * exec. An instruction that hits several watchpoints raises one trap, and calls the handler of one.
 * A thread that has SIGTRAP blocked by a system call of its own, rather than by its libc, is missed.
 * See dp_hw_breakpoint_hits().
 *
 * Where the kernel refuses these, a child of the process sets the debug registers of its threads by ptrace(2), for
 * a moment:
 * - The child stops each thread as watchpoints come and go. A call that the kernel does not restart, as
 *   epoll_wait(2), may fail with EINTR. A thread that begins is held until it has its registers.
 * - Four watchpoints are all that the process can have, those of single threads included.
 * - While there are several, a hit starts a child, too, which reads the one that was hit. So does any hit in the
 *   second behind an unregistering.
 * - A debugger keeps watchpoints out, and is told of their traps when it comes later.
 * - A thread that has SIGTRAP blocked by a system call of its own is killed by a hit, as by any breakpoint.
 * - A thread that no libc has made has no watchpoints: see dp_hw_breakpoint_bare().
 * DPROBES_WATCH in the environment, "events" or "registers", forces either way.
 *
 * Source of the interface: Linux, include/linux/hw_breakpoint.h and samples/hw_breakpoint.
 */
#ifndef DPROBES_HW_BREAKPOINT_H
#define DPROBES_HW_BREAKPOINT_H

#include <stddef.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <dprobes/library.h>
#include <dprobes/regs.h>
#include <dprobes/task.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct perf_event;

/** struct perf_sample_data - what a hit tells; @addr: bp_addr of its watchpoint */
struct perf_sample_data {
	unsigned long addr;
};

/**
 * typedef perf_overflow_handler_t - called at a hit
 * @regs: of the thread; their ip is where it goes on, in its own code
 *
 * Context: the thread that hit; async-signal-safe functions only.
 */
typedef void (*perf_overflow_handler_t)(struct perf_event *bp,
					struct perf_sample_data *data,
					struct pt_regs *regs);

/**
 * struct perf_event - a watchpoint; the library's, read only
 * @attr: as it was registered
 * @overflow_handler, @overflow_handler_context: likewise; the context is the handler's
 * @nmissed: hits by the handlers of this or other probes, which have called none
 */
struct perf_event {
	struct perf_event_attr attr;
	perf_overflow_handler_t overflow_handler;
	void *overflow_handler_context;
	unsigned long nmissed;
};

/** hw_breakpoint_init() - begin an attribute; bp_addr, bp_len and bp_type are to be set */
static __inline__ void hw_breakpoint_init(struct perf_event_attr *attr)
{
	__builtin_memset(attr, 0, sizeof(*attr));
	attr->type = PERF_TYPE_BREAKPOINT;
	attr->size = sizeof(*attr);
	attr->pinned = 1;
	attr->sample_period = 1;
}

/**
 * register_wide_hw_breakpoint() - watch by all threads of this process, and those to come
 * @attr: copied; bp_type: HW_BREAKPOINT_W, _RW, _X; bp_len: HW_BREAKPOINT_LEN_1, _2, _4, _8, of which
 *        bp_addr is a multiple; with _X sizeof(long), at any address
 * @triggered: the handler
 * @context: for overflow_handler_context
 *
 * Context: task; may sleep; thread-safe. The kernel's has an event for each CPU; this is a list of one,
 * which ends with NULL.
 * Return: the watchpoint; else an error, which dp_hw_breakpoint_error() tells, with words in
 * dp_last_diag(): -EINVAL @attr makes no sense; -ENOSPC a thread has no debug register left;
 * -EPERM the kernel permits neither perf events (perf_event_paranoid) nor ptrace(2); -EBUSY likewise no events,
 * and a debugger traces a thread; -EAGAIN in a handler, threads come too fast, or one does not stop;
 * -EMFILE; -EOPNOTSUPP the machine raises no debug traps; -ENOMEM; as register_kprobe() where there can be no probes.
 */
struct perf_event **
register_wide_hw_breakpoint(struct perf_event_attr *attr,
			    perf_overflow_handler_t triggered, void *context);

/**
 * register_user_hw_breakpoint() - watch by one thread of this process
 * @tsk: the thread, as get_current() tells it; the ones that it makes do not watch
 *
 * Context, Return: as register_wide_hw_breakpoint(); -ESRCH there is no such thread here.
 */
struct perf_event *
register_user_hw_breakpoint(struct perf_event_attr *attr,
			    perf_overflow_handler_t triggered, void *context,
			    struct task_struct *tsk);

/**
 * unregister_hw_breakpoint() - watch no more, and free @bp
 * @bp: NULL and errors are fine
 *
 * When it returns, no handler runs any more. Context: task; may sleep; thread-safe. In a handler it only
 * stops the watching: a call outside has to follow. In a fork child it frees what the parent has
 * left there.
 */
void unregister_hw_breakpoint(struct perf_event *bp);
void unregister_wide_hw_breakpoint(struct perf_event **events);

/**
 * dp_hw_breakpoint_hits() - how often the kernel has counted an access, or has told it by a trap
 * @missed: so many of these have called no handler; or NULL. Without events a trap of which it could not be read
 *          what it is of counts for each watchpoint.
 *
 * Context: task; thread-safe. 0 in a fork child.
 */
unsigned long dp_hw_breakpoint_hits(const struct perf_event *bp,
				    unsigned long *missed);

/**
 * dp_hw_breakpoint_bare() - threads that have begun without watching, by any watchpoint, since the first
 *
 * With perf events there are none. Without, a thread is given its registers as it begins, if it is made by
 * a libc's function; the call finds the others, which watch from then on. A thread is also counted if
 * a debugger traces it.
 *
 * Context: task; thread-safe. 0 in a fork child.
 */
unsigned long dp_hw_breakpoint_bare(const struct perf_event *bp);

/** dp_hw_breakpoint_error() - the error that a register function has returned as a pointer.
 *  Return: 0: it is none; a negative errno. Context: any. */
static __inline__ int dp_hw_breakpoint_error(const void *bp)
{
	return (unsigned long)bp >= -4095ul ? (int)(long)bp : 0;
}

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
