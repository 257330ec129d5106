// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* fork: the engine of a fork child, on a copy of its parent's text. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "engine/layout/ring.h"
#include "engine/site/counts.h"
#include "engine/site/enable.h"
#include "engine/site/program.h"
#include "engine/vm/ops.h"
#include "armed.h"
#include "calls.h"
#include "starve.h"

#define FOREIGN 0xeb
#define PASSCOUNT 2
#define MAKER 1
#define CHILD 3
#define LOGMAX 64

static const struct dp_expected more = { .sites = 2 * ROOM,
					 .probes = 4 * ROOM,
					 .programs = 20,
					 .log = LOGMAX,
					 .calls = true };

static void hit(const struct world *w, u32 probe)
{
	++((u64 *)w->e->view.counters)[w->e->view.probes[probe].site];
}

static int add_program(struct world *w, u32 probe)
{
	static const u8 code[] = { DP_OPCODE_EXIT };
	static const u32 start;
	const struct dp_program_spec spec = { .name = "it",
					      .code = code,
					      .code_len = sizeof(code),
					      .starts = &start,
					      .nr_starts = 1,
					      .nr_lv = 1,
					      .logmax = LOGMAX,
					      .stack = 32 };
	struct dp_binding binding = { .passcount = PASSCOUNT };
	const char *why;
	u32 offset;
	int err = dp_engine_add_program(w->e, &spec, &binding.program, &offset,
					&why);

	if (!err)
		dp_engine_bind(w->e, probe, &binding);
	return err;
}

/* The text of a process that has been forked, and memory of its own. */
static struct world copy_of(const struct world *w)
{
	struct world own = *w;

	own.target.ops = &text_ops;
	own.e = NULL;
	own.file = calloc(1, DP_FILE_ARENA_OFFSET + w->e->need.arena_size);
	memory_copy(&own.m, &w->m);
	return own;
}

static int fork_engine(const struct world *w, struct world *own)
{
	struct dp_mapping map = {
		.base = 0x70000000, .owner = CHILD, .tool = 2, .file = own->file
	};

	int err = dp_engine_fork(w->e, &map, &own->m, &own->e);

	own->m.engine = own->e;
	own->m.target = &own->target;
	return err;
}

static void make_child(const struct world *w, struct world *own)
{
	*own = copy_of(w);
	assert_int_equal(fork_engine(w, own), 0);
}

static void end_child(struct world *own)
{
	dp_engine_destroy(own->e);
	free(own->file);
	memory_free(&own->m);
}

/* It was forked before its parent got the last batch. */
static void catches_up(void **state)
{
	struct world w, own;
	u32 p, q;

	begin(&w, DP_ARM_TRAP);
	assert_int_equal(add(&w, 100, &p), 0);
	assert_int_equal(go(&w), 0);
	own = copy_of(&w);
	assert_int_equal(add(&w, 200, &q), 0);
	assert_int_equal(go(&w), 0);
	hit(&w, q);
	assert_int_equal(fork_engine(&w, &own), 0);
	assert_int_equal(own.text[200], NOP);
	assert_int_equal(dp_engine_catch_up(own.e, &own.target), 0);
	assert_int_equal(own.text[200], INT3);
	assert_int_equal(own.text[100], INT3);
	assert_int_equal(dp_engine_hits(own.e, q), 0);
	/* Both go on, each for itself. */
	assert_int_equal(add(&own, 300, &q), 0);
	assert_int_equal(go(&own), 0);
	assert_int_equal(own.text[300], INT3);
	assert_int_equal(w.text[300], NOP);
	assert_int_equal(w.e->view.nr_sites, 2);
	end_child(&own);
	end(&w);
}

/* What the child has not mapped, and what is not ours, stays as it is; a jump of which the
 * child has the first steps is finished. */
static void catches_up_with_what_is_there(void **state)
{
	static const u32 at[] = { 400, 200, 300, 500, 600 };
	const u8 begun[] = { INT3, NOP, NOP, INT3, NOP };
	struct world w, own;
	u32 p, i;

	begin(&w, DP_ARM_QUIESCE);
	assert_int_equal(add(&w, 100, &p), 0);
	assert_int_equal(go(&w), 0);
	own = copy_of(&w);
	for (i = 0; i < 5; i++) {
		assert_int_equal(add(&w, at[i], &p), 0);
		allow(&w, p);
	}
	assert_int_equal(go(&w), 0);
	own.lost[200] = 1;
	own.text[300] = FOREIGN;
	memcpy(own.text + 400, begun, sizeof(begun));
	memcpy(own.text + 600, w.text + 600, DP_JUMP_SIZE);
	own.text[100] =
		NOP; /* of an earlier batch: the child was forked later */
	assert_int_equal(fork_engine(&w, &own), 0);
	assert_int_equal(dp_engine_catch_up(own.e, &own.target), 0);
	assert_int_equal(own.writes_lost, 0);
	assert_int_equal(own.text[200], NOP);
	assert_int_equal(own.text[300], FOREIGN);
	assert_int_equal(own.text[100], NOP);
	assert_memory_equal(own.text + 400, w.text + 400, DP_JUMP_SIZE);
	assert_memory_equal(own.text + 500, w.text + 500, DP_JUMP_SIZE);
	assert_memory_equal(own.text + 600, w.text + 600, DP_JUMP_SIZE);
	assert_int_equal(own.text[500], JMP);
	end_child(&own);
	end(&w);
}

/* mov $0, %eax, and nothing else that is probed */
static void put_mov(struct world *w, u32 at)
{
	memset(w->text + at, 0, DP_JUMP_SIZE);
	w->text[at] = 0xb8;
}

static void expect_caught_up(struct world *w, struct world *own)
{
	assert_int_equal(fork_engine(w, own), 0);
	assert_int_equal(dp_engine_catch_up(own->e, &own->target), 0);
	assert_memory_equal(own->text, w->text, SIZE);
	end_child(own);
}

/* A jump has become breakpoints, or another jump, or has gone; or it could be none. */
static void catches_up_with_what_has_changed(void **state)
{
	struct world w, own;
	u32 p, q, i;
	u64 bad;

	begin(&w, DP_ARM_INTERIOR);
	put_mov(&w, 100);
	put_mov(&w, 200);
	assert_int_equal(add(&w, 100, &p), 0);
	allow(&w, p);
	assert_int_equal(go(&w), 0);
	assert_int_equal(w.text[100], JMP);
	for (i = 0; i < 2; i++) {
		own = copy_of(&w);
		dp_engine_turn(w.e, p, i);
		assert_int_equal(dp_engine_apply(w.e, &w.target, &bad), 0);
		assert_int_equal(w.text[100], i ? JMP : 0xb8);
		expect_caught_up(&w, &own);
	}
	own = copy_of(&w);
	assert_int_equal(add(&w, 102, &q), 0);
	assert_int_equal(add(&w, 200, &q), 0);
	allow(&w, q);
	assert_int_equal(add(&w, 202, &q), 0);
	assert_int_equal(go(&w), 0);
	assert_int_equal(w.text[100], INT3);
	assert_int_equal(w.text[102], INT3);
	assert_int_equal(w.text[200], INT3);
	expect_caught_up(&w, &own);
	end(&w);
	begin(&w, DP_ARM_QUIESCE);
	assert_int_equal(add(&w, 100, &p), 0);
	allow(&w, p);
	assert_int_equal(go(&w), 0);
	assert_int_equal(w.text[100], JMP);
	own = copy_of(&w);
	assert_int_equal(add(&w, 102, &q), 0);
	allow(&w, q);
	assert_int_equal(go(&w), 0);
	expect_caught_up(&w, &own);
	end(&w);
}

/* Sites, probes, programs and batches are added to the child's engine alone, as many as
 * there was room for in its parent's. */
static void grows_by_itself(void **state)
{
	struct world w, own;
	u32 p, i;
	size_t size;
	void *was;

	begin_expecting(&w, DP_ARM_TRAP, &more);
	for (i = 0; i < 3; i++) {
		assert_int_equal(add(&w, 1000 - 16 * i, &p), 0);
		assert_int_equal(add_program(&w, p), 0);
		assert_int_equal(go(&w), 0);
	}
	make_child(&w, &own);
	for (i = 0; i < 3; i++)
		assert_int_equal(own.e->view.sites[i].addr,
				 TEXT + 1000 - 16 * i);
	assert_int_equal(add(&own, 1000, &p), 0);
	assert_int_equal(go(&own), 0);
	assert_ptr_equal(entry_of(&own, p), entry_of(&own, 0));
	size = DP_FILE_ARENA_OFFSET + w.e->need.arena_size;
	was = malloc(size);
	memcpy(was, w.file, size);
	for (i = 3; i < 20; i++) {
		assert_int_equal(add(&own, 16 * i, &p), 0);
		assert_int_equal(add(&own, 16 * i, &p), 0);
		assert_int_equal(add_program(&own, p), 0);
		assert_int_equal(go(&own), 0);
		assert_int_equal(own.text[16 * i], INT3);
	}
	assert_int_equal(w.e->nr_sites, 3);
	assert_memory_equal(w.file, was, size);
	assert_int_equal(own.e->nr_sites, 20);
	assert_int_equal(own.e->view.nr_programs, 20);
	free(was);
	end_child(&own);
	end(&w);
}

static u64 bytes_logged;

static void take(void *arg, const struct dp_record_copy *record)
{
	bytes_logged += record->head.len;
}

/* A record of the first probe, the @number-th of its ring. */
static void log_record(const struct world *w, u32 number, u16 len)
{
	const struct dp_arena_control *c = &w->e->arena->control;
	struct dp_ring *ring = (void *)((char *)w->e->arena + c->ring_off);
	struct dp_slot *s =
		(void *)((char *)(ring + 1) + (u64)number * c->slot_size);

	s->record = (struct dp_record){ .len = len };
	s->turn = 1;
	ring->next = number + 1;
}

static u64 logged(const struct world *w)
{
	bytes_logged = 0;
	dp_engine_records(w->e, take, NULL, false);
	return bytes_logged;
}

/* Counts, records and what the tool has answered are the parent's; passcounts begin anew. */
static void begins_anew(void **state)
{
	struct dp_arena_control *c;
	struct world w, own;
	u32 p, i;

	begin_expecting(&w, DP_ARM_TRAP, &more);
	for (i = 0; i < 3; i++) {
		assert_int_equal(add(&w, 16 * i, &p), 0);
		if (i < 2)
			assert_int_equal(add_program(&w, p), 0);
	}
	assert_int_equal(go(&w), 0);
	for (i = 0; i < 3; i++) {
		hit(&w, i);
		w.e->view.states[i].count = 9;
		w.e->view.states[i].tally[DP_TALLY_PASSED] = 1;
	}
	log_record(&w, 0, 1);
	log_record(&w, 1, 2);
	assert_int_equal(logged(&w), 3);
	c = &w.e->arena->control;
	c->tool_futex = c->linker_answered = c->linker_hold = 5;
	c->filter_answered = c->tool_link = 6;
	c->filter_leaving = 7;
	make_child(&w, &own);
	for (i = 0; i < 3; i++) {
		assert_int_equal(dp_engine_hits(own.e, i), 0);
		assert_int_equal(own.e->view.states[i].count,
				 i < 2 ? -PASSCOUNT : 0);
		assert_int_equal(dp_engine_tally(own.e, i, DP_TALLY_PASSED), 0);
	}
	log_record(&own, 0, 10);
	assert_int_equal(logged(&own), 10);
	assert_int_equal(logged(&w), 0);
	c = &own.e->arena->control;
	assert_int_equal(c->owner, CHILD);
	assert_int_equal(c->tool, 2);
	assert_int_equal(c->tool_futex | c->linker_answered | c->linker_hold,
			 0);
	assert_int_equal(c->filter_answered | c->tool_link | c->filter_leaving,
			 0);
	end_child(&own);
	end(&w);
}

/* --- calls in progress --- */

static u64 not_held;

static bool holds(void *arg, u64 slot, u64 word)
{
	assert_ptr_equal(arg, &not_held);
	assert_int_equal(word, 77);
	return slot != not_held;
}

static void bring(struct world *w, struct world *own)
{
	make_child(w, own);
	dp_engine_fork_instances(own->e, w->e, MAKER, CHILD, holds, &not_held);
}

/* The child returns from the calls that its stack has, and accounts for them. */
static void brings_calls_along(void **state)
{
	struct dp_exit_instance *v;
	struct dp_account account;
	struct world w, own;
	u32 p, q;

	begin_expecting(&w, DP_ARM_TRAP, &more);
	p = add_call(&w, 100);
	q = add_call(&w, 200);
	assert_int_equal(go(&w), 0);
	put(&w, p, SLOT, 0, 0)->tid = MAKER;
	put(&w, q, SLOT + 0x1000, 2, 6);
	put(&w, q, SLOT + 0x2000, 0, 1)->state = DP_INSTANCE_DOUBT;
	put(&w, q, SLOT + 0x3000, 0, 1)->group = 0;
	put(&w, q, SLOT + 0x4000, 0, 1);
	not_held = SLOT + 0x4000;
	bring(&w, &own);
	assert_int_equal(in_progress(&own), 2);
	v = instance_in(&own, line_of(&own, SLOT, 0), 0);
	assert_int_equal(v->tid, CHILD);
	assert_int_equal(v->ret, 77);
	assert_int_equal(v->serial, 5);
	assert_memory_equal(v + 1, "log", 3);
	v = instance_in(&own, line_of(&own, SLOT + 0x1000, 2), 6);
	assert_int_equal(v->group, q + 1);
	assert_int_equal(v->tid, 99);
	assert_int_equal(line_of(&own, SLOT, 0)->displaced, 0);
	assert_int_equal(line_of(&own, SLOT + 0x1000, 0)->displaced, 1);
	assert_int_equal(line_of(&own, SLOT + 0x1000, 2)->displaced, 0);
	dp_engine_account(own.e, p, &account);
	assert_int_equal(account.entered, 1);
	assert_int_equal(account.lost, 1); /* none yet: it is in progress */
	dp_engine_account(own.e, q, &account);
	assert_int_equal(account.entered, 1);
	/* What the child does with them is not its parent's. */
	instance_in(&own, line_of(&own, SLOT, 0), 0)->word = 0;
	line_of(&own, SLOT, 0)->key[0] = 0;
	assert_int_equal(in_progress(&own), 1);
	assert_int_equal(in_progress(&w), 5);
	end_child(&own);
	end(&w);
}

/* The target has written the table: nothing of it is believed that names no entry. */
static void brings_no_nonsense(void **state)
{
	struct dp_exit_instance *v;
	struct world w, own;
	u32 p, plain;

	begin_expecting(&w, DP_ARM_TRAP, &more);
	assert_int_equal(add(&w, 100, &plain), 0);
	p = add_call(&w, 200);
	assert_int_equal(go(&w), 0);
	not_held = 0;
	put(&w, plain, SLOT, 0, 0);
	put(&w, p + 1, SLOT + 0x1000, 0, 0);
	v = put(&w, p, SLOT + 0x2000, 0, 0);
	v->len = 0xffff;
	bring(&w, &own);
	assert_int_equal(in_progress(&own), 1);
	v = instance_in(&own, line_of(&own, SLOT + 0x2000, 0), 0);
	assert_int_equal(v->len, own.e->instances.instance_stride - sizeof(*v));
	assert_int_equal(line_of(&own, SLOT, 0)->key[0], 0);
	end_child(&own);
	end(&w);
}

static void enlarge(struct world *w, void *table)
{
	dp_engine_instances_grow(w->e, 0x60000000, table);
}

/* Until the child has as many tables as its parent it brings no calls along. */
static void gets_as_many_tables(void **state)
{
	struct world w, own;
	void *parents, *childs;
	u64 size;
	u32 p;

	begin_expecting(&w, DP_ARM_TRAP, &more);
	p = add_call(&w, 100);
	assert_int_equal(go(&w), 0);
	not_held = 0;
	w.e->arena->hit.full = 1;
	size = dp_engine_instances_want(w.e);
	parents = calloc(1, size);
	childs = calloc(1, size);
	enlarge(&w, parents);
	put(&w, p, SLOT, 0, 0);
	bring(&w, &own);
	assert_int_equal(in_progress(&own), 0);
	assert_int_equal(dp_engine_instances_at(own.e, 0),
			 dp_engine_instances_at(w.e, 0));
	assert_int_equal(dp_engine_instances_at(own.e, 1), 0);
	assert_int_equal(own.e->arena->control.nr_instance_tables, 1);
	assert_int_equal(dp_engine_instances_owed(own.e, w.e), size);
	enlarge(&own, childs);
	assert_int_equal(dp_engine_instances_owed(own.e, w.e), 0);
	assert_int_equal(dp_engine_instances_at(own.e, 1), 0x60000000);
	/* It has room, whatever its parent has met. */
	assert_int_equal(dp_engine_instances_want(own.e), 0);
	dp_engine_fork_instances(own.e, w.e, MAKER, CHILD, holds, &not_held);
	assert_int_equal(in_progress(&own), 1);
	end_child(&own);
	end(&w);
	free(parents);
	free(childs);
}

/* The parent's probes are about to go: its calls are not tracked any more. */
static void tracks_calls_of_its_own(void **state)
{
	struct world w, own;
	u32 p, plain;

	begin_expecting(&w, DP_ARM_TRAP, &more);
	assert_int_equal(add(&w, 100, &plain), 0);
	p = add_call(&w, 200);
	assert_int_equal(go(&w), 0);
	dp_engine_admit(w.e, false);
	make_child(&w, &own);
	assert_true(own.e->view.probes[p].enabled);
	assert_false(w.e->view.probes[p].enabled);
	assert_true(own.e->view.probes[plain].enabled);
	end_child(&own);
	end(&w);
}

/* Once everything is there: a child of a process with two batches and programs. */
static struct world parent, child;

static int fork_and_end(void)
{
	long before = dp_fake_live();
	int err = fork_engine(&parent, &child);

	if (err)
		assert_null(child.e);
	dp_engine_destroy(child.e);
	assert_int_equal(dp_fake_live(), before);
	return err;
}

static void fails_without_a_trace(void **state)
{
	unsigned int nth, left = 0;
	u32 p, i;
	int err;

	begin_expecting(&parent, DP_ARM_TRAP, &more);
	for (i = 0; i < 2; i++) {
		assert_int_equal(add(&parent, 16 * i, &p), 0);
		assert_int_equal(add_program(&parent, p), 0);
		assert_int_equal(go(&parent), 0);
	}
	child = copy_of(&parent);
	for (nth = 1; !left; nth++) {
		dp_fake_fail_alloc(nth);
		err = fork_and_end();
		left = dp_fake_fail_alloc(0);
		assert_int_equal(err, left ? 0 : -ENOMEM);
	}
	assert_in_range(nth, 5, STARVE_MAX);
	free(child.file);
	memory_free(&child.m);
	end(&parent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(catches_up),
		cmocka_unit_test(catches_up_with_what_is_there),

		cmocka_unit_test(catches_up_with_what_has_changed),
		cmocka_unit_test(grows_by_itself),
		cmocka_unit_test(begins_anew),
		cmocka_unit_test(brings_calls_along),
		cmocka_unit_test(brings_no_nonsense),
		cmocka_unit_test(gets_as_many_tables),
		cmocka_unit_test(tracks_calls_of_its_own),
		cmocka_unit_test(fails_without_a_trace),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
