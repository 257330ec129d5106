// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * retsite: return probes that leave the return address alone.
 *
 * An instance is known by its slot, the place of the return address: there the stack
 * pointer stands at the entry and again at each exit, whatever the thread. A call
 * that was left otherwise is noticed when another one is made at the same place, or
 * when instances are short and the place holds something else.
 */
#define DP_NO_MODULE_NOTE
#include "lib/retsite.h"
#include "lib/modules.h"
#include "arch/arch.h"
#include "engine/layout/instance.h"
#include "engine/layout/site.h"
#include "resolve/exits.h"
#include "port_hit.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "resolve/symbol.h"
#include "sym/exits.h"

/* @used of an instance whose call is followed. Before that it is of the thread that
 * fills it; one that is found with one's own was left in the entry handler. */
#define FOLLOWED 1

/** struct exit - one; its handler gets the kprobe */
struct exit {
	struct kprobe kp;
	struct dp_retsites *sites;
	bool tail, conditional;
	u8 cc; /* then, its condition */
};

struct dp_retsites {
	struct kretprobe *rp;
	struct dp_follow *follow;
	u32 nr_exits;
	/* calls to be missed before it is looked again for those left */
	u32 patience;
	struct kprobe **all;
	struct exit exits[];
};

/* Where its return address is. Frames are of the other kind. */
static u64 slot_of(const struct dp_instance *ri)
{
	return ri->frame;
}

bool dp_retsites_was_left(const struct dp_instance *ri)
{
	u64 now;

	return dp_port_read(&now, slot_of(ri), sizeof(now)) != sizeof(now) ||
	       now != ri->ret_addr;
}

static bool is_followed(const struct dp_instance *ri)
{
	return __atomic_load_n(&ri->used, __ATOMIC_ACQUIRE) == FOLLOWED;
}

static void end(struct dp_instance *ri, enum dp_call_end how)
{
	ri->ended[how]++;
	__atomic_store_n(&ri->used, 0, __ATOMIC_RELEASE);
}

static struct dp_instance *at_slot(const struct dp_follow *f, u64 slot)
{
	u32 i;

	for (i = 0; i < f->nr; i++) {
		struct dp_instance *ri = dp_instance_at(f, i);

		if (is_followed(ri) && slot_of(ri) == slot)
			return ri;
	}
	return NULL;
}

static struct dp_instance *take(const struct dp_follow *f)
{
	u32 i, me = dp_self_stack()->tid | DP_INSTANCE_NEW;

	for (i = 0; i < f->nr; i++) {
		struct dp_instance *ri = dp_instance_at(f, i);
		u32 was = 0;

		if (__atomic_compare_exchange_n(&ri->used, &was, me, false,
						__ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED) ||
		    was == me)
			return ri;
	}
	return NULL;
}

#define PATIENCE 16

/* Of all threads: who takes one back has it alone. Looking takes a system call each, so
 * not all of the calls of a deep recursion do it. */
static bool drop_left(struct dp_retsites *sites)
{
	const struct dp_follow *f = sites->follow;
	u32 patience = __atomic_load_n(&sites->patience, __ATOMIC_RELAXED);
	u32 i, dropped = 0, me = dp_self_stack()->tid | DP_INSTANCE_NEW;

	if (patience) {
		__atomic_compare_exchange_n(&sites->patience, &patience,
					    patience - 1, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
		return false;
	}
	for (i = 0; i < f->nr; i++) {
		struct dp_instance *ri = dp_instance_at(f, i);
		u32 followed = FOLLOWED;

		if (is_followed(ri) && dp_retsites_was_left(ri) &&
		    __atomic_compare_exchange_n(&ri->used, &followed, me, false,
						__ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED)) {
			end(ri, DP_CALL_ABANDONED);
			dropped++;
		}
	}
	if (!dropped)
		__atomic_store_n(&sites->patience, PATIENCE * f->nr,
				 __ATOMIC_RELAXED);
	return dropped;
}

static struct dp_instance *take_for(struct dp_retsites *sites, u64 slot)
{
	const struct dp_follow *f = sites->follow;
	struct dp_instance *ri = at_slot(f, slot);

	if (ri)
		end(ri, DP_CALL_ABANDONED);
	ri = take(f);
	return ri || !drop_left(sites) ? ri : take(f);
}

static kretprobe_handler_t handler(u64 addr)
{
	return (kretprobe_handler_t)addr;
}

static int on_entry(struct kprobe *p, struct pt_regs *regs)
{
	struct dp_retsites *sites = dp_retsites_of((struct kretprobe *)p);
	const struct dp_follow *f = sites->follow;
	struct dp_instance *ri = take_for(sites, regs->sp);

	if (!ri) {
		__atomic_fetch_add(&sites->rp->nmissed, 1, __ATOMIC_RELAXED);
		return 0;
	}
	ri->task = (u64)dp_task_known();
	ri->frame = regs->sp;
	ri->ret_addr = *(u64 *)regs->sp;
	ri->ending = DP_CALL_RETURNED;
	memset(ri + 1, 0, f->data_size);
	if (f->entry && handler(f->entry)((void *)ri, regs)) {
		end(ri, DP_CALL_VETOED);
		return 0;
	}
	ri->entered++;
	__atomic_store_n(&ri->used, FOLLOWED, __ATOMIC_RELEASE);
	return 0;
}

/* The handler sees the registers of the return, and what it makes of them is in
 * force, but for where it goes. */
static void call_handler(const struct dp_follow *f, struct dp_instance *ri,
			 struct pt_regs *regs)
{
	u64 to = __atomic_load_n(&f->handler, __ATOMIC_ACQUIRE);
	unsigned long ip = regs->ip, sp = regs->sp;

	if (!to)
		return;
	regs->ip = ri->ret_addr;
	regs->sp += sizeof(u64);
	handler(to)((void *)ri, regs);
	regs->ip = ip;
	regs->sp = sp;
}

static int on_exit_site(struct kprobe *p, struct pt_regs *regs)
{
	const struct exit *e = (const struct exit *)p;
	const struct dp_follow *f = e->sites->follow;
	struct dp_instance *ri;

	if (e->conditional && !dp_condition(e->cc, regs->flags))
		return 0;
	/* None is there of a call that was entered before, or not followed. */
	ri = at_slot(f, regs->sp);
	if (!ri)
		return 0;
	ri->ending = e->tail ? DP_CALL_JUMPED : DP_CALL_RETURNED;
	call_handler(f, ri, regs);
	end(ri, DP_CALL_RETURNED);
	return 0;
}

/* --- control --- */

static void fill_exit(struct exit *e, struct dp_retsites *sites,
		      const struct dp_exit *exit)
{
	*e = (struct exit){ .kp.addr = (kprobe_opcode_t *)exit->addr,
			    .kp.pre_handler = on_exit_site,
			    .kp.flags = sites->rp->kp.flags &
					KPROBE_FLAG_DISABLED,
			    .sites = sites,
			    .tail = exit->kind == DP_EXIT_TAIL,
			    .conditional = exit->conditional,
			    .cc = exit->cc };
}

static struct dp_retsites *make(struct kretprobe *rp, struct dp_follow *follow,
				const struct dp_exit_list *list)
{
	struct dp_retsites *sites =
		calloc(1, sizeof(*sites) + list->n * sizeof(sites->exits[0]));
	u32 i;

	if (sites)
		sites->all = calloc(list->n + 1, sizeof(sites->all[0]));
	if (!sites || !sites->all) {
		free(sites);
		return NULL;
	}
	sites->rp = rp;
	sites->follow = follow;
	sites->nr_exits = (u32)list->n;
	sites->all[0] = &rp->kp;
	for (i = 0; i < list->n; i++) {
		fill_exit(&sites->exits[i], sites, &list->v[i]);
		sites->all[i + 1] = &sites->exits[i].kp;
	}
	return sites;
}

int dp_retsites_make(struct dp_exit_reader *reader, struct kretprobe *rp,
		     struct dp_follow *follow, u64 addr,
		     struct dp_retsites **sites)
{
	struct dp_exit_list list = { 0 };
	int err = dp_exits_follow(reader,
				  dp_symbol_map_modules(dp_self.symbols), addr,
				  &list, dp_last());

	if (err)
		return err;
	*sites = make(rp, follow, &list);
	dp_exits_free(&list);
	return *sites ? 0 : dp_diag_set(dp_last(), -ENOMEM, "out of memory");
}

void dp_retsites_free(struct dp_retsites *sites)
{
	free(sites->all);
	free(sites);
}

u32 dp_retsites_count(const struct dp_retsites *sites)
{
	return sites->nr_exits + 1;
}

static struct dp_request request(struct kprobe *p, u64 user,
				 kprobe_pre_handler_t pre, bool entry)
{
	return (struct dp_request){
		.p = p,
		.kind = 'r',
		.entry = entry,
		.hidden = !entry,
		/* Of a function that is one ret, the entry comes first. */
		.handlers = { .kind = DP_KIND_KPROBE,
			      .first = entry,
			      .pre_needs = dp_handler_needs((void *)pre),
			      .user = user,
			      .pre = (u64)pre,
			      .fault = (u64)p->fault_handler,
			      .nmissed = (u64)&p->nmissed },
	};
}

void dp_retsites_describe(struct dp_retsites *sites,
			  struct dp_request *requests)
{
	u32 i;

	sites->rp->dp_private[0] = sites;
	requests[0] = request(&sites->rp->kp, (u64)sites->rp, on_entry, true);
	for (i = 0; i < sites->nr_exits; i++)
		requests[i + 1] = request(&sites->exits[i].kp,
					  (u64)&sites->exits[i], on_exit_site,
					  false);
}

struct kprobe **dp_retsites_kprobes(struct dp_retsites *sites)
{
	return sites->all;
}

struct dp_retsites *dp_retsites_of(const struct kretprobe *rp)
{
	return rp->dp_private[0];
}
