/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* uprobes: probes of other modules on files, with handlers in C. */
#ifndef DP_KMOD_UPROBES_H
#define DP_KMOD_UPROBES_H

struct module;

/** dp_uprobes_leave() - a module goes: its probes and handlers do, too. None of them runs any more.
 *  Context: task, without any lock of ours */
void dp_uprobes_leave(const struct module *m);

#endif
