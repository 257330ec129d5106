// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* returns: clients' probes on returns. */
#include "kmod/returns.h"
#include "engine/layout/instance.h"
#include "engine/site/engine.h"
#include "engine/site/instances.h"
#include "engine/site/live.h"
#include "engine/site/program.h"
#include "kmod/calls.h"
#include "kmod/exits.h"
#include "kmod/session.h"
#include "kmod/table.h"
#include "port/kernel/followed.h"
#include <linux/kernel.h>
#include <linux/string.h>

int dp_returns_check(const char *name, u64 addr, const char **why)
{
	*why = "a function returns, not an instruction of it: leave the offset away";
	if (strchr(name, '+'))
		return -EINVAL;
	*why = "this function's return address is not its own";
	if (addr && !dp_exits_may(addr))
		return -EINVAL;
	*why = NULL;
	return 0;
}

void dp_returns_begin(u32 probe, bool logs)
{
	dp_kmod_probe(probe)->returns = true;
	dp_live_stub(dp_kmod_engine(), probe, logs);
}

/* What is logged at the entry waits in the instance. */
void dp_returns_bind(u32 probe, const struct dp_binding *binding)
{
	struct dp_kmod_probe *p = dp_kmod_probe(probe);

	if (p && p->returns && binding->start != DP_NO_START)
		p->room = dp_engine_program(dp_kmod_engine(), binding->program)
				  .logmax;
}

static void fill(struct dp_followed *f, const void *user)
{
	dp_followed_by_program(f);
}

static int make(u32 probe, struct dp_kmod_probe *p, u32 most)
{
	u32 room = ALIGN(sizeof(struct dp_exit_instance) + p->room, 8);

	p->calls = dp_calls_make(p, most, room, fill);
	if (!p->calls)
		return -ENOMEM;
	dp_live_stub_pool(dp_kmod_engine(), probe, (u64)&p->calls->pool);
	return 0;
}

int dp_returns_make(const u32 *list, u32 n, u32 most, u64 *bad)
{
	struct dp_kmod_probe *p;
	u32 i;
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		p = dp_kmod_probe(list[i]);
		if (!p || !p->returns || p->calls)
			continue;
		err = make(list[i], p, most);
		*bad = err ? p->addr : 0;
	}
	return err;
}

void dp_returns_silence(const u32 *list, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		dp_calls_silence(dp_kmod_probe(list[i])->calls);
}

/* A call that returns meanwhile is in no number twice: of those that are inside, none is told apart from one whose
 * return is being counted. */
void dp_returns_account(u32 probe, struct dp_account *a)
{
	const struct dp_kmod_probe *p = dp_kmod_probe(probe);
	struct dp_calls_account open = { 0 };

	if (p && p->calls)
		open = dp_calls_account(p->calls);
	dp_account_begin(dp_kmod_engine(), probe, a);
	a->abandoned += open.ended;
	a->lost -= (s64)open.ended;
	if (open.inside && a->lost > 0) {
		a->inside = (u64)a->lost;
		a->lost = 0;
	}
}
