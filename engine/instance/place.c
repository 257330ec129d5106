// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* place: where the instance of a call is: see place.h. */
#include "engine/instance/place.h"
#include "engine/hit/hit.h"
#include "engine/layout/arena.h"
#include "engine/layout/block.h"

/* Not inlined: the usual path needs less stack, and the code less room. */
#define APART __attribute__((__noinline__))

/* Of a search: what is to be looked at next */
enum stage { BLOCK, LINES, IN_LINES, OVER };

/* Blocks */

static struct dp_block *line_of_block(u32 i)
{
	struct dp_block *lines = dp_at(dp_arena.control.block_off);

	return &lines[i];
}

static u64 instances_of(u32 i)
{
	const struct dp_arena_control *c = &dp_arena.control;

	return (u64)dp_at(c->blocks_off) +
	       (u64)i * DP_BLOCK_WORDS * c->instance_stride;
}

static struct dp_exit_instance *word_of(u32 i, u64 slot)
{
	return (void *)(instances_of(i) +
			(u64)dp_block_word(slot) *
				dp_arena.control.instance_stride);
}

static struct dp_exit_instance *in_block(u64 slot)
{
	u64 tag = dp_block_tag(slot);
	u32 mask = dp_arena.control.block_mask, home, i;

	if (!mask)
		return NULL;
	home = dp_block_home(tag, mask);
	for (i = 0; i < DP_BLOCK_WAYS; i++)
		if (__atomic_load_n(&line_of_block(home ^ i)->tag,
				    __ATOMIC_ACQUIRE) == tag)
			return word_of(home ^ i, slot);
	return NULL;
}

/* The address of a line's block is always the same, whoever writes it. */
APART static struct dp_exit_instance *claim_block(u64 slot)
{
	u64 tag = dp_block_tag(slot), is;
	u32 home = dp_block_home(tag, dp_arena.control.block_mask), i;

	for (i = 0; i < DP_BLOCK_WAYS; i++) {
		struct dp_block *b = line_of_block(home ^ i);

		is = 0;
		if (__atomic_load_n(&b->tag, __ATOMIC_RELAXED))
			continue;
		__atomic_store_n(&b->instances, instances_of(home ^ i),
				 __ATOMIC_RELAXED);
		if (__atomic_compare_exchange_n(&b->tag, &is, tag, false,
						__ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE) ||
		    is == tag)
			return word_of(home ^ i, slot);
	}
	return NULL;
}

/* Lines */

static void in_table(struct dp_place *p, u32 table, u64 key)
{
	p->table = table;
	p->t = &dp_arena.control.instance_tables[table];
	p->home = dp_instance_hash(key) & p->t->line_mask;
	p->step = p->way = 0;
}

/* The newest table. Return: false if there is none. */
static bool start(struct dp_place *p, u64 key)
{
	u32 nr = __atomic_load_n(&dp_arena.control.nr_instance_tables,
				 __ATOMIC_ACQUIRE);

	if (nr)
		in_table(p, nr - 1, key);
	return nr;
}

static u32 line_number(const struct dp_place *p)
{
	return (p->home + p->step) & p->t->line_mask;
}

static struct dp_instance_line *line_at(const struct dp_place *p, u32 number)
{
	return (struct dp_instance_line *)p->t->lines + number;
}

static struct dp_instance_line *line_of(const struct dp_place *p)
{
	return line_at(p, line_number(p));
}

/* The key that has just been found */
static u64 *key_of(const struct dp_place *p)
{
	return &line_of(p)->key[p->way - 1];
}

static struct dp_exit_instance *instance_of(const struct dp_place *p)
{
	u64 index = (u64)line_number(p) * DP_INSTANCE_WAYS + p->way - 1;

	return (void *)(p->t->instances +
			index * dp_arena.control.instance_stride);
}

/* Count the keys that belong in a line and are in other lines. */
static void displace(const struct dp_place *p, u32 by)
{
	__atomic_fetch_add(&line_at(p, p->home)->displaced, by,
			   __ATOMIC_RELAXED);
}

static bool further(struct dp_place *p, u64 key)
{
	p->way = 0;
	if ((p->step || __atomic_load_n(&line_at(p, p->home)->displaced,
					__ATOMIC_RELAXED)) &&
	    ++p->step < DP_INSTANCE_REACH)
		return true;
	if (!p->table)
		return false;
	in_table(p, p->table - 1, key);
	return true;
}

/* Find the next key that equals @key in the bits of @mask. */
APART static bool next_key(struct dp_place *p, u64 key, u64 mask)
{
	do {
		const struct dp_instance_line *l = line_of(p);
		u32 way = p->way;

		while (way < DP_INSTANCE_WAYS &&
		       ((__atomic_load_n(&l->key[way], __ATOMIC_RELAXED) ^ key) &
			mask))
			way++;
		p->way = way + 1;
		if (way < DP_INSTANCE_WAYS)
			return true;
	} while (further(p, key));
	return false;
}

static bool take(struct dp_place *p, u64 key)
{
	struct dp_instance_line *l = line_of(p);

	for (p->way = 0; p->way < DP_INSTANCE_WAYS;) {
		u64 is = 0;

		if (__atomic_compare_exchange_n(&l->key[p->way++], &is, key,
						false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return true;
	}
	return false;
}

static bool claim_in(struct dp_place *p, u64 key)
{
	if (take(p, key))
		return true;
	displace(p, 1);
	while (++p->step < DP_INSTANCE_REACH)
		if (take(p, key))
			return true;
	displace(p, -1u);
	return false;
}

static bool claim_key(struct dp_place *p, u64 key)
{
	if (!start(p, key))
		return false;
	while (!claim_in(p, key)) {
		if (!p->table)
			return false;
		in_table(p, p->table - 1, key);
	}
	return true;
}

/* Both */

static bool may_be_in_lines(const struct dp_exit_instance *own)
{
	return !own || own->crowded ||
	       __atomic_load_n(&dp_arena.hit.strays, __ATOMIC_RELAXED);
}

/* Return: false: there is nothing to look at in lines. */
static bool begin_lines(struct dp_place *p, u64 key)
{
	p->stage = may_be_in_lines(p->own) && start(p, key) ? IN_LINES : OVER;
	p->in_line = true;
	return p->stage == IN_LINES;
}

static bool next_line(struct dp_place *p, u64 key, u64 mask)
{
	if (p->stage == OVER || (p->stage == LINES && !begin_lines(p, key)) ||
	    !next_key(p, key, mask))
		return false;
	p->instance = instance_of(p);
	p->group = dp_instance_group(*key_of(p));
	return true;
}

static bool is_own(struct dp_place *p, u64 key, u64 mask)
{
	p->in_line = false;
	p->instance = p->own;
	p->group = p->own->group - 1;
	return p->own->group &&
	       !((dp_instance_key(p->group, p->slot) ^ key) & mask);
}

/* @mask: of the key's bits */
static bool next(struct dp_place *p, u64 key, u64 mask)
{
	if (p->stage == BLOCK) {
		p->stage = LINES;
		if (is_own(p, key, mask))
			return true;
	}
	return next_line(p, key, mask);
}

void dp_place_begin(struct dp_place *p, u64 slot)
{
	p->slot = slot;
	p->own = in_block(slot);
	p->stage = p->own ? BLOCK : LINES;
}

/* What a line has may be anything, if a fork child writes it. */
bool dp_place_next(struct dp_place *p)
{
	return next(p, dp_instance_key(0, p->slot), DP_INSTANCE_SLOT);
}

bool dp_place_find(struct dp_place *p, u32 group, u64 slot)
{
	dp_place_begin(p, slot);
	return next(p, dp_instance_key(group, slot), ~0ull);
}

/* One more at a slot whose own place is taken, or which has none */
static bool note_other(struct dp_exit_instance *own)
{
	if (!own) {
		__atomic_store_n(&dp_arena.hit.strays, 1, __ATOMIC_RELAXED);
		return true;
	}
	if (own->crowded == 0xff)
		return false;
	own->crowded++;
	return true;
}

/* One in a line is crowded if the slot's own counts it. */
static bool claim_line(struct dp_place *p, u32 group)
{
	if (!note_other(p->own))
		return false;
	p->in_line = true;
	if (claim_key(p, dp_instance_key(group, p->slot))) {
		p->instance = instance_of(p);
		p->instance->crowded = p->own != NULL;
		return true;
	}
	if (p->own)
		p->own->crowded--;
	return false;
}

bool dp_place_claim(struct dp_place *p, u32 group, u64 slot)
{
	p->slot = slot;
	p->group = group;
	p->in_line = false;
	p->own = in_block(slot);
	if (!p->own && dp_arena.control.block_mask)
		p->own = claim_block(slot);
	p->instance = p->own;
	if ((!p->own || p->own->group) && !claim_line(p, group))
		return false;
	dp_place_set(p->instance, group + 1, DP_INSTANCE_DOUBT, 0);
	return true;
}

static void release_line(const struct dp_place *p)
{
	if (p->instance->crowded && p->own && p->own->crowded)
		p->own->crowded--;
	__atomic_store_n(&p->instance->word, 0, __ATOMIC_RELAXED);
	__atomic_store_n(key_of(p), 0, __ATOMIC_RELEASE);
	if (p->step)
		displace(p, -1u);
}

void dp_place_release(const struct dp_place *p)
{
	if (p->in_line)
		release_line(p);
	else
		dp_place_set(p->instance, 0, 0, 0);
}

bool dp_place_may_have(u64 slot, u64 *until)
{
	const struct dp_exit_instance *own = in_block(slot);

	*until = (slot | (DP_BLOCK_BYTES - 1)) + 1;
	return own || may_be_in_lines(NULL);
}
