/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* hex: machine code as tests spell it. */
#ifndef DP_TEST_HEX_H
#define DP_TEST_HEX_H

#include <stdio.h>
#include "port_types.h"

/* Bytes as hexadecimal text, blanks allowed. Return: how many. */
static inline size_t hex(const char *text, u8 *out)
{
	unsigned int byte;
	size_t n = 0;
	int used;

	while (sscanf(text, " %2x%n", &byte, &used) == 1) {
		out[n++] = (u8)byte;
		text += used;
	}
	return n;
}

#endif
