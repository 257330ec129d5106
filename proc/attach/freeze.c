// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * freeze: hold a process while its agent is replaced by another one.
 *
 * dp_process_detach() and dp_process_install() stop all threads several times. Under a
 * freeze they do it once, so no hit is lost between the old probes and the new ones.
 * Sleeping threads are stopped, too: a thread that woke up could enter the agent that is
 * taken out, and come back to the new one.
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

/* The replacement failed: the process still counts in the old arena. */
static void go_back(struct dp_process *proc)
{
	struct dp_arena *failed = dp_engine_arena(proc->engine);

	if (proc->file && failed)
		dp_alive_end(&failed->control);
	if (proc->file)
		munmap(proc->file, proc->file_size);
	proc->file = proc->old_file;
	proc->file_size = proc->old_file_size;
	proc->engine = proc->heir_of;
	if (proc->file && dp_engine_arena(proc->engine))
		dp_alive_enter(&dp_engine_arena(proc->engine)->control);
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

/* A thread that has reported a hit already must not do so again. */
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
