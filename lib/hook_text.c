// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * hook_text: the nops of hooks, and the jumps that they become.
 *
 * The agent knows where nops are, because a thread may meet the breakpoint under which one changes.
 * An address stays known while its text is mapped: a trap may come late.
 */
#include "lib/hook.h"
#include "lib/enter.h"
#include "engine/layout/swap.h"
#include "engine/text/swap.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SWAPS_LEAST 64
#define ENGINE_NAPS 100
#define ENGINE_NAP_US 50

static const u8 nop[DP_SWAP_SIZE] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
static struct dp_text text;
static struct dp_swaps *swaps;
static u32 nr_swaps; /* slots that are not free */

static u64 *slot_for(struct dp_swaps *s, u64 addr)
{
	u32 i = dp_swap_slot(addr) & s->mask;

	while (s->slot[i] && s->slot[i] != addr)
		i = (i + 1) & s->mask;
	return &s->slot[i];
}

/* A thread may be looking at the old table, so that stays; each is twice as large as the last. */
static int grow(void)
{
	u32 n = swaps ? (swaps->mask + 1) * 2 : SWAPS_LEAST, i;
	struct dp_swaps *s = calloc(1, sizeof(*s) + n * sizeof(s->slot[0]));

	if (!s)
		return dp_fail(-ENOMEM, "out of memory");
	s->size = DP_SWAP_SIZE;
	s->mask = n - 1;
	nr_swaps = 0;
	for (i = 0; swaps && i <= swaps->mask; i++)
		if (swaps->slot[i] > DP_SWAP_GONE) {
			*slot_for(s, swaps->slot[i]) = swaps->slot[i];
			nr_swaps++;
		}
	swaps = s;
	return 0;
}

static int know(u64 addr)
{
	int err = !swaps || (nr_swaps + 1) * 2 > swaps->mask ? grow() : 0;
	u64 *slot;

	if (err)
		return err;
	slot = slot_for(swaps, addr);
	if (!*slot) {
		__atomic_store_n(slot, addr, __ATOMIC_RELEASE);
		nr_swaps++;
	}
	return 0;
}

static void forget(u64 addr)
{
	u64 *slot = swaps ? slot_for(swaps, addr) : NULL;

	if (slot && *slot)
		__atomic_store_n(slot, DP_SWAP_GONE, __ATOMIC_RELEASE);
}

bool dp_hook_text_ready(void)
{
	return __atomic_load_n(&dp_self.engine, __ATOMIC_ACQUIRE) &&
	       dp_self.owner == getpid();
}

static int open_text(void)
{
	int err = text.mem > 0 ? 0 : dp_text_open(&text);

	if (err)
		return dp_fail(err,
			       "/proc/thread-self/mem cannot be opened: %s",
			       strerror(-err));
	return 0;
}

void dp_hook_text_close(void)
{
	if (text.mem > 0)
		dp_text_close(&text);
}

/* The engine may be about to write there, too. Its lock comes before ours, so it is not waited for but so
 * long; both look at what is there before they write. */
static bool keep_engine_out(void)
{
	int i;

	for (i = 0; i < ENGINE_NAPS; i++) {
		if (dp_self_try())
			return true;
		usleep(ENGINE_NAP_US);
	}
	return false;
}

static void tell_agent(u64 at)
{
	__atomic_store_n(&swaps->at, at, __ATOMIC_RELEASE);
	if (dp_hook_text_ready())
		__atomic_store_n(&dp_self.arena->control.swaps, (u64)swaps,
				 __ATOMIC_RELEASE);
}

static int swap(struct dp_hook_place *place, bool jumps)
{
	u8 jump[DP_SWAP_SIZE];
	bool alone;
	int err;

	if (dp_emit_jmp(jump, place->at, place->to) != sizeof(jump))
		return -EINVAL;
	if (place->probe) {
		__atomic_store_n(&place->probe->is_on, jumps, __ATOMIC_SEQ_CST);
		place->jumps = jumps;
		return 0;
	}
	alone = keep_engine_out();
	tell_agent(place->at);
	err = dp_text_swap(&text.target, place->at, jumps ? nop : jump,
			   jumps ? jump : nop);
	tell_agent(0);
	if (alone)
		dp_self_try_end();
	if (!err)
		place->jumps = jumps;
	return err;
}

static int refuse(const struct dp_hook_info *info, u64 at, int err)
{
	if (err == -EBUSY)
		return dp_fail(
			err,
			"hook %s at %#llx cannot be armed: another probe or debugger has changed its nop; remove that first",
			info->hook->name, (unsigned long long)at);
	return dp_fail(err, "hook %s at %#llx cannot be armed: %s",
		       info->hook->name, (unsigned long long)at,
		       strerror(-err));
}

static int jump(struct dp_hook_info *info, struct dp_hook_place *place)
{
	int err = place->jumps ? 0 : know(place->at);

	if (!place->jumps && !err) {
		err = swap(place, true);
		if (err)
			return refuse(info, place->at, err);
		info->nr_jumps++;
	}
	return err;
}

int dp_hook_activate(struct dp_hook_info *info)
{
	int err = info->nr_places ? open_text() : 0;
	u32 i;

	for (i = 0; i < info->nr_places && !err; i++)
		err = jump(info, &info->places[i]);
	if (err)
		dp_hook_deactivate(info);
	else
		__atomic_store_n(&info->hook->active, 1, __ATOMIC_RELEASE);
	return err;
}

void dp_hook_deactivate(struct dp_hook_info *info)
{
	u32 i;

	__atomic_store_n(&info->hook->active, 0, __ATOMIC_RELEASE);
	if (!info->nr_jumps || open_text())
		return;
	for (i = 0; i < info->nr_places; i++)
		if (info->places[i].jumps && !swap(&info->places[i], false))
			info->nr_jumps--;
	/* A probe is in the way: the next call tries again. Until then the hook calls nobody. */
	if (info->nr_jumps)
		__atomic_store_n(&dp_hook_disarmed, 1, __ATOMIC_RELEASE);
}

int dp_hook_place_add(struct dp_hook_info *info, u64 at, u64 to)
{
	struct dp_hook_place *places = realloc(
		info->places, (info->nr_places + 1) * sizeof(*info->places));

	if (!places)
		return dp_fail(-ENOMEM, "out of memory");
	info->places = places;
	places[info->nr_places++] =
		(struct dp_hook_place){ .at = at, .to = to };
	if (!info->hook->active)
		return 0;
	return dp_hook_text_ready() ? dp_hook_activate(info) : 0;
}

void dp_hook_places_remove(struct dp_hook_info *info, u64 start, u64 end)
{
	u32 i, n = 0;

	for (i = 0; i < info->nr_places; i++) {
		struct dp_hook_place *p = &info->places[i];

		if (p->at - start >= end - start) {
			info->places[n++] = *p;
			continue;
		}
		if (p->jumps && !open_text())
			swap(p, false);
		if (p->probe)
			dp_hook_probe_drop(p->probe);
		info->nr_jumps -= p->jumps;
		forget(p->at);
	}
	info->nr_places = n;
}

bool dp_hook_text_is_nop(const struct dp_hook_place *place)
{
	return !memcmp((const void *)place->at, nop, sizeof(nop));
}

int dp_hook_sync(void)
{
	return dp_threads_sync();
}
