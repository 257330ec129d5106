// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * programs: what clients' probes run: programs, their variables and their records.
 *
 * The rings are all clients'. Whoever looks for records takes out what there is, and each record goes to the client whose
 * probe has made it.
 *
 * Lock: each function takes dp_kmod's, but those of shared.h, which need it.
 */
#include "kmod/shared.h"
#include "engine/site/backtrace.h"
#include "engine/site/counts.h"
#include "engine/site/engine.h"
#include "engine/site/program.h"
#include "engine/vm/decode.h"
#include "engine/vm/ops.h"
#include "kmod/externals.h"
#include "kmod/returns.h"
#include "kmod/tables.h"
#include <linux/export.h>

bool dp_kmod_native(u32 probe)
{
	return DP_KMOD_ASK(false, dp_engine_runs(dp_kmod.engine, probe));
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_native, DPROBES);

u64 dp_kmod_met(u32 probe)
{
	return DP_KMOD_ASK((u64)0, dp_engine_met(dp_kmod.engine, probe));
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_met, DPROBES);

/* By number of a program: whose functions it names */
static struct dp_externals_used used[DP_KMOD_PROGRAMS];

/* Its indices may be computed, so what it declares says nothing. */
static bool has_globals(u32 program)
{
	const struct dp_program_spec spec =
		dp_engine_program(dp_kmod.engine, program);
	bool has = spec.nr_gv;
	u32 at = 0;
	u64 arg;
	u8 op;

	while (!has && at < spec.code_len) {
		op = spec.code[at];
		has = (op >= DP_OPCODE_ALLOC_GV && op <= DP_OPCODE_DEC_GV) ||
		      op == DP_OPCODE_TRACE_GV || op == DP_OPCODE_LOG_GV;
		at = dp_op_decode(spec.code, at, &arg);
	}
	return has;
}

/* All programs have the same, so a value may be an address: one kind of client has any at a time, and the other begins
 * with zeros. @program: not looked at. Return: false: another kind has some */
static bool take_globals(const struct dp_client *c, u32 program)
{
	bool any = false;
	u32 i;

	for (i = 0; i < DP_KMOD_PROGRAMS && !any; i++)
		any = i != program && dp_kmod.owner[i] && has_globals(i);
	if (any || dp_kmod.shown == c->shows)
		return dp_kmod.shown == c->shows;
	dp_engine_zero_globals(dp_kmod.engine);
	dp_kmod.shown = c->shows;
	return true;
}

static void enter_program(struct dp_client *c, u32 program)
{
	set_bit(program, c->programs);
	set_bit(program, c->fresh);
	dp_kmod.owner[program] = c;
	dp_kmod.programs++;
}

static void leave_program(struct dp_client *c, u32 program)
{
	dp_program_remove(dp_kmod.engine, program);
	dp_externals_leave(&used[program]);
	clear_bit(program, c->programs);
	clear_bit(program, c->fresh);
	clear_bit(program, c->bound);
	dp_kmod.owner[program] = NULL;
	dp_kmod.programs--;
}

static int check_program(const struct dp_client *c, u32 program, u32 *offset,
			 const char **why)
{
	const struct dp_program_spec spec =
		dp_engine_program(dp_kmod.engine, program);

	*why = NULL;
	if (!dp_programs_fit(dp_kmod.engine))
		return -ENOSPC;
	*why = "no such table";
	if (!dp_tables_has(c, program))
		return -EINVAL;
	*why = "global variables are in use by who may see the kernel's addresses, or by who may not: they are not shared";
	if (has_globals(program) && !take_globals(c, program))
		return -EBUSY;
	return dp_externals_use(&used[program], spec.code, spec.code_len,
				offset, why);
}

static int add_program(struct dp_client *c, const struct dp_program_spec *spec,
		       u32 *program, u32 *offset, const char **why)
{
	int err;

	*why = NULL;
	*offset = 0;
	if (!c->begun)
		return -ENOENT;
	if (dp_kmod.programs == DP_KMOD_PROGRAMS)
		return -ENOSPC;
	err = dp_engine_add_program(dp_kmod.engine, spec, program, offset, why);
	if (err)
		return err;
	enter_program(c, *program);
	err = check_program(c, *program, offset, why);
	if (err)
		leave_program(c, *program);
	return err;
}

int dp_client_add_program(struct dp_client *c,
			  const struct dp_program_spec *spec, u32 *program,
			  u32 *offset, const char **why)
{
	return DP_KMOD_ASK(-ENOENT, add_program(c, spec, program, offset, why));
}

void dp_client_bind(struct dp_client *c, u32 probe,
		    const struct dp_binding *binding)
{
	struct dp_kmod_probe *p;

	mutex_lock(&dp_kmod.lock);
	p = dp_kmod_probe(probe);
	if (p && p->client == c && !p->armed && !p->program &&
	    test_bit(binding->program, c->programs)) {
		dp_engine_bind(dp_kmod.engine, probe, binding);
		p->program = 1 + binding->program;
		dp_returns_bind(probe, binding);
	}
	mutex_unlock(&dp_kmod.lock);
}

bool dp_client_has_program(struct dp_client *c, u32 program)
{
	return program < DP_KMOD_PROGRAMS &&
	       DP_KMOD_ASK(false, test_bit(program, c->programs));
}

static bool has_probe(u32 program)
{
	u32 i;

	for (i = 0; i < DP_KMOD_PROBES; i++)
		if (dp_kmod.probes[i].used &&
		    dp_kmod.probes[i].program == 1 + program)
			return true;
	return false;
}

/* Does another one use its variables? */
static bool is_shared(const struct dp_client *c, u32 program)
{
	u32 i;

	for_each_set_bit(i, c->programs,
			 DP_KMOD_PROGRAMS) if (dp_engine_program(dp_kmod.engine,
								 i)
						       .shares ==
					       1 + program) return true;
	return false;
}

/* Those that use another's variables come behind it, or in the place of one that has gone: so all are looked at again. */
void dp_kmod_forget_programs(struct dp_client *c, bool all, bool fresh)
{
	bool again = true;
	u32 i;

	while (again) {
		again = false;
		for_each_set_bit(i, c->programs, DP_KMOD_PROGRAMS)
		{
			if (!all && !test_bit(i, fresh ? c->fresh : c->bound))
				continue;
			if (has_probe(i) || is_shared(c, i))
				continue;
			leave_program(c, i);
			again = true;
		}
	}
	/* Variables that all have, and stacks, begin anew with the next one. */
	if (dp_kmod.programs)
		return;
	dp_programs_restart(dp_kmod.engine);
	dp_engine_forget_stacks(dp_kmod.engine);
}

static void zero_local(struct dp_client *c, u32 program, u32 index)
{
	if (test_bit(program, c->programs))
		dp_engine_zero_local(dp_kmod.engine, program, index);
}

void dp_client_zero_local(struct dp_client *c, u32 program, u32 index)
{
	mutex_lock(&dp_kmod.lock);
	zero_local(c, program, index);
	mutex_unlock(&dp_kmod.lock);
}

void dp_client_zero_global(struct dp_client *c, u32 index)
{
	mutex_lock(&dp_kmod.lock);
	if (c->begun)
		dp_engine_zero_global(dp_kmod.engine, index);
	mutex_unlock(&dp_kmod.lock);
}

u64 dp_kmod_local(u32 program, u32 index)
{
	return DP_KMOD_ASK((u64)0,
			   dp_engine_local(dp_kmod.engine, program, index));
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_local, DPROBES);

u64 dp_kmod_global(u32 index)
{
	return DP_KMOD_ASK((u64)0, dp_engine_global(dp_kmod.engine, index));
}

static bool starts(u32 program, u32 start)
{
	struct dp_program_spec spec;
	u32 i;

	if (program >= dp_engine_programs(dp_kmod.engine))
		return false;
	spec = dp_engine_program(dp_kmod.engine, program);
	for (i = 0; i < spec.nr_starts; i++)
		if (spec.starts[i] == start)
			return true;
	return false;
}

bool dp_kmod_starts(u32 program, u32 start)
{
	return DP_KMOD_ASK(false, starts(program, start));
}

static void deliver(void *unused, const struct dp_record_copy *record)
{
	const struct dp_kmod_probe *p = dp_kmod_probe(record->head.probe);

	if (p && p->client && p->client->take)
		p->client->take(p->client->arg, record);
}

void dp_kmod_deliver(void)
{
	dp_engine_records(dp_kmod.engine, deliver, NULL, false);
}

void dp_client_look(void)
{
	mutex_lock(&dp_kmod.lock);
	if (dp_kmod.engine)
		dp_kmod_deliver();
	mutex_unlock(&dp_kmod.lock);
}
