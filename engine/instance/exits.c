// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * exits: one call of a function, from its entry to one of its exits.
 *
 *   entry ─► an instance of it, or with another return address? that was left otherwise: abandoned
 *         ─► place taken: in doubt ─► counted ─► program: arguments, condition
 *         ─► live
 *   exit  ─► found ─► in doubt ─► counted, program: what is returned, record ─► free
 *   tail jump to a function whose exits are probed ─► tail-called: ends at one of those
 *   unwinder ─► those between the old stack pointer and the new one: unwound
 *
 * At an exit the stack pointer is what it was at the entry, so function and stack
 * pointer are the key (place.h). Where a call is only counted, arch/x86/exits.S does all
 * this, in the same order, for instances that are the only ones at their slots.
 *
 * A signal handler that does not return may take a thread out of this code for good.
 * Each count happens while the instance is in doubt. So a thread that finds the
 * instance later knows that one count may be missing, and tallies it.
 *
 * Neither the return address nor anything else on the stack is changed.
 */
#include "engine/instance/exits.h"
#include "engine/instance/place.h"
#include "engine/hit/hit.h"
#include "engine/hit/program.h"
#include "engine/hit/thread.h"
#include "engine/ring/log.h"
#include "arch/arch.h"
#include "port.h"
#include "engine/layout/site.h"
#include "engine/layout/ring.h"
#include "engine/layout/instance.h"

/* At most this much of a stack is searched at once. */
#define UNWIND_MOST (256ull << 20)
/* No code has an address below this. */
#define LOWEST_CODE 0x10000ull

/* Not inlined: the usual path needs less stack, and the code less room. */
#define APART __attribute__((__noinline__))

/* The return address, or 0 if it cannot be read */
static u64 return_address(const struct dp_hit *hit)
{
	u64 ret;

	if (dp_hit_knows(hit, hit->sp) || dp_port_readable(hit->sp))
		return *(const volatile u64 *)hit->sp;
	return dp_port_read(&ret, hit->sp, DP_WORD) == DP_WORD ? ret : 0;
}

static u32 most_logged(u32 probe)
{
	if (DP_PORT_STUBS && dp_probe(probe)->kind == DP_KIND_STUB)
		return dp_port_stub_room(dp_probe(probe)->user) -
		       (u32)sizeof(struct dp_exit_instance);
	return dp_arena.control.instance_stride -
	       (u32)sizeof(struct dp_exit_instance);
}

/* Fork children can write to the table: read the value once. */
static u32 logged(u32 probe, const struct dp_exit_instance *v)
{
	u32 len = *(const volatile u16 *)&v->len, most = most_logged(probe);

	return len < most ? len : most;
}

/* @head: when the call ended, and where; @ctx: what is logged of that, or NULL */
APART static void tell(struct dp_record *head, const struct dp_exit_instance *v,
		       struct dp_leaving *leaving, const struct dp_context *ctx)
{
	u32 len = logged(head->probe, v), more = ctx ? ctx->vm.lp : 0;
	struct dp_log_part parts[] = { { leaving, sizeof(*leaving) },
				       { v + 1, len },
				       { ctx ? ctx->vm.log : NULL, more } };

	if (more > DP_VM_LOG - len)
		more = parts[2].len = DP_VM_LOG - len;
	head->len = (u16)(sizeof(*leaving) + len + more);
	dp_log_put(head, leaving, parts, ctx ? 3 : 2, false);
}

/* What the program makes of a return: it runs in @ctx, which is NULL otherwise. Return: false: the
 * call makes no record. */
APART static bool judge(u32 group, const struct dp_exit_instance *v,
			enum dp_call_end how, const struct dp_hit *hit,
			u64 latency, struct dp_context **ctx)
{
	const struct dp_probe_entry *p = dp_probe(group);

	*ctx = NULL;
	if (p->leaves && how == DP_CALL_RETURNED && hit)
		*ctx = dp_program_leave(group, hit, latency, v + 1,
					logged(group, v));
	return *ctx ? (*ctx)->vm.end != DP_VM_ABORT : !(p->way & DP_WAY_JUDGED);
}

static u8 state_of(const struct dp_exit_instance *v)
{
	return v->state & (u8)~DP_INSTANCE_TAIL_CALLED;
}

/* Return: false if the code here cannot have written this. */
static bool is_sane(const struct dp_place *at)
{
	const struct dp_exit_instance *v = at->instance;

	return v->group == at->group + 1 && v->len <= most_logged(at->group) &&
	       state_of(v) <= DP_INSTANCE_LIVE;
}

/* From here until the place is free, one count is in doubt. */
static void begin_end(struct dp_exit_instance *v)
{
	dp_place_set(v, v->group, DP_INSTANCE_DOUBT, v->len);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Give up an instance whose beginning or end was left for good, or that makes no sense.
 * Return: true if it is whole. */
static bool is_whole(const struct dp_place *at)
{
	bool live = state_of(at->instance) == DP_INSTANCE_LIVE;

	if (is_sane(at) && live)
		return true;
	dp_tally(at->group, is_sane(at) || !at->instance->word ?
				    DP_TALLY_CUT :
				    DP_TALLY_DAMAGED);
	dp_place_release(at);
	return false;
}

static const u8 tallies[] = {
	[DP_CALL_RETURNED] = DP_TALLY_RETURNED,
	[DP_CALL_UNWOUND] = DP_TALLY_UNWOUND,
	[DP_CALL_ABANDONED] = DP_TALLY_ABANDONED,
	[DP_CALL_TAIL_CALLED] = DP_TALLY_TAIL_CALLED,
};

/* What a call of probe @group returns, just before the instruction that returns. */
APART static u64 returned(u32 group, const struct dp_hit *hit)
{
	return dp_probe(group)->way & DP_WAY_XMM ? dp_xmm(hit->fpstate, 0) :
						   dp_hit_ret(hit);
}

static void count(u32 probe)
{
	dp_hit_count(dp_arena.control.probe_counters + probe);
}

/** struct end - of a call: @ctx: its program has run there; @held: that waits for a reader */
struct end {
	struct dp_context *ctx;
	bool held;
};

/* What the end of a call makes. @slot: where its return address is or was; the rest as of leave() */
APART static struct end finish(struct dp_exit_instance *v, u32 group, u64 slot,
			       enum dp_call_end how, u32 exit,
			       const struct dp_hit *hit)
{
	struct dp_leaving leaving = { .entered = v->ticks,
				      .slot = slot,
				      .how = how };
	bool logs = dp_probe(group)->way & DP_WAY_LOGS;
	struct dp_record head = { .probe = group };
	struct end end = { .held = false };

	/* Time that is waited for the reader is none of the call's. */
	if (logs)
		leaving.waited = dp_log_wait();
	leaving.entered += leaving.waited;
	if (logs || dp_probe(group)->leaves)
		head.ticks = dp_port_ticks();
	begin_end(v);
	if (exit != DP_NO_GROUP)
		count(exit);
	else
		dp_tally(group, tallies[how]);
	if (judge(group, v, how, hit, head.ticks - leaving.entered, &end.ctx) &&
	    logs) {
		leaving.value = hit ? returned(group, hit) : 0;
		head.tid = hit ? dp_hit_tid() : v->tid;
		end.held = end.ctx && dp_hold_begin(end.ctx, hit);
		tell(&head, v, &leaving, end.ctx);
	}
	return end;
}

static void let_go(const struct end *end)
{
	if (end->held)
		dp_hold_end(end->ctx);
	if (end->ctx)
		dp_context_release(end->ctx);
}

/* End a call. @exit: the exit of its own function, whose hits are counted; DP_NO_GROUP:
 * it ends otherwise. @hit: NULL: the thread that finds out did not make the call. */
static void leave(const struct dp_place *at, enum dp_call_end how, u32 exit,
		  const struct dp_hit *hit)
{
	struct end end =
		finish(at->instance, at->group, at->slot, how, exit, hit);

	dp_place_release(at);
	let_go(&end);
}

void dp_exit_instance_returned(struct dp_exit_instance *v, u32 probe,
			       const struct dp_hit *hit)
{
	struct end end = finish(v, probe, hit->sp - DP_WORD, DP_CALL_RETURNED,
				DP_NO_GROUP, hit);

	let_go(&end);
}

/* The function is entered where an instance of it is. That was left otherwise, or its
 * tail target has jumped back to the function. */
static void replace_own(const struct dp_place *p, const struct dp_hit *hit)
{
	const struct dp_exit_instance *v = p->instance;

	if (!is_whole(p))
		return;
	if (v->state & DP_INSTANCE_TAIL_CALLED && return_address(hit) == v->ret)
		leave(p, DP_CALL_TAIL_CALLED, DP_NO_GROUP, hit);
	else
		leave(p, DP_CALL_ABANDONED, DP_NO_GROUP, NULL);
}

/* Has the call been left without our knowledge, now that another function is entered at its slot? Two
 * calls have one frame where a function runs on into another one. They have the same return address,
 * and exits in common. */
static bool has_gone(const struct dp_place *p, u32 probe,
		     const struct dp_hit *hit)
{
	const struct dp_exit_instance *v = p->instance;
	u64 ret;

	if (p->group >= dp_arena.control.nr_probes || !is_sane(p) ||
	    state_of(v) != DP_INSTANCE_LIVE || !v->ret)
		return false;
	/* Another probe of the function that is entered now */
	if (dp_probe(p->group)->site == dp_probe(probe)->site)
		return false;
	ret = return_address(hit);
	if (ret == v->ret)
		return v->state == DP_INSTANCE_LIVE &&
		       !(dp_probe(p->group)->way & DP_WAY_SHARED);
	return ret;
}

/* A call begins at the slot of others. Those that have gone would be in its way for long. */
APART static void replace(u32 probe, const struct dp_hit *hit)
{
	struct dp_place p;

	dp_place_begin(&p, hit->sp);
	while (dp_place_next(&p))
		if (p.group == probe)
			replace_own(&p, hit);
		else if (has_gone(&p, probe, hit))
			leave(&p, DP_CALL_ABANDONED, DP_NO_GROUP, NULL);
}

void dp_exit_instance_fill(struct dp_exit_instance *v, u32 probe,
			   const struct dp_hit *hit, const void *log, u32 len)
{
	v->serial++;
	v->ret = return_address(hit);
	len = len < most_logged(probe) ? len : most_logged(probe);
	dp_bytes_copy(v + 1, log, len);
	if (dp_probe(probe)->way & (DP_WAY_LOGS | DP_WAY_JUDGED)) {
		v->tid = dp_hit_tid();
		v->ticks = dp_port_ticks();
	}
	dp_place_set(v, probe + 1, DP_INSTANCE_LIVE, (u16)len);
}

void dp_exit_instance_begin(u32 probe, const struct dp_site_entry *site,
			    const struct dp_hit *hit)
{
	u64 slot = hit->sp;
	struct dp_place p;
	bool fits = dp_instance_fits(slot);

	if (fits)
		replace(probe, hit);
	if (!fits || !dp_place_claim(&p, probe, slot)) {
		count(probe);
		dp_tally(probe, DP_TALLY_INSTANCES);
		__atomic_fetch_add(&dp_arena.hit.full, 1, __ATOMIC_RELAXED);
		return;
	}
	count(probe);
	if (dp_probe(probe)->program && dp_probe(probe)->start != DP_NO_START)
		dp_program_enter(probe, site, hit, p.instance);
	else
		dp_exit_instance_fill(p.instance, probe, hit, NULL, 0);
	/* The call is not to be tracked. */
	if (p.instance->state == DP_INSTANCE_DOUBT)
		dp_place_release(&p);
}

/* End the calls at a slot that an unwinder leaves, or that were tail-called. @ret: of an
 * unwinder: the return address; 0: the unwinder has put its destination there. */
APART static void end_at(u64 slot, enum dp_call_end how, u64 ret,
			 const struct dp_hit *hit)
{
	struct dp_place at;

	dp_place_begin(&at, slot);
	while (dp_place_next(&at)) {
		const struct dp_exit_instance *v = at.instance;

		if (at.group >= dp_arena.control.nr_probes || !is_sane(&at) ||
		    state_of(v) != DP_INSTANCE_LIVE)
			continue;
		if (how == DP_CALL_UNWOUND ?
			    !ret || v->ret == ret :
			    v->state & DP_INSTANCE_TAIL_CALLED &&
				    v->ret == return_address(hit))
			leave(&at, how, DP_NO_GROUP, hit);
	}
}

/* Return: false if another call is at the place of one that was left otherwise. */
static bool end_own(const struct dp_place *at, u32 probe,
		    const struct dp_hit *hit)
{
	u32 way = dp_probe(probe)->way;
	struct dp_exit_instance *v = at->instance;

	if (way & DP_WAY_SHARED && return_address(hit) != v->ret)
		return false;
	if (!is_whole(at))
		return true;
	if (way & DP_WAY_TAIL_TARGET)
		dp_place_set(v, v->group,
			     DP_INSTANCE_LIVE | DP_INSTANCE_TAIL_CALLED,
			     v->len);
	else
		leave(at, dp_probe_ends(way), probe, hit);
	return true;
}

void dp_exit_instance_end(u32 probe, const struct dp_site_entry *site,
			  const struct dp_hit *hit)
{
	const struct dp_probe_entry *p = dp_probe(probe);
	bool own = p->group != DP_NO_GROUP;
	bool met = !own || p->way & DP_WAY_SHARED;
	bool fits = dp_instance_fits(hit->sp);
	struct dp_place at;

	if (!dp_probe_leaves(p, site, dp_hit_flags(hit), dp_hit_counter(hit)))
		return;
	if (fits && own && dp_place_find(&at, p->group, hit->sp))
		met |= end_own(&at, probe, hit);
	/* Other calls at this slot may have jumped to the function that is left. */
	if (fits && dp_arena.control.tail_target &&
	    !(p->way & DP_WAY_TAIL_TARGET))
		end_at(hit->sp, dp_probe_ends(p->way), 0, hit);
	if (!met && dp_probe(p->group)->enabled)
		dp_tally(p->group, DP_TALLY_UNSEEN);
}

static bool on_alternate(const struct dp_hit *hit, u64 sp)
{
	return sp - hit->alt_sp < hit->alt_size;
}

/* The part of the stack that is about to be left: [*from, *to). Return: false if it is
 * empty or too large, or ends on another stack. */
static bool part_left(u32 way, const struct dp_hit *hit, u64 *from, u64 *to)
{
	struct dp_hit alt = *hit;

	*from = (hit->sp + DP_WORD - 1) & ~(u64)(DP_WORD - 1);
	*to = dp_hit_unwound(hit, way & DP_WAY_UNTIL_DI);
	if (*to <= *from || *to - *from > UNWIND_MOST ||
	    !dp_instance_fits(*from) || !dp_instance_fits(*to & ~7ull))
		return false;
	if (alt.alt_size == DP_ALT_UNKNOWN)
		dp_port_altstack(&alt.alt_sp, &alt.alt_size);
	return on_alternate(&alt, *from) == on_alternate(&alt, *to - 1);
}

/* Calls that have their return addresses from @slot up to @to, in one block */
static void unwind_words(u64 slot, u64 to, const struct dp_hit *hit)
{
	for (; slot + DP_WORD <= to; slot += DP_WORD) {
		u64 word = *(const volatile u64 *)slot;

		if (word >= LOWEST_CODE && word - slot > UNWIND_MOST)
			end_at(slot, DP_CALL_UNWOUND, word, hit);
	}
}

void dp_exit_instance_unwind(u32 probe, const struct dp_hit *hit)
{
	u32 way = dp_probe(probe)->way;
	u64 slot, to, until;

	if (!part_left(way, hit, &slot, &to))
		return;
	if (way & DP_WAY_UNTIL_CX) {
		to -= DP_WORD;
		end_at(to, DP_CALL_UNWOUND, 0, hit);
	}
	for (; slot + DP_WORD <= to; slot = until) {
		bool may = dp_place_may_have(slot, &until);

		if (until > to)
			until = to;
		if (may)
			unwind_words(slot, until, hit);
	}
}
