// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * verify: may this code be run?
 *
 * One pass marks where instructions begin and checks their operands. A second pass checks
 * that every jump and every handler begins at such a place. No more is needed: the stack
 * wraps, and the machine itself counts jumps and instructions.
 */
#include "port.h"
#include "arch/arch.h"
#include "engine/vm/decode.h"
#include "engine/vm/ops.h"
#include "engine/vm/vm.h"

#define KNOWN 1
#define ENDS 2

static const u8 flags[256] = {
#define FLAGS(code, name, operand, pops, pushes, ends, state, group, text) \
	[code] = KNOWN | (ends ? ENDS : 0),
	DP_OPS(FLAGS)
};

static u64 value_at(const u8 *code, u32 size)
{
	u64 value = 0;
	u32 i;

	for (i = 0; i < size; i++)
		value |= (u64)code[i] << (8 * i);
	return value;
}

static bool readable_register(u64 number)
{
	switch (number) {
#define REGISTER(number, ...) case number:
#define SPECIAL(number, name) case number:
		DP_REGS(REGISTER)
		DP_SPECIAL_REGS(SPECIAL)
		DP_VECTOR_REGS(SPECIAL)
		DP_WIDE_REGS(SPECIAL)
		return true;
	default:
		return false;
	}
}

static bool writable_register(u64 number)
{
	switch (number) {
#define WRITABLE(number, name, field, half, writable) \
	case number:                                  \
		return writable;
		DP_REGS(WRITABLE)
	default:
		return false;
	}
}

static const char *check_aggregate(u64 value, const struct dp_vm_limits *limits)
{
	u64 table = value & DP_AGGREGATE_TABLE;
	u64 words = value >> DP_AGGREGATE_SHIFT & DP_AGGREGATE_COUNT_MASK;

	if (!limits->aggregate_words || table >= DP_VM_AGGREGATES ||
	    limits->aggregate_words[table] == 0xff)
		return "no such table";
	return limits->aggregate_words[table] == words ?
		       NULL :
		       "as many words as a hit of the table has not";
}

static const char *check_operand(u8 kind, u64 value,
				 const struct dp_vm_limits *limits)
{
	switch (kind) {
	case DP_OPERAND_LV:
		return value < limits->nr_lv ? NULL : "no such local variable";
	case DP_OPERAND_GV:
		return value < limits->nr_gv ? NULL : "no such global variable";
	case DP_OPERAND_AGG:
		return check_aggregate(value, limits);
	case DP_OPERAND_REG:
		return readable_register(value) ? NULL : "no such register";
	case DP_OPERAND_REGW:
		return writable_register(value) ?
			       NULL :
			       "no register that can be written";
	default:
		return NULL;
	}
}

static const char *check_at(const u8 *code, u32 len, u32 at,
			    const struct dp_vm_limits *limits, u32 *next)
{
	u8 op = code[at], size = dp_op_size(op);

	if (!(flags[op] & KNOWN))
		return "no such instruction";
	if (dp_op_needs(op) & ~limits->allow)
		return "an instruction that the program is not allowed";
	if (len - at - 1 < size)
		return "the operand is cut off";
	*next = at + 1 + size;
	if (*next == len && !(flags[op] & ENDS))
		return "the end of the code is run off";
	return check_operand(dp_op_operand(op), value_at(code + at + 1, size),
			     limits);
}

static const char *check_jumps(const u8 *code, u32 len, const u8 *begins,
			       u32 *offset)
{
	u32 at, next;

	for (at = 0; at < len; at = next) {
		u64 target;

		next = dp_op_decode(code, at, &target);
		if (dp_op_operand(code[at]) != DP_OPERAND_REL)
			continue;
		*offset = at;
		if (target >= len || !begins[target])
			return "a jump that meets no instruction";
	}
	return NULL;
}

static const char *check(const u8 *code, u32 len,
			 const struct dp_vm_limits *limits, const u32 *starts,
			 u32 n, u8 *begins, u32 *offset)
{
	const char *why;
	u32 at, next = 0, i;

	for (at = 0; at < len; at = next) {
		*offset = at;
		begins[at] = 1;
		why = check_at(code, len, at, limits, &next);
		if (why)
			return why;
	}
	for (i = 0; i < n; i++) {
		*offset = starts[i];
		if (starts[i] >= len || !begins[starts[i]])
			return "a handler that begins at no instruction";
	}
	return check_jumps(code, len, begins, offset);
}

int dp_vm_verify(const u8 *code, u32 len, const struct dp_vm_limits *limits,
		 const u32 *starts, u32 n, u32 *offset, const char **why)
{
	u8 *begins;

	*offset = 0;
	*why = "no code";
	if (!len)
		return -EINVAL;
	begins = dp_port_alloc(len);
	*why = "out of memory";
	if (!begins)
		return -ENOMEM;
	*why = check(code, len, limits, starts, n, begins, offset);
	dp_port_free(begins);
	return *why ? -EINVAL : 0;
}
