/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * backtrace: how hits walk the stacks of the program, and what they keep of them.
 *
 *   pc ─► kept: the rule that was found last for this pc
 *      ─► map: its module ─► the range that the pc is in ─► rule ─► the caller's frame, and so on
 *
 *   known stacks, each frame a node whose parent is the frame that it has called:
 *
 *   0 ◄── malloc+5 ◄── f+16 ◄── main+9 ◄── COMPLETE      the stack's number is that of its end
 *              ▲─────── g+20 ◄── main+30 ◄── COMPLETE
 *
 * Control writes maps, ranges and rules. There are two maps: the generation says which one is in
 * force, and the other one is written. Hits write what is kept, and the nodes.
 *
 * A node is one word, so it is there with all that belongs to it, or not at all, and no frame has two
 * with the same parent. Its place in the table tells the parent: home is computed of parent and pc,
 * and from home and pc the parent can be computed. Node 0 is none.
 */
#ifndef DP_LAYOUT_BACKTRACE_H
#define DP_LAYOUT_BACKTRACE_H

#include "arch/arch.h"
#include "engine/insn/unwind.h"

/* Frames of a walk, at most */
#define DP_BACKTRACE_FRAMES 128
/* Modules of a map, at most */
#define DP_BACKTRACE_MODULES 1024
/* Addresses of a program's code have so many bits. */
#define DP_BACKTRACE_PC 47
/* Of a frame's pc: the thread goes on there; without it, the pc is behind a call */
#define DP_BACKTRACE_EXACT (1ull << DP_BACKTRACE_PC)

/** enum dp_backtrace_end - why a walk has ended
 *  @DP_END_COMPLETE: that was the outermost frame
 *  @DP_END_UNKNOWN: nothing says how the last frame's code has come there
 *  @DP_END_UNREADABLE: what belongs to the next frame is in memory that cannot be read
 *  @DP_END_BROKEN: what should be the next frame is not above the last one, or no code can be there
 *  @DP_END_DEEP: there are more frames than DP_BACKTRACE_FRAMES */
enum dp_backtrace_end {
	DP_END_NONE,
	DP_END_COMPLETE,
	DP_END_UNKNOWN,
	DP_END_UNREADABLE,
	DP_END_BROKEN,
	DP_END_DEEP,
	DP_END_NR,
};

/* rule: of a pc. */

/**
 * struct dp_backtrace_module - code with rules; control owns it
 * @start, @end: its addresses
 * @ranges: offset in the arena of @nr times u32, which ascend: where ranges begin, from @start on;
 * @rules: of as many u16: their rules
 */
struct dp_backtrace_module {
	u64 start, end;
	u32 ranges, rules, nr, pad;
};

/** struct dp_backtrace_map - @v: modules, ascending; control owns it */
struct dp_backtrace_map {
	u32 nr, pad;
	struct dp_backtrace_module v[DP_BACKTRACE_MODULES];
};

/* A word that is kept has, from its lowest bit on, the rule, the pc's page, and the generation.
 * The other bits of the pc are told by the word's index. */
#define DP_KEPT_BITS 12
#define DP_KEPT (1u << DP_KEPT_BITS)
#define DP_KEPT_RULE 14 /* bits */
#define DP_KEPT_PAGE (DP_BACKTRACE_PC - DP_KEPT_BITS)
/* So often maps may change until the same word means something else. */
#define DP_KEPT_GENERATIONS (1u << (64 - DP_KEPT_RULE - DP_KEPT_PAGE))
#define DP_BACKTRACE_RULES (1u << DP_KEPT_RULE)

/** dp_kept_index() - where the rule of a pc is kept */
static inline u32 dp_kept_index(u64 pc)
{
	return (u32)(pc ^ pc >> DP_KEPT_BITS) & (DP_KEPT - 1);
}

/** dp_kept_word() - what is kept there, without the rule */
static inline u64 dp_kept_word(u64 pc, u32 generation)
{
	return (u64)generation << (DP_KEPT_RULE + DP_KEPT_PAGE) |
	       pc >> DP_KEPT_BITS << DP_KEPT_RULE;
}

/* generated: code of ours in which a signal may interrupt a thread. */

/* Pieces are found by the line that they begin in. They are so long at most, and so many are looked at. */
#define DP_GENERATED_LINE 10 /* bits of an address */
#define DP_GENERATED_MOST (4u << DP_GENERATED_LINE)
#define DP_GENERATED_STEPS 2048u
/* Frames of the agent and of stubs that are in one frame of a walk, at most */
#define DP_GENERATED_FRAMES 64u

/**
 * struct dp_generated - a piece of generated code; control owns it
 * @at, @len: where it is; @len 0: it is there no more
 * @next: another piece of the same line, or of one with the same index; 0: there is none
 * @shape: offset in the arena of a struct dp_generated_shape. 0: it is an island, or without @addr a stub
 *         that is called
 * @addr, @offset, @duplicate: see struct dp_charted
 */
struct dp_generated {
	u64 at, addr, duplicate;
	u32 len, next, shape, pad;
	u8 offset[8];
};

/** struct dp_generated_shape - see struct dp_unwind_states, which pieces have in common; control owns it */
struct dp_generated_shape {
	u8 slot[DP_UNWIND_REGS];
	u32 nr;
	struct dp_unwind_note v[];
};

/** dp_generated_index() - where the pieces are that begin in a line */
static inline u32 dp_generated_index(u64 line, u32 mask)
{
	return (u32)(line ^ line >> 16) & mask;
}

/**
 * struct dp_backtrace_head - where all is in the arena; control owns it
 * @generation: counts maps, from 1 on; 0: there is none yet
 * @map: of an odd generation, of an even one; @rule: of struct dp_rule, @nr_rules of them, the first
 *       of which is DP_RULE_NONE; @kept: of DP_KEPT words
 * @node: of words, @node_mask + 1 of them; @most: nodes that there may be; @account: of struct
 *       dp_known_account
 * @line: of u32 numbers of pieces, 0: none, @line_mask + 1 of them; @piece: of struct dp_generated,
 *       the first of which is none; @max_pieces: how many there is room for
 * @agent: address of the agent's text; 0: there is none
 */
struct dp_backtrace_head {
	u32 generation, nr_rules;
	u32 map[2];
	u32 rule, kept;
	u32 node, node_mask, most, account;
	u32 line, line_mask, piece, max_pieces;
	u64 agent;
};

/* known: stacks by numbers. */

/* Nodes that are looked at for a frame */
#define DP_KNOWN_PROBES 64u
/* A node has, from its lowest bit on: a bit that is set, how far behind its home it is, the pc. */
#define DP_KNOWN_AWAY 1
#define DP_KNOWN_FRAME 7
/* Factors: the one times the other is 1 modulo 2^32. */
#define DP_KNOWN_FACTOR 0x9e3779b1u
#define DP_KNOWN_INVERSE 0x0e8b2f51u

_Static_assert((u32)(DP_KNOWN_FACTOR *DP_KNOWN_INVERSE) == 1 &&
		       DP_KNOWN_PROBES <=
			       1u << (DP_KNOWN_FRAME - DP_KNOWN_AWAY),
	       "a node tells its parent");

/** struct dp_known_account - @used: nodes; @lost: stacks for which there was no room; hit owns it */
struct dp_known_account {
	u64 used, lost;
};

/** dp_known_spread() - of a frame: its pc, or enum dp_backtrace_end */
static inline u32 dp_known_spread(u64 frame)
{
	return (u32)(frame * 0x9e3779b97f4a7c15ull >> 32);
}

/** dp_known_home() - where the node of a frame is looked for first */
static inline u32 dp_known_home(u32 parent, u64 frame, u32 mask)
{
	return (parent * DP_KNOWN_FACTOR + dp_known_spread(frame)) & mask;
}

/** dp_known_parent() - the parent of a node that has this home */
static inline u32 dp_known_parent(u32 home, u64 frame, u32 mask)
{
	return ((home - dp_known_spread(frame)) * DP_KNOWN_INVERSE) & mask;
}

/** dp_known_node() - the word of a node */
static inline u64 dp_known_node(u64 frame, u32 away)
{
	return frame << DP_KNOWN_FRAME | away << DP_KNOWN_AWAY | 1;
}

#endif
