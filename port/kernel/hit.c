// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* hit: threads that come to sites in a kernel's text. */
#include "port/kernel/hit.h"
#include "engine/hit/call.h"
#include "engine/hit/hit.h"
#include "engine/insn/callout.h"
#include "port.h"
#include <linux/kdebug.h>
#include <linux/notifier.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>

enum context { TASK, SOFTIRQ, INTERRUPT, NMI, CONTEXTS = DP_KERNEL_CONTEXTS };

/* How many hits the CPU is in, by what it does; the kind of the innermost one; and how many of them are
 * in traps */
static DEFINE_PER_CPU(u8[CONTEXTS], depths);
static DEFINE_PER_CPU(u8, innermost);
static DEFINE_PER_CPU(u8, traps);

/* The kernel's entry for breakpoints has counted each as an interrupt and an NMI. */
static enum context context_now(void)
{
	unsigned long count =
		(unsigned long)preempt_count() -
		__this_cpu_read(traps) * (NMI_OFFSET + HARDIRQ_OFFSET);

	return count & NMI_MASK	      ? NMI :
	       count & HARDIRQ_MASK   ? INTERRUPT :
	       count & SOFTIRQ_OFFSET ? SOFTIRQ :
					TASK;
}

/* What it calls is in assembly, so it is no jump. */
noinline void dp_kernel_preempt(void)
{
	preempt_enable_notrace();
}

u8 dp_kernel_enter(void)
{
	u8 outer = __this_cpu_read(innermost);
	enum context now = context_now();

	__this_cpu_write(innermost, now);
	__this_cpu_inc(depths[now]);
	return outer;
}

void dp_kernel_leave(u8 outer)
{
	__this_cpu_dec(depths[__this_cpu_read(innermost)]);
	__this_cpu_write(innermost, outer);
}

enum dp_who dp_hit_who(void)
{
	return __this_cpu_read(depths[__this_cpu_read(innermost)]) > 1 ?
		       DP_WHO_VM_CHILD :
		       DP_WHO_OWNER;
}

bool dp_hit_is_owners(void)
{
	return dp_hit_who() == DP_WHO_OWNER;
}

u32 dp_kernel_context(void)
{
	return __this_cpu_read(innermost);
}

u8 dp_kernel_handler_begin(void)
{
	u8 *depth = this_cpu_ptr(&depths[__this_cpu_read(innermost)]);
	u8 was = *depth;

	*depth = 0;
	return was;
}

void dp_kernel_handler_end(u8 was)
{
	__this_cpu_write(depths[__this_cpu_read(innermost)], was);
}

u32 dp_kernel_thread(void)
{
	u32 task = (u32)current->pid;

	if (!task)
		task = DP_KERNEL_IDLE | raw_smp_processor_id();
	return task | (u32)__this_cpu_read(innermost) << DP_KERNEL_CONTEXT;
}

bool dp_hit_leave(u64 *mask)
{
	return false;
}

bool dp_port_interrupted(u64 low, u64 size, u64 *sp)
{
	return false;
}

/**
 * struct dp_kernel_place - what entry.S makes of a call-out
 * @ip, @sp: in the probed code, for unwinders; the registers in @frame are the handlers'
 */
struct dp_kernel_place {
	u64 ip, cs, flags, sp, ss;
	struct dp_call_frame frame;
};

/* entry.S. Interrupts may come; the thread stays on its CPU. */
u64 dp_kernel_detour(struct dp_kernel_place *place);
u64 dp_kernel_detour(struct dp_kernel_place *place)
{
	u32 site = place->frame.number & DP_CALLOUT_INDEX;
	u64 told;
	u8 outer;

	place->ip = dp_site_at(site)->addr;
	place->sp = (u64)(place + 1) + DP_RED_ZONE;
	preempt_disable_notrace();
	outer = dp_kernel_enter();
	told = dp_hit_detour(&place->frame);
	dp_kernel_leave(outer);
	dp_kernel_preempt();
	return told;
}

/* Names of fields of struct pt_regs, which is struct dp_regs */
_Static_assert(sizeof(struct pt_regs) == sizeof(struct dp_regs),
	       "the kernel's registers are ours");

static bool hit_breakpoint(struct pt_regs *regs)
{
	struct dp_mcontext mc = { .fpstate = 0 };
	struct dp_trap trap = { .regs = &mc, .at = (u64)regs };
	bool ours;

	dp_regs_to((struct dp_regs *)regs, &mc);
	mc.rip = regs->ip;
	/* Unwinders take that for where the code is. Behind the breakpoint another instruction may be. */
	regs->ip -= DP_BREAKPOINT_BEHIND;
	ours = dp_trap_hit(&trap, regs->ip, true);
	if (!ours) {
		regs->ip = mc.rip;
		return false;
	}
#define FROM(reg, field) regs->reg = mc.field;
	DP_REGS_OF(FROM)
#undef FROM
	regs->ip = mc.rip;
	return true;
}

static int notified(struct notifier_block *block, unsigned long what,
		    void *data)
{
	struct die_args *args = data;
	bool ours;
	u8 outer;

	if (what != DIE_INT3 || user_mode(args->regs))
		return NOTIFY_DONE;
	__this_cpu_inc(traps);
	outer = dp_kernel_enter();
	ours = hit_breakpoint(args->regs);
	dp_kernel_leave(outer);
	__this_cpu_dec(traps);
	return ours ? NOTIFY_STOP : NOTIFY_DONE;
}

/* Before others: the kernel's own breakpoints have been looked at by then. */
static struct notifier_block block = { .notifier_call = notified,
				       .priority = INT_MAX };

int dp_kernel_trap_begin(void)
{
	int err = dp_kernel_stacks_begin();

	if (err)
		return err;
	err = register_die_notifier(&block);
	if (err)
		dp_kernel_stacks_end();
	return err;
}

void dp_kernel_trap_end(void)
{
	unregister_die_notifier(&block);
	dp_kernel_stacks_end();
}
