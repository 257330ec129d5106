// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* window: data of a file by address, one window at a time. */
#include <string.h>
#include "sym/elf/elf.h"
#include "sym/flow/map.h"

#define REACH 64 /* bytes that one call can read */

static bool move(struct dp_window *w, u64 addr)
{
	u64 off, avail;

	w->len = 0;
	if (dp_elf_offset(w->elf, addr, &off, &avail))
		return false;
	if (avail > sizeof(w->bytes))
		avail = sizeof(w->bytes);
	if (dp_elf_read(w->elf, off, w->bytes, avail))
		return false;
	w->start = addr;
	w->len = avail;
	return true;
}

const u8 *dp_window_at(struct dp_window *w, u64 addr, size_t want, size_t *got)
{
	bool inside = addr >= w->start && addr - w->start < w->len;

	/* Near its end the window moves, unless the segment ends there too. */
	if (!inside || (w->len - (addr - w->start) < REACH &&
			w->len == sizeof(w->bytes))) {
		if (!move(w, addr))
			return NULL;
	}
	*got = w->len - (addr - w->start);
	if (*got > want)
		*got = want;
	return w->bytes + (addr - w->start);
}

bool dp_window_read(struct dp_window *w, u64 addr, void *to, size_t size)
{
	size_t got = 0;
	const u8 *p = dp_window_at(w, addr, size, &got);

	if (!p || got < size)
		return false;
	memcpy(to, p, size);
	return true;
}
