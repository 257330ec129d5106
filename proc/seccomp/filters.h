/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * filters: what the seccomp filters of a process permit the tool and the agent.
 *
 * Context of every function: tool process, one thread at a time per object.
 */
#ifndef DP_PROC_SECCOMP_FILTERS_H
#define DP_PROC_SECCOMP_FILTERS_H

#include <linux/filter.h>
#include <sys/types.h>
#include "port_types.h"

struct dp_process;

/* filter: what a seccomp filter says of a system call whose arguments are not known. */

/** enum dp_filter_says - in order: of several filters the lowest answer counts */
enum dp_filter_says {
	DP_FILTER_NEVER, /* the call fails, or ends the process */
	DP_FILTER_PERHAPS, /* depends on arguments, a tracer or a handler */
	DP_FILTER_ALWAYS,
};

/**
 * dp_filter_ask() - what a filter says of a system call by 64-bit x86 code
 * @code: the filter's @n instructions, which need not be valid
 * @nr: the call's number; its arguments and its address are not known
 *
 * Time: O(@n).
 */
enum dp_filter_says dp_filter_ask(const struct sock_filter *code, size_t n,
				  u32 nr);

/** dp_filters_can_suspend() - may the tool suspend seccomp filters of threads it traces? */
bool dp_filters_can_suspend(void);
/** dp_filters_presume() - until the filters are read: nothing is permitted */
void dp_filters_presume(struct dp_process *proc);
/** dp_filter_fn - what a filter, or several, say of call @nr */
typedef enum dp_filter_says dp_filter_fn(const void *arg, long nr);
/** dp_filters_strict() - what seccomp's strict mode says of a call */
enum dp_filter_says dp_filters_strict(long nr);
/** dp_filters_lack() - name of a call that breakpoints and intercepts need and that is not
 *  always permitted; NULL: all are permitted */
const char *dp_filters_lack(const struct dp_process *proc, dp_filter_fn *ask,
			    const void *arg);
/** dp_filters_lack_remote() - the same for remote calls */
const char *dp_filters_lack_remote(dp_filter_fn *ask, const void *arg);
/** dp_filters_read() - if a process is under seccomp, stop it for a moment and read its filters */
void dp_filters_read(struct dp_process *proc);

/* filter_install: threads that wait in a filter install. Context: tool process. */

/** dp_filter_install_waits() - does a thread at @pc wait in a filter install? */
bool dp_filter_install_waits(u64 base, u64 pc);
/** dp_filter_install_home() - send stopped threads that wait there back to before their call.
 *  Return: 0; -ESRCH. */
int dp_filter_install_home(struct dp_process *proc, u64 base);
/** dp_filter_install_catch_up() - take account of filters that were installed without the tool */
void dp_filter_install_catch_up(struct dp_process *proc);

#endif
