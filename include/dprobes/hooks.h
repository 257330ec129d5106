/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hooks: one line in the code, which costs a nop until an exit is armed.
 *
 *   DECLARE_HOOK(request, int, const char *);    in one source file, at its outermost level
 *
 *   HOOK(request, fd, path);                     in a function
 *
 * A dormant hook is one nop of five bytes; its arguments are not evaluated. An armed one is a jump to
 * code in the same function, out of the way, which evaluates them and calls the hook's dispatcher.
 * <dprobes/gkh.h> has the calls that arm exits. A program needs no library for its hooks. Each is
 * a static probe (SDT), too: perf(1) and bpftrace(8) know it as gkh:NAME.
 *
 * Other files that use a hook say USE_HOOK() with the same types, usually in a header; the one file
 * that defines a hook whose header it includes says DEFINE_HOOK() instead of DECLARE_HOOK(). Of a hook
 * with modifiable parameters, DECLARE_WRITABLE_HOOK(), the arguments are addresses of variables, and
 * exits see these. Types are spelt so that "TYPE name" declares a parameter. C99 or C++11 is needed.
 */
#ifndef DPROBES_HOOKS_H
#define DPROBES_HOOKS_H

#include <dprobes/gkh.h>
#include <dprobes/hook_point.h>

#if defined(__cplusplus) || __STDC_VERSION__ >= 199901L

/* DECLARE_HOOK(NAME, TYPE…) - define a hook, with up to GKH_MAXARGS parameters */
#define DECLARE_HOOK(...) DP_HOOK_DECLARE(RO, 0, __VA_ARGS__)
/* only one exit at a time */
#define DECLARE_EXCLUSIVE_HOOK(...) \
	DP_HOOK_DECLARE(RO, GKH_HOOK_EXCLUSIVE, __VA_ARGS__)
/* for GENERIC_HOOK() */
#define DECLARE_GENERIC_HOOK(...) DP_HOOK_DECLARE(RO, 0, __VA_ARGS__)
/* exits may modify the parameters: HOOK(NAME, &VARIABLE…) */
#define DECLARE_WRITABLE_HOOK(...) \
	DP_HOOK_DECLARE(RW, GKH_HOOK_WRITABLE, __VA_ARGS__)

/* USE_HOOK(NAME, TYPE…) - a hook that another file defines */
#define USE_HOOK(...) DP_HOOK_USE(RO, __VA_ARGS__)
#define USE_WRITABLE_HOOK(...) DP_HOOK_USE(RW, __VA_ARGS__)
/* DEFINE_HOOK(NAME, TYPE…) - define a hook for which USE_HOOK() has been said in this file */
#define DEFINE_HOOK(...) DP_HOOK_DEFINE(0, __VA_ARGS__)
#define DEFINE_EXCLUSIVE_HOOK(...) \
	DP_HOOK_DEFINE(GKH_HOOK_EXCLUSIVE, __VA_ARGS__)
#define DEFINE_WRITABLE_HOOK(...) DP_HOOK_DEFINE(GKH_HOOK_WRITABLE, __VA_ARGS__)

/* GKH_HOOK(NAME) - the struct gkh_hook of a hook, for the field hook of a record */
#define GKH_HOOK(name) (&DP_HOOK_HEAD(name))

/* HOOK(NAME, ARGUMENT…) - a hook: exits are called, and the code goes on */
#define HOOK(...)                             \
	DP_HOOK_AT(DP_HOOK_NAME(__VA_ARGS__), \
		   DP_HOOK_CALL((long *)0, __VA_ARGS__))
/* HOOK_RET(NAME, ARGUMENT…) - a hook in a function that returns an integer: an exit that says
 * GKH_RETURN makes it return *ret */
#define HOOK_RET(...)                                               \
	DP_HOOK_AT(DP_HOOK_NAME(__VA_ARGS__), long dp_hook_ret = 0; \
		   if (DP_HOOK_CALL(&dp_hook_ret, __VA_ARGS__) ==   \
		       GKH_RETURN) return dp_hook_ret)
/* HOOK_RET_NORC(NAME, ARGUMENT…) - the same in a function that returns nothing */
#define HOOK_RET_NORC(...)                                     \
	DP_HOOK_AT(DP_HOOK_NAME(__VA_ARGS__),                  \
		   if (DP_HOOK_CALL((long *)0, __VA_ARGS__) == \
		       GKH_RETURN) return )
/* The same for hooks that are exclusive */
#define EXCLUSIVE_HOOK(...) HOOK(__VA_ARGS__)
#define EXCLUSIVE_HOOK_RET(...) HOOK_RET(__VA_ARGS__)
#define EXCLUSIVE_HOOK_RET_NORC(...) HOOK_RET_NORC(__VA_ARGS__)

/* GENERIC_HOOK(NAME, ARGUMENT…) - a hook that tests a flag: no text changes. For code whose text
 * cannot be written, or that is made at run time. */
#define GENERIC_HOOK(...)                                                    \
	do {                                                                 \
		if (__builtin_expect(                                        \
			    __atomic_load_n(                                 \
				    &DP_HOOK_HEAD(DP_HOOK_NAME(__VA_ARGS__)) \
					     .active,                        \
				    __ATOMIC_RELAXED),                       \
			    0))                                              \
			(void)DP_HOOK_CALL((long *)0, __VA_ARGS__);          \
	} while (0)

/*
 * GKH_EXIT(EXIT, NAME, FUNCTION) - an exit for a record, of a function with the hook's types
 *
 * FUNCTION has the type int (struct gkh_hook *, struct gkh_args *, TYPE…); for a writable hook
 * the TYPEs are pointers. Another type is a compile error. The record's @count is GKH_COUNT(NAME).
 */
#define GKH_EXIT(exit_name, name, function)                                \
	static int exit_name(struct gkh_hook *dp_h, struct gkh_args *dp_a) \
	{                                                                  \
		DP_HOOK_SAME_TYPE(function, DP_HOOK_CAT(name, _gkh_exit)); \
		return DP_HOOK_CAT(name, _gkh_give)(function, dp_h, dp_a); \
	}                                                                  \
	struct gkh_hook
#define GKH_COUNT(name) (DP_HOOK_CAT(name, _gkh_count))

/*
 * The paper's own spelling: a hook without a declaration, by a string, whose parameters may have
 * any type. GKHOOK_2VAR_RO("name", a, b) has the symbols GKHookname, where it is;
 * GKHookname_ret, behind the call of the dispatcher; GKHookname_bp, where the code goes on.
 * One hook is in one place only: not in a function that is inlined twice.
 */
#define GKHOOK_0VAR(h) DP_HOOK_PAPER(h, 0, 0, )
#define GKHOOK_1VAR_RO(h, p0) DP_HOOK_PAPER(h, 1, 0, DP_HOOK_COPY(0, p0))
#define GKHOOK_2VAR_RO(h, p0, p1) \
	DP_HOOK_PAPER(h, 2, 0, DP_HOOK_COPY(0, p0) DP_HOOK_COPY(1, p1))
#define GKHOOK_3VAR_RO(h, p0, p1, p2)                         \
	DP_HOOK_PAPER(h, 3, 0,                                \
		      DP_HOOK_COPY(0, p0) DP_HOOK_COPY(1, p1) \
			      DP_HOOK_COPY(2, p2))
#define GKHOOK_4VAR_RO(h, p0, p1, p2, p3)                     \
	DP_HOOK_PAPER(h, 4, 0,                                \
		      DP_HOOK_COPY(0, p0) DP_HOOK_COPY(1, p1) \
			      DP_HOOK_COPY(2, p2) DP_HOOK_COPY(3, p3))
#define GKHOOK_1VAR_RW(h, p0) DP_HOOK_PAPER(h, 1, 1, DP_HOOK_REFER(0, p0))
#define GKHOOK_2VAR_RW(h, p0, p1) \
	DP_HOOK_PAPER(h, 2, 1, DP_HOOK_REFER(0, p0) DP_HOOK_REFER(1, p1))
#define GKHOOK_3VAR_RW(h, p0, p1, p2)                           \
	DP_HOOK_PAPER(h, 3, 1,                                  \
		      DP_HOOK_REFER(0, p0) DP_HOOK_REFER(1, p1) \
			      DP_HOOK_REFER(2, p2))
#define GKHOOK_4VAR_RW(h, p0, p1, p2, p3)                       \
	DP_HOOK_PAPER(h, 4, 1,                                  \
		      DP_HOOK_REFER(0, p0) DP_HOOK_REFER(1, p1) \
			      DP_HOOK_REFER(2, p2) DP_HOOK_REFER(3, p3))

#endif
#endif
