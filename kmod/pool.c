// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* pool: room for copies and detours, by pages. One engine at a time, under its lock. */
#include "kmod/pool.h"
#include "engine/layout/base.h"
#include "engine/layout/arena.h"
#include "kmod/safe.h"
#include "kmod/stopped.h"
#include "port.h"
#include "port/kernel/text.h"
#include <linux/bitmap.h>
#include <linux/mm.h>

#define PAGES (DP_KMOD_POOL / DP_PAGE)

extern const u8 dp_kmod_pool[DP_KMOD_POOL];

static DECLARE_BITMAP(used, PAGES);

static u64 address_of(unsigned long page)
{
	return (u64)dp_kmod_pool + page * DP_PAGE;
}

static int map(void *arg, u64 addr, u64 size)
{
	u64 first = (addr - (u64)dp_kmod_pool) / DP_PAGE, n = size / DP_PAGE;

	if (first >= PAGES || n > PAGES - first)
		return -ENOMEM;
	if (find_next_bit(used, first + n, first) < first + n)
		return -EEXIST;
	bitmap_set(used, first, n);
	return 0;
}

static int put(void *arg, u64 addr, const void *code, size_t len)
{
	struct dp_target *text = dp_kernel_text();
	int err = text->ops->write(text, addr, code, len);

	return err ? err : text->ops->sync(text);
}

static int holes(void *arg, struct dp_hole **list, size_t *n)
{
	unsigned long begin, end;
	struct dp_hole *h =
		dp_port_alloc((PAGES / 2 + 1 + 2 * DP_MAX_POOLS) * sizeof(*h));

	if (!h)
		return -ENOMEM;
	*list = h;
	*n = 0;
	for_each_clear_bitrange(begin, end, used, PAGES)
		h[(*n)++] = (struct dp_hole){ .start = address_of(begin),
					      .end = address_of(end) };
	return 0;
}

const struct dp_growth_ops dp_kmod_pool_ops = {
	.map = map,
	.put = put,
	.holes = holes,
	.stopped = dp_kmod_stopped,
	.traps_first = true,
};

void dp_kmod_pool_reset(void)
{
	bitmap_zero(used, PAGES);
}
