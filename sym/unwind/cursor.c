// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cursor: reading unwind tables, byte by byte. */
#include <dwarf.h>
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
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return dp_cursor_take(c, 8);
	case DW_EH_PE_udata2:
		return dp_cursor_take(c, 2);
	case DW_EH_PE_udata4:
		return dp_cursor_take(c, 4);
	case DW_EH_PE_sdata2:
		return (uint64_t)(int16_t)dp_cursor_take(c, 2);
	case DW_EH_PE_sdata4:
		return (uint64_t)(int32_t)dp_cursor_take(c, 4);
	case DW_EH_PE_uleb128:
		return take_leb(c, false);
	case DW_EH_PE_sleb128:
		return take_leb(c, true);
	}
	c->bad = true;
	return 0;
}

uint64_t dp_cursor_address(struct dp_cursor *c, uint8_t enc, uint64_t here)
{
	uint64_t v = dp_cursor_pointer(c, enc);
	uint8_t apply = enc & (DP_EH_APPLY | DW_EH_PE_indirect);

	if (apply && apply != DW_EH_PE_pcrel)
		c->bad = true;
	return v && apply == DW_EH_PE_pcrel ? v + here : v;
}
