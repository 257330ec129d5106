/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* place: where the points and symbols of a program are in its module's file. */
#ifndef DP_TRACER_PLACE_H
#define DP_TRACER_PLACE_H

#include "lang/lang.h"

/**
 * dp_place_program() - put offsets in the place of symbols
 * @symbols: a file with the symbols, or ""; then the program's name is a path
 * @whole: all of it has to be placed, for a file that is applied elsewhere; else what is not found is
 *         left to the process
 * @bad_line: as for dp_lang_assemble()
 *
 * Notes the build-id, and the bytes at each point. Context: tool process; may sleep.
 * Return: 0; a negative errno with words.
 */
int dp_place_program(struct dp_lang_program *program, const char *symbols,
		     bool whole, char **bad_line, struct dp_diag *diag);

#endif
