// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * site: find the site that has a breakpoint at an address.
 *
 * The index of the arena leads to a site by its address, and by the addresses of
 * breakpoints inside its jump. A site's record stays as long as the agent does. So the
 * agent recognises a trap that came just before the byte went back.
 */
#include "engine/hit/hit.h"
#include "arch/arch.h"
#include "engine/layout/arena.h"
#include "engine/layout/site.h"

/* The number of an inner instruction of a jump's region; -1: none begins there */
static int inner_at(const struct dp_jump *j, u64 offset)
{
	int i;

	for (i = 1; i < j->nr; i++)
		if (j->offset[i] == offset)
			return i;
	return -1;
}

int dp_site_boundary(const struct dp_site_entry *s, u64 addr)
{
	u64 offset = addr - s->addr;

	return offset >= sizeof(s->patch) || !(s->traps >> offset & 1) ?
		       -1 :
		       inner_at(dp_jump_of(s), offset);
}

/* The byte of a breakpoint inside a jump decides what it raises (island.c). */
static bool raises(const struct dp_site_entry *s, u64 addr, bool breakpoint)
{
	return dp_site_boundary(s, addr) > 0 &&
	       (s->patch[addr - s->addr] == DP_BREAKPOINT) == breakpoint;
}

/* The site whose jump has a breakpoint at an inner address, whether or not a site is
 * there. If several could have it: one whose jump is there. */
static const struct dp_site_entry *site_around(u64 addr, bool breakpoint)
{
	const struct dp_arena_control *c = &dp_arena.control;
	const struct dp_site_entry *sites = dp_at(c->site_off);
	const u32 *slots = dp_at(c->hash_off);
	const struct dp_site_entry *around = NULL;
	u32 i = dp_site_hash(addr) & c->hash_mask;

	for (; c->nr_sites && slots[i]; i = (i + 1) & c->hash_mask) {
		const struct dp_site_entry *s = &sites[slots[i] - 1];

		if (raises(s, addr, breakpoint) &&
		    (!around || dp_site_jumps(s)))
			around = s;
	}
	return around;
}

const struct dp_site_entry *dp_site_lookup(u64 addr)
{
	const struct dp_arena_control *c = &dp_arena.control;
	const struct dp_site_entry *sites = dp_at(c->site_off);
	const u32 *slots = dp_at(c->hash_off);
	const struct dp_site_entry *around = NULL;
	u32 i = dp_site_hash(addr) & c->hash_mask;

	if (!c->nr_sites)
		return NULL;
	for (; slots[i]; i = (i + 1) & c->hash_mask) {
		const struct dp_site_entry *s = &sites[slots[i] - 1];

		if (s->addr == addr ||
		    (s->post && s->post + s->post_body == addr))
			return s;
		/* A site at the address itself goes before this. */
		if (dp_site_boundary(s, addr) >= 0)
			around = s;
	}
	return around;
}

u64 dp_site_place(u64 pc)
{
	const struct dp_site_entry *site;
	const struct dp_jump *j;
	u64 back;
	int i;

	for (back = 1; back < DP_JUMP_SIZE; back++) {
		site = dp_site_lookup(pc - back);
		if (!site || site->addr != pc - back || !dp_site_jumps(site))
			continue;
		j = dp_jump_of(site);
		i = inner_at(j, back);
		if (i > 0)
			return j->base + j->at[i];
	}
	return pc;
}

static bool is_inside(const struct dp_site_entry *s, u64 addr)
{
	return addr - s->addr - 1 < sizeof(s->patch) - 1;
}

const struct dp_site_entry *dp_site_trapped(u64 pc, bool breakpoint,
					    const struct dp_site_entry **around)
{
	const struct dp_site_entry *site = dp_site_lookup(pc);

	*around = NULL;
	if (!site)
		return NULL;
	/* A site's own breakpoint raises nothing but the trap of a breakpoint. */
	if (!breakpoint || pc != site->addr || !site->armed ||
	    !site->patch_len || site->leader)
		*around = site_around(pc, breakpoint);
	if (*around)
		return pc == site->addr && site->first_probe ? site : *around;
	return breakpoint && !is_inside(site, pc) ? site : NULL;
}

/* In the detour of the jump that covers the site: behind its copy there are more breakpoints of
 * that jump. Return: 0: no jump covers it, or none that tells when the instruction is over. */
static u64 covered(const struct dp_site_entry *site, bool post)
{
	u32 leader = __atomic_load_n(&site->leader, __ATOMIC_ACQUIRE);
	const struct dp_site_entry *l = leader ? dp_site_at(leader - 1) : NULL;
	const struct dp_jump *j;
	int i;

	if (!l || !dp_site_jumps(l))
		return 0;
	j = dp_jump_of(l);
	for (i = 1; i < j->nr; i++)
		if (l->addr + j->offset[i] == site->addr &&
		    (!post || j->after >> i & 1))
			return j->base + j->insn[i];
	return 0;
}

u64 dp_site_copy(const struct dp_site_entry *site, bool post)
{
	u64 copy = __atomic_load_n(&site->copy, __ATOMIC_ACQUIRE), detour;

	if (copy != site->single)
		return copy;
	detour = covered(site, post);
	return detour ? detour : post && site->post ? site->post : copy;
}
