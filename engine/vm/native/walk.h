/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* walk: the state of a program that is being followed. */
#ifndef DP_VM_NATIVE_WALK_H
#define DP_VM_NATIVE_WALK_H

#include "engine/vm/native/native.h"
#include "engine/vm/vm.h"

/** struct dp_walk_state - on one way: as struct dp_vm has it, with numbers of values
 *  @block: which is being made; @met: the variable has been counted; @leaves: the interpreter
 *  has to see that a limit has been reached; @record: what has been logged; @lp, @plp: bytes of
 *  that, and where the last item begins; @unknown: a code that only a record has */
struct dp_walk_state {
	u8 stack[DP_VM_STACK];
	struct {
		u32 sbp, back;
	} frames[DP_VM_FRAMES];
	struct dp_native_record record;
	u32 pc, tos, sbp, depth, jumps, lp, plp;
	u8 block;
	bool met, leaves, unknown;
};

/* @end of a walk while it is in a block */
#define DP_WALK_GOES_ON (-1)

/** struct dp_walk - @s: of the way that is being followed, the last one of those that are not done;
 *  @end: enum dp_native_end of the block that is being made */
struct dp_walk {
	const u8 *code;
	u32 len, steps;
	const struct dp_native_limits *limits;
	struct dp_native *n;
	struct dp_walk_state *s;
	int end;
};

/* As the machine's, on the stack of values. No value: the program is left. */
u8 dp_walk_peek(const struct dp_walk *w, u64 index);
void dp_walk_poke(struct dp_walk *w, u64 index, u8 value);
void dp_walk_push(struct dp_walk *w, u8 value);
u8 dp_walk_pop(struct dp_walk *w);

/** dp_walk_known() - is the value a constant? Otherwise the program is left. */
bool dp_walk_known(struct dp_walk *w, u8 value, u64 *imm);

/** dp_walk_jump() - the program goes on at @target */
void dp_walk_jump(struct dp_walk *w, u64 target);
/** dp_walk_test() - the program goes on at @target, if @value is not 0, or if it is: @truth. Ends
 *  the block, unless it is known. @counts: as a jump, also if it goes on behind */
void dp_walk_test(struct dp_walk *w, u8 value, bool truth, u64 target,
		  bool counts);

/* Each follows one instruction. Return: false: it is of another kind. */
bool dp_walk_flow(struct dp_walk *w, u8 op, u64 arg);
bool dp_walk_stack(struct dp_walk *w, u8 op, u64 arg);
bool dp_walk_math(struct dp_walk *w, u8 op, u64 arg);
bool dp_walk_data(struct dp_walk *w, u8 op, u64 arg);
bool dp_walk_log(struct dp_walk *w, u8 op, u64 arg);

/** dp_walk_end() - the program ends, and keeps what it has logged, or not */
void dp_walk_end(struct dp_walk *w, bool keeps);

#endif
