/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * detour: the code that a site's jump leads to.
 *
 *     descriptor of the restartable sequence     (counting detours only)
 *     fallback, if counting is impossible here or was interrupted
 *   start:
 *     count, or call out
 *     first instruction of the region
 *     …  where requested, count, or call out before or after an instruction
 *     jump back behind the region
 *     duplicate: call out, and a ret, to which branches of the region lead
 *
 * A detour skips the red zone and relies on nothing below it. No flag and no register
 * is different when an instruction of the region is reached.
 */
#ifndef DP_DETOUR_H
#define DP_DETOUR_H

#include "engine/insn/region.h"
#include "engine/insn/unwind.h"

struct dp_native;

#define DP_DETOUR_ALIGN 32
/* Bytes at most: of what counts, of what calls a followed handler, of a program, of each instruction with its call-outs, of what counts
 * an inner one, and of what counts where a call begins or ends */
#define DP_DETOUR_HEAD 192
#define DP_FOLLOWED_MAX 704
#define DP_NATIVE_MAX 1024
#define DP_DETOUR_INSN 96
#define DP_DETOUR_COUNT 208
#define DP_DETOUR_CALL 448
#define DP_DETOUR_MAX                             \
	(DP_NATIVE_MAX + DP_DETOUR_ALIGN +        \
	 (DP_REGION_INSNS + 1) * DP_DETOUR_INSN + \
	 DP_REGION_INSNS * DP_DETOUR_CALL)

/**
 * struct dp_rseq - where a thread's struct rseq is
 * @offset: bytes from the thread pointer
 * @signature: stands before the code to which an interruption leads
 */
struct dp_rseq {
	s32 offset;
	u32 signature;
};

/* Bytes of each function that reads memory, and how many sizes of what is read there are */
#define DP_READER_BYTES 128
#define DP_READER_SIZES 4

/**
 * struct dp_percpu - what a detour has of its CPU, where threads have no restartable sequences
 * @busy: a byte that is not 0 while the CPU is in a hit; @counters: the address of its counters, which others may
 *        change, too. Both from where the processor finds the CPU's own memory
 * @readers: address of functions that read memory, by register and size. The register has the address, and then
 *        what is there. Where that cannot be had, the zero flag is set.
 */
struct dp_percpu {
	s32 busy, counters;
	u64 readers;
};

/**
 * enum dp_commits - when the detour of a program makes its records
 * @DP_COMMITS: when the program has run
 * @DP_COMMITS_IF_PUSHED, @DP_COMMITS_IF_POPPED: likewise, if the word below the thread's stack
 *         pointer can be written, or the word there can be read; else it leaves
 * @DP_COMMITS_IF_TOUCHED: likewise, if the memory that the instruction accesses can be accessed
 * @DP_COMMITS_LEAVES: it leaves
 */
enum dp_commits {
	DP_COMMITS,
	DP_COMMITS_IF_PUSHED,
	DP_COMMITS_IF_POPPED,
	DP_COMMITS_IF_TOUCHED,
	DP_COMMITS_LEAVES,
};

/**
 * struct dp_detour_stream - where records go
 * @base, @stride: address of the first CPU's struct dp_stream, and of each next one behind it
 * @mask: see struct dp_arena_control
 * @tid_offset: of a thread's id, from its thread pointer
 * @probe: whose records they are
 * @coarse: they have no time
 * @memory: what the instruction accesses, for DP_COMMITS_IF_TOUCHED; a rip-relative operand is an
 *        address by itself
 */
struct dp_detour_stream {
	u64 base;
	u32 stride, mask, tid_offset, probe;
	bool coarse;
	enum dp_commits commits;
	struct dp_insn_memory memory;
};

/**
 * struct dp_duplicate - a ret elsewhere in the text, of which the detour has a copy
 * @branches: one bit for each instruction of the region that branches to it
 * @before, @by: as in struct dp_detour_spec; no @before: there is no duplicate
 * @code, @len: its bytes
 */
struct dp_duplicate {
	u32 before;
	u64 by;
	const u8 *code;
	u8 len, branches;
};

/**
 * struct dp_detour_followed - a followed handler, which the detour calls
 * @touches: registers that are saved; a handler that touches others is called out for
 * @fast: address of the word with the address of its struct dp_probe_entry, or with 0
 * @vm_children: address of the word that says that there are CLONE_VM children
 */
struct dp_detour_followed {
	u64 fast, vm_children;
	u32 touches;
};

/**
 * struct dp_detour_calls - of the calls that detours begin and end themselves
 * @wipe: address of a word that is 0 in fork children, which have no blocks
 * @blocks: address of the directory; @block_bits: of an offset in it; @instance_words: see struct
 *         dp_arena_control
 */
struct dp_detour_calls {
	u64 wipe, blocks;
	u32 block_bits, instance_words;
};

/**
 * struct dp_detour_spec - what a detour has to do
 * @from: address of the site; @code: its bytes; @region: what the jump displaces
 * @at: address of the detour, a multiple of DP_DETOUR_ALIGN
 * @pad: bytes to leave unused before @start, less than DP_DETOUR_ALIGN
 * @entry: address of code that jumps to the agent's dp_hit_entry, or dp_observe_entry
 * @before, @after: 1 + the number for the call-out before and after an instruction; 0:
 *         no call-out
 * @by: of a call-out before an instruction: address of a stub that jumps to another entry of the
 *         agent than @entry, which is called by the stub's word; 0: none
 * @call: likewise, before the last instruction, whatever @before says
 * @inner: 1 + offset of the counter of an inner instruction, which the detour counts by @inner_rseq;
 *         then @before is called out only if that is impossible. 0: none
 * @calls: of all calls, where @call_at has any
 * @call_at: address of the struct dp_call_entry of a call that begins or ends at an instruction, which
 *         the detour counts by @inner_rseq while there is @call_value; else @before is called out, by @by. 0: none.
 *         Not beside @native, @followed or @tracked
 * @rseq: count without the agent, or NULL. Then @before[0] is called out only if
 *        counting is impossible, and with DP_CALLOUT_UNCOUNTED.
 * @table: address of the CPUs' addresses of counters, 65,536 of them, 0 for no CPU
 * @counter: offset of the counter from these
 * @percpu: for @native, in place of @rseq, or NULL
 * @native: a program, encoded before it counts, or NULL; it takes the call-outs of the first
 *         instruction where it leaves. Only with @rseq or @percpu, and without @enable_word
 * @met_counter: like @counter, where the program is met
 * @stream: of its records; @keep, @keep_texts: addresses of stubs that jump to the agent's
 *          dp_keep_entry and dp_keep_texts_entry
 * @tables: address of the first struct dp_aggregate_entry
 * @enable_word: address of the enable word, or 0. The detour calls out after counting,
 *         if the word is not 0 or the thread is in a handler.
 * @self: offset from the thread pointer of the address of the thread's struct dp_stack.
 *        DP_DETOUR_BUSY there says that the thread is in a handler.
 * @tracked: address of code that jumps to the agent's dp_tracked_entry, which gets the
 *         first instruction's call-out with DP_CALLOUT_TRACKED. The agent may change
 *         where the thread goes on. 0: none. With @rseq and @enable_word, or to dp_pair_entry with
 *         neither: that counts
 * @followed: a handler that the detour calls when it has counted, or NULL. Only with @rseq and
 *         @self, without @enable_word
 * @intercept_entry: address of the agent's dp_intercept_entry, which makes system call
 *         @intercept in place of the last instruction; 0: none
 */
struct dp_detour_spec {
	u64 from, at, entry;
	u32 pad;
	const u8 *code;
	const struct dp_region *region;
	u32 before[DP_REGION_INSNS], after[DP_REGION_INSNS];
	u64 by[DP_REGION_INSNS];
	u32 call;
	const struct dp_rseq *rseq, *inner_rseq;
	const struct dp_percpu *percpu;
	u32 inner[DP_REGION_INSNS];
	struct dp_detour_calls calls;
	u64 call_at[DP_REGION_INSNS];
	u64 call_value[DP_REGION_INSNS];
	u64 table;
	u32 counter, met_counter;
	const struct dp_native *native;
	struct dp_detour_stream stream;
	u64 keep, keep_texts, tables, enable_word;
	s32 self;
	u64 tracked;
	const struct dp_detour_followed *followed;
	u64 intercept_entry;
	u32 intercept;
	struct dp_duplicate duplicate;
};

/**
 * struct dp_detour - the code of a detour, and offsets in it
 * @start: where the jump enters; @leave: where a thread goes on that has faulted in a program
 *         between there and the first instruction
 * @at: where each instruction begins, with its call-out; the last one is the jump back
 * @insn: where the instruction itself is
 * @atomic: one bit per instruction: it is one instruction here, too
 * @duplicate: where its call-out begins, @duplicate_insn: where the ret is; 0: there is none
 * @unwind: what unwinders have to know. An inner count has rax and rcx in the first two slots, whatever
 *         @unwind says of them.
 */
struct dp_detour {
	u8 code[DP_DETOUR_MAX];
	u16 len, start, leave;
	u16 at[DP_REGION_INSNS + 1];
	u16 insn[DP_REGION_INSNS];
	u16 duplicate, duplicate_insn;
	u8 atomic;
	struct dp_unwind_states unwind;
};

/**
 * dp_detour_make() - encode a detour
 *
 * Context: control half. Pure.
 * Return: 0; -ENOMEM a displacement does not reach from @spec->at; -EINVAL an
 * instruction cannot be relocated.
 */
int dp_detour_make(const struct dp_detour_spec *spec, struct dp_detour *detour);

/** dp_native_encodes() - is there room for a program in a detour? The answer is the same for each
 *  site. @percpu: see struct dp_detour_spec; @scratch: overwritten */
bool dp_native_encodes(const struct dp_native *native,
		       const struct dp_percpu *percpu,
		       struct dp_detour *scratch);

/** dp_detour_entry_stub() - encode a jump to @target at any distance
 *  Return: its bytes, DP_ENTRY_STUB at most. */
unsigned int dp_detour_entry_stub(u8 *code, u64 target);

#endif
