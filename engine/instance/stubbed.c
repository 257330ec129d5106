// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* stubbed: calls that are tracked by the port's stubs, and run programs. Of ports that have stubs. */
#include "engine/instance/stubbed.h"
#include "engine/hit/program.h"
#include "engine/instance/exits.h"
#include "port.h"

void dp_stub_begin(u32 probe, const struct dp_site_entry *site,
		   const struct dp_hit *hit)
{
	const struct dp_probe_entry *p = dp_probe(probe);
	struct dp_exit_instance *v = dp_port_stub_take(p->user);

	if (!v) {
		dp_tally(probe, DP_TALLY_INSTANCES);
		return;
	}
	v->state = DP_INSTANCE_DOUBT;
	if (p->program && p->start != DP_NO_START)
		dp_program_enter(probe, site, hit, v);
	else
		dp_exit_instance_fill(v, probe, hit, NULL, 0);
	if (v->state == DP_INSTANCE_LIVE)
		dp_port_stub_begin(v, hit->sp);
	else
		dp_port_stub_give(v);
}

void dp_stub_end(struct dp_exit_instance *v, const struct dp_hit *hit)
{
	dp_exit_instance_returned(v, v->group - 1, hit);
}

void dp_stub_missed(const struct dp_exit_instance *v)
{
	dp_tally(v->group - 1, DP_TALLY_RETURNED);
	dp_tally(v->group - 1, DP_TALLY_UNJUDGED);
}
