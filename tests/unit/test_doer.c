// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Test of doer: which instruction wrote, by where its thread went on. */
#include "sym/sym.h"
#include "tracer/watchpoint/watchpoint.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

/* Of each kind: where a thread stands, and the instruction that is before it. It is never run. */
asm(".text\n"
    ".globl doer_code\n"
    ".type doer_code, @function\n"
    "doer_code:\n"
    "	movq %rax, (%rdi)\n"
    "doer_behind_store:\n"
    "	movq (%rdi), %rax\n"
    "doer_behind_load:\n"
    "	lock xaddq %rax, (%rdi)\n"
    "doer_behind_xadd:\n"
    "	pushq $1\n"
    "doer_behind_push:\n"
    "	leaq 8(%rdi), %rsi\n"
    "	call doer_other\n"
    "doer_behind_call:\n"
    "	call *(%rdi)\n"
    "doer_behind_call_through:\n"
    "	movb $1, (%rdi)\n"
    "doer_at_rep:\n"
    "	rep stosb\n"
    "doer_behind_rep:\n"
    "	jmp 1f\n"
    "doer_behind_jump:\n"
    "1:	movups %xmm0, (%rdi)\n"
    "doer_behind_vector:\n"
    "	cld\n"
    "doer_at_lone_rep:\n"
    "	rep movsl\n"
    "	popq %rax\n"
    "doer_behind_pop:\n"
    "	leaq 8(%rdi), %rsi\n"
    "doer_behind_lea:\n"
    "	ret\n"
    ".size doer_code, . - doer_code\n"
    ".globl doer_other\n"
    ".type doer_other, @function\n"
    "doer_other:\n"
    "	incl (%rdi)\n"
    "doer_at_return:\n"
    "	ret\n"
    ".size doer_other, . - doer_other\n");

extern const char doer_code[], doer_behind_store[], doer_behind_load[],
	doer_behind_xadd[], doer_behind_push[], doer_behind_call[],
	doer_behind_call_through[], doer_at_rep[], doer_behind_rep[],
	doer_behind_jump[], doer_behind_vector[], doer_at_lone_rep[],
	doer_behind_pop[], doer_behind_lea[], doer_other[], doer_at_return[];

static void doers(void **state)
{
	const struct {
		const char *pc, *by;
	} list[] = {
		{ doer_behind_store, doer_code },
		{ doer_behind_xadd, doer_behind_load },
		{ doer_behind_push, doer_behind_xadd },
		{ doer_behind_rep, doer_at_rep },
		{ doer_at_return, doer_other },
		{ doer_behind_vector, doer_behind_jump },
		/* in the middle of a repetition, where nothing before writes */
		{ doer_at_lone_rep, doer_at_lone_rep },
		/* and where something does; a load, a call, a jump, no access */
		{ doer_behind_load, NULL },
		{ doer_behind_call, NULL },
		{ doer_behind_call_through, NULL },
		{ doer_behind_jump, NULL },
		{ doer_at_rep, NULL },
		{ doer_behind_pop, NULL },
		{ doer_behind_lea, NULL },
		/* the beginning of a function, to which a call leads */
		{ doer_code, NULL },
		{ doer_other, NULL },
		/* no instruction begins there; no code at all */
		{ doer_behind_store + 1, NULL },
		{ (const char *)16, NULL },
	};
	struct dp_modules *mods;
	size_t i;

	assert_int_equal(dp_modules_open(0, -1, &mods, NULL), 0);
	for (i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		assert_ptr_equal(dp_watch_doer(mods, (u64)list[i].pc),
				 list[i].by);
	dp_modules_close(mods);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(doers),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
