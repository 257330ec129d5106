// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * user: tasks in user space that come to a probed instruction of a file.
 *
 * What runs here reads and writes the task's memory as far as it is there, with preemption off: no fault brings a
 * page in, and no hit sleeps.
 */
#include "port/kernel/user.h"
#include "engine/hit/hit.h"
#include "port/kernel/hit.h"
#include "port/kernel/nofault.h"
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <asm/msr.h>

u64 dp_kernel_fs_base(void)
{
	u64 base;

	rdmsrl(MSR_FS_BASE, base);
	return base;
}

/* The kernel has its own in force. */
u64 dp_kernel_gs_base(void)
{
	u64 base;

	rdmsrl(MSR_KERNEL_GS_BASE, base);
	return base;
}

/* --- who has hit: a task may end before its record is read --- */

#define TASKS 1024

/** struct task - the last one with such a number; nothing is waited for at a hit */
struct task {
	spinlock_t lock;
	u32 tid, pid;
	char comm[DP_KERNEL_COMM];
};

static struct task tasks[TASKS] = {
	[0 ... TASKS - 1] = { .lock = __SPIN_LOCK_UNLOCKED(tasks.lock) }
};

static void remember(void)
{
	u32 tid = (u32)current->pid;
	struct task *t = &tasks[tid % TASKS];

	if (!spin_trylock(&t->lock))
		return;
	t->tid = tid;
	t->pid = (u32)current->tgid;
	/* Another thread may change it meanwhile. */
	memcpy(t->comm, current->comm, sizeof(t->comm));
	t->comm[sizeof(t->comm) - 1] = '\0';
	spin_unlock(&t->lock);
}

u32 dp_kernel_user_of(u32 tid, char *comm)
{
	struct task *t = &tasks[tid % TASKS];
	u32 pid = 0;

	memset(comm, 0, DP_KERNEL_COMM);
	spin_lock(&t->lock);
	if (t->tid == tid) {
		pid = t->pid;
		memcpy(comm, t->comm, DP_KERNEL_COMM);
	}
	spin_unlock(&t->lock);
	return pid;
}

/* Never those that would give the task a right: flags and segments; nor where it goes on. */
static void put_general(struct pt_regs *to, const struct dp_regs *from)
{
	unsigned long sp = to->sp, flags = to->flags;

#define PUT(reg, field) to->reg = from->reg;
	DP_REGS_OF(PUT)
#undef PUT
	to->sp = sp;
	to->flags = flags;
}

static void dispatch(const struct dp_site_entry *site, struct pt_regs *regs)
{
	struct dp_call_frame frame = { .regs = *(struct dp_regs *)regs };
	/* No hit of the kernel's takes it for one that its thread has left: see dp_context_claim(). */
	struct dp_hit hit = { .frame = &frame, .sp = ~0ull };

	dp_dispatch_site(site, &hit, false);
	put_general(regs, &frame.regs);
}

void dp_kernel_user_hit(u32 site, struct pt_regs *regs)
{
	u8 outer;

	preempt_disable();
	if (dp_site_at(site)->runs)
		remember();
	outer = dp_kernel_enter_user();
	dispatch(dp_site_at(site), regs);
	dp_kernel_leave(outer);
	preempt_enable();
}
