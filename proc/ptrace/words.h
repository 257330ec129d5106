/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* words: a copy of what is on the stack of a thread. Context: tool process; may allocate. */
#ifndef DP_PROC_PTRACE_WORDS_H
#define DP_PROC_PTRACE_WORDS_H

#include "port_types.h"

struct dp_maps;
struct dp_process;

/**
 * struct dp_words - a copy of a thread's stack from its stack pointer up
 * @v: @n words, of which the first is at @at; free()d by the caller
 */
struct dp_words {
	u64 at;
	u64 *v;
	size_t n;
};

/** dp_words_read() - Return: 0; -ENOENT @sp is on no stack; -EFAULT; -ENOMEM */
int dp_words_read(const struct dp_process *proc, const struct dp_maps *maps,
		  u64 sp, struct dp_words *words);

#endif
