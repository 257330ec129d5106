// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * kretprobe: return probes in this process.
 *
 * Instances are made only when the probe is registered. An instance whose call has not
 * returned when the probe is unregistered keeps the pool. A later call of the library
 * frees the pool.
 */
#define DP_NO_MODULE_NOTE
#include "lib/frames.h"
#include "lib/landing.h"
#include "lib/self.h"
#include "resolve/exits.h"
#include "sym/list.h"
#include "sym/never.h"
#include "engine/layout/instance.h"
#include "engine/layout/site.h"
#include "engine/site/live.h"
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "resolve/symbol.h"
#include "sym/sym.h"

#define LEAST_INSTANCES 10
#define MOST_INSTANCES ((int)DP_FRAMES_MOST)
#define QUICK_DATA 64 /* bytes to clear for each call, at most */
#define ALIGN 64 /* a cache line; threads use different instances */

_Static_assert(sizeof(struct dp_instance) ==
		       offsetof(struct kretprobe_instance, data),
	       "the engine's instance begins as the public one");
_Static_assert(offsetof(struct dp_instance, ret_addr) ==
		       offsetof(struct kretprobe_instance, ret_addr),
	       "the engine's instance begins as the public one");
_Static_assert(offsetof(struct dp_instance, task) ==
		       offsetof(struct kretprobe_instance, task),
	       "the engine's instance begins as the public one");

_Static_assert(!offsetof(struct kretprobe, kp),
	       "a list of one kind is a list of the other");

/* @left: pools of unregistered probes, to which calls may still return, and which threads may have noted
 * until dp_self_settled() is more than @settled */
struct pool {
	struct dp_instance_pool instance_pool;
	u64 settled;
	struct pool *next;
	struct kprobe *exits; /* NULL: return addresses are replaced */
};
static struct pool *left;
/* of probes that are registered; changed with the library locked, and read without */
static u32 nr_stub_pools;

/** struct tracked - a function, and how its calls are tracked
 *  @addr: 0: not known
 *  @why: why the exits are probed though KPROBE_FLAG_RET_SITES is not set; or NULL
 *  @pool: once it is made
 */
struct tracked {
	u64 addr;
	enum dp_return_way way;
	const char *name, *why;
	struct pool *pool;
};

/* Return: why the function cannot be tracked that way, or NULL. */
static const char *objection(const struct kretprobe *rp, u64 addr,
			     enum dp_return_way way, const char **name)
{
	const char *why, *module;
	u64 offset = 0;

	*name = NULL;
	if (dp_symbol_map_name(dp_self.symbols, addr, name, &offset, &module) ||
	    offset)
		*name = NULL;
	why = dp_never_tracked(*name, way);
	if (!why && rp->kp.symbol_name) {
		*name = rp->kp.symbol_name;
		why = dp_never_tracked(*name, way);
	}
	if (why)
		return why;
	switch (dp_entry_reads_return_address(
		dp_symbol_map_modules(dp_self.symbols), addr)) {
	case DP_ENTRY_IS_NONE:
		return "it is a part of a function, and nobody calls it";
	case 1:
		return way == DP_RETURN_STUB ?
			       "its code looks at its return address" :
			       NULL;
	case 0:
	case -ENOENT:
		return NULL;
	default:
		return way == DP_RETURN_STUB ?
			       "its code cannot be read, and may look at its return address" :
			       NULL;
	}
}

/* Where the return address has to stay, probe the exits instead. Exits see no exceptions,
 * so a probe with KPROBE_FLAG_UNWIND is refused. */
static const char *choose(const struct kretprobe *rp, struct tracked *f)
{
	const char *why = NULL, *other;

	f->way = DP_RETURN_SITE;
	if (!(rp->kp.flags & KPROBE_FLAG_RET_SITES)) {
		f->way = DP_RETURN_STUB;
		why = objection(rp, f->addr, DP_RETURN_STUB, &f->name);
	}
	if (f->way == DP_RETURN_STUB &&
	    (!why || rp->kp.flags & KPROBE_FLAG_UNWIND))
		return why;
	other = objection(rp, f->addr, DP_RETURN_SITE, &f->name);
	f->why = why;
	f->way = DP_RETURN_SITE;
	return why && other ? why : other;
}

static int may_be_tracked(struct kretprobe *rp, struct tracked *f)
{
	struct dp_symbol sym;
	const char *why;

	if (rp->kp.symbol_name &&
	    dp_probe_resolve(rp->kp.symbol_name, &sym, NULL))
		return 0; /* registering fails, and says why */
	if (rp->kp.offset)
		return dp_fail(
			-EINVAL,
			"a return probe belongs to the beginning of a function, and offset is %u",
			rp->kp.offset);
	f->addr = rp->kp.symbol_name ? sym.addr : (u64)rp->kp.addr;
	why = choose(rp, f);
	if (!why)
		return 0;
	return dp_fail(-EINVAL, "%s cannot have a return probe: %s",
		       f->name ? f->name : "the function", why);
}

/* After its exits are unregistered, no call returns to a pool with exits. */
static bool is_used(const struct pool *p)
{
	const struct dp_instance_pool *f = &p->instance_pool;
	u32 i;

	if (dp_self_settled() <= p->settled ||
	    dp_self_in_hand(f->pool, (u64)f->nr * f->stride))
		return true;
	if (f->exits)
		return false;
	for (i = 0; i < f->nr; i++)
		if (dp_instance_is_inside(dp_instance_at(f, i)))
			return true;
	return false;
}

static void free_pool(struct pool *p)
{
	u32 i;

	if (!p->instance_pool.exits) {
		for (i = 0; i < p->instance_pool.nr; i++)
			dp_frame_unbind(dp_instance_at(&p->instance_pool, i));
		dp_frames_release(p->instance_pool.nr);
	}
	free(p->exits);
	free((void *)p->instance_pool.pool);
	free(p);
}

static void free_abandoned(void)
{
	struct pool **link = &left, *p;

	while ((p = *link)) {
		if (is_used(p)) {
			link = &p->next;
			continue;
		}
		*link = p->next;
		free_pool(p);
	}
}

static int default_active(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int twice = cpus > 0 && cpus < MOST_INSTANCES ? 2 * (int)cpus : 2;

	return twice > LEAST_INSTANCES ? twice : LEAST_INSTANCES;
}

/* An instance's probe, pool and index never change, so an instance can be given back
 * before a call has filled it in. */
static void make_instances(const struct dp_instance_pool *f)
{
	u32 i;

	memset((void *)f->pool, 0, (u64)f->nr * f->stride);
	for (i = 0; i < f->nr; i++) {
		struct dp_instance *ri = dp_instance_at(f, i);

		ri->user = f->user;
		ri->instance_pool = (u64)f;
		ri->index = i;
		/* of no call */
		ri->frame = f->exits ? 0 : dp_frames()->table;
	}
}

static u32 touches(kretprobe_handler_t handler)
{
	return handler ? ~dp_handler_spares((void *)handler) : 0;
}

/* Return: @quick of struct dp_instance_pool. A fault_handler may change what is known of the others. */
static u8 how_quick(const struct kretprobe *rp,
		    const struct dp_instance_pool *f)
{
	u32 both;

	if (f->handler_needs || f->entry_needs || f->nr > DP_INSTANCE_SCAN ||
	    f->data_size > QUICK_DATA)
		return 0;
	both = touches(rp->entry_handler) | touches(rp->handler);
	if (rp->kp.fault_handler || both & ~DP_TOUCHES_SOME)
		return 1;
	if (both & ~DP_TOUCHES_FEW)
		return DP_QUICK_FOLLOWED_FOR_MORE;
	return f->data_size > sizeof(u64) ? DP_QUICK_FOLLOWED_WITH_DATA :
					    DP_QUICK_FOLLOWED;
}

static void make_quick(struct dp_instance_pool *f)
{
	if (f->quick >= DP_QUICK_FOLLOWED_WITH_DATA)
		f->quick_handler = f->handler;
	if (f->quick == DP_QUICK_FOLLOWED)
		f->quick_entry = f->entry;
}

static void count_stub_pools(int n)
{
	__atomic_fetch_add(&nr_stub_pools, (u32)n, __ATOMIC_RELAXED);
}

static bool has_stub_pools(void)
{
	return __atomic_load_n(&nr_stub_pools, __ATOMIC_RELAXED);
}

static struct pool *make_pool(struct kretprobe *rp, enum dp_return_way way)
{
	struct pool *p = calloc(1, sizeof(*p));
	u64 stride = (sizeof(struct dp_instance) + rp->data_size + ALIGN - 1) &
		     ~(u64)(ALIGN - 1);
	u32 n = (u32)rp->maxactive;
	char *mem = p ? aligned_alloc(ALIGN, n * stride) : NULL;

	if (!mem || (way == DP_RETURN_STUB &&
		     dp_frames_reserve(n, dp_self.base,
				       &dp_self.arena->control.pair))) {
		free(mem);
		free(p);
		return NULL;
	}
	p->instance_pool = (struct dp_instance_pool){
		.user = (u64)rp,
		.handler = (u64)rp->handler,
		.entry = (u64)rp->entry_handler,
		.nmissed = (u64)&rp->nmissed,
		.pool = (u64)mem,
		.stride = (u32)stride,
		.fast = DP_POOL_NO_ENTRY,
		.nr = n,
		.data_size = (u32)rp->data_size,
		.handler_needs = dp_handler_needs((void *)rp->handler),
		.entry_needs = dp_handler_needs((void *)rp->entry_handler),
		.unwind = !!(rp->kp.flags & KPROBE_FLAG_UNWIND),
		.exits = way == DP_RETURN_SITE,
	};
	_Static_assert(sizeof(struct dp_instance) % ALIGN,
		       "the first word of data is in the stride");
	p->instance_pool.quick = how_quick(rp, &p->instance_pool);
	make_quick(&p->instance_pool);
	make_instances(&p->instance_pool);
	count_stub_pools(way == DP_RETURN_STUB);
	return p;
}

static int check_numbers(struct kretprobe *rp)
{
	if (rp->maxactive <= 0)
		rp->maxactive = default_active();
	if (rp->maxactive > MOST_INSTANCES || rp->data_size > (1u << 20))
		return dp_fail(-EINVAL, "maxactive is %d and data_size %zu",
			       rp->maxactive, rp->data_size);
	return 0;
}

struct requests {
	struct dp_request *v;
	size_t n, room;
};

/* In a function that is a single ret, the entry's handler comes before the exit's. */
static int ask_for(struct requests *list, struct kprobe *p,
		   const struct pool *pool, enum dp_kind kind, u32 way)
{
	bool entry = kind != DP_KIND_EXIT;
	const struct dp_request r = {
		.user = { .p = p, .kind = 'r', .hidden = !entry },
		.entry = entry,
		.handlers = { .kind = (u8)kind,
			      .first = entry,
			      .way = way,
			      .user = (u64)p,
			      .fault = (u64)p->fault_handler,
			      .nmissed = (u64)&p->nmissed,
			      .instance_pool = (u64)&pool->instance_pool },
	};

	return dp_list_push(list, &r) ? dp_fail(-ENOMEM, "out of memory") : 0;
}

static int ask_for_exits(struct requests *list, const struct kretprobe *rp,
			 struct pool *pool, const struct dp_exit_list *exits)
{
	struct kprobe *kp = calloc(exits->n + 1, sizeof(*kp));
	int err = kp ? 0 : dp_fail(-ENOMEM, "out of memory");
	size_t i;

	pool->exits = kp;
	for (i = 0; i < exits->n && !err; i++, kp++) {
		kp->addr = (kprobe_opcode_t *)exits->v[i].addr;
		kp->flags = rp->kp.flags & KPROBE_FLAG_DISABLED;
		err = ask_for(list, kp, pool, DP_KIND_EXIT,
			      dp_exit_way(&exits->v[i]));
	}
	return err;
}

static int find_exits(struct requests *list, const struct kretprobe *rp,
		      const struct tracked *f, struct dp_exit_reader *reader)
{
	struct dp_exit_list exits = { 0 };
	char words[DP_DIAG_MAX];
	int err = dp_exits_track(reader, dp_symbol_map_modules(dp_self.symbols),
				 f->addr, &exits, dp_last());

	if (!err) {
		err = ask_for_exits(list, rp, f->pool, &exits);
		dp_exits_free(&exits);
		return err;
	}
	if (!f->why || err == -ENOMEM)
		return err;
	snprintf(words, sizeof(words), "%s", dp_last()->text);
	return dp_fail(-EINVAL, "%s cannot have a return probe: %s, and %s",
		       f->name ? f->name : "the function", f->why, words);
}

/* All checks that need no exits of the function. */
static int look_at(struct kretprobe *rp, struct tracked *f)
{
	u32 index;
	int err;

	*f = (struct tracked){ .way = DP_RETURN_STUB };
	if (dp_probe_index(&rp->kp, &index))
		return dp_fail(-EINVAL, "the probe is registered already");
	err = may_be_tracked(rp, f);
	return err ? err : check_numbers(rp);
}

static int prepare(struct requests *list, struct kretprobe *rp,
		   struct tracked *f, struct dp_exit_reader *reader)
{
	/* Without an address, registering fails and says why. */
	bool exits = f->way == DP_RETURN_SITE && f->addr;
	int err;

	f->pool = make_pool(rp, f->way);
	if (!f->pool)
		return dp_fail(-ENOMEM, "there is no memory for %d instances",
			       rp->maxactive);
	rp->nmissed = 0;
	err = ask_for(list, &rp->kp, f->pool,
		      exits ? DP_KIND_ENTER : DP_KIND_RETURN, 0);
	return err || !exits ? err : find_exits(list, rp, f, reader);
}

void dp_pools_anew(void)
{
	__atomic_store_n(&nr_stub_pools, 0, __ATOMIC_RELAXED);
}

void dp_pool_leave(struct dp_instance_pool *instance_pool)
{
	struct pool *p = (struct pool *)instance_pool;

	p->settled = dp_self_settled();
	count_stub_pools(-!instance_pool->exits);
	p->next = left;
	left = p;
}

static int register_all(struct kretprobe **rps, int num)
{
	struct tracked *f = calloc((size_t)num, sizeof(*f));
	struct dp_exit_reader *reader = dp_symbol_map_exits(dp_self.symbols);
	struct requests list = { 0 };
	int err = 0, i;

	if (!f)
		return dp_fail(-ENOMEM, "out of memory");
	/* Refuse a probe before the code of all modules is read. */
	for (i = 0; i < num && !err; i++)
		err = look_at(rps[i], &f[i]);
	for (i = 0; i < num && !err; i++)
		err = prepare(&list, rps[i], &f[i], reader);
	dp_exit_reader_rest(reader);
	if (!err)
		err = dp_probes_register(list.v, (u32)list.n);
	if (!err && has_stub_pools())
		dp_landings_add();
	for (i = 0; err && i < num; i++)
		if (f[i].pool)
			dp_pool_leave(&f[i].pool->instance_pool);
	free_abandoned();
	free(list.v);
	free(f);
	return err;
}

int register_kretprobes(struct kretprobe **rps, int num)
{
	int err = dp_self_begin(true);

	if (err)
		return err;
	free_abandoned();
	err = dp_probes_check((void **)rps, num);
	if (!err)
		err = register_all(rps, num);
	dp_self_end();
	return err;
}

void unregister_kretprobes(struct kretprobe **rps, int num)
{
	/* A struct kretprobe begins with its struct kprobe. */
	unregister_kprobes((struct kprobe **)rps, num);
	if (has_stub_pools() || !dp_landings_there() || dp_self_begin(false))
		return;
	if (!has_stub_pools())
		dp_landings_rest();
	dp_self_end();
}

DP_SINGLES(kretprobe)

int dp_kretprobe_jumped(const struct kretprobe_instance *ri)
{
	const struct dp_instance *mine = (const void *)ri;

	return mine->ending == DP_CALL_TAIL_CALLED;
}

int dp_kretprobe_unwound(const struct kretprobe_instance *ri)
{
	const struct dp_instance *mine = (const void *)ri;

	return mine->ending == DP_CALL_UNWOUND;
}

/* An abandoned instance is given back when its thread meets it again. Until then only
 * the stack tells. */
static bool is_abandoned(const struct dp_instance_pool *f,
			 const struct dp_instance *ri)
{
	return f->exits ? dp_frame_home(ri->frame) != ri->ret_addr :
			  !dp_frame_is_there((void *)ri->frame);
}

static void add_up(const struct dp_instance_pool *f,
		   const struct dp_instance *ri, struct dp_kretprobe_account *a)
{
	a->entries += dp_instance_entered(ri);
	a->returned += dp_instance_ended(ri, DP_CALL_RETURNED);
	a->unwound += dp_instance_ended(ri, DP_CALL_UNWOUND);
	a->abandoned += dp_instance_ended(ri, DP_CALL_ABANDONED);
	a->vetoed += dp_instance_ended(ri, DP_CALL_VETOED);
	/* Not before the entry handler has accepted the call. */
	if (!dp_instance_is_inside(ri))
		return;
	if (is_abandoned(f, ri))
		a->abandoned++;
	else
		a->inside++;
}

int dp_kretprobe_account(const struct kretprobe *rp,
			 struct dp_kretprobe_account *account)
{
	const struct dp_instance_pool *f;
	u32 index, i;
	int err = dp_self_begin_look();

	if (err)
		return err == -ESRCH ? -EINVAL : err;
	*account = (struct dp_kretprobe_account){ .late = dp_frames()->late };
	if (!rp || !dp_probe_index(&rp->kp, &index) ||
	    dp_self.users[index].kind != 'r') {
		err = dp_fail(-EINVAL, "the probe is not registered");
	} else {
		f = (void *)dp_live_handlers(dp_self.engine, index)
			    ->instance_pool;
		account->missed = (unsigned int)rp->nmissed;
		for (i = 0; i < f->nr; i++)
			add_up(f, dp_instance_at(f, i), account);
	}
	dp_self_end();
	return err;
}
