// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Contexts of hits, which are the target's private memory, and what control makes of them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "engine/layout/arena.h"
#include "engine/layout/ring.h"
#include "engine/layout/site.h"
#include "engine/site/counts.h"
#include "engine/site/internal.h"
#include "engine/site/view.h"
#include "engine/text/target.h"

#define BASE 0x700000000000ull
#define OFFSET 0x40000u
#define PROBES 3

static struct dp_context contexts[DP_CONTEXTS];
static struct dp_probe_state states[PROBES];
static struct dp_arena *arena;
static struct dp_engine engine;
static u32 living; /* the one thread that lives */
static int reads_fail;

static void *at(u64 addr, size_t len)
{
	u64 offset = addr - (BASE + DP_ARENA_OFFSET + OFFSET);

	assert_true(offset + len <= sizeof(contexts));
	return (char *)contexts + offset;
}

static int read_there(struct dp_target *t, u64 addr, void *to, size_t len)
{
	if (reads_fail)
		return -EFAULT;
	memcpy(to, at(addr, len), len);
	return 0;
}

static int write_there(struct dp_target *t, u64 addr, const void *from,
		       size_t len)
{
	memcpy(at(addr, len), from, len);
	return 0;
}

static const struct dp_target_ops ops = { .read = read_there,
					  .write = write_there };
static struct dp_target target = { &ops };

static bool lives(void *arg, u32 tid)
{
	return tid == living;
}

static int begin(void **state)
{
	memset(contexts, 0, sizeof(contexts));
	memset(states, 0, sizeof(states));
	arena = calloc(1, sizeof(*arena));
	arena->control.base = BASE;
	arena->control.context_off = OFFSET;
	arena->control.nr_contexts = DP_CONTEXTS;
	engine = (struct dp_engine){ .arena = arena,
				     .nr_programs = 1,
				     .nr_probes = PROBES,
				     .view = { .arena = arena,
					       .states = states } };
	living = 7;
	reads_fail = 0;
	return 0;
}

static int end(void **state)
{
	free(arena);
	return 0;
}

static void wait_in(u32 i, u32 probe, u32 tid)
{
	contexts[i].state = DP_CONTEXT_PENDING;
	contexts[i].tid = tid;
	contexts[i].probe = probe;
	if (probe < PROBES)
		states[probe].waiting++;
	arena->hit.pending++;
}

static u64 discarded(u32 probe)
{
	return states[probe].tally[DP_TALLY_DISCARDED];
}

static void of_threads_that_ended(void **state)
{
	wait_in(0, 1, 7);
	wait_in(3, 1, 8);
	wait_in(DP_CONTEXTS - 1, 2, 9);
	contexts[5].state = DP_CONTEXT_RUNS;
	contexts[5].tid = 8;
	dp_engine_settle(&engine, &target, lives, NULL);
	assert_int_equal(contexts[0].state, DP_CONTEXT_PENDING);
	assert_int_equal(contexts[3].state, DP_CONTEXT_FREE);
	assert_int_equal(contexts[5].state, DP_CONTEXT_RUNS);
	assert_int_equal(contexts[DP_CONTEXTS - 1].state, DP_CONTEXT_FREE);
	assert_int_equal(arena->hit.pending, 1);
	assert_int_equal(states[1].waiting, 1);
	assert_int_equal(states[2].waiting, 0);
	assert_int_equal(discarded(1), 1);
	assert_int_equal(discarded(2), 1);
}

/* What is there the target has written. */
static void of_no_probe(void **state)
{
	wait_in(0, PROBES, 8);
	dp_engine_settle(&engine, &target, lives, NULL);
	assert_int_equal(contexts[0].state, DP_CONTEXT_PENDING);
	assert_int_equal(arena->hit.pending, 1);
}

static void that_cannot_be_read(void **state)
{
	wait_in(0, 1, 8);
	reads_fail = 1;
	dp_engine_settle(&engine, &target, lives, NULL);
	assert_int_equal(arena->hit.pending, 1);
	assert_int_equal(discarded(1), 0);
}

static void of_a_process_that_ended(void **state)
{
	wait_in(0, 0, 7);
	wait_in(1, 2, 8);
	wait_in(2, 2, 9);
	reads_fail = 1; /* its memory has gone */
	dp_engine_settle_all(&engine);
	assert_int_equal(arena->hit.pending, 0);
	assert_int_equal(discarded(0), 1);
	assert_int_equal(discarded(1), 0);
	assert_int_equal(discarded(2), 2);
	assert_int_equal(states[2].waiting, 0);
	dp_engine_settle_all(&engine);
	assert_int_equal(discarded(2), 2);
}

/* The child has all that its parent had; its one thread goes on with what was its own. */
static void of_a_fork_child(void **state)
{
	contexts[0] = (struct dp_context){ .state = DP_CONTEXT_PENDING,
					   .tid = 7,
					   .probe = 1 };
	contexts[1] = (struct dp_context){ .state = DP_CONTEXT_RUNS,
					   .tid = 7,
					   .probe = 2 };
	contexts[2] = (struct dp_context){ .state = DP_CONTEXT_PENDING,
					   .tid = 8,
					   .probe = 2 };
	dp_engine_fork_contexts(&engine, &target, 7, 100);
	assert_int_equal(contexts[0].state, DP_CONTEXT_PENDING);
	assert_int_equal(contexts[0].tid, 100);
	assert_int_equal(contexts[1].state, DP_CONTEXT_RUNS);
	assert_int_equal(contexts[1].tid, 100);
	assert_int_equal(contexts[2].state, DP_CONTEXT_FREE);
	assert_int_equal(contexts[3].tid, 0);
	assert_int_equal(arena->hit.pending, 1);
	assert_int_equal(states[1].waiting, 1);
	assert_int_equal(states[2].waiting, 0);
}

/* --- what a child may say of its parent's text --- */

static u8 text[16];

static int read_text(struct dp_target *t, u64 addr, void *to, size_t len)
{
	if (addr + len > sizeof(text))
		return -EFAULT;
	memcpy(to, text + addr, len);
	return 0;
}

static void text_that_was_given_back(void **state)
{
	static const struct dp_target_ops text_ops = { .read = read_text };
	struct dp_target t = { &text_ops };
	struct dp_site_entry sites[] = {
		{ .addr = 2,
		  .orig = { 1, 2, 3, 4, 5 },
		  .patch_len = 5,
		  .armed = DP_SITE_THERE },
		{ .addr = 9,
		  .orig = { 6 },
		  .patch_len = 1,
		  .armed = DP_SITE_TRAPPED },
		{ .addr = 1000,
		  .orig = { 6 },
		  .patch_len = 1,
		  .armed = DP_SITE_THERE },
	};
	const struct dp_view view = { .sites = sites, .nr_sites = 3 };

	memcpy(text + 2, sites[0].orig, 5);
	text[9] = 6;
	assert_true(dp_view_is_reverted(&view, &t));
	text[6] = 0xcc;
	assert_false(dp_view_is_reverted(&view, &t));
	text[6] = 5;
	text[9] = 0xcc;
	assert_false(dp_view_is_reverted(&view, &t));
	sites[1].armed = DP_SITE_OFF;
	assert_true(dp_view_is_reverted(&view, &t));
	sites[1].armed = DP_SITE_GONE;
	assert_true(dp_view_is_reverted(&view, &t));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(of_threads_that_ended, begin,
						end),
		cmocka_unit_test_setup_teardown(of_no_probe, begin, end),
		cmocka_unit_test_setup_teardown(that_cannot_be_read, begin,
						end),
		cmocka_unit_test_setup_teardown(of_a_process_that_ended, begin,
						end),
		cmocka_unit_test_setup_teardown(of_a_fork_child, begin, end),
		cmocka_unit_test(text_that_was_given_back),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
