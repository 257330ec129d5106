/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a program or library tells of its own functions: which must not be probed, and which
 * handlers use general registers only.
 *
 * Two sections name them. A constructor tells libdprobes where these are. Who defines
 * DP_NO_MODULE_NOTE first has no constructor.
 */
#ifndef DPROBES_MARKS_H
#define DPROBES_MARKS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * NOKPROBE_SYMBOL() - a function that is not to be probed
 *
 * At file scope, behind its definition. Probing any of its instructions is then
 * -EINVAL.
 */
#define NOKPROBE_SYMBOL(function)                               \
	static const void *const dp_nokprobe_##function         \
		__attribute__((used, section("dp_nokprobe"))) = \
			(const void *)(function)
#define nokprobe_inline inline __attribute__((always_inline))

/**
 * DP_HANDLER_GPR - a handler that uses general registers only
 *
 * In front of its definition. The compiler refuses vector and floating-point
 * code in it; functions that it calls have to be declared so, too. Nothing but
 * general registers is then saved around it, which makes a hit much cheaper.
 */
#define DP_HANDLER_GPR                                            \
	__attribute__((target("general-regs-only"), __noinline__, \
		       section("dp_gpr_text")))

#pragma GCC visibility push(default)

/* Tells the library where the two sections above are in this module; without their ends,
 * that the module goes. Another one may come to the same place. */
extern const char __start_dp_gpr_text[]
	__attribute__((weak, visibility("hidden")));
extern const char __stop_dp_gpr_text[]
	__attribute__((weak, visibility("hidden")));
extern const void *const __start_dp_nokprobe[]
	__attribute__((weak, visibility("hidden")));
extern const void *const __stop_dp_nokprobe[]
	__attribute__((weak, visibility("hidden")));

void dp_module_note(const void *gpr_start, const void *gpr_stop,
		    const void *const *nokprobe_start,
		    const void *const *nokprobe_stop);

#pragma GCC visibility pop

#ifndef DP_NO_MODULE_NOTE
static void __attribute__((constructor, used)) dp_module_constructor(void)
{
	dp_module_note(__start_dp_gpr_text, __stop_dp_gpr_text,
		       __start_dp_nokprobe, __stop_dp_nokprobe);
}

static void __attribute__((destructor, used)) dp_module_destructor(void)
{
	dp_module_note(__start_dp_gpr_text, NULL, __start_dp_nokprobe, NULL);
}
#endif

#ifdef __cplusplus
}
#endif
#endif
