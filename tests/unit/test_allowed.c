// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_allowed: each refusal, its number and its words, for each who asks.
 *
 * The process that is looked at is this one; assembly knows where its instructions are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include "engine/site/engine.h"
#include "engine/text/target.h"
#include "proc/proc.h"
#include "resolve/allowed.h"
#include "resolve/code.h"
#include "resolve/exits.h"
#include "fixtures/allowed_fixtures.h"
#include "resolve/reach.h"
#include "sym/exits.h"
#include "sym/sym.h"
#include "sym/names/mod.h"

#define SPEC DP_ASKER_SPEC
#define EXIT DP_ASKER_EXIT
#define UPROBE DP_ASKER_UPROBE
#define KPROBE DP_ASKER_KPROBE
#define PAGE 4096

static int mem;
static struct dp_modules *mods;
static u64 ours; /* what the process calls its own, for kprobes */

static int read_mem(struct dp_target *target, u64 addr, void *to, size_t len)
{
	return pread(mem, to, len, (off_t)addr) == (ssize_t)len ? 0 : -EFAULT;
}

static const struct dp_target_ops ops = { .read = read_mem };
static struct dp_target target = { &ops };

static const char *own(u64 addr)
{
	return addr == ours ? "it is the test's" : NULL;
}

static int open_self(void **state)
{
	mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	assert_true(mem >= 0);
	return dp_modules_open(getpid(), mem, &mods, NULL);
}

static int close_self(void **state)
{
	dp_modules_close(mods);
	close(mem);
	return 0;
}

/* As each of them asks. @why: DP_WHY_MAX bytes. */
static int ask(struct dp_place *p, enum dp_asker asker, char *why)
{
	struct dp_code code = { .pid = getpid(), .mods = mods };
	bool live = asker & (UPROBE | KPROBE);
	struct dp_reach_reader g = { .mods = mods,
				     .source = live ? NULL : &code,
				     .target = &target,
				     .own = asker == KPROBE ? own : NULL };
	struct dp_maps maps = { 0 };
	int err;

	if (live) {
		assert_int_equal(dp_maps_read(getpid(), &maps), 0);
		p->maps = &maps;
	}
	*why = '\0';
	err = dp_allowed_check(&g, p, asker, why);
	dp_maps_free(&maps);
	dp_reach_reader_close(&g);
	return err;
}

static int at(u64 addr, enum dp_asker asker, char *why)
{
	struct dp_place p = { .addr = addr };

	return ask(&p, asker, why);
}

static void refused(u64 addr, enum dp_asker asker, int err, const char *words)
{
	char why[DP_WHY_MAX];

	assert_int_equal(at(addr, asker, why), err);
	assert_string_equal(why, words);
}

static void allowed(u64 addr, enum dp_asker asker)
{
	char why[DP_WHY_MAX];

	assert_int_equal(at(addr, asker, why), 0);
}

/* A kprobe's words are a sentence that names the address. */
static void refused_kprobe(u64 addr, int err, const char *before,
			   const char *behind)
{
	char words[DP_WHY_MAX];

	snprintf(words, sizeof(words), "%s0x%llx%s", before,
		 (unsigned long long)addr, behind);
	refused(addr, KPROBE, err, words);
}

static void plain_code_is_allowed(void **state)
{
	static const u8 code[] = { 0xb8, 0x90, 0x90, 0x90, 0x90, 0x90, 0xc3 };
	static const enum dp_asker all[] = { SPEC, EXIT, UPROBE, KPROBE };
	char why[DP_WHY_MAX];
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct dp_place p = { .addr = (u64)allowed_plain };

		assert_int_equal(ask(&p, all[i], why), 0);
		assert_int_equal(p.size, DP_PLACE_CODE);
		assert_memory_equal(p.code, code, sizeof(code));
		allowed((u64)allowed_plain + 5, all[i]);
		allowed((u64)allowed_plain + 6, all[i]);
	}
}

static void between_instructions(void **state)
{
	u64 addr = (u64)allowed_plain + 2;
	struct dp_place p = { .addr = addr, .plus = "+", .given = 2 };
	char why[DP_WHY_MAX];

	refused(addr, SPEC, -EILSEQ, "no instruction begins there");
	refused(addr, UPROBE, -EILSEQ, "no instruction begins there");
	refused_kprobe(addr, -EILSEQ, "no instruction begins at ", "");
	assert_int_equal(ask(&p, SPEC, why), -EILSEQ);
	assert_string_equal(why,
			    "not at an instruction; nearest are +0x0 and +0x5");
	p.plus = "";
	p.given = 0x1002;
	assert_int_equal(ask(&p, SPEC, why), -EILSEQ);
	assert_string_equal(
		why, "not at an instruction; nearest are 0x1000 and 0x1005");
}

/* Only a spec is refused for what is not known. */
static void unknown_beginnings(void **state)
{
	u64 bare = (u64)allowed_bare, torn = (u64)allowed_torn + 1;
	struct dp_place named = { .addr = bare + 1, .start = bare };
	char why[DP_WHY_MAX];

	refused(bare + 1, SPEC, -EILSEQ,
		"nothing says where its function starts, so where instructions start is unknown");
	assert_int_equal(ask(&named, SPEC, why), 0);
	refused(torn, SPEC, -EILSEQ,
		"bytes before it in its function are no instructions, so where instructions start is unknown");
	allowed(bare + 1, UPROBE);
	allowed(bare + 1, KPROBE);
	allowed(torn, UPROBE);
	allowed(torn, KPROBE);
}

static void instructions_that_cannot_move(void **state)
{
	char why[DP_WHY_MAX];

	assert_int_equal(at((u64)allowed_hlt + 1, SPEC, why), -EINVAL);
	assert_non_null(strstr(why, "hlt"));
	assert_int_equal(at((u64)allowed_hlt + 1, EXIT, why), -EINVAL);
	refused((u64)allowed_torn, SPEC, -EILSEQ,
		"not an instruction of this machine");
	/* The engine says so. */
	allowed((u64)allowed_hlt + 1, UPROBE);
	allowed((u64)allowed_hlt + 1, KPROBE);
}

static void poke(void (*where)(void), u8 byte)
{
	assert_int_equal(pwrite(mem, &byte, 1, (off_t)(u64)where), 1);
}

/* Of somebody else: the file has the instruction. */
static void breakpoints(void **state)
{
	u8 was = *(volatile u8 *)allowed_plain;
	u64 addr = (u64)allowed_plain;

	poke(allowed_plain, 0xcc);
	refused(addr, SPEC, -EBUSY,
		"a breakpoint is already there, a debugger's or a kernel uprobe's: take that away first");
	allowed(addr + 5, SPEC);
	allowed(addr + 5, UPROBE);
	allowed(addr + 5, KPROBE);
	refused(addr + 2, SPEC, -EILSEQ, "no instruction begins there");
	refused(addr + 2, UPROBE, -EILSEQ, "no instruction begins there");
	poke(allowed_plain, was);
	allowed(addr, SPEC);
}

static void sequences_and_restorers(void **state)
{
	static const char rseq[] =
		"it lies in a restartable sequence (rseq), which a probe would always abort";
	static const char bytes[] =
		"signal return code is recognised by its bytes";
	static const enum dp_asker they[] = { SPEC, EXIT, UPROBE };
	u64 in = (u64)allowed_sequence, back = (u64)allowed_restorer;
	size_t i;

	for (i = 0; i < sizeof(they) / sizeof(they[0]); i++) {
		allowed(in, they[i]);
		refused(in + 1, they[i], -EINVAL, rseq);
		refused(in + 2, they[i], -EINVAL, rseq);
		allowed(in + 3, they[i]);
		refused(back, they[i], -EINVAL, bytes);
		refused(back + 7, they[i], -EINVAL, bytes);
	}
	refused((u64)allowed_torn_restorer + 1, UPROBE, -EINVAL, bytes);
	allowed(in, KPROBE);
	refused_kprobe(
		in + 1, -EINVAL, "",
		" lies in a restartable sequence (rseq), which a probe would always abort");
	allowed(in + 3, KPROBE);
	for (i = 0; i < 8; i += 7)
		refused_kprobe(
			back + i, -EINVAL, "",
			" is signal return code, which is recognised by its bytes");
}

/* Want of descriptors passes. Meanwhile no probe is put into a sequence, and no jump over
 * its beginning. */
static void sequences_that_cannot_be_read(void **state)
{
	struct dp_place p = { .addr = (u64)allowed_sequence + 1 };
	struct dp_reach_reader g = { .target = &target };
	struct rlimit old, none;
	char why[DP_WHY_MAX];
	struct dp_engine *e;
	u64 start, end;
	u32 probe;
	int i;

	assert_int_equal(dp_modules_open(getpid(), mem, &g.mods, NULL), 0);
	assert_int_equal(dp_function_bounds(g.mods, p.addr, &start, &end), 0);
	assert_int_equal(dp_engine_create(&e), 0);
	assert_int_equal(dp_engine_add(e, start, (const u8 *)start, end - start,
				       &probe, NULL),
			 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	none = old;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	for (i = 0; i < 2; i++)
		assert_int_equal(dp_allowed_check(&g, &p, UPROBE, why),
				 -EMFILE);
	dp_reach_allow(&g, e, probe, start);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_non_null(strstr(why, "sequences"));
	assert_string_equal(
		e->sites[0].why,
		"its module's restartable sequences cannot be read");
	dp_engine_destroy(e);
	assert_int_equal(dp_allowed_check(&g, &p, UPROBE, why), -EINVAL);
	dp_modules_close(g.mods);
	dp_reach_reader_close(&g);
}

static u64 map(int fd, int prot)
{
	void *at = mmap(NULL, PAGE, prot,
			fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_PRIVATE, fd,
			0);

	assert_ptr_not_equal(at, MAP_FAILED);
	return (u64)at;
}

static void what_is_mapped(void **state)
{
	u64 data = map(-1, PROT_READ | PROT_WRITE), gone = map(-1, PROT_READ);
	int fd = memfd_create("dprobes", 0), empty = memfd_create("other", 0);
	u64 code, unread;

	assert_int_equal(ftruncate(fd, PAGE), 0);
	code = map(fd, PROT_READ | PROT_EXEC);
	unread = map(empty, PROT_READ | PROT_EXEC);
	munmap((void *)gone, PAGE);
	refused(gone, SPEC, -EINVAL, "it is not in the text of its module");
	refused(gone, UPROBE, -EFAULT, "nothing is mapped there");
	refused_kprobe(gone, -EFAULT, "nothing is mapped at ", "");
	refused(data, UPROBE, -EINVAL, "what is there is no code");
	refused_kprobe(data, -EINVAL, "what is at ", " is no code");
	refused(code, UPROBE, -EINVAL, "it is generated code");
	refused(unread, UPROBE, -EFAULT, "it cannot be read");
	refused_kprobe(unread, -EFAULT, "nothing is mapped at ", "");
	munmap((void *)data, PAGE);
	munmap((void *)code, PAGE);
	munmap((void *)unread, PAGE);
	close(fd);
	close(empty);
}

static void own_code(void **state)
{
	ours = (u64)allowed_plain;
	refused_kprobe(ours, -EINVAL, "",
		       " may not be probed: it is the test's");
	allowed(ours, UPROBE);
	ours = 0;
	allowed((u64)allowed_plain, KPROBE);
}

/* Its header has another struct dp_points. */
struct dp_process *dp_process_new(void);

/* The words are those of what is short. */
static void functions_that_cannot_be_followed_now(void **state)
{
	struct dp_exit_reader reader = { 0 };
	struct dp_exit_list list;
	struct dp_points points = { 0 };
	struct dp_point point = { .addr = (u64)allowed_plain };
	const struct dp_module *m = dp_module_at(mods, point.addr);
	struct dp_process *proc = dp_process_new();
	struct rlimit old, none;
	struct dp_diag diag;

	assert_non_null(proc);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	none = old;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(dp_exits_track(&reader, mods, point.addr, &list,
					&diag),
			 -EMFILE);
	assert_int_equal(dp_exit_reader_find(&reader, mods, m, &point),
			 -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_non_null(strstr(diag.text, strerror(EMFILE)));
	assert_non_null(strstr(point.reason, strerror(EMFILE)));
	assert_int_equal(dp_exit_reader_find(&reader, mods, m, &point), 0);
	assert_int_equal(point.nr_exits, 1);
	free(point.exits);
	free(point.early_starts);
	free(point.branches);
	dp_exit_reader_close(&reader);
	dp_tail_targets_free(&points);
	dp_process_close(proc);
}

static void what_could_not_be_armed(void **state)
{
	assert_string_equal(dp_allowed_unarmed(-EBUSY),
			    "somebody else has changed the code there");
	assert_string_equal(dp_allowed_unarmed(-EFAULT),
			    "the code there has gone");
	assert_string_equal(dp_allowed_unarmed(-ENOMEM),
			    "there is no memory near it");
	assert_string_equal(dp_allowed_unarmed(-EIO),
			    "its code cannot be written to");
}

/* What the library asks of a function that it is to follow. */
static void tracked_functions(void **state)
{
	struct dp_exit_reader reader = { 0 };
	u64 addr = (u64)allowed_plain, data = map(-1, PROT_READ);
	struct dp_exit_list list;
	struct dp_diag diag;
	char words[DP_WHY_MAX];

	assert_int_equal(dp_exits_begin(mods, addr, &diag), 0);
	assert_int_equal(dp_exits_begin(mods, (u64)allowed_bare + 1, &diag), 0);
	assert_int_equal(dp_exits_begin(mods, addr + 5, &diag), -EINVAL);
	snprintf(words, sizeof(words),
		 "0x%llx is not the first instruction of a function",
		 (unsigned long long)addr + 5);
	assert_string_equal(diag.text, words);
	assert_int_equal(dp_exits_track(&reader, mods, addr, &list, &diag), 0);
	assert_int_equal(list.n, 1);
	assert_int_equal(list.v[0].addr, addr + 6);
	dp_exits_free(&list);
	addr = (u64)allowed_equal;
	assert_int_equal(dp_exits_track(&reader, mods, addr, &list, &diag), 0);
	assert_int_equal(list.n, 2);
	assert_true(list.v[0].conditional);
	assert_int_equal(dp_exit_way(&list.v[0]), DP_WAY_TAIL | DP_WAY_TAKEN);
	assert_int_equal(dp_exit_way(&list.v[1]), 0);
	dp_exits_free(&list);
	addr = (u64)allowed_counts;
	assert_int_equal(dp_exits_track(&reader, mods, addr, &list, &diag), 0);
	assert_int_equal(dp_exit_way(&list.v[0]), DP_WAY_TAIL | DP_WAY_TAKEN);
	dp_exits_free(&list);
	assert_int_equal(dp_exits_track(&reader, mods, data, &list, &diag),
			 -EOPNOTSUPP);
	snprintf(
		words, sizeof(words),
		"where the function at 0x%llx is left is not known: it belongs to no file",
		(unsigned long long)data);
	assert_string_equal(diag.text, words);
	dp_exit_reader_close(&reader);
	munmap((void *)data, PAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_code_is_allowed),
		cmocka_unit_test(between_instructions),
		cmocka_unit_test(unknown_beginnings),
		cmocka_unit_test(instructions_that_cannot_move),
		cmocka_unit_test(breakpoints),
		cmocka_unit_test(sequences_and_restorers),
		cmocka_unit_test(sequences_that_cannot_be_read),
		cmocka_unit_test(what_is_mapped),
		cmocka_unit_test(own_code),
		cmocka_unit_test(functions_that_cannot_be_followed_now),
		cmocka_unit_test(what_could_not_be_armed),
		cmocka_unit_test(tracked_functions),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, open_self, close_self);
}
