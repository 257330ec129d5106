/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* leads: where instructions lead, to examine the code of handlers. */
#ifndef DP_LIB_LEADS_H
#define DP_LIB_LEADS_H

#include "engine/insn/class.h"
#include "engine/insn/insn.h"
#include "engine/layout/site.h"
#include <string.h>

#define DP_TRAIL_MAX 4096 /* instructions */
#define DP_TRAIL_SLOTS (4 * DP_TRAIL_MAX)

/**
 * struct dp_trail - instructions that are visited, each of them once
 * @seen: visited instructions: a hash table of 4 * @max places
 * @todo: instructions to be visited, and some that have been
 * @max: how many may be visited, a power of two
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

/** dp_trail_add() - add an instruction to @todo. Return: false if there are too many. */
static inline bool dp_trail_add(struct dp_trail *t, u64 addr)
{
	if (t->nr_todo == t->max || t->nr_seen == t->max)
		return false;
	t->todo[t->nr_todo++] = addr;
	return true;
}

/* Return: false if the instruction has been visited already. */
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

/** dp_trail_next() - take an instruction that has not been visited: @addr.
 *  Return: false: there is none. */
static inline bool dp_trail_next(struct dp_trail *t, u64 *addr)
{
	while (t->nr_todo) {
		*addr = t->todo[--t->nr_todo];
		if (dp_trail_see(t, *addr))
			return true;
	}
	return false;
}

/** dp_leads_nowhere() - ud2, where the compiler knows that control does not come */
static inline bool dp_leads_nowhere(const u8 *code, const struct insn_facts *f)
{
	return f->class == DP_INSN_REFUSED && code[0] == 0x0f &&
	       code[1] == 0x0b;
}

/**
 * dp_leads() - where control may be after an instruction, as far as its bytes tell
 * @next: address behind the instruction
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
