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

/* The copy again, with a breakpoint between the instruction and the jump on. */
static int make_post(const struct dp_site *s, struct dp_site_entry *entry,
		     u8 *out)
{
	struct dp_copy copy;
	int err = dp_insn_relocate(s->code, &s->facts, s->addr, entry->post,
				   &copy, NULL);

	if (err)
		return err;
	copy_bytes(out, copy.code, copy.body_len);
	out[copy.body_len] = DP_BREAKPOINT;
	entry->post_body = copy.body_len;
	entry->post_len = copy.body_len + 1;
	entry->post_len += (u8)dp_emit_jmp(out + entry->post_len,
					   entry->post + entry->post_len,
					   s->addr + s->facts.len);
	return entry->post_len > copy.body_len + 1 ? 0 : -ENOMEM;
}

/* Only what falls through, and does so as one instruction, comes back. */
static bool needs_post(const struct dp_site *s)
{
	u8 f = s->facts.faults;

	return s->records && s->facts.class == DP_INSN_PLAIN &&
	       (f == DP_FAULTS_OTHER || f == DP_FAULTS_PUSH ||
		f == DP_FAULTS_POP);
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

static void note_faults(const struct dp_site *s, struct dp_site_entry *entry)
{
	entry->faults = s->facts.faults;
	entry->operand = s->facts.operand;
	if (s->facts.rip_relative)
		entry->operand.disp += (s64)(s->addr + s->facts.len);
}

static int plan_site(struct dp_engine *e, const struct dp_site *s,
		     struct dp_site_entry *entry, const struct dp_mapping *map,
		     struct cursor *cur)
{
	const struct dp_pool_need *pool = &e->need.pools[s->pool];
	u32 *used = &cur->used[s->pool];
	u8 *file = (u8 *)map->file + pool->file_offset;
	int err;

	if (*used + 2 * DP_COPY_MAX > pool->size)
		return -ENOMEM;
	entry->addr = s->addr;
	entry->copy = pool->addr + *used;
	entry->insn_len = s->facts.len;
	entry->first_probe = s->first_probe;
	note_faults(s, entry);
	err = make_copy(s, entry, map, file + *used);
	*used += entry->copy_len;
	if (!err && needs_post(s)) {
		entry->post = pool->addr + *used;
		err = make_post(s, entry, file + *used);
		*used += entry->post_len;
	}
	return err ? err : make_patch(s, entry);
}

static void lay_out(struct dp_engine *e, const struct dp_mapping *map)
{
	struct dp_arena_control *c = &e->arena->control;
	u32 i;

	dp_tables_lay_out(e, c);
	c->version = DP_LAYOUT_VERSION;
	c->head_size = sizeof(struct dp_arena);
	c->arena_size = e->need.arena_size;
	c->base = map->base;
	c->owner = map->owner;
	c->tool = map->tool;
	c->tool_start = map->tool_start;
	c->tid_offset = e->tid_offset;
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

static void fill_binding(struct dp_probe_entry *entry,
			 struct dp_probe_state *state, const struct dp_probe *p)
{
	entry->enabled = 1;
	if (!p->bound)
		return;
	entry->program = p->binding.program + 1;
	entry->start = p->binding.start;
	entry->maxhits = p->binding.maxhits;
	entry->major = p->binding.major;
	entry->minor = p->binding.minor;
	entry->logonfault = p->binding.logonfault;
	state->count = -(s64)p->binding.passcount;
}

static void fill_probes(struct dp_engine *e, const u32 *rank)
{
	const struct dp_arena_control *c = &e->arena->control;
	struct dp_probe_entry *probes =
		(void *)((char *)e->arena + c->probe_off);
	struct dp_probe_state *states =
		(void *)((char *)e->arena + c->state_off);
	u32 i;

	for (i = 0; i < e->nr_probes; i++) {
		probes[i].next = e->probes[i].next;
		probes[i].site = rank[e->probes[i].site];
		fill_binding(&probes[i], &states[i], &e->probes[i]);
	}
}

static void fill_programs(struct dp_engine *e)
{
	const struct dp_arena_control *c = &e->arena->control;
	struct dp_program_entry *entries =
		(void *)((char *)e->arena + c->program_off);
	u32 code = c->code_off, lv = c->gv_off + c->nr_gv * 8, i;

	for (i = 0; i < e->nr_programs; i++) {
		const struct dp_program *p = &e->programs[i];

		entries[i].code_off = code;
		entries[i].code_len = p->spec.code_len;
		entries[i].lv_off = lv;
		entries[i].nr_lv = p->spec.nr_lv;
		entries[i].jmpmax = p->spec.jmpmax;
		entries[i].logmax = p->spec.logmax;
		entries[i].stack_mask = p->spec.stack - 1;
		copy_bytes((u8 *)entries[i].name, (const u8 *)p->name,
			   DP_PROGRAM_NAME);
		copy_bytes((u8 *)e->arena + code, p->code, p->spec.code_len);
		code += p->spec.code_len;
		lv += p->spec.nr_lv * 8;
	}
}

static void open_reader(struct dp_engine *e)
{
	const struct dp_arena_control *c = &e->arena->control;

	e->reader = (struct dp_reader){ .ring_off = c->ring_off,
					.ring_stride = c->ring_stride,
					.slot_size = c->slot_size,
					.slot_mask = c->slot_mask,
					.rings = e->shards };
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
		if (entries[i].post)
			enter_hash(e->arena,
				   entries[i].post + entries[i].post_body, i);
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
		fill_programs(e);
		open_reader(e);
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
