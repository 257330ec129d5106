// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * btf: functions of the running kernel, found in what it says of its types.
 *
 * What has been read stays: the kernel does not change, and a module is read again when another
 * one has been asked for in between.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "sym/prototypes.h"
#include "sym/types.h"
#include "sym/types/btf.h"
#include "sym/types/tree.h"

#define PEELS_MAX 64 /* a typedef of a const of a typedef of … */
#define MODULES_MAX 16

static struct dp_libbpf library;
/* [0]: the kernel's own */
static struct dp_btf known[1 + MODULES_MAX];
static u32 nr_known;

static bool open_library(void)
{
	void *lib = dlopen("libbpf.so.1", RTLD_NOW | RTLD_LOCAL);

#define FIND(type, f, args)                                 \
	*(void **)&library.f = lib ? dlsym(lib, #f) : NULL; \
	if (!library.f)                                     \
		return false;
	DP_LIBBPF(FIND)
#undef FIND
	/* What it has to tell is told by what it returns. */
	library.libbpf_set_print(NULL);
	return true;
}

const struct btf_type *dp_btf_type(const struct dp_btf *b, u32 id)
{
	static const struct btf_type none;
	const struct btf_type *t = b->lib->btf__type_by_id(b->btf, id);

	return t ?: &none;
}

const char *dp_btf_name(const struct dp_btf *b, u32 offset)
{
	const char *name = b->lib->btf__name_by_offset(b->btf, offset);

	return name ?: "";
}

u32 dp_btf_peel(const struct dp_btf *b, u32 id)
{
	const struct btf_type *t;
	int i;

	for (i = 0; i < PEELS_MAX; i++) {
		t = dp_btf_type(b, id);
		switch (dp_btf_kind(t)) {
		case BTF_KIND_TYPEDEF:
		case BTF_KIND_VOLATILE:
		case BTF_KIND_CONST:
		case BTF_KIND_RESTRICT:
		case BTF_KIND_TYPE_TAG:
			id = t->type;
			break;
		default:
			return id;
		}
	}
	return 0;
}

static const char *name_of(const struct dp_btf *b, u32 id)
{
	return dp_btf_name(b, dp_btf_type(b, id)->name_off);
}

static int by_name(const void *x, const void *y, void *btf)
{
	return strcmp(name_of(btf, *(const u32 *)x),
		      name_of(btf, *(const u32 *)y));
}

/* @first: type of its own */
static int index_functions(struct dp_btf *b, u32 first)
{
	u32 end = b->lib->btf__type_cnt(b->btf), id;

	b->function = malloc((end - first + 1) * sizeof(*b->function));
	if (!b->function)
		return -ENOMEM;
	for (id = first; id < end; id++)
		if (dp_btf_kind(dp_btf_type(b, id)) == BTF_KIND_FUNC)
			b->function[b->n++] = id;
	qsort_r(b->function, b->n, sizeof(*b->function), by_name, b);
	return 0;
}

static int load_kernel(void)
{
	struct dp_btf *b = &known[0];

	if (!library.libbpf_set_print && !open_library())
		return -EOPNOTSUPP;
	b->lib = &library;
	b->btf = library.btf__load_vmlinux_btf();
	if (!b->btf)
		return errno == ENOMEM ? -ENOMEM : -ENOENT;
	b->module = "";
	nr_known = 1;
	return index_functions(b, 1);
}

/* Modules that there is no room for are not known. */
static int load_module(const char *module)
{
	struct dp_btf *b = &known[nr_known];

	if (nr_known > MODULES_MAX)
		return -ENOENT;
	b->lib = &library;
	b->btf = library.btf__load_module_btf(module, known[0].btf);
	if (!b->btf)
		return errno == ENOMEM ? -ENOMEM : -ENOENT;
	b->module = strdup(module);
	if (!b->module)
		return -ENOMEM;
	nr_known++;
	return index_functions(b, library.btf__type_cnt(known[0].btf));
}

static int types_of(const char *module, const struct dp_btf **b)
{
	int err = nr_known ? 0 : load_kernel();
	u32 i;

	if (err)
		return err;
	for (i = 0; i < nr_known; i++)
		if (!strcmp(known[i].module, module))
			break;
	if (i == nr_known)
		err = load_module(module);
	*b = &known[i];
	return err;
}

/* The first of the functions that are not before @name */
static u32 lower_bound(const struct dp_btf *b, const char *name)
{
	u32 low = 0, high = b->n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (strcmp(name_of(b, b->function[middle]), name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Several functions may have one name. Their types are the same, or nothing is known. */
static const struct btf_type *find(const struct dp_btf *b, const char *name)
{
	u32 i = lower_bound(b, name), type = 0;

	for (; i < b->n && !strcmp(name_of(b, b->function[i]), name); i++) {
		u32 is = dp_btf_type(b, b->function[i])->type;

		if (type && type != is)
			return NULL;
		type = is;
	}
	return type && dp_btf_kind(dp_btf_type(b, type)) ==
				       BTF_KIND_FUNC_PROTO ?
		       dp_btf_type(b, type) :
		       NULL;
}

int dp_types_kernel(const char *module, const char *function,
		    const struct dp_kernel_wanted *wanted,
		    struct dp_prototype **p)
{
	const struct btf_type *proto;
	const struct dp_btf *b;
	struct dp_tree *t;
	int err = types_of(module, &b);

	if (err)
		return err;
	proto = find(b, function);
	if (!proto)
		return -ENOENT;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	err = dp_btf_put(b, proto, function, wanted, t) ?
		      dp_tree_build(t, NULL, p) :
		      -ENOENT;
	free(t);
	return err;
}
