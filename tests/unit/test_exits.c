// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_exits: by which instructions functions are left.
 *
 * Oracles: assembly that knows its labels; objdump, for the rets of whole files;
 * and programs that run one instruction at a time: whenever the stack pointer
 * passes a return address, the function that it belongs to was left by one of the
 * exits that are listed for it.
 *
 * test_exits --step CMD ARGS checks a run of any program, the first $STEPS
 * instructions of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include "engine/insn/insn.h"
#include "sym/exits.h"
#include "sym/codemap.h"
#include "sym/elf/elf.h"
#include "sym/list.h"
#include "sym/flow/map.h"
#include "sym/flow/slot.h"
#include "sym/names/mod.h"
#include "sym/sym.h"
#include "sym/unwind/fdes.h"
#include "sym/unwinds.h"
#include "exits_file.h"
#include "fixtures/exits_fixtures.h"
#include "fixtures/exits_stepper.h"

static struct dp_modules *mods;
static struct dp_code_map *map;
static struct dp_exits *own;
static int mem;

static int open_self(void **state)
{
	const struct dp_module *m;

	mem = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	assert_int_equal(dp_modules_open(getpid(), mem, &mods, NULL), 0);
	m = dp_module_at(mods, (u64)exits_cases[0].entry);
	assert_non_null(m);
	assert_int_equal(dp_code_map_open(mods, m, &map, NULL), 0);
	assert_int_equal(dp_exits_open(mods, m, map, &own, NULL), 0);
	return 0;
}

static int close_self(void **state)
{
	dp_exits_close(own);
	dp_code_map_close(map);
	dp_modules_close(mods);
	close(mem);
	return 0;
}

static char letter_of(const struct dp_exit *e)
{
	return e->kind == DP_EXIT_RET ? 'r' : e->conditional ? 'c' : 't';
}

/* Return: 1 if it is not as it should be, and says so. */
static int check_case(const struct exits_case *c)
{
	struct dp_exit_list list;
	char is[512] = "", should[512] = "";
	const char *why;
	size_t i, n = 0;
	int err = dp_exits_find(own, (u64)c->entry, &list, &why);

	for (i = 0; i < list.n; i++)
		n += snprintf(is + n, sizeof(is) - n, "%c+%d%s ",
			      letter_of(&list.v[i]),
			      (int)(list.v[i].addr - (u64)c->entry),
			      list.v[i].shared ? "s" : "");
	for (i = n = 0; c->kinds[i]; i++)
		n += snprintf(should + n, sizeof(should) - n, "%c+%d%s ",
			      c->kinds[i], c->at[i], c->shared ? "s" : "");
	dp_exits_free(&list);
	if (err == (*c->why ? -EOPNOTSUPP : 0) && !strcmp(is, should) &&
	    (!err || strstr(why, c->why)))
		return 0;
	print_message("# %s: %s, should be %s; %d: %s\n", c->name, is, should,
		      err, err ? why : "");
	return 1;
}

static void assembly_has_its_exits(void **state)
{
	unsigned int i, wrong = 0;

	for (i = 0; i < nr_exits_cases; i++)
		wrong += check_case(&exits_cases[i]);
	assert_int_equal(wrong, 0);
}

static void lengths_are_those_of_the_instructions(void **state)
{
	struct dp_exit_list list;
	const char *why;

	assert_int_equal(
		dp_exits_find(own, (u64)exits_cases[0].entry, &list, &why), 0);
	assert_int_equal(list.n, 4);
	assert_int_equal(list.v[0].len, 1);
	assert_int_equal(list.v[1].len, 2);
	assert_int_equal(list.v[2].len, 3);
	assert_int_equal(list.v[3].len, 2);
	dp_exits_free(&list);
}

static void there_has_to_be_a_function(void **state)
{
	struct dp_exit_list list;
	const char *why = NULL;

	assert_int_equal(dp_exits_find(own, 16, &list, &why), -ENOENT);
	assert_non_null(why);
	assert_int_equal(list.n, 0);
	assert_int_equal(dp_entry_reads_return_address(mods, 16), -ENOENT);
}

/* Where in the function; -1: nowhere. */
static int reads_at(const struct reads_case *c)
{
	u64 entry = (u64)c->entry, at;
	const struct dp_module *m = dp_module_at(mods, entry);
	struct dp_elf elf;
	int reads;

	assert_int_equal(dp_file_open_elf(mods, dp_mod_of(m), &elf), 0);
	entry -= m->bias;
	reads = dp_fdes_read_return_address(&dp_mod_of(m)->read.fdes, &elf,
					    entry, &at);
	dp_elf_close(&elf);
	return reads == 1 ? (int)(at - entry) : -1;
}

static void the_return_address_is_seen_to_be_read(void **state)
{
	const struct reads_case *c;
	unsigned int i, wrong = 0;
	int reads, is;

	for (i = 0; i < nr_reads_cases; i++) {
		c = &reads_cases[i];
		reads = dp_entry_reads_return_address(mods, (u64)c->entry);
		is = reads_at(c);
		if (is == c->at &&
		    reads == (strstr(c->name, "told") ? -ENOENT : is >= 0))
			continue;
		wrong++;
		print_message("# %s: %d at %d, should be %d\n", c->name, reads,
			      is, c->at);
	}
	assert_int_equal(wrong, 0);
}

/* What cannot be decoded may be what reads it. */
static void code_that_is_not_understood_may_read(void **state)
{
	unsigned int i, n = 0;

	for (i = 0; i < nr_exits_cases; i++) {
		const struct exits_case *c = &exits_cases[i];

		if (!strstr(c->why, "decoded"))
			continue;
		n++;
		assert_int_equal(dp_entry_reads_return_address(mods,
							       (u64)c->entry),
				 -EOPNOTSUPP);
	}
	assert_int_equal(n, 1);
}

/* A file, and the exits of all of its functions, ascending. */
struct survey {
	struct dp_exits_file file;
	u64 *known;
	size_t n_known, room_known;
	size_t functions, refused;
};

static void ask_all(struct survey *s)
{
	struct dp_exits_file *f = &s->file;
	struct dp_exit_list list;
	const struct dp_fragment *p;
	const char *why;
	size_t i, j;

	for (i = 0; i < f->map->n_fragment; i++) {
		p = &f->map->fragment[i];
		/* What nothing refers to is a function, too. */
		if (!dp_starts_home(f->exits, p->start) ||
		    dp_is_stub(f->exits, p->start))
			continue;
		s->functions++;
		if (dp_exits_find(f->exits, p->start, &list, &why))
			s->refused++;
		for (j = 0; j < list.n; j++) {
			assert_int_equal(dp_list_add(&s->known, &s->n_known,
						     &s->room_known,
						     &list.v[j].addr,
						     sizeof(u64)),
					 0);
		}
		dp_exits_free(&list);
	}
	if (s->n_known)
		qsort(s->known, s->n_known, sizeof(u64), dp_list_order);
}

/* "  401136:\tret", with any prefixes. Return: the address, or 0. */
static u64 ret_of(const char *line)
{
	const char *tab = strchr(line, '\t'), *ret;
	char *rest;
	u64 addr = strtoull(line, &rest, 16);

	if (!tab || *rest != ':')
		return 0;
	ret = strstr(tab, "ret");
	return ret && (ret[-1] == ' ' || ret[-1] == '\t') &&
			       strchr("q \n", ret[3]) ?
		       addr :
		       0;
}

/* Every ret in a function that calls may get to belongs to some function. */
static void check_rets(const char *path, unsigned int per_mille)
{
	struct survey s = { 0 };
	char command[512], line[1024];
	size_t rets = 0, others = 0;
	FILE *p;
	u64 at;

	if (exits_file_open(&s.file, path))
		skip();
	ask_all(&s);
	snprintf(command, sizeof(command),
		 "objdump -d --no-show-raw-insn %s 2>/dev/null", path);
	p = popen(command, "r");
	assert_non_null(p);
	while (fgets(line, sizeof(line), p)) {
		at = ret_of(line);
		if (!at || !dp_fdes_find(&s.file.fdes, at))
			continue;
		rets++;
		if (!bsearch(&at, s.known, s.n_known, sizeof(at),
			     dp_list_order) &&
		    !others++)
			print_message("# of none: 0x%llx\n",
				      (unsigned long long)at);
	}
	pclose(p);
	print_message("# %zu functions, %zu refused; %zu rets, %zu of none\n",
		      s.functions, s.refused, rets, others);
	if (rets) {
		assert_true(s.functions > 100);
		assert_true(s.refused * 1000 <= s.functions * per_mille);
		assert_true(others * 1000 <= rets * per_mille);
	}
	free(s.known);
	dp_exits_file_release(&s.file);
	if (!rets)
		skip();
}

static void rets_of_libc(void **state)
{
	check_rets("/lib/x86_64-linux-gnu/libc.so.6", 2);
}

static void rets_of_libstdcxx(void **state)
{
	check_rets("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", 2);
}

static void rets_of_python(void **state)
{
	check_rets("/usr/bin/python3", 2);
}

static void rets_of_git(void **state)
{
	check_rets("/usr/bin/git", 2);
}

static void rets_of_sqlite(void **state)
{
	check_rets("/usr/lib/x86_64-linux-gnu/libsqlite3.so.0", 2);
}

static u8 *read_file(const char *path, size_t *size)
{
	FILE *p = fopen(path, "r");
	u8 *bytes;

	assert_non_null(p);
	fseek(p, 0, SEEK_END);
	*size = (size_t)ftell(p);
	rewind(p);
	bytes = malloc(*size);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, *size, p), *size);
	fclose(p);
	return bytes;
}

/* Return: how many questions were answered. */
static size_t try_image(const u8 *image, size_t size)
{
	struct survey s = { 0 };
	u8 *copy = malloc(size);
	size_t i;
	u64 at;

	assert_non_null(copy);
	memcpy(copy, image, size);
	if (dp_elf_open_image(&s.file.elf, copy, size))
		return 0;
	if (!dp_exits_file_read(&s.file, "")) {
		ask_all(&s);
		for (i = 0; i < s.file.fdes.n; i++)
			dp_fdes_read_return_address(&s.file.fdes, &s.file.elf,
						    s.file.fdes.v[i].start,
						    &at);
	}
	free(s.known);
	dp_exits_file_release(&s.file);
	return s.functions;
}

/* Any damage is survived: to descriptions of frames, to code, to all else. */
static void damaged_files_do_no_harm(void **state)
{
	unsigned short seed[3] = { 4, 5, 6 };
	size_t size, i, j, asked = 0;
	u8 *image, *broken;

	image = read_file("/bin/true", &size);
	broken = malloc(size);
	assert_non_null(broken);
	for (i = 0; i < 200; i++) {
		memcpy(broken, image, size);
		for (j = 0; j < 1 + i; j++)
			broken[(size_t)nrand48(seed) % size] =
				(u8)nrand48(seed);
		asked += try_image(broken, size);
	}
	assert_true(asked > 1000);
	free(broken);
	free(image);
}

static void run_command(char **argv)
{
	execvp(argv[0], argv);
}

static int step_command(char **argv)
{
	struct exits_stepper *s = exits_stepper_start(run_command, argv);
	const char *limit = getenv("STEPS");
	u64 wrong;

	wrong = exits_stepper_run(s, limit ? strtoull(limit, NULL, 0) : ~0ull);

	exits_stepper_say(s);
	exits_stepper_end(s);
	return wrong != 0;
}

static void a_program_leaves_by_its_exits(void **state)
{
	char *argv[] = { "sqlite3", ":memory:", "select 6*7", NULL };
	struct exits_stepper *s;

	if (access("/usr/bin/sqlite3", X_OK))
		skip();
	s = exits_stepper_start(run_command, argv);
	assert_int_equal(exits_stepper_run(s, 300000), 0);
	assert_true(exits_stepper_left(s) > 1000);
	exits_stepper_say(s);
	exits_stepper_end(s);
}

/* In libgcc, once it is there, and in libc: each at an instruction that sets the
 * stack pointer, and at the beginning of a function. */
static void unwinders_are_found(void **state)
{
	static const u8 moved[] = { 0x48, 0x89, 0xcc };
	struct dp_unwind list[DP_UNWINDS_MAX];
	struct dp_modules *now;
	struct dp_symbol sym;
	size_t n, i, moves = 0, ends = 0;
	u64 start, end;

	assert_non_null(dlopen("libgcc_s.so.1", RTLD_NOW));
	assert_int_equal(dp_modules_open(getpid(), mem, &now, NULL), 0);
	n = dp_unwinds_find(now, list);
	for (i = 0; i < n; i++) {
		assert_int_equal(
			dp_function_bounds(now, list[i].addr, &start, &end), 0);
		if (list[i].until == DP_UNWIND_DI) {
			assert_true(list[i].addr == start);
			ends++;
			continue;
		}
		assert_memory_equal((void *)list[i].addr, moved, sizeof(moved));
		assert_int_equal(dp_symbol_at(now, list[i].addr, &sym), 0);
		assert_int_equal(strncmp(sym.name, "_Unwind_", 8), 0);
		moves++;
	}
	assert_true(moves >= 4);
	/* glibc 2.34 and later */
	assert_int_equal(ends, 1);
	dp_modules_close(now);
}

static size_t exits_of(struct dp_exit_reader *r, const struct dp_module *m,
		       u64 entry)
{
	struct dp_exit_list list;
	const char *why;
	size_t n;

	assert_int_equal(dp_exit_reader_open(r, mods, m, NULL), 0);
	assert_int_equal(dp_exits_find(r->exits, entry, &list, &why), 0);
	n = list.n;
	dp_exits_free(&list);
	return n;
}

/* What is slow is done once; the module's code is not kept; another module is another one. */
static void a_reader_rests_between_questions(void **state)
{
	u64 entry = (u64)exits_cases[0].entry, far = (u64)dlsym(NULL, "qsort");
	const struct dp_module *m = dp_module_at(mods, entry);
	const struct dp_module *libc = dp_module_at(mods, far);
	struct dp_exit_reader r = { 0 };
	size_t n = exits_of(&r, m, entry), i;
	struct dp_code_map *drawn = r.map;

	assert_true(n > 0);
	for (i = 0; i < 3; i++) {
		dp_exit_reader_rest(&r);
		assert_null(r.exits);
		assert_int_equal(exits_of(&r, m, entry), n);
		assert_ptr_equal(r.map, drawn);
	}
	dp_exit_reader_rest(&r);
	dp_exit_reader_rest(&r);
	assert_ptr_equal(r.map, drawn);
	assert_true(exits_of(&r, libc, far) > 0);
	dp_exit_reader_rest(&r);
	assert_int_equal(exits_of(&r, m, entry), n);
	dp_exit_reader_close(&r);
	assert_null(r.map);
}

/* That nothing is known is not kept: its file may be there the next time. */
static void a_reader_forgets_what_it_does_not_know(void **state)
{
	const struct dp_module *m =
		dp_module_at(mods, (u64)exits_cases[0].entry);
	struct dp_exit_reader r = { .module = m };

	assert_int_equal(dp_exit_reader_open(&r, mods, m, NULL), -EOPNOTSUPP);
	dp_exit_reader_rest(&r);
	assert_null(r.module);
	exits_of(&r, m, (u64)exits_cases[0].entry);
	dp_exit_reader_close(&r);
}

/* Nor is want of descriptors, which passes. */
static void a_reader_asks_again_after_a_shortage(void **state)
{
	u64 entry = (u64)exits_cases[0].entry;
	const struct dp_module *m = dp_module_at(mods, entry);
	struct dp_exit_reader r = { 0 };
	struct rlimit old, none;
	struct dp_diag diag;
	int i;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	none = old;
	none.rlim_cur = 0;
	for (i = 0; i < 2; i++) {
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
		assert_int_equal(dp_exit_reader_open(&r, mods, m, &diag),
				 -EMFILE);
		assert_int_equal(dp_exit_reader_open(&r, mods, m, &diag),
				 -EMFILE);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
		assert_non_null(strstr(diag.text, strerror(EMFILE)));
		assert_true(exits_of(&r, m, entry) > 0);
		dp_exit_reader_rest(&r);
	}
	dp_exit_reader_close(&r);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(assembly_has_its_exits),
		cmocka_unit_test(lengths_are_those_of_the_instructions),
		cmocka_unit_test(there_has_to_be_a_function),
		cmocka_unit_test(the_return_address_is_seen_to_be_read),
		cmocka_unit_test(code_that_is_not_understood_may_read),
		cmocka_unit_test(rets_of_libc),
		cmocka_unit_test(rets_of_libstdcxx),
		cmocka_unit_test(rets_of_python),
		cmocka_unit_test(rets_of_git),
		cmocka_unit_test(rets_of_sqlite),
		cmocka_unit_test(unwinders_are_found),
		cmocka_unit_test(a_reader_rests_between_questions),
		cmocka_unit_test(a_reader_forgets_what_it_does_not_know),
		cmocka_unit_test(a_reader_asks_again_after_a_shortage),
		cmocka_unit_test(damaged_files_do_no_harm),
		cmocka_unit_test(a_program_leaves_by_its_exits),
	};

	if (argc > 2 && !strcmp(argv[1], "--step"))
		return step_command(argv + 2);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("exits", tests, open_self,
					   close_self);
}
