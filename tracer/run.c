// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* run: run probe programs from files in one process. */
#include "tracer/session.h"
#include "lang/lang.h"
#include "sym/list.h"
#include "tracer/output.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "resolve/points.h"

#define FILE_MAX (16u << 20)

/**
 * struct file - a file and its program
 * @first: the first of its specs, which are its points', in order
 * @number: the program's number in the engine that took it last
 */
struct file {
	struct dp_lang_program *program;
	size_t first;
	u32 number;
};

struct run {
	const struct dp_tracer_options *opt;
	struct file *files;
	size_t nr_files;
	char **specs;
	size_t nr_specs, room;
	char **bad_line;
};

static int read_file(const char *path, char **text, size_t *len,
		     struct dp_diag *diag)
{
	FILE *f = fopen(path, "re");
	int err = f ? 0 : errno;

	/* Only as much of it as is read takes memory. */
	*text = malloc(FILE_MAX);
	*len = f && *text ? fread(*text, 1, FILE_MAX, f) : 0;
	if (!err)
		err = !*text	       ? ENOMEM :
		      *len == FILE_MAX ? EFBIG :
		      ferror(f)	       ? errno :
					 0;
	if (f)
		fclose(f);
	return err ? dp_diag_set(diag, -EIO, "cannot read %s: %s", path,
				 strerror(err)) :
		     0;
}

static int assemble(struct run *run, const char *path, struct file *file,
		    struct dp_diag *diag)
{
	char *text;
	size_t len;
	int err = read_file(path, &text, &len, diag);

	if (!err)
		err = dp_lang_assemble(path, text, len, 8, &file->program,
				       run->bad_line, diag);
	free(text);
	if (!err && file->program->modtype != DP_MODTYPE_USER)
		err = dp_lang_complain(
			file->program, file->program->name_at, -EOPNOTSUPP,
			run->bad_line, diag,
			"probes in the kernel and its modules are not there yet");
	return err;
}

/* [MODULE:]POINT as the rest of the tool reads it. */
static char *spec_of(const struct dp_lang_program *p,
		     const struct dp_lang_point *pt)
{
	char *text = NULL;
	int n;

	if (pt->symbol && (s64)pt->value < 0)
		n = asprintf(&text, "\"%s\":\"%s\"-0x%lx", p->name, pt->symbol,
			     0 - pt->value);
	else if (pt->symbol && pt->value)
		n = asprintf(&text, "\"%s\":\"%s\"+0x%lx", p->name, pt->symbol,
			     pt->value);
	else if (pt->symbol)
		n = asprintf(&text, "\"%s\":\"%s\"", p->name, pt->symbol);
	else
		n = asprintf(&text, "\"%s\":%s0x%lx", p->name,
			     pt->absolute ? "" : "+", pt->value);
	return n < 0 ? NULL : text;
}

static int add_specs(struct run *run, struct file *file, struct dp_diag *diag)
{
	const struct dp_lang_program *p = file->program;
	char *spec;
	size_t i;

	file->first = run->nr_specs;
	for (i = 0; i < p->nr_points; i++) {
		spec = spec_of(p, &p->points[i]);
		if (!spec || dp_list_add(&run->specs, &run->nr_specs,
					 &run->room, &spec, sizeof(spec))) {
			free(spec);
			return dp_diag_set(diag, -ENOMEM, "out of memory");
		}
	}
	return 0;
}

static int load(struct run *run, struct dp_diag *diag)
{
	int err = 0;

	run->files = calloc(run->opt->nr_specs + 1, sizeof(*run->files));
	if (!run->files)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	while (!err && run->nr_files < run->opt->nr_specs) {
		struct file *f = &run->files[run->nr_files];

		err = assemble(run, run->opt->specs[run->nr_files++], f, diag);
		if (!err)
			err = add_specs(run, f, diag);
	}
	return err;
}

/* The file, and its point, that a spec was made for. */
static struct file *file_of(const struct run *run, size_t spec,
			    const struct dp_lang_point **pt)
{
	size_t i = run->nr_files - 1;

	while (run->files[i].first > spec)
		i--;
	*pt = &run->files[i].program->points[spec - run->files[i].first];
	return &run->files[i];
}

/* Point a diagnostic about a spec at its line of the file. */
static int at_source(struct run *run, size_t spec, int err,
		     struct dp_diag *diag)
{
	const struct dp_lang_point *pt;
	struct file *f = file_of(run, spec, &pt);
	struct dp_diag words = *diag;

	return dp_lang_complain(f->program, pt->at, err, run->bad_line, diag,
				"%s", words.text);
}

static int take_program(struct dp_session *s, struct file *f,
			struct dp_diag *diag)
{
	const struct dp_lang_program *p = f->program;
	u32 *starts = calloc(p->nr_points, sizeof(*starts)), offset;
	struct dp_program_spec spec = {
		.name = p->name,
		.code = p->code,
		.code_len = p->code_len,
		.starts = starts,
		.nr_starts = (u32)p->nr_points,
		.nr_lv = p->vars,
		.nr_gv = p->gvars,
		.jmpmax = p->jmpmax,
		.logmax = p->logmax,
		.stack = p->stack,
	};
	const char *why = "out of memory";
	size_t i;
	int err = starts ? 0 : -ENOMEM;

	for (i = 0; !err && i < p->nr_points; i++)
		starts[i] = p->points[i].start;
	if (!err)
		err = s->ops->add_program(s->source, &spec, &f->number, &offset,
					  &why);
	free(starts);
	return err ? dp_diag_set(diag, err, "%s cannot be run: %s", p->file,
				 why) :
		     0;
}

static int check_opcode(struct dp_session *s, const struct file *f,
			const struct dp_lang_point *pt, size_t point,
			struct dp_diag *diag)
{
	const struct run *run = s->own;
	u8 byte = 0;

	if (pt->opcode < 0 || s->points.v[point].gone)
		return 0;
	if (s->ops->read(s->source, s->points.v[point].addr, &byte, 1) &&
	    byte == pt->opcode)
		return 0;
	return dp_lang_complain(
		f->program, pt->opcode_at, -EINVAL, run->bad_line, diag,
		"the opcode at %s is 0x%02x, not 0x%02x: the file was written for another version",
		s->points.v[point].name, byte, (u32)pt->opcode);
}

/* The number of @f's program, by points before @end; DP_NO_PROGRAM: the session's engine
 * has not taken it. */
static u32 number_in(const struct dp_session *s, const struct file *f,
		     size_t end)
{
	size_t i, spec;

	for (i = end; i-- > 0;) {
		spec = (size_t)(s->points.v[i].spec - s->specs);
		if (spec < f->first)
			break;
		if (spec < f->first + f->program->nr_points &&
		    s->points.v[i].program != DP_NO_PROGRAM)
			return s->points.v[i].program;
	}
	return DP_NO_PROGRAM;
}

static int bind(struct dp_session *s, size_t point, struct dp_diag *diag)
{
	struct run *run = s->own;
	size_t spec = (size_t)(s->points.v[point].spec - s->specs);
	const struct dp_lang_point *pt;
	struct file *f = file_of(run, spec, &pt);
	struct dp_binding b;
	int err = check_opcode(s, f, pt, point, diag);

	if (!err && number_in(s, f, point) == DP_NO_PROGRAM)
		err = take_program(s, f, diag);
	if (err)
		return err;
	b = (struct dp_binding){
		.program = f->number,
		.start = pt->start,
		.major = pt->major,
		.minor = pt->minor,
		.passcount = pt->passcount,
		.maxhits = pt->maxhits,
		.logonfault = pt->logonfault,
	};
	s->ops->bind(s->source, &s->points.v[point], &b);
	s->points.v[point].program = f->number;
	return 0;
}

static void record(struct dp_session *s, const struct dp_record_copy *r)
{
	const struct dp_point *p = dp_record_point(s, r->head.probe);
	struct dp_stamp stamp;

	dp_record_stamp(s, r, &stamp);
	if (s->opt->json)
		dp_items_json(s->opt->out, &stamp, p->name, r);
	else
		dp_items_text(s->opt->out, &stamp, p->name, r);
}

static void variable(const char *name, const char *space, u32 i, u64 value)
{
	dp_output_say("%s %s[%u] = 0x%lx (%ld)", name, space, i, value, value);
}

/* Variables go to stderr with the summary: they are no records. */
static void report(struct dp_session *s)
{
	const struct run *run = s->own;
	struct dp_source_totals all;
	size_t f;
	u32 i, n;

	fflush(s->opt->out);
	if (s->opt->quiet)
		return;
	for (f = 0; f < run->nr_files; f++) {
		n = number_in(s, &run->files[f], s->points.n);
		for (i = 0;
		     n != DP_NO_PROGRAM && i < run->files[f].program->vars; i++)
			variable(run->files[f].program->name, "lv", i,
				 s->ops->variable(s->source, n, i));
	}
	s->ops->totals(s->source, &all);
	for (i = 0; i < all.globals; i++)
		variable("global", "gv", i,
			 s->ops->variable(s->source, DP_NO_PROGRAM, i));
}

static const struct dp_session_kind kind = {
	.bind = bind,
	.record = record,
	.report = report,
};

static int run_session(struct run *run, int *died_of, struct dp_diag *diag)
{
	struct dp_tracer_options opt = *run->opt;
	const char *bad_spec = NULL;
	size_t i = 0;
	int err;

	opt.specs = (const char *const *)run->specs;
	opt.nr_specs = run->nr_specs;
	err = dp_session_do(&opt, &kind, run, &bad_spec, died_of, diag);
	while (bad_spec && i < run->nr_specs && run->specs[i] != bad_spec)
		i++;
	if (bad_spec && i < run->nr_specs)
		err = at_source(run, i, err, diag);
	return err;
}

int dp_tracer_run(const struct dp_tracer_options *opt, char **bad_line,
		  int *died_of, struct dp_diag *diag)
{
	struct run run = { .opt = opt, .bad_line = bad_line };
	size_t i;
	int err;

	*bad_line = NULL;
	err = load(&run, diag);
	if (!err)
		err = run_session(&run, died_of, diag);
	for (i = 0; i < run.nr_files; i++)
		dp_lang_free(run.files[i].program);
	for (i = 0; i < run.nr_specs; i++)
		free(run.specs[i]);
	free(run.files);
	free(run.specs);
	return err;
}
