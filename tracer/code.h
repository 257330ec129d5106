/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code: the bytes of a process's text.
 *
 * Of a library that can be unloaded they are what its file has, unless it is in place
 * and has others: while it comes and goes anything may be where it was.
 */
#ifndef DP_TRACER_CODE_H
#define DP_TRACER_CODE_H

#include "sym/sym.h"

#define DP_CODE_WINDOW 4096

/** struct dp_code - of @proc, whose modules are @mods; the rest begins as zeros
 *  @window: that was read last, @size bytes from @addr on */
struct dp_code {
	struct dp_process *proc;
	struct dp_modules *mods;
	u8 window[DP_CODE_WINDOW];
	u64 addr;
	size_t size;
};

/** dp_code_read() - Return: bytes, fewer than @size where it ends; 0: there are none. */
size_t dp_code_read(struct dp_code *code, u64 addr, u8 *to, size_t size);
/** dp_code_read_file() - the same of the file; 0 if that cannot be told */
size_t dp_code_read_file(const struct dp_code *code, u64 addr, u8 *to,
			 size_t size);

#endif
