// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* handler: which registers are saved around a handler, by its code. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <sys/mman.h>
#include "arch/arch.h"
#include "own_engine.h"

#define PAGE 4096
#define ROOM 64 /* for each handler */

static u8 *code;

/* A page of handlers, and behind it nothing. */
static int begin(void **state)
{
	code = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED || munmap(code + PAGE, PAGE))
		return -1;
	return own_engine_begin();
}

static int end(void **state)
{
	own_engine_end();
	return munmap(code, PAGE);
}

/* All are saved where it cannot be known. */
static void registers_are_saved_that_are_used(void **state)
{
	static const struct {
		const char *bytes;
		u8 len, needs;
	} handlers[] = {
		{ "\xc3", 1, DP_STATE_GENERAL },
		/* movaps %xmm0,%xmm3, and %xmm4 and %xmm8 in its place */
		{ "\x0f\x28\xd8\xc3", 4, DP_STATE_SSE },
		{ "\x0f\x28\xe0\xc3", 4, DP_STATE_SSE | DP_STATE_XMM8 },
		{ "\x44\x0f\x28\xc0\xc3", 5, DP_STATE_SSE | DP_STATE_XMM16 },
		/* addsd %xmm0,%xmm0 */
		{ "\xf2\x0f\x58\xc0\xc3", 5, DP_STATE_SSE_MATH },
		/* vzeroupper; ud2; a call of what is not known */
		{ "\xc5\xf8\x77\xc3", 4, DP_STATE_ALL },
		{ "\x0f\x0b", 2, DP_STATE_GENERAL },
		{ "\xff\xd0\xc3", 3, DP_STATE_ALL },
		/* no instruction */
		{ "\x06\xc3", 2, DP_STATE_ALL },
		{ "\x74\x01\xc3\x06", 4, DP_STATE_ALL },
	};
	u32 i;

	for (i = 0; i < sizeof(handlers) / sizeof(handlers[0]); i++) {
		memcpy(code + i * ROOM, handlers[i].bytes, handlers[i].len);
		assert_int_equal(dp_handler_needs(code + i * ROOM),
				 handlers[i].needs);
	}
	/* Nothing to read behind what is a prefix, or nothing at all. */
	code[PAGE - 1] = 0x66;
	assert_int_equal(dp_handler_needs(code + PAGE - 1), DP_STATE_ALL);
	assert_int_equal(dp_handler_needs(code + PAGE), DP_STATE_ALL);
	assert_int_equal(dp_handler_needs(NULL), DP_STATE_GENERAL);
}

/* What is not followed spares none. */
static void registers_are_spared_that_are_not_touched(void **state)
{
	/* Not where another test has had one */
	u8 *here = code + 40 * ROOM;

	memcpy(here, "\x31\xc0\xc3", 3);
	memcpy(here + ROOM, "\x48\x89\xf8\xc3", 4);
	assert_int_equal(dp_handler_spares(here), ~(1u << DP_GPR_RESULT));
	assert_int_equal(dp_handler_spares(here + ROOM), 0);
	assert_int_equal(dp_handler_spares(code + PAGE), 0);
	assert_int_equal(dp_handler_spares(NULL), 0);
	/* Known from then on */
	here[1] = 0xff;
	assert_int_equal(dp_handler_spares(here), ~(1u << DP_GPR_RESULT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			registers_are_saved_that_are_used, begin, end),
		cmocka_unit_test_setup_teardown(
			registers_are_spared_that_are_not_touched, begin, end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
