/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* region: the instructions that a jump of five bytes displaces, wholly or in part. */
#ifndef DP_REGION_H
#define DP_REGION_H

#include "arch/arch.h"
#include "engine/insn/insn.h"

#define DP_REGION_INSNS 5
/* Four bytes, and one instruction that begins with the fifth */
#define DP_REGION_MAX (DP_JUMP_SIZE - 1 + DP_INSN_MAX)

/**
 * struct dp_region - at least five bytes of whole instructions
 * @len: bytes
 * @nr: instructions
 * @at: offset of each
 * @returns: an instruction before the last is a call, whose callee returns into the
 *         region
 * @faults: an instruction before the last can fault, and a handler of the program may go on
 *         behind it
 */
struct dp_region {
	u8 len, nr;
	bool returns, faults;
	u8 at[DP_REGION_INSNS];
	struct insn_facts facts[DP_REGION_INSNS];
};

/**
 * dp_region_decode() - find the instructions of a region
 * @code: bytes from the first instruction on
 * @size: how many may be read
 * @room: how many may belong to the region
 * @region: filled in on success
 * @why: on failure, a static phrase
 *
 * Context: control half. Pure but for the decoder.
 * Return: 0; -EINVAL there is no region: @why.
 */
int dp_region_decode(const u8 *code, size_t size, size_t room,
		     struct dp_region *region, const char **why);

/** dp_region_decode_all() - the same of a region that is all of @len bytes */
int dp_region_decode_all(const u8 *code, size_t len, struct dp_region *region,
			 const char **why);

/**
 * struct dp_entries - targets of a function's direct branches within the function
 * @v: @n addresses, ascending
 * @cut: the function cannot be decoded to its end, so there may be more
 */
struct dp_entries {
	u64 *v;
	size_t n;
	bool cut;
};

/**
 * dp_entries_find() - find the branch targets of a function
 * @code, @size, @start: its bytes, and their address
 * @entries: @v has room for @size / 2; filled in, not in order yet
 */
void dp_entries_find(struct dp_entries *entries, const u8 *code, size_t size,
		     u64 start);

/**
 * dp_region_entered() - does a branch go into the middle of an instruction?
 * @region, @addr: the region, and its address
 * @entries: of the function around it
 *
 * Some code jumps behind a lock prefix. Nothing is known of a function that cannot be
 * decoded to its end: that counts as such a branch.
 * Return: NULL if there is no such branch; else a static phrase.
 */
const char *dp_region_entered(const struct dp_region *region, u64 addr,
			      const struct dp_entries *entries);

/** dp_region_branches() - one bit for each jump of the region, conditional or not, that leads to
 *  @offset from its beginning */
u8 dp_region_branches(const struct dp_region *region, u64 offset);

/** dp_insn_falls_through() - can the instruction behind it in memory be next? */
static inline bool dp_insn_falls_through(u8 class)
{
	return class == DP_INSN_PLAIN || class == DP_INSN_JCC ||
	       class == DP_INSN_LOOP || class == DP_INSN_SYSCALL;
}

#endif
