// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * inside: tracked calls that have not ended, where the hit half keeps them.
 *
 * The target can write all of it. An instance counts only if it names an entry probe, and its
 * slot follows from its place. An index is one of all words of all blocks, and behind these one
 * of all keys of all tables.
 */
#include "engine/layout/arena.h"
#include "engine/layout/block.h"
#include "engine/layout/instance.h"
#include "engine/layout/ring.h"
#include "engine/layout/site.h"
#include "engine/site/counts.h"
#include "engine/site/enable.h"
#include "engine/site/engine.h"
#include "engine/site/instances.h"
#include "engine/site/internal.h"
#include "engine/site/site.h"

/* Lines of the directory that tell how full it is */
#define SAMPLE 1024u
/* A line of the directory of blocks with none of the highest bits set is a stack's. */
#define SLOT_BITS 47

/**
 * struct at - a place
 * @of: whose it is; @index: see above
 * @v: the instance there; @key: the key of one in a line, or NULL; @line: that, of table @table
 * @group: the probe at its function's entry; @slot: where its return address is
 */
struct at {
	const struct dp_engine *of;
	u32 index;
	struct dp_exit_instance *v;
	u64 *key;
	struct dp_instance_line *line;
	u32 table;
	u32 group;
	u64 slot;
};

static u64 tag_of(const struct dp_engine *e, u32 block)
{
	return __atomic_load_n(&e->instances.block[block].tag,
			       __ATOMIC_ACQUIRE);
}

static struct dp_exit_instance *word_of(const struct dp_engine *e, u32 block,
					u32 word)
{
	const struct dp_exit_instances *v = &e->instances;

	return (void *)(v->block_instances + ((u64)block * DP_BLOCK_WORDS +
					      word) * v->instance_stride);
}

static bool is_entry(const struct dp_engine *e, u32 group)
{
	return group < e->nr_probes && e->probes[group].kind == DP_KIND_ENTER;
}

/* Return: false: there is no instance in the block's word. */
static bool at_word(struct at *at)
{
	u32 block = at->index / DP_BLOCK_WORDS,
	    word = at->index % DP_BLOCK_WORDS;
	u64 tag = tag_of(at->of, block);

	at->v = word_of(at->of, block, word);
	at->key = NULL;
	at->slot = tag + word * 8;
	at->group = __atomic_load_n(&at->v->group, __ATOMIC_ACQUIRE) - 1;
	return tag && tag == dp_block_tag(tag) && !(tag >> SLOT_BITS) &&
	       is_entry(at->of, at->group);
}

/* @i: of all keys. Return: false: there is no such key, or the place is free. */
static bool at_key(struct at *at, u32 i)
{
	const struct dp_exit_instances *v = &at->of->instances;
	u32 t = 0;
	u64 key;

	while (t + 1 < v->tables && i >= v->table[t].lines * DP_INSTANCE_WAYS)
		i -= v->table[t++].lines * DP_INSTANCE_WAYS;
	at->table = t;
	at->line = &v->table[t].line[i / DP_INSTANCE_WAYS];
	at->key = &at->line->key[i % DP_INSTANCE_WAYS];
	at->v = (void *)(v->table[t].instances + (u64)i * v->instance_stride);
	key = __atomic_load_n(at->key, __ATOMIC_ACQUIRE);
	at->group = dp_instance_group(key);
	at->slot = dp_instance_slot(key);
	return key && is_entry(at->of, at->group);
}

static u32 words(const struct dp_engine *e)
{
	return e->instances.blocks * DP_BLOCK_WORDS;
}

static u32 places(const struct dp_engine *e)
{
	u32 n = words(e), t;

	for (t = 0; t < e->instances.tables; t++)
		n += e->instances.table[t].lines * DP_INSTANCE_WAYS;
	return n;
}

static bool is_there(struct at *at)
{
	return at->index < words(at->of) ?
		       at_word(at) :
		       at_key(at, at->index - words(at->of));
}

/* Memory of a block that no stack has is not looked at: it would be there from then on. */
static bool skip_block(struct at *at)
{
	u32 block = at->index / DP_BLOCK_WORDS;

	if (at->index >= words(at->of) || tag_of(at->of, block))
		return false;
	at->index = (block + 1) * DP_BLOCK_WORDS;
	return true;
}

/* The next instance from @at->index on */
static bool seek(struct at *at)
{
	u32 n = places(at->of);

	while (at->index < n) {
		if (skip_block(at))
			continue;
		if (is_there(at))
			return true;
		at->index++;
	}
	return false;
}

static bool is_whole(const struct at *at)
{
	struct dp_exit_instance is = {
		.word = __atomic_load_n(&at->v->word, __ATOMIC_ACQUIRE)
	};

	return is.group == at->group + 1 &&
	       (is.state & ~DP_INSTANCE_TAIL_CALLED) == DP_INSTANCE_LIVE;
}

/* One in doubt has no valid return address. */
static struct dp_instance_copy copy_of(const struct at *at)
{
	struct dp_instance_copy copy = {
		.index = at->index,
		.probe = at->group,
		.slot = at->slot,
		.serial = __atomic_load_n(&at->v->serial, __ATOMIC_RELAXED),
		.whole = is_whole(at),
	};

	if (copy.whole)
		copy.ret = __atomic_load_n(&at->v->ret, __ATOMIC_RELAXED);
	return copy;
}

size_t dp_engine_instances(const struct dp_engine *e,
			   void (*take)(void *,
					const struct dp_instance_copy *),
			   void *arg)
{
	struct dp_instance_copy copy;
	struct at at = { .of = e };
	size_t n = 0;

	if (!e->arena || !e->instances.tables)
		return 0;
	for (; seek(&at); at.index++, n++) {
		copy = copy_of(&at);
		take(arg, &copy);
	}
	return n;
}

bool dp_engine_instances_still(const struct dp_engine *e,
			       const struct dp_instance_copy *v)
{
	struct at at = { .of = e, .index = v->index };

	return is_there(&at) && at.group == v->probe && at.slot == v->slot &&
	       __atomic_load_n(&at.v->serial, __ATOMIC_RELAXED) == v->serial;
}

void dp_engine_instance_record(const struct dp_engine *e,
			       const struct dp_instance_copy *copy,
			       struct dp_record_copy *record)
{
	struct at at = { .of = e, .index = copy->index };
	bool there = is_there(&at);
	const struct dp_exit_instance *v = at.v;
	struct dp_leaving leaving = { .entered = v->ticks,
				      .slot = copy->slot,
				      .how = DP_CALL_ABANDONED };
	u32 most = e->instances.instance_stride - (u32)sizeof(*v), i;
	u32 len = there ? __atomic_load_n(&v->len, __ATOMIC_RELAXED) : 0;
	const u8 *from = (const u8 *)(v + 1);
	u8 *to = record->data + sizeof(leaving);

	len = len < most ? len : most;
	record->head = (struct dp_record){
		.ticks = dp_engine_ticks(),
		.probe = copy->probe,
		.tid = v->tid,
		.len = (u16)(sizeof(leaving) + len),
	};
	__builtin_memcpy(record->data, &leaving, sizeof(leaving));
	for (i = 0; i < len; i++)
		to[i] = from[i];
}

/* An instance of the slot's block, in the tool's memory */
static struct dp_exit_instance *own_of(const struct dp_engine *e, u64 slot)
{
	u64 tag = dp_block_tag(slot);
	u32 home, i;

	if (!e->instances.blocks)
		return NULL;
	home = dp_block_home(tag, e->instances.blocks - 1);
	for (i = 0; i < DP_BLOCK_WAYS; i++)
		if (tag_of(e, home ^ i) == tag)
			return word_of(e, home ^ i, dp_block_word(slot));
	return NULL;
}

/* The line where a key in table @t should be */
static struct dp_instance_line *home_of(const struct dp_engine *e, u32 t,
					u64 key)
{
	return &e->instances.table[t].line[dp_instance_hash(key) &
					   (e->instances.table[t].lines - 1)];
}

static void release_key(const struct dp_engine *e, const struct at *at)
{
	u64 key = dp_instance_key(at->group, at->slot);
	struct dp_exit_instance *own = own_of(e, at->slot);
	struct dp_instance_line *home = home_of(e, at->table, key);

	home->displaced -= home != at->line;
	if (at->v->crowded && own && own->crowded)
		own->crowded--;
	at->v->word = 0;
	*at->key = 0;
}

/* Whether the beginning or end of one that is not whole was counted is not known. */
static void forget(const struct dp_engine *e, const struct at *at)
{
	struct dp_probe_state *state = &e->view.states[at->group];

	state->tally[is_whole(at) ? DP_TALLY_INSIDE : DP_TALLY_CUT]++;
	if (at->key)
		release_key(e, at);
	else
		at->v->word =
			(struct dp_exit_instance){ .crowded = at->v->crowded }
				.word;
}

static bool is_disabled(const struct dp_disabled *off, const struct at *at)
{
	return at->group < off->n && off->v[at->group];
}

bool dp_engine_any_disabled(const struct dp_engine *e,
			    const struct dp_disabled *off)
{
	struct at at = { .of = e };

	for (; seek(&at); at.index++)
		if (is_disabled(off, &at))
			return true;
	return false;
}

void dp_engine_forget_disabled(struct dp_engine *e,
			       const struct dp_disabled *off)
{
	struct at at = { .of = e };

	for (; seek(&at); at.index++)
		if (is_disabled(off, &at))
			forget(e, &at);
}

/* Blocks of stacks that have gone */

static bool is_empty(const struct dp_engine *e, u32 block)
{
	u32 word;

	for (word = 0; word < DP_BLOCK_WORDS; word++)
		if (word_of(e, block, word)->word)
			return false;
	return true;
}

/* Judged by the first lines: the hash is even. */
bool dp_engine_blocks_crowded(const struct dp_engine *e)
{
	u32 n = e->instances.blocks, i, used = 0;

	if (n > SAMPLE)
		n = SAMPLE;
	for (i = 0; i < n; i++)
		used += tag_of(e, i) != 0;
	return used * 2 > n;
}

u32 dp_engine_blocks_reclaim(struct dp_engine *e)
{
	u32 i, n = 0;

	for (i = 0; i < e->instances.blocks; i++) {
		if (!tag_of(e, i) || !is_empty(e, i))
			continue;
		__atomic_store_n(&e->instances.block[i].tag, 0,
				 __ATOMIC_RELEASE);
		n++;
	}
	return n;
}

/*
 * --- from one engine into another, which has as many tables and blocks, as large ---
 *
 * Each instance keeps its place. Counts of displaced keys and of crowded slots are made anew, and
 * the room for logged data may differ.
 */

static void take_instance(const struct at *to, const struct at *from)
{
	u32 size = to->of->instances.instance_stride, i;
	const u8 *in = (const u8 *)from->v;
	u8 *out = (u8 *)to->v;

	if (size > from->of->instances.instance_stride)
		size = from->of->instances.instance_stride;
	for (i = 0; i < size; i++)
		out[i] = in[i];
	to->v->crowded = 0;
	if (to->v->len > to->of->instances.instance_stride - sizeof(*to->v))
		to->v->len = (u16)(to->of->instances.instance_stride -
				   sizeof(*to->v));
}

static void enter_block(struct dp_engine *e, const struct at *at)
{
	const struct dp_arena_control *c = &e->arena->control;
	u32 block = at->index / DP_BLOCK_WORDS;

	e->instances.block[block] = (struct dp_block){
		.tag = dp_block_tag(at->slot),
		.instances = c->base + DP_ARENA_OFFSET + c->blocks_off +
			     (u64)block * DP_BLOCK_WORDS * c->instance_stride,
	};
}

static void enter_line(struct dp_engine *e, const struct at *at)
{
	u64 key = dp_instance_key(at->group, at->slot);
	struct dp_exit_instance *own = own_of(e, at->slot);
	struct dp_instance_line *home = home_of(e, at->table, key);

	home->displaced += home != at->line;
	at->v->crowded = own && own->crowded < 0xff;
	if (at->v->crowded)
		own->crowded++;
	else
		e->arena->hit.strays = 1;
	*at->key = key;
}

/* Has the instance not changed while it was copied? */
static bool is_same(const struct at *to, const struct at *from)
{
	struct at again = *from;

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return is_there(&again) && again.group == from->group &&
	       again.slot == from->slot && again.v->serial == to->v->serial;
}

/* Blocks come first, so that a line knows whether its slot has one. */
static bool same_geometry(const struct dp_engine *e, const struct dp_engine *of)
{
	return e->instances.tables &&
	       e->instances.tables == of->instances.tables &&
	       e->instances.blocks == of->instances.blocks &&
	       e->instances.table[0].lines == of->instances.table[0].lines;
}

void dp_engine_fork_instances(struct dp_engine *e, const struct dp_engine *of,
			      u32 was, u32 is,
			      bool (*holds)(void *arg, u64 slot, u64 word),
			      void *arg)
{
	struct at from = { .of = of }, to = { .of = e };

	if (!same_geometry(e, of))
		return;
	for (; seek(&from); from.index++) {
		to.index = from.index;
		is_there(&to);
		to.group = from.group;
		to.slot = from.slot;
		if (!is_entry(e, to.group))
			continue;
		take_instance(&to, &from);
		if (!is_same(&to, &from) || !is_whole(&to) ||
		    !holds(arg, to.slot, to.v->ret)) {
			to.v->word = 0;
			continue;
		}
		if (to.v->tid == was)
			to.v->tid = is;
		e->view.states[to.group].tally[DP_TALLY_BROUGHT]++;
		if (to.key)
			enter_line(e, &to);
		else
			enter_block(e, &to);
	}
}
