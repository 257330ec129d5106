/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* tap: what a test says, in C and C++. */
#ifndef TESTS_TAP_H
#define TESTS_TAP_H

#include <dprobes/kprobes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int tap_n, tap_failed;

static bool __attribute__((unused, format(printf, 2, 3)))
ok(bool good, const char *fmt, ...)
{
	va_list ap;

	printf("%sok %d - ", good ? "" : "not ", ++tap_n);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	puts("");
	fflush(stdout);
	tap_failed += !good;
	return good;
}

static bool __attribute__((unused)) is(long got, long want, const char *what)
{
	ok(got == want, "%s", what);
	if (got != want)
		printf("# got %ld, expected %ld (%s)\n", got, want,
		       dp_last_diag()->text);
	return got == want;
}

static void __attribute__((unused)) skip(const char *what, const char *why)
{
	printf("ok %d - %s # SKIP %s\n", ++tap_n, what, why);
}

static int __attribute__((unused)) plan(void)
{
	printf("1..%d\n", tap_n);
	return tap_failed != 0;
}

/* How much: more of it in the long form. */
static long __attribute__((unused)) amount(const char *name, long brief)
{
	const char *text = getenv(name);

	return text ? atol(text) : brief;
}

static double __attribute__((unused)) seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static unsigned int __attribute__((unused)) draw(unsigned int *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

#endif
