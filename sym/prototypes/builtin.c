// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* builtin: the types that have a name in every file. */
#include "sym/prototypes/parse.h"

#define INT(n, sign, how)                                                \
	{                                                                \
		.kind = DP_PROTOTYPE_INT, .lens = DP_PROTOTYPE_##how,    \
		.is_signed = sign, .bits = n * 8, .size = n, .align = n, \
		.parts = 1,                                              \
	}
#define FLOAT(what, width, bytes, alignment)                               \
	{                                                                  \
		.kind = DP_PROTOTYPE_##what, .bits = width, .size = bytes, \
		.align = alignment, .parts = 1,                            \
	}
#define POINTER(how, to)                                                  \
	{                                                                 \
		.kind = DP_PROTOTYPE_POINTER, .lens = DP_PROTOTYPE_##how, \
		.size = 8, .align = 8, .parts = 1, .of = to,              \
	}

const struct dp_prototype_type dp_proto_void = { .align = 1 };
const struct dp_prototype_type dp_proto_char = INT(1, true, CHAR);
const struct dp_prototype_type dp_proto_int = INT(4, true, PLAIN);
static const struct dp_prototype_type opaque = {
	.kind = DP_PROTOTYPE_STRUCT,
	.align = 1,
};
static const struct dp_prototype_type text = {
	.kind = DP_PROTOTYPE_ARRAY,
	.lens = DP_PROTOTYPE_STRING,
	.levels = 1,
	.align = 1,
	.parts = 1,
	.of = &dp_proto_char,
	.length = { .zero = true },
};

static const struct {
	const char *name;
	struct dp_prototype_type type;
} table[] = {
	{ "void", { .align = 1 } },
	{ "char", INT(1, true, CHAR) },
	{ "schar", INT(1, true, PLAIN) },
	{ "uchar", INT(1, false, PLAIN) },
	{ "short", INT(2, true, PLAIN) },
	{ "ushort", INT(2, false, PLAIN) },
	{ "int", INT(4, true, PLAIN) },
	{ "uint", INT(4, false, PLAIN) },
	{ "long", INT(8, true, PLAIN) },
	{ "ulong", INT(8, false, PLAIN) },
	{ "bool", INT(1, false, BOOL) },
	{ "octal", INT(4, false, OCT) },
	{ "float", FLOAT(FLOAT, 32, 4, 4) },
	{ "double", FLOAT(FLOAT, 64, 8, 8) },
	{ "ldouble", FLOAT(FLOAT, 80, 16, 16) },
	{ "float128", FLOAT(FLOAT, 128, 16, 16) },
	{ "cfloat", FLOAT(COMPLEX, 32, 8, 4) },
	{ "cdouble", FLOAT(COMPLEX, 64, 16, 8) },
	{ "cldouble", FLOAT(COMPLEX, 80, 32, 16) },
	{ "cfloat128", FLOAT(COMPLEX, 128, 32, 16) },
	{ "addr", POINTER(HEX, &dp_proto_void) },
	{ "file", POINTER(PLAIN, &opaque) },
	{ "format", POINTER(FORMAT, &text) },
};

const struct dp_prototype_type *dp_proto_builtin(const struct dp_proto_line *l)
{
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (dp_proto_line_is(l, table[i].name))
			return &table[i].type;
	return NULL;
}
