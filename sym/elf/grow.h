/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* grow: a list that doubles. Context: may allocate. */
#ifndef DP_SYM_ELF_GROW_H
#define DP_SYM_ELF_GROW_H

#include "port_types.h"

/**
 * dp_grow() - room for one more element of a list
 * @v: address of the pointer to its elements, from malloc(), or NULL
 * @n: elements in it; @room: elements that it has room for; @size: bytes of one
 *
 * Return: 0, and *@v and *@room may have changed; -ENOMEM, and nothing has.
 */
int dp_grow(void *v, size_t n, size_t *room, size_t size);

#endif
