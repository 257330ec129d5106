// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * release: what a site leaves when its code has gone, and who has it next.
 *
 * No thread is in code that the program has unmapped, so none is in the copies of that
 * code. The site's place in the table, its copies, its jumps and their islands serve
 * another site. Memory so follows what is probed at one time, however often libraries come
 * and go. A site waits until its last probe is removed, because probes know it by number.
 */
#include "engine/layout/site.h"
#include "engine/plan/plan.h"
#include "engine/site/build.h"
#include "engine/site/grow.h"
#include "engine/site/internal.h"
#include "engine/site/site.h"
#include "engine/text/state.h"

static void leave_hash(const struct dp_engine *e, const struct dp_site *s,
		       const struct dp_site_entry *entry)
{
	int b;

	dp_hash_leave(e, s->addr, s->place - 1);
	if (entry->post)
		dp_hash_leave(e, entry->post + entry->post_body, s->place - 1);
	for (b = 1; entry->jump && b < DP_JUMP_SIZE; b++)
		if (entry->traps >> b & 1)
			dp_hash_leave(e, s->addr + (u64)b, s->place - 1);
}

static void leave_jumps(struct dp_engine *e, struct dp_site *s)
{
	struct dp_jump *j;
	u32 n;

	for (n = s->jumps; n; n = s->jumps) {
		j = &e->view.jumps[n];
		s->jumps = j->earlier;
		dp_room_leave(e, j);
		*j = (struct dp_jump){ .base = j->base,
				       .room = j->room,
				       .earlier = s->left.jumps };
		s->left.jumps = n;
	}
}

static void leave_copies(struct dp_site *s, const struct dp_site_entry *entry)
{
	if (entry->single != s->left.single)
		s->left.single_room = entry->single_len;
	s->left.single = entry->single;
	if (!entry->post)
		return;
	if (entry->post != s->left.post)
		s->left.post_room = entry->post_len;
	s->left.post = entry->post;
}

void dp_release_place(struct dp_engine *e, struct dp_site *s)
{
	if (s->addr || s->probes || s->spare)
		return;
	s->place = 0;
	s->spare = true;
	s->pool = e->spare_sites;
	e->spare_sites = (u32)(s - e->sites) + 1;
}

void dp_release_site(struct dp_engine *e, struct dp_site *s)
{
	struct dp_site_entry *entry = dp_live_site(e, (u32)(s - e->sites));

	if (s->entered)
		leave_hash(e, s, entry);
	leave_jumps(e, s);
	if (s->place && !s->watch)
		leave_copies(s, entry);
	s->addr = 0;
	s->post = 0;
	/* A tool that is killed here leaves no site, or all of it. */
	dp_site_set_state(entry, DP_SITE_OFF);
	__atomic_store_n(&entry->addr, 0, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	*entry = (struct dp_site_entry){ 0 };
	dp_release_place(e, s);
}

void dp_release_replaced(struct dp_engine *e, u64 addr, const u8 *code,
			 size_t size)
{
	struct dp_site *s = dp_engine_find(e, addr);

	if (!e->arena || !s || s->first_probe || s->intercept >= 0 || s->early)
		return;
	if (!dp_bytes_same(s->code, code, s->size < size ? s->size : size))
		dp_release_site(e, s);
}

void dp_release_unused(struct dp_engine *e, struct dp_site *s)
{
	if (s->addr && s->place && !s->first_probe && s->intercept < 0 &&
	    !s->early && !s->was_armed)
		dp_release_site(e, s);
}

void dp_release_probe(struct dp_engine *e, u32 probe)
{
	struct dp_site *s = &e->sites[e->probes[probe].site];

	s->probes--;
	/* Nothing is mapped or armed for data. */
	if (s->watch && s->addr && !s->probes)
		dp_release_site(e, s);
	dp_release_place(e, s);
}
