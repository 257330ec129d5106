/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hold: programs that stay in a process after the command that has inserted them.
 *
 *   dprobes --insert ──fork──► dprobes hold: a session ──► the process
 *        ◄──── armed, or refused ────┘      ▲
 *   dprobes --insert, --remove, --query ────┘ orders (order.h)
 *
 * A hold has all programs of one process, or of the kernel. It ends when the last one is removed, with its process,
 * or by a signal; if it is killed, its probes are as those of any tool that was killed.
 *
 * Context of every function: tool process; may sleep.
 */
#ifndef DP_TRACER_HOLD_H
#define DP_TRACER_HOLD_H

#include "tracer/tracer.h"

#define DP_HOLD_NAME "dprobes hold"

/** enum dp_held_how - @how of an order: of DP_ORDER_INSERT, of DP_ORDER_QUERY, and of DP_ORDER_RESET */
enum dp_held_how {
	DP_HELD_MERGE = 1,
	DP_HELD_REPLACE = 2,
	DP_HELD_ANY_OPCODE = 4,
	DP_HELD_PPDF = 8,
	DP_HELD_EXTENDED = 16,
	DP_HELD_JSON = 32,
	/* of DP_ORDER_RESET: variables of one program, or that all have */
	DP_HELD_LOCALS = 64,
	DP_HELD_GLOBALS = 128,
};

/**
 * struct dp_held_source - a program that is to be inserted
 * @file: name for messages; @groups, @types: lists of points, or ""; @symbols: a file, or ""
 * @allow: enum dp_vm_allow; @how: enum dp_held_how
 * @text: @len bytes of the preprocessed file, or of a PPDF
 */
struct dp_held_source {
	const char *file, *groups, *types, *symbols;
	u32 allow, how;
	const char *text;
	size_t len;
};

/** struct dp_held_result - what came of an insertion: of the @points, so many are @refused, or are
 *  @waiting for their libraries */
struct dp_held_result {
	u32 points, refused, waiting;
};

/** dp_held_pack() - a source as the text of an order. Return: malloc()ed @len bytes, or NULL. */
char *dp_held_pack(const struct dp_held_source *source, size_t *len);
/** dp_held_unpack() - Return: false: it is damaged. The source's strings are in @text. */
bool dp_held_unpack(const char *text, size_t len, u32 how,
		    struct dp_held_source *source);

/**
 * dp_hold_run() - insert a program, and hold it until the end
 * @report: descriptor to which a struct dp_held_result is written when probes are armed. From then
 *          on the process has no terminal, nothing that it says is heard, and its parent's end does not
 *          matter to it (PR_SET_PDEATHSIG).
 * Return: exit status; a negative errno with words.
 */
int dp_hold_run(const struct dp_tracer_options *opt,
		const struct dp_held_source *source, int report,
		char **bad_line, struct dp_diag *diag);

typedef void (*dp_held_take)(void *arg, u32 index, u64 value, const char *name);
/** dp_held_each_variable() - the variables of programs that are held in the kernel. @name: of the program's
 *  module, "": all have it. Return: 0; a negative errno with words */
int dp_held_each_variable(dp_held_take take, void *arg, struct dp_diag *diag);

/** struct dp_held_reset - which variables become 0: those from @first to @last, of the programs that @name means, "": of
 *  all, and of those that all have: @how: DP_HELD_LOCALS, DP_HELD_GLOBALS */
struct dp_held_reset {
	u32 how, first, last;
	const char *name;
};
/** dp_held_reset_kernels() - of programs that are held in the kernel. Return: how many; a negative errno with words */
int dp_held_reset_kernels(const struct dp_held_reset *reset,
			  struct dp_diag *diag);

/** dp_held_named() - does @name mean the program for module @module? Its path, or the last part */
bool dp_held_named(const char *module, const char *name);

#endif
