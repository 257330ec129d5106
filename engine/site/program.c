// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* program: programs that an engine's probes run. */
#include "engine/layout/site.h"
#include "engine/layout/ring.h"
#include "engine/site/engine.h"
#include "engine/site/program.h"
#include "engine/site/internal.h"
#include "engine/vm/vm.h"
#include "port.h"

#define JMPMAX_MAX 65535
#define SMALL_STACK 32

static u32 clamp(u32 value, u32 max)
{
	return value < max ? value : max;
}

static u32 larger(u32 a, u32 b)
{
	return a > b ? a : b;
}

static void copy_name(char *to, const char *from)
{
	size_t i;

	for (i = 0; i < DP_PROGRAM_NAME - 1 && from && from[i]; i++)
		to[i] = from[i];
	to[i] = '\0';
}

/* Variables that have to be given room */
static u32 locals_of(const struct dp_program_spec *spec)
{
	return spec->shares ? 0 : larger(spec->nr_lv, spec->room_lv);
}

/* Does the program whose variables it shares have that many? */
static bool may_share(const struct dp_engine *e,
		      const struct dp_program_spec *spec)
{
	return !spec->shares ||
	       (spec->shares <= e->nr_programs &&
		!e->programs[spec->shares - 1].spec.shares &&
		spec->nr_lv <= locals_of(&e->programs[spec->shares - 1].spec));
}

/* One that has been removed leaves its number. */
static int take_number(struct dp_engine *e, u32 *program)
{
	u32 i = 0;

	while (i < e->nr_programs && !e->programs[i].gone)
		i++;
	*program = i;
	if (i < e->nr_programs)
		return 0;
	if (dp_engine_reserve((void **)&e->programs, e->nr_programs,
			      &e->cap_programs, sizeof(*e->programs)))
		return -ENOMEM;
	e->nr_programs++;
	return 0;
}

int dp_engine_add_program(struct dp_engine *e,
			  const struct dp_program_spec *spec, u32 *program,
			  u32 *offset, const char **why)
{
	struct dp_program p = { .spec = *spec };
	u8 words[DP_AGGREGATE_TABLES];
	struct dp_vm_limits limits = { .aggregate_words = words };
	int err;

	p.spec.nr_lv = limits.nr_lv = clamp(spec->nr_lv, DP_VARS_MAX);
	p.spec.nr_gv = limits.nr_gv = clamp(spec->nr_gv, DP_VARS_MAX);
	p.spec.jmpmax = clamp(spec->jmpmax, JMPMAX_MAX);
	p.spec.logmax = clamp(spec->logmax, DP_VM_LOG_MOST);
	p.spec.tracemax = clamp(spec->tracemax, DP_VM_TRACES);
	p.spec.heapmax = clamp(spec->heapmax, DP_VM_HEAP);
	p.spec.room_lv = clamp(spec->room_lv, DP_VARS_MAX);
	limits.allow = spec->allow;
	dp_aggregates_words(e, words);
	*why = "it has more local variables than the program whose variables it shares";
	*offset = 0;
	if (!may_share(e, &p.spec))
		return -ENOSPC;
	p.spec.stack = spec->stack == SMALL_STACK ? SMALL_STACK : DP_VM_STACK;
	err = dp_vm_verify(spec->code, spec->code_len, &limits, spec->starts,
			   spec->nr_starts, offset, why);
	if (err)
		return err;
	*why = "out of memory";
	copy_name(p.name, spec->name);
	p.code = dp_engine_dup(spec->code, spec->code_len);
	p.starts = dp_engine_dup(spec->starts,
				 spec->nr_starts * sizeof(*p.starts));
	if (!p.code || !p.starts || take_number(e, program)) {
		dp_port_free(p.code);
		dp_port_free(p.starts);
		return -ENOMEM;
	}
	p.id = ++e->program_ids;
	p.records = dp_native_records(p.code, spec->code_len, p.spec.jmpmax);
	e->programs[*program] = p;
	return 0;
}

u32 dp_engine_programs(const struct dp_engine *e)
{
	return e->nr_programs;
}

struct dp_program_spec dp_engine_program(const struct dp_engine *e, u32 program)
{
	const struct dp_program *p = &e->programs[program];
	struct dp_program_spec spec = p->spec;

	spec.name = p->name;
	spec.code = p->code;
	spec.starts = p->starts;
	return spec;
}

void dp_engine_bind(struct dp_engine *e, u32 probe,
		    const struct dp_binding *binding)
{
	struct dp_program *p = &e->programs[binding->program];

	e->probes[probe].bound = true;
	e->probes[probe].binding = *binding;
	p->bound++;
	p->probe = probe;
	dp_program_note(e, probe);
}

/* The record of an entry's probe is made when the instance ends. */
void dp_program_note(struct dp_engine *e, u32 probe)
{
	const struct dp_probe *p = &e->probes[probe];
	struct dp_site *s = &e->sites[p->site];

	if (!p->bound || p->kind == DP_KIND_ENTER || p->kind == DP_KIND_STUB)
		return;
	s->runs = true;
	s->records |= e->programs[p->binding.program].records;
}

/* Slots of rings, and what contexts have, are as large as the first programs needed. */
static bool has_room(const struct dp_arena_control *c,
		     const struct dp_program_spec *spec)
{
	return spec->logmax <= c->log_room && spec->tracemax <= c->trace_room &&
	       spec->heapmax <= c->heap_room;
}

u32 dp_program_locals(const struct dp_program_spec *spec)
{
	return locals_of(spec);
}

/* Of a program's code, or of its variables; of one that has no place nothing */
static struct dp_span span_of(const struct dp_program *p, bool locals)
{
	struct dp_span s = { locals ? p->lv_at : p->code_at,
			     locals ? locals_of(&p->spec) : p->spec.code_len };

	return p->placed ? s : (struct dp_span){ 0 };
}

/* Where as many are free; each program that is in the way moves it behind itself. They mostly are one behind the
 * other, so the second round finds none. */
static u64 free_at(const struct dp_engine *e, u32 want, bool locals)
{
	struct dp_span s;
	u64 at = 0;
	bool moved;
	u32 i;

	do {
		moved = false;
		for (i = 0; i < e->nr_programs; i++) {
			s = span_of(&e->programs[i], locals);
			if (at >= s.start + s.size || s.start >= at + want)
				continue;
			at = s.start + s.size;
			moved = true;
		}
	} while (moved);
	return at;
}

static bool place(const struct dp_engine *e, struct dp_program *p)
{
	const struct dp_arena_control *c = &e->arena->control;
	u32 locals = locals_of(&p->spec);
	u64 code_at = free_at(e, p->spec.code_len, false),
	    lv_at = free_at(e, locals, true);

	if (!has_room(c, &p->spec) ||
	    code_at + p->spec.code_len > c->max_code ||
	    lv_at + locals > c->max_locals)
		return false;
	p->code_at = (u32)code_at;
	p->lv_at = (u32)lv_at;
	p->placed = true;
	return true;
}

void dp_programs_forget_places(struct dp_engine *e)
{
	u32 i;

	for (i = 0; i < e->nr_programs; i++)
		e->programs[i].placed = e->programs[i].filled = false;
}

bool dp_programs_fit(struct dp_engine *e)
{
	u32 i;

	for (i = 0; i < e->nr_programs; i++)
		if (!e->programs[i].placed && !e->programs[i].gone &&
		    !place(e, &e->programs[i]))
			return false;
	return e->nr_programs <= e->arena->control.max_programs;
}

struct dp_program_rooms dp_programs_rooms(const struct dp_engine *e)
{
	struct dp_program_rooms most = { e->expected.log, e->expected.traces,
					 e->expected.heap };
	u32 i;

	for (i = 0; i < e->nr_programs; i++) {
		const struct dp_program_spec *s = &e->programs[i].spec;

		most.log = larger(most.log, s->logmax);
		most.traces = larger(most.traces, s->tracemax);
		most.heap = larger(most.heap, s->heapmax);
	}
	return most;
}

u32 dp_programs_longest(const struct dp_engine *e)
{
	return clamp(dp_programs_rooms(e).log, DP_VM_LOG);
}

void dp_programs_drop(struct dp_engine *e, u32 n)
{
	while (e->nr_programs > n) {
		struct dp_program *p = &e->programs[--e->nr_programs];

		dp_native_free(p);
		dp_port_free(p->code);
		dp_port_free(p->starts);
	}
}

static void zero(u64 *v, u32 n)
{
	while (n)
		__atomic_store_n(&v[--n], 0, __ATOMIC_RELAXED);
}

void dp_engine_zero_globals(struct dp_engine *e)
{
	const struct dp_arena_control *c = &e->arena->control;
	struct dp_vm_globals *globals =
		(void *)((char *)e->arena + c->globals_off);
	u32 i;

	zero((void *)((char *)e->arena + c->gv_off), c->nr_gv);
	for (i = 0; c->globals_off && i < DP_VM_GLOBALS; i++) {
		__atomic_store_n(&globals->state[i], 0, __ATOMIC_RELAXED);
		__atomic_store_n(&globals->value[i], 0, __ATOMIC_RELAXED);
	}
}

static u64 *locals_at(const struct dp_engine *e, const struct dp_program *p)
{
	return (void *)((char *)e->arena + p->lv_off);
}

/* Only control writes this table. */
static struct dp_probe_entry *entry_of(const struct dp_engine *e, u32 probe)
{
	return (struct dp_probe_entry *)&e->view.probes[probe];
}

static void begin_met(const struct dp_engine *e, u32 probe)
{
	struct dp_probe_entry *entry = entry_of(e, probe);

	entry->met_earlier = 0;
	entry->met_since = dp_view_met(&e->view, entry->site);
}

void dp_program_fold(struct dp_engine *e, u32 probe)
{
	const struct dp_probe *p = &e->probes[probe];
	struct dp_probe_entry *entry = entry_of(e, probe);
	u64 *lv;

	if (!p->bound || !entry->counted)
		return;
	lv = locals_at(e, &e->programs[p->binding.program]);
	__atomic_fetch_add(&lv[entry->counted - 1],
			   dp_view_probe_met(&e->view, probe),
			   __ATOMIC_RELAXED);
	begin_met(e, probe);
	entry->counted = 0;
}

void dp_program_unbind(struct dp_engine *e, u32 probe)
{
	struct dp_probe *p = &e->probes[probe];

	if (!p->bound)
		return;
	if (probe < e->view.nr_probes) {
		dp_program_fold(e, probe);
		begin_met(e, probe);
	}
	e->programs[p->binding.program].bound--;
	p->bound = false;
}

void dp_program_remove(struct dp_engine *e, u32 program)
{
	struct dp_program *p = &e->programs[program];
	struct dp_program_entry *entry =
		(struct dp_program_entry *)&e->view.programs[program];

	if (p->filled)
		__atomic_store_n(&entry->nr_lv, 0, __ATOMIC_RELEASE);
	dp_native_free(p);
	dp_port_free(p->code);
	dp_port_free(p->starts);
	*p = (struct dp_program){ .gone = true };
}

void dp_programs_restart(struct dp_engine *e)
{
	dp_programs_drop(e, 0);
	dp_engine_zero_globals(e);
	__atomic_store_n(&e->arena->control.nr_programs, 0, __ATOMIC_RELEASE);
	e->view.nr_programs = 0;
}

void dp_programs_free(struct dp_engine *e)
{
	dp_programs_drop(e, 0);
	dp_port_free(e->programs);
}

/* What a probe has counted of a program's variable, in its detour */
static u64 met(const struct dp_engine *e, u32 program, u32 index, u32 probe)
{
	const struct dp_probe *p = &e->probes[probe];
	const struct dp_native *n;

	if (!p->bound || p->binding.program != program)
		return 0;
	n = dp_native_from(e, program, p->binding.start);
	return n && n->variable == index ? dp_view_probe_met(&e->view, probe) :
					   0;
}

static u64 all_met(const struct dp_engine *e, u32 program, u32 index)
{
	const struct dp_program *p = &e->programs[program];
	u64 sum = 0;
	u32 i;

	if (!e->native)
		return 0;
	if (p->bound == 1 && e->probes[p->probe].bound &&
	    e->probes[p->probe].binding.program == program)
		return met(e, program, index, p->probe);
	for (i = 0; i < e->view.nr_probes; i++)
		sum += met(e, program, index, i);
	return sum;
}

u64 dp_engine_local(const struct dp_engine *e, u32 program, u32 index)
{
	u64 *lv;

	if (!e->arena || program >= e->nr_programs ||
	    index >= e->programs[program].spec.nr_lv)
		return 0;
	lv = (void *)((char *)e->arena + e->programs[program].lv_off);
	return __atomic_load_n(&lv[index], __ATOMIC_RELAXED) +
	       all_met(e, program, index);
}

void dp_engine_zero_local(struct dp_engine *e, u32 program, u32 index)
{
	const struct dp_native *n;
	u32 i;

	if (!e->arena || program >= e->nr_programs ||
	    !e->programs[program].filled ||
	    index >= e->programs[program].spec.nr_lv)
		return;
	zero(locals_at(e, &e->programs[program]) + index, 1);
	for (i = 0; e->native && i < e->view.nr_probes; i++) {
		if (!e->probes[i].bound ||
		    e->probes[i].binding.program != program)
			continue;
		n = dp_native_from(e, program, e->probes[i].binding.start);
		if (n && n->variable == index)
			begin_met(e, i);
	}
}

void dp_engine_zero_global(struct dp_engine *e, u32 index)
{
	if (e->arena && index < e->view.nr_gv)
		zero((u64 *)&e->view.gv[index], 1);
}

u32 dp_engine_globals(const struct dp_engine *e)
{
	u32 n = 0, i;

	for (i = 0; i < e->nr_programs; i++)
		if (e->programs[i].spec.nr_gv > n)
			n = e->programs[i].spec.nr_gv;
	return n;
}

u64 dp_engine_global(const struct dp_engine *e, u32 index)
{
	if (!e->arena || index >= e->view.nr_gv)
		return 0;
	return __atomic_load_n(&e->view.gv[index], __ATOMIC_RELAXED);
}
