/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* holes: where nothing is mapped, of mappings that have been read. Context: may allocate. */
#ifndef DP_PROC_ATTACH_HOLES_H
#define DP_PROC_ATTACH_HOLES_H

#include "port_types.h"

struct dp_hole;
struct dp_maps;

/** dp_holes_among() - dp_holes_find() of mappings that have been read */
int dp_holes_among(const struct dp_maps *maps, size_t more,
		   struct dp_hole **holes, size_t *n);

#endif
