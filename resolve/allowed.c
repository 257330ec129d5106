// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* allowed: may an address be probed? */
#include "resolve/allowed.h"
#include "resolve/code.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "engine/insn/insn.h"

#define OURS "/memfd:dprobes"
/* Bytes from the second instruction of a signal's restorer back to the first. */
#define RESTORER_BACK 7
/* Distance at which a trial copy is placed. */
#define COPY_AWAY 4096

/** struct query - @err, @why: the answer of a rule that has several */
struct query {
	struct dp_reach_reader *g;
	struct dp_place *p;
	enum dp_asker asker;
	int err;
	char *why;
};

static bool __attribute__((format(printf, 3, 4)))
refuse(struct query *q, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(q->why, DP_WHY_MAX, fmt, ap);
	va_end(ap);
	q->err = err;
	return true;
}

static bool is_own(struct query *q)
{
	const char *why = q->g->own ? q->g->own(q->p->addr) : NULL;

	return why && refuse(q, -EINVAL, "0x%lx may not be probed: %s",
			     q->p->addr, why);
}

static bool is_outside(struct query *q)
{
	return !dp_module_at(q->g->mods, q->p->addr);
}

static bool is_unmapped(struct query *q)
{
	q->p->map = q->p->maps ? dp_maps_find(q->p->maps, q->p->addr) : NULL;
	return q->p->maps && !q->p->map;
}

static bool is_data(struct query *q)
{
	return q->p->map && q->p->map->perms[2] != 'x';
}

static bool is_generated(struct query *q)
{
	return q->p->map && !strncmp(q->p->map->path, OURS, strlen(OURS));
}

static bool is_unread(struct query *q)
{
	return !q->p->size;
}

/* Decode @at as it was before another tracer's breakpoint. */
static bool is_unclear(struct query *q, u64 at, struct insn_facts *f)
{
	u8 code[DP_INSN_MAX];
	size_t n = dp_reach_read(q->g, at, code, sizeof(code));

	if (n && code[0] == DP_BREAKPOINT) {
		n = dp_code_read_file(q->g->mods, at, code, sizeof(code));
		if (!n)
			return refuse(
				q, -EBUSY,
				"a breakpoint before it hides where instructions start");
	}
	return dp_insn_facts(code, n, f) &&
	       refuse(q, -EILSEQ,
		      "bytes before it in its function are no instructions, so where instructions start is unknown");
}

/* Name addresses as the user wrote them, where @plus is set. */
static bool refuse_between(struct query *q, u64 before, u64 after)
{
	const struct dp_place *p = q->p;
	u64 given = p->given - p->addr;

	return p->plus ?
		       refuse(q, -EILSEQ,
			      "not at an instruction; nearest are %s0x%lx and %s0x%lx",
			      p->plus, (given + before), p->plus,
			      (given + after)) :
	       q->asker == DP_ASKER_KPROBE ?
		       refuse(q, -EILSEQ, "no instruction begins at 0x%lx",
			      p->addr) :
		       refuse(q, -EILSEQ, "no instruction begins there");
}

/* Where boundaries are not known, the library trusts the program that calls it. */
static bool is_between(struct query *q)
{
	bool spec = q->asker == DP_ASKER_SPEC, known;
	u64 start = 0, end = 0, at, before;
	struct insn_facts f;

	known = !dp_function_bounds(q->g->mods, q->p->addr, &start, &end);
	if (spec && q->p->start && q->p->start >= start) {
		start = q->p->start;
		known = true;
	}
	if (spec && !known)
		return refuse(
			q, -EILSEQ,
			"nothing says where its function starts, so where instructions start is unknown");
	if (!spec && (!known || start == q->p->addr ||
		      !dp_reach_enter(q->g, start, end)))
		return false;
	for (at = before = start; at < q->p->addr; at += f.len) {
		if (is_unclear(q, at, &f)) {
			q->err = spec ? q->err : 0;
			return spec;
		}
		before = at;
	}
	return at != q->p->addr && refuse_between(q, before, at);
}

static bool is_breakpoint(struct query *q)
{
	const struct dp_place *p = q->p;
	u8 was = 0;

	return p->size && p->code[0] == DP_BREAKPOINT &&
	       (!dp_code_read_file(q->g->mods, p->addr, &was, 1) ||
		was != DP_BREAKPOINT);
}

static bool is_immovable(struct query *q)
{
	const struct dp_place *p = q->p;
	const char *why = "it works only in place";
	struct insn_facts f;
	struct dp_copy copy;

	if (dp_insn_facts(p->code, p->size, &f))
		return refuse(q, -EILSEQ, "not an instruction of this machine");
	if (f.class == DP_INSN_REFUSED)
		return refuse(q, -EINVAL, "%s", f.refusal);
	return dp_insn_relocate(p->code, &f, p->addr, p->addr + COPY_AWAY,
				&copy, &why) == -EINVAL &&
	       refuse(q, -EINVAL, "%s", why);
}

static bool is_in_sequence(struct query *q)
{
	int in = dp_reach_in_rseq(q->g, q->p->addr);

	return in < 0 ?
		       refuse(q, in,
			      "the restartable sequences around 0x%lx cannot be read: %s",
			      q->p->addr, strerror(-in)) :
		       in;
}

static bool is_restorer(struct query *q)
{
	const struct dp_place *p = q->p;
	u8 code[DP_INSN_MAX];

	if (!dp_insn_is_syscall(p->code, p->size))
		return dp_insn_is_restorer(p->code, p->size);
	return dp_insn_is_restorer(code,
				   dp_reach_read(q->g, p->addr - RESTORER_BACK,
						 code, sizeof(code)));
}

#define SPEC DP_ASKER_SPEC
#define EXIT DP_ASKER_EXIT
#define UPROBE DP_ASKER_UPROBE
#define KPROBE DP_ASKER_KPROBE

/* Rules in order; the first that applies is the answer: its @err and @why, or those that
 * @is_so set. The library's engine checks the instruction when the probe is added. */
static const struct rule {
	bool (*is_so)(struct query *q);
	unsigned int of;
	int err;
	const char *why;
} rules[] = {
	{ is_own, KPROBE, 0, NULL },
	{ is_outside, SPEC, -EINVAL, "it is not in the text of its module" },
	{ is_unmapped, UPROBE, -EFAULT, "nothing is mapped there" },
	{ is_data, UPROBE, -EINVAL, "what is there is no code" },
	{ is_generated, UPROBE, -EINVAL, "it is generated code" },
	{ is_between, SPEC | UPROBE | KPROBE, 0, NULL },
	{ is_breakpoint, SPEC | EXIT, -EBUSY,
	  "a breakpoint is already there, a debugger's or a kernel uprobe's: take that away first" },
	{ is_immovable, SPEC | EXIT, 0, NULL },
	{ is_in_sequence, SPEC | EXIT | UPROBE, -EINVAL,
	  "it lies in a restartable sequence (rseq), which a probe would always abort" },
	{ is_restorer, SPEC | EXIT | UPROBE, -EINVAL,
	  "signal return code is recognised by its bytes" },
	{ is_unread, UPROBE, -EFAULT, "it cannot be read" },
	{ is_unread, KPROBE, -EFAULT, "nothing is mapped at 0x%lx" },
	{ is_unmapped, KPROBE, -EFAULT, "nothing is mapped at 0x%lx" },
	{ is_data, KPROBE, -EINVAL, "what is at 0x%lx is no code" },
	{ is_in_sequence, KPROBE, -EINVAL,
	  "0x%lx lies in a restartable sequence (rseq), which a probe would always abort" },
	{ is_restorer, KPROBE, -EINVAL,
	  "0x%lx is signal return code, which is recognised by its bytes" },
};

int dp_allowed_check(struct dp_reach_reader *g, struct dp_place *p,
		     enum dp_asker asker, char *why)
{
	struct query q = { g, p, asker, 0, why };
	const struct rule *r = rules;

	p->size = dp_reach_fetch(g, p->addr, p->code, sizeof(p->code));
	while (!(r->of & asker) || !r->is_so(&q))
		if (++r == rules + sizeof(rules) / sizeof(rules[0]))
			return 0;
	if (!q.err)
		refuse(&q, r->err, r->why, p->addr);
	return q.err;
}

const char *dp_allowed_unarmed(int err)
{
	return err == -EBUSY  ? "somebody else has changed the code there" :
	       err == -EFAULT ? "the code there has gone" :
	       err == -ENOMEM ? "there is no memory near it" :
				"its code cannot be written to";
}
