// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* emit: append instructions to the program of a spec, and note its first error. */
#include "tracer/values/code.h"
#include "engine/vm/ops.h"
#include "sym/list.h"
#include "sym/prototypes.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void dp_code_bad(struct dp_coder *c, const struct dp_value *v, int err,
		 const char *fmt, ...)
{
	char why[200];
	va_list ap;

	if (c->err)
		return;
	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	c->err = dp_diag_set(c->diag, err, "%s", why);
	dp_diag_caret(c->diag, c->column + v->at, v->span);
}

/* The program's bytes */

static void put(struct dp_coder *c, u64 value, u32 size)
{
	struct dp_trace_program *o = c->out;
	u32 i;

	if (dp_list_reserve(&o->code, o->len + size, &o->cap, 1)) {
		c->err = dp_diag_set(c->diag, -ENOMEM, "out of memory");
		return;
	}
	for (i = 0; i < size; i++)
		o->code[o->len++] = (u8)(value >> (8 * i));
}

void dp_code_op(struct dp_coder *c, u8 op)
{
	put(c, op, 1);
}

void dp_code_op8(struct dp_coder *c, u8 op, u8 operand)
{
	put(c, op, 1);
	put(c, operand, 1);
}

void dp_code_op16(struct dp_coder *c, u8 op, u16 operand)
{
	put(c, op, 1);
	put(c, operand, 2);
}

void dp_code_push(struct dp_coder *c, u64 value)
{
	put(c, DP_OPCODE_PUSH, 1);
	put(c, value, 8);
}

u32 dp_code_jump(struct dp_coder *c, u8 op)
{
	put(c, op, 1);
	put(c, 0, 8);
	/* The entry of a handler is a jump, too. */
	c->out->jumps++;
	return c->out->len;
}

void dp_code_land(struct dp_coder *c, u32 jump)
{
	u64 distance = c->out->len - jump;

	if (!c->err)
		memcpy(c->out->code + jump - 8, &distance, 8);
}

void dp_code_extend(struct dp_coder *c, struct dp_value_type type)
{
	if (!type.stars && type.bits && type.bits < 64)
		dp_code_op8(c,
			    dp_value_has_sign(type) ? DP_OPCODE_PBL_I :
						      DP_OPCODE_PZL_I,
			    type.bits);
}

void dp_code_cut_bits(struct dp_coder *c, const struct dp_prototype_field *f)
{
	if (f->shift)
		dp_code_op8(c, DP_OPCODE_SHR_I, f->shift);
	if (f->bits < 64)
		dp_code_op8(c,
			    f->type->is_signed ? DP_OPCODE_PBL_I :
						 DP_OPCODE_PZL_I,
			    f->bits);
}
