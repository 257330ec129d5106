// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Test of prototypes made of what a kernel says of its types: of made-up types, and of the running kernel's. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "sym/places.h"
#include "sym/prototypes.h"
#include "sym/types.h"
#include "sym/types/btf.h"
#include "sym/types/tree.h"

#define TYPES 1024

/* Types, each of some words, and their names */
struct btf {
	u32 word[1 << 16], at[TYPES];
	u32 n, types, len;
	char text[1 << 16];
};

static struct btf made;

static __u32 count(const struct btf *b)
{
	return b->types;
}

static const struct btf_type *type_at(const struct btf *b, __u32 id)
{
	return id && id < b->types ? (const void *)(b->word + b->at[id]) : NULL;
}

static const char *text_at(const struct btf *b, __u32 offset)
{
	return offset < b->len ? b->text + offset : NULL;
}

static const struct dp_libbpf library = { .btf__type_cnt = count,
					  .btf__type_by_id = type_at,
					  .btf__name_by_offset = text_at };
static const struct dp_btf btf = { .lib = &library, .btf = &made };

static u32 text(const char *name)
{
	u32 at = made.len;

	if (!*name)
		return 0;
	strcpy(made.text + at, name);
	made.len += (u32)strlen(name) + 1;
	return at;
}

static u32 word(u32 value)
{
	made.word[made.n++] = value;
	return value;
}

/* Return: its id. Its parts follow. @size: or the type it is of */
static u32 type(u32 kind, const char *name, u32 parts, u32 size)
{
	made.at[made.types] = made.n;
	word(text(name));
	word(kind << 24 | parts);
	word(size);
	return made.types++;
}

#define KFLAG (1u << 31)

static u32 integer(const char *name, u32 size, u32 encoding)
{
	u32 id = type(BTF_KIND_INT, name, 0, size);

	word(encoding << 24 | 8 * size);
	return id;
}

static void part(const char *name, u32 of, u32 offset)
{
	word(text(name));
	word(of);
	word(offset);
}

static void parameter(const char *name, u32 of)
{
	word(text(name));
	word(of);
}

static int begin(void **state)
{
	memset(&made, 0, sizeof(made));
	made.types = made.len = 1;
	return 0;
}

static struct dp_prototype *build(u32 proto,
				  const struct dp_kernel_wanted *wanted)
{
	static struct dp_tree tree;
	struct dp_prototype *p = NULL;

	memset(&tree, 0, sizeof(tree));
	if (dp_btf_put(&btf, type_at(&made, proto), "f", wanted, &tree))
		assert_int_equal(dp_tree_build(&tree, NULL, &p), 0);
	return p;
}

static const struct dp_kernel_wanted nothing, everything = { .all = true };

static const struct dp_prototype_field *field(const struct dp_prototype_type *t,
					      const char *name)
{
	u32 i;

	for (i = 0; i < t->n; i++)
		if (!strcmp(t->fields[i].name, name))
			return &t->fields[i];
	fail_msg("no field %s", name);
	return NULL;
}

static void numbers(void **state)
{
	u32 s32 = integer("int", 4, BTF_INT_SIGNED);
	u32 u8_ = integer("unsigned char", 1, 0);
	u32 ch = integer("char", 1, BTF_INT_SIGNED);
	u32 yes = integer("_Bool", 1, BTF_INT_BOOL);
	u32 wide = integer("__int128", 16, BTF_INT_SIGNED);
	u32 real = type(BTF_KIND_FLOAT, "double", 0, 8);
	u32 constant = type(BTF_KIND_CONST, "", 0, s32);
	u32 named = type(BTF_KIND_TYPEDEF, "pid_t", 0, constant);
	u32 proto = type(BTF_KIND_FUNC_PROTO, "", 8, named);
	struct dp_prototype *p;

	parameter("a", u8_);
	parameter("b", ch);
	parameter("c", yes);
	parameter("d", named);
	parameter("e", real);
	parameter("f", wide);
	parameter("g", s32);
	parameter("", 0);
	p = build(proto, &nothing);
	assert_string_equal(p->name, "f");
	assert_int_equal(p->returns->bits, 32);
	assert_true(p->returns->is_signed);
	assert_int_equal(p->n, 7);
	assert_true(p->variadic);
	assert_string_equal(p->parameters[0].name, "a");
	assert_int_equal(p->parameters[0].type->bits, 8);
	assert_false(p->parameters[0].type->is_signed);
	assert_int_equal(p->parameters[0].type->lens, DP_PROTOTYPE_PLAIN);
	assert_int_equal(p->parameters[1].type->lens, DP_PROTOTYPE_CHAR);
	assert_int_equal(p->parameters[2].type->lens, DP_PROTOTYPE_BOOL);
	assert_ptr_equal(p->parameters[3].type, p->returns);
	assert_int_equal(p->parameters[4].type->kind, DP_PROTOTYPE_FLOAT);
	assert_int_equal(p->parameters[4].type->bits, 64);
	assert_int_equal(p->parameters[5].type->kind, DP_PROTOTYPE_STRUCT);
	assert_int_equal(p->parameters[5].type->size, 16);
	assert_ptr_equal(p->parameters[6].type, p->returns);
	assert_true(p->scope->by_abi);
	assert_true(p->scope->is_entry);
	free(p);
}

static void enumerations(void **state)
{
	u32 plain = type(BTF_KIND_ENUM, "e", 2, 4), with_sign, wide, proto;
	const struct dp_prototype_type *t;
	struct dp_prototype *p;

	parameter("ONE", 1);
	parameter("HIGH", 0x80000000);
	with_sign = type(BTF_KIND_ENUM | KFLAG >> 24, "s", 1, 4);
	parameter("MINUS", (u32)-2);
	wide = type(BTF_KIND_ENUM64, "w", 1, 8);
	part("LARGE", 5, 6);
	proto = type(BTF_KIND_FUNC_PROTO, "", 3, 0);
	parameter("a", plain);
	parameter("b", with_sign);
	parameter("c", wide);
	p = build(proto, &nothing);
	assert_int_equal(p->returns->kind, DP_PROTOTYPE_VOID);
	t = p->parameters[0].type;
	assert_int_equal(t->lens, DP_PROTOTYPE_ENUM);
	assert_int_equal(t->n, 2);
	assert_false(t->is_signed);
	assert_string_equal(t->names[1].text, "HIGH");
	assert_int_equal(t->names[1].value, 0x80000000);
	t = p->parameters[1].type;
	assert_true(t->is_signed);
	assert_int_equal(t->names[0].value, (u64)-2);
	t = p->parameters[2].type;
	assert_int_equal(t->bits, 64);
	assert_int_equal(t->names[0].value, 6ull << 32 | 5);
	free(p);
}

/* struct node { struct node *next; char name[8]; int a : 3, b : 20; union { long number; struct { short low, high; }; };
 *  int (*call)(void); struct gone *gone; struct node *other; }; */
static u32 node(void)
{
	u32 number = integer("long", 8, BTF_INT_SIGNED);
	u32 narrow = integer("int", 4, BTF_INT_SIGNED);
	u32 half = integer("short", 2, BTF_INT_SIGNED);
	u32 ch = integer("char", 1, BTF_INT_SIGNED);
	u32 array = type(BTF_KIND_ARRAY, "", 0, 0), pair, both, call, gone;
	u32 to_call, to_gone, to_node, self;

	word(ch);
	word(number);
	word(8);
	pair = type(BTF_KIND_STRUCT, "", 2, 4);
	part("low", half, 0);
	part("high", half, 16);
	both = type(BTF_KIND_UNION, "", 2, 8);
	part("number", number, 0);
	part("", pair, 0);
	call = type(BTF_KIND_FUNC_PROTO, "", 0, narrow);
	to_call = type(BTF_KIND_PTR, "", 0, call);
	gone = type(BTF_KIND_FWD, "gone", 0, 0);
	to_gone = type(BTF_KIND_PTR, "", 0, gone);
	self = made.types + 1;
	to_node = type(BTF_KIND_PTR, "", 0, self);
	type(BTF_KIND_STRUCT | KFLAG >> 24, "node", 8, 64);
	part("next", to_node, 0);
	part("name", array, 64);
	part("a", narrow, 3 << 24 | 128);
	part("b", narrow, 20 << 24 | 131);
	part("", both, 192);
	part("call", to_call, 256);
	part("gone", to_gone, 320);
	part("other", to_node, 384);
	return to_node;
}

static void structs(void **state)
{
	const char *next[] = { "next" };
	const struct dp_kernel_wanted wanted = { .fields = next,
						 .nr_fields = 1 };
	u32 to_node = node();
	u32 proto = type(BTF_KIND_FUNC_PROTO, "", 1, 0);
	const struct dp_prototype_type *t;
	struct dp_prototype *p;

	parameter("node", to_node);
	p = build(proto, &wanted);
	t = p->parameters[0].type;
	assert_int_equal(t->kind, DP_PROTOTYPE_POINTER);
	t = t->of;
	assert_string_equal(t->name, "node");
	assert_int_equal(t->size, 64);
	assert_false(t->partial);
	assert_int_equal(t->passed, DP_PROTOTYPE_PASSED_PARTLY);
	assert_ptr_equal(field(t, "next")->type->of, t);
	/* Not asked for */
	assert_int_equal(field(t, "other")->type->of->kind, DP_PROTOTYPE_VOID);
	assert_int_equal(field(t, "other")->type->of->lens, DP_PROTOTYPE_PLAIN);
	assert_int_equal(field(t, "name")->type->lens, DP_PROTOTYPE_STRING);
	assert_int_equal(field(t, "name")->type->size, 8);
	assert_int_equal(field(t, "a")->bits, 3);
	assert_int_equal(field(t, "a")->offset, 16);
	assert_int_equal(field(t, "a")->shift, 0);
	assert_int_equal(field(t, "b")->bits, 20);
	assert_int_equal(field(t, "b")->shift, 3);
	assert_int_equal(field(t, "number")->offset, 24);
	assert_int_equal(field(t, "low")->offset, 24);
	assert_int_equal(field(t, "high")->offset, 26);
	assert_int_equal(field(t, "call")->type->of->lens,
			 DP_PROTOTYPE_FUNCTION);
	assert_int_equal(field(t, "gone")->offset, 40);
	assert_true(field(t, "gone")->type->of->partial);
	assert_string_equal(field(t, "gone")->type->of->name, "gone");
	assert_null(p->scope->nr_types);
	free(p);
	p = build(proto, &everything);
	t = p->parameters[0].type->of;
	assert_ptr_equal(field(t, "other")->type->of, t);
	free(p);
}

static void by_name(void **state)
{
	const char *types[] = { "struct node", "node", "pid_t", "enum node",
				"struct nod" };
	const struct dp_kernel_wanted wanted = { .types = types,
						 .nr_types = 5 };
	u32 to_node = node(), pid;
	u32 proto = type(BTF_KIND_FUNC_PROTO, "", 0, to_node);
	struct dp_prototype *p;

	pid = integer("unsigned int", 4, 0);
	type(BTF_KIND_TYPEDEF, "pid_t", 0, pid);
	p = build(proto, &wanted);
	assert_int_equal(p->scope->nr_types, 2);
	assert_string_equal(p->scope->types[0].name, "struct node");
	assert_ptr_equal(p->scope->types[0].type, p->returns->of);
	assert_string_equal(p->scope->types[1].name, "pid_t");
	assert_int_equal(p->scope->types[1].type->bits, 32);
	free(p);
}

/* More than there is room for: it is left out, and what came before stays. */
static void too_much(void **state)
{
	u32 number = integer("int", 4, 0), large, small, proto, to[3], i;
	char name[16];
	struct dp_prototype *p;

	small = type(BTF_KIND_STRUCT, "small", 1, 4);
	part("only", number, 0);
	large = type(BTF_KIND_STRUCT, "large", 5000, 20000);
	for (i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "m%u", i);
		part(name, number, 32 * i);
	}
	to[0] = type(BTF_KIND_PTR, "", 0, small);
	to[1] = type(BTF_KIND_PTR, "", 0, large);
	proto = type(BTF_KIND_FUNC_PROTO, "", 2, 0);
	parameter("a", to[1]);
	parameter("b", to[0]);
	p = build(proto, &nothing);
	assert_true(p->parameters[0].type->of->partial);
	assert_int_equal(p->parameters[0].type->of->n, 0);
	assert_int_equal(p->parameters[0].type->of->size, 20000);
	assert_int_equal(field(p->parameters[1].type->of, "only")->offset, 0);
	free(p);
	proto = type(BTF_KIND_FUNC_PROTO, "", DP_PROTOTYPE_PARAMETERS + 1, 0);
	for (i = 0; i <= DP_PROTOTYPE_PARAMETERS; i++)
		parameter("a", number);
	assert_null(build(proto, &nothing));
}

/* A typedef of itself, as no compiler makes it */
static void in_circles(void **state)
{
	u32 own = type(BTF_KIND_TYPEDEF, "own", 0, 1);
	u32 proto = type(BTF_KIND_FUNC_PROTO, "", 1, own);

	assert_int_equal(own, 1);
	parameter("a", own);
	assert_null(build(proto, &nothing));
}

/* What the running kernel says of a function that all have */
static void running(void **state)
{
	const char *fields[] = { "f_inode" };
	const struct dp_kernel_wanted wanted = { .fields = fields,
						 .nr_fields = 1 };
	const struct dp_prototype_type *t;
	struct dp_prototype *p = NULL;
	int err = dp_types_kernel("", "vfs_read", &wanted, &p);

	if (err == -EOPNOTSUPP || access("/sys/kernel/btf/vmlinux", R_OK)) {
		print_message(
			"# this kernel describes no types, or there is no libbpf\n");
		skip();
	}
	assert_int_equal(err, 0);
	assert_int_equal(p->n, 4);
	assert_string_equal(p->parameters[0].name, "file");
	assert_string_equal(p->parameters[2].name, "count");
	assert_int_equal(p->returns->bits, 64);
	assert_true(p->returns->is_signed);
	t = p->parameters[0].type->of;
	assert_string_equal(t->name, "file");
	assert_true(field(field(t, "f_inode")->type->of, "i_ino")->offset > 0);
	assert_int_equal(field(t, "f_op")->type->of->kind, DP_PROTOTYPE_VOID);
	free(p);
	assert_int_equal(dp_types_kernel("", "vfs_rea", &wanted, &p), -ENOENT);
	assert_int_equal(dp_types_kernel("", "vfs_read2", &wanted, &p),
			 -ENOENT);
	assert_int_equal(dp_types_kernel("no_module", "f", &wanted, &p),
			 -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(numbers, begin),
		cmocka_unit_test_setup(enumerations, begin),
		cmocka_unit_test_setup(structs, begin),
		cmocka_unit_test_setup(by_name, begin),
		cmocka_unit_test_setup(too_much, begin),
		cmocka_unit_test_setup(in_circles, begin),
		cmocka_unit_test(running),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
