/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* exits: calls of functions whose exits are probed. */
#ifndef DP_INSTANCE_EXITS_H
#define DP_INSTANCE_EXITS_H

#include "port_types.h"
#include "engine/hit/hit.h"
#include "engine/layout/site.h"
#include "engine/layout/instance.h"

#pragma GCC visibility push(hidden)

/** dp_exit_instance_begin() - a function is entered: count it, and track the call from
 *  now on, if there is room and its program, if it has one, does not object. If an
 *  instance is where this one will be, that was left otherwise. */
void dp_exit_instance_begin(u32 probe, const struct dp_site_entry *site,
			    const struct dp_hit *hit);
/** dp_exit_instance_fill() - the call will be tracked
 *  @log: what the exit's record shall have, @len bytes */
void dp_exit_instance_fill(struct dp_exit_instance *instance, u32 probe,
			   const struct dp_hit *hit, const void *log, u32 len);
/** dp_exit_instance_end() - a function is about to be left by the instruction of @site */
void dp_exit_instance_end(u32 probe, const struct dp_site_entry *site,
			  const struct dp_hit *hit);
/** dp_exit_instance_unwind() - a part of the stack is about to be left by an unwinder, and
 *  with it the calls that have their return addresses there */
void dp_exit_instance_unwind(u32 probe, const struct dp_hit *hit);

#pragma GCC visibility pop

#endif
