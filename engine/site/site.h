/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* site: one probed address, and the probes on it. */
#ifndef DP_SITE_SITE_H
#define DP_SITE_SITE_H

#include "port_types.h"
#include "engine/insn/insn.h"
#include "engine/insn/region.h"
#include "engine/site/live.h"
#include "engine/site/program.h"

struct dp_engine;

/**
 * struct dp_left - memory that a site at this place has left, see release.c
 * @single, @post: addresses of copies, 0: none; @single_room, @post_room: their bytes
 * @jumps: number of a jump, linked by @earlier
 */
struct dp_left {
	u64 single, post;
	u32 jumps;
	u8 single_room, post_room;
};

/**
 * struct dp_site - one probed address
 * @code: original bytes, @facts.len of them
 * @intercept: number of the system call that is intercepted here, or -1
 * @within: 1 + index of the site whose intercept has this one's instruction, or 0
 * @branches_to: address of a ret to which an instruction of the region branches, 0: none; @duplicates:
 *         1 + index of the site there if the jump has, or is to have, a duplicate of it. @duplicated:
 *         jumps of other sites may have one of this site
 * @serves: bytes of a region whose last instruction is that of a site which the jump serves; 0: it
 *         serves none. @early: no probe is here, but a jump to serve that site
 * @arrivals: threads may come to the middle of its jump, so it has breakpoints inside in every strategy
 * @pool: index of the pool that holds its copy
 * @region: the region of a jump here; @region.nr is 0 if no jump is possible
 * @why: the reason, if no jump is possible or the site is a breakpoint
 * @place: 1 + its place in the table, 0 while it has no plan
 * @leader: 1 + place of the site whose jump covers this one, or is to cover it
 * @behind: 1 + place of the site whose detour goes on with this one's instruction, behind the five
 *        bytes of its jump
 * @covers: 1 + place of the site at each instruction of the region that its jump covers,
 *        or is to cover; 0: none
 * @wants, @alone, @plan: see group.c, apply.c: DP_WANT_*; it needs a breakpoint; number
 *        of the jump that it is to have; @jumps: number of its last jump, see
 *        struct dp_jump
 * @was_trap: it has been a breakpoint by itself, @was_jump: it has begun a jump; @was_armed:
 *        threads may have been led to its copies
 * @watch, @watch_len, @watch_serial: of data, see struct dp_site_entry. No table of addresses has such a site.
 * @traps: a bit for each byte of the jump that has to be a breakpoint
 * @last: the breakpoint in the fifth byte of the jump, if it needs one
 * @post: address of the copy that ends in a breakpoint, written or not; 0: none
 * @island: address of the jump's island, 0: straight to the detour
 * @first_probe, @last_probe: 1 + index, 0 for none
 * @probes: how many know the site by its number
 */
struct dp_site {
	u64 addr;
	u8 code[DP_REGION_MAX + 1];
	struct insn_facts facts;
	s64 intercept;
	u32 pool, place, within;
	u32 first_probe, last_probe;
	bool runs; /* a probe here runs a program before the instruction */
	bool records; /* … which can make a record */
	bool instances; /* an instance begins or ends here */
	bool observed; /* the intercepted call is made in the detour */
	bool early, duplicated, arrivals;
	bool entered, x87, marked, was_jump, was_trap, was_armed, alone, staged;
	bool late; /* see stopped.c */
	bool spare; /* see release.c */
	bool crowded; /* see arrivals.c; @traps_before: before a jump stepped back for it */
	bool unowned; /* its mapping is unowned: see gone.c */
	u8 mode, traps, last, size, wants, serves;
	u8 watch, watch_len;
	u16 watch_serial;
	u8 armed_then; /* before the batch that is being written; @jump_then, too */
	u32 leader, behind, covers[DP_REGION_INSNS], jump_then;
	u32 plan, jumps, probes;
	struct dp_left left;
	u32 duplicates;
	u64 branches_to, island, post, traps_before;
	const char *why;
	struct dp_region region;
};

/* @fresh: the tables do not have the probe, or not at this site; @moved: it has been at another
 * @linked: the hit half knows the probe
 * @binding: its program, if it is @bound to one; @handlers: of a probe with handlers */
struct dp_probe {
	u32 next;
	u32 site;
	bool bound, fresh, moved;
	struct dp_binding binding;
	struct dp_handlers handlers;
	bool enabled, linked;
	bool waits; /* for dp_exchange_now(): its site is armed, and it is not on yet */
	u8 kind; /* DP_KIND_PLAIN, _ENTER, _EXIT */
	u32 group, way;
};

/** dp_site_take() - find or make the site at an address. Return: as dp_engine_add(). */
int dp_site_take(struct dp_engine *e, u64 addr, const u8 *code, size_t size,
		 struct dp_site **site, const char **why);
/** dp_site_make_data() - make a site of data. Return: 0; -ENOMEM. */
int dp_site_make_data(struct dp_engine *e, u64 addr, u8 len, u8 watch,
		      struct dp_site **site);
/** dp_site_make_absent() - make a site that has no code, as one whose code has gone. Return: as above */
int dp_site_make_absent(struct dp_engine *e, struct dp_site **site);
/** dp_site_may_join() - may a site get a probe beside what is armed?
 *  Return: 0; -EBUSY; -ENOSPC there is no room. */
int dp_site_may_join(const struct dp_engine *e, u64 addr, const char **why);
/** dp_site_has_room() - is there a site at @addr, or room for one? */
bool dp_site_has_room(const struct dp_engine *e, u64 addr);
/** dp_site_inside_intercept() - does an intercept's region have @addr? A process that probes
 *  itself may have probes where one begins. */
bool dp_site_inside_intercept(const struct dp_engine *e, u64 addr);
/** dp_site_is_jump() - is the site to be part of a jump, its own or one that covers it? */
bool dp_site_is_jump(const struct dp_site *site);
/** dp_site_link() - add a probe to a site, as the last one */
void dp_site_link(struct dp_engine *e, struct dp_site *site, u32 probe);
/** dp_site_link_first() - add a probe to a site, as the first one */
void dp_site_link_first(struct dp_engine *e, struct dp_site *site, u32 probe);
/** dp_site_link_before_last() - add a probe ahead of the last one, which must exist */
void dp_site_link_before_last(struct dp_engine *e, struct dp_site *site,
			      u32 probe);

/** dp_engine_find() - the site at @addr, or NULL */
struct dp_site *dp_engine_find(const struct dp_engine *engine, u64 addr);

#endif
