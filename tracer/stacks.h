/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* stacks: of the threads that hit probes. */
#ifndef DP_TRACER_STACKS_H
#define DP_TRACER_STACKS_H

#include <stdio.h>
#include "engine/layout/backtrace.h"
#include "tracer/source.h"

struct dp_modules;
struct dp_named_frame;
struct dp_session;

/**
 * struct dp_source_stacks - of a source whose hits can walk stacks
 * walk() - have them do so; from struct dp_source_request's callbacks only. More than once is once.
 *   Return: 0; a negative errno
 * get() - see dp_engine_backtrace()
 * modules() - the code that has been found last; NULL: none
 * name() - names of a frame, without DP_BACKTRACE_EXACT; NULL: modules() tells them
 *   @back: it is behind a call
 */
struct dp_source_stacks {
	int (*walk)(struct dp_source *source);
	u32 (*get)(const struct dp_source *source, u32 number,
		   u64 frames[DP_BACKTRACE_FRAMES], enum dp_backtrace_end *end);
	struct dp_modules *(*modules)(const struct dp_source *source);
	void (*name)(const struct dp_source *source, u64 frame, bool back,
		     struct dp_named_frame *to);
};

extern const struct dp_source_stacks dp_agent_stacks, dp_system_stacks;

/** dp_stacks_walk() - have the hits of a session walk stacks. Return: 0; a negative errno with words */
int dp_stacks_walk(struct dp_session *s, struct dp_diag *diag);

/**
 * struct dp_named_frame - names of a frame, escaped only when they are printed
 * @text: "module:function+0x…"; "module+0x…", an address in its file; "0x…": no module is there
 * @function: the function alone; "[module]"; "[unknown]"
 */
struct dp_named_frame {
	char *text, *function;
};

/**
 * dp_stacks_frames() - the frames of a stack, the innermost first
 * @number: of the stack, which the target has written; that of none has no frames
 * @v: filled in; free with dp_frames_free()
 * @end: why there are no more
 *
 * Return: 0; -ENOMEM.
 */
int dp_stacks_frames(const struct dp_session *s, u32 number,
		     struct dp_named_frame v[DP_BACKTRACE_FRAMES], u32 *n,
		     enum dp_backtrace_end *end);
/** dp_stacks_end() - a word for an end */
const char *dp_stacks_end(enum dp_backtrace_end end);
void dp_frames_free(struct dp_named_frame *v, u32 n);
/** dp_frames_print() - as dp_stacks_print() */
void dp_frames_print(FILE *out, const struct dp_named_frame *v, u32 n,
		     enum dp_backtrace_end end);
/** dp_json_frames() - print "NAME":["…",…],"NAME_end":"…"; dp_json_stack() - ,"stack":… of a number */
void dp_json_frames(FILE *out, const char *name, const struct dp_named_frame *v,
		    u32 n, enum dp_backtrace_end end);
void dp_json_stack(FILE *out, const struct dp_session *s, u32 number);
/** dp_stacks_print() - print the stack of a number, a line a frame; and why it ends, unless with the
 *  outermost frame */
void dp_stacks_print(FILE *out, const struct dp_session *s, u32 number);

#endif
