/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* private: what the files of proc share. */
#ifndef DP_PROC_PRIVATE_H
#define DP_PROC_PRIVATE_H

#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/types.h>
#include <sys/user.h>
#include <time.h>
#include "engine/control/control.h"
#include "engine/control/view.h"
#include "engine/insn/region.h"
#include "proc/seccomp/filter.h"
#include "proc/proc.h"
#include "sym/sym.h"

#define DP_SIGTRAP_BIT (1ull << 4)

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

/** struct dp_thread - one thread that we have stopped */
struct dp_thread {
	pid_t tid;
	u64 counted; /* address of the site that it has hit, and not executed */
	bool group_stop; /* the process is stopped, for others than us */
	bool ended; /* dp_stop_ends() has taken notice of that */
	bool returned; /* dp_masks_return() has been here */
	struct user_regs_struct regs;
};

/** struct dp_hooked - a system call of libc that passes through the agent */
struct dp_hooked {
	u64 addr; /* of its "mov $nr, %eax … syscall" */
	u8 code[DP_REGION_MAX];
	u32 nr;
	u32 len; /* to behind the call */
	bool again; /* what stands before the call may be executed twice */
};
#define DP_HOOKS_MAX 256
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

/** struct dp_sleeper - a thread that goes back to sleep, under a signal mask of its
 *  own which has @mask; then it is to get @signals */
struct dp_sleeper {
	pid_t tid;
	u64 mask, signals;
};
#define DP_SLEEPERS_MAX 64

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
	struct dp_family *family; /* its threads are traced all the time */
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
	u64 way_home; /* room for code that needs no rt_sigreturn; 0: none */
	/* The same for code that has a selector forbid calls again: see dispatch.c */
	u64 selector_home;
	bool catches_sigsys, dispatches;
	bool undisclosed; /* the kernel does not tell whether it does */
	bool refuses; /* a remote call was dispatched */
	bool lacks_here; /* what was to be shared failed on our side */
	/* What signal frames return to, and so are known by. */
	u64 restorers[DP_RESTORERS_MAX];
	size_t nr_restorers;
	struct dp_hooked hooks[DP_HOOKS_MAX];
	size_t nr_hooks;
	struct dp_points points;
	struct dp_sleeper sleepers[DP_SLEEPERS_MAX]; /* to be let go first */
	size_t nr_sleepers;
	struct dp_thread *threads; /* the stopped ones */
	size_t nr_threads, cap_threads;
	struct dp_maps maps; /* dp_stop_maps(); @outdated: it has run since */
	bool outdated;
	bool vetted; /* their filters have just been looked at */
	struct dp_remote *hand; /* one that makes calls while the others run */
	bool syncs; /* while text is being written */
	bool passed; /* all have been stopped a moment ago, and could be */
	int awake; /* dp_errands_begin() */
	struct dp_modules *found; /* what is being armed was found in; or NULL */
	bool missed; /* these have changed since, and nobody has told */
	struct dp_engine *engine;
	/* Under seccomp; then what that permits for certain: see filters.c */
	bool filtered;
	bool silent; /* no breakpoint, no call: @why_silent */
	bool unhooked; /* none of the calls that would be hooked can be made */
	bool no_return, no_restart; /* rt_sigreturn, restart_syscall */
	u32 forbidden; /* calls of the hit half's own: dp_own_bit() */
	char why_silent[96];
	u32 nr_filters; /* the most that one of its threads has */
	char why_leaves[128]; /* a filter that is about to come: see confine.c */
	bool out_of_reach; /* it has one now, which we may not suspend */
	bool timeless; /* it must not read the time stamp counter */
	bool halted; /* it is stopped, by SIGSTOP, as it was found */
	bool resident; /* the agent is to stay, and be its own */
	pid_t tool; /* whose it is; 0: ours */
	struct dp_lodged *lodged; /* lodge.c */
	bool frozen; /* all threads stay stopped: see freeze.c */
	bool hooks_out; /* of an agent that is still there: see leave.c */
	struct dp_engine *heir_of; /* whose place the engine takes */
	void *old_file; /* and where that one is */
	u64 old_file_size;
	size_t old_shares; /* the first ones of @shares */
	void *file; /* what is shared, and code before it is written: region.c */
	u64 file_size;
	s32 unsettled; /* descriptor there, until dp_region_settle(), or -1 */
	u64 base; /* of the agent in the target, 0: none */
	struct dp_share shares[DP_SHARES_MAX]; /* more of the kind */
	size_t nr_shares;
};

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

/* stop.c: every thread that runs, held for a moment */
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
/** dp_holes_among() - dp_holes_find() of mappings that have been read */
int dp_holes_among(const struct dp_maps *maps, size_t more,
		   struct dp_hole **holes, size_t *n);
/** dp_stop_wait() - waitpid(2) for the next stop, or the end, of one, which is sure to come; no
 *  signal of ours cuts it short. What it has told is told once. */
pid_t dp_stop_wait(pid_t tid, int *status);
/**
 * dp_stop_await() - the next stop, or the end, of one thread while others are held
 *
 * Should all be killed, or all but one that executes a program, neither that nor the first
 * thread's end is told before the ends of the others have been taken notice of.
 * Return: as dp_stop_seen(), and never 0.
 */
pid_t dp_stop_await(struct dp_process *proc, pid_t tid, int *status);
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
/**
 * dp_stop_step_out() - bring stopped threads to where they can be moved, one instruction
 * after the other and no farther
 * @caught: signals that the agent catches; those that are coming are delivered, others
 *          wait
 * @out: may it stay there?
 */
void dp_stop_step_out(struct dp_process *proc, u64 caught,
		      bool (*out)(const void *arg, const struct dp_thread *t),
		      const void *arg);
/** dp_stop_step_undo() - what a tool that was ended in the middle of that has left of a thread
 *  which has not run since. @base: of the agent */
void dp_stop_step_undo(const struct dp_process *proc, u64 base);
/** dp_stop_one() - one thread only, whichever is best at it */
int dp_stop_one(struct dp_process *proc, struct dp_diag *diag);
/** dp_stop_this() - this one only. Return: 0; -EAGAIN it has not stopped; as dp_stop_all() */
int dp_stop_this(struct dp_process *proc, pid_t tid, struct dp_diag *diag);
/** dp_stat_read() - what /proc/PID/stat says behind the name, from the state on.
 *  Return: in @text; NULL */
const char *dp_stat_read(pid_t pid, char *text, size_t size);
/** dp_status_kernel() - is it a thread of the kernel's? Anybody may know */
bool dp_status_kernel(pid_t pid);
/** dp_memory_gone() - has what we have hold of no memory any more? It ends, or it has
 *  executed. */
bool dp_memory_gone(const struct dp_process *proc);
/** dp_stop_nap() - between two looks at what is about to happen, the @n-th time that it has
 *  not. It sleeps, but not at first; it does not yield, because on a loaded machine others
 *  would then have the CPU for milliseconds. Return: has it slept? */
bool dp_stop_nap(u32 n);
/**
 * dp_stop_pass() - make whoever runs pass through the kernel, but for those who are held
 * @bother: it is an error if somebody else traces it
 * Return: as dp_stop_all(), with words.
 */
int dp_stop_pass(struct dp_process *proc, bool bother, struct dp_diag *diag);
/** dp_stop_held() - a thread that is stopped by us; NULL: it is not */
struct dp_thread *dp_stop_held(const struct dp_process *proc, pid_t tid);
/** dp_tasks_list() - the ids of its threads; @tids is free()d by the caller */
int dp_tasks_list(pid_t pid, pid_t **tids, size_t *n);

/**
 * dp_idle_stop() - one thread that is asleep in a call of libc in which it holds no
 * lock
 * @text: libc's
 * Return: 0; -EAGAIN there is none just now; as dp_stop_all(), with words.
 */
int dp_idle_stop(struct dp_process *proc, const struct dp_map *text,
		 struct dp_diag *diag);

/** struct dp_doing - a system call that a thread is asleep in, and where it was made */
struct dp_doing {
	long nr;
	unsigned long long args[6], sp, pc;
};
/** dp_doing_read() - Return: false if it is in none, or has ended */
bool dp_doing_read(pid_t pid, pid_t tid, struct dp_doing *doing);
/** dp_doing_runs() - does it run, as far as can be told? */
bool dp_doing_runs(pid_t pid, pid_t tid);
/** dp_doing_masked() - has the call a signal mask of its own? */
bool dp_doing_masked(const struct dp_doing *doing);
/** dp_doing_vfork() - does it wait, in call @nr, for its vfork child to go? */
bool dp_doing_vfork(pid_t pid, pid_t tid, long nr);
/** dp_doing_asleep() - a thread that is left asleep because waking it would
 *  show; with its stack pointer and pc */
bool dp_doing_asleep(pid_t pid, pid_t tid, u64 *sp, u64 *pc);
/** dp_doing_is_ended() - does a stop end call @nr with EINTR? */
bool dp_doing_is_ended(long nr);

/** dp_now_ns() - CLOCK_MONOTONIC */
static inline s64 dp_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* remote.c: system calls in the target's name */
struct dp_remote;
int dp_remote_begin(struct dp_process *proc, struct dp_remote **remote,
		    struct dp_diag *diag);
/** dp_remote_call() - Return: what the call returned; -ESRCH when it died */
long dp_remote_call(struct dp_remote *remote, long nr, u64 a, u64 b, u64 c,
		    u64 d, u64 e, u64 f);
/** dp_rseq_word() - address of the word that says which restartable sequence (rseq(2))
 *  a thread is in; 0: it has none */
u64 dp_rseq_word(const struct dp_thread *t);
/** dp_remote_scratch() - address of DP_REMOTE_SCRATCH bytes in the target, for arguments */
#define DP_REMOTE_SCRATCH 192
u64 dp_remote_scratch(const struct dp_remote *remote);
/** dp_remote_thread() - id of the thread that makes the calls */
pid_t dp_remote_thread(const struct dp_remote *remote);
void dp_remote_end(struct dp_remote *remote);
/**
 * dp_remote_send() - instead of that: let it call a function, and go home from
 * there by itself
 * @entry: of the function; its argument is @arg, its stack ours, and not aligned
 *
 * Signals are blocked until it is home, but for those that a probe can raise.
 */
void dp_remote_send(struct dp_remote *remote, u64 entry, u64 arg);

/* hand.c */
/** dp_hand_begin() - hold a thread and make it ready for remote calls: @proc->hand.
 *  None if all of them are held already. */
int dp_hand_begin(struct dp_process *proc, struct dp_diag *diag);
void dp_hand_end(struct dp_process *proc);

/* share.c */
/** dp_share_file() - a file without a name, of zeros, whose size is sealed.
 *  Return: its descriptor, closed on exec; or a negative errno. */
int dp_share_file(u64 size);
/** dp_share_pass() - give the target @n of our files, two at most
 *  @there: their descriptors there, to be closed there. Return: 0 or a negative errno. */
int dp_share_pass(struct dp_process *proc, struct dp_remote *remote,
		  const int *files, u32 n, s32 *there);
/** dp_share_close() - close @n descriptors there */
void dp_share_close(struct dp_remote *remote, const s32 *there, u32 n);
/**
 * dp_share_make() - memory without a name, of zeros, mapped here and not there yet
 * @there: its descriptor there
 * Return: 0 or a negative errno.
 */
int dp_share_make(struct dp_process *proc, struct dp_remote *remote, u64 size,
		  void **ours, s32 *there);
/** dp_share_why() - why memory of @size bytes could not be shared. @text: room for
 *  DP_LIMITS_TEXT bytes. Return: @text. */
const char *dp_share_why(const struct dp_process *proc, int err, u64 size,
			 char *text);
/** dp_share_map() - and mapped there, too; @over: at this address, in place of what is
 *  there, or 0. Return: address, or a negative errno. */
long dp_share_map(struct dp_process *proc, struct dp_remote *remote, u64 over,
		  u64 size, void **ours);
/** dp_shares_forget() - unmap @n of ours; what the target has dp_unmap() unmaps */
void dp_shares_forget(struct dp_process *proc, size_t from, size_t n);

/* sync.c */
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

/* masks.c */
/** dp_thread_known() - what the hit half knows a stopped thread by */
u64 dp_thread_known(const struct dp_process *proc, const struct dp_thread *t);
/** dp_masks_note() - calls with a mask of their own that stopped threads are in: of use
 *  between our actions and dp_masks_take(). Return: 0, -EFAULT, -ENOMEM. */
int dp_masks_note(struct dp_process *proc);
/** dp_masks_forget_noted() - they are long over */
void dp_masks_forget_noted(struct dp_process *proc, u64 base);
/** dp_masks_in_force() - tell the hit half that actions and masks are all ours, or not
 *  for certain any more. Return: 0, -EFAULT. */
int dp_masks_in_force(struct dp_process *proc, u64 base, bool all);
/** dp_masks_take() - SIGTRAP out of the masks of stopped threads, from the @from-th on */
int dp_masks_take(struct dp_process *proc, size_t from);
/** dp_masks_return() - and back, for those that believe it to be blocked
 *  @late: once more when the hooks are out, for threads that were not stopped yet */
void dp_masks_return(struct dp_process *proc, const struct dp_view *view,
		     bool late);
/**
 * dp_masks_settle() - let those go first who go back to sleep
 *
 * The kernel has their usual mask in force until then. The others are held, so
 * that no signal of theirs comes meanwhile.
 */
void dp_masks_settle(struct dp_process *proc);
/** dp_masks_waking() - is a stopped thread, in a call with a mask of its own, about
 *  to get a signal that the call's mask lets through? */
bool dp_masks_waking(const struct dp_process *proc, u64 base);
/** dp_masks_absent() - does a thread that is not stopped believe that, or sleep
 *  under a mask that is ours? */
bool dp_masks_absent(const struct dp_process *proc, u64 base);
/** dp_masks_take_actions(), dp_masks_return_actions() - the same for the masks of
 *  signal actions */
int dp_masks_take_actions(struct dp_process *proc, struct dp_remote *remote);
int dp_masks_return_actions(struct dp_process *proc, struct dp_remote *remote,
			    const struct dp_arena_control *control);

/**
 * struct dp_caller - where the registers of a thread are, or those in a signal
 *                    frame
 * @thread: what it is known by: dp_thread_id()
 * @call: the system call that it is in
 * @handled: it is in a handler now: they are in a frame
 * @others: where code may have what it passes on to a call
 */
#define DP_CALLER_OTHERS 9
struct dp_caller {
	u64 thread;
	s64 call;
	bool handled;
	u64 *pc, *sp, *rax, *rdi, *r8, *r9, *r10;
	u64 *others[DP_CALLER_OTHERS];
};

/* What sends a call back into its sleep, unless a signal is delivered: an error of
 * the kernel's own (linux/errno.h). */
#define DP_ERESTARTNOHAND 514

/* points.c: see there */
/** dp_points_add() - at @addr the number @nr is put where musl's function expects it */
void dp_points_add(struct dp_process *proc, const struct dp_span *span,
		   const u8 *text, u64 addr, u32 nr);
/** dp_points_touched() - are there probes between hook @h and the next one behind it? */
bool dp_points_touched(const struct dp_process *proc,
		       const struct dp_hooked *h);
/**
 * dp_points_at() - the hook that a call went through
 * @pc, @sp: of a thread at such a call or back from it; @below: what @sp was there
 * Return: NULL if it is at none that was hooked.
 */
const struct dp_hooked *dp_points_at(const struct dp_process *proc, u64 pc,
				     u64 sp, u64 *below);
/** dp_points_between() - is a thread on the way to such a call, or back? */
bool dp_points_between(const struct dp_process *proc, u64 pc, u64 sp);

/* sleeps.c: calls that sleep under a signal mask of their own */
struct dp_sleeps;
/** dp_sleeps_read() - the table of the agent at @base; free() it. NULL: failed */
struct dp_sleeps *dp_sleeps_read(const struct dp_process *proc, u64 base);
/** dp_sleeps_clear() - forget those of the threads that are stopped. What any other has in a
 *  register refers to its entry, and its return looks there. */
void dp_sleeps_clear(const struct dp_process *proc, struct dp_sleeps *sleeps);
bool dp_sleeps_has(const struct dp_sleeps *sleeps, u64 thread);
/** dp_sleeps_absent() - is there one of a thread that is not stopped? Forgets the
 *  others. */
bool dp_sleeps_absent(const struct dp_process *proc, struct dp_sleeps *sleeps);
/** dp_sleeps_native() - a call with a mask of its own that somebody is in, and that the
 *  agent has not seen. Return: false if there is none. */
bool dp_sleeps_native(const struct dp_process *proc, const struct dp_caller *c,
		      struct dp_native *native);
/** dp_sleeps_left() - the same of one that the agent has seen
 *  @caught: signals that are ours, and blocked in it */
struct dp_native dp_sleeps_left(const struct dp_sleep *sleep, u64 caught);
/**
 * dp_sleeps_take() - enter one that somebody is in
 * @caller: its registers, which change: it is to make the call (again) with all
 *          signals blocked; but for one in a handler, and where breakpoints are on
 *          the way
 * @was, @real: what it believes to be blocked outside, and what is
 * @inside: what it believes as yet, and from now on
 * Return: one of these; 0 it is in none, or none that matters; a negative errno.
 */
#define DP_SLEEP_CLOSED 1 /* @caller is to have all signals blocked */
#define DP_SLEEP_OPEN 2
int dp_sleeps_take(const struct dp_process *proc, struct dp_sleeps *sleeps,
		   const struct dp_caller *caller, u64 was, u64 real,
		   u64 *inside);
/** dp_sleeps_leave() - put back the register that one has changed.
 *  Return: the call, or NULL if it is in none. */
const struct dp_sleep *dp_sleeps_leave(const struct dp_process *proc,
				       const struct dp_sleeps *sleeps,
				       const struct dp_caller *caller);
/** dp_sleeps_find() - the same, and everything stays as it is */
const struct dp_sleep *dp_sleeps_find(const struct dp_process *proc,
				      const struct dp_sleeps *sleeps,
				      const struct dp_caller *caller);

/* install.c */
/** dp_tool_of() - the process that is the tool */
pid_t dp_tool_of(const struct dp_process *proc);
/** dp_has_fsgsbase() - are there instructions that read a thread pointer? */
bool dp_has_fsgsbase(void);
/** dp_mapping_of() - where what an engine is built from is, in it and here */
struct dp_mapping dp_mapping_of(const struct dp_process *proc);

/* attach.c */
/** dp_process_attach_as() - in the name of another process, which is the tool */
int dp_process_attach_as(pid_t pid, pid_t tool, struct dp_process **proc,
			 struct dp_diag *diag);

/* lodge.c */
void dp_lodge_free(struct dp_process *proc);

/* memory.c */
extern const struct dp_target_ops dp_process_target_ops;

/* kind.c */
/** dp_auxv_get() - a word of its auxiliary vector; 0: it has none */
u64 dp_auxv_get(pid_t pid, u64 type);
/**
 * dp_kind_find() - where its code makes system calls: @proc->texts
 * @maps: read; the caller frees them
 *
 * Waits for a dynamic linker that is still at work.
 * Return: 0; -EAGAIN it does not get on; -ESRCH.
 */
int dp_kind_find(struct dp_process *proc, struct dp_maps *maps,
		 struct dp_diag *diag);

/* scan.c */
#define DP_AROUND 32
/**
 * struct dp_syscall - a "syscall" in a text, or bytes that look like one
 * @around: from DP_AROUND bytes before it on; zeros where the text has no more
 */
struct dp_syscall {
	u64 addr;
	u8 around[2 * DP_AROUND];
};

/** struct dp_syscalls - those of @text, by address */
struct dp_syscalls {
	struct dp_span text;
	struct dp_syscall *v;
	size_t n, room;
};

/** struct dp_text_file - a file that has the bytes of a text, from @offset on; @fd: -1: there
 *  is none */
struct dp_text_file {
	int fd;
	u64 offset;
};

/** dp_scan() - find those of @text; dp_scan_free() them. @file: of it
 *  Return: 0; -ENOMEM, or what reading it gives. */
int dp_scan(const struct dp_process *proc, const struct dp_span *text,
	    const struct dp_text_file *file, struct dp_syscalls *s);
void dp_scan_free(struct dp_syscalls *s);
/** dp_syscall_next() - the first "syscall" of some bytes, or NULL */
const u8 *dp_syscall_next(const u8 *at, const u8 *end);

/* hooks.c */
/** dp_hooks_find() - those of a text's system calls that pass through the agent.
 *  Return: 0, or what reading it gives. */
int dp_hooks_find(struct dp_process *proc, const struct dp_syscalls *calls);

/** dp_hooks_add() - one more; @len bytes of whole instructions */
void dp_hooks_add(struct dp_process *proc, u64 addr, const u8 *code, u32 nr,
		  u32 len, bool again);
/** dp_hooks_call() - the numbers of those calls, one by one; -1: no more */
long dp_hooks_call(size_t i);
/** dp_hooks_wanted() - is it one of those calls? */
bool dp_hooks_wanted(u32 nr);
/** dp_hooks_sleeps() - does it have a signal mask of its own? */
bool dp_hooks_sleeps(u32 nr);

/* numbers.c */
/** dp_numbers_find() - system calls whose number is not known from the code before
 *  them, where the function around them is */
void dp_numbers_find(struct dp_process *proc, const struct dp_span *span,
		     const u8 *text);

/* gadget.c */
int dp_gadgets_find(struct dp_process *proc, struct dp_diag *diag);
/** dp_gadgets_borrow(), dp_gadgets_return() - around remote calls. Not returned is
 *  what others may be using. */
int dp_gadgets_borrow(const struct dp_process *proc);
void dp_gadgets_return(struct dp_process *proc);
/** dp_restorer_known() - do signal frames of the program return to @addr? */
bool dp_restorer_known(const struct dp_process *proc, u64 addr);
/** dp_restorer_length() - bytes up to the system call in code that ends a signal's
 *  handler; 0: @code, of which there are @size bytes, is no such code */
size_t dp_restorer_length(const u8 *code, size_t size);
#define DP_RESTORER_MAX 9
/* What the code at way_home takes from the stack: rdi, rsi, rdx, r10, r8, r9, rax, rcx,
 * r11, rip; and so much more is below the stack pointer that it leaves. */
#define DP_WAY_HOME_WORDS 10
#define DP_WAY_HOME_SKIPS 128
/* What the code at selector_home takes: the selector's address, rax, and the stack
 * pointer, which has rip so much below where it is left. */
#define DP_SELECTOR_HOME_WORDS 3
#define DP_SELECTOR_HOME_BELOW (DP_WAY_HOME_SKIPS + 8)

/** dp_trace_options() - to trace its threads with, while they are stopped */
u64 dp_trace_options(const struct dp_process *proc);

/* check.c */
/** dp_check_linker() - the dynamic linker of program or script @path, as it names it.
 *  Return: 0; -ENOENT it has none that can be read. */
int dp_check_linker(const char *path, char *linker, size_t size);
int dp_check_program(const char *path, const char *shown, struct dp_diag *diag);
/** dp_check_can_suspend() - may we suspend seccomp filters of what we trace? */
bool dp_check_can_suspend(void);
int dp_check_process(struct dp_process *proc, struct dp_diag *diag);
/** dp_check_filters() - have its threads got filters that we have not looked at? */
bool dp_check_filters(const struct dp_process *proc);
/** dp_check_thread() - has this one, and are they in force for what we have it do? */
bool dp_check_thread(const struct dp_process *proc, pid_t tid);

/* errand.c */
/**
 * dp_errand() - @work(@arg), which stops threads and lets them go again; by a child in
 * our memory if the end of who traces could be the end of @proc
 * Return: what @work does; -ENOMEM, -EAGAIN: it was not called; -EINTR the child has
 * been killed.
 */
int dp_errand(const struct dp_process *proc, int (*work)(void *arg), void *arg);
/** dp_errands_begin() - several follow one another: what each prepares once for all */
void dp_errands_begin(struct dp_process *proc);
void dp_errands_end(struct dp_process *proc);
/** dp_errand_wait() - for the end of a tracer that is about to end: an errand of a tool that
 *  was killed, or such a tool itself */
void dp_errand_wait(pid_t tracer);

/* confine.c */
/** dp_confine_waits() - does a thread at @pc wait for what becomes of its filter? */
bool dp_confine_waits(u64 base, u64 pc);
/** dp_confine_home() - those that are stopped there go to before their call.
 *  Return: 0; -ESRCH. */
int dp_confine_home(struct dp_process *proc, u64 base);
/** dp_confine_catch_up() - has it installed filters while we did not look? */
void dp_confine_catch_up(struct dp_process *proc);

/* filters.c */
/** dp_filters_presume() - they are not known yet: nothing is permitted */
void dp_filters_presume(struct dp_process *proc);
/** dp_filter_fn - what a filter says of a call */
typedef enum dp_filter_says dp_filter_fn(const void *arg, long nr);
/** dp_filters_strict() - what seccomp's strict mode says of a call */
enum dp_filter_says dp_filters_strict(long nr);
/** dp_filters_spares() - can the hit half do without that call of its own? */
bool dp_filters_spares(long nr);
/** dp_filters_lack() - a call that probes need with breakpoints and hooks, and that is not
 *  always permitted; NULL: all are */
const char *dp_filters_lack(const struct dp_process *proc, dp_filter_fn *ask,
			    const void *arg);
/** dp_filters_lack_remote() - the same of what the tool has a process do */
const char *dp_filters_lack_remote(dp_filter_fn *ask, const void *arg);
/** dp_filters_read() - if it is under seccomp, stop it for a moment and look */
void dp_filters_read(struct dp_process *proc);

/* dispatch.c */
/** enum dp_dispatch - how a thread comes to make a remote call
 *  @DP_DISPATCH_FREE: as any other; @DP_DISPATCH_SELECTOR: its selector forbids calls
 *  now; @DP_DISPATCH_BARRED: it cannot */
enum dp_dispatch {
	DP_DISPATCH_FREE,
	DP_DISPATCH_SELECTOR,
	DP_DISPATCH_BARRED,
};
/** dp_dispatch_look() - does a thread dispatch its system calls? Before anything is
 *  done in a process that decides; it is stopped for a moment.
 *  Return: 0; -EOPNOTSUPP one does that can make no call for us; as dp_stop_all(). */
int dp_dispatch_look(struct dp_process *proc, struct dp_diag *diag);
/** dp_dispatch_of() - of @tid, which is stopped. @selector: its address; 0: none */
enum dp_dispatch dp_dispatch_of(struct dp_process *proc, pid_t tid,
				u64 *selector);
/** dp_dispatch_any() - does one of the stopped threads? */
bool dp_dispatch_any(const struct dp_process *proc);
/** dp_dispatch_select() - have a selector permit or forbid calls. Return: 0; -EIO. */
int dp_dispatch_select(const struct dp_process *proc, u64 selector, bool allow);
/** dp_dispatch_waits() - does a signal wait for @tid that says where it was raised? */
bool dp_dispatch_waits(const struct dp_process *proc, pid_t tid);
/** dp_dispatch_asks() - can the kernel be asked, of a stopped thread? Return: 0,
 *  -EOPNOTSUPP. */
int dp_dispatch_asks(pid_t tid);
/** dp_dispatch_refuse() - words for a remote call that came to the program's handler */
int dp_dispatch_refuse(const struct dp_process *proc, struct dp_diag *diag);

/* texts.c: mappings whose patched pages can go back to the page cache */
void dp_texts_note(struct dp_process *proc);
bool dp_texts_clean(const struct dp_process *proc,
		    const struct dp_mapped *text);
/** dp_texts_file() - the file of a mapping none of whose pages has been written to; its
 *  descriptor is to be closed */
struct dp_text_file dp_texts_file(const struct dp_process *proc,
				  const struct dp_map *map);
/** dp_texts_gone() - sites whose code is not mapped any more become DP_SITE_GONE:
 *  whatever is there now is not touched. Return: are there any new ones? */
bool dp_texts_gone(const struct dp_process *proc, struct dp_view *view);
/** dp_texts_compare() - dp_texts_gone() of what is to be armed, and has anything changed since
 *  it was found? While the linker is held. */
void dp_texts_compare(struct dp_process *proc);
/** dp_process_note_gone() - dp_texts_gone() of our own probes */
void dp_process_note_gone(struct dp_process *proc);
/** dp_texts_mark() - and so do those that are not armed any more though their code is
 *  there: the same library has been unmapped and mapped again */
void dp_texts_mark(const struct dp_process *proc, struct dp_view *view);
/** dp_texts_mark_live() - in a process that probes itself: those whose code has gone, which it
 *  need not have noticed. @arena: its address there; it goes on changing. */
void dp_texts_mark_live(const struct dp_process *proc, struct dp_view *view,
			u64 arena);

/**
 * struct dp_words - a copy of a thread's stack from its stack pointer up
 * @v: @n words, of which the first is at @at; free()d by the caller
 */
struct dp_words {
	u64 at;
	u64 *v;
	size_t n;
};

/* words.c */
/** dp_words_read() - Return: 0; -ENOENT @sp is on no stack; -EFAULT; -ENOMEM */
int dp_words_read(const struct dp_process *proc, const struct dp_maps *maps,
		  u64 sp, struct dp_words *words);

/* What cs is in a signal frame of 64-bit code */
#define DP_USER_CS 0x33

/* handlers.c */
/** dp_handlers_end() - let threads run, one at a time, until such handlers have returned. As
 *  far as that goes in a moment. */
void dp_handlers_end(struct dp_process *proc, const struct dp_view *view);

/* linker.c: the thread for which the tool looks at libraries */
/** dp_linker_waits() - is it this one, and does it wait, or is it about to? */
bool dp_linker_waits(const struct dp_process *proc, const struct dp_thread *t);
/** dp_linker_home() - send it to where it has told of them, and will again. Return: 0;
 *  -ESRCH */
int dp_linker_home(struct dp_process *proc);
/**
 * dp_linker_hold() - from now on no library is unmapped before dp_linker_release(), if the
 * linker's probe is armed; but see there for how long
 */
void dp_linker_hold(struct dp_process *proc);
/** dp_linker_release() - who waits goes on when it is answered: see dp_process_asked() */
void dp_linker_release(const struct dp_process *proc);

/* leave.c: taking an agent out, ours or one that a dead tool left */
int dp_leave(struct dp_process *proc, struct dp_view *view,
	     struct dp_diag *diag);
/** dp_unmap() - the agent and all its pools, whatever there is of them */
int dp_unmap(struct dp_process *proc, struct dp_remote *remote);

/**
 * struct dp_moves - which threads have to be somewhere else, and where
 * @from: is this a pc that must not stay?
 * @to: what it becomes. Return: false if it has to run on by itself
 * @counted: has one that is there hit the site that it goes back to? NULL: it does
 *           not matter
 * @trapped: is this what the kernel says of one that has met a breakpoint of ours?
 *           While its signal is on the way or being handled it stays. NULL: it is
 *           as any other
 * @agent: address of the agent, with @trapped: who is there may be changing the
 *         frame of its signal
 * @late: may a pc stay as long as others have to run on? NULL: none may
 */
struct dp_moves {
	const void *arg;
	bool (*from)(const void *arg, u64 pc);
	bool (*to)(const void *arg, u64 pc, u64 *to);
	bool (*trapped)(const void *arg, u64 pc);
	u64 agent;
	bool (*counted)(const void *arg, u64 pc);
	bool (*late)(const void *arg, u64 pc);
};

/** dp_threads_move() - move pcs, in registers and in signal frames.
 *  Return: true if nobody is left who would have to. */
bool dp_threads_move(struct dp_process *proc, const struct dp_moves *moves);

/* drain.c: is any thread still in, or on its way into, agent code? */
/** dp_sleeps_inside() - is a thread that was left asleep in a call of ours? */
bool dp_sleeps_inside(const struct dp_process *proc,
		      const struct dp_view *view);
/** dp_drainable() - could all be moved out, or is somebody there who has to run on? */
bool dp_drainable(struct dp_process *proc, const struct dp_view *view);
/** dp_returns_inside() - will a signal handler of the program's, of one thread, return to
 *  where it has to run on? */
bool dp_returns_inside(const struct dp_process *proc,
		       const struct dp_view *view, const struct dp_maps *maps,
		       const struct dp_thread *t);
/** dp_drained() - Return: true if nobody is, but for hooked calls' beginnings */
bool dp_drained(struct dp_process *proc, const struct dp_view *view);
/** dp_drain() - out of these, too, when all is about to end. Return: as above */
bool dp_drain(struct dp_process *proc, const struct dp_view *view);
/** dp_in_signal_handler() - is one running on the stack that @sp is on? Return:
 *  true also where that cannot be told. */
bool dp_in_signal_handler(const struct dp_process *proc,
			  const struct dp_maps *maps, u64 sp);

#define DP_MEMFD_PATH "/memfd:dprobes"
static inline bool dp_path_is_ours(const char *path)
{
	return !strncmp(path, DP_MEMFD_PATH, sizeof(DP_MEMFD_PATH) - 1);
}

/** dp_map_is_arena() - does an arena begin there? */
static inline bool dp_map_is_arena(const struct dp_map *map)
{
	return dp_path_is_ours(map->path) && map->perms[2] != 'x' &&
	       map->offset == DP_ARENA_OFFSET;
}

/* From a stack pointer in the agent up to the registers */
#define FRAME_MOST 65536

/* recover.c */
/** dp_recover_any() - is anything of ours among these mappings? */
bool dp_recover_any(const struct dp_maps *maps);
/** dp_recover_needed() - is anything of ours in one that has just been looked at? */
bool dp_recover_needed(const struct dp_process *proc);
int dp_recover(struct dp_process *proc, struct dp_diag *diag);
/** dp_arena_load() - copy of the arena found in a process. Return: 0; -ENOENT. */
int dp_arena_load(const struct dp_process *proc, void **arena, size_t *size,
		  u64 *addr);
/** dp_tool_start() - start time of a process, 0 if there is none */
u64 dp_tool_start(pid_t pid);

/** dp_recover_taken() - does a tool that lives probe it, with what is in there?
 *  Return: true, with words. */
bool dp_recover_taken(const struct dp_process *proc, struct dp_diag *diag);

/* alive.c */
/** dp_alive_enter() - from now on this arena says when the tool has ended */
void dp_alive_enter(struct dp_arena_control *control);
/** dp_alive_leave() - before it is unmapped here */
void dp_alive_leave(struct dp_arena_control *control);

/* family.c */
#define DP_FAMILY_OPTIONS                                                   \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | \
	 PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC)
/**
 * dp_family_deal() - what waitpid(2) has said of a thread that is followed
 * @may_wait: nobody waits for this very thread, so that it may stay stopped
 * Return: false if it has ended, or has become another program.
 */
bool dp_family_deal(struct dp_family *family, pid_t tid, int status,
		    bool may_wait);
/** dp_family_drop() - the object is about to go; the process is still followed */
void dp_family_drop(struct dp_family *family, struct dp_process *proc);
/** dp_family_let() - a stopped thread goes on; @group_stop: its process is stopped, for
 *  others than us */
void dp_family_let(pid_t tid, bool group_stop);
/** dp_family_fail() - the process of an event cannot be probed: forget @proc, or NULL,
 *  and let it go */
void dp_family_fail(struct dp_family *family,
		    const struct dp_family_event *event,
		    struct dp_process *proc);

/* region.c */
/** dp_region_open() - make its files, map them here, and pass them to the target
 *  @there: two descriptors there. Return: 0 or a negative errno. */
int dp_region_open(struct dp_process *proc, struct dp_remote *remote,
		   const struct dp_layout_need *need, s32 *there);
/** dp_region_map() - map all of it there: @proc->base. Return: 0 or a negative errno. */
long dp_region_map(struct dp_process *proc, struct dp_remote *remote,
		   const struct dp_layout_need *need, const s32 *there);
/** dp_region_share() - only what the target writes and we read, over what is there at
 *  @proc->base. Return: as above. */
long dp_region_share(const struct dp_process *proc, struct dp_remote *remote,
		     const struct dp_layout_need *need, const s32 *there);
void dp_region_close(struct dp_process *proc, struct dp_remote *remote,
		     const s32 *there);
/** dp_region_settle() - from here on a process that probes itself has its arena for
 *  itself. Nobody runs. Return: as above. */
long dp_region_settle(struct dp_process *proc, struct dp_remote *remote);
/** dp_region_write() - the agent's code, and that of the pools, as it was built. Return: 0
 *  or a negative errno. */
int dp_region_write(const struct dp_process *proc,
		    const struct dp_layout_need *need);
/** dp_process_hold() - it is stopped, with one thread. Return: 0 or an errno. */
int dp_process_hold(struct dp_process *proc);
void dp_process_let_go(struct dp_process *proc);
/** dp_process_note_exec() - it has become another program */
void dp_process_note_exec(struct dp_process *proc);

struct dp_process *dp_process_new(void);
/** dp_process_view() - of the arena that we have put into it.
 *  Return: false: there is none, or it has been written over. */
bool dp_process_view(const struct dp_process *proc, struct dp_view *view);
/** dp_process_look() - what an attach looks at before it touches anything. Return:
 *  as dp_process_attach(). */
int dp_process_look(struct dp_process *proc, pid_t pid, struct dp_diag *diag);
int dp_process_open_mem(struct dp_process *proc, struct dp_diag *diag);

#endif
