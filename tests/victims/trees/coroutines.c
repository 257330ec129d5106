// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Stacks that take turns: what is called on one ends before it gives its turn away */
#include "trees.h"
#include <stdlib.h>
#include <ucontext.h>

static ucontext_t home, there[3];

CALLED long f_leaf(long n)
{
	return n + 1;
}

CALLED long f_step(long n)
{
	return n % 3 ? f_step(n / 3) + f_leaf(n) : f_leaf(n);
}

UNTOLD static void generate(int id)
{
	long i;

	for (i = 0;; i++) {
		f_step(i * 5 + id);
		swapcontext(&there[id], &home);
	}
}

CALLED long f_turn(int id)
{
	f_leaf(id);
	swapcontext(&home, &there[id]);
	return f_leaf(-id);
}

UNTOLD int main(void)
{
	int i;

	for (i = 0; i < 3; i++) {
		getcontext(&there[i]);
		there[i].uc_stack.ss_sp = malloc(65536);
		there[i].uc_stack.ss_size = 65536;
		makecontext(&there[i], (void (*)(void))generate, 1, i);
	}
	for (i = 0; i < 30; i++)
		f_turn(i * 2 % 3);
	return 0;
}
