// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_symbol: names and addresses of this process, as a library in it sees
 * them.
 *
 * Oracles: dlsym(), and the addresses that the fixtures tell of themselves.
 * symbol_one and symbol_two are libraries beside the test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "resolve/symbol.h"
#include "fixtures/symbol_fixtures.h"

static struct dp_symbol_map *map;
static struct dp_symbol sym;
static struct dp_diag diag;
static char dir[PATH_MAX];

static int setup(void **state)
{
	ssize_t n = readlink("/proc/self/exe", dir, sizeof(dir) - 1);

	if (n < 0)
		return -1;
	dir[n] = '\0';
	dirname(dir);
	return dp_symbol_map_open(&map, &diag);
}

static int teardown(void **state)
{
	dp_symbol_map_close(map);
	return 0;
}

static void library(char *path, size_t len, const char *name)
{
	snprintf(path, len, "%s/lib%s.so", dir, name);
}

static void *load(const char *name)
{
	char path[PATH_MAX + 64];
	void *lib;

	library(path, sizeof(path), name);
	lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	assert_non_null(lib);
	return lib;
}

static u64 address(void *lib, const char *name)
{
	void *p = dlsym(lib, name);

	assert_non_null(p);
	return (u64)p;
}

static int resolve(const char *name)
{
	dp_diag_clear(&diag);
	memset(&sym, 0, sizeof(sym));
	return dp_symbol_map_resolve(map, name, &sym, &diag);
}

static void expect(const char *name, u64 addr)
{
	int err = resolve(name);

	if (err)
		print_message("%s: %s\n", name, diag.text);
	assert_int_equal(err, 0);
	assert_int_equal(sym.addr, addr);
}

static void expect_error(const char *name, int err, const char *words)
{
	assert_int_equal(resolve(name), err);
	if (!strstr(diag.text, words))
		fail_msg("%s: \"%s\" lacks \"%s\"", name, diag.text, words);
}

static void reads_main_first(void **state)
{
	/* As a call in symbol_a.c does, though libc exports one. */
	expect("getenv", (u64)symbol_own_getenv());
	assert_true(sym.module->is_main);
	assert_false(sym.global);
	expect("libc.so.6:getenv", address(RTLD_NEXT, "getenv"));
	expect("symbol_own_getenv", (u64)symbol_own_getenv);
	expect("setenv", address(RTLD_DEFAULT, "setenv"));
	assert_string_equal(sym.module->soname, "libc.so.6");
}

static void takes_modules(void **state)
{
	char name[PATH_MAX + 64];
	u64 addr = address(RTLD_DEFAULT, "setenv");

	expect("libc.so.6:setenv", addr);
	expect("libc.so.*:setenv", addr);
	snprintf(name, sizeof(name), "%s:setenv", sym.module->path);
	expect(name, addr);
	expect(":symbol_own_getenv", (u64)symbol_own_getenv);
	expect("test_symbol:symbol_own_getenv", (u64)symbol_own_getenv);
	expect_error("test_symbol:setenv", -ENOENT, "no function \"setenv\"");
	expect_error("nosuch.so:setenv", -ENOENT, "no module \"nosuch.so\"");
	expect_error("ns::nothing", -ENOENT, "no function \"ns::nothing\"");
	/* The one asked for last is remembered. */
	expect("libc.so.6:setenv", addr);
	expect("libc.so.6:unsetenv", address(RTLD_DEFAULT, "unsetenv"));
}

static void lists_candidates(void **state)
{
	char a[32], b[32];

	snprintf(a, sizeof(a), "0x%llx", (long long)symbol_own_twice_a());
	snprintf(b, sizeof(b), "0x%llx", (long long)symbol_own_twice_b());
	expect_error("symbol_twice", -EINVAL, a);
	expect_error("symbol_twice", -EINVAL, b);
	expect_error("symbol_twice", -EINVAL, "(symbol_a.c)");
	expect_error("test_symbol:symbol_twice", -EINVAL, "(symbol_b.c)");
}

static void says_what_is_wrong(void **state)
{
	expect_error("symbol_own_getenw", -ENOENT, "symbol_own_getenv");
	expect_error("setenw", -ENOENT, "setenv");
	expect_error("", -ENOENT, "no function");
	expect_error(":", -ENOENT, "no function");
	expect_error("environ", -EINVAL, "is data");
	expect_error("libc.so.6:environ", -EINVAL, "is data");
	/* Without words it is the same. */
	assert_int_equal(dp_symbol_map_resolve(map, "environ", &sym, NULL),
			 -EINVAL);
	assert_int_equal(dp_symbol_map_resolve(map, "no_such", &sym, NULL),
			 -ENOENT);
}

static void resolves_ifuncs(void **state)
{
	void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);

	assert_non_null(libc);
	expect("libc.so.6:memcpy", address(libc, "memcpy"));
	assert_true(sym.ifunc);
	/* A sanitizer's goes before. */
	expect("memcpy", address(RTLD_DEFAULT, "memcpy"));
	dlclose(libc);
}

static void resolves_versions(void **state)
{
	void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	u64 now = (u64)dlvsym(libc, "realpath", "GLIBC_2.3");
	u64 old = (u64)dlvsym(libc, "realpath", "GLIBC_2.2.5");

	if (!now || !old || now == old)
		skip();
	expect("libc.so.6:realpath", now);
	expect("libc.so.6:realpath@GLIBC_2.2.5", old);
	expect("libc.so.6:realpath@@GLIBC_2.3", now);
	dlclose(libc);
}

/* Two comes first: load order is not the order of addresses or names. */
static void keeps_load_order(void **state)
{
	void *two = load("symbol_two"), *one = load("symbol_one");
	void *(*one_static)(const char *name) =
		(void *(*)(const char *))dlsym(one, "symbol_one_static");

	assert_int_equal(dp_symbol_map_refresh(map, &diag), 1);
	assert_int_equal(dp_symbol_map_refresh(map, &diag), 0);
	expect("symbol_both", address(two, "symbol_both"));
	expect("symbol_only_one", address(one, "symbol_only_one"));
	expect("libsymbol_one.so:symbol_both", address(one, "symbol_both"));
	/* Exported goes before static, wherever. */
	expect("symbol_helper", address(two, "symbol_helper"));
	expect("libsymbol_one.so:symbol_helper",
	       (u64)one_static("symbol_helper"));
	/* Static in both: the first loaded. */
	assert_int_equal(resolve("symbol_hidden"), 0);
	assert_string_equal(sym.module->base, "libsymbol_two.so");
	expect("libsymbol_one.so:symbol_hidden",
	       (u64)one_static("symbol_hidden"));
	expect_error("libsymbol_*.so:symbol_both", -EINVAL, "several modules");
	expect("libsymbol_*.so:symbol_only_one",
	       address(one, "symbol_only_one"));
	expect_error("symbol_datum", -EINVAL, "is data");
	dlclose(two);
	assert_int_equal(dp_symbol_map_refresh(map, &diag), 1);
	expect("symbol_both", address(one, "symbol_both"));
	expect_error("symbol_only_two", -ENOENT, "symbol_only_one");
	two = load("symbol_two");
	assert_int_equal(dp_symbol_map_refresh(map, &diag), 1);
	expect("symbol_both", address(one, "symbol_both"));
	expect("symbol_helper", address(two, "symbol_helper"));
	dlclose(one);
	dlclose(two);
	assert_int_equal(dp_symbol_map_refresh(map, &diag), 1);
	expect_error("symbol_both", -ENOENT, "no function");
}

static void sees_what_goes(void **state)
{
	void *one = load("symbol_one"), *two;
	u64 in_one = address(one, "symbol_both"), since, here;

	assert_int_equal(dp_symbol_map_refresh(map, &diag), 1);
	since = dp_symbol_map_generation(map);
	assert_int_equal(dp_symbol_map_loaded(map, in_one, since),
			 DP_LOADED_SAME);
	/* Others come and go in turn. */
	two = load("symbol_two");
	assert_int_equal(dp_symbol_map_refresh(map, &diag), 1);
	assert_int_equal(dp_symbol_map_loaded(map, in_one, since),
			 DP_LOADED_SAME);
	dlclose(two);
	assert_int_equal(dp_symbol_map_refresh(map, &diag), 1);
	assert_int_equal(dp_symbol_map_loaded(map, in_one, since),
			 DP_LOADED_SAME);
	assert_int_equal(dp_symbol_map_loaded(map, in_one, 0), DP_LOADED_GONE);
	/* Unseen: it may have been this one, but not libc. */
	dlclose(load("symbol_two"));
	here = (u64)dlsym(RTLD_DEFAULT, "setenv");
	assert_int_equal(dp_symbol_map_refresh(map, &diag), 1);
	assert_int_equal(dp_symbol_map_loaded(map, in_one, since),
			 DP_LOADED_MAYBE);
	assert_int_equal(dp_symbol_map_loaded(map, here, since),
			 DP_LOADED_SAME);
	since = dp_symbol_map_generation(map);
	assert_int_equal(dp_symbol_map_loaded(map, in_one, since),
			 DP_LOADED_SAME);
	dlclose(one);
	assert_int_equal(dp_symbol_map_refresh(map, &diag), 1);
	assert_int_equal(dp_symbol_map_loaded(map, in_one, since),
			 DP_LOADED_GONE);
	one = load("symbol_one");
	in_one = address(one, "symbol_both");
	assert_int_equal(dp_symbol_map_refresh(map, &diag), 1);
	assert_int_equal(dp_symbol_map_loaded(map, in_one, since),
			 DP_LOADED_GONE);
	since = dp_symbol_map_generation(map);
	assert_int_equal(dp_symbol_map_loaded(map, in_one, since),
			 DP_LOADED_SAME);
	assert_int_equal(dp_symbol_map_loaded(map, (u64)&sym, since),
			 DP_LOADED_GONE);
	dlclose(one);
}

static void expect_name(u64 addr, const char *name, u64 offset,
			const char *module)
{
	const char *n, *m;
	u64 off;

	assert_int_equal(dp_symbol_map_name(map, addr, &n, &off, &m), 0);
	assert_string_equal(n, name);
	assert_int_equal(off, offset);
	if (module)
		assert_string_equal(m, module);
	else
		assert_null(m);
}

static void names_addresses(void **state)
{
	const char *n, *m;
	u64 off, start, end, libc;

	expect_name((u64)symbol_own_getenv, "symbol_own_getenv", 0, NULL);
	expect_name((u64)symbol_own_twice_a() + 3, "symbol_twice", 3, NULL);
	expect("setenv", address(RTLD_DEFAULT, "setenv"));
	libc = sym.addr;
	expect_name(libc + 1, "setenv", 1, sym.module->base);
	assert_int_equal(dp_function_bounds(dp_symbol_map_modules(map),
					    libc + 1, &start, &end),
			 0);
	assert_int_equal(start, libc);
	assert_true(end > libc + 1);
	assert_int_equal(dp_symbol_map_name(map, (u64)&sym, &n, &off, &m),
			 -ENOENT);
	assert_null(n);
	assert_null(m);
	assert_int_equal(dp_function_bounds(dp_symbol_map_modules(map), 0,
					    &start, &end),
			 -ENOENT);
	assert_int_equal(dp_modules_count(dp_symbol_map_modules(map)) > 1, 1);
}

/* A fork child goes on with what it has. */
static void works_in_a_child(void **state)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(dp_symbol_map_refresh(map, &diag) < 0 ||
		      resolve("libc.so.6:memcpy") || !sym.ifunc);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static int count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void keeps_no_descriptor(void **state)
{
	struct dp_symbol_map *other;
	int before = count_fds();

	assert_int_equal(dp_symbol_map_open(&other, &diag), 0);
	dp_symbol_map_resolve(other, "no_such_function", &sym, &diag);
	assert_int_equal(count_fds(), before);
	dp_symbol_map_close(other);
	assert_int_equal(count_fds(), before);
}

/* Want of descriptors passes, and leaves nothing wrong behind. */
static void survives_want_of_descriptors(void **state)
{
	struct rlimit old, none;
	struct dp_symbol_map *other, *failed;
	void *one;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	none = old;
	none.rlim_cur = 0;
	assert_int_equal(dp_symbol_map_open(&other, &diag), 0);
	one = load("symbol_one");
	setrlimit(RLIMIT_NOFILE, &none);
	assert_int_equal(dp_symbol_map_open(&failed, &diag), -EMFILE);
	assert_int_equal(dp_symbol_map_resolve(other, "setenv", &sym, &diag),
			 -EMFILE);
	assert_int_equal(dp_symbol_map_refresh(other, &diag), -EMFILE);
	setrlimit(RLIMIT_NOFILE, &old);
	assert_int_equal(dp_symbol_map_resolve(other, "setenv", &sym, &diag),
			 0);
	assert_int_equal(dp_symbol_map_refresh(other, &diag), 1);
	assert_int_equal(dp_symbol_map_resolve(other, "symbol_only_one", &sym,
					       &diag),
			 0);
	dp_symbol_map_close(other);
	dlclose(one);
}

/* A library whose file has gone since: its names may have gone, nothing else. */
static void survives_deleted_files(void **state)
{
	char from[PATH_MAX + 64], to[PATH_MAX + 64], cmd[3 * PATH_MAX];
	const char *n, *m;
	void *lib;
	u64 addr, off;
	int err;

	library(from, sizeof(from), "symbol_one");
	snprintf(to, sizeof(to), "%s/symbol-deleted-%d.so", dir, getpid());
	snprintf(cmd, sizeof(cmd), "cp '%s' '%s'", from, to);
	assert_int_equal(system(cmd), 0);
	lib = dlopen(to, RTLD_NOW);
	assert_non_null(lib);
	unlink(to);
	addr = address(lib, "symbol_only_one");
	assert_int_equal(dp_symbol_map_refresh(map, &diag), 1);
	/* Those who may follow map_files see the file still. */
	err = resolve("symbol_only_one");
	if (err)
		expect_error("symbol_only_one", -ENOENT, "deleted");
	else
		assert_int_equal(sym.addr, addr);
	assert_int_equal(dp_symbol_map_name(map, addr, &n, &off, &m), err);
	assert_non_null(m);
	expect("setenv", address(RTLD_DEFAULT, "setenv"));
	dlclose(lib);
	assert_int_equal(dp_symbol_map_refresh(map, &diag), 1);
}

/* What was read before the file was deleted stays known. */
static void remembers_deleted_files(void **state)
{
	char from[PATH_MAX + 64], to[PATH_MAX + 64], cmd[3 * PATH_MAX];
	void *lib, *two;

	library(from, sizeof(from), "symbol_one");
	snprintf(to, sizeof(to), "%s/symbol-deleted-%d.so", dir, getpid());
	snprintf(cmd, sizeof(cmd), "cp '%s' '%s'", from, to);
	assert_int_equal(system(cmd), 0);
	lib = dlopen(to, RTLD_NOW);
	assert_non_null(lib);
	assert_int_equal(dp_symbol_map_refresh(map, &diag), 1);
	expect("symbol_only_one", address(lib, "symbol_only_one"));
	unlink(to);
	two = load("symbol_two");
	assert_int_equal(dp_symbol_map_refresh(map, &diag), 1);
	expect("symbol_only_one", address(lib, "symbol_only_one"));
	expect("libsymbol_one.so:symbol_both", address(lib, "symbol_both"));
	dlclose(two);
	dlclose(lib);
	assert_int_equal(dp_symbol_map_refresh(map, &diag), 1);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile bool over;

static void *look_up(void *arg)
{
	u64 want = (u64)dlsym(RTLD_DEFAULT, "setenv");
	struct dp_symbol s;
	long bad = 0;
	int i;

	for (i = 0; i < 3000; i++) {
		pthread_mutex_lock(&lock);
		bad += dp_symbol_map_refresh(map, NULL) < 0;
		bad += dp_symbol_map_resolve(map, "setenv", &s, NULL) ||
		       s.addr != want;
		bad += dp_symbol_map_resolve(map, "symbol_twice", &s, NULL) !=
		       -EINVAL;
		dp_symbol_map_resolve(map, "symbol_only_two", &s, NULL);
		pthread_mutex_unlock(&lock);
	}
	return (void *)bad;
}

static void *come_and_go(void *arg)
{
	while (!over) {
		void *one = load("symbol_one"), *two = load("symbol_two");

		dlclose(one);
		dlclose(two);
	}
	return NULL;
}

static void works_in_threads(void **state)
{
	pthread_t t[3];
	void *bad;
	int i;

	over = false;
	for (i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, look_up, NULL);
	pthread_create(&t[2], NULL, come_and_go, NULL);
	for (i = 0; i < 2; i++) {
		pthread_join(t[i], &bad);
		assert_null(bad);
	}
	over = true;
	pthread_join(t[2], NULL);
}

static void *look_up_alone(void *arg)
{
	struct dp_symbol_map *mine;
	int err;

	pthread_join(*(pthread_t *)arg, NULL);
	err = dp_symbol_map_open(&mine, &diag);
	if (!err)
		err = dp_symbol_map_resolve(mine, "libc.so.6:memcpy", &sym,
					    &diag);
	if (err)
		print_message("# %s\n", diag.text);
	_exit(err ? 1 : 0);
}

/* The first thread's /proc files are empty then. */
static void works_without_the_first_thread(void **state)
{
	static pthread_t first;
	pthread_t t;
	int status;
	pid_t pid = fork();

	if (!pid) {
		first = pthread_self();
		pthread_create(&t, NULL, look_up_alone, &first);
		pthread_exit(NULL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Everything that is found is found under its own name again. */
static void agrees_with_itself(void **state)
{
	struct dp_symbols list;
	struct dp_symbol s;
	char name[512];
	const char *n, *m;
	size_t i, same = 0;
	u64 off;

	assert_int_equal(dp_symbols_find(dp_symbol_map_modules(map),
					 "libc.so.6", "*", &list, NULL, &diag),
			 0);
	for (i = 0; i < list.n; i++) {
		snprintf(name, sizeof(name), "libc.so.6:%s", list.v[i].name);
		if (dp_symbol_map_resolve(map, name, &s, NULL))
			continue;
		same += s.addr == list.v[i].addr;
		assert_int_equal(dp_symbol_map_name(map, s.addr, &n, &off, &m),
				 0);
		assert_int_equal(off, 0);
	}
	assert_true(same > list.n * 9 / 10);
	dp_symbols_free(&list);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void is_quick(void **state)
{
	static const char *const name[] = { "setenv", "symbol_own_getenv",
					    "libc.so.6:unsetenv", "getenv" };
	struct dp_symbol s;
	double begin;
	size_t i;
	int k;

	for (i = 0; i < sizeof(name) / sizeof(*name); i++) {
		begin = seconds();
		for (k = 0; k < 50000; k++) {
			dp_symbol_map_refresh(map, NULL);
			dp_symbol_map_resolve(map, name[i], &s, NULL);
		}
		print_message("50,000 times %s: %.1f ms\n", name[i],
			      (seconds() - begin) * 1e3);
	}
	begin = seconds();
	for (k = 0; k < 100; k++)
		resolve("no_such_function");
	print_message("100 times a wrong name: %.1f ms\n",
		      (seconds() - begin) * 1e3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_main_first),
		cmocka_unit_test(takes_modules),
		cmocka_unit_test(lists_candidates),
		cmocka_unit_test(says_what_is_wrong),
		cmocka_unit_test(resolves_ifuncs),
		cmocka_unit_test(resolves_versions),
		cmocka_unit_test(keeps_load_order),
		cmocka_unit_test(sees_what_goes),
		cmocka_unit_test(names_addresses),
		cmocka_unit_test(works_in_a_child),
		cmocka_unit_test(keeps_no_descriptor),
		cmocka_unit_test(survives_want_of_descriptors),
		cmocka_unit_test(survives_deleted_files),
		cmocka_unit_test(remembers_deleted_files),
		cmocka_unit_test(works_in_threads),
		cmocka_unit_test(works_without_the_first_thread),
		cmocka_unit_test(agrees_with_itself),
		cmocka_unit_test(is_quick),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
