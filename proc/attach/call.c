// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * call: have a thread of the target call one of the target's own functions.
 *
 * The thread is not held during the call: the function may need other threads to be
 * stopped, and the tool may die. The thread goes home through the signal frame that
 * remote.c has put on its stack.
 */
#include "arch/uregs.h"
#include "proc/attach/drain.h"
#include "proc/code/intercepts.h"
#include "proc/call.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/remote.h"
#include "proc/ptrace/stop.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <sys/ptrace.h>

#define PATIENCE_NS 2000000000ll
#define NAP_NS 5000000

static int check(const struct dp_process *proc, struct dp_diag *diag)
{
	struct dp_status st;

	if (dp_status_read(proc->pid, proc->pid, &st))
		return dp_diag_set(diag, -ESRCH, "process %d has ended",
				   proc->pid);
	if (st.seccomp)
		return dp_diag_set(
			diag, -EOPNOTSUPP,
			"process %d runs under a seccomp filter, which may end it for what we would make it do",
			proc->pid);
	if (st.state == 'T')
		return dp_diag_set(
			diag, -EAGAIN,
			"process %d is stopped; let it go on (kill -CONT %d) and try again",
			proc->pid, proc->pid);
	return 0;
}

/* Looks in the thread's own memory, which is another program's if it has executed. It
 * does not change while the thread is stopped. */
static bool has_word(const struct dp_process *proc, const struct dp_call *call)
{
	long word;

	errno = 0;
	word = ptrace(PTRACE_PEEKDATA, proc->threads[0].tid, call->word_addr,
		      0);
	return !errno && (u64)word == call->word;
}

/* Return: -EAGAIN no thread sleeps where it can be borrowed. */
static int send(struct dp_process *proc, const struct dp_maps *maps,
		const struct dp_call *call, struct dp_diag *diag)
{
	const struct dp_map *text = dp_maps_find(maps, proc->syscall_ret);
	int err = text ? dp_idle_stop(proc, text, diag) : -EAGAIN;

	if (err)
		return err;
	if (dp_dispatch_any(proc)) {
		dp_stop_release(proc);
		return dp_diag_set(
			diag, -EOPNOTSUPP,
			"process %d dispatches system calls to a handler of its own (prctl PR_SET_SYSCALL_USER_DISPATCH), which would get those of the library, too",
			proc->pid);
	}
	err = -EAGAIN;
	if (!has_word(proc, call))
		err = dp_diag_set(diag, -ESRCH,
				  "process %d has executed another program",
				  proc->pid);
	else if (!dp_in_signal_handler(proc, maps,
				       dp_uregs_sp(&proc->threads[0].regs)))
		err = dp_remote_begin(proc, diag);
	if (!err)
		dp_remote_send(proc, call->entry, call->arg);
	dp_stop_release(proc);
	return err;
}

static int try(struct dp_process *proc, const struct dp_call *call,
	       struct dp_diag *diag)
{
	s64 deadline = dp_now_ns() + PATIENCE_NS;
	struct dp_maps maps;
	int err = dp_maps_read(proc->pid, &maps);

	if (err)
		return dp_diag_set(diag, -ESRCH, "process %d has ended",
				   proc->pid);
	for (;;) {
		err = send(proc, &maps, call, diag);
		if (err != -EAGAIN || dp_now_ns() > deadline)
			break;
		dp_nap(NAP_NS);
	}
	dp_maps_free(&maps);
	if (err == -EAGAIN)
		dp_diag_set(
			diag, err,
			"process %d has no thread that sleeps where it could be interrupted safely; try again when it has less to do",
			proc->pid);
	return err;
}

int dp_process_call(struct dp_process *proc, const struct dp_call *call,
		    struct dp_diag *diag)
{
	int err = check(proc, diag) ?: dp_kind_find(proc, diag);

	return err ?: try(proc, call, diag);
}
