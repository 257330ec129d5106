/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* stream: put a record into this CPU's stream (engine/layout/ring.h), for the hit half. */
#ifndef DP_ARCH_STREAM_H
#define DP_ARCH_STREAM_H

#include "arch/x86/arch_defs.h"
#include "port_types.h"

/** struct dp_log_part - @len bytes of a record */
struct dp_log_part {
	const void *bytes;
	u64 len;
};

/** enum dp_stream_put_result - @DP_STREAM_UNUSABLE: this thread cannot use streams */
enum dp_stream_put_result {
	DP_STREAM_PUT,
	DP_STREAM_FULL,
	DP_STREAM_UNUSABLE,
};

/**
 * struct dp_stream_put - a record, and where it goes; stream.S knows the offsets
 * @table, @base, @stride, @mask: as of a detour's streams
 * @rseq: offset of the thread's struct rseq from its thread pointer
 * @bytes: of the record, a multiple of 8
 * @stamps: its first word is to be the time at which it is published
 * @sequence: address of the descriptor of the restartable sequence, 32 bytes that all threads share:
 *         dp_stream_put() writes it, and always the same
 * @head: what comes first; @part: @nr parts that come behind it
 */
struct dp_stream_put {
	u64 table, base, stride, mask;
	s64 rseq;
	u64 bytes, nr, stamps, sequence;
	struct dp_log_part head;
	const struct dp_log_part *part;
};

/* That its code has before the place to which an interruption leads */
#define DP_STREAM_SIGNATURE DP_RSEQ_SIGNATURE

/** dp_stream_put() - claim room, fill it and publish it, in one restartable sequence
 *  Context: hit half, any stack. Needs general registers only. */
enum dp_stream_put_result dp_stream_put(struct dp_stream_put *p);

#endif
