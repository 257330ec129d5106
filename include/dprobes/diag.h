/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Diagnostics: one sentence that says what went wrong, where, and what to do. */
#ifndef DPROBES_DIAG_H
#define DPROBES_DIAG_H

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

#define DP_DIAG_MAX 1024

/**
 * struct dp_diag - room for one diagnostic, owned by the caller
 * @text: the sentence, NUL-terminated, without a final newline; empty when
 *        nothing was reported. May hold further lines (a list of candidates).
 * @column: 0-based column in the text the user gave that the caret belongs
 *          under; -1 when the diagnostic is not about a place in a text
 * @span: number of columns to underline, at least 1 when @column >= 0
 *
 * The library never prints, so a caller that wants words passes one of these.
 * Every function that takes one accepts NULL.
 */
struct dp_diag {
	char text[DP_DIAG_MAX];
	int column;
	int span;
};

/** dp_diag_clear() - make @diag empty. Context: any; async-signal-safe. */
void dp_diag_clear(struct dp_diag *diag);

/**
 * dp_diag_set() - say what went wrong
 * @diag: where to put it, or NULL
 * @err: a negative errno, handed back
 * @fmt: printf-style format of the sentence; cut at DP_DIAG_MAX
 *
 * Replaces what was there, so the outermost caller has the last word.
 * Return: @err, so that "return dp_diag_set(diag, -ENOENT, …)" reads well.
 * Source: ours.
 */
int dp_diag_set(struct dp_diag *diag, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** dp_diag_add() - append to what dp_diag_set() put there. */
void dp_diag_add(struct dp_diag *diag, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * dp_diag_caret() - point into the text the user gave
 * @diag: diagnostic that is already set, or NULL
 * @column: 0-based byte column
 * @span: bytes to underline; less than 1 counts as 1
 */
void dp_diag_caret(struct dp_diag *diag, int column, int span);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
