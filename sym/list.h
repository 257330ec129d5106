/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* list: arrays that grow by doubling, and arrays that ascend by a number. */
#ifndef DP_LIST_H
#define DP_LIST_H

#include "port_types.h"

/**
 * dp_list_reserve() - make room for @want elements in all
 * @v, @room, @size: as for dp_list_add()
 * Return: as dp_list_add().
 */
int dp_list_reserve(void *v, size_t want, size_t *room, size_t size);

/**
 * dp_list_add() - append an element
 * @v: address of the pointer to the elements, from malloc(), or NULL
 * @n: elements in it; @room: elements that it has room for; @size: bytes of one
 * Context: may allocate.
 * Return: 0, and *@v and *@room may have changed; -ENOMEM, and nothing has.
 */
int dp_list_add(void *v, size_t *n, size_t *room, const void *element,
		size_t size);

/** dp_list_push() - dp_list_add() to a struct that has @v, @n and @room */
#define dp_list_push(list, element)                                   \
	dp_list_add(&(list)->v, &(list)->n, &(list)->room, (element), \
		    sizeof(*(list)->v))

/** dp_list_upto() - the number of elements with at most @key in the u64 that is @at bytes
 *  from the beginning of each; the elements ascend by it */
size_t dp_list_upto(const void *v, size_t n, size_t size, size_t at, u64 key);

/** dp_list_order() - compare elements that begin with a u64, for qsort() and bsearch() */
int dp_list_order(const void *a, const void *b);

#endif
