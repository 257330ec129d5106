// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_compat: what probe modules call, and how they are loaded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/seccomp.h>
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/llist.h>
#include <linux/bsearch.h>
#include <linux/sort.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "lib/compat/hooks.h"
#include "lib/compat/module.h"
#include <dprobes-module.h>
#include "lib/compat/pool.h"
#include "compat_probes.h"

int oracle_vsnprintf(char *buf, size_t size, const char *fmt, va_list args);
int oracle_vsscanf(const char *s, const char *fmt, va_list args);
size_t oracle_strspn(const char *s, const char *set);

static u64 seed = 88172645463325252ull;

static u64 any(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* --- format --- */

static int ours(char *buf, size_t size, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(buf, size, fmt, args);
	va_end(args);
	return n;
}

static int theirs(char *buf, size_t size, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = oracle_vsnprintf(buf, size, fmt, args);
	va_end(args);
	return n;
}

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
	assert_int_equal(scnprintf(a, 4, "%s", "abcdef"), 3);
	assert_string_equal(a, "abc");
	assert_int_equal(scnprintf(a, 0, "%s", "abcdef"), 0);
	assert_int_equal(snprintf(NULL, 0, "%d", 12345), 5);
}

static int __used noinline known_function(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
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

static char seen[4096];
static int levels[64], nseen;

static void sink(int level, const char *text, size_t len, void *arg)
{
	assert_ptr_equal(arg, &nseen);
	assert_int_equal(strlen(text), len);
	levels[nseen++ % 64] = level;
	strlcat(seen, text, sizeof(seen));
	strlcat(seen, "|", sizeof(seen));
}

static void look(void)
{
	seen[0] = '\0';
	nseen = 0;
	assert_int_equal(dp_printk_set(sink, &nseen), 0);
}

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

/* --- the pool --- */

static void pool_gives_back_what_it_took(void **state)
{
	struct dp_pool pool = { .size = 1 << 16 };
	void *v[4096], *p;
	size_t n = 0;

	pool.base = mmap(NULL, pool.size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(pool.base, MAP_FAILED);
	while ((p = dp_pool_alloc(&pool, 16))) {
		assert_int_equal((uintptr_t)p % 16, 0);
		memset(p, 0xee, 16);
		v[n++] = p;
	}
	assert_int_equal(n, pool.size / 32);
	assert_null(dp_pool_alloc(&pool, 1));
	assert_null(dp_pool_alloc(&pool, (size_t)-1));
	assert_int_equal(dp_pool_free(&pool, v[5]), 0);
	assert_int_equal(dp_pool_free(&pool, v[5]), -EINVAL);
	assert_int_equal(dp_pool_free(&pool, (char *)v[6] + 8), -EINVAL);
	assert_int_equal(dp_pool_free(&pool, &n), -EINVAL);
	assert_int_equal(dp_pool_free(&pool, NULL), -EINVAL);
	assert_ptr_equal(dp_pool_alloc(&pool, 3), v[5]);
	/* Another size has no room now. */
	assert_null(dp_pool_alloc(&pool, 100));
	munmap(pool.base, pool.size);
}

static void kmalloc_and_relatives(void **state)
{
	char *p, *q;
	size_t size;

	for (size = 0; size < 300000; size = size * 2 + 7) {
		p = kmalloc(size, GFP_KERNEL);
		assert_non_null(p);
		memset(p, 0x55, size);
		kfree(p);
		p = kzalloc(size, GFP_ATOMIC);
		assert_true(ksize(p) >= size);
		for (q = p; q < p + size; q++)
			assert_int_equal(*q, 0);
		kfree(p);
	}
	assert_null(kmalloc(KMALLOC_MAX_SIZE + 1, GFP_KERNEL));
	assert_null(kcalloc((size_t)1 << 40, (size_t)1 << 40, GFP_KERNEL));
	p = kstrdup("hello", GFP_KERNEL);
	p = krealloc(p, 5000, GFP_KERNEL);
	assert_string_equal(p, "hello");
	kfree(p);
	look();
	kfree(p);
	assert_non_null(strstr(seen, "is not allocated"));
	dp_printk_set(NULL, NULL);
	kfree(NULL);
	p = kasprintf(GFP_KERNEL, "%s-%d", "x", 12);
	assert_string_equal(p, "x-12");
	kfree(p);
}

/* Each block is filled with its owner's number while it is owned. */
static int overlaps;

static void churn(u64 *random, int rounds, int mark)
{
	unsigned char *v[16] = { NULL };
	size_t sizes[16], k;
	int i, j;

	for (i = 0; i < rounds; i++) {
		*random = *random * 6364136223846793005ull +
			  1442695040888963407ull;
		j = (int)(*random >> 60);
		if (v[j]) {
			for (k = 0; k < sizes[j]; k++)
				if (v[j][k] != (unsigned char)mark)
					__atomic_fetch_add(&overlaps, 1,
							   __ATOMIC_RELAXED);
			kfree(v[j]);
			v[j] = NULL;
		} else {
			sizes[j] = *random >> 40 & 255;
			v[j] = kmalloc(sizes[j], GFP_ATOMIC);
			if (v[j])
				memset(v[j], mark, sizes[j]);
		}
	}
	for (j = 0; j < 16; j++)
		kfree(v[j]);
}

static u64 signal_random = 5;
static volatile int signals;

static void on_signal(int sig)
{
	signals++;
	churn(&signal_random, 40, 99);
	snprintf((char[40]){ 0 }, 40, "%d %s", sig, "in a handler");
}

static void *churner(void *arg)
{
	u64 random = (u64)(intptr_t)arg * 77;

	churn(&random, 60000, (int)(intptr_t)arg);
	return NULL;
}

static void pool_is_shared_by_threads_and_signals(void **state)
{
	struct itimerval often = { { 0, 300 }, { 0, 300 } }, never = { 0 };
	struct sigaction action = { .sa_handler = on_signal,
				    .sa_flags = SA_RESTART };
	struct sigaction old;
	pthread_t threads[4];
	intptr_t i;

	sigaction(SIGALRM, &action, &old);
	setitimer(ITIMER_REAL, &often, NULL);
	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, churner,
						(void *)(i + 1)),
				 0);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &old, NULL);
	assert_int_equal(overlaps, 0);
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

static int scan_ours(const char *s, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = dp_compat_vsscanf(s, fmt, args);
	va_end(args);
	return n;
}

static int scan_theirs(const char *s, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = oracle_vsscanf(s, fmt, args);
	va_end(args);
	return n;
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

/* --- memory that is not there --- */

static void bad_addresses_are_errors(void **state)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char buf[64];
	int value = 3;

	mprotect(page + 4096, 4096, PROT_NONE);
	memset(page, 'x', 4096);
	memset(buf, 'b', sizeof(buf));
	assert_int_equal(copy_from_user(buf, page + 4090, 20), 14);
	assert_memory_equal(buf, "xxxxxx\0\0\0\0\0\0\0\0\0\0\0\0\0\0b", 21);
	assert_int_equal(copy_from_user(buf, NULL, 8), 8);
	assert_int_equal(copy_to_user(page + 4094, buf, 4), 2);
	assert_int_equal(copy_to_user((void *)-4096ul, buf, 4), 4);
	assert_int_equal(copy_from_kernel_nofault(buf, page + 4095, 2),
			 -EFAULT);
	assert_int_equal(get_user(value, (int *)page), 0);
	assert_int_equal(value, 0x78787878);
	assert_int_equal(get_user(value, (int *)(page + 4094)), -EFAULT);
	assert_int_equal(put_user(5, (int *)8), -EFAULT);
	strcpy(page + 4092, "abc");
	assert_int_equal(strncpy_from_user(buf, page + 4092, 64), 3);
	assert_string_equal(buf, "abc");
	assert_int_equal(strncpy_from_user(buf, page + 4092, 2), 2);
	assert_int_equal(strnlen_user(page + 4092, 100), 4);
	page[4095] = 'd';
	assert_int_equal(strncpy_from_user(buf, page + 4092, 64), -EFAULT);
	assert_int_equal(strnlen_user(page + 4092, 100), 0);
	assert_int_equal(strncpy_from_kernel_nofault(buf, "hello", 3), 3);
	assert_string_equal(buf, "he");
	/* From one page to the next, and no more than there is room for. */
	mprotect(page + 4096, 4096, PROT_READ | PROT_WRITE);
	memset(page, 'x', 8192);
	memset(buf, 'b', sizeof(buf));
	assert_int_equal(strncpy_from_user(buf, page + 4090, 12), 12);
	assert_memory_equal(buf, "xxxxxxxxxxxxb", 13);
	page[4095] = '\0';
	memset(buf, 'b', sizeof(buf));
	assert_int_equal(strncpy_from_user(buf, page + 4090, 12), 5);
	assert_memory_equal(buf, "xxxxx\0b", 7);
	munmap(page, 8192);
}

/* --- the thread --- */

static void *in_thread(void *arg)
{
	assert_int_equal(current->pid, syscall(SYS_gettid));
	assert_int_equal(current->tgid, getpid());
	assert_int_not_equal(current->pid, current->tgid);
	prctl(PR_SET_NAME, "renamed");
	assert_string_equal(current->comm, "renamed");
	return NULL;
}

static void current_is_the_thread(void **state)
{
	char comm[TASK_COMM_LEN], own[TASK_COMM_LEN];
	pthread_t thread;
	pid_t pid;
	int status;

	assert_int_equal(current->pid, getpid());
	assert_int_equal(current->real_parent->tgid, getppid());
	assert_non_null(current->mm);
	prctl(PR_GET_NAME, own);
	assert_string_equal(get_task_comm(comm, current), own);
	assert_int_equal(current_uid().val, getuid());
	pthread_create(&thread, NULL, in_thread, NULL);
	pthread_join(thread, NULL);
	pid = fork();
	if (!pid)
		_exit(current->pid != getpid() || current->tgid != getpid() ||
		      current->real_parent->pid != getppid());
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	assert_int_equal(current->pid, getpid());
	assert_in_range(smp_processor_id(), 0, NR_CPUS - 1);
	assert_int_equal(num_online_cpus(), sysconf(_SC_NPROCESSORS_ONLN));
}

/* Files are read once for a thread, and anew in a fork child. */
static void what_a_thread_is_stays_known(void **state)
{
	struct task_struct *task = dp_task_known();
	u64 start = task->start_time;
	int status;
	pid_t pid;

	task->start_time = start - 1;
	assert_ptr_equal(dp_task_known(), task);
	assert_int_equal(task->start_time, start - 1);
	pid = fork();
	if (!pid)
		_exit(dp_task_known()->start_time < start);
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	task->start_time = start;
}

/* All that there may be, where the kernel does not tell. What it has told once is kept, so
 * this comes before all others. */
static void counts_processors_unseen(void **state)
{
	const struct rlimit none = { 0, 0 };
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(setrlimit(RLIMIT_NOFILE, &none) ||
		      num_possible_cpus() != NR_CPUS ||
		      num_online_cpus() != NR_CPUS);
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

static void clocks_are_the_kernels(void **state)
{
	struct timespec ts;
	s64 before, after;
	ktime_t now;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	before = timespec_to_ns(&ts);
	now = ktime_get();
	clock_gettime(CLOCK_MONOTONIC, &ts);
	after = timespec_to_ns(&ts);
	assert_in_range(now, before, after);
	assert_int_equal(ktime_us_delta(5000000, 2000000), 3000);
	now = ktime_get();
	udelay(300);
	assert_true(ktime_us_delta(ktime_get(), now) >= 300);
	msleep(2);
	assert_true(jiffies > 0);
}

static DEFINE_PER_CPU(int, counter) = 10;
static DEFINE_PER_CPU(long[3], several);

static void *count_up(void *arg)
{
	int i;

	for (i = 0; i < 20000; i++) {
		this_cpu_inc(counter);
		this_cpu_add(*(long *)arg, 2);
	}
	return NULL;
}

static void each_processor_has_its_copy(void **state)
{
	long *allocated = alloc_percpu(long), sum = 0;
	pthread_t threads[2];
	unsigned int cpu;
	void *again;
	int i;

	assert_non_null(allocated);
	for (i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, count_up, allocated);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for_each_possible_cpu(cpu) sum += per_cpu(counter, cpu) - 10;
	assert_int_equal(sum, 40000);
	for_each_possible_cpu(cpu) sum += *per_cpu_ptr(allocated, cpu);
	assert_int_equal(sum, 120000);
	per_cpu(several, 1)[2] = 5;
	assert_int_equal(per_cpu(several, 0)[2], 0);
	free_percpu(allocated);
	again = alloc_percpu(long);
	assert_ptr_equal(again, allocated);
	assert_int_equal(*per_cpu_ptr((long *)again, 0), 0);
	free_percpu(again);
	assert_null(__alloc_percpu(1 << 20, 8));
}

/* --- time --- */

/* In a process that may make none but to end. Return: whether it ends so. */
static bool reads_clock(bool ours)
{
	struct timespec t;
	pid_t child = fork();
	int status;

	if (!child) {
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
		if (ours)
			ktime_get();
		else
			clock_gettime(CLOCK_MONOTONIC, &t);
		syscall(SYS_exit, 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return !status;
}

/* Where libc's need none. */
static void clocks_need_no_system_call(void **state)
{
	assert_int_equal(reads_clock(true), reads_clock(false));
}

/* --- locks and lists --- */

static DEFINE_SPINLOCK(spin);
static DEFINE_MUTEX(mutex);
static DEFINE_RWLOCK(rw);
static long guarded[3];

static void *lock_and_add(void *arg)
{
	unsigned long flags;
	int i;

	for (i = 0; i < 20000; i++) {
		spin_lock_irqsave(&spin, flags);
		guarded[0]++;
		spin_unlock_irqrestore(&spin, flags);
		mutex_lock(&mutex);
		guarded[1]++;
		mutex_unlock(&mutex);
		write_lock(&rw);
		guarded[2]++;
		write_unlock(&rw);
		read_lock(&rw);
		read_unlock(&rw);
	}
	return NULL;
}

static void locks_exclude(void **state)
{
	pthread_t threads[3];
	int i;

	for (i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, lock_and_add, NULL);
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < 3; i++)
		assert_int_equal(guarded[i], 60000);
	assert_int_equal(mutex_trylock(&mutex), 1);
	assert_int_equal(mutex_trylock(&mutex), 0);
	mutex_unlock(&mutex);
}

static pid_t waiter;

static void *wait_for_mutex(void *arg)
{
	__atomic_store_n(&waiter, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	mutex_lock(&mutex);
	mutex_unlock(&mutex);
	return NULL;
}

/* Is the thread asleep on a futex? */
static bool sleeps_on_futex(pid_t tid)
{
	char path[64], text[64] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	/* "running", or the number of its system call, which is not 0. */
	return atoi(text) == SYS_futex;
}

/* Only if there is one is the kernel asked to wake it. */
static void a_mutex_wakes_its_waiter(void **state)
{
	pthread_t thread;

	mutex_lock(&mutex);
	pthread_create(&thread, NULL, wait_for_mutex, NULL);
	while (!sleeps_on_futex(__atomic_load_n(&waiter, __ATOMIC_ACQUIRE)))
		sched_yield();
	mutex_unlock(&mutex);
	pthread_join(thread, NULL);
	assert_int_equal(mutex_trylock(&mutex), 1);
	mutex_unlock(&mutex);
}

struct item {
	int value;
	struct list_head link;
	struct hlist_node node;
};

static void lists_keep_their_order(void **state)
{
	DEFINE_HASHTABLE(table, 4);
	struct item items[5], *item, *next;
	struct hlist_node *tmp;
	LIST_HEAD(head);
	int i, sum = 0, bucket;

	hash_init(table);
	for (i = 0; i < 5; i++) {
		items[i].value = i;
		list_add_tail(&items[i].link, &head);
		hash_add(table, &items[i].node, i);
	}
	i = 0;
	list_for_each_entry(item, &head, link)
		assert_int_equal(item->value, i++);
	list_for_each_entry_safe(item, next, &head, link) if (item->value % 2)
		list_del(&item->link);
	list_for_each_entry_reverse(item, &head, link)
		sum = sum * 10 + item->value;
	assert_int_equal(sum, 420);
	hash_for_each_possible(table, item, node, 3) if (item->value == 3)
		sum = 0;
	assert_int_equal(sum, 0);
	hash_for_each_safe(table, bucket, tmp, item, node)
	{
		sum += item->value;
		hash_del(&item->node);
	}
	assert_int_equal(sum, 10);
	hash_for_each(table, bucket, item, node) fail();
}

static void atomics_return_what_they_say(void **state)
{
	atomic_t a = ATOMIC_INIT(1);
	atomic64_t b = ATOMIC64_INIT(-1);
	u64 word = 5;

	assert_int_equal(atomic_inc_return(&a), 2);
	assert_true(atomic_add_unless(&a, 3, 9));
	assert_false(atomic_add_unless(&a, 3, 5));
	assert_int_equal(atomic_cmpxchg(&a, 5, 7), 5);
	assert_int_equal(atomic_cmpxchg(&a, 5, 8), 7);
	assert_int_equal(atomic_xchg(&a, 1), 7);
	assert_true(atomic_dec_and_test(&a));
	assert_true(atomic64_inc_and_test(&b));
	assert_int_equal(cmpxchg(&word, 5, 6), 5);
	assert_int_equal(xchg(&word, 1), 6);
	assert_int_equal(min_t(int, -1, 1u), -1);
	assert_int_equal(clamp(15, 1, 10), 10);
	assert_int_equal(abs(-5L), 5);
}

/* --- symbols and stacks --- */

static unsigned long lookup(const char *name)
{
	return strcmp(name, "known_function") ? 0 :
						(unsigned long)known_function;
}

static void names_and_addresses(void **state)
{
	char name[KSYM_NAME_LEN], text[KSYM_SYMBOL_LEN], *object;
	unsigned long size, offset, addr = (unsigned long)known_function;

	assert_int_equal(known_function(1), 2);
	assert_int_equal(kallsyms_lookup_name("known_function"), addr);
	assert_int_equal(kallsyms_lookup_name("no_such_function_anywhere"), 0);
	assert_ptr_equal(
		kallsyms_lookup(addr + 1, &size, &offset, &object, name), name);
	assert_string_equal(name, "known_function");
	assert_int_equal(offset, 1);
	assert_null(object);
	kallsyms_lookup((unsigned long)abort, &size, &offset, &object, name);
	assert_string_equal(name, "abort");
	assert_non_null(strstr(object, "libc"));
	sprint_symbol(text, (unsigned long)abort);
	assert_non_null(strstr(text, "abort+0x0/0x"));
	assert_non_null(strstr(text, "[libc"));
	assert_int_equal(dp_compat_alias_add("do_known=x", 8, "known_function"),
			 0);
	assert_int_equal(kallsyms_lookup_name("do_known"), addr);
	assert_string_equal(dp_compat_alias("do_known"), "known_function");
	assert_string_equal(dp_compat_alias("other"), "other");
}

static unsigned long trace[32];
static unsigned int ntrace;

static int __used noinline inner(int x)
{
	ntrace = stack_trace_save(trace, 32, 0);
	__asm__ volatile("" : "+r"(x));
	return x;
}

static int __used noinline middle(int x)
{
	x = inner(x + 1);
	__asm__ volatile("" : "+r"(x));
	return x * 3;
}

static int compare_through_libc(const void *a, const void *b)
{
	int x = middle(*(const int *)a);

	__asm__ volatile("" : "+r"(x));
	return *(const int *)a - *(const int *)b;
}

static int __used noinline outer(void)
{
	int v[2] = { 2, 1 };

	qsort(v, 2, sizeof(int), compare_through_libc);
	return v[0];
}

static bool in_trace(const char *name, unsigned int *at)
{
	char text[KSYM_SYMBOL_LEN];

	for (; *at < ntrace; (*at)++) {
		sprint_backtrace(text, trace[*at]);
		if (strstarts(text, name) && text[strlen(name)] == '+')
			return true;
	}
	return false;
}

static void stacks_go_through_libc(void **state)
{
	char text[400];
	unsigned int at = 0;

	assert_int_equal(outer(), 1);
	assert_true(in_trace("inner", &at));
	assert_int_equal(at, 0);
	assert_true(in_trace("middle", &at));
	assert_true(in_trace("compare_through_libc", &at));
	assert_true(in_trace("outer", &at));
	assert_true(in_trace("main", &at));
	assert_true(ntrace < 32);
	look();
	stack_trace_print(trace, 2, 1);
	assert_non_null(strstr(seen, "  inner+0x"));
	look();
	dump_stack();
	assert_non_null(strstr(seen, "stacks_go_through_libc+0x"));
	dp_printk_set(NULL, NULL);
	stack_trace_snprint(text, sizeof(text), trace, 2, 0);
	assert_non_null(strstr(text, "middle"));
}

static void on_trace_signal(int sig)
{
	ntrace = stack_trace_save(trace, 32, 0);
}

static int __used noinline raiser(void)
{
	syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR1);
	return 1 + known_function(0);
}

static void stacks_go_through_signals(void **state)
{
	unsigned int at = 0;

	signal(SIGUSR1, on_trace_signal);
	raiser();
	signal(SIGUSR1, SIG_DFL);
	assert_true(in_trace("on_trace_signal", &at));
	assert_true(in_trace("raiser", &at));
	assert_true(in_trace("main", &at));
}

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

/* --- waiting --- */

static DECLARE_COMPLETION(told);
static DECLARE_WAIT_QUEUE_HEAD(crowd);
static int said, heard;

static void *wait_for_it(void *arg)
{
	wait_for_completion(&told);
	wait_event(crowd, __atomic_load_n(&said, __ATOMIC_ACQUIRE));
	__atomic_fetch_add(&heard, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void wakes_who_waits(void **state)
{
	pthread_t threads[8];
	int round, i;

	for (round = 0; round < 200; round++) {
		said = heard = 0;
		for (i = 0; i < 8; i++)
			assert_int_equal(pthread_create(&threads[i], NULL,
							wait_for_it, NULL),
					 0);
		for (i = 0; i < 7; i++)
			complete(&told);
		assert_int_equal(heard, 0);
		__atomic_store_n(&said, 1, __ATOMIC_RELEASE);
		wake_up(&crowd);
		complete(&told);
		for (i = 0; i < 8; i++)
			pthread_join(threads[i], NULL);
		assert_int_equal(heard, 8);
		assert_false(completion_done(&told));
	}
	assert_false(waitqueue_active(&crowd));
}

static void waits_no_longer_than_told(void **state)
{
	u64 before = ktime_get_ns();

	assert_int_equal(wait_event_timeout(crowd, 0, 20), 0);
	assert_true(ktime_get_ns() - before >= 20000000);
	assert_true(wait_event_timeout(crowd, 1, 20) > 0);
	assert_int_equal(wait_event_timeout(crowd, 0, 0), 0);
	before = ktime_get_ns();
	assert_int_equal(schedule_timeout(3), 0);
	assert_true(ktime_get_ns() - before >= 3000000);
}

/* --- small ones --- */

struct counted {
	struct kref ref;
	struct llist_node node;
	int n;
};

static int released;

static void release(struct kref *ref)
{
	released += container_of(ref, struct counted, ref)->n;
}

static void counts_references(void **state)
{
	struct counted c = { .n = 3 };

	kref_init(&c.ref);
	kref_get(&c.ref);
	assert_int_equal(kref_read(&c.ref), 2);
	assert_int_equal(kref_put(&c.ref, release), 0);
	assert_int_equal(released, 0);
	assert_int_equal(kref_put(&c.ref, release), 1);
	assert_int_equal(released, 3);
	assert_int_equal(kref_get_unless_zero(&c.ref), 0);
}

static void lists_without_a_lock(void **state)
{
	struct counted c[3] = { { .n = 1 }, { .n = 2 }, { .n = 3 } }, *at,
		       *next;
	LLIST_HEAD(head);
	int order = 0, i;

	assert_true(llist_empty(&head));
	for (i = 0; i < 3; i++)
		assert_int_equal(llist_add(&c[i].node, &head), !i);
	llist_for_each_entry(at, head.first, node) order = order * 10 + at->n;
	assert_int_equal(order, 321);
	order = 0;
	llist_for_each_entry_safe(at, next,
				  llist_reverse_order(llist_del_all(&head)),
				  node) order = order * 10 + at->n;
	assert_int_equal(order, 123);
	assert_true(llist_empty(&head));
}

struct odd {
	unsigned char bytes[7];
};

static int by_first(const void *a, const void *b)
{
	return *(const unsigned char *)a - *(const unsigned char *)b;
}

static unsigned int swaps;

static void swap_odd(void *a, void *b, int size)
{
	struct odd one = *(struct odd *)a;

	assert_int_equal(size, sizeof(one));
	*(struct odd *)a = *(struct odd *)b;
	*(struct odd *)b = one;
	swaps++;
}

static void sorts_and_finds(void **state)
{
	static struct odd v[200];
	unsigned int sum, n, i, round;
	unsigned char key;

	for (round = 0; round < 400; round++) {
		n = round % 200;
		for (i = sum = 0; i < n; i++) {
			memset(v[i].bytes, (int)(any() % 97), sizeof(v[i]));
			sum += v[i].bytes[0];
		}
		sort(v, n, sizeof(v[0]), by_first, round & 1 ? swap_odd : NULL);
		for (i = 0; i < n; i++) {
			sum -= v[i].bytes[6];
			assert_int_equal(v[i].bytes[0], v[i].bytes[6]);
			assert_true(!i || v[i - 1].bytes[0] <= v[i].bytes[0]);
			assert_non_null(bsearch(v[i].bytes, v, n, sizeof(v[0]),
						by_first));
		}
		assert_int_equal(sum, 0);
		key = 97;
		assert_null(bsearch(&key, v, n, sizeof(v[0]), by_first));
	}
	assert_true(swaps > 0);
}

static void dumps_one_line(void **state)
{
	static const u8 bytes[] = { 0x41, 0x00, 0x7f, 0x42 };
	char line[80];

	assert_int_equal(hex_dump_to_buffer(bytes, 4, 16, 1, line, sizeof(line),
					    false),
			 11);
	assert_string_equal(line, "41 00 7f 42");
	assert_int_equal(hex_dump_to_buffer(bytes, 4, 16, 1, line, 6, false),
			 11);
	assert_string_equal(line, "41 00");
	hex_dump_to_buffer(bytes, 4, 16, 1, line, sizeof(line), true);
	assert_string_equal(strrchr(line, ' '), " A..B");
}

static void knows_code(void **state)
{
	static char data[8];

	assert_true(kernel_text_address((unsigned long)knows_code));
	assert_false(kernel_text_address((unsigned long)data));
	assert_false(kernel_text_address(0));
}

static void knows_whose_rights_and_since_when(void **state)
{
	uid_t real, effective, saved;

	assert_int_equal(getresuid(&real, &effective, &saved), 0);
	assert_int_equal(current->cred->uid.val, real);
	assert_int_equal(current->cred->euid.val, effective);
	assert_int_equal(current->cred->gid.val, getgid());
	assert_true(current->start_time > 0);
	assert_true(current->start_time <= (u64)ktime_get_boottime_ns());
	assert_true(current->parent->start_time <= current->start_time);
	assert_int_equal(current->parent->cred->uid.val, real);
	assert_ptr_equal(current->real_cred, current->cred);
}

/* A thread of another process, as /proc shows it; that one has different ids if it may. */
static bool knows_rights_of_another(void)
{
	struct dp_probed there = { .task = { .pid = getpid(),
					     .tgid = getpid() } };
	uid_t uid[3];
	gid_t gid[3];
	const struct cred *cred;

	/* Those of the file system follow the effective ones, so they come behind. */
	if (!getuid() &&
	    (setresgid(11, 12, 13) || setfsgid(14) < 0 || setresuid(1, 2, 3)))
		return false;
	setfsuid(3);
	if (getresuid(&uid[0], &uid[1], &uid[2]) ||
	    getresgid(&gid[0], &gid[1], &gid[2]))
		return false;
	dp_probed = &there;
	cred = current->cred;
	dp_probed = NULL;
	return cred->uid.val == uid[0] && cred->euid.val == uid[1] &&
	       cred->suid.val == uid[2] && cred->gid.val == gid[0] &&
	       cred->egid.val == gid[1] && cred->sgid.val == gid[2] &&
	       cred->fsuid.val == (uid_t)setfsuid(-1u) &&
	       cred->fsgid.val == (gid_t)setfsgid(-1u);
}

static void knows_rights_from_outside(void **state)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(!knows_rights_of_another());
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_processors_unseen),
		cmocka_unit_test(wakes_who_waits),
		cmocka_unit_test(waits_no_longer_than_told),
		cmocka_unit_test(counts_references),
		cmocka_unit_test(lists_without_a_lock),
		cmocka_unit_test(sorts_and_finds),
		cmocka_unit_test(dumps_one_line),
		cmocka_unit_test(knows_code),
		cmocka_unit_test(knows_whose_rights_and_since_when),
		cmocka_unit_test(knows_rights_from_outside),
		cmocka_unit_test(formats_as_libc_does),
		cmocka_unit_test(formats_several),
		cmocka_unit_test(formats_kernel_pointers),
		cmocka_unit_test(formats_nested),
		cmocka_unit_test(printk_makes_lines),
		cmocka_unit_test(printk_writes_lines_at_once),
		cmocka_unit_test(pool_gives_back_what_it_took),
		cmocka_unit_test(kmalloc_and_relatives),
		cmocka_unit_test(pool_is_shared_by_threads_and_signals),
		cmocka_unit_test(strings_are_bounded),
		cmocka_unit_test(numbers_from_text),
		cmocka_unit_test(scans_as_libc_does),
		cmocka_unit_test(bad_addresses_are_errors),
		cmocka_unit_test(current_is_the_thread),
		cmocka_unit_test(what_a_thread_is_stays_known),
		cmocka_unit_test(clocks_are_the_kernels),
		cmocka_unit_test(each_processor_has_its_copy),
		cmocka_unit_test(locks_exclude),
		cmocka_unit_test(a_mutex_wakes_its_waiter),
		cmocka_unit_test(clocks_need_no_system_call),
		cmocka_unit_test(lists_keep_their_order),
		cmocka_unit_test(atomics_return_what_they_say),
		cmocka_unit_test(names_and_addresses),
		cmocka_unit_test(stacks_go_through_libc),
		cmocka_unit_test(stacks_go_through_signals),
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
	return cmocka_run_group_tests_name("compat", tests, NULL, NULL);
}
