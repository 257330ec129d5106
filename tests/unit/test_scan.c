// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_scan: every "syscall" of a text is found, wherever the window ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "proc/ptrace/process.h"
#include "proc/ptrace/remote.h"
#include "engine/layout/base.h"

#define WINDOW 65536
#define MOST (3 * WINDOW)
#define ROUNDS 200

static u8 *text;
static struct dp_process proc;

static int open_memory(void **state)
{
	text = mmap(NULL, MOST + DP_PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	proc.mem = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	return text == MAP_FAILED || proc.mem < 0 ||
	       munmap(text + MOST, DP_PAGE);
}

static int close_memory(void **state)
{
	close(proc.mem);
	return munmap(text, MOST);
}

static bool is_syscall(size_t at, size_t size)
{
	return at + 1 < size && text[at] == 0x0f && text[at + 1] == 0x05;
}

/* What stands around it, and nothing from beyond the text. */
static void check_around(const struct dp_syscall *c, size_t at, size_t size)
{
	size_t i;

	assert_true(c->addr == (u64)text + at);
	for (i = 0; i < sizeof(c->around); i++) {
		size_t offset = at + i - DP_AROUND;

		assert_int_equal(c->around[i],
				 offset < size ? text[offset] : 0);
	}
}

static void check_of(size_t size, const struct dp_text_file *file)
{
	const struct dp_span span = { (u64)text, size };
	struct dp_syscalls calls;
	size_t at, n = 0;

	assert_int_equal(dp_scan(&proc, &span, file, &calls), 0);
	for (at = 0; at < size; at++) {
		if (!is_syscall(at, size))
			continue;
		assert_true(n < calls.n);
		check_around(&calls.v[n++], at, size);
	}
	assert_int_equal(calls.n, n);
	dp_scan_free(&calls);
}

static const struct dp_text_file none = { -1, 0 };

static void check(size_t size)
{
	check_of(size, &none);
}

static void fill(size_t size)
{
	static const u8 often[] = { 0x0f, 0x05, 0xb8, 0x00 };
	size_t i;

	for (i = 0; i < size; i++)
		text[i] = rand() % 4 ? (u8)rand() : often[rand() % 4];
}

static void random_texts(void **state)
{
	int i;

	srand(1);
	for (i = 0; i < ROUNDS; i++) {
		size_t size = (size_t)rand() % MOST;

		fill(size);
		check(size);
	}
}

/* One at each offset around the place where the first window ends. */
static void the_ends_of_windows(void **state)
{
	size_t at, size;

	memset(text, 0x90, MOST);
	for (at = WINDOW - 2 * DP_AROUND - 2; at < WINDOW + 2; at++) {
		text[at] = 0x0f;
		text[at + 1] = 0x05;
		for (size = WINDOW - 1; size < WINDOW + 3; size++)
			check(size);
		check(2 * WINDOW);
		text[at] = text[at + 1] = 0x90;
	}
}

static void small_texts(void **state)
{
	size_t size;

	memset(text, 0x90, MOST);
	text[0] = text[2] = text[4] = 0x0f;
	text[1] = text[3] = text[5] = 0x05;
	for (size = 1; size < 2 * DP_AROUND; size++)
		check(size);
}

/* As far as that goes; the rest is in memory. */
static void of_a_file(void **state)
{
	const struct dp_text_file file = { memfd_create("text", 0), DP_PAGE };
	int mem = proc.mem;

	fill(MOST);
	assert_int_equal(pwrite(file.fd, text, MOST, DP_PAGE), MOST);
	proc.mem = -1;
	check_of(MOST, &file);
	proc.mem = mem;
	assert_int_equal(ftruncate(file.fd, DP_PAGE + MOST - WINDOW), 0);
	check_of(MOST, &file);
	close(file.fd);
}

static void what_cannot_be_read(void **state)
{
	const struct dp_span span = { (u64)text, MOST + DP_PAGE };
	struct dp_syscalls calls;

	assert_true(dp_scan(&proc, &span, &none, &calls) < 0);
	assert_null(calls.v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_texts),
		cmocka_unit_test(the_ends_of_windows),
		cmocka_unit_test(small_texts),
		cmocka_unit_test(of_a_file),
		cmocka_unit_test(what_cannot_be_read),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, open_memory, close_memory);
}
