// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * follow: prove which registers a handler touches, by its code.
 *
 * All ways through the code are walked, and calls are walked into. At each instruction each register, and
 * each word of the handler's stack, has a value of one of these kinds:
 *
 *   CLEAN   anything that has nothing to do with the others
 *   ZERO    0, which is CLEAN, too
 *   REGS    the address of the handler's struct pt_regs, or one a known distance from it
 *   STACK   an address in the handler's stack, a known distance from where it began
 *   LOST    one of these, it is not known which
 *
 * Where two ways meet, values that differ are LOST. REGS may be moved to another register or to a
 * word of the stack, be added to, and be the base of an address. Any other use of it, and any use of LOST, is
 * the end of the proof. If REGS is in the stack, and an address of the stack in more than
 * registers and known words, it is the end, too. A handler has to return 0, so that the thread
 * always goes on in its detour.
 */
#include "engine/insn/class.h"
#include "engine/insn/effects.h"
#include "engine/insn/insn.h"
#include "lib/follow.h"
#include "lib/leads.h"
#include <string.h>

#define NODES 256 /* instructions, each once for each chain of calls */
#define CALLS 4
#define WORD 8
#define WORDS 64 /* of the stack that are followed */

enum kind { CLEAN, ZERO, REGS, STACK, LOST };

/** struct value - @at: of STACK and REGS: bytes from where the stack pointer was, or the struct is */
struct value {
	u32 kind;
	s32 at;
};

/** struct state - of a thread before an instruction
 * @words: of its stack, the highest first
 * @back: where calls return to; @sp: stack pointers behind them
 */
struct state {
	struct value reg[DP_GPRS], words[WORDS];
	u64 back[CALLS];
	s32 sp[CALLS];
	u32 calls;
};

struct node {
	u64 addr;
	struct state state;
	bool todo;
};

/** struct walk - @spilled: REGS has been in the stack; @escaped: an address of the stack has been
 *  where it is not followed */
struct walk {
	const struct dp_follow_text *text;
	struct node nodes[NODES];
	u32 nr, touches;
	bool failed, spilled, escaped;
};

static void fail(struct walk *w)
{
	w->failed = true;
}

static bool same(struct value a, struct value b)
{
	return a.kind == b.kind &&
	       ((a.kind != STACK && a.kind != REGS) || a.at == b.at);
}

static bool is_clean(struct value v)
{
	return v.kind == CLEAN || v.kind == ZERO;
}

static struct value meet(struct value a, struct value b)
{
	if (same(a, b))
		return a;
	return (struct value){ is_clean(a) && is_clean(b) ? CLEAN : LOST, 0 };
}

/* Values that are used for anything but what is followed */
static void use(struct walk *w, struct value v)
{
	if (v.kind == REGS || v.kind == LOST)
		fail(w);
	else if (v.kind == STACK)
		w->escaped = true;
}

static void set(struct walk *w, struct state *s, int reg, struct value v)
{
	s->reg[reg] = v;
	if (reg != DP_GPR_SP)
		w->touches |= 1u << reg;
	else if (v.kind != STACK || v.at > 0)
		fail(w);
}

/* The words that @size bytes at @at of the stack are in: *@last, and others up to the result. -1: none */
static int words_of(s64 at, u32 size, int *last)
{
	*last = (int)((-at - 1) / WORD);
	if (*last >= WORDS)
		*last = WORDS - 1;
	return at + size <= -(s64)WORDS * WORD ? -1 :
						 (int)((-at - size) / WORD);
}

/* Nothing that the handler may access: its return address, and what is above */
static bool is_above(s64 at, u32 size)
{
	return at + size > 0;
}

static struct value load(struct walk *w, const struct state *s, s64 at,
			 u32 size, bool whole)
{
	struct value v = { CLEAN, 0 };
	int i, last;

	if (is_above(at, size)) {
		fail(w);
		return v;
	}
	i = words_of(at, size, &last);
	if (whole && i >= 0 && i == last && !(at % WORD))
		return s->words[i];
	for (; i >= 0 && i <= last; i++)
		use(w, s->words[i]);
	return v;
}

/* A call's return address must stay. */
static bool is_return(const struct state *s, s64 at, u32 size)
{
	u32 i;

	for (i = 0; i < s->calls; i++)
		if (at < s->sp[i] && at + size > s->sp[i] - WORD)
			return true;
	return false;
}

static void store(struct walk *w, struct state *s, s64 at, u32 size, bool whole,
		  struct value v)
{
	int i, last;

	if (is_above(at, size) || is_return(s, at, size))
		return fail(w);
	i = words_of(at, size, &last);
	w->spilled |= v.kind == REGS;
	if (whole && i >= 0 && i == last && !(at % WORD)) {
		s->words[i] = v;
		return;
	}
	use(w, v);
	for (; i >= 0 && i <= last; i++)
		s->words[i].kind = is_clean(s->words[i]) ? CLEAN : LOST;
}

static void access_field(struct walk *w, const struct dp_insn_effects *e,
			 s64 from)
{
	u64 offset = (u64)(from + e->disp);
	u32 i;

	if (e->segment || e->index >= 0)
		return fail(w);
	if (e->address)
		return;
	for (i = 0; i < e->size; i++) {
		u32 touches = dp_touches_field(offset + i, e->stores);

		if (touches == ~0u)
			return fail(w);
		w->touches |= touches;
	}
}

/* Is the operand at a known place of the stack? Looks at all others. */
static bool in_stack(struct walk *w, const struct state *s,
		     const struct dp_insn_effects *e, s64 *at)
{
	struct value base = { CLEAN, 0 };

	if (!e->memory)
		return false;
	if (e->index >= 0 && !is_clean(s->reg[e->index]))
		fail(w);
	if (e->base >= 0)
		base = s->reg[e->base];
	if (base.kind == LOST)
		fail(w);
	else if (base.kind == REGS)
		access_field(w, e, base.at);
	if (base.kind != STACK)
		return false;
	if (e->segment)
		fail(w);
	*at = base.at + e->disp;
	if (e->index >= 0)
		w->escaped = true;
	return e->index < 0;
}

/* Of the same kind as @v */
static struct value move(struct walk *w, struct value v, s64 by)
{
	s64 at = v.at + by;

	if (at != (int16_t)at)
		fail(w);
	v.at = (s32)at;
	return v;
}

static void push(struct walk *w, struct state *s, struct value v)
{
	struct value *sp = &s->reg[DP_GPR_SP];

	*sp = move(w, *sp, -WORD);
	store(w, s, sp->at, WORD, true, v);
}

static struct value pop(struct walk *w, struct state *s)
{
	struct value *sp = &s->reg[DP_GPR_SP];
	struct value v = load(w, s, sp->at, WORD, true);

	*sp = move(w, *sp, WORD);
	return v;
}

/* All operands by themselves */
static void other(struct walk *w, struct state *s,
		  const struct dp_insn_effects *e, bool stacked, s64 at)
{
	const struct value clean = { CLEAN, 0 }, lost = { LOST, 0 };
	int r;

	for (r = 0; r < DP_GPRS; r++)
		if (e->reads >> r & 1)
			use(w, s->reg[r]);
	/* A part of an address */
	if (e->address && e->base >= 0)
		use(w, s->reg[e->base]);
	if (stacked && e->loads)
		load(w, s, at, e->size, false);
	if (stacked && e->stores)
		store(w, s, at, e->size, false, clean);
	for (r = 0; r < DP_GPRS; r++)
		if (e->writes >> r & 1)
			set(w, s, r,
			    e->keeps >> r & 1 && !is_clean(s->reg[r]) ? lost :
									clean);
}

static void add(struct walk *w, struct state *s,
		const struct dp_insn_effects *e)
{
	struct value v = s->reg[e->to];

	if (v.kind == STACK || v.kind == REGS)
		v = move(w, v, e->disp);
	else
		use(w, v);
	if (is_clean(v))
		v.kind = CLEAN;
	set(w, s, e->to, v);
}

static void lea(struct walk *w, struct state *s,
		const struct dp_insn_effects *e)
{
	struct value v = { CLEAN, 0 };

	if (e->base >= 0 && !is_clean(s->reg[e->base]) && e->index < 0)
		v = move(w, s->reg[e->base], e->disp);
	set(w, s, e->to, v);
}

static void leave(struct walk *w, struct state *s)
{
	set(w, s, DP_GPR_SP, s->reg[DP_GPR_FP]);
	set(w, s, DP_GPR_FP, pop(w, s));
}

static void push_operand(struct walk *w, struct state *s,
			 const struct dp_insn_effects *e, bool stacked, s64 at)
{
	struct value v = { CLEAN, 0 };

	if (e->from >= 0)
		v = s->reg[e->from];
	else if (stacked)
		v = load(w, s, at, e->size, e->size == WORD);
	push(w, s, v);
}

static void pop_operand(struct walk *w, struct state *s,
			const struct dp_insn_effects *e)
{
	if (e->to < 0 || e->to == DP_GPR_SP)
		return fail(w);
	set(w, s, e->to, pop(w, s));
}

/* What an instruction does that is no branch */
static void execute(struct walk *w, struct state *s,
		    const struct dp_insn_effects *e)
{
	const struct value clean = { CLEAN, 0 }, zero = { ZERO, 0 };
	s64 at = 0;
	bool stacked = in_stack(w, s, e, &at);

	switch (e->what) {
	case DP_EFFECT_MOVE:
		return set(w, s, e->to, s->reg[e->from]);
	case DP_EFFECT_LOAD:
		return set(w, s, e->to,
			   stacked ? load(w, s, at, WORD, true) : clean);
	case DP_EFFECT_STORE:
		if (stacked)
			store(w, s, at, WORD, true, s->reg[e->from]);
		else
			use(w, s->reg[e->from]);
		return;
	case DP_EFFECT_ZERO:
		return set(w, s, e->to, zero);
	case DP_EFFECT_ADD:
		return add(w, s, e);
	case DP_EFFECT_LEA:
		return lea(w, s, e);
	case DP_EFFECT_PUSH:
		return push_operand(w, s, e, stacked, at);
	case DP_EFFECT_POP:
		return pop_operand(w, s, e);
	case DP_EFFECT_LEAVE:
		return leave(w, s);
	default:
		other(w, s, e, stacked, at);
	}
}

static bool same_chain(const struct state *a, const struct state *b)
{
	return a->calls == b->calls &&
	       !memcmp(a->back, b->back, a->calls * sizeof(a->back[0])) &&
	       !memcmp(a->sp, b->sp, a->calls * sizeof(a->sp[0]));
}

static void merge(struct node *n, const struct state *s)
{
	struct state *to = &n->state, was = *to;
	int i;

	for (i = 0; i < DP_GPRS; i++)
		to->reg[i] = meet(to->reg[i], s->reg[i]);
	for (i = 0; i < WORDS; i++)
		to->words[i] = meet(to->words[i], s->words[i]);
	n->todo |= memcmp(&was, to, sizeof(was)) != 0;
}

/* A thread may come to @addr like this. */
static void come(struct walk *w, u64 addr, const struct state *s)
{
	u32 i;

	for (i = 0; i < w->nr; i++)
		if (w->nodes[i].addr == addr &&
		    same_chain(&w->nodes[i].state, s))
			return merge(&w->nodes[i], s);
	if (w->nr == NODES)
		return fail(w);
	w->nodes[w->nr].addr = addr;
	w->nodes[w->nr].state = *s;
	w->nodes[w->nr++].todo = true;
}

static void call(struct walk *w, struct state *s, u64 next, u64 to)
{
	const struct value clean = { CLEAN, 0 };

	if (s->calls == CALLS)
		return fail(w);
	push(w, s, clean);
	s->back[s->calls] = next;
	s->sp[s->calls++] = s->reg[DP_GPR_SP].at + WORD;
	come(w, to, s);
}

static void come_back(struct walk *w, struct state *s,
		      const struct insn_facts *f)
{
	struct value *sp = &s->reg[DP_GPR_SP];
	s32 top = s->calls ? s->sp[s->calls - 1] - WORD : 0;

	if (f->imm_size || sp->at != top)
		return fail(w);
	if (!s->calls) {
		if (s->reg[DP_GPR_RESULT].kind != ZERO)
			fail(w);
		return;
	}
	s->calls--;
	sp->at += WORD;
	come(w, s->back[s->calls], s);
}

static void go_on(struct walk *w, struct state *s, u64 addr,
		  const struct insn_facts *f)
{
	u64 next = addr + f->len, to = next + (u64)f->target;

	switch (f->class) {
	case DP_INSN_PLAIN:
		return come(w, next, s);
	case DP_INSN_JMP:
		return come(w, to, s);
	case DP_INSN_JCC:
	case DP_INSN_LOOP:
		come(w, next, s);
		return come(w, to, s);
	case DP_INSN_CALL:
		return call(w, s, next, to);
	case DP_INSN_RET:
		return come_back(w, s, f);
	default:
		fail(w);
	}
}

static void step(struct walk *w, u32 i)
{
	struct state s = w->nodes[i].state;
	u64 addr = w->nodes[i].addr;
	struct dp_insn_effects e;
	struct insn_facts f;
	u8 code[DP_INSN_MAX];
	size_t n = w->text->fetch(w->text->arg, addr, code, sizeof(code));

	w->nodes[i].todo = false;
	/* Two ways that come here with another depth of the stack */
	if (s.reg[DP_GPR_SP].kind != STACK)
		return fail(w);
	if (!n || dp_insn_facts(code, n, &f))
		return fail(w);
	if (dp_leads_nowhere(code, &f))
		return;
	if (!dp_insn_effects(code, n, &e))
		return fail(w);
	if (f.class != DP_INSN_CALL && f.class != DP_INSN_RET)
		execute(w, &s, &e);
	if (!w->failed)
		go_on(w, &s, addr, &f);
}

static void begin(struct walk *w, u64 handler)
{
	struct state s = { 0 };

	w->nr = w->touches = 0;
	w->failed = w->spilled = w->escaped = false;
	s.reg[DP_GPR_SP].kind = STACK;
	s.reg[DP_GPR_ARG2].kind = REGS;
	come(w, handler, &s);
}

u32 dp_follow(const struct dp_follow_text *text, u64 handler)
{
	static struct walk w;
	u32 i = 0;

	w.text = text;
	begin(&w, handler);
	while (i < w.nr && !w.failed)
		if (w.nodes[i].todo) {
			step(&w, i);
			i = 0;
		} else {
			i++;
		}
	return w.failed || (w.spilled && w.escaped) ? ~0u : w.touches;
}
