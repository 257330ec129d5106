/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cursor: reading unwind tables, byte by byte.
 *
 * The bytes are the choice of the file's author: a read past the end gives zero and
 * is remembered.
 *
 * What is in sym/unwind is used by handlers, too: no function allocates, takes a lock
 * or calls libc. The types are those of <stdint.h>, because the kernel's names of
 * types mean other ones in lib/compat.
 */
#ifndef DP_SYM_UNWIND_CURSOR_H
#define DP_SYM_UNWIND_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** struct dp_cursor - what is left to read; @bad: more was wanted, or nothing made sense */
struct dp_cursor {
	const uint8_t *p, *end;
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
#define DP_EH_DATAREL 0x30
#define DP_EH_APPLY 0x70
#define DP_EH_INDIRECT 0x80
#define DP_EH_OMIT 0xff

/** dp_cursor_take() - a number of @n <= 8 bytes */
static inline uint64_t dp_cursor_take(struct dp_cursor *c, size_t n)
{
	uint64_t v = 0;

	if ((size_t)(c->end - c->p) < n) {
		c->bad = true;
		return 0;
	}
	__builtin_memcpy(&v, c->p, n);
	c->p += n;
	return v;
}

static inline void dp_cursor_skip(struct dp_cursor *c, uint64_t n)
{
	if (n > (uint64_t)(c->end - c->p))
		c->bad = true;
	else
		c->p += n;
}

uint64_t dp_cursor_uleb(struct dp_cursor *c);
int64_t dp_cursor_sleb(struct dp_cursor *c);
/** dp_cursor_block() - a length and as many bytes. Return: them, and them alone. */
struct dp_cursor dp_cursor_block(struct dp_cursor *c);
/** dp_cursor_pointer() - the number that DP_EH_FORMAT of @enc means */
uint64_t dp_cursor_pointer(struct dp_cursor *c, uint8_t enc);
/** dp_cursor_address() - an address, absolute or relative to @here, its own; 0 stays 0 */
uint64_t dp_cursor_address(struct dp_cursor *c, uint8_t enc, uint64_t here);

#endif
