/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stubbed: calls that are tracked by the port's stubs, and run programs.
 *
 *     entry ─► an instance and its stub ─► program: arguments, condition ─► the return address is the stub's
 *     ret   ─► the stub ─► the port ─► dp_stub_end(): program: what is returned, record
 *
 * The account and the records are those of exits.c.
 */
#ifndef DP_INSTANCE_STUBBED_H
#define DP_INSTANCE_STUBBED_H

#include "engine/hit/hit.h"
#include "engine/layout/instance.h"
#include "engine/layout/site.h"
#include "port_types.h"

#pragma GCC visibility push(hidden)

/** dp_stub_begin() - a function is entered. The call is tracked if there is an instance, and its program does not
 *  object. Context: a hit; the stack pointer is where the return address is. */
void dp_stub_begin(u32 probe, const struct dp_site_entry *site,
		   const struct dp_hit *hit);
/** dp_stub_end() - the call has returned, and @hit is behind that. The port frees the instance.
 *  dp_stub_missed() - so it has, where no program can run */
void dp_stub_end(struct dp_exit_instance *instance, const struct dp_hit *hit);
void dp_stub_missed(const struct dp_exit_instance *instance);

#pragma GCC visibility pop

#endif
