// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* engine: settings made before the build. */
#include "engine/layout/private.h"
#include "engine/layout/site.h"
#include "engine/site/arm.h"
#include "engine/site/engine.h"
#include "engine/site/internal.h"
#include "engine/site/grow.h"
#include "engine/site/program.h"
#include "engine/site/reach.h"
#include "port.h"

bool dp_engine_make_scratch(struct dp_engine *e)
{
	const u64 least = _Alignof(struct dp_scratch) - 1;

	e->scratch_block = dp_port_alloc(sizeof(*e->scratch) + least);
	if (e->scratch_block)
		e->scratch = (void *)(((size_t)e->scratch_block + least) &
				      ~(size_t)least);
	return e->scratch_block;
}

int dp_engine_create(struct dp_engine **engine)
{
	*engine = dp_port_alloc(sizeof(**engine));
	if (!*engine)
		return -ENOMEM;
	(*engine)->native = true;
	if (dp_engine_make_scratch(*engine))
		return 0;
	dp_engine_destroy(*engine);
	*engine = NULL;
	return -ENOMEM;
}

void dp_engine_destroy(struct dp_engine *engine)
{
	if (!engine)
		return;
	dp_port_free(engine->sites);
	dp_port_free(engine->probes);
	dp_programs_free(engine);
	dp_aggregates_free(engine);
	dp_backtraces_free(engine);
	dp_port_free(engine->hash);
	dp_port_free(engine->reader.shapes);
	dp_room_free(engine->growth);
	dp_port_free(engine->scratch_block);
	dp_port_free(engine);
}

void dp_engine_set_signal_free(struct dp_engine *e)
{
	e->signal_free = true;
	e->arming = DP_ARM_QUIESCE;
}

void dp_engine_set_uncaught(struct dp_engine *e)
{
	e->uncaught = true;
}

void dp_engine_set_rseq(struct dp_engine *e, s32 offset, u32 signature)
{
	e->rseq.offset = offset;
	e->rseq.signature = signature;
	e->rseq_usable = true;
}

void dp_engine_set_percpu(struct dp_engine *e, const struct dp_percpu *percpu)
{
	e->percpu = percpu;
}

void dp_engine_set_native(struct dp_engine *e, bool native, u32 leave)
{
	e->native = native;
	e->native_leave = leave;
}

void dp_engine_set_rings(struct dp_engine *e, u32 bytes, bool block)
{
	e->ring_bytes = bytes;
	e->block = block;
}

void dp_engine_set_holds(struct dp_engine *e, bool holds)
{
	e->holds = holds;
}

void dp_engine_set_tight(struct dp_engine *e, bool tight)
{
	e->tight = tight;
}

void dp_engine_set_coarse(struct dp_engine *e, bool coarse)
{
	e->coarse = coarse;
}

void dp_engine_expect(struct dp_engine *e, const struct dp_expected *expected)
{
	e->expected = *expected;
}

void dp_engine_set_tid_offset(struct dp_engine *e, u32 offset)
{
	e->tid_offset = offset;
}

int dp_engine_watch_linker(struct dp_engine *e, u64 addr, const u8 *code,
			   size_t size, u64 state, const char **why)
{
	u32 probe;
	int err = dp_engine_add(e, addr, code, size, &probe, why);

	if (err)
		return err;
	e->probes[probe].kind = DP_KIND_LINKER;
	e->probes[probe].handlers.single = true;
	e->probes[probe].handlers.why = "threads have to wait there";
	e->linker_state = state;
	return 0;
}

void dp_engine_set_pending(struct dp_engine *e, const char *spec)
{
	if (!spec)
		e->nr_pending = 0;
	else if (e->nr_pending < DP_PENDING)
		e->pending[e->nr_pending++] = spec;
}

void dp_engine_attach_own(struct dp_engine *e, u32 max_sites)
{
	e->max_sites = max_sites;
	e->own = true;
}

void dp_engine_upcall(struct dp_engine *e, u32 n)
{
	e->nr_upcalls = n;
}

struct dp_arena *dp_engine_arena(const struct dp_engine *e)
{
	return e->arena;
}
