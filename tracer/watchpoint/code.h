/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code: instructions of a program that the kernel runs at a hit (BPF).
 *
 * A program's frame, below its frame pointer:
 *
 *     fp - sizeof(struct dp_watch_record)   the record
 *     8 bytes below that                    the thread's ids
 *     DP_WATCH_DEPTH words below that       values of a condition
 *
 * Context of every function: any. Pure: only the code changes.
 */
#ifndef DP_TRACER_WATCHPOINT_CODE_H
#define DP_TRACER_WATCHPOINT_CODE_H

#include "tracer/watchpoint/watchpoint.h"
#include <linux/bpf.h>
#include <stddef.h>

#define DP_WATCH_CODE 4096
#define DP_WATCH_DEPTH 32

#define DP_WATCH_RECORD (-(int)sizeof(struct dp_watch_record))
#define DP_WATCH_IDS (DP_WATCH_RECORD - 8)
/* Where a member of the record is, from the frame pointer; and the value of depth @n */
#define DP_WATCH_AT(member) \
	(DP_WATCH_RECORD + (int)offsetof(struct dp_watch_record, member))
#define DP_WATCH_VALUE(n) (DP_WATCH_IDS - 8 * ((int)(n) + 1))

/** struct dp_watch_code - @n instructions; @full: there was no room for all */
struct dp_watch_code {
	struct bpf_insn v[DP_WATCH_CODE];
	u32 n;
	bool full;
};

void dp_watch_put(struct dp_watch_code *c, u8 op, u8 dst, u8 src, int off,
		  int imm);

static inline void dp_watch_move(struct dp_watch_code *c, u8 dst, u8 src)
{
	dp_watch_put(c, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}

static inline void dp_watch_number(struct dp_watch_code *c, u8 dst, int number)
{
	dp_watch_put(c, BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, number);
}

/** dp_watch_wide() - 64 bits; of a @kind BPF_PSEUDO_…: @number with @more */
static inline void dp_watch_wide(struct dp_watch_code *c, u8 dst, u8 kind,
				 u64 number, u32 more)
{
	dp_watch_put(c, BPF_LD | BPF_DW | BPF_IMM, dst, kind, 0, (int)number);
	dp_watch_put(c, 0, 0, 0, 0, kind ? (int)more : (int)(number >> 32));
}

static inline void dp_watch_load(struct dp_watch_code *c, u8 size, u8 dst,
				 u8 src, int off)
{
	dp_watch_put(c, BPF_LDX | BPF_MEM | size, dst, src, off, 0);
}

/** dp_watch_store() - into the frame */
static inline void dp_watch_store(struct dp_watch_code *c, u8 size, int off,
				  u8 src)
{
	dp_watch_put(c, BPF_STX | BPF_MEM | size, BPF_REG_10, src, off, 0);
}

/** dp_watch_address() - of what the frame has at @off */
static inline void dp_watch_address(struct dp_watch_code *c, u8 dst, int off)
{
	dp_watch_move(c, dst, BPF_REG_10);
	dp_watch_put(c, BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, off);
}

static inline void dp_watch_call(struct dp_watch_code *c, int function)
{
	dp_watch_put(c, BPF_JMP | BPF_CALL, 0, 0, 0, function);
}

/** dp_watch_here() - the jump at @from leads to the next instruction */
static inline void dp_watch_here(struct dp_watch_code *c, u32 from)
{
	if (!c->full)
		c->v[from].off = (__s16)(c->n - from - 1);
}

/**
 * dp_watch_condition() - code that leaves in r0 whether the condition of a spec holds
 * @code: NULL: only check the condition
 * @len: bytes that are watched
 *
 * The record's values must be in the frame. Return: 0; -EINVAL, -EOPNOTSUPP with a caret.
 */
int dp_watch_condition(struct dp_watch_code *code, const struct dp_spec *spec,
		       u8 len, struct dp_diag *diag);
/** dp_watch_judge() - does the condition of dp_watch_condition()'s code hold for a record? */
bool dp_watch_judge(const struct dp_watch_code *code,
		    const struct dp_watch_record *record);

#endif
