/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * native: what a probe program computes, for a processor to encode.
 *
 * A program is walked from its start, with the RPN stack in hand: where each instruction finds
 * its operands is known. What remains is a tree of blocks. A block ends in a test of a value,
 * which leads to one of two others, or it ends the program:
 *
 *        ┌── unmet: the hit is counted, and nothing else
 *   test ┼── met: the hit is counted, and a variable is one higher
 *        ├── record: values go to the reader, who counts the hit; or the hit is counted, and then
 *        │   they go into a table
 *        └── leave: the interpreter runs the program, from its start
 *
 * Before it ends, the code has no effect, so it can leave at any place: where a program does
 * more than that, where memory cannot be read, where a limit is near. Nothing is done twice,
 * and every program that the verifier takes runs. Loops are unrolled, as far as there is room.
 */
#ifndef DP_VM_NATIVE_NATIVE_H
#define DP_VM_NATIVE_NATIVE_H

#include "port_types.h"

#define DP_NATIVE_VALUES 200
#define DP_NATIVE_BLOCKS 48
/* Records that a program can make, and the elements and items of each */
#define DP_NATIVE_RECORDS 8
#define DP_NATIVE_ELEMENTS 16
#define DP_NATIVE_ITEMS 8
/* No variable is counted */
#define DP_NATIVE_NONE 0xffffu

/** enum dp_native_op - how a value comes about, of 64 bits unless it says otherwise */
enum dp_native_op {
	DP_NATIVE_CONST, /* @imm */
	DP_NATIVE_REG, /* the thread's register number @imm, as regs.h has it */
	DP_NATIVE_LOAD, /* @size bytes at the address @a, the others 0 */
	DP_NATIVE_ADD,
	DP_NATIVE_SUB, /* @a - @b */
	DP_NATIVE_MUL,
	DP_NATIVE_AND,
	DP_NATIVE_OR,
	DP_NATIVE_XOR,
	DP_NATIVE_NOT, /* of all bits of @a */
	DP_NATIVE_SHL, /* @a by @imm, 1 to 63 */
	DP_NATIVE_SHR,
	DP_NATIVE_ROL,
	DP_NATIVE_SIGNED, /* the low @imm bits of @a, 1 to 63, with their sign */
	DP_NATIVE_UNSIGNED, /* … the others 0 */
	DP_NATIVE_EQ, /* 1 if so, else 0 */
	DP_NATIVE_LTU,
	DP_NATIVE_LTS,
	/* for tables only: of the string at @a, @size words; each but the first is DP_NATIVE_REST */
	DP_NATIVE_TEXT,
	DP_NATIVE_REST, /* word @imm of it */
};

/** struct dp_native_value - @a, @b: numbers of other values; @truth: it is 0 or 1, whatever the
 *  registers and memory are */
struct dp_native_value {
	u8 op, size, a, b, truth;
	u64 imm;
};

/** enum dp_native_end - how a block ends */
enum dp_native_end {
	DP_NATIVE_TEST,
	DP_NATIVE_UNMET,
	DP_NATIVE_MET,
	DP_NATIVE_RECORD,
	DP_NATIVE_LEAVE,
};

/* @major, @minor of a record whose program has not set them: the probe's */
#define DP_NATIVE_UNSET 0x10000u

/**
 * struct dp_native_record - what a program has logged where it ends
 * @nr_items: items of elements; @items: how many elements each has
 * @nr_values, @values: the elements of all items, numbers of values
 * @table: 1 + number of the table that the values go into, the first one first, instead; 0
 * @texts: of those, the strings: see dp_native_text()
 */
struct dp_native_record {
	u32 major, minor;
	u8 nr_items, nr_values, table;
	u64 texts;
	u8 items[DP_NATIVE_ITEMS];
	u8 values[DP_NATIVE_ELEMENTS];
};

/* A string takes two bytes of @texts: where it begins among the values, and its words */
#define DP_NATIVE_TEXTS 4
static inline u64 dp_native_text(u32 i, u8 at, u8 words)
{
	return ((u64)at | (u64)words << 8) << 16 * i;
}

/**
 * struct dp_native_block - values @first to @last - 1 have become known, and what then
 * @test: goes on with block @yes if this value is not 0, else with @no
 * @record: the number of the record that is made, another one in each block
 *
 * What is loaded is loaded in a block, all of it, whether it is used or not.
 */
struct dp_native_block {
	u8 end, first, last, test, yes, no, record;
};

/**
 * struct dp_native - a program from one of its starts
 * @variable: the local variable that is one higher where the program is met, or DP_NATIVE_NONE
 * @loads: it reads memory
 *
 * The first block begins.
 */
struct dp_native {
	u16 variable;
	u8 nr_values, nr_blocks, nr_records;
	bool loads;
	struct dp_native_value values[DP_NATIVE_VALUES];
	struct dp_native_block blocks[DP_NATIVE_BLOCKS];
	struct dp_native_record records[DP_NATIVE_RECORDS];
};

/**
 * struct dp_native_limits - of the program
 * @stack_mask, @jmpmax, @logmax: see struct dp_vm
 * @loads: memory can be read where a fault is mended
 * @records: there are streams
 * @shared: other programs use its variables
 * @leave: leave at this instruction, counted from 1 along the walk; 0: never. For tests
 */
struct dp_native_limits {
	u32 stack_mask, jmpmax, logmax, leave;
	bool loads, records, shared;
};

/**
 * dp_native_walk() - make a program's tree
 * @code: verified, @len bytes; @start: where it begins
 * @native: filled in
 *
 * Context: control half. Pure. Needs some memory of dp_port_alloc().
 * Return: 0; -EOPNOTSUPP it would leave in any case; -ENOMEM.
 */
int dp_native_walk(const u8 *code, u32 len, u32 start,
		   const struct dp_native_limits *limits,
		   struct dp_native *native);

/** dp_native_records() - can the program make a record, if only that of an exception?
 *  @code: verified; @jmpmax: see struct dp_vm */
bool dp_native_records(const u8 *code, u32 len, u32 jmpmax);

/**
 * dp_native_shape() - what a record's log has beside the values
 * @data: gets the prefixes of its items, where the log has them
 * @at: gets the place of each value in the log
 *
 * Return: bytes of the log.
 */
u32 dp_native_shape(const struct dp_native_record *r, u8 *data,
		    u16 at[DP_NATIVE_ELEMENTS]);

/** dp_native_reads() - can a value be this register? Implemented by the processor. */
bool dp_native_reads(u16 reg);

#endif
