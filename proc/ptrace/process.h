/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * process: what the tool knows of a target process and of its stopped threads.
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

struct dp_arena;
struct dp_diag;
struct dp_engine;
struct dp_traced;
struct dp_tree;
struct dp_modules;
struct dp_process;
struct dp_remote;
struct dp_view;

/** struct dp_thread - a thread of the target that the tool has stopped */
struct dp_thread {
	pid_t tid;
	bool group_stop; /* in a group stop (SIGSTOP and its like) */
	bool ended; /* dp_stop_ends() has waited for the thread */
	bool returned; /* dp_masks_return() has restored its masks */
	struct user_regs_struct regs;
};

/** struct dp_intercept - a system call of libc that passes through the agent */
struct dp_intercept {
	u64 addr; /* of the "mov $nr, %eax … syscall" */
	u8 code[DP_REGION_MAX];
	u32 nr;
	u32 len; /* up to the end of the call */
	bool again; /* the instructions before the call may be executed twice */
};
#define DP_INTERCEPTS_MAX 256

/* Mappings in which a program makes its system calls, and its signal restorers. */
#define DP_TEXTS_MAX 8
#define DP_RESTORERS_MAX 8

/**
 * struct dp_points - where musl makes system calls that are cancellation points
 * @enter: __syscall_cp, 0: there is none; @maker: __syscall_cp_c, to which @enter jumps
 * @direct_call: address of the "syscall" in @maker; @direct_depth: its stack depth there
 * @last: __syscall_cp_asm, which @maker calls, or 0; @last_call, @last_depth: likewise
 * @cancel: where a cancelled thread continues; @ends: the other calls that @maker makes
 */
#define DP_POINTS_ENDS 4
struct dp_points {
	u64 enter, maker, last, cancel;
	u64 direct_call, last_call;
	s32 direct_depth, last_depth;
	u32 maker_len, nr_ends;
	u64 ends[DP_POINTS_ENDS];
};

/** struct dp_waiter - a thread that is to resume its masked wait, whose mask has @mask
 *  @signals: deferred signals to send to the thread once it sleeps again */
struct dp_waiter {
	pid_t tid;
	u64 mask, signals;
};
#define DP_WAITERS_MAX 64

/** struct dp_share - memory of the target that is mapped in the tool, too */
struct dp_share {
	void *at;
	u64 size;
};

/** struct dp_process - see proc.h */
struct dp_process {
	struct dp_target target; /* first: the engine's handle on it */
	/* What a fork child is born with. */
	struct dp_tree *tree; /* its process tree (-f), or NULL */
	struct dp_traced *traced; /* it is traced for itself alone, or NULL */
	int status;
	u32 ns_pid;
	char exe[PATH_MAX];
	bool go, libc; /* @libc: the last text searched was a known libc's */
	struct dp_span texts[DP_TEXTS_MAX];
	size_t nr_texts;
	/* Code that remote calls use. @borrowed: it is written to borrowed padding;
	 * @inherited: a killed tool has left such code there */
	u64 syscall_ret, restorer;
	bool borrowed, inherited;
	bool remnants; /* an area of a tool was mapped at the last look */
	bool recovered; /* an earlier tool had left something */
	u64 plain_return; /* room for a return without sigreturn; 0: none */
	/* Room for code that makes a selector forbid calls again: see dispatch.c */
	u64 selector_return;
	bool catches_sigsys, dispatches;
	bool undisclosed; /* the kernel does not tell of dispatch */
	bool refuses; /* a remote call was dispatched */
	bool lacks_here; /* sharing of memory failed in the tool */
	/* Return addresses of signal frames, by which the tool finds frames. */
	u64 restorers[DP_RESTORERS_MAX];
	size_t nr_restorers;
	struct dp_intercept intercepts[DP_INTERCEPTS_MAX];
	size_t nr_intercepts;
	struct dp_points points;
	bool outdated; /* @maps: it ran since, or when they were read */
	/* modules in which the sites that are being armed were found; or NULL */
	struct dp_modules *found;
	bool missed; /* mappings have changed without a loader event */
	/* Under seccomp; and what the filters surely permit: see filters.c */
	bool filtered;
	bool signal_free; /* no breakpoint, no system call: @why_signal_free */
	bool no_intercepts; /* no system call is intercepted */
	bool no_return,
		no_restart; /* rt_sigreturn, restart_syscall forbidden */
	u32 forbidden; /* the hit half's own calls: dp_own_bit() */
	char why_signal_free[96];
	u32 nr_filters; /* the highest number that a thread has */
	/* why a filter install takes the probes out: see filter_install.c */
	char why_leaves[128];
	bool out_of_reach; /* under a filter that the tool may not suspend */
	bool timeless; /* must not read the time stamp counter */
	bool halted; /* it is stopped by SIGSTOP or the like */
	s64 patience; /* of dp_stop_run_out(), in ns */
	bool own_process; /* the agent stays: the process probes itself */
	pid_t tool; /* the tool that probes it; 0: this process */
	/* attach_other.c. @quiesces: jumps are written while no thread runs; @diag: of the
	 * call that is being made */
	bool attached_other, quiesces;
	struct dp_diag *diag;
	bool intercepts_out; /* and the agent is still mapped: see leave.c */
	u64 base; /* of the agent in the target, 0: none */
	/* What is its own, from @pid on. */
	pid_t pid;
	int pidfd, mem;
	bool launched, held; /* @held: still stopped at its start */
	bool reaped, installed, exited;
	bool changing; /* probes are being taken out; @installed: as before */
	bool status_known;
	char execed[PATH_MAX];
	struct dp_waiter waiters[DP_WAITERS_MAX]; /* to be released first */
	size_t nr_waiters;
	struct dp_thread *threads; /* the stopped ones */
	size_t nr_threads, cap_threads;
	struct dp_maps maps; /* dp_stop_maps() */
	bool vetted; /* the threads' filters have just been checked */
	struct dp_remote *remote; /* of the thread that makes calls, or NULL */
	bool syncs; /* while text is being written */
	bool passed; /* all threads could be stopped a moment ago */
	int awake; /* descriptor: see dp_tracer_children_begin() */
	struct dp_engine *engine;
	void *file; /* shared memory: area.c */
	u64 file_size;
	s32 unsettled; /* descriptor there, until dp_area_settle(); or -1 */
	/* Pools that are not written yet: pools.c; @collects: others are noted, too;
	 * @wants_pool: one was refused */
	struct dp_pool_buffer *buffers;
	size_t nr_buffers, cap_buffers;
	bool collects, wants_pool;
	struct dp_share *shares; /* further shared memory */
	size_t nr_shares, cap_shares;
};

/** dp_process_note_exec() - note that the process has executed another program */
void dp_process_note_exec(struct dp_process *proc);

struct dp_process *dp_process_new(void);
/** dp_process_hold() - note that the process is stopped, with one thread.
 *  Return: 0; -ENOMEM; -ESRCH. */
int dp_process_hold(struct dp_process *proc);
/** dp_process_view() - a view of the arena in the target.
 *  Return: false: there is no arena, or the target has written over it. */
bool dp_process_view(const struct dp_process *proc, struct dp_view *view);

/** dp_process_arena() - the arena; NULL: there is none yet. dp_process_probed(): only while the
 *  probes are in. A thread that serves the process calls that without a lock, too. */
struct dp_arena *dp_process_arena(const struct dp_process *proc);
struct dp_arena *dp_process_probed(const struct dp_process *proc);
/** dp_tool_of() - id of the tool that probes the process */
pid_t dp_tool_of(const struct dp_process *proc);
/** dp_has_fsgsbase() - may instructions read the thread pointer (rdfsbase)? */
bool dp_has_fsgsbase(void);
/** dp_process_filters() - how many seccomp filters thread @tid has; 0: the thread that has most */
u32 dp_process_filters(const struct dp_process *proc, pid_t tid);
/** dp_process_filters_came() - has a thread more seccomp filters than the tool has read?
 *  @tid: the thread; 0: any */
static inline bool dp_process_filters_came(const struct dp_process *proc,
					   pid_t tid)
{
	return dp_process_filters(proc, tid) > proc->nr_filters;
}

/* memory: the target's memory, through a descriptor that outlives an exec. */

/** dp_memory_gone() - is the memory behind the descriptor gone? The process is ending, or
 *  has executed another program. */
bool dp_memory_gone(const struct dp_process *proc);
/** dp_memory_extract() - read @n pieces with one system call. Return: 0; -EFAULT. */
int dp_memory_extract(const struct dp_process *proc, const struct dp_extract *v,
		      u32 n);
extern const struct dp_target_ops dp_process_target_ops;

#define DP_MEMFD_PATH "/memfd:dprobes"
/** dp_path_is_ours() - is @path, of a mapping, that of an area of a tool? */
static inline bool dp_path_is_ours(const char *path)
{
	return !strncmp(path, DP_MEMFD_PATH, sizeof(DP_MEMFD_PATH) - 1);
}

/* The most bytes from a stack pointer in the agent up to the saved registers */
#define DP_FRAME_MOST 65536

/* status: what /proc tells of a process and of its threads. Context: tool process; may sleep. */

/** struct dp_status - the fields of /proc/PID/status that the tool uses */
struct dp_status {
	char state;
	pid_t group; /* the thread's process */
	u32 tracer, ns_pid, seccomp, filters;
	u64 pending, shared_pending, blocked, ignored, caught;
	bool shadow_stack, no_new_privs;
	u64 locked; /* bytes of memory (mlock(2)), of the process */
	u32 uids[3], gids[3]; /* real, effective, saved */
	u64 cap_permitted, cap_effective;
};

/** dp_status_read() - the status of thread @tid of @pid. Return: 0, -ESRCH. */
int dp_status_read(pid_t pid, pid_t tid, struct dp_status *st);

/**
 * dp_status_exit() - wait(2) status of a process that has ended, whoever its parent is
 * Return: false if the kernel does not tell: the process belongs to another user, or its
 * parent has waited for it and the kernel is older than Linux 6.15.
 */
bool dp_status_exit(pid_t pid, int pidfd, int *status);

/** dp_status_filters() - number of seccomp filters; 1 under seccomp where the kernel does
 *  not count them */
u32 dp_status_filters(const struct dp_status *st);
/** dp_stat_number() - a field of /proc/PID/stat by its number in proc(5), at least 4. @pid: 0: our
 *  own process. Return: 0: not known */
u64 dp_stat_number(pid_t pid, int field);
/** dp_tool_start() - start time of a process; 0: there is no such process, or it has ended */
u64 dp_tool_start(pid_t pid);
/** dp_line_read() - a file's first line, without the newline. Return: false: no line. */
bool dp_line_read(const char *path, char *line, size_t size);
/** dp_status_kernel() - is @pid a kernel thread? Every user may read that. */
bool dp_status_kernel(pid_t pid);
/** dp_tasks_list() - the thread ids of a process; the caller free()s @tids.
 *  Return: 0; -ESRCH; -ENOMEM, -EMFILE, with none listed. */
int dp_tasks_list(pid_t pid, pid_t **tids, size_t *n);

/* clock: the time that deadlines of waits are given in. Context: any. */

/** dp_now_ns() - CLOCK_MONOTONIC */
static inline s64 dp_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/** dp_nap() - sleep for a moment, in ns, less than a second */
static inline void dp_nap(long ns)
{
	const struct timespec nap = { 0, ns };

	nanosleep(&nap, NULL);
}

/*
 * kill_point: marks in the protocols, so that a test can end the tool after each.
 *
 * In the product a kill point does nothing; a test build links a dp_kill_point() of its own
 * (tests/tools/kill_points.c).
 */

/** dp_kill_point_fails() - is step @name to fail, as it does on other kernels? Never in
 *  the product. */
bool dp_kill_point_fails(const char *name);

/** dp_kill_point() - a step of the attach, arm or detach protocol has been done */
void dp_kill_point(const char *name);

#endif
