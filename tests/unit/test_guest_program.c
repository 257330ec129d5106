// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * guest_program: guests that run programs and track calls, and what their tool reads of them. The
 * library's objects are in the program, which probes itself; a mirror looks at its own arena.
 */
#include <dprobes/diag.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dprobes/kprobes.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "engine/layout/base.h"
#include "engine/layout/ring.h"
#include "engine/site/counts.h"
#include "engine/site/engine.h"
#include "engine/site/instances.h"
#include "engine/site/mirror.h"
#include "engine/site/program.h"
#include "lang/lang.h"
#include "lib/self.h"
#include "lib/service.h"
#include "tracer/host/host.h"

#define ORDER 4096

static struct dp_engine *mirror;

static long __attribute__((noipa)) one(long x)
{
	return x * 3 + 1;
}

/* The entry's instruction may fault: a record waits until it has completed. */
long from_memory(const long *p);
extern const char from_memory_end[];
__asm__(".text\n"
	".balign 16\n"
	"from_memory:\n"
	"	mov (%rdi), %rax\n"
	"	lea 1(%rax,%rax,2), %rax\n"
	"from_memory_end:\n"
	"	ret\n"
	".balign 16\n");

static struct dp_guest guest(const void *at)
{
	return (struct dp_guest){ .addr = (u64)at,
				  .group = DP_NO_GROUP,
				  .err = 1 };
}

static struct dp_guest bound(const void *at, u32 program)
{
	struct dp_guest g = guest(at);

	g.bound = 1;
	g.binding = (struct dp_binding){ .program = program,
					 .maxhits = 0xffffffff,
					 .major = 7,
					 .minor = 9 };
	return g;
}

/** struct order - programs as they come in an order */
struct order {
	_Alignas(8) char bytes[ORDER];
	size_t size;
	u32 n;
};

static void put(struct order *o, const char *body)
{
	static const char head[] =
		"name = t\nmodtype = user\nmajor = 1\nvars = 2\ngvars = 1\noffset = one\nminor = 1\n";
	struct dp_guest_program *p = (void *)(o->bytes + o->size);
	struct dp_lang_program *lang;
	char text[512], *line = NULL;
	struct dp_diag diag;
	u32 *starts = (void *)(p + 1);

	snprintf(text, sizeof(text), "%s%s\n", head, body);
	assert_int_equal(dp_lang_assemble("t", text, strlen(text), 8, &lang,
					  &line, &diag),
			 0);
	memset(p, 0, sizeof(*p));
	strcpy(p->name, "t");
	p->spec = (struct dp_program_spec){ .code_len = lang->code_len,
					    .nr_starts = 2,
					    .nr_lv = 2,
					    .nr_gv = 1,
					    .jmpmax = 100,
					    .logmax = 100,
					    .stack = 32 };
	starts[0] = starts[1] = lang->points[0].start;
	memcpy(starts + 2, lang->code, lang->code_len);
	p->size = (u32)((sizeof(*p) + 8 + lang->code_len + 7) & ~7ull);
	o->size += p->size;
	o->n++;
	assert_true(o->size < sizeof(o->bytes));
	dp_lang_free(lang);
}

static struct dp_guest_program *first_of(struct order *o)
{
	return (void *)o->bytes;
}

static void look(void)
{
	assert_int_equal(dp_mirror_look(mirror, dp_self.arena,
					dp_self.arena->control.arena_size),
			 0);
}

/* As memory that a tool shares, it begins with zeros. */
static void clear_part(void)
{
	const struct dp_arena_control *c = &dp_self.arena->control;

	memset((char *)dp_self.arena + c->ring_off, 0,
	       c->private_off - c->ring_off);
}

/* The mirror has the same programs. */
static void begin(struct order *o)
{
	const struct dp_guest_program *p = first_of(o);
	u32 i, number, offset;
	const char *why;

	clear_part();
	assert_int_equal(dp_guests_begin(), 0);
	assert_int_equal(dp_guests_program(o->bytes, sizeof(o->bytes), o->n),
			 0);
	dp_engine_destroy(mirror);
	assert_int_equal(dp_engine_create(&mirror), 0);
	for (i = 0; i < o->n; i++) {
		struct dp_program_spec spec = p->spec;

		assert_int_equal(p->number, i);
		spec.name = p->name;
		spec.starts = (const void *)(p + 1);
		spec.code = (const u8 *)(p + 1) + 8;
		assert_int_equal(dp_engine_add_program(mirror, &spec, &number,
						       &offset, &why),
				 0);
		p = (const void *)((const char *)p + p->size);
	}
	look();
	dp_mirror_open(mirror);
	assert_true(dp_mirror_programs(mirror));
}

static void add(struct dp_guest *v, u32 n)
{
	u32 i;

	assert_int_equal(dp_guests_add(v, n), 0);
	for (i = 0; i < n; i++) {
		assert_int_equal(v[i].err, 0);
		v[i].on = 1;
	}
	assert_int_equal(dp_guests_switch(v, n), 0);
}

static struct dp_record_copy last;

static void keep(void *arg, const struct dp_record_copy *record)
{
	memcpy(&last, record,
	       offsetof(struct dp_record_copy, data) + record->head.len);
}

static size_t records(void)
{
	look();
	return dp_engine_records(mirror, keep, NULL, false);
}

static void programs_count_and_log(void **state)
{
	struct order o = { .n = 0 };
	struct dp_guest v[2];
	u64 logged;
	int i;

	put(&o, "inc lv, 0\npush r, rdi\npop lv, 1\ninc gv, 0\nexit");
	put(&o, "inc gv, 0\npush r, rdi\nlog 1\nexit");
	begin(&o);
	v[0] = bound((void *)one, 0);
	v[1] = bound((void *)one, 1);
	add(v, 2);
	for (i = 1; i <= 5; i++)
		assert_int_equal(one(i), i * 3 + 1);
	assert_int_equal(records(), 5);
	assert_int_equal(last.head.probe, v[1].probe);
	assert_int_equal(last.head.tid, gettid());
	assert_int_equal(last.head.len, 11);
	memcpy(&logged, last.data + 3, sizeof(logged));
	assert_int_equal(logged, 5);
	assert_int_equal(dp_engine_hits(mirror, v[0].probe), 5);
	/* Off, it neither counts nor logs. */
	v[1].on = 0;
	assert_int_equal(dp_guests_switch(v, 2), 0);
	one(77);
	assert_int_equal(records(), 0);
	assert_int_equal(dp_engine_local(mirror, 0, 0), 6);
	assert_int_equal(dp_engine_local(mirror, 0, 1), 77);
	assert_int_equal(dp_engine_global(mirror, 0), 11);
	assert_int_equal(dp_guests_remove(v, 2), 0);
	assert_int_equal(v[0].hits, 6);
	assert_int_equal(v[1].hits, 5);
	one(1);
	assert_int_equal(dp_engine_local(mirror, 0, 0), 6);
}

static void a_record_waits_for_the_instruction(void **state)
{
	struct order o = { .n = 0 };
	struct kprobe beside = { .addr = (void *)from_memory };
	struct dp_guest v[1];
	long x = 14;

	put(&o, "push r, rdi\nlog 1\nexit");
	begin(&o);
	v[0] = bound((void *)from_memory, 0);
	/* A site that is armed already, without room for such records */
	assert_int_equal(register_kprobe(&beside), 0);
	add(v, 1);
	assert_int_equal(from_memory(&x), 43);
	assert_int_equal(records(), 1);
	look();
	assert_int_equal(dp_engine_waiting(mirror), 0);
	assert_int_equal(dp_guests_remove(v, 1), 0);
	unregister_kprobe(&beside);
}

static void take(void *arg, const struct dp_record_copy *record)
{
	++*(int *)arg;
}

/* One record that is never finished, in all rings, behind which others wait */
static void an_unfinished_record_does_not_hold_the_others(void **state)
{
	const struct dp_arena_control *c = &dp_self.arena->control;
	struct dp_host_source h = { .shared = true };
	struct order o = { .n = 0 };
	struct dp_guest v[1];
	u32 many = (c->slot_mask + 1) / 4 * 3, i;
	double began;
	int n = 0;

	put(&o, "push r, rdi\nlog 1\nexit");
	begin(&o);
	h.engine = mirror;
	for (i = 0; i <= c->shard_mask; i++)
		((struct dp_ring *)((char *)dp_self.arena + c->ring_off +
				    (u64)i * c->ring_stride))
			->next = 1;
	v[0] = bound((void *)one, 0);
	add(v, 1);
	h.index = calloc(v[0].probe + 1, sizeof(*h.index));
	h.nr_index = v[0].probe + 1;
	h.index[v[0].probe] = 1;
	h.moved = began = dp_source_now();
	for (i = 0; i < many; i++)
		one(i);
	look();
	while (!n && dp_source_now() < began + 20)
		dp_host_records(&h.source, take, &n, false);
	assert_true(dp_source_now() - began > 0.9);
	dp_host_records(&h.source, take, &n, true);
	assert_int_equal(n, i);
	assert_true(dp_engine_torn(mirror) > 0);
	assert_int_equal(dp_guests_remove(v, 1), 0);
	free(h.index);
}

static struct dp_context *context(u32 i)
{
	return (struct dp_context *)((char *)dp_self.arena +
				     dp_self.arena->control.context_off) +
	       i;
}

/* As a thread would leave it that ended in its instruction. */
static void wait_for(struct dp_context *ctx, u32 probe, u32 tid)
{
	ctx->probe = probe;
	ctx->tid = tid;
	ctx->state = DP_CONTEXT_PENDING;
	dp_self.engine->view.states[probe].waiting++;
	dp_self.arena->hit.pending++;
}

static void records_of_ended_threads_are_discarded(void **state)
{
	struct order o = { .n = 0 };
	struct dp_guest v[1];
	u32 n = dp_self.arena->control.nr_contexts;

	put(&o, "push r, rdi\nlog 1\nexit");
	begin(&o);
	v[0] = bound((void *)one, 0);
	add(v, 1);
	wait_for(context(0), v[0].probe, 0x3fffffff);
	wait_for(context(n - 1), v[0].probe, (u32)gettid());
	look();
	assert_int_equal(dp_engine_waiting(mirror), 2);
	assert_int_equal(dp_guests_settle(), 0);
	assert_int_equal(context(0)->state, DP_CONTEXT_FREE);
	assert_int_equal(context(n - 1)->state, DP_CONTEXT_PENDING);
	assert_int_equal(dp_engine_waiting(mirror), 1);
	assert_int_equal(
		dp_engine_tally(mirror, v[0].probe, DP_TALLY_DISCARDED), 1);
	/* A guest that goes takes its records along. */
	assert_int_equal(dp_guests_remove(v, 1), 0);
	assert_int_equal(context(n - 1)->state, DP_CONTEXT_FREE);
	assert_int_equal(context(n - 1)->tid, 0);
	assert_int_equal(dp_engine_waiting(mirror), 0);
}

static void a_program_that_runs_keeps_its_room(void **state)
{
	struct order o = { .n = 0 };
	struct dp_context *ctx = context(3);

	put(&o, "exit");
	begin(&o);
	ctx->state = DP_CONTEXT_RUNS;
	assert_int_equal(dp_guests_begin(), -EAGAIN);
	assert_int_equal(dp_guests_settle(), -EAGAIN);
	assert_int_equal(dp_self.arena->control.nr_programs, 1);
	ctx->state = DP_CONTEXT_FREE;
	assert_int_equal(dp_guests_settle(), 0);
	assert_int_equal(dp_guests_begin(), 0);
	assert_int_equal(dp_self.arena->control.nr_programs, 0);
}

static void guests_keep_their_programs(void **state)
{
	struct order o = { .n = 0 };
	struct dp_guest v[1];

	put(&o, "inc lv, 0\nexit");
	begin(&o);
	v[0] = bound((void *)one, 0);
	add(v, 1);
	assert_int_equal(dp_guests_begin(), -EBUSY);
	one(1);
	assert_int_equal(dp_engine_local(mirror, 0, 0), 1);
	assert_int_equal(dp_guests_clean(), 0);
	assert_int_equal(dp_guests_begin(), 0);
}

static void damaged_programs_are_refused(void **state)
{
	struct order o = { .n = 0 };
	struct dp_guest_program *p = first_of(&o);
	u32 size, code;

	put(&o, "inc lv, 0\nexit");
	size = p->size;
	code = p->spec.code_len;
	assert_int_equal(dp_guests_begin(), 0);
	for (p->size = 0; p->size < size; p->size += 4)
		assert_int_equal(dp_guests_program(p, sizeof(o.bytes), 1),
				 -EINVAL);
	p->size = size;
	assert_int_equal(dp_guests_program(p, size - 8, 1), -EINVAL);
	p->spec.code_len = size;
	assert_int_equal(dp_guests_program(p, sizeof(o.bytes), 1), -EINVAL);
	p->spec.code_len = code;
	p->spec.nr_starts = 0x40000000;
	assert_int_equal(dp_guests_program(p, sizeof(o.bytes), 1), -EINVAL);
	p->spec.nr_starts = 2;
	/* The verifier's */
	memset((char *)(p + 1) + 8, 0xff, code);
	assert_int_equal(dp_guests_program(p, sizeof(o.bytes), 1), -EINVAL);
	assert_string_not_equal(dp_last_diag()->text, "the order is damaged");
	assert_int_equal(dp_self.arena->control.nr_programs, 0);
}

static void there_is_room_for_so_many(void **state)
{
	struct order o = { .n = 0 };
	u32 most = dp_self.arena->control.max_programs, i;

	put(&o, "exit");
	first_of(&o)->spec.nr_lv = 0;
	assert_int_equal(dp_guests_begin(), 0);
	for (i = 0; i < most; i++)
		assert_int_equal(dp_guests_program(o.bytes, o.size, 1), 0);
	assert_int_equal(dp_guests_program(o.bytes, o.size, 1), -ENOSPC);
	assert_int_equal(dp_self.arena->control.nr_programs, most);
	assert_int_equal(dp_guests_begin(), 0);
	assert_int_equal(dp_guests_program(o.bytes, o.size, 1), 0);
	assert_int_equal(first_of(&o)->number, 0);
	/* Variables run out first. */
	assert_int_equal(dp_guests_begin(), 0);
	first_of(&o)->spec.nr_lv = DP_VARS_MAX;
	for (i = 0; i < dp_self.arena->control.max_locals / DP_VARS_MAX; i++)
		assert_int_equal(dp_guests_program(o.bytes, o.size, 1), 0);
	assert_int_equal(dp_guests_program(o.bytes, o.size, 1), -ENOSPC);
	assert_int_equal(dp_guests_begin(), 0);
}

static void damaged_guests_are_refused(void **state)
{
	struct order o = { .n = 0 };
	struct dp_guest v[1];
	u32 kind;

	put(&o, "exit");
	begin(&o);
	v[0] = bound((void *)one, 1);
	assert_int_equal(dp_guests_add(v, 1), -EINVAL);
	/* Where its program does not begin */
	v[0] = bound((void *)one, 0);
	v[0].binding.start = 1;
	assert_int_equal(dp_guests_add(v, 1), -EINVAL);
	v[0] = bound((void *)one, 0);
	v[0].binding.leaves = 2;
	assert_int_equal(dp_guests_add(v, 1), -EINVAL);
	for (kind = 0; kind < 256; kind++) {
		v[0] = guest((void *)one);
		v[0].kind = kind;
		if (kind == DP_KIND_PLAIN || kind == DP_KIND_ENTER ||
		    kind == DP_KIND_EXIT || kind == DP_KIND_UNWIND)
			continue;
		assert_int_equal(dp_guests_add(v, 1), -EINVAL);
	}
	/* An exit of what is no guest, or no entry */
	v[0] = guest((void *)one);
	v[0].kind = DP_KIND_EXIT;
	v[0].group = 12345;
	assert_int_equal(dp_guests_add(v, 1), -EINVAL);
	v[0] = bound((void *)one, 0);
	add(v, 1);
	kind = v[0].probe;
	v[0].kind = DP_KIND_EXIT;
	v[0].group = kind;
	v[0].bound = 0;
	assert_int_equal(dp_guests_add(v, 1), -EINVAL);
	assert_int_equal(dp_self.nr_guests, 1);
	assert_int_equal(dp_guests_clean(), 0);
}

static void calls_are_followed(void **state)
{
	struct order o = { .n = 0 };
	struct dp_guest v[2];
	struct dp_account n;
	const long x = 4;
	int round;

	/* The number is another's the second time. */
	for (round = 0; round < 2; round++) {
		begin(&o);
		v[0] = guest((void *)from_memory);
		v[0].kind = DP_KIND_ENTER;
		assert_int_equal(dp_guests_add(v, 1), 0);
		v[1] = guest(from_memory_end);
		v[1].kind = DP_KIND_EXIT;
		v[1].group = v[0].probe;
		assert_int_equal(dp_guests_add(v + 1, 1), 0);
		v[1].on = 1;
		assert_int_equal(dp_guests_switch(v, 2), 0);
		assert_int_equal(from_memory(&x), 13);
		v[0].on = 1;
		assert_int_equal(dp_guests_switch(v, 1), 0);
		from_memory(&x);
		from_memory(&x);
		look();
		dp_account_begin(mirror, v[0].probe, &n);
		assert_int_equal(n.entered, 2);
		assert_int_equal(n.returned, 0);
		dp_account_exit(mirror, v[1].probe, &n);
		assert_int_equal(n.returned, 2);
		assert_int_equal(n.lost, 0);
		assert_int_equal(dp_guests_remove(v, 2), 0);
		assert_int_equal(v[0].hits, 2);
		assert_int_equal(v[1].hits, 2);
	}
}

/* A process may say what it likes of its arena. */
static void a_geometry_that_makes_no_sense_is_refused(void **state)
{
	const struct dp_arena_control *was = &dp_self.arena->control;
	struct dp_arena *arena = calloc(1, was->arena_size);
	struct dp_arena_control *c = &arena->control;
	u64 from, to, i;

	assert_non_null(arena);
	*arena = *dp_self.arena;
	c->nr_sites = c->nr_probes = c->nr_programs = 0;
	assert_int_equal(dp_mirror_look(mirror, arena, was->arena_size), 0);
	assert_true(dp_mirror_part(mirror, &from, &to));
	assert_int_equal(from, was->ring_off);
	assert_int_equal(to, was->private_off);
#define BAD(field, value)                                        \
	do {                                                     \
		__typeof__(c->field) is = c->field;              \
                                                                 \
		c->field = (__typeof__(is))(value);              \
		if (dp_mirror_part(mirror, &from, &to))          \
			fail_msg("%s = %llu", #field,            \
				 (unsigned long long)c->field);  \
		c->field = is;                                   \
		assert_true(dp_mirror_part(mirror, &from, &to)); \
	} while (0)
	for (i = 1; i < DP_PAGE; i *= 2) {
		BAD(ring_off, is + i);
		BAD(private_off, is - i);
	}
	BAD(ring_off, 0);
	BAD(ring_off, to);
	BAD(private_off, from);
	BAD(private_off, was->arena_size + DP_PAGE);
	BAD(slot_mask, is + 1);
	BAD(slot_mask, 2 * is + 1);
	BAD(slot_mask, 0xffffffff);
	BAD(slot_size, is + 4);
	BAD(slot_size, is * 2);
	BAD(slot_size, sizeof(struct dp_slot));
	BAD(slot_size, 0);
	BAD(ring_stride, is + 4);
	BAD(ring_stride, is * 16);
	BAD(ring_stride, 8);
	BAD(shard_mask, is + 1);
	BAD(shard_mask, 0xffffffff);
	BAD(line_mask, is + 1);
	BAD(line_mask, is * 4 + 3);
	BAD(line_mask, 0xffffffff);
	BAD(line_off, 0);
	BAD(line_off, is + 4);
	BAD(line_off, to);
	BAD(instance_off, 8);
	BAD(instance_off, is + 4);
	BAD(instance_off, to - 8);
	BAD(instance_stride, is + 4);
	BAD(instance_stride, is * 2);
	BAD(instance_stride, 8);
	BAD(nr_gv, is + 1);
	BAD(nr_gv, is - 1);
	BAD(gv_off, is + 4);
	BAD(gv_off, 0);
	BAD(gv_off, to);
	BAD(max_locals, 0xffffffff);
	free(arena);
	dp_engine_destroy(mirror);
	mirror = NULL;
}

/* An engine for all tests */
static int set_up(void **state)
{
	struct kprobe first = { .addr = (void *)one };

	if (register_kprobe(&first))
		return -1;
	unregister_kprobe(&first);
	return dp_engine_create(&mirror);
}

static int tear_down(void **state)
{
	dp_engine_destroy(mirror);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_count_and_log),
		cmocka_unit_test(a_record_waits_for_the_instruction),
		cmocka_unit_test(an_unfinished_record_does_not_hold_the_others),
		cmocka_unit_test(records_of_ended_threads_are_discarded),
		cmocka_unit_test(a_program_that_runs_keeps_its_room),
		cmocka_unit_test(guests_keep_their_programs),
		cmocka_unit_test(damaged_programs_are_refused),
		cmocka_unit_test(there_is_room_for_so_many),
		cmocka_unit_test(damaged_guests_are_refused),
		cmocka_unit_test(calls_are_followed),
		cmocka_unit_test(a_geometry_that_makes_no_sense_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("guest_program", tests, set_up,
					   tear_down);
}
