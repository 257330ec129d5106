/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* offsets: of fields, for entry.S and exits.S. arch/x86/offsets.c checks them. */
#ifndef DP_ARCH_OFFSETS_H
#define DP_ARCH_OFFSETS_H

/* struct dp_arena_control */
#define DP_O_SELF_OFFSET 176
#define DP_O_ERRNO_OFFSET 180
#define DP_O_VECTORS 184
#define DP_O_HANDLER_SEQUENCE 27584
#define DP_O_PAIR_SEQUENCE 27616
#define DP_O_PAIR_SITES 27648
#define DP_O_PAIR_STUBS 27656
#define DP_O_PAIR_STUB_BYTES 27664
#define DP_O_PAIR_TABLE 27672
#define DP_O_PAIR_BIAS 27680
#define DP_O_HANDLER_BEFORE 224
#define DP_O_RSEQ_OFFSET 152
#define DP_O_TID_OFFSET 140
#define DP_O_STREAM_STRIDE 27368
#define DP_O_STREAM_MASK 27372
#define DP_O_INSTANCE_WORDS 27392
#define DP_O_BLOCKS 27400
#define DP_O_CALLS 27408
#define DP_O_TIMED_CALLS 27416
#define DP_O_STREAMS 27424
#define DP_O_BLOCK_BITS 27432
#define DP_O_CALL_SEQUENCES 27456
#define DP_O_KEEP_SEQUENCE 27840
/* struct dp_aggregate_entry */
#define DP_O_KEEP_KEYS 0
#define DP_O_KEEP_NR_FIELDS 4
#define DP_O_KEEP_SLOT_MASK 12
#define DP_O_KEEP_SHARDS 28
#define DP_O_KEEP_SHARD_BYTES 32
#define DP_O_KEEP_ROW_BYTES 88
#define DP_O_KEEP_SLOTS 64
#define DP_O_KEEP_ROWS 72
#define DP_O_KEEP_QUICK 81
#define DP_O_KEEP_SIGN 82
#define DP_O_KEEP_BUCKET_OFF 84
#define DP_O_QUICK_HIST 2
#define DP_O_SLOT_READY 3
#define DP_O_HIST_NEGATIVE 65
/* engine/layout/block.h */
#define DP_O_BLOCK_BYTES 1024
#define DP_O_BLOCK_FACTOR 0x5bd1e995
#define DP_O_BLOCK_FACTOR_SHIFT 34
#define DP_O_CALL_EXIT 1
#define DP_O_CALL_ENTER 2
#define DP_O_CALL_SHARED 4
#define DP_O_CALL_SHIFT 3
#define DP_O_STREAM_CALL 30
/* struct dp_arena */
#define DP_O_VM_CHILDREN 32804
/* struct dp_private */
#define DP_O_PRIVATE_LEAVING 64
/* struct dp_site_entry */
#define DP_O_SITE_SIZE 128
#define DP_O_SITE_SHIFT 7
#define DP_O_SITE_ADDR 0
#define DP_O_SITE_FAST 112
#define DP_O_SITE_X87 71
#define DP_O_SITE_COUNTS 72 /* @calls, @runs behind it */
/* struct dp_probe_entry */
#define DP_O_PROBE_KIND 29
#define DP_O_PROBE_NEEDS 30
#define DP_O_PROBE_USER 32
#define DP_O_PROBE_PRE 40
#define DP_O_PROBE_POOL 72
#define DP_O_PROBE_TOUCHES 144
#define DP_O_KIND_RETURN 2
/* struct dp_stack */
#define DP_O_STACK_JUMPED 4
#define DP_O_STACK_BUSY 16
#define DP_O_STACK_SP 72
#define DP_O_STACK_REGS 48
#define DP_O_STACK_ALT_SP 80
#define DP_O_STACK_ZONE 96
#define DP_O_STACK_ZONE_SIZE 104
#define DP_O_STACK_ALT_SIZE 88
#define DP_O_STACK_VECTORS 256
#define DP_O_STACK_TID 0
#define DP_O_STACK_MINE 24
#define DP_O_STACK_FRAMES 32
#define DP_O_STACK_INSTANCE 56
#define DP_O_STACK_TASK 184
#define DP_O_STACK_TURNS 3296
#define DP_O_HINTS_MASK 31
/* struct dp_instance_pool */
#define DP_O_POOL_HANDLER 8
#define DP_O_POOL_ENTRY 16
#define DP_O_POOL_FIRST 32
#define DP_O_POOL_STRIDE 40
#define DP_O_POOL_NR 44
#define DP_O_POOL_DATA_SIZE 48
#define DP_O_POOL_QUICK 59
#define DP_O_POOL_SHARED 68
#define DP_O_POOL_FAST 80
#define DP_O_POOL_QUICK_HANDLER 88
#define DP_O_POOL_QUICK_ENTRY 96
#define DP_O_QUICK_FOR_MORE 2
#define DP_O_QUICK_WITH_DATA 3
#define DP_O_QUICK_FOLLOWED 4
/* struct dp_instance */
#define DP_O_INSTANCE_RET 8
#define DP_O_INSTANCE_TASK 16
#define DP_O_INSTANCE_FRAME 24
#define DP_O_INSTANCE_NEXT 64
#define DP_O_INSTANCE_POOL 40
#define DP_O_INSTANCE_INDEX 48
#define DP_O_INSTANCE_USED 56
#define DP_O_INSTANCE_ENDING 52
#define DP_O_INSTANCE_HELD 60
#define DP_O_INSTANCE_CALLS 32
#define DP_O_INSTANCE_SIZE 104
#define DP_O_ENDS_RETURNED 0
/* struct dp_frame, and dp_frames */
#define DP_O_STUB_RET 0
#define DP_O_STUB_CONT 8
#define DP_O_STUB_SLOT 16
#define DP_O_STUB_NEXT 24
#define DP_O_STUB_INSTANCES 32
#define DP_O_STUB_STACK 40
#define DP_O_STUB_STATE 56
#define DP_O_STUB_LIVE 1
#define DP_O_STUB_BOUND 4
/* struct dp_regs, and the rest of struct dp_call_frame */
#define DP_O_REGS_ORIG_AX 120
#define DP_O_REGS_IP 128
#define DP_O_REGS_FLAGS 144
#define DP_O_REGS_SP 152
#define DP_O_REGS_SIZE 168
#define DP_O_NUMBER 176
#define DP_O_FRAME_SIZE 184

#define DP_O_BUSY_HANDLER 1
#define DP_O_BUSY_FAST 2
#define DP_O_BUSY_TURN 0x100
#define DP_O_BUSY_ENTER 4
#define DP_O_BUSY_RETURN 5
#define DP_O_BUSY_FOLLOWED 6
#define DP_O_BUSY_PAIR 7
#define DP_O_CALLOUT_INDEX 0x07ffffff /* DP_CALLOUT_INDEX */
#define DP_O_CALLOUT_TRACKED 0x20000000 /* DP_CALLOUT_TRACKED */
#define DP_O_CALLOUT_UNCOUNTED 0x40000000 /* DP_CALLOUT_UNCOUNTED */
#define DP_O_CALLOUT_INNER 0x08000000
#define DP_O_CALLOUT_INDEX 0x07ffffff
/* struct rseq */
#define DP_RSEQ_CPU_ID 4
#define DP_RSEQ_CS 8
#define DP_STACK_BYTES 0x40000 /* DP_STACK_SIZE */

#endif
