/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* exits: return probes of other modules. */
#ifndef DP_KMOD_EXITS_H
#define DP_KMOD_EXITS_H

#include <dprobes/kernel/kprobes.h>

struct module;

/** dp_exits_own() - is it the struct dp_kprobe of a struct dp_kretprobe? */
bool dp_exits_own(const struct dp_kprobe *p);
/** dp_exits_call() - if so: does it call handlers of a module's? */
bool dp_exits_call(const struct dp_kprobe *p, const struct module *m);
/** dp_exits_leave() - it is unregistered: its calls return without a handler, after which its memory is freed.
 *  Context: task, may sleep; no entry_handler of it runs, nor begins to. */
void dp_exits_leave(struct dp_kprobe *p);
/** dp_exits_may() - can the calls of a function be followed, by its address? */
bool dp_exits_may(u64 addr);

#endif
