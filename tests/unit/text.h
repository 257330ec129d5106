/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* text: bytes in an array, and a table of sites there that strategies work on by themselves. */
#ifndef DP_TEST_TEXT_H
#define DP_TEST_TEXT_H

#include <errno.h>
#include <string.h>
#include "arch/arch.h"
#include "engine/layout/base.h"
#include "engine/layout/site.h"
#include "engine/text/state.h"
#include "engine/text/strategy.h"
#include "engine/text/target.h"

#define BASE 0x10000000ull
#define SIZE (2 * DP_PAGE)
#define SITES 4
#define APART 64 /* bytes from one site to the next */
#define WRITES 32
#define FOREIGN 0xf1

/* push; mov; push */
static const u8 orig[DP_JUMP_SIZE] = { 0x55, 0x48, 0x89, 0xe5, 0x41 };
static const u8 patch[DP_JUMP_SIZE] = { 0xe9, 0xcc, 0x12, 0x34, 0xcc };
static const u8 trapped[DP_JUMP_SIZE] = { 0xcc, 0x48, 0x89, 0xe5, 0x41 };

static struct dp_target target;
static u8 text[SIZE];
static struct dp_site_entry site[SITES];
static struct dp_jump jumps[SITES + 1];
static struct dp_sites sites;
static struct {
	u64 addr;
	size_t len;
} wrote[WRITES];
static u32 writes, syncs, reads, extracts, told;
static u64 told_of, bad, lost;
static bool told_away, is_traced, is_replaced;
static int lost_error; /* with which what is at @lost goes */
static u32 fail_at; /* the nth write from now fails; 0: none */
static u32 reads_left; /* of what is at @lost, before that goes, or is replaced */

static inline int read_text(struct dp_target *t, u64 addr, void *to, size_t len)
{
	assert_true(addr >= BASE && addr + len <= BASE + SIZE);
	reads++;
	if (addr == lost && !reads_left--) {
		if (!is_replaced)
			return lost_error;
		memset(text + (addr - BASE), FOREIGN, DP_JUMP_SIZE);
	}
	memcpy(to, text + (addr - BASE), len);
	return 0;
}

static inline int extract_text(struct dp_target *t, const struct dp_extract *v,
			       u32 n)
{
	u32 i;

	extracts++;
	assert_in_range(n, 1, DP_EXTRACTS_MAX);
	for (i = 0; i < n; i++)
		memcpy(v[i].to, text + (v[i].addr - BASE), v[i].len);
	return 0;
}

static inline int write_text(struct dp_target *t, u64 addr, const void *from,
			     size_t len)
{
	assert_true(addr >= BASE && addr + len <= BASE + SIZE);
	assert_in_range(writes, 0, WRITES - 1);
	if (fail_at && !--fail_at)
		return -EIO;
	wrote[writes].addr = addr;
	wrote[writes++].len = len;
	memcpy(text + (addr - BASE), from, len);
	return 0;
}

static inline int sync_text(struct dp_target *t)
{
	syncs++;
	return 0;
}

static inline bool traced(struct dp_target *t)
{
	return is_traced;
}

static const struct dp_target_ops ops = { .read = read_text,
					  .extract = extract_text,
					  .write = write_text,
					  .sync = sync_text,
					  .traced = traced };

static inline void tell(void *arg, u64 addr, bool away)
{
	told++;
	told_of = addr;
	told_away = away;
}

static inline u8 *bytes_of(u32 i)
{
	return text + (site[i].addr - BASE);
}

/* Sites that may have a jump, wanted and not there. */
static inline int begin(void **state)
{
	u32 i;

	memset(text, 0x90, sizeof(text));
	memset(jumps, 0, sizeof(jumps));
	writes = syncs = reads = extracts = told = fail_at = reads_left = 0;
	bad = lost = 0;
	lost_error = -EFAULT;
	is_traced = is_replaced = false;
	target.ops = &ops;
	sites = (struct dp_sites){ .v = site,
				   .n = SITES,
				   .jumps = jumps,
				   .nr_jumps = SITES + 1,
				   .total = SITES };
	for (i = 0; i < SITES; i++) {
		site[i] = (struct dp_site_entry){ .addr = BASE + i * APART,
						  .mode = DP_MODE_JUMP,
						  .wanted = DP_WANT_PLAN,
						  .patch_len = DP_JUMP_SIZE,
						  .jump = i + 1,
						  .traps = 1 << 1 | 1 << 4 };
		memcpy(site[i].orig, orig, DP_JUMP_SIZE);
		memcpy(site[i].patch, patch, DP_JUMP_SIZE);
		memcpy(bytes_of(i), orig, DP_JUMP_SIZE);
		jumps[i + 1] = (struct dp_jump){ .base = 0x7000 + i * 0x100,
						 .at = { 0, 16, 32, 48 },
						 .offset = { 0, 1, 4 },
						 .nr = 3,
						 .size = 6,
						 .site = i };
	}
	return 0;
}

static inline int arm(void)
{
	return dp_strategy_interior.arm(&target, &sites, &bad);
}

static inline int disarm(void)
{
	return dp_strategy_interior.disarm(&target, &sites, &bad);
}

static inline void expect(u32 i, u8 armed, const u8 *bytes)
{
	assert_int_equal(site[i].armed, armed);
	assert_memory_equal(bytes_of(i), bytes, DP_JUMP_SIZE);
}

/* All sites have their jumps, and nothing has been noted. */
static inline void begin_armed(void)
{
	u32 i;

	assert_int_equal(arm(), 0);
	for (i = 0; i < SITES; i++)
		expect(i, DP_SITE_THERE, patch);
	writes = syncs = 0;
}

/* A uprobe where the jump of a site begins. */
static inline void put_foreign(u32 i)
{
	bytes_of(i)[0] = DP_BREAKPOINT;
}

#endif
