/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* hook: system calls of libc that pass through the agent. */
#ifndef DP_SITE_HOOK_H
#define DP_SITE_HOOK_H

#include "port_types.h"

struct dp_engine;

/**
 * dp_engine_add_hook() - watch a system call of libc
 * @addr: address of the instruction that sets its number, which leads straight to it; or of a
 *        call or jump, if @nr goes through other functions
 * @code: DP_REGION_MAX bytes from there
 * @nr: number of the call
 * @watched: it is made where it stands, between two calls of the agent, because
 *           it may return twice on one stack; else the agent makes it
 *
 * The call then passes through the agent (port/user/signals/hook.c, watch.c). Probes on any of
 * these instructions are told from the hook's detour.
 * Return: 0, -ENOMEM.
 */
int dp_engine_add_hook(struct dp_engine *engine, u64 addr, const u8 *code,
		       u32 nr, bool watched);
/** dp_engine_hooked_call() - where the hook at @addr has its last instruction made, which
 *  is the call, and told of before; or, @behind, where that returns to. Return: false if
 *  there is none. */
bool dp_engine_hooked_call(const struct dp_engine *engine, u64 addr,
			   bool behind, u64 *to);

#endif
