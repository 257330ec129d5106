// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_printers: structs that stand for what they lead to: when they do, and never out of bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sym/prototypes.h"
#include "sym/types/tree.h"
#include "tracer/expr.h"
#include "tracer/session.h"
#include "tracer/values/printers.h"
#include "tracer/values/show.h"
#include "expr_runs.h"

#define COUNT(list) (sizeof(list) / sizeof(*(list)))

/* A string of libstdc++: what each test changes is a copy of these. */
static struct dp_prototype_type byte, length, pointer, holder, text;
static struct dp_prototype_field in_holder[1], in_text[2];

static int setup(void **state)
{
	byte = (struct dp_prototype_type){ .kind = DP_PROTOTYPE_INT,
					   .lens = DP_PROTOTYPE_CHAR,
					   .bits = 8,
					   .is_signed = true,
					   .size = 1 };
	length = (struct dp_prototype_type){ .kind = DP_PROTOTYPE_INT,
					     .bits = 64,
					     .size = 8 };
	pointer = (struct dp_prototype_type){ .kind = DP_PROTOTYPE_POINTER,
					      .size = 8,
					      .of = &byte };
	in_holder[0] =
		(struct dp_prototype_field){ .name = "_M_p", .type = &pointer };
	holder = (struct dp_prototype_type){ .kind = DP_PROTOTYPE_STRUCT,
					     .size = 8,
					     .fields = in_holder,
					     .n = 1,
					     .name = "_Alloc_hider" };
	in_text[0] = (struct dp_prototype_field){ .name = "_M_dataplus",
						  .type = &holder };
	in_text[1] = (struct dp_prototype_field){ .name = "_M_string_length",
						  .type = &length,
						  .offset = 8 };
	text = (struct dp_prototype_type){
		.kind = DP_PROTOTYPE_STRUCT,
		.size = 32,
		.fields = in_text,
		.n = 2,
		.name = "basic_string<char, std::char_traits<char> >"
	};
	return 0;
}

static void test_a_string(void **state)
{
	struct dp_printer view;

	assert_true(dp_printer_of(&text, &view));
	assert_int_equal(view.kind, DP_PRINTER_TEXT);
	assert_int_equal(view.pointer, 0);
	assert_int_equal(view.length, 8);
	assert_false(view.ends);
	in_text[0].offset = 16;
	in_text[1].offset = 24;
	assert_true(dp_printer_of(&text, &view));
	assert_int_equal(view.pointer, 16);
	assert_int_equal(view.length, 24);
}

/* Each way in which a struct of that name is another one */
static void otherwise(u32 how)
{
	switch (how) {
	case 0:
		text.name = "basic_string<wchar_t, int>";
		return;
	case 1:
		text.name = NULL;
		return;
	case 2:
		text.kind = DP_PROTOTYPE_ARRAY;
		return;
	case 3:
		in_text[1].name = "_M_length";
		return;
	case 4:
		length.bits = 32;
		return;
	case 5:
		length.is_signed = true;
		return;
	case 6:
		length.kind = DP_PROTOTYPE_POINTER;
		return;
	case 7:
		in_text[1].bits = 3;
		return;
	case 8:
		in_text[1].offset = 25;
		return;
	case 9:
		in_text[0].offset = 30;
		return;
	case 10:
		byte.size = 2;
		return;
	case 11:
		pointer.kind = DP_PROTOTYPE_INT;
		return;
	case 12:
		pointer.of = NULL;
		return;
	case 13:
		holder.lens = DP_PROTOTYPE_VARIANTS;
		return;
	case 14:
		in_text[1].name = in_text[0].name;
		return;
	case 15:
		text.n = 1;
		return;
	case 16:
		text.size = 0;
	}
}

static void test_other_structs(void **state)
{
	struct dp_printer view;
	u32 how;

	for (how = 0; how <= 16; how++) {
		setup(NULL);
		otherwise(how);
		if (dp_printer_of(&text, &view))
			fail_msg("%u", how);
		assert_int_equal(view.kind, DP_PRINTER_NONE);
	}
}

/* Random types */

static u64 seed = 88172645463325252ull;

static u32 random_of(u32 n)
{
	return (u32)(vm_random(&seed) % n);
}

static const char *const words[] = {
	"_M_dataplus", "_M_p",	       "_M_string_length",
	"_M_str",      "_M_len",       "_M_impl",
	"_M_start",    "_M_finish",    "_M_t",
	"_M_ptr",      "_M_head_impl", "_M_payload",
	"_M_value",    "_M_engaged",   "data_ptr",
	"length",      "vec",	       "buf",
	"len",	       "__begin_",     "__end_",
	"__0",	       "__1",	       "x",
};
static const char *const structs[] = {
	"basic_string<char, x>",
	"basic_string_view<char, x>",
	"vector<x>",
	"span<x>",
	"unique_ptr<x>",
	"shared_ptr<x>",
	"optional<x>",
	"&str",
	"String",
	"&[x]",
	"Vec<x>",
	"other",
};
static u32 word_at[COUNT(words)], struct_at[COUNT(structs)];

#define TYPES 16
#define FIELDS 40

static struct dp_tree *tree;

static u32 put_text(const char *name)
{
	u32 at = tree->text;

	strcpy(tree->bytes + at, name);
	tree->text += (u32)strlen(name) + 1;
	return at;
}

static void begin_tree(void)
{
	u32 i;

	memset(tree, 0, sizeof(*tree));
	tree->text = 1;
	for (i = 0; i < COUNT(words); i++)
		word_at[i] = put_text(words[i]);
	for (i = 0; i < COUNT(structs); i++)
		struct_at[i] = put_text(structs[i]);
	tree->name = put_text("f");
	tree->found = 1;
	tree->types = TYPES;
	tree->fields = FIELDS + 2 * TYPES;
	tree->names = 2;
	tree->enumerator[0] = (struct dp_tree_name){ word_at[0], 1 };
	tree->enumerator[1] = (struct dp_tree_name){ word_at[1], 2 };
}

static void random_scalar(struct dp_tree_type *t)
{
	static const u8 lenses[] = { DP_PROTOTYPE_PLAIN, DP_PROTOTYPE_PLAIN,
				     DP_PROTOTYPE_BOOL, DP_PROTOTYPE_ENUM };
	static const u8 reals[] = { 32, 64, 80, 128 };

	if (!random_of(6)) {
		t->kind = DP_PROTOTYPE_FLOAT + (u8)random_of(2);
		t->bits = reals[random_of(4)];
		return;
	}
	t->kind = DP_PROTOTYPE_INT;
	t->bits = (u8)(8 << random_of(4));
	t->lens = t->bits == 8 && random_of(2) ? DP_PROTOTYPE_CHAR :
						 lenses[random_of(4)];
	t->is_signed = (u8)random_of(2);
	t->n = t->lens == DP_PROTOTYPE_ENUM ? 2 : 0;
}

/* What is in it has a greater number, so that no value has itself in it. */
static u32 random_inner(u32 i)
{
	return i + 1 + random_of(TYPES - i - 1);
}

static void random_type(u32 i)
{
	static const u8 lenses[] = { DP_PROTOTYPE_PLAIN, DP_PROTOTYPE_REFERENCE,
				     DP_PROTOTYPE_FUNCTION };
	struct dp_tree_type *t = &tree->type[i];

	switch (i < TYPES - 1 ? random_of(8) : 0) {
	case 0:
	case 1:
		random_scalar(t);
		return;
	case 2:
	case 3:
		t->kind = DP_PROTOTYPE_POINTER;
		t->lens = lenses[random_of(3)];
		t->of = random_of(TYPES);
		return;
	case 4:
		t->kind = DP_PROTOTYPE_ARRAY;
		t->of = random_inner(i);
		t->length = random_of(5);
		return;
	default:
		t->kind = DP_PROTOTYPE_STRUCT;
		t->lens = random_of(4) ? DP_PROTOTYPE_PLAIN :
					 DP_PROTOTYPE_VARIANTS;
		t->name = random_of(8) ? struct_at[random_of(COUNT(structs))] :
					 0;
		t->size = random_of(80);
		t->of = random_of(TYPES);
		t->n = random_of(5);
		t->first = random_of(FIELDS - t->n);
	}
}

/* Fields of a struct are its own, mostly: their types come behind it. */
static void random_fields(u32 i)
{
	struct dp_tree_type *t = &tree->type[i];
	u32 k;

	if (t->kind != DP_PROTOTYPE_STRUCT)
		return;
	for (k = t->first; k < t->first + t->n; k++) {
		struct dp_tree_field *f = &tree->field[k];

		*f = (struct dp_tree_field){
			.name = word_at[random_of(COUNT(words))],
			.type = random_inner(i),
			.offset = random_of(8) * 8,
			.role = t->lens == DP_PROTOTYPE_VARIANTS ?
					k == t->first ? DP_PROTOTYPE_TAG :
							DP_PROTOTYPE_VARIANT :
					DP_PROTOTYPE_MEMBER,
			.value = random_of(3),
		};
		if (f->role || random_of(4))
			continue;
		f->bits = (u8)(1 + random_of(9));
		f->unit = (u8)(2 + random_of(7));
		f->shift = (u8)random_of(8);
	}
}

/* Pointer and length that make such a struct what its name says */
static void forge_view(u32 i)
{
	static const struct {
		const char *name, *pointer, *length;
		u32 type;
	} known[] = { { "&str", "data_ptr", "length", TYPES - 2 },
		      { "&[x]", "data_ptr", "length", TYPES - 2 },
		      { "basic_string_view<char, x>", "_M_str", "_M_len",
			TYPES - 2 },
		      { "vector<x>", "__begin_", "__end_", TYPES - 3 },
		      { "shared_ptr<x>", "_M_ptr", "x", TYPES - 2 },
		      { "optional<x>", "__val_", "__engaged_", TYPES - 4 } };
	struct dp_tree_type *t = &tree->type[i];
	u32 k = random_of(COUNT(known)), at = FIELDS + 2 * i;

	if (t->kind != DP_PROTOTYPE_STRUCT || i >= TYPES - 4 || random_of(3))
		return;
	t->lens = DP_PROTOTYPE_PLAIN;
	t->name = put_text(known[k].name);
	t->first = at;
	t->n = 2;
	tree->field[at].name = put_text(known[k].pointer);
	tree->field[at].type = TYPES - 3;
	tree->field[at].offset = 8 * random_of(4);
	tree->field[at + 1].name = put_text(known[k].length);
	tree->field[at + 1].type = known[k].type;
	tree->field[at + 1].offset = 8 * random_of(4);
}

/* A truth, an address, a length, and a parameter that leads to one of the first types */
static void put_known_types(void)
{
	memset(&tree->type[TYPES - 4], 0, 4 * sizeof(*tree->type));
	tree->type[TYPES - 4].kind = DP_PROTOTYPE_INT;
	tree->type[TYPES - 4].lens = DP_PROTOTYPE_BOOL;
	tree->type[TYPES - 4].bits = 8;
	tree->type[TYPES - 3].kind = DP_PROTOTYPE_POINTER;
	tree->type[TYPES - 3].of = random_of(2) ? TYPES - 4 :
						  1 + random_of(TYPES - 1);
	tree->type[TYPES - 2].kind = DP_PROTOTYPE_INT;
	tree->type[TYPES - 2].bits = 64;
	tree->type[TYPES - 1].kind = DP_PROTOTYPE_POINTER;
	tree->type[TYPES - 1].of = 1 + random_of(4);
}

static struct dp_prototype *random_function(void)
{
	struct dp_prototype *p = NULL;
	u32 i;

	begin_tree();
	for (i = 1; i < TYPES; i++)
		random_type(i);
	for (i = TYPES - 1; i; i--)
		random_fields(i);
	put_known_types();
	for (i = 1; i < TYPES; i++)
		forge_view(i);
	tree->parameters = 1;
	tree->parameter[0] =
		(struct dp_tree_parameter){ word_at[COUNT(words) - 1],
					    TYPES - 1 };
	return dp_tree_build(tree, NULL, &p) ? NULL : p;
}

static u32 seen[DP_PRINTER_MAYBE + 1];

/* Whatever is accepted lies within the struct. */
static void check_views(const struct dp_prototype *p)
{
	const struct dp_prototype_type *t = p->returns;
	struct dp_printer view;
	u32 i, needs;

	for (i = 0; i < TYPES; i++) {
		if (!dp_printer_of(&t[i], &view))
			continue;
		needs = view.kind == DP_PRINTER_MAYBE ? view.of->size : 8;
		assert_true(view.pointer + needs <= t[i].size);
		if (view.kind == DP_PRINTER_TEXT ||
		    view.kind == DP_PRINTER_ELEMENTS)
			assert_true(view.length + 8 <= t[i].size);
		if (view.kind == DP_PRINTER_MAYBE)
			assert_true(view.length < t[i].size);
		if (view.kind == DP_PRINTER_ELEMENTS)
			assert_true(view.of->size);
		seen[view.kind]++;
	}
}

/* JSON: is a value at *@p, which moves behind it? */
static bool is_json(const char **p);

static bool is_json_string(const char **p)
{
	if (*(*p)++ != '"')
		return false;
	for (; **p != '"'; ++*p) {
		if (!**p || (u8) * *p < ' ')
			return false;
		if (**p == '\\' && !strchr("\"\\/bfnrtu", *++*p))
			return false;
	}
	++*p;
	return true;
}

static bool is_json_list(const char **p, char end)
{
	if (*++*p == end)
		return ++*p;
	for (;;) {
		if (end == '}' && (!is_json_string(p) || *(*p)++ != ':'))
			return false;
		if (!is_json(p))
			return false;
		if (**p == end)
			return ++*p;
		if (*(*p)++ != ',')
			return false;
	}
}

static bool is_json(const char **p)
{
	static const char *const said[] = { "true", "false", "null" };
	char *end;
	size_t i;

	if (**p == '{' || **p == '[')
		return is_json_list(p, **p == '{' ? '}' : ']');
	if (**p == '"')
		return is_json_string(p);
	for (i = 0; i < COUNT(said); i++)
		if (!strncmp(*p, said[i], strlen(said[i])))
			return *p += strlen(said[i]);
	if (**p != '-' && !isdigit((u8) * *p))
		return false;
	(void)strtod(*p, &end);
	*p = end;
	return true;
}

static const char *shown(const struct dp_trace_program *p,
			 const struct dp_record_copy *r, bool json)
{
	static char out[16384];
	FILE *f = fmemopen(out, sizeof(out), "w");
	struct dp_logged logged;
	u32 at = 0;

	assert_true(dp_value_take(&p->items[0], r, &at, &logged));
	dp_value_show(f, &p->items[0], &logged, NULL, json);
	assert_true(at == r->head.len || b.vm.truncated);
	assert_false(ferror(f));
	fclose(f);
	return out;
}

/* Return: whether there was something to be shown */
static bool show_random(const struct dp_prototype *f, u64 *memory)
{
	struct dp_trace_program p;
	struct dp_record_copy *r;
	struct dp_diag diag;
	const char *json;

	of_f = f;
	if (compile("f(*x)", false, &p, &diag)) {
		assert_true(diag.text[0]);
		return false;
	}
	vm_bench_init(&b);
	b.regs.di = (u64)memory;
	b.vm.code = p.code;
	b.vm.stack_mask = DP_EXPR_STACK - 1;
	b.vm.jmpmax = p.jumps;
	b.vm.logmax = p.logmax;
	dp_vm_run(&b.vm);
	assert_true(vm_bench_intact(&b));
	assert_int_equal(b.vm.end, DP_VM_EXIT);
	assert_false(b.vm.truncated && p.logmax < DP_VM_LOG);
	/* What is read behind the record is seen by the sanitizers. */
	r = calloc(1, offsetof(struct dp_record_copy, data) + b.vm.lp);
	r->head.len = (u16)b.vm.lp;
	memcpy(r->data, b.vm.log, b.vm.lp);
	assert_true(*shown(&p, r, false));
	json = shown(&p, r, true);
	if (!is_json(&json) || *json)
		fail_msg("%s", shown(&p, r, true));
	free(r);
	dp_expr_free(&p);
	return true;
}

static void test_random_types(void **state)
{
	static u64 memory[64];
	u32 i, k, n = 0;

	for (i = 0; i < 20000; i++) {
		struct dp_prototype *p = random_function();

		for (k = 0; k < COUNT(memory); k++)
			memory[k] = random_of(3) ? random_of(300) :
						   (u64)&memory[random_of(64)];
		if (!p)
			continue;
		check_views(p);
		n += show_random(p, memory);
		free(p);
	}
	assert_true(n > 1000);
	for (k = DP_PRINTER_TEXT; k <= DP_PRINTER_MAYBE; k++)
		assert_true(seen[k] > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_a_string, setup),
		cmocka_unit_test_setup(test_other_structs, setup),
		cmocka_unit_test(test_random_types),
	};
	int failed;

	tree = malloc(sizeof(*tree));
	if (!tree)
		return 1;
	cmocka_set_message_output(CM_OUTPUT_TAP);
	failed = cmocka_run_group_tests_name("printers", tests, NULL, NULL);
	free(tree);
	return failed;
}
