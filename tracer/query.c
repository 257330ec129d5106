// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* query: what a hold says of its programs: status bits, counts, code and variables. */
#include "tracer/held.h"
#include "tracer/order.h"
#include "tracer/output.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** struct row - a point of a spec, as it is told; @p: NULL: it has none; @place: then, of its file */
struct row {
	char place[256];
	const struct dp_lang_point *pt;
	const struct dp_point *p;
	const char *why;
	u32 status;
	struct dp_source_count count;
};

static const struct {
	u32 bit;
	const char *name;
} bits[] = {
	{ DP_HELD_COMPILED, "compiled" },
	{ DP_HELD_ACTIVE, "active" },
	{ DP_HELD_MISMATCH, "opcode-mismatch" },
	{ DP_HELD_DISABLED, "disabled" },
	{ DP_HELD_REMOVED, "removed" },
	{ DP_HELD_INVALID_OFFSET, "invalid-offset" },
	{ DP_HELD_NO_DEBUG_REGISTER, "no-debug-register" },
	{ DP_HELD_BAD_LENGTH, "bad-watch-length" },
	{ DP_HELD_NO_DEBUG_REGISTERS, "no-debug-registers" },
	{ DP_HELD_FAILED, "failed" },
	{ DP_HELD_EXCLUDED, "excluded" },
	{ DP_HELD_SUSPENDED, "suspended" },
};

static void print_bits(FILE *out, u32 status, const char *before,
		       const char *between)
{
	size_t i;

	for (i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		if (status & bits[i].bit) {
			dp_output_print(out, "%s%s%s", before, bits[i].name,
					before);
			status &= ~bits[i].bit;
			if (status)
				dp_output_print(out, "%s", between);
		}
}

/* What has become of a point that was armed */
static u32 live_status(const struct dp_lang_point *pt,
		       const struct dp_source_count *c)
{
	u32 status = DP_HELD_COMPILED;

	if (c->status & DP_PROBE_REMOVED)
		status |= DP_HELD_REMOVED;
	else if (pt->maxhits < DP_MAXHITS_DEFAULT && c->count >= pt->maxhits)
		status |= DP_HELD_DISABLED;
	else if (c->status & DP_PROBE_SUSPENDED)
		status |= DP_HELD_SUSPENDED;
	else
		status |= DP_HELD_ACTIVE;
	return status;
}

/* The spec without what protects odd names in it */
static void name_place(struct row *r, const char *spec)
{
	size_t n = 0;

	for (; *spec && n < sizeof(r->place) - 1; spec++)
		if (*spec != '"')
			r->place[n++] = *spec;
	r->place[n] = '\0';
}

static struct row row_of(const struct dp_session *s, size_t spec,
			 const struct dp_point *p)
{
	const struct dp_hold *h = s->own;
	struct row r = { .p = p, .why = "" };

	dp_run_file(&h->run, spec, &r.pt);
	name_place(&r, h->run.specs[spec]);
	r.status = h->points[spec].status;
	if (r.status || (p && p->refused)) {
		r.status |= r.status ? 0 : DP_HELD_FAILED;
		r.status |= DP_HELD_COMPILED;
		r.why = r.p && p->refused ? p->reason : h->points[spec].why;
		return r;
	}
	if (!p || p->gone) {
		r.status = DP_HELD_COMPILED;
		r.why = p ? "its library has been unloaded" :
			    "its library is not loaded";
		return r;
	}
	s->ops->count(s->source, p, &r.count);
	r.status = live_status(r.pt, &r.count);
	return r;
}

static const char *name_of(const struct row *r)
{
	return r->p ? r->p->name : r->place;
}

/* Counts of a process that runs are of different moments. Where a limit is, one count alone says it. */
static u64 executed(const struct row *r)
{
	const u64 *tally = r->count.tally;
	u64 not = tally[DP_TALLY_PASSED] + tally[DP_TALLY_DISABLED] +
		  r->count.missed;

	if (r->count.count < 0)
		return 0;
	if (r->pt->maxhits < DP_MAXHITS_DEFAULT)
		return (u64)r->count.count;
	return r->count.hits > not ? r->count.hits - not : 0;
}

static void text_row(FILE *out, const struct row *r)
{
	dp_output_print(out, "  %u,%u %s  0x%x ", r->pt->major, r->pt->minor,
			name_of(r), r->status);
	print_bits(out, r->status, "", ",");
	if (*r->why) {
		dp_output_print(out, "  %s\n", r->why);
		return;
	}
	dp_output_print(
		out,
		"  %lu hits, %lu run, %lu passed, %lu over maxhits, %lu missed  %s\n",
		r->count.hits, executed(r), r->count.tally[DP_TALLY_PASSED],
		r->count.tally[DP_TALLY_DISABLED], r->count.missed,
		r->count.mode);
}

static void json_row(FILE *out, const struct dp_session *s,
		     const struct dp_lang_program *p, const struct row *r)
{
	dp_output_print(out,
			"{\"pid\":%d,\"hold\":%d,\"name\":", s->source->pid,
			getpid());
	dp_json_string(out, p->name);
	dp_output_print(out,
			",\"major\":%u,\"minor\":%u,\"probe\":", r->pt->major,
			r->pt->minor);
	dp_json_string(out, name_of(r));
	dp_output_print(out, ",\"status\":%u,\"flags\":[", r->status);
	print_bits(out, r->status, "\"", ",");
	dp_output_print(
		out,
		"],\"hits\":%lu,\"run\":%lu,\"passed\":%lu,\"over\":%lu,\"missed\":%lu,\"mode\":\"%s\",\"why\":",
		r->count.hits, executed(r), r->count.tally[DP_TALLY_PASSED],
		r->count.tally[DP_TALLY_DISABLED], r->count.missed,
		r->count.mode ? r->count.mode : "");
	dp_json_string(out, r->why);
	fputs("}\n", out);
}

static void print_row(FILE *out, const struct dp_session *s, size_t spec,
		      const struct dp_point *p, bool json)
{
	const struct dp_hold *h = s->own;
	struct row r = row_of(s, spec, p);

	if (json)
		json_row(out, s, dp_run_file(&h->run, spec, &r.pt)->program,
			 &r);
	else
		text_row(out, &r);
}

/* A name may be that of several functions. */
static void print_spec(FILE *out, const struct dp_session *s, size_t spec,
		       bool json)
{
	const struct dp_hold *h = s->own;
	size_t i, n = 0;

	if (h->points[spec].retired)
		return;
	for (i = 0; i < s->points.n; i++)
		if (s->points.v[i].spec == &s->specs[spec] &&
		    !s->points.v[i].retired) {
			print_row(out, s, spec, &s->points.v[i], json);
			n++;
		}
	if (!n)
		print_row(out, s, spec, NULL, json);
}

/* Each line of a program stands behind more spaces. */
static void print_line(FILE *out, const char *line, size_t n)
{
	fputs("    ", out);
	if (n && *line == '\t')
		fputs("    ", out);
	dp_output_write(out, line + (n && *line == '\t'),
			n - (n && *line == '\t'));
	putc('\n', out);
}

static void print_code(FILE *out, const struct dp_lang_program *p)
{
	char *text = NULL, *line;
	size_t len = 0, n;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return;
	dp_lang_disassemble(p, f);
	if (!fclose(f))
		for (line = text; *line; line += n + (line[n] == '\n')) {
			n = strcspn(line, "\n");
			print_line(out, line, n);
		}
	free(text);
}

static void print_variables(FILE *out, const struct dp_session *s,
			    const struct file *f)
{
	struct dp_source_totals all;
	u64 value;
	u32 i;

	for (i = 0; i < f->program->vars; i++) {
		value = s->ops->variable(s->source, f->number, i);
		dp_output_print(out, "  lv[%u] = 0x%lx (%ld)\n", i, value,
				value);
	}
	s->ops->totals(s->source, &all);
	for (i = 0; i < all.globals; i++) {
		value = s->ops->variable(s->source, DP_NO_PROGRAM, i);
		dp_output_print(out, "  gv[%u] = 0x%lx (%ld)\n", i, value,
				value);
	}
}

static size_t last_of(const struct dp_hold *h, size_t file)
{
	return file + 1 < h->run.nr_files ? h->run.files[file + 1].first :
					    h->run.nr_specs;
}

static void print_head(FILE *out, const struct dp_session *s,
		       const struct file *f)
{
	const struct dp_hold *h = s->own;

	dp_output_print(
		out,
		"%s (%s) in %s, held by process %d; %u local variables; %lu records of all programs%s\n",
		f->program->name, f->program->file,
		dp_order_place(dp_order_target(s)).s, getpid(),
		f->program->vars, h->records,
		h->kept ? "" : ", which nobody keeps");
}

static void print_file(FILE *out, const struct dp_session *s, size_t file,
		       u32 how)
{
	const struct dp_hold *h = s->own;
	const struct file *f = &h->run.files[file];
	bool json = how & DP_HELD_JSON;
	size_t i;

	if (!json)
		print_head(out, s, f);
	for (i = f->first; i < last_of(h, file); i++)
		print_spec(out, s, i, json);
	if (json || !(how & DP_HELD_EXTENDED))
		return;
	print_variables(out, s, f);
	print_code(out, f->program);
}

static void print_values(FILE *out, const struct dp_session *s, u32 program,
			 u32 n, const char *name)
{
	u32 i;

	for (i = 0; i < n; i++)
		dp_output_print(out, "%u %lu %s\n", i,
				s->ops->variable(s->source, program, i), name);
}

void dp_held_variables(const struct dp_session *s, FILE *out)
{
	const struct dp_hold *h = s->own;
	struct dp_source_totals all;
	size_t i;

	s->ops->totals(s->source, &all);
	print_values(out, s, DP_NO_PROGRAM, all.globals, "");
	for (i = 0; i < h->run.nr_files; i++)
		if (!h->gone[i])
			print_values(out, s, h->run.files[i].number,
				     h->run.files[i].program->vars,
				     h->run.files[i].program->name);
}

size_t dp_held_query(const struct dp_session *s, const char *name, u32 how,
		     FILE *out)
{
	const struct dp_hold *h = s->own;
	size_t i, n = 0;

	for (i = 0; i < h->run.nr_files; i++)
		if (!h->gone[i] &&
		    (!*name ||
		     dp_held_named(h->run.files[i].program->name, name))) {
			print_file(out, s, i, how);
			n++;
		}
	return n;
}

/** struct zeros - @n variables have become 0; @err: not all have */
struct zeros {
	const struct dp_session *s;
	u32 first, last, n;
	int err;
};

static void zero(struct zeros *z, u32 program, u32 have)
{
	u32 end = z->last < have ? z->last + 1 : have;

	if (z->first >= end || z->err)
		return;
	z->err = z->s->ops->zero(z->s->source, program, z->first,
				 end - z->first);
	z->n += z->err ? 0 : end - z->first;
}

static void zero_all(struct zeros *z, const char *name, u32 how)
{
	const struct dp_hold *h = z->s->own;
	struct dp_source_totals all;
	size_t i;

	z->s->ops->totals(z->s->source, &all);
	if (how & DP_HELD_GLOBALS)
		zero(z, DP_NO_PROGRAM, all.globals);
	for (i = 0; i < h->run.nr_files && how & DP_HELD_LOCALS; i++)
		if (dp_hold_is(h, i, name))
			zero(z, h->run.files[i].number,
			     h->run.files[i].program->vars);
}

int dp_held_reset(const struct dp_session *s, const char *text, u32 how,
		  FILE *reply, struct dp_diag *diag)
{
	struct zeros z = { .s = s };
	char *name;

	if (!s->ops->zero)
		return dp_diag_set(diag, -EOPNOTSUPP,
				   "these variables are in the process");
	z.first = (u32)strtoul(text, &name, 10);
	z.last = (u32)strtoul(name, &name, 10);
	zero_all(&z, name + (*name == ' '), how);
	dp_output_print(reply, "%u", z.n);
	return z.err ? dp_diag_set(diag, z.err, "cannot reset variables: %s",
				   strerror(-z.err)) :
		       0;
}
