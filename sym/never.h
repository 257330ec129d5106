/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * never: functions whose return cannot be probed, by name.
 *
 * What can be seen from the code is not listed because of that: who asks has
 * dp_exits_find() and dp_reads_return_address(), too. The list is for what the
 * code does not show, and for libraries whose code is not what this was tried
 * with.
 *
 * Functions that never return to their caller (the longjmp family, setcontext's
 * callers, pthread_exit, abort) and those that only calculate with contexts
 * (makecontext, dladdr) are not listed: a call of them that is tracked ends as
 * abandoned, and harms nobody.
 *
 * Context: any. Pure.
 */
#ifndef DP_NEVER_H
#define DP_NEVER_H

#include <stddef.h>

/** enum dp_return_way - how a return is noticed */
enum dp_return_way {
	DP_RETURN_STUB, /* the return address leads to a stub meanwhile */
	DP_RETURN_SITE, /* there are probes on the function's exits */
};

/**
 * struct dp_never - functions with the same reason
 * @way: DP_RETURN_STUB: only that way is closed; DP_RETURN_SITE: both are
 * @why: a phrase that continues "NAME cannot have a return probe: "
 * @names: linkage names, without version; behind the last one NULL
 */
struct dp_never {
	enum dp_return_way way;
	const char *why;
	const char *names[12];
};

/**
 * dp_never_tracked() - may a function not have a return probe?
 * @name: linkage name, without version; NULL is allowed
 * @way: how it would be followed
 * Return: the reason, a phrase as in struct dp_never, or NULL: nothing is known
 * against it.
 */
const char *dp_never_tracked(const char *name, enum dp_return_way way);

/** dp_never_list() - all of them; @n: how many reasons */
const struct dp_never *dp_never_list(size_t *n);

#endif
