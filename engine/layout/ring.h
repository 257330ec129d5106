/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ring: how records travel to the tool. */
#ifndef DP_LAYOUT_RING_H
#define DP_LAYOUT_RING_H

#include "port_types.h"
#include "engine/layout/instance.h"
#include "engine/vm/vm.h"

/* context: the working memory of one hit of a probe with a program. */

#define DP_CONTEXTS 256

/** enum dp_context_state */
enum dp_context_state {
	DP_CONTEXT_FREE,
	DP_CONTEXT_RUNS,
	DP_CONTEXT_PENDING, /* its record waits for the original instruction */
};

/**
 * struct dp_context - the working memory of one hit of a probe with a program; hit owns
 * it
 * @serial: the same for all probes of one hit
 * @sp: the program's stack pointer at the hit
 * @waits: set by the run: the record waits for the original instruction
 * @regs: a copy of the thread's registers, where the program needs one
 */
struct dp_context {
	u32 state;
	u32 tid;
	u32 probe;
	u32 site;
	u64 serial;
	u64 sp;
	u64 ticks;
	u64 hit; /* struct dp_hit, while it runs */
	u32 waits;
	u32 pad;
	/* address of the struct dp_exit_instance that begins; 0: none */
	u64 instance;
	/* of what was logged at the entry, for what runs at a return; its bytes */
	u64 entered, entered_len;
	struct dp_regs regs;
	struct dp_vm vm;
};

/* All rings together, about; and the least size of each */
#define DP_RING_BYTES (16u << 20)
#define DP_RING_LEAST (1u << 20)
/* What may be asked for: of each; and of all, about */
#define DP_RING_MOST (64u << 20)
#define DP_RINGS_MOST (256u << 20)

/** enum dp_record_flag */
enum dp_record_flag {
	DP_RECORD_TRUNCATED = 1, /* the log was too small */
	DP_RECORD_TAKEN = 2, /* a facility of the process's own has had it */
	DP_RECORD_MISSED = 4, /* or could not be called */
};

/**
 * struct dp_record - one hit's log as it travels
 * @ticks: when the hit began, by dp_port_ticks()
 * @exception: enum dp_vm_exception that ended the program, or 0; @parm: its details
 * @facility: n of "exit n", or 0
 * @len: bytes of data behind it; @traces: how many of them, the last ones, are stack traces
 */
struct dp_record {
	u64 ticks;
	u32 probe;
	u32 tid;
	u32 cpu;
	u16 major, minor;
	u16 exception;
	u8 facility;
	u8 flags;
	u32 len;
	u32 traces;
	u32 pad;
	u64 parm[2];
};

/** struct dp_program_ending - how a program ended that runs at returns, behind its log: see struct dp_record */
struct dp_program_ending {
	u16 major, minor;
	u16 exception;
	u8 facility;
	u8 flags;
	u32 traces;
	u32 pad;
	u64 parm[2];
};

#define DP_RECORD_MOST (DP_VM_LOG_MOST + DP_VM_TRACES)

/** struct dp_record_copy - a record, copied out of the target's reach */
struct dp_record_copy {
	struct dp_record head;
	u8 data[DP_RECORD_MOST];
};

/**
 * struct dp_slot - room for one record
 * @turn: whose turn it is
 *
 * In a ring of s slots, record n goes into slot n mod s. Let r be n - n mod s, its
 * round. A @turn of r: a writer may take the slot; r + 1: it is written; r + s: it is
 * free again. So all slots begin at zero.
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

/*
 * stream: records on their way to the reader, without a lock.
 *
 * Each CPU has one, of records of any length, one after the other. A detour writes behind the
 * last one, and publishes the record by one store, in a restartable sequence: an interruption
 * begins it anew. So no record is torn. A hit that finds no room leaves to the interpreter. That
 * puts its own records there in the same way, and into a ring those of threads that have no
 * restartable sequences.
 *
 *     head ─────────────────────────────┐ counts bytes; only the CPU's own threads write it
 *     tail (the reader's) ──┐           │
 *   data:  ░░░░░░░░░░░░░░░░░│ R │ R │ R │░░░░░░░░░░░░│ margin
 *
 * A record that begins before the end goes on into the margin. It is never split.
 */

/* Values that a record can have; records of a program, by the place where it ends */
#define DP_STREAM_VALUES 16
#define DP_STREAM_EXITS 8
/* In the place of their number: the record is a struct dp_record, with its data; or a struct
 * dp_stream_call */
#define DP_STREAM_WHOLE 31
#define DP_STREAM_CALL 30
/* Bytes of the longest record, for which there is room behind the data, too. Longer ones go into
 * rings. */
#define DP_STREAM_MOST \
	(sizeof(struct dp_record) + sizeof(struct dp_leaving) + DP_VM_LOG)
#define DP_STREAM_MARGIN 1280
#define DP_STREAM_LEAST (4u << 10)
/* Numbers of probes that such a record can have */
#define DP_STREAM_PROBES (1u << 24)

/**
 * struct dp_stream - of one CPU; its data follows
 * @head: bytes that have ever been written; hit owns it
 * @limit: a record that would begin at or behind it has no room; control owns it
 */
struct dp_stream {
	u64 head;
	u64 pad[7];
	u64 limit;
	u64 pad2[7];
};

/**
 * struct dp_stream_record - one record
 * @ticks: when it was made, by dp_port_ticks() without a fence; or anything, if the tool does not
 *         want to know
 * @what: dp_stream_what()
 * @value: those that were logged
 */
struct dp_stream_record {
	u64 ticks;
	u32 what;
	u32 tid;
	u64 value[];
};

_Static_assert(__builtin_offsetof(struct dp_record, probe) ==
		       __builtin_offsetof(struct dp_stream_record, what),
	       "both kinds of records tell apart by the same word");
_Static_assert(DP_STREAM_MOST <= DP_STREAM_MARGIN,
	       "the longest record has its room");

/** struct dp_stream_call - a call has ended, at an exit
 *  @what: of the probe at the exit; @entered: ticks; @value: what is returned; @slot: of struct dp_leaving */
struct dp_stream_call {
	u64 ticks;
	u32 what, tid;
	u64 entered, value, slot;
};

/** dp_stream_what() - the probe, where its program ended, and how many values it logged */
static inline u32 dp_stream_what(u32 probe, u32 exit, u32 values)
{
	return probe | exit << 24 | values << 27;
}

static inline u32 dp_stream_probe(u32 what)
{
	return what & (DP_STREAM_PROBES - 1);
}

static inline u32 dp_stream_exit(u32 what)
{
	return what >> 24 & (DP_STREAM_EXITS - 1);
}

static inline u32 dp_stream_values(u32 what)
{
	return what >> 27;
}

/* program: a verified probe program in the arena. */

#define DP_PROGRAM_NAME 48

/** struct dp_program_entry - a verified program; control owns it */
struct dp_program_entry {
	u32 code_off, code_len;
	u32 lv_off, nr_lv;
	u32 jmpmax, logmax, stack_mask;
	u32 tracemax, auto_trace;
	u32 nr_gv; /* global variables that it uses */
	u32 shares; /* 1 + the program whose variables it uses, and with which they are shown; 0 */
	char name[DP_PROGRAM_NAME];
};

#endif
