// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * library: what of this process may not be probed, and how its own text is read and written.
 * The library's objects are in the program, and no probe is registered.
 */
#include <dprobes/diag.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include "engine/layout/arena.h"
#include "engine/layout/base.h"
#include "engine/layout/handler.h"
#include "lib/frames.h"
#include "lib/modules.h"
#include "lib/self.h"
#include "lib/text.h"
#include "resolve/symbol.h"

#define AGENT 0x7100000000ull
#define POOL 0x7200000000ull
#define NOTES 256

static struct dp_arena arena;
static struct dp_text text;

/* --- what may not be probed --- */

static int __attribute__((noinline)) may_not(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 3;
}

static int __attribute__((noinline)) may(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 5;
}

static const void *const declared[] = { (void *)may_not };

static int begin(void **state)
{
	struct dp_diag diag;

	memset(&dp_self, 0, sizeof(dp_self));
	memset(&arena, 0, sizeof(arena));
	return dp_symbol_map_open(&dp_self.symbols, &diag);
}

static int end(void **state)
{
	dp_symbol_map_close(dp_self.symbols);
	dp_self.symbols = NULL;
	return 0;
}

static void declared_functions_may_not_be_probed(void **state)
{
	u64 at = (u64)may_not;

	assert_int_equal(may_not(1) + may(1), 10);
	assert_null(dp_blacklisted(at));
	dp_module_note(NULL, NULL, declared, declared + 1);
	assert_string_equal(dp_blacklisted(at),
			    "it is declared with NOKPROBE_SYMBOL()");
	/* To its end, and no farther. */
	assert_non_null(dp_blacklisted(at + 1));
	assert_null(dp_blacklisted(at - 1));
	assert_null(dp_blacklisted((u64)may));
	/* It is said again, and then the module goes. */
	dp_module_note(NULL, NULL, declared, declared + 1);
	dp_module_note(NULL, NULL, declared, NULL);
	assert_null(dp_blacklisted(at));
	dp_module_note(NULL, NULL, declared, NULL);
	/* It declares none. */
	dp_module_note(NULL, NULL, declared, declared);
	assert_null(dp_blacklisted(at));
	dp_module_note(NULL, NULL, declared, NULL);
}

/* One module's notes say nothing of another's. */
static void all_modules_are_looked_at(void **state)
{
	static const char code[8];
	static const void *const others[] = { (void *)may };

	dp_module_note(code, code + 4, NULL, NULL);
	dp_module_note(NULL, NULL, others, others + 1);
	dp_module_note(NULL, NULL, declared, declared + 1);
	assert_non_null(dp_blacklisted((u64)may));
	assert_non_null(dp_blacklisted((u64)may_not));
	dp_module_note(NULL, NULL, others, NULL);
	assert_null(dp_blacklisted((u64)may));
	assert_non_null(dp_blacklisted((u64)may_not));
	dp_module_note(NULL, NULL, declared, NULL);
	dp_module_note(code, NULL, NULL, NULL);
}

/* What is declared need not be a function. */
static void a_declared_address_is_one_byte_at_least(void **state)
{
	static u8 data[64];
	static const void *const places[] = { data + 32 };

	dp_module_note(NULL, NULL, places, places + 1);
	assert_non_null(dp_blacklisted((u64)data + 32));
	assert_null(dp_blacklisted((u64)data + 31));
	assert_null(dp_blacklisted((u64)data + 33));
	dp_module_note(NULL, NULL, places, NULL);
}

/* Modules look it up with a kprobe, whatever is said of it. */
static void what_finds_functions_may_be_probed(void **state)
{
	static const void *const finder[] = { (
		void *)dp_compat_kallsyms_lookup_name };

	dp_module_note(NULL, NULL, finder, finder + 1);
	assert_null(dp_blacklisted((u64)dp_compat_kallsyms_lookup_name));
	assert_non_null(
		dp_blacklisted((u64)dp_compat_kallsyms_lookup_name + 1));
	dp_module_note(NULL, NULL, finder, NULL);
}

/* Its module has been unmapped without a word. */
static void notes_of_nowhere_are_not_read(void **state)
{
	const void *const *nowhere = (void *)0x10000;

	dp_module_note(NULL, NULL, nowhere, nowhere + 1);
	assert_null(dp_blacklisted((u64)may_not));
	dp_module_note(NULL, NULL, nowhere, NULL);
}

static void our_own_code_may_not_be_probed(void **state)
{
	static const char *const engines = "it is the engine's own code",
				 *const generated = "it is generated code";
	struct dp_arena_control *c = &arena.control;

	assert_null(dp_blacklisted(AGENT));
	assert_null(dp_blacklisted(0));
	dp_self.base = AGENT;
	assert_string_equal(dp_blacklisted(AGENT), engines);
	assert_string_equal(dp_blacklisted(AGENT + DP_AGENT_TEXT - 1), engines);
	assert_null(dp_blacklisted(AGENT + DP_AGENT_TEXT));
	assert_null(dp_blacklisted(AGENT - 1));
	dp_self.arena = &arena;
	c->pools[0].start = POOL;
	c->pools[0].size = 64;
	c->pools[1].start = POOL + 128;
	c->pools[1].size = 64;
	c->nr_pools = 1;
	assert_string_equal(dp_blacklisted(POOL), generated);
	assert_string_equal(dp_blacklisted(POOL + 63), generated);
	assert_null(dp_blacklisted(POOL + 64));
	assert_null(dp_blacklisted(POOL + 128));
	c->nr_pools = 2;
	assert_string_equal(dp_blacklisted(POOL + 128), generated);
	assert_null(dp_blacklisted(POOL - 1));
}

struct seen {
	u32 n, most;
	struct dp_forbidden last;
};

static bool look(const struct dp_forbidden *r, void *arg)
{
	struct seen *seen = arg;

	seen->last = *r;
	return ++seen->n == seen->most;
}

static void ranges_are_visited_until_it_is_enough(void **state)
{
	struct seen seen = { 0 };

	dp_self.base = AGENT;
	dp_self.arena = &arena;
	arena.control.nr_pools = 2;
	dp_module_note(NULL, NULL, declared, declared + 1);
	assert_false(dp_blacklist_visit(look, &seen));
	assert_int_equal(seen.n, 4);
	assert_string_equal(seen.last.name, "may_not");
	assert_int_equal(seen.last.start, (u64)may_not);
	assert_in_range(seen.last.end, seen.last.start + 1,
			seen.last.start + 64);
	for (seen.most = 1; seen.most <= 4; seen.most++) {
		seen.n = 0;
		assert_true(dp_blacklist_visit(look, &seen));
		assert_int_equal(seen.n, seen.most);
	}
	dp_module_note(NULL, NULL, declared, NULL);
}

static void handlers_are_known_by_what_modules_say(void **state)
{
	static const char code[64];
	const char *start = code + 16, *stop = code + 32;

	assert_false(dp_is_gpr(start));
	dp_module_note(start, stop, NULL, NULL);
	dp_module_note(stop + 8, stop + 16, NULL, NULL);
	assert_true(dp_is_gpr(start));
	assert_true(dp_is_gpr(stop - 1));
	assert_false(dp_is_gpr(start - 1));
	assert_false(dp_is_gpr(stop));
	assert_true(dp_is_gpr(stop + 8));
	/* The first goes, and the second stays. */
	dp_module_note(start, NULL, NULL, NULL);
	assert_false(dp_is_gpr(start));
	assert_true(dp_is_gpr(stop + 8));
	dp_module_note(stop + 8, NULL, NULL, NULL);
	assert_false(dp_is_gpr(stop + 8));
	/* Nothing is said. */
	dp_module_note(NULL, stop, NULL, declared);
	assert_false(dp_is_gpr(code));
}

static void so_many_modules_and_no_more(void **state)
{
	static const char code[4 * (NOTES + 1)];
	u32 i;

	for (i = 0; i <= NOTES; i++)
		dp_module_note(code + 4 * i, code + 4 * i + 4, NULL, NULL);
	assert_true(dp_is_gpr(code));
	assert_true(dp_is_gpr(code + 4 * NOTES - 1));
	assert_false(dp_is_gpr(code + 4 * NOTES));
	dp_module_note(code, NULL, NULL, NULL);
	dp_module_note(code + 4 * NOTES, code + 4 * NOTES + 4, NULL, NULL);
	assert_true(dp_is_gpr(code + 4 * NOTES));
	for (i = 0; i <= NOTES; i++)
		dp_module_note(code + 4 * i, NULL, NULL, NULL);
	assert_false(dp_is_gpr(code + 4));
}

/* --- what is told later --- */

static u32 lines_told;
static char line_told[256];

static void hear(const char *line)
{
	errno = EIO;
	lines_told++;
	strncpy(line_told, line, sizeof(line_told) - 1);
}

/* Return: how many lines the program gets now. */
static u32 deliver(void)
{
	lines_told = 0;
	errno = ENOENT;
	dp_report_deliver();
	/* Whatever the program does, to its caller it has done nothing. */
	assert_int_equal(errno, ENOENT);
	return lines_told;
}

static void late_returns_are_told_once(void **state)
{
	struct dp_frames *frames = dp_frames();

	dp_self.arena = &arena;
	dp_set_report(hear);
	arena.hit.news = 1;
	dp_report_collect();
	assert_int_equal(deliver(), 0);
	frames->late = 1;
	frames->late_user = 0x1234;
	frames->late_addr = 0x5678;
	/* There is no news. */
	dp_report_collect();
	assert_int_equal(deliver(), 0);
	arena.hit.news = 2;
	dp_report_collect();
	/* Not in the middle of something. */
	dp_report_hold(true);
	assert_int_equal(deliver(), 0);
	dp_report_hold(false);
	assert_int_equal(deliver(), 1);
	assert_string_equal(
		line_told,
		"kretprobe BUG!: Processing kretprobe 0000000000001234 @ 0000000000005678");
	assert_int_equal(deliver(), 0);
	frames->late = 2;
	arena.hit.news = 3;
	dp_report_collect();
	assert_int_equal(deliver(), 0);
	dp_set_report(NULL);
}

/* --- text --- */

/* Return: the descriptor that would be opened next. */
static int next_descriptor(void)
{
	int fd = open("/dev/null", O_RDONLY);

	close(fd);
	return fd;
}

static void text_is_written_that_cannot_be(void **state)
{
	u8 *page = mmap(NULL, 2 * DP_PAGE, PROT_READ | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	u8 bytes[4] = { 1, 2, 3, 4 };
	u64 at = (u64)page;
	int next = next_descriptor();

	assert_ptr_not_equal(page, MAP_FAILED);
	munmap(page + DP_PAGE, DP_PAGE);
	assert_int_equal(dp_text_open(&text), 0);
	assert_true(text.mem > STDERR_FILENO);
	assert_int_equal(text.target.ops->write(&text.target, at + 8, bytes, 4),
			 0);
	assert_memory_equal(page + 8, bytes, 4);
	memset(bytes, 0, sizeof(bytes));
	assert_int_equal(text.target.ops->read(&text.target, at + 9, bytes, 3),
			 0);
	assert_int_equal(bytes[0], 2);
	assert_int_equal(bytes[2], 4);
	assert_int_equal(bytes[3], 0);
	/* All of it, or an error. */
	assert_int_equal(text.target.ops->read(&text.target, at + DP_PAGE,
					       bytes, 4),
			 -EFAULT);
	assert_int_equal(text.target.ops->read(&text.target, at + DP_PAGE - 2,
					       bytes, 4),
			 -EFAULT);
	assert_int_equal(text.target.ops->write(&text.target, at + DP_PAGE - 2,
						bytes, 4),
			 -EFAULT);
	assert_int_equal(text.target.ops->sync(&text.target), 0);
	assert_int_equal(text.target.ops->sync(&text.target), 0);
	dp_text_close(&text);
	assert_int_equal(text.mem, -1);
	assert_int_equal(next_descriptor(), next);
	assert_int_equal(text.target.ops->read(&text.target, at, bytes, 4),
			 -EBADF);
	munmap(page, DP_PAGE);
}

static void descriptors_are_no_standard_ones(void **state)
{
	int in = dup(STDIN_FILENO), fd;

	errno = ENOENT;
	assert_int_equal(dp_fd_raise(-1), -ENOENT);
	fd = open("/dev/null", O_RDONLY);
	assert_int_equal(dp_fd_raise(fd), fd);
	close(STDIN_FILENO);
	assert_int_equal(open("/dev/null", O_RDONLY), STDIN_FILENO);
	fd = dp_fd_raise(STDIN_FILENO);
	assert_true(fd > STDERR_FILENO);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	/* The low one has been given back. */
	assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
	close(fd);
	if (in >= 0)
		dup2(in, STDIN_FILENO);
	close(in);
}

/* Has the mapping at @at this flag (proc(5), VmFlags)? */
static bool has_flag(u64 at, const char *flag)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	bool there = false, has = false;
	unsigned long start, end;
	char line[512];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			there = at >= start && at < end;
		else if (there && !strncmp(line, "VmFlags:", 8))
			has = strstr(line, flag);
	fclose(f);
	return has;
}

static void code_is_mapped_where_nothing_is(void **state)
{
	u8 *room = mmap(NULL, 2 * DP_PAGE, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	u64 at = (u64)room;
	int next = next_descriptor();

	assert_int_equal(dp_code_map(at, DP_PAGE), -EEXIST);
	munmap(room, 2 * DP_PAGE);
	assert_int_equal(dp_code_map(at, DP_PAGE), 0);
	assert_int_equal(*room, 0);
	/* It can be read and executed, and is in no core dump. */
	assert_true(has_flag(at, " rd "));
	assert_false(has_flag(at, " wr "));
	assert_true(has_flag(at, " ex "));
	assert_true(has_flag(at, " dd "));
	assert_int_equal(dp_code_map(at, DP_PAGE), -EEXIST);
	munmap(room, DP_PAGE);
	assert_int_equal(dp_code_map(at + 1, DP_PAGE), -ENOMEM);
	assert_int_equal(next_descriptor(), next);
}

/* Nothing of it is there before it is used. */
static void stacks_are_only_reserved(void **state)
{
	u64 size = 3 * DP_STACK_SIZE, at = dp_stacks_reserve(3);
	u8 byte;

	assert_int_not_equal(at, 0);
	assert_int_equal(at % DP_PAGE, 0);
	assert_int_equal(dp_text_open(&text), 0);
	/* No access, but all of it is ours. */
	assert_int_equal(mprotect((void *)(at + size - DP_PAGE), DP_PAGE,
				  PROT_READ | PROT_WRITE),
			 0);
	assert_int_equal(text.target.ops->read(&text.target, at + size - 1,
					       &byte, 1),
			 0);
	dp_text_close(&text);
	munmap((void *)at, size);
}

/* A limit of the address space is the program's. */
static void a_limited_process_has_fewer_stacks(void **state)
{
	struct rlimit was, limit;

	assert_int_equal(getrlimit(RLIMIT_AS, &was), 0);
	limit = was;
	limit.rlim_cur = 1ul << 40;
	assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
	assert_in_range(dp_stacks_wanted(), 1, DP_STACKS / 4);
	assert_int_equal(setrlimit(RLIMIT_AS, &was), 0);
	if (was.rlim_cur == RLIM_INFINITY)
		assert_int_equal(dp_stacks_wanted(), DP_STACKS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			declared_functions_may_not_be_probed, begin, end),
		cmocka_unit_test_setup_teardown(all_modules_are_looked_at,
						begin, end),
		cmocka_unit_test_setup_teardown(
			a_declared_address_is_one_byte_at_least, begin, end),
		cmocka_unit_test_setup_teardown(
			what_finds_functions_may_be_probed, begin, end),
		cmocka_unit_test_setup_teardown(notes_of_nowhere_are_not_read,
						begin, end),
		cmocka_unit_test_setup_teardown(our_own_code_may_not_be_probed,
						begin, end),
		cmocka_unit_test_setup_teardown(
			ranges_are_visited_until_it_is_enough, begin, end),
		cmocka_unit_test_setup_teardown(
			handlers_are_known_by_what_modules_say, begin, end),
		cmocka_unit_test_setup_teardown(so_many_modules_and_no_more,
						begin, end),
		cmocka_unit_test_setup_teardown(late_returns_are_told_once,
						begin, end),
		cmocka_unit_test_setup_teardown(text_is_written_that_cannot_be,
						begin, end),
		cmocka_unit_test_setup_teardown(
			descriptors_are_no_standard_ones, begin, end),
		cmocka_unit_test_setup_teardown(code_is_mapped_where_nothing_is,
						begin, end),
		cmocka_unit_test_setup_teardown(stacks_are_only_reserved, begin,
						end),
		cmocka_unit_test_setup_teardown(
			a_limited_process_has_fewer_stacks, begin, end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("library", tests, NULL, NULL);
}
