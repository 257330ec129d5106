// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* jump: sites closer than five bytes, which share one. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "jump_world.h"

static const struct dp_site_entry *look_up(const struct world *w, u64 addr)
{
	const struct dp_arena *arena = w->e->arena;
	const u32 *slots =
		(const void *)((const char *)arena + arena->control.hash_off);
	u32 i = dp_site_hash(addr) & arena->control.hash_mask, b;
	const struct dp_site_entry *around = NULL;

	for (; slots[i]; i = (i + 1) & arena->control.hash_mask) {
		const struct dp_site_entry *s = &w->e->view.sites[slots[i] - 1];

		if (s->addr == addr)
			return s;
		for (b = 1; b < DP_JUMP_SIZE; b++)
			if (s->traps >> b & 1 && s->addr + b == addr &&
			    dp_site_jumps(s))
				around = s;
	}
	return around;
}

/* Instructions of a function; sites are at those whose bits are set. */
struct code {
	const char *hex;
	u32 n, at[8];
};

static const struct code bytes = { "5555555555555555555555555555",
				   8,
				   { 0, 1, 2, 3, 4, 5, 6, 7 } };

/* Each of them can have several jumps: not all bytes of theirs are breakpoints. */
static const struct code mixed = { "55 89e5 55 89e5 55 4889e5 4889e5",
				   5,
				   { 0, 1, 3, 4, 6 } };

static u32 find(const struct code *c, u32 set, u32 at)
{
	u32 i;

	for (i = 0; i < c->n; i++)
		if (c->at[i] == at)
			return set >> i & 1;
	return 0;
}

static void expect_lead(const struct world *w, const struct code *c, u32 set,
			const struct dp_site_entry *s)
{
	const struct dp_jump *j = jump_of(w, s);
	u32 at = (u32)(s->addr - w->t.base), k, b;

	assert_int_equal(s->leader, 0);
	assert_int_equal(s->copy, j->base + j->insn[0]);
	for (k = 1; k < j->nr; k++) {
		b = j->offset[k];
		if (b >= DP_JUMP_SIZE)
			continue;
		assert_int_equal(j->member[k] != 0, find(c, set, at + b));
		assert_int_equal(j->before >> k & 1, find(c, set, at + b));
		assert_ptr_equal(look_up(w, s->addr + b),
				 find(c, set, at + b) ? site_of(w, at + b) : s);
	}
}

static void expect_groups(const struct world *w, const struct code *c, u32 set)
{
	const struct dp_site_entry *lead = NULL, *s;
	u32 i;

	for (i = 0; i < c->n; i++) {
		s = site_of(w, c->at[i]);
		assert_int_equal(s != NULL, set >> i & 1);
		if (!s)
			continue;
		assert_int_equal(s->mode, DP_MODE_JUMP);
		assert_true(dp_view_is_jump(&w->e->view, s));
		assert_int_equal(s->reason, 0);
		if (lead && s->addr - lead->addr < DP_JUMP_SIZE) {
			assert_int_equal(s->leader,
					 lead - w->e->view.sites + 1);
			continue;
		}
		lead = s;
		expect_lead(w, c, set, s);
	}
	expect_armed(w);
}

static void disarm_all(struct world *w)
{
	u32 i;

	assert_int_equal(disarm(w, false, NULL), 0);
	assert_memory_equal(w->t.now, w->t.orig, SIZE);
	for (i = 0; i < w->view.nr_sites; i++)
		assert_int_equal(w->view.sites[i].armed, 0);
	assert_int_equal(w->t.broken, 0);
}

/* @first: so many are armed at once, each of the others by itself */
static void group(const struct code *c, const u32 *order, u32 n, u32 set,
		  u32 first)
{
	const struct dp_expected some = { .sites = 8, .probes = 8 };
	u32 i, armed = 0;
	struct world w;

	begin(&w, HIGH, DP_ARM_INTERIOR);
	dp_engine_expect(w.e, &some);
	hex(c->hex, w.t.orig);
	for (i = 0; i < first; i++) {
		if (!(set >> order[i] & 1))
			continue;
		assert_int_equal(add(&w, c->at[order[i]], true), 0);
		armed |= 1u << order[i];
	}
	assert_int_equal(build(&w), 0);
	assert_int_equal(commit(&w), 0);
	expect_groups(&w, c, armed);
	for (; i < n; i++) {
		if (!(set >> order[i] & 1))
			continue;
		assert_int_equal(add(&w, c->at[order[i]], true), 0);
		assert_int_equal(dp_engine_plan(w.e), 0);
		assert_int_equal(commit(&w), 0);
		armed |= 1u << order[i];
		expect_groups(&w, c, armed);
	}
	disarm_all(&w);
	end(&w);
}

static void groups_sites_in_any_order(void **state)
{
	u32 order[8], set, seed, i;

	for (set = 1; set < 256; set++)
		for (seed = 0; seed < 3; seed++) {
			for (i = 0; i < 8; i++)
				order[i] = seed ? i : 7 - i;
			if (seed > 1)
				shuffle(order, 8, set);
			group(&bytes, order, 8, set, 8);
		}
}

/* All orders of five, by Heap's way. */
static void permute(u32 *v, u32 n, u32 *done)
{
	u32 i, x, k;

	if (n == 1) {
		group(&bytes, v, 5, 0x1f, 5);
		group(&mixed, v, 5, 0x1f, 5);
		group(&mixed, v, 5, 0x1f, *done % 4 + 1);
		group(&mixed, v, 5, 0x1f, 0);
		++*done;
		return;
	}
	for (i = 0; i < n; i++) {
		permute(v, n - 1, done);
		k = n % 2 ? 0 : i;
		x = v[k];
		v[k] = v[n - 1];
		v[n - 1] = x;
	}
}

/* At once, and one after the other: who comes later into an armed jump joins it. */
static void groups_five_in_all_orders(void **state)
{
	u32 v[] = { 0, 1, 2, 3, 4 }, done = 0;

	permute(v, 5, &done);
	assert_int_equal(done, 120);
}

/* With breakpoints in all of its bytes a jump leads to one address alone, where the island of
 * the jump before it is: the sites are breakpoints. */
static void joins_without_another_island(void **state)
{
	const struct dp_expected some = { .sites = 1, .probes = 1 };
	struct world w;
	u32 i;

	begin(&w, HIGH, DP_ARM_INTERIOR);
	dp_engine_expect(w.e, &some);
	hex(bytes.hex, w.t.orig);
	assert_int_equal(add(&w, 0, true), 0);
	assert_int_equal(add(&w, 1, true), 0);
	assert_int_equal(build(&w), 0);
	assert_int_equal(commit(&w), 0);
	expect_groups(&w, &bytes, 3);
	assert_int_equal(add(&w, 2, true), 0);
	assert_int_equal(dp_engine_plan(w.e), 0);
	assert_int_equal(commit(&w), 0);
	expect_armed(&w);
	assert_non_null(strstr(dp_engine_reason(w.e, w.probe[0]),
			       "no address is free"));
	for (i = 0; i < 3; i++)
		assert_int_equal(w.t.now[i], DP_BREAKPOINT);
	/* The jump that it has had is there again. */
	dp_engine_turn(w.e, w.probe[2], false);
	assert_int_equal(apply(&w), 0);
	expect_armed(&w);
	assert_int_equal(w.t.now[0], JUMP);
	disarm_all(&w);
	end(&w);
}

/* A site in the middle of another's instruction. */
static void gives_up_what_overlaps(void **state)
{
	struct world w;
	int first;

	for (first = 0; first < 2; first++) {
		begin(&w, HIGH, DP_ARM_INTERIOR);
		hex("55 4889e5 4154 90", w.t.orig);
		assert_int_equal(add(&w, first ? 2 : 0, true), 0);
		assert_int_equal(add(&w, first ? 0 : 2, true), 0);
		assert_int_equal(build(&w), 0);
		/* Only one of the sites is at an instruction. */
		w.t.stopped = true;
		assert_int_equal(commit(&w), 0);
		assert_string_equal(dp_engine_mode(w.e, w.probe[first]),
				    "trap");
		assert_non_null(strstr(dp_engine_reason(w.e, w.probe[first]),
				       "overlap"));
		assert_string_equal(dp_engine_mode(w.e, w.probe[!first]),
				    "jump");
		expect_armed(&w);
		disarm_all(&w);
		end(&w);
	}
}

/* In all that the tests before have done. */
static void changes_no_site_impossibly(void **state)
{
	assert_int_equal(dp_engine_impossible(), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_sites_in_any_order),
		cmocka_unit_test(groups_five_in_all_orders),
		cmocka_unit_test(joins_without_another_island),
		cmocka_unit_test(gives_up_what_overlaps),
		cmocka_unit_test(changes_no_site_impossibly),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
