/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * port_hit: what the hit half asks of the kernel that it runs in.
 *
 * A thread hits in any context, with preemption off: in a trap, in a detour, or for a probe on a file. "Process" and
 * "thread" are those of the task that is current; an interrupt's hits are those of the task that
 * it has interrupted. What a process of Linux does to itself, a kernel does not: these requests
 * fail.
 */
#ifndef DP_PORT_HIT_H
#define DP_PORT_HIT_H

#include "port_types.h"
#include "engine/layout/base.h"
#include "port/kernel/hit.h"
#include "port/kernel/nofault.h"
#include <linux/io.h>
#include <linux/irqflags.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>
#include <asm/msr.h>
#include <asm/percpu.h>
#include <asm/processor.h>

static inline u32 dp_port_pid(void)
{
	return current->tgid;
}

/* Not of the task alone: see dp_kernel_thread(). */
static inline u32 dp_port_tid(void)
{
	return dp_kernel_thread();
}

static inline u32 dp_port_cpu(void)
{
	return raw_smp_processor_id();
}

static inline bool dp_port_comm(u64 name[2])
{
	/* Another thread may change it meanwhile. */
	__builtin_memcpy(name, current->comm, 2 * sizeof(u64));
	((char *)name)[2 * sizeof(u64) - 1] = '\0';
	return true;
}

/* What a thread has for itself is in its task; in user space, where its segment says. */
static inline u64 dp_port_thread_pointer(void)
{
	return dp_kernel_is_users() ? dp_kernel_fs_base() : (u64)current;
}

static inline u64 dp_port_thread_self(void)
{
	return (u64)current;
}

static inline u32 dp_port_thread_half(s64 offset)
{
	return *(const u32 *)((const char *)current + offset);
}

static inline u64 dp_port_gs_base(void)
{
	return dp_kernel_is_users() ? dp_kernel_gs_base() :
				      per_cpu_offset(raw_smp_processor_id());
}

/* What the task has left there as it came into the kernel. What interrupts a task has its registers, too. A hit in
 * user space has a copy, of which the task gets back what it may: port/kernel/user.c. */
static inline struct dp_regs *dp_port_user_regs(struct dp_regs *regs)
{
	return dp_kernel_is_users() ? regs :
	       current->flags & PF_KTHREAD ?
				      NULL :
				      (struct dp_regs *)task_pt_regs(current);
}

static inline bool dp_port_thread_lives(u32 tid)
{
	return dp_kernel_task_lives(tid);
}

static inline bool dp_port_alone(void)
{
	return false;
}

static inline int dp_port_copy_in(void *to, u64 from, size_t len)
{
	return dp_kernel_read(to, from, len);
}

/* For programs that ask for it alone: nothing else of the hit half writes what is not its own. */
static inline int dp_port_copy_out(u64 to, const void *from, size_t len)
{
	return dp_kernel_write(to, from, len);
}

static inline u64 dp_port_read(void *to, u64 from, u64 len)
{
	u64 first = DP_PAGE - from % DP_PAGE;

	if (first > len)
		first = len;
	if (dp_kernel_read(to, from, first))
		return 0;
	if (len > first &&
	    dp_kernel_read((char *)to + first, from + first, len - first))
		return first;
	return len;
}

static inline bool dp_port_barrier(void)
{
	return false;
}

static inline bool dp_port_readable(u64 addr)
{
	u64 word;

	return !dp_kernel_read(&word, addr, sizeof(word));
}

static inline bool dp_port_writable(u64 addr, u64 len)
{
	return false;
}

static inline bool dp_port_io_read(u16 port, void *to, u32 size)
{
	u32 value = size == 1 ? inb(port) : size == 2 ? inw(port) : inl(port);

	__builtin_memcpy(to, &value, size);
	return true;
}

static inline bool dp_port_io_write(u16 port, const void *from, u32 size)
{
	u32 value = 0;

	__builtin_memcpy(&value, from, size);
	if (size == 1)
		outb((u8)value, port);
	else if (size == 2)
		outw((u16)value, port);
	else
		outl(value, port);
	return true;
}

static inline int dp_port_unlock(u64 addr, u64 size)
{
	return -EOPNOTSUPP;
}

static inline int dp_port_drop(u64 start, u64 size)
{
	return -EOPNOTSUPP;
}

static inline void dp_port_fill(u64 start, u64 size)
{
}

/* NMIs come all the same, and so does what the processor raises. */
static inline u64 dp_port_defer(bool faults)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	return flags;
}

static inline void dp_port_defer_end(u64 deferred)
{
	raw_local_irq_restore((unsigned long)deferred);
}

static inline void dp_port_altstack(u64 *sp, u64 *size)
{
	*sp = *size = 0;
}

static inline void dp_port_set_altstack(u64 sp, u64 size)
{
}

static inline u64 dp_port_ticks(void)
{
	return rdtsc_ordered();
}

static inline u64 dp_port_now(void)
{
	return ktime_get_mono_fast_ns() / NSEC_PER_MSEC;
}

/* Hits do not sleep. */
static inline bool dp_port_wait(const u32 *word, u32 is, u64 ms)
{
	return true;
}

static inline void dp_port_wake(const u32 *word, u32 n)
{
}

#endif
