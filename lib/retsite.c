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
#include "sym/exits.h"
#include "engine/arch/x86/flags.h"
#include "port_hit.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
	u32 patience; /* calls to be missed before it is looked again for those left */
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

#define CODE_MAX 16

bool dp_condition_of(const u8 *code, u8 len, u8 *cc)
{
	u32 i;

	for (i = 0; i + 1 < len; i++) {
		*cc = code[i] & 15;
		if ((code[i] & 0xf0) == 0x70)
			return true;
		if (code[i] == 0x0f) {
			*cc = code[i + 1] & 15;
			return (code[i + 1] & 0xf0) == 0x80;
		}
	}
	return false;
}

static bool read_condition(u64 addr, u8 len, u8 *cc)
{
	u8 code[CODE_MAX];

	memcpy(code, (const void *)addr, len);
	dp_live_originals(dp_self.engine, addr, code, len);
	return dp_condition_of(code, len, cc);
}

static int fill_exit(struct exit *e, struct dp_retsites *sites,
		     const struct dp_exit *exit)
{
	*e = (struct exit){ .kp.addr = (kprobe_opcode_t *)exit->addr,
			    .kp.pre_handler = on_exit_site,
			    .kp.flags = sites->rp->kp.flags &
					KPROBE_FLAG_DISABLED,
			    .sites = sites,
			    .tail = exit->kind == DP_EXIT_TAIL,
			    .conditional = exit->conditional };
	if (e->conditional && !read_condition(exit->addr, exit->len, &e->cc))
		return dp_diag_set(
			dp_last(), -EOPNOTSUPP,
			"the function is left by a branch at 0x%llx that counts",
			(unsigned long long)exit->addr);
	return 0;
}

static int fill(struct dp_retsites *sites, const struct dp_exit_list *list)
{
	int err = 0;
	u32 i;

	sites->all[0] = &sites->rp->kp;
	for (i = 0; i < list->n && !err; i++) {
		err = fill_exit(&sites->exits[i], sites, &list->v[i]);
		sites->all[i + 1] = &sites->exits[i].kp;
	}
	return err;
}

static int make(struct kretprobe *rp, struct dp_follow *follow,
		const struct dp_exit_list *list, struct dp_retsites **to)
{
	struct dp_retsites *sites =
		calloc(1, sizeof(*sites) + list->n * sizeof(sites->exits[0]));
	int err;

	if (sites)
		sites->all = calloc(list->n + 1, sizeof(sites->all[0]));
	if (!sites || !sites->all) {
		free(sites);
		return dp_diag_set(dp_last(), -ENOMEM, "out of memory");
	}
	sites->rp = rp;
	sites->follow = follow;
	sites->nr_exits = (u32)list->n;
	err = fill(sites, list);
	if (err)
		dp_retsites_free(sites);
	else
		*to = sites;
	return err;
}

int dp_retsites_make(struct dp_exit_reader *reader, struct kretprobe *rp,
		     struct dp_follow *follow, u64 addr,
		     struct dp_retsites **sites)
{
	const struct dp_module *m =
		dp_module_at(dp_symbol_map_modules(dp_self.symbols), addr);
	struct dp_exit_list list = { 0 };
	const char *why = "it belongs to no file";
	int err = m ? dp_exit_reader_open(
			      reader, dp_symbol_map_modules(dp_self.symbols), m,
			      dp_last()) :
		      -EOPNOTSUPP;

	if (!err)
		err = dp_exits_find(reader->exits, addr, &list, &why);
	if (err)
		return dp_diag_set(
			dp_last(), err == -ENOENT ? -EINVAL : err,
			"where the function at 0x%llx is left is not known: %s",
			(unsigned long long)addr, why);
	err = make(rp, follow, &list, sites);
	dp_exits_free(&list);
	return err;
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
