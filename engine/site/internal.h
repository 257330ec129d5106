/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* internal: what the files of the control half share. */
#ifndef DP_CONTROL_INTERNAL_H
#define DP_CONTROL_INTERNAL_H

#include "port.h"
#include "engine/site/control.h"
#include "engine/site/live.h"
#include "engine/site/view.h"
#include "engine/insn/detour.h"
#include "engine/insn/region.h"
#include "engine/layout/arena.h"
#include "engine/layout/ask.h"
#include "engine/layout/control.h"
#include "engine/layout/program.h"
#include "engine/layout/site.h"
#include "engine/layout/visit.h"

/* A copy and what it refers to are never farther apart than this: 2 GB less
 * the length of a pool's worst neighbour. */
#define DP_REACH ((1ull << 31) - (64ull << 20))

/**
 * struct dp_site - one probed address
 * @code: original bytes, @facts.len of them
 * @hook: number of the system call that is hooked here, or -1
 * @pool: index of the pool that holds its copy
 * @region: what a jump here would replace; @region.nr is 0 if it cannot be
 * @why: then, and whenever @mode is DP_MODE_TRAP, the reason
 * @leader: 1 + place in the order of the site whose jump covers this one
 * @traps: a bit a byte of the jump that has to be a breakpoint
 * @last: which one the fifth byte is, if it has to be one
 * @landing: address where the jump goes first, 0: straight to the detour
 * @first_probe, @last_probe: 1 + index, 0 for none
 */
struct dp_site {
	u64 addr;
	u8 code[DP_REGION_MAX + 1];
	struct insn_facts facts;
	s64 hook;
	u32 pool;
	u32 first_probe, last_probe;
	bool records; /* a probe here runs a program before the instruction */
	bool visits; /* one begins or ends here */
	bool watched; /* the hooked call is made where it stands */
	bool planned, entered, x87, marked, was_jump; /* see live.c */
	bool stray; /* code that can go at any time: see gone.c */
	bool gone; /* it was not there when it was planned */
	u8 mode, traps, last, size;
	u32 leader;
	u64 landing;
	const char *why;
	struct dp_region region;
};

/* @handlers, @enabled, @linked: of a resident engine; the last says that the hit
 * half knows it. A site is counted under its own number there. */
struct dp_probe {
	u32 next;
	u32 site;
	bool bound;
	struct dp_binding binding;
	struct dp_handlers handlers;
	bool enabled, linked;
	u8 kind; /* DP_KIND_PLAIN, _ENTER, _EXIT */
	u32 group, way;
	u64 hits, since; /* so far; and its site's, then */
};

/** struct dp_program - a verified program; @code is the engine's own */
struct dp_program {
	struct dp_program_spec spec;
	char name[DP_PROGRAM_NAME];
	u8 *code;
	u32 lv_off; /* in the arena */
};

/* A reader's place in one ring, and the geometry of all, which it does not
 * take from memory that the target can write. */
struct dp_reader {
	u32 ring_off, ring_stride, slot_size, slot_mask, rings;
	u64 next[DP_MAX_SHARDS];
	u64 settled[DP_MAX_SHARDS]; /* nobody writes what has a number below */
	u64 torn;
};

/* The tables of visits. The geometry is the engine's own, as that of the rings.
 * A visit is known by its place in all of them, one after the other. */
struct dp_visits {
	struct {
		struct dp_visit_line *line;
		char *visits;
		u32 lines;
	} table[DP_VISIT_TABLES];
	u32 tables, visit_stride;
	u32 first; /* lines of the first one; 0: what is usual */
	u32 entries; /* probes that begin them */
	bool onward; /* some exit is DP_WAY_ONWARD */
	u64 full; /* what the hit half's count was when a table was added */
};

struct dp_engine {
	struct dp_site *sites;
	u32 nr_sites, cap_sites;
	struct dp_probe *probes;
	u32 nr_probes, cap_probes;
	u32 *hash; /* 1 + site index */
	u32 hash_mask;
	u32 *slots, slots_mask; /* the hit half's */
	u32 *order; /* sites by address, from the layout on */
	u32 shards;
	struct dp_program *programs;
	u32 nr_programs, cap_programs;
	struct dp_reader reader;
	struct dp_visits visits;
	u32 tid_offset;
	bool silent;
	enum dp_arming arming;
	struct dp_rseq rseq;
	bool rseq_usable;
	u32 nr_caught; /* see dp_caught() */
	u32 nr_code_pools; /* the first ones; the others hold landings */
	struct dp_layout_need need;
	struct dp_arena *arena;
	struct dp_view view;
	u64 linker_state; /* see dp_engine_watch_linker() */
	const char *pending[DP_PENDING];
	u32 nr_pending;
	u32 max_sites; /* of a resident one; 0: it is none */
	u32 nr_asks; /* its handlers run in the tool, so many at once */
	struct dp_asks *asks;
	struct dp_growth *growth; /* grow.c */
};

/* site.c */
/** dp_site_take() - the site at an address, made if there is none. Return: as
 *  dp_engine_add(). */
int dp_site_take(struct dp_engine *e, u64 addr, const u8 *code, size_t size,
		 struct dp_site **site, const char **why);
/** dp_site_link() - a probe joins those of a site, as the last one */
void dp_site_link(struct dp_engine *e, struct dp_site *site, u32 probe);
/** dp_site_link_first() - as the first one */
void dp_site_link_first(struct dp_engine *e, struct dp_site *site, u32 probe);
/** dp_site_link_before_last() - ahead of the last one, which there is */
void dp_site_link_before_last(struct dp_engine *e, struct dp_site *site,
			      u32 probe);
/** dp_site_unlink() - and leaves them */
void dp_site_unlink(struct dp_engine *e, u32 probe);

/** dp_engine_reserve() - room for one more element of an array */
int dp_engine_reserve(void **array, u32 used, u32 *cap, size_t each);

/** dp_order_site() - the @i-th site in the order of addresses; of a resident
 *  engine, in that of their coming */
static inline struct dp_site *dp_order_site(const struct dp_engine *e, u32 i)
{
	return &e->sites[e->order ? e->order[i] : i];
}

/* jump.c */
/** dp_jumps_choose() - decide the mode of each site; they are in order */
void dp_jumps_choose(struct dp_engine *e);
/** dp_jump_give_up() - the @i-th site in order, and those that its jump covers,
 *  become trap sites */
void dp_jump_give_up(struct dp_engine *e, u32 i, const char *why);
/** dp_jump_room() - bytes that its detour takes at most */
u32 dp_jump_room(const struct dp_engine *e, const struct dp_site *s);
/**
 * dp_jump_plan() - make the detour of the @i-th site in order
 * @entry: of the site; those it covers follow
 * @at, @out: address of the detour, and where to write it
 * @stub: address of the stub that leads to the agent; @hook_entry of what makes
 *        hooked calls
 */
int dp_jump_plan(const struct dp_engine *e, u32 i, struct dp_site_entry *entry,
		 u64 at, u8 *out, u64 stub, u64 hook_entry);

/* plan.c */
/** dp_site_needs_post() - has a record to wait for the instruction? */
bool dp_site_needs_post(const struct dp_site *s);

/** dp_hash_find() - where the table is that the hit half looks in. Not asked again:
 *  another process may write there. Return: 0; -EBADMSG. */
int dp_hash_find(struct dp_engine *e, u64 arena_size);
/** dp_hash_enter() - the hit half finds entry @index at @addr */
void dp_hash_enter(const struct dp_engine *e, u64 addr, u32 index);
/** dp_entry_why() - note in an entry why it is a breakpoint; NULL: it is none */
void dp_entry_why(struct dp_arena *arena, struct dp_site_entry *entry,
		  const char *why);
/** dp_entry_begin() - what an entry says of its instruction */
void dp_entry_begin(const struct dp_site *s, struct dp_site_entry *entry);
/** dp_entry_post() - write its copy that ends in a breakpoint, at @entry->post */
int dp_entry_post(const struct dp_site *s, struct dp_site_entry *entry,
		  u8 *out);
/** dp_hash_traps() - and at the breakpoints in the middle of its jump */
void dp_hash_traps(const struct dp_engine *e, const struct dp_site_entry *entry,
		   u32 index);

/* layout.c */
/** dp_site_span() - what the copies of a site have to reach */
void dp_site_span(const struct dp_site *s, u64 *low, u64 *high);

/* place.c */
/** dp_place_one() - choose an address for a pool. Return: 0 or -ENOMEM. */
int dp_place_one(struct dp_pool_need *need, const struct dp_hole *holes,
		 size_t n, bool spare_heap);
/** dp_holes_carve() - what is mapped is no hole. There is room for one more.
 *  Return: how many there are now. */
size_t dp_holes_carve(struct dp_hole *holes, size_t n, u64 addr, u64 size);

/* grow.c */
/** dp_grow_free() - forget what has grown */
void dp_grow_free(struct dp_growth *growth);

/* landing.c */
struct dp_landings;
/** dp_landing_find() - an address for one site's jump: @s->landing, @s->last.
 *  @l: begins as NULL; the holes are those at the time.
 *  Return: 0; -ENOMEM; 1 there is none. */
int dp_landing_find(struct dp_landings **l, struct dp_engine *e,
		    struct dp_site *s, const struct dp_hole *holes, size_t n);
void dp_landings_free(struct dp_landings *l);
/** dp_landings_place() - find addresses for jumps that contain breakpoints */
int dp_landings_place(struct dp_engine *e, const struct dp_hole *holes,
		      size_t n);

/* program.c */
/** dp_programs_longest() - bytes of the longest record of any */
u32 dp_programs_longest(const struct dp_engine *engine);
void dp_programs_free(struct dp_engine *engine);

/* visit.c */
/** dp_visits_carry() - all that are in the tables of @of; it does not run */
void dp_visits_carry(struct dp_engine *engine, const struct dp_engine *of);
/** dp_visits_measure() - lines of the table, and bytes a visit */
void dp_visits_measure(const struct dp_engine *engine, u32 *lines, u32 *stride);
/** dp_visits_open() - the first table is in the arena */
void dp_visits_open(struct dp_engine *engine);

/* tables.c: where everything in the arena is; the same sum for the layout and
 * for the plan */
u64 dp_tables_lay_out(const struct dp_engine *engine,
		      struct dp_arena_control *control);

/** dp_engine_find() - the site at @addr, or NULL */
struct dp_site *dp_engine_find(const struct dp_engine *engine, u64 addr);

#endif
