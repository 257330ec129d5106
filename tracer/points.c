// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* points: the addresses that a spec stands for, checked as far as looking goes. */
#include "tracer/code.h"
#include "tracer/onward.h"
#include "engine/insn/region.h"
#include "proc/proc.h"
#include "sym/never.h"
#include "sym/sym.h"
#include <ctype.h>
#include <dprobes/diag.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BREAKPOINT 0xcc

/* One resolution: what does not change from address to address. */
struct resolver {
	struct dp_process *proc;
	struct dp_modules *mods;
	const struct dp_spec *spec;
	struct dp_points *points;
	struct dp_diag *diag;
	/* restartable sequences of the module looked at last */
	const struct dp_module *rseq_of;
	struct dp_range *rseq;
	size_t nr_rseq;
	struct dp_code code;
};

static size_t read_code(struct resolver *r, u64 addr, u8 *code, size_t size)
{
	return dp_code_read(&r->code, addr, code, size);
}

/* What the file has at an address of the target; 0 if that cannot be told. */
static size_t read_file(struct resolver *r, u64 addr, u8 *code, size_t size)
{
	return dp_code_read_file(&r->code, addr, code, size);
}

/* A caret from @column to the end of the spec. */
static void point_at(struct resolver *r, int column)
{
	dp_diag_caret(r->diag, column, (int)strlen(r->spec->text) - column);
}

static int refuse(struct dp_point *p, int err, const char *why)
{
	p->refused = err;
	snprintf(p->reason, sizeof(p->reason), "%s", why);
	return err;
}

/* In the numbers that the user gave: offset, file offset or address. */
static int refuse_between(struct resolver *r, struct dp_point *p, u64 before,
			  u64 after)
{
	const struct dp_spec *spec = r->spec;
	u64 given = spec->form == DP_POINT_SYMBOL ? spec->offset : spec->value;
	const char *plus = spec->form == DP_POINT_ADDRESS ? "" : "+";

	snprintf(p->reason, sizeof(p->reason),
		 "not at an instruction; nearest are %s0x%llx and %s0x%llx",
		 plus, (unsigned long long)(given + before - p->addr), plus,
		 (unsigned long long)(given + after - p->addr));
	return p->refused = -EILSEQ;
}

/* Decode @at as it was before any breakpoint of someone else's. */
static int step_over(struct resolver *r, struct dp_point *p, u64 at,
		     struct insn_facts *f)
{
	u8 code[DP_INSN_MAX];
	size_t n = read_code(r, at, code, sizeof(code));

	if (n && code[0] == BREAKPOINT) {
		n = read_file(r, at, code, sizeof(code));
		if (!n)
			return refuse(
				p, -EBUSY,
				"a breakpoint before it hides where instructions start");
	}
	if (dp_insn_facts(code, n, f))
		return refuse(
			p, -EILSEQ,
			"bytes before it in its function are no instructions, so where instructions start is unknown");
	return 0;
}

/* Walk from the nearest known start: does an instruction begin at the point? */
static int check_boundary(struct resolver *r, struct dp_point *p)
{
	u64 start = 0, end, at, before;
	struct insn_facts f;
	bool known = !dp_function_bounds(r->mods, p->addr, &start, &end);

	if (*p->symbol && p->addr - p->offset >= start) {
		start = p->addr - p->offset;
		known = true;
	}
	if (!known)
		return refuse(
			p, -EILSEQ,
			"nothing says where its function starts, so where instructions start is unknown");
	for (at = before = start; at < p->addr; at += f.len) {
		int err = step_over(r, p, at, &f);

		if (err)
			return err;
		before = at;
	}
	return at == p->addr ? 0 : refuse_between(r, p, before, at);
}

static int check_insn(struct resolver *r, struct dp_point *p)
{
	u8 code[DP_INSN_MAX], was = 0;
	const char *why = "it works only in place";
	struct insn_facts f;
	struct dp_copy copy;
	size_t n = read_code(r, p->addr, code, sizeof(code));

	if (n && code[0] == BREAKPOINT &&
	    (!read_file(r, p->addr, &was, 1) || was != BREAKPOINT))
		return refuse(
			p, -EBUSY,
			"a breakpoint is already there, a debugger's or a kernel uprobe's: take that away first");
	if (dp_insn_facts(code, n, &f))
		return refuse(p, -EILSEQ, "not an instruction of this machine");
	if (f.class == DP_INSN_REFUSED)
		return refuse(p, -EINVAL, f.refusal);
	if (dp_insn_relocate(code, &f, p->addr, p->addr + DP_CODE_WINDOW, &copy,
			     &why) == -EINVAL)
		return refuse(p, -EINVAL, why);
	return 0;
}

static int check_rseq(struct resolver *r, struct dp_point *p,
		      const struct dp_module *m)
{
	size_t i;

	if (r->rseq_of != m) {
		free(r->rseq);
		r->rseq = NULL;
		r->nr_rseq = 0;
		r->rseq_of = m;
		if (dp_module_rseq(r->mods, m, &r->rseq, &r->nr_rseq))
			return refuse(p, -ENOMEM, "out of memory");
	}
	for (i = 0; i < r->nr_rseq; i++)
		if (p->addr >= r->rseq[i].start && p->addr < r->rseq[i].end)
			return refuse(
				p, -EINVAL,
				"it lies in a restartable sequence (rseq), which a probe would always abort");
	return 0;
}

static int check_restorer(struct resolver *r, struct dp_point *p)
{
	u8 code[DP_INSN_MAX];
	unsigned int back;

	for (back = 0; back <= 7; back += 7)
		if (dp_insn_is_restorer(code, read_code(r, p->addr - back, code,
							sizeof(code))))
			return refuse(
				p, -EINVAL,
				"signal return code is recognised by its bytes");
	return 0;
}

/* The instruction of an exit, as that of a point of its own. */
static int check_exit(struct resolver *r, struct dp_point *p, u64 addr)
{
	struct dp_point at = { .addr = addr };
	const struct dp_module *m = dp_module_at(r->mods, addr);
	int err;

	if (!m)
		return refuse(p, -EINVAL, "it is left outside its module");
	err = check_insn(r, &at);
	if (!err)
		err = check_rseq(r, &at, m);
	if (!err)
		err = check_restorer(r, &at);
	if (!err)
		return 0;
	p->refused = err;
	snprintf(p->reason, sizeof(p->reason), "its exit at 0x%llx: %.100s",
		 (unsigned long long)addr, at.reason);
	return err;
}

static int find_exits(struct resolver *r, struct dp_point *p,
		      const struct dp_module *m)
{
	struct dp_onwards *onwards = dp_onwards_of(r->points);
	size_t i;
	int err;

	if (!onwards)
		return refuse(p, -ENOMEM, "out of memory");
	err = dp_exit_reader_find(dp_onwards_reader(onwards, m), r->mods, m,
				  p);
	for (i = 0; i < p->nr_exits && !err; i++) {
		struct dp_point lead = { .addr = p->leads[i] };

		err = check_exit(r, p, p->exits[i].addr);
		if (p->leads[i] && check_exit(r, &lead, lead.addr))
			p->leads[i] = 0;
	}
	return err;
}

/* Of a function that a followed one jumps to. */
static void find_onward(void *arg, struct dp_point *p)
{
	struct resolver *r = arg;
	const struct dp_module *m = dp_module_at(r->mods, p->addr);

	if (!m)
		refuse(p, -EINVAL, "it is not in the text of any module");
	else
		find_exits(r, p, m);
}

static int check_exits(struct resolver *r, struct dp_point *p,
		       const struct dp_module *m)
{
	const char *why = dp_never_followed(p->symbol, DP_RETURN_SITE);

	if (why)
		return refuse(p, -EINVAL, why);
	if (*p->symbol && p->offset)
		return refuse(
			p, -EINVAL,
			"a return probe belongs to the beginning of a function");
	return find_exits(r, p, m);
}

static int check(struct resolver *r, struct dp_point *p)
{
	const struct dp_module *m = dp_module_at(r->mods, p->addr);
	int err;

	if (!m)
		return refuse(p, -EINVAL,
			      "it is not in the text of its module");
	err = check_boundary(r, p);
	if (!err)
		err = check_insn(r, p);
	if (!err)
		err = check_rseq(r, p, m);
	if (!err)
		err = check_restorer(r, p);
	if (!err && r->spec->kind == DP_SPEC_RETURN)
		err = check_exits(r, p, m);
	return err;
}

static struct dp_point *new_point(struct dp_points *points)
{
	size_t cap = points->cap ? points->cap * 2 : 16;
	struct dp_point *bigger;

	if (points->n == points->cap) {
		bigger = realloc(points->v, cap * sizeof(*bigger));
		if (!bigger)
			return NULL;
		points->v = bigger;
		points->cap = cap;
	}
	memset(&points->v[points->n], 0, sizeof(points->v[0]));
	return &points->v[points->n++];
}

/* What has to be quoted in a spec, and what no terminal should be sent. */
static const char *quote_for(const char *text, const char *special)
{
	const char *c = text;

	/* "::" is part of a name, a lone ':' is not. */
	while ((c = strchr(c, ':'))) {
		if (strspn(c, ":") & 1)
			return "\"";
		c += strspn(c, ":");
	}
	return strpbrk(text, special) || isdigit((unsigned char)*text) ? "\"" :
									 "";
}

static bool is_plain(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f ||
		    *text == '"' || *text == '\\')
			return false;
	return true;
}

#define MANY_MODULES 1024

/* The shortest name that means this module alone. */
static const char *module_name(struct resolver *r, const struct dp_module *m)
{
	if (dp_spec_reserved(m->base) || !dp_module_is_alone(r->mods, m))
		return m->path;
	return m->base;
}

/* Where a point is: @symbol is "" if no function's name leads there. */
struct place {
	const struct dp_module *m;
	const char *symbol, *named;
	u64 addr, offset;
};

static int name_point(struct resolver *r, struct dp_point *p,
		      const struct place *at)
{
	const char *module = module_name(r, at->m),
		   *q = quote_for(module, "() ");
	const char *sq = quote_for(at->named, "() +%");
	const char *kind = r->spec->kind == DP_SPEC_RETURN ? "r:" : "";
	u64 file_offset = 0;
	int n;

	p->addr = at->addr;
	p->spec = r->spec;
	p->offset = at->offset;
	p->symbol = strdup(at->symbol);
	p->module = strdup(at->m->base);
	if (!*at->named || !is_plain(at->named)) {
		dp_module_addr_file(r->mods, at->addr, &file_offset);
		n = asprintf(&p->name, "%s%s%s%s:+0x%llx", kind, q, module, q,
			     (unsigned long long)file_offset);
	} else if (at->offset) {
		n = asprintf(&p->name, "%s%s%s%s:%s%s%s+0x%llx", kind, q,
			     module, q, sq, at->named, sq,
			     (unsigned long long)at->offset);
	} else {
		n = asprintf(&p->name, "%s%s%s%s:%s%s%s", kind, q, module, q,
			     sq, at->named, sq);
	}
	if (n < 0)
		p->name = NULL;
	return n < 0 || !p->symbol || !p->module ? -ENOMEM : 0;
}

static int add_point(struct resolver *r, const struct place *at)
{
	struct dp_point *p = new_point(r->points);
	int err;

	if (!p || name_point(r, p, at))
		return dp_diag_set(r->diag, -ENOMEM, "out of memory");
	if (r->spec->offset >= at->m->text_end - at->m->text_start)
		err = refuse(p, -EINVAL, "this offset leaves its module");
	else
		err = check(r, p);
	if (!err || r->spec->glob)
		return 0;
	if (!strncmp(p->reason, "not at", 6))
		dp_diag_set(r->diag, err, "%s is %s", p->name, p->reason);
	else
		dp_diag_set(r->diag, err, "%s cannot be probed: %s", p->name,
			    p->reason);
	point_at(r, r->spec->has_offset ? r->spec->offset_col :
					  r->spec->point_col);
	return err;
}

/* Does a spec with this name lead back to this very function? */
static bool leads_back(struct resolver *r, const struct dp_symbol *s)
{
	const char *module = module_name(r, s->module);
	struct dp_symbols list;
	bool same;
	int err;

	/* One that may mean others is compared with all of them: of very many that would
	 * take for ever, and a file offset does as well. */
	if (module == s->module->base && !strpbrk(module, "*?[\\"))
		err = dp_symbols_find_in(r->mods, s->module, s->name, &list);
	else if (dp_modules_count(r->mods) > MANY_MODULES)
		return false;
	else
		err = dp_symbols_find(r->mods, module, s->name, &list, NULL,
				      NULL);
	if (err)
		return false;
	same = list.n == 1 && list.v[0].addr == s->addr;
	dp_symbols_free(&list);
	return same;
}

/* An address in its canonical form: by symbol if one holds it. */
static int add_address(struct resolver *r, const struct dp_module *m, u64 addr)
{
	struct place at = { m, "", "", addr, 0 };
	struct dp_symbol sym;

	if (!dp_symbol_at(r->mods, addr, &sym) &&
	    addr - sym.addr < (sym.size ? sym.size : 1)) {
		at.symbol = sym.name;
		at.offset = addr - sym.addr;
		if (leads_back(r, &sym))
			at.named = sym.name;
	}
	return add_point(r, &at);
}

static int by_name(const void *a, const void *b)
{
	const struct dp_symbol *const *x = a, *const *y = b;
	int order = strcmp((*x)->name, (*y)->name);

	if (order)
		return order;
	return ((*x)->addr > (*y)->addr) - ((*x)->addr < (*y)->addr);
}

/* Which names of a list occur more than once, and so may mean another? */
static bool *find_twins(const struct dp_symbols *list)
{
	const struct dp_symbol **sorted = calloc(list->n + 1, sizeof(*sorted));
	bool *twin = calloc(list->n + 1, sizeof(*twin));
	size_t i;

	if (!sorted || !twin) {
		free(sorted);
		free(twin);
		return NULL;
	}
	for (i = 0; i < list->n; i++)
		sorted[i] = &list->v[i];
	qsort(sorted, list->n, sizeof(*sorted), by_name);
	for (i = 1; i < list->n; i++)
		if (!strcmp(sorted[i]->name, sorted[i - 1]->name))
			twin[sorted[i] - list->v] =
				twin[sorted[i - 1] - list->v] = true;
	free(sorted);
	return twin;
}

static int add_symbol(struct resolver *r, const struct dp_symbol *s, bool twin)
{
	const struct dp_spec *spec = r->spec;
	struct place at = { s->module, s->name, s->name, s->addr + spec->offset,
			    spec->offset };
	struct dp_point *p;

	if (!spec->glob && strchr(spec->name, '@'))
		at.named = spec->name;
	else if (twin && !leads_back(r, s))
		at.named = "";
	if (!spec->offset || !s->size || spec->offset < s->size)
		return add_point(r, &at);
	if (!spec->glob) {
		dp_diag_set(
			r->diag, -EINVAL,
			"%s has only 0x%llx bytes: this offset is beyond its end",
			s->name, (unsigned long long)s->size);
		point_at(r, spec->offset_col);
		return -EINVAL;
	}
	p = new_point(r->points);
	if (!p || name_point(r, p, &at))
		return dp_diag_set(r->diag, -ENOMEM, "out of memory");
	refuse(p, -EINVAL, "this offset is beyond its end");
	return 0;
}

static int match_modules(struct resolver *r, const struct dp_module ***list,
			 size_t *n)
{
	int err;

	*list = calloc(dp_modules_count(r->mods) + 1, sizeof(**list));
	if (!*list)
		return dp_diag_set(r->diag, -ENOMEM, "out of memory");
	err = dp_modules_match(r->mods, r->spec->module, *list, n, r->diag);
	if (err) {
		dp_diag_caret(r->diag, r->spec->module_col,
			      (int)strlen(r->spec->module));
		free(*list);
	}
	return err;
}

static int resolve_symbols(struct resolver *r)
{
	const struct dp_spec *spec = r->spec;
	const struct dp_module **modules;
	struct dp_symbols list;
	size_t i, n, skipped = 0;
	bool *twin;
	int err = match_modules(r, &modules, &n);

	if (err)
		return err;
	free(modules);
	err = dp_symbols_find(r->mods, spec->module, spec->name, &list,
			      &skipped, r->diag);
	if (err) {
		dp_diag_caret(r->diag, spec->point_col,
			      (int)strlen(spec->name));
		return err;
	}
	r->points->skipped += skipped;
	twin = find_twins(&list);
	if (!twin)
		err = dp_diag_set(r->diag, -ENOMEM, "out of memory");
	for (i = 0; i < list.n && !err; i++)
		err = add_symbol(r, &list.v[i],
				 twin[i] || strchr(spec->name, '@'));
	free(twin);
	dp_symbols_free(&list);
	return err;
}

static int resolve_offset(struct resolver *r)
{
	const struct dp_module **list, *m;
	size_t n = 0;
	u64 addr;
	int err = match_modules(r, &list, &n);

	if (err)
		return err;
	m = list[0];
	free(list);
	if (n != 1) {
		err = dp_diag_set(r->diag, -EINVAL,
				  "%zu modules match \"%s\"; name one", n,
				  r->spec->module);
		dp_diag_caret(r->diag, r->spec->module_col,
			      (int)strlen(r->spec->module));
		return err;
	}
	err = dp_module_file_addr(r->mods, m, r->spec->value, &addr, r->diag);
	if (err) {
		point_at(r, r->spec->point_col);
		return err;
	}
	return add_address(r, m, addr);
}

static int resolve_address(struct resolver *r)
{
	const struct dp_module *m = dp_module_at(r->mods, r->spec->value);
	const struct dp_module **list;
	size_t i = 0, n = 0;
	int err;

	if (*r->spec->module) {
		err = match_modules(r, &list, &n);
		if (err)
			return err;
		while (i < n && list[i] != m)
			i++;
		free(list);
	}
	if (m && (i < n || !n))
		return add_address(r, m, r->spec->value);
	if (n)
		dp_diag_set(r->diag, -EINVAL, "0x%llx is not in the text of %s",
			    (unsigned long long)r->spec->value,
			    r->spec->module);
	else
		dp_diag_set(
			r->diag, -EINVAL,
			"0x%llx is not in the text of any module of process %d",
			(unsigned long long)r->spec->value,
			dp_process_pid(r->proc));
	point_at(r, r->spec->point_col);
	return -EINVAL;
}

int dp_points_resolve(struct dp_process *proc, struct dp_modules *mods,
		      const struct dp_spec *spec, struct dp_points *points,
		      struct dp_diag *diag)
{
	struct resolver r = {
		.proc = proc,
		.mods = mods,
		.spec = spec,
		.points = points,
		.diag = diag,
		.code = { .proc = proc, .mods = mods },
	};
	int err;

	if (spec->form == DP_POINT_ADDRESS)
		err = resolve_address(&r);
	else if (spec->form == DP_POINT_FILE_OFFSET)
		err = resolve_offset(&r);
	else
		err = resolve_symbols(&r);
	if (!err && spec->kind == DP_SPEC_RETURN &&
	    dp_onwards_resolve(points, proc, find_onward, &r))
		err = dp_diag_set(diag, -ENOMEM, "out of memory");
	free(r.rseq);
	return err;
}

static bool any_returns(const struct dp_points *points)
{
	size_t i;

	for (i = 0; i < points->n; i++)
		if (points->v[i].spec->kind == DP_SPEC_RETURN)
			return true;
	return false;
}

int dp_points_renew(struct dp_process *proc, struct dp_modules *mods,
		    struct dp_points *points)
{
	struct resolver r = { .proc = proc,
			      .mods = mods,
			      .points = points,
			      .code = { .proc = proc, .mods = mods } };
	int err;

	dp_onwards_free(points);
	if (!any_returns(points))
		return 0;
	err = dp_onwards_resolve(points, proc, find_onward, &r);
	free(r.rseq);
	return err;
}

static void *copy_of(const void *from, size_t bytes)
{
	void *to = bytes ? malloc(bytes) : NULL;

	return to ? memcpy(to, from, bytes) : NULL;
}

static int copy_point(struct dp_point *to, const struct dp_point *from)
{
	size_t n = from->nr_exits;

	*to = *from;
	to->name = strdup(from->name);
	to->symbol = strdup(from->symbol);
	to->module = strdup(from->module);
	to->exits = copy_of(from->exits, n * sizeof(*from->exits));
	to->leads = copy_of(from->leads, n * sizeof(*from->leads));
	return !to->name || !to->symbol || !to->module ||
			       (n && (!to->exits || !to->leads)) ?
		       -ENOMEM :
		       0;
}

int dp_points_copy(struct dp_points *to, const struct dp_points *from)
{
	size_t i;
	int err = 0;

	to->v = calloc(from->n + 1, sizeof(*to->v));
	if (!to->v)
		return -ENOMEM;
	to->cap = from->n + 1;
	to->skipped = from->skipped;
	for (i = 0; i < from->n && !err; i++)
		err = copy_point(&to->v[to->n++], &from->v[i]);
	return err;
}

void dp_points_free(struct dp_points *points)
{
	size_t i;

	for (i = 0; i < points->n; i++) {
		free(points->v[i].name);
		free(points->v[i].symbol);
		free(points->v[i].module);
		free(points->v[i].exits);
		free(points->v[i].leads);
	}
	dp_onwards_free(points);
	free(points->v);
	*points = (struct dp_points){ 0 };
}
