/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* kind: what a verb does with the probes of its session. */
#ifndef DP_TRACER_KIND_H
#define DP_TRACER_KIND_H

#include <stddef.h>
#include <stdio.h>
#include "port_types.h"

struct dp_diag;
struct dp_order_text;
struct dp_record_copy;
struct dp_session;
struct dp_source_request;

/**
 * struct dp_session_kind - what a verb does with its probes
 * @arguments: the verb's specs may have ARGS
 * @programs: its specs are of programs from files, whose watchpoints and other probes go together
 * @inlines: a function may have been inlined, which its specs then mean
 * @waits: --pending is one of the verb's options
 * @system: its specs may be of the kernel: see system.h
 * @counts: calls are only counted, unless their spec has a condition
 * @walks: the stacks of hits are wanted
 * @wants: does a spec mean the session's process? If not, @diag says why. NULL: all do
 * @rooms: fill in @longest, @traces and @heap of a request, for programs from files; or NULL
 * @keeps: its specs may keep values of hits, in braces; @keep: what they keep, and braces are refused
 * @prepare: add the tables of specs that have no point yet; or NULL
 * @bind: give the probe of a point its program, if it has one
 * @spare: room for so many specs that come later
 * @settle: called with the points of a spec, from @first on, or with the error of a spec that has
 *          none. Return: 0: the session goes on; a negative errno with words
 * @begun: the probes are armed
 * @order: carry out an order for a hold, with words for @reply; NULL: the session holds nothing
 * @record: called with the records of probes, in order of time; @collects: it does not print them
 * @report: print what remains to be told at the end
 * @finish: with -f, print what is told of all processes; or NULL
 * @left: the probes have been taken out, without -f; or NULL
 */
struct dp_session_kind {
	bool arguments;
	bool programs;
	bool inlines;
	bool system;
	bool waits, counts, keeps, collects, walks;
	const char *keep;
	bool (*wants)(const struct dp_session *s, size_t spec,
		      struct dp_diag *diag);
	void (*rooms)(const struct dp_session *s,
		      struct dp_source_request *want);
	int (*prepare)(struct dp_session *s, struct dp_diag *diag);
	int (*bind)(struct dp_session *s, size_t point, struct dp_diag *diag);
	size_t spare;
	int (*settle)(struct dp_session *s, size_t spec, size_t first, int err,
		      struct dp_diag *diag);
	void (*begun)(struct dp_session *s);
	int (*order)(struct dp_session *s, const struct dp_order_text *order,
		     FILE *reply, struct dp_diag *diag);
	void (*record)(struct dp_session *s,
		       const struct dp_record_copy *record);
	void (*report)(struct dp_session *s);
	void (*finish)(struct dp_session *s);
	void (*left)(struct dp_session *s);
};

#endif
