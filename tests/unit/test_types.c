// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Test of what debug information says of functions: those of this file, and answers of a child
 * that lies. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "sym/prototypes.h"
#include "sym/sym.h"
#include "sym/types.h"
#include "sym/types/tree.h"

#define FUNCTION static __attribute__((noipa, used))
#define COUNT(list) (sizeof(list) / sizeof(*(list)))

enum colour { RED, GREEN = 7, BLUE = -2 };
typedef unsigned short port_t;
typedef const volatile port_t *ports;

struct point {
	int x, y;
};

struct unknown;

struct node {
	struct node *next;
	struct point at, more[3];
	unsigned int narrow : 3;
	union {
		long number;
		struct {
			char first, second;
			short third;
		};
	};
	enum colour colour;
	_Bool is_set;
	char name[16], *text;
	int matrix[2][5];
	int (*call)(int);
	struct unknown *unknown;
	int huge[100000];
	char rest[];
};

struct deep {
	struct deep1 {
		struct deep2 {
			struct deep3 {
				struct deep4 {
					struct deep5 {
						int leaf;
					} * to;
					int *number;
				} * to;
			} * to;
		} * to;
	} * to;
};

FUNCTION long scalars(char c, signed char s, unsigned char u, _Bool b, short h,
		      unsigned long l, enum colour e, port_t port)
{
	return c + s + u + b + h + (long)l + (long)e + port;
}

FUNCTION double reals(int i, float f, double d, long double l,
		      _Complex double c)
{
	return i + (double)f + d + (double)l + __real__ c;
}

FUNCTION const char *texts(char *s, const char *const *list, void *v,
			   unsigned char *bytes, char (*array)[16])
{
	return s + (long)list + (long)v + (long)bytes + (long)array;
}

FUNCTION struct point *structs(struct node *n, struct point by_value,
			       struct unknown *u, ports p, int (*f)(int),
			       int bound[4])
{
	return n ? &n->at : (void *)((long)u + by_value.x + *p + f(*bound));
}

FUNCTION void nothing(void)
{
	__asm__ volatile("");
}

FUNCTION int others(const char *fmt, ...)
{
	return *fmt;
}

FUNCTION int levels(struct deep *d)
{
	return !d;
}

static struct dp_modules *mods;

static int ask(const void *function, struct dp_prototype **p)
{
	u64 addr = (u64)(uintptr_t)function;

	return dp_types_prototype(mods, dp_module_at(mods, addr), addr, p);
}

static struct dp_prototype *of(const void *function, const char *name, u32 n)
{
	struct dp_prototype *p = NULL;

	assert_int_equal(ask(function, &p), 0);
	assert_string_equal(p->name, name);
	assert_int_equal(p->n, n);
	assert_int_equal(p->fails, DP_PROTOTYPE_FAILS_UNKNOWN);
	return p;
}

static const struct dp_prototype_type *
parameter(const struct dp_prototype *p, u32 i, const char *name, int kind)
{
	assert_true(i < p->n);
	assert_string_equal(p->parameters[i].name, name);
	assert_int_equal(p->parameters[i].type->kind, kind);
	assert_false(p->parameters[i].out);
	return p->parameters[i].type;
}

static void assert_int(const struct dp_prototype_type *t, size_t size,
		       bool is_signed, int lens)
{
	assert_int_equal(t->kind, DP_PROTOTYPE_INT);
	assert_int_equal(t->size, size);
	assert_int_equal(t->align, size);
	assert_int_equal(t->bits, 8 * size);
	assert_int_equal(t->is_signed, is_signed);
	assert_int_equal(t->lens, lens);
	assert_int_equal(t->parts, 1);
	assert_int_equal(t->levels, 0);
}

static void assert_colour(const struct dp_prototype_type *t)
{
	char text[32];

	assert_int(t, sizeof(enum colour), true, DP_PROTOTYPE_ENUM);
	assert_int_equal(t->n, 3);
	assert_string_equal(t->names[1].text, "GREEN");
	assert_int_equal(t->names[1].value, GREEN);
	assert_true(t->names[1].mask == ~0ull);
	dp_prototypes_show(text, sizeof(text), t, (u32)BLUE);
	assert_string_equal(text, "BLUE");
}

static void test_scalars(void **state)
{
	static const char *const names[] = { "c", "s", "u", "b",
					     "h", "l", "e", "port" };
	struct dp_prototype *p = of(scalars, "scalars", COUNT(names));
	const struct dp_prototype_type *t[COUNT(names)];
	u32 i;

	for (i = 0; i < COUNT(names); i++)
		t[i] = parameter(p, i, names[i], DP_PROTOTYPE_INT);
	assert_int(t[0], 1, true, DP_PROTOTYPE_CHAR);
	assert_int(t[1], 1, true, DP_PROTOTYPE_PLAIN);
	assert_int(t[2], 1, false, DP_PROTOTYPE_PLAIN);
	assert_int(t[3], 1, false, DP_PROTOTYPE_BOOL);
	assert_int(t[4], 2, true, DP_PROTOTYPE_PLAIN);
	assert_int(t[5], 8, false, DP_PROTOTYPE_PLAIN);
	assert_colour(t[6]);
	assert_int(t[7], 2, false, DP_PROTOTYPE_PLAIN);
	assert_int(p->returns, 8, true, DP_PROTOTYPE_PLAIN);
	assert_false(p->variadic);
	free(p);
}

static void test_reals(void **state)
{
	struct dp_prototype *p = of(reals, "reals", 5);

	parameter(p, 0, "i", DP_PROTOTYPE_INT);
	assert_int_equal(parameter(p, 1, "f", DP_PROTOTYPE_FLOAT)->bits, 32);
	assert_int_equal(parameter(p, 2, "d", DP_PROTOTYPE_FLOAT)->bits, 64);
	assert_int_equal(parameter(p, 3, "l", DP_PROTOTYPE_FLOAT)->bits, 80);
	assert_int_equal(p->parameters[3].type->size, sizeof(long double));
	assert_int_equal(parameter(p, 4, "c", DP_PROTOTYPE_COMPLEX)->bits, 64);
	assert_int_equal(p->parameters[4].type->size, 16);
	assert_int_equal(p->returns->kind, DP_PROTOTYPE_FLOAT);
	free(p);
}

/* As the file of prototypes has "string" */
static void assert_string(const struct dp_prototype_type *t)
{
	assert_int_equal(t->kind, DP_PROTOTYPE_POINTER);
	assert_int_equal(t->lens, DP_PROTOTYPE_STRING);
	assert_int_equal(t->of->kind, DP_PROTOTYPE_ARRAY);
	assert_int_equal(t->of->lens, DP_PROTOTYPE_STRING);
	assert_int_equal(t->of->length.count, DP_PROTOTYPE_UNLIMITED);
	assert_true(t->of->length.zero);
	assert_int(t->of->of, 1, true, DP_PROTOTYPE_CHAR);
}

static void test_texts(void **state)
{
	struct dp_prototype *p = of(texts, "texts", 5);
	const struct dp_prototype_type *t;

	assert_string(parameter(p, 0, "s", DP_PROTOTYPE_POINTER));
	t = parameter(p, 1, "list", DP_PROTOTYPE_POINTER);
	assert_int_equal(t->lens, DP_PROTOTYPE_PLAIN);
	assert_string(t->of);
	t = parameter(p, 2, "v", DP_PROTOTYPE_POINTER);
	assert_int_equal(t->of->kind, DP_PROTOTYPE_VOID);
	t = parameter(p, 3, "bytes", DP_PROTOTYPE_POINTER);
	assert_int_equal(t->lens, DP_PROTOTYPE_PLAIN);
	assert_int(t->of, 1, false, DP_PROTOTYPE_PLAIN);
	t = parameter(p, 4, "array", DP_PROTOTYPE_POINTER);
	assert_int_equal(t->of->kind, DP_PROTOTYPE_ARRAY);
	assert_int_equal(t->of->length.n, 16);
	assert_string(p->returns);
	free(p);
}

static const struct dp_prototype_type *field(const struct dp_prototype_type *t,
					     const char *name, size_t offset,
					     size_t size)
{
	u32 i;

	for (i = 0; i < t->n && strcmp(t->fields[i].name, name); i++)
		continue;
	assert_true(i < t->n);
	assert_int_equal(t->fields[i].offset, offset);
	assert_int_equal(t->fields[i].type->size, size);
	return t->fields[i].type;
}

#define FIELD(t, s, f) field(t, #f, offsetof(s, f), sizeof(((s *)NULL)->f))

static void assert_point(const struct dp_prototype_type *t)
{
	assert_int_equal(t->kind, DP_PROTOTYPE_STRUCT);
	assert_int_equal(t->size, sizeof(struct point));
	assert_int_equal(t->n, 2);
	FIELD(t, struct point, x);
	assert_int(FIELD(t, struct point, y), 4, true, DP_PROTOTYPE_PLAIN);
}

static void assert_arrays(const struct dp_prototype_type *t)
{
	const struct dp_prototype_type *a = FIELD(t, struct node, more);

	assert_int_equal(a->length.count, DP_PROTOTYPE_NUMBER);
	assert_int_equal(a->length.n, 3);
	assert_int_equal(a->parts, 6);
	assert_int_equal(a->levels, 2);
	assert_point(a->of);
	a = FIELD(t, struct node, name);
	assert_int_equal(a->lens, DP_PROTOTYPE_STRING);
	assert_int_equal(a->length.n, 16);
	a = FIELD(t, struct node, matrix);
	assert_int_equal(a->length.n, 2);
	assert_int_equal(a->of->length.n, 5);
	assert_int_equal(a->of->size, 5 * sizeof(int));
	/* It has more values than are read. */
	a = FIELD(t, struct node, huge);
	assert_int_equal(a->kind, DP_PROTOTYPE_STRUCT);
	assert_int_equal(a->n, 0);
	a = field(t, "rest", offsetof(struct node, rest), 0);
	assert_int_equal(a->kind, DP_PROTOTYPE_ARRAY);
	assert_int_equal(a->length.count, DP_PROTOTYPE_NUMBER);
	assert_int_equal(a->length.n, 0);
}

/* The compiler says where it is: a value that only it has set is read. */
static void assert_narrow(const struct dp_prototype_type *t)
{
	struct node node = { .narrow = 5 };
	u64 unit = 0;
	u32 i;

	for (i = 0; i < t->n && strcmp(t->fields[i].name, "narrow"); i++)
		continue;
	assert_true(i < t->n);
	assert_int_equal(t->fields[i].bits, 3);
	assert_int(t->fields[i].type, 4, false, DP_PROTOTYPE_PLAIN);
	memcpy(&unit, (char *)&node + t->fields[i].offset, t->fields[i].unit);
	assert_int_equal(unit >> t->fields[i].shift & 7, 5);
}

static void assert_node(const struct dp_prototype_type *t)
{
	assert_int_equal(t->size, sizeof(struct node));
	assert_int_equal(t->align, _Alignof(struct node));
	/* With what has no name flattened */
	assert_int_equal(t->n, 17);
	assert_string_equal(t->name, "node");
	assert_narrow(t);
	assert_ptr_equal(FIELD(t, struct node, next)->of, t);
	assert_point(FIELD(t, struct node, at));
	FIELD(t, struct node, number);
	assert_int(FIELD(t, struct node, second), 1, true, DP_PROTOTYPE_CHAR);
	FIELD(t, struct node, first);
	FIELD(t, struct node, third);
	assert_colour(FIELD(t, struct node, colour));
	assert_int(FIELD(t, struct node, is_set), 1, false, DP_PROTOTYPE_BOOL);
	assert_string(FIELD(t, struct node, text));
	assert_int_equal(FIELD(t, struct node, call)->of->kind,
			 DP_PROTOTYPE_VOID);
	assert_int_equal(FIELD(t, struct node, call)->of->lens,
			 DP_PROTOTYPE_FUNCTION);
	assert_int_equal(FIELD(t, struct node, unknown)->of->size, 0);
	assert_arrays(t);
}

static void test_structs(void **state)
{
	struct dp_prototype *p = of(structs, "structs", 6);
	const struct dp_prototype_type *t;

	assert_node(parameter(p, 0, "n", DP_PROTOTYPE_POINTER)->of);
	assert_point(parameter(p, 1, "by_value", DP_PROTOTYPE_STRUCT));
	t = parameter(p, 2, "u", DP_PROTOTYPE_POINTER)->of;
	assert_int_equal(t->kind, DP_PROTOTYPE_STRUCT);
	assert_int_equal(t->size + t->n, 0);
	t = parameter(p, 3, "p", DP_PROTOTYPE_POINTER)->of;
	assert_int(t, 2, false, DP_PROTOTYPE_PLAIN);
	t = parameter(p, 4, "f", DP_PROTOTYPE_POINTER)->of;
	assert_int_equal(t->kind, DP_PROTOTYPE_VOID);
	t = parameter(p, 5, "bound", DP_PROTOTYPE_POINTER)->of;
	assert_int(t, 4, true, DP_PROTOTYPE_PLAIN);
	assert_point(p->returns->of);
	/* A type is there once. */
	assert_ptr_equal(p->returns->of, p->parameters[1].type);
	free(p);
}

static void test_none_and_others(void **state)
{
	struct dp_prototype *p = of(nothing, "nothing", 0);

	assert_int_equal(p->returns->kind, DP_PROTOTYPE_VOID);
	assert_false(p->variadic);
	free(p);
	p = of(others, "others", 1);
	assert_true(p->variadic);
	assert_string(p->parameters[0].type);
	free(p);
}

static void test_far_pointers(void **state)
{
	struct dp_prototype *p = of(levels, "levels", 1);
	const struct dp_prototype_type *t = p->parameters[0].type;
	int i;

	for (i = 0; i < 3; i++) {
		assert_int_equal(t->of->kind, DP_PROTOTYPE_STRUCT);
		assert_int_equal(t->of->n, 1);
		t = t->of->fields[0].type;
	}
	/* The fourth struct is the last; what a pointer in it leads to is not read. */
	assert_int_equal(t->of->n, 1);
	t = t->of->fields[0].type;
	assert_int_equal(t->kind, DP_PROTOTYPE_POINTER);
	assert_int_equal(t->of->kind, DP_PROTOTYPE_VOID);
	free(p);
}

static void test_unknown_functions(void **state)
{
	struct dp_prototype *p = NULL;

	/* Not its entry */
	assert_int_equal(ask((const char *)scalars + 1, &p), -ENOENT);
	assert_null(p);
}

static void test_returned(void **state)
{
	u64 addr[] = { (u64)(uintptr_t)scalars };
	struct dp_type type;

	assert_int_equal(dp_types_returned(mods, dp_module_at(mods, addr[0]),
					   addr, &type, 1),
			 0);
	assert_int_equal(type.kind, DP_TYPE_SIGNED);
	assert_int_equal(type.bits, 64);
}

/* What a child could write: f(s), s a pointer to struct { long a; int b; } */
static struct dp_tree *forged;
enum { POINTER = 1, STRUCT, LONG, INT, TYPES };

static void forge(void)
{
	static const char text[] = "\0f\0s\0a\0b";
	struct dp_tree *t = forged;

	memset(t, 0, sizeof(*t));
	memcpy(t->bytes, text, sizeof(text));
	t->text = sizeof(text);
	t->found = 1;
	t->name = 1;
	t->types = TYPES;
	t->fields = 2;
	t->parameters = 1;
	t->parameter[0] = (struct dp_tree_parameter){ 3, POINTER };
	t->type[POINTER].kind = DP_PROTOTYPE_POINTER;
	t->type[POINTER].of = STRUCT;
	t->type[STRUCT] = (struct dp_tree_type){ .kind = DP_PROTOTYPE_STRUCT,
						 .n = 2,
						 .size = 16 };
	t->type[LONG].kind = t->type[INT].kind = DP_PROTOTYPE_INT;
	t->type[LONG].bits = 64;
	t->type[INT].bits = 32;
	t->field[0] = (struct dp_tree_field){ .name = 5, .type = LONG };
	t->field[1] =
		(struct dp_tree_field){ .name = 7, .type = INT, .offset = 8 };
}

static struct dp_prototype *build(void)
{
	struct dp_prototype *p = NULL;

	assert_int_equal(dp_tree_build(forged, NULL, &p), 0);
	assert_non_null(p);
	return p;
}

static void test_honest(void **state)
{
	struct dp_prototype *p;

	forge();
	p = build();
	assert_string_equal(p->name, "f");
	assert_string_equal(p->parameters[0].name, "s");
	assert_int_equal(p->parameters[0].type->of->n, 2);
	assert_string_equal(p->parameters[0].type->of->fields[1].name, "b");
	free(p);
}

/* Each of these numbers leads out of its table. */
static void test_numbers_out_of_range(void **state)
{
	struct dp_tree *t = forged;
	u32 *const number[] = {
		&t->name,
		&t->returns,
		&t->parameters,
		&t->types,
		&t->fields,
		&t->names,
		&t->text,
		&t->parameter[0].name,
		&t->parameter[0].type,
		&t->type[POINTER].of,
		&t->type[STRUCT].n,
		&t->type[STRUCT].first,
		&t->type[INT].n,
		&t->type[INT].first,
		&t->field[0].name,
		&t->type[STRUCT].name,
		&t->field[1].type,
	};
	static const u32 bad[] = { 1u << 20, 1u << 31, ~0u };
	struct dp_prototype *p = NULL;
	size_t i, k;

	for (i = 0; i < COUNT(number); i++) {
		for (k = 0; k < COUNT(bad); k++) {
			forge();
			*number[i] = bad[k];
			assert_int_equal(dp_tree_build(t, NULL, &p), -EBADMSG);
		}
	}
	forge();
	t->types = 0;
	assert_int_equal(dp_tree_build(t, NULL, &p), -EBADMSG);
	assert_null(p);
}

static void assert_bad(void)
{
	struct dp_prototype *p = NULL;

	assert_int_equal(dp_tree_build(forged, NULL, &p), -EBADMSG);
	assert_null(p);
}

static void test_wrong_types(void **state)
{
	unsigned int i;

	for (i = DP_PROTOTYPE_STRUCT + 1; i < 256; i++) {
		forge();
		forged->type[INT].kind = (u8)i;
		assert_bad();
	}
	for (i = 0; i < 256; i++) {
		forge();
		forged->type[INT].bits = (u8)i;
		if (i != 8 && i != 16 && i != 32 && i != 64)
			assert_bad();
		forge();
		forged->type[INT].kind = DP_PROTOTYPE_FLOAT;
		forged->type[INT].bits = (u8)i;
		if (i != 32 && i != 64 && i != 80 && i != 128)
			assert_bad();
	}
	forge();
	forged->type[INT].lens = DP_PROTOTYPE_STRING;
	assert_bad();
	forged->type[INT].lens = DP_PROTOTYPE_CHAR; /* of 32 bits */
	assert_bad();
	for (i = 0; i < 256; i++) {
		forge();
		forged->type[STRUCT].lens = (u8)i;
		if (i != DP_PROTOTYPE_PLAIN && i != DP_PROTOTYPE_HEX &&
		    i != DP_PROTOTYPE_VARIANTS)
			assert_bad();
		forge();
		forged->type[POINTER].lens = (u8)i;
		if (i != DP_PROTOTYPE_PLAIN && i != DP_PROTOTYPE_REFERENCE &&
		    i != DP_PROTOTYPE_FUNCTION)
			assert_bad();
	}
	forge();
	forged->parameter[0].type = 0; /* void */
	assert_bad();
}

static void test_circles(void **state)
{
	/* A struct in itself, through an array, too */
	forge();
	forged->field[1].type = STRUCT;
	assert_bad();
	forge();
	forged->type[INT] = (struct dp_tree_type){ .kind = DP_PROTOTYPE_ARRAY,
						   .of = STRUCT,
						   .length = 0 };
	assert_bad();
	forge();
	forged->type[INT] = (struct dp_tree_type){ .kind = DP_PROTOTYPE_ARRAY,
						   .of = INT,
						   .length = 1 };
	assert_bad();
	/* Pointers may. */
	forge();
	forged->type[POINTER].of = POINTER;
	free(build());
}

/* The struct has no fields if one does not fit. */
static void test_places(void **state)
{
	static const u64 offset[] = { 13,	  16,	 1u << 20, 0xfffffffc,
				      1ull << 32, -4ull, -1ull };
	struct dp_prototype *p;
	size_t i;

	for (i = 0; i < COUNT(offset); i++) {
		forge();
		forged->field[1].offset = offset[i];
		p = build();
		assert_int_equal(p->parameters[0].type->of->n, 0);
		assert_int_equal(p->parameters[0].type->of->size, 16);
		free(p);
	}
	forge();
	forged->field[1].offset = 12;
	p = build();
	assert_int_equal(p->parameters[0].type->of->n, 2);
	free(p);
}

static void test_large_arrays(void **state)
{
	static const u64 length[] = { 5, 1u << 20, 1ull << 32, 1ull << 61,
				      -1ull };
	struct dp_prototype *p;
	size_t i;

	for (i = 0; i < COUNT(length); i++) {
		forge();
		forged->type[INT] =
			(struct dp_tree_type){ .kind = DP_PROTOTYPE_ARRAY,
					       .of = LONG,
					       .length = length[i] };
		forged->parameter[0].type = INT;
		p = build();
		assert_int_equal(p->parameters[0].type->kind,
				 i ? DP_PROTOTYPE_STRUCT : DP_PROTOTYPE_ARRAY);
		assert_int_equal(p->parameters[0].type->size, i ? 0 : 40);
		free(p);
	}
}

/* Arrays in arrays, each after the other: levels and parts have their limits. */
static void test_levels(void **state)
{
	struct dp_prototype *p;
	const struct dp_prototype_type *t;
	u32 i;

	forge();
	forged->types = DP_TREE_TYPES;
	for (i = TYPES; i < DP_TREE_TYPES; i++)
		forged->type[i] = (struct dp_tree_type){
			.kind = DP_PROTOTYPE_ARRAY,
			.of = i + 1 < DP_TREE_TYPES ? i + 1 : LONG,
			.length = i % 3
		};
	p = build();
	t = p->returns; /* the first of all */
	for (i = TYPES; i < DP_TREE_TYPES; i++) {
		assert_true(t[i].levels <= DP_PROTOTYPE_LEVELS);
		assert_true(t[i].parts <= DP_PROTOTYPE_PARTS);
		assert_true(t[i].size <= 1u << 20);
	}
	free(p);
}

static void test_names(void **state)
{
	struct dp_prototype *p;

	/* Without its end, up to the last byte there is */
	forge();
	memset(forged->bytes + 1, 'x', DP_TREE_TEXT - 1);
	forged->text = DP_TREE_TEXT;
	p = build();
	assert_int_equal(strlen(p->name), DP_TREE_TEXT - 1);
	free(p);
	/* What a terminal would obey */
	forge();
	forged->bytes[1] = '\033';
	p = build();
	assert_string_equal(p->name, "?");
	free(p);
	/* No name */
	forge();
	forged->parameter[0].name = 0;
	p = build();
	assert_null(p->parameters[0].name);
	free(p);
}

static void test_enumerators(void **state)
{
	struct dp_prototype *p;

	forge();
	forged->type[INT].lens = DP_PROTOTYPE_ENUM;
	forged->type[INT].n = 1;
	assert_bad();
	forged->names = 1;
	forged->enumerator[0].text = ~0u;
	assert_bad();
	/* A value would be shown as nothing. */
	forged->enumerator[0].text = 0;
	assert_bad();
	forged->enumerator[0].text = 5;
	forged->parameter[0].type = INT;
	p = build();
	assert_string_equal(p->parameters[0].type->names[0].text, "a");
	free(p);
}

static void test_bits_out_of_range(void **state)
{
	struct dp_prototype *p;
	unsigned int i;

	for (i = 0; i < 256; i++) {
		forge();
		forged->field[1].bits = 3;
		forged->field[1].unit = (u8)i;
		if (!i || i > 8) {
			assert_bad();
			continue;
		}
		p = build();
		assert_int_equal(p->parameters[0].type->of->n, 2);
		free(p);
		forged->field[1].shift = (u8)(8 * i - 2);
		assert_bad();
	}
	/* The unit is not in the struct. */
	forge();
	forged->field[1] = (struct dp_tree_field){
		.name = 7, .type = INT, .offset = 12, .bits = 1, .unit = 8
	};
	p = build();
	assert_int_equal(p->parameters[0].type->of->n, 0);
	free(p);
	/* No integer has bits. */
	forge();
	forged->field[1] = (struct dp_tree_field){
		.name = 7, .type = POINTER, .bits = 1, .unit = 1
	};
	p = build();
	assert_int_equal(p->parameters[0].type->of->n, 0);
	free(p);
}

static bool is_in_some_unit(u64 at, u64 n, u64 of)
{
	u64 unit, first;

	for (unit = 1; unit <= 8; unit++)
		for (first = 0; first + unit <= of; first++)
			if (at >= 8 * first && at + n <= 8 * (first + unit))
				return true;
	return false;
}

static void try_bits(u64 at, u64 n, u64 size, u64 of)
{
	struct dp_tree_field f;
	bool had = dp_tree_place_bits(&f, at, n, size, of);

	assert_int_equal(had, n && is_in_some_unit(at, n, of));
	if (!had)
		return;
	assert_true(f.offset + f.unit <= of);
	assert_int_equal(8 * f.offset + f.shift, at);
	assert_int_equal(f.bits, n);
	assert_true(f.shift + n <= 8 * f.unit);
}

/* Every place of every width: the bits are all there, and nothing behind the struct is. */
static void test_places_of_bits(void **state)
{
	static const u64 sizes[] = { 1, 2, 4, 8, 3, 0 };
	struct dp_tree_field f;
	u64 at, n, of, k;

	for (of = 1; of < 20; of++)
		for (at = 0; at < 8 * of + 3; at++)
			for (n = 0; n < 70; n++)
				for (k = 0; k < COUNT(sizes); k++)
					try_bits(at, n, sizes[k], of);
	assert_false(dp_tree_place_bits(&f, -8ull, 8, 4, 16));
	assert_false(dp_tree_place_bits(&f, 0, 8, 4, -1ull));
}

static void test_partial(void **state)
{
	struct dp_prototype *p;

	forge();
	p = build();
	assert_false(p->parameters[0].type->of->partial);
	free(p);
	forged->type[STRUCT].partial = 1;
	p = build();
	assert_true(p->parameters[0].type->of->partial);
	free(p);
	/* One of whose fields one does not fit */
	forge();
	forged->field[1].offset = 16;
	p = build();
	assert_true(p->parameters[0].type->of->partial);
	free(p);
}

static void test_roles(void **state)
{
	struct dp_prototype *p;

	/* A tag and a variant */
	forge();
	forged->type[STRUCT].lens = DP_PROTOTYPE_VARIANTS;
	forged->field[0].role = DP_PROTOTYPE_TAG;
	forged->field[1].role = DP_PROTOTYPE_VARIANT;
	p = build();
	assert_int_equal(p->parameters[0].type->of->n, 2);
	free(p);
	/* No tag, and of one that is not the first */
	forged->field[0].role = DP_PROTOTYPE_VARIANT;
	p = build();
	assert_int_equal(p->parameters[0].type->of->n, 0);
	free(p);
	forged->field[1].role = DP_PROTOTYPE_TAG;
	p = build();
	assert_int_equal(p->parameters[0].type->of->n, 0);
	free(p);
	/* Two that are there otherwise, a role that is none, and a struct without variants */
	forged->field[0].role = forged->field[1].role = DP_PROTOTYPE_OTHERWISE;
	p = build();
	assert_int_equal(p->parameters[0].type->of->n, 0);
	free(p);
	forged->field[1].role = DP_PROTOTYPE_OTHERWISE + 1;
	p = build();
	assert_int_equal(p->parameters[0].type->of->n, 0);
	free(p);
	forge();
	forged->field[1].role = DP_PROTOTYPE_OTHERWISE;
	p = build();
	assert_int_equal(p->parameters[0].type->of->n, 0);
	free(p);
}

/* Whatever is in it, it is built of what it has, or not at all. */
static void test_noise(void **state)
{
	u64 seed = 1;
	size_t i, k;

	for (i = 0; i < 3000; i++) {
		struct dp_prototype *p = NULL;

		forge();
		for (k = 0; k < 4; k++) {
			size_t span = offsetof(struct dp_tree, type[TYPES]);

			seed = seed * 6364136223846793005ull + 1;
			((u8 *)forged)[(seed >> 33) % span] = (u8)(seed >> 24);
		}
		if (!dp_tree_build(forged, NULL, &p))
			free(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scalars),
		cmocka_unit_test(test_reals),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_structs),
		cmocka_unit_test(test_none_and_others),
		cmocka_unit_test(test_far_pointers),
		cmocka_unit_test(test_unknown_functions),
		cmocka_unit_test(test_returned),
		cmocka_unit_test(test_honest),
		cmocka_unit_test(test_numbers_out_of_range),
		cmocka_unit_test(test_wrong_types),
		cmocka_unit_test(test_circles),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_large_arrays),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_enumerators),
		cmocka_unit_test(test_bits_out_of_range),
		cmocka_unit_test(test_places_of_bits),
		cmocka_unit_test(test_partial),
		cmocka_unit_test(test_roles),
		cmocka_unit_test(test_noise),
	};
	struct dp_diag diag;
	int failed;

	forged = malloc(sizeof(*forged));
	if (!forged || dp_modules_open(0, -1, &mods, &diag))
		return 1;
	cmocka_set_message_output(CM_OUTPUT_TAP);
	failed = cmocka_run_group_tests_name("types", tests, NULL, NULL);
	dp_modules_close(mods);
	free(forged);
	return failed;
}
