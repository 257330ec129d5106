// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * state: how the bytes of a site come and go.
 *
 *                       ┌──────────── failed, or foreign bytes ─────────────┐
 *                       ▼                                                   │
 *   OFF ─► COMING ─► THERE ─► LEAVING ─► OFF             a jump, step by step
 *           ▲  │        │        ▲ └───► TRAPPED         down to its breakpoint
 *           │  └────────┼────────┤
 *        TRAPPED        └► CEDES ─► CEDED ─► OFF        behind a foreign breakpoint
 *
 *   OFF ─► THERE ─► OFF                                  a breakpoint, or an intercept
 *   OFF ─► TRAPPED ─► OFF                                a breakpoint where a jump could be
 *   any ─► GONE                                          the code is not there any more
 *   any ─► OFF                                           the bytes are back, or were given
 *                                                        back by the process, or the site
 *                                                        is found at no address any more
 *
 *   from \ to   OFF  THERE  LEAVING  COMING  TRAPPED  GONE  CEDES   CEDED
 *   OFF          =     x       -       x        x       x     -        -
 *   THERE        x     =       x       -        -       x     x        -
 *   LEAVING      x     x       =       -        x       x     -        -
 *   COMING       x     x       x       =        -       x     -        -
 *   TRAPPED      x     -       -       x        =       x     -        -
 *   GONE         x     -       -       -        -       =     -        -
 *   CEDES        x     x       x       -        -       x     =        x
 *   CEDED        x     -       -       -        -       x     -        =
 *   none of them x     -       x       -        -       x     -        -
 *
 * A tool can be killed after each write. The next tool then begins in COMING, LEAVING or
 * CEDES to take the jump out. A state read from a target may be none of these: it only
 * leads out, and is counted.
 */
#include "engine/text/state.h"
#include "arch/arch.h"

#define STATES (DP_SITE_CEDED + 1)
#define TO(state) (1u << DP_SITE_##state)

static const u8 may[STATES + 1] = {
	[DP_SITE_OFF] = TO(THERE) | TO(COMING) | TO(TRAPPED),
	[DP_SITE_THERE] = TO(LEAVING) | TO(CEDES),
	[DP_SITE_LEAVING] = TO(THERE) | TO(TRAPPED),
	[DP_SITE_COMING] = TO(THERE) | TO(LEAVING),
	[DP_SITE_TRAPPED] = TO(COMING),
	[DP_SITE_CEDES] = TO(THERE) | TO(LEAVING) | TO(CEDED),
	[STATES] = TO(LEAVING),
};

static u64 impossible;

static void count(void)
{
	__atomic_fetch_add(&impossible, 1, __ATOMIC_RELAXED);
}

/* Nothing more is done to the site but to take it out. */
static int refuse(struct dp_site_entry *site)
{
	site->wanted = DP_WANT_OFF;
	count();
	return -EINVAL;
}

static bool is_allowed(u8 from, u8 to)
{
	return to < STATES &&
	       (from == to || to == DP_SITE_OFF || to == DP_SITE_GONE ||
		may[from < STATES ? from : STATES] >> to & 1);
}

/* A site that has gone has no breakpoint that a debugger could put back. */
static void set(struct dp_site_entry *site, u8 to)
{
	__atomic_store_n(&site->armed, to, __ATOMIC_RELEASE);
	if (to == DP_SITE_GONE)
		site->returned = 0;
}

int dp_site_set_state(struct dp_site_entry *site, u8 to)
{
	u8 from = __atomic_load_n(&site->armed, __ATOMIC_RELAXED);

	if (!is_allowed(from, to))
		return refuse(site);
	if (from >= STATES)
		count();
	set(site, to);
	return 0;
}

int dp_site_mirror_state(struct dp_site_entry *site,
			 const struct dp_site_entry *of)
{
	u8 state = __atomic_load_n(&of->armed, __ATOMIC_RELAXED);

	if (state >= STATES)
		return refuse(site);
	__atomic_store_n(&site->armed, state, __ATOMIC_RELEASE);
	return 0;
}

u64 dp_engine_impossible(void)
{
	return __atomic_load_n(&impossible, __ATOMIC_RELAXED);
}

bool dp_bytes_same(const u8 *a, const u8 *b, size_t n)
{
	while (n && *a == *b)
		a++, b++, n--;
	return !n;
}

/* Classify one byte; only at the start of a patch is a breakpoint our own step. */
static enum dp_bytes byte_is(const struct dp_site_entry *site, size_t i, u8 now)
{
	if (now == site->orig[i] || now == site->patch[i] ||
	    (!i && now == DP_BREAKPOINT))
		return DP_BYTES_BETWEEN;
	return now == DP_BREAKPOINT ? DP_BYTES_MINGLED : DP_BYTES_FOREIGN;
}

enum dp_bytes dp_site_bytes(const struct dp_site_entry *site, const u8 *now)
{
	size_t i, n = dp_site_patch_len(site);
	enum dp_bytes is = DP_BYTES_BETWEEN, one;

	if (dp_bytes_same(now, site->orig, n))
		return DP_BYTES_ORIGINAL;
	if (dp_bytes_same(now, site->patch, n))
		return DP_BYTES_PATCH;
	for (i = 0; i < n; i++) {
		one = byte_is(site, i, now[i]);
		is = one > is ? one : is;
	}
	return is;
}
