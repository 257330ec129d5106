// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * lock: one tool at a time at one process.
 *
 * A record lock on /proc/PID/mem. Only a process that may trace PID can open that file
 * for writing, and only such a descriptor takes a write lock: no other process can hold
 * it. The lock belongs to the open file description (fcntl(2), F_OFD_SETLK). So it lasts
 * as long as the descriptor is open in the tool, or in one of its tracer children; the
 * kernel drops it at their end, however they end. It outlives an exec of the process,
 * whose id has the same file.
 *
 * Each kind of work has a byte of the file, whatever memory there may hold.
 *
 * Lock: these (DESIGN.md, Locks).
 */
#include "proc/attach/attach.h"
#include "proc/attach_other.h"
#include "proc/ptrace/process.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define LOCK_NS 5000000000ll
#define NAP_NS 2000000

/* @type: F_WRLCK or F_UNLCK */
static int set(const struct dp_process *proc, enum dp_lock which, short type)
{
	struct flock lock = { .l_type = type,
			      .l_whence = SEEK_SET,
			      .l_start = which,
			      .l_len = 1 };

	return fcntl(proc->mem, F_OFD_SETLK, &lock) ? -errno : 0;
}

static bool is_taken(int err)
{
	return err == -EAGAIN || err == -EACCES;
}

static int no_lock(const struct dp_process *proc, enum dp_lock which, int err,
		   struct dp_diag *diag)
{
	if (!is_taken(err))
		return dp_diag_set(diag, err, "process %d cannot be locked: %s",
				   proc->pid, strerror(-err));
	if (which == DP_LOCK_GUEST)
		return dp_diag_set(
			diag, -EBUSY,
			"process %d is already probed by another dprobes (fuser -v /proc/%d/mem names it); end that first",
			proc->pid, proc->pid);
	return dp_diag_set(
		diag, -EBUSY,
		which == DP_LOCK_ORDER ?
			"another dprobes is at work in process %d; try again (fuser -v /proc/%d/mem names it)" :
			"another dprobes is about to probe process %d, or to leave it; try again (fuser -v /proc/%d/mem names it)",
		proc->pid, proc->pid);
}

int dp_process_lock(const struct dp_process *proc, enum dp_lock which,
		    struct dp_diag *diag)
{
	/* A guest stays for long. */
	s64 deadline = dp_now_ns() + (which == DP_LOCK_GUEST ? 0 : LOCK_NS);
	int err;

	while (is_taken(err = set(proc, which, F_WRLCK)) &&
	       dp_now_ns() < deadline) {
		/* Then the other tool's probes are installed, and it keeps the lock. */
		if (which == DP_LOCK_AGENT && dp_recover_taken(proc, diag))
			return -EBUSY;
		dp_nap(NAP_NS);
	}
	return err ? no_lock(proc, which, err, diag) : 0;
}

void dp_process_unlock(const struct dp_process *proc, enum dp_lock which)
{
	set(proc, which, F_UNLCK);
}
