/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * proc: another process, from finding it to leaving it without a trace.
 *
 * Life of a dp_process: launch or attach (nothing touched yet) → map (agent, arena and
 * pools are mapped, nothing armed) → armed, and changed by dp_process_apply() → detach.
 * Between the calls no tracer is attached, and every thread runs at full speed.
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
 * dp_command_find() - find the file of a command, as a shell does
 *
 * A set-user-ID tool does not search its caller's PATH.
 * Return: 0 in @path; -ENOENT; -EACCES the file is not executable.
 */
int dp_command_find(const char *name, char *path, size_t size);

/**
 * dp_process_launch() - start a command and stop it before its first own code
 * @argv: NULL-terminated; argv[0] is looked up in PATH
 * @proc: the new object
 * @diag: words on failure
 *
 * On success the process is stopped under ptrace. Every library is mapped and relocated,
 * and no constructor has run. A command that cannot be handled (32-bit, another machine)
 * is refused before it runs.
 * Return: 0; -ENOENT no such command; -EACCES not executable; -ENOEXEC not a
 * program; -EOPNOTSUPP cannot be handled yet; -EPERM; -ENOMEM.
 */
int dp_process_launch(char *const argv[], struct dp_process **proc,
		      struct dp_diag *diag);

/** dp_command_linker() - path of the dynamic linker that a command, or the interpreter
 *  of a script, names. The command is looked up in PATH. Return: 0; -ENOENT there is none. */
int dp_command_linker(const char *command, char *linker, size_t size);

/**
 * dp_process_attach() - open a running process, without touching it
 *
 * Return: 0; -ESRCH no such process; -EPERM (words say what would help); -EBUSY traced, or
 * probed by another tool; -EOPNOTSUPP cannot be handled (32-bit, shadow stack);
 * -EAGAIN it is still starting, or executes one program after the other; -ENOMEM.
 */
int dp_process_attach(pid_t pid, struct dp_process **proc,
		      struct dp_diag *diag);

/** dp_process_ended() - Return: true also for a zombie */
bool dp_process_ended(const struct dp_process *proc);

/** dp_process_lost() - explain that the process has ended, or executed another program,
 *  in the middle of the work. Return: -ESRCH; -EAGAIN. */
int dp_process_lost(pid_t pid, struct dp_diag *diag);
/* how long to follow a process that executes one program after the other */
#define DP_EXECS_NS 5000000000

/** dp_process_replaced() - has the process executed another program since it was
 *  opened? To be asked before anything is mapped there. */
bool dp_process_replaced(const struct dp_process *proc);
/** dp_process_executes() - the same, after a failure: also true for a process in the
 *  middle of an exec, whose end this function waits for */
bool dp_process_executes(const struct dp_process *proc);

/**
 * dp_process_clean() - take out what a killed tool left in a process
 * Return: 1 done; 0 there was nothing; as dp_process_attach().
 */
int dp_process_clean(pid_t pid, struct dp_diag *diag);

pid_t dp_process_pid(const struct dp_process *proc);
/** dp_process_inside() - id of the process in its own pid namespace */
u32 dp_process_inside(const struct dp_process *proc);
/** dp_process_mem() - descriptor of /proc/PID/mem; the object's own */
int dp_process_mem(const struct dp_process *proc);
/** dp_process_base() - where its agent begins; 0: it has none */
u64 dp_process_base(const struct dp_process *proc);
/** dp_process_exe() - path of the program that the process ran when it was opened */
const char *dp_process_exe(const struct dp_process *proc);
bool dp_process_launched(const struct dp_process *proc);
/**
 * struct dp_permits - how a process can be probed
 * @no_traps: what forbids breakpoints, in words; then all probes are jumps, and make no system
 *            call. NULL: breakpoints are possible
 * @no_jumps: why all its probes are breakpoints; NULL: they are not
 * @dispatches: it is Syscall User Dispatch that forbids breakpoints
 * @waits: its threads may be made to wait; a filter can forbid that
 * @clock: the process may read the clock that stamps records
 */
struct dp_permits {
	const char *no_traps, *no_jumps;
	bool dispatches, waits, clock;
};

struct dp_permits dp_process_permits(const struct dp_process *proc);

/**
 * dp_process_found_in() - set the modules that the next dp_process_install() probes
 *
 * A site whose code is not mapped any more by then is not armed, and gone:
 * dp_engine_is_gone(). Where loader events are watched, dp_process_asked() is true
 * afterwards if any library has changed.
 */
void dp_process_found_in(struct dp_process *proc, struct dp_modules *mods);

/**
 * dp_process_install() - map the agent and arm every site of an engine
 * @engine: holds the sites, all added, none planned
 *
 * On success a launched command waits for dp_process_let_go(). On failure nothing is left
 * behind, and a launched command runs, unprobed, until dp_process_close().
 * Return: 0 or a negative errno with words.
 */
int dp_process_install(struct dp_process *proc, struct dp_engine *engine,
		       struct dp_diag *diag);
/** dp_process_let_go() - let a command run that has waited since it was launched, if it has */
void dp_process_let_go(struct dp_process *proc);

/**
 * dp_process_extend() - arm what has been added to the engine of an installed process
 *
 * All that was armed before stays armed. On failure what was added is gone:
 * dp_engine_is_gone().
 * Return: as dp_process_install().
 */
int dp_process_extend(struct dp_process *proc, struct dp_diag *diag);
/** dp_process_retract() - instead of dp_process_extend(): what has been added is gone */
void dp_process_retract(struct dp_process *proc);

/**
 * dp_process_apply() - arm and disarm as dp_engine_turn() has asked since the last time
 * Return: 0 or a negative errno with words.
 */
int dp_process_apply(struct dp_process *proc, struct dp_diag *diag);

/** dp_process_cede() - dp_engine_cede() of the disturbed sites. A thread is held
 *  meanwhile only if there are any. */
int dp_process_cede(struct dp_process *proc,
		    void (*tell)(void *arg, u64 addr, bool away), void *arg);
/** dp_process_target() - text and memory, for the engine; the object's own */
struct dp_target *dp_process_target(struct dp_process *proc);

/**
 * dp_process_share() - map the same memory into a process and into the tool
 * @size: bytes, whole pages; they are zeros
 * @addr: where the process has it
 * @ours: where the tool has it, until dp_process_close()
 *
 * The process loses it with the agent. One thread is stopped for a moment.
 * Return: 0 or a negative errno with words; then nothing has changed.
 */
int dp_process_share(struct dp_process *proc, u64 size, u64 *addr, void **ours,
		     struct dp_diag *diag);

/**
 * dp_process_outside() - call a function while no thread is in the agent
 * @then: called while the threads are stopped, for a moment
 * Return: 0; -EAGAIN a thread is in the agent; a negative errno.
 */
int dp_process_outside(struct dp_process *proc, void (*then)(void *arg),
		       void *arg);
/** struct dp_seen - threads that were outside the agent at some time; the caller frees @v */
struct dp_seen {
	pid_t *v;
	size_t n, cap;
};

/** dp_process_left() - has each thread been outside the agent since @seen was empty?
 *  Return: 0; -EAGAIN not yet: to be called again; a negative errno. */
int dp_process_left(struct dp_process *proc, struct dp_seen *seen);
/** dp_process_exchange() - as dp_process_outside(), while no thread is dp_exchange_inside()
 *  @all: threads that sleep are to be stopped meanwhile, too */
int dp_process_exchange(struct dp_process *proc, bool all,
			void (*then)(void *arg), void *arg);

/** dp_process_is_threaded() - has the process more than one thread now? */
bool dp_process_is_threaded(const struct dp_process *proc);
/** dp_process_mark_gone() - find the sites whose code is not mapped any more:
 *  dp_engine_is_gone() */
void dp_process_mark_gone(struct dp_process *proc);

/**
 * enum dp_process_state - what became of the process
 * @DP_PROCESS_RUNS: it runs, probed (or not installed yet)
 * @DP_PROCESS_EXECED: it has executed another program; the probes have gone with the old
 *                     image. A launched command still runs.
 * @DP_PROCESS_EXITED: it has ended; dp_process_status() has more
 */
enum dp_process_state {
	DP_PROCESS_RUNS,
	DP_PROCESS_EXECED,
	DP_PROCESS_EXITED,
};

/**
 * dp_process_poll() - wait for a change of state
 * @timeout_ms: longest wait in ms; 0: do not wait. A signal that the caller handles ends
 *              the wait early.
 */
enum dp_process_state dp_process_poll(struct dp_process *proc, int timeout_ms);

/**
 * dp_process_status() - wait(2) status of a process that has ended
 * Return: false if the status is not known: on kernels older than 6.15, for a process that
 * the tool did not start.
 */
bool dp_process_status(const struct dp_process *proc, int *status);

/**
 * dp_process_thread() - id of a thread in the tool's namespace
 * @tid: in the process's own namespace
 * Return: 0 if the thread has ended.
 */
u32 dp_process_thread(const struct dp_process *proc, u32 tid);

/** dp_process_execed() - path of the program that the process executed; "" if it did not */
const char *dp_process_execed(const struct dp_process *proc);
/** dp_process_trap_death() - did a breakpoint of ours kill the process, in a thread
 *  that had SIGTRAP blocked or ignored? False for a SIGTRAP of the program's own. SIGILL
 *  counts where a breakpoint raises that. */
bool dp_process_trap_death(const struct dp_process *proc);

/**
 * dp_process_detach() - disarm and leave nothing
 *
 * Afterwards text is byte-identical, no mapping is left, and no signal action is changed.
 * If a thread cannot get out of the agent in time, the agent stays, inert, and @diag says
 * so. A process that has ended or executed is left alone.
 * Return: 0; -EAGAIN the agent stays; -EIO text was changed by someone else.
 */
int dp_process_detach(struct dp_process *proc, struct dp_diag *diag);

/**
 * dp_process_close() - free the object, after a detach if need be
 *
 * A launched command that was never installed is released and runs on.
 */
void dp_process_close(struct dp_process *proc);

/** dp_process_abandon() - free the object, and leave in the process what is there:
 *  another process takes it out, or it has been detached */
void dp_process_abandon(struct dp_process *proc);

/**
 * dp_process_kill_launched() - kill a launched command that has not run an instruction of
 * its own yet; for when its probes were refused
 */
void dp_process_kill_launched(struct dp_process *proc);

/**
 * dp_process_open() - open a process only to read and write its memory
 *
 * Reads and writes go to the memory that the process had at that time. After an exec, or
 * its end, there is none.
 * Return: 0; -ESRCH, -EPERM; with words.
 */
int dp_process_open(pid_t pid, struct dp_process **proc, struct dp_diag *diag);

/** dp_process_read(), dp_process_write() - Return: 0; -EFAULT not all of it is mapped. */
int dp_process_read(const struct dp_process *proc, u64 addr, void *to,
		    size_t len);
int dp_process_write(const struct dp_process *proc, u64 addr, const void *from,
		     size_t len);
/** dp_process_engine() - engine of its probes; NULL before dp_process_install(). The
 *  caller destroys that of a fork child, after dp_process_close(); that of
 *  dp_process_attach_other() is the object's own. */
struct dp_engine *dp_process_engine(const struct dp_process *proc);

#endif
