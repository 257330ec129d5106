// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * points: where musl makes system calls that are cancellation points.
 *
 *   sigsuspend, …: call __syscall_cp ─► __syscall_cp_c ─► __syscall_cp_asm: syscall
 *                  call __syscall_ret               └───► syscall, if it cannot be
 *
 * musl cancels a thread whose pc is in __syscall_cp_asm, so that function is not patched.
 * Intercepted are: the calls of __syscall_cp for masked waits, the calls behind them, and the
 * jump by which a cancelled thread leaves. All are found by their bytes, because a stripped
 * musl has no symbols for them.
 */
#include "arch/arch.h"
#include "engine/insn/insn.h"
#include "engine/insn/region.h"
#include "engine/layout/private.h"
#include "engine/site/engine.h"
#include "arch/calls.h"
#include "proc/code/intercepts.h"
#include "proc/proc.h"
#include "proc/ptrace/process.h"
#include "engine/site/internal.h"

#define CALL_SIZE 5
#define MAKER_MAX 320
#define LAST_MAX 64
#define ARGUMENTS_MAX 32 /* bytes from the number to the call */

/** struct code - a copy of a text of the process */
struct code {
	const struct dp_span *span;
	const u8 *text;
};

/* Return: @len bytes at @addr; NULL: the copy does not have them all. */
static const u8 *bytes(const struct code *c, u64 addr, size_t len)
{
	u64 offset = addr - c->span->start;

	return offset < c->span->size && len <= c->span->size - offset ?
		       c->text + offset :
		       NULL;
}

static bool decode(const struct code *c, u64 addr, struct insn_facts *f)
{
	const u8 *code = bytes(c, addr, DP_INSN_MAX);

	return code && !dp_insn_facts(code, DP_INSN_MAX, f) &&
	       f->class != DP_INSN_REFUSED;
}

static void add(struct dp_process *proc, const struct code *c, u64 addr, u32 nr)
{
	const u8 *code = bytes(c, addr, DP_REGION_MAX);

	if (code && proc->nr_intercepts < DP_INTERCEPTS_MAX)
		dp_intercepts_add(proc, addr, code, nr | DP_CALL_THROUGH,
				  CALL_SIZE, false);
}

/* Is the function at @addr __syscall_cp_asm? If so, note its call and its exit. */
static bool find_last(struct dp_points *p, const struct code *c, u64 addr)
{
	const u8 *code = bytes(c, addr, LAST_MAX);
	struct insn_facts f;
	u64 at = addr;

	if (!code || !dp_code_begins_cancellable(code))
		return false;
	while (at - addr < LAST_MAX && decode(c, at, &f)) {
		if (f.class == DP_INSN_JCC)
			p->cancel = at + f.len + (u64)f.target;
		else if (f.class == DP_INSN_SYSCALL)
			break;
		else if (f.class != DP_INSN_PLAIN)
			return false;
		at += f.len;
	}
	code = bytes(c, p->cancel, CALL_SIZE);
	if (f.class != DP_INSN_SYSCALL || !code || !dp_code_jumps(code))
		return false;
	p->last = addr;
	p->last_call = at;
	return true;
}

/** struct walk - a pass over __syscall_cp_c, in the order of addresses */
struct walk {
	u64 at, furthest; /* @furthest: highest target of a branch */
	s32 depth, body; /* stack depth; @body: at the first branch */
	bool branched;
};

static void pass_branch(struct walk *w, const struct insn_facts *f)
{
	u64 to = w->at + f->len + (u64)f->target;

	if (to > w->furthest)
		w->furthest = to;
	if (!w->branched)
		w->body = w->depth;
	w->branched = true;
}

/* Return: does the function end with this instruction? */
static bool pass(struct dp_points *p, const struct code *c, struct walk *w,
		 const struct insn_facts *f)
{
	u64 to = w->at + f->len + (u64)f->target;

	switch (f->class) {
	case DP_INSN_JCC:
		pass_branch(w, f);
		return false;
	case DP_INSN_SYSCALL:
		p->direct_call = w->at;
		p->direct_depth = w->depth;
		return false;
	case DP_INSN_CALL:
		if (!p->last && find_last(p, c, to))
			p->last_depth = w->depth + (s32)sizeof(u64);
		else if (p->nr_ends < DP_POINTS_ENDS)
			p->ends[p->nr_ends++] = w->at;
		return w->at >= w->furthest && w->branched;
	case DP_INSN_JMP:
		if (to > w->furthest && to - p->maker < MAKER_MAX)
			w->furthest = to;
		w->depth = w->body;
		return w->at >= w->furthest;
	case DP_INSN_RET:
		w->depth = w->body;
		return w->at >= w->furthest;
	default:
		w->depth += dp_code_deepens(bytes(c, w->at, DP_INSN_MAX), f);
		return false;
	}
}

/* Does the code from @addr to @end pass its arguments on to the system call? */
static bool shifts(const struct code *c, u64 addr, u64 end)
{
	const u8 *code = bytes(c, addr, end - addr);

	return code && dp_code_passes_on(code, end - addr);
}

/* Is the function at @addr __syscall_cp_c, or its stand-in in a program without threads? If
 * so, note its calls and stack depths. */
static bool find_maker(struct dp_points *p, const struct code *c, u64 addr)
{
	struct walk w = { .at = addr };
	struct insn_facts f;
	bool end = false;

	*p = (struct dp_points){ .maker = addr };
	while (!end && w.at - addr < MAKER_MAX && decode(c, w.at, &f)) {
		end = pass(p, c, &w, &f);
		w.at += f.len;
	}
	p->maker_len = (u32)(w.at - addr);
	return end && p->direct_call && shifts(c, addr, p->direct_call);
}

/* Is the function at @addr __syscall_cp, a jump to __syscall_cp_c? Notes them once. */
static bool is_known(struct dp_process *proc, const struct code *c, u64 addr)
{
	struct dp_points p;
	struct insn_facts f;
	u32 i;

	if (proc->points.enter == addr)
		return true;
	if (proc->points.enter || !decode(c, addr, &f) ||
	    f.class != DP_INSN_JMP ||
	    !find_maker(&p, c, addr + f.len + (u64)f.target))
		return false;
	p.enter = addr;
	proc->points = p;
	for (i = 0; i < p.nr_ends; i++)
		add(proc, c, p.ends[i], DP_CALL_RETURNS);
	if (p.last)
		add(proc, c, p.cancel, DP_CALL_RETURNS);
	return true;
}

/* Return: the first instruction within @most bytes from @addr that is neither plain nor, with
 * @jcc, a conditional jump; 0: there is none. */
static u64 past_plain(const struct code *c, u64 addr, u64 most, bool jcc,
		      struct insn_facts *f)
{
	u64 at = addr;

	for (; at - addr < most && decode(c, at, f); at += f->len)
		if (f->class != DP_INSN_PLAIN &&
		    !(jcc && f->class == DP_INSN_JCC))
			return at;
	return 0;
}

/* Return: the first call behind @addr, with its target in @to; 0: none. */
static u64 call_behind(const struct code *c, u64 addr, u64 *to)
{
	struct insn_facts f;
	u64 at = past_plain(c, addr, ARGUMENTS_MAX, false, &f);

	if (!at || f.class != DP_INSN_CALL || f.len != CALL_SIZE)
		return 0;
	*to = at + f.len + (u64)f.target;
	return at;
}

/* Return: the call or jump to __syscall_ret behind the call; 0: none. */
static u64 next_call(const struct code *c, u64 addr)
{
	struct insn_facts f;
	u64 at = past_plain(c, addr, DP_THROUGH_TAIL, true, &f);

	return at && f.len == CALL_SIZE &&
			       (f.class == DP_INSN_CALL ||
				f.class == DP_INSN_JMP) ?
		       at :
		       0;
}

void dp_points_add(struct dp_process *proc, const struct dp_span *span,
		   const u8 *text, u64 addr, u32 nr)
{
	const struct code c = { span, text };
	u64 to = 0, call = call_behind(&c, addr, &to);
	u64 back = call ? next_call(&c, call + CALL_SIZE) : 0;

	if (!back || proc->nr_intercepts + 2 > DP_INTERCEPTS_MAX ||
	    !is_known(proc, &c, to))
		return;
	add(proc, &c, call,
	    nr | DP_CALL_ENTERS | CALL_SIZE << DP_CALL_LENGTH_SHIFT);
	add(proc, &c, back, DP_CALL_RETURNS);
}

bool dp_points_touched(const struct dp_process *proc,
		       const struct dp_intercept *h)
{
	const struct dp_points *p = &proc->points;
	const struct dp_engine *e = proc->engine;

	return dp_engine_probed(e, p->enter, CALL_SIZE) ||
	       dp_engine_probed(e, p->maker, p->maker_len) ||
	       dp_engine_probed(e, p->last, p->last_call - p->last + 1) ||
	       dp_engine_probed(e, p->last_call + DP_SYSCALL_SIZE,
				p->last ? 1 : 0) ||
	       dp_engine_probed(e, h->addr + CALL_SIZE, DP_THROUGH_TAIL);
}

static const struct dp_intercept *called_from(const struct dp_process *proc,
					      u64 back)
{
	size_t i;

	for (i = 0; i < proc->nr_intercepts; i++) {
		const struct dp_intercept *h = &proc->intercepts[i];

		if (dp_call_goes_through(h->nr) && h->nr & DP_CALL_ENTERS &&
		    h->addr + CALL_SIZE == back)
			return h;
	}
	return NULL;
}

const struct dp_intercept *dp_points_at(const struct dp_process *proc, u64 pc,
					u64 sp, u64 *below)
{
	const struct dp_points *p = &proc->points;
	u64 back;

	if (p->last &&
	    (pc == p->last_call || pc == p->last_call + DP_SYSCALL_SIZE))
		sp += (u64)p->last_depth;
	else if (p->enter && (pc == p->direct_call ||
			      pc == p->direct_call + DP_SYSCALL_SIZE))
		sp += (u64)p->direct_depth;
	else
		return NULL;
	*below = sp + sizeof(back);
	return dp_process_read(proc, sp, &back, sizeof(back)) ?
		       NULL :
		       called_from(proc, back);
}

bool dp_points_between(const struct dp_process *proc, u64 pc, u64 sp)
{
	const struct dp_points *p = &proc->points;
	u64 words[DP_THROUGH_STACK / sizeof(u64)], below;
	size_t i;

	if (!p->enter || dp_points_at(proc, pc, sp, &below) ||
	    (pc != p->enter && pc - p->maker >= p->maker_len &&
	     (!p->last ||
	      pc - p->last > p->last_call + DP_SYSCALL_SIZE - p->last)))
		return false;
	if (dp_process_read(proc, sp, words, sizeof(words)))
		return false;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (called_from(proc, words[i]))
			return true;
	return false;
}
