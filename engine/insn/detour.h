/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * detour: the code that a site's jump leads to.
 *
 *     descriptor of the restartable sequence     (counting detours only)
 *     where counting goes when it cannot count here, or was interrupted
 *   start:
 *     count, or tell the agent
 *     first instruction of the region
 *     …  where asked for, tell the agent before or after one of them
 *     jump back behind the region
 *
 * The red zone is skipped, nothing below it is relied upon, and no flag and no
 * register is different when an instruction of the region is reached.
 */
#ifndef DP_DETOUR_H
#define DP_DETOUR_H

#include "engine/insn/region.h"

#define DP_DETOUR_ALIGN 32
#define DP_DETOUR_MAX 768

/**
 * struct dp_rseq - where a thread's struct rseq is, from its thread pointer
 * @offset: bytes
 * @signature: that stands before the code which an interruption leads to
 */
struct dp_rseq {
	s32 offset;
	u32 signature;
};

/**
 * struct dp_detour_spec - what a detour has to do
 * @from: address of the site; @code its bytes; @region what it replaces
 * @at: address of the detour, a multiple of DP_DETOUR_ALIGN
 * @entry: address of code that jumps to the agent's dp_detour_entry
 * @before, @after: 1 + the number that the agent is told before and after an
 *                  instruction; 0: it is not
 * @call: likewise, before the last instruction, whatever @before says
 * @rseq: count without the agent, or NULL. @before[0] is then only what the
 *        agent is told when that is not possible
 * @table: address of the CPUs' addresses of counters, 65,536 of them, 0 where
 *         there is none
 * @counter: offset of the counter from these
 * @enable_word: address of a word. If it is not 0, the agent is told after counting, too;
 *        and if the thread is in a handler: its struct dp_stack, whose address is at
 *        @self from the thread pointer, says so at DP_DETOUR_BUSY
 *        and if counting is not possible, with DP_CALLOUT_UNCOUNTED
 * @tracked: address of code that jumps to the agent's dp_tracked_entry, which is told
 *          of the first instruction with DP_CALLOUT_TRACKED, and may change where the
 *          thread goes on; 0: none. Only with @rseq and @enable_word
 * @intercept_entry: address of the agent's dp_intercept_entry, which makes the system call
 *              number @intercept in place of the last instruction; 0: none
 */
struct dp_detour_spec {
	u64 from, at, entry;
	const u8 *code;
	const struct dp_region *region;
	u32 before[DP_REGION_INSNS], after[DP_REGION_INSNS];
	u32 call;
	const struct dp_rseq *rseq;
	u64 table;
	u32 counter;
	u64 enable_word;
	s32 self;
	u64 tracked;
	u64 intercept_entry;
	u32 intercept;
};

/**
 * struct dp_detour - the code, and where in it is what
 * @start: where the jump goes
 * @at: where each instruction begins, with what is told before it; the last one
 *      is the jump back
 * @insn: where the instruction itself is
 * @atomic: a bit an instruction: it is one instruction here too
 */
struct dp_detour {
	u8 code[DP_DETOUR_MAX];
	u16 len, start;
	u16 at[DP_REGION_INSNS + 1];
	u16 insn[DP_REGION_INSNS];
	u8 atomic;
};

/**
 * dp_detour_make() - write a detour
 *
 * Context: control half. Pure.
 * Return: 0; -ENOMEM something is out of reach from @spec->at; -EINVAL an
 * instruction cannot be relocated.
 */
int dp_detour_make(const struct dp_detour_spec *spec, struct dp_detour *detour);

/** dp_detour_entry_stub() - write a jump to @target, however far that is. Return: its
 *  bytes, DP_ENTRY_STUB at most */
unsigned int dp_detour_entry_stub(u8 *code, u64 target);

#endif
