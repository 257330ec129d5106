// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * session: the kernel's probes: one engine on the kernel's text.
 *
 * Locks: sessions, and below it what the kernel takes to write text.
 */
#include "kmod/session.h"
#include "engine/layout/arena.h"
#include "engine/layout/instance.h"
#include "engine/insn/region.h"
#include "engine/plan/plan.h"
#include "engine/site/arm.h"
#include "engine/site/counts.h"
#include "engine/site/enable.h"
#include "engine/site/engine.h"
#include "engine/site/live.h"
#include "engine/site/program.h"
#include "engine/site/reach.h"
#include "kmod/arena.h"
#include "kmod/calls.h"
#include "kmod/kprobes.h"
#include "kmod/later.h"
#include "kmod/mapped.h"
#include "kmod/pool.h"
#include "kmod/returns.h"
#include "kmod/safe.h"
#include "kmod/table.h"
#include "kmod/watches.h"
#include "port.h"
#include "port/kernel/hit.h"
#include "port/kernel/readers.h"
#include "port/kernel/text.h"
#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

/* Sites at most; bytes of the code of all programs that a session's probes run, and their variables */
#define SITES DP_KMOD_PROBES
#define CODE (64 << 10)
#define LOCALS 1024
/* CPUs that share counters and rings with no other; bytes of all rings */
#define SHARDS 16
#define RINGS (3u << 20)
/* Jiffies for which who has taken the last probe away waits until the engine has gone */
#define PATIENCE (2 * HZ)

static DEFINE_MUTEX(sessions);
static struct dp_engine *engine;
static enum dp_kmod_arming armed;
/* How often somebody has come to use one */
static u64 uses;
/* Is there a session; how many probes are not of it, but call handlers */
static bool session;
static u32 handlers;
/* By number of the engine's probe */
static struct dp_kmod_probe probes[SITES];
static u32 nr_used;
/* The session's probes have been armed. */
static bool committed, planned;
/* By enum dp_kmod_knob: for all probes, those of later engines too */
static bool knobs[] = { true, true };
/* Where one of the kernel's own probes has come over one of ours, or would be inside of it */
static u64 over;
/* Of code that is about to go; NULL: bytes may be written anywhere */
static bool (*leaving)(void *arg, u64 addr);
static void *leaving_arg;

static u32 shards(void)
{
	return min_t(u32, roundup_pow_of_two(nr_cpu_ids), SHARDS);
}

/* @answer: of the engine; @none: of that type, where there is none */
#define ASK(none, answer)                            \
	({                                           \
		typeof(none) told_;                  \
                                                     \
		mutex_lock(&sessions);               \
		told_ = session ? (answer) : (none); \
		mutex_unlock(&sessions);             \
		told_;                               \
	})

/* Bytes of a probe that are written now, or are about to be: 0: none */
static u32 written(u32 probe, u64 addr)
{
	u8 now[DP_JUMP_SIZE], was[DP_JUMP_SIZE];

	if (dp_kernel_text()->ops->read(dp_kernel_text(), addr, now,
					sizeof(now)))
		return 0;
	memcpy(was, now, sizeof(now));
	dp_engine_originals(engine, addr, was, sizeof(was));
	if (memcmp(was, now, sizeof(now)))
		return dp_live_optimized(engine, probe) ? DP_JUMP_SIZE : 1;
	return strcmp(dp_engine_mode(engine, probe), "jump") ? 0 : DP_JUMP_SIZE;
}

/*
 * The kernel's own probes save what is there, and write it back when they go. Over one of ours that
 * would be our bytes, without what they lead to.
 */
static int find_over(void)
{
	u64 addr;
	u32 i;

	for (i = 0; i < SITES; i++) {
		addr = probes[i].used ? probes[i].addr : 0;
		if (!addr || probes[i].data ||
		    probes[i].state != DP_KMOD_THERE ||
		    (leaving && !leaving(leaving_arg, addr)) ||
		    !dp_safe_kprobe(addr, written(i, addr)))
			continue;
		over = addr;
		return -EBUSY;
	}
	return 0;
}

/* While others who write text are kept out */
static int hold(void *arg, bool unowned, int (*work)(void *what), void *what)
{
	int err;

	dp_safe_hold();
	err = find_over() ?: work(what);
	dp_safe_release();
	return err;
}

static void prepare(enum dp_kmod_arming arming)
{
	static const struct dp_expected some = {
		.sites = SITES,
		.probes = SITES,
		.programs = DP_KMOD_PROGRAMS,
		.log = DP_KMOD_LOG + sizeof(struct dp_leaving),
		.heap = DP_KMOD_HEAP,
		.code = CODE,
		.locals = LOCALS
	};

	static const enum dp_arming how[] = {
		[DP_KMOD_TRAP] = DP_ARM_TRAP,
		[DP_KMOD_JUMP] = DP_ARM_QUIESCE,
		[DP_KMOD_INTERIOR] = DP_ARM_INTERIOR,
	};

	armed = arming;
	dp_engine_set_arming(engine, how[arming]);
	dp_engine_set_uncaught(engine);
	dp_engine_set_percpu(engine, dp_kernel_percpu());
	dp_engine_set_rings(engine, RINGS / shards(), false);
	dp_engine_expect(engine, &some);
}

static int build(void)
{
	static struct dp_growth_ops growth;
	const struct dp_layout_need *need = dp_engine_layout(engine, shards());
	struct dp_mapping map = { .owner = 1, .tool = 1 };
	int err;

	if (need->arena_size > DP_KMOD_ARENA)
		return -ENOMEM;
	map.base = dp_kmod_arena_begin();
	map.file = (void *)map.base;
	map.entries.hit = (u64)dp_kernel_entry;
	map.entries.handler = (u64)dp_kernel_call_entry;
	map.near = true;
	growth = dp_kmod_pool_ops;
	growth.hold = hold;
	err = dp_engine_build(engine, &map, &growth, engine);
	if (!err)
		dp_live_set_knobs(engine, knobs[DP_KMOD_ARMED],
				  knobs[DP_KMOD_JUMPS]);
	return err;
}

static int make(enum dp_kmod_arming arming)
{
	int err = dp_engine_create(&engine);

	if (err)
		return err;
	prepare(arming);
	err = build();
	if (!err)
		err = dp_kernel_trap_begin();
	if (!err) {
		/* The caller has a function of ours, so it cannot be going. */
		__module_get(THIS_MODULE);
		return 0;
	}
	dp_engine_destroy(engine);
	engine = NULL;
	return err;
}

static bool is_idle(void)
{
	return engine && !session && !handlers;
}

/* For those who wait, which look again */
bool dp_kmod_is_idle(void)
{
	return READ_ONCE(engine) && !READ_ONCE(session) && !READ_ONCE(handlers);
}

/* One that nobody uses, and that arms otherwise, is on its way out. */
static void lock_for(enum dp_kmod_arming arming)
{
	mutex_lock(&sessions);
	if (is_idle() && arming != armed) {
		mutex_unlock(&sessions);
		dp_later_end(PATIENCE);
		mutex_lock(&sessions);
	}
	uses++;
}

int dp_kmod_begin(enum dp_kmod_arming arming)
{
	int err;

	lock_for(arming);
	/* An engine without a session is there for handlers. */
	err = session || (engine && arming != armed) ? -EBUSY : 0;
	if (!err && !engine)
		err = make(arming);
	if (!err) {
		dp_engine_set_native(engine, true, 0);
		session = true;
		committed = planned = false;
		dp_returns_most(0);
	}
	mutex_unlock(&sessions);
	return err;
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_begin, DPROBES);

int dp_kmod_enter(bool makes)
{
	int err = 0;

	if (makes)
		lock_for(DP_KMOD_JUMP);
	else
		mutex_lock(&sessions);
	if (!engine)
		err = makes ? make(DP_KMOD_JUMP) : -ENOENT;
	if (err)
		mutex_unlock(&sessions);
	return err;
}

struct dp_engine *dp_kmod_engine(void)
{
	return engine;
}

/* All of the engine's reach: the function's bytes from the kernel, without our own patches */
static void allow_jump(u32 probe, u64 addr, const struct dp_function *f)
{
	struct dp_reach reach = { .start = f->start };
	u8 *code = kvmalloc(f->size, GFP_KERNEL);

	if (!code)
		return;
	if (!dp_kernel_text()->ops->read(dp_kernel_text(), f->start, code,
					 f->size)) {
		dp_engine_originals(engine, f->start, code, f->size);
		reach.code = code;
		reach.size = reach.function = f->size;
		reach.room = f->room;
		dp_engine_allow_jump(engine, probe, &reach);
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
	dp_engine_originals(engine, addr, code, found.size);
	err = dp_live_add(engine, addr, &found, h, enabled, probe, why);
	if (!err && armed != DP_KMOD_TRAP)
		allow_jump(*probe, addr, f);
	return err;
}

static void enter_probe(u32 probe, bool of_session, u64 addr)
{
	probes[probe] = (struct dp_kmod_probe){
		.used = true, .session = of_session, .on = true, .addr = addr
	};
	nr_used++;
	handlers += !of_session;
}

/* Its module may go from here on, and says so before: modules.c. */
static int add_any(u64 *addr, const struct dp_handlers *h, bool enabled,
		   bool of_session, u32 *probe, const char **why)
{
	struct dp_function f;
	int err = nr_used == SITES ? -ENOSPC :
				     dp_safe_probe(engine, addr, &f, why);

	if (err)
		return err;
	err = add_to(&f, *addr, h, enabled, probe, why);
	module_put(f.module);
	if (!err)
		enter_probe(*probe, of_session, *addr);
	return err;
}

int dp_kmod_add_handlers(u64 *addr, const struct dp_handlers *h, bool enabled,
			 u32 *probe, const char **why)
{
	return add_any(addr, h, enabled, false, probe, why);
}

int dp_kmod_put_data(const struct dp_data *d, const struct dp_handlers *h,
		     bool of_session, u32 *probe, const char **why)
{
	const u8 kind = d->reads ? DP_SITE_ACCESSED : DP_SITE_WRITTEN;
	struct dp_watch *watch;
	int err = nr_used == SITES ? -ENOSPC : dp_watch_take(d, &watch, why);

	if (err)
		return err;
	err = dp_live_add_watch(engine, d->addr, (u8)d->len, kind, h, probe);
	if (err) {
		dp_watch_give(watch);
		return err;
	}
	enter_probe(*probe, of_session, d->addr);
	probes[*probe].data = true;
	probes[*probe].watch = watch;
	return 0;
}

static int watch(const struct dp_data *data, u32 *probe, const char **why)
{
	static const struct dp_handlers none = { .kind = DP_KIND_PLAIN };

	return dp_kmod_put_data(data, &none, true, probe, why);
}

int dp_kmod_watch(const struct dp_data *data, u32 *probe, const char **why)
{
	*why = NULL;
	return ASK(-ENOENT, watch(data, probe, why));
}

/* Of data the value that is there now is the last one that was seen. */
static void set_watch(u32 probe)
{
	struct dp_watch *w = probes[probe].watch;
	bool on = knobs[DP_KMOD_ARMED] && probes[probe].on &&
		  (committed || !probes[probe].session);

	if (on && !dp_watch_is_on(w))
		dp_engine_watch_begin(engine, probe, dp_watch_now(w));
	dp_watch_set(w, on ? (u32)dp_engine_watch_tag(engine, probe) : 0, on);
}

void dp_kmod_set_watches(void)
{
	u32 i;

	for (i = 0; i < SITES; i++)
		if (probes[i].watch)
			set_watch(i);
}

/* No access to its data hits from here on. */
static void release_watch(u32 probe)
{
	if (!probes[probe].watch)
		return;
	probes[probe].hits = dp_watch_give(probes[probe].watch);
	probes[probe].watch = NULL;
}

int dp_kmod_put(u64 *addr, u32 *probe, const char **why)
{
	static const struct dp_handlers none = { .kind = DP_KIND_PLAIN };

	return session ? add_any(addr, &none, true, true, probe, why) : -ENOENT;
}

int dp_kmod_put_absent(u32 *probe)
{
	int err = !session	   ? -ENOENT :
		  nr_used == SITES ? -ENOSPC :
				     dp_live_add_absent(engine, true, probe);

	if (!err)
		enter_probe(*probe, true, 0);
	return err;
}

int dp_kmod_put_mapped(u64 offset, u32 *probe)
{
	static const struct dp_handlers none = { .kind = DP_KIND_PLAIN };
	int err = !session ? -ENOENT :
		  nr_used == SITES ?
			     -ENOSPC :
			     dp_live_add_watch(engine, offset, 1,
					       DP_SITE_EXECUTED, &none, probe);

	if (!err)
		enter_probe(*probe, true, 0);
	return err;
}

int dp_kmod_move(u32 probe, u64 *addr, const char **why)
{
	u8 code[DP_REGION_MAX + DP_INSN_MAX] = { 0 };
	struct dp_function f;
	size_t size;
	int err = dp_safe_probe(engine, addr, &f, why);

	if (err)
		return err;
	size = min_t(u64, sizeof(code), f.start + f.size - *addr);
	err = dp_kernel_text()->ops->read(dp_kernel_text(), *addr, code, size);
	if (!err) {
		dp_engine_originals(engine, *addr, code, size);
		err = dp_engine_move(engine, probe, *addr, code, size, why);
	}
	if (!err && armed != DP_KMOD_TRAP)
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
	leaving = goes;
	leaving_arg = arg;
	err = dp_live_remove(engine, dp_kernel_text(), list, n);
	leaving = NULL;
	return err;
}

static int interpret(u32 from)
{
	if (!session || dp_engine_programs(engine))
		return -EBUSY;
	dp_engine_set_native(engine, from != 1, from);
	return 0;
}

int dp_kmod_interpret(u32 from)
{
	return ASK(-ENOENT, interpret(from));
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_interpret, DPROBES);

bool dp_kmod_native(u32 probe)
{
	return ASK(false, dp_engine_runs(engine, probe));
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_native, DPROBES);

u64 dp_kmod_met(u32 probe)
{
	return ASK((u64)0, dp_engine_met(engine, probe));
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_met, DPROBES);

struct dp_kmod_probe *dp_kmod_probe(u32 probe)
{
	return probe < SITES && probes[probe].used ? &probes[probe] : NULL;
}

static enum dp_kmod_state state_of(u32 probe)
{
	const struct dp_kmod_probe *p = dp_kmod_probe(probe);

	return p ? p->state : DP_KMOD_GONE;
}

enum dp_kmod_state dp_kmod_state(u32 probe)
{
	return ASK(DP_KMOD_GONE, state_of(probe));
}

int dp_kmod_add_at(u64 *addr, u32 *probe, const char **why)
{
	const char *reason = NULL;
	int err;

	mutex_lock(&sessions);
	err = dp_kmod_put(addr, probe, &reason);
	mutex_unlock(&sessions);
	if (why)
		*why = reason;
	return err;
}

int dp_kmod_add(u64 addr, u32 *probe, const char **why)
{
	return dp_kmod_add_at(&addr, probe, why);
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_add, DPROBES);

static u8 opcode(u64 addr)
{
	u8 byte = 0;

	if (dp_kernel_text()->ops->read(dp_kernel_text(), addr, &byte, 1))
		return 0;
	dp_engine_originals(engine, addr, &byte, 1);
	return byte;
}

u8 dp_kmod_opcode(u64 addr)
{
	return ASK((u8)0, opcode(addr));
}

u64 dp_kmod_symbol(const char *name)
{
	return dp_safe_symbol(name);
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_symbol, DPROBES);

int dp_kmod_arm(u64 *bad)
{
	int err;

	*bad = over = 0;
	err = dp_returns_make(bad);
	if (err)
		return err;
	err = dp_engine_plan(engine);
	if (!err)
		err = dp_engine_commit(engine, dp_kernel_text(), bad);
	if (!err)
		err = dp_engine_apply(engine, dp_kernel_text(), bad);
	if (!err)
		dp_kmod_set_watches();
	*bad = *bad ?: over;
	return err ?: dp_mapped_apply(knobs[DP_KMOD_ARMED]);
}

static int commit(u64 *bad)
{
	*bad = 0;
	if (!session)
		return -ENOENT;
	committed = true;
	return dp_kmod_arm(bad);
}

bool dp_kmod_is_committed(void)
{
	return session && committed;
}

bool dp_kmod_is_planning(void)
{
	return session && planned && !committed;
}

int dp_kmod_commit(u64 *bad)
{
	int err;

	mutex_lock(&sessions);
	err = commit(bad);
	mutex_unlock(&sessions);
	return err;
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_commit, DPROBES);

static int plan(void)
{
	planned = true;
	return dp_engine_plan(engine);
}

int dp_kmod_plan(void)
{
	return ASK(-ENOENT, plan());
}

bool dp_kmod_knob(enum dp_kmod_knob knob)
{
	return READ_ONCE(knobs[knob]);
}

/* To arm anything is to arm all that has a plan. */
static int set_knobs(bool armed_too, bool jumps)
{
	int err = 0;

	if (!engine)
		return 0;
	if (dp_kmod_is_planning())
		return -EBUSY;
	if (session && committed)
		err = dp_mapped_apply(armed_too);
	if (err)
		return err;
	err = dp_live_knobs(engine, dp_kernel_text(), armed_too, jumps);
	dp_kprobes_tell();
	synchronize_rcu();
	if (!err)
		return 0;
	dp_live_set_knobs(engine, knobs[DP_KMOD_ARMED], knobs[DP_KMOD_JUMPS]);
	if (session && committed)
		dp_mapped_apply(knobs[DP_KMOD_ARMED]);
	return err;
}

int dp_kmod_set_knob(enum dp_kmod_knob knob, bool on)
{
	int err;

	mutex_lock(&sessions);
	err = set_knobs(knob == DP_KMOD_ARMED ? on : knobs[DP_KMOD_ARMED],
			knob == DP_KMOD_JUMPS ? on : knobs[DP_KMOD_JUMPS]);
	if (!err)
		WRITE_ONCE(knobs[knob], on);
	if (engine)
		dp_kmod_set_watches();
	mutex_unlock(&sessions);
	return err;
}

void dp_kmod_turn(u32 probe, bool on)
{
	mutex_lock(&sessions);
	if (session && probe < SITES && probes[probe].session) {
		probes[probe].on = on;
		if (probes[probe].state == DP_KMOD_THERE)
			dp_engine_turn(engine, probe, on);
	}
	mutex_unlock(&sessions);
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_turn, DPROBES);

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
		dp_live_forget(engine, list[i]);
		handlers -= !probes[list[i]].session;
		clear(&probes[list[i]]);
	}
	nr_used -= n;
}

int dp_kmod_remove(const u32 *list, u32 n)
{
	int err;
	u32 i;

	for (i = 0; i < n; i++)
		release_watch(list[i]);
	err = dp_live_remove(engine, dp_kernel_text(), list, n);
	synchronize_rcu();
	forget(list, n);
	return err;
}

/* Nobody will read it. */
static void drop(void *arg, const struct dp_record_copy *record)
{
}

/* No CPU runs programs any more, and handlers have none. */
static void forget_programs(void)
{
	dp_engine_records(engine, drop, NULL, true);
	dp_programs_restart(engine);
}

/* Calls that are inside return without a program from here on. */
static int leave_engine(void)
{
	u32 *list = dp_port_alloc(SITES * sizeof(*list)), n = 0, i;
	int err;

	if (!list)
		return -ENOMEM;
	for (i = 0; i < SITES; i++)
		if (probes[i].used && probes[i].session)
			list[n++] = i;
	dp_returns_silence();
	err = dp_kmod_remove(list, n);
	dp_port_free(list);
	if (!err)
		forget_programs();
	return err;
}

int dp_kmod_disarm_idle(u64 *use)
{
	u64 bad = 0;
	int err = -ENOENT;

	mutex_lock(&sessions);
	*use = uses;
	if (is_idle())
		err = dp_engine_apply(engine, dp_kernel_text(), &bad);
	mutex_unlock(&sessions);
	return err;
}

/*
 * A thread may be on its way: a trap has been raised, or it was preempted in a detour or copy. Traps
 * and detours are left when every CPU has scheduled, copies when each task has, by itself.
 */
void dp_kmod_free_idle(u64 use)
{
	bool goes;

	mutex_lock(&sessions);
	goes = is_idle() && use == uses;
	if (goes) {
		dp_kernel_trap_end();
		dp_engine_destroy(engine);
		engine = NULL;
		dp_kmod_pool_reset();
	}
	mutex_unlock(&sessions);
	/* Who takes this module out waits for this function: dp_later_stop(). */
	if (goes)
		module_put(THIS_MODULE);
}

void dp_kmod_leave(void)
{
	bool idle = is_idle();

	mutex_unlock(&sessions);
	if (idle)
		dp_later_end(PATIENCE);
}

/* Others may have written over a probe: then the session stays as it is. */
static int turn_off(void)
{
	u64 bad = 0;
	u32 i;

	for (i = 0; i < SITES; i++)
		if (probes[i].used && probes[i].state == DP_KMOD_THERE)
			dp_engine_turn(engine, i, false);
	return dp_engine_apply(engine, dp_kernel_text(), &bad);
}

static int end(bool *idle)
{
	int err;

	*idle = false;
	if (!session)
		return -ENOENT;
	dp_mapped_leave();
	err = handlers ? 0 : turn_off();
	err = err ?: leave_engine();
	session &= err != 0;
	*idle = is_idle();
	return err;
}

int dp_kmod_end(void)
{
	bool idle;
	int err;

	mutex_lock(&sessions);
	err = end(&idle);
	mutex_unlock(&sessions);
	/* A task may be in a copy for long. No lock is held meanwhile. */
	if (idle)
		dp_later_end(0);
	return err;
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_end, DPROBES);

/* Of data also those that came within hits */
static u64 hits_of(u32 probe)
{
	const struct dp_kmod_probe *p = dp_kmod_probe(probe);

	return !p || !p->data ? dp_engine_hits(engine, probe) :
	       p->watch	      ? dp_watch_hits(p->watch) :
				p->hits;
}

u64 dp_kmod_data_hits(u32 probe)
{
	return hits_of(probe);
}

u64 dp_kmod_hits(u32 probe)
{
	return ASK((u64)0, hits_of(probe));
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_hits, DPROBES);

u64 dp_kmod_missed(void)
{
	return ASK((u64)0, dp_engine_of_children(engine));
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_missed, DPROBES);

u64 dp_kmod_arrivals(void)
{
	return ASK((u64)0, dp_engine_interior_arrivals(engine));
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_arrivals, DPROBES);

/* Hits go on meanwhile: they are read first. */
static u64 missed_of(u32 probe)
{
	const struct dp_kmod_probe *p = dp_kmod_probe(probe);
	u64 hits = hits_of(probe), seen = dp_engine_hits(engine, probe);

	return dp_engine_missed(engine, probe) +
	       (p && p->data && hits > seen ? hits - seen : 0);
}

u64 dp_kmod_missed_of(u32 probe)
{
	return ASK((u64)0, missed_of(probe));
}

u32 dp_kmod_sites(u32 *jumps)
{
	*jumps = (u32)ASK((size_t)0, dp_engine_jumps(engine));
	return (u32)ASK((size_t)0, dp_engine_sites(engine)) +
	       ASK(0u, dp_mapped_count());
}

static int account(u32 probe, struct dp_account *a)
{
	dp_returns_account(probe, a);
	return 0;
}

int dp_kmod_calls(u32 probe, struct dp_account *a)
{
	return ASK(-ENOENT, account(probe, a));
}

void dp_kmod_calls_most(u32 n)
{
	mutex_lock(&sessions);
	dp_returns_most(n);
	mutex_unlock(&sessions);
}

const char *dp_kmod_mode(u32 probe)
{
	return ASK((const char *)NULL, dp_engine_mode(engine, probe));
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_mode, DPROBES);

static const char *reason(u32 probe)
{
	const struct dp_kmod_probe *p = dp_kmod_probe(probe);

	if (p && p->mapped)
		return "it is in a file: the kernel's uprobes are breakpoints";
	if (!p || p->state == DP_KMOD_THERE)
		return dp_engine_reason(engine, probe);
	if (p->reason)
		return p->reason;
	return p->state == DP_KMOD_GONE ? "its module has gone" :
					  "its module is not loaded";
}

const char *dp_kmod_reason(u32 probe)
{
	return ASK((const char *)NULL, reason(probe));
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_reason, DPROBES);

int dp_kmod_add_program(const struct dp_program_spec *spec, u32 *program,
			u32 *offset, const char **why)
{
	return ASK(-ENOENT,
		   dp_engine_add_program(engine, spec, program, offset, why));
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_add_program, DPROBES);

void dp_kmod_bind(u32 probe, const struct dp_binding *binding)
{
	mutex_lock(&sessions);
	if (session) {
		dp_engine_bind(engine, probe, binding);
		dp_returns_bind(probe, binding);
	}
	mutex_unlock(&sessions);
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_bind, DPROBES);

u64 dp_kmod_local(u32 program, u32 index)
{
	return ASK((u64)0, dp_engine_local(engine, program, index));
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_local, DPROBES);

u64 dp_kmod_global(u32 index)
{
	return ASK((u64)0, dp_engine_global(engine, index));
}

static bool starts(u32 program, u32 start)
{
	struct dp_program_spec spec;
	u32 i;

	if (program >= dp_engine_programs(engine))
		return false;
	spec = dp_engine_program(engine, program);
	for (i = 0; i < spec.nr_starts; i++)
		if (spec.starts[i] == start)
			return true;
	return false;
}

bool dp_kmod_starts(u32 program, u32 start)
{
	return ASK(false, starts(program, start));
}

size_t dp_kmod_records(void (*take)(void *arg,
				    const struct dp_record_copy *record),
		       void *arg)
{
	return ASK((size_t)0, dp_engine_records(engine, take, arg, false));
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_records, DPROBES);

u64 dp_kmod_tally(u32 probe, enum dp_tally what)
{
	return ASK((u64)0, dp_engine_tally(engine, probe, what));
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_tally, DPROBES);

u32 dp_kmod_status(u32 probe, s64 *count)
{
	u32 status = 0;

	*count = 0;
	mutex_lock(&sessions);
	if (session)
		dp_engine_state(engine, probe, &status, count);
	mutex_unlock(&sessions);
	return status;
}
