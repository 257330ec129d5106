// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * generated: what walks have to know of the code that is made here (engine/layout/backtrace.h), control's
 * side.
 *
 * A piece is there for walks as soon as it is told, and before anything leads to its code. Detours that are
 * made alike have a shape in common. Where there is no room, walks end.
 */
#include "engine/insn/bits.h"
#include "engine/insn/detour.h"
#include "engine/insn/unwind.h"
#include "engine/layout/arena.h"
#include "engine/site/backtrace.h"
#include "engine/site/internal.h"
#include "engine/site/live.h"

_Static_assert(DP_DETOUR_MAX + DP_DETOUR_ALIGN <= DP_GENERATED_MOST &&
		       DP_STUBS <= DP_GENERATED_MOST,
	       "a piece is found by the lines before");
/* Bytes of shapes for each site, and for those of all copies */
#define SHAPE_BYTES 128
#define SHAPES_LEAST (16u << 10)

/* Of a site: two copies, a jump and its island, and half of that again. Stubs are few. */
static u32 most_pieces(const struct dp_engine *e)
{
	return 5 * e->max_sites + DP_MAX_POOLS + 1;
}

static u32 lines_for(u32 pieces)
{
	return dp_bits_power(pieces, 64);
}

static u64 shape_room(const struct dp_engine *e)
{
	return (u64)e->max_sites * SHAPE_BYTES + SHAPES_LEAST;
}

u64 dp_generated_bytes(const struct dp_engine *e)
{
	u32 pieces = most_pieces(e);

	return (u64)pieces * sizeof(struct dp_generated) +
	       lines_for(pieces) * sizeof(u32) + shape_room(e);
}

void dp_generated_fill(struct dp_engine *e, struct dp_backtrace_head *head,
		       u32 off)
{
	struct dp_generated_room *r = &e->backtraces.generated;
	u32 pieces = most_pieces(e), lines = lines_for(pieces), i;
	u32 *line;

	*r = (struct dp_generated_room){ .nr = 1 };
	head->piece = off;
	head->max_pieces = pieces;
	head->line = off + pieces * (u32)sizeof(struct dp_generated);
	head->line_mask = lines - 1;
	r->shapes = head->line + lines * (u32)sizeof(u32);
	r->end = r->shapes + (u32)shape_room(e);
	head->agent = e->map.base;
	line = (void *)((char *)e->arena + head->line);
	for (i = 0; i < lines; i++)
		line[i] = 0;
}

static void *at(const struct dp_engine *e, u64 offset)
{
	return (char *)e->arena + offset;
}

/* --- shapes --- */

static u32 mix(u32 hash, u32 word)
{
	return (hash ^ word) * 0x01000193u;
}

static u32 hash_of(const struct dp_unwind_states *s)
{
	u32 hash = s->nr, i;

	for (i = 0; i < DP_UNWIND_REGS; i++)
		hash = mix(hash, s->slot[i]);
	for (i = 0; i < s->nr; i++)
		hash = mix(hash, s->v[i].at | (u32)s->v[i].state << 16 |
					 (u32)s->v[i].more << 24);
	return hash ^ hash >> 15;
}

static bool has_shape(const struct dp_generated_shape *g,
		      const struct dp_unwind_states *s)
{
	u32 i;

	for (i = 0; i < DP_UNWIND_REGS; i++)
		if (g->slot[i] != s->slot[i])
			return false;
	if (g->nr != s->nr)
		return false;
	for (i = 0; i < s->nr; i++)
		if (g->v[i].at != s->v[i].at ||
		    g->v[i].state != s->v[i].state ||
		    g->v[i].more != s->v[i].more)
			return false;
	return true;
}

static void write_shape(struct dp_generated_shape *g,
			const struct dp_unwind_states *s)
{
	u32 i;

	for (i = 0; i < DP_UNWIND_REGS; i++)
		g->slot[i] = s->slot[i];
	g->nr = s->nr;
	for (i = 0; i < s->nr; i++)
		g->v[i] = (struct dp_unwind_note){ s->v[i].at, s->v[i].state,
						   s->v[i].more };
}

/* Return: offset of the shape; 0: there is no room. */
static u32 shape_of(struct dp_engine *e, const struct dp_unwind_states *s)
{
	struct dp_generated_room *r = &e->backtraces.generated;
	u32 *recent = &r->recent[hash_of(s) % DP_GENERATED_RECENT];
	u32 bytes = (u32)(sizeof(struct dp_generated_shape) +
			  s->nr * sizeof(struct dp_unwind_note));

	if (*recent && has_shape(at(e, *recent), s))
		return *recent;
	if (bytes > r->end - r->shapes)
		return 0;
	*recent = r->shapes;
	write_shape(at(e, r->shapes), s);
	r->shapes += bytes;
	return *recent;
}

/* --- pieces --- */

/* Code has been there before. */
static void forget_line(const struct dp_engine *e,
			const struct dp_backtrace_head *head, u64 line,
			const struct dp_charted *code)
{
	const u32 *lines = at(e, head->line);
	struct dp_generated *v = at(e, head->piece), *g;
	u32 i = lines[dp_generated_index(line, head->line_mask)];

	for (; i; i = g->next) {
		g = &v[i];
		if (g->at < code->at + code->len && code->at < g->at + g->len)
			__atomic_store_n(&g->len, 0, __ATOMIC_RELAXED);
	}
}

static void forget(const struct dp_engine *e,
		   const struct dp_backtrace_head *head,
		   const struct dp_charted *code)
{
	u64 first = (code->at - DP_GENERATED_MOST) >> DP_GENERATED_LINE, line;

	for (line = first;
	     line <= (code->at + code->len - 1) >> DP_GENERATED_LINE; line++)
		forget_line(e, head, line, code);
}

void dp_generated_note(struct dp_engine *e, const struct dp_charted *code)
{
	struct dp_generated_room *r = &e->backtraces.generated;
	struct dp_backtrace_head *head;
	struct dp_generated *g;
	u32 *line, shape = 0, i;

	if (!dp_engine_walks(e))
		return;
	head = at(e, e->backtraces.head_off);
	forget(e, head, code);
	if (code->states)
		shape = shape_of(e, code->states);
	if (r->nr == head->max_pieces || (code->states && !shape))
		return;
	line = at(e, head->line);
	line += dp_generated_index(code->at >> DP_GENERATED_LINE,
				   head->line_mask);
	g = at(e, head->piece);
	g += r->nr;
	*g = (struct dp_generated){ .at = code->at,
				    .len = code->len,
				    .next = *line,
				    .shape = shape,
				    .addr = code->addr,
				    .duplicate = code->duplicate };
	for (i = 0; i < sizeof(g->offset); i++)
		g->offset[i] = code->offset[i];
	__atomic_store_n(line, r->nr++, __ATOMIC_RELEASE);
}
