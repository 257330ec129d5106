// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * types: what functions return, according to debug information.
 *
 * The child of dp_reader_read() fills a table of types. Each entry of it is checked.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "sym/types/reader.h"

#define ENUMS_MAX 4 /* an enumeration of a typedef of an enumeration of … */

static struct dp_type type_of(const struct dp_reader *r, Dwarf_Die *die)
{
	Dwarf_Die next;
	int i;

	for (i = 0; i < ENUMS_MAX; i++) {
		if (!dp_reader_peel(r, die))
			return (struct dp_type){ DP_TYPE_VOID, 0 };
		switch (r->dw.dwarf_tag(die)) {
		case DW_TAG_base_type:
			return dp_reader_base(r, die);
		case DW_TAG_pointer_type:
		case DW_TAG_reference_type:
		case DW_TAG_rvalue_reference_type:
			return (struct dp_type){ DP_TYPE_POINTER, 64 };
		case DW_TAG_enumeration_type:
			if (!dp_reader_type(r, die, &next))
				return dp_reader_base(r, die);
			*die = next;
			break;
		default:
			return (struct dp_type){ 0 };
		}
	}
	return (struct dp_type){ 0 };
}

static void see(const struct dp_reader *r, Dwarf_Die *function, size_t i)
{
	struct dp_type *type = r->out;
	Dwarf_Attribute attr;
	Dwarf_Die die;

	if (dp_reader_type(r, function, &die))
		type[i] = type_of(r, &die);
	else if (!r->dw.dwarf_attr_integrate(function, DW_AT_type, &attr) &&
		 dp_reader_is_c(r, function))
		type[i].kind = DP_TYPE_VOID;
}

static bool has(const struct dp_reader *r, size_t i)
{
	const struct dp_type *type = r->out;

	return type[i].kind;
}

static bool is_sane(struct dp_type t)
{
	switch (t.kind) {
	case DP_TYPE_VOID:
		return !t.bits;
	case DP_TYPE_FLOAT:
		return t.bits == 32 || t.bits == 64;
	case DP_TYPE_SIGNED:
	case DP_TYPE_UNSIGNED:
	case DP_TYPE_BOOL:
	case DP_TYPE_POINTER:
		return t.bits == 8 || t.bits == 16 || t.bits == 32 ||
		       t.bits == 64;
	default:
		return false;
	}
}

int dp_types_returned(struct dp_modules *mods, const struct dp_module *m,
		      const u64 *addr, struct dp_type *type, size_t n)
{
	struct dp_reader r = { .addr = addr,
			       .n = n,
			       .size = n * sizeof(*type),
			       .see = see,
			       .has = has };
	const struct dp_type *found;
	size_t i;
	int err;

	memset(type, 0, n * sizeof(*type));
	err = n ? dp_reader_read(&r, mods, m) : -ENOENT;
	if (!r.out)
		return err;
	for (i = 0, found = r.out; i < n; i++)
		if (is_sane(found[i]))
			type[i] = found[i];
	munmap(r.out, r.size);
	return err;
}
