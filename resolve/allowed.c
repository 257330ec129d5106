// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* allowed: may an address be probed? */
#include "resolve/allowed.h"
#include "resolve/code.h"
#include "engine/insn/region.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define BREAKPOINT 0xcc
#define OURS "/memfd:dprobes"
/* From the second instruction of a signal's restorer back to the first. */
#define RESTORER_BACK 7
/* A copy is tried so far away. */
#define COPY_AWAY 4096

/** struct query - @at: how the place is named in a phrase about it */
struct query {
	struct dp_grounds *g;
	struct dp_place *p;
	enum dp_asker asker;
	char *why;
	char at[24];
};

static int __attribute__((format(printf, 3, 4)))
refuse(struct query *q, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(q->why, DP_WHY_MAX, fmt, ap);
	va_end(ap);
	return err;
}

static int check_own(struct query *q)
{
	const char *why = q->g->own ? q->g->own(q->p->addr) : NULL;

	return why ? refuse(q, -EINVAL, "0x%llx may not be probed: %s",
			    (unsigned long long)q->p->addr, why) :
		     0;
}

static int check_module(struct query *q)
{
	return dp_module_at(q->g->mods, q->p->addr) ?
		       0 :
		       refuse(q, -EINVAL, "it is not in the text of its module");
}

static int check_mapping(struct query *q)
{
	const struct dp_map *m;

	if (!q->p->maps)
		return 0;
	m = q->p->map = dp_maps_find(q->p->maps, q->p->addr);
	if (!m)
		return refuse(q, -EFAULT, "nothing is mapped %s", q->at);
	if (m->perms[2] != 'x')
		return refuse(q, -EINVAL, "what is %s is no code", q->at);
	return 0;
}

static int check_generated(struct query *q)
{
	const struct dp_map *m = q->p->map;

	return m && !strncmp(m->path, OURS, strlen(OURS)) ?
		       refuse(q, -EINVAL, "it is generated code") :
		       0;
}

static int check_bytes(struct query *q)
{
	if (q->p->size)
		return 0;
	return q->asker == DP_ASKER_KPROBE ?
		       refuse(q, -EFAULT, "nothing is mapped %s", q->at) :
		       refuse(q, -EFAULT, "it cannot be read");
}

/* Decode @at as it was before any breakpoint of someone else's. */
static int step_over(struct query *q, u64 at, struct insn_facts *f)
{
	u8 code[DP_INSN_MAX];
	size_t n = dp_ground_read(q->g, at, code, sizeof(code));

	if (n && code[0] == BREAKPOINT) {
		n = dp_code_read_file(q->g->mods, at, code, sizeof(code));
		if (!n)
			return refuse(
				q, -EBUSY,
				"a breakpoint before it hides where instructions start");
	}
	if (dp_insn_facts(code, n, f))
		return refuse(
			q, -EILSEQ,
			"bytes before it in its function are no instructions, so where instructions start is unknown");
	return 0;
}

/* In the numbers that the user gave. */
static int refuse_between(struct query *q, u64 before, u64 after)
{
	const struct dp_place *p = q->p;
	u64 given = p->given - p->addr;

	if (!p->plus)
		return refuse(q, -EILSEQ, "no instruction begins %s", q->at);
	return refuse(q, -EILSEQ,
		      "not at an instruction; nearest are %s0x%llx and %s0x%llx",
		      p->plus, (unsigned long long)(given + before), p->plus,
		      (unsigned long long)(given + after));
}

/* Walk from @start: does an instruction begin there? */
static int walk(struct query *q, u64 start)
{
	u64 at, before;
	struct insn_facts f;

	for (at = before = start; at < q->p->addr; at += f.len) {
		int err = step_over(q, at, &f);

		if (err)
			return q->asker == DP_ASKER_SPEC ? err : 0;
		before = at;
	}
	return at == q->p->addr ? 0 : refuse_between(q, before, at);
}

/* A spec is refused where that is not known. The library believes the program that calls it. */
static int check_boundary(struct query *q)
{
	u64 start = 0, end = 0;
	bool known = !dp_function_bounds(q->g->mods, q->p->addr, &start, &end);

	if (q->asker != DP_ASKER_SPEC)
		return known && start != q->p->addr &&
				       dp_ground_enter(q->g, start, end) ?
			       walk(q, start) :
			       0;
	if (q->p->start && q->p->start >= start) {
		start = q->p->start;
		known = true;
	}
	if (!known)
		return refuse(
			q, -EILSEQ,
			"nothing says where its function starts, so where instructions start is unknown");
	return walk(q, start);
}

static int check_insn(struct query *q)
{
	const struct dp_place *p = q->p;
	const char *why = "it works only in place";
	struct insn_facts f;
	struct dp_copy copy;
	u8 was = 0;

	if (p->size && p->code[0] == BREAKPOINT &&
	    (!dp_code_read_file(q->g->mods, p->addr, &was, 1) ||
	     was != BREAKPOINT))
		return refuse(
			q, -EBUSY,
			"a breakpoint is already there, a debugger's or a kernel uprobe's: take that away first");
	if (dp_insn_facts(p->code, p->size, &f))
		return refuse(q, -EILSEQ, "not an instruction of this machine");
	if (f.class == DP_INSN_REFUSED)
		return refuse(q, -EINVAL, "%s", f.refusal);
	if (dp_insn_relocate(p->code, &f, p->addr, p->addr + COPY_AWAY, &copy,
			     &why) == -EINVAL)
		return refuse(q, -EINVAL, "%s", why);
	return 0;
}

static int check_rseq(struct query *q)
{
	int in = dp_ground_in_rseq(q->g, q->p->addr);

	if (in < 0)
		return refuse(q, in, "out of memory");
	return in ? refuse(
			    q, -EINVAL,
			    "it lies in a restartable sequence (rseq), which a probe would always abort") :
		    0;
}

static int check_restorer(struct query *q)
{
	const struct dp_place *p = q->p;
	u8 code[DP_INSN_MAX];
	size_t n = dp_ground_read(q->g, p->addr - RESTORER_BACK, code,
				  sizeof(code));

	return dp_insn_is_restorer(p->code, p->size) ||
			       dp_insn_is_restorer(code, n) ?
		       refuse(q, -EINVAL,
			      "signal return code is recognised by its bytes") :
		       0;
}

#define SPEC DP_ASKER_SPEC
#define EXIT DP_ASKER_EXIT
#define UPROBE DP_ASKER_UPROBE
#define KPROBE DP_ASKER_KPROBE

/* Asked in this order; the first refusal is the answer. The library's engine looks at the
 * instruction itself when the probe is added. */
static const struct rule {
	int (*check)(struct query *q);
	unsigned int of;
} rules[] = {
	{ check_own, KPROBE },
	{ check_module, SPEC },
	{ check_mapping, UPROBE },
	{ check_generated, UPROBE },
	{ check_boundary, SPEC | UPROBE | KPROBE },
	{ check_insn, SPEC | EXIT },
	{ check_rseq, SPEC | EXIT | UPROBE },
	{ check_restorer, SPEC | EXIT | UPROBE },
	{ check_bytes, UPROBE | KPROBE },
	{ check_mapping, KPROBE },
};

int dp_allowed_check(struct dp_grounds *g, struct dp_place *p,
		     enum dp_asker asker, char *why)
{
	struct query q = { g, p, asker, why, "there" };
	size_t i;
	int err = 0;

	if (asker == KPROBE)
		snprintf(q.at, sizeof(q.at), "at 0x%llx",
			 (unsigned long long)p->addr);
	p->size = dp_ground_fetch(g, p->addr, p->code, sizeof(p->code));
	for (i = 0; i < sizeof(rules) / sizeof(rules[0]) && !err; i++)
		if (rules[i].of & asker)
			err = rules[i].check(&q);
	return err;
}

const char *dp_allowed_unarmed(int err)
{
	return err == -EBUSY  ? "somebody else has changed the code there" :
	       err == -EFAULT ? "the code there has gone" :
	       err == -ENOMEM ? "there is no memory near it" :
				"its code cannot be written to";
}
