// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* live: probes that come and go, and memory that is not to be had. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "engine/site/counts.h"
#include "engine/site/program.h"
#include "engine/vm/ops.h"
#include "own.h"
#include "steps.h"

/* Return: as dp_live_commit(); a probe that fails is gone. */
static int arm(struct world *w, u32 at)
{
	u32 probe = add(w, at), bad;
	int err = dp_live_commit(w->e, &w->target, &probe, 1, &bad);

	if (!err)
		return 0;
	assert_int_equal(bad, 0);
	dp_live_remove(w->e, &w->target, &probe, 1);
	dp_live_forget(w->e, probe);
	return err;
}

static void jumps(void **state)
{
	struct world w;

	begin(&w);
	assert_int_equal(arm(&w, PUSHES), 0);
	expect_armed(&w, PUSHES, DP_MODE_JUMP);
	assert_int_equal(arm(&w, LEA), 0);
	expect_armed(&w, LEA, DP_MODE_JUMP);
	end(&w);
}

/* Until the copy is written there is no breakpoint, and until the detour is, no jump.
 * Return: did a write fail? */
static bool arms_without_a_write(u32 nth, u32 at, u32 other)
{
	struct world w;
	bool failed;
	int err;

	begin(&w);
	w.put_fails = (int)nth;
	err = arm(&w, at);
	failed = w.puts > nth;
	w.put_fails = NEVER;
	if (err) {
		assert_int_equal(err, -EIO);
		assert_memory_equal(w.text, code, sizeof(code));
		assert_int_equal(arm(&w, at), 0);
	} else if (failed) {
		expect_armed(&w, at, DP_MODE_TRAP);
		assert_int_equal(dp_live_knobs(w.e, &w.target, true, true), 0);
	}
	assert_int_equal(arm(&w, other), 0);
	expect_armed(&w, other, DP_MODE_JUMP);
	expect_armed(&w, at, DP_MODE_JUMP);
	end(&w);
	return failed;
}

/* Each write of code fails in turn. What comes later has its code. */
static void arms_no_code_that_was_not_written(void **state)
{
	u32 nth = 0;

	while (arms_without_a_write(nth, PUSHES, LEA))
		nth++;
	assert_int_equal(nth, 4); /* stubs, copy, island, detour */
	for (nth = 0; arms_without_a_write(nth, LEA, PUSHES);)
		nth++;
	assert_int_equal(nth, 3);
}

/* The same, when the code of another pool is about to be made. */
static void keeps_what_waits_for_another_pool(void **state)
{
	struct world w;

	begin(&w);
	w.put_fails = 1;
	assert_int_equal(arm(&w, LEA), -EIO);
	w.e->growth->pools[dp_engine_find(w.e, TEXT + LEA)->pool].full = true;
	w.put_fails = 3;
	assert_int_equal(arm(&w, PUSHES), -EIO);
	assert_int_equal(arm(&w, LEA), 0);
	expect_armed(&w, LEA, DP_MODE_JUMP);
	assert_int_equal(arm(&w, PUSHES), 0);
	expect_armed(&w, PUSHES, DP_MODE_JUMP);
	end(&w);
}

/* Another thread of the process maps memory where ours was to be, once or always. */
static void finds_other_memory(void **state)
{
	struct world w;
	int nth;

	for (nth = 0; nth < 2; nth++) {
		begin(&w);
		w.map_fails = nth;
		assert_int_equal(arm(&w, PUSHES), 0);
		expect_armed(&w, PUSHES, DP_MODE_JUMP);
		end(&w);
	}
	begin(&w);
	w.map_err = -EEXIST;
	assert_int_equal(arm(&w, PUSHES), -ENOMEM);
	w.map_err = 0;
	assert_int_equal(arm(&w, LEA), 0);
	w.map_err = -EEXIST;
	assert_int_equal(arm(&w, PUSHES), 0);
	expect_armed(&w, PUSHES, DP_MODE_TRAP);
	end(&w);
}

/* A probe's neighbour is written for that probe's sake. */
static void names_the_probe_that_failed(void **state)
{
	static const u32 sites[] = { LEA, PUSHES + 2, PUSHES + 1, RET };
	static const struct {
		int fails;
		u32 bad;
	} tries[] = { { LEA, 0 },
		      { PUSHES + 2, 1 },
		      { PUSHES + 1, 2 },
		      { PUSHES, 2 },
		      { RET, 3 } };
	u32 probes[4], bad, i, k;
	struct world w;

	for (i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		begin(&w);
		assert_int_equal(arm(&w, PUSHES), 0);
		for (k = 0; k < 4; k++)
			probes[k] = add(&w, sites[k]);
		/* Where the jump is out already, no byte is written for it. */
		w.text_fails = tries[i].fails;
		if (tries[i].fails > PUSHES && tries[i].fails < DP_JUMP_SIZE)
			memcpy(w.text, code, DP_JUMP_SIZE);
		bad = ~0u;
		assert_int_equal(
			dp_live_commit(w.e, &w.target, probes, 4, &bad), -EIO);
		assert_int_equal(bad, tries[i].bad);
		end(&w);
	}
}

/* A uprobe comes to where a jump begins, then another probe to its other bytes. The jump
 * cedes, and is back when both have gone. */
static void comes_back_when_a_uprobe_has_gone(void **state)
{
	struct world w;
	u32 inner, bad;

	begin(&w);
	assert_int_equal(arm(&w, MIXED), 0);
	w.text[MIXED] = DP_BREAKPOINT;
	inner = add(&w, MIXED + 1);
	assert_int_equal(dp_live_commit(w.e, &w.target, &inner, 1, &bad), 0);
	assert_int_equal(entry_of(&w, MIXED)->armed, DP_SITE_CEDED);
	expect_armed(&w, MIXED + 1, DP_MODE_TRAP);
	assert_int_equal(dp_live_enable(w.e, &w.target, &inner, 1, false), 0);
	assert_int_equal(entry_of(&w, MIXED)->armed, DP_SITE_CEDED);
	assert_int_equal(w.text[MIXED + 1], code[MIXED + 1]);
	w.text[MIXED] = code[MIXED];
	assert_int_equal(dp_live_enable(w.e, &w.target, &inner, 1, true), 0);
	expect_armed(&w, MIXED, DP_MODE_JUMP);
	assert_true(dp_live_optimized(w.e, inner));
	assert_int_equal(dp_live_remove(w.e, &w.target, &inner, 1), 0);
	dp_live_forget(w.e, inner);
	expect_armed(&w, MIXED, DP_MODE_JUMP);
	end(&w);
}

static u32 nr_ceded, nr_returned;

static void tell(void *arg, u64 addr, bool away)
{
	assert_true(addr == TEXT + LEA);
	*(away ? &nr_ceded : &nr_returned) += 1;
}

/* A uprobe that comes and goes while nothing else changes: what it leaves is the file's
 * byte. */
static void cedes_to_a_uprobe(void **state)
{
	struct world w;

	begin(&w);
	assert_int_equal(arm(&w, PUSHES), 0);
	assert_int_equal(arm(&w, LEA), 0);
	assert_false(dp_engine_disturbed(w.e, &w.target));
	w.text[LEA] = DP_BREAKPOINT;
	assert_true(dp_engine_disturbed(w.e, &w.target));
	assert_int_equal(dp_engine_cede(w.e, &w.target, tell, NULL), 0);
	assert_int_equal(nr_ceded, 1);
	assert_int_equal(w.text[LEA], DP_BREAKPOINT);
	assert_memory_equal(w.text + LEA + 1, code + LEA + 1, DP_JUMP_SIZE - 1);
	assert_int_equal(entry_of(&w, LEA)->armed, DP_SITE_CEDED);
	expect_armed(&w, PUSHES, DP_MODE_JUMP);
	assert_false(dp_engine_disturbed(w.e, &w.target));
	w.text[LEA] = code[LEA];
	assert_true(dp_engine_disturbed(w.e, &w.target));
	assert_int_equal(dp_engine_cede(w.e, &w.target, tell, NULL), 0);
	assert_int_equal(nr_ceded, 1);
	assert_int_equal(nr_returned, 1);
	expect_armed(&w, LEA, DP_MODE_JUMP);
	assert_false(dp_engine_disturbed(w.e, &w.target));
	end(&w);
}

static void pools_have_their_limit(void **state)
{
	struct world w;
	u32 before, n;

	begin(&w);
	before = w.e->need.nr_pools;
	for (n = 0; !dp_live_own(w.e, BASE + (n << 24), DP_PAGE); n++)
		;
	assert_int_equal(n, DP_MAX_POOLS - before);
	assert_int_equal(arm(&w, PUSHES), -ENOMEM);
	assert_memory_equal(w.text, code, sizeof(code));
	assert_int_equal(w.nr_pools, 0);
	end(&w);
}

/* An engine of which a tool asks for programs, too. */
static void begin_with_programs(struct world *w)
{
	static const struct dp_expected some = { .programs = 2, .log = 64 };

	set_up(w);
	dp_engine_expect(w->e, &some);
	build(w);
}

static u32 add_plain(struct world *w, u32 at, bool runs)
{
	static const u8 bytecode[] = { DP_OPCODE_LOG_I, 0, 0, DP_OPCODE_EXIT };
	static const u32 start;
	const struct dp_program_spec spec = { .name = "it",
					      .code = bytecode,
					      .code_len = sizeof(bytecode),
					      .starts = &start,
					      .nr_starts = 1,
					      .logmax = 64,
					      .stack = 32 };
	struct dp_binding binding = { .start = 0 };
	struct dp_reach reach = { .start = TEXT,
				  .code = code,
				  .size = sizeof(code),
				  .function = sizeof(code),
				  .room = sizeof(code) - at };
	const char *why;
	u32 probe, offset;

	assert_int_equal(dp_engine_add(w->e, TEXT + at, code + at,
				       sizeof(code) - at, &probe, &why),
			 0);
	dp_engine_allow_jump(w->e, probe, &reach);
	if (!runs)
		return probe;
	assert_int_equal(dp_engine_add_program(w->e, &spec, &binding.program,
					       &offset, &why),
			 0);
	dp_engine_bind(w->e, probe, &binding);
	return probe;
}

static void commit_all(struct world *w)
{
	u64 bad;

	assert_int_equal(dp_engine_plan(w->e), 0);
	assert_int_equal(dp_engine_commit(w->e, &w->target, &bad), 0);
}

static void expect_work(const struct world *w, bool counts, bool calls,
			bool runs, bool enabled)
{
	const struct dp_site_entry *s = entry_of(w, LEA);

	assert_int_equal(s->counts, counts);
	assert_int_equal(s->calls, calls);
	assert_int_equal(s->runs, runs);
	assert_int_equal(s->enable_word, enabled);
}

static void take_away(struct world *w, u32 probe)
{
	assert_int_equal(dp_live_remove(w->e, &w->target, &probe, 1), 0);
	dp_live_forget(w->e, probe);
}

/* A hit of the site is counted once, and does for each of its probes what that wants. */
static void shares_a_site(void **state)
{
	u32 plain, runs, calls;
	struct world w;

	begin_with_programs(&w);
	plain = add_plain(&w, LEA, false);
	commit_all(&w);
	expect_armed(&w, LEA, DP_MODE_JUMP);
	expect_work(&w, true, false, false, false);
	++*(u64 *)w.e->view.counters;
	runs = add_plain(&w, LEA, true);
	/* Not before it is armed. */
	assert_int_equal(dp_engine_plan(w.e), 0);
	expect_work(&w, true, false, false, false);
	commit_all(&w);
	expect_work(&w, true, false, true, true);
	assert_int_equal(w.e->view.probes[runs].program, 1);
	calls = add(&w, LEA);
	commit_all(&w);
	expect_work(&w, true, true, true, true);
	expect_armed(&w, LEA, DP_MODE_JUMP);
	++*(u64 *)w.e->view.counters;
	assert_int_equal(dp_engine_hits(w.e, plain), 2);
	assert_int_equal(dp_engine_hits(w.e, runs), 1);
	assert_int_equal(dp_live_hits(w.e, calls), 1);
	take_away(&w, runs);
	expect_work(&w, true, true, false, true);
	take_away(&w, calls);
	expect_work(&w, true, false, false, false);
	++*(u64 *)w.e->view.counters;
	assert_int_equal(dp_engine_hits(w.e, plain), 3);
	take_away(&w, plain);
	expect_work(&w, false, false, false, false);
	assert_memory_equal(w.text, code, sizeof(code));
	end(&w);
}

/* Until its program can run, no hit goes through the copy that ends in a breakpoint. */
static void goes_behind_the_instruction_later(void **state)
{
	const struct dp_site_entry *s;
	const struct dp_site *site;
	struct world w;
	u64 orig;

	begin_with_programs(&w);
	add_plain(&w, PUSHES, false);
	commit_all(&w);
	s = entry_of(&w, PUSHES);
	assert_int_equal(s->post, 0);
	add_plain(&w, PUSHES, true);
	assert_int_equal(dp_engine_plan(w.e), 0);
	site = dp_engine_find(w.e, TEXT + PUSHES);
	assert_int_not_equal(site->post, 0);
	assert_int_equal(s->post, 0);
	expect_written(&w, site->post, s->post_len);
	commit_all(&w);
	assert_true(s->post == site->post);
	assert_int_equal(
		dp_view_original(&w.e->view, s->post + s->post_body, &orig), 0);
	assert_true(orig == TEXT + PUSHES + 1);
	end(&w);
}

/** watched - a site to whose probes one comes, or from which it goes
 *  @probe: that one; @others: bits of those that stay; @lost: hits that did not come to all of
 *  them; @steps: hits */
static struct {
	struct world *w;
	const struct dp_site_entry *site;
	u32 probe, others, lost, steps;
	int err;
} watched;

static void watched_hit(void)
{
	const struct dp_probe_entry *probes = watched.w->e->view.probes;
	u32 p = watched.site->first_probe, met = 0, n;

	for (n = 0; p && n < 8; n++) {
		met |= 1u << (p - 1);
		p = probes[p - 1].next;
	}
	watched.lost += (met & watched.others) != watched.others || p;
	watched.steps++;
}

static void watched_comes(void)
{
	u32 bad;

	watched.err = dp_live_commit(watched.w->e, &watched.w->target,
				     &watched.probe, 1, &bad);
}

static void watched_goes(void)
{
	watched.err = dp_live_remove(watched.w->e, &watched.w->target,
				     &watched.probe, 1);
}

static void expect_no_hit_lost(void (*run)(void))
{
	watched.lost = watched.steps = 0;
	steps(run, watched_hit);
	assert_int_equal(watched.err, 0);
	assert_true(watched.steps > 0);
	assert_int_equal(watched.lost, 0);
}

/* Wherever the probe stands in the list, and whoever stands behind it. The last ones are
 * still to come. */
static void hits_come_to_all_others(void **state)
{
	u32 which, i, probes[6], late, bad;
	struct world w;

	for (which = 0; which < 4; which++) {
		begin(&w);
		for (i = 0; i < 6; i++)
			probes[i] = add(&w, LEA);
		late = probes[which];
		probes[which] = probes[3];
		assert_int_equal(
			dp_live_commit(w.e, &w.target, probes, 3, &bad), 0);
		watched.w = &w;
		watched.site = entry_of(&w, LEA);
		watched.probe = late;
		watched.others = 15 & ~(1u << late);
		expect_no_hit_lost(watched_comes);
		expect_no_hit_lost(watched_goes);
		end(&w);
	}
}

/* A site's jump, and what its detour does */

static void begin_calling(struct world *w)
{
	struct dp_arena_control *c;

	begin(w);
	dp_engine_set_rseq(w->e, 0x20, 0x53053053);
	c = &dp_engine_arena(w->e)->control;
	c->self_offset = -64;
	c->handler_sequence[1] = ENTRY;
}

static u32 register_one(struct world *w, u32 at, u64 pre, u32 spares)
{
	u32 probe = add(w, at), bad;

	w->e->probes[probe].handlers.pre = pre;
	w->e->probes[probe].handlers.spares = spares;
	assert_int_equal(dp_live_commit(w->e, &w->target, &probe, 1, &bad), 0);
	return probe;
}

static void unregister_one(struct world *w, u32 probe)
{
	assert_int_equal(dp_live_remove(w->e, &w->target, &probe, 1), 0);
	dp_live_forget(w->e, probe);
}

static const struct dp_jump *jump_of(const struct world *w, u32 at)
{
	return dp_view_jump(&w->e->view, entry_of(w, at));
}

static void expect_calls(const struct world *w, u32 at, u8 calls, u32 touches)
{
	expect_armed(w, at, DP_MODE_JUMP);
	assert_int_equal(jump_of(w, at)->calls, calls);
	assert_int_equal(jump_of(w, at)->touches, touches);
}

static void does_what_is_best_for_handlers(void **state)
{
	struct world w;
	u32 probe, jumps;

	begin_calling(&w);
	probe = register_one(&w, LEA, ENTRY, ~3u);
	expect_calls(&w, LEA, DP_CALLS_FOLLOWED, 3);
	assert_int_equal(dp_live_probe(w.e, probe)->touches, 3);
	unregister_one(&w, probe);
	/* One that touches less has the same; one that touches others has another, for both. */
	jumps = w.e->view.nr_jumps;
	probe = register_one(&w, LEA, ENTRY, ~1u);
	expect_calls(&w, LEA, DP_CALLS_FOLLOWED, 3);
	unregister_one(&w, probe);
	assert_int_equal(w.e->view.nr_jumps, jumps);
	probe = register_one(&w, LEA, ENTRY, ~4u);
	expect_calls(&w, LEA, DP_CALLS_FOLLOWED, 7);
	unregister_one(&w, probe);
	assert_int_equal(w.e->view.nr_jumps, jumps + 1);
	/* Not followed; no handler */
	probe = register_one(&w, LEA, ENTRY, 0);
	expect_calls(&w, LEA, DP_CALLS_HANDLER, 0);
	assert_int_equal(dp_live_probe(w.e, probe)->touches, ~0u);
	unregister_one(&w, probe);
	probe = register_one(&w, LEA, 0, 0);
	expect_calls(&w, LEA, DP_CALLS_COUNTED, 0);
	unregister_one(&w, probe);
	assert_int_equal(w.e->view.nr_jumps, jumps + 3);
	/* All are there already. */
	unregister_one(&w, register_one(&w, LEA, 0, 0));
	unregister_one(&w, register_one(&w, LEA, ENTRY, 0));
	unregister_one(&w, register_one(&w, LEA, ENTRY, ~7u));
	assert_int_equal(w.e->view.nr_jumps, jumps + 3);
	end(&w);
}

static u32 register_return(struct world *w, u32 at)
{
	u32 probe = add(w, at), bad;

	w->e->probes[probe].kind = DP_KIND_RETURN;
	w->e->probes[probe].handlers = (struct dp_handlers){
		.kind = DP_KIND_RETURN,
	};
	assert_int_equal(dp_live_commit(w->e, &w->target, &probe, 1, &bad), 0);
	return probe;
}

/* A return probe alone has the agent count. Beside another probe the detour does. */
static void tracks_a_call(void **state)
{
	struct world w;

	begin_calling(&w);
	unregister_one(&w, register_one(&w, LEA, ENTRY, 0));
	unregister_one(&w, register_return(&w, LEA));
	register_return(&w, LEA);
	expect_calls(&w, LEA, DP_CALLS_TRACKED, 0);
	assert_true(jump_of(&w, LEA)->tracked);
	assert_true(entry_of(&w, LEA)->fast);
	assert_false(jump_of(&w, LEA)->before & 0xfe);
	end(&w);
	begin_calling(&w);
	w.e->rseq_usable = false;
	register_return(&w, LEA);
	expect_calls(&w, LEA, DP_CALLS_COUNTED, 0);
	end(&w);
}

/* Text is not written again; the handler is called by the word of the site's entry only as long as
 * it is the only one. */
static void leaves_a_live_jump(void **state)
{
	struct world w;
	u32 one, two, jump;

	begin_calling(&w);
	one = register_one(&w, LEA, ENTRY, ~3u);
	jump = entry_of(&w, LEA)->jump;
	assert_true(entry_of(&w, LEA)->fast);
	two = register_one(&w, LEA, ENTRY, ~4u);
	assert_int_equal(entry_of(&w, LEA)->jump, jump);
	assert_false(entry_of(&w, LEA)->fast);
	unregister_one(&w, one);
	/* A thread in the detour sees that this handler touches more than it saves. */
	assert_int_equal(entry_of(&w, LEA)->jump, jump);
	assert_true(entry_of(&w, LEA)->fast);
	assert_int_equal(dp_live_probe(w.e, two)->touches, 4);
	assert_int_equal(jump_of(&w, LEA)->touches, 3);
	unregister_one(&w, two);
	assert_false(entry_of(&w, LEA)->fast);
	end(&w);
}

/* The bytes of this jump lead to one address only, which has been taken. */
static void has_one_jump_where_there_is_no_room(void **state)
{
	struct world w;

	begin_calling(&w);
	unregister_one(&w, register_one(&w, PUSHES, ENTRY, ~3u));
	register_one(&w, PUSHES, ENTRY, ~4u);
	expect_calls(&w, PUSHES, DP_CALLS_FOLLOWED, 3);
	assert_true(entry_of(&w, PUSHES)->fast);
	end(&w);
}

/* Where the agent cannot count, or is not this process's, it is as it was. */
static void counts_first_otherwise(void **state)
{
	struct dp_arena_control *c;
	struct world w;
	int i;

	for (i = 0; i < 3; i++) {
		begin_calling(&w);
		c = &dp_engine_arena(w.e)->control;
		if (i == 0)
			c->handler_sequence[1] = 0;
		else if (i == 1)
			c->self_offset = 0;
		else
			w.e->rseq_usable = false;
		register_one(&w, LEA, ENTRY, ~3u);
		expect_calls(&w, LEA, DP_CALLS_COUNTED, 0);
		end(&w);
	}
}

static u32 watch_data(struct world *w)
{
	static const struct dp_handlers h = { .kind = DP_KIND_KPROBE,
					      .user = 1,
					      .pre = 0x1000 };
	u32 probe, bad;

	assert_int_equal(dp_live_add_watch(w->e, TEXT + LEA, 8, DP_SITE_WRITTEN,
					   &h, &probe),
			 0);
	assert_int_equal(dp_live_commit(w->e, &w->target, &probe, 1, &bad), 0);
	return probe;
}

/* Data where an instruction is probed: nothing is written for it, and nothing finds it. */
static void watches_data(void **state)
{
	const u32 index = (1u << DP_WATCH_INDEX_BITS) - 1;
	const struct dp_site_entry *s;
	struct world w;
	u64 tag, other;
	u32 probe;

	begin(&w);
	dp_engine_set_watch_number(w.e, 0x77);
	probe = watch_data(&w);
	assert_memory_equal(w.text, code, sizeof(code));
	assert_null(dp_engine_find(w.e, TEXT + LEA));
	assert_string_equal(dp_engine_mode(w.e, probe), "watch");
	assert_int_equal(dp_engine_watches(w.e), 1);
	tag = dp_engine_watch_tag(w.e, probe);
	assert_int_equal(tag >> 32, 0x77);
	s = dp_live_site(w.e, (u32)tag & index);
	assert_int_equal(s->addr, TEXT + LEA);
	assert_int_equal(s->first_probe, probe + 1);
	assert_int_equal(s->watch_serial, (u32)tag >> DP_WATCH_INDEX_BITS);
	assert_int_equal(arm(&w, LEA), 0);
	expect_armed(&w, LEA, DP_MODE_JUMP);
	assert_int_equal(dp_engine_watches(w.e), 1);
	/* In a fork child */
	dp_live_leave(w.e, &w.target);
	assert_memory_equal(w.text, code, sizeof(code));
	/* Its place serves the next one, whose tag is another one. */
	dp_live_remove(w.e, &w.target, &probe, 1);
	assert_int_equal(s->first_probe, 0);
	dp_live_forget(w.e, probe);
	assert_int_equal(dp_engine_watches(w.e), 0);
	assert_int_equal(s->watch, DP_SITE_CODE);
	other = dp_engine_watch_tag(w.e, watch_data(&w));
	assert_int_equal(other & index, tag & index);
	assert_true(other != tag);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jumps),
		cmocka_unit_test(does_what_is_best_for_handlers),
		cmocka_unit_test(tracks_a_call),
		cmocka_unit_test(leaves_a_live_jump),
		cmocka_unit_test(has_one_jump_where_there_is_no_room),
		cmocka_unit_test(counts_first_otherwise),
		cmocka_unit_test(arms_no_code_that_was_not_written),
		cmocka_unit_test(keeps_what_waits_for_another_pool),
		cmocka_unit_test(finds_other_memory),
		cmocka_unit_test(names_the_probe_that_failed),
		cmocka_unit_test(comes_back_when_a_uprobe_has_gone),
		cmocka_unit_test(cedes_to_a_uprobe),
		cmocka_unit_test(pools_have_their_limit),
		cmocka_unit_test(shares_a_site),
		cmocka_unit_test(goes_behind_the_instruction_later),
		cmocka_unit_test(hits_come_to_all_others),
		cmocka_unit_test(watches_data),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
