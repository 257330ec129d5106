/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* image: the agent's image in the tool, and its entry points. */
#ifndef DP_AGENT_IMAGE_H
#define DP_AGENT_IMAGE_H

#include "port_types.h"
#include "arch/arch.h"

/* The text: position independent, at most DP_AGENT_TEXT bytes. */
extern const u8 dp_agent_image[];
extern const u32 dp_agent_image_size;

/* Its .eh_frame, if that is at this offset from the text's start */
extern const u8 dp_agent_frames[];
extern const u32 dp_agent_frames_size, dp_agent_frames_at;

/* Offsets of the entry points from the text's start. */
extern const u32 dp_agent_trap_entry;
extern const u32 dp_agent_trap_restorer;
extern const u32 dp_agent_intercept_entry;
extern const u32 dp_agent_intercept_linger;
extern const u32 dp_agent_observe_entry;
extern const u32 dp_agent_hit_entry;
extern const u32 dp_agent_handler_entry;
extern const u32 dp_agent_handler_start;
extern const u32 dp_agent_handler_counted;
extern const u32 dp_agent_handler_abort;
extern const u32 dp_agent_tracked_entry;
extern const u32 dp_agent_pair_entry;
extern const u32 dp_agent_pair_start;
extern const u32 dp_agent_pair_counted;
extern const u32 dp_agent_pair_abort;
extern const u32 dp_agent_jprobe_return;
extern const u32 dp_agent_return_entry;
extern const u32 dp_agent_unwound_entry;
extern const u32 dp_agent_return_passed;
extern const u32 dp_agent_return_bare;
extern const u32 dp_agent_return_landed;
extern const u32 dp_agent_waits_home;
extern const u32 dp_agent_stack_mine;
extern const u32 dp_agent_enter_entry;
extern const u32 dp_agent_exit_entry;
extern const u32 dp_agent_enter_timed_entry;
extern const u32 dp_agent_exit_timed_entry;
extern const u32 dp_agent_keep_entry;
extern const u32 dp_agent_keep_texts_entry;
/* Where the sequences are that count calls, relative to this: see arch/x86/exits.S */
extern const u32 dp_agent_call_sequences;

/* The same of arch/x86/row.S */
extern const u32 dp_agent_keep_sequence;

/** dp_agent_sequence() - the @i-th of those at @offset, of an agent that is at @base */
static inline struct dp_agent_sequence dp_agent_sequence(u64 base, u32 offset,
							 u32 i)
{
	const s32 *at = (const void *)&dp_agent_image[offset];
	u64 from = base + offset;

	return (struct dp_agent_sequence){ from + (u64)(s64)at[3 * i],
					   from + (u64)(s64)at[3 * i + 1],
					   from + (u64)(s64)at[3 * i + 2] };
}

/** dp_agent_entries() - where detours enter an agent that is at @base */
static inline struct dp_agent_entries dp_agent_entries(u64 base)
{
	return (struct dp_agent_entries){
		.hit = base + dp_agent_hit_entry,
		.handler = base + dp_agent_handler_entry,
		.tracked = base + dp_agent_tracked_entry,
		.pair = base + dp_agent_pair_entry,
		.observe = base + dp_agent_observe_entry,
		.enter = base + dp_agent_enter_entry,
		.exit = base + dp_agent_exit_entry,
		.enter_timed = base + dp_agent_enter_timed_entry,
		.exit_timed = base + dp_agent_exit_timed_entry,
		.keep = base + dp_agent_keep_entry,
		.keep_texts = base + dp_agent_keep_texts_entry,
		.counts = { dp_agent_sequence(base, dp_agent_call_sequences, 0),
			    dp_agent_sequence(base, dp_agent_call_sequences, 1),
			    dp_agent_sequence(base, dp_agent_call_sequences, 2),
			    dp_agent_sequence(base, dp_agent_call_sequences,
					      3) },
		.keeps = dp_agent_sequence(base, dp_agent_keep_sequence, 0),
	};
}

/** dp_agent_describe_handler() - fill in the descriptor of the sequence in which @handler counts
 *  Source: struct rseq_cs of linux/rseq.h. */
static inline void dp_agent_describe_handler(u64 base, u64 sequence[4])
{
	sequence[0] = 0;
	sequence[1] = base + dp_agent_handler_start;
	sequence[2] = dp_agent_handler_counted - dp_agent_handler_start;
	sequence[3] = base + dp_agent_handler_abort;
}

/** dp_agent_describe_pair() - likewise, of @pair */
static inline void dp_agent_describe_pair(u64 base, u64 sequence[4])
{
	sequence[0] = 0;
	sequence[1] = base + dp_agent_pair_start;
	sequence[2] = dp_agent_pair_counted - dp_agent_pair_start;
	sequence[3] = base + dp_agent_pair_abort;
}

#endif
