// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* memory: the control half's allocator in the kernel. */
#include "port.h"
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

/* The kernel wants the old size of what grows; the engine does not keep it. */
struct block {
	size_t size;
	u8 mem[] __aligned(16);
};

void *dp_port_alloc(size_t size)
{
	struct block *block;

	/* kvmalloc() warns of what is more than an int. */
	if (size > INT_MAX - sizeof(*block))
		return NULL;
	block = kvzalloc(sizeof(*block) + size, GFP_KERNEL);
	if (!block)
		return NULL;
	block->size = size;
	return block->mem;
}

void dp_port_free(void *mem)
{
	if (mem)
		kvfree(container_of(mem, struct block, mem[0]));
}

void *dp_port_resize(void *mem, size_t size)
{
	void *grown = dp_port_alloc(size);

	if (!grown || !mem)
		return grown;
	memcpy(grown, mem,
	       min(size, container_of(mem, struct block, mem[0])->size));
	dp_port_free(mem);
	return grown;
}
