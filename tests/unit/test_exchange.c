// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* exchange: probes that take the places of others, as hits of each generation see them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include "engine/layout/probe.h"
#include "engine/site/counts.h"
#include "engine/site/enable.h"
#include "engine/site/exchange.h"
#include "engine/site/live.h"
#include "engine/site/program.h"
#include "engine/vm/ops.h"
#include "armed.h"
#include "vm_bytes.h"

#define ROUNDS 200000
#define GENERATIONS 40
#define HALF(v) (u8)(v), (u8)((u16)(v) >> 8)

static u32 random_below(u32 n)
{
	static u64 x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return (u32)(x >> 33) % n;
}

/* What the word says of a generation is what has happened to the probe up to then. */
static void test_word(void **state)
{
	u32 i, from, until, word, g;

	for (i = 0; i < ROUNDS; i++) {
		from = random_below(GENERATIONS);
		until = random_below(2) ? 0 : from + 1 + random_below(8);
		word = DP_ENABLED_FROM(from);
		if (until)
			word = DP_ENABLED_UNTIL(word, until);
		g = random_below(GENERATIONS);
		assert_int_equal(dp_enabled_in(word, g),
				 g >= from && (!until || g < until));
		assert_false(dp_enabled_in(0, g));
	}
	assert_true(dp_enabled_in(1, 0) && dp_enabled_in(1, GENERATIONS));
}

static const u8 inc[] = { OP(INC_LV_I), HALF(1), OP(EXIT) };
static const u32 starts[] = { 0 };

static int take_program(struct world *w, u32 shares, u32 nr_lv, u32 *number)
{
	const struct dp_program_spec spec = {
		.name = "x",
		.code = inc,
		.code_len = sizeof(inc),
		.starts = starts,
		.nr_starts = 1,
		.nr_lv = nr_lv,
		.room_lv = shares ? 0 : 8,
		.shares = shares,
		.stack = 1024,
	};
	const char *why;
	u32 at;

	return dp_engine_add_program(w->e, &spec, number, &at, &why);
}

static u32 bound(struct world *w, u32 offset, u32 program)
{
	const struct dp_binding b = { .program = program,
				      .maxhits = DP_HITS_UNLIMITED };
	u32 probe;

	assert_int_equal(add(w, offset, &probe), 0);
	dp_engine_bind(w->e, probe, &b);
	return probe;
}

static void begin_world(struct world *w)
{
	static const struct dp_expected room = { .sites = ROOM,
						 .probes = ROOM,
						 .programs = 4,
						 .log = 64,
						 .locals = 64 };

	begin_expecting(w, DP_ARM_TRAP, &room);
}

static u32 generation(const struct world *w)
{
	return w->e->arena->control.generation;
}

static bool is_on(const struct world *w, u32 probe, u32 g)
{
	return dp_enabled_in(w->e->view.probes[probe].enabled, g);
}

/* Before and behind the one word that changes, either all is old or all is new. */
static void test_at_once(void **state)
{
	struct world w;
	u8 off[4] = { DP_OFF_RETIRED, 0, 0, 0 };
	const struct dp_disabled which = { off, 4 };
	u32 first, second, a, b, c, d, g;

	begin_world(&w);
	assert_int_equal(take_program(&w, 0, 2, &first), 0);
	a = bound(&w, 0, first);
	b = bound(&w, 32, first);
	assert_int_equal(go(&w), 0);
	g = generation(&w);
	assert_true(is_on(&w, a, g) && is_on(&w, b, g));
	dp_exchange_begin(w.e);
	assert_int_equal(take_program(&w, first + 1, 4, &second), 0);
	c = bound(&w, 0, second);
	d = bound(&w, 64, second);
	assert_int_equal(go(&w), 0);
	assert_int_equal(w.text[64], INT3);
	assert_true(is_on(&w, a, g) && is_on(&w, b, g));
	assert_false(is_on(&w, c, g) || is_on(&w, d, g));
	assert_true(dp_exchange_joins(w.e));
	dp_exchange_join(w.e);
	dp_exchange_now(w.e, &which);
	dp_exchange_end(w.e);
	assert_int_equal(generation(&w), g + 1);
	/* Of a hit that began before */
	assert_true(is_on(&w, a, g) && !is_on(&w, c, g) && !is_on(&w, d, g));
	assert_true(!is_on(&w, a, g + 1) && is_on(&w, b, g + 1));
	assert_true(is_on(&w, c, g + 1) && is_on(&w, d, g + 1));
	assert_int_equal(w.e->view.probes[a].disabled, DP_OFF_RETIRED);
	end(&w);
}

/* Both programs have the same variables, of which there are as many as the larger one uses. */
static void test_shares(void **state)
{
	struct world w;
	struct dp_disabled none = { NULL, 0 };
	u32 first, second, third;

	begin_world(&w);
	assert_int_equal(take_program(&w, 0, 2, &first), 0);
	bound(&w, 0, first);
	assert_int_equal(go(&w), 0);
	dp_exchange_begin(w.e);
	assert_int_equal(take_program(&w, first + 1, 9, &third), -ENOSPC);
	assert_int_equal(take_program(&w, first + 2, 2, &third), -ENOSPC);
	assert_int_equal(take_program(&w, first + 1, 8, &second), 0);
	assert_int_equal(take_program(&w, second + 1, 2, &third), -ENOSPC);
	bound(&w, 32, second);
	assert_int_equal(go(&w), 0);
	dp_exchange_join(w.e);
	dp_exchange_now(w.e, &none);
	dp_exchange_end(w.e);
	assert_false(dp_exchange_joins(w.e));
	assert_int_equal(w.e->view.programs[first].lv_off,
			 w.e->view.programs[second].lv_off);
	assert_int_equal(w.e->view.programs[first].nr_lv, 8);
	assert_int_equal(w.e->view.programs[second].shares, first + 1);
	end(&w);
}

/* No generation switches on what has been given up, and nothing is shared with it. */
static void test_given_up(void **state)
{
	struct world w;
	u8 off[3] = { 0, DP_OFF_RETIRED, 0 };
	const struct dp_disabled which = { off, 3 };
	u32 first, second, third, a, c, d, g, i;

	begin_world(&w);
	assert_int_equal(take_program(&w, 0, 2, &first), 0);
	a = bound(&w, 0, first);
	assert_int_equal(go(&w), 0);
	dp_exchange_begin(w.e);
	assert_int_equal(take_program(&w, first + 1, 4, &second), 0);
	c = bound(&w, 0, second);
	assert_int_equal(go(&w), 0);
	g = generation(&w);
	dp_exchange_give_up(w.e, c, second);
	dp_exchange_end(w.e);
	assert_false(dp_exchange_joins(w.e));
	assert_int_equal(generation(&w), g);
	assert_int_equal(w.e->view.programs[second].nr_lv, 0);
	assert_int_equal(w.e->view.programs[first].nr_lv, 2);
	for (i = 0; i < GENERATIONS; i++)
		assert_true(is_on(&w, a, g + i) && !is_on(&w, c, g + i));
	dp_exchange_begin(w.e);
	assert_int_equal(take_program(&w, first + 1, 2, &third), 0);
	d = bound(&w, 32, third);
	assert_int_equal(go(&w), 0);
	dp_exchange_join(w.e);
	dp_exchange_now(w.e, &which);
	dp_exchange_end(w.e);
	assert_true(is_on(&w, a, g + 1) && !is_on(&w, c, g + 1));
	assert_true(is_on(&w, d, g + 1));
	end(&w);
}

/* What has not been armed when it is given up is not armed with what comes next. */
static void test_retracted(void **state)
{
	struct world w;
	struct dp_disabled none = { NULL, 0 };
	u32 first, second, third, probes, c, d;

	begin_world(&w);
	assert_int_equal(take_program(&w, 0, 2, &first), 0);
	bound(&w, 0, first);
	assert_int_equal(go(&w), 0);
	probes = dp_engine_probes(w.e);
	dp_exchange_begin(w.e);
	assert_int_equal(take_program(&w, 0, 4, &second), 0);
	c = bound(&w, 64, second);
	dp_engine_retract(w.e, &w.target, dp_engine_need(w.e)->nr_pools);
	dp_exchange_give_up(w.e, c, second);
	dp_exchange_end(w.e);
	assert_int_equal(dp_engine_probes(w.e), probes);
	assert_int_equal(dp_engine_programs(w.e), second);
	dp_exchange_begin(w.e);
	assert_int_equal(take_program(&w, 0, 4, &third), 0);
	d = bound(&w, 32, third);
	assert_int_equal(go(&w), 0);
	assert_int_not_equal(w.text[64], INT3);
	assert_int_equal(w.text[32], INT3);
	dp_exchange_now(w.e, &none);
	dp_exchange_end(w.e);
	assert_true(is_on(&w, d, generation(&w)));
	end(&w);
}

static void drop(struct world *w, u32 probe, u32 program)
{
	assert_int_equal(dp_live_remove(w->e, &w->target, &probe, 1), 0);
	dp_live_forget(w->e, probe);
	dp_program_remove(w->e, program);
}

/* As a live engine's come: numbers of probes are used again. */
static u32 bound_live(struct world *w, u32 offset, u32 program)
{
	static const struct dp_handlers none = { .kind = DP_KIND_PLAIN };
	const struct dp_binding b = { .program = program,
				      .maxhits = DP_HITS_UNLIMITED };
	u8 code[DP_REGION_MAX];
	struct dp_found found = { .code = code, .size = sizeof(code) };
	const char *why;
	u32 probe, bad;

	memcpy(code, w->text + offset, sizeof(code));
	dp_engine_originals(w->e, TEXT + offset, code, sizeof(code));
	assert_int_equal(dp_live_add(w->e, TEXT + offset, &found, &none, false,
				     &probe, &why),
			 0);
	dp_engine_bind(w->e, probe, &b);
	dp_live_want(w->e, probe, true, false);
	assert_int_equal(dp_live_plan(w->e, &probe, 1), 0);
	assert_int_equal(dp_live_commit(w->e, &w->target, &probe, 1, &bad), 0);
	return probe;
}

static u64 *locals(const struct world *w, u32 program)
{
	return (void *)((char *)w->e->arena +
			w->e->view.programs[program].lv_off);
}

/* What has been removed leaves its number and its room to the next, whose variables are 0. */
static void test_removed(void **state)
{
	struct world w;
	u32 first, second, next, large, a, i, lv_off, code_off;

	begin_world(&w);
	assert_int_equal(take_program(&w, 0, 2, &first), 0);
	assert_int_equal(take_program(&w, 0, 2, &second), 0);
	a = bound(&w, 0, first);
	bound(&w, 32, second);
	assert_int_equal(go(&w), 0);
	lv_off = w.e->view.programs[first].lv_off;
	code_off = w.e->view.programs[first].code_off;
	for (i = 0; i < 100; i++) {
		locals(&w, first)[1] = 77;
		locals(&w, second)[1] = 5;
		drop(&w, a, first);
		assert_int_equal(dp_engine_local(w.e, second, 1), 5);
		assert_int_equal(take_program(&w, 0, 2, &next), 0);
		assert_int_equal(next, first);
		a = bound_live(&w, 0, next);
		assert_int_equal(w.text[0], INT3);
		assert_int_equal(w.e->view.programs[next].lv_off, lv_off);
		assert_int_equal(w.e->view.programs[next].code_off, code_off);
		assert_int_equal(dp_engine_local(w.e, next, 1), 0);
	}
	/* There is no room in front of the second one. */
	drop(&w, a, first);
	assert_int_equal(take_program(&w, 0, 40, &large), 0);
	assert_true(dp_programs_fit(w.e));
	assert_int_equal(take_program(&w, 0, 40, &next), 0);
	assert_false(dp_programs_fit(w.e));
	dp_program_remove(w.e, next);
	assert_true(dp_programs_fit(w.e));
	a = bound_live(&w, 0, large);
	assert_true(w.e->view.programs[large].lv_off >
		    w.e->view.programs[second].lv_off);
	assert_int_equal(dp_engine_local(w.e, second, 1), 5);
	dp_engine_zero_local(w.e, second, 1);
	assert_int_equal(dp_engine_local(w.e, second, 1), 0);
	end(&w);
}

/* Where hits are kept out, all change at once, in one generation. */
static void test_swapped(void **state)
{
	struct world w;
	u32 first, second, a, b, c;

	begin_world(&w);
	assert_int_equal(take_program(&w, 0, 2, &first), 0);
	a = bound(&w, 0, first);
	b = bound(&w, 32, first);
	assert_int_equal(go(&w), 0);
	dp_exchange_begin(w.e);
	dp_exchange_program(w.e, first);
	assert_int_equal(take_program(&w, 0, 2, &second), 0);
	c = bound(&w, 64, second);
	assert_int_equal(go(&w), 0);
	assert_true(is_on(&w, a, generation(&w)));
	assert_false(is_on(&w, c, generation(&w)));
	dp_exchange_swap(w.e, &c, 1, &a, 1);
	dp_exchange_end(w.e);
	assert_false(is_on(&w, a, generation(&w)));
	assert_true(is_on(&w, b, generation(&w)));
	assert_true(is_on(&w, c, generation(&w)));
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_word),
		cmocka_unit_test(test_at_once),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_given_up),
		cmocka_unit_test(test_retracted),
		cmocka_unit_test(test_removed),
		cmocka_unit_test(test_swapped),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
