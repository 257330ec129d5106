/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* traced: the programs that log values of hits, and what a record has of them. */
#ifndef DP_TRACED_H
#define DP_TRACED_H

#include "tracer/expr.h"
#include "tracer/session.h"
#include "tracer/values/show.h"
#include "engine/layout/instance.h"

/* A spec's points share its program, where its names are the same. */
struct dp_traced {
	struct dp_traced *next;
	const struct dp_prototype *names;
	struct dp_trace_program program;
};

/**
 * dp_traced_find() - the program of a point
 * @programs: of each spec of the session's
 */
const struct dp_trace_program *dp_traced_find(struct dp_traced *const *programs,
					      const struct dp_session *s,
					      const struct dp_point *p);
/** dp_traced_make() - the same; it is made if there is none. Return: NULL, with words in @diag. */
const struct dp_trace_program *dp_traced_make(struct dp_traced **programs,
					      struct dp_session *s,
					      const struct dp_point *p,
					      struct dp_diag *diag);
/** dp_traced_free() - free the programs of @n specs, and @programs; may be NULL */
void dp_traced_free(struct dp_traced **programs, size_t n);

/** struct dp_shown - the values of a record, by their places in the spec; @n of them are there
 *  @cut: others should be; @err: errno, or 0; @stack: its number, if @has_stack */
struct dp_shown {
	const struct dp_trace_item *as[DP_TRACE_ITEMS];
	struct dp_logged is[DP_TRACE_ITEMS];
	bool cut, has_stack;
	u32 n;
	int err;
	u32 stack;
};

/** dp_shown_take() - take the values of a record; @leaving: of a call that has ended, or NULL */
void dp_shown_take(struct dp_shown *shown, const struct dp_trace_program *p,
		   const struct dp_record_copy *r,
		   const struct dp_leaving *leaving);
/** dp_shown_print() - "a=1 b=2", with @between before each but the first; dp_shown_json() -
 *  ,"args":{…}, and ,"truncated":true if a value is cut or missing */
void dp_shown_print(FILE *out, const struct dp_shown *shown,
		    struct dp_modules *mods, const char *between);
void dp_shown_json(FILE *out, const struct dp_shown *shown,
		   struct dp_modules *mods);

/** dp_leaving_take() - take from a tracked call's record how the call ended, with which it begins.
 *  Return: false: it does not. dp_leaving_names - by enum dp_call_end */
bool dp_leaving_take(struct dp_record_copy *r, struct dp_leaving *leaving);
extern const char *const dp_leaving_names[];

#endif
