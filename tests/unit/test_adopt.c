// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* adopt: an engine that takes over an arena, with what a tracer has armed there. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "engine/site/counts.h"
#include "own.h"

#define SYSCALL (CALL + 5)

static void begin_with_call(struct world *w)
{
	set_up(w);
	assert_int_equal(dp_engine_add_intercept(w->e, TEXT + CALL, code + CALL,
						 13, false),
			 0);
	build(w);
	assert_int_equal(
		adopt(w, dp_engine_arena(w->e)->control.arena_size, ROOM), 0);
	assert_int_not_equal(w->text[CALL], code[CALL]);
}

static int add_kind(struct world *w, u32 at, u8 kind, u32 *probe)
{
	const struct dp_found found = { .code = code + at,
					.size = sizeof(code) - at };
	const struct dp_handlers handlers = { .kind = kind,
					      .user = 1,
					      .pre = ENTRY };
	const char *why;

	return dp_live_add(w->e, TEXT + at, &found, &handlers, true, probe,
			   &why);
}

static u32 slots_used(const struct world *w)
{
	u32 i, n = 0;

	for (i = 0; i <= w->e->slots_mask; i++)
		n += w->e->slots[i] != 0;
	return n;
}

/* An intercept's detour serves probes at its beginning; none is inside, and none leaves. */
static void probes_at_intercepts(void **state)
{
	u8 jump[DP_JUMP_SIZE];
	u32 probe, bad, slots;
	struct world w;

	begin_with_call(&w);
	slots = slots_used(&w);
	memcpy(jump, w.text + CALL, sizeof(jump));
	assert_int_equal(add_kind(&w, CALL, DP_KIND_JPROBE, &probe), -EINVAL);
	assert_int_equal(add_kind(&w, SYSCALL, DP_KIND_KPROBE, &probe),
			 -EINVAL);
	assert_int_equal(add_kind(&w, CALL + 1, DP_KIND_KPROBE, &probe),
			 -EINVAL);
	assert_int_equal(add_kind(&w, CALL, DP_KIND_KPROBE, &probe), 0);
	assert_false(dp_live_is_new(w.e, probe));
	assert_int_equal(dp_live_commit(w.e, &w.target, &probe, 1, &bad), 0);
	assert_true(dp_live_optimized(w.e, probe));
	assert_string_equal(dp_engine_mode(w.e, probe), "jump");
	assert_int_equal(w.e->view.sites[0].first_probe, probe + 1);
	assert_int_equal(slots_used(&w), slots);
	assert_memory_equal(w.text + CALL, jump, sizeof(jump));
	assert_int_equal(dp_live_remove(w.e, &w.target, &probe, 1), 0);
	dp_live_forget(w.e, probe);
	assert_int_equal(w.e->view.sites[0].first_probe, 0);
	assert_memory_equal(w.text + CALL, jump, sizeof(jump));
	end(&w);
}

/* What is behind an intercept is not its own; what is before it has no room for a jump. */
static void probes_beside_intercepts(void **state)
{
	struct world w;
	u32 probe, bad;

	begin_with_call(&w);
	assert_int_equal(add_kind(&w, SYSCALL + 2, DP_KIND_KPROBE, &probe), 0);
	probe = add(&w, CALL - 1);
	assert_int_equal(dp_live_commit(w.e, &w.target, &probe, 1, &bad), 0);
	expect_armed(&w, CALL - 1, DP_MODE_TRAP);
	assert_int_equal(w.text[CALL - 1], DP_BREAKPOINT);
	assert_int_equal(dp_live_knobs(w.e, &w.target, false, true), 0);
	assert_int_equal(w.text[CALL - 1], code[CALL - 1]);
	assert_int_not_equal(w.text[CALL], code[CALL]);
	/* The tracer takes it out, whatever has become of its code. */
	w.mapped = CALL;
	assert_false(dp_site_is_gone(w.e, &w.target, 0));
	end(&w);
}

/* Each is known by its own place and number. */
static void several_intercepts(void **state)
{
	const struct dp_site *first, *second;
	struct world w;

	set_up(&w);
	assert_int_equal(dp_engine_add_intercept(w.e, TEXT + CALL, code + CALL,
						 13, false),
			 0);
	assert_int_equal(dp_engine_add_intercept(w.e, TEXT + MIXED,
						 code + MIXED, 14, false),
			 0);
	build(&w);
	assert_int_equal(
		adopt(&w, dp_engine_arena(w.e)->control.arena_size, ROOM), 0);
	first = dp_engine_find(w.e, TEXT + MIXED);
	second = dp_engine_find(w.e, TEXT + CALL);
	assert_non_null(first);
	assert_non_null(second);
	assert_int_equal(first->intercept, 14);
	assert_int_equal(second->intercept, 13);
	assert_int_equal(w.e->view.sites[first->place - 1].addr, TEXT + MIXED);
	assert_int_equal(w.e->view.sites[second->place - 1].addr, TEXT + CALL);
	assert_int_equal(first->region.at[1], 1);
	assert_int_equal(second->region.len, 7);
	end(&w);
}

/* The tracer's memory is full: what is made now goes to memory that is mapped now. */
static void pools_of_the_tracer(void **state)
{
	const struct dp_site_entry *s;
	struct dp_arena_control *c;
	struct world w;
	u32 probe, bad;

	begin_with_call(&w);
	c = &dp_engine_arena(w.e)->control;
	assert_true(c->nr_pools > 0);
	assert_int_equal(w.e->need.nr_pools, c->nr_pools);
	assert_int_equal(w.e->need.pools[0].addr, c->pools[0].start);
	assert_int_equal(w.e->need.pools[0].size, c->pools[0].size);
	probe = add(&w, LEA);
	assert_int_equal(dp_live_commit(w.e, &w.target, &probe, 1, &bad), 0);
	s = entry_of(&w, LEA);
	assert_non_null(byte_at(&w, s->single));
	assert_true(s->single - c->pools[0].start >= c->pools[0].size);
	end(&w);
}

/* Of an arena that is too small for the sites that may come nothing is used. */
static void arenas_that_are_too_small(void **state)
{
	struct world w;
	u64 size;

	set_up(&w);
	build(&w);
	size = dp_engine_arena(w.e)->control.arena_size;
	assert_int_equal(adopt(&w, size, 1u << 20), -EBADMSG);
	end(&w);
	set_up(&w);
	build(&w);
	assert_int_equal(adopt(&w, size - 1, ROOM), -EBADMSG);
	end(&w);
	set_up(&w);
	build(&w);
	dp_engine_arena(w.e)->control.own_process = 0;
	assert_int_equal(adopt(&w, size, ROOM), -EBADMSG);
	end(&w);
}

/* What the tracer has found out of the process. */
static void what_was_found_out(void **state)
{
	struct world w;
	u32 caught;

	set_up(&w);
	dp_engine_set_rseq(w.e, -64, 0x53053053);
	build(&w);
	caught = dp_engine_caught(w.e);
	assert_int_equal(
		adopt(&w, dp_engine_arena(w.e)->control.arena_size, ROOM), 0);
	assert_int_equal(dp_engine_caught(w.e), caught);
	assert_true(w.e->rseq_usable);
	assert_int_equal(w.e->rseq.offset, -64);
	assert_int_equal(w.e->rseq.signature, 0x53053053);
	end(&w);
	set_up(&w);
	build(&w);
	dp_engine_arena(w.e)->control.nr_caught = DP_CAUGHT;
	assert_int_equal(
		adopt(&w, dp_engine_arena(w.e)->control.arena_size, ROOM), 0);
	assert_int_equal(dp_engine_caught(w.e), DP_CAUGHT);
	assert_false(w.e->rseq_usable);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(probes_at_intercepts),
		cmocka_unit_test(probes_beside_intercepts),
		cmocka_unit_test(several_intercepts),
		cmocka_unit_test(pools_of_the_tracer),
		cmocka_unit_test(arenas_that_are_too_small),
		cmocka_unit_test(what_was_found_out),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
