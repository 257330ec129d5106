/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a probe module says of itself: read by dp_compat_load().
 *
 * Every source file that includes <linux/module.h> defines dp_compat_module, all
 * alike and weak, so a module of any number of files has one; it is the only
 * symbol that a module exports, but for those of EXPORT_SYMBOL(). Parameters and texts are found through arrays of
 * pointers that the linker collects in two sections.
 *
 * A module is built by
 *     cc -shared -fPIC $(pkg-config --cflags dprobes-module) -o MOD.so MOD.c
 */
#ifndef DPROBES_MODULE_H
#define DPROBES_MODULE_H

#include <stdint.h>
#include <linux/types.h>

#define DP_COMPAT_ABI 1

struct kernel_param_ops;

#define MODULE_NAME_LEN 56

enum module_state {
	MODULE_STATE_LIVE,
	MODULE_STATE_COMING,
	MODULE_STATE_GOING,
	MODULE_STATE_UNFORMED,
};

/**
 * struct module - a module
 * @name: its file's name without directory and suffix
 * @refcnt: while it is not 0 the module is not unloaded
 */
struct module {
	enum module_state state;
	char name[MODULE_NAME_LEN];
	atomic_t refcnt;
	struct list_head list;
	const char *version;
};

/**
 * struct dp_compat_param - one parameter
 * @name: as it is written before the '='
 * @type: the kernel's name of the type: byte short ushort int uint long ulong
 *        ullong hexint bool invbool charp; "string" (a buffer of @size bytes);
 *        "ops": @ops->set takes the text
 * @addr: the variable; of an array its first element; of "ops" its argument
 * @size: of the variable, or of one element of an array, in bytes
 * @max: elements of an array; 0: not one
 * @num: where the number of elements that were given goes, or NULL
 * @perm: its mode in sysfs; 0 hides it there
 */
struct dp_compat_param {
	const char *name;
	const char *type;
	void *addr;
	uint32_t size;
	uint32_t max;
	unsigned int *num;
	const struct kernel_param_ops *ops;
	uint32_t perm;
};

/**
 * struct dp_compat_info - MODULE_LICENSE() and the like
 * @tag: license author description version alias parm …
 * @name: of "parm" the parameter's, otherwise NULL
 */
struct dp_compat_info {
	const char *tag;
	const char *name;
	const char *text;
};

/**
 * struct dp_compat_export - what other modules may use
 * @gpl: those whose licence is the GPL, or compatible with it
 */
struct dp_compat_export {
	const char *name;
	const void *addr;
	uint32_t gpl;
};

/**
 * struct dp_compat_module - the descriptor
 * @abi: DP_COMPAT_ABI; another number is refused
 * @size: of this structure; fields may be added behind the last
 * @module: THIS_MODULE; the loader fills in its name
 * @init, @exit: NULL if the module has none
 * @params, @info: arrays of pointers, up to @params_end and @info_end
 * @exports: the same; not there in modules whose @size is smaller
 */
struct dp_compat_module {
	uint32_t abi;
	uint32_t size;
	struct module *module;
	int (*init)(void);
	void (*exit)(void);
	const struct dp_compat_param *const *params, *const *params_end;
	const struct dp_compat_info *const *info, *const *info_end;
	const struct dp_compat_export *const *exports, *const *exports_end;
};

#endif
