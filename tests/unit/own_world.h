/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* own_world: text in an array, and memory for code that cannot always be mapped or written. */
#ifndef DP_TEST_OWN_WORLD_H
#define DP_TEST_OWN_WORLD_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "arch/arch.h"
#include "engine/layout/arena.h"
#include "engine/plan/plan.h"
#include "engine/site/arm.h"
#include "engine/site/grow.h"
#include "engine/site/live.h"
#include "engine/text/state.h"
#include "port.h"

#define TEXT 0x7f0000000000ull
#define BASE (TEXT + 0x40000000)
#define ENTRY (TEXT + 0x41000000)
#define ROOM 64u
#define NEVER (-1)

/* Five pushes: one address can be the island. Then lea, which needs none; and padding. Then
 * instructions of one to three bytes, and mov $13, %eax; syscall. */
static const u8 code[64] = {
	0x55, 0x55, 0x55, 0x55, 0x55, 0x90, 0x90, 0x90, 0x48, 0x8d, 0x05,
	0x10, 0,    0,	  0,	0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
	0xc3, 0xc3, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x53,
	0x48, 0x89, 0xe5, 0x41, 0x54, 0x41, 0x55, 0x31, 0xc0, 0xc3, 0x90,
	0xb8, 0x0d, 0,	  0,	0,    0x0f, 0x05, 0xc3, 0x90, 0x90,
};
enum { PUSHES = 0, LEA = 8, RET = 23, MIXED = 32, CALL = 44 };
#define ISLAND (TEXT + DP_JUMP_SIZE + (u64)(s64)(s32)0xcccccccc)

/** struct pool - memory that was mapped; @written: a byte for each of its bytes */
struct pool {
	u64 addr, size;
	u8 *written;
};

struct world {
	struct dp_target target;
	u8 text[sizeof(code)];
	struct dp_engine *e;
	void *file;
	struct pool pools[DP_MAX_POOLS];
	u32 nr_pools, maps, puts;
	int put_fails, map_fails; /* the call that does; NEVER */
	int map_err; /* of all calls, or 0 */
	int text_fails; /* offset of the byte that cannot be written, or NEVER */
	u32 mapped; /* bytes of the text that can be read */
	bool unowned; /* the next probe is of an unowned mapping */
	bool held; /* what the last writing was told of that */
	u32 leaves; /* 1 + the probe whose library goes before the next one, or 0 */
	/* sites whose jumps were written while all was stopped, and how that ends */
	u64 stopped[8];
	u32 nr_stopped;
	int stop_err;
	/* the text and the arena as they were before write number @kill_at, or NEVER */
	int kill_at, writes;
	u8 text_then[sizeof(code)];
	u8 *file_then;
	size_t file_size;
};

static inline struct world *world_of(struct dp_target *target)
{
	return (struct world *)target;
}

static inline int read_text(struct dp_target *target, u64 addr, void *to,
			    size_t len)
{
	if (addr - TEXT + len > world_of(target)->mapped)
		return -EFAULT;
	memcpy(to, world_of(target)->text + (addr - TEXT), len);
	return 0;
}

static inline int write_text(struct dp_target *target, u64 addr,
			     const void *from, size_t len)
{
	struct world *w = world_of(target);

	if (w->text_fails != NEVER && addr <= TEXT + (u64)w->text_fails &&
	    TEXT + (u64)w->text_fails < addr + len)
		return -EIO;
	if (w->writes++ == w->kill_at) {
		memcpy(w->text_then, w->text, sizeof(w->text));
		memcpy(w->file_then, w->file, w->file_size);
	}
	memcpy(w->text + (addr - TEXT), from, len);
	return 0;
}

static inline bool nobody_traces(struct dp_target *target)
{
	return false;
}

static const struct dp_target_ops text_ops = { .read = read_text,
					       .write = write_text,
					       .traced = nobody_traces };

static inline int map_pool(void *arg, u64 addr, u64 size)
{
	struct world *w = arg;

	if ((int)w->maps++ == w->map_fails || w->map_err)
		return w->map_err ? w->map_err : -EEXIST;
	w->pools[w->nr_pools++] =
		(struct pool){ addr, size, calloc(1, (size_t)size) };
	return 0;
}

static inline u8 *byte_at(const struct world *w, u64 addr)
{
	u32 i;

	for (i = 0; i < w->nr_pools; i++)
		if (addr - w->pools[i].addr < w->pools[i].size)
			return &w->pools[i].written[addr - w->pools[i].addr];
	return NULL;
}

static inline int put_code(void *arg, u64 addr, const void *from, size_t len)
{
	struct world *w = arg;
	size_t i;

	if ((int)w->puts++ == w->put_fails)
		return -EIO;
	for (i = 0; i < len; i++)
		*byte_at(w, addr + i) = 1;
	return 0;
}

static inline int find_holes(void *arg, struct dp_hole **holes, size_t *n)
{
	const struct dp_hole all[] = {
		{ ISLAND & ~(DP_PAGE - 1ull),
		  (ISLAND & ~(DP_PAGE - 1ull)) + DP_PAGE, false },
		{ TEXT + 0x100000, TEXT + 0x1000000, false },
	};
	struct world *w = arg;
	u32 i;

	*holes = dp_port_alloc((3 * DP_MAX_POOLS + 2) * sizeof(**holes));
	assert_non_null(*holes);
	memcpy(*holes, all, sizeof(all));
	*n = 2;
	for (i = 0; i < w->nr_pools; i++)
		*n = dp_holes_carve(*holes, *n, w->pools[i].addr,
				    w->pools[i].size);
	return 0;
}

static inline int write_stopped(void *arg, const u32 *which, u32 n, bool in)
{
	struct world *w = arg;
	struct dp_site_entry *s;
	u32 i;

	if (!in)
		return dp_engine_restore(w->e, &w->target, which, n);
	for (i = 0; i < n; i++) {
		s = dp_live_site(w->e, which[i]);
		w->stopped[w->nr_stopped++] = s->addr;
		if (w->stop_err)
			continue;
		if (s->armed == DP_SITE_TRAPPED)
			assert_int_equal(dp_site_set_state(s, DP_SITE_COMING),
					 0);
		assert_int_equal(dp_site_set_state(s, DP_SITE_THERE), 0);
		memcpy(w->text + (s->addr - TEXT), s->patch, s->patch_len);
	}
	return w->stop_err;
}

static inline int hold(void *arg, bool unowned, int (*work)(void *what),
		       void *what)
{
	struct world *w = arg;

	w->held = unowned;
	if (w->leaves)
		dp_live_abandon(w->e, w->leaves - 1);
	w->leaves = 0;
	return work(what);
}

static const struct dp_growth_ops growth = {
	map_pool, put_code, find_holes, write_stopped, hold, NULL, false
};

#endif
