// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* retsite: return probes that leave the return address alone: see
 * engine/instance/slot.c. */
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

/** struct exit - one */
struct exit {
	struct kprobe kp;
	u32 way; /* DP_WAY_TAIL, DP_WAY_TAKEN */
};

struct dp_retsites {
	struct kretprobe *rp;
	struct dp_follow *follow;
	u32 nr_exits;
	struct kprobe **all;
	struct exit exits[];
};

bool dp_retsites_was_left(const struct dp_instance *ri)
{
	u64 now;

	return dp_port_read(&now, ri->frame, sizeof(now)) != sizeof(now) ||
	       now != ri->ret_addr;
}

static void fill_exit(struct exit *e, const struct dp_retsites *sites,
		      const struct dp_exit *exit)
{
	*e = (struct exit){
		.kp.addr = (kprobe_opcode_t *)exit->addr,
		.kp.flags = sites->rp->kp.flags & KPROBE_FLAG_DISABLED,
		.way = (exit->kind == DP_EXIT_TAIL ? DP_WAY_TAIL : 0) |
		       (exit->conditional ? DP_WAY_TAKEN : 0),
	};
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

/* Of a function that is one ret, the entry comes first. */
static struct dp_request request(const struct dp_retsites *sites,
				 struct kprobe *p, bool entry)
{
	return (struct dp_request){
		.p = p,
		.kind = 'r',
		.entry = entry,
		.hidden = !entry,
		.handlers = { .kind = entry ? DP_KIND_ENTER : DP_KIND_EXIT,
			      .first = entry,
			      .user = (u64)p,
			      .fault = (u64)p->fault_handler,
			      .nmissed = (u64)&p->nmissed,
			      .follow = (u64)sites->follow },
	};
}

void dp_retsites_describe(struct dp_retsites *sites,
			  struct dp_request *requests)
{
	u32 i;

	sites->rp->dp_private[0] = sites;
	requests[0] = request(sites, &sites->rp->kp, true);
	for (i = 0; i < sites->nr_exits; i++) {
		requests[i + 1] = request(sites, &sites->exits[i].kp, false);
		requests[i + 1].handlers.way = sites->exits[i].way;
	}
}

struct kprobe **dp_retsites_kprobes(struct dp_retsites *sites)
{
	return sites->all;
}

struct dp_retsites *dp_retsites_of(const struct kretprobe *rp)
{
	return rp->dp_private[0];
}
