// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* offsets: checks of arch/x86/offsets.h against the compiler. No code. */
#include "engine/hit/call.h"
#include "engine/insn/callout.h"
#include "arch/x86/offsets.h"
#include "arch/x86/ptregs.h"
#include "engine/layout/aggregate.h"
#include "engine/layout/arena.h"
#include "engine/layout/block.h"
#include "engine/layout/private.h"
#include "engine/layout/ring.h"

#define AT(offset, type, field) \
	_Static_assert((offset) == __builtin_offsetof(type, field), #field)
AT(DP_O_SELF_OFFSET, struct dp_arena_control, self_offset);
AT(DP_O_HANDLER_SEQUENCE, struct dp_arena_control, handler_sequence);
AT(DP_O_PAIR_SEQUENCE, struct dp_arena_control, pair_sequence);
AT(DP_O_PAIR_SITES, struct dp_arena_control, pair.sites);
AT(DP_O_PAIR_STUBS, struct dp_arena_control, pair.stubs);
AT(DP_O_PAIR_STUB_BYTES, struct dp_arena_control, pair.stub_bytes);
AT(DP_O_PAIR_TABLE, struct dp_arena_control, pair.table);
AT(DP_O_PAIR_BIAS, struct dp_arena_control, pair.bias);
AT(DP_O_VECTORS, struct dp_arena_control, vectors);
AT(DP_O_HANDLER_BEFORE, struct dp_arena_control, handler_before);
AT(DP_O_RSEQ_OFFSET, struct dp_arena_control, rseq_offset);
AT(DP_O_BLOCKS, struct dp_arena_control, blocks);
AT(DP_O_CALLS, struct dp_arena_control, calls);
AT(DP_O_TID_OFFSET, struct dp_arena_control, tid_offset);
AT(DP_O_STREAM_STRIDE, struct dp_arena_control, stream_stride);
AT(DP_O_STREAM_MASK, struct dp_arena_control, stream_mask);
AT(DP_O_TIMED_CALLS, struct dp_arena_control, timed_calls);
AT(DP_O_STREAMS, struct dp_arena_control, streams);
AT(DP_O_BLOCK_BITS, struct dp_arena_control, block_bits);
AT(DP_O_INSTANCE_WORDS, struct dp_arena_control, instance_words);
AT(DP_O_CALL_SEQUENCES, struct dp_arena_control, call_sequences);
AT(DP_O_KEEP_SEQUENCE, struct dp_arena_control, keep_sequence);
AT(DP_O_KEEP_KEYS, struct dp_aggregate_entry, keys);
AT(DP_O_KEEP_NR_FIELDS, struct dp_aggregate_entry, nr_fields);
AT(DP_O_KEEP_SLOT_MASK, struct dp_aggregate_entry, slot_mask);
AT(DP_O_KEEP_SHARDS, struct dp_aggregate_entry, shards);
AT(DP_O_KEEP_SHARD_BYTES, struct dp_aggregate_entry, shard_bytes);
AT(DP_O_KEEP_ROW_BYTES, struct dp_aggregate_entry, row_bytes);
AT(DP_O_KEEP_SLOTS, struct dp_aggregate_entry, slots);
AT(DP_O_KEEP_ROWS, struct dp_aggregate_entry, rows);
AT(DP_O_KEEP_QUICK, struct dp_aggregate_entry, quick);
AT(DP_O_KEEP_SIGN, struct dp_aggregate_entry, sign);
AT(DP_O_KEEP_BUCKET_OFF, struct dp_aggregate_entry, bucket_off);
_Static_assert(DP_O_QUICK_HIST == DP_QUICK_HIST && DP_QUICK_COUNT == 1,
	       "words");
_Static_assert(DP_O_SLOT_READY == DP_SLOT_READY, "tags");
_Static_assert(DP_O_HIST_NEGATIVE == DP_HIST_NEGATIVE, "buckets");
AT(8, struct dp_aggregate_slot, key);
AT(4, struct dp_row_update, at);
AT(8, struct dp_row_update, value);
AT(8, struct dp_row_put, row);
AT(16, struct dp_row_put, stride);
AT(24, struct dp_row_put, shards);
AT(32, struct dp_row_put, rseq);
AT(40, struct dp_row_put, sequence);
AT(48, struct dp_row_put, nr);
AT(56, struct dp_row_put, update);
AT(8, struct dp_block, instances);
AT(8, struct dp_exit_instance, ret);
AT(16, struct dp_exit_instance, serial);
AT(20, struct dp_exit_instance, tid);
AT(24, struct dp_exit_instance, ticks);
AT(64, struct dp_stream, limit);
AT(8, struct dp_stream_call, what);
AT(12, struct dp_stream_call, tid);
AT(16, struct dp_stream_call, entered);
AT(24, struct dp_stream_call, value);
AT(32, struct dp_stream_call, slot);
_Static_assert(sizeof(struct dp_stream) == 128, "stream");
_Static_assert(sizeof(struct dp_stream_call) == 40, "stream");
_Static_assert(DP_O_CALL_SHIFT == DP_CALL_SHIFT, "call");
_Static_assert(DP_O_STREAM_CALL == DP_STREAM_CALL, "stream");
_Static_assert(sizeof(struct dp_block) == 16, "block");
_Static_assert(DP_O_BLOCK_BYTES == DP_BLOCK_BYTES, "block");
_Static_assert(DP_O_BLOCK_FACTOR == DP_BLOCK_FACTOR, "block");
_Static_assert(DP_O_BLOCK_FACTOR_SHIFT == DP_BLOCK_FACTOR_SHIFT, "block");
_Static_assert(DP_O_CALL_EXIT == DP_CALL_EXIT, "call");
_Static_assert(DP_O_CALL_ENTER == DP_CALL_ENTER, "call");
_Static_assert(DP_O_CALL_SHARED == DP_CALL_SHARED, "call");
AT(0, struct dp_call_entry, group);
AT(0, struct dp_exit_instance, group);
AT(4, struct dp_exit_instance, state);
AT(DP_O_PRIVATE_LEAVING, struct dp_private, leaving);
AT(DP_O_ERRNO_OFFSET, struct dp_arena_control, errno_offset);
AT(DP_O_VM_CHILDREN, struct dp_arena, hit.vm_children);
AT(DP_O_SITE_ADDR, struct dp_site_entry, addr);
AT(DP_O_SITE_X87, struct dp_site_entry, x87);
AT(DP_O_SITE_FAST, struct dp_site_entry, fast);
AT(DP_O_SITE_COUNTS, struct dp_site_entry, counts);
AT(DP_O_SITE_COUNTS + 1, struct dp_site_entry, calls);
AT(DP_O_SITE_COUNTS + 2, struct dp_site_entry, runs);
AT(DP_O_PROBE_NEEDS, struct dp_probe_entry, pre_needs);
AT(DP_O_PROBE_KIND, struct dp_probe_entry, kind);
AT(DP_O_PROBE_POOL, struct dp_probe_entry, instance_pool);
AT(DP_O_PROBE_USER, struct dp_probe_entry, user);
AT(DP_O_PROBE_TOUCHES, struct dp_probe_entry, touches);
AT(DP_O_PROBE_PRE, struct dp_probe_entry, pre);
AT(DP_O_STACK_BUSY, struct dp_stack, busy);
AT(DP_O_STACK_JUMPED, struct dp_stack, jumped);
AT(DP_O_STACK_SP, struct dp_stack, sp);
AT(DP_O_STACK_REGS, struct dp_stack, regs);
AT(DP_O_STACK_ALT_SP, struct dp_stack, alt_sp);
AT(DP_O_STACK_ZONE, struct dp_stack, zone);
AT(DP_O_STACK_ZONE_SIZE, struct dp_stack, zone_size);
AT(DP_O_STACK_ALT_SIZE, struct dp_stack, alt_size);
AT(DP_O_STACK_VECTORS, struct dp_stack, vectors);
AT(DP_O_STACK_MINE, struct dp_stack, mine);
AT(DP_O_STACK_TID, struct dp_stack, tid);
AT(DP_O_STACK_FRAMES, struct dp_stack, frames);
AT(DP_O_STACK_INSTANCE, struct dp_stack, instance);
AT(DP_O_STACK_TASK, struct dp_stack, task);
AT(DP_O_STACK_TURNS, struct dp_stack, turns);
AT(DP_O_POOL_HANDLER, struct dp_instance_pool, handler);
AT(DP_O_POOL_ENTRY, struct dp_instance_pool, entry);
AT(DP_O_POOL_FIRST, struct dp_instance_pool, pool);
AT(DP_O_POOL_STRIDE, struct dp_instance_pool, stride);
AT(DP_O_POOL_NR, struct dp_instance_pool, nr);
AT(DP_O_POOL_DATA_SIZE, struct dp_instance_pool, data_size);
AT(DP_O_POOL_QUICK_HANDLER, struct dp_instance_pool, quick_handler);
AT(DP_O_POOL_QUICK_ENTRY, struct dp_instance_pool, quick_entry);
AT(DP_O_POOL_QUICK, struct dp_instance_pool, quick);
AT(DP_O_INSTANCE_RET, struct dp_instance, ret_addr);
AT(DP_O_INSTANCE_TASK, struct dp_instance, task);
AT(DP_O_INSTANCE_FRAME, struct dp_instance, frame);
AT(DP_O_INSTANCE_NEXT, struct dp_instance, next);
AT(DP_O_INSTANCE_POOL, struct dp_instance, instance_pool);
AT(DP_O_INSTANCE_INDEX, struct dp_instance, index);
AT(DP_O_INSTANCE_USED, struct dp_instance, used);
AT(DP_O_INSTANCE_ENDING, struct dp_instance, ending);
AT(DP_O_INSTANCE_HELD, struct dp_instance, held);
AT(DP_O_POOL_SHARED, struct dp_instance_pool, shared);
AT(DP_O_POOL_FAST, struct dp_instance_pool, fast);
AT(DP_O_INSTANCE_CALLS, struct dp_instance, calls);
AT(DP_O_STUB_RET, struct dp_frame, ret_addr);
AT(DP_O_STUB_CONT, struct dp_frame, cont);
AT(DP_O_STUB_SLOT, struct dp_frame, slot);
AT(DP_O_STUB_NEXT, struct dp_frame, next);
AT(DP_O_STUB_INSTANCES, struct dp_frame, instances);
AT(DP_O_STUB_STACK, struct dp_frame, stack);
AT(DP_O_STUB_STATE, struct dp_frame, state);
_Static_assert(DP_O_INSTANCE_SIZE == sizeof(struct dp_instance), "instance");
_Static_assert(sizeof(struct dp_frame) == 2 * DP_STUB_SIZE, "frame");
_Static_assert(DP_O_HINTS_MASK == DP_HINTS - 1, "hints");
_Static_assert(DP_O_INSTANCE_HELD == DP_O_INSTANCE_USED + 4, "one word");
_Static_assert(DP_O_QUICK_FOR_MORE == DP_QUICK_FOLLOWED_FOR_MORE, "quick");
_Static_assert(DP_O_QUICK_WITH_DATA == DP_QUICK_FOLLOWED_WITH_DATA, "quick");
_Static_assert(DP_O_QUICK_FOLLOWED == DP_QUICK_FOLLOWED, "quick");
_Static_assert(DP_O_KIND_RETURN == DP_KIND_RETURN, "kind");
_Static_assert(DP_O_ENDS_RETURNED == DP_CALL_RETURNED, "ends");
_Static_assert(DP_O_STUB_LIVE == DP_FRAME_LIVE, "state");
_Static_assert(DP_O_STUB_BOUND == DP_FRAME_BOUND, "state");
_Static_assert(DP_O_BUSY_PAIR == DP_BUSY_PAIR, "busy");
_Static_assert(DP_O_BUSY_TURN == DP_BUSY_TURN, "busy");
AT(DP_O_REGS_ORIG_AX, struct dp_call_frame, regs.orig_ax);
AT(DP_O_REGS_IP, struct dp_call_frame, regs.ip);
AT(DP_O_REGS_FLAGS, struct dp_call_frame, regs.flags);
AT(DP_O_REGS_SP, struct dp_call_frame, regs.sp);
AT(DP_O_NUMBER, struct dp_call_frame, number);
_Static_assert(DP_O_FRAME_SIZE == sizeof(struct dp_call_frame), "frame");
_Static_assert(DP_O_SITE_SIZE == sizeof(struct dp_site_entry), "site");
_Static_assert(DP_O_SITE_SIZE == 1 << DP_O_SITE_SHIFT, "site");
_Static_assert(DP_DETOUR_BUSY == __builtin_offsetof(struct dp_stack, busy),
	       "busy");
/* Assembly fills the lowest byte, and adds one. */
_Static_assert(DP_BUSY_KINDS == 0xff && DP_BUSY_TURN == DP_BUSY_KINDS + 1,
	       "busy");
_Static_assert(DP_O_BUSY_FAST == DP_BUSY_FAST, "busy");
_Static_assert(DP_O_BUSY_HANDLER == DP_BUSY_HANDLER, "busy");
_Static_assert(DP_O_BUSY_ENTER == DP_BUSY_ENTER, "busy");
_Static_assert(DP_O_BUSY_FOLLOWED == DP_BUSY_FOLLOWED, "busy");
_Static_assert(DP_O_BUSY_RETURN == DP_BUSY_RETURN, "busy");
_Static_assert(DP_O_CALLOUT_INDEX == DP_CALLOUT_INDEX, "number");
_Static_assert(DP_O_CALLOUT_TRACKED == DP_CALLOUT_TRACKED, "number");
_Static_assert(DP_O_CALLOUT_UNCOUNTED == DP_CALLOUT_UNCOUNTED, "number");
_Static_assert(DP_O_CALLOUT_INNER == DP_CALLOUT_INNER, "number");
_Static_assert(DP_O_CALLOUT_INDEX == DP_CALLOUT_INDEX, "number");
_Static_assert(DP_STACK_BYTES == DP_STACK_SIZE, "stack");
