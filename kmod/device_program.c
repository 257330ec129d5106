// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * device_program: programs that a user of /dev/dprobes has probes run.
 *
 * The engine's verifier has the last word. Before it, each instruction that a kernel cannot carry out
 * is refused by its name: those that track calls, walk stacks, or ask for what only a process has.
 */
#include "kmod/device.h"
#include "kmod/tables.h"
#include "kmod/facilities.h"
#include "kmod/mapped.h"
#include "kmod/session.h"
#include "arch/arch.h"
#include "engine/layout/own.h"
#include "engine/vm/decode.h"
#include "engine/vm/ops.h"
#include "engine/vm/vm.h"
#include <dprobes/device.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#define STACK_SMALL 32

static_assert(DP_DEVICE_WRITE == (int)DP_ALLOW_WRITE);
static_assert(DP_DEVICE_REGISTERS == (int)DP_ALLOW_REG);
static_assert(DP_DEVICE_PORTS == (int)DP_ALLOW_IO);
static_assert(DP_DEVICE_FUNCTIONS == (int)DP_ALLOW_CALL);
static_assert(DP_DEVICE_NOWHERE == DP_NO_START);

#define ALLOW                                                      \
	(DP_DEVICE_WRITE | DP_DEVICE_REGISTERS | DP_DEVICE_PORTS | \
	 DP_DEVICE_FUNCTIONS)

/* By code, the name of an instruction, with % for its operand */
static const char *const names[256] = {
#define NAME(code, name, operand, pops, pushes, ends, state, group, text) \
	[code] = text,
	DP_OPS(NAME)
#undef NAME
};

/* What this program asks for may be refused by the kernel as a whole. */
u32 dp_device_allowed(void)
{
	return security_locked_down(LOCKDOWN_DEV_MEM) ? 0 : ALLOW;
}

/* Of the floating-point units? */
static bool is_vector(u16 reg)
{
	return (reg >= DP_REG_FR0 && reg <= DP_REG_MXCSR) || reg >= DP_REG_XMM;
}

/* Return: NULL: a program for probes on files can have it. */
static const char *missing_user(u8 op, const u8 *operand, bool *vectors)
{
	switch (op) {
	case DP_OPCODE_PUSH_R:
	case DP_OPCODE_PUSH_U:
		*vectors |= is_vector((u16)(operand[0] | operand[1] << 8));
		return NULL;
	case DP_OPCODE_CALL_KMOD:
		return "modules' functions are the kernel's: write modtype = kernel";
	case DP_OPCODE_PUSH_BACKTRACE:
		return "stacks are not there yet in a program of all processes";
	case DP_OPCODE_EXIT_N:
		return dp_facilities_acts(operand[0]) ?
			       "it is the kernel's debugger, or its end: write modtype = kernel" :
		       operand[0] < DP_FACILITY_REGISTERED && operand[0] ?
			       "a task would have to wait for its core file: -p PID, or -- CMD, runs the program in one process" :
			       NULL;
	default:
		return "";
	}
}

/* Return: NULL: a kernel carries it out. */
static const char *missing(u8 op, u8 operand)
{
	switch (op) {
	case DP_OPCODE_LOG_ST:
	case DP_OPCODE_PURGE_ST:
	case DP_OPCODE_TRACE_LV:
	case DP_OPCODE_TRACE_GV:
	case DP_OPCODE_TRACE_PV:
	case DP_OPCODE_PUSH_STP:
	case DP_OPCODE_POP_STP:
		return "stack traces are not there yet in a kernel";
	case DP_OPCODE_VFY_RW:
		return "a kernel does not tell what can be written";
	case DP_OPCODE_SEG2LIN:
		return "a kernel's program has no segments of a process";
	case DP_OPCODE_TURN:
	case DP_OPCODE_LEAVE:
		return "it is not there yet in a kernel";
	case DP_OPCODE_EXIT_N:
		return dp_facilities_missing(operand);
	default:
		return NULL;
	}
}

/* "push u: …", without the operand; of exit with it */
static void refuse(u8 op, u8 operand, const char *why, char *words)
{
	size_t len = strcspn(names[op], "%");

	while (len && strchr(" ,", names[op][len - 1]))
		len--;
	if (op == DP_OPCODE_EXIT_N)
		snprintf(words, DP_DEVICE_WORDS, "exit %u: %s", operand, why);
	else
		snprintf(words, DP_DEVICE_WORDS, "%.*s: %s", (int)len,
			 names[op], why);
}

/* Return: is there no instruction that is not for a kernel? If there is one, it is at *@at. What is none
 * is left to the verifier. @is: out: what it asks for */
static bool is_for_kernel(const u8 *code, u32 len, bool user, u32 *at,
			  struct dp_owned_program *is, char *words)
{
	const char *why;
	u8 operand[2];

	for (*at = 0; *at < len && names[code[*at]];
	     *at += 1 + dp_op_size(code[*at])) {
		operand[0] = *at + 1 < len ? code[*at + 1] : 0;
		operand[1] = *at + 2 < len ? code[*at + 2] : 0;
		why = user ? missing_user(code[*at], operand, &is->vectors) :
			     "";
		if (why && !*why)
			why = missing(code[*at], operand[0]);
		is->acts |= code[*at] == DP_OPCODE_EXIT_N &&
			    dp_facilities_acts(operand[0]);
		if (!why)
			continue;
		refuse(code[*at], operand[0], why, words);
		return false;
	}
	return true;
}

static int add(struct dp_owner *o, const struct dp_device_program *want,
	       u8 *code, const u32 *starts, u32 *number, u32 *offset,
	       struct dp_owned_program *is, char *words)
{
	const struct dp_program_spec spec = {
		.name = want->flags & DP_DEVICE_USER ? "user" : "kernel",
		.code = code,
		.code_len = want->code_size,
		.starts = starts,
		.nr_starts = want->nr_starts,
		.nr_lv = want->variables,
		.nr_gv = want->globals,
		.jmpmax = want->jumps,
		.logmax = want->log,
		.heapmax = want->heap,
		.stack = want->stack,
		.allow = want->allow,
		.room_lv = want->flags & DP_DEVICE_ROOM && !want->shares ?
				   DP_DEVICE_VARIABLES :
				   0,
		.shares = want->shares ?
				  1 + o->program[want->shares - 1].number :
				  0,
	};
	const char *why = NULL;
	int err;

	if (want->flags & DP_DEVICE_USER && want->allow & DP_DEVICE_PORTS) {
		strscpy(words, "ports are the kernel's: write modtype = kernel",
			DP_DEVICE_WORDS);
		return -EINVAL;
	}
	if (!is_for_kernel(code, want->code_size, want->flags & DP_DEVICE_USER,
			   offset, is, words))
		return -EINVAL;
	if (!dp_client_name_tables(&o->client, code, want->code_size, offset)) {
		strscpy(words, "aggregate: no such table", DP_DEVICE_WORDS);
		return -EINVAL;
	}
	err = dp_client_add_program(&o->client, &spec, number, offset, &why);
	if (err)
		strscpy(words, why ?: "", DP_DEVICE_WORDS);
	return err;
}

static bool is_sound(const struct dp_device_program *want)
{
	return !want->program && !want->offset &&
	       !(want->flags & ~(DP_DEVICE_USER | DP_DEVICE_ROOM)) &&
	       want->variables <= DP_DEVICE_VARIABLES &&
	       want->globals <= DP_DEVICE_VARIABLES &&
	       want->jumps <= DP_DEVICE_JUMPS && want->log <= DP_KMOD_LOG &&
	       want->heap <= DP_KMOD_HEAP && want->code_size &&
	       want->code_size <= DP_DEVICE_CODE && want->nr_starts &&
	       want->nr_starts <= DP_DEVICE_STARTS &&
	       (want->stack == STACK_SMALL || want->stack == DP_VM_STACK) &&
	       !(want->allow & ~ALLOW) && want->words_size <= DP_DEVICE_WORDS;
}

static int take(struct dp_owner *o, struct dp_device_program *want, u32 *number,
		struct dp_owned_program *is, char *words)
{
	u8 *code = memdup_user(u64_to_user_ptr(want->code), want->code_size);
	u32 *starts;
	int err;

	if (IS_ERR(code))
		return PTR_ERR(code);
	starts = memdup_user(u64_to_user_ptr(want->starts),
			     want->nr_starts * sizeof(*starts));
	err = IS_ERR(starts) ? PTR_ERR(starts) :
			       add(o, want, code, starts, number, &want->offset,
				   is, words);
	if (!IS_ERR(starts))
		kfree(starts);
	kfree(code);
	return err;
}

/* Return: the owner's number for it */
static u32 enter(struct dp_owner *o, const struct dp_device_program *want,
		 u32 number, const struct dp_owned_program *is)
{
	o->program[o->programs] = (struct dp_owned_program){
		.number = number,
		.variables = want->variables,
		.globals = want->globals,
		.heap = want->heap,
		.acts = is->acts,
		.user = want->flags & DP_DEVICE_USER,
		.vectors = is->vectors,
	};
	o->logs = true;
	return o->programs++;
}

static bool has(const struct dp_owner *o, u32 program)
{
	return program < o->programs && !o->program[program].gone;
}

/* The one whose variables it uses is of the same kind. */
static bool may_share(const struct dp_owner *o,
		      const struct dp_device_program *want)
{
	return !want->shares || (has(o, want->shares - 1) &&
				 o->program[want->shares - 1].user ==
					 !!(want->flags & DP_DEVICE_USER));
}

int dp_device_program(struct dp_owner *o, struct dp_device_program *want)
{
	char words[DP_DEVICE_WORDS] = "";
	struct dp_owned_program is = { .acts = false };
	u32 number;
	int err;

	if (!is_sound(want) || !dp_device_may_add(o) || !may_share(o, want))
		return -EINVAL;
	if ((!o->client.shows && !(want->flags & DP_DEVICE_USER)) ||
	    want->allow & ~dp_device_allowed())
		return -EPERM;
	if (o->programs == DP_DEVICE_PROGRAMS)
		return -ENOSPC;
	err = dp_device_answer(want->words, want->words_size, "");
	if (err)
		return err;
	err = take(o, want, &number, &is, words);
	if (!err)
		want->program = enter(o, want, number, &is);
	return dp_device_refuse(err, want->words, want->words_size, words);
}

/* Their numbers may be others' in the engine from here on. */
void dp_device_programs_left(struct dp_owner *o, bool undone)
{
	u32 i;

	for (i = 0; i < o->programs; i++)
		o->program[i].gone |= !dp_client_has_program(
			&o->client, o->program[i].number);
	if (undone)
		o->programs = o->had;
	o->had = o->programs;
}

/* At places where the program may begin? */
static bool begins(const struct dp_owner *o, const struct dp_device_bind *want)
{
	bool enters = want->start != DP_DEVICE_NOWHERE;
	u32 number = o->program[want->program].number;

	if (!test_bit(want->probe, o->returns))
		return !want->leaves && !want->flags &&
		       dp_kmod_starts(number, want->start);
	/* The record of a call is made when it is over. */
	return !o->program[want->program].acts &&
	       (!enters || dp_kmod_starts(number, want->start)) &&
	       (want->leaves ? dp_kmod_starts(number, want->leaves - 1) :
			       !want->flags);
}

int dp_device_bind(struct dp_owner *o, const struct dp_device_bind *want)
{
	const struct dp_owned_program *p;
	u32 number;
	struct dp_binding binding = {
		.start = want->start,
		.major = want->major,
		.minor = want->minor,
		.passcount = want->passcount,
		.maxhits = want->maxhits,
		.heap = want->heap,
		.ex_mask = want->exceptions,
		.leaves = want->leaves,
		.judged = want->flags & DP_DEVICE_JUDGED,
		.tells = want->flags & DP_DEVICE_TOLD,
		/* What is probed raises no fault that anybody handles. */
		.logonfault = true,
	};

	if (want->reserved ||
	    want->flags & ~(DP_DEVICE_JUDGED | DP_DEVICE_TOLD) ||
	    !has(o, want->program) || !dp_device_owns(o, want->probe))
		return -EINVAL;
	p = &o->program[want->program];
	if (want->heap > p->heap || !test_bit(want->probe, o->fresh) ||
	    test_bit(want->probe, o->files) != p->user || !begins(o, want) ||
	    test_and_set_bit(want->probe, o->bound))
		return -EINVAL;
	if (want->flags & DP_DEVICE_TOLD)
		set_bit(want->probe, o->told);
	binding.program = p->number;
	number = dp_device_number(o, want->probe);
	dp_client_bind(&o->client, number, &binding);
	return p->vectors ? dp_mapped_take_vectors(number) : 0;
}

/* Variables of a program, or, if it is DP_DEVICE_GLOBAL, of those that all have: they stay when a program goes, and may be
 * others' by then. Return: how many it has */
static u32 variables(const struct dp_owner *o, u32 program)
{
	u32 i, n = 0;

	if (program != DP_DEVICE_GLOBAL)
		return has(o, program) ? o->program[program].variables : 0;
	for (i = 0; i < o->programs; i++)
		if (o->client.shows || !o->program[i].gone)
			n = max(n, o->program[i].globals);
	return n;
}

int dp_device_variable(const struct dp_owner *o,
		       struct dp_device_variable *want)
{
	if (want->value || !o->committed ||
	    want->index >= variables(o, want->program))
		return -EINVAL;
	want->value = want->program == DP_DEVICE_GLOBAL ?
			      dp_kmod_global(want->index) :
			      dp_kmod_local(o->program[want->program].number,
					    want->index);
	return 0;
}

int dp_device_zero(struct dp_owner *o, const struct dp_device_zero *want)
{
	u32 have = variables(o, want->program), i;

	if (want->reserved || !o->committed || want->first > have ||
	    want->nr > have - want->first)
		return -EINVAL;
	for (i = want->first; i < want->first + want->nr; i++)
		if (want->program == DP_DEVICE_GLOBAL)
			dp_client_zero_global(&o->client, i);
		else
			dp_client_zero_local(&o->client,
					     o->program[want->program].number,
					     i);
	return 0;
}
