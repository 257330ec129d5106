/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* program: a hit of a probe that runs a program, its context, and its record. */
#ifndef DP_HIT_PROGRAM_H
#define DP_HIT_PROGRAM_H

#include "port_types.h"
#include "engine/hit/hit.h"
#include "engine/hit/hold.h"
#include "engine/layout/ring.h"
#include "engine/layout/own.h"
#include "engine/layout/site.h"
#include "engine/layout/instance.h"

#pragma GCC visibility push(hidden)

/**
 * dp_program_run() - run the program of a probe
 * @serial: when the hit began; 0: not known, set if the program can log
 * Return: true if its record waits for the original instruction.
 */
bool dp_program_run(u32 probe, const struct dp_site_entry *site,
		    const struct dp_hit *hit, u64 *serial);
/** dp_program_enter() - run the program of a probe at the entry of a function
 *  Fills in the instance. Leaves it incomplete if the call is not to be tracked. */
void dp_program_enter(u32 probe, const struct dp_site_entry *site,
		      const struct dp_hit *hit,
		      struct dp_exit_instance *instance);

/** dp_program_leave() - run what the program of a probe at an entry has for a call's return
 *  @hit: at the exit; @latency: ticks of the call; @entered: @len bytes, what it has logged at the
 *  entry, while this runs. Return: what it has logged, or that it aborts; to be released. NULL: it has
 *  not run. */
struct dp_context *dp_program_leave(u32 probe, const struct dp_hit *hit,
				    u64 latency, const void *entered, u32 len);

/** dp_context_claim() - take a context for a hit, or one that this thread has left for
 *  good
 *  Return: NULL if there is none. */
struct dp_context *dp_context_claim(const struct dp_hit *hit);
void dp_context_release(struct dp_context *ctx);
/** dp_context_suspend() - the record waits for the original instruction */
void dp_context_suspend(struct dp_context *ctx);

/** dp_facility_call() - see dp_facility_due() */
void dp_facility_call(struct dp_context *ctx, enum dp_facility_call when);
/** dp_external_call() - see @external of struct dp_vm */
bool dp_external_call(struct dp_vm *vm, struct dp_vm_call *call, bool make);

/** enum dp_completes - will the original instruction complete? */
enum dp_completes {
	DP_COMPLETES,
	DP_COMPLETES_NOT,
	DP_COMPLETES_PERHAPS,
};

/** dp_completes() - ask before the instruction runs, with the registers it will see */
enum dp_completes dp_completes(const struct dp_site_entry *site,
			       const struct dp_hit *hit, struct dp_regs *regs);

/** dp_pending_complete() - the original instruction of a hit has completed
 *  @hit: where the thread is now */
void dp_pending_complete(const struct dp_site_entry *site,
			 const struct dp_hit *hit);
/** dp_pending_abandon() - discard records of hits that a thread will not come back to
 *  @hit: where the thread is now */
void dp_pending_abandon(u32 tid, const struct dp_hit *hit);

#pragma GCC visibility pop

/** dp_facility_due() - if the program has ended for a facility of the process's own that is called
 *  then, call it; once for each record. Context: as handlers; @ctx->hit says where. */
static inline void dp_facility_due(struct dp_context *ctx,
				   enum dp_facility_call when)
{
	if (ctx->vm.facility >= DP_FACILITY_REGISTERED)
		dp_facility_call(ctx, when);
}

/** dp_program_undo() - an execution does not count, see struct dp_probe_state. Without a limit none
 *  does. */
static inline void dp_program_undo(u32 probe)
{
	if (dp_probe(probe)->maxhits < DP_HITS_UNLIMITED)
		__atomic_fetch_sub(&dp_probe_state(probe)->count, 1,
				   __ATOMIC_RELAXED);
}

#endif
