/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* kprobes: probes of other modules, with handlers in C. */
#ifndef DP_KMOD_KPROBES_H
#define DP_KMOD_KPROBES_H

#include <dprobes/kernel/kprobes.h>

struct module;

/* Context: between dp_kmod_enter() and dp_kmod_leave(). */

/** dp_kprobes_gone() - the code of the engine's @probe has gone, which may be one of these */
void dp_kprobes_gone(u32 probe);
/** dp_kprobes_tell() - probes may have become jumps, or breakpoints, in the engine's last call */
void dp_kprobes_tell(void);
/** dp_kprobes_kind() - 'r', 'j', or 'k': that of a return probe, a jprobe, any other probe, also of a session.
 *  @on: set, if it is one of these: it is not disabled */
char dp_kprobes_kind(u32 probe, bool *on);
/** dp_kprobes_leave() - a module goes: its own probes and handlers do, too */
void dp_kprobes_leave(const struct module *m);

/** dp_jprobes_own() - is it the struct dp_kprobe of a jprobe? */
bool dp_jprobes_own(const struct dp_kprobe *p);
/** dp_jprobes_call() - is it the struct dp_kprobe of a jprobe that calls a function of a module's? */
bool dp_jprobes_call(const struct dp_kprobe *p, const struct module *m);

#endif
