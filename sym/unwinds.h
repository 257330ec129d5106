/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwinds: where unwinders leave a part of the stack for good.
 *
 * An exception, pthread_exit() and a cancellation end calls that never come to their
 * exits. In each of a few functions one instruction does this: it sets the stack
 * pointer to a frame further up.
 */
#ifndef DP_UNWINDS_H
#define DP_UNWINDS_H

#include "sym/sym.h"

/** enum dp_unwind_until - where the abandoned part of the stack ends; it begins at the
 *  stack pointer */
enum dp_unwind_until {
	DP_UNWIND_CX, /* behind the word at rcx */
	DP_UNWIND_DI, /* at rdi */
};

struct dp_unwind {
	u64 addr;
	enum dp_unwind_until until;
};

#define DP_UNWINDS_MAX 32

/**
 * dp_unwinds_find() - find these instructions in all modules of a process
 * @list: room for DP_UNWINDS_MAX
 *
 * Functions of libgcc are found by name, in whatever module they are linked into. The
 * place in glibc where a thread begins to end is found by the code of its callers. An
 * unwinder without these names, or with other code, is not found.
 * Return: the number of entries in @list.
 *
 * Context: tool process; may sleep and allocate.
 * Source: __builtin_eh_return() as GCC compiles it for x86-64; glibc's
 * nptl/unwind.c, from 2.34 on.
 */
size_t dp_unwinds_find(struct dp_modules *mods, struct dp_unwind *list);

#endif
