// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* known: the stacks that have been walked, frame by frame (engine/layout/backtrace.h). */
#include "engine/hit/backtrace.h"

static bool admit(const struct dp_backtrace_head *head,
		  struct dp_known_account *account)
{
	u64 used = __atomic_fetch_add(&account->used, 1, __ATOMIC_RELAXED);

	if (used < head->most)
		return true;
	__atomic_fetch_sub(&account->used, 1, __ATOMIC_RELAXED);
	return false;
}

/* Return: is the node there now? */
static bool claim(const struct dp_backtrace_head *head,
		  struct dp_known_account *account, u64 *node, u64 want)
{
	u64 is = 0;

	if (!admit(head, account))
		return false;
	if (__atomic_compare_exchange_n(node, &is, want, false,
					__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return true;
	__atomic_fetch_sub(&account->used, 1, __ATOMIC_RELAXED);
	return is == want;
}

u32 dp_known_step(const struct dp_backtrace_head *head, char *arena, u32 from,
		  u64 frame)
{
	struct dp_known_account *account = (void *)(arena + head->account);
	u32 home = dp_known_home(from, frame, head->node_mask), away, at;
	u64 *nodes = (void *)(arena + head->node), is, want;

	for (away = 0; away < DP_KNOWN_PROBES; away++) {
		at = (home + away) & head->node_mask;
		want = dp_known_node(frame, away);
		is = __atomic_load_n(&nodes[at], __ATOMIC_RELAXED);
		if (at && (is == want ||
			   (!is && claim(head, account, &nodes[at], want))))
			return at;
		if (at && !__atomic_load_n(&nodes[at], __ATOMIC_RELAXED))
			break; /* it is not admitted */
	}
	return 0;
}
