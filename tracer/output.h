/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* output: all text for terminals, the tool's own and quoted, passes here. */
#ifndef DP_OUTPUT_H
#define DP_OUTPUT_H

#include "port_types.h"
#include <dprobes/diag.h>
#include <stdarg.h>
#include <stdio.h>

/**
 * dp_output_print() - as fprintf(3), a line or a part of one
 * @fmt: a newline can be its last character only
 *
 * What a terminal would obey in the rest, quoted text or not, becomes \xHH.
 */
void dp_output_print(FILE *out, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void dp_output_vprint(FILE *out, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));
/** dp_output_say() - a line on stderr, behind "dprobes: "; @fmt without either */
void dp_output_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/** dp_output_write() - print @len bytes of a text, escaped likewise */
void dp_output_write(FILE *out, const char *text, size_t len);
/** dp_output_decimal() - print a number; dp_output_hex() - behind "0x" */
void dp_output_decimal(FILE *out, u64 value);
void dp_output_hex(FILE *out, u64 value);
/** dp_output_share() - from now on a command of the tool's writes to the same terminal as the tool */
void dp_output_share(void);
/**
 * dp_output_begin() - a line begins: behind what the command has left of a line of its own, if it has
 *
 * The tool does not see where the cursor is. As many spaces as the terminal has columns take it to the
 * next line from anywhere but the beginning of one; there they stay in it, and the line begins over them.
 */
void dp_output_begin(FILE *out);
/** dp_output_whole() - what has been printed ends with a whole record: write it before more would not
 *  go in one piece into a pipe */
void dp_output_whole(FILE *out);
/**
 * dp_output_quote() - put another process's error message into a diagnostic
 * @theirs: that process has written it; lines behind its first are indented
 * Return: @err, or -EIO if that is none
 */
int dp_output_quote(struct dp_diag *diag, int err,
		    const struct dp_diag *theirs);

#endif
