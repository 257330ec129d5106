/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* placed: what hits of handlers cost, wherever the function and its caller lie. */
#ifndef BENCH_SELF_PLACED_H
#define BENCH_SELF_PLACED_H

/* A multiple of the places */
#define BENCH_PLACED_ROUNDS 16

/** bench_placed_round() - measure all once, at the next place */
void bench_placed_round(void);
/** bench_placed_print() - print the results of so many rounds as bench does */
void bench_placed_print(void);

/* main.c */
double bench_print(const char *name, const char *unit, double *v, int n,
		   const char *note);
void bench_die(const char *what, int err);
double bench_now(void);

#endif
