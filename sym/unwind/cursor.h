/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cursor: reading unwind tables, byte by byte.
 *
 * A read past the end gives zero and is remembered. Context: any. Pure.
 */
#ifndef DP_SYM_UNWIND_CURSOR_H
#define DP_SYM_UNWIND_CURSOR_H

#include "port_types.h"

/** struct dp_cursor - a reader of unwind tables, whose bytes may be anything */
struct dp_cursor {
	const u8 *p, *end;
	bool bad;
};

/* How those tables write a pointer (LSB, DWARF exception header encoding). */
#define DP_EH_ABSPTR 0x00
#define DP_EH_ULEB 0x01
#define DP_EH_UDATA2 0x02
#define DP_EH_UDATA4 0x03
#define DP_EH_UDATA8 0x04
#define DP_EH_SLEB 0x09
#define DP_EH_SDATA2 0x0a
#define DP_EH_SDATA4 0x0b
#define DP_EH_SDATA8 0x0c
#define DP_EH_FORMAT 0x0f
#define DP_EH_PCREL 0x10
#define DP_EH_APPLY 0x70
#define DP_EH_INDIRECT 0x80
#define DP_EH_OMIT 0xff
u64 dp_cursor_take(struct dp_cursor *c, size_t n);
u64 dp_cursor_uleb(struct dp_cursor *c);
s64 dp_cursor_sleb(struct dp_cursor *c);
u64 dp_cursor_pointer(struct dp_cursor *c, u8 enc);

#endif
