// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* session: open and close the specs, the source and the points of a run. */
#include "tracer/kept.h"
#include "tracer/inlined.h"
#include "tracer/interval.h"
#include "tracer/names.h"
#include "tracer/session.h"
#include "tracer/system.h"
#include "tracer/debuginfo.h"
#include "tracer/expr.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "proc/host.h"
#include "resolve/points.h"
#include "sym/demangle.h"
#include "engine/vm/ops.h"
#include "engine/vm/vm.h"
#include "sym/failure.h"
#include "sym/sym.h"
#include "sym/variable.h"

/* For how long a process may execute one program after another. */
#define EXECS_SECONDS 5

/* Do all specs of the session name watchpoints? Then these are its source. Programs run in the
 * agent, whatever calls them, and the kernel's watchpoints are dprobes.ko's. */
static bool watches(const struct dp_session *s)
{
	return !s->kind->programs && s->nr_specs &&
	       s->specs[0].kind == DP_SPEC_WATCH && !dp_system_is(&s->specs[0]);
}

static int refuse_spec(const struct dp_spec *spec, const char *why,
		       struct dp_diag *diag)
{
	dp_diag_set(diag, -EOPNOTSUPP, "%s", why);
	dp_diag_caret(diag, spec->point_col,
		      (int)strcspn(spec->text + spec->point_col, " ({"));
	return -EOPNOTSUPP;
}

/* Kernels make records of what is on a stack by frame pointers, which most programs do not have. */
static bool wants_stacks(const struct dp_session *s, const struct dp_spec *spec)
{
	return s->kind->walks || s->opt->stack ||
	       (spec->aggs && strstr(spec->aggs, "stack"));
}

/* Do the specs so far go with one source? */
static int check_watch(const struct dp_session *s, const struct dp_spec *spec,
		       struct dp_diag *diag)
{
	bool data = spec->kind == DP_SPEC_WATCH;

	if (dp_system_is(spec))
		return 0;
	if (!s->kind->programs && watches(s) != data)
		return refuse_spec(
			spec,
			"watchpoints and other probes take a command each: start a second dprobes for this one",
			diag);
	if (data && s->opt->children)
		return refuse_spec(
			spec,
			"-f is not for watchpoints: a child has memory of its own; watch it by its process id (-p)",
			diag);
	if (data && !s->kind->programs && wants_stacks(s, spec))
		return refuse_spec(
			spec,
			"a watchpoint's hits have no stacks: dprobes trace shows which instruction writes (by=FUNCTION+OFFSET), and a probe there has them",
			diag);
	return 0;
}

static bool data_keeps(const struct dp_spec *spec)
{
	return spec->kind == DP_SPEC_WATCH && spec->aggs;
}

static int refuse_braces(const struct dp_spec *spec, struct dp_diag *diag)
{
	dp_diag_set(
		diag, -EOPNOTSUPP,
		"a watchpoint's hits are counted by the kernel, and nothing else is kept of them: dprobes trace shows their values");
	dp_diag_caret(diag, spec->aggs_col, (int)strlen(spec->aggs) + 2);
	return -EOPNOTSUPP;
}

/* Braces of the verb's own */
static int keep(struct dp_spec *spec, const char *aggs, struct dp_diag *diag)
{
	if (spec->aggs) {
		dp_diag_set(
			diag, -EINVAL,
			"stacks counts by stack; what is in braces is kept by dprobes stat, and {sum(v) by stack}, too");
		dp_diag_caret(diag, spec->aggs_col,
			      (int)strlen(spec->aggs) + 2);
		return -EINVAL;
	}
	spec->aggs = strdup(aggs);
	return spec->aggs ? 0 : dp_diag_set(diag, -ENOMEM, "out of memory");
}

/* What a spec refers to besides its point */
static int check_spec(struct dp_session *s, struct dp_spec *spec,
		      struct dp_diag *diag)
{
	int err = dp_spec_supported(spec, diag)	     ?:
			  check_watch(s, spec, diag) ?:
			  dp_system_check(s, spec, diag);

	if (!err && data_keeps(spec))
		err = refuse_braces(spec, diag);
	if (err || (spec->kind == DP_SPEC_WATCH &&
		    (!spec->args || s->kind->arguments)))
		return err;
	if (s->kind->inlines)
		err = dp_inlined_ask(spec, s->opt, diag);
	return err ?: dp_names_check(s, spec, diag);
}

static int parse_spec(struct dp_session *s, const char *text,
		      const char **bad_spec, struct dp_diag *diag)
{
	struct dp_spec *spec = &s->specs[s->nr_specs];
	int err = dp_spec_parse(text, spec, diag);

	if (!err) {
		s->nr_specs++;
		if (s->kind->keep)
			err = keep(spec, s->kind->keep, diag);
		spec->records = s->kind->record != NULL;
		spec->counted = s->kind->counts && !spec->cond && !spec->aggs;
		err = err ?: check_spec(s, spec, diag);
	}
	if (err && err != -ENOMEM)
		*bad_spec = text;
	return err;
}

int dp_session_parse(struct dp_session *s, const struct dp_tracer_options *opt,
		     const struct dp_session_kind *kind, const char **bad_spec,
		     struct dp_diag *diag)
{
	size_t i;
	int err = 0;

	memset(s, 0, sizeof(*s));
	s->opt = opt;
	s->kind = kind;
	dp_debuginfo_begin(opt);
	s->specs = calloc(opt->nr_specs + kind->spare + 1, sizeof(*s->specs));
	s->pending =
		calloc(opt->nr_specs + kind->spare + 1, sizeof(*s->pending));
	if (!s->specs || !s->pending)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	for (i = 0; i < opt->nr_specs && !err; i++)
		err = parse_spec(s, opt->specs[i], bad_spec, diag);
	return err;
}

int dp_session_note(struct dp_session *s, struct dp_spec *spec, size_t first,
		    struct dp_diag *diag)
{
	if (!dp_inlined_found(spec, &s->points, first))
		return 0;
	return dp_inlined_check(spec, diag) ?: dp_names_check(s, spec, diag);
}

/* A program is the same for all processes, but for where errno is. */
static void fill_errno(const struct dp_session *s, u8 *code, u32 at)
{
	u64 word;
	s64 offset;

	if (!dp_failure_errno(s->source->mods, &word, &offset))
		return;
	memcpy(code + at, word ? &word : (u64 *)&offset, sizeof(word));
	/* The jump and the handler before the load have an operand of eight bytes each. */
	if (!word)
		code[at + 8 + 2 * 9] = DP_OPCODE_NOP;
}

/* Data lies outside of a module's text: the module is the one that its program names. */
static const struct dp_module *module_of(const struct dp_session *s,
					 const struct dp_point *p)
{
	const struct dp_module **list, *m = NULL;
	struct dp_diag unused = { .text = "" };
	size_t n;

	if (p->spec->kind != DP_SPEC_WATCH)
		return dp_module_at(s->source->mods, p->addr);
	if (dp_modules_match(s->source->mods, p->spec->module, &list, &n,
			     &unused))
		return NULL;
	if (n == 1)
		m = list[0];
	free(list);
	return m;
}

/* Of the module of a point. A library that goes and comes again has its variables elsewhere. */
int dp_session_symbol(struct dp_session *s, size_t point, const char *words,
		      const char *name, u64 *addr, struct dp_diag *diag)
{
	struct dp_modules *mods = s->source->mods;
	const struct dp_module *m;
	int err;

	if (s->ops->symbol)
		return s->ops->symbol(s->source, name, addr, diag);
	m = module_of(s, &s->points.v[point]);
	if (m && !m->is_main && !dp_module_stays(mods, m))
		return dp_diag_set(
			diag, -EOPNOTSUPP,
			"%s%s: %s may be unloaded; variables of such libraries are not there yet",
			words, name, m->base);
	err = m ? dp_variable_find(mods, m, name, addr) : -ENOENT;
	if (!err)
		return 0;
	return dp_diag_set(diag, -EINVAL, "%s%s: %s %s", words, name,
			   m ? m->base : "the module",
			   err == -EINVAL ?
				   "and others have several of that name" :
				   "has no symbol of that name");
}

static int fill_symbols(struct dp_session *s, size_t point, u8 *code,
			const struct dp_trace_program *of, struct dp_diag *diag)
{
	u64 addr, number;
	u32 i;
	int err;

	for (i = 0; i < of->nr_symbols; i++) {
		const struct dp_trace_symbol *v = &of->symbols[i];

		err = dp_session_symbol(s, point, "@", v->name, &addr, diag);
		if (err)
			return err;
		memcpy(&number, code + v->at, sizeof(number));
		number += addr;
		memcpy(code + v->at, &number, sizeof(number));
	}
	return 0;
}

/* What a program needs to know of this process, and of this machine */
static int add_program(struct dp_session *s, size_t point,
		       const struct dp_program_spec *spec,
		       const struct dp_trace_program *of, u32 *program,
		       struct dp_diag *diag)
{
	struct dp_program_spec filled = *spec;
	u8 *code = malloc(spec->code_len + 1);
	u64 rate = of->nr_rates ? dp_rate_ask(s) : 0;
	u32 i, offset;
	const char *why;
	int err;

	if (!code)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	memcpy(code, spec->code, spec->code_len);
	if (of->errno_at)
		fill_errno(s, code, of->errno_at);
	for (i = 0; i < of->nr_rates; i++)
		memcpy(code + of->rate_at[i], &rate, sizeof(rate));
	for (i = 0; i < of->nr_keeps; i++)
		code[of->keep_at[i]] = (u8)dp_kept_number(
			s, (size_t)(s->points.v[point].spec - s->specs));
	filled.code = code;
	err = fill_symbols(s, point, code, of, diag);
	if (!err) {
		err = s->ops->add_program(s->source, &filled, program, &offset,
					  &why);
		/* Only of what is wrong in it is there a place. */
		if (err == -EINVAL)
			dp_diag_set(diag, err,
				    "%s: %s at byte %u of its program",
				    s->points.v[point].name, why, offset);
		else if (err)
			dp_diag_set(diag, err, "%s: %s",
				    s->points.v[point].name, why);
	}
	free(code);
	return err;
}

int dp_session_bind(struct dp_session *s, size_t point,
		    const struct dp_trace_program *program, u32 nr_lv,
		    struct dp_diag *diag)
{
	u32 starts[2] = { 0, program->leaves - 1 };
	const struct dp_program_spec spec = {
		.name = s->points.v[point].module,
		.code = program->code,
		.code_len = program->len,
		.starts = starts,
		.nr_starts = program->leaves ? 2 : 1,
		.nr_lv = nr_lv,
		.jmpmax = program->jumps,
		.logmax = program->logmax,
		.allow = program->allow,
		.stack = program->nr_kept ? DP_VM_STACK : DP_EXPR_STACK,
	};
	/* A line is shown for every hit, even if the program faults. */
	struct dp_binding binding = { .start = program->enters ? 0 :
								 DP_NO_START,
				      .leaves = program->leaves,
				      .judged = program->judged,
				      .maxhits = 0xffffffff,
				      .ex_mask = DP_EX_MASK,
				      .logonfault = true };
	int err = add_program(s, point, &spec, program, &binding.program, diag);

	if (err)
		return err;
	s->ops->bind(s->source, &s->points.v[point], &binding);
	s->points.v[point].program = binding.program;
	return 0;
}

/* Can a library that comes later be heard of? For a hold that is decided before its first probe is
 * armed. */
static bool may_hear(const struct dp_session *s)
{
	return !s->kind->order || s->began == 0 || s->source->watches;
}

/* Find the points of a spec. @passed: counts those that do not mean this process */
static int resolve_spec(struct dp_session *s, size_t i, struct dp_modules *mods,
			size_t *passed, struct dp_diag *unwanted,
			struct dp_diag *diag)
{
	size_t first = s->points.n;
	int err;

	if (s->kind->wants && !s->kind->wants(s, i, unwanted)) {
		++*passed;
		return 0;
	}
	err = s->ops->resolve(s->source, mods, &s->specs[i], &s->points, diag);
	s->specs[i].found |= !err;
	/* With -f, a program that the process executes may have it. */
	if (err == -ENOENT && mods && may_hear(s) &&
	    (dp_pending_take(s, i, diag) || s->opt->children))
		err = 0;
	if (!err)
		err = dp_session_note(s, &s->specs[i], first, diag);
	if (!err && s->specs[i].asks)
		err = dp_names_ask(s, mods, &s->specs[i], first, diag);
	if (s->kind->settle)
		err = s->kind->settle(s, i, first, err, diag);
	return err;
}

int dp_session_resolve(struct dp_session *s, const char **bad_spec,
		       struct dp_diag *diag)
{
	struct dp_diag unwanted = { .text = "" };
	size_t i, passed = 0;
	int err = s->ops->modules(s->source, &s->source->mods, diag);

	/* One child reads the names of all specs. */
	dp_demangle_begin();
	for (i = 0; i < s->nr_specs && !err; i++) {
		err = resolve_spec(s, i, s->source->mods, &passed, &unwanted,
				   diag);
		if (err && err != -ENOMEM)
			*bad_spec = s->opt->specs[i];
		else
			dp_diag_clear(diag);
	}
	dp_demangle_end();
	if (!err && passed == s->nr_specs && !s->opt->children)
		err = dp_diag_set(diag, -ESRCH, "%s", unwanted.text);
	return err;
}

/* Where nothing has come of them, they have never been. */
static void forget_specs(struct dp_session *s, size_t specs, size_t points)
{
	while (s->nr_specs > specs) {
		s->pending[--s->nr_specs] = false;
		dp_spec_free(&s->specs[s->nr_specs]);
	}
	dp_points_cut(&s->points, points);
}

int dp_session_add_specs(struct dp_session *s, const char *const *texts,
			 size_t n, struct dp_modules *mods,
			 struct dp_diag *diag)
{
	struct dp_diag unwanted = { .text = "" };
	size_t specs = s->nr_specs, points = s->points.n, i, passed = 0;
	const char *bad_spec;
	int err = 0;

	for (i = 0; i < n && !err; i++)
		err = parse_spec(s, texts[i], &bad_spec, diag);
	dp_demangle_begin();
	for (i = specs; i < s->nr_specs && !err; i++)
		err = resolve_spec(s, i, mods, &passed, &unwanted, diag);
	dp_demangle_end();
	if (!err && passed == n)
		err = dp_diag_set(diag, -ESRCH, "%s", unwanted.text);
	if (err)
		forget_specs(s, specs, points);
	return err;
}

void dp_session_drop_specs(struct dp_session *s, size_t n)
{
	size_t i = s->points.n;

	while (i && (size_t)(s->points.v[i - 1].spec - s->specs) >= n)
		i--;
	forget_specs(s, n, i);
}

/* Programs and records need the clock. */
static bool needs_clock(const struct dp_session *s)
{
	bool needed = s->kind->record != NULL;
	size_t i;

	for (i = 0; i < s->nr_specs; i++)
		needed |= s->specs[i].cond || s->specs[i].aggs;
	return needed;
}

static int open_source(struct dp_session *s, const struct dp_source_ops *ops,
		       struct dp_diag *diag)
{
	s->ops = ops;
	return ops->open(s->opt, needs_clock(s), &s->source, diag);
}

static const struct dp_source_ops *source_of(const struct dp_session *s)
{
	if (s->opt->everybody || (s->nr_specs && dp_system_is(&s->specs[0])))
		return &dp_system_source;
	return watches(s) ? &dp_watch_source : &dp_agent_source;
}

static int open_once(struct dp_session *s, const char **bad_spec,
		     struct dp_diag *diag)
{
	int err = open_source(s, source_of(s), diag);

	if (err == -EBUSY && s->ops == &dp_agent_source &&
	    dp_host_find(s->opt->pid, NULL) > 0) {
		s->ops->close(s->source);
		s->source = NULL;
		err = open_source(s, &dp_host_source, diag);
	}

	if (!err)
		err = dp_session_resolve(s, bad_spec, diag);
	if (err && s->source)
		s->ops->kill(s->source);
	return err;
}

/* Does the process run another program than the one whose points were found? */
static bool is_outdated(const struct dp_session *s, int err)
{
	return s->opt->pid && s->source && s->ops->outdated(s->source, err);
}

static void forget(struct dp_session *s)
{
	size_t i;

	s->ops->close(s->source);
	s->source = NULL;
	dp_points_free(&s->points);
	for (i = 0; i < s->nr_specs; i++)
		s->specs[i].found = s->pending[i] = false;
	free(s->tables);
	s->tables = NULL;
	s->nr_coming = 0;
}

int dp_session_open(struct dp_session *s, const char **bad_spec,
		    struct dp_diag *diag)
{
	double deadline = dp_source_now() + EXECS_SECONDS;
	int err = open_once(s, bad_spec, diag);

	while (is_outdated(s, err)) {
		if (dp_source_now() > deadline) {
			*bad_spec = NULL;
			return s->ops->lost(s->source, diag);
		}
		forget(s);
		*bad_spec = NULL;
		err = open_once(s, bad_spec, diag);
	}
	/* A process that has ended cannot be read: the failure was its end. */
	if (err && s->opt->pid && s->source && s->ops->ended(s->source)) {
		*bad_spec = NULL;
		return s->ops->lost(s->source, diag);
	}
	return err;
}

int dp_session_do(const struct dp_tracer_options *opt,
		  const struct dp_session_kind *kind, void *own,
		  const char **bad_spec, int *died_of, struct dp_diag *diag)
{
	struct dp_printed printed = { 0 };
	struct dp_session s;
	int err = dp_session_parse(&s, opt, kind, bad_spec, diag);

	s.own = own;
	s.printed = &printed;
	if (!err)
		err = dp_session_open(&s, bad_spec, diag);
	if (!err)
		err = dp_session_run(&s, died_of, diag);
	if (!err && s.unwritten)
		err = 1;
	dp_session_close(&s);
	dp_groups_free(&printed.groups);
	dp_groups_free(&printed.come);
	return err;
}

void dp_session_close(struct dp_session *s)
{
	size_t i;

	if (s->source)
		s->ops->close(s->source);
	dp_records_close(s);
	dp_points_free(&s->points);
	for (i = 0; i < s->nr_specs; i++)
		dp_spec_free(&s->specs[i]);
	free(s->specs);
	free(s->pending);
	free(s->seen);
	free(s->tables);
}

int dp_tracer_detach(const struct dp_tracer_options *opt, struct dp_diag *diag)
{
	return dp_host_find(opt->pid, NULL) == 1 ?
		       dp_host_detach(opt->pid, diag) :
		       dp_agent_detach(opt->pid, diag);
}
