/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ring: how records travel to the tool. */
#ifndef DP_LAYOUT_RING_H
#define DP_LAYOUT_RING_H

#include "port_types.h"

/* Of all rings together, about, and the least of each. */
#define DP_RING_BYTES (16u << 20)
#define DP_RING_LEAST (1u << 20)

/** enum dp_record_flag */
enum dp_record_flag {
	DP_RECORD_TRUNCATED = 1, /* the log was too small */
};

/**
 * struct dp_record - one hit's log as it travels
 * @ticks: when the hit began, by dp_port_ticks()
 * @exception: that ended the program, or 0; @parm is what it says
 *             (see enum dp_vm_exception)
 * @facility: n of "exit n", or 0
 * @len: bytes of data behind it
 */
struct dp_record {
	u64 ticks;
	u32 probe;
	u32 tid;
	u32 cpu;
	u16 major, minor;
	u16 exception;
	u16 len;
	u8 facility;
	u8 flags;
	u16 pad;
	u64 parm[2];
};

/**
 * struct dp_slot - room for one record
 * @turn: says whose it is. Record number n of a ring of s slots goes into slot
 *        n mod s, in its round n - n mod s: that number means that a writer may
 *        take the slot, one more that it is written, s more that it is free
 *        again. So all slots begin at zero.
 */
struct dp_slot {
	u64 turn;
	struct dp_record record;
};

/** struct dp_ring - one shard: many writers, one reader; slots follow */
struct dp_ring {
	u64 next; /* number of the next record */
	u64 pad[7];
};

#endif
