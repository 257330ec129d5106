// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * stream: the tool's end of the streams, where detours put records.
 *
 * A record says whose it is and how many values follow, and no more. What it means is the
 * engine's own knowledge of the program. The target can write anything there: what makes no
 * sense is counted as torn, up to the head where more than one record is in doubt.
 *
 * The detour that makes a record does not count the hit: that would be a second store, and an
 * interruption could come between the two. The reader counts it.
 */
#include "engine/layout/ring.h"
#include "engine/plan/native.h"
#include "engine/site/internal.h"
#include "engine/site/site.h"
#include "engine/site/stream.h"
#include "port.h"

/* A power of two */
#define SHAPES 64
#define HEAD 16
#define VALUE 8
/* Records of one shape that are read before writers are told that there is room */
#define RUN 64
/* Another CPU has written it: so many bytes ahead, it is here in time. */
#define AHEAD 1024

/**
 * struct dp_record_shape - what the records of one probe are, from one exit of its program
 * @what: of such a record; @known: this is one
 * @hits: records that have come, and are not counted yet
 * @at: where the log has each value
 * @copy: all but what differs from record to record
 */
struct dp_record_shape {
	u64 hits;
	u32 what;
	bool known;
	u8 values;
	u16 at[DP_STREAM_VALUES];
	struct dp_record_copy copy;
};

static struct dp_stream *stream_at(const struct dp_engine *e, u32 i)
{
	const struct dp_reader *r = &e->reader;

	return (void *)((char *)e->arena + r->stream_off +
			(u64)i * r->stream_stride);
}

/* What is before @tail has been read. */
static void set_limit(const struct dp_engine *e, u32 i, u64 tail)
{
	__atomic_store_n(&stream_at(e, i)->limit,
			 tail + e->reader.stream_mask + 1 - DP_STREAM_MOST,
			 __ATOMIC_RELEASE);
}

/* The shapes of an engine that has been copied are not the copy's. */
void dp_stream_open(struct dp_engine *e)
{
	const struct dp_arena_control *c = &e->arena->control;
	struct dp_reader *r = &e->reader;
	u32 i;

	if (e->own || e->mirrored || !c->stream_mask)
		return;
	/* One more, for those that have no shape */
	r->shapes = dp_port_alloc((SHAPES + 1) * sizeof(*r->shapes));
	if (!r->shapes)
		return;
	r->whole = &r->shapes[SHAPES];
	r->stream_off = c->stream_off;
	r->stream_stride = c->stream_stride;
	r->stream_mask = c->stream_mask;
	for (i = 0; i < r->rings; i++)
		set_limit(e, i, 0);
}

/* Add what has been read to the hits of the probe. Its site has only that one; others may come later,
 * whose hits these are not. */
static void count(struct dp_engine *e, struct dp_record_shape *s)
{
	u32 probe = dp_stream_probe(s->what);
	struct dp_probe_entry *p = (void *)&e->view.probes[probe];

	p->earlier += s->hits;
	s->hits = 0;
}

static const struct dp_native_record *record_of(const struct dp_engine *e,
						u32 what)
{
	u32 probe = dp_stream_probe(what), exit = dp_stream_exit(what);
	const struct dp_native *n;
	const struct dp_probe *p;

	if (probe >= e->view.nr_probes)
		return NULL;
	p = &e->probes[probe];
	n = p->bound ? dp_native_from(e, p->binding.program, p->binding.start) :
		       NULL;
	return n && exit < n->nr_records &&
			       n->records[exit].nr_values ==
				       dp_stream_values(what) ?
		       &n->records[exit] :
		       NULL;
}

static u16 code(u32 set, u16 probes)
{
	return set == DP_NATIVE_UNSET ? probes : (u16)set;
}

/* Return: false if there are no such records. */
static bool learn(const struct dp_engine *e, struct dp_record_shape *s,
		  u32 what)
{
	const struct dp_native_record *r = record_of(e, what);
	const struct dp_binding *b;

	s->known = r != NULL;
	if (!r)
		return false;
	b = &e->probes[dp_stream_probe(what)].binding;
	s->what = what;
	s->values = r->nr_values;
	s->copy.head = (struct dp_record){
		.probe = dp_stream_probe(what),
		.major = code(r->major, b->major),
		.minor = code(r->minor, b->minor),
	};
	s->copy.head.len = (u16)dp_native_shape(r, s->copy.data, s->at);
	return true;
}

/* The shape of a record that is being read */
static struct dp_record_shape *shape_of(struct dp_engine *e, u32 what)
{
	struct dp_record_shape *s =
		&e->reader.shapes[(what ^ what >> 21) & (SHAPES - 1)];

	if (s->known && s->what == what)
		return s;
	if (s->known)
		count(e, s);
	return learn(e, s, what) ? s : NULL;
}

static u64 word(const void *at)
{
	return *(const volatile u64 *)at;
}

/* Each word once, whatever the target writes there. */
static void fill(struct dp_record_shape *s, const struct dp_stream_record *from,
		 u32 values)
{
	u32 i;

	for (i = 0; i < values; i++) {
		u64 value = word(&from->value[i]);

		__builtin_memcpy(s->copy.data + s->at[i], &value,
				 sizeof(value));
	}
}

/**
 * struct reading - one reading of a stream
 * @data: of the stream; @tail, @head: bytes that have been read, and written
 * @coarse: records have no time but @now
 */
struct reading {
	void (*take)(void *, const struct dp_record_copy *);
	void *arg;
	const char *data;
	u64 tail, head, now;
	u32 mask, cpu;
	bool coarse;
	size_t n;
};

static const struct dp_stream_record *next(const struct reading *r)
{
	return (const void *)(r->data + (r->tail & r->mask));
}

/* Records of one shape, as many as come one after the other: so where the next one begins does not
 * depend on what this one says, and the processor need not wait for that. Return: how many */
static inline __attribute__((always_inline)) u32
run(const struct reading r, struct dp_record_shape *s, u32 what, u32 values)
{
	const u32 len = HEAD + VALUE * values;
	u64 tail = r.tail;
	u32 n;

	for (n = 0; n < RUN && r.head - tail >= len; n++, tail += len) {
		const struct dp_stream_record *from =
			(const void *)(r.data + (tail & r.mask));
		u64 ticks = word(&from->ticks), head = word(&from->what);

		__builtin_prefetch((const char *)from + AHEAD);
		if ((u32)head != what)
			break;
		s->copy.head.ticks = r.coarse ? r.now : ticks;
		s->copy.head.tid = (u32)(head >> 32);
		fill(s, from, values);
		r.take(r.arg, &s->copy);
	}
	return n;
}

/* Those with few values, for which there is code of their own, are most. Return: false if there is
 * none: the target has just changed it. */
static bool read_run(struct reading *r, struct dp_record_shape *s)
{
	u32 n;

	s->copy.head.cpu = r->cpu;
	n = s->values == 1 ? run(*r, s, s->what, 1) :
	    s->values == 2 ? run(*r, s, s->what, 2) :
			     run(*r, s, s->what, s->values);
	r->tail += (u64)n * (HEAD + VALUE * s->values);
	r->n += n;
	s->hits += n;
	return n;
}

static void copy_words(void *to, const void *from, u64 n)
{
	u64 i;

	for (i = 0; i < n; i++)
		((u64 *)to)[i] = word((const u64 *)from + i);
}

/* What the interpreter has recorded, and counted. Return: false if it makes no sense. */
static bool read_whole(struct dp_engine *e, struct reading *r)
{
	struct dp_record_copy *to = &e->reader.whole->copy;
	const u64 head = sizeof(to->head) / VALUE, have = r->head - r->tail;
	const u64 *from = (const void *)next(r);
	u64 data;

	if (have < sizeof(to->head))
		return false;
	copy_words(&to->head, from, head);
	to->head.probe = dp_stream_probe(to->head.probe);
	to->head.cpu = r->cpu;
	data = (to->head.len + VALUE - 1u) / VALUE;
	if (to->head.probe >= e->nr_probes || to->head.len > sizeof(to->data) ||
	    to->head.traces > to->head.len || (head + data) * VALUE > have)
		return false;
	copy_words(to->data, from + head, data);
	r->tail += (head + data) * VALUE;
	r->n++;
	r->take(r->arg, to);
	return true;
}

/* What the exit of a function has recorded is that of the probe at its entry, and a hit of the exit.
 * Return: false if there is no such exit. */
static bool take_call(struct dp_engine *e, const struct reading *r, u32 what)
{
	const struct dp_stream_call *from = (const void *)next(r);
	struct dp_record_copy *to = &e->reader.whole->copy;
	struct dp_leaving leaving = { 0 };
	u32 exit = dp_stream_probe(what);
	struct dp_probe_entry *p = (void *)&e->view.probes[exit];

	if (exit >= e->view.nr_probes || e->probes[exit].kind != DP_KIND_EXIT ||
	    e->probes[exit].group >= e->view.nr_probes)
		return false;
	leaving.entered = word(&from->entered);
	leaving.value = word(&from->value);
	leaving.slot = word(&from->slot);
	leaving.how = dp_probe_ends(e->probes[exit].way);
	to->head = (struct dp_record){
		.ticks = word(&from->ticks),
		.probe = e->probes[exit].group,
		.tid = (u32)(word(&from->what) >> 32),
		.cpu = r->cpu,
		.len = sizeof(leaving),
	};
	__builtin_memcpy(to->data, &leaving, sizeof(leaving));
	p->earlier++;
	r->take(r->arg, to);
	return true;
}

static bool read_call(struct dp_engine *e, struct reading *r, u32 what)
{
	if (r->head - r->tail < sizeof(struct dp_stream_call))
		return false;
	if (take_call(e, r, what))
		r->n++;
	else
		e->reader.torn++;
	r->tail += sizeof(struct dp_stream_call);
	return true;
}

/* Return: false if the rest makes no sense. */
static bool read_next(struct dp_engine *e, struct reading *r)
{
	u32 what = (u32)word(&next(r)->what);
	u32 len = HEAD + VALUE * dp_stream_values(what);
	struct dp_record_shape *s;

	if (dp_stream_values(what) == DP_STREAM_WHOLE)
		return read_whole(e, r);
	if (dp_stream_values(what) == DP_STREAM_CALL)
		return read_call(e, r, what);
	if (len > r->head - r->tail ||
	    dp_stream_values(what) > DP_STREAM_VALUES)
		return false;
	s = shape_of(e, what);
	if (s)
		return read_run(r, s);
	e->reader.torn++;
	r->tail += len;
	return true;
}

/* At most one round: the target may go on making records. Nothing that it can say of where records
 * begin is believed after one that makes no sense. */
static size_t read_stream(struct dp_engine *e, u32 i,
			  void (*take)(void *, const struct dp_record_copy *),
			  void *arg)
{
	struct dp_stream *from = stream_at(e, i);
	struct reading r = {
		.take = take,
		.arg = arg,
		.data = (const char *)(from + 1),
		.tail = e->reader.tail[i],
		.head = __atomic_load_n(&from->head, __ATOMIC_ACQUIRE),
		.mask = e->reader.stream_mask,
		.cpu = i,
		.coarse = e->coarse,
	};
	bool sane = r.head - r.tail <= r.mask;
	u64 told = r.tail;

	if (r.head == r.tail)
		return 0;
	if (r.coarse)
		r.now = dp_port_clock();
	while (sane && r.head - r.tail >= HEAD) {
		sane = read_next(e, &r);
		/* Writers look at it each time: so not often. */
		if (r.tail - told > r.mask / 8)
			set_limit(e, i, told = r.tail);
	}
	if (r.tail != r.head) {
		e->reader.torn++;
		r.tail = r.head & ~(u64)(VALUE - 1);
	}
	e->reader.tail[i] = r.tail;
	set_limit(e, i, r.tail);
	return r.n;
}

size_t dp_stream_read(struct dp_engine *e,
		      void (*take)(void *, const struct dp_record_copy *),
		      void *arg)
{
	size_t n = 0;
	u32 i;

	if (!e->reader.stream_mask)
		return 0;
	for (i = 0; i < e->reader.rings; i++)
		n += read_stream(e, i, take, arg);
	/* A probe's number may be another's until the next reading. */
	for (i = 0; i < SHAPES; i++) {
		if (e->reader.shapes[i].known)
			count(e, &e->reader.shapes[i]);
		e->reader.shapes[i].known = false;
	}
	return n;
}
