// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * upcall: a hit whose handler runs in the tool, which may take its time.
 *
 *   thread                                 tool
 *   TAKEN  registers filled in
 *   REQUESTED ───── wakes ───────────────► RUNS  handler, with these registers
 *   waits                                   │
 *   ANSWERED ◄──────────────────────────────┘
 *   registers from there; the next probe of the site, or on
 *
 * The thread waits until the probe's deadline, and only while the tool answers. The
 * kernel marks @owner when the owner ends, however it ends. Meanwhile the thread's
 * signals wait, as for a stopped thread. An unanswered thread goes on with the
 * registers it had.
 */
#include "engine/hit/call.h"
#include "engine/hit/hit.h"
#include "engine/layout/handler.h"
#include "engine/layout/base.h"
#include "engine/layout/site.h"
#include "engine/hit/thread.h"
#include "arch/arch.h"
#include "port.h"

/* How often a waiting thread checks that the tool is still there */
#define SLICE_MS 100
#define CROWDED_MS 1

static struct dp_upcalls *upcalls(void)
{
	return dp_at(dp_arena.control.upcall_off);
}

bool dp_upcall_is_heard(void)
{
	u32 owner = __atomic_load_n(&upcalls()->owner, __ATOMIC_ACQUIRE);

	return owner & DP_TOOL_OWNER && !(owner & DP_TOOL_DIED);
}

void dp_upcall_call(void)
{
	__atomic_fetch_add(&upcalls()->calls, 1, __ATOMIC_RELEASE);
	dp_port_wake(&upcalls()->calls, 1);
}

static bool move(struct dp_upcall *upcall, u32 from, u32 to)
{
	return __atomic_compare_exchange_n(&upcall->state, &from, to, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* The tool looks at upcalls up to @high. */
static void note(u32 i)
{
	u32 *high = &upcalls()->high,
	    was = __atomic_load_n(high, __ATOMIC_RELAXED);

	while (was < i + 1 &&
	       !__atomic_compare_exchange_n(high, &was, i + 1, false,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

static struct dp_upcall *find_free(void)
{
	u32 n = dp_arena.control.nr_upcalls, i;

	for (i = 0; i < n; i++) {
		struct dp_upcall *upcall = &upcalls()->v[i];

		if (__atomic_load_n(&upcall->state, __ATOMIC_RELAXED) ==
			    DP_UPCALL_FREE &&
		    move(upcall, DP_UPCALL_FREE, DP_UPCALL_TAKEN)) {
			note(i);
			return upcall;
		}
	}
	return NULL;
}

/* Wait until *@word changes, for @ms at most. Return: ms that have passed unseen, because a
 * filter forbids the clock. */
static u64 wait(const u32 *word, u32 is, u64 ms, bool clock)
{
	return dp_port_wait(word, is, ms) && !clock ? ms : 0;
}

/* Where all upcalls are in use, wait until another thread's upcall ends. */
static struct dp_upcall *claim(u32 patience)
{
	u64 until = dp_port_now() + patience, now;
	struct dp_upcall *upcall = find_free();

	while (!upcall && dp_upcall_is_heard() &&
	       (now = dp_port_now()) < until) {
		until -= wait(&upcalls()->v[0].state, upcalls()->v[0].state,
			      CROWDED_MS, now);
		upcall = find_free();
	}
	return upcall;
}

/* Withdraw an upcall that the tool has not taken; abandon one that runs. Return: TAKEN,
 * ABANDONED; ANSWERED, if the answer has just come. */
static enum dp_upcall_state give_up(struct dp_upcall *upcall)
{
	if (move(upcall, DP_UPCALL_REQUESTED, DP_UPCALL_TAKEN))
		return DP_UPCALL_TAKEN;
	if (move(upcall, DP_UPCALL_RUNS, DP_UPCALL_ABANDONED))
		return DP_UPCALL_ABANDONED;
	return DP_UPCALL_ANSWERED;
}

/* Return: as give_up(). An abandoned place may belong to another thread already. */
static enum dp_upcall_state await(struct dp_upcall *upcall, u32 probe)
{
	u64 until = dp_port_now() + dp_probe(probe)->deadline, now;
	u32 state;

	for (;;) {
		state = __atomic_load_n(&upcall->state, __ATOMIC_ACQUIRE);
		if (state == DP_UPCALL_ANSWERED)
			return state;
		now = dp_port_now();
		if (now >= until || !dp_upcall_is_heard())
			break;
		until -= wait(&upcall->state, state,
			      until - now < SLICE_MS ? until - now : SLICE_MS,
			      now);
	}
	state = give_up(upcall);
	if (state != DP_UPCALL_ANSWERED)
		dp_tally(probe,
			 now >= until ? DP_TALLY_UNANSWERED : DP_TALLY_UNHEARD);
	return state;
}

/** struct upcaller - a thread that has hit; @pc: where it goes on
 *  @caught: the caught signals are not blocked; all others are */
struct upcaller {
	struct dp_hit *hit;
	u64 pc;
	bool caught;
};

/* Changes the mask at the first upcall, and where the next probe is of another kind. */
static void block(struct upcaller *a, bool caught)
{
	if (a->caught == caught)
		return;
	a->caught = caught;
	dp_port_defer(caught);
}

/* Word by word: the compiler must not call memcpy, which does not exist here. */
static void copy(u64 *to, const u64 *from, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		__asm__ volatile("");
		to[i] = from[i];
	}
}

static void show(const struct upcaller *a, u64 *to)
{
	struct dp_regs *regs = (void *)to;

	if (dp_hit_regs(a->hit, regs) != regs)
		copy(to, (u64 *)&a->hit->frame->regs,
		     sizeof(*regs) / sizeof(u64));
	dp_regs_set_pc(regs, a->pc);
}

static void take(struct upcaller *a, const u64 *from)
{
	const struct dp_regs *regs = (const void *)from;

	a->pc = dp_regs_pc(regs);
	dp_hit_put_regs(a->hit, regs);
	if (a->hit->frame)
		dp_regs_take(&a->hit->frame->regs, regs);
}

static void put(struct upcaller *a, struct dp_upcall *upcall, u32 probe)
{
	enum dp_upcall_state end;

	show(a, upcall->regs);
	upcall->tid = dp_hit_tid();
	upcall->probe = probe;
	__atomic_store_n(&upcall->state, DP_UPCALL_REQUESTED, __ATOMIC_RELEASE);
	dp_upcall_call();
	end = await(upcall, probe);
	if (end == DP_UPCALL_ABANDONED)
		return;
	if (end == DP_UPCALL_ANSWERED)
		take(a, upcall->regs);
	__atomic_store_n(&upcall->state, DP_UPCALL_FREE, __ATOMIC_RELEASE);
}

static void upcall(u32 probe, struct upcaller *a)
{
	struct dp_upcall *upcall;

	block(a, false);
	upcall = claim(dp_probe(probe)->deadline);
	if (upcall)
		put(a, upcall, probe);
	else
		dp_tally(probe, dp_upcall_is_heard() ? DP_TALLY_CONTEXT :
						       DP_TALLY_UNHEARD);
}

/* Caught signals stay unblocked for faults of the handler. */
static void call_injected(u32 probe, struct upcaller *a, u64 x87)
{
	struct dp_injected *injected;

	if (!dp_upcall_is_heard()) {
		dp_tally(probe, DP_TALLY_UNHEARD);
		return;
	}
	block(a, true);
	injected = dp_injected_begin(probe);
	if (!injected) {
		dp_tally(probe, DP_TALLY_CONTEXT);
		return;
	}
	show(a, injected->regs);
	dp_injected_call(injected, x87);
	take(a, injected->regs);
	dp_injected_end(injected);
}

/* A removed probe's entry may serve another site meanwhile. */
static void each(const struct dp_site_entry *site, struct upcaller *a)
{
	u32 index = dp_site_index(site), i;

	for (i = site->first_probe; i && dp_probe(i - 1)->site == index;
	     i = dp_probe(i - 1)->next) {
		if (!dp_probe_is_on(i - 1) ||
		    !dp_probe_leaves(dp_probe(i - 1), site,
				     dp_hit_flags(a->hit),
				     dp_hit_counter(a->hit)))
			continue;
		if (dp_probe(i - 1)->kind == DP_KIND_UPCALL)
			upcall(i - 1, a);
		else if (dp_probe(i - 1)->kind == DP_KIND_INJECTED)
			call_injected(i - 1, a, site->x87);
	}
}

enum dp_goes dp_upcall_site(const struct dp_site_entry *site,
			    struct dp_hit *hit)
{
	struct upcaller a = { .hit = hit, .pc = site->addr, .caught = true };
	u64 mask;

	/* Of a trap, deferred signals come when the kernel restores the registers. */
	if (hit->trap) {
		each(site, &a);
	} else {
		mask = dp_port_defer(true);
		each(site, &a);
		dp_port_defer_end(mask);
	}
	if (a.pc == site->addr)
		return DP_GOES_ON;
	if (hit->frame)
		dp_regs_set_pc(&hit->frame->regs, a.pc);
	else
		dp_mcontext_set_pc(hit->mc, a.pc);
	return DP_GOES_AS_TOLD;
}
