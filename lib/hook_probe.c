// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * hook_probe: hooks whose nops bear probes.
 *
 * Where the engine has a site, text is the engine's. A kprobe of ours, behind all others there, sends
 * threads on to the code of the armed hook:
 *
 *   site ─► a tool's programs ─► kprobes ─► ours, on: the hook's code
 *                                                off: the copy of the nop
 *
 * A place keeps its kprobe while its hook is active.
 *
 * Locks: the library's, then hooks. A kprobe is registered and unregistered under the first alone, so a
 * call that finds a nop taken gives its lock back, and begins anew.
 */
#include "lib/hook.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* Of places that have gone, or have one already */
static struct dp_hook_probe *dropped;
static u32 nr_probes;

static int go_on(struct kprobe *p, struct pt_regs *regs)
{
	struct dp_hook_probe *probe = (struct dp_hook_probe *)p;

	if (!__atomic_load_n(&probe->is_on, __ATOMIC_ACQUIRE))
		return 0;
	regs->ip = probe->to;
	return 1;
}

static void push(struct dp_hook_probe **list, struct dp_hook_probe *probe)
{
	probe->next = *list;
	*list = probe;
}

void dp_hook_probe_drop(struct dp_hook_probe *probe)
{
	push(&dropped, probe);
}

static struct dp_hook_place *place_at(const struct kprobe *p)
{
	struct dp_hook_info *info;
	u32 i;

	for (info = dp_hooks; info; info = info->next)
		for (i = 0; i < info->nr_places; i++)
			if (info->places[i].at == (u64)p->addr)
				return &info->places[i];
	return NULL;
}

/* One for each nop of the hook's that something else has */
static int make_for(const struct dp_hook_info *info,
		    struct dp_hook_probe **list)
{
	const struct dp_hook_place *place;
	struct dp_hook_probe *probe;
	u32 i;

	for (i = 0; i < info->nr_places; i++) {
		place = &info->places[i];
		if (place->jumps || place->probe || dp_hook_text_is_nop(place))
			continue;
		probe = calloc(1, sizeof(*probe));
		if (!probe)
			return dp_fail(-ENOMEM, "out of memory");
		probe->p.addr = (kprobe_opcode_t *)place->at;
		probe->p.pre_handler = go_on;
		probe->to = place->to;
		snprintf(probe->hook, sizeof(probe->hook), "%s",
			 info->hook->name);
		push(list, probe);
	}
	return 0;
}

static bool is_seen(const struct gkh_rec *list, const struct gkh_rec *rec)
{
	for (; list != rec; list = list->next)
		if (list->hook == rec->hook)
			return true;
	return false;
}

static int make_all(const struct gkh_rec *list, struct dp_hook_probe **probes)
{
	const struct gkh_rec *rec;
	int err = dp_hooks_begin();

	if (err)
		return err;
	for (rec = list; rec && !err; rec = rec->next)
		if (dp_hook_info(rec->hook) && !is_seen(list, rec))
			err = make_for(dp_hook_info(rec->hook), probes);
	dp_hooks_end();
	return err;
}

static int enroll(struct dp_hook_probe *probe)
{
	struct dp_request r = {
		.user = { .p = &probe->p, .kind = 'h', .own = true },
		.handlers = { .kind = DP_KIND_KPROBE,
			      .pre_needs = dp_handler_needs((void *)go_on),
			      .spares = dp_handler_spares((void *)go_on),
			      .last = true,
			      .user = (u64)&probe->p,
			      .pre = (u64)go_on,
			      .nmissed = (u64)&probe->p.nmissed },
	};
	int err = dp_probes_register(&r, 1);
	struct dp_diag why = *dp_last();

	if (!err)
		return 0;
	return dp_fail(err, "hook %s cannot be armed: %s", probe->hook,
		       why.text);
}

static void unregister(struct dp_hook_probe *list)
{
	struct dp_hook_probe *probe;

	while ((probe = list)) {
		list = probe->next;
		unregister_kprobe(&probe->p);
		free(probe);
		__atomic_fetch_sub(&nr_probes, 1, __ATOMIC_RELAXED);
	}
}

/* What is left of the parent's engine is taken out later. It does not find its text then. */
static void abandon_probes(void)
{
	u32 i;

	for (i = 0; dp_self.engine && i < dp_self.nr_users; i++)
		if (dp_self.users[i].p)
			dp_live_abandon(dp_self.engine, i);
}

static void forget_probes(struct dp_hook_info *info)
{
	struct dp_hook_place *place;
	u32 i;

	for (i = 0; i < info->nr_places; i++) {
		place = &info->places[i];
		if (!place->probe)
			continue;
		push(&dropped, place->probe);
		place->probe = NULL;
		info->nr_jumps -= place->jumps;
		place->jumps = false;
	}
}

/* A fork child has its parent's exits, and not the engine: its text is as without probes. */
static void in_child(void)
{
	struct dp_hook_info *info;

	if (!__atomic_load_n(&nr_probes, __ATOMIC_RELAXED) || dp_hooks_begin())
		return;
	abandon_probes();
	for (info = dp_hooks; info; info = info->next) {
		forget_probes(info);
		if (info->hook->active)
			dp_hook_activate(info);
	}
	dp_hooks_end();
}

static void watch_forks(void)
{
	static bool does;

	if (!does)
		pthread_atfork(NULL, NULL, in_child);
	does = true;
}

/* Under the library's lock. Return: an error, with what has been registered in @done */
static int register_all(struct dp_hook_probe **probes,
			struct dp_hook_probe **done)
{
	struct dp_hook_probe *probe;
	int err = dp_self_begin(false);

	if (err)
		return err;
	watch_forks();
	while (!err && (probe = *probes)) {
		err = enroll(probe);
		if (err)
			break;
		*probes = probe->next;
		push(done, probe);
		__atomic_fetch_add(&nr_probes, 1, __ATOMIC_RELAXED);
	}
	dp_self_end();
	return err;
}

static void settle_in(struct dp_hook_probe *list)
{
	struct dp_hook_probe *probe;
	struct dp_hook_place *place;

	while (dp_hooks_begin())
		continue;
	while ((probe = list)) {
		list = probe->next;
		place = place_at(&probe->p);
		if (place && !place->probe && !place->jumps)
			place->probe = probe;
		else
			push(&dropped, probe);
	}
	dp_hooks_end();
}

bool dp_hook_probes_come(const struct gkh_rec *list)
{
	struct dp_hook_probe *probes = NULL, *done = NULL, *probe;
	struct dp_diag diag = *dp_last();
	int err = make_all(list, &probes);

	if (!err && probes)
		err = register_all(&probes, &done);
	if (done)
		settle_in(done);
	while ((probe = probes)) {
		probes = probe->next;
		free(probe);
	}
	/* What is in the way of the probe is in the way of the hook. */
	if (err != -EBUSY)
		*dp_last() = diag;
	return !err && done;
}

static void collect(struct dp_hook_info *info, struct dp_hook_probe **list)
{
	struct dp_hook_place *place;
	u32 i;

	for (i = 0; i < info->nr_places; i++) {
		place = &info->places[i];
		if (!place->probe || place->jumps)
			continue;
		push(list, place->probe);
		place->probe = NULL;
	}
}

void dp_hook_probes_go(void)
{
	struct dp_hook_probe *list;
	struct dp_hook_info *info;

	if (!__atomic_load_n(&nr_probes, __ATOMIC_RELAXED) ||
	    dp_hook_inside_any() || dp_hooks_begin())
		return;
	list = dropped;
	dropped = NULL;
	for (info = dp_hooks; info; info = info->next)
		if (!info->hook->active)
			collect(info, &list);
	dp_hooks_end();
	unregister(list);
}
