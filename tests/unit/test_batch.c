// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* batch: sites that come to an armed engine and go from it, on bytes in an array. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "engine/site/counts.h"
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
	for (i = 1; i <= ROOM + 1; i++)
		assert_int_equal(add(&w, 16 * i, &p), 0);
	assert_int_equal(add(&w, 0, &p), 0);
	assert_int_equal(go(&w), -ENOSPC);
	dp_engine_retract(w.e, false);
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

static int unmap(void *arg, u64 addr, u64 size)
{
	struct world *w = arg;

	assert_true(dp_engine_in_dead(w->e, addr));
	assert_true(dp_engine_in_dead(w->e, addr + size - 1));
	w->unmapped++;
	return 0;
}

/* As often as it likes, in the same room. */
static void takes_back(void **state)
{
	u32 p, q, i, reclaimed = 0, mapped = 0;
	u64 copy, orig;
	struct world w;

	begin(&w, DP_ARM_TRAP);
	assert_int_equal(add(&w, 2000, &q), 0);
	assert_int_equal(go(&w), 0);
	assert_int_equal(add(&w, 100, &p), 0);
	assert_int_equal(go(&w), 0);
	for (i = 0; i < 100; i++) {
		copy = entry_of(&w, p)->copy;
		assert_int_equal(dp_view_original(&w.e->view, copy, &orig), 0);
		lose(&w, p);
		dp_engine_release_gone(w.e);
		assert_int_equal(back(&w, p, 100 + i % 7 * 16), 0);
		if (dp_engine_is_crowded(w.e)) {
			assert_int_equal(dp_engine_reclaim(w.e, unmap, &w), 0);
			reclaimed++;
			/* Something else may be there soon. */
			assert_int_equal(dp_view_original(&w.e->view, copy,
							  &orig),
					 -ENOENT);
		}
		assert_int_equal(go(&w), 0);
		mapped++;
		assert_int_equal(w.text[100 + i % 7 * 16], INT3);
		assert_false(dp_engine_in_dead(w.e, entry_of(&w, p)->copy));
		assert_false(dp_engine_in_dead(w.e, entry_of(&w, q)->copy));
	}
	assert_in_range(reclaimed, 5, 20);
	assert_int_equal(w.e->need.nr_pools, 2 + mapped - w.unmapped);
	assert_in_range(w.e->nr_sites, 2, ROOM + 2);
	assert_int_equal(entry_of(&w, q)->addr, TEXT + 2000);
	end(&w);
}

/* A jump keeps the bytes that it has; its own batch shares them. */
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
	assert_int_equal(add(&w, 103, &inside), -EBUSY);
	assert_int_equal(add(&w, 102, &inside), 0);
	assert_int_equal(add(&w, 97, &before), 0);
	allow(&w, before);
	assert_int_equal(go(&w), 0);
	assert_int_equal(w.text[97], INT3);
	assert_int_equal(w.text[100], JMP);
	assert_string_equal(dp_engine_mode(w.e, before), "trap");
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
		cmocka_unit_test(goes_and_comes_back),
		cmocka_unit_test(takes_back),
		cmocka_unit_test(minds_earlier_jumps),
		cmocka_unit_test(brings_programs),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("batch", tests, NULL, NULL);
}
