// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * kept: what the hits of specs have kept in tables.
 *
 * A table in a process may have a key twice, and each process has its own table: so rows are
 * found by their keys here, and added up.
 */
#include "tracer/kept.h"
#include "tracer/session.h"
#include "tracer/output.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#define LEAST 64

bool dp_kept_counted(const struct dp_session *s)
{
	size_t i;

	for (i = 0; i < s->nr_specs; i++)
		if (!s->specs[i].aggs)
			return true;
	return !s->nr_specs;
}

/* Rows by their keys */

/* The kernel has given it to this run of the tool. */
static u64 secret(void)
{
	static u64 number;

	if (!number)
		memcpy(&number, (const void *)getauxval(AT_RANDOM),
		       sizeof(number));
	return number;
}

/* A program that chooses its keys does not know which of them come to the same place. */
static u64 hash_of(const u64 *key, u32 n)
{
	u64 odd = secret() | 1, hash = odd;
	u32 i;

	for (i = 0; i < n; i++) {
		hash = (hash ^ key[i]) * odd;
		hash = (hash ^ hash >> 32) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 29;
	}
	return hash;
}

static size_t place_of(const struct dp_kept_rows *r, const u64 *key)
{
	size_t at = hash_of(key, r->keys) & (r->size - 1);

	while (r->places[at] &&
	       memcmp(r->v[r->places[at] - 1].key, key, r->keys * sizeof(*key)))
		at = (at + 1) & (r->size - 1);
	return at;
}

static bool grow(struct dp_kept_rows *r)
{
	size_t room = r->room ? 2 * r->room : LEAST, i;
	struct dp_kept_row *v = realloc(r->v, room * sizeof(*v));
	u32 *places;

	if (v)
		r->v = v;
	places = v ? calloc(2 * room, sizeof(*places)) : NULL;
	if (!places)
		return false;
	free(r->places);
	r->places = places;
	r->size = 2 * room;
	r->room = room;
	for (i = 0; i < r->n; i++)
		places[place_of(r, r->v[i].key)] = (u32)(i + 1);
	return true;
}

static struct dp_kept_row *find(const struct dp_kept_rows *r, const u64 *key)
{
	size_t at = r->size ? place_of(r, key) : 0;

	return r->size && r->places[at] ? &r->v[r->places[at] - 1] : NULL;
}

static struct dp_kept_row *find_or_add(struct dp_kept_rows *r, const u64 *key)
{
	struct dp_kept_row *row = find(r, key);

	if (row)
		return row;
	if (r->n == r->room && !grow(r))
		return NULL;
	row = &r->v[r->n];
	*row = (struct dp_kept_row){ .key = calloc(r->keys + r->row_words + 1,
						   sizeof(u64)) };
	if (!row->key)
		return NULL;
	row->words = row->key + r->keys;
	memcpy(row->key, key, r->keys * sizeof(*key));
	r->places[place_of(r, key)] = (u32)++r->n;
	return row;
}

static void free_rows(struct dp_kept_rows *r)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		free(r->v[i].key);
	free(r->v);
	free(r->places);
	*r = (struct dp_kept_rows){ 0 };
}

void dp_kept_clear(struct dp_kept_state *state)
{
	u32 i;

	free_rows(&state->rows);
	for (i = 0; i < DP_AGGREGATE_FIELDS; i++)
		free_rows(&state->sets[i]);
	memset(state, 0, sizeof(*state));
}

void dp_kept_free(struct dp_kept *kept)
{
	dp_kept_clear(&kept->ended);
	dp_kept_clear(&kept->before);
	dp_walked_free(&kept->walked);
}

/* Tables */

static bool same_shape(const struct dp_aggregate_shape *a,
		       const struct dp_aggregate_shape *b)
{
	bool same = a->keys == b->keys && a->nr == b->nr;
	u32 i;

	for (i = 0; same && i < a->nr; i++)
		same = a->fields[i].sign == b->fields[i].sign;
	return same;
}

static int refuse_shape(const struct dp_spec *spec, struct dp_diag *diag)
{
	dp_diag_set(
		diag, -EINVAL,
		"what is kept has other types at some of the points: say which it has, by a format or a cast");
	dp_diag_caret(diag, spec->aggs_col, (int)strlen(spec->aggs) + 2);
	return -EINVAL;
}

static int set_table(struct dp_session *s, size_t spec, u32 table)
{
	if (!s->tables)
		s->tables = calloc(s->nr_specs, sizeof(*s->tables));
	if (!s->tables)
		return -ENOMEM;
	s->tables[spec] = 1 + table;
	return 0;
}

int dp_kept_table(struct dp_session *s, struct dp_kept *kept, size_t spec,
		  const struct dp_trace_program *program, struct dp_diag *diag)
{
	struct dp_aggregate_shape shape = program->shape;
	const char *why;
	u32 table;
	int err;

	if (kept->made && !same_shape(&shape, &kept->program.shape))
		return refuse_shape(kept->spec, diag);
	if (dp_kept_number(s, spec) != DP_NO_TABLE)
		return 0;
	if (!s->ops->add_aggregate)
		return dp_diag_set(
			diag, -EOPNOTSUPP,
			"process %d probes itself, and nothing can be kept of hits there: dprobes trace shows them",
			s->source->pid);
	shape.most = s->opt->map_size ?: DP_AGGREGATE_USUAL;
	err = s->ops->add_aggregate(s->source, &shape, &table, &why);
	if (err)
		return dp_diag_set(diag, err, "%s: %s", kept->spec->text, why);
	kept->table = *s->ops->aggregate(s->source, table);
	kept->program = *program;
	kept->program.code = NULL;
	kept->made = true;
	return set_table(s, spec, table) ?
		       dp_diag_set(diag, -ENOMEM, "out of memory") :
		       0;
}

/* What is in a session's tables */

/**
 * struct taking - rows of a table, into @to
 * @t: NULL: of a set
 * @s: of this session, whose numbers of stacks mean nothing elsewhere; NULL: stacks are in @kept
 */
struct taking {
	const struct dp_aggregate_entry *t;
	struct dp_kept_rows *to;
	const struct dp_session *s;
	struct dp_kept *kept;
};

static bool any_stack(const struct dp_kept *kept)
{
	return kept->program.stack;
}

/* The target has written the number: it may be that of any stack, or of none. */
static bool find_stacks(const struct taking *t, u64 *key)
{
	const struct dp_trace_program *p = &t->kept->program;
	u32 i, at = 0, place;

	for (i = 0; i < p->nr_items; at += p->items[i++].words) {
		if (!dp_kept_is_stack(&p->items[i]))
			continue;
		if (dp_walked_find(&t->kept->walked, t->s,
				   key[at] == (u32)key[at] ? (u32)key[at] : 0,
				   &place))
			return false;
		key[at] = place;
	}
	return true;
}

static struct dp_kept_row *row_of(const struct taking *t, const u64 *key)
{
	u64 own[DP_AGGREGATE_KEYS + 1];

	if (!t->s || !any_stack(t->kept))
		return find_or_add(t->to, key);
	memcpy(own, key, t->to->keys * sizeof(*own));
	return find_stacks(t, own) ? find_or_add(t->to, own) : NULL;
}

static void take_row(void *arg, const u64 *key, const u64 *row)
{
	const struct taking *taking = arg;
	struct dp_kept_row *is = row_of(taking, key);

	if (!is)
		taking->to->failed = true;
	else if (taking->t)
		dp_aggregate_merge(taking->t, is->words, row);
}

static int take(const struct dp_session *s, struct dp_kept *kept, u32 table,
		const struct dp_aggregate_entry *t, struct dp_kept_rows *to)
{
	struct taking taking = { t, to, s, kept };

	return s->ops->read_aggregate(s->source, table, take_row, &taking) ?:
		       to->failed ? -ENOMEM :
				    0;
}

static bool is_set(const struct dp_kept *kept, u32 field)
{
	return field < kept->table.nr_fields &&
	       kept->table.fields[field].kind == DP_FIELD_SET;
}

static void begin(const struct dp_kept *kept, struct dp_kept_state *state)
{
	u32 i;

	state->rows.keys = kept->table.keys;
	state->rows.row_words = kept->table.row_words;
	for (i = 0; i < DP_AGGREGATE_FIELDS; i++)
		state->sets[i].keys = kept->table.keys + 1;
}

int dp_kept_add(const struct dp_session *s, struct dp_kept *kept, size_t spec,
		struct dp_kept_state *to)
{
	u32 table = dp_kept_number(s, spec), i;
	u64 lost[DP_LOST_NR];
	int err;

	if (!kept->made || table == DP_NO_TABLE)
		return 0;
	begin(kept, to);
	dp_walked_begin();
	err = take(s, kept, table, &kept->table, &to->rows);
	s->ops->aggregate_lost(s->source, table, lost);
	for (i = 0; i < DP_LOST_NR; i++)
		to->lost[i] += lost[i];
	for (i = 0; i < kept->table.nr_fields && !err; i++) {
		u32 set = s->ops->aggregate(s->source, table)->fields[i].set;

		if (!is_set(kept, i))
			continue;
		err = take(s, kept, set, NULL, &to->sets[i]);
		s->ops->aggregate_lost(s->source, set, lost);
		to->missing[i] += lost[DP_LOST_FULL];
	}
	dp_walked_end();
	return err;
}

static int merge_rows(const struct dp_aggregate_entry *t,
		      struct dp_kept_rows *to, const struct dp_kept_rows *from)
{
	struct taking taking = { .t = t, .to = to };
	size_t i;

	for (i = 0; i < from->n; i++)
		take_row(&taking, from->v[i].key, from->v[i].words);
	return to->failed ? -ENOMEM : 0;
}

int dp_kept_merge(const struct dp_kept *kept, struct dp_kept_state *to,
		  const struct dp_kept_state *from)
{
	int err;
	u32 i;

	begin(kept, to);
	to->cut += from->cut;
	err = merge_rows(&kept->table, &to->rows, &from->rows);
	for (i = 0; i < DP_LOST_NR; i++)
		to->lost[i] += from->lost[i];
	for (i = 0; i < kept->table.nr_fields && !err; i++) {
		if (!is_set(kept, i))
			continue;
		err = merge_rows(NULL, &to->sets[i], &from->sets[i]);
		to->missing[i] += from->missing[i];
	}
	return err;
}

/* Intervals */

/* A hostile process may have fewer than before. */
static void subtract(u64 *from, u64 n)
{
	*from -= n < *from ? n : *from;
}

static bool is_sum(const struct dp_aggregate_field *f)
{
	return f->kind == DP_FIELD_SUM || f->kind == DP_FIELD_HIST ||
	       f->kind == DP_FIELD_LHIST;
}

static void since_row(const struct dp_aggregate_entry *t, u64 *now,
		      const u64 *before)
{
	u32 i, k;

	subtract(&now[0], before[0]);
	for (i = 0; i < t->nr_fields; i++) {
		const struct dp_aggregate_field *f = &t->fields[i];

		for (k = 0; is_sum(f) && k < f->words; k++)
			if (f->kind == DP_FIELD_SUM)
				now[f->at + k] -= before[f->at + k];
			else
				subtract(&now[f->at + k], before[f->at + k]);
	}
}

void dp_kept_since(const struct dp_kept *kept, struct dp_kept_state *now,
		   const struct dp_kept_state *before)
{
	const struct dp_kept_row *was;
	size_t i;

	for (i = 0; i < now->rows.n; i++) {
		was = find(&before->rows, now->rows.v[i].key);
		if (was)
			since_row(&kept->table, now->rows.v[i].words,
				  was->words);
	}
	for (i = 0; i < DP_LOST_NR; i++)
		subtract(&now->lost[i], before->lost[i]);
}

void dp_kept_count(const struct dp_kept *kept, struct dp_kept_state *state)
{
	struct dp_kept_row *row;
	size_t k;
	u32 i;

	for (i = 0; i < kept->table.nr_fields; i++)
		for (k = 0; is_set(kept, i) && k < state->sets[i].n; k++) {
			row = find(&state->rows, state->sets[i].v[k].key);
			if (row)
				row->distinct[i]++;
		}
}

static int compare_key(const struct dp_kept *kept,
		       const struct dp_trace_item *item, const u64 *a,
		       const u64 *b)
{
	struct dp_value_type type = item->type;

	if (dp_kept_is_stack(item))
		return dp_walked_compare(&kept->walked, (u32)*a, (u32)*b);

	if (type.kind == DP_VALUE_STRING && !type.stars)
		return memcmp(a, b, item->words * sizeof(*a));
	if (type.kind == DP_VALUE_SIGNED && !type.stars)
		return ((s64)*a > (s64)*b) - ((s64)*a < (s64)*b);
	return (*a > *b) - (*a < *b);
}

static int compare(const void *a, const void *b, void *arg)
{
	const struct dp_kept_row *x = a, *y = b;
	const struct dp_kept *kept = arg;
	const struct dp_trace_program *p = &kept->program;
	u32 i, at = 0;
	int order = 0;

	if (x->words[0] != y->words[0])
		return x->words[0] < y->words[0] ? 1 : -1;
	for (i = 0; i < p->nr_items && !order; at += p->items[i++].words)
		order = compare_key(kept, &p->items[i], &x->key[at],
				    &y->key[at]);
	return order;
}

/* The places are not those of the rows any more. */
size_t dp_kept_sort(const struct dp_kept *kept, struct dp_kept_rows *rows)
{
	size_t n = 0;

	if (!kept->made)
		return 0;
	if (rows->n)
		qsort_r(rows->v, rows->n, sizeof(*rows->v), compare,
			(void *)kept);
	while (n < rows->n && rows->v[n].words[0])
		n++;
	return n;
}
