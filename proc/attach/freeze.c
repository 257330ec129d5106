// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * freeze: hold a process while its agent is replaced by another one.
 *
 * What dp_process_detach() and dp_process_install() do at several moments, each with
 * all threads stopped, they do at one. So no hit is lost between the old probes
 * and the new ones. Threads that sleep are stopped, too: one that woke up meanwhile could
 * go into the agent that is taken out, and come back to the other one.
 */
#include "engine/layout/arena.h"
#include "engine/site/engine.h"
#include "engine/site/view.h"
#include "arch/uregs.h"
#include "proc/attach/attach.h"
#include "proc/attach/area.h"
#include "proc/linker.h"
#include "proc/proc.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/stop.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include "engine/site/internal.h"

int dp_process_freeze(struct dp_process *proc, struct dp_diag *diag)
{
	int err = dp_stop_alone(proc, diag);

	if (!err)
		err = dp_stop_more(proc, false, diag);
	if (err)
		return err;
	err = dp_linker_home(proc);
	if (err) {
		dp_stop_release(proc);
		return dp_diag_set(diag, err, "process %d has ended",
				   proc->pid);
	}
	proc->frozen = true;
	dp_kill_point("freeze: held");
	return 0;
}

/* What could not be replaced is still what there are counts in. */
static void go_back(struct dp_process *proc)
{
	struct dp_arena *failed = dp_engine_arena(proc->engine);

	if (proc->file && failed)
		dp_alive_leave(&failed->control);
	if (proc->file)
		munmap(proc->file, proc->file_size);
	proc->file = proc->old_file;
	proc->file_size = proc->old_file_size;
	proc->engine = proc->heir_of;
	dp_shares_forget(proc, proc->old_shares,
			 proc->nr_shares - proc->old_shares);
}

void dp_process_thaw(struct dp_process *proc)
{
	proc->frozen = false;
	dp_stop_release(proc);
	if (proc->old_file && proc->installed) {
		munmap(proc->old_file, proc->old_file_size);
		dp_shares_forget(proc, 0, proc->old_shares);
	} else if (proc->old_file) {
		go_back(proc);
	}
	proc->old_file = NULL;
	proc->heir_of = NULL;
}

/* Who has told of a hit already does not do so again. */
static void go_on_behind(struct dp_process *proc)
{
	struct dp_view view;
	size_t i;
	u64 to;

	if (!dp_process_view(proc, &view))
		return;
	for (i = 0; i < proc->nr_threads; i++) {
		struct dp_thread *t = &proc->threads[i];

		if (!t->counted || dp_uregs_pc(&t->regs) != t->counted)
			continue;
		to = dp_view_after_hit(&view, t->counted);
		if (!to)
			continue;
		dp_uregs_set_pc(&t->regs, to);
		ptrace(PTRACE_SETREGS, t->tid, 0, &t->regs);
	}
}

int dp_process_reinstall(struct dp_process *proc, struct dp_engine *engine,
			 struct dp_diag *diag)
{
	int err;

	proc->heir_of = proc->engine;
	proc->old_file = proc->file;
	proc->old_file_size = proc->file_size;
	proc->old_shares = proc->nr_shares;
	proc->file = NULL;
	if (dp_engine_arena(proc->heir_of))
		dp_alive_leave(&dp_engine_arena(proc->heir_of)->control);
	err = dp_process_install(proc, engine, diag);
	if (!err && proc->frozen)
		go_on_behind(proc);
	dp_kill_point("freeze: replaced");
	return err;
}
