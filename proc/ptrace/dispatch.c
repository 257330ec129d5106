// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * dispatch: threads under Syscall User Dispatch (prctl(PR_SET_SYSCALL_USER_DISPATCH)).
 *
 * The kernel turns such a thread's system calls into SIGSYS for the program's own handler.
 * Exempt are calls from a range of code that the thread has named, and calls while a byte of
 * its memory, the selector, permits them. So the agent makes no system call in such a
 * process, which has jumps only, no intercepts and no breakpoints. Remote calls remain:
 *
 *   the range has the gadgets of remote calls, or   as in any other thread
 *   the selector permits all calls just now
 *   the selector forbids calls                      it permits them meanwhile
 *   there is no selector                            the thread makes no remote call
 *
 * A tracer could change a thread's range, but a killed tool would not restore it. The
 * selector is memory: the thread makes it forbid calls again before it goes on (gadget.c,
 * remote.c).
 */
#include "arch/calls.h"
#include "arch/uregs.h"
#include "proc/proc.h"
#include "proc/ptrace/stop.h"
#include "proc/ptrace/remote.h"
#include "proc/ptrace/process.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

/* linux/ptrace.h, linux/prctl.h: newer than some headers */
#define GET_DISPATCH 0x4211
#define DISPATCH_ON 1
/* Calls that tell of themselves whether they are dispatched, and the time between them */
#define SOUNDINGS 16
#define SOUND_NAP_NS 200000
#define MOST_NAP_NS 2000000
#define ALLOW 0
#define BLOCK 1
#define FAULTS                                                                 \
	(1ull << (SIGSYS - 1) | 1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1) | \
	 1ull << (SIGILL - 1) | 1ull << (SIGTRAP - 1) | 1ull << (SIGFPE - 1))

/* linux/ptrace.h: struct ptrace_sud_config */
struct config {
	u64 mode, selector, offset, len;
};

/* Return: 0; -EOPNOTSUPP the kernel, before Linux 6.4, does not tell; -ESRCH */
static int get(pid_t tid, struct config *c)
{
	memset(c, 0, sizeof(*c));
	if (dp_kill_point_fails("dispatch: asked"))
		return -EOPNOTSUPP;
	if (!ptrace(GET_DISPATCH, tid, sizeof(*c), c))
		return 0;
	return errno == EIO || errno == EINVAL ? -EOPNOTSUPP : -errno;
}

int dp_dispatch_asks(pid_t tid)
{
	struct config c;

	return get(tid, &c);
}

/* The kernel compares the address behind the system call instruction. */
static bool in_range(const struct config *c, u64 call)
{
	return call + DP_SYSCALL_SIZE - c->offset < c->len;
}

static u64 return_call(const struct dp_process *proc)
{
	u8 code[DP_RESTORER_MAX];

	if (dp_process_read(proc, proc->restorer, code, sizeof(code)))
		return proc->restorer;
	return proc->restorer + dp_restorer_length(code, sizeof(code));
}

static bool is_writable(struct dp_process *proc, u64 addr)
{
	const struct dp_maps *maps = dp_stop_maps(proc);
	const struct dp_map *m = maps ? dp_maps_find(maps, addr) : NULL;

	return m && m->perms[1] == 'w';
}

static enum dp_dispatch judge(struct dp_process *proc, const struct config *c)
{
	u8 state;

	/* Code in borrowed padding is in no range that the thread has named. */
	if (!proc->borrowed && in_range(c, proc->syscall_ret) &&
	    in_range(c, return_call(proc)))
		return DP_DISPATCH_FREE;
	if (!c->selector || dp_process_read(proc, c->selector, &state, 1))
		return DP_DISPATCH_BARRED;
	if (!proc->selector_return || !is_writable(proc, c->selector))
		return DP_DISPATCH_BARRED;
	if (state == ALLOW)
		return DP_DISPATCH_FREE;
	return state == BLOCK ? DP_DISPATCH_SELECTOR : DP_DISPATCH_BARRED;
}

enum dp_dispatch dp_dispatch_of(struct dp_process *proc, pid_t tid,
				u64 *selector)
{
	struct config c;

	*selector = 0;
	if (get(tid, &c) || c.mode != DISPATCH_ON)
		return DP_DISPATCH_FREE;
	*selector = c.selector;
	return judge(proc, &c);
}

bool dp_dispatch_any(const struct dp_process *proc)
{
	struct config c;
	size_t i;

	for (i = 0; i < proc->nr_threads; i++)
		if (!get(proc->threads[i].tid, &c) && c.mode == DISPATCH_ON)
			return true;
	return false;
}

int dp_dispatch_select(const struct dp_process *proc, u64 selector, bool allow)
{
	u8 state = allow ? ALLOW : BLOCK;

	return dp_process_write(proc, selector, &state, 1);
}

bool dp_dispatch_waits(const struct dp_process *proc, pid_t tid)
{
	struct dp_status st;

	return dp_status_read(proc->pid, tid, &st) || st.pending & FAULTS;
}

/** struct look - what look() finds
 *  @any: a thread dispatches; @barred: a thread that can make no remote call, 0: none */
struct look {
	bool any;
	pid_t barred;
};

static void look_at(struct dp_process *proc, struct look *look, pid_t tid)
{
	struct config c;
	int err = get(tid, &c);

	if (err == -EOPNOTSUPP)
		proc->undisclosed = true;
	if (err || c.mode != DISPATCH_ON)
		return;
	look->any = true;
	if (judge(proc, &c) == DP_DISPATCH_BARRED)
		look->barred = tid;
}

/* Stop all threads, also those that are usually left asleep. */
static int look(struct dp_process *proc, void *arg, struct dp_diag *diag)
{
	int err = dp_stop_alone(proc, diag);
	size_t i;

	if (!err)
		err = dp_stop_more(proc, diag);
	if (err)
		return err;
	for (i = 0; i < proc->nr_threads; i++)
		look_at(proc, arg, proc->threads[i].tid);
	dp_stop_release(proc);
	return 0;
}

int dp_dispatch_look(struct dp_process *proc, struct dp_diag *diag)
{
	struct look l = { 0 };
	int err;

	/* Without a handler of SIGSYS the first dispatched call would kill the process. */
	if (!proc->catches_sigsys)
		return 0;
	err = dp_tracer_child(proc, look, &l, diag);
	if (err)
		return err;
	if (l.barred)
		return dp_diag_set(
			diag, -EOPNOTSUPP,
			"thread %d of process %d dispatches system calls to a handler of its own (prctl PR_SET_SYSCALL_USER_DISPATCH), and no selector could permit those that dprobes would have it make; it cannot be probed",
			l.barred, proc->pid);
	if (!l.any)
		return 0;
	proc->dispatches = proc->signal_free = proc->no_intercepts = true;
	proc->forbidden = ~0u;
	snprintf(proc->why_signal_free, sizeof(proc->why_signal_free),
		 "it dispatches system calls to a handler of its own");
	return 0;
}

/** struct sounding - @pc: where the thread was at the last call; @moved: it was elsewhere before */
struct sounding {
	u64 pc;
	bool moved;
};

static int sound(struct dp_process *proc, void *arg, struct dp_diag *diag)
{
	struct sounding *last = arg;
	struct dp_thread *t;
	u64 now = 0;
	int err = dp_stop_alone(proc, diag);

	if (err)
		return err;
	err = dp_remote_begin(proc, diag);
	if (!err) {
		t = dp_stop_held(proc, dp_remote_thread(proc));
		now = t ? dp_uregs_pc(&t->regs) : 0;
		dp_remote_call(proc, SYS_getpid);
		dp_remote_end(proc);
	}
	dp_stop_release(proc);
	last->moved = now != last->pc;
	last->pc = now;
	return err;
}

int dp_dispatch_sound(struct dp_process *proc, struct dp_diag *diag)
{
	struct sounding last = { 0 };
	long nap = SOUND_NAP_NS;
	int err, i;

	for (i = 0; proc->undisclosed && i < SOUNDINGS; i++) {
		err = dp_tracer_child(proc, sound, &last, diag);
		if (proc->refuses)
			return dp_dispatch_refuse(proc, diag);
		if (err)
			return err;
		/* A thread that waits for a CPU is where it was. */
		nap = last.moved ? SOUND_NAP_NS : 2 * nap;
		nap = nap < MOST_NAP_NS ? nap : MOST_NAP_NS;
		dp_nap(nap);
	}
	return 0;
}

int dp_dispatch_refuse(const struct dp_process *proc, struct dp_diag *diag)
{
	return dp_diag_set(
		diag, -EOPNOTSUPP,
		"process %d dispatches system calls to a handler of its own (prctl PR_SET_SYSCALL_USER_DISPATCH), and this kernel does not tell how; it can be probed from Linux 6.4 on",
		proc->pid);
}
