// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * relocate: copies, which run an instruction at another address.
 *
 *   most         as it is                          jmp next
 *   rip-relative displacement adjusted             jmp next
 *   jmp          jmp target
 *   jcc          jcc target                        jmp next
 *   loop, jrcxz  loop +2; jmp +5; jmp target;      jmp next
 *   call         push $next; movl $next>>32, 4(%rsp); jmp target
 *   call r/m     push r/m (it reads the old rsp); push (%rsp); pop into place by
 *                lea; store next; jmp *-8(%rsp)
 *   ret, jmp r/m as they are
 *   syscall      syscall; mov $next, %rcx          jmp next
 *
 * The copy of a call pushes the original return address, so that unwinders see the
 * program's own. The copy of an indirect call writes one word below it, too. The callee's
 * frame begins there, and the caller keeps nothing below its stack pointer at a call.
 */
#include "engine/insn/region.h"
#include "arch/x86/emit.h"

/* Copy the instruction, and adjust a rip-relative displacement. */
static void put_insn(struct dp_out *o, const u8 *code,
		     const struct insn_facts *f, u64 from)
{
	unsigned int start = o->len;
	u64 operand = from + f->len + (u64)f->target;
	s64 disp = (s64)(operand - (o->at + start + f->len));

	dp_put(o, code, f->len);
	if (!f->rip_relative)
		return;
	if (disp != (s32)disp)
		o->far = true;
	o->len = start + f->disp_off;
	dp_put32(o, (u32)disp);
	o->len = start + f->len;
}

static void put_loop(struct dp_out *o, const u8 *code,
		     const struct insn_facts *f, u64 target)
{
	dp_put(o, code, f->len - 1u);
	DP_PUT(o, 0x02, 0xeb, 0x05);
	dp_put_jmp(o, target);
}

static void put_call(struct dp_out *o, u64 next, u64 target)
{
	DP_PUT(o, 0x68);
	dp_put32(o, (u32)next);
	DP_PUT(o, 0xc7, 0x44, 0x24, 0x04);
	dp_put32(o, (u32)(next >> 32));
	dp_put_jmp(o, target);
}

static void put_call_ind(struct dp_out *o, const u8 *code,
			 const struct insn_facts *f, u64 from)
{
	unsigned int start = o->len;
	u64 next = from + f->len;

	put_insn(o, code, f, from);
	/* ff /2 becomes ff /6, a push of the same operand. */
	o->code[start + f->modrm_off] =
		(u8)((code[f->modrm_off] & ~0x38) | 0x30);
	DP_PUT(o, 0xff, 0x34, 0x24); /* push (%rsp) */
	DP_PUT(o, 0x48, 0x8d, 0x64, 0x24, 0x08); /* lea 8(%rsp), %rsp */
	DP_PUT(o, 0xc7, 0x04, 0x24); /* movl $next, (%rsp) */
	dp_put32(o, (u32)next);
	DP_PUT(o, 0xc7, 0x44, 0x24, 0x04);
	dp_put32(o, (u32)(next >> 32));
	DP_PUT(o, 0xff, 0x64, 0x24, 0xf8); /* jmp *-8(%rsp) */
}

static void put_body(struct dp_out *o, const u8 *code,
		     const struct insn_facts *f, u64 from)
{
	u64 next = from + f->len, target = next + (u64)f->target;

	switch (f->class) {
	case DP_INSN_JMP:
		dp_put_jmp(o, target);
		break;
	case DP_INSN_JCC:
		DP_PUT(o, 0x0f, (u8)(0x80 | f->cc));
		dp_put_rel32(o, target);
		break;
	case DP_INSN_LOOP:
		put_loop(o, code, f, target);
		break;
	case DP_INSN_CALL:
		put_call(o, next, target);
		break;
	case DP_INSN_CALL_IND:
		put_call_ind(o, code, f, from);
		break;
	default:
		put_insn(o, code, f, from);
		break;
	}
}

static int fail(const char **why, const char *reason, int err)
{
	if (why)
		*why = reason;
	return err;
}

int dp_insn_relocate(const u8 *code, const struct insn_facts *f, u64 from,
		     u64 to, struct dp_copy *copy, const char **why)
{
	struct dp_out o = { .code = copy->code, .at = to };

	if (f->class == DP_INSN_REFUSED)
		return fail(why, f->refusal, -EINVAL);
	put_body(&o, code, f, from);
	copy->body_len = (u8)o.len;
	/* The instruction leaves the address behind it in rcx: mov $next, %rcx */
	if (f->class == DP_INSN_SYSCALL) {
		DP_PUT(&o, 0x48, 0xb9);
		dp_put64(&o, from + f->len);
	}
	if (dp_insn_falls_through(f->class))
		dp_put_jmp(&o, from + f->len);
	if (o.far)
		return fail(why, "what it refers to is out of reach", -ENOMEM);
	copy->len = (u8)o.len;
	copy->atomic = f->class != DP_INSN_CALL &&
		       f->class != DP_INSN_CALL_IND && f->class != DP_INSN_LOOP;
	return 0;
}
