// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* native: which detours run a program themselves. */
#include "engine/insn/detour.h"
#include "engine/layout/probe.h"
#include "engine/plan/native.h"
#include "engine/site/internal.h"
#include "engine/site/site.h"
#include "port.h"

void dp_native_free(struct dp_program *p)
{
	u32 i;

	for (i = 0; p->natives && i < p->spec.nr_starts; i++)
		dp_port_free(p->natives[i].native);
	dp_port_free(p->natives);
	p->natives = NULL;
}

static struct dp_native *make(const struct dp_engine *e,
			      const struct dp_program *p, u32 start)
{
	struct dp_native *n = dp_port_alloc(sizeof(*n));
	const struct dp_native_limits limits = {
		.stack_mask = p->spec.stack - 1,
		.jmpmax = p->spec.jmpmax,
		.leave = e->native_leave,
		.loads = e->nr_caught,
	};

	if (n &&
	    (dp_native_walk(p->code, p->spec.code_len, start, &limits, n) ||
	     !dp_native_encodes(n))) {
		dp_port_free(n);
		n = NULL;
	}
	return n;
}

const struct dp_native *dp_native_from(const struct dp_engine *e, u32 program,
				       u32 start)
{
	struct dp_program *p = &e->programs[program];
	u32 i = 0;

	while (i < p->spec.nr_starts && p->starts[i] != start)
		i++;
	if (i == p->spec.nr_starts)
		return NULL;
	if (!p->natives)
		p->natives =
			dp_port_alloc(p->spec.nr_starts * sizeof(*p->natives));
	if (!p->natives)
		return NULL;
	if (!p->natives[i].tried)
		p->natives[i].native = make(e, p, start);
	p->natives[i].tried = true;
	return p->natives[i].native;
}

static bool is_unlimited(const struct dp_binding *b)
{
	return !b->passcount && b->maxhits >= DP_HITS_UNLIMITED;
}

const struct dp_native *dp_native_of(const struct dp_engine *e,
				     const struct dp_site *s, u32 *program,
				     u32 *start)
{
	const struct dp_native *native;
	const struct dp_probe *p;

	*program = *start = 0;
	if (!e->native || !e->rseq_usable || e->own || s->intercept >= 0 ||
	    s->instances || !s->first_probe)
		return NULL;
	p = &e->probes[s->first_probe - 1];
	if (p->next || p->kind != DP_KIND_PLAIN || !p->bound ||
	    !is_unlimited(&p->binding))
		return NULL;
	native = dp_native_from(e, p->binding.program, p->binding.start);
	if (!native)
		return NULL;
	*program = e->programs[p->binding.program].id;
	*start = p->binding.start;
	return native;
}
