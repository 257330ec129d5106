// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* move: sites that come to an armed engine, go from it and come back, on bytes in an array. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "engine/site/counts.h"
#include "engine/site/grow.h"
#include "engine/site/instances.h"
#include "engine/text/state.h"
#include "engine/vm/ops.h"
#include "engine/vm/vm.h"
#include "armed.h"

static void hit(const struct world *w, u32 probe)
{
	++((u64 *)w->e->view.counters)[w->e->view.probes[probe].site];
}

/* The site's library is unmapped, and its bytes are other ones. */
static void lose(struct world *w, u32 probe)
{
	struct dp_site_entry *s = (void *)entry_of(w, probe);
	u64 at = s->addr - TEXT;

	memset(w->text + at, NOP, DP_JUMP_SIZE);
	memset(w->lost + at, 1, DP_JUMP_SIZE);
	assert_int_equal(dp_site_set_state(s, DP_SITE_GONE), 0);
}

static int back(struct world *w, u32 probe, u32 offset)
{
	const char *why;

	memset(w->lost + offset, 0, DP_JUMP_SIZE);
	return dp_engine_move(w->e, probe, TEXT + offset, w->text + offset,
			      DP_REGION_MAX, &why);
}

/* Whatever its address, and whoever was there before it. */
static void comes_later(void **state)
{
	struct world w;
	u32 p[5], i;

	begin(&w, DP_ARM_TRAP);
	assert_int_equal(add(&w, 500, &p[0]), 0);
	assert_int_equal(go(&w), 0);
	hit(&w, p[0]);
	assert_int_equal(add(&w, 900, &p[1]), 0);
	assert_int_equal(add(&w, 100, &p[2]), 0);
	assert_int_equal(add(&w, 500, &p[3]), 0);
	assert_int_equal(go(&w), 0);
	assert_int_equal(add(&w, 300, &p[4]), 0);
	assert_int_equal(go(&w), 0);
	for (i = 0; i < 5; i++) {
		assert_int_equal(entry_of(&w, p[i])->armed, DP_SITE_THERE);
		assert_int_equal(w.text[entry_of(&w, p[i])->addr - TEXT], INT3);
	}
	assert_int_equal(entry_of(&w, p[2])->addr, TEXT + 100);
	/* Both are on the list of the one that was there. */
	assert_ptr_equal(entry_of(&w, p[0]), entry_of(&w, p[3]));
	assert_int_equal(entry_of(&w, p[0])->first_probe, p[0] + 1);
	assert_int_equal(w.e->view.probes[p[0]].next, p[3] + 1);
	assert_int_equal(dp_engine_hits(w.e, p[0]), 1);
	assert_int_equal(dp_engine_sites(w.e), 4);
	end(&w);
}

static void says_that_it_is_full(void **state)
{
	struct world w;
	u32 p, i;

	begin(&w, DP_ARM_TRAP);
	assert_int_equal(add(&w, 0, &p), 0);
	assert_int_equal(go(&w), 0);
	for (i = 1; i <= ROOM; i++)
		assert_int_equal(add(&w, 16 * i, &p), 0);
	assert_int_equal(add(&w, 16 * i, &p), -ENOSPC);
	assert_int_equal(add(&w, 0, &p), 0);
	assert_int_equal(go(&w), -ENOSPC);
	dp_engine_retract(w.e, &w.target, w.m.nr_pools);
	assert_int_equal(w.text[0], INT3);
	assert_int_equal(w.text[16], NOP);
	assert_int_equal(w.e->view.nr_sites, 1);
	assert_int_equal(dp_engine_probes(w.e), 1);
	assert_int_equal(w.e->sites[0].first_probe, w.e->sites[0].last_probe);
	/* What fits is armed all the same. */
	assert_int_equal(add(&w, 32, &p), 0);
	assert_int_equal(p, 1);
	assert_int_equal(go(&w), 0);
	assert_int_equal(w.text[32], INT3);
	assert_int_equal(w.text[16], NOP);
	/* All of the room is there again. */
	for (i = 3; i <= ROOM + 1; i++)
		assert_int_equal(add(&w, 16 * i, &p), 0);
	assert_int_equal(go(&w), 0);
	for (i = 2; i <= ROOM + 1; i++)
		assert_int_equal(w.text[16 * i], INT3);
	assert_int_equal(add(&w, 16, &p), -ENOSPC);
	end(&w);
}

/* What was added last was planned, and for its code nothing could be mapped. Return: how much
 * was mapped before. */
static u32 plan_unmapped(struct world *w)
{
	u32 pools = w->m.nr_pools;

	/* Far from what is mapped */
	w->m.hole[w->m.nr_holes++] =
		(struct dp_hole){ TEXT - 0x8000000, TEXT - 0x7000000, false };
	w->m.hole[0] = w->m.hole[1];
	assert_int_equal(plan(w), 0);
	assert_true(w->m.nr_pools > pools);
	memory_unmap(&w->m, pools);
	return pools;
}

/* What could not be armed leaves no trace: not where it was added, nor in what was there. */
static void retracts(void **state)
{
	struct world w;
	u32 p, q, later[3], i;
	u64 single;

	begin(&w, DP_ARM_TRAP);
	assert_int_equal(add(&w, 100, &p), 0);
	assert_int_equal(go(&w), 0);
	hit(&w, p);
	single = entry_of(&w, p)->single;
	for (i = 0; i < 3 * ROOM; i++) {
		assert_int_equal(add(&w, 100, &later[0]), 0);
		assert_int_equal(add(&w, 200, &later[1]), 0);
		assert_int_equal(add(&w, 202, &later[2]), 0);
		assert_int_equal(add(&w, 300 + i, &later[2]), 0);
		w.writes = 0;
		/* Before it is planned, before it is armed, and as far as it could be. */
		if (i % 3)
			assert_int_equal(plan(&w), 0);
		/* Of those of which the hit half was told, the numbers are taken. */
		if (i % 3 == 2 && i < 6) {
			w.text[300 + i] = INT3;
			assert_int_equal(go(&w), -EBUSY);
		}
		dp_engine_retract(w.e, &w.target, w.m.nr_pools);
		w.text[300 + i] = NOP;
		assert_true(!w.writes || (i % 3 == 2 && i < 6));
		assert_int_equal(w.text[200], NOP);
		assert_int_equal(w.text[202], NOP);
		assert_int_equal(w.text[100], INT3);
		assert_false(dp_engine_is_gone(w.e, p));
		assert_int_equal(entry_of(&w, p)->first_probe, p + 1);
		assert_int_equal(w.e->view.probes[p].next, 0);
		assert_int_equal(entry_of(&w, p)->single, single);
	}
	assert_in_range(w.e->nr_sites, 1, 6);
	assert_int_equal(dp_engine_hits(w.e, p), 1);
	/* By now there is another library, whose code is mov $0, %eax. */
	assert_non_null(dp_engine_find(w.e, TEXT + 200));
	memset(w.text + 200, 0, DP_JUMP_SIZE);
	w.text[200] = 0xb8;
	assert_int_equal(add(&w, 200, &q), 0);
	assert_int_equal(go(&w), 0);
	assert_int_equal(w.text[200], INT3);
	assert_int_equal(entry_of(&w, q)->insn_len, DP_JUMP_SIZE);
	end(&w);
}

/* Is all code of the probe's site where something is mapped, and has it been written? */
static void expect_code(const struct world *w, u32 probe)
{
	const struct dp_site_entry *s = entry_of(w, probe);
	const struct dp_jump *j = dp_view_jump(&w->e->view, s);

	assert_non_null(memory_at(&w->m, s->single));
	assert_int_not_equal(*memory_at(&w->m, s->single), 0);
	if (!j->nr)
		return;
	assert_non_null(memory_at(&w->m, j->base));
	assert_int_not_equal(*memory_at(&w->m, j->base + j->start), 0);
}

/* No two copies or detours have the same memory. */
static void expect_apart(const struct world *w)
{
	const struct dp_view *v = &w->e->view;
	struct dp_hole code[2 * 2 * ROOM];
	u32 n = 0, i, k;

	for (i = 0; i < v->nr_sites; i++)
		if (v->sites[i].addr)
			code[n++] = (struct dp_hole){
				.start = v->sites[i].single,
				.end = v->sites[i].single +
				       v->sites[i].single_len
			};
	for (i = 1; i < v->nr_jumps; i++)
		if (v->jumps[i].nr)
			code[n++] = (struct dp_hole){ .start = v->jumps[i].base,
						      .end = v->jumps[i].base +
							     v->jumps[i].len };
	for (i = 0; i < n; i++) {
		assert_non_null(memory_at(&w->m, code[i].start));
		for (k = 0; k < i; k++)
			assert_true(code[i].end <= code[k].start ||
				    code[k].end <= code[i].start);
	}
}

/* Nor does it leave code where nothing was mapped. */
static void retracts_what_was_not_mapped(void **state)
{
	u32 p, q, pools, i;
	struct world w;

	begin(&w, DP_ARM_QUIESCE);
	w.m.hole[0].end = w.m.hole[0].start + 0x10000;
	assert_int_equal(add(&w, 100, &p), 0);
	allow(&w, p);
	assert_int_equal(go(&w), 0);
	assert_int_equal(w.text[100], JMP);
	assert_int_equal(w.m.nr_pools, 1);
	for (i = 0; i < 5; i++) {
		/* The first one has no room for more. */
		w.e->growth->pools[0].full = true;
		assert_int_equal(add(&w, 200, &q), 0);
		allow(&w, q);
		assert_int_equal(add(&w, 300, &q), 0);
		allow(&w, q);
		w.m.nr_holes = 1;
		pools = plan_unmapped(&w);
		dp_engine_retract(w.e, &w.target, pools);
		assert_int_equal(w.text[200], NOP);
		assert_int_equal(w.text[100], JMP);
		assert_null(dp_engine_find(w.e, TEXT + 200));
	}
	/* Something else is there by now; then there is more room where something was. */
	for (i = 0; i < 8; i++) {
		w.e->growth->pools[0].full = i;
		assert_int_equal(add(&w, 200 + 100 * i, &q), 0);
		allow(&w, q);
		assert_int_equal(go(&w), 0);
		assert_int_equal(w.text[200 + 100 * i], JMP);
		expect_code(&w, q);
		expect_apart(&w);
	}
	end(&w);
}

/* Nor does code wait to be written there. */
static void retracts_what_waits(void **state)
{
	u32 p, q, far;
	struct world w;
	const char *why;

	begin(&w, DP_ARM_QUIESCE);
	assert_int_equal(add(&w, 100, &p), 0);
	allow(&w, p);
	assert_int_equal(go(&w), 0);
	w.e->growth->pools[0].full = true;
	assert_int_equal(add(&w, 200, &q), 0);
	/* Of which no memory is in reach */
	assert_int_equal(dp_engine_add(w.e, TEXT + (8ull << 32), w.text + 300,
				       DP_REGION_MAX, &far, &why),
			 0);
	assert_int_equal(plan(&w), -ENOMEM);
	assert_int_equal(w.m.nr_pools, 2);
	memory_unmap(&w.m, 1);
	dp_engine_retract(w.e, &w.target, 1);
	assert_int_equal(add(&w, 200, &q), 0);
	allow(&w, q);
	assert_int_equal(go(&w), 0);
	assert_int_equal(w.text[200], JMP);
	expect_code(&w, q);
	expect_apart(&w);
	end(&w);
}

/* It keeps its number, its counts and its neighbours. */
static void goes_and_comes_back(void **state)
{
	static const u32 where[] = { 700, 100, 100 };
	struct world w;
	u32 p, q, i;

	begin(&w, DP_ARM_TRAP);
	assert_int_equal(add(&w, 100, &p), 0);
	assert_int_equal(add(&w, 2000, &q), 0);
	assert_int_equal(go(&w), 0);
	for (i = 0; i < 3; i++) {
		hit(&w, p);
		lose(&w, p);
		assert_true(dp_engine_is_gone(w.e, p));
		assert_int_equal(dp_engine_gone(w.e), 1);
		dp_engine_release_gone(w.e);
		assert_true(dp_engine_is_gone(w.e, p));
		assert_int_not_equal(w.e->view.probes[p].gone, 0);
		assert_int_equal(back(&w, p, where[i]), 0);
		assert_int_equal(go(&w), 0);
		assert_false(dp_engine_is_gone(w.e, p));
		assert_int_equal(w.e->view.probes[p].gone, 0);
		assert_int_equal(entry_of(&w, p)->addr, TEXT + where[i]);
		assert_int_equal(w.text[where[i]], INT3);
		assert_int_equal(dp_engine_hits(w.e, p), i + 1);
	}
	assert_int_equal(w.text[2000], INT3);
	assert_int_equal(dp_engine_gone(w.e), 0);
	end(&w);
}

/* As often as it likes, in the same room. */
static void takes_back(void **state)
{
	u32 p, q, i, used = 0, early = 0;
	struct dp_site_entry was;
	struct world w;
	u64 orig;

	begin(&w, DP_ARM_TRAP);
	assert_int_equal(add(&w, 2000, &q), 0);
	assert_int_equal(go(&w), 0);
	assert_int_equal(add(&w, 100, &p), 0);
	assert_int_equal(go(&w), 0);
	for (i = 0; i < 100; i++) {
		was = *entry_of(&w, p);
		assert_int_equal(dp_view_original(&w.e->view, was.copy, &orig),
				 0);
		lose(&w, p);
		dp_engine_release_gone(w.e);
		/* Something else may be there soon. */
		assert_int_equal(dp_view_original(&w.e->view, was.copy, &orig),
				 -ENOENT);
		assert_int_equal(back(&w, p, 100 + i % 7 * 16), 0);
		assert_int_equal(go(&w), 0);
		assert_int_equal(w.text[100 + i % 7 * 16], INT3);
		assert_int_equal(dp_view_original(&w.e->view,
						  entry_of(&w, p)->copy, &orig),
				 0);
		assert_true(orig == TEXT + 100 + i % 7 * 16);
		assert_true(entry_of(&w, p)->copy != entry_of(&w, q)->copy);
		used = w.e->growth->pools[0].used;
		early = i < 3 ? used : early;
	}
	assert_int_equal(used, early);
	assert_int_equal(w.e->need.nr_pools, 1);
	assert_in_range(w.e->nr_sites, 2, 4);
	assert_int_equal(entry_of(&w, q)->addr, TEXT + 2000);
	end(&w);
}

/* A jump keeps the bytes that it has; what is added with it shares them. One that is written
 * while all threads are stopped does not become another one: all are breakpoints then. */
static void minds_earlier_jumps(void **state)
{
	struct world w;
	u32 p, q, inside, before;

	begin(&w, DP_ARM_QUIESCE);
	assert_int_equal(add(&w, 100, &p), 0);
	allow(&w, p);
	assert_int_equal(add(&w, 102, &q), 0);
	allow(&w, q);
	assert_int_equal(go(&w), 0);
	assert_int_equal(w.text[100], JMP);
	assert_int_equal(add(&w, 102, &inside), 0);
	assert_int_equal(add(&w, 97, &before), 0);
	allow(&w, before);
	assert_int_equal(go(&w), 0);
	assert_int_equal(w.text[97], INT3);
	assert_int_equal(w.text[100], JMP);
	assert_string_equal(dp_engine_mode(w.e, before), "trap");
	assert_int_equal(add(&w, 103, &inside), 0);
	allow(&w, inside);
	assert_int_equal(go(&w), 0);
	assert_int_equal(w.text[100], INT3);
	assert_int_equal(w.text[101], NOP);
	assert_int_equal(w.text[102], INT3);
	assert_int_equal(w.text[103], INT3);
	assert_int_equal(w.text[104], NOP);
	end(&w);
}

/* Nor may breakpoints be written instead where nobody would catch them. */
static void refuses_to_share_earlier_jumps(void **state)
{
	struct world w;
	u32 p, inside;
	u64 bad;

	begin(&w, DP_ARM_INTERIOR);
	dp_engine_set_signal_free(w.e);
	assert_int_equal(add(&w, 100, &p), 0);
	allow(&w, p);
	assert_int_equal(go(&w), 0);
	assert_int_equal(w.text[100], JMP);
	assert_int_equal(add(&w, 103, &inside), -EBUSY);
	/* There is no other way for one before it. */
	assert_int_equal(add(&w, 97, &inside), 0);
	allow(&w, inside);
	assert_int_equal(plan(&w), 0);
	assert_int_equal(dp_engine_commit(w.e, &w.target, &bad), -EOPNOTSUPP);
	assert_true(bad == TEXT + 97);
	dp_engine_retract(w.e, &w.target, w.m.nr_pools);
	assert_int_equal(w.text[97], NOP);
	assert_int_equal(w.text[100], JMP);
	assert_int_equal(add(&w, 105, &inside), 0);
	allow(&w, inside);
	assert_int_equal(go(&w), 0);
	assert_int_equal(w.text[105], JMP);
	assert_int_equal(w.text[100], JMP);
	end(&w);
}

static void brings_programs(void **state)
{
	static const u8 code[] = { DP_OPCODE_EXIT };
	static const u32 starts[] = { 0 };
	const struct dp_program_spec spec = { .name = "it",
					      .code = code,
					      .code_len = sizeof(code),
					      .starts = starts,
					      .nr_starts = 1,
					      .nr_lv = 1,
					      .stack = 32 };
	struct dp_binding binding = { .maxhits = 7, .passcount = 2 };
	struct world w;
	u32 p, offset, i;
	const char *why;

	begin(&w, DP_ARM_TRAP);
	assert_int_equal(add(&w, 0, &p), 0);
	assert_int_equal(go(&w), 0);
	for (i = 1; i <= 3; i++) {
		assert_int_equal(dp_engine_add_program(w.e, &spec,
						       &binding.program,
						       &offset, &why),
				 0);
		assert_int_equal(add(&w, 16 * i, &p), 0);
		dp_engine_bind(w.e, p, &binding);
		assert_int_equal(go(&w), i < 3 ? 0 : -ENOSPC);
		if (i == 3)
			break;
		assert_int_equal(w.e->view.probes[p].program, i);
		assert_int_equal(w.e->view.probes[p].maxhits, 7);
		assert_int_equal(w.e->view.states[p].count, -2);
		assert_memory_equal((u8 *)w.e->arena +
					    w.e->view.programs[i - 1].code_off,
				    code, sizeof(code));
	}
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_later),
		cmocka_unit_test(says_that_it_is_full),
		cmocka_unit_test(retracts),
		cmocka_unit_test(retracts_what_was_not_mapped),
		cmocka_unit_test(retracts_what_waits),
		cmocka_unit_test(goes_and_comes_back),
		cmocka_unit_test(takes_back),
		cmocka_unit_test(minds_earlier_jumps),
		cmocka_unit_test(refuses_to_share_earlier_jumps),
		cmocka_unit_test(brings_programs),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("move", tests, NULL, NULL);
}
