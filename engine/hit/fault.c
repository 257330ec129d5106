// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fault: faults in a handler, or in the copy of a probed instruction.
 *
 * The program has to see the fault at its own instruction. So the pc goes back from the
 * copy before any handler looks.
 */
#include "engine/hit/hit.h"
#include "engine/hit/call.h"
#include "engine/layout/arena.h"
#include "engine/layout/instance.h"
#include "engine/layout/site.h"
#include "engine/layout/base.h"
#include "engine/layout/handler.h"
#include "engine/instance/retprobe.h"
#include "arch/arch.h"
#include "port.h"

struct fault {
	struct dp_stack *stack;
	struct dp_regs *regs;
	const struct dp_site_entry *site;
	const struct dp_jump *jump; /* in whose detour it is */
	u64 trap;
	bool pooled; /* in a pool */
	bool dealt_with;
	bool fast;
};

static bool in(u64 addr, u64 start, u64 size)
{
	return addr - start < size;
}

static bool in_pools(u64 pc)
{
	const struct dp_arena_control *c = &dp_arena.control;
	u32 i;

	for (i = 0; i < c->nr_pools; i++)
		if (in(pc, c->pools[i].start, c->pools[i].size))
			return true;
	return false;
}

/* The program's address of the instruction whose copy in the detour is at @offset */
static u64 behind_jump(const struct dp_jump *j, u64 offset)
{
	int i = 0;

	if (j->duplicate && offset >= j->duplicate)
		return j->duplicated_at;
	while (i + 1 < j->nr && offset >= j->at[i + 1])
		i++;
	return dp_site_at(j->site)->addr + j->offset[i];
}

/* The jump in whose detour @pc is, or NULL. */
static const struct dp_jump *detoured(u64 pc)
{
	const struct dp_jump *jumps = dp_at(dp_arena.control.jump_off);
	u32 i;

	for (i = 1; i < dp_arena.control.nr_jumps; i++)
		if (jumps[i].nr && in(pc, jumps[i].base, jumps[i].len))
			return &jumps[i];
	return NULL;
}

/* The program of a detour has read what is no memory: the interpreter finds that out again, and
 * what it means. */
static bool leaves(const struct dp_jump *j, struct dp_mcontext *mc)
{
	u64 offset = dp_mcontext_pc(mc) - j->base;

	if (!j->leave || offset < j->start || offset >= j->at[0])
		return false;
	dp_mcontext_set_pc(mc, j->base + j->leave);
	return true;
}

/* The site whose copy @pc is in; @addr: the program's own address for it. */
static const struct dp_site_entry *copied(const struct fault *f, u64 pc,
					  u64 *addr)
{
	const struct dp_jump *j = f->jump;
	u32 i;

	if (!f->pooled)
		return NULL;
	if (j) {
		*addr = behind_jump(j, pc - j->base);
		return dp_site_at(j->site);
	}
	for (i = 0; i < dp_arena.control.nr_sites; i++) {
		const struct dp_site_entry *s = dp_site_at(i);

		*addr = s->addr;
		if (in(pc, s->single, s->single_len) ||
		    (s->post && in(pc, s->post, s->post_len)))
			return s;
	}
	return NULL;
}

/* In a detour the instructions of the region lie between its call-outs. A thread in the middle of one,
 * or between two rounds of it, stands at the original. */
static bool behind_detoured(const struct dp_jump *j, u64 offset, u64 *own)
{
	const struct dp_site_entry *s = dp_site_at(j->site);
	int i;

	if (j->duplicate && offset >= j->duplicate_insn) {
		*own = j->duplicated_at;
		return true;
	}
	for (i = 0; i < j->nr; i++) {
		if (offset < j->insn[i] || offset > j->at[i + 1])
			continue;
		*own = s->addr + (offset < j->at[i + 1] ? j->offset[i] :
				  i + 1 < j->nr		? j->offset[i + 1] :
							  j->size);
		return true;
	}
	return false;
}

/* @body: offset behind the instruction */
static bool behind_copy(const struct dp_site_entry *s, u64 offset, u8 body,
			u64 *own)
{
	*own = offset < body ? s->addr : s->addr + s->insn_len;
	return offset <= body;
}

bool dp_copy_behind(u64 pc, u64 *own)
{
	const struct dp_jump *j;
	u32 i;

	*own = pc;
	if (!in_pools(pc))
		return true;
	j = detoured(pc);
	if (j)
		return behind_detoured(j, pc - j->base, own);
	for (i = 0; i < dp_arena.control.nr_sites; i++) {
		const struct dp_site_entry *s = dp_site_at(i);

		if (in(pc, s->single, s->single_len))
			return behind_copy(s, pc - s->single, s->single_body,
					   own);
		if (s->post && in(pc, s->post, s->post_len))
			return behind_copy(s, pc - s->post, s->post_body, own);
	}
	return false;
}

/* On the handler stack: call the site's fault_handlers. */
static u32 ask(void *arg)
{
	struct fault *f = arg;
	struct dp_given given;
	u32 i;

	f->stack->sp = f->regs->sp;
	f->stack->regs = (u64)f->regs;
	f->stack->faulting = (u64)f->stack;
	for (i = f->site->first_probe; i && !f->dealt_with;
	     i = dp_probe(i - 1)->next) {
		const struct dp_probe_entry *p = dp_probe(i - 1);

		if (!p->fault || !p->enabled)
			continue;
		given = dp_guard(p->fault, p->user, (u64)f->regs, f->trap,
				 &f->stack->guard, 0);
		f->dealt_with = !given.up && (u32)given.value;
	}
	f->stack->faulting = 0;
	return 0;
}

/* The alternate stack is hidden while the trap's own registers are on it. */
static void ask_hidden(struct fault *f, const struct dp_trap *trap)
{
	u64 sp = trap->alt_sp, size = trap->alt_size;
	bool in_use = in(trap->at, sp, size);

	if (in_use)
		dp_port_set_altstack(0, 0);
	dp_call_busy(f, ask, f->stack);
	if (in_use)
		dp_port_set_altstack(sp, size);
}

/* A copy has faulted. */
static bool in_copy(struct fault *f, struct dp_trap *trap)
{
	struct dp_mcontext *mc = trap->regs;
	u64 pc = dp_mcontext_pc(mc), addr, to;

	f->site = copied(f, pc, &addr);
	if (!f->site)
		return false;
	dp_mcontext_set_pc(mc, addr);
	if (!f->site->calls || addr != f->site->addr ||
	    dp_hit_who() != DP_WHO_OWNER)
		return false;
	/* A child must not take a stack in memory that its parent has, too. */
	f->stack = dp_stack_mine();
	if (!f->stack || dp_stack_nested(f->stack, dp_mcontext_sp(mc)))
		return false;
	f->regs = (void *)f->stack->trapped;
	dp_regs_from(f->regs, mc);
	ask_hidden(f, trap);
	if (!f->dealt_with)
		return false;
	dp_regs_to(f->regs, mc);
	/* Do not go through the probe again. */
	to = dp_regs_pc(f->regs);
	dp_mcontext_set_pc(mc, to == addr ? pc : dp_site_place(to));
	return true;
}

/* A handler has faulted: its fault_handler may mend that. */
static bool mended(struct fault *f, struct dp_mcontext *mc)
{
	const struct dp_probe_entry *p = dp_probe(f->stack->probe - 1);
	u64 guard = f->stack->guard;
	struct dp_regs *regs = (void *)f->stack->faulted;
	struct dp_given given;

	if (!p->fault)
		return false;
	dp_regs_from(regs, mc);
	f->stack->faulting = (u64)__builtin_frame_address(0);
	given = dp_guard(p->fault, p->user, (u64)regs, f->trap,
			 &f->stack->guard, 0);
	f->stack->faulting = 0;
	f->stack->guard = guard;
	if (given.up || !(u32)given.value)
		return false;
	dp_regs_to(regs, mc);
	dp_mcontext_set_pc(mc, dp_regs_pc(regs));
	return true;
}

/* The thread goes on where the handler was called from. */
static void give_up(struct dp_mcontext *mc, u64 guard)
{
	dp_mcontext_set_pc(mc, (u64)dp_guard_up);
	dp_mcontext_set_sp(mc, guard);
}

/* Registers that a followed handler leaves alone are in place: what has called it must go on. */
static void leave_followed(const struct dp_stack *stack, struct dp_mcontext *mc)
{
	dp_mcontext_set_pc(mc, ((const u64 *)stack)[-1]);
	dp_mcontext_set_sp(mc, (u64)stack);
}

static bool is_followed(const struct dp_stack *stack)
{
	u32 busy = dp_stack_busy(stack);

	return busy == DP_BUSY_FOLLOWED || busy == DP_BUSY_PAIR;
}

/* Give the handler up, unless its fault_handler mends the fault. */
static bool in_handler(struct fault *f, struct dp_mcontext *mc)
{
	u64 guard = f->stack->guard;

	if (mended(f, mc))
		return true;
	if (f->fast) {
		dp_call_give_up(f->stack->probe - 1);
		if (is_followed(f->stack)) {
			leave_followed(f->stack, mc);
			return true;
		}
		dp_mcontext_set_pc(mc, (u64)dp_call_fast_up);
		dp_mcontext_set_up(mc, f->stack->regs, (u64)f->stack);
		return true;
	}
	give_up(mc, guard);
	return true;
}

/* Return: 1 + number of the probe whose handler entry.S has called; 0: it called none. */
static u32 fast_probe(const struct dp_stack *stack)
{
	const struct dp_instance *ri = (void *)stack->instance;
	const struct dp_call_frame *frame = (void *)stack->regs;
	const struct dp_site_entry *site;
	const struct dp_probe_entry *p;
	u32 busy = dp_stack_busy(stack);

	if (busy != DP_BUSY_FAST && busy != DP_BUSY_FOLLOWED)
		return ri ? ((const struct dp_instance_pool *)ri->instance_pool)
					       ->probe +
				       1 :
			    0;
	site = dp_site_at(frame->number);
	p = (void *)site->fast;
	return p ? (u32)(p - dp_probe(0)) + 1 : site->first_probe;
}

static bool in_fast(struct fault *f, struct dp_mcontext *mc)
{
	u32 probe = fast_probe(f->stack);

	if (probe) {
		f->stack->probe = probe;
		f->stack->guard = 0;
		f->fast = true;
	}
	return probe && in_handler(f, mc);
}

/* A fault in a fault_handler gives that up. */
static bool in_fault_handler(const struct dp_stack *stack, u64 sp)
{
	return stack->faulting && dp_stack_busy(stack) &&
	       stack->faulting - sp < DP_STACK_SIZE;
}

/* Is it a jprobe's handler, which has the program's stack? */
static bool in_jumped(const struct dp_stack *stack, u64 sp)
{
	return stack->jumped && stack->probe && sp <= stack->sp &&
	       stack->sp - sp < DP_STACK_SIZE;
}

/* The jprobe's handler ends here, as if it had called jprobe_return(). */
static bool leave_jumped(struct fault *f, struct dp_trap *trap)
{
	if (mended(f, trap->regs))
		return true;
	dp_call_give_up(f->stack->probe - 1);
	return dp_jprobe_leave(trap);
}

/* A handler in C has faulted, or the program. */
static bool raised_here(struct fault *f, struct dp_trap *trap)
{
	struct dp_mcontext *mc = trap->regs;
	u64 sp = dp_mcontext_sp(mc);

	f->stack = dp_stack_known();
	if (f->stack && in_fault_handler(f->stack, sp)) {
		give_up(mc, f->stack->guard);
		return true;
	}
	if (in_copy(f, trap))
		return true;
	f->stack = dp_stack_known();
	if (!f->site && f->stack && in_jumped(f->stack, sp))
		return leave_jumped(f, trap);
	if (f->site || !f->stack || !dp_stack_busy(f->stack) ||
	    !in(sp, dp_stack_low(f->stack), DP_STACK_SIZE - DP_PAGE))
		return false;
	if (dp_stack_busy(f->stack) != DP_BUSY_HANDLER)
		return in_fast(f, mc);
	return f->stack->guard && f->stack->probe && in_handler(f, mc);
}

bool dp_trap_raised(struct dp_trap *trap)
{
	struct fault f = { .trap = dp_mcontext_cause(trap->regs) };
	u64 pc = dp_mcontext_pc(trap->regs);

	if (dp_load_mends(pc)) {
		dp_mcontext_set_pc(trap->regs, dp_load_mends(pc));
		return true;
	}
	f.pooled = in_pools(pc);
	f.jump = f.pooled ? detoured(pc) : NULL;
	if (f.jump && leaves(f.jump, trap->regs))
		return true;
	/* A fork child that runs through copies asks no handler either. */
	if (!dp_wipe.owner)
		return in_copy(&f, trap);
	if (dp_injected_fault(trap->regs))
		return true;
	return dp_arena.control.own_process ? raised_here(&f, trap) :
					      in_copy(&f, trap);
}
