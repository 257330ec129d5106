// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * probes: the table of probes: each is added, moved when its code comes, turned, and forgotten.
 *
 * A client's probe is off until its commit: engine and kernel know of it, and no byte is written for it.
 *
 * Locks: functions of client.h take dp_kmod's; those of table.h, and the last ones of session.h, need it.
 */
#include "kmod/shared.h"
#include "engine/insn/region.h"
#include "engine/layout/site.h"
#include "engine/site/enable.h"
#include "engine/site/engine.h"
#include "engine/site/live.h"
#include "engine/site/reach.h"
#include "kmod/calls.h"
#include "kmod/later.h"
#include "kmod/mapped.h"
#include "kmod/safe.h"
#include "kmod/watches.h"
#include "port/kernel/text.h"
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

static const struct dp_handlers none = { .kind = DP_KIND_PLAIN };

/* All of the engine's reach: the function's bytes from the kernel, without our own patches */
static void allow_jump(u32 probe, u64 addr, const struct dp_function *f)
{
	struct dp_reach reach = { .start = f->start };
	u8 *code = kvmalloc(f->size, GFP_KERNEL);

	if (!code)
		return;
	if (!dp_kernel_text()->ops->read(dp_kernel_text(), f->start, code,
					 f->size)) {
		dp_engine_originals(dp_kmod.engine, f->start, code, f->size);
		reach.code = code;
		reach.size = reach.function = f->size;
		reach.room = f->room;
		dp_engine_allow_jump(dp_kmod.engine, probe, &reach);
	}
	kvfree(code);
}

static int add_to(const struct dp_function *f, u64 addr,
		  const struct dp_handlers *h, bool enabled, u32 *probe,
		  const char **why)
{
	u8 code[DP_REGION_MAX + DP_INSN_MAX] = { 0 };
	struct dp_found found = { .code = code };
	int err;

	found.size = min_t(u64, sizeof(code), f->start + f->size - addr);
	err = dp_kernel_text()->ops->read(dp_kernel_text(), addr, code,
					  found.size);
	if (err)
		return err;
	dp_engine_originals(dp_kmod.engine, addr, code, found.size);
	err = dp_live_add(dp_kmod.engine, addr, &found, h, enabled, probe, why);
	if (!err && dp_kmod.arming != DP_KMOD_TRAP)
		allow_jump(*probe, addr, f);
	return err;
}

static void enter_probe(u32 probe, struct dp_client *c, u64 addr)
{
	dp_kmod.probes[probe] = (struct dp_kmod_probe){
		.used = true, .client = c, .on = true, .addr = addr
	};
	dp_kmod.nr_used++;
	dp_kmod.handlers += !c;
}

/* Return: 0; -ENOENT it is no client; -ENOSPC the table is full. */
static int check(const struct dp_client *c)
{
	return c && !c->begun			 ? -ENOENT :
	       dp_kmod.nr_used == DP_KMOD_PROBES ? -ENOSPC :
						   0;
}

/* Its module may go from here on, and says so before: modules.c. */
static int add_any(struct dp_client *c, u64 *addr, const struct dp_handlers *h,
		   bool enabled, u32 *probe, const char **why)
{
	struct dp_function f;
	int err = check(c) ?: dp_safe_probe(dp_kmod.engine, addr, &f, why);

	if (err)
		return err;
	err = add_to(&f, *addr, h, enabled, probe, why);
	module_put(f.module);
	if (!err)
		enter_probe(*probe, c, *addr);
	return err;
}

int dp_kmod_add_handlers(u64 *addr, const struct dp_handlers *h, bool enabled,
			 u32 *probe, const char **why)
{
	return add_any(NULL, addr, h, enabled, probe, why);
}

int dp_kmod_put_data(struct dp_client *c, const struct dp_data *d,
		     const struct dp_handlers *h, u32 *probe, const char **why)
{
	const u8 kind = d->reads ? DP_SITE_ACCESSED : DP_SITE_WRITTEN;
	struct dp_watch *watch;
	int err = check(c) ?: dp_watch_take(d, &watch, why);

	if (err)
		return err;
	err = dp_live_add_watch(dp_kmod.engine, d->addr, (u8)d->len, kind, h,
				probe);
	if (err) {
		dp_watch_give(watch);
		return err;
	}
	enter_probe(*probe, c, d->addr);
	dp_kmod.probes[*probe].data = true;
	dp_kmod.probes[*probe].watch = watch;
	return 0;
}

int dp_client_watch(struct dp_client *c, const struct dp_data *data, u32 *probe,
		    const char **why)
{
	*why = NULL;
	return DP_KMOD_ASK(-ENOENT,
			   dp_kmod_put_data(c, data, &none, probe, why));
}

/* No access to its data hits from here on. */
static void release_watch(u32 probe)
{
	if (!dp_kmod.probes[probe].watch)
		return;
	dp_kmod.probes[probe].hits = dp_watch_give(dp_kmod.probes[probe].watch);
	dp_kmod.probes[probe].watch = NULL;
}

int dp_kmod_put(struct dp_client *c, u64 *addr, u32 *probe, const char **why)
{
	return add_any(c, addr, &none, false, probe, why);
}

int dp_kmod_put_absent(struct dp_client *c, u32 *probe)
{
	int err = check(c) ?: dp_live_add_absent(dp_kmod.engine, false, probe);

	if (!err)
		enter_probe(*probe, c, 0);
	return err;
}

int dp_kmod_put_mapped(struct dp_client *c, u64 offset, u32 *probe)
{
	int err = check(c) ?:
			     dp_live_add_watch(dp_kmod.engine, offset, 1,
					       DP_SITE_EXECUTED, &none, probe);

	if (!err)
		enter_probe(*probe, c, 0);
	return err;
}

int dp_kmod_move(u32 probe, u64 *addr, const char **why)
{
	u8 code[DP_REGION_MAX + DP_INSN_MAX] = { 0 };
	struct dp_function f;
	size_t size;
	int err = dp_safe_probe(dp_kmod.engine, addr, &f, why);

	if (err)
		return err;
	size = min_t(u64, sizeof(code), f.start + f.size - *addr);
	err = dp_kernel_text()->ops->read(dp_kernel_text(), *addr, code, size);
	if (!err) {
		dp_engine_originals(dp_kmod.engine, *addr, code, size);
		err = dp_engine_move(dp_kmod.engine, probe, *addr, code, size,
				     why);
	}
	if (!err && dp_kmod.arming != DP_KMOD_TRAP)
		allow_jump(probe, *addr, &f);
	module_put(f.module);
	return err;
}

int dp_kmod_take_out(const u32 *list, u32 n, bool (*goes)(void *arg, u64 addr),
		     void *arg)
{
	int err;
	u32 i;

	for (i = 0; i < n; i++)
		release_watch(list[i]);
	dp_kmod.leaving = goes;
	dp_kmod.leaving_arg = arg;
	err = dp_live_remove(dp_kmod.engine, dp_kernel_text(), list, n);
	dp_kmod.leaving = NULL;
	return err;
}

struct dp_kmod_probe *dp_kmod_probe(u32 probe)
{
	return probe < DP_KMOD_PROBES && dp_kmod.probes[probe].used ?
		       &dp_kmod.probes[probe] :
		       NULL;
}

static enum dp_kmod_state state_of(u32 probe)
{
	const struct dp_kmod_probe *p = dp_kmod_probe(probe);

	return p ? p->state : DP_KMOD_GONE;
}

enum dp_kmod_state dp_kmod_state(u32 probe)
{
	return DP_KMOD_ASK(DP_KMOD_GONE, state_of(probe));
}

int dp_client_add(struct dp_client *c, u64 *addr, u32 *probe, const char **why)
{
	*why = NULL;
	return DP_KMOD_ASK(-ENOENT, dp_kmod_put(c, addr, probe, why));
}

static u8 opcode(u64 addr)
{
	u8 byte = 0;

	if (dp_kernel_text()->ops->read(dp_kernel_text(), addr, &byte, 1))
		return 0;
	dp_engine_originals(dp_kmod.engine, addr, &byte, 1);
	return byte;
}

u8 dp_kmod_opcode(u64 addr)
{
	return DP_KMOD_ASK((u8)0, opcode(addr));
}

u64 dp_kmod_symbol(const char *name)
{
	return dp_safe_symbol(name);
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_symbol, DPROBES);

static struct dp_kmod_probe *own(const struct dp_client *c, u32 probe)
{
	struct dp_kmod_probe *p = dp_kmod_probe(probe);

	return p && p->client == c ? p : NULL;
}

void dp_client_turn(struct dp_client *c, u32 probe, bool on)
{
	struct dp_kmod_probe *p;

	mutex_lock(&dp_kmod.lock);
	p = own(c, probe);
	if (p)
		p->on = on;
	mutex_unlock(&dp_kmod.lock);
}

int dp_client_remove(struct dp_client *c, u32 probe)
{
	struct dp_kmod_probe *p;

	mutex_lock(&dp_kmod.lock);
	p = own(c, probe);
	if (p)
		p->goes = true;
	mutex_unlock(&dp_kmod.lock);
	return p ? 0 : -EINVAL;
}

static void clear(struct dp_kmod_probe *p)
{
	dp_calls_leave(p->calls);
	dp_mapped_free(p->mapped);
	kfree(p->name);
	kfree(p->label);
	memset(p, 0, sizeof(*p));
}

/* Probes that nobody hits any more: their numbers are others'. */
static void forget(const u32 *list, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		dp_live_forget(dp_kmod.engine, list[i]);
		dp_kmod.handlers -= !dp_kmod.probes[list[i]].client;
		clear(&dp_kmod.probes[list[i]]);
	}
	dp_kmod.nr_used -= n;
}

int dp_kmod_remove(const u32 *list, u32 n)
{
	int err;
	u32 i;

	for (i = 0; i < n; i++)
		release_watch(list[i]);
	err = dp_live_remove(dp_kmod.engine, dp_kernel_text(), list, n);
	synchronize_rcu();
	/* While their numbers are theirs */
	dp_kmod_deliver();
	forget(list, n);
	if (err)
		dp_later_restore();
	return err;
}
