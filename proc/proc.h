/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * proc: another process, from finding it to leaving it without a trace.
 *
 * Life of a dp_process: launch or attach (nothing touched yet) → map (agent,
 * arena and pools are in, nothing armed) → armed, and changed by
 * dp_process_apply() → detach. Between the calls no tracer is attached
 * and every thread runs at full speed.
 *
 * Context of every function: tool process, one thread at a time per object.
 */
#ifndef DP_PROC_PROC_H
#define DP_PROC_PROC_H

#include <sys/types.h>
#include "port_types.h"
#include "engine/layout/arena.h"
#include "engine/layout/ring.h"
#include "engine/plan/plan.h"
#include "engine/site/arm.h"
#include "engine/text/target.h"

struct dp_diag;
struct dp_engine;
struct dp_modules;
struct dp_process;
struct dp_target;

/**
 * dp_command_find() - the file of a command, as a shell looks for it
 *
 * With more rights than the caller's: not in the caller's PATH.
 * Return: 0 in @path; -ENOENT; -EACCES it is no executable file.
 */
int dp_command_find(const char *name, char *path, size_t size);

/**
 * dp_process_launch() - start a command and stop it before its first own code
 * @argv: NULL-terminated; argv[0] is looked up in PATH
 * @proc: the new object
 * @diag: words on failure
 *
 * On success the process is stopped under ptrace with every library mapped and
 * relocated and no constructor run yet. A command that cannot be handled
 * (32-bit, another machine) is refused before it runs.
 * Return: 0; -ENOENT no such command; -EACCES not executable; -ENOEXEC not a
 * program; -EOPNOTSUPP cannot be handled yet; -EPERM; -ENOMEM.
 */
int dp_process_launch(char *const argv[], struct dp_process **proc,
		      struct dp_diag *diag);

/** dp_command_linker() - the path of the dynamic linker that a command, which is looked up in
 *  PATH, or the interpreter of a script names. Return: 0; -ENOENT there is none. */
int dp_command_linker(const char *command, char *linker, size_t size);

/**
 * dp_process_attach() - take hold of a running process, without touching it
 *
 * Return: 0; -ESRCH no such process; -EPERM (words say what would help);
 * -EBUSY already traced or probed by another tool; -EOPNOTSUPP cannot be
 * handled (32-bit, shadow stack, already under way to its end); -EAGAIN it is
 * just starting and does not get on; -ENOMEM.
 */
int dp_process_attach(pid_t pid, struct dp_process **proc,
		      struct dp_diag *diag);

/** dp_process_ended() - Return: true also when only its remains are there */
bool dp_process_ended(const struct dp_process *proc);

/** dp_process_lost() - words for what was begun with a process that has ended meanwhile, or
 *  executed another program. Return: -ESRCH; -EAGAIN. */
int dp_process_lost(pid_t pid, struct dp_diag *diag);
/* how long one program after the other is tried */
#define DP_EXECS_NS 5000000000

/** dp_process_replaced() - has it executed another program since we took hold of it?
 *  Asked before anything is in it. */
bool dp_process_replaced(const struct dp_process *proc);
/** dp_process_executes() - the same where something has failed: also if it is in the middle of
 *  that, which is waited for */
bool dp_process_executes(const struct dp_process *proc);

/**
 * dp_process_clean() - take out what a tool that was ended left in a process
 * Return: 1 done; 0 there was nothing; as dp_process_attach().
 */
int dp_process_clean(pid_t pid, struct dp_diag *diag);

pid_t dp_process_pid(const struct dp_process *proc);
/** dp_process_inside() - its id in its own namespace */
u32 dp_process_inside(const struct dp_process *proc);
/** dp_process_mem() - descriptor of its /proc/PID/mem; the object's own */
int dp_process_mem(const struct dp_process *proc);
/** dp_process_exe() - path of its program, as it was when we took hold */
const char *dp_process_exe(const struct dp_process *proc);
bool dp_process_launched(const struct dp_process *proc);
/** dp_process_no_traps() - what about its seccomp filter forbids breakpoints, or what else
 *  does, in words.
 *  Its probes are all jumps then, and make no system call. NULL: it may have some. */
const char *dp_process_no_traps(const struct dp_process *proc);
/** dp_process_dispatches() - is that not a filter, but Syscall User Dispatch? */
bool dp_process_dispatches(const struct dp_process *proc);
/** dp_process_may_wait() - may its threads be made to wait? A filter can forbid it. */
bool dp_process_may_wait(const struct dp_process *proc);
/** dp_process_timeless() - is it forbidden to read the clock that records are stamped
 *  with? */
bool dp_process_timeless(const struct dp_process *proc);
/** dp_process_no_jumps() - why its probes are all breakpoints; NULL: they are not */
const char *dp_process_no_jumps(const struct dp_process *proc);

/**
 * dp_process_found_in() - where what the next dp_process_install() is given was found
 *
 * What is not there any more by then is not armed, and gone: dp_engine_is_gone(). Where
 * libraries are watched dp_process_asked() is true afterwards if any have changed.
 */
void dp_process_found_in(struct dp_process *proc, struct dp_modules *mods);

/** dp_process_outdated() - has it other programs and libraries by now, or elsewhere? */
bool dp_process_outdated(const struct dp_process *proc,
			 const struct dp_modules *mods);

/**
 * dp_process_install() - map the agent and arm every site of an engine
 * @engine: holds the sites, all added, none planned
 *
 * Afterwards a launched command runs. On failure nothing is left behind and a
 * launched command still runs, unprobed, until dp_process_close().
 * Return: 0 or a negative errno with words.
 */
int dp_process_install(struct dp_process *proc, struct dp_engine *engine,
		       struct dp_diag *diag);

/**
 * dp_process_apply() - arm and disarm what dp_engine_want() has said since
 * Return: 0 or a negative errno with words.
 */
int dp_process_apply(struct dp_process *proc, struct dp_diag *diag);

/** dp_process_cede() - dp_engine_cede() of its sites, where they are disturbed. Only then
 *  a thread is held meanwhile. */
int dp_process_cede(struct dp_process *proc,
		    void (*tell)(void *arg, u64 addr, bool away), void *arg);
/** dp_process_target() - its text and memory, for the engine; the object's own */
struct dp_target *dp_process_target(struct dp_process *proc);

/**
 * dp_process_share() - map memory into a process, and here
 * @size: bytes, whole pages; they are zeros
 * @addr: where it is there; @ours: and here, until dp_process_close() or
 *         dp_process_reinstall()
 *
 * It goes with the agent. One thread is stopped for a moment.
 * Return: 0 or a negative errno with words; then nothing has changed.
 */
int dp_process_share(struct dp_process *proc, u64 size, u64 *addr, void **ours,
		     struct dp_diag *diag);

/**
 * dp_process_outside() - do something while no thread is in the agent
 * @then: called while those that run are stopped, for a moment
 * Return: 0; -EAGAIN somebody is there; a negative errno.
 */
int dp_process_outside(struct dp_process *proc, void (*then)(void *arg),
		       void *arg);

/** dp_process_is_threaded() - has it more than one thread now? */
bool dp_process_is_threaded(const struct dp_process *proc);
/** dp_process_mark_gone() - find out which sites have lost their code: those of
 *  dp_engine_is_gone() */
void dp_process_mark_gone(struct dp_process *proc);

/**
 * enum dp_process_state - what became of the process
 * @DP_PROCESS_RUNS: it runs, probed (or not installed yet)
 * @DP_PROCESS_EXECED: it has replaced itself; the probes are gone with the old
 *                     image. A launched command still runs.
 * @DP_PROCESS_EXITED: it has ended; dp_process_status() has more
 */
enum dp_process_state {
	DP_PROCESS_RUNS,
	DP_PROCESS_EXECED,
	DP_PROCESS_EXITED,
};

/**
 * dp_process_poll() - wait for something to happen
 * @timeout_ms: longest wait in ms; 0 looks only. A signal that the caller
 *              handles ends the wait early.
 */
enum dp_process_state dp_process_poll(struct dp_process *proc, int timeout_ms);

/**
 * dp_process_status() - wait(2) status of a process that has ended
 * Return: false if it is not known, which happens to processes that we did not
 * start, on kernels older than 6.15.
 */
bool dp_process_status(const struct dp_process *proc, int *status);

/**
 * dp_process_thread() - the id by which we know a thread
 * @tid: in the process's own namespace
 * Return: 0 if it is not there any more.
 */
u32 dp_process_thread(const struct dp_process *proc, u32 tid);

/** dp_process_execed() - what it executed ("" if it did not): path */
const char *dp_process_execed(const struct dp_process *proc);
/** dp_process_trap_death() - it was killed by a trap of ours in a thread that
 *  had SIGTRAP blocked or ignored (as opposed to a SIGTRAP of its own); or SIGILL,
 *  where a breakpoint raises that */
bool dp_process_trap_death(const struct dp_process *proc);

/**
 * dp_process_detach() - disarm and leave nothing
 *
 * Text byte-identical, no mapping, no changed signal action. If a thread cannot
 * get out of agent code in time the agent stays, inert, and @diag says so.
 * A process that has ended or executed is left alone.
 * Return: 0; -EAGAIN the agent stays; -EIO text was changed by someone else.
 */
int dp_process_detach(struct dp_process *proc, struct dp_diag *diag);

/**
 * dp_process_close() - forget the process (detaches first if need be)
 *
 * A launched command that was never installed is let go and runs on.
 */
void dp_process_close(struct dp_process *proc);

/** dp_process_abandon() - forget it, and leave what is in there: somebody else sees to
 *  that, or it has been detached */
void dp_process_abandon(struct dp_process *proc);

/**
 * dp_process_kill_launched() - end a command that we launched and that has not
 * run an instruction of its own yet; for when its probes were refused.
 */
void dp_process_kill_launched(struct dp_process *proc);

/**
 * dp_process_open() - a process of which only the memory is of interest
 *
 * What is read and written from then on is the memory that it had at that time: of a
 * process that has executed since, or ended, there is none.
 * Return: 0; -ESRCH, -EPERM; with words.
 */
int dp_process_open(pid_t pid, struct dp_process **proc, struct dp_diag *diag);

/** dp_process_read(), dp_process_write() - Return: 0; -EFAULT there is not so much. */
int dp_process_read(const struct dp_process *proc, u64 addr, void *to,
		    size_t len);
int dp_process_write(const struct dp_process *proc, u64 addr, const void *from,
		     size_t len);
/** dp_process_engine() - of what it is probed with; NULL before that. That of a fork
 *  child is the caller's to destroy, after dp_process_close(). */
struct dp_engine *dp_process_engine(const struct dp_process *proc);

#endif
