// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* memory: an allocator that counts allocations and fails on request. */
#include "port.h"
#include "port/fake/fake.h"
#include <stdlib.h>

static unsigned int fail_in;
static long live;

static bool must_fail(void)
{
	return fail_in && --fail_in == 0;
}

void dp_fake_fail_alloc(unsigned int nth)
{
	fail_in = nth;
}

long dp_fake_live(void)
{
	return live;
}

void *dp_port_alloc(size_t size)
{
	void *mem = must_fail() ? NULL : calloc(1, size);

	live += mem != NULL;
	return mem;
}

void *dp_port_resize(void *mem, size_t size)
{
	void *moved = must_fail() ? NULL : realloc(mem, size);

	live += moved && !mem;
	return moved;
}

void dp_port_free(void *mem)
{
	live -= mem != NULL;
	free(mem);
}
