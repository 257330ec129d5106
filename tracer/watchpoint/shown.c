// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* shown: may the values of a watchpoint's spec be shown? They are new and old, as types of their size. */
#include "lang/value.h"
#include "resolve/points.h"
#include "tracer/watchpoint/watchpoint.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdlib.h>

static int bad(const struct dp_spec *spec, const struct dp_value *v, int err,
	       const char *why, struct dp_diag *diag)
{
	dp_diag_set(diag, err, "%s", why);
	dp_diag_caret(diag, spec->args_col + 1 + v->at, v->span);
	return err;
}

/* A real number has all bytes that are watched, others as many or fewer. */
static bool fits(struct dp_value_type type, u8 len)
{
	u32 bits = 8u * len;

	switch (type.kind) {
	case DP_VALUE_FLOAT:
		return type.bits == bits;
	case DP_VALUE_SYMBOL:
		return bits == 64;
	default:
		return type.bits <= bits;
	}
}

static bool is_scalar(struct dp_value_type type)
{
	return !type.stars && !type.count && !type.within &&
	       (type.kind == DP_VALUE_SIGNED ||
		type.kind == DP_VALUE_UNSIGNED || type.kind == DP_VALUE_HEX ||
		type.kind == DP_VALUE_OCTAL || type.kind == DP_VALUE_CHAR ||
		type.kind == DP_VALUE_BOOL || type.kind == DP_VALUE_FLOAT ||
		type.kind == DP_VALUE_SYMBOL);
}

static int check_item(const struct dp_values *values,
		      const struct dp_value_item *item,
		      const struct dp_spec *spec, u8 len, struct dp_diag *diag)
{
	const struct dp_value *v = &values->v[item->value], *of = v;

	if (v->op == DP_VALUE_SHOWN || v->op == DP_VALUE_CAST)
		of = &values->v[v->left];
	if (of->op != DP_VALUE_NAME || (!dp_value_is(values, of, "new") &&
					!dp_value_is(values, of, "old")))
		return bad(
			spec, of, -EOPNOTSUPP,
			"what a watchpoint shows is new and old, with a type or a format if you like: new:s32",
			diag);
	if (of == v)
		return 0;
	if (!is_scalar(v->type))
		return bad(
			spec, v, -EOPNOTSUPP,
			"a watchpoint's value is shown as a number, a character, bool, f32, f64 or sym",
			diag);
	return fits(v->type, len) ?
		       0 :
		       bad(spec, v, -EINVAL,
			   "this type has another size than what is watched; /LEN behind the variable says how many bytes that is",
			   diag);
}

static int check_items(struct dp_values *values, const struct dp_spec *spec,
		       u8 len, struct dp_diag *diag)
{
	u32 i;
	int err = dp_value_list(values, spec->args, spec->args_col + 1, diag);

	for (i = 0; i < values->nr_items && !err; i++)
		err = check_item(values, &values->items[i], spec, len, diag);
	return err;
}

int dp_watch_shown(const struct dp_spec *spec, u8 len, struct dp_diag *diag)
{
	struct dp_values *values = calloc(1, sizeof(*values));
	int err;

	if (!values)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	err = check_items(values, spec, len, diag);
	free(values);
	return err;
}
