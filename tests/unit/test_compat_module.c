// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_compat_module: modules that come and go. */
#include "compat.h"

/* --- modules --- */

static int load(const char *file, const char *const *params, size_t n,
		struct dp_compat_loaded **loaded, struct dp_diag *diag)
{
	char path[200];

	theirs(path, sizeof(path), "%s%s", DP_MODULES, file);
	dp_diag_clear(diag);
	return dp_compat_load(path, params, n, NULL, 0, loaded, diag);
}

static void modules_are_loaded_and_unloaded(void **state)
{
	static const char *const params[] = {
		"number=0x20", "byte=255",    "small=-7",     "big=99999999999",
		"truth",       "not-other=y", "word=\"a b\"", "text=1234567",
		"list=3,4",    "hex=ff",      "hooked=21",
	};
	struct dp_compat_loaded *loaded, *again;
	struct dp_diag diag;

	look();
	assert_int_equal(load("params.so", NULL, 0, &loaded, &diag), 0);
	assert_string_equal(
		seen, "params: 1 0 0 0 0 1 none abc 0 0|params: 0 of 0 0 0|");
	assert_string_equal(loaded->name, "params");
	assert_ptr_equal(dp_compat_find("params"), loaded);
	assert_int_equal(load("params.so", NULL, 0, &again, &diag), -EEXIST);
	assert_int_equal(dp_compat_unload(loaded, &diag), 0);
	assert_non_null(strstr(seen, "|gone|"));
	assert_null(dp_compat_find("params"));
	look();
	assert_int_equal(load("params.so", params, ARRAY_SIZE(params), &loaded,
			      &diag),
			 0);
	assert_string_equal(
		seen,
		"params: 32 255 -7 99999999999 1 0 a b 1234567 ff 42|params: 2 of 3 4 0|");
	assert_int_equal(dp_compat_unload(loaded, &diag), 0);
	dp_printk_set(NULL, NULL);
}

/* Up to the ends of their ranges, and with quotes that are part of them */
static void values_of_parameters(void **state)
{
	static const struct {
		const char *param, *shown;
	} cases[] = {
		{ "number=2147483647", "2147483647 0 0 0 0 1 none abc 0 0" },
		{ "small=32767", "1 0 32767 0 0 1 none abc 0 0" },
		{ "small=-32768", "1 0 -32768 0 0 1 none abc 0 0" },
		{ "big=18446744073709551615",
		  "1 0 0 18446744073709551615 0 1 none abc 0 0" },
		{ "truth=n", "1 0 0 0 0 1 none abc 0 0" },
		{ "not_other", "1 0 0 0 0 0 none abc 0 0" },
		{ "word=\"", "1 0 0 0 0 1 \" abc 0 0" },
		{ "word=\"a", "1 0 0 0 0 1 \"a abc 0 0" },
		{ "word=a\"", "1 0 0 0 0 1 a\" abc 0 0" },
		{ "word=\"\"", "1 0 0 0 0 1  abc 0 0" },
		{ "text=", "1 0 0 0 0 1 none  0 0" },
		{ "hex=ffffffff", "1 0 0 0 0 1 none abc ffffffff 0" },
	};
	struct dp_compat_loaded *loaded;
	struct dp_diag diag;
	char shown[100];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		look();
		assert_int_equal(load("params.so", &cases[i].param, 1, &loaded,
				      &diag),
				 0);
		theirs(shown, sizeof(shown), "params: %s|params: 0 of 0 0 0|",
		       cases[i].shown);
		assert_string_equal(seen, shown);
		assert_int_equal(dp_compat_unload(loaded, &diag), 0);
	}
	dp_printk_set(NULL, NULL);
}

static void wrong_parameters_are_told(void **state)
{
	static const struct {
		const char *param;
		int err;
		const char *words;
	} cases[] = {
		{ "nummer=1", -ENOENT, "no parameter nummer: it has " },
		{ "numbe=1", -ENOENT, "no parameter numbe: " },
		{ "numbers=1", -ENOENT, "no parameter numbers: " },
		{ "number=", -EINVAL, "parameter number cannot be \"\"" },
		{ "small=32768", -ERANGE, "of type short" },
		{ "small=-32769", -ERANGE, "of type short" },
		{ "hex=100000000", -ERANGE, "of type hexint" },
		{ "number=x", -EINVAL, "parameter number cannot be \"x\"" },
		{ "number=4294967296", -ERANGE, "out of its range" },
		{ "number", -EINVAL, "without a value" },
		{ "byte=256", -ERANGE, "of type byte" },
		{ "byte=-1", -EINVAL, "of type byte" },
		{ "truth=maybe", -EINVAL, "of type bool" },
		{ "text=12345678", -ENOSPC, "room for 7 characters" },
		{ "list=1,2,3,4", -EINVAL, "an array of int" },
		{ "list=1,,2", -EINVAL, "an array of int" },
		{ "number=-22", -EINVAL, "init of" },
	};
	struct dp_compat_loaded *loaded = NULL;
	struct dp_diag diag;
	size_t i;

	look();
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(load("params.so", &cases[i].param, 1, &loaded,
				      &diag),
				 cases[i].err);
		if (!strstr(diag.text, cases[i].words))
			fail_msg("%s: %s", cases[i].param, diag.text);
		assert_null(loaded);
		assert_null(dp_compat_find("params"));
	}
	dp_printk_set(NULL, NULL);
}

static void foreign_symbols_are_refused(void **state)
{
	struct dp_compat_loaded *loaded = NULL;
	struct dp_diag diag;
	const char *alias = "nothing", *good = "do_other=other_function";

	assert_int_equal(load("foreign.so", NULL, 0, &loaded, &diag), -ENXIO);
	assert_non_null(strstr(diag.text, "puts"));
	assert_non_null(strstr(diag.text, "kthread_stop"));
	assert_null(strstr(diag.text, "printk"));
	assert_int_equal(load("missing.so", NULL, 0, &loaded, &diag), -ENOENT);
	assert_int_equal(load("../../../Makefile", NULL, 0, &loaded, &diag),
			 -ENOEXEC);
	assert_int_equal(dp_compat_load("/lib/x86_64-linux-gnu/libc.so.6", NULL,
					0, NULL, 0, &loaded, &diag),
			 -ENXIO);
	assert_int_equal(dp_compat_load("x", NULL, 0, &alias, 1, &loaded,
					&diag),
			 -EINVAL);
	assert_int_equal(dp_compat_load("x", NULL, 0, &good, 1, &loaded, &diag),
			 -ENOENT);
	assert_string_equal(dp_compat_alias("do_other"), "other_function");
	assert_null(loaded);
}

static void modules_that_stay(void **state)
{
	static const char *const hold[] = { "hold=1" };
	struct dp_compat_loaded *loaded;
	struct dp_diag diag;

	assert_int_equal(load("stays.so", hold, 1, &loaded, &diag), 0);
	assert_int_equal(dp_compat_unload(loaded, &diag), -EBUSY);
	assert_non_null(strstr(diag.text, "in use"));
	loaded->module->module->refcnt.counter = 0;
	assert_int_equal(dp_compat_unload(loaded, &diag), -EBUSY);
	assert_non_null(strstr(diag.text, "no exit"));
}

static int swept, closed_busy;

static unsigned int count_sweeps(const char *start, size_t size)
{
	swept += start && size;
	return 0;
}

static void note_closed(void)
{
	closed_busy = dp_compat_busy();
}

/* What a module that is refused has registered in a constructor goes, too. */
static void refused_modules_are_swept(void **state)
{
	struct dp_compat_loaded *gives, *loaded = NULL;
	struct dp_diag diag;

	look();
	assert_int_equal(load("gives.so", NULL, 0, &gives, &diag), 0);
	dp_compat_hooks.sweep = count_sweeps;
	swept = 0;
	assert_int_equal(load("greedy.so", NULL, 0, &loaded, &diag), -ENXIO);
	assert_non_null(strstr(diag.text, "licence"));
	assert_null(loaded);
	assert_int_equal(swept, 1);
	dp_compat_hooks.sweep = NULL;
	assert_int_equal(dp_compat_unload(gives, &diag), 0);
	dp_printk_set(NULL, NULL);
}

/* Two threads may unload a module; a third may load the file again. */
static void unloading_ends_under_the_lock(void **state)
{
	struct dp_compat_loaded *loaded, *was;
	struct dp_diag diag;

	look();
	assert_int_equal(load("odd.so", NULL, 0, &loaded, &diag), 0);
	was = loaded;
	dp_compat_hooks.closed = note_closed;
	assert_int_equal(dp_compat_unload(loaded, &diag), 0);
	dp_compat_hooks.closed = NULL;
	assert_int_equal(closed_busy, 1);
	assert_int_equal(dp_compat_busy(), 0);
	assert_int_equal(dp_compat_unload(was, &diag), -ENOENT);
	dp_printk_set(NULL, NULL);
}

static pthread_barrier_t in_load;

static void stay_in_load(const struct dp_compat_loaded *list)
{
	dp_compat_hooks.changed = NULL;
	pthread_barrier_wait(&in_load);
	pthread_barrier_wait(&in_load);
	/* As a program's function for SIGINT does, and our destructor then. */
	dp_compat_unload_all();
}

static void *load_slowly(void *arg)
{
	struct dp_diag diag;

	return (void *)(long)load("odd.so", NULL, 0, arg, &diag);
}

static void a_fork_child_finds_no_load(void **state)
{
	struct dp_compat_loaded *loaded;
	struct dp_diag diag;
	pthread_t thread;
	void *err;
	int status;
	pid_t pid;

	look();
	pthread_barrier_init(&in_load, NULL, 2);
	dp_compat_hooks.changed = stay_in_load;
	assert_int_equal(pthread_create(&thread, NULL, load_slowly, &loaded),
			 0);
	pthread_barrier_wait(&in_load);
	pid = fork();
	if (!pid) {
		alarm(20);
		dp_compat_forked();
		_exit(dp_compat_busy() || !dp_compat_find("odd"));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	pthread_barrier_wait(&in_load);
	assert_int_equal(pthread_join(thread, &err), 0);
	assert_null(err);
	assert_ptr_equal(dp_compat_find("odd"), loaded);
	assert_int_equal(dp_compat_unload(loaded, &diag), 0);
	dp_printk_set(NULL, NULL);
}

static void examples_load(void **state)
{
	static const char *const names[] = { "malloc_sizes", "open_paths",
					     "slow_calls" };
	static const char *const refuse[] = { "function=refused" };
	struct dp_compat_loaded *loaded;
	struct dp_diag diag;
	char path[200];
	size_t i;

	look();
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		theirs(path, sizeof(path), "%s../../examples/modules/%s.so",
		       DP_MODULES, names[i]);
		assert_int_equal(dp_compat_load(path, NULL, 0, NULL, 0, &loaded,
						&diag),
				 0);
		assert_int_equal(dp_compat_unload(loaded, &diag), 0);
		assert_int_equal(dp_compat_load(path, refuse, 1, NULL, 0,
						&loaded, &diag),
				 -ENOENT);
	}
	dp_printk_set(NULL, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modules_are_loaded_and_unloaded),
		cmocka_unit_test(values_of_parameters),
		cmocka_unit_test(wrong_parameters_are_told),
		cmocka_unit_test(foreign_symbols_are_refused),
		cmocka_unit_test(modules_that_stay),
		cmocka_unit_test(refused_modules_are_swept),
		cmocka_unit_test(unloading_ends_under_the_lock),
		cmocka_unit_test(a_fork_child_finds_no_load),
		cmocka_unit_test(examples_load),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	dp_compat_hooks.lookup = lookup;
	return cmocka_run_group_tests_name("compat module", tests, NULL, NULL);
}
