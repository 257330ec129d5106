/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * returns: clients' probes on returns.
 *
 *     added ─► the entry's probe, DP_KIND_STUB ─► planned: its instances are made ─► hits: engine/instance/stubbed.h
 *     the probe goes ─► no return runs a program ─► the instances are freed, or orphans: calls.h
 *
 * Context of every function: task, between dp_kmod_enter() and dp_kmod_leave().
 */
#ifndef DP_KMOD_RETURNS_H
#define DP_KMOD_RETURNS_H

#include "port_types.h"

struct dp_account;
struct dp_binding;
struct dp_kmod_probe;

/** dp_returns_check() - can the calls of a function be followed? @addr: 0: it is not there yet
 *  Return: 0; -EINVAL with @why */
int dp_returns_check(const char *name, u64 addr, const char **why);
/** dp_returns_begin() - a probe that has just been added is on the returns of its function */
void dp_returns_begin(u32 probe, bool logs);
/** dp_returns_bind() - a probe runs a program */
void dp_returns_bind(u32 probe, const struct dp_binding *binding);
/** dp_returns_make() - make the instances of those probes of a list that are on returns: @most for each, 0: as many as is
 *  usual. Return: 0; -ENOMEM, also: there are not so many stubs; *@bad: of which function */
int dp_returns_make(const u32 *list, u32 n, u32 most, u64 *bad);
/** dp_returns_silence() - no return of these runs a program any more when RCU has waited */
void dp_returns_silence(const u32 *list, u32 n);
/** dp_returns_account() - what has become of the calls of a probe */
void dp_returns_account(u32 probe, struct dp_account *account);

#endif
