// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * remaps: a program whose mappings within reach of its text change all the time.
 *
 * One thread calls work() and checks each result. Another maps and unmaps, where it likes and where
 * the kernel likes. Says "right" at SIGTERM if all results were.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = 4096, BLOCKS = 64, NEAR_PAGES = 100000, FAR_PAGES = 2000 };

struct block {
	void *at;
	size_t size;
};

static volatile sig_atomic_t over;

static void on_term(int sig)
{
	(void)sig;
	over = 1;
}

__attribute__((noinline)) static long work(long n)
{
	__asm__ volatile("");
	return n * 3 + 1;
}

static struct block map(uintptr_t text, unsigned *seed, int near)
{
	long off = (long)(rand_r(seed) % (2 * NEAR_PAGES)) - NEAR_PAGES;
	struct block b = {
		.size = near ? 16 * PAGE : PAGE * (1 + rand_r(seed) % FAR_PAGES)
	};

	b.at = mmap(
		near ? (void *)(text + off * PAGE) : NULL, b.size, PROT_READ,
		MAP_PRIVATE | MAP_ANONYMOUS | (near ? MAP_FIXED_NOREPLACE : 0),
		-1, 0);
	return b;
}

static void *remap(void *arg)
{
	uintptr_t text = (uintptr_t)work & ~(uintptr_t)(PAGE - 1);
	struct block blocks[BLOCKS];
	unsigned seed = 1;
	int i;

	while (!over) {
		for (i = 0; i < BLOCKS; i++)
			blocks[i] = map(text, &seed, i % 2);
		for (i = 0; i < BLOCKS; i++)
			if (blocks[i].at != MAP_FAILED)
				munmap(blocks[i].at, blocks[i].size);
	}
	return arg;
}

int main(void)
{
	pthread_t thread;
	long n;

	signal(SIGTERM, on_term);
	if (pthread_create(&thread, NULL, remap, NULL))
		return 1;
	puts("running");
	fflush(stdout);
	for (n = 0; !over; n++) {
		if (work(n) == n * 3 + 1)
			continue;
		printf("wrong: %ld\n", n);
		return 1;
	}
	pthread_join(thread, NULL);
	puts("right");
	return 0;
}
