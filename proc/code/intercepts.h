/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* intercepts: system calls that pass through the agent. Context: tool process. */
#ifndef DP_PROC_CODE_INTERCEPTS_H
#define DP_PROC_CODE_INTERCEPTS_H

#include <sys/types.h>
#include "port_types.h"

struct dp_diag;
struct dp_intercept;
struct dp_process;
struct dp_span;
struct dp_syscalls;

/** dp_intercepts_find() - those of a text's system calls that pass through the agent.
 *  Return: 0, or what reading it gives. */
int dp_intercepts_find(struct dp_process *proc,
		       const struct dp_syscalls *calls);
/** dp_intercepts_add() - one more; @len bytes of whole instructions */
void dp_intercepts_add(struct dp_process *proc, u64 addr, const u8 *code,
		       u32 nr, u32 len, bool again);
/** dp_intercepts_call() - the numbers of those calls, one by one; -1: no more */
long dp_intercepts_call(size_t i);
/** dp_intercepts_wanted() - is it one of those calls? */
bool dp_intercepts_wanted(u32 nr);
/** dp_intercepts_masked_wait() - does it have a signal mask of its own? */
bool dp_intercepts_masked_wait(u32 nr);

/* numbers: system calls whose number comes from elsewhere. Context: tool process. */

/** dp_numbers_find() - system calls whose number is not known from the code before
 *  them, where the function around them is */
void dp_numbers_find(struct dp_process *proc, const struct dp_span *span,
		     const u8 *text);

/*
 * points: where musl makes the calls in which a thread can be cancelled.
 *
 * Context of every function: tool process, one thread at a time per object.
 */

/** dp_points_add() - at @addr the number @nr is put where musl's function expects it */
void dp_points_add(struct dp_process *proc, const struct dp_span *span,
		   const u8 *text, u64 addr, u32 nr);
/** dp_points_touched() - are there probes between intercept @h and the next one behind it? */
bool dp_points_touched(const struct dp_process *proc,
		       const struct dp_intercept *h);

/**
 * dp_points_at() - the intercept that a call went through
 * @pc, @sp: of a thread at such a call or back from it; @below: what @sp was there
 * Return: NULL if it is at none that was intercepted.
 */
const struct dp_intercept *dp_points_at(const struct dp_process *proc, u64 pc,
					u64 sp, u64 *below);

/** dp_points_between() - is a thread on the way to such a call, or back? */
bool dp_points_between(const struct dp_process *proc, u64 pc, u64 sp);

/* kind: what a program is made of, as far as that decides where it makes its system calls. */

/** dp_auxv_get() - a word of its auxiliary vector; 0: it has none */
u64 dp_auxv_get(pid_t pid, u64 type);

/**
 * dp_kind_find() - where its code makes system calls, what remote calls use of it, and what
 * is to pass through the agent
 *
 * Waits for a dynamic linker that is still at work.
 * Return: 0; -EAGAIN it does not get on; -ESRCH; -EOPNOTSUPP no remote call can be made.
 */
int dp_kind_find(struct dp_process *proc, struct dp_diag *diag);

#endif
