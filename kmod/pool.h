/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* pool: room for copies and detours; shared with text.S. */
#ifndef DP_KMOD_POOL_H
#define DP_KMOD_POOL_H

/* Bytes, whole pages */
#define DP_KMOD_POOL (4 << 20)

#ifndef __ASSEMBLY__

#include "engine/site/live.h"

/** dp_kmod_pool_ops - the pool as memory for an engine, which is their argument; without what keeps
 *  others out. Context: task. */
extern const struct dp_growth_ops dp_kmod_pool_ops;

/** dp_kmod_pool_reset() - all of it is free again. No thread is in there. */
void dp_kmod_pool_reset(void);

#endif
#endif
