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

/**
 * struct cpu - what a CPU does
 * @depths: how many hits it is in, by kind of context, but for those that have called a handler; @innermost: the
 *          kind of the innermost one
 * @hits: how many in all; @handlers: handlers in C that run, those of hits that are not in @hits too
 * @traps: how many hits are in traps
 */
struct cpu {
	u8 hits, handlers, innermost, traps;
	u8 depths[CONTEXTS];
};

/* For entry.S, as the two below */
DECLARE_PER_CPU(struct cpu, dp_kernel_cpu);
DEFINE_PER_CPU(struct cpu, dp_kernel_cpu);
_Static_assert(!offsetof(struct cpu, hits), "entry.S reads the first byte");

/* The kernel's entry for breakpoints has counted each as an interrupt and an NMI. */
static enum context context_now(void)
{
	unsigned long count = (unsigned long)preempt_count() -
			      __this_cpu_read(dp_kernel_cpu.traps) *
				      (NMI_OFFSET + HARDIRQ_OFFSET);

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
	u8 outer = __this_cpu_read(dp_kernel_cpu.innermost);
	enum context now = context_now();

	__this_cpu_inc(dp_kernel_cpu.hits);
	__this_cpu_write(dp_kernel_cpu.innermost, now);
	__this_cpu_inc(dp_kernel_cpu.depths[now]);
	return outer;
}

void dp_kernel_leave(u8 outer)
{
	__this_cpu_dec(
		dp_kernel_cpu.depths[__this_cpu_read(dp_kernel_cpu.innermost)]);
	__this_cpu_write(dp_kernel_cpu.innermost, outer);
	__this_cpu_dec(dp_kernel_cpu.hits);
}

enum dp_who dp_hit_who(void)
{
	return __this_cpu_read(dp_kernel_cpu.depths[__this_cpu_read(
		       dp_kernel_cpu.innermost)]) > 1 ?
		       DP_WHO_VM_CHILD :
		       DP_WHO_OWNER;
}

bool dp_hit_is_owners(void)
{
	return dp_hit_who() == DP_WHO_OWNER;
}

u32 dp_kernel_context(void)
{
	return __this_cpu_read(dp_kernel_cpu.innermost);
}

u8 dp_kernel_handler_begin(void)
{
	u8 *depth = this_cpu_ptr(
		&dp_kernel_cpu.depths[__this_cpu_read(dp_kernel_cpu.innermost)]);
	u8 was = *depth;

	*depth = 0;
	__this_cpu_inc(dp_kernel_cpu.handlers);
	return was;
}

void dp_kernel_handler_end(u8 was)
{
	__this_cpu_dec(dp_kernel_cpu.handlers);
	__this_cpu_write(
		dp_kernel_cpu.depths[__this_cpu_read(dp_kernel_cpu.innermost)],
		was);
}

bool dp_kernel_handles(void)
{
	return __this_cpu_read(dp_kernel_cpu.handlers);
}

bool dp_kernel_handle(void)
{
	if (__this_cpu_read(dp_kernel_cpu.hits) ||
	    __this_cpu_read(dp_kernel_cpu.handlers))
		return false;
	__this_cpu_inc(dp_kernel_cpu.handlers);
	barrier();
	return true;
}

void dp_kernel_handled(void)
{
	barrier();
	__this_cpu_dec(dp_kernel_cpu.handlers);
}

u32 dp_kernel_thread(void)
{
	u32 task = (u32)current->pid;

	if (!task)
		task = DP_KERNEL_IDLE | raw_smp_processor_id();
	return task | (u32)__this_cpu_read(dp_kernel_cpu.innermost)
			      << DP_KERNEL_CONTEXT;
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

/* --- hits that do nothing but count --- */

/* Where a CPU's hits are counted, by site; and the sites */
DECLARE_PER_CPU(u64 *, dp_kernel_counters);
DEFINE_PER_CPU(u64 *, dp_kernel_counters);
extern const struct dp_site_entry *dp_kernel_sites;
const struct dp_site_entry *dp_kernel_sites;

/* CPUs that share a shard lock it, as entry.S does. */
static void counters_begin(void)
{
	const struct dp_arena_control *c = &dp_arena.control;
	u64 shard;
	int cpu;

	dp_kernel_sites = dp_site_at(0);
	for_each_possible_cpu(cpu)
	{
		shard = ((u32)cpu & c->shard_mask) + c->shard_mask + 1;
		per_cpu(dp_kernel_counters, cpu) =
			dp_at(c->counter_off + shard * c->shard_stride);
	}
}

/* Of detours entry.S has done it. Hits within a hit are told apart. */
static bool count_only(const struct dp_site_entry *site)
{
	if (!site->counts || site->runs || site->calls ||
	    __this_cpu_read(dp_kernel_cpu.hits))
		return false;
	dp_hit_count(dp_site_index(site));
	return true;
}

/* A handler has said where the code goes on. Return: there; of an instruction that a jump displaces, its place in the
 * detour. No breakpoint is inside of a jump that was written while all CPUs were stopped. */
static u64 place_of(u64 ip)
{
	const struct dp_site_entry *site;
	const struct dp_jump *j;
	u64 back;
	u32 i;

	for (back = 1; back < DP_JUMP_SIZE; back++) {
		site = dp_site_lookup(ip - back);
		if (!site || site->addr != ip - back || !dp_site_jumps(site))
			continue;
		j = dp_jump_of(site);
		for (i = 1; i < j->nr; i++)
			if (j->offset[i] == back)
				return j->base + j->at[i];
	}
	return ip;
}

/* --- hits that do nothing but call one handler --- */

/* Return: the probe that has it, while the CPU is in no other hit, until dp_kernel_handled(); else NULL */
static const struct dp_probe_entry *begin_only(const struct dp_site_entry *site)
{
	const struct dp_probe_entry *p =
		(const void *)__atomic_load_n(&site->fast, __ATOMIC_ACQUIRE);

	return p && p->kind == DP_KIND_KPROBE && !p->post &&
			       dp_kernel_handle() ?
		       p :
		       NULL;
}

/* Return: does the handler say where the code goes on? */
static u32 call_only(const struct dp_site_entry *site,
		     const struct dp_probe_entry *p, struct dp_regs *regs)
{
	u64 (*pre)(u64 user, struct dp_regs * regs) = (void *)p->pre;
	u32 told;

	dp_hit_count(dp_site_index(site));
	dp_regs_set_pc(regs, site->addr + DP_BREAKPOINT_BEHIND);
	told = (u32)pre(p->user, regs);
	dp_kernel_handled();
	return told;
}

static bool detour_only(struct dp_kernel_place *place,
			const struct dp_site_entry *site, u64 *told)
{
	const u32 flags = DP_CALLOUT_UNCOUNTED | DP_CALLOUT_INNER;
	struct dp_call_frame *frame = &place->frame;
	const struct dp_probe_entry *p;
	u32 number = frame->number;

	p = number & ~(DP_CALLOUT_INDEX | flags) ? NULL : begin_only(site);
	if (!p)
		return false;
	dp_regs_set_sp(&frame->regs, place->sp);
	*told = call_only(site, p, &frame->regs);
	if (*told || dp_regs_sp(&frame->regs) == place->sp)
		return true;
	frame->number = number & DP_CALLOUT_INDEX;
	frame->inner = number & DP_CALLOUT_INNER;
	dp_detour_resume(frame);
	*told = 1;
	return true;
}

/* What handlers may look at, and change. Word by word: it is far quicker so. */
static inline void copy_regs(struct pt_regs *to, const struct pt_regs *from)
{
#define COPY(reg, field) to->reg = from->reg;
	DP_REGS_OF(COPY)
#undef COPY
	to->ip = from->ip;
}

/* Is the breakpoint the site's own, and no byte of another's jump? It may be one where a jump could be. */
static bool is_own(const struct dp_site_entry *site)
{
	u8 armed = __atomic_load_n(&site->armed, __ATOMIC_ACQUIRE);

	return !site->leader &&
	       (armed == DP_SITE_THERE || armed == DP_SITE_TRAPPED);
}

/* Handlers get a copy of the registers: see hit_breakpoint(). */
static bool trap_only(struct pt_regs *regs)
{
	u64 addr = regs->ip - DP_BREAKPOINT_BEHIND;
	const struct dp_site_entry *site = dp_site_lookup(addr);
	const struct dp_probe_entry *p;
	struct pt_regs copy;

	if (!site || site->addr != addr || !is_own(site))
		return false;
	if (count_only(site)) {
		regs->ip = dp_site_copy(site, false);
		return true;
	}
	p = begin_only(site);
	if (!p)
		return false;
	copy_regs(&copy, regs);
	copy.orig_ax = DP_NO_SYSCALL;
	copy.cs = regs->cs;
	copy.ss = regs->ss;
	regs->ip = addr;
	copy.ip = call_only(site, p, (struct dp_regs *)&copy) ?
			  place_of(copy.ip) :
			  dp_site_copy(site, false);
	copy_regs(regs, &copy);
	return true;
}

/* --- all hits --- */

static u64 dispatch(struct dp_kernel_place *place)
{
	u8 outer = dp_kernel_enter();
	u64 told = dp_hit_detour(&place->frame);

	dp_kernel_leave(outer);
	return told;
}

/* entry.S. Interrupts may come; the thread stays on its CPU. */
u64 dp_kernel_detour(struct dp_kernel_place *place);
u64 dp_kernel_detour(struct dp_kernel_place *place)
{
	const struct dp_site_entry *site =
		dp_site_at(place->frame.number & DP_CALLOUT_INDEX);
	u64 told;

	place->ip = site->addr;
	place->sp = (u64)(place + 1) + DP_RED_ZONE;
	preempt_disable_notrace();
	if (!detour_only(place, site, &told))
		told = dispatch(place);
	if (told)
		place->frame.regs.ip = place_of(place->frame.regs.ip);
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
	regs->ip = place_of(mc.rip);
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
	__this_cpu_inc(dp_kernel_cpu.traps);
	ours = trap_only(args->regs);
	if (!ours) {
		outer = dp_kernel_enter();
		ours = hit_breakpoint(args->regs);
		dp_kernel_leave(outer);
	}
	__this_cpu_dec(dp_kernel_cpu.traps);
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
	counters_begin();
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
