// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* grow: plans for single sites, made while others are armed. */
#include "arch/arch.h"
#include "engine/insn/class.h"
#include "engine/insn/detour.h"
#include "engine/insn/insn.h"
#include "engine/layout/arena.h"
#include "engine/layout/site.h"
#include "engine/plan/copy.h"
#include "engine/plan/jump.h"
#include "engine/plan/native.h"
#include "engine/plan/plan.h"
#include "engine/site/arm.h"
#include "engine/site/build.h"
#include "engine/site/grow.h"
#include "engine/site/internal.h"
#include "engine/site/site.h"

/* Does a jump of the site call out for the sites that it is to cover, and no others, and run the
 * program that it is to run? */
static bool serves(const struct dp_engine *e, const struct dp_site *s,
		   const struct dp_jump *j)
{
	struct dp_jump_program runs;
	struct dp_jump_work work;
	int k;

	dp_native_of(e, s, &runs);
	if (j->runs.program != runs.program || j->runs.start != runs.start ||
	    j->runs.probe != runs.probe)
		return false;
	if (j->nr != s->region.nr || j->duplicates != s->duplicates)
		return false;
	for (k = 1; k < s->region.nr; k++)
		if (j->member[k] != s->covers[k])
			return false;
	work = dp_jump_work(e, s);
	return !(work.before & ~j->before) && !(work.after & ~j->after) &&
	       !(work.counted & ~(j->before | j->counted)) &&
	       (j->tracked || !dp_jump_is_tracked(e, s));
}

/* Where charts tell of code, each piece of it begins a grain of theirs. */
static u32 charted_align(const struct dp_engine *e)
{
	return e->growth->setup.ops->chart ? DP_CHARTED_ALIGN : 1;
}

/* In the room of a detour that another site has left. Return: 1: it has not that room. */
static int encode_left(struct dp_engine *e, struct dp_site *s,
		       const struct dp_jump *left, struct dp_jump *j,
		       struct dp_unwind_states *states)
{
	int pool = dp_room_near(e, s, left->base), err;
	u8 *code = e->scratch->code;

	if (pool < 0)
		return 1;
	err = dp_jump_plan(e, s, j, left->base, 0, code,
			   e->need.pools[pool].addr, states);
	if (err || j->len > left->room)
		return 1;
	s->pool = (u32)pool;
	j->room = left->room;
	return dp_room_put(e, j->base, code, j->len);
}

/* In the room that has been taken. Return: 0 or an errno. */
static int encode_new(struct dp_engine *e, struct dp_site *s, struct dp_jump *j,
		      struct dp_unwind_states *states)
{
	u64 at;
	u8 *out;
	int err;

	dp_room_consume(e, s, 0, DP_DETOUR_ALIGN);
	at = dp_room_cursor(e, s, &out);
	err = dp_jump_plan(e, s, j, at, 0, out, e->need.pools[s->pool].addr,
			   states);
	j->room = j->len;
	return err;
}

/* With its entry at @at. Return: 1: it is not as large as was guessed. */
static int encode_at(const struct dp_engine *e, const struct dp_site *s, u64 at,
		     const struct dp_guess *g, struct dp_jump *j, u8 *code,
		     struct dp_unwind_states *states)
{
	u64 stubs = e->need.pools[s->pool].addr;
	u32 pad = (u32)(at - g->start) % DP_DETOUR_ALIGN;
	struct dp_unwind_states found;
	struct dp_jump there = { 0 };

	if (dp_jump_plan(e, s, &there, at - g->start - pad, pad, code, stubs,
			 &found) ||
	    there.base + there.start != at ||
	    (u32)there.len - there.start > g->after)
		return 1;
	there.room = there.len;
	*j = there;
	dp_unwind_copy(states, &found);
	return 0;
}

/* Where the jump leads: then no island is needed.
 * Return: 0; 1 there is no room, or it is not so large; an errno. */
static int encode_there(struct dp_engine *e, struct dp_site *s,
			const struct dp_guess *g, struct dp_jump *j,
			struct dp_unwind_states *states)
{
	u8 *code = e->scratch->code, last = s->last;
	u64 at;
	int err = dp_room_meet(e, s, g->start + DP_DETOUR_ALIGN - 1, g->after,
			       &at);

	if (!err)
		err = encode_at(e, s, at, g, j, code, states);
	if (!err)
		err = dp_room_settle(e, j->base, code, j->len);
	if (err)
		s->last = last;
	return err;
}

/* Of detours that do the same before the first instruction */
static struct dp_guess *guess_for(struct dp_engine *e, const struct dp_site *s)
{
	return &e->growth->guess[s->runs ? DP_CALLS_WAYS :
					   dp_jump_way(e, s).calls];
}

/* Where the jump leads, or else anywhere. @fresh: set in the second case
 * Return: 0; -ENOMEM there is no room; an error of writing. */
static int encode(struct dp_engine *e, struct dp_site *s, struct dp_jump *j,
		  struct dp_unwind_states *states, bool *fresh)
{
	struct dp_guess *guess = guess_for(e, s);
	int err = dp_room_take(e, s, DP_DETOUR_ALIGN + DP_DETOUR_MAX);

	if (err)
		return err;
	err = s->traps && guess->after ? encode_there(e, s, guess, j, states) :
					 1;
	if (err <= 0)
		return err;
	*fresh = true;
	err = encode_new(e, s, j, states);
	if (err || !s->traps)
		return err;
	*guess = (struct dp_guess){ j->start, (u32)j->len - j->start };
	err = encode_there(e, s, guess, j, states);
	*fresh = err;
	return err > 0 ? 0 : err;
}

static void chart_jump(struct dp_engine *e, const struct dp_site *s,
		       const struct dp_jump *j,
		       const struct dp_unwind_states *states)
{
	struct dp_charted code = { .at = j->base,
				   .len = j->len,
				   .states = states,
				   .addr = s->addr,
				   .duplicate = j->duplicated_at };
	int i;

	for (i = 0; i < j->nr; i++)
		code.offset[i] = j->offset[i];
	code.offset[DP_UNWIND_BEHIND] = j->size;
	dp_room_chart(e, &code);
}

/* @n: its number in the table. Return: 0; -ENOMEM there is no room; an error of writing. */
static int make_jump(struct dp_engine *e, struct dp_site *s, u32 n)
{
	struct dp_unwind_states states;
	struct dp_jump j = { 0 };
	bool left, fresh = false;
	int err = 1;

	if (n >= e->arena->control.max_jumps)
		return -ENOMEM;
	if (n < e->view.nr_jumps)
		err = encode_left(e, s, &e->view.jumps[n], &j, &states);
	left = !err;
	if (err > 0) {
		j = (struct dp_jump){ 0 };
		err = encode(e, s, &j, &states, &fresh);
	}
	s->island = 0;
	if (!err && s->traps && (left || fresh))
		err = dp_room_island(e, s, j.base + j.start);
	if (err)
		return err > 0 ? -ENOMEM : err;
	if (fresh)
		dp_room_consume(e, s, j.len, charted_align(e));
	chart_jump(e, s, &j, &states);
	s->staged |= fresh;
	j.island = s->island;
	j.earlier = s->jumps;
	e->view.jumps[n] = j;
	return 0;
}

/* Does the detour of a jump do what is best before the first instruction? */
static bool suits(const struct dp_engine *e, const struct dp_site *s,
		  const struct dp_jump *j)
{
	struct dp_jump_way way = dp_jump_way(e, s);

	return j->calls == way.calls && !(way.touches & ~j->touches);
}

/* A jump that has been made for the site, or 0. @any: it need not be the best */
static u32 find_jump(const struct dp_engine *e, const struct dp_site *s,
		     bool any)
{
	const struct dp_jump *j;
	u32 n;

	for (n = s->jumps; n; n = j->earlier) {
		j = &e->view.jumps[n];
		if (serves(e, s, j) && (any || suits(e, s, j)))
			return n;
	}
	return 0;
}

/* Text is not written again for a better jump. */
static u32 present_jump(const struct dp_engine *e, const struct dp_site *s)
{
	const struct dp_site_entry *entry = dp_entry_of(e, s);

	return entry && entry->armed == DP_SITE_THERE && entry->jump &&
			       serves(e, s, &e->view.jumps[entry->jump]) ?
		       entry->jump :
		       0;
}

static int new_jump(struct dp_engine *e, struct dp_site *s)
{
	u32 n, left;
	int err;

	n = s->left.jumps ? s->left.jumps : e->view.nr_jumps;
	left = s->left.jumps ? e->view.jumps[n].earlier : 0;
	err = make_jump(e, s, n);
	if (err)
		return err;
	s->left.jumps = left;
	if (n == e->view.nr_jumps)
		e->view.nr_jumps++;
	__atomic_store_n(&e->arena->control.nr_jumps, e->view.nr_jumps,
			 __ATOMIC_RELEASE);
	s->jumps = s->plan = n;
	return 0;
}

int dp_grow_jump(struct dp_engine *e, struct dp_site *s)
{
	u32 n = present_jump(e, s), any;
	int err;

	if (!n)
		n = find_jump(e, s, false);
	if (n) {
		s->plan = n;
		return 0;
	}
	any = find_jump(e, s, true);
	err = new_jump(e, s);
	if (err && any) {
		s->plan = any;
		err = 0;
	}
	return err;
}

/* The copies of a site: of its instruction alone, and that which ends in a breakpoint. */
typedef int copy_fn(const struct dp_site *s, struct dp_site_entry *entry,
		    u64 at, u8 *out, u8 *len);

static int make_single(const struct dp_site *s, struct dp_site_entry *entry,
		       u64 at, u8 *out, u8 *len)
{
	int err;

	entry->copy = entry->single = at;
	err = dp_entry_copy(s, entry, out);
	*len = entry->single_len;
	return err;
}

/* The hit half must not see it yet. */
static int make_post(const struct dp_site *s, struct dp_site_entry *entry,
		     u64 at, u8 *out, u8 *len)
{
	int err;

	entry->post = at;
	err = dp_entry_post(s, entry, out);
	entry->post = 0;
	*len = entry->post_len;
	return err;
}

static u8 body_of(const struct dp_site_entry *entry, u64 at)
{
	return at == entry->single ? entry->single_body : entry->post_body;
}

/* Behind the body may be a breakpoint, and there is the jump back. */
static void chart_copy(struct dp_engine *e, const struct dp_site *s, u64 at,
		       u8 len, u8 body)
{
	struct dp_unwind_states states;
	struct dp_charted code = {
		.at = at, .len = len, .states = &states, .addr = s->addr
	};

	if (!dp_room_charts(e))
		return;
	dp_copy_unwind(&states, s->facts.class, body);
	code.offset[DP_UNWIND_BEHIND] = s->facts.len;
	dp_room_chart(e, &code);
}

/* Where another site has left one, or in new memory. */
static int put_copy(struct dp_engine *e, struct dp_site *s,
		    struct dp_site_entry *entry, copy_fn *make, u64 *at,
		    u8 room)
{
	int pool = dp_room_near(e, s, *at), err;
	u8 code[DP_COPY_MAX], len, *out;

	if (pool >= 0 && !make(s, entry, *at, code, &len) && len <= room) {
		s->pool = (u32)pool;
		chart_copy(e, s, *at, len, body_of(entry, *at));
		return dp_room_put(e, *at, code, len);
	}
	err = dp_room_take(e, s, DP_COPY_MAX + DP_CHARTED_ALIGN);
	if (err)
		return err;
	dp_room_consume(e, s, 0, charted_align(e));
	*at = dp_room_cursor(e, s, &out);
	err = make(s, entry, *at, out, &len);
	if (err)
		return err;
	dp_room_consume(e, s, len, 1);
	chart_copy(e, s, *at, len, body_of(entry, *at));
	return 0;
}

int dp_grow_post(struct dp_engine *e, u32 i)
{
	struct dp_site_entry *entry = &e->view.sites[i];
	struct dp_site *s = &e->sites[i];
	u64 at = s->left.post;
	int err;

	if (s->post || (s->facts.class != DP_INSN_PLAIN &&
			s->facts.class != DP_INSN_SYSCALL))
		return 0;
	err = put_copy(e, s, entry, make_post, &at, s->left.post_room);
	if (!err)
		s->post = at;
	return err;
}

/* The site may be armed already. */
void dp_grow_post_there(struct dp_engine *e, struct dp_site *s)
{
	struct dp_site_entry *entry = &e->view.sites[s->place - 1];

	if (!s->post || entry->post)
		return;
	__atomic_store_n(&entry->post, s->post, __ATOMIC_RELEASE);
	dp_hash_enter(e, s->post + entry->post_body, s->place - 1);
}

/* Until the site is to have a jump, its patch is what is there. */
static void begin_jump(const struct dp_engine *e, struct dp_site *s,
		       struct dp_site_entry *entry)
{
	int i;

	entry->mode = s->mode = DP_MODE_JUMP;
	entry->patch_len = DP_JUMP_SIZE;
	for (i = 0; i < DP_JUMP_SIZE; i++)
		entry->patch[i] = entry->orig[i];
	dp_jump_note_traps(e, s);
}

static int fill_entry(struct dp_engine *e, struct dp_site *s,
		      struct dp_site_entry *entry)
{
	u64 at = s->left.single;

	dp_entry_begin(s, entry);
	entry->x87 = s->x87;
	entry->mode = s->mode = DP_MODE_TRAP;
	entry->patch[0] = DP_BREAKPOINT;
	entry->patch_len = 1;
	dp_group_prepare(e, s);
	if (s->region.nr)
		begin_jump(e, s, entry);
	return put_copy(e, s, entry, make_single, &at, s->left.single_room);
}

/* Who reads the table meanwhile finds no site there, or all of it. */
int dp_grow_site(struct dp_engine *e, u32 i)
{
	struct dp_site_entry entry = { 0 };
	int err = fill_entry(e, &e->sites[i], &entry);

	if (err)
		return err;
	entry.addr = 0;
	e->view.sites[i] = entry;
	__atomic_store_n(&e->view.sites[i].addr, e->sites[i].addr,
			 __ATOMIC_RELEASE);
	dp_view_forget_hits(&e->view, i);
	if (e->view.met_counters)
		dp_view_forget_hits(&e->view, e->view.met_counters + i);
	return 0;
}

void dp_grow_watch(struct dp_engine *e, u32 i)
{
	const struct dp_site *s = &e->sites[i];

	e->view.sites[i] = (struct dp_site_entry){
		.addr = s->addr,
		.mode = DP_MODE_JUMP, /* without a patch: nothing is written */
		.faults = DP_FAULTS_NEVER,
		.watch = s->watch,
		.watch_len = s->watch_len,
		.watch_serial = s->watch_serial,
	};
	dp_entry_why(e->arena, &e->view.sites[i], s->why);
	dp_view_forget_hits(&e->view, i);
	if (e->view.met_counters)
		dp_view_forget_hits(&e->view, e->view.met_counters + i);
}

bool dp_grow_serves(const struct dp_engine *e, const struct dp_site *s,
		    u32 jump)
{
	return serves(e, s, &e->view.jumps[jump]);
}

/* A site with probes inside the intercept's region has no bytes of its own. */
static int cover(struct dp_engine *e, struct dp_site *lead, struct dp_site *s)
{
	struct dp_site_entry *entry = &e->view.sites[s - e->sites];

	s->place = (u32)(s - e->sites) + 1;
	if (!dp_jump_cover(lead, s)) {
		s->place = 0;
		s->why = DP_WHY_OVERLAP;
		return -EBUSY;
	}
	s->within = (u32)(lead - e->sites) + 1;
	dp_entry_begin(s, entry);
	entry->mode = s->mode = DP_MODE_JUMP;
	entry->leader = lead->place;
	return 0;
}

static int cover_all(struct dp_engine *e, struct dp_site *lead)
{
	struct dp_site *s;
	int err = 0;
	u64 d;

	for (d = 1; d < lead->region.len && !err; d++) {
		s = dp_engine_find(e, lead->addr + d);
		if (s && s->first_probe)
			err = cover(e, lead, s);
	}
	return err;
}

/* Copies are in the detour. */
static void fill_inside(struct dp_engine *e, struct dp_site *lead,
			const struct dp_jump *j)
{
	struct dp_site_entry *entry;
	int k;

	for (k = 0; k < lead->region.nr; k++) {
		if (!j->member[k])
			continue;
		entry = &e->view.sites[j->member[k] - 1];
		entry->copy = j->base + j->insn[k];
		entry->calls_out = j->after >> k & 1;
	}
}

int dp_grow_intercept(struct dp_engine *e, u32 i)
{
	struct dp_site *s = &e->sites[i];
	struct dp_site_entry *entry = &e->view.sites[i];
	int err = cover_all(e, s);

	if (err)
		return err;
	s->mode = DP_MODE_JUMP;
	s->wants = DP_WANT_PLAN;
	err = dp_grow_jump(e, s);
	if (err)
		return err;
	dp_entry_begin(s, entry);
	entry->mode = DP_MODE_JUMP;
	entry->intercept = s->observed ? DP_INTERCEPT_OBSERVED :
					 DP_INTERCEPT_MADE;
	entry->number = (u32)s->intercept;
	entry->wanted = DP_WANT_PLAN;
	entry->patch_len = DP_JUMP_SIZE;
	fill_inside(e, s, &e->view.jumps[s->plan]);
	dp_hash_enter(e, s->addr, i);
	s->entered = true;
	return dp_grow_switch(e, s);
}

bool dp_grow_patch(const struct dp_site *s, const struct dp_jump *j, u8 *patch)
{
	return dp_emit_jmp(patch, s->addr,
			   j->island ? j->island : j->base + j->start);
}

int dp_grow_switch(struct dp_engine *e, struct dp_site *s)
{
	struct dp_site_entry *entry = &e->view.sites[s->place - 1];
	const struct dp_jump *j = &e->view.jumps[s->plan];
	bool first = !entry->jump;

	if (!dp_grow_patch(s, j, entry->patch))
		return -ENOMEM;
	entry->traps = s->traps;
	__atomic_store_n(&entry->jump, s->plan, __ATOMIC_RELEASE);
	if (first)
		dp_hash_traps(e, entry, s->place - 1);
	dp_link_mirror(e, s->place - 1);
	return 0;
}
