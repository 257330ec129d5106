// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* sort: heapsort, which needs no more memory. */
#include "lib/compat/compat.h"

struct heap {
	char *base;
	size_t size;
	int (*compare)(const void *a, const void *b);
	void (*exchange)(void *a, void *b, int size);
};

static void change(const struct heap *h, size_t i, size_t k)
{
	char *a = h->base + i * h->size, *b = h->base + k * h->size, byte;
	size_t n;

	if (h->exchange) {
		h->exchange(a, b, (int)h->size);
		return;
	}
	for (n = 0; n < h->size; n++) {
		byte = a[n];
		a[n] = b[n];
		b[n] = byte;
	}
}

static bool is_less(const struct heap *h, size_t i, size_t k)
{
	return h->compare(h->base + i * h->size, h->base + k * h->size) < 0;
}

/* Move the element at @i down until no element below it is larger. */
static void sink(const struct heap *h, size_t i, size_t n)
{
	size_t child;

	for (; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && is_less(h, child, child + 1))
			child++;
		if (!is_less(h, i, child))
			return;
		change(h, i, child);
	}
}

void sort(void *base, size_t n, size_t size,
	  int (*compare)(const void *a, const void *b),
	  void (*exchange)(void *a, void *b, int size))
{
	const struct heap h = { base, size, compare, exchange };
	size_t i;

	for (i = n / 2; i-- > 0;)
		sink(&h, i, n);
	for (i = n; i-- > 1;) {
		change(&h, 0, i);
		sink(&h, 0, i);
	}
}
