/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* types: what functions take and return, according to debug information. */
#ifndef DP_TYPES_H
#define DP_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include "port_types.h"

struct dp_modules;
struct dp_module;
struct dp_prototype;

/** enum dp_type_kind - as far as a register can show it */
enum dp_type_kind {
	DP_TYPE_UNKNOWN, /* or of a kind that no single register holds */
	DP_TYPE_VOID,
	DP_TYPE_SIGNED,
	DP_TYPE_UNSIGNED,
	DP_TYPE_BOOL,
	DP_TYPE_POINTER, /* shown as hexadecimal digits */
	DP_TYPE_FLOAT, /* returned in xmm0 */
};

/** struct dp_type - @kind: enum dp_type_kind; @bits: 8, 16, 32 or 64, 0 without a value */
struct dp_type {
	u8 kind, bits;
};

/**
 * struct dp_types_manner - what the tool adds to the reading of debug information
 * @note: told, once, a sentence on a file that is not there or not used; NULL: nobody is
 * @progress: told from time to time that @bytes of debug information of @module have been
 *            downloaded, until @is_end; NULL: nobody is
 */
struct dp_types_manner {
	void (*note)(const char *sentence);
	void (*progress)(const char *module, u64 bytes, bool is_end);
};

/** dp_types_use() - @manner lives on; NULL: none */
void dp_types_use(const struct dp_types_manner *manner);

/**
 * dp_types_returned() - the types that functions return
 * @m: the module of the functions; its file is read, or the separate debug file that
 *     belongs to it, which may come from a server; and the files that these refer to
 * @addr: entries of the functions in the process, ascending
 * @type: type of each; DP_TYPE_UNKNOWN where nothing is known
 *
 * libdw reads the file in a child with limited time and memory. The child has no right to
 * open, write or change anything, so that a malicious file harms only the child.
 *
 * Context: may sleep, for DP_TYPES_SECONDS, and as long as a download takes.
 * Return: 0; -ENOENT there is no debug information; -EOPNOTSUPP libdw is not installed;
 * -ENOLINK a part of it is in another file (dwz, .dwo), which is not there; -ETIMEDOUT; -EFBIG it
 * needs more memory than a child may have; -EPROTONOSUPPORT it is compressed by zstd, which this
 * libdw cannot read; -EBADMSG reading it failed; -EACCES the child cannot be confined; -ENOMEM, and
 * others of fork(2). On error @type keeps what was found before.
 */
int dp_types_returned(struct dp_modules *mods, const struct dp_module *m,
		      const u64 *addr, struct dp_type *type, size_t n);
#define DP_TYPES_SECONDS 5

/**
 * dp_types_prototype() - the parameters of a function, by debug information
 * @m: the module of the function; its file is read as for dp_types_returned()
 * @addr: its entry in the process
 * @p: a prototype in one block of memory, for free(); it is not changed on error
 *
 * Only functions of C, C++ and Rust are known. The name is the one that debug information has:
 * the symbol of a constructor may be another. Parameters are those of the source. A compiler
 * may pass fewer to a function that only its own file calls: with GCC the symbol's name shows
 * it (".isra.0"); with Clang the function is not known if it is seen at its entry.
 * What returns a large struct has an argument before them that is not among them.
 *
 * Left out of structs, which are partial then: what is in virtual base classes, and bit fields
 * that are in nine bytes. Fields of base classes, and of structs and unions without a name, are
 * those of the struct around them. An enumeration of Rust's whose values have parts is a struct with variants.
 * Names have no control characters; they are otherwise as the file has them.
 * What lies behind more than four pointers, or finds no room, is void behind a pointer, or a
 * STRUCT without fields, as is a value of a kind that enum dp_prototype_kind lacks.
 *
 * Context: may sleep, for DP_TYPES_SECONDS at most.
 * Return: 0; -ENOENT there is no debug information, or none of this function; otherwise as
 * dp_types_returned().
 */
int dp_types_prototype(struct dp_modules *mods, const struct dp_module *m,
		       u64 addr, struct dp_prototype **p);

/**
 * struct dp_wanted - names that are asked for
 * @words, @n: names of variables, and of types, "struct node" being one word; all variables of
 *             the function are wanted if @all, and no globals
 * @local: of each, whether only a local variable is meant
 * @begins: a function may be meant that has been inlined and begins at the address, which may be
 *          none of its own
 * @changed: the compiler has given the function other parameters than its type says
 */
struct dp_wanted {
	const char *const *words;
	const bool *local;
	size_t n;
	bool all, begins, changed;
};

/**
 * dp_types_scope() - the names that hold at an address of code, and where their values are
 * @addr: in the process
 * @p: a prototype as dp_types_prototype() makes it, with a scope; without parameters if @addr is
 *     not an entry, or it is not known how they are passed
 *
 * Return: as dp_types_prototype().
 */
int dp_types_scope(struct dp_modules *mods, const struct dp_module *m, u64 addr,
		   const struct dp_wanted *wanted, struct dp_prototype **p);

/**
 * struct dp_kernel_wanted - what is asked of a function of the kernel
 * @types, @nr_types: types that are asked for by their names: "struct file", "pid_t"
 * @fields, @nr_fields: names of fields. What they point to is wanted, too; of other fields that
 *                      point to structs, it is void, unless @all are wanted
 */
struct dp_kernel_wanted {
	const char *const *types, *const *fields;
	size_t nr_types, nr_fields;
	bool all;
};

/**
 * dp_types_kernel() - parameters of a function of the running kernel, as it describes them itself
 * @module: of the kernel's, that has the function; "": the kernel itself
 * @p: a prototype as dp_types_prototype() makes it, with a scope of types only
 *
 * They are those of the source, and hold at the function's entry. Context: one thread at a time.
 * Return: 0; -ENOENT the kernel says nothing, or nothing of this function, or two functions of the
 * name differ; -EOPNOTSUPP libbpf is not installed; -EBADMSG; -ENOMEM.
 * Source: the kernel's Documentation/bpf/btf.rst.
 */
int dp_types_kernel(const char *module, const char *function,
		    const struct dp_kernel_wanted *wanted,
		    struct dp_prototype **p);

#endif
