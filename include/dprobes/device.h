/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device: what /dev/dprobes is asked, by ioctl(2): probes of the running kernel. See dprobes(4).
 *
 *     open ─► INFO ─► BEGIN ─► ADD… WATCH… ─► COMMIT ─► COUNTS… STACK… ─► ADD… REMOVE… TURN… ─► COMMIT ─► close
 *
 * Each open file has a session of its own. Numbers of probes and programs are the session's.
 * Addresses of the caller's memory have 64 bits, whatever the caller's have. What is reserved is 0.
 */
#ifndef DPROBES_DEVICE_H
#define DPROBES_DEVICE_H

#include <linux/ioctl.h>
#include <linux/types.h>
#include <dprobes/device_kept.h>
#include <dprobes/device_programs.h>
#include <dprobes/device_records.h>

#define DP_DEVICE_PATH "/dev/dprobes"
#define DP_DEVICE_VERSION 6

/** enum dp_device_arming - how functions are probed, see @arming of struct dp_device_begin */
enum dp_device_arming {
	DP_DEVICE_TRAP, /* by breakpoints */
	DP_DEVICE_JUMP, /* by jumps, where they may be */
	DP_DEVICE_INTERIOR /* by jumps that no CPU has to wait for, where there is an address for them */
};

/* Of struct dp_device_info, @flags: who opened the device may see the kernel's addresses; files can be probed */
#define DP_DEVICE_ADDRESSES 1
#define DP_DEVICE_FILES 2

/**
 * struct dp_device_info - what the module can do
 * @version: DP_DEVICE_VERSION
 * @arming: a bit for each enum dp_device_arming
 * @flags: DP_DEVICE_ADDRESSES, DP_DEVICE_FILES, or 0
 * @probes: that a session has in all its life, and all sessions have at a time, at most; @counts: that one COUNTS tells
 *          of, at most
 * @programs: that a session has in all its life, at most; @log, @heap: bytes of a record of theirs, and of a probe's
 *            heap, at most
 * @allow: what programs may do that ask for it: a bit for each enum dp_device_allow
 */
struct dp_device_info {
	__u32 version, arming, flags, probes, counts, programs, log;
	__u32 heap, allow;
	__u32 reserved[3];
};

/** struct dp_device_begin - @arming: enum dp_device_arming
 *  @most: calls that each probe with DP_DEVICE_RETURNS follows at a time; 0: ten, or two for each CPU
 *  @interpret: from which of its instructions on each program is interpreted, counted from 1, where a jump's code
 *  could go on; 0: from none on. For tests */
struct dp_device_begin {
	__u32 arming, most;
	__u32 interpret, reserved;
};

/** Bytes of the text that DP_DEVICE_ADD is given, and of the words that it answers with, at most */
#define DP_DEVICE_NAME 256
#define DP_DEVICE_WORDS 128

/** Of struct dp_device_add, @flags: MODULE may be loaded later, and again: the probe is armed then, before
 *  any code of the module runs */
#define DP_DEVICE_PENDING 1
/* The probe follows the calls of FUNCTION, which has no OFFSET, to their returns. What it is bound to runs at
 * the entry, and at the return. DP_DEVICE_RECORDS: each call that returns makes a record */
#define DP_DEVICE_RETURNS 2
#define DP_DEVICE_RECORDS 4

/**
 * struct dp_device_add - a probe
 * @name: address of "[MODULE:]FUNCTION[+OFFSET]", of @name_size bytes, the last of which is 0
 * @words: address of @words_size bytes, at most DP_DEVICE_WORDS, or 0. If the probe is refused, they
 *         say why, and end with 0; else they are ""
 * @addr: in: address of FUNCTION, where several have its name, or 0; only with DP_DEVICE_ADDRESSES.
 *        Out: of the instruction that is probed, or 0, without DP_DEVICE_ADDRESSES
 * @probe: out: its number: 0, 1, …
 * @offset: out: where in FUNCTION it is: behind what the kernel keeps for itself at the entry; 0 if it
 *          is not there yet
 * @opcode: out: the first byte of the instruction, or 0 if it is not there yet
 * @flags: DP_DEVICE_PENDING, DP_DEVICE_RETURNS, or both, then also with DP_DEVICE_RECORDS; or 0
 */
struct dp_device_add {
	__u64 name, words, addr;
	__u32 name_size, words_size;
	__u32 probe, offset;
	__u32 opcode, flags;
};

/** enum dp_device_access - of data, what hits: writing it; writing or reading it */
enum dp_device_access { DP_DEVICE_WRITTEN, DP_DEVICE_ACCESSED };

/**
 * struct dp_device_watch - a probe on data, which a debug register of each CPU watches; only with DP_DEVICE_ADDRESSES.
 *			    Its hits come behind the instruction that has accessed it
 * @addr: of the data, a multiple of @len; @len: 1, 2, 4 or 8 bytes; @access: enum dp_device_access
 * @words, @words_size: as of struct dp_device_add
 * @probe: out: its number
 */
struct dp_device_watch {
	__u64 addr, words;
	__u32 len, access, words_size, probe;
	__u32 reserved[2];
};

/** Instructions of one probe on a file, at most */
#define DP_DEVICE_PLACES 256
/* Of struct dp_device_file, @flags: @probe, which came since the last COMMIT, is at that instruction of its file, too */
#define DP_DEVICE_ALSO 1
/* And that is a jump, by which a call goes on in another function. It is no hit: if the jump is taken, it is counted
 * in @onward of struct dp_device_count */
#define DP_DEVICE_ONWARD 2

/**
 * struct dp_device_file - a probe on code of a file, in every process that maps it
 * @offset: of the instruction, in the file; @words, @words_size: as of struct dp_device_add
 * @fd: of a regular file, open for reading; it need not stay open
 * @probe: out: its number; in, with DP_DEVICE_ALSO: which; @opcode: out: as of struct dp_device_add
 * @flags: DP_DEVICE_ALSO, with or without DP_DEVICE_ONWARD; or 0
 */
struct dp_device_file {
	__u64 offset, words;
	__u32 words_size, fd, probe, opcode;
	__u32 flags, reserved;
};

/** Of struct dp_device_commit, @flags: decide how probes are to be armed, and arm none */
#define DP_DEVICE_PLAN 1
/* Forget the probes and programs that came since the last COMMIT, and what was to be turned or removed */
#define DP_DEVICE_UNDO 2

/**
 * struct dp_device_commit - arm the probes that are on, disarm the others, take away those that are removed
 *
 * Where probes both come and go, each hit has to do with all of the ones or all of the others. A program goes with the
 * last of its probes. On failure what came is forgotten, and the others are as they were.
 * @bad: out, on failure: the address concerned, or 0: as @addr of struct dp_device_add
 * @flags: DP_DEVICE_PLAN, DP_DEVICE_UNDO, or 0
 */
struct dp_device_commit {
	__u64 bad;
	__u32 flags, reserved;
};

/** struct dp_device_turn - a probe is to be on, or off, from the next DP_DEVICE_COMMIT on */
struct dp_device_turn {
	__u32 probe, on;
	__u32 reserved[2];
};

/** struct dp_device_remove - the next DP_DEVICE_COMMIT takes a probe away, for good: its number is no other's */
struct dp_device_remove {
	__u32 probe;
	__u32 reserved[3];
};

/* Of struct dp_device_count, @status: the probe's program has ended it, until another of the program's
 * probes resumes it; or for good */
#define DP_DEVICE_REMOVED 1
#define DP_DEVICE_SUSPENDED 2

/** enum dp_device_mode - how a probe is armed */
enum dp_device_mode {
	DP_DEVICE_BY_TRAP,
	DP_DEVICE_BY_JUMP,
	DP_DEVICE_BY_WATCH /* by debug registers */
};

/** enum dp_device_state - where the code of a probe is */
enum dp_device_state {
	DP_DEVICE_IS_THERE,
	DP_DEVICE_IS_PENDING, /* its module has not been loaded yet */
	DP_DEVICE_IS_GONE /* its module has been unloaded, or was code that the module runs first */
};

/**
 * struct dp_device_count - what is known of a probe
 * @hits: exact when no thread is at the site; @missed: of them those whose program has not run: of data, also those
 *          that came within other hits
 * @lost: records of its program for which there was no room
 * @passed: hits that @passcount of struct dp_device_bind let pass; @disabled: hits after the end of
 *          the probe, by @maxhits or by its program; @context: hits missed for want of memory
 * @onward: jumps with DP_DEVICE_ONWARD that were taken
 * @count: executions of the program, if it has a limit, from minus @passcount on
 * @mode: enum dp_device_mode; @reason: why it is no jump, or is not armed as its code is not there, or ""
 * @status: DP_DEVICE_SUSPENDED, DP_DEVICE_REMOVED, or 0; @state: enum dp_device_state
 */
struct dp_device_count {
	__u64 hits, missed, lost, passed, disabled, context, onward;
	__s64 count;
	__u32 mode, status, state, reserved;
	char reason[DP_DEVICE_WORDS];
};

/**
 * struct dp_device_counts - of the probes from @first on
 * @counts: address of @nr struct dp_device_count, at most as many as INFO says
 * @nr: out: how many have been written, fewer at the last probe
 * @within: out: hits within hits, of all probes, which run nothing
 * @lost: out: records that nobody has read, for which there was no room, besides those of the probes
 * @arrivals: out: threads that came into the middle of jumps
 * @sites, @jumps: out: addresses that are probed, and of these, how many by jumps
 */
struct dp_device_counts {
	__u64 counts, within, arrivals, lost;
	__u32 first, nr, sites, jumps;
};

/**
 * struct dp_device_calls - what has become of the calls of a probe with DP_DEVICE_RETURNS
 * @entered: calls, which are its hits
 * @returned: of these; @ended: whose task has ended inside; @inside: that have not returned yet
 * @missed: that were not followed, for want of an instance (@full) or of memory for the program
 * @unmet: that the program has not wanted to be followed
 * @unjudged: that have returned where no program could run
 * @probe: in: which
 */
struct dp_device_calls {
	__u64 entered, returned, ended, inside, missed, full, unmet, unjudged;
	__u32 probe, reserved;
};

#define DP_DEVICE_MAGIC 0xd9
#define DP_DEVICE_INFO _IOWR(DP_DEVICE_MAGIC, 0, struct dp_device_info)
#define DP_DEVICE_BEGIN _IOW(DP_DEVICE_MAGIC, 1, struct dp_device_begin)
#define DP_DEVICE_ADD _IOWR(DP_DEVICE_MAGIC, 2, struct dp_device_add)
#define DP_DEVICE_COMMIT _IOWR(DP_DEVICE_MAGIC, 3, struct dp_device_commit)
#define DP_DEVICE_TURN _IOW(DP_DEVICE_MAGIC, 4, struct dp_device_turn)
#define DP_DEVICE_COUNTS _IOWR(DP_DEVICE_MAGIC, 5, struct dp_device_counts)
#define DP_DEVICE_PROGRAM _IOWR(DP_DEVICE_MAGIC, 6, struct dp_device_program)
#define DP_DEVICE_BIND _IOW(DP_DEVICE_MAGIC, 7, struct dp_device_bind)
#define DP_DEVICE_VARIABLE _IOWR(DP_DEVICE_MAGIC, 8, struct dp_device_variable)
#define DP_DEVICE_CALLS _IOWR(DP_DEVICE_MAGIC, 9, struct dp_device_calls)
#define DP_DEVICE_WATCH _IOWR(DP_DEVICE_MAGIC, 10, struct dp_device_watch)
#define DP_DEVICE_FILE _IOWR(DP_DEVICE_MAGIC, 11, struct dp_device_file)
#define DP_DEVICE_REMOVE _IOW(DP_DEVICE_MAGIC, 12, struct dp_device_remove)
#define DP_DEVICE_ZERO _IOW(DP_DEVICE_MAGIC, 13, struct dp_device_zero)
#define DP_DEVICE_STACK _IOWR(DP_DEVICE_MAGIC, 14, struct dp_device_stack)
#define DP_DEVICE_TABLE _IOWR(DP_DEVICE_MAGIC, 15, struct dp_device_table)
#define DP_DEVICE_ROWS _IOWR(DP_DEVICE_MAGIC, 16, struct dp_device_rows)

#endif
