// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cursor: reading unwind tables, byte by byte.
 *
 * The bytes are the choice of the file's author: a read past the end gives
 * zero and is remembered.
 */
#include <string.h>
#include "sym/unwind/cursor.h"

u64 dp_cursor_take(struct dp_cursor *c, size_t n)
{
	u64 v = 0;

	if ((size_t)(c->end - c->p) < n) {
		c->bad = true;
		return 0;
	}
	memcpy(&v, c->p, n);
	c->p += n;
	return v;
}

static u64 take_leb(struct dp_cursor *c, bool is_signed)
{
	unsigned int shift = 0;
	u64 v = 0;
	u8 byte;

	do {
		byte = dp_cursor_take(c, 1);
		if (shift < 64)
			v |= (u64)(byte & 0x7f) << shift;
		shift += 7;
	} while ((byte & 0x80) && !c->bad);
	if (is_signed && (byte & 0x40) && shift < 64)
		v |= -1ull << shift;
	return v;
}

u64 dp_cursor_uleb(struct dp_cursor *c)
{
	return take_leb(c, false);
}

s64 dp_cursor_sleb(struct dp_cursor *c)
{
	return (s64)take_leb(c, true);
}

u64 dp_cursor_pointer(struct dp_cursor *c, u8 enc)
{
	switch (enc & DP_EH_FORMAT) {
	case DP_EH_ABSPTR:
	case DP_EH_UDATA8:
	case DP_EH_SDATA8:
		return dp_cursor_take(c, 8);
	case DP_EH_UDATA2:
		return dp_cursor_take(c, 2);
	case DP_EH_UDATA4:
		return dp_cursor_take(c, 4);
	case DP_EH_SDATA2:
		return (s64)(int16_t)dp_cursor_take(c, 2);
	case DP_EH_SDATA4:
		return (s64)(s32)dp_cursor_take(c, 4);
	case DP_EH_ULEB:
		return take_leb(c, false);
	case DP_EH_SLEB:
		return take_leb(c, true);
	}
	c->bad = true;
	return 0;
}
