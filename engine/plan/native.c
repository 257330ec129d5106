// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* native: which detours run a program themselves. */
#include "engine/insn/detour.h"
#include "engine/layout/probe.h"
#include "engine/layout/ring.h"
#include "engine/layout/site.h"
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

_Static_assert(DP_NATIVE_RECORDS == DP_STREAM_EXITS &&
		       DP_NATIVE_ELEMENTS == DP_STREAM_VALUES,
	       "what a program logs is what a record has");

/* A thread's id has to be had without a system call. */
static bool has_streams(const struct dp_engine *e)
{
	return e->arena && e->arena->control.stream_mask && e->tid_offset;
}

static struct dp_native *make(const struct dp_engine *e,
			      const struct dp_program *p, u32 start)
{
	struct dp_native *n = dp_port_alloc(sizeof(*n));
	const struct dp_native_limits limits = {
		.stack_mask = p->spec.stack - 1,
		.jmpmax = p->spec.jmpmax,
		.logmax = p->spec.logmax,
		.leave = e->native_leave,
		.loads = e->nr_caught || e->percpu,
		.records = has_streams(e),
		.shared = p->shared || p->spec.shares,
	};

	if (n &&
	    (p->spec.wraps ||
	     dp_native_walk(p->code, p->spec.code_len, start, &limits, n) ||
	     !dp_native_encodes(n, e->percpu, &e->scratch->detour))) {
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

/* Is it about to change which programs the probe's hits run? */
static bool is_exchanged(const struct dp_engine *e, const struct dp_probe *p)
{
	u32 i;

	if (!e->exchanging)
		return false;
	if (p->waits || e->programs[p->binding.program].leaving)
		return true;
	for (i = 0; i < e->nr_programs; i++)
		if (e->programs[i].spec.shares == p->binding.program + 1 &&
		    !e->programs[i].joined)
			return true;
	return false;
}

static bool is_unlimited(const struct dp_binding *b)
{
	return !b->passcount && b->maxhits >= DP_HITS_UNLIMITED;
}

/* Where every hit leaves, the interpreter is called at once. */
static bool does_nothing(const struct dp_native *n, enum dp_commits commits)
{
	u8 i;

	if (commits != DP_COMMITS_LEAVES)
		return false;
	for (i = 0; i < n->nr_blocks; i++)
		if (n->blocks[i].end == DP_NATIVE_MET ||
		    n->blocks[i].end == DP_NATIVE_UNMET ||
		    (n->blocks[i].end == DP_NATIVE_RECORD &&
		     n->records[n->blocks[i].record].table))
			return false;
	return true;
}

const struct dp_native *dp_native_of(const struct dp_engine *e,
				     const struct dp_site *s,
				     struct dp_jump_program *runs)
{
	const struct dp_native *native;
	struct dp_insn_memory memory;
	const struct dp_probe *p;

	*runs = (struct dp_jump_program){ 0 };
	if (!e->native || !(e->rseq_usable || e->percpu) || e->own ||
	    s->intercept >= 0 || s->instances || !s->first_probe)
		return NULL;
	p = &e->probes[s->first_probe - 1];
	if (p->next || p->kind != DP_KIND_PLAIN || !p->bound ||
	    !is_unlimited(&p->binding) || is_exchanged(e, p))
		return NULL;
	native = dp_native_from(e, p->binding.program, p->binding.start);
	if (!native || does_nothing(native, dp_native_commits(e, s, &memory)))
		return NULL;
	*runs = (struct dp_jump_program){
		.program = e->programs[p->binding.program].id,
		.start = p->binding.start,
		.probe = s->first_probe - 1,
	};
	return native;
}

static bool accesses(const struct dp_site *s, struct dp_insn_memory *memory)
{
	if (!dp_insn_memory(s->code, s->facts.len, memory))
		return false;
	if (s->facts.rip_relative)
		memory->operand.disp += (s64)(s->addr + s->facts.len);
	return true;
}

/* What the instruction reads or writes is touched ahead of the record: if that is not possible, the
 * hit is left to the interpreter. */
enum dp_commits dp_native_commits(const struct dp_engine *e,
				  const struct dp_site *s,
				  struct dp_insn_memory *memory)
{
	u32 probe = s->first_probe - 1;

	*memory = (struct dp_insn_memory){ 0 };
	if (probe >= DP_STREAM_PROBES)
		return DP_COMMITS_LEAVES;
	if (e->probes[probe].binding.logonfault ||
	    s->facts.faults == DP_FAULTS_NEVER)
		return DP_COMMITS;
	if (!e->nr_caught)
		return DP_COMMITS_LEAVES;
	switch (s->facts.faults) {
	case DP_FAULTS_PUSH:
	case DP_FAULTS_CALL:
		return DP_COMMITS_IF_PUSHED;
	case DP_FAULTS_POP:
		return DP_COMMITS_IF_POPPED;
	case DP_FAULTS_OTHER:
		return accesses(s, memory) ? DP_COMMITS_IF_TOUCHED :
					     DP_COMMITS_LEAVES;
	default:
		return DP_COMMITS_LEAVES;
	}
}
