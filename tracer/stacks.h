/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* stacks: of the threads that hit probes. */
#ifndef DP_TRACER_STACKS_H
#define DP_TRACER_STACKS_H

#include <stdio.h>
#include "engine/layout/backtrace.h"
#include "tracer/source.h"

struct dp_session;

/**
 * struct dp_source_stacks - of a source whose hits can walk stacks
 * walk() - have them do so; from struct dp_source_request's callbacks only. More than once is once.
 *   Return: 0; a negative errno
 * get() - see dp_engine_backtrace()
 */
struct dp_source_stacks {
	int (*walk)(struct dp_source *source);
	u32 (*get)(const struct dp_source *source, u32 number,
		   u64 frames[DP_BACKTRACE_FRAMES], enum dp_backtrace_end *end);
};

extern const struct dp_source_stacks dp_agent_stacks;

/** dp_stacks_walk() - have the hits of a session walk stacks. Return: 0; a negative errno with words */
int dp_stacks_walk(struct dp_session *s, struct dp_diag *diag);
/** dp_stacks_print() - print the stack of a number, a line a frame; and why it ends, unless with the
 *  outermost frame */
void dp_stacks_print(FILE *out, const struct dp_session *s, u32 number);
/** dp_stacks_json() - ,"stack":["module:function+0x…",…],"stack_end":"…" */
void dp_stacks_json(FILE *out, const struct dp_session *s, u32 number);

#endif
