// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* list: arrays that grow by doubling, and arrays that ascend by a number. */
#include <stdlib.h>
#include <string.h>
#include "sym/list.h"

int dp_list_reserve(void *v, size_t want, size_t *room, size_t size)
{
	size_t more = *room ? 2 * *room : 16;
	void *bigger;

	if (want <= *room)
		return 0;
	while (more < want)
		more *= 2;
	bigger = realloc(*(void **)v, more * size);
	if (!bigger)
		return -ENOMEM;
	*(void **)v = bigger;
	*room = more;
	return 0;
}

int dp_list_add(void *v, size_t *n, size_t *room, const void *element,
		size_t size)
{
	int err = dp_list_reserve(v, *n + 1, room, size);

	if (err)
		return err;
	memcpy(*(char **)v + (*n)++ * size, element, size);
	return 0;
}

size_t dp_list_upto(const void *v, size_t n, size_t size, size_t at, u64 key)
{
	size_t lo = 0, mid;
	u64 here;

	while (lo < n) {
		mid = lo + (n - lo) / 2;
		memcpy(&here, (const char *)v + mid * size + at, sizeof(here));
		if (here <= key)
			lo = mid + 1;
		else
			n = mid;
	}
	return lo;
}

int dp_list_order(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}
