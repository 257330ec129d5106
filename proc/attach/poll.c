// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* poll: what became of a process that is probed. */
#include "proc/linker.h"
#include "proc/proc.h"
#include "proc/ptrace/procfs.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/stop.h"
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

/* How often an exec that did not pass through libc is looked for. */
#define EXEC_LOOK_MS 100
/* how often to look for the end of a process during a wait for its linker */
#define ASKED_MS 10
/* a thread that is about to install a filter does not wait longer */
#define FILTER_INSTALL_MS 20

/* After an exec the old memory is gone, but the process is not. */
static bool has_executed(const struct dp_process *proc)
{
	const struct dp_arena *arena = dp_process_arena(proc);
	struct pollfd p = { proc->pidfd, POLLIN, 0 };
	struct dp_status st;
	char exe[8];
	u64 word;

	if (proc->exited)
		return arena && __atomic_load_n(&arena->hit.exec_pending,
						__ATOMIC_ACQUIRE);
	/* Memory goes first when a process ends, too. */
	return dp_process_read(proc, proc->base, &word, sizeof(word)) &&
	       !poll(&p, 1, 0) && !dp_status_read(proc->pid, proc->pid, &st) &&
	       readlink(dp_path("/proc/%d/exe", proc->pid).s, exe,
			sizeof(exe)) > 0;
}

/* Return: as poll(2), for the end of the process. */
static int wait_for_end(const struct dp_process *proc, int timeout_ms)
{
	struct pollfd p = { proc->pidfd, POLLIN, 0 };
	int got;

	do {
		got = poll(&p, 1,
			   timeout_ms < FILTER_INSTALL_MS ? timeout_ms :
							    FILTER_INSTALL_MS);
		timeout_ms -= FILTER_INSTALL_MS;
	} while (!got && timeout_ms > 0 && !dp_process_installs_filter(proc));
	return got;
}

static void look_for_end(struct dp_process *proc, int timeout_ms)
{
	if (dp_process_wait_asked(proc, timeout_ms < ASKED_MS ? timeout_ms :
								ASKED_MS))
		timeout_ms = 0;
	if (wait_for_end(proc, timeout_ms) <= 0) {
		dp_stop_reap(proc);
		return;
	}
	proc->exited = true;
	if (!proc->launched)
		proc->status_known =
			dp_status_exit(proc->pid, proc->pidfd, &proc->status);
	else if (!proc->reaped &&
		 dp_stop_wait(proc->pid, &proc->status) == proc->pid)
		proc->reaped = proc->status_known = true;
}

enum dp_process_state dp_process_poll(struct dp_process *proc, int timeout_ms)
{
	int slice = proc->installed && !proc->execed[0] ? EXEC_LOOK_MS :
							  timeout_ms;

	if (slice > timeout_ms)
		slice = timeout_ms;
	if (!proc->exited)
		look_for_end(proc, slice);
	if (proc->installed && !proc->execed[0] && has_executed(proc))
		dp_process_note_exec(proc);
	if (proc->exited)
		return DP_PROCESS_EXITED;
	return proc->execed[0] ? DP_PROCESS_EXECED : DP_PROCESS_RUNS;
}

/* Do our breakpoints raise signal @sig in the target? */
static bool is_of_breakpoints(const struct dp_process *proc, int sig)
{
	u32 k, n = dp_few(&dp_process_arena(proc)->control.nr_caught,
			  DP_CAUGHT_JUMPS);

	for (k = 0; k < n; k++)
		if ((int)dp_caught(k) == sig)
			return true;
	return false;
}

bool dp_process_trap_death(const struct dp_process *proc)
{
	const struct dp_arena *arena = dp_process_arena(proc);

	return proc->status_known && proc->installed && !proc->execed[0] &&
	       arena && WIFSIGNALED(proc->status) &&
	       is_of_breakpoints(proc, WTERMSIG(proc->status)) &&
	       !arena->hit.own_death;
}
