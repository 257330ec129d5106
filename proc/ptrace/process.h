/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * process: what is known of a process, and of its threads that are stopped.
 *
 * Context of every function: tool process, one thread at a time per object.
 */
#ifndef DP_PROC_PTRACE_PROCESS_H
#define DP_PROC_PTRACE_PROCESS_H

#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/types.h>
#include <sys/user.h>
#include <time.h>
#include "port_types.h"
#include "engine/insn/region.h"
#include "engine/layout/base.h"
#include "engine/text/target.h"
#include "sym/sym.h"

struct dp_arena_hit;
struct dp_engine;
struct dp_tree;
struct dp_attached_other;
struct dp_modules;
struct dp_process;
struct dp_remote;
struct dp_view;

/** struct dp_thread - one thread that we have stopped */
struct dp_thread {
	pid_t tid;
	u64 counted; /* address of the site that it has hit, and not executed */
	bool group_stop; /* the process is stopped, for others than us */
	bool ended; /* dp_stop_ends() has taken notice of that */
	bool returned; /* dp_masks_return() has been here */
	struct user_regs_struct regs;
};

/** struct dp_intercept - a system call of libc that passes through the agent */
struct dp_intercept {
	u64 addr; /* of its "mov $nr, %eax … syscall" */
	u8 code[DP_REGION_MAX];
	u32 nr;
	u32 len; /* to behind the call */
	bool again; /* what stands before the call may be executed twice */
};
#define DP_INTERCEPTS_MAX 256

/* Pieces of code in which a program makes its system calls. */
#define DP_TEXTS_MAX 8
#define DP_RESTORERS_MAX 8

/**
 * struct dp_points - where musl makes calls in which a thread can be cancelled
 * @enter: what is called for that, 0: there is none; @maker: what that jumps to
 * @direct_call: address of its own "syscall"; @direct_depth: what it has on its stack
 *               there, up to its return address
 * @last: what it calls to make such a call, or 0; @last_call, @last_depth: the same
 * @cancel: where a cancelled thread goes on; @ends: other calls that @maker makes
 */
#define DP_POINTS_ENDS 4
struct dp_points {
	u64 enter, maker, last, cancel;
	u64 direct_call, last_call;
	s32 direct_depth, last_depth;
	u32 maker_len, nr_ends;
	u64 ends[DP_POINTS_ENDS];
};

/** struct dp_waiter - a thread that goes back to sleep, under a signal mask of its
 *  own which has @mask; then it is to get @signals */
struct dp_waiter {
	pid_t tid;
	u64 mask, signals;
};
#define DP_WAITERS_MAX 64

/** struct dp_share - memory of the target, mapped here */
struct dp_share {
	void *at;
	u64 size;
};
#define DP_SHARES_MAX 8

/** struct dp_process - see proc.h */
struct dp_process {
	struct dp_target target; /* first: the engine's handle on it */
	pid_t pid;
	int pidfd, mem;
	struct dp_tree *tree; /* its threads are traced all the time */
	bool launched, held; /* held: stopped at its start, not let go yet */
	bool reaped, installed, exited;
	bool changing; /* its probes are; @installed is what they were */
	bool status_known;
	int status;
	u32 ns_pid;
	char exe[PATH_MAX], execed[PATH_MAX];
	bool go, libc; /* @libc: one was known by its code, in the last text */
	struct dp_span texts[DP_TEXTS_MAX];
	size_t nr_texts;
	/* Code that remote calls use; @borrowed: written for the time of such calls
	 * to a place that nobody uses; @inherited: by a tool that was killed */
	u64 syscall_ret, restorer;
	bool borrowed, inherited;
	bool remnants; /* something of ours was mapped when it was looked at */
	u64 plain_return; /* room for code that needs no rt_sigreturn; 0: none */
	/* The same for code that has a selector forbid calls again: see dispatch.c */
	u64 selector_return;
	bool catches_sigsys, dispatches;
	bool undisclosed; /* the kernel does not tell whether it does */
	bool refuses; /* a remote call was dispatched */
	bool lacks_here; /* what was to be shared failed on our side */
	/* What signal frames return to, and so are known by. */
	u64 restorers[DP_RESTORERS_MAX];
	size_t nr_restorers;
	struct dp_intercept intercepts[DP_INTERCEPTS_MAX];
	size_t nr_intercepts;
	struct dp_points points;
	struct dp_waiter waiters[DP_WAITERS_MAX]; /* to be let go first */
	size_t nr_waiters;
	struct dp_thread *threads; /* the stopped ones */
	size_t nr_threads, cap_threads;
	struct dp_maps maps; /* dp_stop_maps(); @outdated: it has run since */
	bool outdated;
	bool vetted; /* their filters have just been looked at */
	struct dp_remote *
		borrowed_thread; /* one that makes calls while the others run */
	bool syncs; /* while text is being written */
	bool passed; /* all have been stopped a moment ago, and could be */
	int awake; /* dp_tracer_children_begin() */
	/* what is being armed was found in; or NULL */
	struct dp_modules *found;
	bool missed; /* these have changed since, and nobody has told */
	struct dp_engine *engine;
	/* Under seccomp; then what that permits for certain: see filters.c */
	bool filtered;
	bool signal_free; /* no breakpoint, no call: @why_signal_free */
	bool no_intercepts; /* none of the calls that would be intercepted can be made */
	bool no_return, no_restart; /* rt_sigreturn, restart_syscall */
	u32 forbidden; /* calls of the hit half's own: dp_own_bit() */
	char why_signal_free[96];
	u32 nr_filters; /* the most that one of its threads has */
	/* a filter that is about to come: see filter_install.c */
	char why_leaves[128];
	bool out_of_reach; /* it has one now, which we may not suspend */
	bool timeless; /* it must not read the time stamp counter */
	bool halted; /* it is stopped, by SIGSTOP, as it was found */
	bool own_process; /* the agent is to stay, and be its own */
	pid_t tool; /* whose it is; 0: ours */
	struct dp_attached_other *attached_other; /* attach_other.c */
	bool frozen; /* all threads stay stopped: see freeze.c */
	bool intercepts_out; /* of an agent that is still there: see leave.c */
	struct dp_engine *heir_of; /* whose place the engine takes */
	void *old_file; /* and where that one is */
	u64 old_file_size;
	size_t old_shares; /* the first ones of @shares */
	/* what is shared, and code before it is written: area.c */
	void *file;
	u64 file_size;
	s32 unsettled; /* descriptor there, until dp_area_settle(), or -1 */
	u64 base; /* of the agent in the target, 0: none */
	struct dp_share shares[DP_SHARES_MAX]; /* more of the kind */
	size_t nr_shares;
};

/** dp_process_note_exec() - it has become another program */
void dp_process_note_exec(struct dp_process *proc);

struct dp_process *dp_process_new(void);
/** dp_process_hold() - it is stopped, with one thread. Return: 0 or an errno. */
int dp_process_hold(struct dp_process *proc);
/** dp_process_view() - of the arena that we have put into it.
 *  Return: false: there is none, or it has been written over. */
bool dp_process_view(const struct dp_process *proc, struct dp_view *view);

/** dp_process_hit() - what the agent in it says; NULL: there is none yet */
const struct dp_arena_hit *dp_process_hit(const struct dp_process *proc);
/** dp_tool_of() - the process that is the tool */
pid_t dp_tool_of(const struct dp_process *proc);
/** dp_has_fsgsbase() - are there instructions that read a thread pointer? */
bool dp_has_fsgsbase(void);
/** dp_process_filters_came() - have its threads got filters that we have not looked at?
 *  @tid: has this one? 0: any of them */
bool dp_process_filters_came(const struct dp_process *proc, pid_t tid);

/* memory: the target's memory, through a descriptor that outlives an exec. */

/** dp_memory_gone() - has what we have hold of no memory any more? It ends, or it has
 *  executed. */
bool dp_memory_gone(const struct dp_process *proc);
/** dp_memory_extract() - @n pieces at once. Return: 0; -EFAULT. */
int dp_memory_extract(const struct dp_process *proc, const struct dp_extract *v,
		      u32 n);
extern const struct dp_target_ops dp_process_target_ops;

#define DP_MEMFD_PATH "/memfd:dprobes"
/** dp_path_is_ours() - of a file that a tool has mapped there? */
static inline bool dp_path_is_ours(const char *path)
{
	return !strncmp(path, DP_MEMFD_PATH, sizeof(DP_MEMFD_PATH) - 1);
}

/* From a stack pointer in the agent up to the registers */
#define DP_FRAME_MOST 65536

/* status: what /proc tells of a process and of its threads. Context: tool process; may sleep. */

/** struct dp_status - what /proc/PID/status says, as far as we ask */
struct dp_status {
	char state;
	u32 tracer, ns_pid, seccomp, filters;
	u64 pending, shared_pending, blocked, ignored, caught;
	bool shadow_stack, no_new_privs;
	u32 uid;
	u32 uids[3], gids[3]; /* real, effective, saved */
	u64 cap_permitted, cap_effective;
};

/** dp_status_read() - of task @tid of @pid. Return: 0, -ESRCH. */
int dp_status_read(pid_t pid, pid_t tid, struct dp_status *st);

/**
 * dp_status_exit() - wait(2) status of a process that has ended, of anybody's
 * Return: false if the kernel does not tell: it has been waited for already,
 * and is older than Linux 6.15; or its owner is not us.
 */
bool dp_status_exit(pid_t pid, int pidfd, int *status);

/** dp_status_filters() - how many seccomp filters it has; 1 where the kernel does not count
 *  them */
u32 dp_status_filters(const struct dp_status *st);
/** dp_stat_read() - what /proc/PID/stat says behind the name, from the state on.
 *  Return: in @text; NULL */
const char *dp_stat_read(pid_t pid, char *text, size_t size);
/** dp_tool_start() - start time of a process, 0 if there is none */
u64 dp_tool_start(pid_t pid);
/** dp_line_read() - a file's first line, without its end. Return: false if there
 *  is none. */
bool dp_line_read(const char *path, char *line, size_t size);
/** dp_status_kernel() - is it a thread of the kernel's? Anybody may know */
bool dp_status_kernel(pid_t pid);
/** dp_tasks_list() - the ids of its threads; @tids is free()d by the caller */
int dp_tasks_list(pid_t pid, pid_t **tids, size_t *n);

/* clock: the time by which waits end. Context: any. */

/** dp_now_ns() - CLOCK_MONOTONIC */
static inline s64 dp_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/*
 * kill_point: marks in the protocols, so that a test can end the tool after each.
 *
 * In the product a kill point does nothing; a test build links a dp_kill_point() of its own
 * (tests/tools/kill_points.c).
 */

/** dp_kill_point_fails() - is what @name says to fail here, as it does elsewhere? In the
 *  product it never is. */
bool dp_kill_point_fails(const char *name);

/** dp_kill_point() - a step of the attach, arm or detach protocol has been done */
void dp_kill_point(const char *name);

#endif
