// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* grow: a list that doubles. */
#include <errno.h>
#include <stdlib.h>
#include "sym/elf/elf.h"

int dp_grow(void *v, size_t n, size_t *room, size_t size)
{
	size_t more = *room ? 2 * *room : 256;
	void *bigger;

	if (n < *room)
		return 0;
	bigger = realloc(*(void **)v, more * size);
	if (!bigger)
		return -ENOMEM;
	*(void **)v = bigger;
	*room = more;
	return 0;
}
