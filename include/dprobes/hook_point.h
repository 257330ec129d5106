/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the macros of <dprobes/hooks.h> are made of: the nop and its record, functions with the types
 * of a hook, and a macro for each of several arguments.
 */
#ifndef DPROBES_HOOK_POINT_H
#define DPROBES_HOOK_POINT_H

#include <dprobes/hook_run.h>

/* Macros take any number of arguments. */
#if defined(__cplusplus) || __STDC_VERSION__ >= 199901L

#ifdef __cplusplus
#define DP_HOOK_C(...) \
	extern "C" {   \
	__VA_ARGS__    \
	}
#define DP_HOOK_AUTO auto
#define DP_HOOK_SAME_TYPE(function, type) ((void)0)
#define DP_HOOK_STRICT
#define DP_HOOK_LENIENT
#else
#define DP_HOOK_C(...) __VA_ARGS__
#define DP_HOOK_AUTO __auto_type
#define DP_HOOK_SAME_TYPE(function, type)                                    \
	_Static_assert(__builtin_types_compatible_p(__typeof__(&(function)), \
						    __typeof__(type) *),     \
		       #function " has not the types of the hook")
/* C only warns of what C++ refuses. */
#define DP_HOOK_STRICT                                                           \
	_Pragma("GCC diagnostic push")                                           \
		_Pragma("GCC diagnostic error \"-Wint-conversion\"") _Pragma(    \
			"GCC diagnostic error \"-Wincompatible-pointer-types\"") \
			_Pragma("GCC diagnostic error \"-Wdiscarded-qualifiers\"")
#define DP_HOOK_LENIENT _Pragma("GCC diagnostic pop")
#endif

#if defined(__clang__)
#undef DP_HOOK_STRICT
#ifdef __cplusplus
#define DP_HOOK_STRICT
#else
#define DP_HOOK_STRICT                                                           \
	_Pragma("GCC diagnostic push")                                           \
		_Pragma("GCC diagnostic error \"-Wint-conversion\"") _Pragma(    \
			"GCC diagnostic error \"-Wincompatible-pointer-types\"") \
			_Pragma("GCC diagnostic error \"-Wincompatible-pointer-types-discards-qualifiers\"")
#endif
#endif

#define DP_HOOK_CAT(a, b) DP_HOOK_CAT_(a, b)
#define DP_HOOK_CAT_(a, b) a##b
#define DP_HOOK_STRING(...) DP_HOOK_STRING_(__VA_ARGS__)
#define DP_HOOK_STRING_(...) #__VA_ARGS__
#define DP_HOOK_FIRST(a, ...) a
#define DP_HOOK_HEAD(name) DP_HOOK_CAT(gkh_hook_, name)
#define DP_HOOK_NAME(...) DP_HOOK_FIRST(__VA_ARGS__, 0)

/* How many arguments there are behind the first, and m(i, argument) for each of these */
#define DP_HOOK_MORE(...) \
	DP_HOOK_MORE_(__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0)
#define DP_HOOK_MORE_(n, a, b, c, d, e, f, g, h, i, ...) i
#define DP_HOOK_MAP(m, ...) \
	DP_HOOK_CAT(DP_HOOK_MAP, DP_HOOK_MORE(__VA_ARGS__))(m, __VA_ARGS__)
#define DP_HOOK_MAP0(m, n)
#define DP_HOOK_MAP1(m, n, a) m(0, a)
#define DP_HOOK_MAP2(m, n, a, b) DP_HOOK_MAP1(m, n, a) m(1, b)
#define DP_HOOK_MAP3(m, n, a, b, c) DP_HOOK_MAP2(m, n, a, b) m(2, c)
#define DP_HOOK_MAP4(m, n, a, b, c, d) DP_HOOK_MAP3(m, n, a, b, c) m(3, d)
#define DP_HOOK_MAP5(m, n, a, b, c, d, e) DP_HOOK_MAP4(m, n, a, b, c, d) m(4, e)
#define DP_HOOK_MAP6(m, n, a, b, c, d, e, f) \
	DP_HOOK_MAP5(m, n, a, b, c, d, e) m(5, f)
#define DP_HOOK_MAP7(m, n, a, b, c, d, e, f, g) \
	DP_HOOK_MAP6(m, n, a, b, c, d, e, f) m(6, g)
#define DP_HOOK_MAP8(m, n, a, b, c, d, e, f, g, h) \
	DP_HOOK_MAP7(m, n, a, b, c, d, e, f, g) m(7, h)

#define DP_HOOK_RO_PARAM(i, type) , type dp_p##i
#define DP_HOOK_RW_PARAM(i, type) , type *dp_p##i
#define DP_HOOK_RO_SET(i, type) dp_args.p[i] = (void *)&dp_p##i;
#define DP_HOOK_RW_SET(i, type) dp_args.p[i] = (void *)dp_p##i;
#define DP_HOOK_RO_VALUE(i, type) , *(type *)dp_a->p[i]
#define DP_HOOK_RW_VALUE(i, type) , (type *)dp_a->p[i]
#define DP_HOOK_ONE(i, type) +1
#define DP_HOOK_ARG(i, argument) , argument

static __attribute__((unused)) int dp_hook_nobody(struct gkh_hook *h,
						  struct gkh_args *a)
{
	(void)h;
	(void)a;
	return GKH_CONTINUE;
}

/* The function that an armed hook calls, with its types; and the way back, to an exit with them */
#define DP_HOOK_TYPED(way, ...)                                                \
	enum {                                                                 \
		DP_HOOK_CAT(DP_HOOK_NAME(__VA_ARGS__), _gkh_count) =           \
			0 DP_HOOK_MAP(DP_HOOK_ONE, __VA_ARGS__)                \
	};                                                                     \
	static __attribute__((unused, cold, __noinline__)) int DP_HOOK_CAT(    \
		DP_HOOK_NAME(__VA_ARGS__), _gkh_call)(                         \
		long *dp_ret DP_HOOK_MAP(DP_HOOK_##way##_PARAM, __VA_ARGS__))  \
	{                                                                      \
		struct gkh_hook *dp_h =                                        \
			&DP_HOOK_HEAD(DP_HOOK_NAME(__VA_ARGS__));              \
		struct gkh_args dp_args;                                       \
		dp_args.count =                                                \
			DP_HOOK_CAT(DP_HOOK_NAME(__VA_ARGS__), _gkh_count);    \
		dp_args.writable = (dp_h->flags & GKH_HOOK_WRITABLE) != 0;     \
		dp_args.ret = dp_ret;                                          \
		DP_HOOK_MAP(DP_HOOK_##way##_SET, __VA_ARGS__)                  \
		return dp_hook_run(dp_h, &dp_args);                            \
	}                                                                      \
	typedef int DP_HOOK_CAT(DP_HOOK_NAME(__VA_ARGS__), _gkh_exit)(         \
		struct gkh_hook * dp_h,                                        \
		struct gkh_args *                                              \
			dp_a DP_HOOK_MAP(DP_HOOK_##way##_PARAM, __VA_ARGS__)); \
	static __attribute__((unused)) int DP_HOOK_CAT(                        \
		DP_HOOK_NAME(__VA_ARGS__), _gkh_give)(                         \
		DP_HOOK_CAT(DP_HOOK_NAME(__VA_ARGS__), _gkh_exit) * dp_exit,   \
		struct gkh_hook * dp_h, struct gkh_args * dp_a)                \
	{                                                                      \
		return dp_exit(dp_h, dp_a DP_HOOK_MAP(DP_HOOK_##way##_VALUE,   \
						      __VA_ARGS__));           \
	}

#define DP_HOOK_USE(way, ...)                                          \
	DP_HOOK_C(extern struct gkh_hook DP_HOOK_HEAD(DP_HOOK_NAME(    \
		__VA_ARGS__)) __attribute__((visibility("default")));) \
	DP_HOOK_TYPED(way, __VA_ARGS__)                                \
	struct gkh_hook

#define DP_HOOK_DEFINE(flags, ...)                                            \
	DP_HOOK_C(extern struct gkh_hook DP_HOOK_HEAD(DP_HOOK_NAME(           \
		__VA_ARGS__)) __attribute__((visibility("default")));         \
		  struct gkh_hook DP_HOOK_HEAD(DP_HOOK_NAME(__VA_ARGS__)) = { \
			  DP_HOOK_STRING(DP_HOOK_NAME(__VA_ARGS__)),          \
			  flags,                                              \
			  0,                                                  \
			  dp_hook_nobody,                                     \
			  DP_HOOK_STRING(__VA_ARGS__),                        \
			  0 DP_HOOK_MAP(DP_HOOK_ONE, __VA_ARGS__),            \
			  0,                                                  \
			  0,                                                  \
			  { 0, 0 },                                           \
			  0 };)                                               \
	static struct gkh_hook *const DP_HOOK_CAT(DP_HOOK_NAME(__VA_ARGS__),  \
						  _gkh_at)                    \
		__attribute__((used, section("gkh_hooks"))) =                 \
			&DP_HOOK_HEAD(DP_HOOK_NAME(__VA_ARGS__))

#define DP_HOOK_DECLARE(way, flags, ...)    \
	DP_HOOK_DEFINE(flags, __VA_ARGS__); \
	DP_HOOK_TYPED(way, __VA_ARGS__)     \
	struct gkh_hook

#define DP_HOOK_CALL(ret, ...)                            \
	DP_HOOK_CAT(DP_HOOK_NAME(__VA_ARGS__), _gkh_call) \
	(ret DP_HOOK_MAP(DP_HOOK_ARG, __VA_ARGS__))

/*
 * The nop, its record for the library, and its note for tools that know static probes. "?": they go
 * with the function, where a linker keeps one of several.
 */
#define DP_HOOK_ASM(head, name, symbols)                      \
	"771:	.byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n" symbols \
	"	.pushsection gkh_points, \"aw?\", @progbits\n"      \
	"	.balign 8\n"                                        \
	"	.long 771b - ., %l[dp_hook_armed] - .\n"            \
	"	.quad " head "\n"                             \
	"	.popsection\n"                                      \
	"	.pushsection .note.stapsdt, \"?\", @note\n"         \
	"	.balign 4\n"                                        \
	"	.long 773f - 772f, 775f - 774f, 3\n"                \
	"772:	.asciz \"stapsdt\"\n"                           \
	"773:	.balign 4\n"                                    \
	"774:	.quad 771b, _.stapsdt.base, 0\n"                \
	"	.asciz \"gkh\"\n"                                   \
	"	.asciz " name "\n"                            \
	"	.asciz \"\"\n"                                      \
	"775:	.balign 4\n"                                    \
	"	.popsection\n"                                      \
	"	.ifndef _.stapsdt.base\n"                           \
	"	.pushsection .stapsdt.base, \"aG\", @progbits, "    \
	".stapsdt.base, comdat\n"                             \
	"	.weak _.stapsdt.base\n"                             \
	"	.hidden _.stapsdt.base\n"                           \
	"_.stapsdt.base: .space 1\n"                          \
	"	.size _.stapsdt.base, 1\n"                          \
	"	.popsection\n"                                      \
	"	.endif\n"

/*
 * The nop, and the statements that follow an armed one, in a place of their own. clang takes every label
 * for a target of every asm goto of a function; in C++, a variable between them is then an error.
 */
#if defined(__clang__) && defined(__cplusplus)
#define DP_HOOK_PLACE(text, inputs, ...)                                \
	do {                                                            \
		if (__builtin_expect(                                   \
			    []() __attribute__((always_inline))->bool { \
				    __asm__ goto(text                   \
						 :                      \
						 : inputs               \
						 :                      \
						 : dp_hook_armed);      \
				    return false;                       \
			    dp_hook_armed:                              \
				    return true;                        \
			    }(),                                        \
			    0)) {                                       \
			__VA_ARGS__;                                    \
		}                                                       \
	} while (0)
#elif defined(__clang__)
/* Local labels are an extension. */
#define DP_HOOK_PLACE(text, inputs, ...)                              \
	_Pragma("clang diagnostic push")                              \
		_Pragma("clang diagnostic ignored \"-Wpedantic\"") do \
	{                                                             \
		__label__ dp_hook_armed;                              \
		__asm__ goto(text : : inputs : : dp_hook_armed);      \
		if (0) {                                              \
		dp_hook_armed:                                        \
			__attribute__((unused));                      \
			DP_HOOK_STRICT __VA_ARGS__;                   \
			DP_HOOK_LENIENT                               \
		}                                                     \
	}                                                             \
	while (0)                                                     \
	_Pragma("clang diagnostic pop")
#else
#define DP_HOOK_PLACE(text, inputs, ...)                         \
	__extension__({                                          \
		__label__ dp_hook_armed;                         \
		__asm__ goto(text : : inputs : : dp_hook_armed); \
		if (0) {                                         \
		dp_hook_armed:                                   \
			__attribute__((unused, cold));           \
			DP_HOOK_STRICT __VA_ARGS__;              \
			DP_HOOK_LENIENT                          \
		}                                                \
	})
#endif

#define DP_HOOK_AT(name, ...)                                          \
	DP_HOOK_PLACE(DP_HOOK_ASM("gkh_hook_" DP_HOOK_STRING(name),    \
				  "\"" DP_HOOK_STRING(name) "\"", ""), \
		      , (void)sizeof(DP_HOOK_HEAD(name));              \
		      __VA_ARGS__)

#define DP_HOOK_COPY(i, v)               \
	DP_HOOK_AUTO dp_hook_v##i = (v); \
	dp_hook_args.p[i] = (void *)&dp_hook_v##i;
#define DP_HOOK_REFER(i, v) dp_hook_args.p[i] = (void *)&(v);

#define DP_HOOK_PAPER(h, n, rw, set)                                          \
	do {                                                                  \
		static struct gkh_hook dp_hook_head = {                       \
			h,                                                    \
			GKH_HOOK_UNTYPED | ((rw) ? GKH_HOOK_WRITABLE : 0),    \
			0,                                                    \
			dp_hook_nobody,                                       \
			0,                                                    \
			n,                                                    \
			0,                                                    \
			0,                                                    \
			{ 0, 0 },                                             \
			0                                                     \
		};                                                            \
		static struct gkh_hook *const dp_hook_at                      \
			__attribute__((used, section("gkh_hooks"))) =         \
				&dp_hook_head;                                \
		DP_HOOK_PLACE(                                                \
			DP_HOOK_ASM("%c[head]", "\"" h "\"",                  \
				    "	.globl GKHook" h ", GKHook" h "_bp\n" \
				    "GKHook" h " = 771b\n"                    \
				    "GKHook" h "_bp:\n"),                     \
			[head] "i"(&dp_hook_head),                            \
			struct gkh_args dp_hook_args;                         \
			dp_hook_args.count = n; dp_hook_args.writable = rw;   \
			dp_hook_args.ret = (long *)0;                         \
			set(void) dp_hook_run(&dp_hook_head, &dp_hook_args);  \
			__asm__ volatile(".globl GKHook" h "_ret\n"           \
					 "GKHook" h "_ret:\n"));              \
	} while (0)

#endif
#endif
