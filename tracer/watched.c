// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* watched: lines of trace for watchpoints. */
#include "tracer/watched.h"
#include "lang/value.h"
#include "sym/sym.h"
#include "tracer/output.h"
#include "tracer/session.h"
#include "tracer/values/show.h"
#include <stdlib.h>
#include <string.h>

/* "main+0x1c", in another module "libc.so.6:memset+0x8", or "0x7f…" */
static void put_place(FILE *out, struct dp_modules *mods, u64 addr)
{
	struct dp_symbol sym;

	if (dp_symbol_at(mods, addr, &sym) || addr - sym.addr >= sym.size) {
		dp_output_print(out, "0x%lx", addr);
		return;
	}
	dp_output_print(out, "%s%s%s+0x%lx",
			sym.module->is_main ? "" : sym.module->base,
			sym.module->is_main ? "" : ":", sym.name,
			addr - sym.addr);
}

static void json_place(FILE *out, struct dp_modules *mods, u64 addr)
{
	char *text = NULL;
	size_t size;
	FILE *memory = open_memstream(&text, &size);

	if (memory) {
		put_place(memory, mods, addr);
		fclose(memory);
	}
	dp_json_string(out, text ? text : "");
	free(text);
}

/** struct shown - the value that one item of a spec shows; @type: of 64 bits */
struct shown {
	struct dp_value_type type;
	u64 value;
};

/* The type has as many bits as are watched, where it does not say how many. */
static struct shown value_of(const struct dp_values *values, u16 n,
			     const struct dp_point *p,
			     const struct dp_watched *w)
{
	const struct dp_value *v = &values->v[n], *of = v;
	struct shown shown = { .type = { .kind = DP_VALUE_HEX } };
	u32 unused;

	if (v->op != DP_VALUE_NAME) {
		shown.type = v->type;
		of = &values->v[v->left];
	}
	shown.value = dp_value_is(values, of, "new") ? w->now : w->before;
	unused = 64 - (shown.type.bits ? shown.type.bits : 8u * p->len);
	if (dp_value_has_sign(shown.type))
		shown.value = (u64)((s64)(shown.value << unused) >> unused);
	else
		shown.value = shown.value << unused >> unused;
	return shown;
}

static void put_value(FILE *out, struct dp_modules *mods,
		      const struct shown *shown, bool json)
{
	if (shown->type.kind != DP_VALUE_SYMBOL)
		dp_show_scalar(out, mods, shown->type, shown->value, json);
	else if (json)
		json_place(out, mods, shown->value);
	else
		put_place(out, mods, shown->value);
}

/* In JSON a name that occurs twice becomes "new" and "new_2". */
static void put_name(FILE *out, const struct dp_values *values, u32 i,
		     bool json)
{
	const struct dp_value_item *item = &values->items[i], *other;
	char text[DP_TRACE_NAME + 12];
	int nr = 1, n;

	for (other = values->items; other < item; other++)
		nr += other->span == item->span &&
		      !memcmp(values->text + other->at, values->text + item->at,
			      (size_t)item->span);
	n = snprintf(text, DP_TRACE_NAME, "%.*s", item->span,
		     values->text + item->at);
	if (json && nr > 1)
		snprintf(text + (n < DP_TRACE_NAME ? n : DP_TRACE_NAME - 1), 12,
			 "_%d", nr);
	if (json)
		dp_json_string(out, text);
	else
		dp_output_write(out, text, strlen(text));
	putc_unlocked(json ? ':' : '=', out);
}

/* Those that the spec wants: new and old if it does not say. It has been checked. */
static void put_values(struct dp_session *s, const struct dp_point *p,
		       const struct dp_watched *w)
{
	const char *text = p->spec->args ? p->spec->args : "new, old";
	bool json = s->opt->json;
	FILE *out = s->opt->out;
	struct dp_values values;
	struct shown shown;
	u32 i;

	if (dp_value_list(&values, text, 0, NULL))
		return;
	for (i = 0; i < values.nr_items; i++) {
		if (i || !json)
			putc_unlocked(json ? ',' : ' ', out);
		put_name(out, &values, i, json);
		shown = value_of(&values, values.items[i].value, p, w);
		if (w->known)
			put_value(out, s->source->mods, &shown, json);
		else
			dp_output_print(out, json ? "null" : "<fault>");
	}
}

static void text_values(struct dp_session *s, const struct dp_point *p,
			const struct dp_watched *w)
{
	if (p->spec->access != DP_WATCH_EXECUTE)
		put_values(s, p, w);
	dp_output_print(s->opt->out, " %s=", w->by ? "by" : "behind");
	put_place(s->opt->out, s->source->mods, w->by ? w->by : w->pc);
}

static void json_values(struct dp_session *s, const struct dp_point *p,
			const struct dp_watched *w)
{
	FILE *out = s->opt->out;

	fputs(",\"args\":{", out);
	if (p->spec->access != DP_WATCH_EXECUTE)
		put_values(s, p, w);
	dp_output_print(out, "},\"%s\":", w->by ? "by" : "behind");
	json_place(out, s->source->mods, w->by ? w->by : w->pc);
}

void dp_watched_print(struct dp_session *s, const struct dp_record_copy *r)
{
	const struct dp_point *p = dp_record_point(s, r->head.probe);
	FILE *out = s->opt->out;
	struct dp_watched w = { 0 };
	struct dp_stamp stamp;

	if (r->head.len == sizeof(w))
		memcpy(&w, r->data, sizeof(w));
	dp_record_stamp(s, r, &stamp);
	if (s->opt->json) {
		putc('{', out);
		dp_json_stamp(out, &stamp, p->name);
		json_values(s, p, &w);
		fputs("}\n", out);
		return;
	}
	dp_output_print(out, "%s %u %u %s %s", stamp.time, stamp.pid, stamp.tid,
			stamp.comm, p->name);
	text_values(s, p, &w);
	putc('\n', out);
}
