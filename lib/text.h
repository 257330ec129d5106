/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* text: one's own code and address space, as the engine wants to change them. */
#ifndef DP_LIB_TEXT_H
#define DP_LIB_TEXT_H

#include "engine/text/target.h"

/**
 * dp_fd_raise() - away from where the program writes its output
 * @fd: from open() or the like
 * Return: another descriptor, or an errno.
 */
int dp_fd_raise(int fd);

/** struct dp_text - open while text is being read or written */
struct dp_text {
	struct dp_target target; /* first */
	int mem;
};

/** dp_text_open() - Return: 0; -EACCES and others: there is no /proc/self/mem */
int dp_text_open(struct dp_text *text);
void dp_text_close(struct dp_text *text);

/** dp_code_map() - @size bytes at @addr for execution, where nothing is; never for writing.
 *  Return: 0; -EEXIST something is there; -ENOMEM. */
int dp_code_map(u64 addr, u64 size);

/** dp_stacks_reserve() - address space for handlers' stacks. Return: 0: none. */
u64 dp_stacks_reserve(void);

#endif
