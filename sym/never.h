/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * never: functions whose return cannot be probed, by name.
 *
 * The list is for what the code does not show, and for libraries whose code may differ
 * from what was tested. For what the code shows, callers also ask dp_exits_find() and
 * dp_entry_reads_return_address().
 *
 * Functions that never return to their caller (the longjmp family, setcontext's
 * callers, pthread_exit, abort) are not listed: a tracked call of them ends as
 * abandoned, without harm. Nor are those that only calculate with contexts
 * (makecontext, dladdr).
 *
 * Context: any. Pure.
 */
#ifndef DP_NEVER_H
#define DP_NEVER_H

#include <stddef.h>

/** enum dp_return_way - how a return is noticed */
enum dp_return_way {
	DP_RETURN_STUB, /* a stub replaces the return address */
	DP_RETURN_SITE, /* probes are on the function's exits */
};

/**
 * struct dp_never - functions that share a reason
 * @way: DP_RETURN_STUB: only the stub is ruled out; DP_RETURN_SITE: both ways are
 * @why: a phrase that continues "NAME cannot have a return probe: "
 * @names: linkage names, without version; NULL ends the list
 */
struct dp_never {
	enum dp_return_way way;
	const char *why;
	const char *names[12];
};

/**
 * dp_never_tracked() - may a function not have a return probe?
 * @name: linkage name, without version; NULL is allowed
 * @way: how the return would be noticed
 * Return: the reason, a phrase as in struct dp_never, or NULL: the list has nothing
 * against it.
 */
const char *dp_never_tracked(const char *name, enum dp_return_way way);

/** dp_never_list() - the whole list; @n: number of reasons */
const struct dp_never *dp_never_list(size_t *n);

#endif
