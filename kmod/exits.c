// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * exits: return probes of other modules.
 *
 *     a pre_handler at the entry ─► an instance, entry_handler ─► the return address becomes its stub's
 *     ret ─► stub ─► port/kernel/returned.c ─► handler ─► the instance is free
 *
 * Instances are made when the probe is registered: calls.h.
 */
#include "kmod/exits.h"
#include "kmod/calls.h"
#include "kmod/safe.h"
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

/** struct instance - a call that may be followed; the public part is the last one */
struct instance {
	struct dp_followed followed;
	struct dp_kretprobe_instance ri;
};

static struct instance *instance_of(struct dp_kernel_call *call)
{
	return container_of(call, struct instance, followed.call);
}

static void missed(struct dp_kernel_call *call)
{
	struct instance *inst = instance_of(call);

	__atomic_fetch_add(&inst->ri.rp->kp.nmissed, 1, __ATOMIC_RELAXED);
}

static void returned(struct dp_kernel_call *call, struct dp_regs *regs)
{
	struct instance *inst = instance_of(call);

	inst->ri.rp->handler(&inst->ri, (struct pt_regs *)regs);
}

/* Of one that is registered; hits know no other. */
static struct dp_calls *calls_of(const struct dp_kretprobe *rp)
{
	return (struct dp_calls *)rp->dp_pool;
}

/* At the function's entry, where the stack pointer is the slot of the return address */
static int entered(struct dp_kprobe *p, struct pt_regs *regs)
{
	struct dp_kretprobe *rp = container_of(p, struct dp_kretprobe, kp);
	struct dp_followed *f = dp_followed_take(&calls_of(rp)->pool);
	unsigned long *slot = (unsigned long *)regs->sp;
	struct instance *inst;

	if (!f) {
		__atomic_fetch_add(&rp->nmissed, 1, __ATOMIC_RELAXED);
		return 0;
	}
	inst = instance_of(&f->call);
	inst->ri.task = f->task;
	inst->ri.ret_addr = (dp_kprobe_opcode_t *)dp_kernel_home(*slot);
	if (rp->entry_handler && rp->entry_handler(&inst->ri, regs))
		dp_followed_give(f);
	else
		dp_followed_begin(f, slot);
	return 0;
}

static void fill(struct dp_followed *f, const void *user)
{
	const struct dp_kretprobe *rp = user;
	struct instance *inst = instance_of(&f->call);

	f->call.handler = rp->handler ? returned : NULL;
	f->call.missed = missed;
	inst->ri.rp = (struct dp_kretprobe *)rp;
}

static int make_pool(struct dp_kretprobe *rp)
{
	u32 room = sizeof(struct instance) - sizeof(struct dp_followed) +
		   rp->data_size;
	struct dp_calls *calls = dp_calls_make(
		rp, rp->maxactive > 0 ? rp->maxactive : 0, room, fill);

	if (!calls)
		return -ENOMEM;
	rp->dp_pool = (struct dp_kretprobe_pool *)calls;
	rp->maxactive = (int)calls->pool.n;
	rp->nmissed = 0;
	rp->kp.pre_handler = entered;
	rp->kp.post_handler = NULL;
	return 0;
}

static bool is_registered(const struct dp_kretprobe *rp)
{
	return dp_calls_of(rp);
}

bool dp_exits_own(const struct dp_kprobe *p)
{
	return p->pre_handler == entered;
}

bool dp_exits_call(const struct dp_kprobe *p, const struct module *m)
{
	const struct dp_kretprobe *rp =
		container_of(p, struct dp_kretprobe, kp);

	return within_module((unsigned long)rp->handler, m) ||
	       within_module((unsigned long)rp->entry_handler, m);
}

/* The caller's module may go from here on. */
static void leave(struct dp_kretprobe *rp)
{
	struct dp_calls *calls = dp_calls_of(rp);

	if (!calls)
		return;
	rp->dp_pool = NULL;
	dp_calls_leave(calls);
}

void dp_exits_leave(struct dp_kprobe *p)
{
	struct dp_kretprobe *rp = container_of(p, struct dp_kretprobe, kp);

	dp_calls_silence(dp_calls_of(rp));
	synchronize_rcu();
	leave(rp);
}

/* Where a function has no return address, or others know the one that it has */
static const char *const never[] = { "__switch_to", "__switch_to_asm",
				     "ret_from_fork" };

bool dp_exits_may(u64 addr)
{
	u64 bad;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(never); i++) {
		bad = dp_safe_symbol(never[i]);
		if (bad && addr == bad)
			return false;
	}
	return true;
}

/* What makes no sense otherwise is told by who registers the entry. */
static int check(const struct dp_kretprobe *rp)
{
	const struct dp_kprobe *p = &rp->kp;
	u64 addr = (u64)p->addr;

	if ((!rp->handler && !rp->entry_handler) || is_registered(rp))
		return -EINVAL;
	if (p->symbol_name)
		addr = dp_safe_symbol(p->symbol_name);
	if (addr && !dp_exits_may(addr))
		return -EINVAL;
	return addr && dp_safe_is_inside(addr + p->offset) ? -EINVAL : 0;
}

static int make_all(struct dp_kretprobe **rps, struct dp_kprobe **kps, int num,
		    int *made)
{
	int err = 0;

	for (*made = 0; *made < num && !err; *made += !err) {
		struct dp_kretprobe *rp = rps[*made];

		err = rp ? check(rp) : -EINVAL;
		err = err ?: make_pool(rp);
		if (!err)
			kps[*made] = &rp->kp;
	}
	return err;
}

int dp_register_kretprobes(struct dp_kretprobe **rps, int num)
{
	struct dp_kprobe **kps;
	int err, made;

	if (!rps || num <= 0)
		return -EINVAL;
	kps = kvcalloc(num, sizeof(*kps), GFP_KERNEL);
	if (!kps)
		return -ENOMEM;
	err = make_all(rps, kps, num, &made);
	err = err ?: dp_register_kprobes(kps, num);
	while (err && made--)
		leave(rps[made]);
	kvfree(kps);
	return err;
}
EXPORT_SYMBOL_NS_GPL(dp_register_kretprobes, DPROBES);

/* Without memory, one by one */
static void unregister_entries(struct dp_kretprobe **rps, int num)
{
	struct dp_kprobe **kps = kvcalloc(num, sizeof(*kps), GFP_KERNEL);
	int i, n = 0;

	for (i = 0; i < num; i++)
		if (kps && rps[i])
			kps[n++] = &rps[i]->kp;
		else if (rps[i])
			dp_unregister_kprobe(&rps[i]->kp);
	if (n)
		dp_unregister_kprobes(kps, n);
	kvfree(kps);
}

void dp_unregister_kretprobes(struct dp_kretprobe **rps, int num)
{
	int i;

	if (!rps || num <= 0)
		return;
	for (i = 0; i < num; i++)
		if (rps[i])
			dp_calls_silence(dp_calls_of(rps[i]));
	unregister_entries(rps, num);
	synchronize_rcu();
	for (i = 0; i < num; i++)
		if (rps[i])
			leave(rps[i]);
}
EXPORT_SYMBOL_NS_GPL(dp_unregister_kretprobes, DPROBES);

int dp_register_kretprobe(struct dp_kretprobe *rp)
{
	return dp_register_kretprobes(&rp, 1);
}
EXPORT_SYMBOL_NS_GPL(dp_register_kretprobe, DPROBES);

void dp_unregister_kretprobe(struct dp_kretprobe *rp)
{
	dp_unregister_kretprobes(&rp, 1);
}
EXPORT_SYMBOL_NS_GPL(dp_unregister_kretprobe, DPROBES);
