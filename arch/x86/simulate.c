// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * simulate: branches, executed in registers.
 *
 * A post_handler is called when the probed instruction has been executed. No breakpoint can
 * be put behind a branch, so the branch is simulated.
 *
 * Source: Intel SDM vol. 2, Jcc, LOOP, CALL, RET, JMP.
 */
#include "arch/x86/flags.h"
#include "engine/insn/class.h"
#include "engine/layout/site.h"
#include "arch/x86/simulate.h"
#include "port.h"

#define WORD 8

static bool is_prefix(u8 byte)
{
	return byte == 0x67 || byte == 0x66 || byte == 0x2e || byte == 0x36 ||
	       byte == 0x3e || byte == 0x26 || byte == 0x64 || byte == 0x65 ||
	       byte == 0xf2 || byte == 0xf3 || (byte & 0xf0) == 0x40;
}

/* loopne, loope, loop, jrcxz: opcodes e0 to e3; the prefix 67 takes ecx. */
static bool loop(const struct dp_site_entry *s, u64 flags, u64 *counter)
{
	bool narrow = false;
	u64 cx;
	u32 i = 0;

	for (; i < sizeof(s->orig) - 1 && is_prefix(s->orig[i]); i++)
		narrow |= s->orig[i] == 0x67;
	if (s->orig[i] == 0xe3)
		return narrow ? !(u32)*counter : !*counter;
	cx = narrow ? (u32)(*counter - 1) : *counter - 1;
	*counter = cx;
	if (s->orig[i] == 0xe0)
		return cx && !(flags & DP_ZF);
	if (s->orig[i] == 0xe1)
		return cx && flags & DP_ZF;
	return cx;
}

bool dp_branch_taken(const struct dp_site_entry *s, u64 flags, u64 cx)
{
	if (s->class == DP_INSN_JCC)
		return dp_condition(s->cc, flags);
	return s->class != DP_INSN_LOOP || loop(s, flags, &cx);
}

static bool operand(const struct dp_site_entry *s, struct dp_regs *r, u64 *to)
{
	const struct dp_operand_ref *o = &s->operand;
	u64 addr = dp_regs_value(r, o->base);

	if (!o->memory) {
		*to = addr;
		return true;
	}
	addr += dp_regs_value(r, o->index) * o->scale + (u64)o->disp;
	if (o->segment)
		addr += o->segment == DP_SEG_FS ? dp_port_thread_pointer() :
						  dp_port_gs_base();
	return dp_port_read(to, addr, WORD) == WORD;
}

static bool push(struct dp_regs *r, u64 value)
{
	if (dp_port_copy_out(r->sp - WORD, &value, WORD))
		return false;
	r->sp -= WORD;
	return true;
}

static bool give_back(const struct dp_site_entry *s, struct dp_regs *r)
{
	u64 to;
	u32 i = 0;

	if (dp_port_read(&to, r->sp, WORD) != WORD)
		return false;
	while (i < sizeof(s->orig) - 2 && is_prefix(s->orig[i]))
		i++;
	r->sp += WORD;
	if (s->orig[i] == 0xc2) /* ret $imm16 */
		r->sp += (u64)s->orig[i + 1] | (u64)s->orig[i + 2] << 8;
	r->ip = to;
	return true;
}

static bool indirect(const struct dp_site_entry *s, struct dp_regs *r,
		     bool calls)
{
	u64 to;

	if (!operand(s, r, &to) || (calls && !push(r, s->addr + s->insn_len)))
		return false;
	r->ip = to;
	return true;
}

bool dp_simulate(const struct dp_site_entry *s, struct dp_regs *r)
{
	u64 next = s->addr + s->insn_len;

	switch (s->class) {
	case DP_INSN_JMP:
		r->ip = s->target;
		return true;
	case DP_INSN_JCC:
		r->ip = dp_condition(s->cc, r->flags) ? s->target : next;
		return true;
	case DP_INSN_LOOP:
		r->ip = loop(s, r->flags, &r->cx) ? s->target : next;
		return true;
	case DP_INSN_CALL:
		if (!push(r, next))
			return false;
		r->ip = s->target;
		return true;
	case DP_INSN_JMP_IND:
		return indirect(s, r, false);
	case DP_INSN_CALL_IND:
		return indirect(s, r, true);
	case DP_INSN_RET:
		return give_back(s, r);
	default:
		return false;
	}
}
