/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Modules: a shared object that dp_compat_load() takes into a process. */
#ifndef DP_LINUX_MODULE_H
#define DP_LINUX_MODULE_H

#include <linux/types.h>
#include <linux/version.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/init.h>
#include <linux/export.h>
#include <linux/moduleparam.h>
#include <linux/stat.h>
#include <linux/err.h>
#include <linux/string.h>
#include <linux/list.h>
#include <linux/bitops.h>
#include <linux/mm.h>
#include <linux/uaccess.h>
#include <linux/delay.h>
#include <linux/random.h>
#include <linux/timex.h>
#include <linux/stacktrace.h>
#include <linux/notifier.h>
#include <linux/wait.h>
#include <linux/completion.h>
#include <linux/timer.h>
#include <linux/workqueue.h>
#include <linux/atomic.h>
#include <linux/spinlock.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/kallsyms.h>
#include <linux/rcupdate.h>
#include <linux/gfp.h>

__attribute__((weak, visibility("hidden"))) struct module dp_compat_this_module;

extern const struct dp_compat_param *const __start_dp_module_param[]
	__attribute__((weak, visibility("hidden")));
extern const struct dp_compat_param *const __stop_dp_module_param[]
	__attribute__((weak, visibility("hidden")));
extern const struct dp_compat_info *const __start_dp_module_info[]
	__attribute__((weak, visibility("hidden")));
extern const struct dp_compat_info *const __stop_dp_module_info[]
	__attribute__((weak, visibility("hidden")));
extern const struct dp_compat_export *const __start_dp_module_export[]
	__attribute__((weak, visibility("hidden")));
extern const struct dp_compat_export *const __stop_dp_module_export[]
	__attribute__((weak, visibility("hidden")));

extern const struct dp_compat_module dp_compat_module;
__attribute__((weak, visibility("default")))
const struct dp_compat_module dp_compat_module = {
	.abi = DP_COMPAT_ABI,
	.size = sizeof(struct dp_compat_module),
	.module = &dp_compat_this_module,
	.init = dp_compat_init_module,
	.exit = dp_compat_cleanup_module,
	.params = __start_dp_module_param,
	.params_end = __stop_dp_module_param,
	.info = __start_dp_module_info,
	.info_end = __stop_dp_module_info,
	.exports = __start_dp_module_export,
	.exports_end = __stop_dp_module_export,
};

#define MODULE_INFO(tag, info) DP_MODULE_INFO(#tag, NULL, info)
#define MODULE_LICENSE(text) DP_MODULE_INFO("license", NULL, text)
#define MODULE_AUTHOR(text) DP_MODULE_INFO("author", NULL, text)
#define MODULE_DESCRIPTION(text) DP_MODULE_INFO("description", NULL, text)
#define MODULE_VERSION(text) DP_MODULE_INFO("version", NULL, text)
#define MODULE_ALIAS(text) DP_MODULE_INFO("alias", NULL, text)
#define MODULE_SOFTDEP(text) DP_MODULE_INFO("softdep", NULL, text)
#define MODULE_SUPPORTED_DEVICE(text) DP_MODULE_INFO("device", NULL, text)
#define MODULE_IMPORT_NS(ns) DP_MODULE_INFO("import_ns", NULL, #ns)
#define MODULE_DEVICE_TABLE(type, name) _Static_assert(1, #name)

static inline bool try_module_get(struct module *mod)
{
	if (mod)
		atomic_inc(&mod->refcnt);
	return true;
}

static inline void __module_get(struct module *mod)
{
	if (mod)
		atomic_inc(&mod->refcnt);
}

static inline void module_put(struct module *mod)
{
	if (mod)
		atomic_dec(&mod->refcnt);
}

static inline int module_refcount(struct module *mod)
{
	return atomic_read(&mod->refcnt);
}

static inline bool module_is_live(struct module *mod)
{
	return mod->state != MODULE_STATE_GOING;
}

#define module_name(mod) ((mod) ? (mod)->name : "kernel")

#endif
