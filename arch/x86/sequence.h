/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sequence: count on this CPU, in a restartable sequence.
 *
 * Source: linux/rseq.h for the descriptor and the signature.
 */
#ifndef DP_X86_SEQUENCE_H
#define DP_X86_SEQUENCE_H

#include "arch/x86/emit.h"
#include "engine/insn/detour.h"

/* Bytes of a descriptor, which is aligned to them */
#define DP_SEQUENCE_DESCRIPTOR 32

/**
 * struct dp_sequence - one sequence
 * @rseq, @table, @counter: see struct dp_detour_spec
 * @descriptor: offset of its descriptor
 * @abort: offset of the code to which an interruption leads: behind the signature, it
 *         leads to the sequence's beginning
 * @first, @committed: offsets of what the kernel restarts; set by dp_sequence_put()
 * @to_slow: offset of the byte of a jump's displacement, to code that counts otherwise
 */
struct dp_sequence {
	const struct dp_rseq *rseq;
	u64 table;
	u32 counter;
	unsigned int descriptor, abort, first, committed, to_slow;
};

/** dp_sequence_begin() - encode what leads up to the address of this CPU's counters, in rcx, or 0 if
 *  counting is impossible; and the CPU's number, in rax.
 *  dp_sequence_commit() - the instruction before this is the store that ends it */
void dp_sequence_begin(struct dp_out *o, struct dp_sequence *q);
void dp_sequence_commit(struct dp_out *o, struct dp_sequence *q);
/** dp_sequence_put() - encode one that counts. Changes rax and rcx, and no flag. */
void dp_sequence_put(struct dp_out *o, struct dp_sequence *q);
/** dp_sequence_describe() - fill in its descriptor */
void dp_sequence_describe(const struct dp_out *o, const struct dp_sequence *q);
/** dp_sequence_sign() - encode the signature that stands before @abort. Never run. */
void dp_sequence_sign(struct dp_out *o, const struct dp_rseq *rseq);
/** dp_sequence_forget() - a thread clears its rseq_cs before it leaves the detour: the kernel may
 *  read the descriptor at any time, even after the detour is released */
void dp_sequence_forget(struct dp_out *o, const struct dp_rseq *rseq);

#endif
