// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cursor: reading unwind tables, byte by byte. */
#include "sym/unwind/eh.h"

static uint64_t take_leb(struct dp_cursor *c, bool is_signed)
{
	unsigned int shift = 0;
	uint64_t v = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)dp_cursor_take(c, 1);
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while ((byte & 0x80) && !c->bad);
	if (is_signed && (byte & 0x40) && shift < 64)
		v |= -1ull << shift;
	return v;
}

uint64_t dp_cursor_uleb(struct dp_cursor *c)
{
	return take_leb(c, false);
}

int64_t dp_cursor_sleb(struct dp_cursor *c)
{
	return (int64_t)take_leb(c, true);
}

struct dp_cursor dp_cursor_block(struct dp_cursor *c)
{
	uint64_t n = dp_cursor_uleb(c);
	struct dp_cursor block = { c->p, c->p, false };

	dp_cursor_skip(c, n);
	block.end = c->p;
	block.bad = c->bad;
	return block;
}

uint64_t dp_cursor_pointer(struct dp_cursor *c, uint8_t enc)
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
		return (uint64_t)(int16_t)dp_cursor_take(c, 2);
	case DP_EH_SDATA4:
		return (uint64_t)(int32_t)dp_cursor_take(c, 4);
	case DP_EH_ULEB:
		return take_leb(c, false);
	case DP_EH_SLEB:
		return take_leb(c, true);
	}
	c->bad = true;
	return 0;
}

uint64_t dp_cursor_address(struct dp_cursor *c, uint8_t enc, uint64_t here)
{
	uint64_t v = dp_cursor_pointer(c, enc);
	uint8_t apply = enc & (DP_EH_APPLY | DP_EH_INDIRECT);

	if (apply && apply != DP_EH_PCREL)
		c->bad = true;
	return v && apply == DP_EH_PCREL ? v + here : v;
}
