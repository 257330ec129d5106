// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* late: jumps that are written while nobody runs, but not where a task has been preempted inside. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "engine/plan/jump.h"
#include "engine/site/arm.h"
#include "engine/site/counts.h"
#include "own.h"

/* Address of the site in whose bytes a task is, or 0 */
static u64 preempted;
/* Somebody has written over a breakpoint. */
static bool overwritten;

/* Nobody comes inside any more: the breakpoint is there, and its copy is of all that the jump displaces. */
static void expect_broken(const struct world *w, const struct dp_site_entry *s)
{
	const struct dp_jump *j = dp_view_jump(&w->e->view, s);

	assert_int_equal(s->armed, DP_SITE_TRAPPED);
	assert_int_equal(w->text[s->addr - TEXT], DP_BREAKPOINT);
	assert_memory_equal(w->text + (s->addr - TEXT) + 1, s->orig + 1,
			    DP_JUMP_SIZE - 1);
	assert_int_equal(s->copy, j->base + j->insn[0]);
}

static int write_some(void *arg, const u32 *which, u32 n, bool in)
{
	struct world *w = arg;
	const struct dp_site_entry *s;
	u8 was[sizeof(w->text)];
	int err;
	u32 i;

	assert_true(in);
	for (i = 0; i < n && !overwritten; i++)
		expect_broken(w, dp_live_site(w->e, which[i]));
	memcpy(was, w->text, sizeof(was));
	err = dp_engine_write_jumps(w->e, &w->target, which, n);
	for (i = 0; i < n && !err; i++) {
		s = dp_live_site(w->e, which[i]);
		w->stopped[w->nr_stopped++] = s->addr;
		if (s->addr != preempted)
			continue;
		memcpy(w->text + (s->addr - TEXT), was + (s->addr - TEXT),
		       DP_JUMP_SIZE);
		dp_engine_unwritten(w->e, s->addr);
	}
	return err;
}

static void begin_late(struct world *w)
{
	static struct dp_growth_ops ops;

	begin(w);
	dp_engine_set_arming(w->e, DP_ARM_QUIESCE);
	ops = growth;
	ops.traps_first = true;
	ops.stopped = write_some;
	w->e->growth->setup.ops = &ops;
	preempted = 0;
}

static void expect_trap(const struct world *w, u32 at, u32 probe,
			const char *why)
{
	assert_int_equal(w->text[at], DP_BREAKPOINT);
	assert_string_equal(dp_engine_mode(w->e, probe), "trap");
	assert_string_equal(dp_engine_reason(w->e, probe), why);
	assert_string_equal(reason(w, at), why);
	assert_false(dp_live_optimized(w->e, probe));
}

/* The breakpoint stays, and then the jump comes. */
static void comes_late(void **state)
{
	u32 probes[2];
	struct world w;

	begin_late(&w);
	preempted = TEXT + LEA;
	probes[0] = add(&w, LEA);
	probes[1] = add(&w, PUSHES);
	commit(&w, probes, 2);
	assert_int_equal(w.nr_stopped, 2);
	expect_trap(&w, LEA, probes[0], DP_WHY_LATE);
	expect_broken(&w, entry_of(&w, LEA));
	/* The other one has not waited. */
	expect_armed(&w, PUSHES, DP_MODE_JUMP);
	assert_true(dp_live_late(w.e));
	assert_int_equal(dp_live_retry(w.e, &w.target), 0);
	assert_int_equal(w.nr_stopped, 3);
	expect_trap(&w, LEA, probes[0], DP_WHY_LATE);
	assert_true(dp_live_late(w.e));
	preempted = 0;
	assert_int_equal(dp_live_retry(w.e, &w.target), 0);
	expect_armed(&w, LEA, DP_MODE_JUMP);
	assert_string_equal(reason(&w, LEA), "");
	assert_true(dp_live_optimized(w.e, probes[0]));
	assert_false(dp_live_late(w.e));
	assert_int_equal(dp_live_retry(w.e, &w.target), 0);
	assert_int_equal(w.nr_stopped, 4);
	assert_int_equal(dp_live_remove(w.e, &w.target, probes, 2), 0);
	assert_memory_equal(w.text, code, sizeof(code));
	assert_int_equal(dp_engine_impossible(), 0);
	end(&w);
}

/* What is off is not tried again. */
static void goes_late(void **state)
{
	struct world w;
	u32 probe;

	begin_late(&w);
	preempted = TEXT + LEA;
	probe = add(&w, LEA);
	commit(&w, &probe, 1);
	assert_int_equal(dp_live_enable(w.e, &w.target, &probe, 1, false), 0);
	assert_memory_equal(w.text, code, sizeof(code));
	assert_false(dp_live_late(w.e));
	preempted = 0;
	assert_int_equal(dp_live_enable(w.e, &w.target, &probe, 1, true), 0);
	expect_armed(&w, LEA, DP_MODE_JUMP);
	assert_int_equal(dp_live_remove(w.e, &w.target, &probe, 1), 0);
	end(&w);
}

/* A site that the jump was to cover counts by itself. Its copy leads between the bytes, so no jump comes. */
static void parts_late(void **state)
{
	u32 probes[2];
	struct world w;

	begin_late(&w);
	preempted = TEXT + MIXED;
	probes[0] = add(&w, MIXED);
	probes[1] = add(&w, MIXED + 1);
	commit(&w, probes, 2);
	assert_int_equal(w.nr_stopped, 1);
	expect_trap(&w, MIXED, probes[0], DP_WHY_LATE);
	expect_trap(&w, MIXED + 1, probes[1], DP_WHY_LATE);
	assert_int_equal(entry_of(&w, MIXED + 1)->leader, 0);
	assert_int_equal(dp_site_patch_len(entry_of(&w, MIXED + 1)),
			 DP_JUMP_SIZE);
	preempted = 0;
	assert_int_equal(dp_live_retry(w.e, &w.target), 0);
	assert_int_equal(w.nr_stopped, 1);
	assert_false(dp_live_late(w.e));
	expect_trap(&w, MIXED, probes[0], DP_WHY_OVERLAP);
	assert_int_equal(w.text[MIXED + 1], DP_BREAKPOINT);
	assert_int_equal(dp_live_remove(w.e, &w.target, probes, 2), 0);
	assert_memory_equal(w.text, code, sizeof(code));
	end(&w);
}

/* What could not be written is tried again, too. */
static void fails_late(void **state)
{
	struct world w;
	u32 probe;

	begin_late(&w);
	preempted = TEXT + LEA;
	probe = add(&w, LEA);
	commit(&w, &probe, 1);
	preempted = 0;
	overwritten = true;
	w.text[LEA] = 0x90;
	assert_int_equal(dp_live_retry(w.e, &w.target), -EBUSY);
	assert_true(dp_live_late(w.e));
	overwritten = false;
	w.text[LEA] = DP_BREAKPOINT;
	assert_int_equal(dp_live_retry(w.e, &w.target), 0);
	expect_armed(&w, LEA, DP_MODE_JUMP);
	assert_int_equal(dp_live_remove(w.e, &w.target, &probe, 1), 0);
	assert_memory_equal(w.text, code, sizeof(code));
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_late),
		cmocka_unit_test(goes_late),
		cmocka_unit_test(parts_late),
		cmocka_unit_test(fails_late),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
