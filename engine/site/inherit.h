/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* inherit: an engine that takes the place of another. */
#ifndef DP_SITE_INHERIT_H
#define DP_SITE_INHERIT_H

#include "port_types.h"

struct dp_engine;

/**
 * dp_engine_inherit() - go on counting where another engine has ended
 * @of: of the same process, disarmed; the first probes and programs of @engine are
 *      all of its
 *
 * Between dp_engine_build() and dp_engine_arm().
 */
void dp_engine_inherit(struct dp_engine *engine, const struct dp_engine *of);

#endif
