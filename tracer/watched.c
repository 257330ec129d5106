// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* watched: lines of trace for watchpoints. */
#include "tracer/watched.h"
#include "sym/sym.h"
#include "tracer/output.h"
#include "tracer/session.h"
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

static void json_place(FILE *out, struct dp_modules *mods, const char *key,
		       u64 addr)
{
	char *text = NULL;
	size_t size;
	FILE *memory = open_memstream(&text, &size);

	if (memory) {
		put_place(memory, mods, addr);
		fclose(memory);
	}
	dp_output_print(out, ",\"%s\":", key);
	dp_json_string(out, text ? text : "");
	free(text);
}

static bool is_execution(const struct dp_point *p)
{
	return p->spec->access == DP_WATCH_EXECUTE;
}

static void text_values(FILE *out, struct dp_modules *mods,
			const struct dp_point *p, const struct dp_watched *w)
{
	if (w->known)
		dp_output_print(out, " new=0x%lx old=0x%lx", w->now, w->before);
	else if (!is_execution(p))
		dp_output_print(out, " new=<fault> old=<fault>");
	dp_output_print(out, " %s=", w->by ? "by" : "behind");
	put_place(out, mods, w->by ? w->by : w->pc);
}

static void json_values(FILE *out, struct dp_modules *mods,
			const struct dp_watched *w)
{
	fputs(",\"args\":{", out);
	if (w->known)
		dp_output_print(out, "\"new\":\"0x%lx\",\"old\":\"0x%lx\"",
				w->now, w->before);
	putc('}', out);
	if (w->by)
		json_place(out, mods, "by", w->by);
	else
		json_place(out, mods, "behind", w->pc);
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
		json_values(out, s->source->mods, &w);
		fputs("}\n", out);
		return;
	}
	dp_output_print(out, "%s %u %u %s %s", stamp.time, stamp.pid, stamp.tid,
			stamp.comm, p->name);
	text_values(out, s->source->mods, p, &w);
	putc('\n', out);
}
