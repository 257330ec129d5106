// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* instances: what control makes of calls that are tracked from entry to exit. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "engine/layout/ring.h"
#include "engine/site/counts.h"
#include "engine/site/program.h"
#include "engine/text/state.h"
#include "engine/vm/ops.h"
#include "calls.h"

#define SAMPLED 1024 /* lines that tell how full a table is */

static const struct dp_expected none = { 0 };

static u32 add_program(struct world *w, u32 logmax)
{
	static const u8 code[] = { DP_OPCODE_EXIT };
	static const u32 start;
	const struct dp_program_spec spec = { .name = "it",
					      .code = code,
					      .code_len = sizeof(code),
					      .starts = &start,
					      .nr_starts = 1,
					      .logmax = logmax,
					      .stack = 32 };
	u32 program, offset;
	const char *why;

	assert_int_equal(
		dp_engine_add_program(w->e, &spec, &program, &offset, &why), 0);
	return program;
}

/* A call whose end makes a record of what its program has logged. */
static u32 add_logging_call(struct world *w, u32 offset, u32 logmax)
{
	struct dp_binding binding = { .program = add_program(w, logmax) };
	u32 probe;

	assert_int_equal(add(w, offset, &probe), 0);
	assert_int_equal(dp_engine_track(w->e, probe, true), 0);
	dp_engine_bind(w->e, probe, &binding);
	return probe;
}

static u32 add_unwind(struct world *w, u32 way, u32 offset)
{
	u32 probe;

	assert_int_equal(dp_engine_add_unwind(w->e, way, TEXT + offset,
					      w->text + offset, DP_REGION_MAX,
					      &probe),
			 0);
	return probe;
}

static void lose(struct world *w, u32 probe)
{
	assert_int_equal(
		dp_site_set_state((void *)entry_of(w, probe), DP_SITE_GONE), 0);
}

/* How its function is left at a probe, as the hit half reads it. */
static void tells_ways(void **state)
{
	const struct dp_probe_entry *told;
	u32 enter, exit, hidden, unwind;
	struct world w;

	begin_expecting(&w, DP_ARM_TRAP, &none);
	enter = add_call(&w, 100);
	dp_engine_track_xmm(w.e, enter);
	exit = add_exit(&w, enter, DP_WAY_SHARED, 120);
	hidden = add_exit(&w, DP_NO_GROUP, 0, 140);
	unwind = add_unwind(&w, DP_WAY_UNTIL_DI, 160);
	dp_engine_set_way(w.e, hidden, DP_WAY_TAIL);
	assert_int_equal(go(&w), 0);
	told = w.e->view.probes;
	assert_int_equal(told[enter].way, DP_WAY_XMM | DP_WAY_SHARED);
	assert_int_equal(told[exit].way, DP_WAY_SHARED);
	assert_int_equal(told[hidden].way, DP_WAY_TAIL);
	assert_int_equal(told[unwind].way, DP_WAY_UNTIL_DI);
	assert_int_equal(told[unwind].kind, DP_KIND_UNWIND);
	assert_int_equal(told[unwind].group, DP_NO_GROUP);
	assert_int_equal(w.e->arena->control.tail_target, 0);
	dp_engine_set_way(w.e, hidden, DP_WAY_TAIL | DP_WAY_SHARED);
	assert_int_equal(told[hidden].way, DP_WAY_TAIL | DP_WAY_SHARED);
	end(&w);
}

/* The hit half looks for tail-called instances only if there can be any. */
static void tells_of_tail_targets(void **state)
{
	struct world w;
	u32 enter, exit;

	begin_expecting(&w, DP_ARM_TRAP, &none);
	enter = add_call(&w, 100);
	add_exit(&w, enter, DP_WAY_TAIL | DP_WAY_TAIL_TARGET, 120);
	assert_int_equal(go(&w), 0);
	assert_true(w.e->arena->control.tail_target);
	end(&w);
	begin_expecting(&w, DP_ARM_TRAP, &none);
	enter = add_call(&w, 100);
	exit = add_exit(&w, enter, DP_WAY_TAIL, 120);
	dp_engine_set_way(w.e, exit, DP_WAY_TAIL | DP_WAY_TAIL_TARGET);
	add_exit(&w, enter, 0, 140);
	assert_int_equal(go(&w), 0);
	assert_true(w.e->arena->control.tail_target);
	end(&w);
}

/* Exits of tail targets, and unwinders, are found by their kind, and serve again elsewhere
 * when their code has gone. */
static void finds_hidden_probes(void **state)
{
	u32 enter, hidden, unwind, plain;
	struct world w;

	begin_expecting(&w, DP_ARM_TRAP, &none);
	enter = add_call(&w, 100);
	add_exit(&w, enter, 0, 120);
	assert_int_equal(add(&w, 140, &plain), 0);
	hidden = add_exit(&w, DP_NO_GROUP, 0, 140);
	unwind = add_unwind(&w, DP_WAY_UNTIL_CX, 140);
	assert_int_equal(go(&w), 0);
	assert_int_equal(dp_engine_hidden_at(w.e, DP_KIND_EXIT, TEXT + 140),
			 hidden);
	assert_int_equal(dp_engine_hidden_at(w.e, DP_KIND_UNWIND, TEXT + 140),
			 unwind);
	assert_int_equal(dp_engine_hidden_at(w.e, DP_KIND_EXIT, TEXT + 120),
			 DP_NO_GROUP);
	assert_int_equal(dp_engine_hidden_at(w.e, DP_KIND_EXIT, TEXT + 141),
			 DP_NO_GROUP);
	lose(&w, enter);
	assert_int_equal(dp_engine_hidden_spare(w.e, DP_KIND_EXIT),
			 DP_NO_GROUP);
	lose(&w, hidden);
	assert_int_equal(dp_engine_hidden_spare(w.e, DP_KIND_EXIT), hidden);
	assert_int_equal(dp_engine_hidden_spare(w.e, DP_KIND_UNWIND), unwind);
	end(&w);
	begin_expecting(&w, DP_ARM_TRAP, &none);
	unwind = add_unwind(&w, DP_WAY_UNTIL_CX, 140);
	assert_int_equal(go(&w), 0);
	lose(&w, unwind);
	assert_int_equal(dp_engine_hidden_spare(w.e, DP_KIND_UNWIND), unwind);
	end(&w);
}

static const struct dp_jump *jump_of(const struct world *w, u32 probe)
{
	const struct dp_site_entry *s = entry_of(w, probe);

	assert_int_equal(w->text[s->addr - TEXT], JMP);
	return dp_view_jump(&w->e->view, s);
}

/* A detour that only counts serves another probe that counts. For one that comes later and
 * does more there is another detour, and where calls begin or end it calls out already. */
static void calls_out_for_calls(void **state)
{
	struct dp_binding binding = { 0 };
	struct world w;
	u32 probe[4], later, i;
	const struct dp_jump *was;

	begin(&w, DP_ARM_QUIESCE);
	dp_engine_set_rseq(w.e, 0, 0);
	assert_int_equal(add(&w, 100, &probe[0]), 0);
	probe[1] = add_call(&w, 200);
	probe[2] = add_exit(&w, probe[1], 0, 300);
	probe[3] = add_unwind(&w, DP_WAY_UNTIL_CX, 400);
	for (i = 0; i < 4; i++)
		allow(&w, probe[i]);
	assert_int_equal(go(&w), 0);
	for (i = 0; i < 4; i++) {
		was = jump_of(&w, probe[i]);
		assert_int_equal(was->before, i != 0);
		assert_int_equal(add(&w, 100 + 100 * i, &later), 0);
		assert_int_equal(go(&w), 0);
		assert_ptr_equal(jump_of(&w, probe[i]), was);
	}
	binding.program = add_program(&w, 0);
	for (i = 0; i < 4; i++) {
		was = jump_of(&w, probe[i]);
		assert_int_equal(add(&w, 100 + 100 * i, &later), 0);
		dp_engine_bind(w.e, later, &binding);
		assert_int_equal(go(&w), 0);
		assert_int_equal(jump_of(&w, probe[i])->before, 1);
		if (i)
			assert_ptr_equal(jump_of(&w, probe[i]), was);
		assert_true(entry_of(&w, later)->runs);
	}
	end(&w);
}

/* A key has no room for the number of more probes. */
static void tracks_as_many_as_a_key_can_name(void **state)
{
	struct world w;

	begin_expecting(&w, DP_ARM_TRAP, &none);
	assert_int_equal(dp_engine_track(w.e, DP_INSTANCE_GROUPS, false),
			 -ENOMEM);
	end(&w);
}

/* As any probe is refused; the others stay what they are. */
static void refuses_what_cannot_be_probed(void **state)
{
	u32 enter, probe = 0;
	struct world w;
	const char *why;

	begin_expecting(&w, DP_ARM_TRAP, &none);
	w.text[500] = INT3;
	enter = add_call(&w, 100);
	assert_int_equal(dp_engine_add_exit(w.e, enter, DP_WAY_TAIL_TARGET,
					    TEXT + 500, w.text + 500,
					    DP_REGION_MAX, &probe, &why),
			 -EBUSY);
	assert_int_equal(dp_engine_add_unwind(w.e, DP_WAY_UNTIL_CX, TEXT + 500,
					      w.text + 500, DP_REGION_MAX,
					      &probe),
			 -EBUSY);
	assert_int_equal(dp_engine_probes(w.e), 1);
	assert_int_equal(go(&w), 0);
	assert_int_equal(w.e->view.probes[enter].kind, DP_KIND_ENTER);
	assert_false(w.e->arena->control.tail_target);
	end(&w);
}

static u64 bytes_of_table(const struct world *w)
{
	const struct dp_arena_control *c = &w->e->arena->control;

	return (c->line_mask + 1ull) * DP_INSTANCE_WAYS * c->instance_stride;
}

static void check_room(struct world *w, u32 logged)
{
	const struct dp_arena_control *c = &w->e->arena->control;

	assert_true(c->instance_stride >=
		    sizeof(struct dp_exit_instance) + logged);
	assert_in_range(c->instance_stride, 0,
			sizeof(struct dp_exit_instance) + logged + 7);
	assert_int_equal(c->instance_stride % 8, 0);
	assert_in_range(bytes_of_table(w), 0, DP_INSTANCE_BYTES);
	assert_true(c->line_mask + 1 == DP_INSTANCE_LINES ||
		    2 * bytes_of_table(w) > DP_INSTANCE_BYTES);
}

/* An instance has room for what its program logs; the more of that, the fewer instances. */
static void has_room_for_what_is_logged(void **state)
{
	static const u32 logmax[] = { 1, 64, 601, DP_VM_LOG };
	struct world w;
	u32 i;

	for (i = 0; i < 4; i++) {
		begin_expecting(&w, DP_ARM_TRAP, &none);
		add_call(&w, 200);
		add_logging_call(&w, 100, logmax[i]);
		add_call(&w, 300);
		assert_int_equal(go(&w), 0);
		check_room(&w, logmax[i]);
		end(&w);
	}
}

/* A program at a probe that tracks no call takes no room in instances. */
static void needs_no_room_without_records(void **state)
{
	struct dp_binding binding = { 0 };
	struct world w;
	u32 probe;

	begin_expecting(&w, DP_ARM_TRAP, &none);
	assert_int_equal(add(&w, 100, &probe), 0);
	binding.program = add_program(&w, 500);
	dp_engine_bind(w.e, probe, &binding);
	assert_int_equal(go(&w), 0);
	assert_int_equal(w.e->instances.tables, 0);
	assert_int_equal(w.e->arena->control.nr_instance_tables, 0);
	assert_int_equal(dp_engine_instances(w.e, NULL, NULL), 0);
	assert_int_equal(dp_engine_instances_want(w.e), 0);
	end(&w);
	begin_expecting(&w, DP_ARM_TRAP, &none);
	add_call(&w, 200);
	add_program(&w, 500);
	assert_int_equal(go(&w), 0);
	check_room(&w, 0);
	end(&w);
}

/* Calls that make records may come with a later library. */
static void has_room_for_what_may_come(void **state)
{
	const struct dp_expected calls = { .sites = 1,
					   .probes = 1,
					   .calls = true },
				 logs = { .sites = 1,
					  .probes = 1,
					  .calls = true,
					  .programs = 1,
					  .log = 100 },
				 plain = { .sites = 1,
					   .probes = 1,
					   .programs = 1,
					   .log = 100 };
	struct world w;
	u32 probe;

	begin_expecting(&w, DP_ARM_TRAP, &calls);
	assert_int_equal(add(&w, 100, &probe), 0);
	add_program(&w, 500);
	assert_int_equal(go(&w), 0);
	check_room(&w, 0);
	end(&w);
	begin_expecting(&w, DP_ARM_TRAP, &plain);
	add_call(&w, 100);
	assert_int_equal(go(&w), 0);
	check_room(&w, 0);
	end(&w);
	begin_expecting(&w, DP_ARM_TRAP, &logs);
	assert_int_equal(add(&w, 100, &probe), 0);
	assert_int_equal(go(&w), 0);
	check_room(&w, 100);
	end(&w);
	begin_expecting(&w, DP_ARM_TRAP, &plain);
	assert_int_equal(add(&w, 100, &probe), 0);
	assert_int_equal(go(&w), 0);
	assert_int_equal(w.e->instances.tables, 0);
	end(&w);
}

static void hit(const struct world *w, u32 probe, u64 times)
{
	const struct dp_view *v = &w->e->view;

	((u64 *)v->counters)[v->probe_counters + probe] += times;
}

/* entered = returned + tail + unwound + abandoned + inside + missed + damaged + unmet +
 * disabled + lost */
static void accounts_for_each_call(void **state)
{
	struct dp_account a;
	struct world w;
	u32 enter, exit, other;
	u64 *tally;

	begin_expecting(&w, DP_ARM_TRAP, &none);
	enter = add_call(&w, 100);
	exit = add_exit(&w, enter, 0, 120);
	add_exit(&w, enter, DP_WAY_TAIL, 140);
	add_exit(&w, enter, DP_WAY_SHARED, 160);
	other = add_call(&w, 200);
	add_exit(&w, other, 0, 220);
	add_exit(&w, DP_NO_GROUP, 0, 240);
	assert_int_equal(go(&w), 0);
	hit(&w, enter, 1 << 20);
	hit(&w, exit, 1);
	hit(&w, exit + 1, 2);
	hit(&w, exit + 2, 4);
	hit(&w, other, 100);
	hit(&w, other + 1, 30);
	hit(&w, other + 2, 1000);
	tally = w.e->view.states[enter].tally;
	tally[DP_TALLY_BROUGHT] = 8;
	tally[DP_TALLY_RETURNED] = 1 << 3;
	tally[DP_TALLY_TAIL_CALLED] = 1 << 4;
	tally[DP_TALLY_UNWOUND] = 1 << 5;
	tally[DP_TALLY_ABANDONED] = 1 << 6;
	tally[DP_TALLY_INSIDE] = 1 << 7;
	tally[DP_TALLY_CONTEXT] = 1 << 8;
	tally[DP_TALLY_INSTANCES] = 1 << 9;
	tally[DP_TALLY_DAMAGED] = 1 << 10;
	tally[DP_TALLY_UNMET] = 1 << 11;
	tally[DP_TALLY_DISABLED] = 1 << 12;
	tally[DP_TALLY_UNSEEN] = 1 << 13;
	tally[DP_TALLY_CUT] = 1 << 14;
	dp_engine_account(w.e, enter, &a);
	assert_int_equal(a.entered, (1 << 20) + 8);
	assert_int_equal(a.returned, 1 + 4 + (1 << 3));
	assert_int_equal(a.tail, 2 + (1 << 4));
	assert_int_equal(a.unwound, 1 << 5);
	assert_int_equal(a.abandoned, 1 << 6);
	assert_int_equal(a.inside, 1 << 7);
	assert_int_equal(a.missed, 3 << 8);
	assert_int_equal(a.damaged, 1 << 10);
	assert_int_equal(a.unmet, 1 << 11);
	assert_int_equal(a.unseen, 1 << 13);
	assert_int_equal(a.cut, 1 << 14);
	assert_int_equal(a.lost, (1 << 20) + 8 - 7 - ((1 << 13) - (1 << 3)));
	dp_engine_account(w.e, other, &a);
	assert_int_equal(a.entered, 100);
	assert_int_equal(a.returned, 30);
	assert_int_equal(a.lost, 70);
	end(&w);
}

/* A further table is wanted when half of the newest one's lines are used. */
static void wants_a_table_in_time(void **state)
{
	struct dp_instance_line *line;
	u32 i, way, half = SAMPLED / 2;
	struct world w;
	void *more;
	u64 size;

	begin_expecting(&w, DP_ARM_TRAP, &none);
	add_call(&w, 100);
	assert_int_equal(go(&w), 0);
	line = w.e->instances.table[0].line;
	for (i = 0; i < half; i++)
		for (way = 0; way < DP_INSTANCE_WAYS; way++)
			line[2 * i + way % 2].key[way] = 1;
	size = dp_engine_instances_want(w.e);
	assert_int_equal(size % DP_PAGE, 0);
	line[0].key[0] = 0;
	assert_int_equal(dp_engine_instances_want(w.e), 0);
	line[SAMPLED - 1].key[DP_INSTANCE_WAYS - 1] = 1;
	assert_int_equal(dp_engine_instances_want(w.e), size);
	for (i = 1; i < DP_INSTANCE_TABLES; i++) {
		assert_true(dp_engine_instances_want(w.e));
		more = calloc(1, dp_engine_instances_want(w.e));
		dp_engine_instances_grow(w.e, 0x60000000, more);
		assert_int_equal(dp_engine_instances_want(w.e), 0);
		free(i > 1 ? line : NULL);
		line = more;
		w.e->arena->hit.full++;
	}
	assert_int_equal(dp_engine_instances_want(w.e), 0);
	free(line);
	end(&w);
}

/* The hit half finds the tables where the target has them. */
static void tells_where_tables_are(void **state)
{
	const struct dp_arena_control *c;
	const struct dp_instance_table *t;
	struct world w;
	void *more;

	begin_expecting(&w, DP_ARM_TRAP, &none);
	add_call(&w, 100);
	assert_int_equal(go(&w), 0);
	c = &w.e->arena->control;
	t = c->instance_tables;
	assert_int_equal(t[0].lines - c->base - DP_ARENA_OFFSET,
			 (char *)w.e->instances.table[0].line -
				 (char *)w.e->arena);
	assert_int_equal(t[0].instances - c->base - DP_ARENA_OFFSET,
			 w.e->instances.table[0].instances -
				 (char *)w.e->arena);
	assert_int_equal(dp_engine_instances_at(w.e, 0), t[0].lines);
	assert_int_equal(dp_engine_instances_at(w.e, 1), 0);
	w.e->arena->hit.full++;
	more = calloc(1, dp_engine_instances_want(w.e));
	dp_engine_instances_grow(w.e, 0x60000000, more);
	assert_int_equal(dp_engine_instances_at(w.e, 1), 0x60000000);
	assert_int_equal(t[1].instances - t[1].lines,
			 w.e->instances.table[1].instances - (char *)more);
	free(more);
	end(&w);
}

/* A return address is believed only of an instance that neither begins nor ends. */
static void believes_what_is_whole(void **state)
{
	struct dp_exit_instance *v;
	struct world w;
	u32 p;

	begin_expecting(&w, DP_ARM_TRAP, &none);
	p = add_call(&w, 100);
	assert_int_equal(go(&w), 0);
	v = put(&w, p, SLOT, 0, 3);
	assert_int_equal(in_progress(&w), 1);
	assert_true(found[0].whole);
	assert_int_equal(found[0].ret, 77);
	assert_int_equal(found[0].serial, 5);
	v->state = DP_INSTANCE_DOUBT;
	assert_int_equal(in_progress(&w), 1);
	assert_false(found[0].whole);
	assert_int_equal(found[0].ret, 0);
	v->state = DP_INSTANCE_LIVE;
	v->group++;
	assert_int_equal(in_progress(&w), 1);
	assert_false(found[0].whole);
	assert_int_equal(found[0].slot, SLOT);
	line_of(&w, SLOT, 0)->key[3] = dp_instance_key(p, SLOT + 8);
	assert_false(dp_engine_instances_still(w.e, &found[0]));
	end(&w);
}

/* An abandoned call's record is what its program logged at the entry, and how it ended. */
static void records_abandoned_calls(void **state)
{
	struct dp_record_copy record;
	struct dp_leaving leaving;
	struct dp_exit_instance *v;
	struct world w;
	u32 p, most;
	u64 before;

	begin_expecting(&w, DP_ARM_TRAP, &none);
	p = add_logging_call(&w, 100, 64);
	assert_int_equal(go(&w), 0);
	v = put(&w, p, SLOT, 0, 0);
	assert_int_equal(in_progress(&w), 1);
	before = dp_engine_ticks();
	dp_engine_instance_record(w.e, found, &record);
	memcpy(&leaving, record.data, sizeof(leaving));
	assert_int_equal(leaving.entered, 8);
	assert_int_equal(leaving.slot, SLOT);
	assert_int_equal(leaving.how, DP_CALL_ABANDONED);
	assert_int_equal(record.head.len, sizeof(leaving) + 3);
	assert_memory_equal(record.data + sizeof(leaving), "log", 3);
	assert_int_equal(record.head.probe, p);
	assert_int_equal(record.head.tid, 99);
	assert_in_range(record.head.ticks, before, dp_engine_ticks());
	/* The process can have written any length. */
	most = w.e->instances.instance_stride - (u32)sizeof(*v);
	v->len = (u16)most;
	memset(v + 1, 'x', most);
	dp_engine_instance_record(w.e, found, &record);
	assert_int_equal(record.head.len, sizeof(leaving) + most);
	assert_int_equal(record.data[sizeof(leaving) + most - 1], 'x');
	v->len = (u16)(most + 1);
	dp_engine_instance_record(w.e, found, &record);
	assert_int_equal(record.head.len, sizeof(leaving) + most);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_ways),
		cmocka_unit_test(tells_of_tail_targets),
		cmocka_unit_test(finds_hidden_probes),
		cmocka_unit_test(refuses_what_cannot_be_probed),
		cmocka_unit_test(calls_out_for_calls),
		cmocka_unit_test(tracks_as_many_as_a_key_can_name),
		cmocka_unit_test(has_room_for_what_is_logged),
		cmocka_unit_test(needs_no_room_without_records),
		cmocka_unit_test(has_room_for_what_may_come),
		cmocka_unit_test(accounts_for_each_call),
		cmocka_unit_test(wants_a_table_in_time),
		cmocka_unit_test(tells_where_tables_are),
		cmocka_unit_test(believes_what_is_whole),
		cmocka_unit_test(records_abandoned_calls),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
