/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* whole: print structs and arrays, and what they lead to. */
#ifndef DP_TRACER_VALUES_WHOLE_H
#define DP_TRACER_VALUES_WHOLE_H

#include <stdio.h>
#include "tracer/values/printers.h"
#include "tracer/values/show.h"

/**
 * struct dp_whole - what is printed
 * @bytes, @size: from memory; not more are looked at
 * @follow, @item, @follows: what else was logged
 * @cut: set if not all was logged
 */
struct dp_whole {
	FILE *out;
	struct dp_modules *mods;
	bool json;
	const u8 *bytes;
	u32 size;
	const struct dp_follow *follow;
	const struct dp_item *item;
	u32 follows;
	bool cut;
};

void dp_whole_show(struct dp_whole *w, struct dp_value_type type);

#endif
