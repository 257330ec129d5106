/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eh: the frame descriptions of .eh_frame, and the table that finds them.
 *
 *	.eh_frame_hdr ─(by address)─► FDE: code it covers, its rules
 *	                               └──► CIE: the rules that come before the FDE's
 *
 * Context of all: any, handlers too. The bytes may be anything, but must not change
 * while they are read.
 * Source: DWARF 4, section 6.4; the LSB's chapters on .eh_frame and .eh_frame_hdr.
 */
#ifndef DP_SYM_UNWIND_EH_H
#define DP_SYM_UNWIND_EH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "sym/elf/headers.h"

/*
 * cursor: reading unwind tables, byte by byte.
 *
 * The file's author chooses the bytes: a read past the end gives zero and sets @bad.
 *
 * Handlers use sym/unwind too: no function allocates, takes a lock or calls libc. The
 * types are those of <stdint.h>, because the kernel's type names mean others in
 * lib/compat.
 */

/** struct dp_cursor - what is left to read; @bad: a read past the end, or nonsense */
struct dp_cursor {
	const uint8_t *p, *end;
	bool bad;
};

/* Parts of a pointer's encoding, DW_EH_PE_*. */
#define DP_EH_FORMAT 0x0f
#define DP_EH_APPLY 0x70

/** dp_cursor_take() - read a number of @n <= 8 bytes */
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
/** dp_cursor_block() - read a length and as many bytes. Return: a cursor of those bytes. */
struct dp_cursor dp_cursor_block(struct dp_cursor *c);
/** dp_cursor_pointer() - read a number in the format (DP_EH_FORMAT) of @enc */
uint64_t dp_cursor_pointer(struct dp_cursor *c, uint8_t enc);
/** dp_cursor_address() - read an address, absolute or relative to its own, @here; 0 stays 0 */
uint64_t dp_cursor_address(struct dp_cursor *c, uint8_t enc, uint64_t here);

#define DP_LSDA_BAD (~0ull)

/**
 * struct dp_fde - code that one frame description covers, as in the file
 * @at: offset of the description in .eh_frame
 * @lsda: its exception table, 0 if it has none, DP_LSDA_BAD if it has one that
 *        cannot be found
 * @signal: of a signal's return code. It begins one byte before that code, so that an
 *          unwinder that looks up the address before a return address finds it.
 */
struct dp_fde {
	uint64_t start, end;
	uint64_t lsda;
	uint64_t at : 63;
	uint64_t signal : 1;
};

/**
 * struct dp_eh - .eh_frame, and the CIE in it that was read last
 * @data, @len: bytes that hold it; @vaddr: address of @data[0]
 * @initial: the CIE's rules, with which each of its FDEs begins
 * @ra: number of the register that stands for the return address
 * @enc, @lsda_enc: how its FDEs write pointers, and the addresses of exception tables
 * @sized: its FDEs have augmentation data
 */
struct dp_eh {
	const uint8_t *data;
	uint64_t len;
	uint64_t vaddr;
	uint64_t cie;
	struct dp_cursor initial;
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra;
	uint8_t enc, lsda_enc;
	bool sized, signal, have_cie;
};

/** dp_eh_next() - where the record behind that at @at begins; 0: it was the last record */
uint64_t dp_eh_next(const struct dp_eh *f, uint64_t at);
/**
 * dp_eh_read() - read the FDE at @at; its CIE becomes the CIE read last
 * @rules: the FDE's rules, for dp_cfi_begin()
 * Return: false: there is no FDE.
 */
bool dp_eh_read(struct dp_eh *f, uint64_t at, struct dp_fde *fde,
		struct dp_cursor *rules);

/**
 * struct dp_eh_header - .eh_frame_hdr
 * @vaddr: its address; @frame: that of .eh_frame
 * @table, @n: pairs of addresses, of code and of its FDE, relative to @vaddr; 0: there
 *             is no table of the kind that linkers make
 */
struct dp_eh_header {
	uint64_t vaddr, frame;
	const uint8_t *table;
	uint64_t n;
};

/** dp_eh_header() - read the header from @c. Return: false: it is no such header. */
bool dp_eh_header(struct dp_cursor c, uint64_t vaddr, struct dp_eh_header *h);
/** dp_eh_header_find() - address of the last FDE that begins at or before @addr; 0: none */
uint64_t dp_eh_header_find(const struct dp_eh_header *h, uint64_t addr);

/**
 * dp_eh_find() - find the description of the code at @addr by .eh_frame_hdr
 * @elf: a file that is viewed
 * @eh, @fde, @rules: filled in as by dp_eh_read()
 * Return: false: there is no description.
 */
bool dp_eh_find(const struct dp_elf *elf, uint64_t addr, struct dp_eh *eh,
		struct dp_fde *fde, struct dp_cursor *rules);

#endif
