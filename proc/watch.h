/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * watch: debug registers of a process's threads, as breakpoint events of the kernel's, or set by ptrace(2).
 *
 * Context of every function: tool, or a process that watches itself; may sleep.
 */
#ifndef DP_PROC_WATCH_H
#define DP_PROC_WATCH_H

#include <stddef.h>
#include <sys/types.h>
#include "port_types.h"

struct dp_diag;
struct dp_spec;

#define DP_WATCHPOINTS 4 /* debug registers of a processor */
#define DP_WATCHPOINTS_BOTH \
	(2 * DP_WATCHPOINTS) /* with those that take their places */

/** enum dp_watch_access - at what a watchpoint hits */
enum dp_watch_access {
	DP_WATCH_WRITE, /* w (default) */
	DP_WATCH_ACCESS, /* rw */
	DP_WATCH_EXECUTE, /* x */
};

/** struct dp_watchpoint - one that is wanted; @name, @spec: live as long as it, @spec is the caller's
 *  @tag: not 0: a hit raises SIGTRAP, which bears it; @tid: not 0: of that thread alone */
struct dp_watchpoint {
	u64 addr;
	u8 len;
	enum dp_watch_access access;
	const char *name;
	const struct dp_spec *spec;
	u64 tag;
	pid_t tid;
};

/** struct dp_watch_event - of thread @tid, and threads that it makes */
struct dp_watch_event {
	int fd;
	pid_t tid;
	u32 watch;
};

/** struct dp_watch_events - all of a process; zeros: none */
struct dp_watch_events {
	struct dp_watch_event *v;
	size_t n, cap;
};

/**
 * dp_watch_events_open() - an event of every thread for every watchpoint; none counts yet
 * @watches: all of them of one @tid, or of none
 * @programs: of each watchpoint, descriptors of programs that run at hits; NULL: none
 *
 * Threads that come later inherit theirs, unless it is of one thread. In one's own process the descriptors
 * have high numbers, where that is possible.
 * Return: 0; -ENOSPC debug registers are taken; -EPERM, -EACCES; -EAGAIN threads come too
 * fast; -EMFILE; -EOPNOTSUPP there are no such events, or debug registers never trap here; -ESRCH; with words.
 */
int dp_watch_events_open(struct dp_watch_events *events, pid_t pid,
			 const struct dp_watchpoint *watches, size_t n,
			 const int *programs, struct dp_diag *diag);
/** dp_watch_events_switch() - have them count, or no more; what they have counted stays */
void dp_watch_events_switch(const struct dp_watch_events *events, bool on);
/** dp_watch_events_count() - the hits of one watchpoint by all threads */
u64 dp_watch_events_count(const struct dp_watch_events *events, u32 watch);
/** dp_watch_events_join() - move @more behind @events, as those of watchpoints from number @first on.
 *  Return: 0; -ENOMEM, and @more are closed. */
int dp_watch_events_join(struct dp_watch_events *events,
			 struct dp_watch_events *more, u32 first);
/** dp_watch_events_stop() - close those of one watchpoint, which keeps its number */
void dp_watch_events_stop(struct dp_watch_events *events, u32 watch);
/** dp_watch_events_drop() - close those of one watchpoint; those behind it are numbered anew */
void dp_watch_events_drop(struct dp_watch_events *events, u32 watch);
void dp_watch_events_close(struct dp_watch_events *events);
/** dp_watch_events_cost() - nanoseconds that a hit costs here, measured; 0: not known
 *  @signals: it raises a signal, whose handler returns */
u64 dp_watch_events_cost(bool signals);
/** dp_watch_events_forbidden() - words for a caller that may have no events of @pid. Return: @err. */
int dp_watch_events_forbidden(pid_t pid, int err, struct dp_diag *diag);
/** dp_watch_useless() - words for a machine where no debug register traps. Return: -EOPNOTSUPP. */
int dp_watch_useless(struct dp_diag *diag);
/** dp_watch_taken() - words for a watchpoint, @name, for which a thread of @pid has no register left.
 *  Return: -ENOSPC. */
int dp_watch_taken(pid_t pid, const char *name, struct dp_diag *diag);
/** dp_watch_events_denied() - is @err that the caller may have no such events, or has none here? */
bool dp_watch_events_denied(int err);

/*
 * registers: debug registers of a process's threads, set by ptrace(2), without events.
 *
 * The tool traces all threads meanwhile, for each trap and each new thread stops for it. An agent is
 * in the process, whose handler takes the traps when the tool has been killed.
 */

struct dp_engine;
struct dp_process;
struct dp_watch_registers;

/** struct dp_watch_hit - thread @tid, as the process knows it, goes on at @pc; it has hit each watchpoint
 *  with a bit in @which */
struct dp_watch_hit {
	u32 which, tid;
	u64 pc;
};

/**
 * struct dp_watch_taker - what is done with hits of watchpoints without a tag
 * @take: called while the thread is stopped. Return: there is no room for more hits like that.
 */
struct dp_watch_taker {
	bool (*take)(void *arg, const struct dp_watch_hit *hit);
	void *arg;
};

/**
 * dp_watch_registers_open() - set the registers of all threads; hits count at once
 * @proc: attached or launched. Without an agent it gets one.
 * @watches: in place until dp_watch_registers_close(). A hit of those with a tag raises a SIGTRAP that bears
 * it, as events do.
 *
 * Threads that come later get theirs before their first instruction.
 * Return: 0; -ENOSPC; -EOPNOTSUPP the process can have no handler for its traps, or debug registers never trap
 * here; as dp_process_install(); with words.
 */
int dp_watch_registers_open(struct dp_watch_registers **registers,
			    struct dp_process *proc,
			    const struct dp_watchpoint *watches, size_t n,
			    const struct dp_watch_taker *taker,
			    struct dp_diag *diag);
/**
 * dp_watch_registers_more() - set registers for watchpoints that have come behind the others
 * @n: how many there are now, in the array of dp_watch_registers_open()
 *
 * The others stay set meanwhile. Return: as dp_watch_registers_open(); then nothing has changed.
 */
int dp_watch_registers_more(struct dp_watch_registers *r, size_t n,
			    struct dp_diag *diag);
/**
 * dp_watch_registers_swap() - give watchpoints that have come behind the others the registers of some of these
 * @go: of each of the others: it loses its register; it is to be dropped later
 * @n: how many there are now, in the array of dp_watch_registers_open()
 *
 * Context: all threads are stopped, and stay so. Return: as dp_watch_registers_open(); then nothing has changed.
 */
int dp_watch_registers_swap(struct dp_watch_registers *r, const bool *go,
			    size_t n, struct dp_diag *diag);
/** dp_watch_registers_drop() - clear the register of one watchpoint; the caller takes it out of the array,
 *  behind that. Return: 0; -ENOENT it has none; as dp_stop_all(); then nothing has changed. */
int dp_watch_registers_drop(struct dp_watch_registers *r, u32 watch);
/** dp_watch_registers_wait() - take hits and what else happens, @ms at most. To be called at every turn
 *  instead of dp_process_poll(). Return: the process has changed: see dp_process_poll(). */
bool dp_watch_registers_wait(struct dp_watch_registers *r, int ms);
u64 dp_watch_registers_count(const struct dp_watch_registers *r, u32 watch);
/** dp_watch_registers_bare() - threads that got no registers, for others had taken them */
u64 dp_watch_registers_bare(const struct dp_watch_registers *r);
/** dp_watch_registers_cost() - nanoseconds of a CPU that each hit has taken the tool; 0: not known */
u64 dp_watch_registers_cost(const struct dp_watch_registers *r);
/** dp_watch_registers_end() - clear all, take the hits that are on their way, and trace no more. Before
 *  dp_process_detach(), which tries again where some are left; NULL is fine. Return: 0; as dp_stop_all(). */
int dp_watch_registers_end(struct dp_watch_registers *r);
/** dp_watch_registers_close() - behind dp_process_close(); NULL is fine */
void dp_watch_registers_close(struct dp_watch_registers *r);

#endif
