/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * watches: debug registers, the same of all CPUs, for probes on data.
 *
 *     take ──► off ◄── set ──► on ── give ──►
 *               └────────── give ──────────►
 *
 * Each is an event of the kernel's for each CPU, so debuggers and perf(1) have the others. A CPU that comes gets
 * its events when it is nearly there.
 *
 * Context of every function: task, may sleep.
 */
#ifndef DP_KMOD_WATCHES_H
#define DP_KMOD_WATCHES_H

#include "port_types.h"

struct dp_watch;

/** struct dp_data - what is watched. @len: bytes; @reads: when it is read, too; else when it is written */
struct dp_data {
	u64 addr;
	u32 len;
	bool reads;
};

/** dp_watches_begin() - follow CPUs that come and go. Return: 0 or a negative errno */
int dp_watches_begin(void);
/** dp_watches_end() - no longer. No register is taken. */
void dp_watches_end(void);

/**
 * dp_watch_take() - take a register, which is off
 * @why: on failure, a static phrase, or NULL
 * Return: 0; -EINVAL no register watches that; -EPERM it is this module's own; -EFAULT no memory is there;
 * -ENOSPC none is left; as the kernel says.
 */
int dp_watch_take(const struct dp_data *data, struct dp_watch **watch,
		  const char **why);
/** dp_watch_set() - have it on, or off. @tag: see dp_kernel_watched(). When it is off, no hit is on its way. */
void dp_watch_set(struct dp_watch *watch, u32 tag, bool on);
bool dp_watch_is_on(const struct dp_watch *watch);
/** dp_watch_hits() - accesses that it has seen, of all CPUs, those that have gone too */
u64 dp_watch_hits(const struct dp_watch *watch);
/** dp_watch_data() - what it watches */
struct dp_data dp_watch_data(const struct dp_watch *watch);
/** dp_watch_now() - the value there; 0 where it cannot be read any more */
u64 dp_watch_now(const struct dp_watch *watch);
/** dp_watch_give() - give it back. Return: dp_watch_hits() */
u64 dp_watch_give(struct dp_watch *watch);

#endif
