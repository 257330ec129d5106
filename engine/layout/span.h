/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* span: a piece of the target's memory. */
#ifndef DP_LAYOUT_SPAN_H
#define DP_LAYOUT_SPAN_H

#include "port_types.h"

/** struct dp_span - [start, start + size) in the target; control owns it */
struct dp_span {
	u64 start;
	u64 size;
};

/**
 * struct dp_mapped - a mapping of code in which there are sites; control owns it
 * @offset, @inode, @dev_major, @dev_minor: of what file, as /proc/PID/maps says:
 *        something else may be there later. 0: of none
 */
struct dp_mapped {
	u64 start;
	u64 size;
	u64 offset, inode;
	u32 dev_major, dev_minor;
};

#endif
