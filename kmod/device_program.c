// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * device_program: programs that a user of /dev/dprobes has probes run.
 *
 * The engine's verifier has the last word. Before it, only instructions that compute, read and log
 * pass: what needs room of its own, tracks calls, walks stacks or ends the program for good is for
 * processes.
 */
#include "kmod/device.h"
#include "kmod/session.h"
#include "engine/vm/decode.h"
#include "engine/vm/ops.h"
#include "engine/vm/vm.h"
#include <dprobes/device.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

/* Elements of a program's stack: struct dp_program_spec has two sizes */
#define STACK 1024

static bool is_flow(u8 op)
{
	return op <= DP_OPCODE_ABORT || op == DP_OPCODE_EXIT;
}

static bool is_data(u8 op)
{
	switch (op) {
	case DP_OPCODE_LOG_STR:
	case DP_OPCODE_LOG_MRF:
	case DP_OPCODE_LOG_I:
	case DP_OPCODE_LOG:
	case DP_OPCODE_PUSH_R:
	case DP_OPCODE_PUSH:
	case DP_OPCODE_PUSH_MEM_U8:
	case DP_OPCODE_PUSH_MEM_U16:
	case DP_OPCODE_PUSH_MEM_U32:
	case DP_OPCODE_PUSH_MEM_U64:
	case DP_OPCODE_PUSH_TASK:
	case DP_OPCODE_PUSH_PID:
	case DP_OPCODE_PUSH_PROCID:
	case DP_OPCODE_PUSH_TID:
	case DP_OPCODE_PUSH_COMM:
	case DP_OPCODE_VFY_R:
	case DP_OPCODE_LIKE:
	case DP_OPCODE_PUSH_STR:
		return true;
	default:
		return false;
	}
}

static bool is_computed(u8 op)
{
	return (op >= DP_OPCODE_PUSH_LV_I && op <= DP_OPCODE_SHR) ||
	       (op >= DP_OPCODE_XCHG && op <= DP_OPCODE_ROS) ||
	       (op >= DP_OPCODE_DIV && op <= DP_OPCODE_PUSH_X) ||
	       (op >= DP_OPCODE_EQ && op <= DP_OPCODE_LTS) ||
	       op == DP_OPCODE_RSUB;
}

/* Return: where the first instruction is that is not for the kernel; @len: there is none. */
static u32 find_other(const u8 *code, u32 len)
{
	u32 at = 0;

	while (at < len && (is_flow(code[at]) || is_data(code[at]) ||
			    is_computed(code[at])))
		at += 1 + dp_op_size(code[at]);
	return min(at, len);
}

static int add(const struct dp_device_program *want, const u8 *code,
	       u32 *program, u32 *offset, const char **why)
{
	static const u32 start;
	const struct dp_program_spec spec = {
		.name = "kernel",
		.code = code,
		.code_len = want->code_size,
		.starts = &start,
		.nr_starts = 1,
		.nr_lv = want->variables,
		.jmpmax = want->jumps,
		.logmax = want->log,
		.stack = STACK,
	};

	*offset = find_other(code, want->code_size);
	*why = "an instruction that is not for the kernel";
	return *offset < want->code_size ?
		       -EINVAL :
		       dp_kmod_add_program(&spec, program, offset, why);
}

int dp_device_program(struct dp_owner *o, struct dp_device_program *want)
{
	const char *why = NULL;
	u8 *code;
	int err, told;

	if (want->program || want->offset || !o->begun || o->committed ||
	    want->variables > DP_DEVICE_VARIABLES ||
	    want->jumps > DP_DEVICE_JUMPS || want->log > DP_KMOD_LOG ||
	    !want->code_size || want->code_size > DP_DEVICE_CODE ||
	    want->words_size > DP_DEVICE_WORDS)
		return -EINVAL;
	if (!o->shows)
		return -EPERM;
	if (o->programs == DP_KMOD_PROGRAMS)
		return -ENOSPC;
	code = memdup_user(u64_to_user_ptr(want->code), want->code_size);
	if (IS_ERR(code))
		return PTR_ERR(code);
	err = add(want, code, &want->program, &want->offset, &why);
	kfree(code);
	if (!err) {
		o->programs = want->program + 1;
		o->variables[want->program] = want->variables;
	}
	told = dp_device_answer(want->words, want->words_size, err ? why : "");
	return err ?: told;
}

int dp_device_bind(struct dp_owner *o, const struct dp_device_bind *want)
{
	const struct dp_binding binding = {
		.program = want->program,
		.maxhits = ~0u,
		.ex_mask = DP_EX_MASK,
		.logonfault = want->flags & DP_DEVICE_LOG_FAULTS,
	};

	if (want->reserved || (want->flags & ~DP_DEVICE_LOG_FAULTS) ||
	    want->probe >= o->probes || want->program >= o->programs ||
	    o->committed || test_and_set_bit(want->probe, o->bound))
		return -EINVAL;
	dp_kmod_bind(want->probe, &binding);
	return 0;
}

int dp_device_variable(const struct dp_owner *o,
		       struct dp_device_variable *want)
{
	if (want->value || want->program >= o->programs || !o->committed ||
	    want->index >= o->variables[want->program])
		return -EINVAL;
	want->value = dp_kmod_local(want->program, want->index);
	return 0;
}
