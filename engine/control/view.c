// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* view: bounds of a foreign arena, checked once, and what can be read there. */
#include "engine/control/view.h"
#include "engine/control/strategy.h"

#define SYSCALL_SIZE 2

static bool fits(u64 offset, u64 count, u64 each, u64 size)
{
	return offset >= sizeof(struct dp_arena) && offset % 8 == 0 &&
	       offset <= size && count <= (size - offset) / each;
}

static bool counters_fit(const struct dp_arena_control *c, u64 size)
{
	u64 shards = (u64)c->shard_mask + 1;

	return shards <= DP_MAX_SHARDS && !(shards & c->shard_mask) &&
	       c->shard_stride % 8 == 0 &&
	       c->shard_stride / 8 >= c->nr_probes &&
	       fits(c->counter_off, 2 * shards,
		    c->shard_stride ? c->shard_stride : 8, size);
}

static bool patch_sane(const struct dp_site_entry *s)
{
	if (s->mode == DP_MODE_TRAP)
		return s->patch_len == 1;
	/* A jump; or none, where another's covers it. */
	return s->patch_len == sizeof(s->patch) || !s->patch_len;
}

static bool site_sane(const struct dp_site_entry *s, u32 nr_probes)
{
	return s->mode <= DP_MODE_JUMP && s->first_probe <= nr_probes &&
	       patch_sane(s) && s->jump.nr <= DP_JUMP_INSNS &&
	       s->body_len <= s->copy_len && s->post_body <= s->post_len;
}

static bool program_sane(const struct dp_program_entry *p, u64 size)
{
	return fits(p->lv_off, p->nr_lv, sizeof(u64), size) &&
	       !p->name[DP_PROGRAM_NAME - 1];
}

static bool programs_fit(const struct dp_arena_control *c, u64 size)
{
	return fits(c->state_off, c->nr_probes, sizeof(struct dp_probe_state),
		    size) &&
	       fits(c->program_off, c->nr_programs,
		    sizeof(struct dp_program_entry), size) &&
	       fits(c->gv_off, c->nr_gv, sizeof(u64), size) &&
	       fits(c->context_off, c->nr_contexts, sizeof(struct dp_context),
		    size);
}

int dp_view_open(struct dp_view *view, void *mem, size_t size)
{
	const struct dp_arena *arena = mem;
	const struct dp_arena_control *c = &arena->control;
	u32 i;

	if (size < sizeof(*arena) || c->magic != DP_LAYOUT_MAGIC ||
	    c->version != DP_LAYOUT_VERSION || c->head_size != sizeof(*arena) ||
	    c->arena_size > size || c->nr_pools > DP_MAX_POOLS ||
	    c->nr_texts > DP_MAX_TEXTS || c->nr_caught > DP_CAUGHT)
		return -EBADMSG;
	size = c->arena_size;
	if (!fits(c->site_off, c->nr_sites, sizeof(*view->sites), size) ||
	    !fits(c->probe_off, c->nr_probes, sizeof(*view->probes), size) ||
	    !counters_fit(c, size) || !programs_fit(c, size))
		return -EBADMSG;
	view->arena = arena;
	view->sites = (void *)((char *)mem + c->site_off);
	view->probes = (void *)((char *)mem + c->probe_off);
	view->states = (void *)((char *)mem + c->state_off);
	view->programs = (void *)((char *)mem + c->program_off);
	view->contexts = (void *)((char *)mem + c->context_off);
	view->gv = (void *)((char *)mem + c->gv_off);
	view->nr_programs = c->nr_programs;
	view->nr_gv = c->nr_gv;
	view->nr_sites = c->nr_sites;
	view->nr_probes = c->nr_probes;
	for (i = 0; i < view->nr_sites; i++)
		if (!site_sane(&view->sites[i], view->nr_probes))
			return -EBADMSG;
	for (i = 0; i < view->nr_probes; i++)
		if (view->probes[i].site >= view->nr_sites)
			return -EBADMSG;
	for (i = 0; i < view->nr_programs; i++)
		if (!program_sane(&view->programs[i], size))
			return -EBADMSG;
	return 0;
}

u64 dp_view_hits(const struct dp_view *view, u32 probe)
{
	const struct dp_arena_control *c = &view->arena->control;
	const char *counters = (const char *)view->arena + c->counter_off;
	u64 sum = 0;
	u32 i;

	for (i = 0; i < 2 * (c->shard_mask + 1); i++) {
		const u64 *hits =
			(const void *)(counters + (u64)i * c->shard_stride);
		sum += __atomic_load_n(&hits[probe], __ATOMIC_RELAXED);
	}
	return sum;
}

u32 dp_view_counter(const struct dp_view *view, u32 probe)
{
	return view->arena->control.resident ? view->probes[probe].site : probe;
}

void dp_view_reason(const struct dp_view *view, const struct dp_site_entry *s,
		    char *text)
{
	u32 k = 0;

	if (s->reason && s->reason <= DP_REASONS)
		for (; k < DP_REASON_SIZE - 1 &&
		       view->arena->control.reasons[s->reason - 1][k];
		     k++)
			text[k] = view->arena->control.reasons[s->reason - 1][k];
	text[k] = '\0';
}

static bool in_span(u64 addr, u64 start, u64 size)
{
	return addr >= start && addr - start < size;
}

bool dp_view_owns(const struct dp_view *view, u64 addr)
{
	const struct dp_arena_control *c = &view->arena->control;
	u32 i;

	if (in_span(addr, c->base, DP_AGENT_TEXT))
		return true;
	for (i = 0; i < c->nr_pools; i++)
		if (in_span(addr, c->pools[i].start, c->pools[i].size))
			return true;
	return false;
}

/* Which instruction of the program a pc inside one of its copies stands for. */
static int original(const struct dp_site_entry *s, u64 offset, u8 body,
		    u64 *orig)
{
	if (!offset)
		*orig = s->addr;
	else if (s->atomic && offset >= body)
		*orig = s->addr + s->insn_len;
	else
		return -EAGAIN;
	return 0;
}

/* The same for a detour. */
static int before_jump(const struct dp_site_entry *s, u64 offset, u64 *orig)
{
	const struct dp_jump *j = &s->jump;
	int i;

	if (offset == j->start || offset == j->insn[0]) {
		*orig = s->addr;
		return 0;
	}
	/* In a watched call, or just back from it: as behind the original. */
	if (s->hook == DP_HOOK_WATCHED &&
	    offset == (u64)j->insn[j->nr - 1] + SYSCALL_SIZE) {
		*orig = s->addr + j->size;
		return 0;
	}
	for (i = 1; i < j->nr; i++)
		if (offset == j->at[i] || offset == j->insn[i]) {
			*orig = s->addr + j->offset[i];
			return 0;
		}
	*orig = s->addr + j->size;
	return offset == j->at[j->nr] ? 0 : -EAGAIN;
}

int dp_view_original(const struct dp_view *view, u64 addr, u64 *orig)
{
	const struct dp_site_entry *s;
	u32 i;

	for (i = 0; i < view->nr_sites; i++) {
		s = &view->sites[i];
		if (s->jump.landing && s->jump.landing == addr) {
			*orig = s->addr;
			return 0;
		}
		if (in_span(addr, s->jump.base, s->jump.len))
			return before_jump(s, addr - s->jump.base, orig);
		if (in_span(addr, s->copy, s->copy_len))
			return original(s, addr - s->copy, s->body_len, orig);
		if (s->post && in_span(addr, s->post, s->post_len))
			return original(s, addr - s->post, s->post_body, orig);
	}
	return -ENOENT;
}

int dp_view_disarm(struct dp_view *view, struct dp_target *target, bool hooks,
		   u64 *bad)
{
	struct dp_sites sites = { view->sites, view->nr_sites, NULL, false };
	int traps, jumps;
	u32 i;

	for (i = 0; i < view->nr_sites; i++)
		if (!view->sites[i].hook == !hooks)
			view->sites[i].wanted = 0;
	if (hooks)
		return dp_strategy_hook.disarm(target, &sites, bad);
	traps = dp_strategy_trap.disarm(target, &sites, bad);
	jumps = dp_strategy_interior.disarm(target, &sites, traps ? NULL : bad);
	return traps ? traps : jumps;
}

bool dp_view_presume(struct dp_view *view)
{
	bool any = false;
	u32 i;

	for (i = 0; i < view->nr_sites; i++)
		if (view->sites[i].returned) {
			view->sites[i].armed = 1;
			any = true;
		}
	return any;
}
