/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ring: how records travel to the tool. */
#ifndef DP_LAYOUT_RING_H
#define DP_LAYOUT_RING_H

#include "port_types.h"
#include "engine/layout/instance.h"
#include "engine/vm/vm.h"

/* context: the working memory of one hit of a probe with a program. */

#define DP_CONTEXTS 256
#define DP_CONTEXT_STACK 192 /* words */

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
 * @stack: the program runs on it, so that little of the thread's own stack is used
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
	struct dp_regs regs;
	u64 stack[DP_CONTEXT_STACK];
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
};

/**
 * struct dp_record - one hit's log as it travels
 * @ticks: when the hit began, by dp_port_ticks()
 * @exception: enum dp_vm_exception that ended the program, or 0; @parm: its details
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

/** struct dp_record_copy - a record, copied out of the target's reach */
struct dp_record_copy {
	struct dp_record head;
	u8 data[sizeof(struct dp_leaving) + DP_VM_LOG];
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

/* program: a verified probe program in the arena. */

#define DP_PROGRAM_NAME 48

/** struct dp_program_entry - a verified program; control owns it */
struct dp_program_entry {
	u32 code_off, code_len;
	u32 lv_off, nr_lv;
	u32 jmpmax, logmax, stack_mask;
	u32 pad;
	char name[DP_PROGRAM_NAME];
};

#endif
