/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* emit: machine code, byte by byte, for an address that is known. */
#ifndef DP_INSN_X86_EMIT_H
#define DP_INSN_X86_EMIT_H

#include "arch/x86/arch_defs.h"
#include "engine/insn/insn.h"

struct dp_unwind_states;

/**
 * struct dp_out - code that is being written
 * @code: where to; @len: bytes so far
 * @at: address of @code[0] in the target
 * @far: something was out of reach
 * @saved: what is below the red zone are registers
 * @insn: the instruction of the program for which the thread stands, as in a state
 * @depth: bytes from the thread's stack pointer to the program's
 * @unwind: where the states are noted, or NULL
 */
struct dp_out {
	u8 *code;
	unsigned int len;
	u64 at;
	bool far, saved;
	u8 insn;
	u32 depth;
	struct dp_unwind_states *unwind;
};

/** dp_put_state() - note the state from here on */
void dp_put_state(struct dp_out *o);
/** dp_put_at() - from here on, the thread is at this depth, for instruction @insn */
void dp_put_at(struct dp_out *o, u32 depth, u8 insn);
/** dp_put_deeper() - the instruction before this has moved the stack pointer down by so many bytes */
void dp_put_deeper(struct dp_out *o, s32 by);
/** dp_end_copy() - from offset @start on is the copy of an instruction; behind it, the thread stands for
 *  instruction @next */
void dp_end_copy(struct dp_out *o, unsigned int start, u8 class, u8 next);
/** dp_put_saved() - the next words that are pushed are registers; after dp_put_at(), those that
 *  have been, too */
void dp_put_saved(struct dp_out *o);
/** dp_put_frame() - from here on, the thread has the frame of what calls a followed handler
 *  @state: DP_UNWIND_FRAME, or one of those that say where it is */
void dp_put_frame(struct dp_out *o, u8 state);

static inline void dp_put(struct dp_out *o, const u8 *bytes, unsigned int n)
{
	while (n--)
		o->code[o->len++] = *bytes++;
}

static inline void dp_put32(struct dp_out *o, u32 v)
{
	u8 b[4] = { (u8)v, (u8)(v >> 8), (u8)(v >> 16), (u8)(v >> 24) };

	dp_put(o, b, sizeof(b));
}

static inline void dp_put64(struct dp_out *o, u64 v)
{
	dp_put32(o, (u32)v);
	dp_put32(o, (u32)(v >> 32));
}

#define DP_PUT(o, ...)                         \
	dp_put(o, (const u8[]){ __VA_ARGS__ }, \
	       sizeof((const u8[]){ __VA_ARGS__ }))

/* The displacement from the end of four bytes written next to @target. */
static inline void dp_put_rel32(struct dp_out *o, u64 target)
{
	s64 rel = (s64)(target - (o->at + o->len + 4));

	if (rel != (s32)rel)
		o->far = true;
	dp_put32(o, (u32)rel);
}

static inline void dp_put_jmp(struct dp_out *o, u64 target)
{
	DP_PUT(o, 0xe9);
	dp_put_rel32(o, target);
}

/* lea @by(%rsp), %rsp */
static inline void dp_put_move_stack(struct dp_out *o, s32 by)
{
	if (by == (int8_t)by) {
		DP_PUT(o, 0x48, 0x8d, 0x64, 0x24, (u8)by);
	} else {
		DP_PUT(o, 0x48, 0x8d, 0xa4, 0x24);
		dp_put32(o, (u32)by);
	}
	dp_put_deeper(o, -by);
}

/* push $number; call entry; and behind it, the stack pointer is the thread's again. Before, it is
 * below the red zone. */
static inline void dp_put_callout(struct dp_out *o, u64 entry, u32 number)
{
	DP_PUT(o, 0x68);
	dp_put32(o, number);
	dp_put_deeper(o, 8);
	DP_PUT(o, 0xe8);
	dp_put_rel32(o, entry);
	dp_put_move_stack(o, DP_RED_ZONE_SIZE + 8);
}

/* The same, by the address that the stub at @stub jumps to: one jump less. */
static inline void dp_put_callout_by(struct dp_out *o, u64 stub, u32 number)
{
	DP_PUT(o, 0x68);
	dp_put32(o, number);
	dp_put_deeper(o, 8);
	DP_PUT(o, 0xff, 0x15); /* call *stub + 6(%rip) */
	dp_put_rel32(o, stub + DP_STUB_WORD);
	dp_put_move_stack(o, DP_RED_ZONE_SIZE + 8);
}

/* The byte at @displacement is of a jump to here. */
static inline void dp_put_aim(struct dp_out *o, unsigned int displacement)
{
	unsigned int far = o->len - (displacement + 1);

	o->code[displacement] = (u8)far;
	o->far |= far > 127;
}

/* So are the four bytes there; or to @skip bytes behind this. */
static inline void dp_put_aim_far(struct dp_out *o, unsigned int displacement,
				  unsigned int skip)
{
	unsigned int end = o->len;

	o->len = displacement;
	dp_put32(o, end + skip - (displacement + 4));
	o->len = end;
}

#endif
