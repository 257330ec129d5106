// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * operand: the memory that an instruction accesses, and that it cannot fail otherwise.
 *
 * The processor is the oracle: each instruction that is said to be so is run with its memory at
 * the end of a page, behind which there is none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include "arch/arch.h"
#include "engine/insn/class.h"
#include "engine/insn/insn.h"

#define PAGE 4096
#define EACH 16
#define RDI 7

static u8 *code,
	*data; /* a page to run; two pages, the second one without rights */
static sigjmp_buf away;

static void fault(int sig)
{
	siglongjmp(away, sig);
}

/* Everything that the instruction may change is saved around it. */
static unsigned int put_run(const u8 *insn, u8 len)
{
	static const u8 save[] = { 0x53, 0x55, 0x41, 0x54, 0x41,
				   0x55, 0x41, 0x56, 0x41, 0x57 };
	static const u8 restore[] = { 0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d,
				      0x41, 0x5c, 0x5d, 0x5b, 0xfc, 0xc3 };
	unsigned int n = 0;

	memcpy(code, save, sizeof(save));
	n += sizeof(save);
	memcpy(code + n, insn, len);
	n += len;
	memcpy(code + n, restore, sizeof(restore));
	return n;
}

/* Return: the signal that the instruction raised, 0 for none. */
static int run(const u8 *insn, u8 len, u8 *rdi)
{
	int sig;

	put_run(insn, len);
	sig = sigsetjmp(away, 1);
	if (!sig)
		((void (*)(u8 *))(void *)code)(rdi);
	return sig;
}

struct found {
	u32 said, reads, writes, beyond;
};

/* With the last byte of its memory at the end of the page: it completes. One byte further it cannot,
 * and neither can it write where writing is not allowed. */
static void try_one(const u8 *insn, const struct insn_facts *f,
		    const struct dp_insn_memory *m, struct found *found)
{
	u8 *at = data + PAGE - m->size;
	int prot = m->writes ? PROT_READ | PROT_WRITE : PROT_READ, sig;

	memset(data, 0x11, PAGE);
	mprotect(data, PAGE, prot);
	sig = run(insn, f->len, at);
	if (sig)
		fail_msg("%02x %02x %02x %02x: signal %d", insn[0], insn[1],
			 insn[2], insn[3], sig);
	found->beyond += run(insn, f->len, at + 1) != 0;
	mprotect(data, PAGE, PROT_READ | PROT_WRITE);
	found->said++;
	if (m->writes)
		found->writes++;
	else
		found->reads++;
}

/* Only rdi is an address that the test knows, and rsp must not change. */
static bool is_mine(const u8 *insn, const struct insn_facts *f)
{
	u8 modrm = insn[f->modrm_off];

	return f->modrm_off && (modrm & 7) == RDI && modrm >> 6 == 0 &&
	       (modrm >> 3 & 7) != 4;
}

static void try_code(const u8 *insn, struct found *found)
{
	struct dp_insn_memory m;
	struct insn_facts f;

	if (dp_insn_facts(insn, EACH, &f) || f.class != DP_INSN_PLAIN ||
	    !is_mine(insn, &f) || !dp_insn_memory(insn, EACH, &m))
		return;
	assert_int_equal(f.faults, DP_FAULTS_OTHER);
	assert_int_equal(m.operand.memory, 1);
	assert_int_equal(m.operand.base, RDI);
	assert_int_equal(m.operand.index, DP_NO_REG);
	assert_int_equal(m.operand.segment, 0);
	assert_true(m.operand.disp == 0);
	assert_in_range(m.size, 1, 64);
	try_one(insn, &f, &m, found);
}

/* Each opcode of three maps behind each prefix */
static void completes_if_there_is_memory(void **state)
{
	static const u8 prefixes[][2] = {
		{ 0 },	  { 0x66 }, { 0xf2 },	    { 0xf3 },	   { 0xf0 },
		{ 0x48 }, { 0x2e }, { 0x66, 0x48 }, { 0xf0, 0x48 }
	};
	static const u8 maps[][2] = { { 0 }, { 0x0f }, { 0x0f, 0x38 } };
	static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE };
	struct sigaction action = { .sa_handler = fault };
	struct found found = { 0 };
	u32 p, map, op, reg;

	for (p = 0; p < 4; p++)
		sigaction(signals[p], &action, NULL);
	for (p = 0; p < sizeof(prefixes) / 2; p++)
		for (map = 0; map < 3; map++)
			for (op = 0; op < 256; op++)
				for (reg = 0; reg < 8; reg++) {
					u8 insn[EACH] = { 0 }, *to = insn;

					if (prefixes[p][0])
						*to++ = prefixes[p][0];
					if (prefixes[p][1])
						*to++ = prefixes[p][1];
					if (maps[map][0])
						*to++ = maps[map][0];
					if (maps[map][1])
						*to++ = maps[map][1];
					*to++ = (u8)op;
					*to++ = (u8)(reg << 3 | RDI);
					*to = 1;
					try_code(insn, &found);
				}
	print_message("# %u instructions, %u write\n", found.said,
		      found.writes);
	assert_true(found.reads > 1000 && found.writes > 1000);
	/* All but shifts by a register that is 0 */
	assert_true(found.beyond >= found.said - found.said / 50);
}

/** struct sample - an instruction by its bytes, and what is to be said of it */
struct sample {
	u8 code[EACH];
	struct dp_insn_memory is;
};

#define REF(b, i, s, d, seg)                                                  \
	{                                                                     \
		.disp = d, .base = b, .index = i, .scale = s, .segment = seg, \
		.memory = 1                                                   \
	}

static const struct sample samples[] = {
	/* mov 8(%rsi,%rcx,4), %rax */
	{ { 0x48, 0x8b, 0x44, 0x8e, 0x08 }, { REF(6, 1, 4, 8, 0), 8, false } },
	/* mov %al, -1(%rsp) */
	{ { 0x88, 0x44, 0x24, 0xff },
	  { REF(4, DP_NO_REG, 0, -1, 0), 1, true } },
	/* mov %fs:0x28, %rax */
	{ { 0x64, 0x48, 0x8b, 0x04, 0x25, 0x28 },
	  { REF(DP_NO_REG, DP_NO_REG, 0, 0x28, DP_SEG_FS), 8, false } },
	/* cmpl $1, 0x100(%rip) */
	{ { 0x83, 0x3d, 0, 1, 0, 0, 1 },
	  { REF(DP_NO_REG, DP_NO_REG, 0, 0x100, 0), 4, false } },
	/* addw $1, (%r13,%r12,2) */
	{ { 0x66, 0x43, 0x83, 0x44, 0x65, 0, 1 },
	  { REF(13, 12, 2, 0, 0), 2, true } },
	/* lock xadd %rax, (%rdi) */
	{ { 0xf0, 0x48, 0x0f, 0xc1, 0x07 },
	  { REF(7, DP_NO_REG, 0, 0, 0), 8, true } },
	/* movups %xmm0, (%rdi); movdqu (%rdi), %xmm1; movsd; movq */
	{ { 0x0f, 0x11, 0x07 }, { REF(7, DP_NO_REG, 0, 0, 0), 16, true } },
	{ { 0xf3, 0x0f, 0x6f, 0x0f },
	  { REF(7, DP_NO_REG, 0, 0, 0), 16, false } },
	{ { 0xf2, 0x0f, 0x10, 0x07 },
	  { REF(7, DP_NO_REG, 0, 0, 0), 8, false } },
	{ { 0x66, 0x0f, 0xd6, 0x07 }, { REF(7, DP_NO_REG, 0, 0, 0), 8, true } },
};

/* Aligned, of MMX, divisions, more than one piece, strings, far bits, vectors, 32-bit addresses, and
 * none at all */
static const u8 others[][EACH] = {
	{ 0x0f, 0x28, 0x07 },
	{ 0x66, 0x0f, 0x6f, 0x07 },
	{ 0x0f, 0x6f, 0x07 },
	{ 0x0f, 0x6e, 0x07 },
	{ 0xf7, 0x37 },
	{ 0xff, 0x37 },
	{ 0x8f, 0x07 },
	{ 0xa4 },
	{ 0xf3, 0xab },
	{ 0x0f, 0xa3, 0x07 },
	{ 0x0f, 0xbb, 0x07 },
	{ 0xc5, 0xf8, 0x10, 0x07 },
	{ 0x67, 0x8b, 0x07 },
	{ 0x8b, 0xc7 },
	{ 0x8d, 0x07 },
	{ 0x0f, 0xae, 0x07 },
	{ 0xd9, 0x07 },
	{ 0xff, 0x27 },
	{ 0x0f, 0xc7, 0x0f },
	{ 0xf3, 0x0f, 0x12, 0x07 },
	{ 0x48, 0x0f, 0xc7, 0x0f },
	{ 0x8e, 0x1f },
};

static void is_where_it_is(void **state)
{
	struct dp_insn_memory m;
	u32 i;

	for (i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		assert_true(dp_insn_memory(samples[i].code, EACH, &m));
		assert_memory_equal(&m, &samples[i].is, sizeof(m));
	}
	for (i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (dp_insn_memory(others[i], EACH, &m))
			fail_msg("%02x %02x %02x", others[i][0], others[i][1],
				 others[i][2]);
}

static int begin(void **state)
{
	code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	data = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(data + PAGE, PAGE, PROT_NONE);
	return code == MAP_FAILED || data == MAP_FAILED;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(completes_if_there_is_memory),
		cmocka_unit_test(is_where_it_is),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("operand", tests, begin, NULL);
}
