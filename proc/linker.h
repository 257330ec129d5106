/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * linker: loader events of a process, told to the tool.
 *
 * Context of every function: tool process, one thread at a time per object.
 */
#ifndef DP_PROC_LINKER_H
#define DP_PROC_LINKER_H

#include "port_types.h"

struct dp_modules;
struct dp_process;

/**
 * struct dp_loader_event - where a dynamic linker tells debuggers of libraries
 * @function: the function that the linker calls
 * @record: address of the linker's struct r_debug; or, if @pointer, of a pointer to it
 */
struct dp_loader_event {
	u64 function, record;
	bool pointer;
};

/** dp_loader_event_find() - Return: false: the process has no dynamic linker, or the
 *  linker has no loader events. @mods: of sym.h */
bool dp_loader_event_find(struct dp_modules *mods,
			  struct dp_loader_event *loader_event);
/** dp_loader_event_record() - address of the struct r_debug, once the linker has begun.
 *  Return: 0 or a negative errno. */
int dp_loader_event_record(const struct dp_process *proc,
			   const struct dp_loader_event *loader_event,
			   u64 *record);

/**
 * dp_process_asked() - does a thread wait at a loader event, or may libraries have come
 * before the linker was watched? See dp_engine_watch_linker().
 */
bool dp_process_asked(const struct dp_process *proc);

/** dp_process_answer() - let the threads that wait at a loader event go on */
void dp_process_answer(struct dp_process *proc);

/**
 * dp_process_hear() - note the loader events so far, which the caller is about to handle
 * Return: for dp_process_answer_heard(), which does not release threads that come later.
 */
u32 dp_process_hear(struct dp_process *proc);
void dp_process_answer_heard(struct dp_process *proc, u32 heard);

/** dp_process_wait_asked() - wait for a loader event, @timeout_ms at most.
 *  Return: false, at once, if the linker is not watched. */
bool dp_process_wait_asked(const struct dp_process *proc, int timeout_ms);

/* filter_install: a thread waits because it is about to install a seccomp filter. */

/** dp_process_installs_filter() - is a thread about to install a seccomp filter? */
bool dp_process_installs_filter(const struct dp_process *proc);

/**
 * dp_process_filter_installed() - deal with a thread that is about to install a seccomp
 * filter, if there is one
 *
 * Return: NULL, and no thread waits any more; or why no probe can stay under the filter, in
 * words. Then the thread waits for dp_process_detach(), or has waited for too long already.
 */
const char *dp_process_filter_installed(struct dp_process *proc);

/** dp_process_hold_asking() - make a thread that is about to install a filter wait for
 *  the end of the probes, from now on; or no longer */
void dp_process_hold_asking(struct dp_process *proc, bool hold);

#endif
