/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* known_record: a struct, and what a table or debug information has of a function that takes it. */
#ifndef KNOWN_RECORD_H
#define KNOWN_RECORD_H

#include <stddef.h>
#include "sym/prototypes.h"

struct record {
	s32 number;
	u16 half;
	signed char small;
	bool yes;
	const char *name;
	double real;
	u8 bytes[4];
	float narrow;
	struct record *next;
};

/* What a table, or debug information, has of a function f(struct record *r, enum hue hue, double
 * d, char *name, int n) */
static const struct dp_prototype_type
	number = { .kind = DP_PROTOTYPE_INT,
		   .bits = 32,
		   .is_signed = true,
		   .size = 4 },
	half = { .kind = DP_PROTOTYPE_INT, .bits = 16, .size = 2 },
	small = { .kind = DP_PROTOTYPE_INT,
		  .lens = DP_PROTOTYPE_CHAR,
		  .bits = 8,
		  .is_signed = true,
		  .size = 1 },
	yes = { .kind = DP_PROTOTYPE_INT,
		.lens = DP_PROTOTYPE_BOOL,
		.bits = 8,
		.size = 1 },
	byte = { .kind = DP_PROTOTYPE_INT, .bits = 8, .size = 1 },
	real = { .kind = DP_PROTOTYPE_FLOAT, .bits = 64, .size = 8 },
	text = { .kind = DP_PROTOTYPE_POINTER, .size = 8, .of = &small },
	bytes = { .kind = DP_PROTOTYPE_ARRAY,
		  .size = 4,
		  .of = &byte,
		  .length = { DP_PROTOTYPE_NUMBER, false, 4 } },
	narrow = { .kind = DP_PROTOTYPE_FLOAT, .bits = 32, .size = 4 };
static const struct dp_prototype_type string = {
	.kind = DP_PROTOTYPE_POINTER,
	.lens = DP_PROTOTYPE_STRING,
	.size = 8,
	.of = &(const struct dp_prototype_type){ .kind = DP_PROTOTYPE_ARRAY,
						 .lens = DP_PROTOTYPE_STRING,
						 .of = &small }
};
static const struct dp_prototype_name hues[] = { { "RED", 1, ~0ull },
						 { "BLUE", 2, ~0ull } };
static const struct dp_prototype_type hue = { .kind = DP_PROTOTYPE_INT,
					      .lens = DP_PROTOTYPE_ENUM,
					      .bits = 32,
					      .size = 4,
					      .names = hues,
					      .n = 2 };
static const struct dp_prototype_type known,
	to_known = { .kind = DP_PROTOTYPE_POINTER, .size = 8, .of = &known };
static const struct dp_prototype_field fields[] = {
	{ .name = "number",
	  .type = &number,
	  .offset = offsetof(struct record, number) },
	{ .name = "half",
	  .type = &half,
	  .offset = offsetof(struct record, half) },
	{ .name = "small",
	  .type = &small,
	  .offset = offsetof(struct record, small) },
	{ .name = "yes", .type = &yes, .offset = offsetof(struct record, yes) },
	{ .name = "name",
	  .type = &text,
	  .offset = offsetof(struct record, name) },
	{ .name = "real",
	  .type = &real,
	  .offset = offsetof(struct record, real) },
	{ .name = "bytes",
	  .type = &bytes,
	  .offset = offsetof(struct record, bytes) },
	{ .name = "narrow",
	  .type = &narrow,
	  .offset = offsetof(struct record, narrow) },
	{ .name = "next",
	  .type = &to_known,
	  .offset = offsetof(struct record, next) },
};
static const struct dp_prototype_type known = { .kind = DP_PROTOTYPE_STRUCT,
						.size = sizeof(struct record),
						.fields = fields,
						.n = 9 };
static const struct dp_prototype_parameter parameters[] = {
	{ .name = "r", .type = &to_known },
	{ .name = "hue", .type = &hue },
	{ .name = "d", .type = &real },
	{ .name = "name", .type = &string },
	{ .name = "count", .type = &number },
};
static const struct dp_prototype prototype = { .name = "f",
					       .parameters = parameters,
					       .n = 5 };

#endif
