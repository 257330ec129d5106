// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* group: neighbours that share a jump, as probes come and go. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "engine/plan/jump.h"
#include "engine/site/counts.h"
#include "own.h"

/* The instructions of MIXED, and a step for each of them: it comes, goes, or comes back. */
static const u8 mixed[] = { 0, 1, 4, 6, 8 };
#define NR_MIXED sizeof(mixed)
static const struct step {
	u8 which;
	enum { ADD, OFF, ON, REMOVE } what;
} steps[] = {
	{ 1, ADD }, { 2, ADD }, { 0, ADD }, { 3, ADD },	   { 4, ADD },
	{ 0, OFF }, { 2, OFF }, { 0, ON },  { 1, REMOVE }, { 2, ON },
	{ 1, ADD }, { 3, OFF }, { 3, ON },  { 0, REMOVE }, { 4, OFF },
};
#define NR_STEPS (sizeof(steps) / sizeof(steps[0]))

static void take(struct world *w, const struct step *s, u32 *probes)
{
	u32 bad, *probe = &probes[s->which];

	if (s->what == ADD) {
		*probe = add(w, MIXED + mixed[s->which]);
		assert_int_equal(
			dp_live_commit(w->e, &w->target, probe, 1, &bad), 0);
	} else if (s->what == REMOVE) {
		assert_int_equal(dp_live_remove(w->e, &w->target, probe, 1), 0);
		dp_live_forget(w->e, *probe);
	} else {
		assert_int_equal(dp_live_enable(w->e, &w->target, probe, 1,
						s->what == ON),
				 0);
	}
}

/* Each site that is on is in some jump, which calls out for it and for no other. */
static void expect_groups(const struct world *w, u32 on)
{
	const struct dp_site_entry *lead = NULL, *s;
	const struct dp_jump *j = NULL;
	u32 i, k;

	for (i = 0; i < NR_MIXED; i++) {
		if (!(on >> i & 1))
			continue;
		s = entry_of(w, MIXED + mixed[i]);
		assert_true(dp_view_is_jump(&w->e->view, s));
		assert_int_equal(s->reason, 0);
		if (lead && s->addr - lead->addr < DP_JUMP_SIZE) {
			for (k = 1;
			     k < j->nr && j->offset[k] != s->addr - lead->addr;)
				k++;
			assert_true(k < j->nr);
			assert_int_equal(j->member[k],
					 s - w->e->view.sites + 1);
			assert_int_equal(w->e->view.sites[s->leader - 1].addr,
					 lead->addr);
			assert_int_equal(s->copy, s->single);
			continue;
		}
		lead = s;
		j = dp_view_jump(&w->e->view, s);
		assert_int_equal(s->leader, 0);
		assert_memory_equal(w->text + (s->addr - TEXT), s->patch,
				    DP_JUMP_SIZE);
		assert_int_equal(s->copy, j->base + j->insn[0]);
		for (k = 1; k < j->nr; k++)
			assert_true(!j->member[k] ||
				    w->e->view.sites[j->member[k] - 1].armed);
	}
}

static u32 on_after(const struct step *s, u32 on)
{
	return s->what == ADD || s->what == ON ? on | 1u << s->which :
						 on & ~(1u << s->which);
}

static void neighbours_share_a_jump(void **state)
{
	u32 probes[NR_MIXED], i, on = 0, jumps;
	struct world w;

	begin(&w);
	for (i = 0; i < NR_STEPS; i++) {
		take(&w, &steps[i], probes);
		on = on_after(&steps[i], on);
		expect_groups(&w, on);
	}
	/* They have had all these jumps before. */
	jumps = w.e->view.nr_jumps;
	for (i = 0; i < 20; i++) {
		take(&w, &(struct step){ 2, i % 2 ? ON : OFF }, probes);
		take(&w, &(struct step){ 4, i % 2 ? OFF : ON }, probes);
	}
	assert_in_range(w.e->view.nr_jumps, jumps, jumps + 2);
	for (i = 1; i < NR_MIXED; i++)
		take(&w, &(struct step){ (u8)i, REMOVE }, probes);
	assert_memory_equal(w.text, code, sizeof(code));
	end(&w);
}

/* The tool ends before its n-th write. The next one finds what it needs in the arena. */
static bool takes_out(u32 step, int nth)
{
	u32 probes[NR_MIXED], i;
	struct dp_view view;
	struct world w;
	bool killed;

	begin(&w);
	for (i = 0; i < step; i++)
		take(&w, &steps[i], probes);
	w.writes = 0;
	w.kill_at = nth;
	take(&w, &steps[step], probes);
	killed = w.writes > nth;
	if (killed) {
		memcpy(w.text, w.text_then, sizeof(w.text));
		memcpy(w.file, w.file_then, w.file_size);
		assert_int_equal(dp_view_open(&view, w.e->arena,
					      w.e->arena->control.arena_size),
				 0);
		assert_int_equal(dp_view_disarm(&view, &w.target, false, NULL),
				 0);
		assert_memory_equal(w.text, code, sizeof(code));
	}
	end(&w);
	return killed;
}

static void groups_outlive_the_tool(void **state)
{
	int nth, kills = 0;
	u32 step;

	for (step = 0; step < NR_STEPS; step++)
		for (nth = 0; takes_out(step, nth); nth++)
			kills++;
	assert_in_range(kills, 60, 400);
}

/* What a site is to be that no jump may cover. */
static void keeps_to_breakpoints(void **state)
{
	const struct dp_found found = { .code = code + MIXED + 1,
					.size = sizeof(code) - MIXED - 1 };
	const struct dp_handlers single = { .kind = DP_KIND_KPROBE,
					    .user = 1,
					    .pre = ENTRY,
					    .single = true,
					    .why = "it is single" };
	u32 first, inner, bad;
	const char *why;
	struct world w;

	begin(&w);
	first = add(&w, MIXED);
	assert_int_equal(dp_live_commit(w.e, &w.target, &first, 1, &bad), 0);
	assert_int_equal(dp_live_add(w.e, TEXT + MIXED + 1, &found, &single,
				     true, &inner, &why),
			 0);
	assert_int_equal(dp_live_commit(w.e, &w.target, &inner, 1, &bad), 0);
	expect_armed(&w, MIXED, DP_MODE_TRAP);
	expect_armed(&w, MIXED + 1, DP_MODE_TRAP);
	assert_false(dp_live_optimized(w.e, first));
	assert_int_equal(dp_live_remove(w.e, &w.target, &inner, 1), 0);
	dp_live_forget(w.e, inner);
	expect_armed(&w, MIXED, DP_MODE_JUMP);
	/* Within the jump, and at none of its instructions. */
	inner = add(&w, MIXED + 2);
	assert_int_equal(dp_live_commit(w.e, &w.target, &inner, 1, &bad), 0);
	expect_armed(&w, MIXED, DP_MODE_TRAP);
	expect_armed(&w, MIXED + 2, DP_MODE_JUMP);
	assert_int_equal(dp_live_remove(w.e, &w.target, &inner, 1), 0);
	dp_live_forget(w.e, inner);
	assert_int_equal(dp_live_knobs(w.e, &w.target, true, false), 0);
	expect_armed(&w, MIXED, DP_MODE_TRAP);
	assert_int_equal(dp_live_knobs(w.e, &w.target, false, true), 0);
	assert_memory_equal(w.text, code, sizeof(code));
	end(&w);
}

/* A breakpoint has a reason as long as it is one, and a jump has none. */
static void says_why(void **state)
{
	struct world w;
	u32 probes[2];

	begin(&w);
	probes[0] = add(&w, MIXED);
	commit(&w, probes, 1);
	assert_string_equal(reason(&w, MIXED), "");
	assert_int_equal(dp_live_knobs(w.e, &w.target, true, false), 0);
	assert_string_equal(reason(&w, MIXED), "optimising is switched off");
	assert_int_equal(dp_live_knobs(w.e, &w.target, true, true), 0);
	assert_string_equal(reason(&w, MIXED), "");
	probes[1] = add(&w, MIXED + 2);
	commit(&w, probes + 1, 1);
	assert_string_equal(reason(&w, MIXED), DP_WHY_OVERLAP);
	assert_string_equal(reason(&w, MIXED + 2), "");
	assert_int_equal(dp_live_remove(w.e, &w.target, probes + 1, 1), 0);
	dp_live_forget(w.e, probes[1]);
	assert_string_equal(reason(&w, MIXED), "");
	expect_armed(&w, MIXED, DP_MODE_JUMP);
	end(&w);
}

/* Jumps without breakpoints inside are written while all threads are stopped, in the order
 * of addresses; where threads are in the way, at the next call. */
static void stops_for_jumps(void **state)
{
	u32 probes[3], i;
	struct world w;

	begin(&w);
	dp_engine_set_arming(w.e, DP_ARM_QUIESCE);
	probes[0] = add(&w, RET + 1);
	probes[1] = add(&w, LEA);
	probes[2] = add(&w, PUSHES);
	w.stop_err = -EAGAIN;
	commit(&w, probes, 3);
	assert_int_equal(w.nr_stopped, 3);
	assert_true(w.stopped[0] == TEXT + PUSHES);
	assert_true(w.stopped[1] == TEXT + LEA);
	assert_true(w.stopped[2] == TEXT + RET + 1);
	for (i = 0; i < 3; i++) {
		u32 at = (u32)(w.stopped[i] - TEXT);

		expect_armed(&w, at, DP_MODE_TRAP);
		assert_string_equal(reason(&w, at),
				    "threads are in the way of a jump");
		assert_false(dp_live_optimized(w.e, probes[i]));
	}
	w.stop_err = w.nr_stopped = 0;
	assert_int_equal(dp_live_knobs(w.e, &w.target, true, true), 0);
	assert_int_equal(w.nr_stopped, 3);
	for (i = 0; i < 3; i++) {
		u32 at = (u32)(w.stopped[i] - TEXT);

		expect_armed(&w, at, DP_MODE_JUMP);
		assert_string_equal(reason(&w, at), "");
		assert_true(dp_live_optimized(w.e, probes[i]));
	}
	/* What is there already stops nobody. */
	w.nr_stopped = 0;
	assert_int_equal(dp_live_knobs(w.e, &w.target, true, true), 0);
	assert_int_equal(w.nr_stopped, 0);
	assert_int_equal(dp_live_remove(w.e, &w.target, probes, 3), 0);
	assert_memory_equal(w.text, code, sizeof(code));
	for (i = 0; i < 3; i++)
		dp_live_forget(w.e, probes[i]);
	end(&w);
}

/* Where jumps have no breakpoints inside, sites that come together share one. A probe that
 * comes later makes them all breakpoints. */
static void shares_no_jump_later(void **state)
{
	u32 probes[3], probe, bad;
	struct world w;

	begin(&w);
	dp_engine_set_arming(w.e, DP_ARM_QUIESCE);
	probes[0] = add(&w, MIXED);
	probes[1] = add(&w, MIXED + 1);
	commit(&w, probes, 2);
	assert_int_equal(w.nr_stopped, 1);
	expect_groups(&w, 3);
	expect_armed(&w, MIXED, DP_MODE_JUMP);
	assert_int_equal(entry_of(&w, MIXED)->traps, 0);
	assert_int_equal(dp_site_patch_len(entry_of(&w, MIXED + 1)), 0);
	assert_true(dp_live_optimized(w.e, probes[1]));
	/* At a site that the jump serves already, one more changes nothing. */
	probe = add(&w, MIXED + 1);
	commit(&w, &probe, 1);
	expect_groups(&w, 3);
	assert_int_equal(w.nr_stopped, 1);
	probes[2] = add(&w, MIXED + 4);
	commit(&w, &probes[2], 1);
	assert_int_equal(w.nr_stopped, 1);
	expect_armed(&w, MIXED, DP_MODE_TRAP);
	expect_armed(&w, MIXED + 1, DP_MODE_TRAP);
	expect_armed(&w, MIXED + 4, DP_MODE_TRAP);
	assert_string_equal(reason(&w, MIXED), DP_WHY_OVERLAP);
	assert_int_equal(entry_of(&w, MIXED + 1)->leader, 0);
	assert_int_equal(entry_of(&w, MIXED + 4)->leader, 0);
	/* A thread may still be in the copy that leads back into it. */
	assert_int_equal(dp_live_remove(w.e, &w.target, &probes[2], 1), 0);
	assert_int_equal(dp_live_remove(w.e, &w.target, &probes[1], 1), 0);
	assert_int_equal(dp_live_remove(w.e, &w.target, &probe, 1), 0);
	expect_armed(&w, MIXED, DP_MODE_TRAP);
	assert_int_equal(w.text[MIXED + 1], code[MIXED + 1]);
	assert_int_equal(dp_live_remove(w.e, &w.target, &probes[0], 1), 0);
	assert_memory_equal(w.text, code, sizeof(code));
	/* Those that were never breakpoints still share. */
	probes[0] = add(&w, LEA);
	assert_int_equal(dp_live_commit(w.e, &w.target, &probes[0], 1, &bad),
			 0);
	expect_armed(&w, LEA, DP_MODE_JUMP);
	end(&w);
}

/* Nor does a jump that stops all threads cover a site that has begun another. */
static void covers_no_earlier_jump(void **state)
{
	struct world w;
	u32 probes[2];

	begin(&w);
	dp_engine_set_arming(w.e, DP_ARM_QUIESCE);
	probes[0] = add(&w, MIXED + 4);
	commit(&w, probes, 1);
	expect_armed(&w, MIXED + 4, DP_MODE_JUMP);
	probes[1] = add(&w, MIXED + 1);
	commit(&w, probes + 1, 1);
	expect_armed(&w, MIXED + 4, DP_MODE_JUMP);
	expect_armed(&w, MIXED + 1, DP_MODE_TRAP);
	assert_string_equal(reason(&w, MIXED + 1), DP_WHY_OVERLAP);
	end(&w);
}

/* A jump never changes once a site leads there: a site that it is to cover later makes
 * another one. */
static void gets_another_jump(void **state)
{
	const struct dp_jump *was, *now;
	struct dp_jump as_it_was;
	struct world w;
	u32 probe;

	begin(&w);
	probe = add(&w, MIXED);
	commit(&w, &probe, 1);
	was = dp_view_jump(&w.e->view, entry_of(&w, MIXED));
	as_it_was = *was;
	assert_int_equal(was->member[1], 0);
	probe = add(&w, MIXED + 1);
	commit(&w, &probe, 1);
	expect_armed(&w, MIXED, DP_MODE_JUMP);
	now = dp_view_jump(&w.e->view, entry_of(&w, MIXED));
	assert_ptr_not_equal(now, was);
	assert_memory_equal(was, &as_it_was, sizeof(as_it_was));
	assert_true(now->base >= was->base + was->len ||
		    was->base >= now->base + now->len);
	assert_int_not_equal(now->island ? now->island : now->base,
			     was->island ? was->island : was->base);
	assert_int_equal(now->member[1],
			 dp_engine_find(w.e, TEXT + MIXED + 1)->place);
	assert_int_equal(w.text[MIXED + 1], DP_BREAKPOINT);
	end(&w);
}

/* Where a process probes itself, no detour goes on behind its jump. */
static void goes_on_nowhere(void **state)
{
	const struct dp_found found = { .code = code + MIXED + 6,
					.size = sizeof(code) - MIXED - 6 };
	const struct dp_handlers plain = { .kind = DP_KIND_KPROBE,
					   .user = 1,
					   .pre = ENTRY };
	const struct dp_jump *j;
	struct world w;
	u32 probes[2];
	const char *why;

	begin(&w);
	probes[0] = add(&w, MIXED);
	assert_int_equal(dp_live_add(w.e, TEXT + MIXED + 6, &found, &plain,
				     true, &probes[1], &why),
			 0);
	commit(&w, probes, 2);
	expect_armed(&w, MIXED, DP_MODE_JUMP);
	expect_armed(&w, MIXED + 6, DP_MODE_TRAP);
	j = dp_view_jump(&w.e->view, entry_of(&w, MIXED));
	assert_int_equal(j->nr, 3);
	assert_int_equal(j->size, 6);
	assert_string_equal(dp_engine_mode(w.e, probes[1]), "trap");
	/* What has not changed is not made anew. */
	assert_int_equal(dp_engine_apply(w.e, &w.target, NULL), 0);
	assert_ptr_equal(dp_view_jump(&w.e->view, entry_of(&w, MIXED)), j);
	assert_int_equal(dp_live_remove(w.e, &w.target, probes, 2), 0);
	assert_memory_equal(w.text, code, sizeof(code));
	end(&w);
}

/* Where a process probes itself, hits may get more to do later: for a site inside, too, the detour
 * calls out, though it could count. */
static void calls_out_for_all(void **state)
{
	const struct dp_jump *j;
	struct world w;
	u32 probes[2];

	set_up(&w);
	dp_engine_set_rseq(w.e, 0x20, 0x53053053);
	build(&w);
	assert_int_equal(
		adopt(&w, dp_engine_arena(w.e)->control.arena_size, ROOM), 0);
	assert_true(w.e->rseq_usable);
	probes[0] = add(&w, MIXED);
	probes[1] = add(&w, MIXED + 1);
	commit(&w, probes, 2);
	j = dp_view_jump(&w.e->view, entry_of(&w, MIXED));
	assert_int_equal(j->before, 3);
	assert_int_equal(j->counted, 0);
	end(&w);
}

/* As far away as it can be in a jump, with none in between. */
static void joins_at_the_last_byte(void **state)
{
	struct world w;
	u32 probe;

	begin(&w);
	probe = add(&w, MIXED);
	commit(&w, &probe, 1);
	probe = add(&w, MIXED + 4);
	commit(&w, &probe, 1);
	assert_int_equal(entry_of(&w, MIXED + 4)->leader,
			 dp_engine_find(w.e, TEXT + MIXED)->place);
	expect_groups(&w, 0x5);
	end(&w);
}

/* The last instruction of a function, behind which other code is entered: the jump begins
 * ahead of it, where no probe is. */
static void starts_early(void **state)
{
	const struct dp_found found = { .code = code + MIXED + 4,
					.size = sizeof(code) - MIXED - 4 };
	const struct dp_handlers plain = { .kind = DP_KIND_KPROBE,
					   .user = 1,
					   .pre = ENTRY };
	const struct dp_jump *j;
	struct world w;
	const char *why;
	u32 probe, inner;

	begin(&w);
	assert_int_equal(dp_live_add(w.e, TEXT + MIXED + 4, &found, &plain,
				     true, &probe, &why),
			 0);
	dp_engine_start_early(w.e, TEXT + MIXED + 1, code + MIXED + 1, 5,
			      false);
	assert_int_equal(dp_engine_plan(w.e), 0);
	commit(&w, &probe, 1);
	expect_armed(&w, MIXED + 1, DP_MODE_JUMP);
	assert_true(dp_live_optimized(w.e, probe));
	j = dp_view_jump(&w.e->view, entry_of(&w, MIXED + 1));
	assert_int_equal(j->nr, 2);
	assert_int_equal(j->member[1],
			 dp_engine_find(w.e, TEXT + MIXED + 4)->place);
	assert_int_equal(w.text[MIXED + 4], DP_BREAKPOINT);
	assert_int_equal(dp_engine_sites(w.e), 1);
	/* It is there as long as the probe is on. */
	assert_int_equal(dp_live_enable(w.e, &w.target, &probe, 1, false), 0);
	assert_memory_equal(w.text, code, sizeof(code));
	assert_int_equal(dp_live_enable(w.e, &w.target, &probe, 1, true), 0);
	expect_armed(&w, MIXED + 1, DP_MODE_JUMP);
	/* A jump that covers the probe anyway leaves no bytes for it. */
	inner = add(&w, MIXED);
	commit(&w, &inner, 1);
	expect_armed(&w, MIXED, DP_MODE_JUMP);
	assert_true(dp_live_optimized(w.e, probe));
	assert_int_equal(dp_live_remove(w.e, &w.target, &inner, 1), 0);
	assert_int_equal(dp_live_remove(w.e, &w.target, &probe, 1), 0);
	assert_memory_equal(w.text, code, sizeof(code));
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(neighbours_share_a_jump),
		cmocka_unit_test(groups_outlive_the_tool),
		cmocka_unit_test(keeps_to_breakpoints),
		cmocka_unit_test(says_why),
		cmocka_unit_test(stops_for_jumps),
		cmocka_unit_test(shares_no_jump_later),
		cmocka_unit_test(covers_no_earlier_jump),
		cmocka_unit_test(gets_another_jump),
		cmocka_unit_test(calls_out_for_all),
		cmocka_unit_test(joins_at_the_last_byte),
		cmocka_unit_test(goes_on_nowhere),
		cmocka_unit_test(starts_early),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
