// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_never: the list of functions whose return cannot be probed, a row an entry.
 *
 * What the code of this machine's libraries shows is compared with the list: of
 * a function that is said to look at its return address the code has to do that,
 * and nothing that does may be missing, unless a row says why.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sym/never.h"
#include "exits_file.h"

#define LIBC "/lib/x86_64-linux-gnu/libc.so.6"
#define LINKER "/lib64/ld-linux-x86-64.so.2"
#define LIBGCC "/lib/x86_64-linux-gnu/libgcc_s.so.1"

/* What its code shows. */
enum shown {
	READS, /* it looks at its return address */
	NO_EXITS, /* they cannot be known */
	NOTHING, /* for the reason that is given */
	ABSENT, /* it is in no library that is tried here */
};

struct row {
	const char *name;
	bool site; /* nor by its exits */
	enum shown shown;
	const char *note;
};

static const struct row rows[] = {
	{ "_start", true, NO_EXITS, "no return address, says its description" },
	{ "_dl_start_user", true, NO_EXITS,
	  "a label in what has no return address" },
	{ "start_thread", true, NOTHING, "code like any other" },
	{ "__start_context", true, READS, "takes from the stack what it runs" },
	{ "__restore_rt", true, NO_EXITS, "is described as a signal's frame" },
	{ "__restore", true, ABSENT, "of musl" },

	{ "setjmp", true, NOTHING, "jumps on to __sigsetjmp" },
	{ "_setjmp", true, NOTHING, "jumps on to __sigsetjmp" },
	{ "__setjmp", true, ABSENT, "of musl" },
	{ "sigsetjmp", true, ABSENT, "of musl" },
	{ "__sigsetjmp", true, READS, "keeps it" },
	{ "__sigsetjmp_cancel", true, ABSENT, "of later glibc" },
	{ "__sigjmp_save", true, NOTHING, "__sigsetjmp returns by it" },
	{ "getcontext", true, READS, "keeps it" },
	{ "__getcontext", true, READS, "keeps it" },
	{ "vfork", true, NO_EXITS, "pushes it again" },
	{ "__vfork", true, NO_EXITS, "pushes it again" },
	{ "__libc_vfork", true, NO_EXITS, "pushes it again" },
	{ "clone", true, NOTHING, "the child has another stack" },
	{ "__clone", true, NOTHING, "the child has another stack" },
	{ "clone3", true, NOTHING, "the child has another stack" },
	{ "__clone3", true, NOTHING, "the child has another stack" },
	{ "setcontext", true, NOTHING, "pushes the address that it was given" },
	{ "__setcontext", true, NOTHING,
	  "pushes the address that it was given" },
	{ "swapcontext", true, READS, "keeps it" },
	{ "__swapcontext", true, READS, "keeps it" },
	{ "jump_fcontext", true, ABSENT, "of boost" },
	{ "ontop_fcontext", true, ABSENT, "of boost" },

	{ "_dl_runtime_resolve", true, ABSENT, "of older glibc" },
	{ "_dl_runtime_resolve_fxsave", true, NO_EXITS, "16 bytes more" },
	{ "_dl_runtime_resolve_xsave", true, NO_EXITS, "16 bytes more" },
	{ "_dl_runtime_resolve_xsavec", true, NO_EXITS, "16 bytes more" },
	{ "_dl_runtime_profile_sse", true, NO_EXITS, "16 bytes more" },
	{ "_dl_runtime_profile_avx", true, NO_EXITS, "16 bytes more" },
	{ "_dl_runtime_profile_avx512", true, NO_EXITS, "16 bytes more" },

	{ "dlopen", false, READS, "" },
	{ "dlmopen", false, READS, "" },
	{ "dlsym", false, READS, "" },
	{ "dlvsym", false, READS, "" },
	{ "dl_iterate_phdr", false, READS, "" },
	{ "__libc_dlopen_mode", false, READS, "" },
	{ "mcount", false, READS, "" },
	{ "_mcount", false, READS, "" },
	{ "__fentry__", false, READS, "" },
	{ "_dl_mcount_wrapper", false, READS, "" },
	{ "_dl_mcount_wrapper_check", false, READS, "" },

	{ "_dl_tlsdesc_return", false, NOTHING, "is about registers" },
	{ "_dl_tlsdesc_undefweak", false, NOTHING, "is about registers" },
	{ "_dl_tlsdesc_dynamic", false, NOTHING, "is about registers" },
	{ "_dl_tlsdesc_dynamic_fxsave", false, ABSENT, "of later glibc" },
	{ "_dl_tlsdesc_dynamic_xsave", false, ABSENT, "of later glibc" },
	{ "_dl_tlsdesc_dynamic_xsavec", false, ABSENT, "of later glibc" },

	{ "_Unwind_RaiseException", false, READS, "" },
	{ "_Unwind_ForcedUnwind", false, READS, "" },
	{ "_Unwind_Resume", false, READS, "" },
	{ "_Unwind_Resume_or_Rethrow", false, READS, "" },
	{ "_Unwind_Backtrace", false, READS, "" },
	{ "uw_init_context_1", false, ABSENT, "static" },
	{ "unw_getcontext", false, ABSENT, "of LLVM, without description" },
	{ "__unw_getcontext", false, ABSENT, "of LLVM, without description" },
	{ "_Ux86_64_getcontext", false, ABSENT, "of nongnu libunwind" },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static const char *const paths[] = { LIBGCC, LIBC, LINKER };
static struct dp_exits_file files[3];

static int open_files(void **state)
{
	size_t i;

	for (i = 0; i < 3; i++)
		assert_int_equal(exits_file_open(&files[i], paths[i]), 0);
	return 0;
}

static int close_files(void **state)
{
	size_t i;

	for (i = 0; i < 3; i++)
		dp_exits_file_release(&files[i]);
	return 0;
}

static const struct row *row_of(const char *name)
{
	size_t i;

	for (i = 0; i < ROWS; i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	return NULL;
}

static void check_reason(const struct row *r, const char *why)
{
	assert_string_equal(dp_never_tracked(r->name, DP_RETURN_STUB), why);
	if (r->site)
		assert_string_equal(dp_never_tracked(r->name, DP_RETURN_SITE),
				    why);
	else
		assert_null(dp_never_tracked(r->name, DP_RETURN_SITE));
}

static void every_entry_has_its_row(void **state)
{
	const struct dp_never *list;
	const struct row *r;
	size_t n, i, k, all = 0;

	list = dp_never_list(&n);
	for (i = 0; i < n; i++)
		for (k = 0; list[i].names[k]; k++, all++) {
			r = row_of(list[i].names[k]);
			if (!r)
				fail_msg("no row for %s", list[i].names[k]);
			check_reason(r, list[i].why);
		}
	assert_int_equal(all, ROWS);
}

static void others_may_be_followed(void **state)
{
	static const char *const names[] = { "malloc",	      "longjmp",
					     "makecontext",   "dladdr",
					     "fork",	      "__cxa_throw",
					     "_Unwind_GetIP", "",
					     "dlopen2" };
	size_t i;

	assert_null(dp_never_tracked(NULL, DP_RETURN_STUB));
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_null(dp_never_tracked(names[i], DP_RETURN_STUB));
}

static enum shown look_at(struct dp_exits_file *f, u64 value)
{
	struct dp_exit_list list;
	const char *why;
	u64 at;
	int err = dp_exits_find(f->exits, value, &list, &why);

	dp_exits_free(&list);
	if (err)
		return NO_EXITS;
	return dp_fdes_read_return_address(&f->fdes, &f->elf, value, &at) == 1 ?
		       READS :
		       NOTHING;
}

/* Return: 1 if it is not as its row says. */
static int check_row(const struct row *r)
{
	enum shown shown = ABSENT;
	const struct dp_sym *sym;
	size_t i;

	for (i = 0; i < 3 && shown == ABSENT; i++) {
		sym = dp_symtab_first(&files[i].symtab, r->name);
		if (sym && sym->value)
			shown = look_at(&files[i], sym->value);
	}
	/* Another build may have no static names. */
	if (shown == r->shown || shown == ABSENT)
		return 0;
	print_message("# %s: %d instead of %d\n", r->name, shown, r->shown);
	return 1;
}

static void code_shows_what_the_rows_say(void **state)
{
	int wrong = 0;
	size_t i;

	for (i = 0; i < ROWS; i++)
		wrong += check_row(&rows[i]);
	assert_int_equal(wrong, 0);
}

/* Aliases count: any of its names may be the one that is listed. */
static bool is_listed(struct dp_exits_file *f, u64 value)
{
	size_t i;

	for (i = 0; i < f->symtab.n; i++)
		if (f->symtab.v[i].value == value &&
		    dp_never_tracked(f->symtab.v[i].name, DP_RETURN_STUB))
			return true;
	return false;
}

static void what_looks_at_its_caller_is_listed(void **state)
{
	const struct dp_sym *sym;
	size_t i, j, found = 0, missing = 0;

	for (i = 0; i < 3; i++)
		for (j = 0; j < files[i].symtab.n_order; j++) {
			sym = &files[i].symtab.v[files[i].symtab.order[j]];
			if (look_at(&files[i], sym->value) != READS)
				continue;
			found++;
			if (is_listed(&files[i], sym->value))
				continue;
			missing++;
			print_message("# %s of %s\n", sym->name, paths[i]);
		}
	print_message("# %zu\n", found);
	assert_int_equal(missing, 0);
	assert_true(found >= 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_entry_has_its_row),
		cmocka_unit_test(others_may_be_followed),
		cmocka_unit_test(code_shows_what_the_rows_say),
		cmocka_unit_test(what_looks_at_its_caller_is_listed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("never", tests, open_files,
					   close_files);
}
