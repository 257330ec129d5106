// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * kprobes: probes of other modules, with handlers in C.
 *
 *     register ─► the engine's probe, DP_KIND_KPROBE ─► hit ─► engine/hit/call.c ─► pre_handler
 *
 * The caller's structure is never trusted: a probe is registered if the table of users has it. Handlers
 * keep preemption off, so none runs when RCU has waited for those before.
 *
 * Lock: the session's, which is held from dp_kmod_enter() to dp_kmod_leave().
 */
#include "kmod/kprobes.h"
#include "engine/site/counts.h"
#include "engine/site/engine.h"
#include "engine/site/live.h"
#include "kmod/exits.h"
#include "kmod/safe.h"
#include "kmod/session.h"
#include "kmod/table.h"
#include "port/kernel/text.h"
#include <linux/export.h>
#include <linux/module.h>
#include <linux/rcupdate.h>

_Static_assert(sizeof(struct dp_regs) == sizeof(struct pt_regs),
	       "handlers see the registers as the hit half has them");

/* By number of the engine's probe */
static struct dp_kprobe *users[DP_KMOD_PROBES];
/* Of a batch; the lock is held. To take probes away needs no memory. */
static u32 batch[DP_KMOD_PROBES];

static bool number_of(const struct dp_kprobe *p, u32 *probe)
{
	u32 n = p->dp_number;

	if (!n || n > DP_KMOD_PROBES || users[n - 1] != p)
		return false;
	*probe = n - 1;
	return true;
}

static int resolve(const struct dp_kprobe *p, u64 *addr)
{
	if (!p->addr == !p->symbol_name)
		return -EINVAL;
	*addr = p->addr ? (u64)p->addr : dp_safe_symbol(p->symbol_name);
	if (!*addr)
		return -ENOENT;
	*addr += p->offset;
	return 0;
}

static struct dp_handlers handlers_of(struct dp_kprobe *p)
{
	return (struct dp_handlers){ .kind = DP_KIND_KPROBE,
				     .first = true,
				     .single = p->post_handler,
				     .why = "it has a post_handler",
				     .user = (u64)p,
				     .pre = (u64)p->pre_handler,
				     .post = (u64)p->post_handler,
				     .nmissed = (u64)&p->nmissed };
}

/* Before the first hit. */
static void introduce(struct dp_kprobe *p, u32 probe, u64 addr)
{
	u8 opcode = 0;

	dp_kernel_text()->ops->read(dp_kernel_text(), addr, &opcode, 1);
	dp_engine_originals(dp_kmod_engine(), addr, &opcode, 1);
	p->nmissed = 0;
	p->opcode = opcode;
	p->addr = (dp_kprobe_opcode_t *)addr;
	p->flags &= KPROBE_FLAG_DISABLED;
	p->dp_number = probe + 1;
	users[probe] = p;
}

/* Of one that is being added nothing is known yet. */
static bool has_jprobe(u64 addr)
{
	bool is = false, more;
	u32 i;

	for (more = dp_live_first(dp_kmod_engine(), addr, &i); more && !is;
	     more = dp_live_next(dp_kmod_engine(), &i))
		is = users[i] && dp_jprobes_own(users[i]);
	return is;
}

/* A function has one jprobe at a time. */
static int check_jprobe(const struct dp_kprobe *p, u32 probe, u64 addr)
{
	if (!dp_jprobes_own(p) || !has_jprobe(addr))
		return 0;
	dp_kmod_remove(&probe, 1);
	return -EEXIST;
}

static int add(struct dp_kprobe *p, u32 *probe)
{
	struct dp_handlers h = handlers_of(p);
	const char *why = NULL;
	u64 addr;
	int err = number_of(p, probe) ? -EINVAL : resolve(p, &addr);

	if (!err)
		err = dp_kmod_add_handlers(&addr, &h,
					   !(p->flags & KPROBE_FLAG_DISABLED),
					   probe, &why);
	err = err ?: check_jprobe(p, *probe, addr);
	if (!err)
		introduce(p, *probe, addr);
	return err;
}

static void forget(u32 probe)
{
	struct dp_kprobe *p = users[probe];

	p->dp_number = 0;
	p->flags &= ~KPROBE_FLAG_OPTIMIZED;
	users[probe] = NULL;
}

static void tell(void *unused, u32 probe)
{
	struct dp_kprobe *p = users[probe];

	if (!p)
		return;
	if (dp_live_optimized(dp_kmod_engine(), probe))
		p->flags |= KPROBE_FLAG_OPTIMIZED;
	else
		p->flags &= ~KPROBE_FLAG_OPTIMIZED;
}

void dp_kprobes_tell(void)
{
	dp_live_touched(dp_kmod_engine(), tell, NULL);
}

char dp_kprobes_kind(u32 probe, bool *on)
{
	const struct dp_kprobe *p = users[probe];

	if (!p)
		return 'k';
	*on = !(p->flags & KPROBE_FLAG_DISABLED);
	return dp_exits_own(p) ? 'r' : dp_jprobes_own(p) ? 'j' : 'k';
}

static int check_list(struct dp_kprobe *const *kps, int num)
{
	int i;

	if (!kps || num <= 0)
		return -EINVAL;
	for (i = 0; i < num; i++)
		if (!kps[i])
			return -EINVAL;
	return num > DP_KMOD_PROBES ? -ENOSPC : 0;
}

/* Those of a list that are registered. @none: there is no engine */
static u32 take_known(struct dp_kprobe **kps, int num, bool none)
{
	u32 n = 0;
	int i;

	for (i = 0; i < num; i++) {
		if (!kps[i])
			continue;
		if (none || !number_of(kps[i], &batch[n])) {
			kps[i]->addr = NULL;
			continue;
		}
		/* One may be in the list twice. */
		kps[i]->dp_number = 0;
		n++;
	}
	return n;
}

/* What was named only by its symbol is so again. */
static void undo(struct dp_kprobe **kps, u32 n)
{
	u32 i;

	if (n)
		dp_kmod_remove(batch, n);
	for (i = 0; i < n; i++) {
		forget(batch[i]);
		if (kps[i]->symbol_name)
			kps[i]->addr = NULL;
	}
}

int dp_register_kprobes(struct dp_kprobe **kps, int num)
{
	u32 done = 0, bad;
	int err = check_list(kps, num);

	err = err ?: dp_kmod_enter(true);
	if (err)
		return err;
	while (!err && done < num) {
		err = add(kps[done], &batch[done]);
		done += !err;
	}
	if (!err)
		err = dp_live_commit(dp_kmod_engine(), dp_kernel_text(), batch,
				     done, &bad);
	if (err)
		undo(kps, done);
	else
		dp_kprobes_tell();
	dp_kmod_leave();
	return err;
}
EXPORT_SYMBOL_NS_GPL(dp_register_kprobes, DPROBES);

/* @gone: is set in their flags */
static void remove(u32 n, u32 gone)
{
	u32 i;

	if (!n)
		return;
	/* Another's bytes may be over one: it calls nothing any more. */
	dp_kmod_remove(batch, n);
	dp_kprobes_tell();
	for (i = 0; i < n; i++) {
		struct dp_kprobe *p = users[batch[i]];

		p->flags |= gone;
		forget(batch[i]);
		if (gone && dp_exits_own(p))
			dp_exits_leave(p);
	}
}

/* More than are registered may be in the list, but not more often: batch[] has room for all. */
void dp_unregister_kprobes(struct dp_kprobe **kps, int num)
{
	int none;
	u32 n;

	if (!kps || num <= 0)
		return;
	none = dp_kmod_enter(false);
	n = take_known(kps, num, none);
	if (none)
		return;
	remove(n, 0);
	dp_kmod_leave();
}
EXPORT_SYMBOL_NS_GPL(dp_unregister_kprobes, DPROBES);

int dp_register_kprobe(struct dp_kprobe *p)
{
	return dp_register_kprobes(&p, 1);
}
EXPORT_SYMBOL_NS_GPL(dp_register_kprobe, DPROBES);

void dp_unregister_kprobe(struct dp_kprobe *p)
{
	dp_unregister_kprobes(&p, 1);
}
EXPORT_SYMBOL_NS_GPL(dp_unregister_kprobe, DPROBES);

/* Return: 0; an error: what was to be on is off, whatever is written later. */
static int enable(u32 probe, bool on)
{
	int err = dp_live_enable(dp_kmod_engine(), dp_kernel_text(), &probe, 1,
				 on);

	if (err && on)
		dp_live_enable(dp_kmod_engine(), dp_kernel_text(), &probe, 1,
			       false);
	return err;
}

static int turn(struct dp_kprobe *p, bool on)
{
	u32 probe;
	int err;

	if (!p || dp_kmod_enter(false))
		return -EINVAL;
	if (number_of(p, &probe) &&
	    dp_kmod_probe(probe)->state == DP_KMOD_GONE) {
		dp_kmod_leave();
		return on ? -EINVAL : 0;
	}
	err = number_of(p, &probe) ? enable(probe, on) : -EINVAL;
	if (err != -EINVAL) {
		if (on && !err)
			p->flags &= ~KPROBE_FLAG_DISABLED;
		else
			p->flags |= KPROBE_FLAG_DISABLED;
		dp_kprobes_tell();
		synchronize_rcu();
	}
	dp_kmod_leave();
	return err;
}

int dp_disable_kprobe(struct dp_kprobe *p)
{
	return turn(p, false);
}
EXPORT_SYMBOL_NS_GPL(dp_disable_kprobe, DPROBES);

int dp_enable_kprobe(struct dp_kprobe *p)
{
	return turn(p, true);
}
EXPORT_SYMBOL_NS_GPL(dp_enable_kprobe, DPROBES);

void dp_kprobes_gone(u32 probe)
{
	struct dp_kprobe *p = users[probe];

	if (!p)
		return;
	p->flags |= KPROBE_FLAG_GONE;
	p->flags &= ~KPROBE_FLAG_OPTIMIZED;
}

/* Has a probe anything that is called, or written, of the module's? A module that goes and has not
 * unregistered its own would leave handlers that are not there. */
static bool is_of(const struct dp_kprobe *p, const struct module *m)
{
	return within_module((unsigned long)p, m) ||
	       within_module((unsigned long)p->pre_handler, m) ||
	       within_module((unsigned long)p->post_handler, m) ||
	       (dp_exits_own(p) && dp_exits_call(p, m)) ||
	       dp_jprobes_call(p, m);
}

/* No thread is in its code any more, which is still there. */
void dp_kprobes_leave(const struct module *m)
{
	u32 i, n = 0;

	for (i = 0; i < DP_KMOD_PROBES; i++)
		if (users[i] && is_of(users[i], m))
			batch[n++] = i;
	remove(n, KPROBE_FLAG_GONE);
}
