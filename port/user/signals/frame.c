// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* frame: what the kernel has written of a thread when a signal came. */
#include "port.h"

/* From its stack_t on: how much of it is looked at, where the stack pointer is in there,
 * and how far it can be from the top of the stack. */
#define FRAME_BYTES (19 * 8)
#define FRAME_SP 18
#define FRAME_MAX 16384

/* At the top of the stack it has put a frame with what is known of that stack in it. */
bool dp_port_interrupted(u64 low, u64 size, u64 *sp)
{
	u64 top = (low + size) & ~7ull, at;
	const u64 *word;

	for (at = top - FRAME_BYTES; at >= low && top - at < FRAME_MAX;
	     at -= 8) {
		word = (const u64 *)at;
		if (word[0] != low || word[2] != size)
			continue;
		*sp = word[FRAME_SP];
		return true;
	}
	return false;
}
