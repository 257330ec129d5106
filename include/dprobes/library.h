/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The library itself: why a call has failed, what it has to tell, its knobs and lists.
 *
 * Context of every function, unless it says otherwise: task, never a handler; may sleep;
 * thread-safe.
 */
#ifndef DPROBES_LIBRARY_H
#define DPROBES_LIBRARY_H

#include <dprobes/diag.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct kprobe;

/** dp_last_diag() - why the calling thread's last call failed; valid until its
 *  next one */
const struct dp_diag *dp_last_diag(void);

/**
 * dp_set_report() - be told of what happens outside any call: "kretprobe BUG!",
 * a handler that faulted
 * @report: gets one line without newline. NULL: nobody. Context: task; it is
 *          called at the next call of the library, never in a handler.
 */
void dp_set_report(void (*report)(const char *line));

/** dp_kprobes_enabled() - the "enabled" knob: 0 disarms all probes, 1 arms those
 *  that are not disabled, -1 only asks. Return: what it is now; an errno. */
int dp_kprobes_enabled(int on);

/** dp_kprobes_optimization() - the "kprobes-optimization" knob, likewise */
int dp_kprobes_optimization(int on);

/**
 * dp_kprobe_hits() - hits of a registered probe whose handlers ran, or would have
 * if it had any
 */
unsigned long dp_kprobe_hits(const struct kprobe *p);

/**
 * dp_kprobes_list() - every registered probe, in the format of the kernel's
 * kprobes/list
 * @line: called for each, without newline; it may call the library
 * Return: how many, or a negative errno.
 */
int dp_kprobes_list(void (*line)(void *arg, const char *text), void *arg);

/** dp_kprobes_blacklist() - what may not be probed, a line each: "0xSTART-0xEND
 *  NAME: REASON" */
int dp_kprobes_blacklist(void (*line)(void *arg, const char *text), void *arg);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
