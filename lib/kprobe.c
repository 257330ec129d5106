// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* kprobe: handlers before and after an instruction. */
#include "lib/self.h"
#include "engine/layout/site.h"
#include <errno.h>

/* A fault_handler may change any register of the pre_handler, and where that goes on. */
static u32 spares_of(const struct kprobe *p)
{
	return p->fault_handler ? 0 : dp_handler_spares((void *)p->pre_handler);
}

static int describe(struct dp_request *r, void *probe)
{
	struct kprobe *p = probe;

	*r = (struct dp_request){
		.user = { .p = p, .kind = 'k' },
		.handlers = {
			.kind = DP_KIND_KPROBE,
			.pre_needs = dp_handler_needs((void *)p->pre_handler),
			.post_needs = dp_handler_needs((void *)p->post_handler),
			.spares = spares_of(p),
			.first = true,
			.single = p->post_handler || p->break_handler,
			.why = p->post_handler ? "it has a post_handler" :
						 "it has a break_handler",
			.user = (u64)p,
			.pre = (u64)p->pre_handler,
			.post = (u64)p->post_handler,
			.fault = (u64)p->fault_handler,
			.nmissed = (u64)&p->nmissed,
		},
	};
	return 0;
}

int register_kprobes(struct kprobe **kps, int num)
{
	return dp_probes_register_list((void **)kps, num, describe);
}

void unregister_kprobes(struct kprobe **kps, int num)
{
	int i;

	if (!kps || num <= 0)
		return;
	if (dp_self_in_handler()) {
		for (i = 0; i < num; i++)
			dp_probe_switch_off(kps[i]);
		return;
	}
	if (!dp_self_begin(false)) {
		dp_probes_unregister(kps, (u32)num);
		dp_self_end();
		return;
	}
	/* There may be no descriptor left, or no /proc: no handler may run all the same. */
	if (!dp_self_begin_bare()) {
		dp_probes_switch_off(kps, (u32)num);
		dp_self_end();
	}
}

static int turn(struct kprobe *p, bool enabled)
{
	u32 index;
	int err;

	if (!dp_probe_index(p, &index) ||
	    (dp_self.users[index].gone && enabled))
		return dp_fail(-EINVAL,
			       "the probe is not registered, or is gone");
	if (dp_self.users[index].gone) {
		dp_self.users[index].disabled = true;
		p->flags |= KPROBE_FLAG_DISABLED;
		return 0;
	}
	err = dp_live_enable(dp_self.engine, &dp_self.text.target, &index, 1,
			     enabled);
	dp_self.users[index].disabled = !enabled || err;
	if (!enabled)
		dp_self_settle();
	else if (!err && dp_live_gone(dp_self.engine, index))
		err = dp_fail(-EINVAL, "the probe's code has just gone");
	return err;
}

int dp_probe_enable(struct kprobe *p, bool enabled)
{
	int err = dp_self_begin(false);

	if (err == -ESRCH)
		err = -EINVAL;
	if (err)
		return err;
	do
		err = turn(p, enabled);
	while (!err && (p = dp_probe_next(p)));
	dp_flags_refresh();
	dp_self_end();
	return err;
}

DP_SINGLES(kprobe)

struct kprobe *get_kprobe(void *addr)
{
	struct kprobe *p = NULL;
	bool more;
	u32 i;

	if (dp_self_begin(false))
		return NULL;
	/* The newest probe comes first, and a jprobe last. */
	for (more = dp_live_first(dp_self.engine, (u64)addr, &i); more;
	     more = dp_live_next(dp_self.engine, &i))
		if (!dp_self.users[i].hidden && !dp_self.users[i].guest &&
		    !dp_self.users[i].own &&
		    (!p || dp_self.users[i].kind != 'j'))
			p = dp_self.users[i].p;
	dp_self_end();
	return p;
}

unsigned long dp_kprobe_hits(const struct kprobe *p)
{
	unsigned long hits = 0;
	u32 index;

	if (dp_self_begin_look())
		return 0;
	if (dp_probe_index(p, &index))
		hits = dp_live_hits(dp_self.engine, index);
	dp_self_end();
	return hits;
}
