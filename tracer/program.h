/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* program: the code of a file's program, for one process. */
#ifndef DP_TRACER_PROGRAM_H
#define DP_TRACER_PROGRAM_H

#include "lang/lang.h"

struct dp_diag;
struct dp_session;

/**
 * dp_program_code() - the code of @p with what depends on the process: symbols, and values
 * @first: number of the first of its specs; @point: one of its points, whose module has the symbols
 * @bad_line: as of dp_lang_complain()
 * @code: malloc()ed; @len: bytes
 * Return: 0; a negative errno with words.
 */
int dp_program_code(struct dp_session *s, const struct dp_lang_program *p,
		    size_t first, size_t point, char **bad_line, u8 **code,
		    u32 *len, struct dp_diag *diag);

#endif
