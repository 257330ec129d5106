/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * linker: a process's dynamic linker, which tells the tool of libraries.
 *
 * Context of every function: tool process, one thread at a time per object.
 */
#ifndef DP_PROC_LINKER_H
#define DP_PROC_LINKER_H

#include "port_types.h"

struct dp_diag;
struct dp_engine;
struct dp_modules;
struct dp_process;

/**
 * struct dp_loader_event - where a dynamic linker tells debuggers of libraries
 * @function: that it calls
 * @record: address of its struct r_debug; or, if @pointer, of the pointer to that
 */
struct dp_loader_event {
	u64 function, record;
	bool pointer;
};

/** dp_loader_event_find() - Return: false: it has no dynamic linker, or one that does not
 *  tell. @mods: of sym.h */
bool dp_loader_event_find(struct dp_modules *mods,
			  struct dp_loader_event *loader_event);
/** dp_loader_event_record() - address of the struct r_debug, when the linker has begun.
 *  Return: 0 or a negative errno. */
int dp_loader_event_record(const struct dp_process *proc,
			   const struct dp_loader_event *loader_event,
			   u64 *record);

/**
 * dp_process_asked() - does a thread of it wait in the dynamic linker, with new
 * libraries in place, or may such have come before the linker was watched? See
 * dp_engine_watch_linker().
 */
bool dp_process_asked(const struct dp_process *proc);

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

/*
 * filter_install: a thread waits because it is about to install a seccomp filter.
 *
 * Context of every function: tool process, one thread at a time per object.
 */

/** dp_process_installs_filter() - is a thread about to install a seccomp filter? */
bool dp_process_installs_filter(const struct dp_process *proc);

/**
 * dp_process_filter_installed() - see to a thread that waits because it is about to install a
 * seccomp filter, if there is one
 *
 * Return: NULL, and nobody waits any more; or why no probe can be there under the filter, in
 * words. Then it waits for dp_process_detach(), or for too long already.
 */
const char *dp_process_filter_installed(struct dp_process *proc);

/** dp_process_hold_asking() - from now on such a thread waits for the end of the probes; or
 *  not any more */
void dp_process_hold_asking(struct dp_process *proc, bool hold);

/*
 * freeze: hold a process while its agent is replaced by another one.
 *
 * Context of every function: tool process, one thread at a time per object.
 */

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

#endif
