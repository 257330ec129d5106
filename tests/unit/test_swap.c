// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* An instruction exchanged in bytes: what threads could see after each write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include "engine/text/swap.h"

#define AT 0x1000

static const u8 old[DP_SWAP_SIZE] = { 1, 2, 3, 4, 5 },
		new[DP_SWAP_SIZE] = { 11, 12, 13, 14, 15 };
static u8 text[DP_SWAP_SIZE];
static int writes, syncs, fail_at;
static bool is_synced;

static int read_text(struct dp_target *t, u64 addr, void *to, size_t len)
{
	memcpy(to, text + (addr - AT), len);
	return 0;
}

/* Either instruction whole, or a breakpoint with whatever behind it */
static bool is_sound(void)
{
	return text[0] == DP_BREAKPOINT || !memcmp(text, old, sizeof(old)) ||
	       !memcmp(text, new, sizeof(new));
}

static int write_text(struct dp_target *t, u64 addr, const void *from,
		      size_t len)
{
	/* Threads have seen the write before, and more than one byte is behind a breakpoint. */
	assert_true(is_synced);
	assert_true(len == 1 || text[0] == DP_BREAKPOINT);
	if (++writes == fail_at)
		return -EIO;
	memcpy(text + (addr - AT), from, len);
	is_synced = false;
	assert_true(is_sound());
	return 0;
}

static int sync_all(struct dp_target *t)
{
	syncs++;
	is_synced = true;
	return 0;
}

static const struct dp_target_ops ops = { .read = read_text,
					  .write = write_text,
					  .sync = sync_all };
static struct dp_target target = { &ops };

static int begin(void **unused)
{
	memcpy(text, old, sizeof(text));
	writes = syncs = fail_at = 0;
	is_synced = true;
	return 0;
}

static void is_exchanged(void **unused)
{
	assert_int_equal(dp_text_swap(&target, AT, old, new), 0);
	assert_memory_equal(text, new, sizeof(text));
	assert_true(is_synced);
	assert_int_equal(dp_text_swap(&target, AT, new, old), 0);
	assert_memory_equal(text, old, sizeof(text));
}

static void foreign_bytes_stay(void **unused)
{
	text[4] = 99;
	assert_int_equal(dp_text_swap(&target, AT, old, new), -EBUSY);
	assert_int_equal(writes, 0);
	assert_int_equal(text[4], 99);
}

static void a_failure_is_undone(void **unused)
{
	int i;

	for (i = 1; i <= 3; i++) {
		begin(NULL);
		fail_at = i;
		assert_int_equal(dp_text_swap(&target, AT, old, new), -EIO);
		assert_memory_equal(text, old, sizeof(text));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(is_exchanged, begin),
		cmocka_unit_test_setup(foreign_bytes_stay, begin),
		cmocka_unit_test_setup(a_failure_is_undone, begin),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
