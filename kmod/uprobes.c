// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * uprobes: probes of other modules on files, with handlers in C.
 *
 *     register ─► struct dp_uprobe_entry, which is the kernel's consumer ─► hit ─► handler
 *
 * The engine has no part in it: a handler may sleep, and no hit of the engine does. The caller's structure is never
 * trusted: a probe is registered if the list has it.
 *
 * Lock: uprobes. No other lock of ours is taken under it, and no handler takes it.
 */
#include "kmod/uprobes.h"
#include "kmod/inode.h"
#include "kmod/session.h"
#include <dprobes/kernel/uprobes.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>

/** struct dp_uprobe_entry - a probe that is registered: @user; @left: the kernel calls it no more, or soon */
struct dp_uprobe_entry {
	struct list_head list;
	struct dp_inode_place place;
	struct uprobe_consumer consumer;
	struct dp_uprobe *user;
	dp_uprobe_handler_t handler;
	bool left;
};

static DEFINE_MUTEX(uprobes);
static LIST_HEAD(entries);

static int hit(DP_COMPAT_UPROBE_HIT)
{
	const struct dp_uprobe_entry *e =
		container_of(self, struct dp_uprobe_entry, consumer);
	unsigned long ip = regs->ip;

	if (dp_kmod_knob(DP_KMOD_ARMED))
		e->handler(e->user, regs);
	regs->ip = ip;
	return 0;
}

static bool is_meant(DP_COMPAT_UPROBE_FILTER)
{
	const struct dp_uprobe_entry *e =
		container_of(self, struct dp_uprobe_entry, consumer);

	return dp_inode_is_meant(&e->place, mm, DP_COMPAT_UPROBE_STILL);
}

/* Return: NULL: it is not registered. */
static struct dp_uprobe_entry *entry_of(const struct dp_uprobe *u)
{
	struct dp_uprobe_entry *e;

	list_for_each_entry(e, &entries, list) if (e->user == u) return e;
	return NULL;
}

static int open_place(const struct dp_uprobe *u, struct dp_inode_place *place)
{
	struct file *file = u->path ? filp_open(u->path, O_RDONLY, 0) :
				      get_file(u->file);
	const char *why;
	int err;

	if (IS_ERR(file))
		return (int)PTR_ERR(file);
	err = dp_inode_open(place, file, (u64)u->offset, &why);
	fput(file);
	return err;
}

static int enter(struct dp_uprobe *u, struct dp_uprobe_entry *e)
{
	int err = open_place(u, &e->place);

	if (err)
		return err;
	e->consumer.handler = hit;
	e->consumer.filter = is_meant;
	e->user = u;
	e->handler = u->handler;
	err = dp_inode_enter(&e->place, &e->consumer);
	if (err)
		dp_inode_close(&e->place);
	return err;
}

static int add(struct dp_uprobe *u)
{
	struct dp_uprobe_entry *e;
	int err;

	if (!u->handler || !u->path == !u->file)
		return -EINVAL;
	if (entry_of(u))
		return -EEXIST;
	e = kzalloc(sizeof(*e), GFP_KERNEL);
	err = e ? enter(u, e) : -ENOMEM;
	if (err) {
		kfree(e);
		return err;
	}
	u->dp_entry = e;
	list_add(&e->list, &entries);
	return 0;
}

static void leave(struct dp_uprobe_entry *e)
{
	if (!e || e->left)
		return;
	dp_inode_leave(&e->place, &e->consumer);
	e->left = true;
}

/* Those that have been left are nobody's any more. */
static void forget(void)
{
	struct dp_uprobe_entry *e, *next;

	dp_compat_uprobe_sync();
	list_for_each_entry_safe(e, next, &entries, list)
	{
		if (!e->left)
			continue;
		e->user->dp_entry = NULL;
		list_del(&e->list);
		dp_inode_close(&e->place);
		kfree(e);
	}
}

static bool is_list(struct dp_uprobe *const *us, int num)
{
	int i;

	if (!us || num <= 0)
		return false;
	for (i = 0; i < num; i++)
		if (!us[i])
			return false;
	return true;
}

int dp_register_uprobes(struct dp_uprobe **us, int num)
{
	int err = is_list(us, num) ? 0 : -EINVAL, done = 0;

	if (err)
		return err;
	mutex_lock(&uprobes);
	while (done < num && !err) {
		err = add(us[done]);
		done += !err;
	}
	if (err && done) {
		while (done--)
			leave(entry_of(us[done]));
		forget();
	}
	mutex_unlock(&uprobes);
	return err;
}
EXPORT_SYMBOL_NS_GPL(dp_register_uprobes, DPROBES);

void dp_unregister_uprobes(struct dp_uprobe **us, int num)
{
	int i;

	if (!is_list(us, num))
		return;
	mutex_lock(&uprobes);
	for (i = 0; i < num; i++)
		leave(entry_of(us[i]));
	forget();
	mutex_unlock(&uprobes);
}
EXPORT_SYMBOL_NS_GPL(dp_unregister_uprobes, DPROBES);

int dp_register_uprobe(struct dp_uprobe *u)
{
	return dp_register_uprobes(&u, 1);
}
EXPORT_SYMBOL_NS_GPL(dp_register_uprobe, DPROBES);

void dp_unregister_uprobe(struct dp_uprobe *u)
{
	dp_unregister_uprobes(&u, 1);
}
EXPORT_SYMBOL_NS_GPL(dp_unregister_uprobe, DPROBES);

/* A module that goes and has not unregistered its own would leave handlers that are not there. */
static bool is_of(const struct dp_uprobe_entry *e, const struct module *m)
{
	return within_module((unsigned long)e->user, m) ||
	       within_module((unsigned long)e->handler, m);
}

void dp_uprobes_leave(const struct module *m)
{
	struct dp_uprobe_entry *e;
	bool any = false;

	mutex_lock(&uprobes);
	list_for_each_entry(e, &entries, list) if (is_of(e, m))
	{
		leave(e);
		any = true;
	}
	if (any)
		forget();
	mutex_unlock(&uprobes);
}
