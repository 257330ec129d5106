// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * malloc_sizes: a program that probes itself.
 *
 *     cc -o malloc_sizes malloc_sizes.c $(pkg-config --cflags --libs dprobes)
 *
 * A kprobe counts calls of malloc by size, a return probe times qsort, and both
 * are gone again before the program tells what they have seen.
 */
#include <dprobes/kprobes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CLASSES 8
#define WORDS 20000

static unsigned long calls[CLASSES];
static long long slowest;

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* Sizes below 16, 64, 256, …; general registers will do. */
static int DP_HANDLER_GPR count(struct kprobe *p, struct pt_regs *regs)
{
	unsigned long size = regs_get_kernel_argument(regs, 0);
	int class = 0;

	while (class < CLASSES - 1 && size >= 16ul << 2 * class)
		class ++;
	__atomic_fetch_add(&calls[class], 1, __ATOMIC_RELAXED);
	return 0;
}

static int begin(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	*(long long *)ri->data = now();
	return 0;
}

static int end(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	long long took = now() - *(long long *)ri->data;

	if (took > slowest)
		slowest = took;
	return 0;
}

static int by_value(const void *a, const void *b)
{
	return **(int *const *)a - **(int *const *)b;
}

static void work(void)
{
	static int *words[WORDS];
	int i;

	for (i = 0; i < WORDS; i++) {
		words[i] = malloc(sizeof(int) + (size_t)i % 3 * 100);
		*words[i] = (i * 7919) % WORDS;
	}
	qsort(words, WORDS, sizeof(words[0]), by_value);
	for (i = 0; i < WORDS; i++)
		free(words[i]);
}

static int fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, dp_last_diag()->text);
	return 1;
}

int main(void)
{
	struct kprobe sizes = { .symbol_name = "malloc", .pre_handler = count };
	struct kretprobe sort = { .kp.symbol_name = "qsort",
				  .handler = end,
				  .entry_handler = begin,
				  .data_size = sizeof(long long) };
	int i;

	if (register_kprobe(&sizes))
		return fail("malloc");
	if (register_kretprobe(&sort))
		return fail("qsort");
	work();
	unregister_kprobe(&sizes);
	unregister_kretprobe(&sort);
	for (i = 0; i < CLASSES; i++)
		if (calls[i])
			printf("%8lu below %lu bytes\n", calls[i],
			       16ul << 2 * i);
	printf("qsort took at most %lld us, %d calls missed\n", slowest / 1000,
	       sort.nmissed);
	return 0;
}
