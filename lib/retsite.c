// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* retsite: return probes that leave the return address alone: engine/instance/slot.c. */
#define DP_NO_MODULE_NOTE
#include "lib/retsite.h"
#include "resolve/exits.h"
#include <errno.h>
#include <stdlib.h>
#include "resolve/symbol.h"
#include "sym/exits.h"

static struct dp_retsites *make(struct kretprobe *rp,
				const struct dp_exit_list *list)
{
	struct dp_retsites *sites =
		calloc(1, sizeof(*sites) + list->n * sizeof(sites->exits[0]) +
				  (list->n + 1) * sizeof(sites->all[0]));
	size_t i;

	if (!sites)
		return NULL;
	sites->n = (u32)list->n + 1;
	sites->all = (struct kprobe **)&sites->exits[list->n];
	sites->all[0] = &rp->kp;
	for (i = 0; i < list->n; i++) {
		struct kprobe *kp = &sites->exits[i].kp;

		kp->addr = (kprobe_opcode_t *)list->v[i].addr;
		kp->flags = rp->kp.flags & KPROBE_FLAG_DISABLED;
		sites->exits[i].way = dp_exit_way(&list->v[i]);
		sites->all[i + 1] = kp;
	}
	return sites;
}

int dp_retsites_make(struct dp_exit_reader *reader, struct kretprobe *rp,
		     u64 addr, struct dp_retsites **sites)
{
	struct dp_exit_list list = { 0 };
	int err = dp_exits_track(reader, dp_symbol_map_modules(dp_self.symbols),
				 addr, &list, dp_last());

	if (err)
		return err;
	*sites = make(rp, &list);
	dp_exits_free(&list);
	return *sites ? 0 : dp_fail(-ENOMEM, "out of memory");
}

struct dp_retsites *dp_retsites_of(const struct kretprobe *rp)
{
	return rp->dp_private[0];
}
