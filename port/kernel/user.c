// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * user: tasks in user space that come to a probed instruction of a file.
 *
 * What runs here reads and writes the task's memory as far as it is there, with preemption off: no fault brings a
 * page in, and no hit sleeps.
 */
#include "port/kernel/user.h"
#include "arch/arch.h"
#include "engine/hit/hit.h"
#include "port/kernel/compat.h"
#include "port/kernel/hit.h"
#include "port/kernel/nofault.h"
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/thread_info.h>
#include <asm/cpufeature.h>
#include <asm/fpu/api.h>
#include <asm/fpu/types.h>
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

/* --- registers of the floating-point units, which the kernel does not use meanwhile --- */

/* What a unit has that has not been used: control words, and else zeros */
#define X87_CONTROL 0x37f
#define MXCSR 0x1f80

/* The kernel has put them away, without those of units that have not been used. */
static void take_saved(u8 *state)
{
	const struct xregs_state *from = &dp_compat_fpstate()->regs.xsave;
	u64 has = boot_cpu_has(X86_FEATURE_XSAVE) ? from->header.xfeatures :
						    ~0ull;
	u8 *xmm = state + DP_FPSTATE_XMM0, *x87 = state + DP_FPSTATE_X87;

	memcpy(state, &from->i387, DP_XSTATE_LEGACY);
	if (!(has & XFEATURE_MASK_FP)) {
		memset(state, 0, DP_FPSTATE_MXCSR);
		memset(x87, 0, (size_t)(xmm - x87));
		*(u16 *)state = X87_CONTROL;
	}
	if (!(has & XFEATURE_MASK_SSE))
		memset(xmm, 0, DP_NR_XMM * DP_FPSTATE_XMM_SIZE);
	if (!(has & (XFEATURE_MASK_SSE | XFEATURE_MASK_YMM)))
		*(u32 *)(state + DP_FPSTATE_MXCSR) = MXCSR;
}

/* @state: DP_XSTATE_LEGACY bytes. Not each processor writes all of them. */
static void take_vectors(u8 *state)
{
	memset(state, 0, DP_XSTATE_LEGACY);
	fpregs_lock();
	if (test_thread_flag(TIF_NEED_FPU_LOAD))
		take_saved(state);
	else
		__asm__ volatile("fxsave64 (%0)" : : "r"(state) : "memory");
	fpregs_unlock();
}

/* @fpstate: address of the registers of the floating-point units, 0: no program asks for them */
static void dispatch(const struct dp_site_entry *site, struct pt_regs *regs,
		     u64 fpstate)
{
	struct dp_call_frame frame = { .regs = *(struct dp_regs *)regs };
	/* No hit of the kernel's takes it for one that its thread has left: see dp_context_claim(). */
	struct dp_hit hit = { .frame = &frame,
			      .sp = ~0ull,
			      .fpstate = fpstate };
	u8 outer = dp_kernel_enter_user();

	dp_dispatch_site(site, &hit, false);
	dp_kernel_leave(outer);
	put_general(regs, &frame.regs);
}

static noinline void dispatch_vectors(const struct dp_site_entry *site,
				      struct pt_regs *regs)
{
	u8 state[DP_XSTATE_LEGACY] __aligned(16);

	take_vectors(state);
	dispatch(site, regs, (u64)state);
}

void dp_kernel_user_hit(u32 site, struct pt_regs *regs, bool vectors)
{
	preempt_disable();
	if (dp_site_at(site)->runs)
		remember();
	if (vectors)
		dispatch_vectors(dp_site_at(site), regs);
	else
		dispatch(dp_site_at(site), regs, 0);
	preempt_enable();
}

void dp_kernel_user_onward(u32 probe, const struct dp_site_entry *jump,
			   const struct pt_regs *regs)
{
	preempt_disable();
	if (dp_branch_taken(jump, regs->flags, regs->cx))
		dp_tally(probe, DP_TALLY_TAIL_CALLED);
	preempt_enable();
}
