/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stop: threads of the target, held for a moment.
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
struct dp_maps;
struct dp_process;
struct dp_thread;

int dp_stop_all(struct dp_process *proc, struct dp_diag *diag);
void dp_stop_release(struct dp_process *proc);

/**
 * dp_stop_maps() - the mappings, read once while it is stopped
 *
 * What we map ourselves meanwhile is not among them. Return: until it is let go; NULL:
 * they cannot be read.
 */
const struct dp_maps *dp_stop_maps(struct dp_process *proc);

/** dp_last_maps() - as they were at the last stop of that kind, or are, if there was none */
const struct dp_maps *dp_last_maps(struct dp_process *proc);
/** dp_stop_release_one() - let one go before the others */
void dp_stop_release_one(struct dp_process *proc, pid_t tid);
/** dp_stop_alone() - all of them, at a moment when no vfork child runs in their
 *  memory. Return: as dp_stop_all(). */
int dp_stop_alone(struct dp_process *proc, struct dp_diag *diag);
/** dp_stop_more() - those too that were left asleep; @deaf: only such as block
 *  SIGTRAP. Return: 0 or a negative errno; then nobody is stopped any more. */
int dp_stop_more(struct dp_process *proc, bool deaf, struct dp_diag *diag);
/** dp_stop_again() - those too that have woken up since. Return: as dp_stop_all(). */
int dp_stop_again(struct dp_process *proc, struct dp_diag *diag);
/** dp_stop_halt() - of those that are held, one that has been let run. @deadline: on
 *  CLOCK_MONOTONIC, in ns. Return: 0; -ESRCH it does not stop any more */
int dp_stop_halt(struct dp_process *proc, struct dp_thread *t, s64 deadline);
/** dp_stop_take() - the same of one whose stop has been waited for: a PTRACE_EVENT_STOP */
int dp_stop_take(struct dp_process *proc, struct dp_thread *t, int status);
/** dp_stop_run_on() - let a stopped thread run for a moment, the others held.
 *  Return: 0; -ESRCH it does not stop any more */
int dp_stop_run_on(struct dp_process *proc, struct dp_thread *t);
/** dp_stop_suspends() - a thread that is stopped is under no filter, one that runs is.
 *  Return: false if it has ended */
bool dp_stop_suspends(const struct dp_process *proc, pid_t tid, bool suspend);

/**
 * dp_stop_run_out() - let stopped threads, from the @from-th on, run on to where they are
 * not inside something any more, the others being held
 *
 * As far as that goes in a moment.
 */
void dp_stop_run_out(struct dp_process *proc, size_t from,
		     bool (*inside)(const void *arg, u64 pc), const void *arg);

/** dp_stop_one() - one thread only, whichever is best at it */
int dp_stop_one(struct dp_process *proc, struct dp_diag *diag);
/** dp_stop_this() - this one only. Return: 0; -EAGAIN it has not stopped; as dp_stop_all() */
int dp_stop_this(struct dp_process *proc, pid_t tid, struct dp_diag *diag);
/**
 * dp_stop_pass() - make whoever runs pass through the kernel, but for those who are held
 * @bother: it is an error if somebody else traces it
 * Return: as dp_stop_all(), with words.
 */
int dp_stop_pass(struct dp_process *proc, bool bother, struct dp_diag *diag);

/** dp_stop_held() - a thread that is stopped by us; NULL: it is not */
struct dp_thread *dp_stop_held(const struct dp_process *proc, pid_t tid);
/** dp_trace_options() - to trace its threads with, while they are stopped */
u64 dp_trace_options(const struct dp_process *proc);

/* wait: what waitpid(2) says. */

/** dp_stop_wait() - waitpid(2) for the next stop, or the end, of one, which is sure to come; no
 *  signal of ours cuts it short. What it has told is told once. */
pid_t dp_stop_wait(pid_t tid, int *status);

/**
 * dp_stop_seen() - waitpid(2) for a thread, or any (-1), that leaves signals with the kernel
 * @flags: WNOHANG or 0
 *
 * A stop for a signal is only looked at, and is to be ended before the next look: should the
 * tool be killed by then, the signal is delivered. The kernel forgets one whose stop has been
 * waited for; after a breakpoint of ours the thread would go on in the middle of an
 * instruction.
 * Return: as waitpid(2).
 */
pid_t dp_stop_seen(pid_t tid, int *status, int flags);

/** dp_child_try() - does it work with a child of ours, which does nothing and is then ended?
 *  Return: false also where there can be none. */
bool dp_child_try(bool (*works)(pid_t child));

/* await: the next stop of a thread that is traced, its end, or another program. */

/** dp_stops_group() - does signal @sig stop a whole process? */
static inline bool dp_stops_group(int sig)
{
	return sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN ||
	       sig == SIGTTOU;
}

/** dp_stop_nap() - between two looks at what is about to happen, the @n-th time that it has
 *  not. It sleeps, but not at first; it does not yield, because on a loaded machine others
 *  would then have the CPU for milliseconds. Return: has it slept? */
bool dp_stop_nap(u32 n);

/**
 * dp_stop_await() - the next stop, or the end, of one thread while others are held
 *
 * Should all be killed, or all but one that executes a program, neither that nor the first
 * thread's end is told before the ends of the others have been taken notice of.
 * Return: as dp_stop_seen(), and never 0.
 */
pid_t dp_stop_await(struct dp_process *proc, pid_t tid, int *status);

/** dp_await_until() - the same. @deadline: on CLOCK_MONOTONIC, in ns. Return: as that, and 0: not
 *  in time. */
pid_t dp_await_until(struct dp_process *proc, pid_t tid, int *status,
		     s64 deadline);
/** dp_await_stop() - the stop of a thread that was wanted; what else it has to report goes on.
 *  Return: 1 stopped, 0 gone, -EAGAIN not in time, -ESRCH it has executed a program. */
int dp_await_stop(struct dp_process *proc, struct dp_thread *t, s64 deadline);
/** dp_await_note() - it has stopped, by @status */
void dp_await_note(struct dp_process *proc, struct dp_thread *t, int status);

/**
 * dp_stop_ends() - take notice of the ends of threads that we trace, but for the first one's
 *
 * As long as we have not, an exec by another thread does not go on, nor does the first
 * thread end.
 */
void dp_stop_ends(struct dp_process *proc);

/** dp_stop_reap() - threads that were stopped by us when they were killed: as long as
 *  we have not seen their end, their process has none either */
void dp_stop_reap(const struct dp_process *proc);

/**
 * dp_stop_lost() - what waitpid(2) has said of a thread that was stopped by us, if that is
 * its end or, of one that is followed, another program
 *
 * Nobody else is told of it.
 * Return: false if it is anything else.
 */
bool dp_stop_lost(struct dp_process *proc, pid_t tid, int status);

/* resume: a system call that a stop has ended goes on. */

/** dp_resume_call() - of a thread that has just been stopped */
void dp_resume_call(const struct dp_process *proc, struct dp_thread *t);

/* seize: PTRACE_SEIZE that comes back when it has to wait. */

/** struct dp_seizer - what one seizing of threads needs; zeroed, and ended by dp_seizer_end() */
struct dp_seizer {
	bool begun;
	timer_t timer;
	sigset_t mask;
};

/**
 * dp_seize() - PTRACE_SEIZE, which must not wait for what waits for us
 * @traces: does the caller trace threads of that process already?
 *
 * Context: one thread of the tool's at a time, or of a library's process.
 * Return: 0; -EINTR a thread executes a program, and may be waiting for the end of one that
 * the caller traces: dp_stop_ends(), and again; what ptrace(2) gives.
 */
int dp_seize(struct dp_seizer *s, pid_t tid, u64 options, bool traces);

/** dp_seizer_end() - none are to be seized any more */
void dp_seizer_end(struct dp_seizer *s);

/* sync: every thread of the target sees what was written to its text. */

/** dp_sync_begin() - text will be written: see whether threads can be interrupted.
 *  Return: 0, or as dp_stop_all(), with words. */
int dp_sync_begin(struct dp_process *proc, struct dp_diag *diag);
/** dp_sync() - everybody sees what has been written. Nothing is to be done where all of
 *  them are held, or before dp_sync_begin(). */
int dp_sync(struct dp_process *proc);
void dp_sync_end(struct dp_process *proc);
/** dp_rseq_common() - where the struct rseq of every stopped thread is, from its
 *  thread pointer. Return: false if one has none, or they differ. */
bool dp_rseq_common(const struct dp_process *proc, s32 *offset, u32 *signature);

/* thread_state: which system call a thread is asleep in. Context: tool process; may sleep. */

/** struct dp_thread_state - a system call that a thread is asleep in, and where it was made */
struct dp_thread_state {
	long nr;
	unsigned long long args[6], sp, pc;
};

/** dp_thread_state_read() - Return: false if it is in none, or has ended */
bool dp_thread_state_read(pid_t pid, pid_t tid, struct dp_thread_state *state);
/** dp_thread_state_runs() - does it run, as far as can be told? */
bool dp_thread_state_runs(pid_t pid, pid_t tid);
/** dp_thread_state_masked() - has the call a signal mask of its own? */
bool dp_thread_state_masked(const struct dp_thread_state *state);
/** dp_thread_state_vfork() - does it wait, in call @nr, for its vfork child to go? */
bool dp_thread_state_vfork(pid_t pid, pid_t tid, long nr);
/** dp_thread_state_asleep() - a thread that is left asleep because waking it would
 *  show; with its stack pointer and pc */
bool dp_thread_state_asleep(pid_t pid, pid_t tid, u64 *sp, u64 *pc);
/** dp_thread_state_is_ended() - does a stop end call @nr with EINTR? */
bool dp_thread_state_is_ended(long nr);

/* idle: a thread that does nothing in particular, and can be asked to do something. */

/**
 * dp_idle_stop() - one thread that is asleep in a call of libc in which it holds no
 * lock
 * @text: libc's
 * Return: 0; -EAGAIN there is none just now; as dp_stop_all(), with words.
 */
int dp_idle_stop(struct dp_process *proc, const struct dp_map *text,
		 struct dp_diag *diag);

/* stack_scan: a copy of what is on the stack of a thread. Context: tool process; may allocate. */

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

/* borrowed: one thread of the target that is held to make calls, while the others run. */

/** dp_borrowed_begin() - hold a thread and make it ready for remote calls: @proc->borrowed_thread.
 *  None if all of them are held already. */
int dp_borrowed_begin(struct dp_process *proc, struct dp_diag *diag);
void dp_borrowed_end(struct dp_process *proc);

/* tracer_child: work that is not to end in the middle when the tool is killed. */

/**
 * dp_tracer_child() - @work(@arg), which stops threads and lets them go again; by a child in
 * our memory if the end of who traces could be the end of @proc
 * Return: what @work does; -ENOMEM, -EAGAIN: it was not called; -EINTR the child has
 * been killed.
 */
int dp_tracer_child(const struct dp_process *proc, int (*work)(void *arg),
		    void *arg);

/** dp_tracer_children_begin() - several follow one another: what each prepares once for all */
void dp_tracer_children_begin(struct dp_process *proc);
void dp_tracer_children_end(struct dp_process *proc);
/** dp_tracer_child_wait() - for the end of a tracer that is about to end: a tracer child of a tool that
 *  was killed, or such a tool itself */
void dp_tracer_child_wait(pid_t tracer);

#endif
