/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * place: where the instance of a call is.
 *
 *   slot ─► block of its stack, word of the slot     nearly always
 *        └► lines of the tables                      others at the slot; no block
 *
 * Only the thread that runs on a stack looks for instances of that stack, and takes and
 * releases them. Threads contend for lines of the directory and for words of the tables.
 */
#ifndef DP_INSTANCE_PLACE_H
#define DP_INSTANCE_PLACE_H

#include "port_types.h"
#include "engine/layout/instance.h"

#pragma GCC visibility push(hidden)

/**
 * struct dp_place - a place, or a search at one slot
 * @instance: that is there; @group: the probe at its function's entry
 * @own: the slot's instance in the block of its stack, or NULL
 * @in_line: it is in a line
 * @t, @table, @home, @step, @way: in the tables: of the key, and of the line where it should be.
 *         During a search @way is one ahead.
 */
struct dp_place {
	u64 slot;
	struct dp_exit_instance *instance, *own;
	u32 group;
	bool in_line;
	u8 stage;
	const struct dp_instance_table *t;
	u32 table, home, step, way;
};

/** dp_place_begin() - all instances at @slot are going to be looked at
 *  dp_place_next() - the next one. Return: false: there is none. */
void dp_place_begin(struct dp_place *p, u64 slot);
bool dp_place_next(struct dp_place *p);

/** dp_place_find() - the instance of a call of probe @group's function, at @slot
 *  Return: false: there is none. */
bool dp_place_find(struct dp_place *p, u32 group, u64 slot);

/** dp_place_claim() - take a place for a call that begins. There is none of the same function at
 *  @slot. Return: false: there is no room. */
bool dp_place_claim(struct dp_place *p, u32 group, u64 slot);

/** dp_place_release() - free the place */
void dp_place_release(const struct dp_place *p);

/** dp_place_may_have() - may there be an instance in the block of this slot, or in lines?
 *  @until: if not, there is none from @slot up to there either */
bool dp_place_may_have(u64 slot, u64 *until);

/** dp_place_set() - change the words of an instance in one store */
static inline void dp_place_set(struct dp_exit_instance *v, u32 group, u8 state,
				u16 len)
{
	struct dp_exit_instance is = { .group = group,
				       .state = state,
				       .crowded = v->crowded,
				       .len = len };

	__atomic_store_n(&v->word, is.word, __ATOMIC_RELEASE);
}

#pragma GCC visibility pop

#endif
