// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* insn: facts about an instruction that its class does not tell. */
#include "engine/insn/insn.h"
#include "arch/calls.h"

u64 dp_insn_refers(const struct insn_facts *f, u64 addr)
{
	u64 next = addr + f->len;

	if (f->rip_relative || f->class == DP_INSN_JMP ||
	    f->class == DP_INSN_JCC || f->class == DP_INSN_LOOP ||
	    f->class == DP_INSN_CALL)
		return next + (u64)f->target;
	return next;
}

void dp_insn_operand(const struct insn_facts *f, u64 addr,
		     struct dp_operand_ref *operand)
{
	*operand = f->operand;
	if (f->rip_relative)
		operand->disp += (s64)(addr + f->len);
}

bool dp_insn_is_restorer(const u8 *code, size_t size)
{
	static const u8 restorer[] = DP_CODE_RESTORER_WIDE;
	size_t i = 0;

	while (i < sizeof(restorer) && i < size && code[i] == restorer[i])
		i++;
	return i == sizeof(restorer);
}

bool dp_insn_is_syscall(const u8 *code, size_t size)
{
	return size >= DP_SYSCALL_SIZE && dp_code_is_syscall(code);
}

/* 0f 60…7f and d1…ff without a prefix are MMX; d8…df are x87 (Intel SDM vol. 2,
 * tables ). */
bool dp_insn_is_x87(const u8 *code, const struct insn_facts *f)
{
	u8 opcode = code[f->opcode_off];
	u8 i;

	if ((opcode & 0xf8) == 0xd8 &&
	    (!f->opcode_off || code[f->opcode_off - 1] != 0x0f))
		return true;
	if (!f->opcode_off || code[f->opcode_off - 1] != 0x0f ||
	    ((opcode & 0xe0) != 0x60 && opcode < 0xd1))
		return false;
	for (i = 0; i + 1 < f->opcode_off; i++)
		if (code[i] == 0x66 || code[i] == 0xf2 || code[i] == 0xf3)
			return false;
	return true;
}

bool dp_insn_is_nop(const u8 *code, size_t len)
{
	while (len > 1 && (*code == 0x66 || *code == 0x2e)) {
		code++;
		len--;
	}
	return *code == 0x90 || (len > 2 && code[0] == 0x0f && code[1] == 0x1f);
}
