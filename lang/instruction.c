// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* instruction: find a line's instruction and the value of its operand. */
#include "lang/private.h"

static int check_literal(struct dp_lang_reader *r,
			 const struct dp_lang_number *number, u32 bits)
{
	u32 word = 8 * r->program->word;

	if (!bits || bits > word)
		bits = word;
	return dp_lang_range(r, number, "this literal",
			     bits == 64 ? INT64_MIN : -(1ll << (bits - 1)),
			     bits == 64 ? UINT64_MAX : (1ull << bits) - 1);
}

static int check_local(struct dp_lang_reader *r,
		       const struct dp_lang_number *number)
{
	u32 vars = r->program->vars;

	if (!number->negative && number->value < vars)
		return 0;
	if (!vars)
		return dp_lang_bad(r, number->at,
				   "there are no local variables; "
				   "put vars = N into the header");
	return dp_lang_bad(r, number->at,
			   "the header has vars = %u, so local variables are "
			   "from 0 to %u; give it more vars",
			   vars, vars - 1);
}

/* Without gvars in the header, the highest index that is used says how many. */
static int check_global(struct dp_lang_reader *r,
			const struct dp_lang_number *number)
{
	struct dp_lang_program *p = r->program;
	int err = dp_lang_range(r, number, "the index of a global variable", 0,
				DP_VARS_MAX - 1);

	if (err || number->value < p->gvars)
		return err;
	if (r->gvars_given)
		return dp_lang_bad(r, number->at,
				   "the header has gvars = %u, too few for "
				   "this global variable; give it more gvars",
				   p->gvars);
	p->gvars = number->value + 1;
	return 0;
}

static int check_number(struct dp_lang_reader *r,
			const struct dp_lang_number *number, u8 operand,
			u32 bits)
{
	switch (operand) {
	case DP_OPERAND_U8:
		return dp_lang_range(r, number, "this operand", 0, 255);
	case DP_OPERAND_U16:
		return dp_lang_range(r, number, "this operand", 0, 65535);
	case DP_OPERAND_S16:
		return dp_lang_range(r, number, "this operand", -32768, 32767);
	case DP_OPERAND_LV:
		return check_local(r, number);
	case DP_OPERAND_GV:
		return check_global(r, number);
	default:
		return check_literal(r, number, bits);
	}
}

static int find_register(struct dp_lang_reader *r,
			 const struct dp_lang_operand *operand, bool write,
			 u64 *value)
{
	const struct dp_token *name = &operand->name;
	bool writable = true;
	int number, err = 0;

	if (!operand->word)
		return dp_lang_bad(r, operand->number.at,
				   "a register is named: rax, rdi, eax");
	if (dp_lang_reg_is_kernels(name))
		return dp_lang_bad(r, name->at,
				   "%.*s is a register that only the kernel "
				   "can read; a program in a process cannot",
				   DP_TOKEN_SHOWN(name));
	number = dp_lang_reg_find(name, &writable);
	if (number < 0)
		err = dp_lang_bad(r, name->at,
				  "there is no register \"%.*s\"; there are",
				  DP_TOKEN_SHOWN(name));
	else if (write && !writable)
		err = dp_lang_bad(r, name->at,
				  "%.*s can only be read; "
				  "these can be written:",
				  DP_TOKEN_SHOWN(name));
	if (err)
		dp_lang_reg_list(r->diag, write);
	*value = number;
	return err;
}

/* Refuse a word where a number belongs. */
static int refuse_word(struct dp_lang_reader *r,
		       const struct dp_lang_instruction *insn,
		       const struct dp_token *word)
{
	if (insn->n == 1)
		return dp_lang_shape_wrong(r, insn);
	return dp_lang_bad(r, word->at,
			   "\"%.*s\" is no number, and this operand is one",
			   DP_TOKEN_SHOWN(word));
}

static int encode_operand(struct dp_lang_reader *r,
			  const struct dp_lang_instruction *insn, u8 operand,
			  u32 bits, u64 *value)
{
	const struct dp_lang_operand *last = &insn->operand[insn->n - 1];
	const struct dp_lang_number *number = &last->number;

	if (operand == DP_OPERAND_REG || operand == DP_OPERAND_REGW)
		return find_register(r, last, operand == DP_OPERAND_REGW,
				     value);
	if (operand == DP_OPERAND_REL && last->word)
		return dp_lang_label_use(r, &last->name);
	if (operand == DP_OPERAND_REL)
		return dp_lang_bad(r, number->at,
				   "a jump goes to a label, not to a number");
	if (last->word && operand == DP_OPERAND_UL &&
	    (last->symbol || bits || !dp_lang_shape_begins(insn)))
		return dp_lang_symbol_use(r, last, bits, value);
	if (last->word)
		return refuse_word(r, insn, &last->name);
	*value = number->negative ? -number->value : number->value;
	return check_number(r, number, operand, bits);
}

static int refuse_right(struct dp_lang_reader *r, struct dp_source_place at,
			const struct dp_lang_op *op)
{
	static const struct {
		u32 bit;
		const char *what, *word;
	} rights[] = { { DP_ALLOW_WRITE, "writes memory", "write" },
		       { DP_ALLOW_REG, "changes a register", "reg" },
		       { DP_ALLOW_IO, "uses an io port", "io" },
		       { DP_ALLOW_CALL, "calls a function", "call" } };
	u32 i = 0;

	while (!(dp_op_needs(op->code) & rights[i].bit))
		i++;
	return dp_lang_bad(r, at,
			   "this %s, which the header does not ask for; put "
			   "\"allow = %s\" into it",
			   rights[i].what, rights[i].word);
}

int dp_lang_instruction_encode(struct dp_lang_reader *r,
			       const struct dp_lang_instruction *insn)
{
	char shape[DP_LANG_SHAPE_MAX];
	const struct dp_lang_op *op;
	u64 value = 0;
	u32 bits;
	int err = 0;

	if (dp_lang_argument(r, insn, &err))
		return err;
	dp_lang_shape(insn, false, shape);
	op = dp_lang_op_find(shape, &bits);
	if (!op) {
		dp_lang_shape(insn, true, shape);
		op = dp_lang_op_find(shape, &bits);
	}
	if (!op)
		return dp_lang_shape_wrong(r, insn);
	if (op->state != DP_OP_READY)
		return dp_lang_shape_later(r, insn->mnemonic.at, op);
	if (op->operand != DP_OPERAND_NONE)
		err = encode_operand(r, insn, op->operand, bits, &value);
	if (!err && dp_op_needs(op->code) & ~r->program->allow)
		err = refuse_right(r, insn->mnemonic.at, op);
	return err ? err : dp_lang_emit(r, insn->mnemonic.at, op, value);
}
