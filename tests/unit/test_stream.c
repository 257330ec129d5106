// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_stream: what the tool makes of the records that detours put into streams. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <sanitizer/asan_interface.h>
#include "engine/layout/ring.h"
#include "engine/plan/native.h"
#include "engine/site/build.h"
#include "engine/site/mirror.h"
#include "engine/site/stream.h"
#include "engine/vm/ops.h"
#include "jump_world.h"
#include "vm_bytes.h"

#define HALF(v) (u8)(v), (u8)((u16)(v) >> 8)
#define RDI 0x64
#define TID_OFFSET 720

/* Of each of the two CPUs: bytes of data, and how far the reader lets a record begin */
#define STREAM DP_STREAM_LEAST
#define ROOM (STREAM - DP_STREAM_MOST)
/* Records for which both have room */
#define KEPT (2 * STREAM / 16)

/* log 1 */
static const u8 one[] = { OP(PUSH_R), HALF(RDI), OP(LOG_I), HALF(1), OP(EXIT) };
/* if (rdi) log 1 */
static const u8 condition[] = { OP(PUSH_R), HALF(RDI), OP(JNZ), WORD(1),
				OP(ABORT),  OP(LOG_I), HALF(1), OP(EXIT) };
/* it++ */
static const u8 increment[] = { OP(INC_LV_I), HALF(0), OP(EXIT) };
/* One item of each length that a record can have */
static const u8 nothing[] = { OP(LOG_I), HALF(0), OP(EXIT) };
static const u8 two[] = { OP(LOG_I), HALF(2), OP(EXIT) };
static const u8 most[] = { OP(LOG_I), HALF(16), OP(EXIT) };
/* Several items, one of them empty */
static const u8 items[] = { OP(PUSH_R), HALF(RDI), OP(LOG_I), HALF(2),
			    OP(LOG_I),	HALF(0),   OP(LOG_I), HALF(1),
			    OP(LOG_I),	HALF(3),   OP(EXIT) };
/* Two codes that are the program's own, at one of the ends; and 0, which is one, too */
static const u8 codes[] = { OP(PUSH_R),	  HALF(RDI),	OP(JNZ),
			    WORD(10),	  OP(SETMAJ_I), HALF(0xffff),
			    OP(SETMIN_I), HALF(3),	OP(LOG_I),
			    HALF(1),	  OP(EXIT),	OP(SETMIN_I),
			    HALF(0),	  OP(LOG_I),	HALF(2),
			    OP(EXIT) };
/* Three ends, with a log, another, and none */
static const u8 ends[] = { OP(PUSH_R), HALF(RDI), OP(JNZ),  WORD(4),
			   OP(LOG_I),  HALF(1),	  OP(EXIT), OP(PUSH_R),
			   HALF(RDI),  OP(JNZ),	  WORD(7),  OP(LOG_I),
			   HALF(1),    OP(LOG_I), HALF(2),  OP(EXIT),
			   OP(ABORT) };
/* No detour runs it. */
static const u8 sleeps[] = { OP(SUSPEND) };

/* mov %edi, %eax and so on: no memory */
static const char in_registers[] = "89f8 4889c3 90";

/** struct sent - a record that a detour has made */
struct sent {
	u32 cpu, probe, tid;
	u64 ticks, value[DP_STREAM_VALUES];
};

/** got - what a reading has brought */
static struct {
	struct dp_record_copy r[KEPT];
	u32 n;
} got;

static struct dp_stream *stream_of(const struct dp_engine *e, u32 cpu)
{
	const struct dp_arena_control *c = &e->arena->control;

	return (void *)((char *)e->arena + c->stream_off +
			(u64)cpu * c->stream_stride);
}

static void begin_streams(struct world *w)
{
	begin(w, HIGH, DP_ARM_INTERIOR);
	dp_engine_set_rseq(w->e, 0x20, 0x53053053);
	dp_engine_set_tid_offset(w->e, TID_OFFSET);
	dp_engine_set_rings(w->e, STREAM, false);
}

static u32 add_program(struct world *w, const u8 *code, u32 len)
{
	return add_code(w, code, len, 256);
}

#define ADD_PROGRAM(w, code) add_program(w, code, sizeof(code))

/* A probe of the next slot, which has a jump. */
static u32 add_at(struct world *w, const char *text)
{
	u32 at = w->nr_probes * SLOT;

	hex(text, w->t.orig + at);
	assert_int_equal(add(w, at, true), 0);
	return w->probe[(w->nr_probes - 1) % SITES];
}

static u32 add_probe(struct world *w, u32 program, u16 major, u16 minor)
{
	const struct dp_binding binding = { .program = program,
					    .major = major,
					    .minor = minor,
					    .maxhits = DP_HITS_UNLIMITED };
	u32 probe = add_at(w, in_registers);

	dp_engine_bind(w->e, probe, &binding);
	return probe;
}

/* Nothing around the data is read: the sanitizer would tell. */
static void fence(struct world *w, bool there)
{
	const struct dp_arena_control *c = &w->e->arena->control;
	u32 i, margin = STREAM + DP_STREAM_MOST - 8;

	for (i = 0; i < w->e->shards; i++) {
		struct dp_stream *s = stream_of(w->e, i);

		if (!there) {
			ASAN_UNPOISON_MEMORY_REGION(s, c->stream_stride);
			continue;
		}
		ASAN_POISON_MEMORY_REGION(s->pad, sizeof(s->pad));
		ASAN_POISON_MEMORY_REGION(s->pad2, sizeof(s->pad2));
		ASAN_POISON_MEMORY_REGION((char *)(s + 1) + margin,
					  STREAM + DP_STREAM_MARGIN - margin);
	}
}

/* What was added is armed. What follows the streams is none of them. */
static void arm(struct world *w)
{
	assert_int_equal(build(w), 0);
	w->t.stopped = true;
	assert_int_equal(commit(w), 0);
	assert_int_equal(w->e->arena->control.stream_mask, STREAM - 1);
	assert_int_equal(w->e->shards, 2);
	assert_int_equal(stream_of(w->e, 2)->limit, 0);
	stream_of(w->e, 2)->head = 8;
	fence(w, true);
}

static void disarm_all(struct world *w)
{
	fence(w, false);
	end(w);
	assert_int_equal(dp_fake_live(), 0);
}

static void begin_one(struct world *w)
{
	begin_streams(w);
	assert_int_equal(add_probe(w, ADD_PROGRAM(w, one), 1, 2), 0);
	arm(w);
}

static bool has_room(const struct dp_engine *e, u32 cpu)
{
	return stream_of(e, cpu)->head < stream_of(e, cpu)->limit;
}

/* As a detour does, which may be any code of the target's. */
static struct sent write_what(const struct dp_engine *e, u32 cpu, u32 what)
{
	static u32 number;
	struct dp_stream *s = stream_of(e, cpu);
	struct dp_stream_record *r =
		(void *)((char *)(s + 1) + (s->head & (STREAM - 1)));
	u32 i, n = dp_stream_values(what);
	struct sent sent = { .cpu = cpu, .probe = dp_stream_probe(what) };

	sent.tid = 0x80000000 + ++number;
	sent.ticks = ~(u64)number << 8;
	*r = (struct dp_stream_record){ sent.ticks, what, sent.tid };
	for (i = 0; i < n && i < DP_STREAM_VALUES; i++)
		r->value[i] = sent.value[i] = (u64)number << 40 |
					      0x8000000000000080 | i << 8;
	s->head += sizeof(*r) + 8 * n;
	return sent;
}

static struct sent put_from(const struct dp_engine *e, u32 cpu, u32 probe,
			    u32 exit, u32 values)
{
	assert_true(has_room(e, cpu));
	return write_what(e, cpu, dp_stream_what(probe, exit, values));
}

static struct sent put(const struct world *w, u32 cpu, u32 probe, u32 values)
{
	return put_from(w->e, cpu, probe, 0, values);
}

static void keep(void *arg, const struct dp_record_copy *r)
{
	assert_true(got.n < KEPT);
	got.r[got.n++] = *r;
}

static u32 read_of(struct dp_engine *e)
{
	size_t n;

	got.n = 0;
	n = dp_engine_records(e, keep, NULL, false);
	assert_int_equal(n, got.n);
	return got.n;
}

static u32 read_all(struct world *w)
{
	return read_of(w->e);
}

/* So much has been written and read before. */
static void go_to(struct world *w, u32 cpu, u64 at)
{
	struct dp_stream *s = stream_of(w->e, cpu);

	s->head = w->e->reader.tail[cpu] = at;
	s->limit = at + ROOM;
}

/* @of_items: a character for each, behind '0' by the number of its elements */
static void expect(u32 i, const struct sent *s, u16 major, u16 minor,
		   const char *of_items)
{
	struct dp_record_copy r = { .head = { .ticks = s->ticks,
					      .probe = s->probe,
					      .tid = s->tid,
					      .cpu = s->cpu,
					      .major = major,
					      .minor = minor } };
	u32 len = 0, value = 0, n;

	for (; *of_items; of_items++) {
		n = (u32)(*of_items - '0');
		r.data[len] = DP_ITEM_ELEMENTS;
		r.data[len + 1] = (u8)n;
		len += DP_ITEM_PREFIX;
		memcpy(r.data + len, s->value + value, n * sizeof(u64));
		len += n * (u32)sizeof(u64);
		value += n;
	}
	r.head.len = (u16)len;
	assert_true(i < got.n);
	assert_memory_equal(&got.r[i].head, &r.head, sizeof(r.head));
	assert_memory_equal(got.r[i].data, r.data, len);
}

/* Of each number of values for which there is code of its own, and of none, and of all. */
static void comes_as_it_was_logged(void **state)
{
	struct sent s[6];
	struct world w;
	u32 program;

	begin_streams(&w);
	program = ADD_PROGRAM(&w, one);
	add_probe(&w, program, 1, 2);
	add_probe(&w, program, 3, 0xfffe);
	add_probe(&w, ADD_PROGRAM(&w, two), 5, 6);
	add_probe(&w, ADD_PROGRAM(&w, items), 7, 8);
	add_probe(&w, ADD_PROGRAM(&w, most), 9, 10);
	add_probe(&w, ADD_PROGRAM(&w, nothing), 11, 12);
	arm(&w);
	s[0] = put(&w, 0, 0, 1);
	s[1] = put(&w, 0, 1, 1);
	s[2] = put(&w, 0, 2, 2);
	s[3] = put(&w, 0, 3, 6);
	s[4] = put(&w, 0, 4, 16);
	s[5] = put(&w, 0, 5, 0);
	assert_int_equal(read_all(&w), 6);
	expect(0, &s[0], 1, 2, "1");
	expect(1, &s[1], 3, 0xfffe, "1");
	expect(2, &s[2], 5, 6, "2");
	expect(3, &s[3], 7, 8, "2013");
	expect(4, &s[4], 9, 10, "@");
	expect(5, &s[5], 11, 12, "0");
	assert_int_equal(read_all(&w), 0);
	assert_int_equal(dp_engine_torn(w.e), 0);
	disarm_all(&w);
}

/* Each stream in its order; also if what comes first there came last in the other one. */
static void comes_from_each_cpu(void **state)
{
	struct sent s[5];
	struct world w;
	u32 i;

	begin_one(&w);
	for (i = 0; i < 5; i++)
		s[i] = put(&w, i > 2, 0, 1);
	assert_int_equal(read_all(&w), 5);
	for (i = 0; i < 5; i++)
		expect(i, &s[i], 1, 2, "1");
	s[0] = put(&w, 1, 0, 1);
	assert_int_equal(read_all(&w), 1);
	expect(0, &s[0], 1, 2, "1");
	assert_int_equal(dp_engine_hits(w.e, 0), 6);
	disarm_all(&w);
}

static void tells_ends_apart(void **state)
{
	struct sent s[4];
	struct world w;
	u32 i;

	begin_streams(&w);
	add_probe(&w, ADD_PROGRAM(&w, codes), 5, 6);
	add_probe(&w, ADD_PROGRAM(&w, ends), 7, 8);
	arm(&w);
	for (i = 0; i < 2; i++) {
		s[0] = put_from(w.e, i, 0, 1, 2);
		s[1] = put_from(w.e, i, 0, 0, 1);
		s[2] = put_from(w.e, i, 1, 1, 3);
		s[3] = put_from(w.e, i, 1, 0, 1);
		assert_int_equal(read_all(&w), 4);
		expect(0, &s[0], 5, 0, "2");
		expect(1, &s[1], 0xffff, 3, "1");
		expect(2, &s[2], 7, 8, "12");
		expect(3, &s[3], 7, 8, "1");
		assert_int_equal(dp_engine_hits(w.e, 0), 2 * i + 2);
		assert_int_equal(dp_engine_hits(w.e, 1), 2 * i + 2);
	}
	disarm_all(&w);
}

/* What a number means may be another thing at the next reading. */
static void learns_anew(void **state)
{
	struct sent s;
	struct world w;

	begin_one(&w);
	s = put(&w, 0, 0, 1);
	assert_int_equal(read_all(&w), 1);
	expect(0, &s, 1, 2, "1");
	w.e->probes[0].binding.major = 3;
	s = put(&w, 0, 0, 1);
	assert_int_equal(read_all(&w), 1);
	expect(0, &s, 3, 2, "1");
	w.e->probes[0].bound = false;
	put(&w, 0, 0, 1);
	assert_int_equal(read_all(&w), 0);
	assert_int_equal(dp_engine_torn(w.e), 1);
	assert_int_equal(dp_engine_hits(w.e, 0), 2);
	disarm_all(&w);
}

/* For the probe alone: none of these is another one's that comes to its site. */
static void counts_each_once(void **state)
{
	const struct dp_probe_entry *p;
	struct world w;
	u32 i;

	begin_streams(&w);
	add_at(&w, in_registers);
	assert_int_equal(add(&w, 0, true), 0);
	assert_int_equal(add_probe(&w, ADD_PROGRAM(&w, one), 1, 2), 2);
	arm(&w);
	p = &w.e->view.probes[2];
	for (i = 0; i < 3; i++)
		put(&w, i & 1, 2, 1);
	assert_int_equal(dp_engine_hits(w.e, 2), 0);
	assert_int_equal(read_all(&w), 3);
	assert_int_equal(dp_view_site_hits(&w.e->view, 1), 0);
	assert_int_equal(dp_engine_hits(w.e, 2), 3);
	assert_int_equal(read_all(&w), 0);
	assert_int_equal(dp_engine_hits(w.e, 2), 3);
	dp_hits_end(w.e, 2);
	put(&w, 0, 2, 1);
	put(&w, 0, 2, 1);
	assert_int_equal(read_all(&w), 2);
	assert_int_equal(p->earlier, 5);
	assert_int_equal(dp_engine_hits(w.e, 2), 5);
	dp_hits_begin(w.e, 2);
	put(&w, 0, 2, 1);
	assert_int_equal(read_all(&w), 1);
	assert_int_equal(dp_engine_hits(w.e, 2), 6);
	assert_int_equal(p->earlier, 6);
	assert_int_equal(dp_engine_hits(w.e, 0), 0);
	disarm_all(&w);
}

/* More kinds of records than are remembered: @n probes of a program with two of them. */
static void put_many(struct world *w, u32 n, u32 *number, u64 *hits)
{
	u32 i, k = *number, exit, cpu;

	for (i = 0; i < 40; i++, k++) {
		exit = k / 3 & 1;
		cpu = k / 5 & 1;
		/* 64 apart, and side by side, and often the same */
		put_from(w->e, cpu, k * 32 / 3 % n, exit, exit ? 3 : 1);
		hits[k * 32 / 3 % n]++;
	}
	*number = k;
}

static void counts_many(void **state)
{
	enum { N = 75 };
	u64 hits[N] = { 0 };
	struct world w;
	u32 program, i, k, number = 0, n = 0;

	begin_streams(&w);
	program = ADD_PROGRAM(&w, ends);
	for (i = 0; i < N; i++)
		assert_int_equal(add_probe(&w, program, 1, 2), i);
	arm(&w);
	for (k = 0; k < 20; k++) {
		put_many(&w, N, &number, hits);
		if (k == 9)
			dp_hits_end(w.e, 64);
		n += read_all(&w);
		for (i = 0; i < N; i++)
			assert_int_equal(dp_engine_hits(w.e, i), hits[i]);
	}
	assert_int_equal(n, number);
	assert_true(hits[0] && hits[64] > 2);
	assert_int_equal(dp_engine_torn(w.e), 0);
	disarm_all(&w);
}

/** struct watch - how far a reading has told writers that it has come
 *  @from: where it began; @read: bytes of the records before this one; @told: of those, what has been
 *  told; @lag: how much less that may be; @each: bytes of a record; @n: records */
struct watch {
	const struct dp_stream *s;
	u64 from, read, told, lag;
	u32 each, n;
};

static void watch(void *arg, const struct dp_record_copy *r)
{
	struct watch *h = arg;
	u64 told = h->s->limit - h->from - ROOM;

	assert_true(told <= h->read);
	assert_true(told >= h->told);
	assert_true(h->read - told <= h->lag);
	h->told = told;
	h->read += h->each;
	h->n++;
}

static struct watch watch_all(struct world *w, u32 cpu, u32 each, u64 lag)
{
	const struct dp_stream *s = stream_of(w->e, cpu);
	struct watch h = {
		.s = s, .from = s->limit - ROOM, .each = each, .lag = lag
	};
	size_t n = dp_engine_records(w->e, watch, &h, false);

	assert_int_equal(n, h.n);
	assert_int_equal(s->limit, s->head + ROOM);
	return h;
}

/* As many records as there is room for, of @probes probes in turn */
static u32 put_all(struct world *w, u32 probes)
{
	u32 n = 0;

	while (has_room(w->e, 1))
		put(w, 1, n++ % probes, 1);
	return n;
}

/* More than an eighth of the stream; or, of one kind of records, 64 of them. */
static void tells_writers(void **state)
{
	const u32 each = 24, often = STREAM / 8 / each + 1;
	struct watch h;
	struct world w;
	u32 program, n, k;

	begin_streams(&w);
	program = ADD_PROGRAM(&w, one);
	add_probe(&w, program, 1, 2);
	add_probe(&w, program, 1, 2);
	arm(&w);
	for (k = 0; k < 2; k++)
		assert_int_equal(stream_of(w.e, k)->limit, ROOM);
	for (k = 0; k < 5; k++) {
		n = put_all(&w, 2);
		h = watch_all(&w, 1, each, STREAM / 8);
		assert_int_equal(h.n, n);
		/* Not often, either: it is a line that writers read. */
		assert_int_equal(h.told, (n - 1) / often * often * each);
		n = put_all(&w, 1);
		h = watch_all(&w, 1, each, 64 * each);
		assert_int_equal(h.n, n);
		assert_int_equal(h.told, (n - 1) / 64 * 64 * each);
	}
	/* Where nothing has come, nothing is written. */
	stream_of(w.e, 0)->limit = 1;
	assert_int_equal(read_all(&w), 0);
	assert_int_equal(stream_of(w.e, 0)->limit, 1);
	assert_int_equal(dp_engine_torn(w.e), 0);
	disarm_all(&w);
}

/* The longest record where the last one may begin; behind it there is no room. */
static void fills_up(void **state)
{
	struct world w;
	struct sent s;
	u32 n = 0;

	begin_streams(&w);
	add_probe(&w, ADD_PROGRAM(&w, most), 1, 2);
	add_probe(&w, ADD_PROGRAM(&w, nothing), 3, 4);
	add_probe(&w, ADD_PROGRAM(&w, one), 5, 6);
	arm(&w);
	/* Records of 16 bytes come to the last place at which one may begin, if the first one is as it must be. */
	for (put(&w, 1, ROOM % 16 ? 1 : 2, ROOM % 16 ? 0 : 1), n = 1;
	     stream_of(w.e, 1)->head < ROOM - 8;) {
		put(&w, 1, 1, 0);
		n++;
	}
	s = put(&w, 1, 0, 16);
	assert_false(has_room(w.e, 1));
	assert_int_equal(stream_of(w.e, 1)->head, ROOM - 8 + 144);
	assert_int_equal(read_all(&w), n + 1);
	expect(n, &s, 1, 2, "@");
	assert_int_equal(stream_of(w.e, 1)->limit, ROOM - 8 + 144 + ROOM);
	assert_int_equal(dp_engine_torn(w.e), 0);
	disarm_all(&w);
}

/* The next one begins where the mask says, behind what is left of the one before. */
static void goes_on_into_the_margin(void **state)
{
	const u64 rounds[] = { 0, 1, 1ull << 20, 1ull << 40 };
	struct sent s[3];
	struct world w;
	u32 i;

	begin_streams(&w);
	add_probe(&w, ADD_PROGRAM(&w, most), 1, 2);
	add_probe(&w, ADD_PROGRAM(&w, one), 3, 4);
	arm(&w);
	for (i = 0; i < 8; i++) {
		u32 cpu = i & 1;

		go_to(&w, cpu, rounds[i / 2] * STREAM + STREAM - 8 - 24);
		s[0] = put(&w, cpu, 1, 1);
		s[1] = put(&w, cpu, 0, 16);
		s[2] = put(&w, cpu, 1, 1);
		assert_int_equal(read_all(&w), 3);
		expect(0, &s[0], 3, 4, "1");
		expect(1, &s[1], 1, 2, "@");
		expect(2, &s[2], 3, 4, "1");
		assert_int_equal(stream_of(w.e, cpu)->limit,
				 rounds[i / 2] * STREAM + STREAM - 8 + 144 +
					 24 + ROOM);
	}
	assert_int_equal(dp_engine_torn(w.e), 0);
	disarm_all(&w);
}

static struct world *more_of;

static void make_more(void *arg, const struct dp_record_copy *r)
{
	keep(arg, r);
	put(more_of, 0, 0, 1);
}

/* What comes meanwhile is left to the next one. */
static void reads_what_was_there(void **state)
{
	struct world w;
	u32 i;

	begin_one(&w);
	more_of = &w;
	for (i = 0; i < 3; i++)
		put(&w, 0, 0, 1);
	for (i = 0; i < 100; i++) {
		got.n = 0;
		assert_int_equal(dp_engine_records(w.e, make_more, NULL, false),
				 3);
	}
	assert_int_equal(read_all(&w), 3);
	assert_int_equal(dp_engine_hits(w.e, 0), 303);
	disarm_all(&w);
}

/* hostile: the target can write anything. */

/* Probes whose program makes one kind of record, or two; one without a program; one whose program no
 * detour runs; and one that no table has yet */
enum { GOOD, TWO_ENDS, UNBOUND, SLEEPS, UNPLANNED };

static void begin_hostile(struct world *w)
{
	const struct dp_expected more = { .sites = 2, .probes = 2 };
	u32 program;

	begin_streams(w);
	dp_engine_expect(w->e, &more);
	program = ADD_PROGRAM(w, one);
	assert_int_equal(add_probe(w, program, 1, 2), GOOD);
	add_probe(w, ADD_PROGRAM(w, ends), 1, 2);
	assert_int_equal(add_at(w, in_registers), UNBOUND);
	add_probe(w, ADD_PROGRAM(w, sleeps), 1, 2);
	arm(w);
	assert_int_equal(add_probe(w, program, 1, 2), UNPLANNED);
}

/* The reader goes on with what makes sense, and remembers nothing of what did not. */
static void expect_goes_on(struct world *w, u32 cpu, u64 hits, u64 torn)
{
	struct dp_stream *s = stream_of(w->e, cpu);
	struct sent sent;
	u32 i;

	assert_int_equal(dp_engine_torn(w->e), torn);
	assert_int_equal(s->limit, (s->head & ~7ull) + ROOM);
	assert_int_equal(dp_engine_hits(w->e, GOOD), hits);
	s->head &= ~7ull;
	assert_int_equal(read_all(w), 0);
	for (i = 1; i < 3; i++) {
		sent = put(w, cpu, GOOD, 1);
		assert_int_equal(read_all(w), 1);
		expect(0, &sent, 1, 2, "1");
		assert_int_equal(dp_engine_hits(w->e, GOOD), hits + i);
	}
	assert_int_equal(dp_engine_torn(w->e), torn);
}

/* A record between two others that is none. @after: whether the one behind it comes, too */
static void expect_torn(u32 what, bool after)
{
	struct sent a, b;
	struct world w;

	begin_hostile(&w);
	a = put(&w, 0, GOOD, 1);
	write_what(w.e, 0, what);
	b = put(&w, 0, GOOD, 1);
	assert_int_equal(read_all(&w), 1 + after);
	expect(0, &a, 1, 2, "1");
	if (after)
		expect(1, &b, 1, 2, "1");
	expect_goes_on(&w, 0, 1 + after, 1);
	disarm_all(&w);
}

static void drops_what_no_probe_makes(void **state)
{
	u32 i;

	expect_torn(dp_stream_what(UNBOUND, 0, 1), true);
	expect_torn(dp_stream_what(SLEEPS, 0, 0), true);
	expect_torn(dp_stream_what(UNPLANNED, 0, 1), true);
	expect_torn(dp_stream_what(UNPLANNED + 1, 0, 1), true);
	/* It is remembered where that of the good one is. */
	expect_torn(dp_stream_what(64, 0, 1), true);
	expect_torn(dp_stream_what(DP_STREAM_PROBES - 1, 7, 16), true);
	/* Ends that the program has not, with as many values as nobody has said */
	for (i = 1; i < DP_STREAM_EXITS; i++)
		expect_torn(dp_stream_what(GOOD, i, 0), true);
	expect_torn(dp_stream_what(GOOD, 1, 1), true);
	expect_torn(dp_stream_what(TWO_ENDS, 2, 0), true);
	for (i = 0; i <= DP_STREAM_VALUES; i++) {
		if (i != 1)
			expect_torn(dp_stream_what(GOOD, 0, i), true);
		if (i != 3)
			expect_torn(dp_stream_what(TWO_ENDS, 1, i), true);
	}
}

/* It is not believed where the next one begins. */
static void drops_all_behind_what_is_too_long(void **state)
{
	u32 i;

	for (i = DP_STREAM_VALUES + 1; i < DP_STREAM_CALL; i++)
		expect_torn(dp_stream_what(GOOD, 0, i), false);
}

/* --- records of the interpreter's --- */

static void write_whole(struct world *w, struct dp_record r, const char *data)
{
	struct dp_stream *s = stream_of(w->e, 0);
	char *to = (char *)(s + 1) + (s->head & (STREAM - 1));

	r.probe = dp_stream_what(r.probe, 0, DP_STREAM_WHOLE);
	memcpy(to, &r, sizeof(r));
	memcpy(to + sizeof(r), data, strlen(data));
	s->head += (sizeof(r) + strlen(data) + 7) & ~7ull;
}

static struct dp_record_copy whole;

static void keep_whole(void *arg, const struct dp_record_copy *r)
{
	memcpy(&whole, r, offsetof(struct dp_record_copy, data) + r->head.len);
}

static void are_whole(void **state)
{
	const struct dp_record sent = { .ticks = 9,
					.probe = GOOD,
					.tid = 7,
					.cpu = 5,
					.major = 2,
					.minor = 3,
					.exception = 4,
					.len = 11,
					.facility = 1,
					.flags = DP_RECORD_TRUNCATED,
					.parm = { 5, 6 } };
	struct dp_record want = sent;
	struct world w;
	u64 hits;

	begin_hostile(&w);
	hits = dp_engine_hits(w.e, GOOD);
	go_to(&w, 0, 3 * STREAM - 16);
	write_whole(&w, sent, "eleven char");
	assert_int_equal(dp_engine_records(w.e, keep_whole, NULL, false), 1);
	want.cpu = 0;
	assert_memory_equal(&whole.head, &want, sizeof(want));
	assert_memory_equal(whole.data, "eleven char", 11);
	/* The agent has counted the hit. */
	assert_int_equal(dp_engine_hits(w.e, GOOD), hits);
	write_whole(&w, sent, "eleven char");
	put(&w, 0, GOOD, 1);
	assert_int_equal(read_all(&w), 2);
	assert_int_equal(dp_engine_torn(w.e), 0);
	/* Of no probe; with more data than there is, or than any record has */
	want.probe = w.e->nr_probes;
	write_whole(&w, want, "eleven char");
	assert_int_equal(read_all(&w), 0);
	assert_int_equal(dp_engine_torn(w.e), 1);
	want.probe = GOOD;
	want.len = 17;
	write_whole(&w, want, "sixteen of chars");
	assert_int_equal(read_all(&w), 0);
	assert_int_equal(dp_engine_torn(w.e), 2);
	want.len = sizeof(whole.data) + 1;
	write_whole(&w, want, "some");
	stream_of(w.e, 0)->head += 1200;
	assert_int_equal(read_all(&w), 0);
	assert_int_equal(dp_engine_torn(w.e), 3);
	/* Only a part of its head is there. */
	want.len = 0;
	write_whole(&w, want, "");
	stream_of(w.e, 0)->head -= 8;
	assert_int_equal(read_all(&w), 0);
	assert_int_equal(dp_engine_torn(w.e), 4);
	disarm_all(&w);
}

/* Nor if it is no probe's that would end behind the head. */
static void drops_what_is_cut_off(void **state)
{
	struct world w;

	begin_hostile(&w);
	go_to(&w, 0, 3 * STREAM);
	put(&w, 0, GOOD, 1);
	put(&w, 0, UNBOUND, 16);
	stream_of(w.e, 0)->head -= 8;
	assert_int_equal(read_all(&w), 1);
	expect_goes_on(&w, 0, 1, 1);
	disarm_all(&w);
}

/* Some rounds, and half of one */
#define HALFWAY (7 * STREAM / 2)

/* The head is @by bytes further than the last of @n records that were written. */
static void expect_bad_head(u32 n, s64 by, u32 read)
{
	struct sent s[STREAM / 24 + 1];
	struct world w;
	u32 i, k;

	for (k = 0; k < 2; k++) {
		begin_hostile(&w);
		go_to(&w, k, HALFWAY);
		for (i = 0; i < n; i++)
			s[i] = write_what(w.e, k, dp_stream_what(GOOD, 0, 1));
		stream_of(w.e, k)->head += (u64)by;
		assert_int_equal(read_all(&w), read);
		for (i = 0; i < read; i++)
			expect(i, &s[i], 1, 2, "1");
		expect_goes_on(&w, k, read, 1);
		disarm_all(&w);
	}
}

static void doubts_the_head(void **state)
{
	/* Behind what has been read */
	expect_bad_head(0, -8, 0);
	expect_bad_head(3, -80, 0);
	expect_bad_head(0, -(s64)HALFWAY, 0);
	/* Further than there is room for */
	expect_bad_head(0, STREAM, 0);
	expect_bad_head(0, STREAM + 8, 0);
	expect_bad_head(3, STREAM, 0);
	expect_bad_head(3, 1ll << 32, 0);
	expect_bad_head(3, 1ll << 62, 0);
	/* In the middle of a record, or of a word */
	expect_bad_head(3, -8, 2);
	expect_bad_head(3, -16, 2);
	expect_bad_head(3, 8, 3);
	expect_bad_head(3, 4, 3);
	expect_bad_head(3, 1, 3);
	expect_bad_head(0, 1, 0);
	expect_bad_head(170, STREAM - 170 * 24 - 1, 170);
}

/* The counter of bytes begins again with 0 in the middle of what is read. */
static void ends_at_the_head(void **state)
{
	struct world w;
	u32 i;

	begin_streams(&w);
	add_probe(&w, ADD_PROGRAM(&w, nothing), 1, 2);
	arm(&w);
	for (i = 0; i < STREAM / 16; i++)
		write_what(w.e, 0, dp_stream_what(0, 0, 0));
	stream_of(w.e, 0)->head = 0 - 256ull;
	assert_int_equal(read_all(&w), 0);
	for (i = 1; i < 3; i++) {
		stream_of(w.e, 0)->head += 160;
		assert_int_equal(read_all(&w), 10);
		assert_int_equal(stream_of(w.e, 0)->limit,
				 160ull * i - 256 + ROOM);
	}
	stream_of(w.e, 0)->head = 0 - 256ull;
	assert_int_equal(read_all(&w), 0);
	stream_of(w.e, 0)->head = 0;
	assert_int_equal(read_all(&w), 16);
	assert_int_equal(dp_engine_torn(w.e), 2);
	disarm_all(&w);
}

/* The target overwrites the record that has been read, and then says of the next one that it is
 * another probe's. */
static void spoil(void *arg, const struct dp_record_copy *r)
{
	u64 *data = (void *)(stream_of(more_of->e, 0) + 1);

	keep(arg, r);
	memset(data, 0xff, 24);
	((struct dp_stream_record *)(data + 3))->what =
		dp_stream_what(UNBOUND, 0, 1);
}

/* What has been copied stays as it was; the rest is what it is when it is read. */
static void changes_while_it_is_read(void **state)
{
	struct sent a, b;
	struct world w;

	begin_hostile(&w);
	more_of = &w;
	a = put(&w, 0, GOOD, 1);
	put(&w, 0, GOOD, 1);
	b = put(&w, 0, GOOD, 1);
	got.n = 0;
	assert_int_equal(dp_engine_records(w.e, spoil, NULL, false), 2);
	expect(0, &a, 1, 2, "1");
	expect(1, &b, 1, 2, "1");
	expect_goes_on(&w, 0, 2, 1);
	disarm_all(&w);
}

/* none: where there are no streams. */

enum without { TID, RSEQ, NATIVE, NOTHING };

static void expect_calls(enum without what, bool native)
{
	const struct dp_jump *j;
	struct world w;

	begin(&w, HIGH, DP_ARM_INTERIOR);
	if (what != TID)
		dp_engine_set_tid_offset(w.e, TID_OFFSET);
	if (what != RSEQ)
		dp_engine_set_rseq(w.e, 0x20, 0x53053053);
	dp_engine_set_native(w.e, what != NATIVE, 0);
	add_probe(&w, ADD_PROGRAM(&w, one), 1, 2);
	add_probe(&w, ADD_PROGRAM(&w, condition), 1, 2);
	assert_int_equal(build(&w), 0);
	w.t.stopped = true;
	assert_int_equal(commit(&w), 0);
	/* The interpreter's records go there, too. */
	assert_int_equal(w.e->arena->control.stream_mask != 0, what != TID);
	assert_int_equal(w.e->reader.shapes != NULL, what != TID);
	j = jump_of(&w, site_of(&w, 0));
	assert_int_equal(j->runs.program != 0, what == NOTHING);
	assert_int_equal(j->before & 1, what != NOTHING);
	/* A condition that is not met needs no record. */
	j = jump_of(&w, site_of(&w, SLOT));
	assert_int_equal(j->runs.program != 0, native);
	assert_int_equal(read_all(&w), 0);
	end(&w);
}

static void are_not_everywhere(void **state)
{
	struct dp_arena_control c;
	struct world w;

	expect_calls(NOTHING, true);
	expect_calls(TID, true);
	expect_calls(RSEQ, false);
	expect_calls(NATIVE, false);
	begin_streams(&w);
	add_probe(&w, ADD_PROGRAM(&w, one), 1, 2);
	dp_engine_layout(w.e, 2);
	dp_tables_lay_out(w.e, &c);
	assert_int_equal(c.stream_mask, STREAM - 1);
	dp_engine_attach_own(w.e, 8);
	dp_tables_lay_out(w.e, &c);
	assert_int_equal(c.stream_mask, 0);
	end(&w);
}

/* Whatever the arena says, an engine that makes none has none. */
static void are_the_engines_own(void **state)
{
	struct world w;
	u32 i;

	begin_one(&w);
	for (i = 0; i < 3; i++) {
		w.e->own = i == 0;
		w.e->mirrored = i == 1;
		w.e->arena->control.stream_mask = i == 2 ? 0 : STREAM - 1;
		stream_of(w.e, 0)->limit = stream_of(w.e, 1)->limit = 0;
		dp_reader_open(w.e);
		assert_null(w.e->reader.shapes);
		write_what(w.e, 0, dp_stream_what(0, 0, 1));
		assert_int_equal(read_all(&w), 0);
		assert_false(has_room(w.e, 0) || has_room(w.e, 1));
	}
	disarm_all(&w);
}

/* A process that probes itself owns its arena, and says there what it likes. */
static void are_no_mirrors(void **state)
{
	struct dp_engine *mirror;
	struct world w;

	begin_one(&w);
	put(&w, 0, 0, 1);
	stream_of(w.e, 0)->limit = stream_of(w.e, 1)->limit = 0;
	assert_int_equal(dp_engine_create(&mirror), 0);
	assert_int_equal(
		dp_mirror_look(mirror, w.e->arena, w.e->need.arena_size), 0);
	dp_mirror_open(mirror);
	assert_null(mirror->reader.shapes);
	assert_int_equal(read_of(mirror), 0);
	assert_false(has_room(w.e, 0) || has_room(w.e, 1));
	dp_engine_destroy(mirror);
	disarm_all(&w);
}

/* Then no detour finds room. Return: whether it was this allocation. */
static bool fails_to_open(u32 nth)
{
	struct world w;
	bool it;
	int err;

	begin_streams(&w);
	add_probe(&w, ADD_PROGRAM(&w, one), 1, 2);
	dp_fake_fail_alloc(nth);
	err = build(&w);
	dp_fake_fail_alloc(0);
	it = !err && !w.e->reader.shapes;
	if (it) {
		assert_false(has_room(w.e, 0) || has_room(w.e, 1));
		write_what(w.e, 0, dp_stream_what(0, 0, 1));
		assert_int_equal(read_all(&w), 0);
		assert_int_equal(stream_of(w.e, 0)->limit, 0);
		assert_int_equal(dp_engine_torn(w.e), 0);
	}
	end(&w);
	assert_int_equal(dp_fake_live(), 0);
	return it;
}

static void need_memory(void **state)
{
	u32 nth, found = 0;

	for (nth = 1; nth < 20; nth++)
		found += fails_to_open(nth);
	assert_int_equal(found, 1);
}

/* A fork child has its own: its parent's records are not its. */
static void are_each_process_own(void **state)
{
	struct memory m;
	struct dp_mapping map = { .owner = 3, .tool = 2 };
	struct dp_engine *child;
	struct world w;
	struct sent s;

	begin_one(&w);
	put(&w, 0, 0, 1);
	put(&w, 1, 0, 1);
	put(&w, 1, 0, 1);
	assert_int_equal(read_all(&w), 3);
	put(&w, 0, 0, 1);
	map.file = calloc(1, DP_FILE_ARENA_OFFSET + w.e->need.arena_size);
	memory_copy(&m, &w.m);
	assert_int_equal(dp_engine_fork(w.e, &map, &m, &child), 0);
	assert_ptr_not_equal(child->reader.shapes, w.e->reader.shapes);
	assert_int_equal(stream_of(child, 0)->limit, ROOM);
	assert_int_equal(stream_of(child, 1)->limit, ROOM);
	s = put_from(child, 1, 0, 0, 1);
	assert_int_equal(read_of(child), 1);
	expect(0, &s, 1, 2, "1");
	assert_int_equal(dp_engine_hits(child, 0), 1);
	assert_int_equal(read_all(&w), 1);
	assert_int_equal(dp_engine_hits(w.e, 0), 4);
	assert_int_equal(dp_engine_torn(child) + dp_engine_torn(w.e), 0);
	dp_engine_destroy(child);
	free(map.file);
	memory_free(&m);
	disarm_all(&w);
}

/* commits: when a detour makes its records. */

/** struct kind - of instruction: when the record of a probe there can be made */
static const struct kind {
	const char *text;
	enum dp_commits commits, signal_free;
} kinds[] = {
	{ "89f8 4889c3 90", DP_COMMITS, DP_COMMITS },
	{ "55 4889e5 90", DP_COMMITS_IF_PUSHED, DP_COMMITS_LEAVES },
	{ "5d 4889c3 90", DP_COMMITS_IF_POPPED, DP_COMMITS_LEAVES },
	{ "e810000000 90", DP_COMMITS_IF_PUSHED, DP_COMMITS_LEAVES },
	{ "488b07 4889c3 90", DP_COMMITS_IF_TOUCHED, DP_COMMITS_LEAVES },
	{ "488907 4889c3 90", DP_COMMITS_IF_TOUCHED, DP_COMMITS_LEAVES },
	{ "488b0500010000", DP_COMMITS_IF_TOUCHED, DP_COMMITS_LEAVES },
	{ "f7f3 4889c3 90", DP_COMMITS_LEAVES, DP_COMMITS_LEAVES },
	{ "ff37 4889c3 90", DP_COMMITS_LEAVES, DP_COMMITS_LEAVES },
	{ "c3", DP_COMMITS_LEAVES, DP_COMMITS_LEAVES },
};

#define KINDS (sizeof(kinds) / sizeof(*kinds))

static void begin_kinds(struct world *w, const u8 *code, u32 len,
			bool logonfault, bool signal_free)
{
	struct dp_binding binding = { .maxhits = DP_HITS_UNLIMITED,
				      .logonfault = logonfault };
	u32 i;

	begin_streams(w);
	if (signal_free)
		dp_engine_set_signal_free(w->e);
	binding.program = add_program(w, code, len);
	for (i = 0; i < KINDS; i++)
		dp_engine_bind(w->e, add_at(w, kinds[i].text), &binding);
	assert_int_equal(build(w), 0);
}

static const struct dp_site *nth_site(const struct world *w, u32 i)
{
	return dp_engine_find(w->e, w->t.base + i * SLOT);
}

/* Where the instruction could still fault, a record is made only if one that does counts. */
static void wait_for_the_instruction(void **state)
{
	struct dp_insn_memory memory;
	enum dp_commits is, wanted;
	struct world w;
	u32 i, k;

	for (k = 0; k < 4; k++) {
		begin_kinds(&w, one, sizeof(one), k & 1, k & 2);
		for (i = 0; i < KINDS; i++) {
			is = dp_native_commits(w.e, nth_site(&w, i), &memory);
			wanted = k & 1 ? DP_COMMITS :
				 k & 2 ? kinds[i].signal_free :
					 kinds[i].commits;
			assert_int_equal(is, wanted);
			if (is != DP_COMMITS_IF_TOUCHED)
				assert_int_equal(memory.size, 0);
		}
		end(&w);
	}
}

/* A load and a store; and one whose address is relative to where the program has it */
static void touch_what_it_does(void **state)
{
	struct dp_insn_memory memory;
	struct world w;
	u32 i;

	begin_kinds(&w, one, sizeof(one), false, false);
	for (i = 4; i < 7; i++) {
		dp_native_commits(w.e, nth_site(&w, i), &memory);
		assert_int_equal(memory.size, 8);
		assert_int_equal(memory.writes, i == 5);
		assert_int_equal(memory.operand.base, i < 6 ? 7 : DP_NO_REG);
		assert_int_equal(memory.operand.index, DP_NO_REG);
		assert_true(memory.operand.disp ==
			    (i < 6 ? 0 : (s64)w.t.base + i * SLOT + 7 + 0x100));
	}
	end(&w);
}

static void expect_runs(const u8 *code, u32 len, bool logonfault, bool always)
{
	struct dp_jump_program runs;
	struct world w;
	bool native;
	u32 i;

	begin_kinds(&w, code, len, logonfault, false);
	for (i = 0; i < KINDS; i++) {
		native = dp_native_of(w.e, nth_site(&w, i), &runs) != NULL;
		assert_int_equal(native, always || kinds[i].commits !=
							   DP_COMMITS_LEAVES);
		assert_int_equal(runs.program != 0, native);
	}
	end(&w);
}

/* A program that would always leave is the interpreter's at once. */
static void do_something(void **state)
{
	expect_runs(one, sizeof(one), false, false);
	expect_runs(one, sizeof(one), true, true);
	expect_runs(condition, sizeof(condition), false, true);
	expect_runs(increment, sizeof(increment), false, true);
}

/* A record has no room for such numbers. */
static void have_few_probes(void **state)
{
	struct dp_insn_memory memory;
	struct dp_site s;
	struct world w;

	begin_one(&w);
	s = *nth_site(&w, 0);
	s.first_probe = DP_STREAM_PROBES + 1;
	assert_int_equal(dp_native_commits(w.e, &s, &memory),
			 DP_COMMITS_LEAVES);
	s.first_probe = 0;
	assert_int_equal(dp_native_commits(w.e, &s, &memory),
			 DP_COMMITS_LEAVES);
	disarm_all(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_as_it_was_logged),
		cmocka_unit_test(comes_from_each_cpu),
		cmocka_unit_test(tells_ends_apart),
		cmocka_unit_test(learns_anew),
		cmocka_unit_test(counts_each_once),
		cmocka_unit_test(counts_many),
		cmocka_unit_test(tells_writers),
		cmocka_unit_test(fills_up),
		cmocka_unit_test(goes_on_into_the_margin),
		cmocka_unit_test(reads_what_was_there),
		cmocka_unit_test(drops_what_no_probe_makes),
		cmocka_unit_test(drops_all_behind_what_is_too_long),
		cmocka_unit_test(are_whole),
		cmocka_unit_test(drops_what_is_cut_off),
		cmocka_unit_test(doubts_the_head),
		cmocka_unit_test(ends_at_the_head),
		cmocka_unit_test(changes_while_it_is_read),
		cmocka_unit_test(are_not_everywhere),
		cmocka_unit_test(are_the_engines_own),
		cmocka_unit_test(are_no_mirrors),
		cmocka_unit_test(need_memory),
		cmocka_unit_test(are_each_process_own),
		cmocka_unit_test(wait_for_the_instruction),
		cmocka_unit_test(touch_what_it_does),
		cmocka_unit_test(do_something),
		cmocka_unit_test(have_few_probes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
