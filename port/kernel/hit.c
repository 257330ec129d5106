// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* hit: threads that come to sites in a kernel's text. */
#include "port/kernel/cpu.h"
#include "port/kernel/hit.h"
#include "engine/hit/call.h"
#include "engine/hit/hit.h"
#include "engine/insn/callout.h"
#include "engine/insn/detour.h"
#include "port/kernel/readers.h"
#include "port.h"
#include <linux/kdebug.h>
#include <linux/notifier.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>

/* USER: a task in user space has come to an instruction of a file, and is in the kernel for that alone. */
enum context { TASK, SOFTIRQ, INTERRUPT, NMI, USER, CONTEXTS };
_Static_assert(CONTEXTS == DP_KERNEL_CONTEXTS, "all kinds have a depth");

DEFINE_PER_CPU(struct dp_kernel_cpu, dp_kernel_cpu);

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

static u8 enter(enum context now)
{
	u8 outer = __this_cpu_read(dp_kernel_cpu.innermost);

	__this_cpu_inc(dp_kernel_cpu.hits);
	__this_cpu_write(dp_kernel_cpu.innermost, now);
	__this_cpu_inc(dp_kernel_cpu.depths[now]);
	return outer;
}

u8 dp_kernel_enter(void)
{
	return enter(context_now());
}

u8 dp_kernel_enter_user(void)
{
	return enter(USER);
}

/* What is no hit may go to another CPU meanwhile; neither is in one of these then. */
bool dp_kernel_is_users(void)
{
	return this_cpu_read(dp_kernel_cpu.innermost) == USER;
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

u32 dp_kernel_thread(void)
{
	u32 task = (u32)current->pid;

	if (!task)
		task = DP_KERNEL_IDLE | raw_smp_processor_id();
	/* Of user space it is the task's own. */
	return dp_kernel_is_users() ?
		       task :
		       task | (u32)__this_cpu_read(dp_kernel_cpu.innermost)
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

/* Kernels have places for a module's own variables where the processor can name them in an instruction. */
const struct dp_percpu *dp_kernel_percpu(void)
{
	static struct dp_percpu percpu;
	const u64 busy = (u64)(uintptr_t)&dp_kernel_cpu,
		  counters = (u64)(uintptr_t)&dp_kernel_counters;

	percpu = (struct dp_percpu){ .busy = (s32)busy,
				     .counters = (s32)counters,
				     .readers = (u64)dp_kernel_readers };
	return (u64)percpu.busy == busy && (u64)percpu.counters == counters ?
		       &percpu :
		       NULL;
}

_Static_assert(DP_KERNEL_READER_BYTES == DP_READER_BYTES &&
		       DP_KERNEL_READER_SIZES == DP_READER_SIZES,
	       "readers are where detours call them");

/* Of detours entry.S has done it. Hits within a hit are told apart. */
static bool count_only(const struct dp_site_entry *site)
{
	if (!site->counts || site->runs || site->calls ||
	    __this_cpu_read(dp_kernel_cpu.hits))
		return false;
	dp_hit_count(dp_site_index(site));
	return true;
}

/* --- hits that do nothing but call one handler --- */

/* Return: the probe that has it, while the CPU is in no other hit, until dp_kernel_handled(); else NULL */
static __always_inline const struct dp_probe_entry *
begin_only(const struct dp_site_entry *site)
{
	const struct dp_probe_entry *p =
		(const void *)__atomic_load_n(&site->fast, __ATOMIC_ACQUIRE);

	return p && p->kind == DP_KIND_KPROBE && !p->post &&
			       dp_kernel_handle() ?
		       p :
		       NULL;
}

/* dp_hit_count(), without a call: the CPU stays the same, and others that count here lock, too. */
static __always_inline void count(u32 index)
{
	__atomic_fetch_add(&__this_cpu_read(dp_kernel_counters)[index], 1,
			   __ATOMIC_RELAXED);
}

/* Return: does the handler say where the code goes on? */
static __always_inline u32 call_only(const struct dp_site_entry *site,
				     u32 index, const struct dp_probe_entry *p,
				     struct dp_regs *regs)
{
	u64 (*pre)(u64 user, struct dp_regs * regs) = (void *)p->pre;
	u32 told;

	count(index);
	dp_regs_set_pc(regs, site->addr + DP_BREAKPOINT_BEHIND);
	told = (u32)pre(p->user, regs);
	dp_kernel_handled();
	return told;
}

static u64 detour_told(struct dp_kernel_place *place)
{
	struct dp_call_frame *frame = &place->frame;
	u32 number = frame->number;

	frame->number = number & DP_CALLOUT_INDEX;
	frame->inner = number & DP_CALLOUT_INNER;
	dp_detour_resume(frame);
	return 1;
}

static __always_inline u64 detour_only(struct dp_kernel_place *place,
				       const struct dp_site_entry *site,
				       const struct dp_probe_entry *p)
{
	struct dp_regs *regs = &place->frame.regs;
	u32 told;

	dp_regs_set_sp(regs, place->sp);
	told = call_only(site, place->frame.number & DP_CALLOUT_INDEX, p, regs);
	if (unlikely(told))
		dp_regs_set_pc(regs, dp_site_place(dp_regs_pc(regs)));
	else if (unlikely(dp_regs_sp(regs) != place->sp))
		return detour_told(place);
	return told;
}

/* What handlers may look at, and change. Word by word: it is far quicker so. */
static inline void copy_regs(struct pt_regs *to, const struct pt_regs *from)
{
#define COPY(reg, field) to->reg = from->reg;
	DP_REGS_OF(COPY)
#undef COPY
	to->ip = from->ip;
}

/* A handler finds the pc behind the breakpoint. Where unwinders would take that for another instruction, it gets a copy. */
static u32 trap_call(const struct dp_site_entry *site,
		     const struct dp_probe_entry *p, struct pt_regs *regs)
{
	u32 index = dp_site_index(site), told;
	struct pt_regs copy;

	if (site->insn_len > DP_BREAKPOINT_BEHIND)
		return call_only(site, index, p, (struct dp_regs *)regs);
	copy_regs(&copy, regs);
	copy.orig_ax = DP_NO_SYSCALL;
	copy.cs = regs->cs;
	copy.ss = regs->ss;
	regs->ip = site->addr;
	told = call_only(site, index, p, (struct dp_regs *)&copy);
	copy_regs(regs, &copy);
	return told;
}

/* Is the breakpoint the site's own, and no byte of another's jump? It may be one where a jump could be. */
static bool is_own(const struct dp_site_entry *site)
{
	u8 armed = __atomic_load_n(&site->armed, __ATOMIC_ACQUIRE);

	return !site->leader &&
	       (armed == DP_SITE_THERE || armed == DP_SITE_TRAPPED);
}

static bool trap_only(struct pt_regs *regs)
{
	u64 addr = regs->ip - DP_BREAKPOINT_BEHIND;
	const struct dp_site_entry *site = dp_site_lookup(addr);
	const struct dp_probe_entry *p;

	if (!site || site->addr != addr || !is_own(site))
		return false;
	if (count_only(site)) {
		regs->ip = dp_site_copy(site, false);
		return true;
	}
	p = begin_only(site);
	if (!p)
		return false;
	regs->ip = trap_call(site, p, regs) ? dp_site_place(regs->ip) :
					      dp_site_copy(site, false);
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
	const u32 flags = DP_CALLOUT_UNCOUNTED | DP_CALLOUT_INNER;
	u32 number = place->frame.number;
	const struct dp_site_entry *site =
		&dp_kernel_sites[number & DP_CALLOUT_INDEX];
	const struct dp_probe_entry *p;
	u64 told;

	place->ip = site->addr;
	place->sp = (u64)(place + 1) + DP_RED_ZONE;
	preempt_disable_notrace();
	p = number & ~(DP_CALLOUT_INDEX | flags) ? NULL : begin_only(site);
	told = likely(p) ? detour_only(place, site, p) : dispatch(place);
	dp_kernel_preempt_on();
	return told;
}

/* Names of fields of struct pt_regs, which is struct dp_regs */
_Static_assert(sizeof(struct pt_regs) == sizeof(struct dp_regs),
	       "the kernel's registers are ours");

static void regs_back(struct pt_regs *regs, const struct dp_mcontext *mc)
{
#define FROM(reg, field) regs->reg = mc->field;
	DP_REGS_OF(FROM)
#undef FROM
}

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
	regs_back(regs, &mc);
	regs->ip = mc.rip;
	return true;
}

/* As of a breakpoint, the kernel has counted an interrupt and an NMI. */
void dp_kernel_watched(struct pt_regs *regs, u32 tag)
{
	struct dp_mcontext mc = { .fpstate = 0 };
	struct dp_trap trap = { .regs = &mc, .at = (u64)regs };
	u8 outer;

	if (user_mode(regs))
		return;
	__this_cpu_inc(dp_kernel_cpu.traps);
	outer = dp_kernel_enter();
	dp_regs_to((struct dp_regs *)regs, &mc);
	mc.rip = regs->ip;
	dp_trap_watched(&trap, tag);
	regs_back(regs, &mc);
	dp_kernel_leave(outer);
	__this_cpu_dec(dp_kernel_cpu.traps);
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
	dp_kernel_readers_begin();
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
