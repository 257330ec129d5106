/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* screen: what a person at a terminal can read. */
#ifndef DP_SCREEN_H
#define DP_SCREEN_H

#include "port_types.h"
#include <stddef.h>
#include <stdio.h>

/** dp_screen_columns() - the width of the terminal that @out is: what COLUMNS says, or the terminal
 *  itself, or 80. Return: 0: it is no terminal. */
size_t dp_screen_columns(FILE *out);

/** Bytes of the longest number, with its separators and zero. */
#define DP_SCREEN_NUMBER 28

/** dp_screen_number() - write a number in decimal; @grouped: with a comma before three digits each */
void dp_screen_number(char to[DP_SCREEN_NUMBER], u64 value, bool grouped);

/** dp_screen_width() - how many columns a name has, escaped */
size_t dp_screen_width(const char *name);

/** dp_screen_name() - print a name, escaped; if it is longer than @columns, without its middle */
void dp_screen_name(FILE *out, const char *name, size_t columns);

#endif
