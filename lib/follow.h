/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* follow: prove which registers a handler touches, by its code. */
#ifndef DP_LIB_FOLLOW_H
#define DP_LIB_FOLLOW_H

#include "port_types.h"
#include <stddef.h>

/** struct dp_follow_text - where code is read
 *  @fetch: up to @size bytes at @addr. Return: how many there are. */
struct dp_follow_text {
	size_t (*fetch)(void *arg, u64 addr, u8 *code, size_t size);
	void *arg;
};

/**
 * dp_follow() - which registers does a pre_handler touch?
 *
 * Context: one thread at a time.
 * Return: @touches of struct dp_probe_entry; ~0: it is not proven.
 */
u32 dp_follow(const struct dp_follow_text *text, u64 handler);

#endif
