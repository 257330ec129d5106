/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * body: the part of a detour that is made of a program.
 *
 * Code is encoded several times, until what it needs to know of itself is known: which
 * registers it uses, and so has to save, and which jumps are short.
 *
 *   sp ─► ┌────────────────────────────┐
 *         │ homes of what was loaded   │ if registers do not suffice
 *         │ flags (of lahf, seto)      │
 *         │ saved registers            │ by number, upwards
 *         ├────────────────────────────┤
 *         │ red zone                   │
 *         └────────────────────────────┘ ◄─ the thread's sp
 */
#ifndef DP_X86_NATIVE_BODY_H
#define DP_X86_NATIVE_BODY_H

#include "arch/x86/native/encode.h"
#include "engine/insn/detour.h"
#include "engine/vm/native/native.h"

#define DP_BODY_NONE 0xff
/* Values that can have a home */
#define DP_BODY_HOMES 16
/* No less is left when code is checked for room: more than any value needs. */
#define DP_BODY_MARGIN 64
/* At most, of the first instruction's copy with its call-out, in code that is not the same at each
 * site */
#define DP_NATIVE_FIRST (DP_COPY_MAX + 32)

/* Labels: one for each block, and these */
enum dp_body_label {
	DP_LABEL_MET = DP_NATIVE_BLOCKS,
	DP_LABEL_UNMET,
	DP_LABEL_LEAVE,
	DP_LABEL_OUT,
	DP_LABEL_RECORD, /* the first record's sequence */
	DP_LABEL_LOCAL = DP_LABEL_RECORD +
			 DP_NATIVE_RECORDS, /* the first one inside a test */
};
#define DP_BODY_LABELS (DP_LABEL_LOCAL + 32)
#define DP_BODY_JUMPS 128

/**
 * struct dp_body_known - what is so wherever a way of the program has come to
 * @holds: the value that each register holds, DP_BODY_NONE for none
 * @high: a value is not below any address of memory
 */
struct dp_body_known {
	u8 holds[DP_X86_REGS];
	bool high[DP_NATIVE_VALUES];
};

/**
 * struct dp_body - code that is being made
 * @spec: of the detour; @most: bytes of code
 * @abort: offset of the code to which an interruption of each record's sequence leads
 * @label: offset of each label; in @before, what it was when the code was last encoded
 * @jumps: places of displacements, to be filled in
 * @local: the next label inside a test
 * @saved: bits of the registers that the frame has; @used: those that are used
 * @homes: what is loaded has a home in the frame; @nr_homes: how many have
 * @known: what is so on this way
 * @locked: a register must not be given up, or taken; @lost: bits of registers that were given up on some
 *         way of a test
 * @shortens: jumps that can be are short
 * @home: the place in the frame of each value, DP_BODY_NONE for none
 * @needs_homes, @fails: registers do not suffice; neither do homes, or the room
 */
struct dp_body {
	struct dp_out *o;
	const struct dp_native *n;
	const struct dp_detour_spec *spec;
	u16 abort[DP_NATIVE_RECORDS];
	u16 label[DP_BODY_LABELS], before[DP_BODY_LABELS];
	struct {
		u16 at;
		u8 label, size;
	} jumps[DP_BODY_JUMPS];
	unsigned int most;
	u8 nr_jumps, local, pass;
	u16 saved, used, lost;
	bool shortens, homes, needs_homes, fails;
	u8 nr_homes;
	struct dp_body_known known;
	u8 locked[DP_X86_REGS];
	u8 home[DP_NATIVE_VALUES];
};

/** dp_body_begin() - encode anew, with what is known. dp_body_end() - fill in the jumps.
 *  Return: true: the code is what it is going to be. */
void dp_body_begin(struct dp_body *b, struct dp_out *o);
bool dp_body_end(struct dp_body *b);

/** dp_body_bind() - a label is here */
void dp_body_bind(struct dp_body *b, u8 label);
/** dp_body_jump() - jump to a label; @cc: if the condition holds */
void dp_body_jump(struct dp_body *b, u8 cc, u8 label);

/** dp_body_enter() - save all that has to be; dp_body_exit() - the contrary. @red_zone: the
 *  stack pointer stays below the red zone */
void dp_body_enter(struct dp_body *b);
void dp_body_exit(struct dp_body *b, bool red_zone);
/** dp_body_inside() - to unwinders, code that comes next stands between the two */
void dp_body_inside(struct dp_body *b);

/** dp_body_ends() - does a block end like that? dp_body_counts() - is a hit counted by this code? Then
 *  rdx is the counter's offset, and no value is there. */
bool dp_body_ends(const struct dp_body *b, enum dp_native_end end);
bool dp_body_counts(const struct dp_body *b);

/** dp_body_blocks() - the program. Where it falls through, it is met if it ever is, or else not met;
 *  if it counts nothing, its record is made. */
void dp_body_blocks(struct dp_body *b);

/* values: what they are, and in which register. */

/** struct dp_body_operand - of an instruction: a constant, or what it reads; @lock: that register is
 *  locked until dp_body_drop() */
struct dp_body_operand {
	bool constant, lock;
	s32 imm;
	struct dp_x86_rm rm;
};

void dp_body_drop(struct dp_body *b, const struct dp_body_operand *x);

/** dp_body_stay() - have a value where it stays while a sequence uses rax, rcx and rdx */
struct dp_body_operand dp_body_stay(struct dp_body *b, u8 value);

/** dp_body_register() - have in @to what the thread has in register @reg */
void dp_body_register(struct dp_body *b, u8 to, u8 reg);

/** dp_body_touch() - access what the site's instruction will access, in the same way, if a record
 *  depends on it. Changes rax, rcx and no memory. */
void dp_body_touch(struct dp_body *b);

/** dp_body_record() - make the record of a block. @last: fall through */
void dp_body_record(struct dp_body *b, const struct dp_native_block *block,
		    bool last);

/** dp_body_load() - a value that is loaded is loaded now */
void dp_body_load(struct dp_body *b, u8 value);
/** dp_body_compare() - flags of a comparison. Return: the condition of its truth. */
u8 dp_body_compare(struct dp_body *b, const struct dp_native_value *v);
/** dp_body_value() - have a value in a register, that must not be changed */
u8 dp_body_value(struct dp_body *b, u8 value);
/** dp_body_frame() - bytes from the stack pointer to the thread's */
s32 dp_body_frame(const struct dp_body *b);
/** dp_body_slot() - where the frame has a register */
struct dp_x86_rm dp_body_slot(const struct dp_body *b, u8 reg);

#endif
