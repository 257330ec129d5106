// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * programs: what the session's probes run: programs, their variables and their records.
 *
 * Lock: each function takes dp_kmod's.
 */
#include "kmod/shared.h"
#include "engine/site/counts.h"
#include "engine/site/engine.h"
#include "engine/site/program.h"
#include "kmod/returns.h"
#include <linux/export.h>

static int interpret(u32 from)
{
	if (!dp_kmod.session || dp_engine_programs(dp_kmod.engine))
		return -EBUSY;
	dp_engine_set_native(dp_kmod.engine, from != 1, from);
	return 0;
}

int dp_kmod_interpret(u32 from)
{
	return DP_KMOD_ASK(-ENOENT, interpret(from));
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_interpret, DPROBES);

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

int dp_kmod_add_program(const struct dp_program_spec *spec, u32 *program,
			u32 *offset, const char **why)
{
	return DP_KMOD_ASK(-ENOENT,
			   dp_engine_add_program(dp_kmod.engine, spec, program,
						 offset, why));
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_add_program, DPROBES);

void dp_kmod_bind(u32 probe, const struct dp_binding *binding)
{
	mutex_lock(&dp_kmod.lock);
	if (dp_kmod.session) {
		dp_engine_bind(dp_kmod.engine, probe, binding);
		dp_returns_bind(probe, binding);
	}
	mutex_unlock(&dp_kmod.lock);
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_bind, DPROBES);

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

size_t dp_kmod_records(void (*take)(void *arg,
				    const struct dp_record_copy *record),
		       void *arg)
{
	return DP_KMOD_ASK((size_t)0,
			   dp_engine_records(dp_kmod.engine, take, arg, false));
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_records, DPROBES);
