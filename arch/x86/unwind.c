// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* unwind: the states of generated code, noted while it is encoded. */
#include "engine/insn/unwind.h"
#include "arch/x86/emit.h"
#include "engine/insn/class.h"
#include "engine/insn/region.h"

_Static_assert(DP_REGION_INSNS <= DP_UNWIND_FRAMES, "no such instruction");

static u32 depth_of(const struct dp_out *o)
{
	u32 words = o->depth / 8, skipped = DP_RED_ZONE_SIZE / 8;

	return words < DP_DEPTH_SKIPPED	   ? words :
	       o->saved && words > skipped ? DP_DEPTH_SAVED + words - skipped :
					     DP_DEPTH_SKIPPED + words - skipped;
}

/* Code may be encoded anew from an earlier offset on. */
static void put_note(struct dp_out *o, u8 state, u8 more)
{
	struct dp_unwind_states *u = o->unwind;

	if (!u)
		return;
	while (u->nr && u->v[u->nr - 1].at >= o->len)
		u->nr--;
	if (u->nr && u->v[u->nr - 1].state == state &&
	    u->v[u->nr - 1].more == more)
		return;
	if (u->nr == DP_UNWIND_NOTES)
		o->far = true;
	else
		u->v[u->nr++] =
			(struct dp_unwind_note){ (u16)o->len, state, more };
}

void dp_put_state(struct dp_out *o)
{
	u32 depth = depth_of(o), most = DP_UNWIND_DEPTH;
	u32 more = depth > most ? depth - most : 0;

	put_note(o, (u8)(o->insn << DP_UNWIND_INSN | (depth - more)), (u8)more);
}

void dp_put_frame(struct dp_out *o, u8 state)
{
	put_note(o, state, 0);
}

void dp_put_at(struct dp_out *o, u32 depth, u8 insn)
{
	o->depth = depth;
	o->insn = insn;
	o->saved = false;
	dp_put_state(o);
}

void dp_put_deeper(struct dp_out *o, s32 by)
{
	o->depth += (u32)by;
	if (o->depth <= DP_RED_ZONE_SIZE)
		o->saved = false;
	dp_put_state(o);
}

void dp_put_saved(struct dp_out *o)
{
	o->saved = true;
	dp_put_state(o);
}

/* See relocate.c for what the copies of calls are. */
static void note_call(struct dp_out *o, unsigned int start, u8 class)
{
	const unsigned int tail = 27, read_again = 3, drop = 5, push = 5;
	unsigned int end = o->len;

	if (class == DP_INSN_CALL) {
		o->len = start + push;
		dp_put_deeper(o, 8);
	} else {
		o->len = end - tail;
		dp_put_deeper(o, 8);
		o->len += read_again;
		dp_put_deeper(o, 8);
		o->len += drop;
		dp_put_deeper(o, -8);
	}
	o->len = end;
}

void dp_end_copy(struct dp_out *o, unsigned int start, u8 class, u8 next)
{
	if (class == DP_INSN_CALL || class == DP_INSN_CALL_IND)
		note_call(o, start, class);
	dp_put_at(o, 0, next);
}

void dp_copy_unwind(struct dp_unwind_states *u, u8 class, u8 body)
{
	u8 code[DP_COPY_MAX];
	struct dp_out o = { .code = code, .unwind = u };

	u->nr = 0;
	dp_put_at(&o, 0, 0);
	o.len = body;
	dp_end_copy(&o, 0, class, DP_UNWIND_BEHIND);
}
