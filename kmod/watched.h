/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* watched: watchpoints of other modules, with handlers in C. */
#ifndef DP_KMOD_WATCHED_H
#define DP_KMOD_WATCHED_H

struct module;

/** dp_watched_leave() - a module goes: its own watchpoints and handlers do, too. Context: between dp_kmod_enter() and
 *  dp_kmod_leave() */
void dp_watched_leave(const struct module *m);

#endif
