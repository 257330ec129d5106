// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* points: the addresses that a spec stands for, checked as far as looking goes. */
#include "tracer/tracer.h"
#include "engine/insn/insn.h"
#include "proc/proc.h"
#include "sym/sym.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
};

static size_t read_code(struct resolver *r, u64 addr, u8 *code, size_t size)
{
	ssize_t n = pread(dp_process_mem(r->proc), code, size, (off_t)addr);

	return n > 0 ? (size_t)n : 0;
}

static int column_of(const struct dp_spec *spec)
{
	return spec->has_offset ? spec->offset_col : spec->point_col;
}

static int refuse(struct dp_point *p, int err, const char *why)
{
	p->refused = err;
	snprintf(p->reason, sizeof(p->reason), "%s", why);
	return err;
}

/* Walk the function's instructions: does one begin at @addr? */
static int check_boundary(struct resolver *r, struct dp_point *p)
{
	u64 start, end, at, before;
	struct insn_facts f;
	u8 code[DP_INSN_MAX];

	if (dp_function_bounds(r->mods, p->addr, &start, &end))
		return 0;
	for (at = before = start; at < p->addr; at += f.len) {
		size_t n = read_code(r, at, code, sizeof(code));

		before = at;
		/* Data between functions' parts ends what can be known. */
		if (dp_insn_facts(code, n, &f))
			return 0;
	}
	if (at == p->addr)
		return 0;
	snprintf(p->reason, sizeof(p->reason),
		 "+0x%llx of this function is not at an instruction; the nearest are +0x%llx and +0x%llx",
		 (unsigned long long)(p->addr - start),
		 (unsigned long long)(before - start),
		 (unsigned long long)(at - start));
	p->refused = -EILSEQ;
	return -EILSEQ;
}

static int check_insn(struct resolver *r, struct dp_point *p)
{
	u8 code[DP_INSN_MAX];
	struct insn_facts f;
	size_t n = read_code(r, p->addr, code, sizeof(code));

	if (n && code[0] == BREAKPOINT)
		return refuse(p, -EBUSY, "a breakpoint is already there");
	if (dp_insn_facts(code, n, &f))
		return refuse(p, -EILSEQ, "there is no instruction there");
	if (f.class == DP_INSN_REFUSED)
		return refuse(p, -EINVAL, f.refusal);
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
			return refuse(p, -EINVAL,
				      "it lies in a restartable sequence (rseq), which a probe would always abort");
	return 0;
}

/* mov $15, %rax; syscall */
static int check_restorer(struct resolver *r, struct dp_point *p)
{
	static const u8 restorer[] = { 0x48, 0xc7, 0xc0, 0x0f, 0,
				       0,    0,	   0x0f, 0x05 };
	u8 code[sizeof(restorer)];
	unsigned int back;

	for (back = 0; back <= 7; back += 7)
		if (read_code(r, p->addr - back, code, sizeof(code)) ==
			    sizeof(code) &&
		    !memcmp(code, restorer, sizeof(code)))
			return refuse(p, -EINVAL,
				      "unwinders know the signal return code by its bytes");
	return 0;
}

static int check(struct resolver *r, struct dp_point *p)
{
	const struct dp_module *m = dp_module_at(r->mods, p->addr);
	int err;

	if (!m) {
		snprintf(p->reason, sizeof(p->reason),
			 "0x%llx is not in the text of any module of process %d",
			 (unsigned long long)p->addr, dp_process_pid(r->proc));
		return p->refused = -EINVAL;
	}
	err = check_boundary(r, p);
	if (!err)
		err = check_insn(r, p);
	if (!err)
		err = check_rseq(r, p, m);
	if (!err)
		err = check_restorer(r, p);
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

static int name_point(struct dp_point *p, const char *module,
		      const char *symbol, u64 offset)
{
	/* Names with a colon or a parenthesis are quoted to be pasteable. */
	const char *quote = strpbrk(symbol, ":( ") ? "\"" : "";
	int n;

	p->symbol = strdup(symbol);
	p->module = strdup(module);
	p->offset = offset;
	if (*symbol && offset)
		n = asprintf(&p->name, "%s:%s%s%s+0x%llx", module, quote,
			     symbol, quote, (unsigned long long)offset);
	else if (*symbol)
		n = asprintf(&p->name, "%s:%s%s%s", module, quote, symbol,
			     quote);
	else
		n = asprintf(&p->name, "%s:+0x%llx", module,
			     (unsigned long long)offset);
	return n < 0 || !p->symbol || !p->module ? -ENOMEM : 0;
}

static int add_point(struct resolver *r, u64 addr, const char *module,
		     const char *symbol, u64 offset)
{
	struct dp_point *p = new_point(r->points);
	int err;

	if (!p || name_point(p, module, symbol, offset))
		return dp_diag_set(r->diag, -ENOMEM, "out of memory");
	p->addr = addr;
	p->spec = r->spec;
	err = check(r, p);
	if (!err || r->spec->glob)
		return 0;
	dp_diag_set(r->diag, err, "%s cannot be probed: %s", p->name,
		    p->reason);
	dp_diag_caret(r->diag, column_of(r->spec),
		      (int)strlen(r->spec->text) - column_of(r->spec));
	return err;
}

/* An address in its canonical form: by symbol if one holds it. */
static int add_address(struct resolver *r, u64 addr)
{
	const struct dp_module *m = dp_module_at(r->mods, addr);
	struct dp_symbol sym;
	u64 offset = 0;

	if (m && !dp_symbol_at(r->mods, addr, &sym) &&
	    addr - sym.addr < (sym.size ? sym.size : 1))
		return add_point(r, addr, m->base, sym.name, addr - sym.addr);
	if (m)
		dp_module_addr_file(r->mods, addr, &offset);
	return add_point(r, addr, m ? m->base : "?", "", offset);
}

static int resolve_symbols(struct resolver *r)
{
	const struct dp_spec *spec = r->spec;
	struct dp_symbols list;
	size_t i, skipped = 0;
	int err = dp_symbols_find(r->mods, spec->module, spec->name, &list,
				  &skipped, r->diag);

	if (err) {
		bool module = err == -ENOENT && r->diag &&
			      !strncmp(r->diag->text, "no module", 9);

		dp_diag_caret(r->diag,
			      module ? spec->module_col : spec->point_col,
			      (int)strlen(module ? spec->module : spec->name));
		return err;
	}
	for (i = 0; i < list.n && !err; i++) {
		const struct dp_symbol *s = &list.v[i];

		if (spec->offset && s->size && spec->offset >= s->size) {
			err = dp_diag_set(r->diag, -EINVAL,
					  "%s has only 0x%llx bytes", s->name,
					  (unsigned long long)s->size);
			dp_diag_caret(r->diag, spec->offset_col,
				      (int)strlen(spec->text) -
					      spec->offset_col);
			break;
		}
		err = add_point(r, s->addr + spec->offset, s->module->base,
				s->name, spec->offset);
	}
	dp_symbols_free(&list);
	return err;
}

static int the_module(struct resolver *r, const struct dp_module **m)
{
	const struct dp_module **list =
		calloc(dp_modules_count(r->mods) + 1, sizeof(*list));
	size_t n = 0;
	int err = list ? dp_modules_match(r->mods, r->spec->module, list, &n,
					  r->diag) :
			 -ENOMEM;

	if (!err && n != 1)
		err = dp_diag_set(r->diag, -EINVAL,
				  "%zu modules match \"%s\"; name one", n,
				  r->spec->module);
	if (err)
		dp_diag_caret(r->diag, r->spec->module_col,
			      (int)strlen(r->spec->module));
	else
		*m = list[0];
	free(list);
	return err;
}

static int resolve_offset(struct resolver *r)
{
	const struct dp_module *m;
	u64 addr;
	int err = the_module(r, &m);

	if (err)
		return err;
	err = dp_module_file_addr(r->mods, m, r->spec->value, &addr, r->diag);
	if (err) {
		dp_diag_caret(r->diag, r->spec->point_col,
			      (int)strlen(r->spec->text) - r->spec->point_col);
		return err;
	}
	return add_address(r, addr);
}

static int resolve_address(struct resolver *r)
{
	const struct dp_module *m;
	int err;

	if (*r->spec->module) {
		err = the_module(r, &m);
		if (err)
			return err;
		if (dp_module_at(r->mods, r->spec->value) != m) {
			err = dp_diag_set(r->diag, -EINVAL,
					  "0x%llx is not in the text of %s",
					  (unsigned long long)r->spec->value,
					  m->base);
			dp_diag_caret(r->diag, r->spec->point_col,
				      (int)strlen(r->spec->text) -
					      r->spec->point_col);
			return err;
		}
	}
	return add_address(r, r->spec->value);
}

int dp_points_resolve(struct dp_process *proc, struct dp_modules *mods,
		      const struct dp_spec *spec, struct dp_points *points,
		      struct dp_diag *diag)
{
	struct resolver r = { proc, mods, spec, points, diag, NULL, NULL, 0 };
	int err;

	if (spec->form == DP_POINT_ADDRESS)
		err = resolve_address(&r);
	else if (spec->form == DP_POINT_FILE_OFFSET)
		err = resolve_offset(&r);
	else
		err = resolve_symbols(&r);
	free(r.rseq);
	return err;
}

void dp_points_free(struct dp_points *points)
{
	size_t i;

	for (i = 0; i < points->n; i++) {
		free(points->v[i].name);
		free(points->v[i].symbol);
		free(points->v[i].module);
	}
	free(points->v);
	*points = (struct dp_points){ 0 };
}
