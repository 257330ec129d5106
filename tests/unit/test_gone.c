// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* gone: code that goes, is replaced and comes back, and what its sites leave. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "engine/site/counts.h"
#include "own.h"

static u32 armed(struct world *w, u32 at, bool unowned)
{
	u32 probe, bad;

	w->unowned = unowned;
	probe = add(w, at);
	assert_int_equal(dp_live_commit(w->e, &w->target, &probe, 1, &bad), 0);
	return probe;
}

static void expect_gone(struct world *w, u32 probe, u32 at)
{
	assert_true(dp_live_gone(w->e, probe));
	assert_int_equal(dp_live_addr(w->e, probe), 0);
	assert_null(dp_engine_find(w->e, TEXT + at));
	assert_int_equal(dp_live_probe(w->e, probe)->gone, TEXT + at);
	assert_false(w->e->probes[probe].linked);
	assert_true(dp_live_lost(w->e));
	assert_false(dp_live_lost(w->e));
}

/* Other code has taken its place. Bytes decide only where a mapping may go unnoticed. */
static void code_is_replaced(void **state)
{
	u8 other[DP_JUMP_SIZE + 3];
	struct world w;
	u32 pushes, lea;

	memset(other, 0x11, sizeof(other));
	begin(&w);
	pushes = armed(&w, PUSHES, false);
	assert_false(w.held);
	lea = armed(&w, LEA, true);
	assert_true(w.held);
	dp_live_check(w.e, &w.target, lea);
	assert_false(dp_live_gone(w.e, lea));
	assert_false(dp_live_lost(w.e));
	memcpy(w.text + LEA, other, sizeof(other));
	memcpy(w.text + PUSHES, other, sizeof(other));
	dp_live_check(w.e, &w.target, pushes);
	assert_false(dp_live_gone(w.e, pushes));
	dp_live_check(w.e, &w.target, lea);
	expect_gone(&w, lea, LEA);
	assert_int_equal(dp_live_remove(w.e, &w.target, &lea, 1), 0);
	dp_live_forget(w.e, lea);
	assert_memory_equal(w.text + LEA, other, sizeof(other));
	end(&w);
}

static bool is_gone_with(struct world *w, u32 probe, u32 at, const u8 *now,
			 size_t n)
{
	u8 was[sizeof(code)];
	bool gone;

	memcpy(was, w->text, sizeof(was));
	memcpy(w->text + at, now, n);
	gone = dp_site_is_gone(w->e, &w->target, w->e->probes[probe].site);
	memcpy(w->text, was, sizeof(was));
	return gone;
}

/* A breakpoint may be another's. The code behind it tells: programs change some of their
 * code in place, and not all of it. */
static void breakpoint_of_another(void **state)
{
	u8 now[DP_REGION_MAX];
	struct world w;
	u32 probe, i;

	begin(&w);
	probe = armed(&w, LEA, true);
	memset(now, 0x11, sizeof(now));
	now[0] = DP_BREAKPOINT;
	assert_false(is_gone_with(&w, probe, LEA, now, 1));
	assert_true(is_gone_with(&w, probe, LEA, now, sizeof(now)));
	for (i = 1; i < sizeof(now); i++) {
		now[i] = code[LEA + i];
		assert_false(is_gone_with(&w, probe, LEA, now, sizeof(now)));
		now[i] = 0x11;
	}
	now[0] = 0x90;
	assert_true(is_gone_with(&w, probe, LEA, now, 1));
	end(&w);
}

/* Bytes that another armed site has there tell nothing of the code. */
static void breakpoints_behind(void **state)
{
	u8 now[DP_REGION_MAX];
	struct world w;
	u32 probe, i;

	begin(&w);
	assert_int_equal(dp_live_knobs(w.e, &w.target, true, false), 0);
	probe = armed(&w, LEA, true);
	armed(&w, LEA + 7, true);
	memset(now, 0x11, sizeof(now));
	now[0] = now[7] = DP_BREAKPOINT;
	assert_true(is_gone_with(&w, probe, LEA, now, sizeof(now)));
	for (i = 1; i < sizeof(now); i++)
		armed(&w, LEA + i, true);
	memset(now, DP_BREAKPOINT, sizeof(now));
	assert_false(is_gone_with(&w, probe, LEA, now, sizeof(now)));
	end(&w);
}

/* Without bytes of ours there the code is the same to the last byte, or it has gone. */
static void code_of_a_disabled_probe(void **state)
{
	struct world w;
	u32 probe, i;
	u8 byte = 0x11;

	begin(&w);
	probe = armed(&w, LEA, true);
	assert_int_equal(dp_live_enable(w.e, &w.target, &probe, 1, false), 0);
	dp_live_check(w.e, &w.target, probe);
	assert_false(dp_live_gone(w.e, probe));
	for (i = 0; i < 7; i++)
		assert_true(is_gone_with(&w, probe, LEA + i, &byte, 1));
	/* Some of it has another site's jump: that is no change. */
	armed(&w, LEA + 7, false);
	assert_false(is_gone_with(&w, probe, LEA, &code[LEA], 1));
	end(&w);
}

/* Is the text what it was left to be? */
static void intact(void **state)
{
	struct world w;
	u32 probe;

	begin(&w);
	probe = armed(&w, LEA, false);
	assert_true(dp_live_intact(w.e, &w.target, probe));
	w.text[LEA + 4] ^= 1;
	assert_false(dp_live_intact(w.e, &w.target, probe));
	w.text[LEA + 4] ^= 1;
	w.mapped = LEA + 4;
	assert_false(dp_live_intact(w.e, &w.target, probe));
	w.mapped = sizeof(code);
	assert_int_equal(dp_live_knobs(w.e, &w.target, true, false), 0);
	assert_true(dp_live_intact(w.e, &w.target, probe));
	w.text[LEA] = 0x90;
	assert_false(dp_live_intact(w.e, &w.target, probe));
	w.text[LEA] = DP_BREAKPOINT;
	assert_int_equal(dp_live_knobs(w.e, &w.target, false, true), 0);
	assert_true(dp_live_intact(w.e, &w.target, probe));
	w.text[LEA] = DP_BREAKPOINT;
	assert_false(dp_live_intact(w.e, &w.target, probe));
	w.text[LEA] = code[LEA];
	dp_live_abandon(w.e, probe);
	assert_false(dp_live_intact(w.e, &w.target, probe));
	end(&w);
}

/* Code that is read has the program's bytes, wherever in a patch the reading begins or
 * ends; what the program has written itself stays. */
static void originals(void **state)
{
	u8 read[sizeof(code)];
	struct world w;
	u32 from, n, off;

	begin(&w);
	armed(&w, PUSHES, false);
	armed(&w, LEA, false);
	off = armed(&w, MIXED, false);
	assert_int_equal(dp_live_enable(w.e, &w.target, &off, 1, false), 0);
	w.text[MIXED] = 0x11;
	for (from = 0; from < LEA + 8; from++)
		for (n = 1; from + n < MIXED; n++) {
			memcpy(read, w.text + from, n);
			read[n] = 0x77;
			dp_engine_originals(w.e, TEXT + from, read, n);
			assert_memory_equal(read, code + from, n);
			assert_int_equal(read[n], 0x77);
		}
	memcpy(read, w.text, sizeof(read));
	dp_engine_originals(w.e, TEXT, read, sizeof(read));
	assert_int_equal(read[MIXED], 0x11);
	dp_engine_originals(w.e, TEXT + MIXED, w.text + MIXED, 1);
	assert_int_equal(w.text[MIXED], 0x11);
	end(&w);
}

static void code_is_unmapped(void **state)
{
	struct world w;
	u32 probe;

	begin(&w);
	probe = armed(&w, PUSHES, false);
	w.mapped = DP_JUMP_SIZE;
	dp_live_check(w.e, &w.target, probe);
	assert_false(dp_live_gone(w.e, probe));
	w.mapped--;
	dp_live_check(w.e, &w.target, probe);
	expect_gone(&w, probe, PUSHES);
	end(&w);
	/* Nor is there an instruction of which the last byte is missing. */
	begin(&w);
	probe = armed(&w, LEA, false);
	w.mapped = LEA + 7;
	dp_live_check(w.e, &w.target, probe);
	assert_false(dp_live_gone(w.e, probe));
	w.mapped--;
	dp_live_check(w.e, &w.target, probe);
	expect_gone(&w, probe, LEA);
	end(&w);
}

static bool is_gone(struct world *w, u32 probe)
{
	return dp_site_is_gone(w->e, &w->target, w->e->probes[probe].site);
}

/* Nothing is known of code that no engine has armed, or that was found to have gone. */
static void code_that_is_not_looked_at(void **state)
{
	struct world w;
	u32 probe;

	begin(&w);
	probe = add(&w, LEA);
	w.mapped = 0;
	assert_false(is_gone(&w, probe));
	w.mapped = sizeof(code);
	end(&w);
	begin(&w);
	probe = armed(&w, LEA, false);
	assert_false(is_gone(&w, probe));
	((struct dp_site_entry *)entry_of(&w, LEA))->armed = DP_SITE_GONE;
	assert_true(is_gone(&w, probe));
	end(&w);
}

/* The probe is not armed, and what has come is left alone. */
static void code_goes_before(void **state)
{
	struct world w;
	u32 probes[2], bad;

	begin(&w);
	probes[0] = add(&w, PUSHES);
	w.unowned = true;
	probes[1] = add(&w, LEA);
	memset(w.text + LEA, 0x11, DP_JUMP_SIZE + 3);
	assert_int_equal(dp_live_commit(w.e, &w.target, probes, 2, &bad),
			 -EFAULT);
	assert_int_equal(bad, 1);
	assert_int_equal(w.text[LEA], 0x11);
	expect_gone(&w, probes[1], LEA);
	expect_armed(&w, PUSHES, DP_MODE_JUMP);
	end(&w);
}

/* What was to be written is decided anew: nothing may be left in what comes there. */
static void code_goes_while_others_are_written(void **state)
{
	const struct dp_site_entry none = { 0 };
	struct world w;
	u32 probes[2], bad;

	begin(&w);
	probes[0] = add(&w, PUSHES);
	probes[1] = add(&w, LEA);
	w.leaves = 1 + probes[1];
	assert_int_equal(dp_live_commit(w.e, &w.target, probes, 2, &bad),
			 -EFAULT);
	assert_int_equal(bad, 1);
	assert_memory_equal(w.text + LEA, code + LEA, sizeof(code) - LEA);
	assert_true(dp_live_gone(w.e, probes[1]));
	assert_memory_equal(dp_live_site(w.e, w.e->probes[probes[1]].site),
			    &none, sizeof(none));
	expect_armed(&w, PUSHES, DP_MODE_JUMP);
	end(&w);
}

static u32 slots_used(const struct world *w)
{
	u32 i, n = 0;

	for (i = 0; i <= w->e->slots_mask; i++)
		n += w->e->slots[i] != 0;
	return n;
}

/* What the engine has taken, in the order in which it was taken. */
struct taken {
	u32 sites, jumps, pools, bytes, slots;
};

static struct taken taken(const struct world *w)
{
	struct taken t = { .sites = w->e->nr_sites,
			   .jumps = w->e->view.nr_jumps,
			   .pools = w->e->need.nr_pools,
			   .slots = slots_used(w) };
	u32 i;

	for (i = 0; i < t.pools; i++)
		t.bytes += w->e->growth->pools[i].used;
	return t;
}

/* A library comes, is probed at two places, and goes. @late: so do its probes, only after
 * others have come */
static void come_and_go(struct world *w, bool late)
{
	static const u32 at[] = { MIXED, MIXED + 1, MIXED + 4, LEA };
	u32 probes[4], more = 0, i;
	struct dp_probe_entry *p;

	memcpy(w->text, code, sizeof(code));
	for (i = 0; i < 4; i++) {
		probes[i] = armed(w, at[i], true);
		assert_int_equal(dp_live_hits(w->e, probes[i]), 0);
	}
	for (i = 0; i < 4; i++) {
		assert_true(dp_live_optimized(w->e, probes[i]));
		/* A hit of the site, as its detour counts it. */
		p = dp_live_probe(w->e, probes[i]);
		++*(u64 *)(w->e->view.counters + p->site * sizeof(u64));
		assert_int_equal(dp_live_hits(w->e, probes[i]), 1);
	}
	memset(w->text, 0x11, sizeof(w->text));
	for (i = 0; i < 4; i++) {
		dp_live_check(w->e, &w->target, probes[i]);
		assert_true(dp_live_gone(w->e, probes[i]));
	}
	memcpy(w->text, code, sizeof(code));
	if (late)
		more = armed(w, MIXED, true);
	for (i = 0; i < 4; i++) {
		assert_true(dp_live_gone(w->e, probes[i]));
		assert_int_equal(dp_live_addr(w->e, probes[i]), 0);
		assert_int_equal(
			dp_live_remove(w->e, &w->target, &probes[i], 1), 0);
		dp_live_forget(w->e, probes[i]);
	}
	if (late) {
		expect_armed(w, MIXED, DP_MODE_JUMP);
		assert_int_equal(dp_live_remove(w->e, &w->target, &more, 1), 0);
		dp_live_forget(w->e, more);
	}
	assert_memory_equal(w->text, code, sizeof(code));
}

static void libraries_leave_nothing(void **state)
{
	struct taken early, now;
	struct world w;
	u32 i;

	begin(&w);
	for (i = 0; i < 21; i++)
		come_and_go(&w, i % 3 == 1);
	early = taken(&w);
	for (; i < 2001; i++)
		come_and_go(&w, i % 3 == 1);
	now = taken(&w);
	assert_memory_equal(&now, &early, sizeof(now));
	assert_in_range(now.sites, 4, 12);
	assert_int_equal(now.slots, 0);
	end(&w);
}

/* Nor do copies that end in a breakpoint, for handlers behind the instruction. */
static void after_handlers_leave_nothing(void **state)
{
	static const struct dp_handlers after = {
		.kind = DP_KIND_KPROBE, .user = 1, .post = ENTRY, .single = true
	};
	const struct dp_found found = { .code = code + LEA,
					.size = sizeof(code) - LEA,
					.unowned = true };
	struct taken early = { 0 }, now;
	u32 probe, bad, i;
	struct world w;
	const char *why;

	begin(&w);
	for (i = 0; i < 40; i++) {
		memcpy(w.text, code, sizeof(code));
		assert_int_equal(dp_live_add(w.e, TEXT + LEA, &found, &after,
					     true, &probe, &why),
				 0);
		assert_int_equal(
			dp_live_commit(w.e, &w.target, &probe, 1, &bad), 0);
		assert_int_not_equal(entry_of(&w, LEA)->post, 0);
		memset(w.text, 0x11, sizeof(w.text));
		dp_live_check(w.e, &w.target, probe);
		assert_true(dp_live_gone(w.e, probe));
		dp_live_remove(w.e, &w.target, &probe, 1);
		dp_live_forget(w.e, probe);
		now = taken(&w);
		early = i < 5 ? now : early;
	}
	assert_memory_equal(&now, &early, sizeof(now));
	assert_int_equal(now.slots, 0);
	end(&w);
}

/* A site that never got its copy is as free as one that had it, once other code is there. */
static void failures_leave_nothing(void **state)
{
	static const struct dp_handlers handlers = { .kind = DP_KIND_KPROBE,
						     .user = 1,
						     .pre = ENTRY };
	u8 other[16] = { 0x90 };
	struct dp_found found = { .code = other, .size = sizeof(other) };
	u32 probe, bad, i;
	const char *why;
	struct world w;

	begin(&w);
	for (i = 0; i < 4 * ROOM; i++) {
		other[0] = i % 2 ? 0x90 : 0x55;
		assert_int_equal(dp_live_add(w.e, TEXT + LEA, &found, &handlers,
					     true, &probe, &why),
				 0);
		w.map_err = -ENOMEM;
		assert_int_equal(dp_live_commit(w.e, &w.target, &probe, 1,
						&bad),
				 -ENOMEM);
		dp_live_remove(w.e, &w.target, &probe, 1);
		dp_live_forget(w.e, probe);
	}
	assert_int_equal(w.e->nr_sites, 1);
	end(&w);
}

/* The table is full, and a site whose code has been replaced is still known to a probe. */
static void table_has_its_limit(void **state)
{
	static const struct dp_handlers handlers = { .kind = DP_KIND_KPROBE,
						     .user = 1,
						     .pre = ENTRY };
	u8 other[16] = { 0x90 };
	struct dp_found found = { .code = other, .size = sizeof(other) };
	const char *why;
	u32 probe, i;
	struct world w;

	begin(&w);
	for (i = 0; i < ROOM - 1; i++)
		assert_int_equal(dp_live_add(w.e, TEXT + i, &found, &handlers,
					     true, &probe, &why),
				 0);
	assert_int_equal(dp_live_remove(w.e, &w.target, &probe, 1), 0);
	other[0] = 0x55;
	for (i = 0; i < 2; i++)
		assert_int_equal(dp_live_add(w.e, TEXT + ROOM - 2, &found,
					     &handlers, true, &probe, &why),
				 -ENOMEM);
	assert_int_equal(w.e->nr_sites, ROOM - 1);
	end(&w);
}

/* One probe of two goes: its site stays. */
static void abandons_probes(void **state)
{
	struct world w;
	u32 first, second;

	begin(&w);
	first = armed(&w, LEA, false);
	second = armed(&w, LEA, false);
	dp_live_abandon(w.e, first);
	assert_int_equal(dp_live_probe(w.e, first)->gone, TEXT + LEA);
	assert_int_equal(dp_live_probe(w.e, second)->gone, 0);
	assert_int_equal(dp_live_addr(w.e, second), TEXT + LEA);
	assert_int_equal(dp_engine_find(w.e, TEXT + LEA)->first_probe,
			 second + 1);
	dp_live_abandon(w.e, second);
	assert_null(dp_engine_find(w.e, TEXT + LEA));
	end(&w);
}

static bool is_lea(void *arg, u64 addr)
{
	*(u32 *)arg += 1;
	return addr >= TEXT + LEA && addr < TEXT + LEA + 7;
}

/* The code of some sites is about to go, with what is armed there or without. */
static void code_is_left(void **state)
{
	u32 lea, twice, pushes, unused, asked = 0;
	struct world w;

	begin(&w);
	lea = armed(&w, LEA, false);
	twice = armed(&w, LEA, false);
	pushes = armed(&w, PUSHES, false);
	unused = armed(&w, LEA + 7, false);
	assert_int_equal(dp_live_remove(w.e, &w.target, &unused, 1), 0);
	dp_live_forget(w.e, unused);
	assert_int_equal(dp_live_remove(w.e, &w.target, &lea, 1), 0);
	assert_int_equal(dp_live_leave_code(w.e, is_lea, &asked), 1);
	assert_true(asked >= 3);
	expect_gone(&w, twice, LEA);
	assert_true(dp_live_gone(w.e, lea));
	assert_false(dp_live_gone(w.e, pushes));
	assert_non_null(dp_engine_find(w.e, TEXT + LEA + 7));
	assert_int_equal(dp_live_leave_code(w.e, is_lea, &asked), 0);
	end(&w);
}

/* A probe without code counts nothing, costs no site, and moves to its code when that is there. */
static void code_comes_later(void **state)
{
	u32 probe, other, bad, i, made;
	const char *why;
	struct world w;
	u64 at;

	begin(&w);
	other = armed(&w, PUSHES, false);
	assert_int_equal(dp_live_remove(w.e, &w.target, &other, 1), 0);
	w.e->view.states[other].tally[DP_TALLY_LOST] = 7;
	dp_live_probe(w.e, other)->earlier = 5;
	dp_live_forget(w.e, other);
	made = (u32)dp_engine_sites(w.e);
	assert_int_equal(dp_live_add_absent(w.e, true, &probe), 0);
	assert_int_equal(probe, other);
	assert_true(dp_live_gone(w.e, probe));
	assert_int_equal(dp_engine_hits(w.e, probe), 0);
	assert_int_equal(dp_engine_tally(w.e, probe, DP_TALLY_LOST), 0);
	assert_int_equal(dp_engine_sites(w.e), made);
	assert_int_equal(dp_engine_apply(w.e, &w.target, &at), 0);
	assert_int_equal(dp_engine_move(w.e, probe, TEXT + LEA, code + LEA,
					sizeof(code) - LEA, &why),
			 0);
	assert_int_equal(dp_live_commit(w.e, &w.target, &probe, 1, &bad), 0);
	assert_false(dp_live_gone(w.e, probe));
	assert_int_equal(dp_live_addr(w.e, probe), TEXT + LEA);
	assert_int_not_equal(w.text[LEA], code[LEA]);
	/* Its place is another's now: as often as one likes. */
	for (i = 0; i < 3 * w.e->max_sites; i++) {
		assert_int_equal(dp_live_add_absent(w.e, false, &other), 0);
		dp_live_forget(w.e, other);
	}
	for (i = 0; !dp_live_add_absent(w.e, false, &other); i++)
		assert_true(i < w.e->max_sites);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_is_replaced),
		cmocka_unit_test(breakpoint_of_another),
		cmocka_unit_test(breakpoints_behind),
		cmocka_unit_test(code_of_a_disabled_probe),
		cmocka_unit_test(intact),
		cmocka_unit_test(originals),
		cmocka_unit_test(code_is_unmapped),
		cmocka_unit_test(code_that_is_not_looked_at),
		cmocka_unit_test(code_goes_before),
		cmocka_unit_test(code_goes_while_others_are_written),
		cmocka_unit_test(libraries_leave_nothing),
		cmocka_unit_test(after_handlers_leave_nothing),
		cmocka_unit_test(failures_leave_nothing),
		cmocka_unit_test(table_has_its_limit),
		cmocka_unit_test(abandons_probes),
		cmocka_unit_test(code_is_left),
		cmocka_unit_test(code_comes_later),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
