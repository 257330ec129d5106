/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * btf: the types of the running kernel, as it describes them itself (/sys/kernel/btf), by libbpf.
 *
 * The kernel is believed, so no child reads them.
 */
#ifndef DP_TYPES_BTF_H
#define DP_TYPES_BTF_H

#include <linux/btf.h>
#include <stdbool.h>
#include "port_types.h"

struct btf;
struct dp_kernel_wanted;
struct dp_tree;

/** What is used of libbpf, of its version 1 */
#define DP_LIBBPF(F)                                                        \
	F(struct btf *, btf__load_vmlinux_btf, (void))                      \
	F(struct btf *, btf__load_module_btf, (const char *, struct btf *)) \
	F(__u32, btf__type_cnt, (const struct btf *))                       \
	F(const struct btf_type *, btf__type_by_id,                         \
	  (const struct btf *, __u32))                                      \
	F(const char *, btf__name_by_offset, (const struct btf *, __u32))   \
	F(void *, libbpf_set_print, (void *))

struct dp_libbpf {
#define DP_LIBBPF_MEMBER(type, f, args) type(*f) args;
	DP_LIBBPF(DP_LIBBPF_MEMBER)
#undef DP_LIBBPF_MEMBER
};

/**
 * struct dp_btf - the types of the kernel, or of one of its modules and the kernel
 * @module: its name, "" of the kernel
 * @function, @n: types that are functions of its own, by their names
 */
struct dp_btf {
	const struct dp_libbpf *lib;
	struct btf *btf;
	char *module;
	u32 *function;
	u32 n;
};

/** dp_btf_type(), dp_btf_name() - of a type. Return: never NULL; type 0 is void, and a text "" */
const struct btf_type *dp_btf_type(const struct dp_btf *b, u32 id);
const char *dp_btf_name(const struct dp_btf *b, u32 offset);
/** dp_btf_peel() - the type behind typedefs, const and the like. Return: its id, 0 of void */
u32 dp_btf_peel(const struct dp_btf *b, u32 id);

static inline u8 dp_btf_kind(const struct btf_type *t)
{
	return BTF_INFO_KIND(t->info);
}

/** dp_btf_put() - write a function's prototype into @t, which is all zeros
 *  @proto: its type. Return: false: there is no room */
bool dp_btf_put(const struct dp_btf *b, const struct btf_type *proto,
		const char *name, const struct dp_kernel_wanted *wanted,
		struct dp_tree *t);

#endif
