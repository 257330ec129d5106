// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* exchange: see exchange.h. */
#include "engine/layout/arena.h"
#include "engine/layout/site.h"
#include "engine/plan/native.h"
#include "engine/site/enable.h"
#include "engine/site/exchange.h"
#include "engine/site/grow.h"
#include "engine/site/instances.h"
#include "engine/site/internal.h"
#include "engine/site/site.h"
#include "engine/site/view.h"

void dp_exchange_begin(struct dp_engine *e)
{
	e->exchanging = true;
}

void dp_exchange_program(struct dp_engine *e, u32 program)
{
	e->programs[program].leaving = true;
}

/* Only control writes this table. */
static struct dp_probe_entry *entry_of(const struct dp_engine *e, u32 i)
{
	return (struct dp_probe_entry *)&e->view.probes[i];
}

static struct dp_program_entry *program_entry(const struct dp_engine *e, u32 i)
{
	return (struct dp_program_entry *)&e->view.programs[i];
}

/* From now on several programs use its variables, so each execution has to see what they are. */
static void join(struct dp_engine *e, u32 program, u32 nr_lv)
{
	struct dp_program *p = &e->programs[program];
	struct dp_program_entry *entry = program_entry(e, program);
	u32 i;

	/* They are shown with it. */
	if (entry->nr_lv < nr_lv)
		__atomic_store_n(&entry->nr_lv, nr_lv, __ATOMIC_RELEASE);
	if (p->shared)
		return;
	p->shared = true;
	for (i = 0; i < e->view.nr_probes; i++)
		if (e->probes[i].bound &&
		    e->probes[i].binding.program == program)
			dp_program_fold(e, i);
	dp_native_free(p);
	p->id = ++e->program_ids;
}

static bool is_joining(const struct dp_engine *e, u32 program)
{
	return e->programs[program].spec.shares && !e->programs[program].joined;
}

bool dp_exchange_joins(const struct dp_engine *e)
{
	u32 i = 0;

	while (i < e->nr_programs && !is_joining(e, i))
		i++;
	return i < e->nr_programs;
}

bool dp_exchange_inside(const struct dp_engine *e, u64 pc)
{
	const struct dp_jump *j = dp_view_jump_at(&e->view, pc);
	u64 to;
	u32 i;

	if (!j || !j->runs.program)
		return false;
	for (i = 0; i < e->nr_programs; i++)
		if (is_joining(e, i) &&
		    e->programs[e->programs[i].spec.shares - 1].id ==
			    j->runs.program)
			return pc - j->base < j->insn[0] ||
			       pc - j->base >= j->len ||
			       dp_view_original(&e->view, pc, &to);
	return false;
}

void dp_exchange_join(struct dp_engine *e)
{
	u32 i;

	for (i = 0; i < e->nr_programs; i++)
		if (is_joining(e, i)) {
			join(e, e->programs[i].spec.shares - 1,
			     e->programs[i].spec.nr_lv);
			e->programs[i].joined = true;
		}
}

/* A hit that is under way may look at it yet. */
static void let_go(struct dp_engine *e, const struct dp_disabled *off, u32 next)
{
	u32 i;

	for (i = 0; i < off->n; i++)
		if (off->v[i] == DP_OFF_RETIRED &&
		    e->probes[i].kind == DP_KIND_PLAIN &&
		    dp_enabled_in(entry_of(e, i)->enabled, next - 1))
			__atomic_store_n(
				&entry_of(e, i)->enabled,
				DP_ENABLED_UNTIL(entry_of(e, i)->enabled, next),
				__ATOMIC_RELEASE);
}

void dp_exchange_now(struct dp_engine *e, const struct dp_disabled *off)
{
	u32 *generation = &e->arena->control.generation, i;

	let_go(e, off, *generation + 1);
	__atomic_store_n(generation, *generation + 1, __ATOMIC_SEQ_CST);
	for (i = 0; i < e->nr_probes; i++)
		e->probes[i].waits = false;
	dp_engine_choose(e, off);
	dp_engine_admit(e, true);
}

void dp_exchange_swap(struct dp_engine *e, const u32 *come, u32 nr_come,
		      const u32 *go, u32 nr_go)
{
	u32 i;

	for (i = 0; i < nr_go; i++)
		dp_engine_turn(e, go[i], false);
	for (i = 0; i < nr_come; i++) {
		if (!e->probes[come[i]].waits)
			continue;
		e->probes[come[i]].waits = false;
		dp_engine_turn(e, come[i], true);
	}
}

/* A later generation would switch them on. */
void dp_exchange_give_up(struct dp_engine *e, u32 probe, u32 program)
{
	u32 i;

	for (i = probe; i < e->nr_probes; i++) {
		e->probes[i].enabled = e->probes[i].waits = false;
		if (i < e->view.nr_probes)
			__atomic_store_n(&entry_of(e, i)->enabled, 0,
					 __ATOMIC_RELEASE);
	}
	for (i = program; i < e->nr_programs; i++) {
		e->programs[i].joined = true;
		if (i < e->view.nr_programs)
			__atomic_store_n(&program_entry(e, i)->nr_lv, 0,
					 __ATOMIC_RELEASE);
	}
}

void dp_exchange_tidy(struct dp_engine *e, const struct dp_disabled *off)
{
	u32 i;

	for (i = 0; i < off->n; i++)
		if (off->v[i] == DP_OFF_RETIRED && e->probes[i].linked &&
		    e->probes[i].kind == DP_KIND_PLAIN)
			dp_link_out(e, i);
}

void dp_exchange_end(struct dp_engine *e)
{
	u32 i;

	e->exchanging = false;
	for (i = 0; i < e->nr_programs; i++)
		e->programs[i].leaving = false;
}
