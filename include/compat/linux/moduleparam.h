/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parameters of modules. @perm is kept, but there is no sysfs. */
#ifndef DP_LINUX_MODULEPARAM_H
#define DP_LINUX_MODULEPARAM_H

#include <dprobes-module.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/stat.h>

/* For callbacks only: other parameters need no structure of their own. */
struct kernel_param {
	const char *name;
	struct module *mod;
	const struct kernel_param_ops *ops;
	u16 perm;
	void *arg;
};

struct kernel_param_ops {
	unsigned int flags;
	int (*set)(const char *text, const struct kernel_param *kp);
	int (*get)(char *buffer, const struct kernel_param *kp);
	void (*free)(void *arg);
};

struct kparam_string {
	unsigned int maxlen;
	char *string;
};

#define DP_SECTION_POINTER(type, section_name, object)                    \
	static const struct type *const __PASTE(object, _at)              \
		__attribute__((used, section(section_name))) = &object

#define DP_PARAM_FULL(id, pname, ptype, paddr, psize, pmax, pnum, pops, pperm) \
	static const struct dp_compat_param dp_param_##id = {             \
		.name = pname,                                            \
		.type = ptype,                                            \
		.addr = (void *)(paddr),                                  \
		.size = psize,                                            \
		.max = pmax,                                              \
		.num = (unsigned int *)(pnum),                            \
		.ops = pops,                                              \
		.perm = pperm,                                            \
	};                                                                \
	DP_SECTION_POINTER(dp_compat_param, "dp_module_param", dp_param_##id)

/* The type is made a string at once: bool is a macro, too. */
#define module_param_named(name, value, type, perm)                       \
	DP_PARAM_FULL(name, #name, #type, &(value), sizeof(value), 0, NULL, \
		      NULL, perm)
#define module_param(name, type, perm)                                    \
	DP_PARAM_FULL(name, #name, #type, &(name), sizeof(name), 0, NULL, \
		      NULL, perm)
#define module_param_unsafe module_param
#define module_param_string(name, string, len, perm)                      \
	DP_PARAM_FULL(name, #name, "string", string, len, 0, NULL, NULL, perm)
#define module_param_array_named(name, array, type, nump, perm)           \
	DP_PARAM_FULL(name, #name, #type, array, sizeof((array)[0]),      \
		      ARRAY_SIZE(array), nump, NULL, perm)
#define module_param_array(name, type, nump, perm)                        \
	DP_PARAM_FULL(name, #name, #type, name, sizeof((name)[0]),        \
		      ARRAY_SIZE(name), nump, NULL, perm)
#define module_param_cb(name, ops, arg, perm) \
	DP_PARAM_FULL(name, #name, "ops", arg, 0, 0, NULL, ops, perm)
#define core_param module_param_named

#define DP_MODULE_INFO(itag, iname, itext) \
	DP_MODULE_INFO_ID(__UNIQUE_ID(info), itag, iname, itext)
#define DP_MODULE_INFO_ID(id, itag, iname, itext)                         \
	static const struct dp_compat_info id = { itag, iname, itext };   \
	DP_SECTION_POINTER(dp_compat_info, "dp_module_info", id)
#define MODULE_PARM_DESC(parm, desc) DP_MODULE_INFO("parm", #parm, desc)

/* What the set and get of ordinary types do, for callbacks that end in them. */
int param_set_int(const char *text, const struct kernel_param *kp)
	DP_COMPAT(param_set_int);
int param_get_int(char *buffer, const struct kernel_param *kp)
	DP_COMPAT(param_get_int);
int param_set_uint(const char *text, const struct kernel_param *kp)
	DP_COMPAT(param_set_uint);
int param_get_uint(char *buffer, const struct kernel_param *kp)
	DP_COMPAT(param_get_uint);
int param_set_ulong(const char *text, const struct kernel_param *kp)
	DP_COMPAT(param_set_ulong);
int param_get_ulong(char *buffer, const struct kernel_param *kp)
	DP_COMPAT(param_get_ulong);
int param_set_bool(const char *text, const struct kernel_param *kp)
	DP_COMPAT(param_set_bool);
int param_get_bool(char *buffer, const struct kernel_param *kp)
	DP_COMPAT(param_get_bool);

#endif
