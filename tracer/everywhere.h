/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * everywhere: programs with modtype = user that are for all processes: their probes are on files.
 *
 * dprobes.ko has such probes beside those in the kernel, in one session.
 */
#ifndef DP_TRACER_EVERYWHERE_H
#define DP_TRACER_EVERYWHERE_H

#include "lang/lang.h"

struct dp_diag;
struct dp_point;
struct dp_session;
struct dp_trace_program;

/**
 * dp_everywhere_place() - find the points of a program in its file, for all processes
 * @symbols: a file with the symbols, or ""
 * @bad_line: as for dp_lang_assemble()
 * Return: 0; a negative errno with words: as dp_place_program(); -EOPNOTSUPP something is of one process.
 */
int dp_everywhere_place(struct dp_lang_program *program, const char *symbols,
			char **bad_line, struct dp_diag *diag);
/**
 * dp_everywhere_symbol() - write code that leaves the address of a symbol on the stack, and returns
 * @added: to the address; @code: empty; dp_expr_free() it in any case
 * Return: 0; a negative errno with words: -EOPNOTSUPP it cannot be told which point is hit; -ENOMEM.
 */
int dp_everywhere_symbol(const struct dp_lang_program *program,
			 const struct dp_lang_symbol *symbol, u64 added,
			 struct dp_trace_program *code, struct dp_diag *diag);
/**
 * dp_everywhere_exits() - let the probe of a point with retprobe = yes, which is at the first exit, be at the others, too
 * @bad_line: as for dp_lang_assemble()
 * Return: 0; a negative errno with words: -ESTALE the file has changed; what the kernel says.
 */
int dp_everywhere_exits(struct dp_session *s,
			const struct dp_lang_program *program,
			const struct dp_lang_point *from,
			struct dp_point *point, char **bad_line,
			struct dp_diag *diag);
/**
 * dp_everywhere_check() - is the file that the kernel has looked at the one that was read, and as it was?
 * A change of the instruction until the probe is armed the kernel finds itself.
 * @bad_line: as for dp_lang_assemble()
 * Return: 0; -ESTALE with words.
 */
int dp_everywhere_check(const struct dp_session *s,
			const struct dp_lang_program *program,
			const struct dp_lang_point *from,
			const struct dp_point *point, char **bad_line,
			struct dp_diag *diag);
/** dp_everywhere_name() - name a point as its file does. Return: 0 or -ENOMEM */
int dp_everywhere_name(const struct dp_lang_program *program,
		       const struct dp_lang_point *from,
		       struct dp_point *point);

#endif
