// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* everywhere: see everywhere.h. */
#include "tracer/everywhere.h"
#include "tracer/place.h"
#include "tracer/run.h"
#include "sym/seen.h"
#include "tracer/session.h"
#include "tracer/values/code.h"
#include "engine/vm/ops.h"
#include "resolve/points.h"
#include "sym/exits.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOW "; -p PID, or -- CMD, runs the program in one process"

/** struct refusal - words, and what they are about */
struct refusal {
	const char *why;
	struct dp_source_place at;
};

static struct refusal check_point(const struct dp_lang_point *pt)
{
	const char *why =
		dp_lang_is_data(pt) ?
			"what is watched is memory of one process" HOW :
			NULL;

	return (struct refusal){ why, pt->at };
}

static struct refusal check_header(const struct dp_lang_program *p)
{
	const struct dp_lang_filter *f = &p->filter;

	if (!strchr(p->name, '/'))
		return (struct refusal){
			"a program for all processes has the path of its file as its name" HOW,
			p->name_at
		};
	if (p->calls)
		return (struct refusal){
			"call_kmod calls functions of the kernel's modules, or of the process" HOW,
			p->calls_at
		};
	if (f->pid >= 0 || f->comm || f->cgroup || f->user)
		return (struct refusal){
			"a program for all processes compares push pid in place of pid, comm, uid and cgroup" HOW,
			p->name_at
		};
	return (struct refusal){ .why = NULL };
}

static int check(const struct dp_lang_program *p, char **bad_line,
		 struct dp_diag *diag)
{
	struct refusal r = check_header(p);
	size_t i;

	for (i = 0; i < p->nr_points && !r.why; i++)
		r = check_point(&p->points[i]);
	return r.why ? dp_lang_complain(p, r.at, -EOPNOTSUPP, bad_line, diag,
					"%s", r.why) :
		       0;
}

/* --- returns: a probe is at all exits of its function --- */

/* A jump to the function's own entry does not end the call. */
static bool is_wanted(const struct dp_exit *e, u64 entry)
{
	return e->kind == DP_EXIT_RET || e->to != entry;
}

static int take_exit(struct dp_lang_point *pt, const struct dp_exits_file *f,
		     const struct dp_exit *e)
{
	struct dp_lang_exit *to = &pt->exits[pt->nr_exits];
	int err;

	*to = (struct dp_lang_exit){ .addr = e->addr,
				     .onward = e->kind != DP_EXIT_RET };
	err = dp_exits_file_insn(f, e->addr, &to->offset, &to->opcode);

	if (!err)
		pt->nr_exits++;
	return err;
}

/* Those that return come first. Return: NULL: there is one; else why there is none */
static const char *take_exits(struct dp_lang_point *pt,
			      const struct dp_exits_file *f,
			      const struct dp_exit_list *list)
{
	int kind;
	size_t i;

	pt->exits = calloc(list->n + 1, sizeof(*pt->exits));
	if (!pt->exits)
		return "out of memory";
	for (kind = DP_EXIT_RET; kind <= DP_EXIT_TAIL; kind++)
		for (i = 0; i < list->n; i++)
			if (list->v[i].kind == kind &&
			    is_wanted(&list->v[i], pt->addr) &&
			    take_exit(pt, f, &list->v[i]))
				return "one is not in the file's code";
	return !pt->nr_exits ?
		       "it never returns" :
	       pt->exits->onward ?
		       "each call goes on in another function, to which it jumps" :
		       NULL;
}

static int complain_changed(const struct dp_lang_program *p,
			    struct dp_source_place at, char **bad_line,
			    struct dp_diag *diag)
{
	return dp_lang_complain(p, at, -ESTALE, bad_line, diag,
				"the file has changed meanwhile");
}

static int place_return(struct dp_lang_program *p, struct dp_lang_point *pt,
			struct dp_exits_file *f, char **bad_line,
			struct dp_diag *diag)
{
	struct dp_exit_list list;
	const char *why;

	if (!dp_exits_file_find(f, pt->addr, &list, &why)) {
		why = take_exits(pt, f, &list);
		dp_exits_free(&list);
	}
	return why ? dp_lang_complain(
			     p, pt->at, -EOPNOTSUPP, bad_line, diag,
			     "where the function returns is not known: %s",
			     why) :
		     0;
}

static int place_returns(struct dp_lang_program *p, char **bad_line,
			 struct dp_diag *diag)
{
	struct dp_exits_file *f;
	struct stat st;
	size_t i;
	int err = dp_exits_file_open(p->name, &f);

	if (!err)
		dp_exits_file_stat(f, &st);
	if (!err && !dp_seen_same(&st, &p->seen))
		err = complain_changed(p, p->name_at, bad_line, diag);
	else if (err)
		err = dp_lang_complain(p, p->name_at, err, bad_line, diag,
				       "the code of %s cannot be looked at: %s",
				       p->name, strerror(-err));
	for (i = 0; i < p->nr_points && !err; i++)
		if (p->points[i].retprobe)
			err = place_return(p, &p->points[i], f, bad_line, diag);
	dp_exits_file_close(f);
	return err;
}

static bool has_returns(const struct dp_lang_program *p)
{
	size_t i;

	for (i = 0; i < p->nr_points; i++)
		if (p->points[i].retprobe)
			return true;
	return false;
}

int dp_everywhere_place(struct dp_lang_program *p, const char *symbols,
			char **bad_line, struct dp_diag *diag)
{
	int err = check(p, bad_line, diag) ?:
			  dp_place_program(p, symbols, true, bad_line, diag);
	size_t i;

	if (!err && has_returns(p))
		err = place_returns(p, bad_line, diag);
	if (err)
		return err;
	/* They have been compared with those of the file that is probed. */
	p->build_len = 0;
	for (i = 0; i < p->nr_points; i++)
		p->points[i].nr_bytes = 0;
	return 0;
}

/* --- where a symbol is: as far from the probe as in the file --- */

#define RIP 0x70 /* its number among DP_REGS */
#define IN_PAGE 0xfff

/* + @distance, if the hit is at @addr in the file. Files are mapped by pages. */
static void put_point(struct dp_coder *c, u64 addr, u64 distance)
{
	dp_code_op16(c, DP_OPCODE_PUSH_R, RIP);
	dp_code_push(c, IN_PAGE);
	dp_code_op(c, DP_OPCODE_AND);
	dp_code_push(c, addr & IN_PAGE);
	dp_code_op(c, DP_OPCODE_EQ);
	dp_code_push(c, distance);
	dp_code_op(c, DP_OPCODE_MUL);
	dp_code_op(c, DP_OPCODE_ADD);
}

/** struct spots - addresses in the file where a program's points are hit; @nr of them, without those that come twice */
struct spots {
	u64 *addr;
	size_t nr;
};

/* Return: what is wrong with the place; NULL: nothing */
static const char *add_spot(struct spots *s, u64 addr)
{
	size_t k;

	if (!addr)
		return "there is no code at the offset of a point";
	for (k = 0; k < s->nr; k++) {
		if (s->addr[k] == addr)
			return NULL;
		if (!((s->addr[k] ^ addr) & IN_PAGE))
			return "which point is hit is told by the last three digits of its offset, and two of the program have the same; make two programs of it";
	}
	s->addr[s->nr++] = addr;
	return NULL;
}

static const char *add_spots(struct spots *s, const struct dp_lang_point *pt)
{
	const char *why = pt->retprobe ? NULL : add_spot(s, pt->addr);
	size_t i;

	for (i = 0; i < pt->nr_exits && !why; i++)
		if (!pt->exits[i].onward)
			why = add_spot(s, pt->exits[i].addr);
	return why;
}

static const char *find_spots(struct spots *s, const struct dp_lang_program *p)
{
	const char *why = NULL;
	size_t i, most = 1;

	for (i = 0; i < p->nr_points; i++)
		most += 1 + p->points[i].nr_exits;
	*s = (struct spots){ .addr = calloc(most, sizeof(*s->addr)) };
	if (!s->addr)
		return "out of memory";
	for (i = 0; i < p->nr_points && !why; i++)
		why = add_spots(s, &p->points[i]);
	return why;
}

int dp_everywhere_symbol(const struct dp_lang_program *p,
			 const struct dp_lang_symbol *v, u64 added,
			 struct dp_trace_program *code, struct dp_diag *diag)
{
	struct dp_coder c = { .out = code, .diag = diag };
	struct spots spots;
	const char *why = find_spots(&spots, p);
	size_t i;

	dp_code_op16(&c, DP_OPCODE_PUSH_R, RIP);
	for (i = 0; i < spots.nr && !why; i++)
		put_point(&c, spots.addr[i], v->addr + added - spots.addr[i]);
	free(spots.addr);
	if (why)
		return dp_diag_set(diag, -EOPNOTSUPP, "&%s: %s", v->name, why);
	dp_code_op(&c, DP_OPCODE_RET);
	return c.err;
}

int dp_everywhere_check(const struct dp_session *s,
			const struct dp_lang_program *p,
			const struct dp_lang_point *from,
			const struct dp_point *point, char **bad_line,
			struct dp_diag *diag)
{
	return s->ops->unchanged(s->source, point, &p->seen) ?
		       0 :
		       complain_changed(p, from->at, bad_line, diag);
}

int dp_everywhere_name(const struct dp_lang_program *p,
		       const struct dp_lang_point *from, struct dp_point *point)
{
	const char *base = strrchr(p->name, '/');
	char *name = NULL;

	base = base ? base + 1 : p->name;
	if (from->label ? asprintf(&name, "%s:%s", base, from->label) < 0 :
			  asprintf(&name, "%s:+0x%llx", base,
				   (unsigned long long)from->value) < 0)
		return -ENOMEM;
	free(point->name);
	point->name = name;
	return 0;
}

static int fail(const struct dp_lang_program *p,
		const struct dp_lang_point *from, int err, const char *why,
		char **bad_line, struct dp_diag *diag)
{
	return dp_lang_complain(p, from->at, err, bad_line, diag, "%s", why);
}

int dp_everywhere_exits(struct dp_session *s, const struct dp_lang_program *p,
			const struct dp_lang_point *from,
			struct dp_point *point, char **bad_line,
			struct dp_diag *diag)
{
	struct dp_diag words = { .text = "" };
	size_t i;
	u8 opcode;
	int err = 0;

	for (i = 0; i < from->nr_exits && !err; i++) {
		const struct dp_lang_exit *e = &from->exits[i];

		if (i)
			err = s->ops->also(s->source, point, e->offset,
					   e->onward, &opcode, &words);
		else
			s->ops->opcode(s->source, point, &opcode);
		if (!err && opcode != e->opcode)
			return complain_changed(p, from->at, bad_line, diag);
	}
	point->addr = point->offset = (u64)from->value;
	return err ? fail(p, from, err, words.text, bad_line, diag) : 0;
}
