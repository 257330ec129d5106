/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* recorder: the last lines of a run, kept in memory until they are wanted. */
#ifndef DP_TRACER_RECORDER_H
#define DP_TRACER_RECORDER_H

#include "port_types.h"
#include <stdbool.h>
#include <stdio.h>

struct dp_recorder;

/**
 * dp_recorder_open() - keep lines
 * @size: bytes of memory for them; 0: none is kept, they are written at once
 * @behind: where they are written in the end
 * @out: lines go there
 *
 * Return: 0 or -ENOMEM.
 */
int dp_recorder_open(struct dp_recorder **recorder, size_t size, FILE *behind,
		     FILE **out);
/** dp_recorder_last() - from now on, or not any more, a line is the one that will be the last */
void dp_recorder_last(struct dp_recorder *r, bool is);
/** dp_recorder_write() - write what is kept, and the last line behind it. Return: how many lines. */
u64 dp_recorder_write(struct dp_recorder *r);
/** dp_recorder_dropped() - lines for which there was no memory any more */
u64 dp_recorder_dropped(const struct dp_recorder *r);
void dp_recorder_close(struct dp_recorder *r);

#endif
