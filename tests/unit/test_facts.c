// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * facts: which instructions can fail to complete, and which registers they change. The
 * assembler makes the instructions; Zydis' operands, which the list of those that cannot
 * fail does without, are the oracle for it.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "arch/arch.h"
#include "engine/insn/class.h"
#include "engine/layout/handler.h"
#include "port/user/decode.h"

/* Each instruction has so many bytes, the rest of which are nops. */
#define EACH 16
/* Macros that stand for lists. */
/* clang-format off */
#define ASM(text, ...) "1: " text "\n.org 1b + 16, 0x90\n"
#define NAME(text, ...) text,
#define FIRST(text, a, ...) a,
#define SECOND(text, a, b) b,

#define STATES(X) \
	X("add %eax, %ebx", DP_STATE_GENERAL, 0) \
	X("mov (%rdi), %rax", DP_STATE_GENERAL, 0) \
	X("rep movsb", DP_STATE_GENERAL, 0) \
	X("lock cmpxchg16b (%rdi)", DP_STATE_GENERAL, 0) \
	X("popcnt %rax, %rbx", DP_STATE_GENERAL, 0) \
	X("andn %eax, %ebx, %ecx", DP_STATE_GENERAL, 0) \
	X("shlx %eax, %ebx, %ecx", DP_STATE_GENERAL, 0) \
	X("blcfill %eax, %ebx", DP_STATE_GENERAL, 0) \
	X("movaps %xmm0, %xmm1", DP_STATE_SSE, 2) \
	X("movups (%rdi), %xmm7", DP_STATE_SSE, 8) \
	X("movups %xmm2, (%rdi)", DP_STATE_SSE, 3) \
	X("movd %eax, %xmm15", DP_STATE_SSE, 16) \
	X("pxor %xmm3, %xmm3", DP_STATE_SSE, 4) \
	X("xorps %xmm5, %xmm2", DP_STATE_SSE, 6) \
	X("addsd %xmm1, %xmm0", DP_STATE_SSE_MATH, 2) \
	X("cvtsi2sd %eax, %xmm4", DP_STATE_SSE_MATH, 5) \
	X("ucomisd %xmm1, %xmm6", DP_STATE_SSE_MATH, 7) \
	X("fld1", DP_STATE_ALL, 0) \
	X("faddp", DP_STATE_ALL, 0) \
	X("fcmovb %st(1), %st", DP_STATE_ALL, 0) \
	X("emms", DP_STATE_ALL, 0) \
	X("paddb %mm0, %mm1", DP_STATE_ALL, 0) \
	X("movd %eax, %mm1", DP_STATE_ALL, 0) \
	X("pfadd %mm0, %mm1", DP_STATE_ALL, 0) \
	X("cvtpi2ps %mm0, %xmm0", DP_STATE_ALL, 0) \
	X("ldmxcsr (%rdi)", DP_STATE_ALL, 0) \
	X("fxsave (%rdi)", DP_STATE_ALL, 0) \
	X("fxsave64 (%rdi)", DP_STATE_ALL, 0) \
	X("fxrstor (%rdi)", DP_STATE_ALL, 0) \
	X("fxrstor64 (%rdi)", DP_STATE_ALL, 0) \
	X("xsave (%rdi)", DP_STATE_ALL, 0) \
	X("xrstor (%rdi)", DP_STATE_ALL, 0) \
	X("xsaveopt (%rdi)", DP_STATE_ALL, 0) \
	X("vmovaps %xmm0, %xmm1", DP_STATE_ALL, 0) \
	X("vaddps %ymm0, %ymm1, %ymm2", DP_STATE_ALL, 0) \
	X("vpaddd %zmm0, %zmm1, %zmm2", DP_STATE_ALL, 0) \
	X("kmovw %k1, %k2", DP_STATE_ALL, 0) \
	X(".byte 0x06", DP_STATE_ALL, 0)

#define FAULTS(X) \
	X("add %eax, %ebx", DP_FAULTS_NEVER, 0) \
	X("add $1, %al", DP_FAULTS_NEVER, 0) \
	X("add $0x1000, %eax", DP_FAULTS_NEVER, 0) \
	X("cmp $1, %ebx", DP_FAULTS_NEVER, 0) \
	X("or $0x1000, %ebx", DP_FAULTS_NEVER, 0) \
	X("test %eax, %ebx", DP_FAULTS_NEVER, 0) \
	X("test $1, %al", DP_FAULTS_NEVER, 0) \
	X("test $0x1000, %eax", DP_FAULTS_NEVER, 0) \
	X("test $1, %ebx", DP_FAULTS_NEVER, 0) \
	X("test $1, %bl", DP_FAULTS_NEVER, 0) \
	X("mov %rsp, %rbp", DP_FAULTS_NEVER, 0) \
	X("mov $1, %eax", DP_FAULTS_NEVER, 0) \
	X("mov $1, %rax", DP_FAULTS_NEVER, 0) \
	X("mov $1, %al", DP_FAULTS_NEVER, 0) \
	X("mov $1, %r15d", DP_FAULTS_NEVER, 0) \
	X("movslq %eax, %rbx", DP_FAULTS_NEVER, 0) \
	X("lea 8(%rax), %rbx", DP_FAULTS_NEVER, 0) \
	X("movzbl %al, %ebx", DP_FAULTS_NEVER, 0) \
	X("movswl %ax, %ebx", DP_FAULTS_NEVER, 0) \
	X("imul %eax, %ebx", DP_FAULTS_NEVER, 0) \
	X("imul $8, %eax, %ebx", DP_FAULTS_NEVER, 0) \
	X("imul $0x1000, %eax, %ebx", DP_FAULTS_NEVER, 0) \
	X("shl $3, %eax", DP_FAULTS_NEVER, 0) \
	X("shl %eax", DP_FAULTS_NEVER, 0) \
	X("shr %cl, %rax", DP_FAULTS_NEVER, 0) \
	X("shld $3, %eax, %ebx", DP_FAULTS_NEVER, 0) \
	X("neg %eax", DP_FAULTS_NEVER, 0) \
	X("mul %ebx", DP_FAULTS_NEVER, 0) \
	X("inc %eax", DP_FAULTS_NEVER, 0) \
	X("dec %bl", DP_FAULTS_NEVER, 0) \
	X("xchg %eax, %ebx", DP_FAULTS_NEVER, 0) \
	X("cltq", DP_FAULTS_NEVER, 0) \
	X("cqto", DP_FAULTS_NEVER, 0) \
	X("nop", DP_FAULTS_NEVER, 0) \
	X("nopw 8(%rax)", DP_FAULTS_NEVER, 0) \
	X("endbr64", DP_FAULTS_NEVER, 0) \
	X("cmove %eax, %ebx", DP_FAULTS_NEVER, 0) \
	X("cmovg %eax, %ebx", DP_FAULTS_NEVER, 0) \
	X("seto %al", DP_FAULTS_NEVER, 0) \
	X("setg %al", DP_FAULTS_NEVER, 0) \
	X("bt %eax, %ebx", DP_FAULTS_NEVER, 0) \
	X("bts $3, %ebx", DP_FAULTS_NEVER, 0) \
	X("bsf %eax, %ebx", DP_FAULTS_NEVER, 0) \
	X("popcnt %eax, %ebx", DP_FAULTS_NEVER, 0) \
	X("bswap %eax", DP_FAULTS_NEVER, 0) \
	X("clc", DP_FAULTS_NEVER, 0) \
	X("cld", DP_FAULTS_NEVER, 0) \
	X("cmc", DP_FAULTS_NEVER, 0) \
	X("je .", DP_FAULTS_NEVER, 0) \
	X("je . + 0x1000", DP_FAULTS_NEVER, 0) \
	X("jmp .", DP_FAULTS_NEVER, 0) \
	X("jmp . + 0x1000", DP_FAULTS_NEVER, 0) \
	X("loop .", DP_FAULTS_NEVER, 0) \
	X("syscall", DP_FAULTS_NEVER, 0) \
	X("mov (%rax), %eax", DP_FAULTS_OTHER, 0) \
	X("div %ebx", DP_FAULTS_OTHER, 0) \
	X("idiv %bl", DP_FAULTS_OTHER, 0) \
	X("leave", DP_FAULTS_OTHER, 0) \
	X("pushf", DP_FAULTS_OTHER, 0) \
	X("push (%rax)", DP_FAULTS_OTHER, 0) \
	X("vpaddd %xmm0, %xmm1, %xmm2", DP_FAULTS_OTHER, 0) \
	X("kmovw %k1, %eax", DP_FAULTS_OTHER, 0) \
	X("kandw %k1, %k2, %k3", DP_FAULTS_OTHER, 0) \
	X("movaps %xmm0, %xmm1", DP_FAULTS_OTHER, 0) \
	X("pshufb %xmm0, %xmm1", DP_FAULTS_OTHER, 0) \
	X("push %rax", DP_FAULTS_PUSH, 0) \
	X("push %rdi", DP_FAULTS_PUSH, 0) \
	X("push $1", DP_FAULTS_PUSH, 0) \
	X("push $0x1000", DP_FAULTS_PUSH, 0) \
	X("pop %rax", DP_FAULTS_POP, 0) \
	X("pop %rdi", DP_FAULTS_POP, 0) \
	X("call .", DP_FAULTS_CALL, 0) \
	X("ret", DP_FAULTS_RET, 0) \
	X("ret $8", DP_FAULTS_RET, 0) \
	X("jmp *%rax", DP_FAULTS_BRANCH, 0) \
	X("call *%rax", DP_FAULTS_BRANCH_CALL, 0) \
	X("jmp *(%eax)", DP_FAULTS_OTHER, 0)

__asm__(".pushsection .rodata\nstates:\n" STATES(ASM)
	"faults:\n" FAULTS(ASM) ".popsection\n");
extern const u8 states[][EACH] __asm__("states");
extern const u8 faults[][EACH] __asm__("faults");

static const char *const state_names[] = { STATES(NAME) };
static const u8 state_of[] = { STATES(FIRST) };
static const u8 xmms_of[] = { STATES(SECOND) };
static const char *const fault_names[] = { FAULTS(NAME) };
static const u8 faults_of[] = { FAULTS(FIRST) };
/* clang-format on */

/* What has to be saved around a handler that has the instruction. */
static void changes_registers(void **state)
{
	u8 xmms;
	u32 i;

	for (i = 0; i < sizeof(state_of); i++) {
		enum dp_insn_state is = dp_insn_state(states[i], EACH, &xmms);

		if (is != state_of[i] ||
		    (is != DP_STATE_ALL && xmms != xmms_of[i]))
			fail_msg("%s: %d, %d registers", state_names[i], is,
				 xmms);
	}
}

static void can_fail(void **state)
{
	struct insn_facts f;
	u32 i;

	for (i = 0; i < sizeof(faults_of); i++) {
		assert_int_equal(dp_insn_facts(faults[i], EACH, &f), 0);
		if (f.faults != faults_of[i])
			fail_msg("%s: %d", fault_names[i], f.faults);
	}
}

/* Does it access memory, divide, or ask for a privilege? */
static bool may_fail(const ZydisDecodedInstruction *in,
		     const ZydisDecodedOperand *ops)
{
	u8 i;

	for (i = 0; i < in->operand_count; i++)
		if (ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    ops[i].mem.type == ZYDIS_MEMOP_TYPE_MEM &&
		    in->meta.category != ZYDIS_CATEGORY_WIDENOP &&
		    in->meta.category != ZYDIS_CATEGORY_NOP)
			return true;
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_DIV:
	case ZYDIS_MNEMONIC_IDIV:
	case ZYDIS_MNEMONIC_XBEGIN:
		return true;
	default:
		return in->attributes & (ZYDIS_ATTRIB_IS_PRIVILEGED |
					 ZYDIS_ATTRIB_HAS_LOCK) ||
		       in->meta.category == ZYDIS_CATEGORY_INTERRUPT ||
		       in->meta.category == ZYDIS_CATEGORY_IO ||
		       in->meta.category == ZYDIS_CATEGORY_X87_ALU ||
		       in->meta.category == ZYDIS_CATEGORY_SEGOP;
	}
}

static u32 check(const u8 *code)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;
	struct insn_facts f;

	if (dp_insn_facts(code, EACH, &f) || f.class == DP_INSN_REFUSED ||
	    f.faults != DP_FAULTS_NEVER ||
	    !dp_decode_full(code, EACH, &in, ops))
		return 0;
	if (may_fail(&in, ops))
		fail_msg("%02x %02x %02x %02x is said not to fail", code[0],
			 code[1], code[2], code[3]);
	return 1;
}

/* Every opcode of the first two maps, with registers and with memory: whatever is said
 * never to fail has nothing with which it could. */
static void never_fails(void **state)
{
	u32 map, op, modrm, never = 0;

	for (map = 0; map < 4; map++)
		for (op = 0; op < 256; op++)
			for (modrm = 0; modrm < 256; modrm++) {
				u8 code[EACH] = { 0 }, *to = code;

				if (map & 2)
					*to++ = 0xf0;
				if (map & 1)
					*to++ = 0x0f;
				*to++ = (u8)op;
				*to = (u8)modrm;
				never += check(code);
			}
	assert_true(never > 10000);
}

/* Where an indirect branch reads, or which register has the address. */
static void branch_operands(void **state)
{
	static const struct {
		u8 code[EACH];
		struct dp_operand_ref is;
	} cases[] = {
		/* jmp *%rax; call *%r11 */
		{ { 0xff, 0xe0 }, { .base = 0, .index = DP_NO_REG } },
		{ { 0x41, 0xff, 0xd3 }, { .base = 11, .index = DP_NO_REG } },
		/* jmp *8(%rbx,%rcx,4); call *-8(%r9,%r10,2) */
		{ { 0xff, 0x64, 0x8b, 8 },
		  { .memory = 1, .base = 3, .index = 1, .scale = 4, .disp = 8 } },
		{ { 0x43, 0xff, 0x54, 0x51, 0xf8 },
		  { .memory = 1,
		    .base = 9,
		    .index = 10,
		    .scale = 2,
		    .disp = -8 } },
		/* jmp *0x10(%rip) */
		{ { 0xff, 0x25, 0x10 },
		  { .memory = 1,
		    .base = DP_NO_REG,
		    .index = DP_NO_REG,
		    .disp = 0x10 } },
		/* jmp *%fs:0x20; call *%gs:0x20 */
		{ { 0x64, 0xff, 0x24, 0x25, 0x20 },
		  { .memory = 1,
		    .base = DP_NO_REG,
		    .index = DP_NO_REG,
		    .segment = DP_SEG_FS,
		    .disp = 0x20 } },
		{ { 0x65, 0xff, 0x14, 0x25, 0x20 },
		  { .memory = 1,
		    .base = DP_NO_REG,
		    .index = DP_NO_REG,
		    .segment = DP_SEG_GS,
		    .disp = 0x20 } },
	};
	struct insn_facts f;
	u32 i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct dp_operand_ref *is = &cases[i].is;

		assert_int_equal(dp_insn_facts(cases[i].code, EACH, &f), 0);
		assert_int_equal(f.faults, f.class == DP_INSN_JMP_IND ?
						   DP_FAULTS_BRANCH :
						   DP_FAULTS_BRANCH_CALL);
		assert_int_equal(f.operand.memory, is->memory);
		assert_int_equal(f.operand.base, is->base);
		assert_int_equal(f.operand.segment, is->segment);
		assert_true(f.operand.disp == is->disp);
		if (!is->memory)
			continue;
		assert_int_equal(f.operand.index, is->index);
		if (is->index != DP_NO_REG)
			assert_int_equal(f.operand.scale, is->scale);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes_registers),
		cmocka_unit_test(can_fail),
		cmocka_unit_test(never_fails),
		cmocka_unit_test(branch_operands),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
