// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_compat_text: what modules do with text and memory: formats, scans, strings, dumps,
 * names, objects, locks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <linux/delay.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "compat_formats.h"
#include "compat_probes.h"

/* What a conversion does not reach stays as it was. */
static void scans_texts_as_libc_does(void **state)
{
	static const char *const cases[][2] = {
		{ "abc", "%c" },       { "abcdef", "%3c" },
		{ "a", "%3c" },	       { "abc def", "%*c%2c" },
		{ "abcdef", "%3s" },   { "  ab cd", "%*s %s" },
		{ "a-z]b", "%[]a-]" }, { "xyz,w", "%[^,]" },
		{ "m0q", "%[a-p]" },   { "q", "%[a-p]" },
		{ "p", "%[a-p]" },     { "a", "%[a-p]" },
		{ "abc", "ab%c" },     { "abc", "ax%c" },
		{ "a%b", "a%%%c" },    { "  x", " %c" },
		{ "", "%c" },	       { "ab", "%[b]" },
	};
	char a[16], b[16];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		memset(a, '#', sizeof(a));
		memset(b, '#', sizeof(b));
		assert_int_equal(sscanf(cases[i][0], cases[i][1], a),
				 max(0,
				     scan_theirs(cases[i][0], cases[i][1], b)));
		/* What is stored before a failure is nobody's promise. */
		if (sscanf(cases[i][0], cases[i][1], a))
			assert_memory_equal(a, b, sizeof(a));
	}
}

static void scans_numbers_of_each_size(void **state)
{
	static const char *const cases[][2] = {
		{ "-1", "%hhd" },   { "-1", "%hd" },	  { "-1", "%d" },
		{ "-1", "%ld" },    { "-1", "%lld" },	  { "0x7f", "%hhx" },
		{ "7f", "%hx" },    { "777", "%lo" },	  { "-5", "%li" },
		{ "12345", "%4u" }, { "+9", "%hu" },	  { "ab", "%*2xb" },
		{ "5x", "%*dx%n" }, { "12 ", "%*d%hhn" },
	};
	static const char *const refused[][2] = {
		{ "-1", "%u" },
		{ "-", "%d" },
		{ "1", "%y" },
		{ "1", "%[1" },
	};
	u64 a, b;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		a = b = 0x5a5a5a5a5a5a5a5a;
		assert_int_equal(
			sscanf(cases[i][0], cases[i][1], &a),
			max(0, scan_theirs(cases[i][0], cases[i][1], &b)));
		assert_true(a == b);
	}
	a = 1;
	for (i = 0; i < ARRAY_SIZE(refused); i++)
		assert_int_equal(sscanf(refused[i][0], refused[i][1], &a), 0);
	assert_int_equal(a, 1);
}

static void widths_can_be_arguments(void **state)
{
	char a[64], b[64];
	int width, precision;

	for (width = -5; width <= 5; width++)
		for (precision = -2; precision <= 3; precision++) {
			snprintf(a, sizeof(a), "[%*.*d|%*.*s]", width,
				 precision, 7, width, precision, "abc");
			theirs(b, sizeof(b), "[%*.*d|%*.*s]", width, precision,
			       7, width, precision, "abc");
			assert_string_equal(a, b);
		}
	snprintf(a, sizeof(a), "[%20p|%-18p]", (void *)0x1000, (void *)0x1000);
	assert_string_equal(a, "[    0000000000001000|0000000000001000  ]");
}

/* snprintf() says what it would be, scnprintf() what there is. */
static void lengths_are_told(void **state)
{
	char a[8];
	int size;

	for (size = 0; size <= 8; size++) {
		memset(a, '#', sizeof(a));
		assert_int_equal(snprintf(a, (size_t)size, "%s", "hello"), 5);
		assert_int_equal(scnprintf(a, (size_t)size, "%s", "hello"),
				 size ? min(size - 1, 5) : 0);
		if (size)
			assert_int_equal(strlen(a), min(size - 1, 5));
		if (size < 8)
			assert_int_equal(a[size > 5 ? 7 : size], '#');
	}
}

static void signs_of_numbers(void **state)
{
	long long s;
	unsigned long long u;
	bool t;
	char *end;

	assert_int_equal(kstrtoull("+5\n", 0, &u), 0);
	assert_int_equal(u, 5);
	assert_int_equal(kstrtoull("5\n\n", 0, &u), -EINVAL);
	assert_int_equal(kstrtoull("-5", 0, &u), -EINVAL);
	assert_int_equal(kstrtoll("-+5", 0, &s), -EINVAL);
	assert_int_equal(kstrtoll("-9223372036854775808", 0, &s), 0);
	assert_true(s == S64_MIN);
	assert_int_equal(kstrtoll("-9223372036854775809", 0, &s), -ERANGE);
	assert_int_equal(kstrtoll("9223372036854775808", 0, &s), -ERANGE);
	assert_int_equal(kstrtoull("ff", 16, &u), 0);
	assert_int_equal(u, 255);
	assert_int_equal(kstrtoull("0XFF", 16, &u), 0);
	assert_int_equal(u, 255);
	assert_int_equal(kstrtoull("0x", 0, &u), -EINVAL);
	assert_int_equal(kstrtoull("08", 0, &u), -EINVAL);
	assert_int_equal(kstrtobool("On", &t), 0);
	assert_true(t);
	assert_int_equal(kstrtobool("o", &t), -EINVAL);
	assert_int_equal(kstrtobool(NULL, &t), -EINVAL);
	assert_int_equal(kstrtobool("", &t), -EINVAL);
	assert_int_equal(simple_strtoul("12ab", &end, 10), 12);
	assert_string_equal(end, "ab");
	assert_int_equal(simple_strtoul("x", &end, 10), 0);
	assert_string_equal(end, "x");
	assert_int_equal(simple_strtol("-8", NULL, 10), -8);
}

static void strings_are_moved_and_joined(void **state)
{
	char a[16] = "0123456789", *end;
	volatile int any = 0;

	memmove(a + 2, a, 8);
	assert_string_equal(a, "0101234567");
	memmove(a, a + 2, 9);
	assert_string_equal(a, "01234567");
	memmove(a, a, 4);
	assert_string_equal(a, "01234567");
	end = strcat(a, "ab");
	assert_ptr_equal(end, a);
	assert_string_equal(a, "01234567ab");
	strncat(a, &"cdef"[any], 2);
	assert_string_equal(a, "01234567abcd");
	strncat(a, "e", 2);
	assert_string_equal(a, "01234567abcde");
	strcpy(a, " \t a b \v\n");
	assert_string_equal(strim(a), "a b");
	strcpy(a, "  ");
	assert_string_equal(strim(a), "");
	assert_string_equal(strim(strcpy(a, "")), "");
	memset(a, '#', sizeof(a));
	assert_int_equal(strscpy_pad(a, "", 3), 0);
	assert_memory_equal(a, "\0\0\0#", 4);
	assert_int_equal(strscpy_pad(a, "abc", 3), -E2BIG);
	assert_memory_equal(a, "ab\0#", 4);
	assert_int_equal(strscpy(a, "x", 0), -E2BIG);
	assert_true(strcmp("\xff", "a") > 0);
	assert_true(strncmp("abc", "abd", 2) == 0);
	assert_true(strcmp("ab", "abc") < 0);
	assert_true(memcmp("a\0b", "a\0c", 3) < 0);
	assert_ptr_equal(memchr(a, 'b', 1), NULL);
}

/* --- lines --- */

static char seen[1024];

static void sink(int level, const char *text, size_t len, void *arg)
{
	strlcat(seen, text, sizeof(seen));
	strlcat(seen, "|", sizeof(seen));
}

static int look(void **state)
{
	seen[0] = '\0';
	return dp_printk_set(sink, NULL);
}

static int look_away(void **state)
{
	return dp_printk_set(NULL, NULL);
}

static void dumps_many_lines(void **state)
{
	static const u8 bytes[18] = "0123456789abcdefX";
	char want[256];

	print_hex_dump(KERN_INFO, "a: ", DUMP_PREFIX_OFFSET, 16, 1, bytes, 17,
		       false);
	assert_string_equal(
		seen, "a: 00000000: 30 31 32 33 34 35 36 37 38 39 61 62 63 64 "
		      "65 66|a: 00000010: 58|");
	look(state);
	print_hex_dump(KERN_INFO, "", DUMP_PREFIX_NONE, 32, 1, bytes, 17,
		       false);
	assert_string_equal(seen,
			    "30 31 32 33 34 35 36 37 38 39 61 62 63 64 65 66 "
			    "58|");
	look(state);
	print_hex_dump(KERN_INFO, "", DUMP_PREFIX_ADDRESS, 3, 1, bytes, 2,
		       true);
	snprintf(want, sizeof(want), "%p: 30 31 %42s 01|", bytes, "");
	assert_string_equal(seen, want);
	look(state);
	print_hex_dump(KERN_INFO, "", DUMP_PREFIX_NONE, 16, 1, bytes, 0, true);
	assert_string_equal(seen, "");
}

static void suppressed_messages_are_told(void **state)
{
	DEFINE_RATELIMIT_STATE(rs, 1 << 30, 2);

	assert_int_equal(__ratelimit(&rs), 1);
	assert_int_equal(__ratelimit(&rs), 1);
	assert_int_equal(__ratelimit(&rs), 0);
	assert_int_equal(__ratelimit(&rs), 0);
	assert_string_equal(seen, "");
	/* As if the interval were over. */
	rs.interval = 0;
	rs.begin -= 10;
	assert_int_equal(__ratelimit(&rs), 1);
	assert_string_equal(seen, "2 messages suppressed|");
	rs.begin -= 10;
	assert_int_equal(__ratelimit(&rs), 1);
	assert_string_equal(seen, "2 messages suppressed|");
}

/* --- memory, names, time --- */

static void construct(void *p)
{
	*(int *)p = 42;
}

static void caches_make_their_objects(void **state)
{
	struct kmem_cache *plain, *made;
	int *p;

	plain = kmem_cache_create("plain", 40, ARCH_KMALLOC_MINALIGN, 0, NULL);
	made = kmem_cache_create("made", sizeof(int), 0, 0, construct);
	assert_non_null(plain);
	assert_non_null(made);
	assert_null(kmem_cache_create("far", 8, 2 * ARCH_KMALLOC_MINALIGN, 0,
				      NULL));
	p = kmem_cache_alloc(made, GFP_KERNEL);
	assert_int_equal(*p, 42);
	kmem_cache_free(made, p);
	p = kmem_cache_alloc(plain, GFP_KERNEL);
	assert_true(ksize(p) >= 40);
	kmem_cache_free(plain, p);
	kmem_cache_destroy(plain);
	kmem_cache_destroy(made);
}

#define LONG \
	"a-name-that-is-longer-than-what-is-kept-of-the-names-of-objects-is"

static void copy(const char *from, const char *to)
{
	int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT, 0700);
	char buf[4096];
	ssize_t n;

	assert_true(in >= 0 && out >= 0);
	while ((n = read(in, buf, sizeof(buf))) > 0)
		assert_int_equal(write(out, buf, (size_t)n), n);
	close(in);
	close(out);
}

/* However often an object is asked for, the pointer to its name is the same. */
static void objects_have_one_name(void **state)
{
	char dir[] = "/tmp/compat.XXXXXX", path[128], name[KSYM_NAME_LEN];
	char *first, *object;
	void *handle, *at;
	int i;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/" LONG ".so", dir);
	copy(DP_MODULES "gives.so", path);
	handle = dlopen(path, RTLD_NOW);
	assert_non_null(handle);
	at = dlsym(handle, "gives_sum");
	assert_non_null(at);
	for (i = 0; i < 200; i++) {
		assert_non_null(kallsyms_lookup((unsigned long)at, NULL, NULL,
						&object, name));
		first = i ? first : object;
		assert_ptr_equal(object, first);
	}
	unlink(path);
	rmdir(dir);
	assert_memory_equal(object, LONG, 60);
	assert_non_null(kallsyms_lookup((unsigned long)abort, NULL, NULL,
					&object, NULL));
	assert_non_null(strstr(object, "libc"));
	assert_null(kallsyms_lookup(16, NULL, NULL, &object, name));
	assert_int_equal(lookup_symbol_name(16, name), -ERANGE);
	assert_int_equal(lookup_symbol_name((unsigned long)abort, name), 0);
	assert_string_equal(name, "abort");
}

static void delays_last(void **state)
{
	s64 begin = ktime_get();

	ndelay(200000);
	assert_true(ktime_get() - begin >= 200000);
	begin = ktime_get();
	usleep_range(300, 400);
	assert_true(ktime_get() - begin >= 300000);
}

/* Each processor has all of it, zeroed, and what is given back is taken again. */
static void large_ones_of_each_processor(void **state)
{
	size_t size = 20000;
	char *first = __alloc_percpu(size, 8), *p = first;
	int cpu, i;

	for (i = 0; i < 500; i++) {
		assert_ptr_equal(p, first);
		for_each_possible_cpu(cpu)
		{
			assert_int_equal(per_cpu_ptr(p, cpu)[size - 1], 0);
			memset(per_cpu_ptr(p, cpu), 1, size);
		}
		free_percpu(p);
		p = __alloc_percpu(size, 8);
	}
	free_percpu(p);
	free_percpu(NULL);
	assert_null(__alloc_percpu(8, 128));
	assert_null(__alloc_percpu(1 << 30, 8));
}

/* What does not fit beside the others is refused; a smaller one still has its place. */
static void the_area_of_processors_ends(void **state)
{
	static char *all[1000];
	size_t n = 0;

	while ((all[n] = __alloc_percpu(3000, 8)))
		n++;
	assert_in_range(n, 2, ARRAY_SIZE(all) - 1);
	free_percpu(all[n / 2]);
	all[n] = __alloc_percpu(3000, 8);
	assert_ptr_equal(all[n], all[n / 2]);
	free_percpu(all[n]);
	all[n / 2] = NULL;
	while (n--)
		free_percpu(all[n]);
}

static int settled;

static void settle(void)
{
	settled++;
}

static void locks_say_whether_they_were_free(void **state)
{
	static DEFINE_SPINLOCK(spin);
	static DEFINE_MUTEX(mutex);

	assert_true(spin_trylock(&spin));
	assert_false(spin_trylock(&spin));
	spin_unlock(&spin);
	assert_true(spin_trylock(&spin));
	spin_unlock(&spin);
	assert_true(mutex_trylock(&mutex));
	assert_int_equal(mutex.state, 1);
	mutex_unlock(&mutex);
	assert_false(mutex_is_locked(&mutex));
	synchronize_rcu();
	dp_compat_hooks.settle = settle;
	synchronize_rcu();
	dp_compat_hooks.settle = NULL;
	assert_int_equal(settled, 1);
}

static bool not_zero(const char *p, size_t n)
{
	while (n && !p[n - 1])
		n--;
	return n;
}

static void users_memory_is_cleared_and_measured(void **state)
{
	static char text[1000];

	memset(text, 'x', sizeof(text));
	assert_int_equal(clear_user(text + 1, 700), 0);
	assert_int_equal(text[0], 'x');
	assert_false(not_zero(text + 1, 700));
	assert_int_equal(text[701], 'x');
	assert_int_equal(clear_user((void *)8, 300), 300);
	memset(text, 'x', sizeof(text));
	text[600] = '\0';
	assert_int_equal(strnlen_user(text, 1000), 601);
	assert_int_equal(strnlen_user(text, 601), 601);
	assert_true(strnlen_user(text, 600) > 600);
	assert_true(strnlen_user(text, 256) > 256);
	assert_int_equal(strnlen_user((char *)8, 10), 0);
}

static void memory_ends_and_grows(void **state)
{
	char *p = krealloc(NULL, 10, GFP_KERNEL);

	assert_non_null(p);
	memcpy(p, "0123456789", 10);
	p = krealloc(p, 5000, GFP_KERNEL);
	assert_memory_equal(p, "0123456789", 10);
	assert_ptr_equal(krealloc(p, 0, GFP_KERNEL), ZERO_SIZE_PTR);
	kfree(ZERO_SIZE_PTR);
	assert_null(kcalloc(SIZE_MAX / 2, 3, GFP_KERNEL));
	p = kcalloc(3, 5, GFP_KERNEL);
	assert_false(not_zero(p, 15));
	kfree(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scans_texts_as_libc_does),
		cmocka_unit_test(scans_numbers_of_each_size),
		cmocka_unit_test(widths_can_be_arguments),
		cmocka_unit_test(lengths_are_told),
		cmocka_unit_test(signs_of_numbers),
		cmocka_unit_test(strings_are_moved_and_joined),
		cmocka_unit_test_setup_teardown(dumps_many_lines, look,
						look_away),
		cmocka_unit_test_setup_teardown(suppressed_messages_are_told,
						look, look_away),
		cmocka_unit_test(caches_make_their_objects),
		cmocka_unit_test(objects_have_one_name),
		cmocka_unit_test(delays_last),
		cmocka_unit_test(large_ones_of_each_processor),
		cmocka_unit_test(the_area_of_processors_ends),
		cmocka_unit_test(locks_say_whether_they_were_free),
		cmocka_unit_test(users_memory_is_cleared_and_measured),
		cmocka_unit_test(memory_ends_and_grows),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("compat_text", tests, NULL, NULL);
}
