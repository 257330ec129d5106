/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* device_programs: programs that probes of /dev/dprobes run, and their variables. See dprobes(4). */
#ifndef DPROBES_DEVICE_PROGRAMS_H
#define DPROBES_DEVICE_PROGRAMS_H

#include <linux/types.h>

/* Of a program, at most: bytes, variables of each kind, jumps of a hit, places where it begins */
#define DP_DEVICE_CODE 32768
#define DP_DEVICE_VARIABLES 256
#define DP_DEVICE_JUMPS 4096
#define DP_DEVICE_STARTS 256

/** enum dp_device_allow - what a program may do only if it asks for it. Not in a kernel that is locked
 *  down */
enum dp_device_allow {
	DP_DEVICE_WRITE = 1, /* memory */
	DP_DEVICE_REGISTERS = 2,
	DP_DEVICE_PORTS = 4, /* read and write them */
	DP_DEVICE_FUNCTIONS = 8 /* functions that modules have registered */
};

/** Of struct dp_device_program, @flags: it is for probes on files, and has the memory of the task that hits, no other */
#define DP_DEVICE_USER 1
/* Another one may come to share its variables: there is room for DP_DEVICE_VARIABLES */
#define DP_DEVICE_ROOM 2

/**
 * struct dp_device_program - what probes run, in the instructions of DProbes; only with
 *			      DP_DEVICE_ADDRESSES, or DP_DEVICE_USER
 * @code: address of @code_size bytes; @starts: of @nr_starts offsets in it, of 32 bits each, where
 *        probes begin to run it
 * @words, @words_size: as of struct dp_device_add
 * @variables, @globals: how many of its own, and how many of those that all programs in the kernel have
 * @jumps: of a hit; @log: bytes of a record; @heap: of a probe's heap; @stack: 32 or 1024 elements
 * @allow: what it asks for: a bit for each enum dp_device_allow
 * @program: out: its number: 0, 1, …; @offset: out, on failure: what @words are about
 * @flags: DP_DEVICE_USER, DP_DEVICE_ROOM, both, or 0
 * @shares: 1 + number of another one, whose variables it uses; 0: its own. That one has as many, or DP_DEVICE_ROOM
 */
struct dp_device_program {
	__u64 code, starts, words;
	__u32 code_size, nr_starts, words_size;
	__u32 variables, globals, jumps, log, heap, stack, allow;
	__u32 program, offset;
	__u32 flags, shares;
};

/** Of struct dp_device_bind, @maxhits: there is no limit */
#define DP_DEVICE_UNLIMITED 0xffffffff
/** Of struct dp_device_bind, @start: of a probe with DP_DEVICE_RETURNS: nothing runs at the entry */
#define DP_DEVICE_NOWHERE 0xffffffff
/* Of struct dp_device_bind, @flags: a call makes a record only if what runs at the return has not ended by abort */
#define DP_DEVICE_JUDGED 1
/* The record of a call says how what runs at the return has ended: its codes, exception and facility */
#define DP_DEVICE_TOLD 2

/**
 * struct dp_device_bind - a probe, which has none yet, runs a program. Before the probe's first DP_DEVICE_COMMIT
 * @start: where it begins to run it, one of @starts
 * @passcount: hits to let pass; @maxhits: executions after which the probe is disabled
 * @heap: bytes of its heap, at most those of the program
 * @major, @minor: of its records
 * @exceptions: that are raised, as the keyword ex_mask has them
 * @leaves: of a probe with DP_DEVICE_RETURNS: 1 + where it begins to run it at the return, one of @starts; 0:
 *          nowhere. There "push told" is the call's latency in ticks, and "push entered" what was logged at the entry
 * @flags: DP_DEVICE_JUDGED, DP_DEVICE_TOLD, or 0
 */
struct dp_device_bind {
	__u32 probe, program, start;
	__u32 passcount, maxhits, heap;
	__u16 major, minor, exceptions, reserved;
	__u32 leaves, flags;
};

/** In the place of a program's number: the variable is one that all programs have */
#define DP_DEVICE_GLOBAL 0xffffffff

/** struct dp_device_variable - @value: out: of a variable of a program, or DP_DEVICE_GLOBAL. After
 *  DP_DEVICE_COMMIT */
struct dp_device_variable {
	__u64 value;
	__u32 program, index;
};

/** struct dp_device_zero - variables of a program, or DP_DEVICE_GLOBAL, from @first on, become 0. After DP_DEVICE_COMMIT */
struct dp_device_zero {
	__u32 program, first, nr, reserved;
};

#endif
