// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_compat_memory: the memory that modules get, and memory that is not there. */
#include "compat.h"

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
	assert_null(kzalloc(KMALLOC_MAX_SIZE + 1, GFP_KERNEL));
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

/* Whatever is asked for then: there is none, and later there is some again. */
static void all_of_it_is_taken(void **state)
{
	void **last = NULL, **p;
	size_t size;

	for (size = KMALLOC_MAX_SIZE; size >= 8; size /= 2)
		while ((p = kmalloc(size, GFP_KERNEL))) {
			*p = last;
			last = p;
		}
	assert_null(kzalloc(8, GFP_KERNEL));
	assert_null(kstrdup("hello", GFP_KERNEL));
	assert_null(kmem_cache_create("none", 8, 0, 0, NULL));
	for (; last; last = p) {
		p = *last;
		kfree(last);
	}
	kfree(kmalloc(8, GFP_KERNEL));
	kmem_cache_destroy(kmem_cache_create("some", 8, 0, 0, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pool_gives_back_what_it_took),
		cmocka_unit_test(kmalloc_and_relatives),
		cmocka_unit_test(pool_is_shared_by_threads_and_signals),
		cmocka_unit_test(bad_addresses_are_errors),
		cmocka_unit_test(all_of_it_is_taken),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	dp_compat_hooks.lookup = lookup;
	return cmocka_run_group_tests_name("compat memory", tests, NULL, NULL);
}
