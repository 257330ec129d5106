/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * block: the instances of one piece of a stack.
 *
 *   slot ─► tag: where the piece begins ─► directory: a line with this tag ─► block
 *        └► its lower bits ───────────────────────────────────────────────► instance
 *
 * A block has an instance for each word of the piece, so an instance is found without a
 * search. Only the thread that runs on a stack touches its instances, by plain loads and
 * stores. Line n of the directory is of block n: a line is claimed once, and the tool
 * gives back those of stacks that have gone. No fork child has this memory, because a
 * line has an address.
 */
#ifndef DP_LAYOUT_BLOCK_H
#define DP_LAYOUT_BLOCK_H

#include "port_types.h"

#define DP_BLOCK_BYTES 1024u /* of a stack */
#define DP_BLOCK_WORDS (DP_BLOCK_BYTES / 8)
/* A tag is in its home, or in another of these lines, by exclusive or. Detours look in the
 * first two. */
#define DP_BLOCK_WAYS 8
/* At most, where memory is tight, and at least; and bytes of all of them, about */
#define DP_BLOCKS_MOST 8192u
#define DP_BLOCKS_TIGHT 1024u
#define DP_BLOCKS_LEAST 64u
#define DP_BLOCKS_BYTES (32u << 20)

/** struct dp_block - a line of the directory
 *  @tag: dp_block_tag(); 0: free; @instances: address of the block's first instance */
struct dp_block {
	u64 tag, instances;
};

/** dp_block_tag() - where the piece of a stack begins that a slot is in */
static inline u64 dp_block_tag(u64 slot)
{
	return slot & ~(u64)(DP_BLOCK_BYTES - 1);
}

/** dp_block_word() - which word of its piece a slot is */
static inline u32 dp_block_word(u64 slot)
{
	return slot / 8 % DP_BLOCK_WORDS;
}

/* Detours compute the same. Blocks of one stack are scattered: two stacks meet in single lines. */
#define DP_BLOCK_FACTOR 0x5bd1e995u
#define DP_BLOCK_FACTOR_SHIFT 34

/** dp_block_home() - where a tag is looked for first; @mask: lines, less one */
static inline u32 dp_block_home(u64 tag, u32 mask)
{
	return (u32)(tag * DP_BLOCK_FACTOR >> DP_BLOCK_FACTOR_SHIFT) & mask;
}

/**
 * struct dp_call_entry - what detours do themselves at a site where calls begin or end
 * @counter: offset of the counter of the site's only probe in a CPU's counters, or, at the exit of
 *         a timed call, its number, shifted; and DP_CALL_ENTER or DP_CALL_EXIT, and
 *         DP_CALL_SHARED; 0: nothing
 * @group: as of an instance
 */
struct dp_call_entry {
	u32 group, counter;
};

/** dp_call_value() - both, as they are read and written */
static inline u64 dp_call_value(struct dp_call_entry entry)
{
	return (u64)entry.counter << 32 | entry.group;
}

#define DP_CALL_EXIT 1u
#define DP_CALL_ENTER 2u
/* An exit of several functions: only the call with the return address ends. */
#define DP_CALL_SHARED 4u
#define DP_CALL_SHIFT 3

#endif
