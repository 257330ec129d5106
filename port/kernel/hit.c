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
/* The index of the arena, which stays where it is, too */
static const u32 *slots;
static u32 slots_mask;

/* CPUs that share a shard lock it, as entry.S does. */
static void counters_begin(void)
{
	const struct dp_arena_control *c = &dp_arena.control;
	u64 shard;
	int cpu;

	dp_kernel_sites = dp_site_at(0);
	slots = dp_at(c->hash_off);
	slots_mask = c->hash_mask;
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

/* dp_hit_count(), without a call: the CPU stays the same, and others that count here lock, too. */
static __always_inline void count(u32 index)
{
	__atomic_fetch_add(&__this_cpu_read(dp_kernel_counters)[index], 1,
			   __ATOMIC_RELAXED);
}

/* Of detours entry.S has done it. Hits within a hit are told apart. */
static __always_inline bool count_only(const struct dp_site_entry *site,
				       u32 index)
{
	if (!site->counts || site->runs || site->calls ||
	    __this_cpu_read(dp_kernel_cpu.hits))
		return false;
	count(index);
	return true;
}

/* --- hits that do nothing but call one handler --- */

/* Return: the probe that has it; NULL: there is more to do. While the CPU is in no other hit: dp_kernel_handle() */
static __always_inline const struct dp_probe_entry *
only_handler(const struct dp_site_entry *site)
{
	const struct dp_probe_entry *p =
		(const void *)__atomic_load_n(&site->fast, __ATOMIC_ACQUIRE);

	return p && !((p->kind ^ DP_KIND_KPROBE) | p->post) ? p : NULL;
}

/* @regs have the pc that handlers find. Return: does the handler say where the code goes on? */
static __always_inline u32 call_only(u32 index, const struct dp_probe_entry *p,
				     void *regs)
{
	u64 (*pre)(u64 user, void *regs) = (void *)p->pre;

	count(index);
	return (u32)pre(p->user, regs);
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
	dp_regs_set_pc(regs, site->addr + DP_BREAKPOINT_BEHIND);
	told = call_only(place->frame.number & DP_CALLOUT_INDEX, p, regs);
	dp_kernel_handled();
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

/* Behind an instruction of one byte unwinders would take the pc for that of another one. So the handler gets a copy, which
 * is a function's own: gcc clears what it does not see written, by an instruction that begins slowly. */
static noinline u32 trap_call_copied(u64 addr, u32 index,
				     const struct dp_probe_entry *p,
				     struct pt_regs *regs)
{
	struct pt_regs copy;
	u32 told;

	copy_regs(&copy, regs);
	copy.orig_ax = DP_NO_SYSCALL;
	copy.cs = regs->cs;
	copy.ss = regs->ss;
	regs->ip = addr;
	told = call_only(index, p, &copy);
	copy_regs(regs, &copy);
	return told;
}

/* Is the breakpoint the site's own, and no byte of another's jump? It may be one where a jump could be. */
static __always_inline bool is_own(const struct dp_site_entry *site)
{
	const u32 own = 1u << DP_SITE_THERE | 1u << DP_SITE_TRAPPED;
	u8 armed = __atomic_load_n(&site->armed, __ATOMIC_ACQUIRE);

	return !(site->leader | (~own >> armed & 1));
}

/* dp_site_copy(), of a site that mostly no jump covers */
static __always_inline u64 copy_of(const struct dp_site_entry *site)
{
	return likely(!__atomic_load_n(&site->leader, __ATOMIC_ACQUIRE)) ?
		       __atomic_load_n(&site->copy, __ATOMIC_ACQUIRE) :
		       dp_site_copy(site, false);
}

/* The handler finds the pc behind the breakpoint, where it is. */
static __always_inline void trap_call(const struct dp_site_entry *site,
				      u32 index, const struct dp_probe_entry *p,
				      struct pt_regs *regs)
{
	u32 told = likely(site->insn_len > DP_BREAKPOINT_BEHIND) ?
			   call_only(index, p, regs) :
			   trap_call_copied(regs->ip - DP_BREAKPOINT_BEHIND,
					    index, p, regs);

	dp_kernel_handled_trap();
	regs->ip = unlikely(told) ? dp_site_place(regs->ip) : copy_of(site);
}

static noinline u32 number_behind(u64 addr)
{
	u32 i = dp_site_hash(addr), n;

	while ((n = slots[i & slots_mask]) &&
	       dp_kernel_sites[n - 1].addr != addr)
		i++;
	return n;
}

/* Return: 1 + the number of the site at @addr itself; 0: none */
static __always_inline u32 number_at(u64 addr)
{
	u32 n = slots[dp_site_hash(addr) & slots_mask];

	return likely(n && dp_kernel_sites[n - 1].addr == addr) ?
		       n :
		       number_behind(addr);
}

/* Where returns may not be predicted each call is dear. So the handler's is the only one. */
static __always_inline bool trap_only(struct pt_regs *regs)
{
	u32 n = number_at(regs->ip - DP_BREAKPOINT_BEHIND);
	const struct dp_site_entry *site = &dp_kernel_sites[n - 1];
	const struct dp_probe_entry *p;

	if (unlikely(!n || !is_own(site)))
		return false;
	p = only_handler(site);
	if (likely(p && dp_kernel_handle_trap())) {
		trap_call(site, n - 1, p, regs);
		return true;
	}
	if (!count_only(site, n - 1))
		return false;
	regs->ip = copy_of(site);
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
	p = number & ~(DP_CALLOUT_INDEX | flags) ? NULL : only_handler(site);
	told = likely(p && dp_kernel_handle()) ? detour_only(place, site, p) :
						 dispatch(place);
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

static noinline bool hit_any(struct pt_regs *regs)
{
	u8 outer;
	bool ours;

	__this_cpu_inc(dp_kernel_cpu.traps);
	outer = dp_kernel_enter();
	ours = hit_breakpoint(regs);
	dp_kernel_leave(outer);
	__this_cpu_dec(dp_kernel_cpu.traps);
	return ours;
}

/* Within one page: emulators go from one page's code to another's more slowly. In a section of its own, as an assembler jumps
 * over so much padding, in front of which objtool warns. */
static __aligned(1024)
	__section(".text.notified") int notified(struct notifier_block *block,
						 unsigned long what, void *data)
{
	struct pt_regs *regs = ((struct die_args *)data)->regs;

	if (unlikely((what ^ DIE_INT3) | user_mode(regs)))
		return NOTIFY_DONE;
	return likely(trap_only(regs)) || hit_any(regs) ? NOTIFY_STOP :
							  NOTIFY_DONE;
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
