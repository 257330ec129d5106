// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* inside: calls in blocks, as control sees them; and sites where code counts calls. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "engine/layout/block.h"
#include "engine/layout/ring.h"
#include "engine/site/calls.h"
#include "engine/site/counts.h"
#include "engine/site/enable.h"
#include "engine/site/program.h"
#include "engine/vm/ops.h"
#include "calls.h"

#define MAKER 1
#define CHILD 3
#define BASE 0x70000000ull

static const struct dp_expected none = { .sites = ROOM,
					 .probes = 2 * ROOM,
					 .programs = 2 };

static u32 blocks_of(const struct world *w)
{
	return w->e->arena->control.block_mask + 1;
}

static struct dp_block *block_at(const struct world *w, u64 slot, u32 by)
{
	struct dp_block *lines =
		(void *)((char *)w->e->arena + w->e->arena->control.block_off);

	return &lines[dp_block_home(dp_block_tag(slot), blocks_of(w) - 1) ^ by];
}

static struct dp_exit_instance *word_of(const struct world *w, u64 slot, u32 by)
{
	const struct dp_arena_control *c = &w->e->arena->control;
	u64 block = dp_block_home(dp_block_tag(slot), blocks_of(w) - 1) ^ by;

	return (void *)((char *)w->e->arena + c->blocks_off +
			(block * DP_BLOCK_WORDS + dp_block_word(slot)) *
				c->instance_stride);
}

/* As the hit half leaves it, in the @by-th line of its block */
static struct dp_exit_instance *put_own(const struct world *w, u32 probe,
					u64 slot, u32 by)
{
	struct dp_exit_instance *v = word_of(w, slot, by);

	block_at(w, slot, by)->tag = dp_block_tag(slot);
	*v = (struct dp_exit_instance){ .group = probe + 1,
					.state = DP_INSTANCE_LIVE,
					.ret = 77,
					.serial = 5,
					.tid = MAKER };
	return v;
}

static u32 two_calls(struct world *w, u32 *second)
{
	u32 first;

	begin_expecting(w, DP_ARM_TRAP, &none);
	first = add_call(w, 100);
	*second = add_call(w, 200);
	assert_int_equal(go(w), 0);
	return first;
}

static void finds_calls_in_blocks(void **state)
{
	struct dp_exit_instance *v;
	struct world w;
	u32 p, q;

	p = two_calls(&w, &q);
	assert_int_equal(in_progress(&w), 0);
	put_own(&w, p, SLOT, 0);
	v = put_own(&w, q, SLOT + 8, 0);
	put_own(&w, q, SLOT + 5 * DP_BLOCK_BYTES, DP_BLOCK_WAYS - 1);
	assert_int_equal(in_progress(&w), 3);
	assert_int_equal(nr_found, 3);
	for (nr_found = 0; found[nr_found].slot != SLOT + 8; nr_found++)
		assert_true(found[nr_found].whole);
	assert_int_equal(found[nr_found].probe, q);
	assert_int_equal(found[nr_found].ret, 77);
	assert_true(dp_engine_instances_still(w.e, &found[nr_found]));
	v->serial++;
	assert_false(dp_engine_instances_still(w.e, &found[nr_found]));
	v->serial--;
	v->group = p + 1;
	assert_false(dp_engine_instances_still(w.e, &found[nr_found]));
	v->state = DP_INSTANCE_DOUBT;
	in_progress(&w);
	for (nr_found = 0; found[nr_found].slot != SLOT + 8; nr_found++)
		continue;
	assert_false(found[nr_found].whole);
	assert_int_equal(found[nr_found].ret, 0);
	/* No entry, and no stack */
	v->group = 99;
	assert_int_equal(in_progress(&w), 2);
	block_at(&w, SLOT, 0)->tag |= 1ull << 47;
	assert_int_equal(in_progress(&w), 1);
	block_at(&w, SLOT, 0)->tag = dp_block_tag(SLOT) + 16;
	assert_int_equal(in_progress(&w), 1);
	block_at(&w, SLOT, 0)->tag = 0;
	assert_int_equal(in_progress(&w), 1);
	end(&w);
}

/* A call in a line beside one at the same slot is counted there. */
static void forgets_calls_in_blocks(void **state)
{
	u8 off[64] = { 0 };
	const struct dp_disabled disabled = { off, sizeof(off) };
	struct dp_exit_instance *v, *cut, *other;
	struct dp_account account;
	struct world w;
	u32 p, q;

	p = two_calls(&w, &q);
	v = put_own(&w, p, SLOT, 0);
	cut = put_own(&w, p, SLOT + 16, 0);
	cut->state = DP_INSTANCE_DOUBT;
	put_own(&w, q, SLOT + 32, 0);
	v->crowded = 2;
	other = put(&w, p, SLOT, 0, 0);
	other->crowded = 1;
	put(&w, q, SLOT, 0, 1)->crowded = 1;
	off[p] = 1;
	assert_true(dp_engine_any_disabled(w.e, &disabled));
	dp_engine_forget_disabled(w.e, &disabled);
	assert_false(dp_engine_any_disabled(w.e, &disabled));
	assert_int_equal(v->group | v->state | cut->word, 0);
	assert_int_equal(v->crowded, 1);
	assert_int_equal(other->word, 0);
	dp_engine_account(w.e, p, &account);
	assert_int_equal(account.inside, 2);
	assert_int_equal(account.cut, 1);
	assert_int_equal(in_progress(&w), 2);
	end(&w);
}

static void gives_back_blocks_of_stacks_that_have_gone(void **state)
{
	struct dp_exit_instance *v;
	struct dp_block *lines;
	struct world w;
	u32 p, q, i;

	p = two_calls(&w, &q);
	lines = (void *)((char *)w.e->arena + w.e->arena->control.block_off);
	assert_false(dp_engine_blocks_crowded(w.e));
	for (i = 0; i < 512; i++)
		lines[i].tag = (i + 1) * DP_BLOCK_BYTES;
	assert_false(dp_engine_blocks_crowded(w.e));
	lines[512].tag = 513 * DP_BLOCK_BYTES;
	assert_true(dp_engine_blocks_crowded(w.e));
	assert_int_equal(dp_engine_blocks_reclaim(w.e), 513);
	assert_int_equal(dp_engine_blocks_reclaim(w.e), 0);
	/* With a call in it, and where others are at a slot */
	put_own(&w, p, SLOT + DP_BLOCK_BYTES - 8 - SLOT % DP_BLOCK_BYTES, 0);
	v = put_own(&w, p, SLOT + 8 * DP_BLOCK_BYTES, 1);
	v->group = v->state = 0;
	v->crowded = 1;
	put_own(&w, q, SLOT + 99 * DP_BLOCK_BYTES, 0)->word = 0;
	assert_int_equal(dp_engine_blocks_reclaim(w.e), 1);
	assert_int_equal(block_at(&w, SLOT, 0)->tag, dp_block_tag(SLOT));
	assert_int_equal(in_progress(&w), 1);
	end(&w);
}

static bool holds(void *arg, u64 slot, u64 word)
{
	return word == 77 && slot != *(u64 *)arg;
}

static void make_child(struct world *w, struct world *own)
{
	struct dp_mapping map = { .base = BASE, .owner = CHILD, .tool = 2 };

	*own = *w;
	own->e = NULL;
	own->file = calloc(1, DP_FILE_ARENA_OFFSET + w->e->need.arena_size);
	map.file = own->file;
	memory_copy(&own->m, &w->m);
	assert_int_equal(dp_engine_fork(w->e, &map, &own->m, &own->e), 0);
	own->m.engine = own->e;
	own->m.target = &own->target;
}

static void brings_blocks_along(void **state)
{
	u64 not_held = SLOT + 64;
	struct dp_exit_instance *v;
	struct dp_account account;
	struct world w, own;
	u32 p, q;

	p = two_calls(&w, &q);
	put_own(&w, p, SLOT, 1)->crowded = 3;
	put_own(&w, p, SLOT + 64, 1);
	put_own(&w, p, SLOT + 128, 1)->state = DP_INSTANCE_DOUBT;
	put(&w, q, SLOT, 0, 0)->crowded = 1;
	put(&w, q, SLOT + 0x10000, 0, 0);
	make_child(&w, &own);
	dp_engine_fork_instances(own.e, w.e, MAKER, CHILD, holds, &not_held);
	assert_int_equal(in_progress(&own), 3);
	v = word_of(&own, SLOT, 1);
	assert_int_equal(v->group, p + 1);
	assert_int_equal(v->state, DP_INSTANCE_LIVE);
	assert_int_equal(v->tid, CHILD);
	assert_int_equal(v->crowded, 1);
	assert_int_equal(word_of(&own, SLOT + 64, 1)->word, 0);
	assert_int_equal(block_at(&own, SLOT, 1)->tag, dp_block_tag(SLOT));
	assert_int_equal(block_at(&own, SLOT, 1)->instances,
			 BASE + DP_ARENA_OFFSET +
				 (u64)((char *)word_of(&own, SLOT, 1) -
				       (char *)own.e->arena) -
				 dp_block_word(SLOT) *
					 own.e->arena->control.instance_stride);
	/* Its stack has no block. */
	assert_int_equal(own.e->arena->hit.strays, 1);
	dp_engine_account(own.e, p, &account);
	assert_int_equal(account.entered, 1);
	dp_engine_account(own.e, q, &account);
	assert_int_equal(account.entered, 2);
	dp_engine_destroy(own.e);
	free(own.file);
	memory_free(&own.m);
	end(&w);
}

/* What code does at sites */

static struct dp_call_entry call_of(const struct world *w, u32 probe)
{
	const struct dp_call_entry *calls =
		(void *)((char *)w->e->arena + w->e->arena->control.call_off);

	return calls[w->e->view.probes[probe].site];
}

static bool is_nothing(const struct world *w, u32 probe)
{
	struct dp_call_entry call = call_of(w, probe);

	return !call.group && !call.counter;
}

static u32 counter_of(const struct world *w, u32 probe)
{
	return (w->e->arena->control.probe_counters + probe) * 8;
}

static void count_beginning(struct world *w, u32 signature)
{
	begin_expecting(w, DP_ARM_TRAP, &none);
	dp_engine_set_rseq(w->e, 0, signature);
}

static void code_counts_simple_calls(void **state)
{
	struct world w;
	u32 enter, exit, tail, taken, shared, target, later, later_exit;

	count_beginning(&w, DP_STREAM_SIGNATURE);
	enter = add_call(&w, 100);
	exit = add_exit(&w, enter, 0, 110);
	tail = add_exit(&w, enter, DP_WAY_TAIL, 120);
	taken = add_exit(&w, enter, DP_WAY_TAIL | DP_WAY_TAKEN, 130);
	shared = add_exit(&w, enter, DP_WAY_SHARED, 140);
	target = add_exit(&w, enter, DP_WAY_TAIL | DP_WAY_TAIL_TARGET, 150);
	later = add_exit(&w, DP_NO_GROUP, 0, 160);
	assert_int_equal(go(&w), 0);
	assert_int_equal(call_of(&w, enter).group, enter + 1);
	assert_int_equal(call_of(&w, enter).counter,
			 counter_of(&w, enter) | DP_CALL_ENTER);
	assert_int_equal(call_of(&w, exit).group, enter + 1);
	assert_int_equal(call_of(&w, exit).counter,
			 counter_of(&w, exit) | DP_CALL_EXIT);
	assert_int_equal(call_of(&w, tail).group, enter + 1);
	assert_true(is_nothing(&w, taken));
	assert_int_equal(call_of(&w, shared).counter, counter_of(&w, shared) |
							      DP_CALL_EXIT |
							      DP_CALL_SHARED);
	assert_true(is_nothing(&w, target) && is_nothing(&w, later));
	/* Until all is armed, and from before it is disarmed */
	dp_engine_admit(w.e, false);
	assert_true(is_nothing(&w, enter) && !is_nothing(&w, exit));
	dp_engine_admit(w.e, true);
	assert_false(is_nothing(&w, enter));
	/* Another probe at the site */
	assert_int_equal(add(&w, 110, &later), 0);
	assert_int_equal(go(&w), 0);
	assert_true(is_nothing(&w, exit) && !is_nothing(&w, enter));
	later_exit = add_exit(&w, enter, 0, 120);
	assert_int_equal(go(&w), 0);
	assert_true(is_nothing(&w, tail) && is_nothing(&w, later_exit));
	end(&w);
}

static void what_is_off_is_left_to_the_agent(void **state)
{
	u8 off[64] = { 0 };
	const struct dp_disabled disabled = { off, sizeof(off) };
	struct world w;
	u32 enter, exit;

	count_beginning(&w, DP_STREAM_SIGNATURE);
	enter = add_call(&w, 100);
	exit = add_exit(&w, enter, 0, 110);
	assert_int_equal(go(&w), 0);
	off[enter] = 1;
	dp_engine_choose(w.e, &disabled);
	assert_true(is_nothing(&w, enter) && is_nothing(&w, exit));
	off[enter] = 0;
	dp_engine_choose(w.e, &disabled);
	assert_true(is_nothing(&w, enter) && !is_nothing(&w, exit));
	dp_engine_admit(w.e, true);
	assert_false(is_nothing(&w, enter));
	end(&w);
}

static u32 add_program(struct world *w)
{
	static const u8 code[] = { DP_OPCODE_EXIT };
	static const u32 start;
	const struct dp_program_spec spec = { .name = "it",
					      .code = code,
					      .code_len = sizeof(code),
					      .starts = &start,
					      .nr_starts = 1,
					      .logmax = 8,
					      .stack = 32 };
	u32 program, offset;
	const char *why;

	assert_int_equal(
		dp_engine_add_program(w->e, &spec, &program, &offset, &why), 0);
	return program;
}

static void calls_with_more_to_do_are_left_to_the_agent(void **state)
{
	struct dp_binding binding = { 0 };
	struct world w;
	u32 enter, exit, logs;

	/* Another signature than that of the code */
	count_beginning(&w, DP_STREAM_SIGNATURE + 1);
	enter = add_call(&w, 100);
	exit = add_exit(&w, enter, 0, 110);
	assert_int_equal(go(&w), 0);
	assert_true(is_nothing(&w, enter) && is_nothing(&w, exit));
	end(&w);
	/* No restartable sequences */
	begin_expecting(&w, DP_ARM_TRAP, &none);
	enter = add_call(&w, 100);
	assert_int_equal(go(&w), 0);
	assert_true(is_nothing(&w, enter));
	end(&w);
	/* A program, and records */
	count_beginning(&w, DP_STREAM_SIGNATURE);
	enter = add_call(&w, 100);
	exit = add_exit(&w, enter, 0, 110);
	binding.program = add_program(&w);
	dp_engine_bind(w.e, enter, &binding);
	assert_int_equal(add(&w, 200, &logs), 0);
	assert_int_equal(dp_engine_track(w.e, logs, true), 0);
	assert_int_equal(go(&w), 0);
	assert_true(is_nothing(&w, enter) && is_nothing(&w, exit));
	assert_true(is_nothing(&w, logs));
	end(&w);
}

/* Timed calls */

#define STREAM 4096

static struct dp_call_entry timed_call_of(const struct world *w, u32 probe)
{
	const struct dp_arena_control *c = &w->e->arena->control;
	const struct dp_call_entry *calls =
		(void *)((char *)w->e->arena + c->call_off);

	return calls[c->max_sites + w->e->view.probes[probe].site];
}

/* A function with two exits, whose calls make records: @binding, of a program that is added. Return:
 * the probe at its entry; its exits follow */
static u32 time_calls(struct world *w, struct dp_binding binding, u32 way)
{
	u32 enter;

	assert_int_equal(add(w, 100, &enter), 0);
	assert_int_equal(dp_engine_track(w->e, enter, true), 0);
	if (way & DP_WAY_XMM)
		dp_engine_track_xmm(w->e, enter);
	add_exit(w, enter, 0, 110);
	add_exit(w, enter, DP_WAY_TAIL, 120);
	binding.program = add_program(w);
	binding.maxhits = ~0u;
	dp_engine_bind(w->e, enter, &binding);
	assert_int_equal(go(w), 0);
	return enter;
}

static void timing_beginning(struct world *w)
{
	count_beginning(w, DP_STREAM_SIGNATURE);
	dp_engine_set_tid_offset(w->e, 720);
	dp_engine_set_rings(w->e, STREAM, false);
}

static void code_times_calls_of_which_no_value_is_wanted(void **state)
{
	const struct dp_binding nothing = { .start = DP_NO_START };
	struct world w;
	u32 enter;

	timing_beginning(&w);
	enter = time_calls(&w, nothing, 0);
	assert_true(is_nothing(&w, enter) && is_nothing(&w, enter + 1));
	assert_int_equal(timed_call_of(&w, enter).group, enter + 1);
	assert_int_equal(timed_call_of(&w, enter).counter,
			 counter_of(&w, enter) | DP_CALL_ENTER);
	assert_int_equal(timed_call_of(&w, enter + 2).group, enter + 1);
	assert_int_equal(timed_call_of(&w, enter + 2).counter,
			 (enter + 2) << DP_CALL_SHIFT | DP_CALL_EXIT);
	dp_engine_admit(w.e, false);
	assert_int_equal(timed_call_of(&w, enter).group, 0);
	end(&w);
}

static void expect_untimed(struct world *w, struct dp_binding binding, u32 way)
{
	u32 enter = time_calls(w, binding, way), i;

	for (i = enter; i <= enter + 2; i++) {
		assert_true(is_nothing(w, i));
		assert_int_equal(timed_call_of(w, i).counter, 0);
	}
	end(w);
}

static void other_records_are_left_to_the_agent(void **state)
{
	const struct dp_binding nothing = { .start = DP_NO_START };
	struct world w;

	timing_beginning(&w);
	expect_untimed(&w, (struct dp_binding){ .start = 0 }, 0);
	timing_beginning(&w);
	expect_untimed(&w,
		       (struct dp_binding){ .start = DP_NO_START, .leaves = 1 },
		       0);
	timing_beginning(&w);
	expect_untimed(
		&w, (struct dp_binding){ .start = DP_NO_START, .judged = true },
		0);
	timing_beginning(&w);
	expect_untimed(&w, nothing, DP_WAY_XMM);
	/* Writers wait; no time; no thread's id */
	timing_beginning(&w);
	dp_engine_set_rings(w.e, STREAM, true);
	expect_untimed(&w, nothing, 0);
	timing_beginning(&w);
	dp_engine_set_coarse(w.e, true);
	expect_untimed(&w, nothing, 0);
	timing_beginning(&w);
	dp_engine_set_tid_offset(w.e, 0);
	expect_untimed(&w, nothing, 0);
}

static struct dp_record_copy got[8];
static u32 nr_got;

static void keep(void *arg, const struct dp_record_copy *r)
{
	assert_true(nr_got < 8);
	got[nr_got++] = *r;
}

static u32 read_records(struct world *w)
{
	size_t n;

	nr_got = 0;
	n = dp_engine_records(w->e, keep, NULL, false);
	assert_int_equal(n, nr_got);
	return nr_got;
}

/* As code does, or any code of the target's; @bytes of it */
static void write_call(struct world *w, u32 what, u64 bytes)
{
	const struct dp_arena_control *c = &w->e->arena->control;
	struct dp_stream *s = (void *)((char *)w->e->arena + c->stream_off);
	struct dp_stream_call *r =
		(void *)((char *)(s + 1) + (s->head & c->stream_mask));

	*r = (struct dp_stream_call){ .ticks = 900,
				      .what = what,
				      .tid = 77,
				      .entered = 500,
				      .value = 5,
				      .slot = SLOT };
	s->head += bytes;
}

static void expect_call(const struct dp_record_copy *r, u32 enter, u32 how)
{
	struct dp_leaving l;

	assert_int_equal(r->head.probe, enter);
	assert_int_equal(r->head.ticks, 900);
	assert_int_equal(r->head.tid, 77);
	assert_int_equal(r->head.len, sizeof(l));
	memcpy(&l, r->data, sizeof(l));
	assert_int_equal(l.entered, 500);
	assert_int_equal(l.value, 5);
	assert_int_equal(l.slot, SLOT);
	assert_int_equal(l.how, how);
}

static void reads_what_code_has_timed(void **state)
{
	const struct dp_binding nothing = { .start = DP_NO_START };
	const u32 size = sizeof(struct dp_stream_call);
	struct world w;
	u32 enter;

	timing_beginning(&w);
	enter = time_calls(&w, nothing, 0);
	write_call(&w, dp_stream_what(enter + 1, 0, DP_STREAM_CALL), size);
	write_call(&w, dp_stream_what(enter + 2, 0, DP_STREAM_CALL), size);
	assert_int_equal(read_records(&w), 2);
	expect_call(&got[0], enter, DP_CALL_RETURNED);
	expect_call(&got[1], enter, DP_CALL_TAIL_CALLED);
	assert_int_equal(dp_engine_hits(w.e, enter + 1), 1);
	assert_int_equal(dp_engine_hits(w.e, enter + 2), 1);
	assert_int_equal(dp_engine_hits(w.e, enter), 0);
	/* No exit, and no probe: the next one is read all the same. */
	write_call(&w, dp_stream_what(enter, 0, DP_STREAM_CALL), size);
	write_call(&w, dp_stream_what(enter + 3, 0, DP_STREAM_CALL), size);
	write_call(&w, dp_stream_what(enter + 1, 0, DP_STREAM_CALL), size);
	assert_int_equal(read_records(&w), 1);
	assert_int_equal(w.e->reader.torn, 2);
	assert_int_equal(dp_engine_hits(w.e, enter + 1), 2);
	/* It ends before its end. */
	write_call(&w, dp_stream_what(enter + 1, 0, DP_STREAM_CALL), size - 8);
	assert_int_equal(read_records(&w), 0);
	assert_int_equal(w.e->reader.torn, 3);
	write_call(&w, dp_stream_what(enter + 1, 0, DP_STREAM_CALL), size);
	assert_int_equal(read_records(&w), 1);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_calls_in_blocks),
		cmocka_unit_test(forgets_calls_in_blocks),
		cmocka_unit_test(gives_back_blocks_of_stacks_that_have_gone),
		cmocka_unit_test(brings_blocks_along),
		cmocka_unit_test(code_counts_simple_calls),
		cmocka_unit_test(what_is_off_is_left_to_the_agent),
		cmocka_unit_test(calls_with_more_to_do_are_left_to_the_agent),
		cmocka_unit_test(code_times_calls_of_which_no_value_is_wanted),
		cmocka_unit_test(other_records_are_left_to_the_agent),
		cmocka_unit_test(reads_what_code_has_timed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
