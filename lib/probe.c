// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * probe: register and unregister probes of all kinds.
 *
 *   where? ─► allowed? ─► which code? ─► engine ─► armed
 *
 * A batch is armed at once or not at all. The caller's structure is never trusted: a probe
 * is registered if the table of users has it.
 */
#include "lib/self.h"
#include "lib/modules.h"
#include "resolve/allowed.h"
#include "resolve/exits.h"
#include "engine/site/instances.h"
#include "engine/site/program.h"
#include "proc/attach_other.h"
#include "sym/list.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "resolve/reach.h"

#define FEW 64

bool dp_probe_index(const struct kprobe *p, u32 *index)
{
	u64 word;

	if (!p || !dp_self.engine)
		return false;
	word = (u64)p->dp_private[0];
	if (!word || word > dp_self.nr_users || dp_self.users[word - 1].p != p)
		return false;
	*index = (u32)(word - 1);
	return true;
}

static bool has_probe(u64 addr, char kind)
{
	u32 i;
	bool more;

	for (more = dp_live_first(dp_self.engine, addr, &i); more;
	     more = dp_live_next(dp_self.engine, &i))
		if (dp_self.users[i].p && dp_self.users[i].kind == kind)
			return true;
	return false;
}

/* A jprobe and a hook's probe would each be the last. */
static bool is_beside_other(u64 addr, char kind)
{
	return (kind == 'j' && has_probe(addr, 'h')) ||
	       (kind == 'h' && has_probe(addr, 'j'));
}

int dp_probes_check(void *const *probes, int num)
{
	int i;

	if (!probes || num <= 0)
		return dp_fail(-EINVAL, "there are no probes");
	for (i = 0; i < num; i++)
		if (!probes[i])
			return dp_fail(-EINVAL, "probe %d is NULL", i);
	return 0;
}

int dp_probe_resolve(const char *name, struct dp_symbol *sym,
		     struct dp_diag *diag)
{
	int err;

	name = dp_compat_alias(name);
	err = dp_symbol_map_resolve(dp_self.symbols, name, sym, diag);
	if (err != -ENOENT || strcmp(name, DP_LOOKUP_NAME))
		return err;
	*sym = (struct dp_symbol){ .addr = (u64)dp_compat_kallsyms_lookup_name };
	dp_diag_clear(diag);
	return 0;
}

static int resolve(const struct kprobe *p, u64 *addr)
{
	struct dp_symbol sym;
	int err;

	if (p->addr && p->symbol_name)
		return dp_fail(
			-EINVAL,
			"addr and symbol_name (%s) are both set; one of them says where",
			p->symbol_name);
	if (!p->addr && !p->symbol_name)
		return dp_fail(-EINVAL, "neither addr nor symbol_name is set");
	*addr = (u64)p->addr + p->offset;
	if (!p->symbol_name)
		return 0;
	err = dp_probe_resolve(p->symbol_name, &sym, dp_last());
	*addr = sym.addr + p->offset;
	return err;
}

static int begins_function(u64 addr)
{
	const char *name = NULL, *module;
	u64 offset = 0;
	int err = dp_exits_begin(dp_symbol_map_modules(dp_self.symbols), addr,
				 dp_last());

	if (err)
		return err;
	dp_symbol_map_name(dp_self.symbols, addr, &name, &offset, &module);
	if (name && !offset && dp_symbol_is_fragment(name))
		return dp_fail(
			-EINVAL,
			"%s is a piece of a function, which is jumped to: it has no return address",
			name);
	return 0;
}

/* May the address be probed? A loader event tells when linked code goes; for an unowned
 * mapping, note its origin. */
static int look_at(struct dp_request *r, struct dp_reach_reader *g,
		   struct dp_place *at)
{
	char why[DP_WHY_MAX];
	struct dp_maps maps;
	int err;

	r->user.unowned = !dp_symbol_map_linked(dp_self.symbols, at->addr);
	err = r->user.unowned ? dp_maps_read(0, &maps) : 0;
	if (err)
		return dp_fail(err, "what is mapped at 0x%llx cannot be told",
			       (unsigned long long)at->addr);
	at->maps = r->user.unowned ? &maps : NULL;
	err = dp_allowed_check(g, at, DP_ASKER_KPROBE, why);
	if (r->user.unowned) {
		r->user.origin = dp_map_origin(at->map, at->addr);
		dp_maps_free(&maps);
	}
	return err ? dp_fail(err, "%s", why) : 0;
}

static int enter_user(u32 index, struct dp_request *r)
{
	if (dp_list_reserve(&dp_self.users, index + 1, &dp_self.user_room,
			    sizeof(*dp_self.users)))
		return -ENOMEM;
	while (dp_self.nr_users <= index)
		dp_self.users[dp_self.nr_users++] =
			(struct dp_user){ .p = NULL };
	r->user.since = dp_symbol_map_generation(dp_self.symbols);
	r->user.addr = dp_live_addr(dp_self.engine, index);
	dp_self.users[index] = r->user;
	dp_self.unowned |= r->user.unowned;
	return 0;
}

/* Return: the pool of the return probe whose entry this is, or NULL. */
static struct dp_instance_pool *instance_pool_of(u32 index)
{
	const struct dp_handlers *h = dp_live_handlers(dp_self.engine, index);

	return h->kind == DP_KIND_EXIT ? NULL : (void *)h->instance_pool;
}

/* Fill in the caller's structure, and the pool, before the first hit. */
static void introduce(struct dp_request *r, u32 index, u64 addr, u8 opcode)
{
	struct dp_instance_pool *instance_pool = instance_pool_of(index);

	r->had_addr = r->user.p->addr;
	r->user.p->nmissed = 0;
	r->user.p->opcode = opcode;
	r->user.p->addr = (kprobe_opcode_t *)addr;
	if (!instance_pool)
		return;
	instance_pool->probe = index;
	if (instance_pool->quick >= DP_QUICK_FOLLOWED_FOR_MORE)
		instance_pool->fast = dp_live_entry(dp_self.engine, index);
}

static int add(struct dp_request *r, struct dp_reach_reader *g, u32 *index)
{
	struct dp_place at = { 0 };
	struct dp_found found = { .code = at.code };
	const char *why = "";
	int err = resolve(r->user.p, &at.addr);

	r->user.disabled = r->user.p->flags & KPROBE_FLAG_DISABLED;
	if (!err && r->entry)
		err = begins_function(at.addr);
	if (!err && r->user.kind == 'j' && has_probe(at.addr, 'j'))
		err = dp_fail(-EEXIST,
			      "there is a jprobe on that function already");
	if (!err && is_beside_other(at.addr, r->user.kind))
		err = dp_fail(
			-EBUSY,
			"a hook is where a function with a jprobe begins");
	if (!err)
		err = look_at(r, g, &at);
	if (err)
		return err;
	dp_patched_add(&dp_self.arena->control, 0, at.addr);
	found.size = at.size;
	found.x87 = dp_reach_x87(g, at.addr);
	found.unowned = r->user.unowned;
	err = dp_live_add(dp_self.engine, at.addr, &found, &r->handlers,
			  !r->user.disabled, index, &why);
	if (err)
		return dp_fail(err, "0x%llx cannot be probed: %s",
			       (unsigned long long)at.addr, why);
	if (r->binding)
		dp_engine_bind(dp_self.engine, *index, r->binding);
	if (r->user.guest && r->handlers.kind != DP_KIND_PLAIN)
		dp_live_track(dp_self.engine, *index, r->group);
	dp_reach_allow_live(g, *index, at.addr);
	introduce(r, *index, at.addr, at.code[0]);
	return 0;
}

static void leave(u32 index)
{
	struct kprobe *p = dp_self.users[index].p;

	if (p) {
		p->dp_private[0] = p->dp_private[1] = NULL;
		p->flags &= ~(unsigned int)KPROBE_FLAG_OPTIMIZED;
	}
	dp_self.users[index].p = NULL;
}

/* Remove the first @n of a batch that failed. */
static void undo(const u32 *indexes, u32 n)
{
	u32 i;

	dp_live_remove(dp_self.engine, &dp_self.text.target, indexes, n);
	dp_self_settle();
	for (i = 0; i < n; i++) {
		if (indexes[i] < dp_self.nr_users)
			leave(indexes[i]);
		dp_live_forget(dp_self.engine, indexes[i]);
	}
}

static int arm(const u32 *indexes, u32 n)
{
	u32 bad = 0;
	int err = dp_live_commit(dp_self.engine, &dp_self.text.target, indexes,
				 n, &bad);

	if (!err)
		return 0;
	return dp_fail(err, "0x%llx cannot be probed: %s",
		       (unsigned long long)dp_self.users[indexes[bad]].addr,
		       dp_allowed_unarmed(err));
}

/* @added: has the engine got the probe, whatever the return value? */
static int add_one(struct dp_request *r, struct dp_reach_reader *g, u32 *index,
		   bool *added)
{
	u32 had;
	int err;

	*added = false;
	if (dp_probe_index(r->user.p, &had))
		return dp_fail(-EINVAL, "the probe is registered already");
	err = add(r, g, index);
	if (err)
		return err;
	*added = true;
	err = enter_user(*index, r);
	r->user.p->dp_private[0] = (void *)(u64)(*index + 1);
	r->user.p->dp_private[1] = NULL;
	if (r->user.hidden)
		r[-1].user.p->dp_private[1] = r->user.p;
	return err;
}

static struct dp_reach_reader begin_reading(void)
{
	return (struct dp_reach_reader){
		.mods = dp_symbol_map_modules(dp_self.symbols),
		.arming = dp_self.arming,
		.target = &dp_self.text.target,
		.engine = dp_self.engine,
		.own = dp_blacklisted,
	};
}

static int add_all(struct dp_request *requests, u32 *indexes, u32 n, u32 *done)
{
	struct dp_reach_reader g = begin_reading();
	bool added = true;
	int err = 0;

	for (*done = 0; *done < n && !err; *done += added)
		err = add_one(&requests[*done], &g, &indexes[*done], &added);
	dp_reach_reader_close(&g);
	return err;
}

/* Restore addr in the requests that were added. */
static void restore(const struct dp_request *requests, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		requests[i].user.p->addr = requests[i].had_addr;
}

int dp_probes_register(struct dp_request *requests, u32 n)
{
	u32 *indexes = calloc(n, sizeof(*indexes)), done;
	int err;

	if (!indexes)
		return dp_fail(-ENOMEM, "out of memory");
	err = add_all(requests, indexes, n, &done);
	if (!err)
		err = arm(indexes, n);
	if (err && done)
		undo(indexes, done);
	if (err)
		restore(requests, done);
	dp_flags_refresh();
	free(indexes);
	return err;
}

/* Without memory for its user a probe could not be taken out later. */
static int add_some(struct dp_request *requests, u32 *indexes, u32 n, u32 *done,
		    void (*refuse)(void *arg, u32 i, int err), void *arg)
{
	struct dp_reach_reader g = begin_reading();
	bool added = false;
	int err = 0;
	u32 i;

	for (i = *done = 0; i < n && !(added && err); i++) {
		err = add_one(&requests[i], &g, &indexes[*done], &added);
		*done += added;
		if (err)
			refuse(arg, i, err);
	}
	dp_reach_reader_close(&g);
	return added ? err : 0;
}

int dp_probes_register_each(struct dp_request *requests, u32 n,
			    void (*refuse)(void *arg, u32 i, int err),
			    void *arg)
{
	u32 *indexes = calloc(n, sizeof(*indexes)), done = 0;
	int err;

	if (!indexes)
		return dp_fail(-ENOMEM, "out of memory");
	err = add_some(requests, indexes, n, &done, refuse, arg);
	if (!err && done)
		err = arm(indexes, done);
	if (err && done)
		undo(indexes, done);
	dp_flags_refresh();
	free(indexes);
	return err;
}

int dp_probes_register_list(void **probes, int num,
			    int (*describe)(struct dp_request *r, void *probe))
{
	struct dp_request *requests;
	int err = dp_probes_check(probes, num), i;

	if (!err)
		err = dp_self_begin(true);
	if (err)
		return err;
	requests = calloc((size_t)num, sizeof(*requests));
	if (!requests)
		err = dp_fail(-ENOMEM, "out of memory");
	for (i = 0; i < num && !err; i++)
		err = describe(&requests[i], probes[i]);
	if (!err)
		err = dp_probes_register(requests, (u32)num);
	free(requests);
	dp_self_end();
	return err;
}

/* Stop the return handler now; the entry handler does not run after dp_self_settle(). */
static void silence(u32 index)
{
	struct dp_instance_pool *f = instance_pool_of(index);

	if (!f)
		return;
	__atomic_store_n(&f->quick_handler, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&f->handler, 0, __ATOMIC_RELEASE);
}

/* The number of its probe may soon be another's. */
static void close_pool(u32 index)
{
	struct dp_instance_pool *f = instance_pool_of(index);

	if (f)
		__atomic_store_n(&f->fast, DP_POOL_NO_ENTRY, __ATOMIC_RELEASE);
}

static void remove_all(const u32 *indexes, u32 n)
{
	struct dp_instance_pool *f;
	u32 i;

	dp_live_remove(dp_self.engine, &dp_self.text.target, indexes, n);
	for (i = 0; i < n; i++)
		close_pool(indexes[i]);
	dp_self_settle();
	for (i = 0; i < n; i++) {
		f = instance_pool_of(indexes[i]);
		if (f)
			dp_pool_leave(f);
		dp_live_forget(dp_self.engine, indexes[i]);
	}
}

/** struct leaving - probes that are unregistered together; @v has @room for them */
struct leaving {
	u32 few[FEW], *v, n, room;
};

static u32 count_parts(struct kprobe *const *probes, u32 n)
{
	const struct kprobe *p;
	u32 parts = 0, i;

	for (i = 0; i < n; i++)
		for (p = probes[i]; p; p = dp_probe_next(p))
			parts++;
	return parts;
}

static void take_leave(struct leaving *l, struct kprobe *p)
{
	struct kprobe *next;
	u32 index;

	for (; p; p = next) {
		next = dp_probe_next(p);
		if (!dp_probe_index(p, &index)) {
			p->addr = NULL;
			return;
		}
		silence(index);
		leave(index);
		l->v[l->n++] = index;
		if (l->n < l->room)
			continue;
		remove_all(l->v, l->n);
		l->n = 0;
	}
}

/* Without memory, unregister in parts. */
void dp_probes_unregister(struct kprobe *const *probes, u32 n)
{
	struct leaving l = { .room = count_parts(probes, n) };
	u32 i;

	l.v = l.room > FEW ? calloc(l.room, sizeof(*l.v)) : NULL;
	if (!l.v) {
		l.v = l.few;
		l.room = FEW;
	}
	for (i = 0; i < n; i++)
		take_leave(&l, probes[i]);
	if (l.n)
		remove_all(l.v, l.n);
	dp_flags_refresh();
	if (l.v != l.few)
		free(l.v);
}

/* Return: false: @p is not registered. */
static bool switch_off(struct kprobe *p)
{
	u64 word = (u64)p->dp_private[0];

	if (!dp_self.arena || !word ||
	    word > dp_self.arena->control.max_probes ||
	    !dp_live_switch_off(dp_self.engine, (u32)(word - 1), (u64)p)) {
		p->addr = NULL;
		return false;
	}
	p->dp_private[0] = p->dp_private[1] = NULL;
	return true;
}

/* Everything here is safe in any handler. */
void dp_probe_switch_off(struct kprobe *p)
{
	struct kprobe *next;

	for (; p; p = next) {
		next = dp_probe_next(p);
		if (!switch_off(p))
			return;
		__atomic_store_n(&dp_self.switched_off, true, __ATOMIC_RELEASE);
	}
}

void dp_probes_switch_off(struct kprobe *const *probes, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		dp_probe_switch_off(probes[i]);
	if (dp_self.arena)
		dp_self_settle();
}

void dp_probes_sweep(void)
{
	u32 few[FEW], n, i;

	do {
		for (n = i = 0; i < dp_self.nr_users && n < FEW; i++) {
			if (!dp_self.users[i].p ||
			    !dp_live_is_off(dp_self.engine, i))
				continue;
			dp_self.users[i].p = NULL;
			few[n++] = i;
		}
		if (n)
			remove_all(few, n);
	} while (n == FEW);
}
