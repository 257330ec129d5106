/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* device_kept: what /dev/dprobes keeps of hits, for requests of device.h. See dprobes(4). */
#ifndef DPROBES_DEVICE_KEPT_H
#define DPROBES_DEVICE_KEPT_H

#include <linux/types.h>

/** Frames of a stack, at most */
#define DP_DEVICE_FRAMES 128

/** enum dp_device_stack_end - why a stack has no more frames
 *  @DP_DEVICE_STACK_NONE: there is no such stack: for that of the hit, there was no room
 *  @DP_DEVICE_STACK_COMPLETE: the last one is the outermost
 *  @DP_DEVICE_STACK_UNKNOWN: the kernel's unwinder does not know how the last one's code has come there
 *  @DP_DEVICE_STACK_DEEP: there are more than DP_DEVICE_FRAMES */
enum dp_device_stack_end {
	DP_DEVICE_STACK_NONE = 0,
	DP_DEVICE_STACK_COMPLETE = 1,
	DP_DEVICE_STACK_UNKNOWN = 2,
	DP_DEVICE_STACK_DEEP = 5
};

/**
 * struct dp_device_stack - a stack that hits have had, by the number that "push backtrace" gives; only with
 *			    DP_DEVICE_ADDRESSES. After DP_DEVICE_COMMIT
 * @frames: address of @nr addresses of 64 bits: of the probed instruction, and of what has called it, outwards
 * @exact: out: a bit for each: its code goes on there, as what is probed does, or what was interrupted; 0: that is behind a call
 * @lost: out: hits of the session for whose stacks there was no room. The number of their stacks is 0
 * @nr: in: how many there is room for, at most DP_DEVICE_FRAMES; out: how many have been written, the innermost first
 * @all: out: how many the stack has; @end: out: enum dp_device_stack_end
 */
struct dp_device_stack {
	__u64 frames, exact[DP_DEVICE_FRAMES / 64], lost;
	__u32 number, nr, all, end;
};

/** enum dp_device_field_kind - what is kept of a value, and what a row has of it
 *  @DP_DEVICE_SUM, @DP_DEVICE_MAX, @DP_DEVICE_MIN: a word
 *  @DP_DEVICE_HIST: DP_DEVICE_BUCKETS words, how many values were 0; 1; 2 and 3; 4 to 7; …; and below 0
 *  @DP_DEVICE_LHIST: likewise: below @low; for each @step; from @high on
 *  @DP_DEVICE_FIRST, @DP_DEVICE_LAST: two words, a time, in ticks, and the value at that time
 *  @DP_DEVICE_DISTINCT: no word: the keys with the value are the keys of a table that comes with it */
enum dp_device_field_kind {
	DP_DEVICE_SUM,
	DP_DEVICE_MAX,
	DP_DEVICE_MIN,
	DP_DEVICE_HIST,
	DP_DEVICE_LHIST,
	DP_DEVICE_FIRST,
	DP_DEVICE_LAST,
	DP_DEVICE_DISTINCT
};
#define DP_DEVICE_BUCKETS 66
/** Of a linear histogram, at most */
#define DP_DEVICE_STEPS 1000

/** struct dp_device_field - what is kept of a value: enum dp_device_field_kind; @sign: it has one
 *  @low, @high, @step: of DP_DEVICE_LHIST, else 0 */
struct dp_device_field {
	__u32 kind, sign;
	__s64 low, high;
	__u64 step;
};

/* Of a table, at most: fields, words of a key, keys; tables of a session */
#define DP_DEVICE_FIELDS 8
#define DP_DEVICE_KEYS 20
#define DP_DEVICE_MOST (1u << 20)
#define DP_DEVICE_TABLES 64

/**
 * struct dp_device_table - a table, in which programs keep hits by "aggregate"; only with DP_DEVICE_ADDRESSES. Before its
 *			    programs, and DP_DEVICE_COMMIT
 * @fields: address of @nr struct dp_device_field; @keys: words of a key; @most: keys that there may be
 * @words, @words_size: as of struct dp_device_add
 * @table: out: its number, for programs; @row: out: words of a row: the key, how many hits, and what the fields have
 * @distinct: out: of each field DP_DEVICE_DISTINCT the number of the table with its keys, else 0. A row of that is the key
 */
struct dp_device_table {
	__u64 fields, words;
	__u32 keys, most, nr, words_size;
	__u32 table, row;
	__u32 distinct[DP_DEVICE_FIELDS];
	__u32 reserved[2];
};

/**
 * struct dp_device_rows - rows of a table, which hits go on changing. After DP_DEVICE_COMMIT
 * @rows: address of room for @nr rows
 * @next: in: 0 at first; out: where the next request goes on
 * @full, @unreadable: out: hits that are in no row, as the table has all the keys that there may be; as a key or value is
 *                     in memory that cannot be read
 * @nr: out: how many have been written, maybe fewer. A key may come twice: the two rows are to be added up
 * @more: out: there may be more of them
 */
struct dp_device_rows {
	__u64 rows, next, full, unreadable;
	__u32 table, nr, more, reserved;
};

#endif
