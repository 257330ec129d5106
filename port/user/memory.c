// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* memory: the control half's allocator in user space. */
#include "port.h"
#include <stdlib.h>

void *dp_port_alloc(size_t size)
{
	return calloc(1, size);
}

void *dp_port_resize(void *mem, size_t size)
{
	return realloc(mem, size);
}

void dp_port_free(void *mem)
{
	free(mem);
}
