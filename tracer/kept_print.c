// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * kept_print: rows of what has been kept, as text and as JSON.
 *
 *   numbers alone   a table, a line a key
 *   histograms      a paragraph a key: its values, and the numbers; then the bars
 */
#include "tracer/kept.h"
#include "tracer/output.h"
#include "tracer/screen.h"
#include "tracer/session.h"
#include "tracer/values/show.h"
#include "engine/vm/vm.h"
#include <stdlib.h>
#include <string.h>

#define COLUMNS (DP_AGGREGATES + DP_TRACE_ITEMS)
#define GAP 2

/** struct printing - of rows of @kept to @out */
struct printing {
	FILE *out;
	const struct dp_kept *kept;
	const struct dp_kept_state *state;
	struct dp_modules *mods;
	bool json, grouped;
};

static const struct dp_aggregate_field *field_of(const struct printing *p,
						 const struct dp_trace_kept *k)
{
	return &p->kept->table.fields[k->field];
}

static bool is_histogram(const struct dp_trace_kept *k)
{
	return k->op == DP_AGGREGATE_HIST || k->op == DP_AGGREGATE_LHIST;
}

/* Does a row take more than a line? */
static bool is_long(const struct dp_kept *kept)
{
	bool any = kept->program.stack;
	u32 i;

	for (i = 0; i < kept->program.nr_kept; i++)
		any |= is_histogram(&kept->program.kept[i]);
	return any;
}

/* One value */

static void show_count(const struct printing *p, FILE *out, u64 n)
{
	char text[DP_SCREEN_NUMBER];

	dp_screen_number(text, n, p->grouped);
	dp_output_print(out, "%s", text);
}

static void show_signed(const struct printing *p, FILE *out, u64 n, bool sign)
{
	bool negative = sign && (s64)n < 0;

	if (negative)
		putc('-', out);
	show_count(p, out, negative ? -n : n);
}

/* The mean, cut off to a whole number towards 0 */
static void show_mean(const struct printing *p, FILE *out,
		      const struct dp_aggregate_field *f, const u64 *words)
{
	u64 sum = words[f->at], n = words[0];

	if (!n)
		n = 1;
	show_signed(p, out, f->sign && (s64)sum < 0 ? -(-sum / n) : sum / n,
		    f->sign);
}

/* A value as trace shows it, except that numbers without a type are decimal where they are
 * ordered. */
static void show_value(const struct printing *p, FILE *out,
		       const struct dp_trace_kept *k, u64 value)
{
	struct dp_value_type type = k->type;

	if (type.kind == DP_VALUE_UNTYPED && !type.stars &&
	    (k->op == DP_AGGREGATE_MIN || k->op == DP_AGGREGATE_MAX))
		type.kind = DP_VALUE_UNSIGNED;
	dp_show_scalar(out, p->mods, type, value, p->json);
}

static void show_distinct(const struct printing *p, FILE *out,
			  const struct dp_kept_row *row, u32 field)
{
	if (p->state->missing[field] && !p->json)
		fputs(">=", out);
	show_count(p, out, row->distinct[field]);
}

static void show_kept(const struct printing *p, FILE *out,
		      const struct dp_trace_kept *k,
		      const struct dp_kept_row *row)
{
	const struct dp_aggregate_field *f = field_of(p, k);

	switch (k->op) {
	case DP_AGGREGATE_COUNT:
		show_count(p, out, row->words[0]);
		break;
	case DP_AGGREGATE_SUM:
		show_signed(p, out, row->words[f->at], f->sign);
		break;
	case DP_AGGREGATE_AVG:
		show_mean(p, out, f, row->words);
		break;
	case DP_AGGREGATE_MIN:
	case DP_AGGREGATE_MAX:
		show_value(p, out, k, dp_field_ordered(f, row->words[f->at]));
		break;
	case DP_AGGREGATE_DISTINCT:
		show_distinct(p, out, row, k->field);
		break;
	case DP_AGGREGATE_HIST:
	case DP_AGGREGATE_LHIST:
		dp_histogram_json(out, f, &row->words[f->at]);
		break;
	default:
		show_value(p, out, k, row->words[f->at + 1]);
	}
}

static void show_text(FILE *out, const u64 *words, u32 n, bool json)
{
	u32 room = n * (u32)sizeof(u64);
	u32 len = (u32)strnlen((const char *)words, room);

	dp_show_text(out, (const u8 *)words, len,
		     len == room && n == DP_VM_TEXT_WORDS, json);
}

static void show_key(const struct printing *p, FILE *out,
		     const struct dp_trace_item *item, const u64 *words)
{
	struct dp_logged logged = { .item = { .token = DP_ITEM_ELEMENTS,
					      .count = 1,
					      .size = sizeof(u64),
					      .payload = (const u8 *)words } };

	if (item->type.kind == DP_VALUE_STRING && !item->type.stars)
		show_text(out, words, item->words, p->json);
	else
		dp_value_show(out, item, &logged, p->mods, p->json);
}

/* Lines */

/** struct cells - a row of a table */
struct cells {
	char *text[COLUMNS];
};

static u32 columns(const struct dp_kept *kept)
{
	return kept->program.nr_kept + (u32)kept->program.nr_items;
}

static char *cell(const struct printing *p, const struct dp_kept_row *row,
		  u32 column, u32 *key)
{
	const struct dp_trace_program *program = &p->kept->program;
	const struct dp_trace_item *item;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	if (column < program->nr_kept) {
		show_kept(p, f, &program->kept[column], row);
	} else {
		item = &program->items[column - program->nr_kept];
		show_key(p, f, item, &row->key[*key]);
		*key += item->words;
	}
	fclose(f);
	return text;
}

static void fill(const struct printing *p, const struct dp_kept_row *row,
		 struct cells *cells)
{
	u32 i, key = 0;

	for (i = 0; i < columns(p->kept); i++)
		cells->text[i] = cell(p, row, i, &key);
}

static const char *title_of(const struct dp_kept *kept, u32 column)
{
	const struct dp_trace_program *p = &kept->program;

	return column < p->nr_kept ? p->kept[column].name :
				     p->items[column - p->nr_kept].name;
}

static void widen(int *width, const char *text)
{
	int is = text ? (int)dp_screen_width(text) : 0;

	if (is > *width)
		*width = is;
}

static void put_columns(const struct printing *p, const int *width,
			const char *const *text)
{
	u32 i, all = columns(p->kept), numbers = p->kept->program.nr_kept;
	const char *is;

	for (i = 0; i < all; i++) {
		is = text[i] ?: "?";
		if (i < numbers)
			dp_output_print(p->out, "%s%*s", i ? "  " : "",
					width[i], is);
		else if (i + 1 < all)
			dp_output_print(p->out, "  %-*s", width[i], is);
		else
			dp_output_print(p->out, "  %s", is);
	}
	putc('\n', p->out);
}

static void put_table(const struct printing *p, struct cells *rows, size_t n)
{
	const char *title[COLUMNS] = { NULL };
	int width[COLUMNS] = { 0 };
	size_t k;
	u32 i;

	for (i = 0; i < columns(p->kept); i++) {
		title[i] = title_of(p->kept, i);
		widen(&width[i], title[i]);
		for (k = 0; k < n; k++)
			widen(&width[i], rows[k].text[i]);
	}
	put_columns(p, width, title);
	for (k = 0; k < n; k++)
		put_columns(p, width, (const char *const *)rows[k].text);
}

static void print_table(const struct printing *p, size_t n)
{
	struct cells *rows = calloc(n + 1, sizeof(*rows));
	size_t i;
	u32 k;

	for (i = 0; rows && i < n; i++)
		fill(p, &p->state->rows.v[i], &rows[i]);
	if (rows)
		put_table(p, rows, n);
	for (i = 0; rows && i < n; i++)
		for (k = 0; k < COLUMNS; k++)
			free(rows[i].text[k]);
	free(rows);
}

/* Paragraphs */

static void print_keys(const struct printing *p, const struct dp_kept_row *row)
{
	const struct dp_trace_program *program = &p->kept->program;
	u32 i, key = 0, n = 0;

	for (i = 0; i < program->nr_items; key += program->items[i++].words) {
		if (dp_kept_is_stack(&program->items[i]))
			continue;
		dp_output_print(p->out, "%s%s=", n++ ? ", " : "",
				program->items[i].name);
		show_key(p, p->out, &program->items[i], &row->key[key]);
	}
	for (i = 0; i < program->nr_kept; i++) {
		if (is_histogram(&program->kept[i]))
			continue;
		dp_output_print(p->out, "%s%s=", n++ ? "  " : "",
				program->kept[i].name);
		show_kept(p, p->out, &program->kept[i], row);
	}
	if (n)
		fputs("\n", p->out);
}

static void print_stacks(const struct printing *p,
			 const struct dp_kept_row *row)
{
	const struct dp_trace_program *program = &p->kept->program;
	u32 i, key = 0;

	for (i = 0; i < program->nr_items; key += program->items[i++].words)
		if (dp_kept_is_stack(&program->items[i]))
			dp_walked_print(p->out, &p->kept->walked,
					(u32)row->key[key]);
}

static void print_bars(const struct printing *p, const struct dp_kept_row *row)
{
	const struct dp_trace_program *program = &p->kept->program;
	const struct dp_aggregate_field *f;
	u32 i;

	for (i = 0; i < program->nr_kept; i++) {
		if (!is_histogram(&program->kept[i]))
			continue;
		f = field_of(p, &program->kept[i]);
		dp_output_print(p->out, "%s:\n", program->kept[i].name);
		dp_histogram_print(p->out, f, &row->words[f->at],
				   program->kept[i].time);
	}
}

static void print_paragraphs(const struct printing *p, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (i)
			putc('\n', p->out);
		print_keys(p, &p->state->rows.v[i]);
		print_stacks(p, &p->state->rows.v[i]);
		print_bars(p, &p->state->rows.v[i]);
	}
}

static size_t few(size_t n, u64 top)
{
	return top && top < n ? (size_t)top : n;
}

static u64 hits(const struct dp_kept_state *state, size_t from, size_t to)
{
	u64 sum = 0;

	for (; from < to; from++)
		sum += state->rows.v[from].words[0];
	return sum;
}

void dp_kept_print(FILE *out, const struct dp_kept *kept,
		   const struct dp_kept_state *state, size_t n, u64 top,
		   struct dp_modules *mods)
{
	struct printing p = { out,  kept,  state,
			      mods, false, dp_screen_columns(out) };
	size_t shown = few(n, top);

	dp_output_print(out, "%s\n", kept->spec->text);
	if (!n)
		dp_output_print(out, "no hits\n");
	else if (is_long(kept))
		print_paragraphs(&p, shown);
	else
		print_table(&p, shown);
	if (shown < n)
		dp_output_print(out, "and %zu keys more, with %lu hits\n",
				n - shown, hits(state, shown, n));
}

/* JSON */

static void json_frames(const struct printing *p, u32 place, const char *name)
{
	const struct dp_walked_stack *stack =
		dp_walked_get(&p->kept->walked, place);

	if (stack)
		dp_json_frames(p->out, name, stack->frames, stack->n,
			       stack->end);
}

static void json_row(const struct printing *p, const struct dp_kept_row *row,
		     const char *when)
{
	const struct dp_trace_program *program = &p->kept->program;
	u32 i, key = 0;

	dp_output_print(p->out, "{%s\"probe\":", when);
	dp_json_string(p->out, p->kept->spec->text);
	dp_output_print(p->out, ",\"hits\":%lu,\"by\":{", row->words[0]);
	for (i = 0; i < program->nr_items; i++) {
		if (i)
			putc(',', p->out);
		if (dp_kept_is_stack(&program->items[i])) {
			json_frames(p, (u32)row->key[key],
				    program->items[i].name);
		} else {
			dp_json_string(p->out, program->items[i].name);
			putc(':', p->out);
			show_key(p, p->out, &program->items[i], &row->key[key]);
		}
		key += program->items[i].words;
	}
	fputs("}", p->out);
	for (i = 0; i < program->nr_kept; i++) {
		const struct dp_trace_kept *k = &program->kept[i];

		putc(',', p->out);
		dp_json_string(p->out, k->name);
		putc(':', p->out);
		show_kept(p, p->out, k, row);
		if (k->op == DP_AGGREGATE_DISTINCT &&
		    p->state->missing[k->field])
			fputs(",\"at_least\":true", p->out);
	}
	fputs("}\n", p->out);
}

void dp_kept_json(FILE *out, const struct dp_kept *kept,
		  const struct dp_kept_state *state, size_t n, u64 top,
		  struct dp_modules *mods, const char *when)
{
	struct printing p = { out, kept, state, mods, true, false };
	size_t i;

	for (i = 0; i < few(n, top); i++)
		json_row(&p, &state->rows.v[i], when);
	if (!state->lost[DP_LOST_FULL] && !state->lost[DP_LOST_UNREADABLE] &&
	    !state->cut)
		return;
	dp_output_print(out, "{%s\"probe\":", when);
	dp_json_string(out, kept->spec->text);
	dp_output_print(
		out,
		",\"lost\":{\"full\":%lu,\"unreadable\":%lu,\"cut\":%lu}}\n",
		state->lost[DP_LOST_FULL], state->lost[DP_LOST_UNREADABLE],
		state->cut);
}

void dp_kept_lost(const struct dp_kept *kept, const struct dp_kept_state *state)
{
	const u64 *lost = state->lost;
	u32 i;

	if (lost[DP_LOST_FULL])
		dp_output_say(
			"%s: %lu hit%s not kept, because the table has no room for more than %u keys (--map-size N gives it more)",
			kept->spec->text, lost[DP_LOST_FULL],
			lost[DP_LOST_FULL] == 1 ? " is" : "s are",
			kept->table.most);
	if (lost[DP_LOST_UNREADABLE])
		dp_output_say(
			"%s: %lu hit%s not kept, because a key or a value is in memory that cannot be read",
			kept->spec->text, lost[DP_LOST_UNREADABLE],
			lost[DP_LOST_UNREADABLE] == 1 ? " is" : "s are");
	if (state->cut)
		dp_output_say(
			"%s: %lu hit%s not kept, because a signal's handler has left the probe for good (siglongjmp)",
			kept->spec->text, state->cut,
			state->cut == 1 ? " is" : "s are");
	for (i = 0; i < DP_AGGREGATE_FIELDS; i++)
		if (state->missing[i])
			dp_output_say(
				"%s: there are more distinct values than its table has room for (--map-size N gives it more); those beyond are not counted",
				kept->spec->text);
}
