/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stop: hold threads of the target for a moment.
 *
 * Context of every function: tool process, one thread at a time per object.
 */
#ifndef DP_PROC_PTRACE_STOP_H
#define DP_PROC_PTRACE_STOP_H

#include <signal.h>
#include <sys/types.h>
#include <time.h>
#include "port_types.h"

struct dp_diag;
struct dp_map;
struct dp_process;
struct dp_sigframe;
struct dp_thread;
struct dp_ucontext;

int dp_stop_all(struct dp_process *proc, struct dp_diag *diag);
void dp_stop_release(struct dp_process *proc);

/**
 * dp_stop_maps() - the target's mappings, read once per stop
 *
 * Areas that the tool maps during the stop are missing.
 * Return: valid until the target is released; NULL: the mappings cannot be read.
 */
const struct dp_maps *dp_stop_maps(struct dp_process *proc);

/** dp_last_maps() - the mappings that dp_stop_maps() read last, or the present ones */
const struct dp_maps *dp_last_maps(struct dp_process *proc);
/** dp_stop_release_one() - release one thread before the others */
void dp_stop_release_one(struct dp_process *proc, pid_t tid);
/** dp_stop_alone() - dp_stop_all(), at a moment when no vfork child runs in the target's
 *  memory. Return: as dp_stop_all(). */
int dp_stop_alone(struct dp_process *proc, struct dp_diag *diag);
/** dp_stop_more() - stop the threads too that were left asleep.
 *  Return: 0; on error no thread is stopped. */
int dp_stop_more(struct dp_process *proc, struct dp_diag *diag);
/** dp_stop_deaf() - stop the threads too that block a caught signal, are in a masked wait, or
 *  have woken up since. Return: as dp_stop_more(). */
int dp_stop_deaf(struct dp_process *proc, struct dp_diag *diag);
/** dp_stop_rest() - behind dp_stop_alone(), stop all threads: one that is stopped late may have made another one.
 *  Return: as dp_stop_more(). */
int dp_stop_rest(struct dp_process *proc, struct dp_diag *diag);
/** dp_stop_again() - stop the threads too that have woken up since. Return: as dp_stop_all(). */
int dp_stop_again(struct dp_process *proc, struct dp_diag *diag);
/** dp_stop_run_on() - let a stopped thread run for a moment, the others held.
 *  Return: 0; -ESRCH the thread does not stop any more */
int dp_stop_run_on(struct dp_process *proc, struct dp_thread *t);
/**
 * dp_stop_run_out() - let stopped threads, from the @from-th on, run one by one until
 * @inside(@arg, pc) is false
 *
 * Gives up after 2 ms and @proc->patience.
 * Return: false if a thread may still be inside.
 */
bool dp_stop_run_out(struct dp_process *proc, size_t from,
		     bool (*inside)(const void *arg, u64 pc), const void *arg);

/** dp_stop_one() - stop one thread, if possible one that need not be woken */
int dp_stop_one(struct dp_process *proc, struct dp_diag *diag);
/** dp_stop_this() - stop @tid only. Return: 0; -EAGAIN not stopped; as dp_stop_all() */
int dp_stop_this(struct dp_process *proc, pid_t tid, struct dp_diag *diag);
/**
 * dp_stop_pass() - make running threads, but for the held ones, pass through the kernel
 * @bother: another tracer is an error
 * Return: as dp_stop_all(), with a diagnosis.
 */
int dp_stop_pass(struct dp_process *proc, bool bother, struct dp_diag *diag);

/** dp_stop_held() - the object of a thread that the tool has stopped; NULL: it is not */
struct dp_thread *dp_stop_held(const struct dp_process *proc, pid_t tid);
/** dp_trace_options() - ptrace(2) options of the threads while they are stopped */
u64 dp_trace_options(const struct dp_process *proc);

/* wait: what waitpid(2) says. */

/** dp_stop_wait() - waitpid(2) for the next stop or the end of a thread; waits on after
 *  EINTR. Return: as waitpid(2). */
pid_t dp_stop_wait(pid_t tid, int *status);

/**
 * dp_stop_seen() - waitpid(2) for a thread, or any (-1), that leaves signals with the kernel
 * @flags: WNOHANG or 0
 *
 * A stop for a signal is not reaped, so the caller resumes the thread before the next call.
 * If the tool is killed first, the kernel delivers the signal. It would drop the signal of a
 * reaped stop: after a breakpoint the thread would go on inside an instruction.
 * Return: as waitpid(2).
 */
pid_t dp_stop_seen(pid_t tid, int *status, int flags);

/** dp_child_try() - call @works with a child process that sleeps, then kill the child.
 *  Return: what @works does; false also if fork(2) fails. */
bool dp_child_try(bool (*works)(pid_t child));

/* await: wait for the next stop of a traced thread, its end, or its exec. */

/** dp_stops_group() - does signal @sig stop a whole process? */
static inline bool dp_stops_group(int sig)
{
	return sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN ||
	       sig == SIGTTOU;
}

/** dp_stop_note() - note of a held thread, whose PTRACE_EVENT_STOP has come, whether its process stops:
 *  it stays so when it is released */
void dp_stop_note(struct dp_process *proc, struct dp_thread *thread,
		  int status);

/**
 * dp_stop_await() - the next stop, or the end, of one thread while others are held
 *
 * Reaps other ended threads meanwhile. The kernel reports neither an exec nor the end of the
 * first thread before the other threads' ends have been reaped.
 * Return: as dp_stop_seen(), and never 0.
 */
pid_t dp_stop_await(struct dp_process *proc, pid_t tid, int *status);

/** dp_await_until() - dp_stop_await() with a @deadline on CLOCK_MONOTONIC, in ns.
 *  Return: as dp_stop_await(); 0: not in time. */
pid_t dp_await_until(struct dp_process *proc, pid_t tid, int *status,
		     s64 deadline);
/** dp_await_stop() - wait for the stop of an interrupted thread; its other events are handled.
 *  Return: 1 stopped, 0 gone, -EAGAIN not in time, -ESRCH it has executed a program. */
int dp_await_stop(struct dp_process *proc, struct dp_thread *t, s64 deadline);
/**
 * dp_stop_ends() - reap ended threads that the tool traces, but for the first thread
 *
 * Until they are reaped, an exec by another thread does not go on, and the first thread does
 * not end.
 */
void dp_stop_ends(struct dp_process *proc);

/** dp_stop_reap() - reap threads that were killed while the tool held them; until then their
 *  process does not end */
void dp_stop_reap(const struct dp_process *proc);

/**
 * dp_stop_lost() - handle the end or, in a process tree, the exec of a thread
 * @status: from waitpid(2), which reports each event once
 *
 * Return: false if @status is neither.
 */
bool dp_stop_lost(struct dp_process *proc, pid_t tid, int status);

/* resume: send a thread back into a system call that a stop has interrupted. */

/** dp_resume_call() - restart the call of a thread that has just been stopped */
void dp_resume_call(const struct dp_process *proc, struct dp_thread *t);

/* seize: PTRACE_SEIZE that returns -EINTR instead of waiting for a tracer that waits for it. */

/** struct dp_seizer - state of a series of dp_seize(); zeroed first, dp_seizer_end() last */
struct dp_seizer {
	bool begun;
	timer_t timer;
	sigset_t mask;
};

/**
 * dp_seize() - PTRACE_SEIZE that does not deadlock with an exec in the target
 * @traces: does the caller trace threads of that process already?
 *
 * Context: one thread of the tool's at a time, or of a library's process.
 * Return: 0; -EINTR an exec may be waiting for the end of a thread that the caller traces:
 * call dp_stop_ends() and try again; as ptrace(2).
 */
int dp_seize(struct dp_seizer *s, pid_t tid, u64 options, bool traces);

/** dp_seizer_end() - end a series: restores the signal's action and mask */
void dp_seizer_end(struct dp_seizer *s);

/* sync: make every thread of the target see what was written to its text. */

/** dp_sync_begin() - before text is written: check that threads can be interrupted.
 *  Return: 0, or as dp_stop_all(), with a diagnosis. */
int dp_sync_begin(struct dp_process *proc, struct dp_diag *diag);
/** dp_sync() - make all threads see what has been written. Does nothing if all threads are
 *  held, or outside dp_sync_begin() and dp_sync_end(). */
int dp_sync(struct dp_process *proc);
void dp_sync_end(struct dp_process *proc);
/** dp_rseq_common() - offset of every stopped thread's struct rseq from its thread pointer.
 *  Return: false if a thread has none, or they differ. */
bool dp_rseq_common(const struct dp_process *proc, s32 *offset, u32 *signature);
/** dp_rseq_likely() - the tool's own: most processes have the same libc. Return: as above. */
bool dp_rseq_likely(s32 *offset, u32 *signature);

/* thread_state: the system call in which a thread sleeps. Context: tool process; may sleep. */

/** struct dp_thread_state - the system call in which a thread sleeps, and where it was made */
struct dp_thread_state {
	long nr;
	unsigned long long args[6], sp, pc;
};

/** dp_call_index() - the index of call @nr among @n numbers. Return: negative: it is none of them */
int dp_call_index(const int *numbers, size_t n, long nr);
/** dp_thread_state_read() - Return: false if the thread is in no call, or has ended */
bool dp_thread_state_read(pid_t pid, pid_t tid, struct dp_thread_state *state);
/** dp_thread_state_runs() - does the thread run? True also if /proc does not tell. */
bool dp_thread_state_runs(pid_t pid, pid_t tid);
/** dp_thread_state_masked() - is the call a masked wait? */
bool dp_thread_state_masked(const struct dp_thread_state *state);
/** dp_thread_state_vfork() - does the thread wait, in call @nr, for its vfork child? */
bool dp_thread_state_vfork(pid_t pid, pid_t tid, long nr);
/** dp_thread_state_asleep() - is the thread to be left asleep, because the program would see
 *  that it woke? @sp, @pc: its stack pointer and pc */
bool dp_thread_state_asleep(pid_t pid, pid_t tid, u64 *sp, u64 *pc);
/** dp_thread_state_is_ended() - may a stop end call @nr with EINTR? */
bool dp_thread_state_is_ended(long nr);

/* idle: a sleeping thread that holds no lock, and can do work for the tool. */

/**
 * dp_idle_stop() - stop a thread that sleeps in a call of libc in which it holds no lock
 * @text: libc's mapping
 * Return: 0; -EAGAIN no such thread just now; as dp_stop_all(), with a diagnosis.
 */
int dp_idle_stop(struct dp_process *proc, const struct dp_map *text,
		 struct dp_diag *diag);

/* stack_scan: a copy of a thread's stack. Context: tool process; may allocate. */

/**
 * struct dp_stack_scan - a copy of a thread's stack from its stack pointer up
 * @v: @n words, of which the first is at @at; free()d by the caller
 */
struct dp_stack_scan {
	u64 at;
	u64 *v;
	size_t n;
};

/** dp_stack_scan_read() - Return: 0; -ENOENT @sp is on no stack; -EFAULT; -ENOMEM */
int dp_stack_scan_read(const struct dp_process *proc,
		       const struct dp_maps *maps, u64 sp,
		       struct dp_stack_scan *words);

/**
 * dp_stop_beside() - has a stopped thread left a signal frame?
 * @uc: context of the frame, at address @at of the target
 *
 * Its stack pointer is inside. A scan of the stack in front finds such a frame where stacks lie
 * side by side.
 */
bool dp_stop_beside(const struct dp_process *proc, const struct dp_ucontext *uc,
		    u64 at);

/**
 * dp_frame_read() - is there a signal frame at @at through which a thread may return?
 * @sp: the thread's stack pointer
 * @f: out: the frame; its restorer is for the caller to look at
 *
 * What is left of a frame whose handler has returned is often still there, among locals of
 * another handler that have no value yet, or in the vector state of another frame. Parts of
 * it have been overwritten then.
 */
bool dp_frame_read(const struct dp_process *proc, u64 at, u64 sp,
		   struct dp_sigframe *f);

/* borrowed: a thread of the target that makes remote calls while the others run. */

/** dp_borrowed_begin() - hold a thread and make it ready for remote calls:
 *  dp_remote_call(). Does nothing if all threads are held already. */
int dp_borrowed_begin(struct dp_process *proc, struct dp_diag *diag);
/** dp_borrowed_alone() - the same while the others are held, too: dp_stop_alone() */
int dp_borrowed_alone(struct dp_process *proc, struct dp_diag *diag);
void dp_borrowed_end(struct dp_process *proc);

/* tracer_child: work that goes on to its end if the tool is killed. */

/* By its name the next tool knows a tracer whose end it has to wait for. */
#define DP_TRACER_CHILD_NAME "dprobes-errand"

/** dp_work_fn - work on @proc; @arg: what the caller has given with it */
typedef int dp_work_fn(struct dp_process *proc, void *arg,
		       struct dp_diag *diag);

/** dp_tracer_child() - call @work(@proc, @arg, @diag), which stops threads and releases them; in
 *  a tracer child if the end of the tracer could kill @proc
 *  Return: of @work; -ENOMEM, -EAGAIN: @work was not called; -EINTR: the child has been killed */
int dp_tracer_child(struct dp_process *proc, dp_work_fn *work, void *arg,
		    struct dp_diag *diag);
/** dp_tracer_child_always() - the same, if the end of the tracer leaves threads as they must not be */
int dp_tracer_child_always(struct dp_process *proc, dp_work_fn *work, void *arg,
			   struct dp_diag *diag);

/** dp_tracer_children_begin() - prepare once for several dp_tracer_child() in a row */
void dp_tracer_children_begin(struct dp_process *proc);
void dp_tracer_children_end(struct dp_process *proc);
/** dp_tracer_child_wait() - wait, at most 5 s, for the end of @tracer if it is a killed tool or
 *  the tracer child of one */
void dp_tracer_child_wait(pid_t tracer);

#endif
