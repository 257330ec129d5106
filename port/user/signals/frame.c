// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* frame: the signal frame that the kernel has put on an alternate stack. */
#include "port.h"

/* From the frame's stack_t on: bytes that are looked at, the word that is the stack pointer,
 * and the distance from the top of the stack at most. */
#define FRAME_BYTES (19 * 8)
#define FRAME_SP 18
#define FRAME_MAX 16384

/* The kernel has put a frame at the top of the stack; its stack_t names that stack. */
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
