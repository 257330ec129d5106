/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * filters: what the seccomp filters of a process permit the tool.
 *
 * Context of every function: tool process, one thread at a time per object.
 */
#ifndef DP_PROC_SECCOMP_FILTERS_H
#define DP_PROC_SECCOMP_FILTERS_H

#include <linux/filter.h>
#include <sys/types.h>
#include "port_types.h"

struct dp_diag;
struct dp_process;

/* filter: what a seccomp filter says of a system call, whatever its arguments. */

/** enum dp_filter_says - in order: of several filters the least is what counts */
enum dp_filter_says {
	DP_FILTER_NEVER, /* the call fails, or ends the process */
	DP_FILTER_PERHAPS, /* it depends, or others decide */
	DP_FILTER_ALWAYS,
};

/**
 * dp_filter_ask() - what a filter says of a system call by 64-bit x86 code
 * @code: its @n instructions; need not be ones that the kernel would take
 * @nr: the call; where it comes from and its arguments are not known
 *
 * Takes time in proportion to @n.
 */
enum dp_filter_says dp_filter_ask(const struct sock_filter *code, size_t n,
				  u32 nr);

/** dp_filters_can_suspend() - may we suspend those of what we trace? */
bool dp_filters_can_suspend(void);
/** dp_filters_presume() - they are not known yet: nothing is permitted */
void dp_filters_presume(struct dp_process *proc);
/** dp_filter_fn - what a filter says of a call */
typedef enum dp_filter_says dp_filter_fn(const void *arg, long nr);
/** dp_filters_strict() - what seccomp's strict mode says of a call */
enum dp_filter_says dp_filters_strict(long nr);
/** dp_filters_spares() - can the hit half do without that call of its own? */
bool dp_filters_spares(long nr);
/** dp_filters_lack() - a call that probes need with breakpoints and intercepts, and that is not
 *  always permitted; NULL: all are */
const char *dp_filters_lack(const struct dp_process *proc, dp_filter_fn *ask,
			    const void *arg);
/** dp_filters_lack_remote() - the same of what the tool has a process do */
const char *dp_filters_lack_remote(dp_filter_fn *ask, const void *arg);
/** dp_filters_read() - if it is under seccomp, stop it for a moment and look */
void dp_filters_read(struct dp_process *proc);

/* filter_install: threads that wait for what becomes of their filter. Context: tool process. */

/** dp_filter_install_waits() - does a thread at @pc wait for what becomes of its filter? */
bool dp_filter_install_waits(u64 base, u64 pc);
/** dp_filter_install_home() - those that are stopped there go to before their call.
 *  Return: 0; -ESRCH. */
int dp_filter_install_home(struct dp_process *proc, u64 base);
/** dp_filter_install_catch_up() - has it installed filters while we did not look? */
void dp_filter_install_catch_up(struct dp_process *proc);

#endif
