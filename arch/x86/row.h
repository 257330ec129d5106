/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* row: change this CPU's row of a table (engine/layout/aggregate.h), for the hit half. */
#ifndef DP_ARCH_ROW_H
#define DP_ARCH_ROW_H

#include "port_types.h"

/** enum dp_row_how - what becomes of the word
 *  @DP_ROW_ADD: the value is added; @DP_ROW_MAX: it is stored if it is larger
 *  @DP_ROW_PAIR: likewise; the next update's value is stored if this one's is, else none of them */
enum dp_row_how { DP_ROW_ADD, DP_ROW_MAX, DP_ROW_PAIR };

/** struct dp_row_update - word @at of the row, from 1 on */
struct dp_row_update {
	u32 how, at;
	u64 value;
};

/* Of a hit, at most: they are on the thread's stack */
#define DP_ROW_UPDATES 8

/**
 * struct dp_row_put - a hit; row.S knows the offsets
 * @table: address of the CPUs' addresses, 0 for a CPU that must not be used
 * @row: address of the row of the first CPU, @stride of each next one; @shards: CPUs that have one
 * @rseq: offset of the thread's struct rseq from its thread pointer
 * @sequence: address of the descriptor of the restartable sequence, as of struct dp_stream_put
 * @update: @nr of them
 */
struct dp_row_put {
	u64 table, row, stride, shards;
	s64 rseq;
	u64 sequence, nr;
	struct dp_row_update update[DP_ROW_UPDATES];
};

/** struct dp_load - @ok: it could be read; @value: what is there. In two registers */
struct dp_load {
	u64 ok, value;
};

#pragma GCC visibility push(hidden)

/** dp_row_put() - change the row, and count the hit there. Return: false: this thread, or this CPU,
 *  has none. Context: hit half, any stack. */
bool dp_row_put(const struct dp_row_put *p);

/** dp_row_pair() - store @value and @order in one go, in a row that others change: if @order is
 *  larger than *@pair, which is aligned to 16 */
void dp_row_pair(u64 *pair, u64 order, u64 value);

/** dp_load_word(), dp_load_byte() - read memory of the program. Return: false, @ok is 0: it cannot be
 *  read. Context: where faults are mended, see dp_load_mends() */
struct dp_load dp_load_word(u64 address);
bool dp_load_byte(u64 address, u64 *to);
extern const u8 dp_load_end[], dp_load_bad[];

#pragma GCC visibility pop

/** dp_load_mends() - where a thread goes on that has faulted at @pc; 0: that is not in these two */
static inline u64 dp_load_mends(u64 pc)
{
	return pc - (u64)dp_load_word < (u64)dp_load_end - (u64)dp_load_word ?
		       (u64)dp_load_bad :
		       0;
}

#endif
