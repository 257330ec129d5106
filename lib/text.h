/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* text: the process's own code and address space, as the engine changes them. */
#ifndef DP_LIB_TEXT_H
#define DP_LIB_TEXT_H

#include "engine/text/target.h"

/**
 * dp_fd_raise() - move a descriptor above standard input, output and error
 * @fd: from open() or the like
 * Return: the descriptor, or an errno.
 */
int dp_fd_raise(int fd);

/** struct dp_text - a target that is open while text is read or written */
struct dp_text {
	struct dp_target target; /* first */
	int mem;
};

/** dp_text_open() - open /proc/thread-self/mem. Return: 0, or an errno of open(). */
int dp_text_open(struct dp_text *text);
void dp_text_close(struct dp_text *text);

/** dp_threads_sync() - all threads of the process see what has been stored.
 *  Return: 0; an errno of membarrier(2). */
int dp_threads_sync(void);

/** dp_code_map() - map @size bytes for execution, never for writing, at the free @addr.
 *  Return: 0; -EEXIST @addr is not free; -ENOMEM. */
int dp_code_map(u64 addr, u64 size);

/** dp_stacks_wanted() - how many stacks for handlers this process should have room for: fewer
 *  where its address space is limited, as the program wants it, too. */
u32 dp_stacks_wanted(void);

/** dp_stacks_reserve() - reserve address space for @n handler stacks. Return: 0: none. */
u64 dp_stacks_reserve(u32 n);

#endif
