// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * tracer_child: work that goes on to its end if the tool is killed.
 *
 * A filter is suspended only while the tool traces. If the tool dies, the filter is in force
 * again for a remote call that a thread has begun, and may kill for it. Likewise, threads may
 * share a selector that permits calls (dispatch.c). And a thread whose signals the tool holds off would
 * never have them again. So a child in the tool's memory traces,
 * and goes on until all threads are released. The next tool waits for the child.
 */
#include "proc/call.h"
#include "proc/ptrace/stop.h"
#include "proc/ptrace/procfs.h"
#include "proc/ptrace/process.h"
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TRACER_CHILD_MS 5000

struct tracer_child {
	struct dp_process *proc;
	dp_work_fn *work;
	void *arg;
	struct dp_diag *diag;
	int err;
};

/*
 * Keep CPUs out of deep idle states: between remote calls the thread's CPU would go to sleep,
 * and take longer to wake up than the call takes. The request (pm_qos_interface in the
 * kernel's documentation) ends when the file is closed. Only root may make it.
 * Return: the file, or -1.
 */
static int keep_awake(void)
{
	static const s32 microseconds = 0;
	int fd = open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, &microseconds, sizeof(microseconds)) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

void dp_tracer_children_begin(struct dp_process *proc)
{
	if (proc->awake < 0)
		proc->awake = keep_awake();
}

void dp_tracer_children_end(struct dp_process *proc)
{
	if (proc->awake >= 0)
		close(proc->awake);
	proc->awake = -1;
}

/* While threads are stopped, naps must not last longer than asked for. */
static void run(void *arg)
{
	struct tracer_child *e = arg;
	int slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
	int awake = e->proc->awake < 0 ? keep_awake() : -1;

	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	e->err = e->work(e->proc, e->arg, e->diag);
	prctl(PR_SET_TIMERSLACK, slack, 0, 0, 0);
	if (awake >= 0)
		close(awake);
}

/* An ending process loses its memory first, then closes its files, and so drops its locks,
 * and last releases the threads that it traces. */
static bool is_ending(pid_t tracer)
{
	char sizes[64] = "";

	dp_line_read(dp_path("/proc/%d/statm", tracer).s, sizes, sizeof(sizes));
	return !strncmp(sizes, "0 ", 2);
}

void dp_tracer_child_wait(pid_t tracer)
{
	struct pollfd p = { .events = POLLIN };
	char comm[32] = "";

	dp_line_read(dp_path("/proc/%d/comm", tracer).s, comm, sizeof(comm));
	if (strcmp(comm, DP_TRACER_CHILD_NAME) && !is_ending(tracer))
		return;
	p.fd = (int)syscall(SYS_pidfd_open, tracer, 0);
	if (p.fd < 0)
		return;
	poll(&p, 1, TRACER_CHILD_MS);
	close(p.fd);
}

/* Where the tool itself keeps tracing the threads, a child cannot. */
static bool is_possible(const struct dp_process *proc)
{
	return !proc->tree && !proc->held;
}

static int do_work(struct tracer_child *e, bool in_child)
{
	const struct dp_child child = { .work = run,
					.arg = e,
					.name = DP_TRACER_CHILD_NAME,
					.outlives = true };
	int err = 0;

	if (in_child)
		err = dp_child_run(&child);
	else
		run(e);
	return err ?: e->err;
}

int dp_tracer_child(struct dp_process *proc, dp_work_fn *work, void *arg,
		    struct dp_diag *diag)
{
	struct tracer_child e = { proc, work, arg, diag, 0 };

	return do_work(&e, (proc->filtered || proc->dispatches) &&
				   is_possible(proc));
}

int dp_tracer_child_always(struct dp_process *proc, dp_work_fn *work, void *arg,
			   struct dp_diag *diag)
{
	struct tracer_child e = { proc, work, arg, diag, 0 };

	return do_work(&e, is_possible(proc));
}
