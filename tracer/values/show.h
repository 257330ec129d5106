/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* show: print one value of a record. */
#ifndef DP_TRACER_VALUES_SHOW_H
#define DP_TRACER_VALUES_SHOW_H

#include <stdio.h>
#include "tracer/expr.h"
#include "tracer/session.h"

struct dp_modules;

/** struct dp_logged - what was logged for a value: @item, and what it leads to */
struct dp_logged {
	struct dp_item item, follow[DP_FOLLOWS];
	u32 follows;
};

/** dp_value_take() - take what was logged for @shown off a record, from *@at on.
 *  Return: false: there is no more */
bool dp_value_take(const struct dp_trace_item *shown,
		   const struct dp_record_copy *r, u32 *at,
		   struct dp_logged *logged);

/**
 * dp_value_show() - print what was logged for @shown
 *
 * In JSON, strings are JSON strings, and numbers with or without sign are numbers.
 * Hexadecimal numbers are strings: a reader may want all 64 bits. What could not be read is
 * {"bad_address":"0x…"}. An address to be shown by name is one of @mods, or NULL where these
 * are not known: hexadecimal digits then.
 * Return: whether the program may have more of it.
 */
bool dp_value_show(FILE *out, const struct dp_trace_item *shown,
		   const struct dp_logged *logged, struct dp_modules *mods,
		   bool json);

/** dp_show_text() - print a text, or its beginning if it is long or @cut.
 *  Return: whether that is so */
bool dp_show_text(FILE *out, const u8 *bytes, u32 len, bool cut, bool json);
/** dp_show_scalar() - print a number, or a pointer; one to a function has its name behind it */
void dp_show_scalar(FILE *out, struct dp_modules *mods,
		    struct dp_value_type type, u64 value, bool json);

/** dp_show_real() - print a number of @bits, 32 or 64, with the fewest digits that are read as
 *  the same number again. JSON has no infinities: those are in quotes */
void dp_show_real(FILE *out, u32 bits, u64 value, bool json);

#endif
