// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fuzz_kept: tables of values that a target writes to as it likes, before and while the tool reads
 * them, adds them up, takes intervals of them and prints them. What is read stays within the table;
 * keys are there once, in order; what is printed is lines of text without controls, and JSON.
 *
 * Input: which spec; words for the table (struct put); then what is scribbled meanwhile.
 */
#include "fuzz/scribble.h"
#include "engine/site/aggregate.h"
#include "engine/site/engine.h"
#include "engine/site/internal.h"
#include "resolve/points.h"
#include "tracer/expr.h"
#include "tracer/kept.h"
#include <dprobes/diag.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#define SHARDS 2
#define KEYS 12 /* that there is room for */
#define PUTS 64u
#define OUTPUT (1u << 22)
#define DEPTH 16

static const char *const texts[] = {
	"f{count() by arg0}",
	"f{sum(arg1:s64), avg(arg1:s64), avg(arg1), min(arg1), max(arg1:s64) by (int)arg0, (char)arg2}",
	"f{first(arg1:s64), last(arg1), last((bool)arg2), count() by arg0:str, comm}",
	"f{hist(arg1:s64), lhist(arg1:s64, -5, 100, 7), max(arg1) by arg0:str}",
	"f{hist(arg1)}",
	"f{lhist(arg1:s64, -100, 100, 1)}",
	"f{lhist(arg1:s64, -9223372036854775808, -1, 1000000000000000000) by arg0}",
	"f{distinct(arg1), distinct(arg2), sum(arg1) by arg0:s32}",
	"r:f{hist(latency), sum(latency), min(latency) by retval:s64, tid}",
	"f{max(arg0:x8), min(arg0:u16), last(arg1:c) by arg0:x64, arg1:ip, caller}",
};
#define TEXTS (sizeof(texts) / sizeof(*texts))

/** struct put - a word of the table of a spec, or of one of its sets, ahead of all
 *  @table: of these; @slot: of that; @word: 0: the key is ready; of the key, then of a row
 *  @how: enum how, and in its low bits what becomes of the value */
struct put {
	u8 table, slot, shard, word;
	u8 how, value[8];
} __attribute__((packed));

enum how { READY = 16, HIT = 32, WHOLE_KEY = 64 };

/** struct table - a spec of @texts, with an engine of its own */
struct table {
	struct dp_spec spec;
	struct dp_trace_program program;
	struct dp_engine *engine;
	u32 number;
	size_t room; /* whole pages */
};

static struct table tables[TEXTS], *is;

static int add(struct dp_source *source, const struct dp_aggregate_shape *shape,
	       u32 *table, const char **why)
{
	return dp_engine_add_aggregate(is->engine, shape, table, why);
}

static const struct dp_aggregate_entry *get(const struct dp_source *source,
					    u32 table)
{
	return dp_engine_aggregate(is->engine, table);
}

static int read_all(const struct dp_source *source, u32 table,
		    void (*take)(void *arg, const u64 *key, const u64 *row),
		    void *arg)
{
	return dp_engine_read_aggregate(is->engine, table, take, arg);
}

static void read_lost(const struct dp_source *source, u32 table,
		      u64 lost[DP_LOST_NR])
{
	dp_engine_aggregate_lost(is->engine, table, lost);
}

static const struct dp_source_ops ops = { .add_aggregate = add,
					  .aggregate = get,
					  .read_aggregate = read_all,
					  .aggregate_lost = read_lost };

/* What a report says of its program is nothing of a table's. */
const char *dp_report_program(const struct dp_session *s)
{
	abort();
}

/* The table ends where the memory ends. */
static void prepare(u32 i, struct dp_session *s, struct dp_kept *kept)
{
	struct dp_diag diag;
	u64 bytes;

	is = &tables[i];
	dp_diag_clear(&diag);
	must(!dp_spec_parse(texts[i], &is->spec, &diag) &&
	     !dp_expr_aggregate(&is->spec, &is->program, &diag) &&
	     !dp_engine_create(&is->engine));
	s->specs = &is->spec;
	kept->spec = &is->spec;
	must(!dp_kept_table(s, kept, 0, &is->program, &diag));
	is->number = dp_kept_number(s, 0);
	free(s->tables);
	s->tables = NULL;
	dp_aggregates_place(is->engine, SHARDS);
	bytes = is->engine->aggregate_bytes;
	is->room = (bytes + 2 * SCRIBBLE_PAGE - 1) & ~(SCRIBBLE_PAGE - 1);
	is->engine->aggregated_off = is->room - bytes;
}

static u64 *word_of(const struct put *p)
{
	u32 n = p->table % is->engine->nr_aggregates;
	const struct dp_aggregate_entry *t = dp_engine_aggregate(is->engine, n);
	u8 *all = scribbler.memory + is->engine->aggregated_off;
	u64 slot = p->slot % (t->slot_mask + 1u);

	if (p->word < t->slot_words)
		return (u64 *)(all + t->slot_off) + slot * t->slot_words +
		       p->word;
	if (!t->row_words || p->word == 0xff)
		return (u64 *)(all + t->account_off) + p->slot % 3;
	return (u64 *)(all + t->row_off +
		       p->shard % (t->shards + 1) * t->shard_bytes) +
	       slot * t->row_words + (p->word - t->slot_words) % t->row_words;
}

/* What hits leave of a key: it is ready, has words of its own, and a count or a bucket */
static void put_hit(const struct put *p, u64 value)
{
	struct put at = *p;
	u32 i, keys;

	at.word = 0;
	keys = dp_engine_aggregate(is->engine,
				   p->table % is->engine->nr_aggregates)
		       ->keys;
	if (p->how & READY)
		*word_of(&at) = DP_SLOT_READY;
	for (i = 0; p->how & WHOLE_KEY && i < keys; i++)
		word_of(&at)[1 + i] = value;
	at.word = (u8)(1 + keys);
	if (p->how & HIT)
		*word_of(&at) += p->shard;
}

/* Numbers that mean something are likelier than others. */
static void put(const struct put *p)
{
	u64 value;

	memcpy(&value, p->value, sizeof(value));
	put_hit(p, value);
	switch (p->how % 4) {
	case 0:
		value = p->word ? value % 256 : DP_SLOT_READY;
		break;
	case 1:
		value = -(value % 256);
		break;
	case 2:
		value &= 0x7f7f7f7f7f7f7f7full;
		break;
	default:
		break;
	}
	*word_of(p) = value;
}

/* JSON */

static const char *value_end(const char *s, int depth);

static const char *string_end(const char *s)
{
	must(*s++ == '"');
	for (; *s != '"'; s++) {
		must((u8)*s >= 0x20);
		if (*s == '\\')
			must(*++s && strchr("\"\\/bfnrtu", *s));
	}
	return s + 1;
}

static const char *members_end(const char *s, int depth)
{
	bool object = *s++ == '{';
	char end = object ? '}' : ']';

	must(depth < DEPTH);
	while (*s != end) {
		if (object) {
			s = string_end(s);
			must(*s++ == ':');
		}
		s = value_end(s, depth + 1);
		must(*s == ',' ? s[1] != end : *s == end);
		s += *s == ',';
	}
	return s + 1;
}

static const char *value_end(const char *s, int depth)
{
	size_t n = strspn(s, "+-.0123456789eE");

	if (*s == '{' || *s == '[')
		return members_end(s, depth);
	if (*s == '"')
		return string_end(s);
	if (!n)
		n = !strncmp(s, "true", 4) || !strncmp(s, "null", 4) ? 4 :
		    !strncmp(s, "false", 5)			     ? 5 :
								       0;
	must(n > 0);
	return s + n;
}

static void check_text(const char *text, size_t size, bool json)
{
	const char *s;

	must(size < OUTPUT && strlen(text) == size);
	for (s = text; *s; s++)
		must(((u8)*s >= 0x20 || *s == '\n') && *s != 0x7f);
	for (s = text; json && *s;) {
		must(*s == '{');
		s = value_end(s, 0);
		must(*s++ == '\n');
	}
}

static void print(const struct dp_kept *kept, struct dp_kept_state *state)
{
	size_t n, size, i;
	bool json;
	char *text;
	FILE *f;

	dp_kept_count(kept, state);
	n = dp_kept_sort(kept, &state->rows);
	must(n <= state->rows.n);
	for (i = 1; i < n; i++)
		must(state->rows.v[i - 1].words[0] >=
		     state->rows.v[i].words[0]);
	for (json = false;; json = true) {
		f = open_memstream(&text, &size);
		must(f != NULL);
		if (json)
			dp_kept_json(f, kept, state, n, 0, NULL, "");
		else
			dp_kept_print(f, kept, state, n, n / 2, NULL);
		fclose(f);
		check_text(text, size, json);
		free(text);
		if (json)
			return;
	}
}

/* Two rows of one key are one. */
static void check_rows(const struct dp_kept_rows *rows, u32 slots)
{
	size_t i, k;

	must(!rows->failed && rows->n <= slots);
	for (i = 0; i < rows->n; i++)
		for (k = 0; k < i; k++)
			must(memcmp(rows->v[i].key, rows->v[k].key,
				    rows->keys * sizeof(u64)));
}

/* As it is at the end of a process, and as an interval since @before */
static void look(struct dp_session *s, struct dp_kept *kept,
		 struct dp_kept_state *before)
{
	u32 slots = dp_engine_aggregate(is->engine, is->number)->slot_mask + 1;
	struct dp_kept_state now = { 0 }, all = { 0 };
	u32 i;

	must(!dp_kept_add(s, kept, 0, &now));
	check_rows(&now.rows, slots);
	for (i = 0; i < DP_AGGREGATE_FIELDS; i++)
		check_rows(&now.sets[i], 64);
	must(!dp_kept_merge(kept, &all, &now) &&
	     !dp_kept_merge(kept, &all, before));
	print(kept, &all);
	dp_kept_since(kept, &now, before);
	print(kept, &now);
	dp_kept_clear(before);
	dp_kept_clear(&now);
	*before = all;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static const struct dp_tracer_options opt = { .map_size = KEYS };
	struct dp_kept_state before = { 0 };
	static struct dp_kept kept[TEXTS];
	struct dp_session s = { .opt = &opt, .ops = &ops, .nr_specs = 1 };
	struct dp_source source = { 0 };
	u32 i, n, nr;

	if (size < 2)
		return 0;
	s.source = &source;
	n = data[0] % TEXTS;
	nr = data[1] % PUTS;
	data += 2;
	size -= 2;
	if (!tables[n].engine)
		prepare(n, &s, &kept[n]);
	is = &tables[n];
	s.specs = &is->spec;
	s.tables = (u32[]){ 1 + is->number };
	scribbler.memory = scribble_map(is->room);
	is->engine->arena = (void *)scribbler.memory;
	scribbler.hit = scribbler.own = is->engine->aggregated_off;
	scribbler.end = is->room;
	for (i = 0; i < nr && size >= sizeof(struct put); i++) {
		put((const struct put *)data);
		data += sizeof(struct put);
		size -= sizeof(struct put);
	}
	look(&s, &kept[n], &before);
	scribble_start(data, size);
	look(&s, &kept[n], &before);
	look(&s, &kept[n], &before);
	scribble_stop();
	look(&s, &kept[n], &before);
	dp_kept_clear(&before);
	is->engine->arena = NULL;
	scribble_unmap(scribbler.memory, is->room);
	return 0;
}
