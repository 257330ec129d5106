/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* exits: calls of functions whose exits are probed. */
#ifndef DP_INSTANCE_EXITS_H
#define DP_INSTANCE_EXITS_H

#include "port_types.h"
#include "engine/hit/hit.h"
#include "engine/layout/site.h"
#include "engine/layout/instance.h"

#pragma GCC visibility push(hidden)

/** dp_exit_instance_begin() - a function is entered: count it, and track the call
 *  The call is tracked if there is room and its program does not object. An older
 *  instance at the same place has ended otherwise. */
void dp_exit_instance_begin(u32 probe, const struct dp_site_entry *site,
			    const struct dp_hit *hit);
/** dp_exit_instance_fill() - complete the instance: its call will be tracked
 *  @log: logged bytes for the exit's record, @len of them */
void dp_exit_instance_fill(struct dp_exit_instance *instance, u32 probe,
			   const struct dp_hit *hit, const void *log, u32 len);
/** dp_exit_instance_returned() - a call has returned that is at no place of a table; @hit is behind that */
void dp_exit_instance_returned(struct dp_exit_instance *instance, u32 probe,
			       const struct dp_hit *hit);
/** dp_exit_instance_end() - a function is about to be left by the instruction of @site */
void dp_exit_instance_end(u32 probe, const struct dp_site_entry *site,
			  const struct dp_hit *hit);
/** dp_exit_instance_unwind() - an unwinder is about to leave a part of the stack
 *  The calls that have their return addresses there end. */
void dp_exit_instance_unwind(u32 probe, const struct dp_hit *hit);

#pragma GCC visibility pop

#endif
