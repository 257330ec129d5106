/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * scribble: a thread that writes to memory which control shares with a target, while
 * control works there, as the target's own threads can.
 *
 * The memory lies amid addresses where nothing is mapped, further than a 32-bit offset
 * leads either way: a reference that leads out of it is a fault.
 */
#ifndef DP_FUZZ_SCRIBBLE_H
#define DP_FUZZ_SCRIBBLE_H

#include "port_types.h"
#include "engine/layout/arena.h"
#include "engine/plan/plan.h"
#include "fuzz/text.h"
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SCRIBBLE_REACH (1ull << 33)
#define SCRIBBLE_MOST (1ull << 28)
#define SCRIBBLE_EDITS 24
#define SCRIBBLE_PAGE 4096ull
#define SCRIBBLE_NEAR 8192

/** struct scribble - eight bytes of the input: what is written where
 *  @how: bit 0: two bytes, else four; bit 1: what was there comes back in between */
struct scribble {
	u32 place;
	u16 value, how;
};

static struct {
	u8 *memory;
	size_t size;
	struct scribble edits[SCRIBBLE_EDITS];
	size_t n;
	/* parts of it that the target writes: [hit, own), [own, end) */
	size_t hit, own, end;
	bool wanted, writes;
} scribbler;

/* What the target can write at all (doc/security.md). Most of it is room for records; what
 * matters comes first. */
static size_t scribble_place(u32 word)
{
	size_t from = word >> 30 & 1 ? scribbler.own : scribbler.hit;
	size_t room = scribbler.end - from;

	if (!room) {
		from = scribbler.hit;
		room = scribbler.end - from;
	}
	if (word >> 31 && room > SCRIBBLE_NEAR)
		room = SCRIBBLE_NEAR;
	return from + (word & 0x3fffffff) % (room - sizeof(u32));
}

/* @file: as the region is laid out */
static void scribble_aim(u8 *file, const struct dp_layout_need *need)
{
	scribbler.memory = file;
	scribbler.hit = DP_ARENA_OFFSET + DP_CONTROL_ROOM;
	scribbler.own = DP_ARENA_OFFSET + need->own_off;
	scribbler.end = DP_ARENA_OFFSET + need->private_off;
}

static void scribble_one(const struct scribble *e)
{
	volatile u32 *at = (volatile u32 *)(scribbler.memory +
					    (scribble_place(e->place) & ~3ull));
	u32 was = *at, value = e->value;

	value |= e->how & 1 ? was & ~0xffffu : value << 16;
	*at = value;
	if (e->how & 2 && *at == value)
		*at = was;
}

static void *scribble_run(void *arg)
{
	size_t i;

	for (;;) {
		if (!__atomic_load_n(&scribbler.wanted, __ATOMIC_SEQ_CST)) {
			__atomic_store_n(&scribbler.writes, false,
					 __ATOMIC_SEQ_CST);
			sched_yield();
			continue;
		}
		__atomic_store_n(&scribbler.writes, true, __ATOMIC_SEQ_CST);
		/* It may not be wanted any more by now. */
		for (i = 0;
		     i < scribbler.n &&
		     __atomic_load_n(&scribbler.wanted, __ATOMIC_SEQ_CST);
		     i++)
			scribble_one(&scribbler.edits[i]);
	}
	return NULL;
}

/* Past the sanitizer, which would note each page of it. */
static u8 *scribble_reserve(void *at, size_t size, int prot, int flags)
{
	long all = syscall(SYS_mmap, at, size, prot,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags,
			   -1, 0);

	must(all != -1);
	return (u8 *)all;
}

/* @size bytes, all zeros, whole pages; until scribble_unmap(). */
static u8 *scribble_map(size_t size)
{
	static u8 *all;
	pthread_t thread;

	must(size <= SCRIBBLE_MOST && !(size % SCRIBBLE_PAGE));
	if (!all) {
		all = scribble_reserve(NULL, 2 * SCRIBBLE_REACH + SCRIBBLE_MOST,
				       PROT_NONE, 0);
		must(!pthread_create(&thread, NULL, scribble_run, NULL));
	}
	return scribble_reserve(all + SCRIBBLE_REACH, size,
				PROT_READ | PROT_WRITE, MAP_FIXED);
}

static void scribble_unmap(u8 *memory, size_t size)
{
	scribble_reserve(memory, size, PROT_NONE, MAP_FIXED);
}

/* It is under way when this returns. */
static void scribble_start(const u8 *data, size_t size)
{
	scribbler.n = size / sizeof(struct scribble);
	if (scribbler.n > SCRIBBLE_EDITS)
		scribbler.n = SCRIBBLE_EDITS;
	memcpy(scribbler.edits, data, scribbler.n * sizeof(struct scribble));
	__atomic_store_n(&scribbler.wanted, true, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(&scribbler.writes, __ATOMIC_SEQ_CST))
		sched_yield();
}

static void scribble_stop(void)
{
	__atomic_store_n(&scribbler.wanted, false, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&scribbler.writes, __ATOMIC_SEQ_CST))
		sched_yield();
}

#endif
