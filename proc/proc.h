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
#ifndef DP_PROC_H
#define DP_PROC_H

#include <sys/types.h>
#include <dprobes/diag.h>
#include "port_types.h"
#include "engine/layout/control.h"
#include "engine/layout/program.h"
#include "engine/plan/place.h"
#include "engine/text/arm.h"
#include "engine/text/target.h"

#define DP_VARIABLES_MAX 256

struct dp_process;
struct dp_engine;
struct dp_modules;

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
#define DP_EXECS_NS 5000000000 /* how long one program after the other is tried */

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
 * dp_process_reside() - prepare a process to probe itself
 * @max_sites: addresses that it will probe at most, in all
 * @base: address of the agent in it
 *
 * Maps the agent and an arena with room, and arms its hooks. All of it stays, and
 * is the process's own from then on: engine/site/live.h.
 * Return: as dp_process_attach() and dp_process_install().
 */
int dp_process_reside(pid_t pid, u32 max_sites, u64 *base,
		      struct dp_diag *diag);

/**
 * struct dp_lodging - how an agent is to be in another process
 * @tool: process whose it is: ours, from which a child of it does this
 * @max_sites: addresses that will be probed at most, in all
 * @asks: threads that can wait for a handler at once
 */
struct dp_lodging {
	pid_t tool;
	u32 max_sites, asks;
	enum dp_arming arming;
};

/**
 * dp_process_lodge() - prepare a process for probes that come and go, whose handlers
 * run in the tool
 *
 * As dp_process_reside(), but what is there stays the tool's until
 * dp_process_detach(), or until the next one finds that the tool has gone.
 * Return: as dp_process_attach() and dp_process_install().
 */
int dp_process_lodge(pid_t pid, const struct dp_lodging *how,
		     struct dp_process **proc, struct dp_diag *diag);
/** dp_lodge_engine() - its live engine; the object's own */
struct dp_engine *dp_lodge_engine(const struct dp_process *proc);
/** dp_lodge_base() - address of the agent in it */
u64 dp_lodge_base(const struct dp_process *proc);
/** dp_lodge_pidfd() - the object's own */
int dp_lodge_pidfd(const struct dp_process *proc);
/**
 * dp_lodge_map() - memory that both sides have, between dp_lodge_begin() and
 * dp_lodge_end()
 * @ours: where it is mapped here; the object's own
 * @there: and in the process; for reading and writing, until dp_lodge_protect(). Its fork
 *         children do not have it.
 * Return: 0 or a negative errno.
 */
int dp_lodge_map(struct dp_process *proc, u64 size, u8 **ours, u64 *there);
/**
 * dp_lodge_protect() - mprotect(2) in the process, of a part of that which it shall not write
 * @bytes: what is there. Where @prot has PROT_EXEC the process gets a private copy of them
 *         instead, which is not shared with anybody.
 * Return: 0 or a negative errno.
 */
int dp_lodge_protect(struct dp_process *proc, u64 addr, u64 size, int prot,
		     const void *bytes);
/** dp_process_threads() - the ids of its threads; @tids is free()d by the caller */
int dp_process_threads(pid_t pid, pid_t **tids, size_t *n);
/** dp_lodge_ns_pid() - its process id in its own namespace */
u32 dp_lodge_ns_pid(const struct dp_process *proc);
/**
 * dp_lodge_begin() - text is about to be changed by functions of live.h
 * @target: for them
 * Return: 0 or a negative errno with words. To be followed by dp_lodge_end().
 */
int dp_lodge_begin(struct dp_process *proc, struct dp_target **target,
		   struct dp_diag *diag);
void dp_lodge_end(struct dp_process *proc);

/**
 * dp_holes_find() - where nothing is mapped
 * @pid: 0: in our own process
 * @more: there is to be room for so many besides
 * @holes: ascending; freed with dp_port_free()
 * Return: 0; as dp_maps_read(); -ENOMEM.
 */
int dp_holes_find(pid_t pid, size_t more, struct dp_hole **holes, size_t *n);

/** dp_nowhere() - an address where nothing is, and nothing will be soon, near @addr; @addr
 *  itself if there is none */
u64 dp_nowhere(pid_t pid, u64 addr);

/**
 * dp_texts_add() - code at @addr is about to be probed
 * @pid: 0: in our own process
 *
 * A fork child gives what is noted back to the page cache; where that would take
 * somebody else's changes along, it has to live with the probes.
 */
void dp_texts_add(struct dp_arena_control *control, pid_t pid, u64 addr);

/**
 * dp_process_quiesce() - write jumps into a process that probes itself, while
 * nobody runs
 * @arena: address of its arena; @ours: and here, where it is another process's; or NULL
 * @which: numbers of the @n sites, in the order of their addresses
 * @bad: on failure the address concerned, or 0
 * Return: 0 or a negative errno with words; -EAGAIN somebody was always in the
 * way.
 */
int dp_process_quiesce(pid_t pid, u64 arena, void *ours, const u32 *which,
		       u32 n, u64 *bad,
		       struct dp_diag *diag);

/**
 * dp_process_apply() - arm and disarm what dp_engine_want() has said since
 * Return: 0 or a negative errno with words.
 */
int dp_process_apply(struct dp_process *proc, struct dp_diag *diag);

/** dp_process_yield() - dp_engine_yield() of its sites, where they are disturbed. Only then
 *  a thread is held meanwhile. */
int dp_process_yield(struct dp_process *proc,
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

/**
 * struct dp_notice - where a dynamic linker tells debuggers of libraries
 * @function: that it calls
 * @record: address of its struct r_debug; or, if @pointer, of the pointer to that
 */
struct dp_notice {
	u64 function, record;
	bool pointer;
};
/** dp_notice_find() - Return: false: it has no dynamic linker, or one that does not
 *  tell. @mods: of sym.h */
bool dp_notice_find(struct dp_modules *mods, struct dp_notice *notice);
/** dp_notice_record() - address of the struct r_debug, when the linker has begun.
 *  Return: 0 or a negative errno. */
int dp_notice_record(const struct dp_process *proc,
		     const struct dp_notice *notice, u64 *record);

/**
 * dp_process_asked() - does a thread of it wait in the dynamic linker, with new
 * libraries in place, or may such have come before the linker was watched? See
 * dp_engine_watch_linker().
 */
bool dp_process_asked(const struct dp_process *proc);
/** dp_process_is_threaded() - has it more than one thread now? */
bool dp_process_is_threaded(const struct dp_process *proc);
/** dp_process_answer() - it may go on */
void dp_process_answer(struct dp_process *proc);
/**
 * dp_process_hear() - all that have asked so far are going to be answered
 * Return: for dp_process_answer_heard(), which leaves those waiting who have come since.
 */
u32 dp_process_hear(struct dp_process *proc);
void dp_process_answer_heard(struct dp_process *proc, u32 heard);
/** dp_process_wait_asked() - wait for that, for so long at most.
 *  Return: false if nobody ever will; then it has not waited. */
bool dp_process_wait_asked(const struct dp_process *proc, int timeout_ms);

/** dp_process_confines() - is a thread about to install a seccomp filter? */
bool dp_process_confines(const struct dp_process *proc);
/**
 * dp_process_confined() - see to a thread that waits because it is about to install a
 * seccomp filter, if there is one
 *
 * Return: NULL, and nobody waits any more; or why no probe can be there under the filter, in
 * words. Then it waits for dp_process_detach(), or for too long already.
 */
const char *dp_process_confined(struct dp_process *proc);

/** dp_process_hold_asking() - from now on such a thread waits for the end of the probes; or
 *  not any more */
void dp_process_hold_asking(struct dp_process *proc, bool hold);

/** dp_process_mark_gone() - find out which sites have lost their code: those of
 *  dp_engine_is_gone() */
void dp_process_mark_gone(struct dp_process *proc);

/**
 * dp_process_freeze() - stop it until dp_process_thaw(), so that its probes can be
 * replaced: dp_process_detach(), then dp_process_reinstall()
 *
 * Who waits in the linker goes back to where that has called.
 * Return: 0 or a negative errno with words; then it runs.
 */
int dp_process_freeze(struct dp_process *proc, struct dp_diag *diag);
/** dp_process_may_leave() - of one that is frozen: could it be detached, or is a thread in a
 *  signal handler that will return into the agent? */
bool dp_process_may_leave(struct dp_process *proc);
void dp_process_thaw(struct dp_process *proc);
/** dp_process_reinstall() - as dp_process_install(), of an engine that inherits from
 *  the one before, which has to be there until dp_process_thaw() */
int dp_process_reinstall(struct dp_process *proc, struct dp_engine *engine,
			 struct dp_diag *diag);

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

/** enum dp_lock - work at a process that one tool does at a time; see lock.c */
enum dp_lock {
	DP_LOCK_AGENT, /* an agent is put in, is there, or is taken out */
	DP_LOCK_ORDER, /* the process is asked to do something: lib/service.h */
};

/**
 * dp_process_lock() - keep other tools out, as long as @proc is open
 *
 * It waits for some seconds; not for a tool whose probes are there already.
 * Return: 0; -EBUSY another tool has it; with words.
 */
int dp_process_lock(const struct dp_process *proc, enum dp_lock which,
		    struct dp_diag *diag);
/** dp_process_unlock() - before that */
void dp_process_unlock(const struct dp_process *proc, enum dp_lock which);

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

/**
 * struct dp_call - a function of the process's own
 * @entry: its address: it gets @arg, runs on the stack of a thread of the program
 *         below what that one uses, which it need not find aligned, and returns
 * @word_addr, @word: it is called only by a thread that finds this word there. So the
 *         caller, who has written it, knows that it is the memory that he means.
 */
struct dp_call {
	u64 entry, arg;
	u64 word_addr, word;
};

/**
 * dp_process_call() - have a process that has been opened call a function of its own
 *
 * A thread is borrowed that sleeps in a system call of libc, so that it most
 * likely holds no lock. It is let go at once, and afterwards goes back into its
 * call by itself, whatever becomes of us; a timeout of that starts afresh.
 * Return: 0, it is on its way; -EAGAIN no thread sleeps so; -ESRCH, also if it has
 * executed; -EPERM, -EBUSY traced by somebody else, -EOPNOTSUPP.
 */
int dp_process_call(struct dp_process *proc, const struct dp_call *call,
		    struct dp_diag *diag);

/* Following processes: see family.c */
struct dp_family;

enum dp_family_what {
	DP_FAMILY_NOTHING,
	DP_FAMILY_FORKED, /* @pid, by @proc, with memory of its own; it waits */
	DP_FAMILY_EXECED, /* @pid, which was @proc if it had probes; it waits */
	DP_FAMILY_EXITED, /* @pid, likewise, with wait(2) status @status */
};

struct dp_family_event {
	enum dp_family_what what;
	struct dp_process *proc;
	pid_t pid;
	int status;
	u32 maker_ns; /* id of the thread that forked, in its namespace */
	pid_t waiting; /* and that thread, if it waits, too */
	bool mixed; /* while the probes of @proc were being put in, or replaced */
};

/** dp_family_open() - nobody is followed yet. Blocks SIGCHLD.
 *  Return: 0 or a negative errno. */
int dp_family_open(struct dp_family **family);
/** dp_family_close() - whoever still is goes on unfollowed when the tool ends */
void dp_family_close(struct dp_family *family);
/** dp_family_add() - a process, and whatever it makes, from now on; one that has
 *  been launched, before dp_process_install(). Return: 0 or an errno. */
int dp_family_add(struct dp_family *family, struct dp_process *proc);
/** dp_family_any() - is there still anybody? */
bool dp_family_any(const struct dp_family *family);

/**
 * dp_family_next() - wait for something to happen
 * @timeout_ms: longest wait in ms. A signal that the caller handles ends it early.
 *
 * Who is in DP_FAMILY_FORKED or _EXECED waits for dp_process_fork() or
 * dp_process_renew(), or for dp_family_let_go(). It returns at once where
 * dp_family_trapped() would say so.
 */
enum dp_family_what dp_family_next(struct dp_family *family, int timeout_ms,
				   struct dp_family_event *event);
/** dp_family_trapped() - has a breakpoint's signal been handed on since this was asked
 *  last? It may be a dynamic linker's, who is about to ask. */
bool dp_family_trapped(struct dp_family *family);
/** dp_family_birth() - the first DP_FAMILY_FORKED of a process that has been heard of.
 *  Return: false: there is none. */
bool dp_family_birth(struct dp_family *family, const struct dp_process *proc,
		     struct dp_family_event *event);
/** dp_family_pass() - take notice of what has happened, without waiting */
void dp_family_pass(struct dp_family *family);
/** dp_family_let_go() - it goes on without probes, and is still followed */
void dp_family_let_go(struct dp_family *family,
		      const struct dp_family_event *event);

/**
 * dp_process_fork() - the process of DP_FAMILY_FORKED, with its parent's probes
 *
 * They are its own from then on: see dp_process_engine(). It waits for
 * dp_family_begin(); on failure it goes on.
 * Return: 0 or a negative errno with words.
 */
int dp_process_fork(struct dp_family *family,
		    const struct dp_family_event *event,
		    struct dp_process **child, struct dp_diag *diag);
/** dp_family_begin() - a process that waits goes on, and who is kept waiting for the
 *  event */
void dp_family_begin(struct dp_process *proc,
		     const struct dp_family_event *event);
/** dp_family_let_on() - only the latter, where there is no process any more */
void dp_family_let_on(const struct dp_family_event *event);
/** dp_process_engine() - of what it is probed with; NULL before that. That of a fork
 *  child is the caller's to destroy, after dp_process_close(). */
struct dp_engine *dp_process_engine(const struct dp_process *proc);

/**
 * dp_process_renew() - the process of DP_FAMILY_EXECED, as dp_process_launch()
 * leaves it: stopped before the first code of its own
 *
 * It waits for dp_process_install(), or dp_process_close(). On failure it goes on.
 * Return: as dp_process_attach().
 */
int dp_process_renew(struct dp_family *family,
		     const struct dp_family_event *event,
		     struct dp_process **proc, struct dp_diag *diag);

/**
 * struct dp_armed - one armed probe of some process, as seen from outside
 * @has_exits: of a return probe that does not touch the return address: at so many
 *             @exits of its function there are probes, @exit_traps of them
 *             breakpoints; @exit_tails are jumps to other functions, @exit_lost of
 *             them to where it is not known
 */
struct dp_armed {
	u64 addr;
	char kind; /* 'k', 'r', 'j', 'd' of a program */
	bool disabled;
	bool gone; /* its code is not there any more */
	bool optimized; /* jump mode */
	char reason[DP_REASON_SIZE]; /* why not, if it is known */
	char pending[DP_PENDING_SIZE]; /* a spec that waits for its library; there
					* is no address yet */
	u64 hits, missed;
	u64 middle; /* traps in the middle of a jump that are due to its site */
	bool has_exits;
	u32 exits, exit_traps, exit_tails, exit_lost;
};

/**
 * dp_process_inspect() - read the probes of a process that some tool probes
 * @pid: process id
 * @list: filled in, free()d by the caller
 * @tool: pid of the tool that owns them, 0 if it has gone
 *
 * Reads only; everything found in the process is checked as hostile input.
 * Return: 0; -ENOENT nothing of ours is in there; -ESRCH; -EPERM; -EBADMSG
 * what is there is damaged.
 */
int dp_process_inspect(pid_t pid, struct dp_armed **list, size_t *n,
		       pid_t *tool, struct dp_diag *diag);

/**
 * struct dp_variables - variables of one program, or the global ones
 * @name: of the module that the program probes; "" for the global ones
 * @addr: of the first one in the target
 * @values: as they were; @n of them
 */
struct dp_variables {
	char name[DP_PROGRAM_NAME];
	u64 addr;
	u32 n;
	u64 values[DP_VARIABLES_MAX];
};

/**
 * dp_process_variables() - variables in a process that some tool probes
 * @list: filled in, free()d by the caller; the global ones come first
 * Return: as dp_process_inspect().
 */
int dp_process_variables(pid_t pid, struct dp_variables **list, size_t *n,
			 struct dp_diag *diag);

/** dp_process_zero() - set @n variables from @addr on to zero.
 *  Return: 0 or a negative errno. */
int dp_process_zero(pid_t pid, u64 addr, u32 n);

#endif
