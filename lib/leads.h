/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* leads: where instructions lead, for those who look through handlers. */
#ifndef DP_LIB_LEADS_H
#define DP_LIB_LEADS_H

#include "engine/insn/class.h"
#include "engine/insn/insn.h"
#include "engine/layout/site.h"
#include <errno.h>
#include <string.h>

#define DP_TRAIL_MAX 4096 /* instructions */
#define DP_TRAIL_SLOTS (4 * DP_TRAIL_MAX)

/**
 * struct dp_trail - instructions that are looked at, each of them once
 * @seen: those that have been: a hash table of 4 * @max places
 * @todo: those that are still to be, and others
 * @max: so many may be looked at, a power of two
 */
struct dp_trail {
	u64 seen[DP_TRAIL_SLOTS], todo[DP_TRAIL_MAX];
	u32 nr_seen, nr_todo, max;
};

static inline void dp_trail_begin(struct dp_trail *t, u32 max)
{
	memset(t->seen, 0, 4 * max * sizeof(t->seen[0]));
	t->nr_seen = t->nr_todo = 0;
	t->max = max;
}

/** dp_trail_add() - one more. Return: false if there are too many. */
static inline bool dp_trail_add(struct dp_trail *t, u64 addr)
{
	if (t->nr_todo == t->max)
		return false;
	t->todo[t->nr_todo++] = addr;
	return true;
}

/* Return: false if it has been looked at already. */
static inline bool dp_trail_see(struct dp_trail *t, u64 addr)
{
	u32 i = dp_site_hash(addr) % (4 * t->max);

	for (; t->seen[i]; i = (i + 1) % (4 * t->max))
		if (t->seen[i] == addr)
			return false;
	t->seen[i] = addr;
	t->nr_seen++;
	return true;
}

/** dp_trail_next() - one that has not been looked at: @addr.
 *  Return: 1; 0 there is none; -E2BIG there were too many. */
static inline int dp_trail_next(struct dp_trail *t, u64 *addr)
{
	while (t->nr_todo) {
		*addr = t->todo[--t->nr_todo];
		if (dp_trail_see(t, *addr))
			return t->nr_seen <= t->max ? 1 : -E2BIG;
	}
	return 0;
}

/**
 * dp_leads() - where control may be after an instruction, as far as it says so itself
 * @next: address behind it
 * @to: at most two addresses
 * Return: how many.
 */
static inline u32 dp_leads(u64 next, const struct insn_facts *f, u64 *to)
{
	switch (f->class) {
	case DP_INSN_JCC:
	case DP_INSN_LOOP:
	case DP_INSN_CALL:
		to[0] = next;
		to[1] = next + (u64)f->target;
		return 2;
	case DP_INSN_JMP:
		to[0] = next + (u64)f->target;
		return 1;
	case DP_INSN_PLAIN:
	case DP_INSN_SYSCALL:
	case DP_INSN_CALL_IND:
		to[0] = next;
		return 1;
	default:
		return 0;
	}
}

#endif
