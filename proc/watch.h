/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * watch: debug registers of a process's threads, as breakpoint events of the kernel's.
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
 * fast; -EMFILE; -EOPNOTSUPP; -ESRCH; with words.
 */
int dp_watch_events_open(struct dp_watch_events *events, pid_t pid,
			 const struct dp_watchpoint *watches, size_t n,
			 const int *programs, struct dp_diag *diag);
/** dp_watch_events_switch() - have them count, or no more; what they have counted stays */
void dp_watch_events_switch(const struct dp_watch_events *events, bool on);
/** dp_watch_events_count() - the hits of one watchpoint by all threads */
u64 dp_watch_events_count(const struct dp_watch_events *events, u32 watch);
void dp_watch_events_close(struct dp_watch_events *events);
/** dp_watch_events_cost() - nanoseconds that a hit costs here, measured; 0: not known
 *  @signals: it raises a signal, whose handler returns */
u64 dp_watch_events_cost(bool signals);

#endif
