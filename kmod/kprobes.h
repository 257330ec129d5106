/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* kprobes: probes of other modules, with handlers in C. */
#ifndef DP_KMOD_KPROBES_H
#define DP_KMOD_KPROBES_H

#include <dprobes/kernel/kprobes.h>

struct module;

/** dp_kprobes_begin() - watch modules that go. Return: 0 or an errno */
int dp_kprobes_begin(void);
void dp_kprobes_end(void);

/** dp_jprobes_call() - is it the struct dp_kprobe of a jprobe that calls a function of a module's? */
bool dp_jprobes_call(const struct dp_kprobe *p, const struct module *m);

#endif
