// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * exits: one call of a function, from its entry to one of its exits.
 *
 *   entry ─► an instance is there already? that was left otherwise: abandoned
 *         ─► key into the table ─► counted ─► program: arguments, condition
 *         ─► complete
 *   exit  ─► key found ─► ending ─► counted, program: what is returned, record ─► free
 *   tail jump to a function whose exits are probed ─► tail-called: ends at one of those
 *   unwinder ─► those between the old stack pointer and the new one: unwound
 *
 * At an exit the stack pointer is what it was at the entry, so function and stack
 * pointer are the key. Only the thread on that stack looks for the key. So threads
 * contend only for free words of the table.
 *
 * A signal handler that does not return may take a thread out of this code for good.
 * Each count happens while the key is in the table and the instance is incomplete or
 * ending. So a thread that finds the instance later knows that one count is in doubt,
 * and tallies it.
 *
 * Neither the return address nor anything else on the stack is changed.
 */
#include "engine/instance/exits.h"
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
#define APART __attribute__((noinline))

/* A key's place, and the line where it should be. During a search @way is one ahead. */
struct place {
	const struct dp_instance_table *t;
	u32 table, home, step, way;
};

static void in_table(struct place *p, u32 table, u64 key)
{
	p->table = table;
	p->t = &dp_arena.control.instance_tables[table];
	p->home = dp_instance_hash(key) & p->t->line_mask;
	p->step = p->way = 0;
}

/* The newest table. Return: false if there is none. */
static bool start(struct place *p, u64 key)
{
	u32 nr = __atomic_load_n(&dp_arena.control.nr_instance_tables,
				 __ATOMIC_ACQUIRE);

	if (nr)
		in_table(p, nr - 1, key);
	return nr;
}

static u32 line_number(const struct place *p)
{
	return (p->home + p->step) & p->t->line_mask;
}

static struct dp_instance_line *line_at(const struct place *p, u32 number)
{
	return (struct dp_instance_line *)p->t->lines + number;
}

static struct dp_instance_line *line_of(const struct place *p)
{
	return line_at(p, line_number(p));
}

/* The key that has just been found */
static u64 *key_of(const struct place *p)
{
	return &line_of(p)->key[p->way - 1];
}

static struct dp_exit_instance *instance_of(const struct place *p)
{
	u64 index = (u64)line_number(p) * DP_INSTANCE_WAYS + p->way - 1;

	return (void *)(p->t->instances +
			index * dp_arena.control.instance_stride);
}

/* Count the keys that belong in a line and are in other lines. */
static void displace(const struct place *p, u32 by)
{
	__atomic_fetch_add(&line_at(p, p->home)->displaced, by,
			   __ATOMIC_RELAXED);
}

static bool further(struct place *p, u64 key)
{
	p->way = 0;
	if ((p->step || __atomic_load_n(&line_at(p, p->home)->displaced,
					__ATOMIC_RELAXED)) &&
	    ++p->step < DP_INSTANCE_REACH)
		return true;
	if (!p->table)
		return false;
	in_table(p, p->table - 1, key);
	return true;
}

/* Find the next key that equals @key in the bits of @mask. */
APART static bool next(struct place *p, u64 key, u64 mask)
{
	do {
		const struct dp_instance_line *l = line_of(p);
		u32 way = p->way;

		while (way < DP_INSTANCE_WAYS &&
		       ((__atomic_load_n(&l->key[way], __ATOMIC_RELAXED) ^ key) &
			mask))
			way++;
		p->way = way + 1;
		if (way < DP_INSTANCE_WAYS)
			return true;
	} while (further(p, key));
	return false;
}

static bool find(struct place *p, u64 key)
{
	return start(p, key) && next(p, key, ~0ull);
}

static bool take(struct place *p, u64 key)
{
	struct dp_instance_line *l = line_of(p);

	for (p->way = 0; p->way < DP_INSTANCE_WAYS;) {
		u64 is = 0;

		if (__atomic_compare_exchange_n(&l->key[p->way++], &is, key,
						false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return true;
	}
	return false;
}

static bool claim_in(struct place *p, u64 key)
{
	if (take(p, key))
		return true;
	displace(p, 1);
	while (++p->step < DP_INSTANCE_REACH)
		if (take(p, key))
			return true;
	displace(p, -1u);
	return false;
}

static bool claim(struct place *p, u64 key)
{
	if (!start(p, key))
		return false;
	while (!claim_in(p, key)) {
		if (!p->table)
			return false;
		in_table(p, p->table - 1, key);
	}
	return true;
}

APART static void release(const struct place *p)
{
	__atomic_store_n(&instance_of(p)->slot, 0, __ATOMIC_RELAXED);
	__atomic_store_n(key_of(p), 0, __ATOMIC_RELEASE);
	if (p->step)
		displace(p, -1u);
}

/* The return address, or 0 if it cannot be read */
static u64 return_address(const struct dp_hit *hit)
{
	u64 ret;

	if (dp_hit_knows(hit, hit->sp) || dp_port_readable(hit->sp))
		return *(const volatile u64 *)hit->sp;
	return dp_port_read(&ret, hit->sp, DP_WORD) == DP_WORD ? ret : 0;
}

static u32 most_logged(void)
{
	return dp_arena.control.instance_stride -
	       (u32)sizeof(struct dp_exit_instance);
}

/* Fork children can write to the table: read the value once. */
static u32 logged(const struct dp_exit_instance *v)
{
	u32 len = *(const volatile u16 *)&v->len;

	return len < most_logged() ? len : most_logged();
}

/* @head: when the call ended, and where; @ctx: what is logged of that, or NULL */
APART static void tell(struct dp_record *head, const struct dp_exit_instance *v,
		       struct dp_leaving *leaving, const struct dp_context *ctx)
{
	u32 len = logged(v), more = ctx ? ctx->vm.lp : 0;
	struct dp_log_part parts[] = { { leaving, sizeof(*leaving) },
				       { v + 1, len },
				       { ctx ? ctx->vm.log : NULL, more } };

	if (more > DP_VM_LOG - len)
		more = parts[2].len = DP_VM_LOG - len;
	head->len = (u16)(sizeof(*leaving) + len + more);
	dp_log_put(head, &leaving->entered, parts, ctx ? 3 : 2, false);
}

/* What the program makes of a return: it runs in @ctx, which is NULL otherwise. Return: false: the
 * call makes no record. */
APART static bool judge(u32 group, enum dp_call_end how,
			const struct dp_hit *hit, u64 latency,
			struct dp_context **ctx)
{
	const struct dp_probe_entry *p = dp_probe(group);

	*ctx = NULL;
	if (p->leaves && how == DP_CALL_RETURNED && hit)
		*ctx = dp_program_leave(group, hit, latency);
	return *ctx ? (*ctx)->vm.end != DP_VM_ABORT : !(p->way & DP_WAY_JUDGED);
}

/* Return: false if the code here cannot have written this. */
static bool is_sane(const struct dp_exit_instance *v, u64 slot)
{
	return v->slot == slot && v->len <= most_logged();
}

/* From here until the key is gone, one count is in doubt. */
static void begin_end(struct dp_exit_instance *v)
{
	__atomic_store_n(&v->ending, 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Give up an instance whose beginning or end was left for good, or that makes no sense.
 * Return: true if it is whole. */
static bool is_whole(const struct place *at, u32 group, u64 slot)
{
	const struct dp_exit_instance *v = instance_of(at);

	if (is_sane(v, slot) && !v->ending)
		return true;
	dp_tally(group, !v->slot || is_sane(v, slot) ? DP_TALLY_CUT :
						       DP_TALLY_DAMAGED);
	release(at);
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

/* End a call. @exit: the exit of its own function, whose hits are counted; DP_NO_GROUP:
 * it ends otherwise. @hit: NULL: the thread that finds out did not make the call. */
APART static void leave(const struct place *at, u32 group, enum dp_call_end how,
			u32 exit, const struct dp_hit *hit)
{
	struct dp_exit_instance *v = instance_of(at);
	struct dp_leaving leaving = { .entered = v->ticks, .how = how };
	bool logs = dp_probe(group)->way & DP_WAY_LOGS;
	struct dp_record head = { .probe = group };
	struct dp_context *ctx;

	/* Time that is waited for the reader is none of the call's. */
	if (logs)
		leaving.entered += dp_log_wait();
	if (logs || dp_probe(group)->leaves)
		head.ticks = dp_port_ticks();
	begin_end(v);
	if (exit != DP_NO_GROUP)
		count(exit);
	else
		dp_tally(group, tallies[how]);
	if (judge(group, how, hit, head.ticks - leaving.entered, &ctx) &&
	    logs) {
		leaving.value = hit ? returned(group, hit) : 0;
		head.tid = hit ? dp_hit_tid() : v->tid;
		tell(&head, v, &leaving, ctx);
	}
	if (ctx)
		dp_context_release(ctx);
	release(at);
}

/* The function is entered where an instance of it is. That was left otherwise, or its
 * tail target has jumped back to the function. */
APART static void replace(u32 probe, const struct dp_hit *hit)
{
	u64 slot = hit->sp;
	const struct dp_exit_instance *v;
	struct place p;

	if (!find(&p, dp_instance_key(probe, slot)) ||
	    !is_whole(&p, probe, slot))
		return;
	v = instance_of(&p);
	if (v->tail_called && return_address(hit) == v->ret)
		leave(&p, probe, DP_CALL_TAIL_CALLED, DP_NO_GROUP, hit);
	else
		leave(&p, probe, DP_CALL_ABANDONED, DP_NO_GROUP, NULL);
}

void dp_exit_instance_fill(struct dp_exit_instance *v, u32 probe,
			   const struct dp_hit *hit, const void *log, u32 len)
{
	v->serial++;
	v->ret = return_address(hit);
	len = len < most_logged() ? len : most_logged();
	v->len = (u16)len;
	v->tail_called = v->ending = 0;
	dp_bytes_copy(v + 1, log, len);
	if (dp_probe(probe)->way & (DP_WAY_LOGS | DP_WAY_JUDGED)) {
		v->tid = dp_hit_tid();
		v->ticks = dp_port_ticks();
	}
	__atomic_store_n(&v->slot, hit->sp, __ATOMIC_RELEASE);
}

void dp_exit_instance_begin(u32 probe, const struct dp_site_entry *site,
			    const struct dp_hit *hit)
{
	u64 slot = hit->sp;
	struct dp_exit_instance *v;
	struct place p;
	bool fits = dp_instance_fits(slot);

	if (fits)
		replace(probe, hit);
	if (!fits || !claim(&p, dp_instance_key(probe, slot))) {
		count(probe);
		dp_tally(probe, DP_TALLY_INSTANCES);
		__atomic_fetch_add(&dp_arena.hit.full, 1, __ATOMIC_RELAXED);
		return;
	}
	count(probe);
	v = instance_of(&p);
	if (dp_probe(probe)->program && dp_probe(probe)->start != DP_NO_START)
		dp_program_enter(probe, site, hit, v);
	else
		dp_exit_instance_fill(v, probe, hit, NULL, 0);
	/* The call is not to be tracked. */
	if (!v->slot)
		release(&p);
}

/* End the calls at a slot that an unwinder leaves, or that were tail-called. @ret: of an
 * unwinder: the return address; 0: the unwinder has put its destination there. */
APART static void end_at(u64 slot, enum dp_call_end how, u64 ret,
			 const struct dp_hit *hit)
{
	u64 key = dp_instance_key(0, slot);
	struct place at;

	if (!start(&at, key))
		return;
	while (next(&at, key, DP_INSTANCE_SLOT)) {
		const struct dp_exit_instance *v = instance_of(&at);
		u32 group = dp_instance_group(*key_of(&at));

		if (group >= dp_arena.control.nr_probes || !is_sane(v, slot) ||
		    v->ending)
			continue;
		if (how == DP_CALL_UNWOUND ?
			    !ret || v->ret == ret :
			    v->tail_called && v->ret == return_address(hit))
			leave(&at, group, how, DP_NO_GROUP, hit);
	}
}

/* Return: false if another call is at the place of one that was left otherwise. */
APART static bool end_own(const struct place *at, u32 probe,
			  const struct dp_hit *hit)
{
	u32 way = dp_probe(probe)->way, group = dp_probe(probe)->group;
	struct dp_exit_instance *v = instance_of(at);

	if (way & DP_WAY_SHARED && return_address(hit) != v->ret)
		return false;
	if (!is_whole(at, group, hit->sp))
		return true;
	if (way & DP_WAY_TAIL_TARGET)
		v->tail_called = 1;
	else
		leave(at, group, dp_probe_ends(way), probe, hit);
	return true;
}

void dp_exit_instance_end(u32 probe, const struct dp_site_entry *site,
			  const struct dp_hit *hit)
{
	const struct dp_probe_entry *p = dp_probe(probe);
	bool own = p->group != DP_NO_GROUP;
	bool met = !own || p->way & DP_WAY_SHARED;
	u64 slot = hit->sp, key = dp_instance_key(p->group, slot);
	bool fits = dp_instance_fits(slot);
	struct place at;

	if (!dp_probe_leaves(p, site, dp_hit_flags(hit), dp_hit_counter(hit)))
		return;
	if (fits && own && find(&at, key))
		met |= end_own(&at, probe, hit);
	/* Other calls at this slot may have jumped to the function that is left. */
	if (fits && dp_arena.control.tail_target &&
	    !(p->way & DP_WAY_TAIL_TARGET))
		end_at(slot, dp_probe_ends(p->way), 0, hit);
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

void dp_exit_instance_unwind(u32 probe, const struct dp_hit *hit)
{
	u32 way = dp_probe(probe)->way;
	u64 slot, to;

	if (!part_left(way, hit, &slot, &to))
		return;
	if (way & DP_WAY_UNTIL_CX) {
		to -= DP_WORD;
		end_at(to, DP_CALL_UNWOUND, 0, hit);
	}
	for (; slot + DP_WORD <= to; slot += DP_WORD) {
		u64 word = *(const volatile u64 *)slot;

		if (word >= LOWEST_CODE && word - slot > UNWIND_MOST)
			end_at(slot, DP_CALL_UNWOUND, word, hit);
	}
}
