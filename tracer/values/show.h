/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* show: print one value of a record. */
#ifndef DP_TRACER_VALUES_SHOW_H
#define DP_TRACER_VALUES_SHOW_H

#include <stdio.h>
#include "tracer/expr.h"

struct dp_item;
struct dp_modules;

/**
 * dp_value_show() - print what was logged for @shown
 *
 * In JSON, strings are JSON strings, and numbers with or without sign are numbers.
 * Hexadecimal numbers are strings: a reader may want all 64 bits. What could not be read is
 * {"bad_address":"0x…"}. An address to be shown by name is one of @mods, or NULL where these
 * are not known: hexadecimal digits then.
 */
void dp_value_show(FILE *out, const struct dp_trace_item *shown,
		   const struct dp_item *item, struct dp_modules *mods,
		   bool json);

/** dp_show_real() - print a number of @bits, 32 or 64, with the fewest digits that are read as
 *  the same number again. JSON has no infinities: those are in quotes */
void dp_show_real(FILE *out, u32 bits, u64 value, bool json);

#endif
