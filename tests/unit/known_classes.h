/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* known_classes: a function that takes a string, a vector, a pointer and bit fields, as debug
 * information has them. */
#ifndef KNOWN_CLASSES_H
#define KNOWN_CLASSES_H

#include <stddef.h>
#include "sym/prototypes.h"

struct string_view {
	u64 length;
	const char *text;
};

struct vector {
	const s32 *begin, *end;
};

struct classes {
	struct string_view text;
	struct vector list;
	struct string_view *shared;
	u32 low : 3, high : 7;
	s32 wide : 9;
};

static const struct dp_prototype_type
	class_length = { .kind = DP_PROTOTYPE_INT, .bits = 64, .size = 8 },
	class_char = { .kind = DP_PROTOTYPE_INT,
		       .lens = DP_PROTOTYPE_CHAR,
		       .bits = 8,
		       .is_signed = true,
		       .size = 1 },
	class_number = { .kind = DP_PROTOTYPE_INT,
			 .bits = 32,
			 .is_signed = true,
			 .size = 4 },
	class_unsigned = { .kind = DP_PROTOTYPE_INT, .bits = 32, .size = 4 },
	class_chars = { .kind = DP_PROTOTYPE_POINTER,
			.size = 8,
			.of = &class_char },
	class_numbers = { .kind = DP_PROTOTYPE_POINTER,
			  .size = 8,
			  .of = &class_number };
static const struct dp_prototype_field class_view_fields[] = {
	{ .name = "_M_len", .type = &class_length },
	{ .name = "_M_str", .type = &class_chars, .offset = 8 },
};
static const struct dp_prototype_type class_view = {
	.kind = DP_PROTOTYPE_STRUCT,
	.size = sizeof(struct string_view),
	.fields = class_view_fields,
	.n = 2,
	.name = "basic_string_view<char, std::char_traits<char> >"
};
static const struct dp_prototype_field class_vector_fields[] = {
	{ .name = "__begin_", .type = &class_numbers },
	{ .name = "__end_", .type = &class_numbers, .offset = 8 },
};
static const struct dp_prototype_type class_vector = {
	.kind = DP_PROTOTYPE_STRUCT,
	.size = sizeof(struct vector),
	.fields = class_vector_fields,
	.n = 2,
	.name = "vector<int>"
};
static const struct dp_prototype_type class_to_view = {
	.kind = DP_PROTOTYPE_POINTER,
	.size = 8,
	.of = &class_view
};
static const struct dp_prototype_field class_shared_fields[] = {
	{ .name = "_M_ptr", .type = &class_to_view },
};
static const struct dp_prototype_type class_shared = {
	.kind = DP_PROTOTYPE_STRUCT,
	.size = 8,
	.fields = class_shared_fields,
	.n = 1,
	.name = "shared_ptr<view>"
};
static const struct dp_prototype_field class_fields[] = {
	{ .name = "text", .type = &class_view },
	{ .name = "list",
	  .type = &class_vector,
	  .offset = offsetof(struct classes, list) },
	{ .name = "shared",
	  .type = &class_shared,
	  .offset = offsetof(struct classes, shared) },
	{ .name = "low",
	  .type = &class_unsigned,
	  .offset = offsetof(struct classes, shared) + 8,
	  .bits = 3,
	  .unit = 4 },
	{ .name = "high",
	  .type = &class_unsigned,
	  .offset = offsetof(struct classes, shared) + 8,
	  .bits = 7,
	  .shift = 3,
	  .unit = 3 },
	{ .name = "wide",
	  .type = &class_number,
	  .offset = offsetof(struct classes, shared) + 8,
	  .bits = 9,
	  .shift = 10,
	  .unit = 3 },
};
static const struct dp_prototype_type classes = { .kind = DP_PROTOTYPE_STRUCT,
						  .size = sizeof(
							  struct classes),
						  .fields = class_fields,
						  .n = 6,
						  .name = "classes" };
static const struct dp_prototype_type class_reference = {
	.kind = DP_PROTOTYPE_POINTER,
	.lens = DP_PROTOTYPE_REFERENCE,
	.size = 8,
	.of = &classes
};
static const struct dp_prototype_type class_pointer = {
	.kind = DP_PROTOTYPE_POINTER,
	.size = 8,
	.of = &classes
};
static const struct dp_prototype_parameter class_parameters[] = {
	{ .name = "c", .type = &class_reference },
	{ .name = "p", .type = &class_pointer },
};
static const struct dp_prototype of_classes = { .name = "f",
						.parameters = class_parameters,
						.n = 2 };

#endif
