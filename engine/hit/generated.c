// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * generated: from a thread in code of ours to the program's instruction for which it stands.
 *
 *   signal's frame ─► agent … agent ─► detour ─► the program's instruction, its stack pointer
 *                               │        ▲ return address
 *                               └─ a call-out
 *
 * Frames of the agent are walked by rules, as any code, and not shown.
 */
#include "engine/hit/backtrace.h"
#include "engine/insn/unwind.h"
#include "engine/layout/arena.h"

/* @steps: pieces that may still be looked at */
static const struct dp_generated *in_line(const struct dp_backtrace_head *head,
					  const char *arena, u64 line, u64 pc,
					  u32 *steps)
{
	const u32 *lines = (const void *)(arena + head->line);
	const struct dp_generated *v = (const void *)(arena + head->piece), *g;
	u32 i = __atomic_load_n(
		&lines[dp_generated_index(line, head->line_mask)],
		__ATOMIC_ACQUIRE);

	for (; i && i < head->max_pieces && *steps; i = g->next, (*steps)--) {
		g = &v[i];
		if (pc - g->at < g->len)
			return g;
	}
	return NULL;
}

const struct dp_generated *
dp_generated_find(const struct dp_backtrace_head *head, const char *arena,
		  u64 pc)
{
	const struct dp_generated *g = NULL;
	u64 line = pc >> DP_GENERATED_LINE, i;
	u32 steps = DP_GENERATED_STEPS;

	if (!head->max_pieces)
		return NULL;
	for (i = 0; !g && i <= DP_GENERATED_MOST >> DP_GENERATED_LINE; i++)
		g = in_line(head, arena, line - i, pc, &steps);
	return g;
}

bool dp_generated_is_agent(const struct dp_backtrace_head *head, u64 pc)
{
	return head->agent && pc - head->agent < DP_AGENT_TEXT;
}

/** struct place - in a piece
 * @insn: as in a state; @sp: the program's stack pointer is so far up; @saved: slots that have registers */
struct place {
	const struct dp_generated *piece;
	const struct dp_generated_shape *shape;
	u32 sp, saved;
	u8 insn;
};

/* Return: false: it is not known. @p->piece is there. */
static bool look_up(const char *arena, u64 pc, struct place *p)
{
	const struct dp_unwind_note *note;

	p->shape = (const void *)(arena + p->piece->shape);
	note = dp_unwind_note_at(p->shape->v, p->shape->nr,
				 (u32)(pc - p->piece->at));
	if (!note || note->state >> DP_UNWIND_INSN == DP_UNWIND_FRAMES)
		return false;
	p->insn = dp_unwind_insn(note->state);
	p->sp = dp_unwind_sp(note->state) + (u32)sizeof(u64) * note->more;
	p->saved = dp_unwind_saved(note->state) + note->more;
	return true;
}

/* Which slot has a register? What counts inner instructions saves two, always, unless they begin or end calls. */
static u32 slot_of(const struct place *p, u8 number)
{
	if (!p->insn || p->saved > 2)
		return p->shape->slot[number & 15];
	return number < 2 ? number + 1u : 0;
}

/* @sp: the program's. Return: false: it is in the register. */
static bool is_saved(const struct place *p, u64 sp, u8 number,
		     struct dp_load *value)
{
	u32 slot = slot_of(p, number);

	if (!slot || slot > p->saved)
		return false;
	*value = dp_backtrace_load(sp - DP_RED_ZONE_SIZE - sizeof(u64) * slot);
	return true;
}

struct dp_load dp_generated_register(const struct dp_backtrace_head *head,
				     const char *arena, u64 signal, u8 number)
{
	struct dp_load pc = dp_backtrace_load(signal + DP_SIGNAL_PC), value;
	struct dp_load sp = dp_backtrace_load(signal + DP_SIGNAL_SP);
	struct place p = { .piece = dp_generated_find(head, arena, pc.value) };

	if (pc.ok && sp.ok && p.piece && p.piece->shape &&
	    look_up(arena, pc.value, &p) &&
	    is_saved(&p, sp.value + p.sp, number, &value))
		return value;
	return dp_backtrace_load(signal + dp_signal_register(number));
}

/* From a stub to what has called it */
static enum dp_backtrace_end leave_stub(struct dp_backtrace *b)
{
	struct dp_load back = dp_backtrace_load(b->sp);

	if (!back.ok)
		return DP_END_UNREADABLE;
	b->sp += sizeof(u64);
	b->pc = back.value;
	b->exact = false;
	return DP_END_NONE;
}

static enum dp_backtrace_end leave_piece(struct dp_backtrace *b,
					 const struct dp_generated *g)
{
	struct place p = { .piece = g };
	struct dp_load frame;

	if (!look_up(b->arena, b->pc - !b->exact, &p))
		return DP_END_UNKNOWN;
	b->sp += p.sp;
	b->pc = p.insn == DP_UNWIND_DUPLICATE ? g->duplicate :
						g->addr + g->offset[p.insn];
	b->exact = true;
	if (is_saved(&p, b->sp, DP_RULE_FRAME, &frame)) {
		b->framed = frame.ok;
		b->frame = frame.value;
	}
	return DP_END_NONE;
}

static enum dp_backtrace_end leave_island(struct dp_backtrace *b,
					  const struct dp_generated *g)
{
	b->pc = g->addr;
	b->exact = true;
	return DP_END_NONE;
}

enum dp_backtrace_end dp_generated_leave(struct dp_backtrace *b)
{
	enum dp_backtrace_end end = DP_END_NONE;
	const struct dp_generated *g;
	u32 n;

	for (n = 0; !end && n < DP_GENERATED_FRAMES; n++) {
		if (dp_generated_is_agent(b->head, b->pc)) {
			end = dp_backtrace_pass(b);
			continue;
		}
		g = dp_generated_find(b->head, b->arena, b->pc - !b->exact);
		if (!g)
			return DP_END_NONE;
		if (g->shape)
			return leave_piece(b, g);
		if (g->addr)
			return leave_island(b, g);
		end = leave_stub(b);
	}
	return end && end != DP_END_COMPLETE ? end : DP_END_UNKNOWN;
}
