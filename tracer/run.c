// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* run: run probe programs from files in one process. */
#include "tracer/everywhere.h"
#include "tracer/facility.h"
#include "tracer/filter.h"
#include "tracer/program.h"
#include "tracer/run.h"
#include "tracer/session.h"
#include "tracer/system.h"
#include "lang/lang.h"
#include "sym/file.h"
#include "sym/list.h"
#include "sym/sym.h"
#include "tracer/output.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "resolve/points.h"
#include "engine/vm/ops.h"
#include "engine/vm/vm.h"

#define FILE_MAX (16u << 20)
/* So many of a file are shown whatever they are. */
#define VARIABLES_SHOWN 16

int dp_run_read(const char *path, char **text, size_t *len,
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

/* Where the tool has been built or installed with its headers, they are found without being named. */
static char *own_headers(void)
{
	char exe[PATH_MAX], *path = NULL;
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *slash;

	if (n <= 0)
		return NULL;
	exe[n] = '\0';
	slash = strrchr(exe, '/');
	if (!slash ||
	    asprintf(&path, "%.*s/../include", (int)(slash - exe), exe) < 0)
		return NULL;
	return path;
}

static int preprocess(struct run *run, const char *path, char **text,
		      size_t *len, struct dp_diag *diag)
{
	const struct dp_tracer_options *opt = run->opt;
	const char **all = calloc(opt->nr_includes + 1, sizeof(*all));
	char *own = own_headers();
	struct dp_lang_sources from = {
		.defines = opt->defines,
		.nr_defines = opt->nr_defines,
		.includes = all,
		.nr_includes = opt->nr_includes,
	};
	size_t i;
	int err;

	for (i = 0; all && i < opt->nr_includes; i++)
		all[i] = opt->includes[i];
	if (all && own)
		all[from.nr_includes++] = own;
	err = all ? dp_lang_preprocess(&from, path, text, len, diag) :
		    dp_diag_set(diag, -ENOMEM, "out of memory");
	free(own);
	free(all);
	return err;
}

int dp_run_text(struct run *run, const char *path, char **text, size_t *len,
		struct dp_diag *diag)
{
	int err = dp_run_read(path, text, len, diag);

	return err ?: preprocess(run, path, text, len, diag);
}

/* A spec takes that name for the kernel's. */
static bool is_mistaken(const struct dp_lang_program *p)
{
	return p->modtype == DP_MODTYPE_USER && !strcmp(p->name, "kernel");
}

static int check_world(const struct run *run, const struct dp_lang_program *p,
		       struct dp_diag *diag)
{
	const struct dp_source_place *at;
	struct dp_diag words = { .text = "" };
	int err;

	if (is_mistaken(p))
		return dp_lang_complain(
			p, p->name_at, -EINVAL, run->bad_line, diag,
			"a module of that name is given by its path; for the kernel write modtype = kernel");
	if (p->modtype == DP_MODTYPE_USER)
		return 0;
	err = dp_system_program(p, &at, &words);
	return err ? dp_lang_complain(p, *at, err, run->bad_line, diag, "%s",
				      words.text) :
		     0;
}

int dp_run_assemble(struct run *run, const char *path, const char *text,
		    size_t len, struct file *file, struct dp_diag *diag)
{
	int err = dp_lang_assemble(path, text, len, 8, &file->program,
				   run->bad_line, diag);

	if (!err && file->program->allow & ~run->opt->allow)
		err = dp_lang_complain(
			file->program, file->program->allow_at, -EPERM,
			run->bad_line, diag,
			"the program asks for more than --allow permits");
	return err ?: check_world(run, file->program, diag);
}

int dp_run_place(struct run *run, struct file *f, const char *symbols,
		 struct dp_diag *diag)
{
	return run->everybody && f->program->modtype == DP_MODTYPE_USER ?
		       dp_everywhere_place(f->program, symbols, run->bad_line,
					   diag) :
		       0;
}

static int assemble(struct run *run, const char *path, struct file *file,
		    struct dp_diag *diag)
{
	char *text = NULL;
	size_t len;
	int err = dp_run_text(run, path, &text, &len, diag);

	if (!err)
		err = dp_run_assemble(run, path, text, len, file, diag);
	free(text);
	return err;
}

/* w:[MODULE:]POINT[/LEN][:ACCESS] */
static char *watch_of(const struct dp_lang_program *p,
		      const struct dp_lang_point *pt)
{
	const char *access = pt->watch == DP_LANG_WATCH_ACCESS ? ":rw" : "";
	char len[8] = "", *text = NULL;
	int n;

	if (pt->len)
		snprintf(len, sizeof(len), "/%u", pt->len);
	if (pt->symbol)
		n = asprintf(&text, "w:\"%s\":\"%s\"+0x%lx%s%s", p->name,
			     pt->symbol, pt->value, len, access);
	else
		n = asprintf(&text, "w:\"%s\":0x%lx%s%s", p->name, pt->value,
			     len, access);
	return n < 0 ? NULL : text;
}

/* [MODULE:]POINT as the rest of the tool reads it. */
static char *spec_of(const struct dp_lang_program *p,
		     const struct dp_lang_point *pt)
{
	const char *kind = pt->retprobe ? "r:" : "";
	char *text = NULL;
	int n;

	/* For all processes, a probe at returns is one at instructions that return. */
	if (pt->nr_exits)
		return asprintf(&text, "\"%s\":+0x%lx", p->name,
				pt->exits->offset) < 0 ?
			       NULL :
			       text;
	if (p->modtype != DP_MODTYPE_USER)
		return dp_system_spec(p, pt);
	if (dp_lang_is_data(pt))
		return watch_of(p, pt);
	if (pt->usdt)
		n = asprintf(&text, "usdt:\"%s\":%s", p->name, pt->symbol);
	else if (pt->hook)
		n = asprintf(&text, "hook:\"%s\":\"%s\"", p->name, pt->symbol);
	else if (pt->line)
		n = asprintf(&text, "%s\"%s\":%s", kind, p->name, pt->symbol);
	else if (pt->symbol && (s64)pt->value < 0)
		n = asprintf(&text, "%s\"%s\":\"%s\"-0x%lx", kind, p->name,
			     pt->symbol, 0 - pt->value);
	else if (pt->symbol && pt->value)
		n = asprintf(&text, "%s\"%s\":\"%s\"+0x%lx", kind, p->name,
			     pt->symbol, pt->value);
	else if (pt->symbol)
		n = asprintf(&text, "%s\"%s\":\"%s\"", kind, p->name,
			     pt->symbol);
	else
		n = asprintf(&text, "%s\"%s\":%s0x%lx", kind, p->name,
			     pt->absolute ? "" : "+", pt->value);
	return n < 0 ? NULL : text;
}

int dp_run_add_specs(struct run *run, struct file *file, struct dp_diag *diag)
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

/* Without a process; a command is none where probes are in the kernel anyway. */
static bool is_everybodys(const struct run *run)
{
	size_t i;

	if (run->opt->pid)
		return false;
	for (i = 0; run->opt->argv && i < run->nr_files; i++)
		if (run->files[i].program->modtype != DP_MODTYPE_USER)
			return true;
	return !run->opt->argv;
}

static int load(struct run *run, struct dp_diag *diag)
{
	size_t i;
	int err = 0;

	run->files = calloc(run->opt->nr_specs + 1, sizeof(*run->files));
	if (!run->files)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	while (!err && run->nr_files < run->opt->nr_specs) {
		struct file *f = &run->files[run->nr_files];

		err = assemble(run, run->opt->specs[run->nr_files++], f, diag);
	}
	if (!err)
		run->everybody = is_everybodys(run);
	for (i = 0; i < run->nr_files && !err; i++) {
		err = dp_run_place(run, &run->files[i], "", diag);
		if (!err)
			err = dp_run_add_specs(run, &run->files[i], diag);
	}
	return err;
}

/* The file, and its point, that a spec was made for. */
struct file *dp_run_file(const struct run *run, size_t spec,
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
	struct file *f = dp_run_file(run, spec, &pt);
	struct dp_diag words = *diag;

	return dp_lang_complain(f->program, pt->at, err, run->bad_line, diag,
				"%s", words.text);
}

static u32 larger(u32 a, u32 b)
{
	return a > b ? a : b;
}

/* The largest heap of its probes */
static u32 heap_of(const struct dp_lang_program *p)
{
	u32 most = 0;
	size_t i;

	for (i = 0; p->heaps && i < p->nr_points; i++)
		most = larger(most, p->points[i].heap);
	return most;
}

static u32 traces_of(const struct dp_lang_program *p)
{
	return p->traces || p->autostacktrace ? p->ex_logmax : 0;
}

static bool wraps(const struct dp_lang_program *p)
{
	size_t i;

	for (i = 0; i < p->nr_points; i++)
		if (p->points[i].ex_mask & DP_EX_RPN_STACK_WRAP)
			return true;
	return false;
}

/* @starts: room for one of each probe; @code: for this process */
static int add_program(struct dp_session *s, struct file *f, u32 *starts,
		       const u8 *code, u32 len, const char **why)
{
	const struct dp_lang_program *p = f->program;
	const struct dp_program_spec spec = {
		.name = p->name,
		.code = code,
		.code_len = len,
		.starts = starts,
		.nr_starts = (u32)p->nr_points,
		.nr_lv = p->vars,
		.nr_gv = p->gvars,
		.jmpmax = p->jmpmax,
		.logmax = p->logmax,
		.tracemax = traces_of(p),
		.heapmax = heap_of(p),
		.stack = p->stack,
		.allow = p->allow,
		.auto_trace = p->autostacktrace,
		.wraps = wraps(p),
		.shares = f->shares,
		.room_lv = f->room_lv,
	};
	u32 offset;
	size_t i;

	for (i = 0; i < p->nr_points; i++)
		starts[i] = p->points[i].start;
	return s->ops->add_program(s->source, &spec, &f->number, &offset, why);
}

static int take_program(struct dp_session *s, struct file *f, size_t point,
			struct dp_diag *diag)
{
	const struct dp_lang_program *p = f->program;
	const struct run *run = s->own;
	const char *why = "out of memory";
	u8 *code;
	u32 len, *starts;
	int err = dp_program_code(s, p, f->first, point, run->bad_line, &code,
				  &len, diag);

	if (err)
		return err;
	starts = calloc(p->nr_points, sizeof(*starts));
	err = starts ? add_program(s, f, starts, code, len, &why) : -ENOMEM;
	free(starts);
	free(code);
	return err ? dp_diag_set(diag, err, "%s cannot be run: %s", p->file,
				 why) :
		     0;
}

bool dp_run_same_build(const struct dp_modules *mods,
		       const struct dp_lang_program *program,
		       const struct dp_point *p)
{
	const struct dp_module *m =
		program->build_len ? dp_module_at(mods, p->addr) : NULL;
	u8 id[DP_SYMFILE_ID];
	size_t n;

	if (!m)
		return true;
	n = dp_module_id(mods, m, id);
	return n == program->build_len && !memcmp(id, program->build, n);
}

static int check_build(struct dp_session *s, const struct file *f, size_t point,
		       struct dp_diag *diag)
{
	const struct dp_point *p = &s->points.v[point];
	const struct run *run = s->own;

	if (p->gone || dp_run_same_build(s->source->mods, f->program, p))
		return 0;
	return dp_lang_complain(
		f->program, f->program->build_at, -EINVAL, run->bad_line, diag,
		"%s is of another build than the file was written for",
		p->name);
}

/* Where the process has functions for programs, they may come and go. */
static int check_calls(struct dp_session *s, const struct file *f,
		       struct dp_diag *diag)
{
	const struct run *run = s->own;

	if (!f->program->calls || s->ops->functions)
		return 0;
	return dp_lang_complain(
		f->program, f->program->calls_at, -EOPNOTSUPP, run->bad_line,
		diag,
		"process %d does not probe itself, so it has no functions for programs: dp_external_register(3); write exit N, which runs a command, or push mem",
		s->source->pid);
}

static bool read_opcode(const struct dp_session *s, const struct dp_point *p,
			u8 *byte)
{
	if (s->ops->opcode)
		return s->ops->opcode(s->source, p, byte);
	return dp_modules_read(s->source->mods, p->addr, byte, 1) == 1;
}

static int check_opcode(struct dp_session *s, const struct file *f,
			const struct dp_lang_point *pt, size_t point,
			struct dp_diag *diag)
{
	const struct run *run = s->own;
	u8 byte = 0;

	/* Of what is at exits, the entry has been looked at in the file. */
	if (pt->opcode < 0 || s->points.v[point].gone || pt->nr_exits)
		return 0;
	/* Where another probe is armed, the byte below it counts. */
	if (read_opcode(s, &s->points.v[point], &byte) && byte == pt->opcode)
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

bool dp_run_wants(const struct dp_session *s, size_t spec, struct dp_diag *diag)
{
	const struct dp_lang_point *pt;
	const struct dp_lang_program *p =
		dp_run_file(s->own, spec, &pt)->program;
	struct dp_diag words = { .text = "" };

	if (dp_filter_wants(&p->filter, s->source->pid, &words))
		return true;
	dp_diag_set(diag, -ESRCH, "%s is not for this process: %s", p->file,
		    words.text);
	return false;
}

void dp_run_rooms(const struct dp_session *s, struct dp_source_request *want)
{
	const struct run *run = s->own;
	size_t i;

	want->holds = true;
	for (i = 0; i < run->nr_files; i++) {
		const struct dp_lang_program *p = run->files[i].program;

		want->longest = larger(want->longest, p->logmax);
		want->traces = larger(want->traces, traces_of(p));
		want->heap = larger(want->heap, heap_of(p));
	}
}

int dp_run_bind(struct dp_session *s, size_t point, struct dp_diag *diag)
{
	struct run *run = s->own;
	size_t spec = (size_t)(s->points.v[point].spec - s->specs);
	const struct dp_lang_point *pt;
	struct file *f = dp_run_file(run, spec, &pt);
	struct dp_binding b;
	bool everywhere = run->everybody &&
			  f->program->modtype == DP_MODTYPE_USER;
	int err = check_build(s, f, point, diag)  ?:
			  check_calls(s, f, diag) ?:
			  check_opcode(s, f, pt, point, diag);

	if (!err && everywhere)
		err = dp_everywhere_check(s, f->program, pt,
					  &s->points.v[point], run->bad_line,
					  diag);

	if (!err && number_in(s, f, point) == DP_NO_PROGRAM)
		err = take_program(s, f, point, diag);
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
		.heap = f->program->heaps ? pt->heap : 0,
		.ex_mask = pt->ex_mask,
	};
	if (pt->retprobe && !pt->nr_exits) {
		b.start = DP_NO_START;
		b.leaves = pt->start + 1;
		b.judged = b.tells = true;
	}
	s->ops->bind(s->source, &s->points.v[point], &b);
	s->points.v[point].program = f->number;
	if (pt->nr_exits)
		err = dp_everywhere_exits(s, f->program, pt,
					  &s->points.v[point], run->bad_line,
					  diag);
	return !err && everywhere ?
		       dp_everywhere_name(f->program, pt, &s->points.v[point]) :
		       err;
}

/* The record of a return has how the call ended in front, and how the program ended behind.
 * Return: false if it makes no sense. */
static bool take_return(struct dp_record_copy *r)
{
	struct dp_leaving leaving;
	struct dp_program_ending ending;

	if (r->head.len < sizeof(leaving) + sizeof(ending) ||
	    r->head.len > sizeof(r->data))
		return false;
	r->head.len -= (u32)(sizeof(leaving) + sizeof(ending));
	memmove(r->data, r->data + sizeof(leaving),
		r->head.len + sizeof(ending));
	memcpy(&ending, r->data + r->head.len, sizeof(ending));
	r->head.major = ending.major;
	r->head.minor = ending.minor;
	r->head.exception = ending.exception;
	r->head.facility = ending.facility;
	r->head.flags = ending.flags;
	r->head.traces = ending.traces;
	memcpy(r->head.parm, ending.parm, sizeof(ending.parm));
	return ending.traces <= r->head.len;
}

static void take(struct dp_session *s, const struct dp_record_copy *r)
{
	const struct run *run = s->own;
	const struct dp_point *p = dp_record_point(s, r->head.probe);
	const struct dp_lang_point *pt;
	struct file *f = dp_run_file(run, (size_t)(p->spec - s->specs), &pt);

	dp_facilities_take(run->facilities, s, r, f->program->id);
}

void dp_run_record(struct dp_session *s, const struct dp_record_copy *r)
{
	struct dp_record_copy *copy;

	if (dp_record_point(s, r->head.probe)->spec->kind != DP_SPEC_RETURN) {
		take(s, r);
		return;
	}
	copy = malloc(sizeof(*copy));
	if (!copy) {
		s->dropped++;
		return;
	}
	memcpy(copy, r, offsetof(struct dp_record_copy, data) + r->head.len);
	if (take_return(copy))
		take(s, copy);
	else
		s->torn++;
	free(copy);
}

/* Of a table, what is in it */
static void variables(struct dp_session *s, u32 program, const char *name,
		      const char *space, u32 n)
{
	u32 i, zeros = 0;
	u64 value;

	for (i = 0; i < n; i++) {
		value = s->ops->variable(s->source, program, i);
		if (value || n <= VARIABLES_SHOWN)
			dp_output_say("%s %s[%u] = 0x%lx (%ld)", name, space, i,
				      value, value);
		else
			zeros++;
	}
	if (zeros)
		dp_output_say("%s %s: %u others are 0", name, space, zeros);
}

/* Variables go to stderr with the summary: they are no records. */
static void report(struct dp_session *s)
{
	const struct run *run = s->own;
	struct dp_source_totals all;
	size_t f;
	u32 n;

	fflush(s->opt->out);
	if (s->opt->quiet)
		return;
	for (f = 0; f < run->nr_files; f++) {
		n = number_in(s, &run->files[f], s->points.n);
		if (n != DP_NO_PROGRAM)
			variables(s, n, run->files[f].program->name, "lv",
				  run->files[f].program->vars);
	}
	s->ops->totals(s->source, &all);
	variables(s, DP_NO_PROGRAM, "global", "gv", all.globals);
}

static const struct dp_session_kind kind = {
	.programs = true,
	.system = true,
	.wants = dp_run_wants,
	.rooms = dp_run_rooms,
	.bind = dp_run_bind,
	.record = dp_run_record,
	.report = report,
	.left = dp_facilities_left,
};

int dp_run_session(struct run *run, const struct dp_session_kind *as,
		   int *died_of, struct dp_diag *diag)
{
	struct dp_tracer_options opt = *run->opt;
	const char *bad_spec = NULL;
	size_t i = 0;
	int err;

	opt.specs = (const char *const *)run->specs;
	opt.nr_specs = run->nr_specs;
	opt.everybody = run->everybody;
	err = dp_session_do(&opt, as, run, &bad_spec, died_of, diag);
	while (bad_spec && i < run->nr_specs && run->specs[i] != bad_spec)
		i++;
	if (bad_spec && i < run->nr_specs)
		err = at_source(run, i, err, diag);
	return err;
}

const char *dp_tracer_allow(const char *list, u32 *allow)
{
	static const struct {
		const char *word;
		u32 bits;
	} words[] = { { "none", 0 },
		      { "write", DP_ALLOW_WRITE },
		      { "reg", DP_ALLOW_REG },
		      { "io", DP_ALLOW_IO },
		      { "call", DP_ALLOW_CALL } };
	size_t i, len;

	for (*allow = 0;; list += len + 1) {
		len = strcspn(list, ",");
		for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			if (strlen(words[i].word) == len &&
			    !strncmp(words[i].word, list, len))
				break;
		if (i == sizeof(words) / sizeof(words[0]))
			return list;
		*allow |= words[i].bits;
		if (!list[len])
			return NULL;
	}
}

void dp_run_free(struct run *run)
{
	size_t i;

	dp_facilities_close(run->facilities);
	for (i = 0; i < run->nr_files; i++)
		dp_lang_free(run->files[i].program);
	for (i = 0; i < run->nr_specs; i++)
		free(run->specs[i]);
	free(run->files);
	free(run->specs);
}

int dp_tracer_run(const struct dp_tracer_options *opt, char **bad_line,
		  int *died_of, struct dp_diag *diag)
{
	struct run run = { .opt = opt, .bad_line = bad_line };
	int err;

	*bad_line = NULL;
	err = load(&run, diag);
	if (!err)
		err = dp_facilities_open(opt, &run.facilities, diag);
	if (!err)
		err = dp_run_session(&run, &kind, died_of, diag);
	dp_run_free(&run);
	return err;
}
