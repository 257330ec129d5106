// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_compat_format: what modules format, print and read as the kernel does. */
#include "compat.h"

/* A conversion that C defines, with whatever flags it defines for it. */
static void make_format(char *fmt, char *conv)
{
	static const char convs[] = "diuxXocs";
	static const char *const lengths[] = { "",  "",	  "h", "hh",
					       "l", "ll", "z", "j" };
	char c = convs[any() % 8];
	bool text = c == 'c' || c == 's';

	*conv = c;
	*fmt++ = '<';
	*fmt++ = '%';
	if (any() % 3 == 0)
		*fmt++ = '-';
	if (any() % 3 == 0 && (c == 'd' || c == 'i'))
		*fmt++ = '+';
	if (any() % 3 == 0 && (c == 'd' || c == 'i'))
		*fmt++ = ' ';
	if (any() % 3 == 0 && (c == 'x' || c == 'X' || c == 'o'))
		*fmt++ = '#';
	if (any() % 3 == 0 && !text)
		*fmt++ = '0';
	if (any() % 2)
		fmt += theirs(fmt, 8, "%d", (int)(any() % 30) + 1);
	if (any() % 2 && c != 'c')
		fmt += theirs(fmt, 8, ".%d", (int)(any() % 25));
	if (!text)
		fmt += theirs(fmt, 8, "%s", lengths[any() % 8]);
	*fmt++ = c;
	*fmt++ = '>';
	*fmt = '\0';
}

static u64 make_value(void)
{
	switch (any() % 4) {
	case 0:
		return any() % 3;
	case 1:
		return -(any() % 300);
	case 2:
		return any() >> (any() % 64);
	default:
		return any();
	}
}

static void formats_as_libc_does(void **state)
{
	char fmt[40], a[128], b[128], conv, word[20];
	int i, n, m;
	u64 value;
	size_t size;

	for (i = 0; i < 200000; i++) {
		make_format(fmt, &conv);
		value = make_value();
		size = any() % 4 ? sizeof(a) : any() % 12;
		memset(a, 'A', sizeof(a));
		memset(b, 'A', sizeof(b));
		theirs(word, sizeof(word), "%llu", value % 100000);
		if (conv == 's')
			value = (u64)word;
		else if (conv == 'c')
			value = 'a' + value % 26;
		n = ours(a, size, fmt, value);
		m = theirs(b, size, fmt, value);
		if (n != m || memcmp(a, b, sizeof(a)))
			fail_msg(
				"%s of %#llx: %d \"%.*s\" instead of %d \"%.*s\"",
				fmt, value, n, (int)sizeof(a), a, m,
				(int)sizeof(b), b);
	}
}

static void formats_several(void **state)
{
	char a[200], b[200];

	assert_int_equal(ours(a, sizeof(a), "%*d|%-*d|%.*s|%%|%5c|%hhd", 7, 42,
			      7, 42, 2, "abc", 'x', 300),
			 theirs(b, sizeof(b), "%*d|%-*d|%.*s|%%|%5c|%hhd", 7,
				42, 7, 42, 2, "abc", 'x', 300));
	assert_string_equal(a, b);
	/* A negative width is to the left; a negative precision is none. */
	assert_int_equal(ours(a, sizeof(a), "%*d|%.*s|", -7, 42, -2, "abc"),
			 theirs(b, sizeof(b), "%*d|%.*s|", -7, 42, -2, "abc"));
	assert_string_equal(a, b);
	/* What is no conversion is printed as it is, and nothing of what follows. */
	assert_int_equal(ours(a, sizeof(a), "%y!"), 3);
	assert_string_equal(a, "%y!");
	assert_int_equal(scnprintf(a, 4, "%s", "abcdef"), 3);
	assert_string_equal(a, "abc");
	assert_int_equal(scnprintf(a, 0, "%s", "abcdef"), 0);
	assert_int_equal(snprintf(NULL, 0, "%d", 12345), 5);
}

static void formats_kernel_pointers(void **state)
{
	char a[200];
	u8 bytes[] = { 1, 0xab, 0x3c, 4, 5, 6 }, many[65] = { 0 };
	const char *bad = (const char *)8;

	/* No more than 64 bytes, as in the kernel. */
	ours(a, sizeof(a), "%*phN", 64, many);
	assert_int_equal(strspn(a, "0"), 2 * 64);
	ours(a, sizeof(a), "%*phN", 65, many);
	assert_int_equal(strlen(a), 2 * 64);
	ours(a, sizeof(a), "%p %px %pK", (void *)0x1234abcd, (void *)1, NULL);
	assert_string_equal(
		a, "000000001234abcd 0000000000000001 0000000000000000");
	ours(a, sizeof(a), "%ps", (void *)((char *)known_function + 2));
	assert_string_equal(a, "known_function");
	ours(a, sizeof(a), "%pS!", (void *)((char *)known_function + 2));
	assert_non_null(strstr(a, "known_function+0x2/0x"));
	assert_int_equal(a[strlen(a) - 1], '!');
	ours(a, sizeof(a), "%pB", (void *)known_function);
	assert_null(strstr(a, "known_function"));
	ours(a, sizeof(a), "%pB", (void *)((char *)known_function + 2));
	assert_non_null(strstr(a, "known_function+0x2/0x"));
	ours(a, sizeof(a), "%pB", (void *)16);
	assert_string_equal(a, "0x10");
	sprint_backtrace(a, (unsigned long)known_function + 3);
	assert_non_null(strstr(a, "known_function+0x3/0x"));
	ours(a, sizeof(a), "%3ph %pM %pI4 %*phC", bytes, bytes, bytes, 2,
	     bytes);
	assert_string_equal(a, "01 ab 3c 01:ab:3c:04:05:06 1.171.60.4 01:ab");
	ours(a, sizeof(a), "%s %s %pe", NULL, bad, ERR_PTR(-22));
	assert_string_equal(a, "(null) (efault) -22");
	ours(a, sizeof(a), "%pe %-6pe!", (void *)16, ERR_PTR(-1));
	assert_string_equal(a, "0000000000000010 -1    !");
	ours(a, sizeof(a), "%pS", (void *)16);
	assert_string_equal(a, "0x10");
}

static void nested(char *a, size_t size, const char *fmt, ...)
{
	struct va_format vaf = { .fmt = fmt };
	va_list args;

	va_start(args, fmt);
	vaf.va = &args;
	ours(a, size, "[%pV] %d", &vaf, 7);
	va_end(args);
}

static void formats_nested(void **state)
{
	char a[64];

	nested(a, sizeof(a), "%s=%d", "x", 5);
	assert_string_equal(a, "[x=5] 7");
}

/* --- printk --- */

static void printk_makes_lines(void **state)
{
	char *large = malloc(5000);

	look();
	printk(KERN_ERR "one %d\n", 1);
	printk("no newline");
	pr_info("two\nlines\n");
	pr_cont("\n");
	printk("\n");
	assert_string_equal(seen, "one 1|no newline|two|lines||");
	assert_int_equal(levels[0], 3);
	assert_int_equal(levels[1], 4);
	assert_int_equal(levels[2], 6);
	assert_int_equal(levels[3], 6);
	look();
	memset(large, 'x', 4999);
	large[4999] = '\0';
	printk("%s", large);
	assert_int_equal(nseen, 1);
	assert_int_equal(strlen(seen), 1022 + 1);
	look();
	pr_info_once("a");
	for (nseen = 0; nseen < 40;)
		printk_ratelimited("b"), nseen++;
	assert_true(strlen(seen) <= 2 + 2 * 10);
	free(large);
	dp_printk_set(NULL, NULL);
}

static void printk_writes_lines_at_once(void **state)
{
	int fds[2], old = dup(2);
	char text[64];

	assert_int_equal(pipe2(fds, O_DIRECT), 0);
	dup2(fds[1], 2);
	printk(KERN_INFO "first\nsecond\n");
	dup2(old, 2);
	close(old);
	/* A packet a write. */
	assert_int_equal(read(fds[0], text, sizeof(text)), 6);
	assert_memory_equal(text, "first\n", 6);
	assert_int_equal(read(fds[0], text, sizeof(text)), 7);
	assert_memory_equal(text, "second\n", 7);
	close(fds[0]);
	close(fds[1]);
}

/* --- strings and numbers --- */

static void strings_are_bounded(void **state)
{
	char a[8], *s, text[] = "a,b,,c";
	int i;

	assert_int_equal(strscpy(a, "12345678", sizeof(a)), -E2BIG);
	assert_string_equal(a, "1234567");
	assert_int_equal(strscpy(a, "123", sizeof(a)), 3);
	assert_int_equal(strlcpy(a, "123456789", sizeof(a)), 9);
	assert_int_equal(strlcat(a, "x", sizeof(a)), 8);
	memset(a, 1, sizeof(a));
	assert_int_equal(strscpy_pad(a, "ab", sizeof(a)), 2);
	assert_memory_equal(a, "ab\0\0\0\0\0\0", 8);
	strncpy(a, "ab", 3);
	assert_memory_equal(a, "ab\0", 3);
	s = text;
	assert_string_equal(strsep(&s, ","), "a");
	assert_string_equal(strsep(&s, ","), "b");
	assert_string_equal(strsep(&s, ","), "");
	assert_string_equal(strsep(&s, ","), "c");
	assert_null(strsep(&s, ","));
	assert_ptr_equal(strrchr("/a/b", '/')[1] == 'b' ? text : NULL, text);
	assert_null(strstr("abc", "cd"));
	assert_int_equal(strcmp("a", "b") < 0, 1);
	assert_int_equal(strncasecmp("HELLO", "hellx", 4), 0);
	assert_true(sysfs_streq("on\n", "on"));
	for (i = 0; i < 100; i++) {
		char t[12] = { 0 };
		int j;

		for (j = 0; j < 10; j++)
			t[j] = (char)('a' + any() % 4);
		assert_int_equal(strspn(t, "ab"), oracle_strspn(t, "ab"));
		memmove(t + 1, t, 10);
	}
}

static void numbers_from_text(void **state)
{
	unsigned long long u;
	int i;
	u8 b;
	bool t;
	char *end;

	assert_int_equal(kstrtoull("0x10\n", 0, &u), 0);
	assert_int_equal(u, 16);
	assert_int_equal(kstrtoull("18446744073709551615", 10, &u), 0);
	assert_int_equal(kstrtoull("18446744073709551616", 10, &u), -ERANGE);
	/* One that is too large says nothing of the next. */
	assert_int_equal(kstrtoull("18", 10, &u), 0);
	assert_int_equal(u, 18);
	assert_int_equal(kstrtoull("", 10, &u), -EINVAL);
	assert_int_equal(kstrtoull("12x", 10, &u), -EINVAL);
	assert_int_equal(kstrtoint("-2147483648", 0, &i), 0);
	assert_int_equal(i, INT_MIN);
	assert_int_equal(kstrtoint("2147483648", 0, &i), -ERANGE);
	assert_int_equal(kstrtou8("256", 0, &b), -ERANGE);
	assert_int_equal(kstrtobool("off", &t), 0);
	assert_false(t);
	assert_int_equal(kstrtobool("maybe", &t), -EINVAL);
	assert_int_equal(simple_strtol("-012,3", &end, 0), -10);
	assert_string_equal(end, ",3");
}

static void scans_as_libc_does(void **state)
{
	static const char *const cases[][2] = {
		{ "12 34", "%d %d" },	{ "12,34", "%d,%d" },
		{ "-5 0x1f", "%d %i" }, { "123456", "%3d%2d" },
		{ "x 9", "%d %d" },	{ " 7", "%*d %d" },
		{ "077 8", "%i %d" },	{ "4 %", "%d %% %d" },
		{ "10:20", "%d:%d%d" }, { "", "%d %d" },
		{ "+3 ff", "%d %x" },
	};
	int a[2], b[2];
	char s[2][16];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		memset(a, 0, sizeof(a));
		memset(b, 0, sizeof(b));
		/* At the end of the input the kernel's says 0, libc's -1. */
		assert_int_equal(scan_ours(cases[i][0], cases[i][1], &a[0],
					   &a[1]),
				 max(0, scan_theirs(cases[i][0], cases[i][1],
						    &b[0], &b[1])));
		assert_memory_equal(a, b, sizeof(a));
	}
	assert_int_equal(
		scan_ours("key = va-lue;", "%s = %[a-z-];", s[0], s[1]), 2);
	assert_string_equal(s[0], "key");
	assert_string_equal(s[1], "va-lue");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats_as_libc_does),
		cmocka_unit_test(formats_several),
		cmocka_unit_test(formats_kernel_pointers),
		cmocka_unit_test(formats_nested),
		cmocka_unit_test(printk_makes_lines),
		cmocka_unit_test(printk_writes_lines_at_once),
		cmocka_unit_test(strings_are_bounded),
		cmocka_unit_test(numbers_from_text),
		cmocka_unit_test(scans_as_libc_does),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	dp_compat_hooks.lookup = lookup;
	return cmocka_run_group_tests_name("compat format", tests, NULL, NULL);
}
