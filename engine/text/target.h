/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* target: the text that control works on: a process, or bytes in a test. */
#ifndef DP_TARGET_H
#define DP_TARGET_H

#include "port_types.h"

struct dp_target;

/** struct dp_extract - @len bytes at @addr of a target, to be copied to @to */
struct dp_extract {
	u64 addr;
	void *to;
	size_t len;
};
#define DP_EXTRACTS_MAX 48

/**
 * struct dp_target_ops - operations of a target
 * @read: copy @len bytes from address @addr; all or a negative errno
 * @extract: read up to DP_EXTRACTS_MAX places, faster than one by one; NULL where that is
 *   not possible
 * @write: replace bytes of text; all or a negative errno. Need not be atomic for more
 *   than one byte
 * @sync: return only when every thread of the target is sure to see earlier writes; may
 *   be NULL where no thread runs meanwhile
 * @traced: does another tracer trace it? That tracer may have put a breakpoint on bytes
 *   of ours, and may write these back later. NULL: assume so
 */
struct dp_target_ops {
	int (*read)(struct dp_target *target, u64 addr, void *to, size_t len);
	int (*extract)(struct dp_target *target, const struct dp_extract *v,
		       u32 n);
	int (*write)(struct dp_target *target, u64 addr, const void *from,
		     size_t len);
	int (*sync)(struct dp_target *target);
	bool (*traced)(struct dp_target *target);
};

/** struct dp_target - embedded in its implementations */
struct dp_target {
	const struct dp_target_ops *ops;
};

#endif
