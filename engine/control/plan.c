// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * plan: the copies and tables of an engine, computed before a byte of the
 * target's text changes.
 */
#include "engine/control/internal.h"
#include "engine/control/strategy.h"

/* Where the next copy goes, pool by pool. */
struct cursor {
	u8 *file;
	u32 used[DP_MAX_POOLS];
};

static void put32(u8 *to, u32 v)
{
	to[0] = (u8)v;
	to[1] = (u8)(v >> 8);
	to[2] = (u8)(v >> 16);
	to[3] = (u8)(v >> 24);
}

static void copy_bytes(u8 *to, const u8 *from, size_t n)
{
	while (n--)
		*to++ = *from++;
}

/*
 * lea -128(%rsp), %rsp; push $back; movl $back >> 32, 4(%rsp); mov $nr, %eax;
 * jmp *0(%rip); .quad dp_hook_entry
 */
static u8 hook_detour(u8 *out, u32 nr, u64 back, u64 entry)
{
	static const u8 code[] = { 0x48, 0x8d, 0x64, 0x24, 0x80, 0x68, 0, 0,
				   0,	 0,    0xc7, 0x44, 0x24, 0x04, 0, 0,
				   0,	 0,    0xb8, 0,	   0,	 0,    0, 0xff,
				   0x25, 0,    0,    0,	   0 };

	copy_bytes(out, code, sizeof(code));
	put32(out + 6, (u32)back);
	put32(out + 14, (u32)(back >> 32));
	put32(out + 19, nr);
	put32(out + sizeof(code), (u32)entry);
	put32(out + sizeof(code) + 4, (u32)(entry >> 32));
	return sizeof(code) + 8;
}

static int make_copy(const struct dp_site *s, struct dp_site_entry *entry,
		     const struct dp_mapping *map, u8 *out)
{
	struct dp_copy copy;
	const char *why;
	int err;

	if (s->hook >= 0) {
		entry->copy_len = hook_detour(out, (u32)s->hook, s->addr + 7,
					      map->hook_entry);
		entry->body_len = entry->copy_len;
		return 0;
	}
	err = dp_insn_relocate(s->code, &s->facts, s->addr, entry->copy, &copy,
			       &why);
	if (err)
		return err;
	copy_bytes(out, copy.code, copy.len);
	entry->copy_len = copy.len;
	entry->body_len = copy.body_len;
	entry->atomic = copy.atomic;
	return 0;
}

/* A hook that shares its address with a probe is reached by the trap. */
static int make_patch(const struct dp_site *s, struct dp_site_entry *entry)
{
	copy_bytes(entry->orig, s->code, sizeof(entry->orig));
	entry->patch[0] = DP_BREAKPOINT;
	entry->patch_len = 1;
	entry->mode = DP_MODE_TRAP;
	if (s->hook < 0 || s->first_probe)
		return 0;
	entry->mode = DP_MODE_JUMP;
	entry->patch_len = (u8)dp_emit_jmp(entry->patch, s->addr, entry->copy);
	return entry->patch_len ? 0 : -ENOMEM;
}

static int plan_site(struct dp_engine *e, const struct dp_site *s,
		     struct dp_site_entry *entry, const struct dp_mapping *map,
		     struct cursor *cur)
{
	const struct dp_pool_need *pool = &e->need.pools[s->pool];
	u32 used = cur->used[s->pool];
	int err;

	if (used + DP_COPY_MAX > pool->size)
		return -ENOMEM;
	entry->addr = s->addr;
	entry->copy = pool->addr + used;
	entry->insn_len = s->facts.len;
	entry->first_probe = s->first_probe;
	err = make_copy(s, entry, map,
			(u8 *)map->file + pool->file_offset + used);
	if (!err)
		err = make_patch(s, entry);
	cur->used[s->pool] = used + entry->copy_len;
	return err;
}

static u32 take(u32 *offset, u64 bytes)
{
	u32 at = *offset;

	*offset += (u32)((bytes + 7) & ~7ull);
	return at;
}

static void lay_out(struct dp_engine *e, const struct dp_mapping *map)
{
	struct dp_arena_control *c = &e->arena->control;
	u32 offset = sizeof(struct dp_arena), slots = 2, i;

	while (slots < 2 * e->nr_sites + 2)
		slots *= 2;
	c->version = DP_LAYOUT_VERSION;
	c->head_size = sizeof(struct dp_arena);
	c->arena_size = e->need.arena_size;
	c->base = map->base;
	c->owner = map->owner;
	c->tool = map->tool;
	c->tool_start = map->tool_start;
	c->site_off = take(&offset, e->nr_sites * sizeof(struct dp_site_entry));
	c->probe_off =
		take(&offset, e->nr_probes * sizeof(struct dp_probe_entry));
	c->hash_off = take(&offset, slots * sizeof(u32));
	c->hash_mask = slots - 1;
	/* Shards a cache line apart, whatever the number of probes. */
	c->counter_off = (offset + 63) & ~63u;
	c->shard_stride = (e->nr_probes * 8 + 63) & ~63u;
	c->shard_mask = e->shards - 1;
	c->nr_probes = e->nr_probes;
	c->nr_pools = e->need.nr_pools;
	for (i = 0; i < e->need.nr_pools; i++) {
		c->pools[i].start = e->need.pools[i].addr;
		c->pools[i].size = e->need.pools[i].size;
	}
}

static void enter_hash(struct dp_arena *arena, u64 addr, u32 index)
{
	const struct dp_arena_control *c = &arena->control;
	u32 *slots = (void *)((char *)arena + c->hash_off);
	u32 i = dp_site_hash(addr) & c->hash_mask;

	while (slots[i])
		i = (i + 1) & c->hash_mask;
	slots[i] = index + 1;
}

static void fill_probes(struct dp_engine *e, const u32 *rank)
{
	struct dp_probe_entry *probes =
		(void *)((char *)e->arena + e->arena->control.probe_off);
	u32 i;

	for (i = 0; i < e->nr_probes; i++) {
		probes[i].next = e->probes[i].next;
		probes[i].site = rank[e->probes[i].site];
		probes[i].enabled = 1;
	}
}

static int fill_sites(struct dp_engine *e, const struct dp_mapping *map,
		      u32 *rank)
{
	struct dp_site_entry *entries =
		(void *)((char *)e->arena + e->arena->control.site_off);
	struct cursor cur = { map->file, { 0 } };
	u32 i;
	int err;

	for (i = 0; i < e->nr_sites; i++) {
		const struct dp_site *s = &e->sites[e->order[i]];

		err = plan_site(e, s, &entries[i], map, &cur);
		if (err)
			return err;
		rank[e->order[i]] = i;
		enter_hash(e->arena, s->addr, i);
	}
	return 0;
}

int dp_engine_build(struct dp_engine *e, const struct dp_mapping *map)
{
	struct dp_arena *arena =
		(void *)((char *)map->file + DP_FILE_ARENA_OFFSET);
	u32 *rank = dp_port_alloc((e->nr_sites + 1) * sizeof(*rank));
	int err;

	if (!rank)
		return -ENOMEM;
	e->arena = arena;
	lay_out(e, map);
	err = fill_sites(e, map, rank);
	if (!err) {
		fill_probes(e, rank);
		arena->control.magic = DP_LAYOUT_MAGIC;
		__atomic_store_n(&arena->control.nr_sites, e->nr_sites,
				 __ATOMIC_RELEASE);
		err = dp_view_open(&e->view, arena, e->need.arena_size);
	}
	dp_port_free(rank);
	if (err)
		e->arena = NULL;
	return err;
}
