/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* hooks: hooks of other modules, and exits that are called there. */
#ifndef DP_KMOD_HOOKS_H
#define DP_KMOD_HOOKS_H

#include <dprobes/kernel/hooks.h>
#include "port_types.h"
#include <linux/list.h>

struct dp_hook_list;
struct file;
struct inode;
struct module;

/**
 * struct dp_hooked - a hook that has been identified; its second private word leads here
 * @first: its registered exits, in order; @hits: by CPU, how often it was run through while active
 * @fresh: the list that is to be valid; @changes: it is among those that change
 */
struct dp_hooked {
	struct list_head all;
	struct gkh_hook *hook;
	struct gkh_rec *first;
	u64 __percpu *hits;
	struct dp_hook_list *fresh;
	bool changes;
};

/* hook_dispatch: threads that run through hooks. */

/** dp_hook_call() - the dispatcher of all hooks. Context: any */
int dp_hook_call(struct gkh_hook *h, struct gkh_args *a);
/** dp_hook_in_exit() - does the caller run in an exit? Context: any */
bool dp_hook_in_exit(void);
/** dp_hook_set_epoch() - lists since then are valid, those of later epochs are not */
void dp_hook_set_epoch(u64 epoch);
/** dp_hook_look_later() - exits have disarmed themselves: dp_hooks_sweep() is to be called. Context: any */
void dp_hook_look_later(void);
/** dp_hook_look_end() - no such call is on its way any more. Context: task */
void dp_hook_look_end(void);

/* hooks: control. Context: task, may sleep. */

/** dp_hooks_sweep() - take out exits that have disarmed themselves */
void dp_hooks_sweep(void);
/** dp_hooks_leave() - a module goes: its hooks are deleted, and its exits deregistered */
void dp_hooks_leave(const struct module *m);
/** dp_hooks_set() - arm an exit, or disarm it, by the names of it and of its hook, if it may be so from outside.
 *  Return: 0; -ENOENT; -EPERM */
int dp_hooks_set(const char *hook, const char *exit_name, bool armed);

struct seq_file;
/** dp_hooks_show() - all hooks, and their exits, as gkh_list(3) tells them */
void dp_hooks_show(struct seq_file *m);

#endif
