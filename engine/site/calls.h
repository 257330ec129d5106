/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* calls: what code does at sites where calls begin and end. */
#ifndef DP_SITE_CALLS_H
#define DP_SITE_CALLS_H

#include "port_types.h"

struct dp_engine;

/** dp_calls_note() - fill in the struct dp_call_entry of site @i, by its probes as they are now
 *  Context: control half, after the tables have been laid out. */
void dp_calls_note(struct dp_engine *e, u32 i);

#endif
