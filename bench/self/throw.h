/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef BENCH_SELF_THROW_H
#define BENCH_SELF_THROW_H

#ifdef __cplusplus
extern "C" {
#endif

/* Each calls the next one; the last one throws. */
int bench_throw1(int n);
int bench_throw2(int n);
int bench_throw3(int n);

/** bench_throw_cost() - ns from a call to the handler behind three functions */
double bench_throw_cost(int throws);

#ifdef __cplusplus
}
#endif
#endif
