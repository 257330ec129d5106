// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * argument: what functions are given and return, as instructions for where the ABI has it; and the
 * other words that stand for several instructions: values, and memory of a segment.
 */
#include "lang/private.h"
#include <string.h>

/* Source: System V ABI for x86-64, 3.2.3. */
static const char *const registers[] = {
	"rdi", "rsi", "rdx", "rcx", "r8", "r9"
};

#define NR_REGISTERS (sizeof(registers) / sizeof(registers[0]))
#define ARGUMENTS_MAX 64

static int emit_register(struct dp_lang_reader *r, struct dp_source_place at,
			 const char *name)
{
	const struct dp_token tok = { .kind = DP_TOKEN_WORD,
				      .s = name,
				      .len = name[2] ? 3 : 2 };
	bool writable;

	return dp_lang_emit(r, at, dp_lang_op_at(DP_OPCODE_PUSH_R),
			    (u64)dp_lang_reg_find(&tok, &writable));
}

/* It is behind the return address. */
static int emit_from_stack(struct dp_lang_reader *r, struct dp_source_place at,
			   u64 n)
{
	int err = emit_register(r, at, "rsp");

	if (!err)
		err = dp_lang_emit(r, at, dp_lang_op_at(DP_OPCODE_PUSH),
				   8 * (n - NR_REGISTERS));
	if (!err)
		err = dp_lang_emit(r, at, dp_lang_op_at(DP_OPCODE_ADD), 0);
	if (!err)
		err = dp_lang_emit(r, at, dp_lang_op_at(DP_OPCODE_PUSH_MEM_U64),
				   0);
	return err;
}

static int argument(struct dp_lang_reader *r, struct dp_source_place at,
		    const struct dp_lang_number *number)
{
	int err = dp_lang_range(r, number, "the number of an argument", 1,
				ARGUMENTS_MAX);

	if (err)
		return err;
	if (r->program->points[r->program->nr_points - 1].retprobe)
		return dp_lang_bad(r, at,
				   "arguments are there at the entry of a "
				   "function, and this is a probe of its "
				   "return");
	if (r->program->points[r->program->nr_points - 1].usdt)
		return dp_lang_bad(r, at,
				   "the arguments of a tracepoint are values: "
				   "push v,\"arg0\" is the first");
	if (r->program->points[r->program->nr_points - 1].hook)
		return dp_lang_bad(r, at,
				   "at a hook its arguments have not been "
				   "evaluated; push v,\"VARIABLE\" has what "
				   "debug information knows");
	if (number->value <= NR_REGISTERS)
		return emit_register(r, at, registers[number->value - 1]);
	return emit_from_stack(r, at, number->value);
}

static int returned(struct dp_lang_reader *r, struct dp_source_place at)
{
	if (!r->program->points[r->program->nr_points - 1].retprobe)
		return dp_lang_bad(r, at,
				   "retval is there when a function returns; "
				   "give the probe retprobe = yes");
	return emit_register(r, at, "rax");
}

/* A call that leads nowhere until the value's code is known */
static int value(struct dp_lang_reader *r, struct dp_source_place at,
		 const struct dp_token *text)
{
	struct dp_lang_program *p = r->program;
	struct dp_lang_value v = { .at = text->at,
				   .code = p->code_len + 1,
				   .point = (u32)p->nr_points - 1 };
	void *values = dp_lang_grow(p->values, p->nr_values, sizeof(v));

	if (!values)
		return dp_lang_nomem(r->diag);
	p->values = values;
	v.text = strndup(text->s, text->len);
	if (!v.text)
		return dp_lang_nomem(r->diag);
	p->values[p->nr_values++] = v;
	return dp_lang_emit(r, at, dp_lang_op_at(DP_OPCODE_CALL), 0);
}

/* "log mrs" and "log str,s": DProbes had them before seg2lin. */
static bool is_text(const struct dp_lang_instruction *insn)
{
	const struct dp_lang_operand *o = insn->operand;

	return insn->n == 2 && o[0].word && o[1].word && !o[1].symbol &&
	       dp_lex_is(&o[1].name, "s") &&
	       (dp_lex_is(&o[0].name, "str") || dp_lex_is(&o[0].name, "ascii"));
}

static bool is_range(const struct dp_lang_instruction *insn)
{
	return insn->n == 1 && insn->operand[0].word &&
	       dp_lex_is(&insn->operand[0].name, "mrs");
}

static bool segment(struct dp_lang_reader *r,
		    const struct dp_lang_instruction *insn, int *err)
{
	bool text = is_text(insn);

	if (!dp_lex_is(&insn->mnemonic, "log") || (!text && !is_range(insn)))
		return false;
	*err = dp_lang_emit(r, insn->mnemonic.at,
			    dp_lang_op_at(DP_OPCODE_SEG2LIN), 0);
	if (!*err)
		*err = dp_lang_emit(r, insn->mnemonic.at,
				    dp_lang_op_at(text ? DP_OPCODE_LOG_STR :
							 DP_OPCODE_LOG_MRF),
				    0);
	return true;
}

bool dp_lang_argument(struct dp_lang_reader *r,
		      const struct dp_lang_instruction *insn, int *err)
{
	const struct dp_lang_operand *o = insn->operand;

	if (segment(r, insn, err))
		return true;
	if (!dp_lex_is(&insn->mnemonic, "push") || !insn->n || !o[0].word ||
	    o[0].symbol)
		return false;
	if (insn->n == 1 && dp_lex_is(&o[0].name, "retval"))
		*err = returned(r, insn->mnemonic.at);
	else if (insn->n == 2 && !o[1].word && dp_lex_is(&o[0].name, "arg"))
		*err = argument(r, insn->mnemonic.at, &o[1].number);
	else if (insn->n == 2 && o[1].symbol && dp_lex_is(&o[0].name, "v"))
		*err = value(r, insn->mnemonic.at, &o[1].name);
	else
		return false;
	return true;
}
