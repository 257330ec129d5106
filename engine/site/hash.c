// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* hash: the index by which the hit half finds sites. */
#include "engine/layout/arena.h"
#include "engine/layout/site.h"
#include "engine/site/build.h"
#include "engine/site/internal.h"

int dp_hash_find(struct dp_engine *e, u64 size)
{
	const struct dp_arena_control *c = &e->arena->control;
	u64 off = c->hash_off, mask = c->hash_mask;

	if (off < sizeof(struct dp_arena) || off % sizeof(u32) ||
	    mask & (mask + 1) || off + (mask + 1) * sizeof(u32) > size)
		return -EBADMSG;
	e->slots = (void *)((char *)e->arena + off);
	e->slots_mask = (u32)mask;
	return 0;
}

/* A slot that was left leads to the last entry of the table, which has no address: the
 * hit half goes on to the next slot. */
static bool is_free(const struct dp_engine *e, u32 slot)
{
	return !slot || slot == e->max_sites;
}

void dp_hash_enter(const struct dp_engine *e, u64 addr, u32 index)
{
	u32 i = dp_site_hash(addr) & e->slots_mask, n = 0;

	while (!is_free(e, e->slots[i]) && n++ < e->slots_mask)
		i = (i + 1) & e->slots_mask;
	__atomic_store_n(&e->slots[i], index + 1, __ATOMIC_RELEASE);
}

/* A search ends at the first slot that nothing was ever in. There must always be some. */
void dp_hash_leave(const struct dp_engine *e, u64 addr, u32 index)
{
	u32 i = dp_site_hash(addr) & e->slots_mask;

	while (e->slots[i] && e->slots[i] != index + 1)
		i = (i + 1) & e->slots_mask;
	if (!e->slots[i])
		return;
	__atomic_store_n(&e->slots[i], e->max_sites, __ATOMIC_RELEASE);
	if (e->slots[(i + 1) & e->slots_mask])
		return;
	for (; e->slots[i] == e->max_sites; i = (i - 1) & e->slots_mask)
		__atomic_store_n(&e->slots[i], 0, __ATOMIC_RELEASE);
}

/* Enter the breakpoints in the middle of a site's jump. */
void dp_hash_traps(const struct dp_engine *e, const struct dp_site_entry *entry,
		   u32 i)
{
	int b;

	for (b = 1; b < DP_JUMP_SIZE; b++)
		if (entry->traps >> b & 1)
			dp_hash_enter(e, entry->addr + (u64)b, i);
}
