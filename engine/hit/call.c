// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * call: one hit of a site whose probes are handlers in C.
 *
 *   detour ─────┐                 ┌─► the detour's copies
 *   breakpoint ─┴─► pre_handlers ─┼─► copy
 *                   on dp_stack   ├─► copy that ends in a breakpoint ─► post_handlers
 *                                 ├─► simulated ─► post_handlers
 *                                 └─► where a pre_handler says
 */
#include "engine/hit/call.h"
#include "engine/hit/hit.h"
#include "engine/hit/thread.h"
#include "engine/instance/instance.h"
#include "engine/instance/retprobe.h"
#include "arch/arch.h"
#include "port.h"
#include "engine/insn/class.h"
#include "engine/layout/instance.h"
#include "engine/layout/arena.h"
#include "engine/layout/site.h"
#include "engine/layout/handler.h"

/* A hit, while its handlers run on the thread's handler stack. */
struct call {
	const struct dp_site_entry *site;
	struct dp_regs *regs;
	struct dp_stack *stack;
	const struct dp_trap *trap; /* the trap that interrupted it */
	bool signal; /* by a trap: everything is saved */
	bool on_alt; /* its frame is on the alternate stack */
	bool after; /* post_handlers */
	bool obeyed; /* a pre_handler has changed ip */
	bool post; /* a post_handler wants the hit */
	u64 *target; /* the word that says where the thread goes on */
	struct dp_frame *begun; /* frame of the call that begins */
	struct dp_own_use *own; /* NULL: handlers */
};

static void miss(const struct dp_site_entry *site, enum dp_tally why)
{
	u32 i;

	for (i = site->first_probe; i; i = dp_probe(i - 1)->next) {
		const struct dp_probe_entry *p = dp_probe(i - 1);

		if (!dp_probe_is_on(i - 1) || !p->nmissed)
			continue;
		dp_tally(i - 1, why);
		if (why != DP_TALLY_SELF)
			__atomic_fetch_add((u64 *)p->nmissed, 1,
					   __ATOMIC_RELAXED);
	}
}

/* Return: true if ip has changed, so that the remaining probes are not called. */
static bool before(struct call *call, u32 probe)
{
	const struct dp_probe_entry *p = dp_probe(probe);

	switch (p->kind) {
	case DP_KIND_RETURN:
		dp_return_enter(probe, call->regs, call->stack, &call->begun);
		return false;
	case DP_KIND_ENTER:
		dp_slot_enter(probe, call->regs, call->stack);
		return false;
	case DP_KIND_EXIT:
		dp_slot_exit(probe, call->site, call->regs, call->stack);
		return false;
	case DP_KIND_JPROBE:
		dp_jprobe_enter(probe, call->site, call->regs, call->stack,
				call->trap);
		return true;
	default:
		call->post |= p->post != 0;
		return p->pre &&
		       (u32)dp_call_handler(call->stack, probe, p->pre, p->user,
					    (u64)call->regs, p->pre_needs);
	}
}

static void each_before(struct call *call)
{
	bool data = call->site->watch;
	u64 addr = data ? dp_regs_pc(call->regs) : call->site->addr;
	u32 i;

	for (i = call->site->first_probe; i && !call->obeyed;
	     i = dp_probe(i - 1)->next) {
		if (!dp_probe_is_handler(dp_probe(i - 1)) ||
		    !dp_probe_is_on(i - 1))
			continue;
		dp_regs_set_pc(call->regs,
			       data ? addr : addr + DP_BREAKPOINT_BEHIND);
		call->obeyed = before(call, i - 1);
	}
	if (!call->obeyed)
		dp_regs_set_pc(call->regs, addr);
}

/* Send the thread on through the stub of the call that begins, where that is possible. */
static void track(struct call *call)
{
	const struct dp_jump *j = dp_jump_of(call->site);

	if (call->target && !call->obeyed &&
	    dp_regs_sp(call->regs) == call->begun->slot)
		*call->target =
			dp_return_through(call->begun, j->base + j->insn[0]);
}

static void each_after(struct call *call)
{
	u32 i;

	for (i = call->site->first_probe; i; i = dp_probe(i - 1)->next) {
		const struct dp_probe_entry *p = dp_probe(i - 1);

		if (p->kind == DP_KIND_KPROBE && p->post &&
		    dp_probe_is_on(i - 1))
			dp_call_handler(call->stack, i - 1, p->post, p->user,
					(u64)call->regs, p->post_needs);
	}
}

static bool has_faulted(u32 probe)
{
	return __atomic_load_n(&dp_probe_state(probe)->status,
			       __ATOMIC_RELAXED) &
	       DP_PROBE_FAULTED;
}

/* The thread is busy by now, so the library waits for it before a function goes. */
static void own(const struct call *call)
{
	struct dp_own_use *o = call->own;
	u64 function = __atomic_load_n(&o->entry->function, __ATOMIC_ACQUIRE);

	call->stack->x87 = !call->signal;
	o->gone = !function || o->entry->what != o->what;
	if (o->gone)
		return;
	o->value = dp_call_handler(call->stack, o->probe, function,
				   o->entry->user, (u64)o->argument,
				   DP_STATE_ALL);
	o->called = true;
	o->faulted = has_faulted(o->probe);
}

/* On the thread's own handler stack. */
static u32 run(void *arg)
{
	struct call *call = arg;
	struct dp_stack *stack = call->stack;
	bool hidden;

	stack->sp = dp_regs_sp(call->regs);
	stack->regs = (u64)call->regs;
	stack->site = (u64)call->site;
	stack->x87 = call->site->x87 && !call->signal;
	stack->faulting = 0;
	stack->after = call->after;
	__asm__ volatile("" : : : "memory");
	hidden = dp_call_hide_alternate(stack, call->on_alt);
	if (call->own)
		own(call);
	else if (call->after)
		each_after(call);
	else
		each_before(call);
	if (call->begun)
		track(call);
	/* The kernel may show it again afterwards; twice does no harm. */
	if (hidden)
		dp_call_show_alternate(stack);
	__asm__ volatile("" : : : "memory");
	return stack->jumped ? DP_BUSY_HANDLER : 0;
}

/* Return: false if no handler may run. */
static bool enter(struct call *call, u64 sp)
{
	call->stack = dp_stack_mine();
	if (!call->stack) {
		miss(call->site, DP_TALLY_CONTEXT);
		return false;
	}
	if (dp_stack_nested(call->stack, sp)) {
		miss(call->site, dp_stack_busy(call->stack) == DP_BUSY_SELF ?
					 DP_TALLY_SELF :
					 DP_TALLY_RECURSED);
		return false;
	}
	dp_abandoned_recover(call->stack);
	if (!call->stack->zone_size)
		dp_stack_set_zone(call->stack, sp);
	/* A handler that was left by siglongjmp has left it hidden. */
	if (call->stack->alt_off)
		dp_call_show_alternate(call->stack);
	return true;
}

/* Begin a trap's handlers. The kernel will restore the alternate stack that @trap has. */
static bool enter_trap(struct call *call, struct dp_trap *trap)
{
	struct dp_stack *stack = dp_stack_known();
	bool off = stack && stack->alt_off;

	call->signal = true;
	call->trap = trap;
	dp_stack_alternate(trap);
	if (!enter(call, dp_mcontext_sp(trap->regs)))
		return false;
	if (off) {
		trap->alt_sp = stack->alt_sp;
		trap->alt_size = stack->alt_size;
		trap->alt_changed = true;
	}
	call->on_alt = dp_stack_on_alternate(call->stack, trap->at);
	return true;
}

static void go(struct call *call)
{
	/* In a trap, signals wait already. */
	if (call->signal)
		dp_call_busy(call, run, call->stack);
	else
		dp_call_away(call->stack, dp_regs_sp(call->regs), call, run);
}

/* Where a trapped thread goes on after its pre_handlers. While a jump may stand there, no
 * copy leads back behind the one instruction. Then the post_handler of a probe that is
 * being registered waits for the next hit. */
static void go_on(struct call *call, struct dp_trap *trap, bool waits)
{
	const struct dp_site_entry *site = call->site;
	u64 copy = __atomic_load_n(&site->copy, __ATOMIC_ACQUIRE);
	bool post = call->post && copy == site->single;

	if (call->obeyed) {
		dp_mcontext_set_pc(trap->regs, dp_regs_pc(call->regs));
	} else if (post && dp_simulate(site, call->regs)) {
		call->after = true;
		go(call);
		dp_mcontext_set_pc(trap->regs, dp_regs_pc(call->regs));
	} else {
		dp_mcontext_set_pc(trap->regs,
				   dp_site_copy(site, call->post || waits));
	}
	dp_regs_to(call->regs, trap->regs);
}

static bool wants_after(const struct dp_site_entry *site)
{
	u32 i;

	for (i = site->first_probe; i; i = dp_probe(i - 1)->next)
		if (dp_probe(i - 1)->kind == DP_KIND_KPROBE &&
		    dp_probe(i - 1)->post && dp_probe_is_on(i - 1))
			return true;
	return false;
}

void dp_call_go_on(const struct dp_site_entry *site, struct dp_regs *regs,
		   struct dp_stack *stack, struct dp_trap *trap)
{
	struct call call = { .site = site,
			     .regs = regs,
			     .stack = stack,
			     .trap = trap,
			     .signal = true,
			     .post = wants_after(site) };

	dp_stack_alternate(trap);
	call.on_alt = dp_stack_on_alternate(stack, trap->at);
	go_on(&call, trap, false);
	dp_mcontext_set_pc(trap->regs,
			   dp_site_place(dp_mcontext_pc(trap->regs)));
}

static bool enter_hit(struct call *call, const struct dp_hit *hit)
{
	return hit->trap ? enter_trap(call, hit->trap) : enter(call, hit->sp);
}

enum dp_goes dp_call_site(const struct dp_site_entry *site, struct dp_hit *hit)
{
	struct call call = { .site = site, .target = hit->target };

	if (!enter_hit(&call, hit))
		return DP_GOES_ON;
	call.regs = dp_hit_regs(hit, (void *)call.stack->trapped);
	go(&call);
	if (hit->trap)
		go_on(&call, hit->trap, hit->waits);
	else
		dp_hit_put_regs(hit, call.regs);
	return call.obeyed || hit->trap ? DP_GOES_AS_TOLD : DP_GOES_ON;
}

void dp_call_after(const struct dp_site_entry *site, struct dp_trap *trap)
{
	struct call call = { .site = site, .after = true };
	u64 behind = site->addr + site->insn_len;

	dp_mcontext_set_pc(trap->regs, behind);
	if (!enter_trap(&call, trap))
		return;
	call.regs = (void *)call.stack->trapped;
	dp_regs_from(call.regs, trap->regs);
	if (site->class == DP_INSN_SYSCALL)
		dp_regs_behind_syscall(call.regs, behind);
	go(&call);
	dp_regs_to(call.regs, trap->regs);
	/* A handler may have sent it between the bytes of a jump. */
	dp_mcontext_set_pc(trap->regs, dp_site_place(dp_regs_pc(call.regs)));
}

bool dp_call_own(const struct dp_site_entry *site, const struct dp_hit *hit,
		 struct dp_own_use *own)
{
	struct call call = { .site = site, .own = own };

	if (!enter_hit(&call, hit))
		return false;
	call.regs = dp_hit_regs(hit, (void *)call.stack->trapped);
	go(&call);
	return own->called;
}
