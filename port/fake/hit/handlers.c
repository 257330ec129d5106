// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* handlers: stacks of handlers in C, and stubs of tracked calls, as the library makes them. */
#include "port/fake/hit/kernel.h"
#include "port/fake/hit/world.h"
#include "engine/hit/hit.h"
#include <string.h>
#include "arch/arch.h"
#include "engine/layout/arena.h"
#include "engine/layout/handler.h"
#include "engine/layout/instance.h"

#define STRIDE 256u /* of instances; the handlers' data follows each */

static u8 stacks[DP_FAKE_THREADS][DP_STACK_SIZE] __attribute__((aligned(4096)));
static u8 injected[DP_INJECTED_MAX][DP_INJECTED_SIZE]
	__attribute__((aligned(4096)));

void dp_fake_stacks(void)
{
	struct dp_arena_control *c = &dp_arena.control;

	memset(stacks, 0, sizeof(stacks));
	c->stack_base = (u64)stacks;
	c->nr_stacks = DP_STACKS;
	c->owner_off = dp_fake_room(DP_STACKS * sizeof(u32));
	c->self_offset = DP_FAKE_SELF;
}

void dp_fake_theres(void)
{
	memset(injected, 0, sizeof(injected));
	dp_arena.control.injected_base = (u64)injected;
}

struct dp_upcalls *dp_fake_upcalls(u32 n)
{
	struct dp_arena_control *c = &dp_arena.control;
	struct dp_upcalls *upcalls;

	c->nr_upcalls = n;
	c->upcall_off =
		dp_fake_room(sizeof(*upcalls) + n * sizeof(upcalls->v[0]));
	upcalls = dp_at(c->upcall_off);
	upcalls->owner = DP_FAKE_PID + DP_FAKE_THREADS;
	return upcalls;
}

void dp_fake_tool(void (*does)(void))
{
	dp_kernel.tool = does;
}

struct dp_frames *dp_fake_frames(u32 n)
{
	struct dp_frames *all = dp_at(dp_fake_room(sizeof(*all)));

	all->stubs = DP_FAKE_STUBS;
	all->table = (u64)dp_at(dp_fake_room(n * sizeof(struct dp_frame)));
	all->nr = n;
	dp_arena.control.frames = (u64)all;
	return all;
}

struct dp_instance_pool *dp_fake_instance_pool(u32 probe, u32 n)
{
	struct dp_probe_entry *p = (struct dp_probe_entry *)dp_probe(probe);
	struct dp_instance_pool *f = dp_at(dp_fake_room(sizeof(*f)));
	u32 i;

	p->instance_pool = (u64)f;
	p->nmissed = (u64)dp_at(dp_fake_room(sizeof(u64)));
	f->probe = probe;
	f->nmissed = p->nmissed;
	f->stride = STRIDE;
	f->nr = n;
	f->pool = (u64)dp_at(dp_fake_room(n * STRIDE));
	for (i = 0; i < n; i++) {
		dp_instance_at(f, i)->instance_pool = (u64)f;
		dp_instance_at(f, i)->index = i;
	}
	return f;
}
