// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * hooks: hooks of other modules, and exits that are called there: the Generalised Kernel Hooks Interface.
 *
 *     a change ─► fresh lists ─► each is published ─► hooks that have exits now: their jump labels ─► the epoch:
 *     all are valid ─► labels of hooks that have none ─► RCU ─► the old lists are freed
 *
 * Lock: hooks. Those who are told of events are called without it. The kernel's for jump labels is below.
 */
#include "kmod/hooks.h"
#include "engine/hook/hook.h"
#include <linux/export.h>
#include <linux/jump_label.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/srcu.h>
#include <linux/string.h>

/* Who may be told */
#define LISTENERS 16
#define PRIORITY (GKH_ONLY | GKH_LIFO)
#define KNOWN                                                       \
	(PRIORITY | GKH_ARMED | GKH_REGISTERED | GKH_DISABLE_IRQS | \
	 GKH_STOP_CPUS | GKH_DELETED)

/** struct event - that those who listen are to be told; or an exit's on_delete */
struct event {
	struct list_head all;
	enum gkh_event what;
	struct gkh_hook *hook;
	struct gkh_rec *orphan;
};

static DEFINE_MUTEX(hooks);
static LIST_HEAD(hooked);
static LIST_HEAD(events);
static gkh_event_fn listeners[LISTENERS];
DEFINE_STATIC_SRCU(telling);
static u64 epoch;

/* What must not fail asks for a few words at a time. */
static void *must_have(size_t size)
{
	return kzalloc(size, GFP_KERNEL | __GFP_NOFAIL);
}

static void note(enum gkh_event what, struct gkh_hook *h,
		 struct gkh_rec *orphan)
{
	struct event *e = must_have(sizeof(*e));

	e->what = what;
	e->hook = h;
	e->orphan = orphan;
	list_add_tail(&e->all, &events);
}

static void tell(const struct event *e)
{
	gkh_event_fn fn;
	u32 i;

	if (e->orphan) {
		e->orphan->on_delete(e->orphan);
		return;
	}
	for (i = 0; i < LISTENERS; i++) {
		fn = READ_ONCE(listeners[i]);
		if (fn)
			fn(e->what, e->hook);
	}
}

/* Release the lock, and tell what has happened. */
static void leave(void)
{
	struct event *e, *next;
	LIST_HEAD(mine);
	int told = srcu_read_lock(&telling);

	list_splice_init(&events, &mine);
	mutex_unlock(&hooks);
	list_for_each_entry_safe(e, next, &mine, all)
	{
		tell(e);
		kfree(e);
	}
	srcu_read_unlock(&telling, told);
}

static struct dp_hooked *find_name(const char *name)
{
	struct dp_hooked *h;

	list_for_each_entry(h, &hooked,
			    all) if (name &&
				     !strcmp(h->hook->name, name)) return h;
	return NULL;
}

static struct dp_hooked *find_hook(const struct gkh_hook *hook)
{
	struct dp_hooked *h;

	list_for_each_entry(h, &hooked, all) if (h->hook == hook) return h;
	return NULL;
}

/* Return: where a record is registered, or NULL. What it says of itself is not believed. */
static struct dp_hooked *find_rec(const struct gkh_rec *rec)
{
	const struct gkh_rec *r;
	struct dp_hooked *h;

	list_for_each_entry(
		h, &hooked,
		all) for (r = h->first; r;
			  r = dp_hook_order_next(r)) if (r == rec) return h;
	return NULL;
}

/* --- what changes --- */

/* An exit that is to be disarmed is marked in its own word. */
static bool is_wanted(const struct gkh_rec *rec)
{
	return dp_hook_is_armed(rec) && !rec->priv[1];
}

static void make_list(struct dp_hooked *h)
{
	struct dp_hook_list *list;
	struct gkh_rec *rec;
	u32 n = 0;

	for (rec = h->first; rec; rec = dp_hook_order_next(rec))
		n++;
	list = must_have(sizeof(*list) + n * sizeof(list->rec[0]));
	for (rec = h->first; rec; rec = dp_hook_order_next(rec))
		if (is_wanted(rec))
			list->rec[list->n++] = rec;
	list->since = epoch + 1;
	list->older = h->hook->list;
	h->fresh = list;
}

static void turn(struct dp_hooked *h, bool on)
{
	struct static_key_false *key = h->hook->priv[0];

	if (!!h->hook->active == on)
		return;
	WRITE_ONCE(h->hook->active, on);
	if (key && on)
		static_key_enable(&key->key);
	else if (key)
		static_key_disable(&key->key);
	note(on ? GKH_ACTIVATE : GKH_DEACTIVATE, h->hook, NULL);
}

static void apply(void)
{
	struct dp_hooked *h;

	list_for_each_entry(h, &hooked, all) if (h->changes) make_list(h);
	list_for_each_entry(h, &hooked, all) if (h->changes) smp_store_release(
		(struct dp_hook_list **)&h->hook->list, h->fresh);
	list_for_each_entry(h, &hooked, all) if (h->changes && h->fresh->n)
		turn(h, true);
	dp_hook_set_epoch(++epoch);
	list_for_each_entry(h, &hooked, all) if (h->changes && !h->fresh->n)
		turn(h, false);
	synchronize_rcu();
	list_for_each_entry(h, &hooked, all)
	{
		if (!h->changes)
			continue;
		kfree(h->fresh->older);
		h->fresh->older = NULL;
		h->fresh = NULL;
		h->changes = false;
	}
}

static bool are_registered(const struct gkh_rec *list)
{
	for (; list; list = list->next)
		if (!find_rec(list))
			return false;
	return true;
}

static void disarm_all(struct gkh_rec *list)
{
	struct gkh_rec *rec;

	for (rec = list; rec; rec = rec->next) {
		rec->priv[1] = rec;
		find_rec(rec)->changes = true;
	}
	apply();
	for (rec = list; rec; rec = rec->next) {
		__atomic_fetch_and(&rec->flags, ~(u32)GKH_ARMED,
				   __ATOMIC_RELEASE);
		rec->priv[1] = NULL;
	}
}

static void forget(struct gkh_rec *rec)
{
	dp_hook_order_remove(&find_rec(rec)->first, rec);
	rec->flags &= ~(u32)GKH_REGISTERED;
}

/* --- exits --- */

static int check(const struct gkh_rec *rec, struct dp_hooked **h)
{
	*h = rec->hook ? find_hook(rec->hook) : find_name(rec->hook_name);
	if (!*h)
		return -ENOENT;
	if (find_rec(rec))
		return -EEXIST;
	if (!rec->exit || rec->flags & ~(u32)KNOWN ||
	    (rec->count > (*h)->hook->count &&
	     !((*h)->hook->flags & GKH_HOOK_UNTYPED)))
		return -EINVAL;
	return rec->flags & GKH_STOP_CPUS ? -EOPNOTSUPP : 0;
}

static int add(struct gkh_rec *rec)
{
	struct dp_hooked *h;
	int err = check(rec, &h);

	if (err)
		return err;
	rec->priv[1] = NULL;
	rec->flags &= PRIORITY | GKH_DISABLE_IRQS;
	err = dp_hook_order_add(&h->first, rec,
				h->hook->flags & GKH_HOOK_EXCLUSIVE);
	if (err)
		return err;
	rec->hook = h->hook;
	rec->flags |= GKH_REGISTERED;
	return 0;
}

int gkh_register(struct gkh_rec *list)
{
	struct gkh_rec *rec, *r;
	int err = 0;

	if (dp_hook_in_exit())
		return -EAGAIN;
	mutex_lock(&hooks);
	for (rec = list; rec && !err; rec = rec->next) {
		err = add(rec);
		for (r = list; err && r != rec; r = r->next)
			forget(r);
	}
	leave();
	return err;
}
EXPORT_SYMBOL_NS_GPL(gkh_register, DPROBES);

static int arm(struct gkh_rec *list)
{
	struct gkh_rec *rec;

	if (!are_registered(list))
		return -EINVAL;
	for (rec = list; rec; rec = rec->next) {
		__atomic_fetch_or(&rec->flags, GKH_ARMED, __ATOMIC_RELEASE);
		find_rec(rec)->changes = true;
	}
	apply();
	return 0;
}

int gkh_arm(struct gkh_rec *list)
{
	int err;

	if (dp_hook_in_exit())
		return -EAGAIN;
	mutex_lock(&hooks);
	err = arm(list);
	leave();
	return err;
}
EXPORT_SYMBOL_NS_GPL(gkh_arm, DPROBES);

/* In an exit, which waits for nobody */
static int disarm_later(struct gkh_rec *list)
{
	for (; list; list = list->next)
		__atomic_fetch_and(&list->flags, ~(u32)GKH_ARMED,
				   __ATOMIC_RELEASE);
	dp_hook_look_later();
	return GKH_DEFERRED;
}

static int end(struct gkh_rec *list, bool forgets)
{
	struct gkh_rec *rec;
	int err = 0;

	if (dp_hook_in_exit())
		return disarm_later(list);
	mutex_lock(&hooks);
	if (are_registered(list))
		disarm_all(list);
	else
		err = -EINVAL;
	for (rec = list; rec && !err && forgets; rec = rec->next)
		forget(rec);
	leave();
	return err;
}

int gkh_disarm(struct gkh_rec *list)
{
	return end(list, false);
}
EXPORT_SYMBOL_NS_GPL(gkh_disarm, DPROBES);

int gkh_deregister(struct gkh_rec *list)
{
	return end(list, true);
}
EXPORT_SYMBOL_NS_GPL(gkh_deregister, DPROBES);

static bool has_disarmed(const struct dp_hooked *h)
{
	const struct dp_hook_list *list = h->hook->list;
	u32 i;

	for (i = 0; list && i < list->n; i++)
		if (!dp_hook_is_armed(list->rec[i]))
			return true;
	return false;
}

void dp_hooks_sweep(void)
{
	struct dp_hooked *h;
	bool any = false;

	mutex_lock(&hooks);
	list_for_each_entry(h, &hooked, all)
	{
		h->changes = has_disarmed(h);
		any |= h->changes;
	}
	if (any)
		apply();
	leave();
}

/* --- hooks --- */

static int identify(struct gkh_hook *hook)
{
	struct dp_hooked *h;

	if (find_name(hook->name) || find_hook(hook))
		return -EEXIST;
	h = kzalloc(sizeof(*h), GFP_KERNEL);
	if (h)
		h->hits = alloc_percpu(u64);
	if (!h || !h->hits) {
		kfree(h);
		return -ENOMEM;
	}
	h->hook = hook;
	hook->list = NULL;
	hook->active = 0;
	hook->dispatch = dp_hook_call;
	WRITE_ONCE(hook->priv[1], h);
	list_add_tail(&h->all, &hooked);
	note(GKH_IDENTIFY, hook, NULL);
	return 0;
}

int gkh_identify(struct gkh_hook *hook)
{
	int err;

	if (!hook || !hook->name || !*hook->name)
		return -EINVAL;
	if (dp_hook_in_exit())
		return -EAGAIN;
	mutex_lock(&hooks);
	err = identify(hook);
	leave();
	return err;
}
EXPORT_SYMBOL_NS_GPL(gkh_identify, DPROBES);

static void orphan(struct gkh_rec *rec)
{
	forget(rec);
	rec->hook = NULL;
	rec->flags |= GKH_DELETED;
	if (rec->on_delete)
		note(GKH_DELETE, NULL, rec);
}

static void disarm_hook(struct dp_hooked *h)
{
	struct gkh_rec *rec;

	for (rec = h->first; rec; rec = dp_hook_order_next(rec))
		rec->priv[1] = rec;
	h->changes = true;
	apply();
	for (rec = h->first; rec; rec = dp_hook_order_next(rec)) {
		rec->flags &= ~(u32)GKH_ARMED;
		rec->priv[1] = NULL;
	}
}

static void delete (struct dp_hooked *h)
{
	disarm_hook(h);
	while (h->first)
		orphan(h->first);
	note(GKH_DELETE, h->hook, NULL);
	WRITE_ONCE(h->hook->priv[1], NULL);
	list_del(&h->all);
	/* Nobody is in its dispatcher: the label was off before RCU had waited, or never on. */
	synchronize_rcu();
	kfree(h->hook->list);
	h->hook->list = NULL;
	free_percpu(h->hits);
	kfree(h);
}

int gkh_delete(struct gkh_hook *hook, dp_hook_bool force)
{
	struct dp_hooked *h;
	int err = 0;

	if (dp_hook_in_exit())
		return -EAGAIN;
	mutex_lock(&hooks);
	h = find_hook(hook);
	if (!h)
		err = -ENOENT;
	else if (h->first && !force)
		err = -EBUSY;
	else
		delete (h);
	leave();
	return err;
}
EXPORT_SYMBOL_NS_GPL(gkh_delete, DPROBES);

struct gkh_hook *gkh_find(const char *name)
{
	const struct dp_hooked *h;
	struct gkh_hook *hook;

	if (dp_hook_in_exit())
		return NULL;
	mutex_lock(&hooks);
	h = find_name(name);
	hook = h ? h->hook : NULL;
	leave();
	return hook;
}
EXPORT_SYMBOL_NS_GPL(gkh_find, DPROBES);

static u64 hits_of(const struct dp_hooked *h)
{
	unsigned int cpu;
	u64 n = 0;

	for_each_possible_cpu(cpu) n += READ_ONCE(*per_cpu_ptr(h->hits, cpu));
	return n;
}

unsigned long gkh_hits(const struct gkh_hook *hook)
{
	const struct dp_hooked *h;
	u64 n;

	if (dp_hook_in_exit())
		return 0;
	mutex_lock(&hooks);
	h = find_hook(hook);
	n = h ? hits_of(h) : 0;
	leave();
	return n;
}
EXPORT_SYMBOL_NS_GPL(gkh_hits, DPROBES);

/* --- lists --- */

/** struct line - of a list, which is told when the lock is free */
struct line {
	struct list_head all;
	char text[];
};

static void say(struct list_head *lines, const char *text)
{
	struct line *l = must_have(sizeof(*l) + strlen(text) + 1);

	strcpy(l->text, text);
	list_add_tail(&l->all, lines);
}

static void say_exit(struct list_head *lines, const struct gkh_rec *rec)
{
	char text[256], place[KSYM_SYMBOL_LEN];

	snprintf(place, sizeof(place), "%ps", rec->exit);
	snprintf(text, sizeof(text), "  %u %s %d%s", rec->index,
		 rec->exit_name ?: place, dp_hook_is_armed(rec),
		 rec->proc_writable ? " writable" : "");
	say(lines, text);
}

static int say_all(struct list_head *lines)
{
	const struct dp_hooked *h;
	const struct gkh_rec *rec;
	char text[256];
	int n = 0;

	list_for_each_entry(h, &hooked, all)
	{
		snprintf(text, sizeof(text), "%s %s %llu%s", h->hook->name,
			 h->hook->active ? "active" : "idle", hits_of(h),
			 h->hook->flags & GKH_HOOK_EXCLUSIVE ? " exclusive" :
							       "");
		say(lines, text);
		for (rec = h->first; rec; rec = dp_hook_order_next(rec))
			say_exit(lines, rec);
		n++;
	}
	return n;
}

int gkh_list(void (*line)(void *arg, const char *text), void *arg)
{
	struct line *l, *next;
	LIST_HEAD(lines);
	int n;

	if (dp_hook_in_exit())
		return -EAGAIN;
	mutex_lock(&hooks);
	n = say_all(&lines);
	leave();
	list_for_each_entry_safe(l, next, &lines, all)
	{
		line(arg, l->text);
		kfree(l);
	}
	return n;
}
EXPORT_SYMBOL_NS_GPL(gkh_list, DPROBES);

static void show(void *m, const char *text)
{
	seq_printf(m, "%s\n", text);
}

void dp_hooks_show(struct seq_file *m)
{
	gkh_list(show, m);
}

/* --- those who listen, and those who go --- */

static int replace(gkh_event_fn was, gkh_event_fn fn)
{
	u32 i;

	for (i = 0; i < LISTENERS; i++)
		if (listeners[i] == was) {
			WRITE_ONCE(listeners[i], fn);
			return 0;
		}
	return was ? -ENOENT : -ENOSPC;
}

static bool listens(gkh_event_fn fn)
{
	u32 i;

	for (i = 0; i < LISTENERS; i++)
		if (listeners[i] == fn)
			return true;
	return false;
}

int gkh_notify(gkh_event_fn fn)
{
	int err;

	if (dp_hook_in_exit())
		return -EAGAIN;
	mutex_lock(&hooks);
	err = !fn ? -EINVAL : listens(fn) ? -EEXIST : replace(NULL, fn);
	leave();
	return err;
}
EXPORT_SYMBOL_NS_GPL(gkh_notify, DPROBES);

/* When it returns, @fn does not run any more. */
int gkh_notify_end(gkh_event_fn fn)
{
	int err;

	if (dp_hook_in_exit())
		return -EAGAIN;
	mutex_lock(&hooks);
	err = fn ? replace(fn, NULL) : -ENOENT;
	leave();
	synchronize_srcu(&telling);
	return err;
}
EXPORT_SYMBOL_NS_GPL(gkh_notify_end, DPROBES);

static bool is_of(const void *at, const struct module *m)
{
	return within_module((unsigned long)at, m);
}

static bool rec_is_of(const struct gkh_rec *rec, const struct module *m)
{
	return is_of(rec, m) || is_of(rec->exit, m) || is_of(rec->on_delete, m);
}

static struct gkh_rec *find_of(const struct dp_hooked *h,
			       const struct module *m)
{
	struct gkh_rec *rec;

	for (rec = h->first; rec; rec = dp_hook_order_next(rec))
		if (rec_is_of(rec, m))
			return rec;
	return NULL;
}

static bool mark_exits(const struct module *m)
{
	struct dp_hooked *h;
	struct gkh_rec *rec;
	bool any = false;

	list_for_each_entry(
		h, &hooked,
		all) for (rec = h->first; rec;
			  rec = dp_hook_order_next(rec)) if (rec_is_of(rec, m))
	{
		rec->priv[1] = rec;
		h->changes = any = true;
	}
	return any;
}

static void drop_exits(const struct module *m)
{
	struct dp_hooked *h;
	struct gkh_rec *rec;

	if (!mark_exits(m))
		return;
	apply();
	list_for_each_entry(h, &hooked, all) while ((rec = find_of(h, m)))
	{
		forget(rec);
		rec->flags &= ~(u32)GKH_ARMED;
	}
}

void dp_hooks_leave(const struct module *m)
{
	struct dp_hooked *h, *next;
	u32 i;

	mutex_lock(&hooks);
	for (i = 0; i < LISTENERS; i++)
		if (is_of(listeners[i], m))
			WRITE_ONCE(listeners[i], NULL);
	drop_exits(m);
	list_for_each_entry_safe(h, next, &hooked, all) if (is_of(h->hook, m))
	{
		/* Nobody runs through it any more. */
		h->hook->priv[0] = NULL;
		delete (h);
	}
	leave();
	synchronize_srcu(&telling);
}

/* --- from outside --- */

static int set(struct dp_hooked *h, struct gkh_rec *rec, bool armed)
{
	if (!rec->proc_writable)
		return -EPERM;
	h->changes = true;
	if (armed)
		__atomic_fetch_or(&rec->flags, GKH_ARMED, __ATOMIC_RELEASE);
	else
		rec->priv[1] = rec;
	apply();
	if (!armed)
		__atomic_fetch_and(&rec->flags, ~(u32)GKH_ARMED,
				   __ATOMIC_RELEASE);
	rec->priv[1] = NULL;
	return 0;
}

int dp_hooks_set(const char *hook, const char *exit_name, bool armed)
{
	struct gkh_rec *rec = NULL;
	struct dp_hooked *h;
	int err = -ENOENT;

	mutex_lock(&hooks);
	h = find_name(hook);
	if (h)
		rec = h->first;
	while (rec && (!rec->exit_name || strcmp(rec->exit_name, exit_name)))
		rec = dp_hook_order_next(rec);
	if (rec)
		err = set(h, rec, armed);
	leave();
	return err;
}
