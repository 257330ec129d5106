/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* visit: calls that are followed from the entry of a function to its exits. */
#ifndef DP_LAYOUT_VISIT_H
#define DP_LAYOUT_VISIT_H

#include "port_types.h"

/*
 * A visit is one call of a function whose exits are probed: its return address is
 * not touched, so it is known again by where that lies. A visit belongs to that
 * slot, not to a thread. The table has lines of keys, a cache line each, and
 * apart from it what is known of each visit. A key is in the line that its slot
 * hashes to, or, where that had no room, in one of those behind it.
 *
 * When a table fills up, control adds another one in memory of its own, several
 * times as large. Visits begin in the newest one that has room, and end where they
 * are.
 */
#define DP_VISIT_WAYS 7
#define DP_VISIT_REACH 8 /* lines in which a key can be */
#define DP_VISIT_LINES 16384 /* at most */
#define DP_VISIT_BYTES (16u << 20) /* of all visits, about, at most */
#define DP_VISIT_TABLES 4
#define DP_VISIT_GROWTH 4 /* each is so many times as large as the last one */
#define DP_VISIT_SLOT_BITS 44
/* Probes at entries have numbers below this. */
#define DP_VISIT_GROUPS ((1u << (64 - DP_VISIT_SLOT_BITS)) - 1)

/** struct dp_visit_line - @strayed: keys that belong here and are elsewhere; @tailed:
 *  those that belong here and have tailed */
struct dp_visit_line {
	u32 strayed, tailed;
	u64 key[DP_VISIT_WAYS]; /* 0: free */
};

/**
 * struct dp_visit_table - control owns it
 * @lines: address of the first struct dp_visit_line; @visits: of the first visit
 */
struct dp_visit_table {
	u64 lines, visits;
	u32 line_mask, pad;
};

/**
 * struct dp_visit - hit owns it; what its program logged at the entry follows
 * @slot: address of the return address; 0: it is not complete, or over
 * @ret: the return address; 0: it could not be read
 * @ticks: when the function was entered, where visits make records
 * @serial: counts the visits that were here
 * @tid: who entered; @len: bytes that follow
 * @tailed: its function has jumped to another one, which returns in its place
 * @ending: its end is being counted, or was
 */
struct dp_visit {
	u64 slot, ret, ticks, serial;
	u32 tid;
	u16 len;
	u8 tailed, ending;
};

/** dp_visit_key() - of a visit of the function at whose entry is probe @group */
static inline u64 dp_visit_key(u32 group, u64 slot)
{
	return (u64)(group + 1) << DP_VISIT_SLOT_BITS | slot >> 3;
}

/** dp_visit_fits() - can a slot be part of a key? */
static inline bool dp_visit_fits(u64 slot)
{
	return !(slot & 7) && !(slot >> (DP_VISIT_SLOT_BITS + 3));
}

/* What of a key says which slot it is of */
#define DP_VISIT_SLOT ((1ull << DP_VISIT_SLOT_BITS) - 1)

/* So much of a stack has its lines side by side, one for each two words of it. */
#define DP_VISIT_NEAR 6
#define DP_VISIT_NEAR_MASK ((1u << DP_VISIT_NEAR) - 1)

/** dp_visit_hash() - by slot alone, so that it can be told who is at one */
static inline u32 dp_visit_hash(u64 key)
{
	u64 pair = (key & DP_VISIT_SLOT) >> 1;

	return ((u32)(((pair >> DP_VISIT_NEAR) * 0x9e3779b97f4a7c15ull) >> 32)
		<< DP_VISIT_NEAR) |
	       ((u32)pair & DP_VISIT_NEAR_MASK);
}

/** enum dp_left - how a visit ended */
enum dp_left {
	DP_LEFT_RETURN,
	DP_LEFT_TAIL, /* another function returns in its place */
	DP_LEFT_ABANDONED, /* by longjmp, or with its stack */
	DP_LEFT_UNWOUND, /* by an exception, or the end of its thread */
};

/**
 * struct dp_leaving - how the record of a visit begins
 * @entered: ticks; @value: what it returned; DP_WAY_XMM: the low half of the register
 *           for floating point; @how: enum dp_left
 */
struct dp_leaving {
	u64 entered, value;
	u32 how, pad;
};

#endif
