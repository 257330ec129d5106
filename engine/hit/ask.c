// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * ask: a hit whose handler runs in the tool, which may take its time.
 *
 *   thread                                 tool
 *   TAKEN  registers filled in
 *   ASKED  ───────── calls ──────────────► RUNS  handler, with these registers
 *   waits                                   │
 *   ANSWERED ◄──────────────────────────────┘
 *   registers from there; the next probe of the site, or on
 *
 * The thread waits for so long and no longer, and only as long as the tool is
 * there: the kernel marks @keeper when that ends, however it ends. Meanwhile its
 * signals wait, as for a thread that is stopped. Who goes on unanswered does so
 * with the registers it had.
 */
#include "engine/hit/call.h"
#include "engine/hit/hit.h"
#include "engine/layout/handler.h"
#include "engine/layout/base.h"
#include "engine/layout/site.h"
#include "engine/hit/thread.h"
#include "arch/arch.h"
#include "port.h"

/* So often it is looked whether the tool is there still. */
#define SLICE_MS 100
#define CROWDED_MS 1

static struct dp_asks *asks(void)
{
	return dp_at(dp_arena.control.ask_off);
}

bool dp_ask_is_heard(void)
{
	u32 keeper = __atomic_load_n(&asks()->keeper, __ATOMIC_ACQUIRE);

	return keeper & DP_TOOL_OWNER && !(keeper & DP_TOOL_DIED);
}

void dp_ask_call(void)
{
	__atomic_fetch_add(&asks()->calls, 1, __ATOMIC_RELEASE);
	dp_port_wake(&asks()->calls, 1);
}

static bool move(struct dp_ask *ask, u32 from, u32 to)
{
	return __atomic_compare_exchange_n(&ask->state, &from, to, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* So far the tool looks. */
static void note(u32 i)
{
	u32 *high = &asks()->high,
	    was = __atomic_load_n(high, __ATOMIC_RELAXED);

	while (was < i + 1 &&
	       !__atomic_compare_exchange_n(high, &was, i + 1, false,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

static struct dp_ask *find_free(void)
{
	u32 n = dp_arena.control.nr_asks, i;

	for (i = 0; i < n; i++) {
		struct dp_ask *ask = &asks()->v[i];

		if (__atomic_load_n(&ask->state, __ATOMIC_RELAXED) ==
			    DP_ASK_FREE &&
		    move(ask, DP_ASK_FREE, DP_ASK_TAKEN)) {
			note(i);
			return ask;
		}
	}
	return NULL;
}

/* Where as many as there is room for wait already, this one does until one of
 * them goes on. */
static struct dp_ask *claim(u32 patience)
{
	u64 until = dp_port_now() + patience;
	struct dp_ask *ask = find_free();

	while (!ask && dp_ask_is_heard() && dp_port_now() < until) {
		dp_port_wait(&asks()->v[0].state, asks()->v[0].state,
			     CROWDED_MS);
		ask = find_free();
	}
	return ask;
}

/* Nobody has taken it, or it is left to who has. Return: true if the answer has
 * just come. */
static bool give_up(struct dp_ask *ask)
{
	if (move(ask, DP_ASK_ASKED, DP_ASK_TAKEN))
		return false;
	return !move(ask, DP_ASK_RUNS, DP_ASK_LEFT);
}

static bool await(struct dp_ask *ask, u32 probe)
{
	u64 until = dp_port_now() + dp_probe(probe)->deadline, now;
	u32 state;

	for (;;) {
		state = __atomic_load_n(&ask->state, __ATOMIC_ACQUIRE);
		if (state == DP_ASK_ANSWERED)
			return true;
		now = dp_port_now();
		if (now >= until || !dp_ask_is_heard())
			break;
		dp_port_wait(&ask->state, state,
			     until - now < SLICE_MS ? until - now : SLICE_MS);
	}
	if (give_up(ask))
		return true;
	dp_tally(probe, now >= until ? DP_TALLY_UNANSWERED : DP_TALLY_UNHEARD);
	return false;
}

/** struct asker - a thread that has hit: its registers are @regs or, of a signal,
 *  @mc; @pc is where it goes on; @caught: of all signals
 *  the caught ones are not blocked */
struct asker {
	struct dp_regs *regs;
	struct dp_mcontext *mc;
	u64 pc;
	bool caught;
};

/* The first time, and where two kinds of probe follow each other. */
static void block(struct asker *a, bool caught)
{
	if (a->caught == caught)
		return;
	a->caught = caught;
	dp_port_defer(caught);
}

/* Word by word: there is no memcpy here for a compiler to call. */
static void copy(u64 *to, const u64 *from, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		__asm__ volatile("");
		to[i] = from[i];
	}
}

static void show(const struct asker *a, u64 *to)
{
	struct dp_regs *regs = (void *)to;

	if (a->mc)
		dp_regs_from(regs, a->mc);
	else
		copy(to, (u64 *)a->regs, sizeof(*regs) / sizeof(u64));
	dp_regs_set_pc(regs, a->pc);
}

static void take(struct asker *a, const u64 *from)
{
	const struct dp_regs *regs = (const void *)from;

	a->pc = dp_regs_pc(regs);
	if (a->mc) {
		dp_regs_to(regs, a->mc);
		return;
	}
	dp_regs_take(a->regs, regs);
}

static void put(struct asker *a, struct dp_ask *ask, u32 probe)
{
	bool answered;

	show(a, ask->regs);
	ask->tid = dp_hit_tid();
	ask->probe = probe;
	__atomic_store_n(&ask->state, DP_ASK_ASKED, __ATOMIC_RELEASE);
	dp_ask_call();
	answered = await(ask, probe);
	if (answered)
		take(a, ask->regs);
	else if (__atomic_load_n(&ask->state, __ATOMIC_RELAXED) != DP_ASK_TAKEN)
		return;
	__atomic_store_n(&ask->state, DP_ASK_FREE, __ATOMIC_RELEASE);
}

static void ask(u32 probe, struct asker *a)
{
	struct dp_ask *ask;

	block(a, false);
	ask = claim(dp_probe(probe)->deadline);
	if (ask)
		put(a, ask, probe);
	else
		dp_tally(probe, dp_ask_is_heard() ? DP_TALLY_CONTEXT :
						    DP_TALLY_UNHEARD);
}

/* Faults of the handler have to come. */
static void call_there(u32 probe, struct asker *a, u64 x87)
{
	struct dp_there *there;

	if (!dp_ask_is_heard()) {
		dp_tally(probe, DP_TALLY_UNHEARD);
		return;
	}
	block(a, true);
	there = dp_there_begin(probe);
	if (!there) {
		dp_tally(probe, DP_TALLY_CONTEXT);
		return;
	}
	show(a, there->regs);
	dp_there_call(there, x87);
	take(a, there->regs);
	dp_there_end(there);
}

static bool is_on(u32 probe)
{
	return dp_probe(probe)->enabled &&
	       !(__atomic_load_n(&dp_probe_state(probe)->status,
				 __ATOMIC_RELAXED) &
		 (DP_PROBE_REMOVED | DP_PROBE_FAULTED));
}

/* One that has gone may have made room for another meanwhile, elsewhere. */
static void each(const struct dp_site_entry *site, struct asker *a)
{
	u32 index = dp_site_index(site), i;

	for (i = site->first_probe; i && dp_probe(i - 1)->site == index;
	     i = dp_probe(i - 1)->next) {
		if (!is_on(i - 1))
			continue;
		if (dp_probe(i - 1)->kind == DP_KIND_ASK)
			ask(i - 1, a);
		else if (dp_probe(i - 1)->kind == DP_KIND_THERE)
			call_there(i - 1, a, site->x87);
	}
}

u64 dp_ask_detour(const struct dp_site_entry *site, struct dp_call_frame *frame)
{
	struct asker a = { .regs = &frame->regs,
			   .pc = site->addr,
			   .caught = true };
	u64 sp = dp_regs_sp(&frame->regs);
	u64 mask = dp_port_defer(true);

	each(site, &a);
	dp_port_defer_end(mask);
	dp_regs_set_pc(&frame->regs, a.pc);
	if (a.pc == site->addr && dp_regs_sp(&frame->regs) == sp)
		return 0;
	if (a.pc == site->addr)
		dp_call_resume(frame);
	return 1;
}

void dp_ask_mcontext(const struct dp_site_entry *site, struct dp_mcontext *mc)
{
	struct asker a = { .mc = mc, .pc = site->addr, .caught = true };
	u64 sp = dp_mcontext_sp(mc);
	u64 mask = dp_port_defer(true);

	each(site, &a);
	dp_port_defer_end(mask);
	dp_mcontext_set_sp(mc, sp);
}

/* What is deferred then comes when the world puts the registers back. */
void dp_ask_trap(const struct dp_site_entry *site, struct dp_trap *trap)
{
	struct asker a = { .mc = trap->regs, .pc = site->addr, .caught = true };

	each(site, &a);
	dp_mcontext_set_pc(trap->regs,
			   a.pc != site->addr ?
				   a.pc :
				   __atomic_load_n(&site->copy,
						   __ATOMIC_ACQUIRE));
}
