/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hooks in a kernel's modules, by dprobes.ko: places that cost a nop until somebody listens.
 *
 *     DECLARE_HOOK(request, int, const char *);     at a source's outermost level, in one file of a module
 *     gkh_identify(GKH_HOOK(request));              as the module comes; gkh_delete() as it goes
 *     HOOK(request, fd, path);                      in a function
 *
 * The macros and calls are those of <dprobes/hooks.h> and <dprobes/gkh.h>. Another module has exits called there, by the hook's
 * name. A module says MODULE_IMPORT_NS(DPROBES) and has a licence that is compatible with the GPL.
 *
 * What differs from processes: a hook is a jump label of the kernel's (static_branch_unlikely()). It is not known before it
 * has been identified. A module that goes has its hooks deleted by force, and its exits deregistered.
 *
 * Exits. Context: where the hook is, which may be an NMI, with preemption off: they do not sleep. They may call gkh_disarm() and
 * gkh_deregister(); other calls are -EAGAIN there. GKH_DISABLE_IRQS keeps interrupts of the CPU off. GKH_STOP_CPUS is
 * -EOPNOTSUPP: a hook may be where no CPU can wait for others. The paper's GKHOOK_nVAR_xx() are not there: their heads are
 * in functions, where nobody identifies them.
 */
#ifndef DPROBES_KERNEL_HOOKS_H
#define DPROBES_KERNEL_HOOKS_H

#include <linux/jump_label.h>
#include <linux/types.h>

#define DP_NO_MODULE_NOTE
#include <dprobes/hooks.h>

/* The key is the hook's first private word. */
#define DP_HOOK_KEY(name) DP_HOOK_CAT(name, _gkh_key)

#undef DP_HOOK_USE
#define DP_HOOK_USE(way, ...)                                                  \
	extern struct gkh_hook DP_HOOK_HEAD(DP_HOOK_NAME(__VA_ARGS__));        \
	extern struct static_key_false DP_HOOK_KEY(DP_HOOK_NAME(__VA_ARGS__)); \
	DP_HOOK_TYPED(way, __VA_ARGS__)                                        \
	struct gkh_hook

#undef DP_HOOK_DEFINE
#define DP_HOOK_DEFINE(given, ...)                                             \
	extern struct static_key_false DP_HOOK_KEY(DP_HOOK_NAME(__VA_ARGS__)); \
	DEFINE_STATIC_KEY_FALSE(DP_HOOK_KEY(DP_HOOK_NAME(__VA_ARGS__)));       \
	extern struct gkh_hook DP_HOOK_HEAD(DP_HOOK_NAME(__VA_ARGS__));        \
	struct gkh_hook DP_HOOK_HEAD(DP_HOOK_NAME(__VA_ARGS__)) = {            \
		.name = DP_HOOK_STRING(DP_HOOK_NAME(__VA_ARGS__)),             \
		.flags = given,                                                \
		.dispatch = dp_hook_nobody,                                    \
		.types = DP_HOOK_STRING(__VA_ARGS__),                          \
		.count = 0 DP_HOOK_MAP(DP_HOOK_ONE, __VA_ARGS__),              \
		.priv = { &DP_HOOK_KEY(DP_HOOK_NAME(__VA_ARGS__)), NULL }      \
	}

#undef DP_HOOK_AT
#define DP_HOOK_AT(name, ...)                                     \
	do {                                                      \
		if (static_branch_unlikely(&DP_HOOK_KEY(name))) { \
			DP_HOOK_STRICT __VA_ARGS__;               \
			DP_HOOK_LENIENT                           \
		}                                                 \
	} while (0)

#undef DP_HOOK_PAPER

#endif
