// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * hook_exit: exits come and go.
 *
 *   arm:     nops become jumps ─► new lists, valid at once
 *   disarm:  new lists, valid at once ─► jumps become nops ─► wait until no thread uses an old list
 *
 * A list that is replaced waits until no thread uses it. While a thread waits for others to leave an
 * exit, the lock is free.
 */
#include "lib/hook.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define USER_FLAGS \
	(GKH_ONLY | GKH_LIFO | GKH_DISABLE_IRQS | GKH_STOP_CPUS | GKH_DELETED)
#define NAP_US 50
#define NAPS_BEFORE_LOOK 200
/* Probes may come and go meanwhile. */
#define ARM_TRIES 8

/* What is to become of a record of a chain, in its field priv[1] */
enum mark { NOTHING, ARM, DISARM };

/* Hooks whose lists are about to change */
static struct dp_hook_info *changes;
/* Lists that threads may use: before the last sync, and since */
static struct dp_hook_list *retired, *unsynced;

static enum mark mark_of(const struct gkh_rec *rec)
{
	return (enum mark)(unsigned long)rec->priv[1];
}

static void mark(struct gkh_rec *rec, enum mark what)
{
	rec->priv[1] = (void *)(unsigned long)what;
}

static bool is_to_be_armed(const struct gkh_rec *rec)
{
	return mark_of(rec) == ARM ||
	       (dp_hook_is_armed(rec) && mark_of(rec) != DISARM);
}

static int out_of_memory(void)
{
	return dp_fail(-ENOMEM, "out of memory");
}

static void note_change(struct dp_hook_info *info)
{
	struct dp_hook_info *i;

	for (i = changes; i; i = i->changed)
		if (i == info)
			return;
	info->changed = changes;
	changes = info;
}

static void drop_changes(void)
{
	struct dp_hook_info *info;

	for (; (info = changes); changes = info->changed) {
		free(info->fresh);
		info->fresh = NULL;
	}
}

static int make_list(struct dp_hook_info *info)
{
	struct dp_hook_list *list;
	struct gkh_rec *rec;
	u32 n = 0;

	for (rec = info->first; rec; rec = dp_hook_order_next(rec))
		n++;
	list = malloc(sizeof(*list) + n * sizeof(list->rec[0]));
	if (!list)
		return out_of_memory();
	list->n = list->plain = 0;
	list->retired = NULL;
	for (rec = info->first; rec; rec = dp_hook_order_next(rec))
		if (is_to_be_armed(rec))
			list->rec[list->n++] = rec;
	info->fresh = list;
	return 0;
}

static int make_lists(void)
{
	struct dp_hook_info *info;
	int err = 0;

	for (info = changes; info && !err; info = info->changed)
		err = make_list(info);
	return err;
}

static void retire(struct dp_hook_list *list)
{
	if (!list)
		return;
	list->retired = unsynced;
	unsynced = list;
}

/* All threads see what has been published: a list that was retired before can only be in a frame. */
static void sync_all(void)
{
	struct dp_hook_list *list;

	if (dp_hook_sync())
		return;
	while ((list = unsynced)) {
		unsynced = list->retired;
		list->retired = retired;
		retired = list;
	}
}

static void reap(void)
{
	struct dp_hook_list **at = &retired, *list;

	while ((list = *at)) {
		if (dp_hook_in_use(list, false)) {
			at = &list->retired;
			continue;
		}
		*at = list->retired;
		free(list);
	}
}

/* Valid for all: threads need not compare it with the epoch any more. */
static void make_plain(struct dp_hook_list *list)
{
	u32 i;

	for (i = 0; i < list->n; i++)
		if (list->rec[i]->flags & (GKH_DISABLE_IRQS | GKH_STOP_CPUS))
			return;
	__atomic_store_n(&list->plain, list->n, __ATOMIC_RELEASE);
}

static void publish(void)
{
	u64 epoch = dp_hook_epoch + 1;
	struct dp_hook_info *info;
	struct dp_hook_list *old;

	for (info = changes; info; info = info->changed) {
		old = info->hook->list;
		info->fresh->since = epoch;
		info->fresh->older = old;
		__atomic_store_n((struct dp_hook_list **)&info->hook->list,
				 info->fresh, __ATOMIC_RELEASE);
		retire(old);
	}
	__atomic_store_n(&dp_hook_epoch, epoch, __ATOMIC_RELEASE);
	for (info = changes; info; info = info->changed)
		make_plain(info->fresh);
}

/* Hooks that have lost their last armed exit */
static void deactivate_idle(void)
{
	struct dp_hook_info *info;
	const struct dp_hook_list *list;

	for (info = changes; info; info = info->changed) {
		list = info->hook->list;
		if (list->n || (!info->hook->active && !info->nr_jumps))
			continue;
		if (info->hook->active)
			dp_hook_tell(GKH_DEACTIVATE, info->hook);
		dp_hook_deactivate(info);
	}
}

static void end_changes(void)
{
	struct dp_hook_info *info;

	for (; (info = changes); changes = info->changed)
		info->fresh = NULL;
}

/* Remove what exits have disarmed, or deregistered while another thread was in the library. */
static void drop_left(struct dp_hook_info *info)
{
	struct gkh_rec *rec, *next;

	for (rec = info->first; rec; rec = next) {
		next = dp_hook_order_next(rec);
		if ((rec->flags & (GKH_REGISTERED | DP_HOOK_DROPPED)) ==
		    (GKH_REGISTERED | DP_HOOK_DROPPED)) {
			dp_hook_order_remove(&info->first, rec);
			rec->flags &= ~(u32)GKH_REGISTERED;
		}
	}
}

static bool has_disarmed(const struct dp_hook_info *info)
{
	const struct dp_hook_list *list = info->hook->list;
	u32 i;

	for (i = 0; list && i < list->n; i++)
		if (!dp_hook_is_armed(list->rec[i]))
			return true;
	return false;
}

void dp_hooks_sweep(void)
{
	struct dp_hook_info *info;

	if (!__atomic_exchange_n(&dp_hook_disarmed, 0, __ATOMIC_ACQ_REL))
		return;
	for (info = dp_hooks; info; info = info->next) {
		drop_left(info);
		if (has_disarmed(info) ||
		    (info->nr_jumps && !info->hook->active))
			note_change(info);
	}
	if (make_lists()) {
		__atomic_store_n(&dp_hook_disarmed, 1, __ATOMIC_RELEASE);
		drop_changes();
		return;
	}
	publish();
	deactivate_idle();
	end_changes();
	sync_all();
	reap();
}

static void unmark(struct gkh_rec *list)
{
	for (; list; list = list->next)
		mark(list, NOTHING);
}

static int bad_record(const struct gkh_rec *rec, int err, const char *what)
{
	return dp_fail(err, "exit %s: %s",
		       rec->exit_name ? rec->exit_name : "without a name",
		       what);
}

static int check(struct gkh_rec *rec)
{
	struct dp_hook_info *info;

	if (rec->flags & GKH_REGISTERED)
		return bad_record(rec, -EEXIST, "it is registered already");
	if (!rec->exit)
		return bad_record(rec, -EINVAL, "it has no function");
	if (rec->flags & ~(USER_FLAGS | GKH_ARMED | DP_HOOK_DROPPED))
		return bad_record(rec, -EINVAL, "it has flags that are none");
	info = rec->hook ? dp_hook_info(rec->hook) :
			   dp_hook_named(rec->hook_name ? rec->hook_name : "");
	if (!info)
		return bad_record(rec, -ENOENT, dp_hooks_missing());
	if (info->hook->flags & GKH_HOOK_HANDLER && rec->flags & GKH_STOP_CPUS)
		return bad_record(
			rec, -EINVAL,
			"the hook is in handlers, where other threads cannot be stopped");
	if (!(info->hook->flags & GKH_HOOK_UNTYPED) || info->hook->count)
		if (rec->count > info->hook->count)
			return bad_record(rec, -EINVAL,
					  "the hook has fewer parameters");
	rec->hook = info->hook;
	return 0;
}

static int add(struct gkh_rec *rec)
{
	bool named = !rec->hook;
	int err = check(rec);
	struct dp_hook_info *info;

	if (!err) {
		info = dp_hook_info(rec->hook);
		err = dp_hook_order_add(&info->first, rec,
					info->hook->flags & GKH_HOOK_EXCLUSIVE);
		if (err)
			bad_record(
				rec, err,
				"hook has an exit where it wants to be, or an exclusive one");
	}
	if (err && named)
		rec->hook = NULL;
	if (err)
		return err;
	mark(rec, NOTHING);
	rec->flags &= ~(u32)(GKH_ARMED | GKH_DELETED | DP_HOOK_DROPPED);
	rec->flags |= GKH_REGISTERED;
	return 0;
}

static void take_out(struct gkh_rec *rec)
{
	struct dp_hook_info *info = dp_hook_info(rec->hook);

	dp_hook_order_remove(&info->first, rec);
	rec->flags &= ~(u32)GKH_REGISTERED;
	if (rec->hook_name)
		rec->hook = NULL;
}

int gkh_register(struct gkh_rec *list)
{
	struct gkh_rec *rec, *done;
	int err;

	dp_hooks_watch_exit();
	err = dp_hooks_begin();

	if (err)
		return err;
	for (rec = list; rec && !err; rec = rec->next) {
		err = add(rec);
		if (err)
			for (done = list; done != rec; done = done->next)
				take_out(done);
	}
	dp_hooks_end();
	return err;
}

static int check_registered(const struct gkh_rec *rec, u32 dropped)
{
	if ((rec->flags & GKH_REGISTERED && dp_hook_info(rec->hook)) ||
	    rec->flags & dropped)
		return 0;
	return bad_record(rec, -EINVAL, "it is not registered");
}

/* Return: 1 the process is to be prepared first */
static int prepare_arm(struct gkh_rec *list)
{
	struct gkh_rec *rec;
	int err = 0;

	for (rec = list; rec && !err; rec = rec->next) {
		err = check_registered(rec, 0);
		if (!err && rec->flags & DP_HOOK_LEAVING)
			err = bad_record(rec, -EBUSY,
					 "another thread is disarming it");
		if (!err && dp_hook_info(rec->hook)->nr_places &&
		    !dp_hook_text_ready())
			err = 1;
	}
	return err;
}

static int activate_all(void)
{
	struct dp_hook_info *info, *done;
	int err = 0;

	for (info = changes; info && !err; info = info->changed) {
		if (info->hook->active && info->nr_jumps == info->nr_places)
			continue;
		err = dp_hook_activate(info);
		if (!err)
			dp_hook_tell(GKH_ACTIVATE, info->hook);
	}
	for (done = changes; err && done != info; done = done->changed) {
		const struct dp_hook_list *had = done->hook->list;

		if (!had || !had->n)
			dp_hook_deactivate(done);
	}
	return err;
}

static int arm(struct gkh_rec *list)
{
	struct gkh_rec *rec;
	int err;

	for (rec = list; rec; rec = rec->next)
		if (!dp_hook_is_armed(rec)) {
			mark(rec, ARM);
			note_change(dp_hook_info(rec->hook));
		}
	if (!changes)
		return 0;
	err = make_lists();
	if (!err)
		err = activate_all();
	if (err) {
		drop_changes();
		unmark(list);
		return err;
	}
	for (rec = list; rec; rec = rec->next) {
		mark(rec, NOTHING);
		__atomic_fetch_or(&rec->flags, GKH_ARMED, __ATOMIC_RELEASE);
	}
	publish();
	end_changes();
	sync_all();
	reap();
	return 0;
}

static int arm_once(struct gkh_rec *list)
{
	int err = dp_hooks_begin();

	if (err)
		return err;
	err = prepare_arm(list);
	if (err == 1) {
		dp_hooks_end();
		err = dp_self_begin(true);
		if (err)
			return err;
		dp_self_end();
		err = dp_hooks_begin();
		if (err)
			return err;
		err = prepare_arm(list);
	}
	if (!err)
		err = arm(list);
	dp_hooks_end();
	return err == 1 ? -EAGAIN : err;
}

/* The nop of one may bear a probe; in an exit the library's lock is not waited for. */
int gkh_arm(struct gkh_rec *list)
{
	int err, tries = 0;

	dp_hooks_watch_exit();
	do
		err = arm_once(list);
	while (err == -EBUSY && tries++ < ARM_TRIES && !dp_hook_inside_any() &&
	       dp_hook_probes_come(list));
	if (!err)
		dp_hook_probes_go();
	return err;
}

static bool has_any(const struct dp_hook_list *list, const struct gkh_rec *rec)
{
	for (; rec; rec = rec->next)
		if (dp_hook_list_has(list, rec))
			return true;
	return false;
}

/* Return: may a thread be in one of these exits? No list that threads find has them. */
static bool is_any_in_use(const struct gkh_rec *recs, bool hard)
{
	const struct dp_hook_list *list;

	for (list = unsynced; list; list = list->retired)
		if (has_any(list, recs))
			return true;
	for (list = retired; list; list = list->retired)
		if (has_any(list, recs) && dp_hook_in_use(list, hard))
			return true;
	return false;
}

/* A look at where threads are is costly, so looks become rarer. */
static void wait_for(const struct gkh_rec *list)
{
	u32 naps, look = NAPS_BEFORE_LOOK;
	bool hard;

	for (naps = 1;; naps++) {
		hard = naps == look;
		if (unsynced)
			sync_all();
		if (!is_any_in_use(list, hard))
			return;
		if (hard)
			look *= 2;
		dp_hooks_pause();
		if (naps > 4)
			usleep(NAP_US);
		dp_hooks_resume();
	}
}

/* From here on no new dispatch calls them. */
static int disarm(struct gkh_rec *list)
{
	struct gkh_rec *rec;
	int err;

	for (rec = list; rec; rec = rec->next)
		if (rec->flags & GKH_REGISTERED) {
			mark(rec, DISARM);
			note_change(dp_hook_info(rec->hook));
		}
	err = make_lists();
	unmark(list);
	if (err) {
		drop_changes();
		return err;
	}
	publish();
	deactivate_idle();
	end_changes();
	return 0;
}

static void set_all(struct gkh_rec *list, u32 clear, u32 set)
{
	for (; list; list = list->next) {
		__atomic_fetch_and(&list->flags, ~clear, __ATOMIC_ACQ_REL);
		__atomic_fetch_or(&list->flags, set, __ATOMIC_ACQ_REL);
	}
}

static void forget_all(struct gkh_rec *list)
{
	for (; list; list = list->next)
		if (list->flags & GKH_REGISTERED)
			take_out(list);
}

/* In an exit: nobody is waited for. */
static int defer(struct gkh_rec *list, bool forget)
{
	set_all(list, GKH_ARMED, forget ? DP_HOOK_DROPPED : 0);
	if (forget)
		forget_all(list);
	return GKH_DEFERRED;
}

static int disarm_all(struct gkh_rec *list, bool forget)
{
	bool inside = dp_hook_inside_any();
	int err = disarm(list);

	if (err)
		return err;
	if (inside)
		return defer(list, forget);
	set_all(list, 0, DP_HOOK_LEAVING);
	wait_for(list);
	set_all(list, GKH_ARMED | DP_HOOK_LEAVING | DP_HOOK_DROPPED, 0);
	if (forget)
		forget_all(list);
	reap();
	return 0;
}

/* Another thread is in the library, and may be stopped, or waiting for this one. */
static int defer_alone(struct gkh_rec *list, bool forget)
{
	set_all(list, GKH_ARMED, forget ? DP_HOOK_DROPPED : 0);
	__atomic_store_n(&dp_hook_disarmed, 1, __ATOMIC_RELEASE);
	return GKH_DEFERRED;
}

static int leave(struct gkh_rec *list, bool forget)
{
	struct gkh_rec *rec;
	int err = dp_hooks_begin();

	if (err == -EAGAIN && dp_hook_inside_any())
		return defer_alone(list, forget);
	if (err)
		return err;
	for (rec = list; rec && !err; rec = rec->next)
		err = check_registered(rec, forget ? DP_HOOK_DROPPED : 0);
	if (!err)
		err = disarm_all(list, forget);
	dp_hooks_end();
	if (!err)
		dp_hook_probes_go();
	return err;
}

int gkh_disarm(struct gkh_rec *list)
{
	return leave(list, false);
}

int gkh_deregister(struct gkh_rec *list)
{
	return leave(list, true);
}

static bool is_called(const struct gkh_rec *rec, const char *name)
{
	char text[32];

	if (rec->exit_name)
		return !strcmp(rec->exit_name, name);
	snprintf(text, sizeof(text), "%p", (const void *)rec);
	return !strcmp(text, name);
}

static int find_exit(const char *hook, const char *exit, struct gkh_rec **found)
{
	struct dp_hook_info *info = dp_hook_named(hook);
	struct gkh_rec *rec = info ? info->first : NULL;

	while (rec && !is_called(rec, exit))
		rec = dp_hook_order_next(rec);
	*found = rec;
	if (!info)
		return dp_fail(-ENOENT, "there is no hook %.64s", hook);
	if (!rec)
		return dp_fail(-ENOENT, "hook %.64s has no exit %.64s", hook,
			       exit);
	return rec->proc_writable ?
		       0 :
		       dp_fail(-EPERM,
			       "exit %.64s is not for others to arm: its program has not set proc_writable",
			       exit);
}

/* One record, whatever it is chained to */
static int switch_one(struct gkh_rec *rec, bool on)
{
	struct gkh_rec *next = rec->next;
	int err;

	rec->next = NULL;
	err = on ? prepare_arm(rec) : 0;
	if (!err)
		err = on ? arm(rec) : disarm_all(rec, false);
	rec->next = next;
	return err;
}

/* Return: as dp_hook_switch(); 1 the process is to be prepared first. @at: only its hook */
static int try_switch(const char *hook, const char *exit, bool on,
		      struct gkh_rec *at)
{
	struct gkh_rec *rec;
	int err = dp_hooks_begin();

	if (err)
		return err;
	err = find_exit(hook, exit, &rec);
	if (!err) {
		at->hook = rec->hook;
		err = switch_one(rec, on);
	}
	dp_hooks_end();
	return err;
}

int dp_hook_switch(const char *hook, const char *exit, bool on)
{
	struct gkh_rec at = { .next = NULL };
	int err, tries = 0;

	for (;;) {
		err = try_switch(hook, exit, on, &at);
		if (err == -EBUSY && tries++ < ARM_TRIES &&
		    dp_hook_probes_come(&at))
			continue;
		if (err != 1)
			break;
		err = dp_self_begin(true);
		if (err)
			return err;
		dp_self_end();
	}
	if (!err)
		dp_hook_probes_go();
	return err;
}

static bool is_in(const struct gkh_rec *rec, u64 start, u64 end)
{
	return (u64)rec - start < end - start ||
	       (u64)rec->exit - start < end - start;
}

static int orphan(struct gkh_rec *rec, bool deleted)
{
	struct gkh_rec *next = rec->next;
	int err;

	/* One at a time, whatever it was chained to */
	rec->next = NULL;
	err = disarm_all(rec, true);
	rec->next = next;
	if (err < 0 || !deleted)
		return err;
	rec->hook = NULL;
	rec->flags |= GKH_DELETED;
	if (rec->on_delete)
		rec->on_delete(rec);
	return err;
}

static struct gkh_rec *first_in(const struct dp_hook_info *info, u64 start,
				u64 end)
{
	struct gkh_rec *rec = info->first;

	while (rec && !is_in(rec, start, end))
		rec = dp_hook_order_next(rec);
	return rec;
}

bool dp_hook_has_exit(const struct dp_hook_info *info, u64 start, u64 end)
{
	return first_in(info, start, end);
}

int dp_hook_orphan(struct dp_hook_info *info, u64 start, u64 end, bool deleted)
{
	struct gkh_rec *rec;
	int err = 0, now;

	while ((rec = first_in(info, start, end))) {
		now = orphan(rec, deleted);
		if (now < 0)
			return now;
		err |= now;
	}
	return err;
}
