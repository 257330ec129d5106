/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* module: a command, launched, and the one module of it that is to be probed. */
#ifndef DP_TEST_MODULE_H
#define DP_TEST_MODULE_H

#include "proc/proc.h"
#include "sym/sym.h"
#include <stdlib.h>
#include "engine/site/engine.h"
#include "resolve/reach.h"

/**
 * struct target - @proc stands before its first own code
 * @mods: all of its modules; @module: the one
 * @engine: still without a probe
 */
struct target {
	struct dp_process *proc;
	struct dp_modules *mods;
	const struct dp_module *module;
	struct dp_engine *engine;
	struct dp_reach_reader reach_reader;
};

/** launch_target() - Return: 0 or a negative errno, with words. */
static inline int launch_target(struct target *t, char *const argv[],
				const char *module, enum dp_arming arming,
				struct dp_diag *diag)
{
	const struct dp_module **list;
	size_t n;
	int err = dp_process_launch(argv, &t->proc, diag);

	if (!err)
		err = dp_modules_open(dp_process_pid(t->proc),
				      dp_process_mem(t->proc), &t->mods, diag);
	if (!err)
		err = dp_modules_match(t->mods, module, &list, &n, diag);
	if (err)
		return err;
	t->module = list[0];
	free(list);
	err = dp_engine_create(&t->engine);
	if (err)
		return err;
	dp_engine_set_arming(t->engine, arming);
	t->reach_reader =
		(struct dp_reach_reader){ .mods = t->mods, .arming = arming };
	return 0;
}

#endif
