/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* backtrace_world: an engine's tables, and memory with stacks, in which walks are tried. */
#ifndef DP_TEST_BACKTRACE_WORLD_H
#define DP_TEST_BACKTRACE_WORLD_H

#include <stdlib.h>
#include <string.h>
#include "engine/hit/backtrace.h"
#include "engine/layout/arena.h"
#include "engine/site/backtrace.h"
#include "engine/site/engine.h"
#include "engine/site/internal.h"

#define WORLD_WINDOWS 4

/** struct world - @window: addresses that can be read, and where their memory is; @reads: words that were; @breakpoint:
 *  address of one of ours */
struct world {
	struct dp_engine *e;
	char *arena;
	u64 size;
	struct {
		u64 start, end;
		const void *memory;
	} window[WORLD_WINDOWS];
	u64 reads, breakpoint;
};

static struct world world;

struct dp_load dp_backtrace_load(u64 address)
{
	struct dp_load word = { 0, 0 };
	u32 i;

	for (i = 0; i < WORLD_WINDOWS; i++)
		if (address >= world.window[i].start &&
		    address < world.window[i].end &&
		    world.window[i].end - address >= sizeof(word.value)) {
			memcpy(&word.value,
			       (const char *)world.window[i].memory +
				       (address - world.window[i].start),
			       sizeof(word.value));
			word.ok = 1;
			world.reads++;
			break;
		}
	return word;
}

/* A breakpoint is where the test says so. */
u64 dp_backtrace_trapped(u64 signal, u64 pc)
{
	return pc - 1 == world.breakpoint ? pc - 1 : pc;
}

static void world_window(u32 i, u64 start, u64 size, const void *memory)
{
	world.window[i].start = start;
	world.window[i].end = start + size;
	world.window[i].memory = memory;
}

static void world_begin(u64 bytes, u32 nodes)
{
	u64 own = sizeof(struct dp_arena), tables;

	memset(&world, 0, sizeof(world));
	if (dp_engine_create(&world.e) ||
	    dp_engine_walk_stacks(world.e, bytes, nodes, NULL, NULL))
		abort();
	tables = (own + dp_backtraces_bytes(world.e) + DP_PAGE) &
		 ~(u64)(DP_PAGE - 1);
	world.size = tables + dp_backtraces_tables(world.e);
	world.arena = calloc(1, world.size);
	if (!world.arena)
		abort();
	world.e->arena = (void *)world.arena;
	dp_backtraces_fill(world.e, (u32)own, (u32)tables);
}

static void world_end(void)
{
	world.e->arena = NULL;
	dp_engine_destroy(world.e);
	free(world.arena);
}

static struct dp_backtrace world_walk(void)
{
	return (struct dp_backtrace){
		.head = (void *)(world.arena + world.e->backtraces.head_off),
		.arena = world.arena,
		.size = world.size,
	};
}

#endif
