// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* target: the engine's operations on a process. */
#include "proc/proc.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/stop.h"
#include <unistd.h>

static struct dp_process *process_of(struct dp_target *target)
{
	return (struct dp_process *)target;
}

static int target_read(struct dp_target *target, u64 addr, void *to, size_t len)
{
	return dp_process_read(process_of(target), addr, to, len);
}

static int target_extract(struct dp_target *target, const struct dp_extract *v,
			  u32 n)
{
	return dp_memory_extract(process_of(target), v, n);
}

static int target_write(struct dp_target *target, u64 addr, const void *from,
			size_t len)
{
	return dp_process_write(process_of(target), addr, from, len);
}

static int target_sync(struct dp_target *target)
{
	return dp_sync(process_of(target));
}

/* The tool itself does not count as a tracer. */
static bool target_traced(struct dp_target *target)
{
	const struct dp_process *proc = process_of(target);
	struct dp_status st;

	return dp_status_read(proc->pid, proc->pid, &st) ||
	       (st.tracer && (pid_t)st.tracer != getpid());
}

const struct dp_target_ops dp_process_target_ops = {
	.read = target_read,
	.extract = target_extract,
	.write = target_write,
	.sync = target_sync,
	.traced = target_traced,
};
