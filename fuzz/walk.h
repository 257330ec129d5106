/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* walk: go through all that a type is made of; what cannot be is an abort(). */
#ifndef DP_FUZZ_WALK_H
#define DP_FUZZ_WALK_H

#include <stdlib.h>
#include <string.h>
#include "sym/prototypes.h"

static void must(bool good)
{
	if (!good)
		abort();
}

static void show(const struct dp_prototype_type *type)
{
	static const u64 values[] = { 0,    1,		-1ull,
				      0xff, 1ull << 63, 0x123456789abcdef0 };
	char text[32];
	size_t i;
	int n;

	for (i = 0; i < sizeof(values) / sizeof(*values); i++) {
		n = dp_prototypes_show(text, sizeof(text), type, values[i]);
		must(n == -EOPNOTSUPP || n > 0);
		must(strlen(text) < sizeof(text));
	}
}

/* Behind how many pointers, and how deep in structs and arrays; how many values there are. */
static void walk(const struct dp_prototype_type *type, int pointers, int levels,
		 u32 *parts)
{
	u32 inner = 0, i;

	must(levels <= DP_PROTOTYPE_LEVELS && type->align);
	must(++*parts <= 3 * DP_PROTOTYPE_PARTS);
	show(type);
	if (type->kind == DP_PROTOTYPE_POINTER && pointers)
		walk(type->of, pointers - 1, 0, &inner);
	if (type->kind == DP_PROTOTYPE_ARRAY)
		walk(type->of, pointers, levels + 1, parts);
	if (type->kind != DP_PROTOTYPE_STRUCT)
		return;
	for (i = 0; i < type->n; i++) {
		must(type->fields[i].offset + type->fields[i].type->size <=
		     type->size);
		walk(type->fields[i].type, pointers, levels + 1, parts);
	}
}

#endif
