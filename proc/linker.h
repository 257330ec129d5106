/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * linker: a process's dynamic linker, which tells the tool of libraries.
 *
 * Context of every function: tool process, one thread at a time per object.
 */
#ifndef DP_PROC_LINKER_H
#define DP_PROC_LINKER_H

#include "port_types.h"

struct dp_modules;
struct dp_process;

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

#endif
