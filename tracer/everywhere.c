// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* everywhere: see everywhere.h. */
#include "tracer/everywhere.h"
#include "tracer/place.h"
#include "tracer/run.h"
#include "tracer/values/code.h"
#include "engine/vm/ops.h"
#include "resolve/points.h"
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
		pt->retprobe ?
			"returns are not there yet for all processes: the kernel's way ends programs that throw exceptions" HOW :
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

int dp_everywhere_place(struct dp_lang_program *p, const char *symbols,
			char **bad_line, struct dp_diag *diag)
{
	int err = check(p, bad_line, diag) ?:
			  dp_place_program(p, symbols, true, bad_line, diag);
	size_t i;

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

/* Return: what is wrong with the point's place; NULL: nothing. @again: a point before it is there, too */
static const char *check_place(const struct dp_lang_program *p, size_t i,
			       bool *again)
{
	u64 addr = p->points[i].addr;
	size_t k;

	*again = false;
	for (k = 0; k < i && !*again; k++) {
		*again = p->points[k].addr == addr;
		if (!*again && !((p->points[k].addr ^ addr) & IN_PAGE))
			return "which point is hit is told by the last three digits of its offset, and two of the program have the same; make two programs of it";
	}
	return addr ? NULL : "there is no code at the offset of a point";
}

int dp_everywhere_symbol(const struct dp_lang_program *p,
			 const struct dp_lang_symbol *v, u64 added,
			 struct dp_trace_program *code, struct dp_diag *diag)
{
	struct dp_coder c = { .out = code, .diag = diag };
	const char *why;
	size_t i;
	bool again;

	dp_code_op16(&c, DP_OPCODE_PUSH_R, RIP);
	for (i = 0; i < p->nr_points; i++) {
		why = check_place(p, i, &again);
		if (why)
			return dp_diag_set(diag, -EOPNOTSUPP, "&%s: %s",
					   v->name, why);
		if (!again)
			put_point(&c, p->points[i].addr,
				  v->addr + added - p->points[i].addr);
	}
	dp_code_op(&c, DP_OPCODE_RET);
	return c.err;
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
