// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* memory: an allocator that counts allocations, fails on request, and ends the program
 * that has written behind one. */
#include "port.h"
#include "port/fake/fake.h"
#include <stdlib.h>
#include <string.h>

#define UNDEFINED 0xa5
#define GUARD 64

/** struct block - an allocation; its bytes, and GUARD more, follow */
struct block {
	_Alignas(16) size_t size;
};

static unsigned int fail_in;
static long live;

static bool must_fail(void)
{
	return fail_in && --fail_in == 0;
}

unsigned int dp_fake_fail_alloc(unsigned int nth)
{
	unsigned int left = fail_in;

	fail_in = nth;
	return left;
}

long dp_fake_live(void)
{
	return live;
}

static u8 *guard_of(struct block *b)
{
	return (u8 *)(b + 1) + b->size;
}

static struct block *block_of(void *mem)
{
	struct block *b = (struct block *)mem - 1;
	size_t i;

	for (i = 0; i < GUARD; i++)
		if (guard_of(b)[i] != UNDEFINED)
			abort();
	return b;
}

static struct block *make(size_t size)
{
	struct block *b = malloc(sizeof(*b) + size + GUARD);

	if (b) {
		b->size = size;
		memset(b + 1, UNDEFINED, size + GUARD);
		live++;
	}
	return b;
}

void *dp_port_alloc(size_t size)
{
	struct block *b = must_fail() ? NULL : make(size);

	return b ? memset(b + 1, 0, size) : NULL;
}

void *dp_port_resize(void *mem, size_t size)
{
	struct block *old = mem ? block_of(mem) : NULL;
	struct block *b = must_fail() ? NULL : make(size);

	if (b && old)
		memcpy(b + 1, mem, old->size < size ? old->size : size);
	if (b)
		dp_port_free(mem);
	return b ? b + 1 : NULL;
}

void dp_port_free(void *mem)
{
	if (!mem)
		return;
	live--;
	free(block_of(mem));
}
