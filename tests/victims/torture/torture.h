/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * torture: what the programs of this directory have in common.
 *
 * Each leaves functions in one kind of ways and checks what it sees. It prints a
 * line a check, the same in every run, and ends with 0 if all was right.
 */
#ifndef TORTURE_H
#define TORTURE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* A function that stays one, and of which its callers know nothing. */
#define APART __attribute__((noipa))

/* Behind a call that is not to become a jump. */
#define STAY() __asm__ volatile("" ::: "memory")

static int wrong;

static inline void check(const char *what, bool good)
{
	printf("%s: %s\n", what, good ? "right" : "wrong");
	fflush(stdout);
	wrong += !good;
}

static inline int verdict(void)
{
	return wrong != 0;
}

#endif
