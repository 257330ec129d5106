// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * attach_own: the agent in a process that will probe itself.
 *
 * Only another process can stop all threads of a process and read their masks. So a
 * helper does this part, once, and then ends. It leaves the same as a tool would, except
 * that the process itself is the tool.
 */
#include "engine/site/engine.h"
#include "proc/proc.h"
#include "proc/ptrace/process.h"
#include "proc/attach_other.h"
#include <dprobes/diag.h>
#include <errno.h>
#include "engine/site/internal.h"

static int install(struct dp_process *proc, u32 max_sites, struct dp_diag *diag)
{
	struct dp_engine *engine;

	if (dp_engine_create(&engine))
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	proc->own_process = true;
	dp_engine_attach_own(engine, max_sites);
	return dp_process_install(proc, engine, diag);
}

int dp_process_attach_own(pid_t pid, u32 max_sites, u64 *base,
			  struct dp_diag *diag)
{
	struct dp_process *proc;
	int err = dp_process_attach(pid, &proc, diag);

	if (err)
		return err;
	err = install(proc, max_sites, diag);
	*base = proc->base;
	/* On success the process owns the agent, and must not be detached. */
	if (err)
		dp_process_close(proc);
	return err;
}
