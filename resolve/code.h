/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code: the bytes of a process's text.
 *
 * For a library that can be unloaded the file's bytes count, because anything may be at
 * its addresses while it is away. If it is in place, memory that differs goes before.
 */
#ifndef DP_RESOLVE_CODE_H
#define DP_RESOLVE_CODE_H

#include "sym/sym.h"

#define DP_CODE_WINDOW 4096

/** struct dp_code - reads process @pid, whose modules are @mods; the rest begins as zeros
 *  @window: the window read last: @size bytes from @addr on */
struct dp_code {
	pid_t pid;
	struct dp_modules *mods;
	u8 window[DP_CODE_WINDOW];
	u64 addr;
	size_t size;
};

/** dp_code_read() - Return: bytes, fewer than @size where text ends; 0: nothing is there. */
size_t dp_code_read(struct dp_code *code, u64 addr, u8 *to, size_t size);
/** dp_code_read_file() - the same from the file; 0 if the file cannot tell */
size_t dp_code_read_file(struct dp_modules *mods, u64 addr, u8 *to,
			 size_t size);

#endif
