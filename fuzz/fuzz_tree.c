// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fuzz_tree: what a hostile child writes as a prototype. It is refused, or can be walked.
 *
 * Input: counts, then the tables themselves, as far as it reaches; numbers are kept near their range,
 * so that most of them lead somewhere.
 */
#include <stdio.h>
#include "sym/types/tree.h"
#include "fuzz/walk.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static struct dp_tree tree;
static const u8 *at;
static size_t left;

static void take(void *to, size_t len)
{
	size_t n = len < left ? len : left;

	memset(to, 0, len);
	memcpy(to, at, n);
	at += n;
	left -= n;
}

static u32 number(u32 below)
{
	u16 v;

	take(&v, sizeof(v));
	/* The last few are as they are. */
	return v >= 0xfff0 ? ~0u - (0xffffu - v) : (u32)(v % (below + 1ull));
}

static u64 large(void)
{
	u8 how;
	u64 v = 0;

	take(&how, sizeof(how));
	if (how < 0xf0)
		return how;
	take(&v, sizeof(v));
	return v;
}

static void take_types(void)
{
	u32 i;

	for (i = 0; i < tree.types && i < DP_TREE_TYPES; i++) {
		struct dp_tree_type *t = &tree.type[i];

		take(t, 4);
		if (t->kind < 0xf0)
			t->kind %= DP_PROTOTYPE_STRUCT + 1;
		if (t->bits < 0x80)
			t->bits = (u8)(8u << t->bits % 5);
		t->of = number(tree.types);
		t->first = number(tree.fields + tree.names);
		t->n = number(8);
		t->size = large();
		t->length = large();
	}
}

static void take_rest(void)
{
	u32 i;

	for (i = 0; i < tree.fields && i < DP_TREE_FIELDS; i++)
		tree.field[i] = (struct dp_tree_field){ number(tree.text),
							number(tree.types),
							large() };
	for (i = 0; i < tree.names && i < DP_TREE_NAMES; i++)
		tree.enumerator[i] =
			(struct dp_tree_name){ number(tree.text), large() };
	for (i = 0; i < tree.parameters && i < DP_PROTOTYPE_PARAMETERS; i++)
		tree.parameter[i] =
			(struct dp_tree_parameter){ number(tree.text),
						    number(tree.types) };
	take(tree.bytes, left < sizeof(tree.bytes) ? left : sizeof(tree.bytes));
}

static void check(const struct dp_prototype *p)
{
	u32 i, parts = 0;

	must(p->n <= DP_PROTOTYPE_PARAMETERS && p->name);
	walk(p->returns, 2, 0, &parts);
	for (i = 0; i < p->n; i++) {
		const char *name = p->parameters[i].name;

		for (parts = 0; name && *name; name++)
			must((u8)*name >= ' ' && *name != 0x7f);
		walk(p->parameters[i].type, 2, 0, &parts);
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct dp_prototype *p;

	memset(&tree, 0, sizeof(tree));
	at = data;
	left = size;
	take(&tree.found, 2);
	tree.text = number(200);
	tree.types = number(16);
	tree.fields = number(24);
	tree.names = number(8);
	tree.parameters = number(4);
	tree.name = number(tree.text);
	tree.returns = number(tree.types);
	take_types();
	take_rest();
	if (!dp_tree_build(&tree, NULL, &p)) {
		check(p);
		free(p);
	}
	return 0;
}
