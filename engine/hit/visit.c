// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * visit: one call of a function, from its entry to one of its exits.
 *
 *   entry ─► a visit is there already? that was left otherwise: abandoned
 *         ─► program: arguments, condition ─► key into the table ─► in use
 *   exit  ─► key found ─► record ─► free
 *
 * At an exit the stack pointer is what it was at the entry, so function and
 * stack pointer are the key. Only whoever runs on that stack looks for it: of the
 * words in the table only free ones are contended for. A thread that is taken
 * away in the middle of this, by a signal handler that does not come back, leaves
 * a visit that the next one at its place replaces.
 *
 * Neither the return address nor anything else on the stack is changed.
 */
#include "engine/hit/hit.h"
#include "engine/arch/x86/bytes.h"
#include "port_hit.h"

/* Where a key is, and the line where it should be. */
struct place {
	u32 home, line, way;
};

static struct dp_visit_line *line_at(u32 i)
{
	struct dp_visit_line *lines = dp_at(dp_arena.control.line_off);

	return &lines[i & dp_arena.control.line_mask];
}

static struct dp_visit *visit_at(const struct place *p)
{
	const struct dp_arena_control *c = &dp_arena.control;
	u64 index = (u64)p->line * DP_VISIT_WAYS + p->way;

	return dp_at(c->visit_off + index * c->visit_stride);
}

static inline bool look(struct place *p, u64 key)
{
	const struct dp_visit_line *l = line_at(p->line);
	u32 way;

	for (way = 0; way < DP_VISIT_WAYS; way++)
		if (__atomic_load_n(&l->key[way], __ATOMIC_RELAXED) == key) {
			p->way = way;
			return true;
		}
	return false;
}

static void start(struct place *p, u64 key)
{
	p->home = p->line = dp_visit_hash(key) & dp_arena.control.line_mask;
}

static bool find(struct place *p, u64 key)
{
	u32 i;

	start(p, key);
	if (look(p, key))
		return true;
	if (!__atomic_load_n(&line_at(p->home)->strayed, __ATOMIC_RELAXED))
		return false;
	for (i = 1; i < DP_VISIT_REACH; i++) {
		p->line = (p->home + i) & dp_arena.control.line_mask;
		if (look(p, key))
			return true;
	}
	return false;
}

static bool take(struct place *p, u64 key)
{
	while (look(p, 0)) {
		u64 is = 0;

		if (__atomic_compare_exchange_n(
			    &line_at(p->line)->key[p->way], &is, key, false,
			    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return true;
	}
	return false;
}

static void stray(const struct place *p, u64 by)
{
	__atomic_fetch_add(&line_at(p->home)->strayed, by, __ATOMIC_RELAXED);
}

static bool claim(struct place *p, u64 key)
{
	u32 i;

	start(p, key);
	if (take(p, key))
		return true;
	stray(p, 1);
	for (i = 1; i < DP_VISIT_REACH; i++) {
		p->line = (p->home + i) & dp_arena.control.line_mask;
		if (take(p, key))
			return true;
	}
	stray(p, -1ull);
	return false;
}

static void release(const struct place *p)
{
	__atomic_store_n(&visit_at(p)->slot, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&line_at(p->line)->key[p->way], 0, __ATOMIC_RELEASE);
	if (p->line != p->home)
		stray(p, -1ull);
}

/* The return address, or 0 where that cannot be read. */
static u64 return_address(const struct dp_hit *hit)
{
	u64 ret;

	if (dp_hit_knows(hit, hit->regs->rsp))
		return *(const volatile u64 *)hit->regs->rsp;
	return dp_port_read(&ret, hit->regs->rsp, DP_WORD) == DP_WORD ? ret : 0;
}

static u32 most_logged(void)
{
	return dp_arena.control.visit_stride - (u32)sizeof(struct dp_visit);
}

static void tell(u32 group, const struct dp_visit *v, u32 tid, u64 now,
		 const struct dp_leaving *leaving)
{
	struct dp_log_part parts[] = { { leaving, sizeof(*leaving) },
				       { v + 1, v->len } };
	struct dp_record head = { .ticks = now, .probe = group, .tid = tid };

	head.len = (u16)(sizeof(*leaving) + v->len);
	dp_log_put(&head, parts, 2);
}

void dp_visit_abandon(u32 probe, const struct dp_hit *hit)
{
	struct dp_leaving leaving = { .how = DP_LEFT_ABANDONED };
	const struct dp_visit *v;
	struct place p;

	if (!dp_visit_fits(hit->regs->rsp) ||
	    !find(&p, dp_visit_key(probe, hit->regs->rsp)))
		return;
	v = visit_at(&p);
	dp_tally(probe, DP_TALLY_ABANDONED);
	if (dp_probe(probe)->way & DP_WAY_LOGS && v->slot &&
	    v->len <= most_logged()) {
		leaving.entered = v->ticks;
		tell(probe, v, v->tid, dp_port_ticks(), &leaving);
	}
	release(&p);
}

void dp_visit_begin(u32 probe, const struct dp_hit *hit, const void *log,
		    u32 len)
{
	u64 slot = hit->regs->rsp;
	struct dp_visit *v;
	struct place p;

	if (!dp_visit_fits(slot) || !claim(&p, dp_visit_key(probe, slot))) {
		dp_tally(probe, DP_TALLY_VISITS);
		return;
	}
	v = visit_at(&p);
	v->serial++;
	v->ret = return_address(hit);
	v->len = len < most_logged() ? len : most_logged();
	dp_bytes_copy(v + 1, log, v->len);
	if (dp_probe(probe)->way & DP_WAY_LOGS) {
		v->tid = dp_hit_tid();
		v->ticks = dp_port_ticks();
	}
	__atomic_store_n(&v->slot, slot, __ATOMIC_RELEASE);
}

/* Return: false if it cannot have come about by what is done here. */
static bool is_sane(const struct dp_visit *v, u64 slot)
{
	return v->slot == slot && v->len <= most_logged();
}

static void finish(const struct dp_probe_entry *p, const struct dp_visit *v,
		   const struct dp_hit *hit)
{
	struct dp_leaving leaving = { .entered = v->ticks,
				      .value = hit->regs->rax,
				      .how = p->way & DP_WAY_TAIL ?
						     DP_LEFT_TAIL :
						     DP_LEFT_RETURN };

	if (dp_probe(p->group)->way & DP_WAY_LOGS)
		tell(p->group, v, dp_hit_tid(), dp_port_ticks(), &leaving);
}

void dp_visit_end(u32 probe, const struct dp_site_entry *site,
		  const struct dp_hit *hit)
{
	const struct dp_probe_entry *p = dp_probe(probe);
	bool shared = p->way & DP_WAY_SHARED;
	u64 slot = hit->regs->rsp;
	struct place at;

	if (p->way & DP_WAY_TAKEN &&
	    !dp_branch_taken(site, hit->regs->eflags, hit->regs->rcx))
		return;
	if (!dp_visit_fits(slot) || !find(&at, dp_visit_key(p->group, slot))) {
		if (!shared && dp_probe(p->group)->enabled)
			dp_tally(p->group, DP_TALLY_UNSEEN);
		return;
	}
	/* Somebody else's call, at the place of one that was left otherwise. */
	if (shared && return_address(hit) != visit_at(&at)->ret)
		return;
	if (is_sane(visit_at(&at), slot)) {
		dp_hit_count(probe);
		finish(p, visit_at(&at), hit);
	} else {
		dp_tally(p->group, DP_TALLY_DAMAGED);
	}
	release(&at);
}
