/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* visit: calls of functions whose exits are probed. */
#ifndef DP_INSTANCE_VISIT_H
#define DP_INSTANCE_VISIT_H

#include "port_types.h"
#include "engine/hit/hit.h"
#include "engine/layout/site.h"
#include "engine/layout/instance.h"

#pragma GCC visibility push(hidden)

/** dp_visit_begin() - a function is entered: count it, and follow the call from
 *  now on, if there is room and its program, if it has one, does not object. If a
 *  visit is where this one will be, that was left otherwise. */
void dp_visit_begin(u32 probe, const struct dp_site_entry *site,
		    const struct dp_hit *hit);
/** dp_visit_fill() - the call will be followed
 *  @log: what the exit's record shall have, @len bytes */
void dp_visit_fill(struct dp_visit *visit, u32 probe, const struct dp_hit *hit,
		   const void *log, u32 len);
/** dp_visit_end() - a function is about to be left by the instruction of @site */
void dp_visit_end(u32 probe, const struct dp_site_entry *site,
		  const struct dp_hit *hit);
/** dp_visit_unwind() - a part of the stack is about to be left by an unwinder, and
 *  with it the calls that have their return addresses there */
void dp_visit_unwind(u32 probe, const struct dp_hit *hit);

#pragma GCC visibility pop

#endif
