/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* settings: what the environment says of how probes are made, for tests and in doubt. */
#ifndef DP_TRACER_AGENT_SETTINGS_H
#define DP_TRACER_AGENT_SETTINGS_H

#include "engine/site/arm.h"
#include "tracer/tracer.h"

/**
 * struct dp_settings - of one process
 * @arming: DPROBES_ARM: interior, quiesce or trap
 * @native, @leave: DPROBES_NATIVE: 0, detours run no programs; leave:N, they leave each at its N-th
 *         instruction: see dp_engine_set_native()
 */
struct dp_settings {
	enum dp_arming arming;
	bool native;
	u32 leave;
};

/** dp_settings_read() - what the environment says. @diag: NULL: what is wrong is the default.
 *  Return: 0; -EINVAL. */
int dp_settings_read(struct dp_settings *settings, struct dp_diag *diag);

#endif
