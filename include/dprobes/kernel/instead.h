/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * instead: sources written for <linux/kprobes.h> use the probes of dprobes.ko.
 *
 * With DP_KPROBES defined, the kernel's names are ours from here on; without it, this file does nothing. A source
 * that is to stay as it is gets the file ahead of everything else:
 *
 *     ccflags-y += -I… -DDP_KPROBES -include dprobes/kernel/instead.h
 *
 * The names are macros, so headers that mention a struct kprobe come first, as the usual ones do here.
 */
#ifndef DPROBES_KERNEL_INSTEAD_H
#define DPROBES_KERNEL_INSTEAD_H

#ifdef DP_KPROBES

#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <dprobes/kernel/kprobes.h>

MODULE_IMPORT_NS(DPROBES);

#define kprobe dp_kprobe
#define kprobe_opcode_t dp_kprobe_opcode_t
#define kprobe_pre_handler_t dp_kprobe_pre_handler_t
#define kprobe_post_handler_t dp_kprobe_post_handler_t
#define register_kprobe dp_register_kprobe
#define unregister_kprobe dp_unregister_kprobe
#define register_kprobes dp_register_kprobes
#define unregister_kprobes dp_unregister_kprobes
#define enable_kprobe dp_enable_kprobe
#define disable_kprobe dp_disable_kprobe
#define kprobe_disabled dp_kprobe_disabled
#define kprobe_gone dp_kprobe_gone
#define kprobe_optimized dp_kprobe_optimized
#define kretprobe dp_kretprobe
#define kretprobe_instance dp_kretprobe_instance
#define kretprobe_handler_t dp_kretprobe_handler_t
#define register_kretprobe dp_register_kretprobe
#define unregister_kretprobe dp_unregister_kretprobe
#define register_kretprobes dp_register_kretprobes
#define unregister_kretprobes dp_unregister_kretprobes
#define enable_kretprobe dp_enable_kretprobe
#define disable_kretprobe dp_disable_kretprobe
#define get_kretprobe dp_get_kretprobe
#define get_kretprobe_retaddr dp_get_kretprobe_retaddr
#define jprobe dp_jprobe
#define register_jprobe dp_register_jprobe
#define unregister_jprobe dp_unregister_jprobe
#define register_jprobes dp_register_jprobes
#define unregister_jprobes dp_unregister_jprobes
#define enable_jprobe dp_enable_jprobe
#define disable_jprobe dp_disable_jprobe
#define jprobe_return dp_jprobe_return
#define JPROBE_ENTRY(handler) ((void *)(handler))

#endif
#endif
