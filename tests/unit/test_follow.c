// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* follow: what handlers touch, by their code: of compilers, and written by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "arch/arch.h"
#include "lib/follow.h"
#include "hex.h"

struct entry {
	const char *name;
	u64 at;
};

struct compiled {
	const char *how;
	const u8 *code;
	u32 size;
	const struct entry *entries;
	u32 nr;
};

#include "follow_code.h"

#define BASE 0x500000ull

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R12 = 12, R15 = 15 };
#define BIT(n) (1u << (n))

/** struct text - code at BASE, and nothing else */
struct text {
	const u8 *code;
	u32 size;
};

static size_t fetch(void *arg, u64 addr, u8 *code, size_t size)
{
	const struct text *t = arg;
	u64 left = addr - BASE < t->size ? t->size - (addr - BASE) : 0;

	if (size > left)
		size = left;
	memcpy(code, t->code + (addr - BASE), size);
	return size;
}

static u32 follow(const u8 *code, u32 size, u64 at)
{
	struct text text = { code, size };

	return dp_follow(&(struct dp_follow_text){ fetch, &text }, BASE + at);
}

static u32 follow_hex(const char *bytes)
{
	u8 code[512];

	return follow(code, (u32)hex(bytes, code), 0);
}

/* What a handler reads and writes of its argument, whoever has compiled it */
static const struct {
	const char *name;
	u32 fields;
} fields[] = {
	{ "f_di", BIT(RDI) },
	{ "f_many", BIT(RDI) | BIT(RSI) | BIT(R8) | BIT(R12) | BIT(RBX) },
	{ "f_sp_ip", DP_TOUCHES_SP | DP_TOUCHES_IP },
	{ "f_writes_ax", BIT(RAX) },
	{ "f_writes_bp", BIT(RBP) },
	{ "f_byte", BIT(RDX) },
	{ "f_half", BIT(RCX) },
	{ "f_branches", BIT(RDI) | BIT(RSI) | BIT(RDX) },
	{ "f_calls", BIT(RDI) | BIT(RSI) },
	{ "f_passes", BIT(RDI) | BIT(RSI) | BIT(RDX) },
	{ "o_several", BIT(RDI) | BIT(R15) },
};

static void check_fields(const char *how, const char *name, u32 touches)
{
	size_t i;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (!strcmp(fields[i].name, name) &&
		    (touches & fields[i].fields) != fields[i].fields)
			fail_msg("%s, %s: %x", how, name, touches);
	/* None of these uses other registers than those that it names and a few. */
	if (!strcmp(name, "f_di") && touches & (BIT(R12) | BIT(R15)))
		fail_msg("%s, %s: %x", how, name, touches);
}

/* Is it as its name says? */
static bool as_named(const struct compiled *c, const char *name, u32 touches)
{
	if (name[0] == 'o' && strstr(c->how, "-O0"))
		return true;
	return (name[0] == 'n') == (touches == ~0u);
}

static void code_of_compilers(void **state)
{
	u32 i, k, touches, followed = 0, refused = 0;

	for (i = 0; i < sizeof(compiled) / sizeof(compiled[0]); i++)
		for (k = 0; k < compiled[i].nr; k++) {
			const struct compiled *c = &compiled[i];
			const struct entry *e = &c->entries[k];

			touches = follow(c->code, c->size, e->at);
			if (!as_named(c, e->name, touches))
				fail_msg("%s, %s: %x", c->how, e->name,
					 touches);
			followed += touches != ~0u;
			refused += touches == ~0u;
			if (touches != ~0u)
				check_fields(c->how, e->name, touches);
		}
	assert_true(followed > 140 && refused > 180);
}

/* One reason each; rax is 0 at the end, and the rest is in order. */
static const struct {
	const char *what, *bytes;
	u32 touches;
} hand_made[] = {
	{ "nothing", "31c0 c3", BIT(RAX) },
	{ "0 by mov", "b800000000 c3", BIT(RAX) },
	{ "0 by sub", "29c0 c3", BIT(RAX) },
	{ "1", "b801000000 c3", ~0u },
	{ "0 in a byte", "b000 c3", ~0u },
	{ "0, then more", "31c0 83c001 c3", ~0u },
	{ "rax as it was", "c3", ~0u },
	{ "ret that pops", "31c0 c20800", ~0u },
	{ "a field by a copy", "4889f0 488b5070 31c0 c3",
	  BIT(RAX) | BIT(RDX) | BIT(RDI) },
	{ "a copy of a copy", "4889f0 4889c1 488b5170 31c0 c3",
	  BIT(RAX) | BIT(RCX) | BIT(RDX) | BIT(RDI) },
	{ "half a copy", "89f0 488b5070 31c0 c3", ~0u },
	{ "two fields at once", "488b466c 31c0 c3",
	  BIT(RAX) | BIT(RSI) | BIT(RDI) },
	{ "the last byte, and one more", "488b86a1000000 31c0 c3", ~0u },
	{ "the field is loaded over its address", "488b7670 31c0 c3",
	  BIT(RAX) | BIT(RSI) | BIT(RDI) },
	{ "and that is used", "488b7670 488b06 31c0 c3",
	  BIT(RAX) | BIT(RSI) | BIT(RDI) },
	{ "by fs", "64488b4670 31c0 c3", ~0u },
	{ "by 32 bits", "67488b4670 31c0 c3", ~0u },
	{ "an index", "488b440670 31c0 c3", ~0u },
	{ "it is the index", "488b0430 31c0 c3", ~0u },
	{ "the address of a field", "488d4670 31c0 c3", BIT(RAX) },
	{ "and the field", "488d4670 488b10 31c0 c3",
	  BIT(RAX) | BIT(RDX) | BIT(RDI) },
	{ "added to", "4883c670 488b16 31c0 c3",
	  BIT(RAX) | BIT(RDX) | BIT(RSI) | BIT(RDI) },
	{ "added to, beyond the end", "4883c670 488b5638 31c0 c3", ~0u },
	{ "added to on one way", "85ff 7404 4883c608 488b16 31c0 c3", ~0u },
	{ "the address of a field is kept",
	  "488d4670 50 48890425001000 31c0 58 c3", ~0u },
	{ "half the address of a field", "8d4670 31c0 c3", ~0u },
	{ "the address of an index", "488d0430 31c0 c3", ~0u },
	{ "compared", "4885f6 31c0 c3", ~0u },
	{ "stored in itself", "48897670 31c0 c3", ~0u },
	{ "exchanged", "4887c6 31c0 c3", ~0u },
	{ "moved if", "480f44c6 31c0 c3", ~0u },
	{ "pushed and popped", "56 58 488b5070 31c0 c3",
	  BIT(RAX) | BIT(RDX) | BIT(RDI) },
	{ "in the red zone", "48897424f8 488b4424f8 488b5070 31c0 c3",
	  BIT(RAX) | BIT(RDX) | BIT(RDI) },
	{ "half of it read there", "48897424f8 8b4424f8 31c0 c3", ~0u },
	{ "read between", "48897424f0 488b4424f4 31c0 c3", ~0u },
	{ "partly written over", "48897424f8 c64424f800 488b4424f8 31c0 c3",
	  BIT(RAX) },
	{ "and used", "48897424f8 c64424f800 488b4424f8 488b5070 31c0 c3",
	  ~0u },
	{ "written over",
	  "48897424f8 48c74424f800000000 488b4424f8 488b00 31c0 c3", ~0u },
	{ "too low", "4889b424f0fdffff 31c0 c3", ~0u },
	{ "the return address", "48893424 31c0 c3", ~0u },
	{ "its return address is read", "488b0424 31c0 c3", ~0u },
	{ "above it", "488b442408 31c0 c3", ~0u },
	{ "in the stack, whose address goes", "56 4889642408 58 31c0 c3", ~0u },
	{ "its address goes", "48892500001000 56 58 31c0 c3", ~0u },
	{ "its address goes, and nothing is there", "48892500001000 31c0 c3",
	  BIT(RAX) },
	{ "by an index", "56 488b04c4 58 31c0 c3", ~0u },
	{ "on one way only",
	  /* test %edi, %edi; jz 1f; mov %rsi, %rax; 1: mov 0x70(%rax), %rdx */
	  "85ff 7403 4889f0 488b5070 31c0 c3", ~0u },
	{ "on both ways",
	  /* … jz 1f; mov %rsi, %rax; jmp 2f; 1: mov %rsi, %rax; 2: … */
	  "85ff 7405 4889f0 eb03 4889f0 488b5070 31c0 c3",
	  BIT(RAX) | BIT(RDX) | BIT(RDI) },
	{ "on one way, and not used", "85ff 7403 4889f0 31c0 c3", BIT(RAX) },
	{ "on one way, and kept", "85ff 7403 4889f0 4889042500100000 31c0 c3",
	  ~0u },
	{ "a part of it is kept", "4889f0 b000 4889042500100000 31c0 c3", ~0u },
	{ "0 on one way only", "85ff 7402 31c0 c3", ~0u },
	{ "another depth on one way", "85ff 7401 50 31c0 c3", ~0u },
	{ "a loop that pushes", "50 ebfd", ~0u },
	{ "a loop for ever", "ebfe", 0 },
	{ "ud2", "0f0b", 0 },
	{ "rsp elsewhere", "4889fc 31c0 c3", ~0u },
	{ "rsp aligned", "4883e4f0 31c0 c3", ~0u },
	{ "pop of rsp", "54 5c 31c0 c3", ~0u },
	{ "a frame", "55 4889e5 4883ec20 488975f8 488b45f8 488b5070 31c0 c9 c3",
	  BIT(RAX) | BIT(RDX) | BIT(RBP) | BIT(RDI) },
	{ "a register of the caller's", "53 488b5e70 31c0 5b c3",
	  BIT(RAX) | BIT(RBX) | BIT(RDI) },
	{ "a call with it",
	  /* call 1f; xor %eax, %eax; ret; 1: mov 0x70(%rsi), %rdx; ret */
	  "e803000000 31c0 c3 488b5670 c3", BIT(RAX) | BIT(RDX) | BIT(RDI) },
	{ "a call that leaves it behind",
	  /* call 1f; mov 0x70(%rax), %rdx; xor; ret; 1: mov %rsi, %rax; ret */
	  "e807000000 488b5070 31c0 c3 4889f0 c3",
	  BIT(RAX) | BIT(RDX) | BIT(RDI) },
	{ "a call that keeps it", "e803000000 31c0 c3 48893500001000 c3", ~0u },
	{ "a call that writes where it returns to",
	  "e803000000 31c0 c3 48893c24 c3", ~0u },
	{ "a call that pops", "e803000000 31c0 c3 58 c3", ~0u },
	{ "two calls of one function", "e80a000000 e805000000 31c0 c3 9090 c3",
	  BIT(RAX) },
	{ "a call of itself", "e8fbffffff 31c0 c3", ~0u },
	{ "to what is not there", "e900100000", ~0u },
	{ "no instruction", "06", ~0u },
	{ "cpuid", "53 0fa2 31c0 5b c3",
	  BIT(RAX) | BIT(RCX) | BIT(RDX) | BIT(RBX) },
	{ "pushf", "9c 58 31c0 c3", ~0u },
	{ "popf", "50 9d 31c0 c3", ~0u },
	{ "std", "fd 31c0 c3", ~0u },
	{ "cld", "fc 31c0 c3", ~0u },
	{ "lods", "ac 31c0 c3", ~0u },
	{ "rep movs", "f348a5 31c0 c3", ~0u },
	{ "syscall", "0f05 31c0 c3", ~0u },
	{ "int3", "cc 31c0 c3", ~0u },
	{ "hlt", "f4", ~0u },
	{ "a bit by its number", "480fbb4670 31c0 c3", ~0u },
	{ "a bit of a constant", "480fba667003 31c0 c3", BIT(RAX) | BIT(RDI) },
	{ "wrfsbase", "f3480faed0 31c0 c3", ~0u },
	{ "xgetbv", "0f01d0 31c0 c3", ~0u },
	{ "a segment", "8ed8 31c0 c3", ~0u },
	{ "xmm", "0f28d8 31c0 c3", ~0u },
	{ "movbe", "480f38f04670 31c0 c3", BIT(RAX) | BIT(RDI) },
	{ "bmi", "c4e2f0f24670 31c0 c3", BIT(RAX) | BIT(RDI) },
	{ "flags are read", "488b8690000000 31c0 c3", ~0u },
	{ "ip is written", "4889be80000000 31c0 c3", ~0u },
	{ "sp is written", "4889be98000000 31c0 c3", ~0u },
	{ "ip and sp are read", "488b8680000000 488b8698000000 31c0 c3",
	  BIT(RAX) | DP_TOUCHES_IP | DP_TOUCHES_SP },
	{ "r15 is written", "48893e 31c0 c3", BIT(RAX) | BIT(R15) },
	{ "endbr64 and nops", "f30f1efa 0f1f840000000000 90 31c0 c3",
	  BIT(RAX) },
	{ "a nop through it", "0f1f4670 31c0 c3", BIT(RAX) },
};

static void code_by_hand(void **state)
{
	u32 touches, bad = 0;
	size_t i;

	for (i = 0; i < sizeof(hand_made) / sizeof(hand_made[0]); i++) {
		touches = follow_hex(hand_made[i].bytes);
		bad += touches != hand_made[i].touches;
		if (touches != hand_made[i].touches)
			print_message("# %s: %x\n", hand_made[i].what, touches);
	}
	assert_int_equal(bad, 0);
}

/* Code is read to its end: nothing is behind it. */
static void ends_in_the_middle(void **state)
{
	static const u8 code[] = { 0x31, 0xc0, 0xc3 };

	assert_int_equal(follow(code, 3, 0), BIT(RAX));
	assert_int_equal(follow(code, 2, 0), ~0u);
	assert_int_equal(follow(code, 1, 0), ~0u);
	assert_int_equal(follow(code, 0, 0), ~0u);
}

/* As many as are followed, and one more */
static void long_handlers(void **state)
{
	u8 code[300];

	memset(code, 0x90, sizeof(code));
	memcpy(code + 254, "\x31\xc0\xc3", 3);
	assert_int_equal(follow(code, sizeof(code), 0), BIT(RAX));
	memset(code, 0x90, sizeof(code));
	memcpy(code + 255, "\x31\xc0\xc3", 3);
	assert_int_equal(follow(code, sizeof(code), 0), ~0u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_of_compilers),
		cmocka_unit_test(code_by_hand),
		cmocka_unit_test(ends_in_the_middle),
		cmocka_unit_test(long_handlers),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
