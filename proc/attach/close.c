// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* close: detach from a process, and free its object. */
#include "engine/site/engine.h"
#include "engine/site/view.h"
#include "proc/attach/attach.h"
#include "proc/attach/area.h"
#include "proc/tree.h"
#include "proc/linker.h"
#include "proc/proc.h"
#include "proc/ptrace/tree.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/stop.h"
#include "proc/seccomp/filters.h"
#include "sym/sym.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <unistd.h>
#include "engine/site/internal.h"

int dp_process_detach(struct dp_process *proc, struct dp_diag *diag)
{
	struct dp_view view;
	int err;

	/* Children made from now on may have only a part of the probes. */
	proc->changing = true;
	if (proc->tree)
		dp_tree_pass(proc->tree);
	if (!proc->base || proc->exited || proc->execed[0])
		return 0;
	dp_filter_install_catch_up(proc);
	if (proc->out_of_reach)
		return dp_diag_set(
			diag, -EPERM,
			"process %d is under a seccomp filter by now; the agent stays there, inert; dprobes with CAP_SYS_ADMIN takes it out",
			proc->pid);
	dp_process_answer(proc);
	if (!dp_process_view(proc, &view))
		return dp_recover(proc, diag);
	dp_process_hold_asking(proc, true);
	err = dp_leave(proc, &view, diag);
	dp_process_hold_asking(proc, false);
	if (!err || err == -ESRCH) {
		__atomic_store_n(&proc->installed, false, __ATOMIC_RELEASE);
		proc->base = 0;
	}
	return err == -ESRCH ? 0 : err;
}

void dp_process_abandon(struct dp_process *proc)
{
	struct dp_arena *arena = dp_process_arena(proc);

	if (proc->tree)
		dp_tree_drop(proc->tree, proc, false);
	if (proc->file && arena)
		dp_alive_end(&arena->control);
	if (proc->attached_other)
		dp_engine_destroy(proc->engine);
	if (proc->file)
		munmap(proc->file, proc->file_size);
	dp_shares_forget(proc);
	if (proc->mem >= 0)
		close(proc->mem);
	if (proc->pidfd >= 0)
		close(proc->pidfd);
	dp_maps_free(&proc->maps);
	free(proc->threads);
	free(proc);
}

void dp_process_close(struct dp_process *proc)
{
	if (!proc)
		return;
	if (proc->base && !proc->exited && !proc->execed[0])
		dp_process_detach(proc, NULL);
	dp_process_let_go(proc);
	dp_process_abandon(proc);
}

void dp_process_let_go(struct dp_process *proc)
{
	if (!proc->held)
		return;
	proc->held = false;
	/* A SIGSTOP that came meanwhile stops the process now: the thread tells the tree. */
	if (proc->tree)
		ptrace(PTRACE_INTERRUPT, proc->pid, 0, 0);
	dp_stop_release(proc);
}
