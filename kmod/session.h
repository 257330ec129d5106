/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * session: the kernel's probes: one engine on the kernel's text, and one session that other modules have.
 *
 *     begin ─► add… ─► commit ─► … ─► turn ─► commit ─► end
 *
 * That session is a client like each opener of /dev/dprobes: client.h. Probes that call handlers in C share the engine
 * with all of them: kprobes.c. Functions of this file that name a probe have to do with those of any client.
 * Context of every function: task, may sleep; a lock keeps callers apart.
 */
#ifndef DP_KMOD_SESSION_H
#define DP_KMOD_SESSION_H

#include "engine/layout/probe.h"
#include "engine/layout/ring.h"
#include "engine/vm/program.h"
#include "port_types.h"

/** enum dp_kmod_arming - how sites are armed */
enum dp_kmod_arming {
	DP_KMOD_TRAP, /* by breakpoints */
	DP_KMOD_JUMP, /* by jumps, which are written while no CPU does anything else */
	DP_KMOD_INTERIOR, /* by jumps with breakpoints inside, where the pool has such addresses */
};

/** Probes at most, of all clients and with handlers */
#define DP_KMOD_PROBES 4096
/** Programs of all clients, and bytes of a record, and of a probe's heap, at most */
#define DP_KMOD_PROGRAMS 128
#define DP_KMOD_LOG 1024
#define DP_KMOD_HEAP 4096

/** dp_kmod_begin() - an engine without probes. This module stays until dp_kmod_end() succeeds.
 *  Return: 0; -EBUSY there is one, or there are probes with handlers that are armed in another way;
 *  -ENOMEM. */
int dp_kmod_begin(enum dp_kmod_arming arming);
/** dp_kmod_end() - disarm all, wait until no thread is in a copy or detour, and free the engine.
 *  Return: 0; -EBUSY others have written over a probe since: it stays, and the session with it; an error
 *  of writing. */
int dp_kmod_end(void);

/**
 * dp_kmod_add() - put a probe on an instruction
 * @addr: of a function, to probe its first instruction that may be probed; or of any instruction
 * @why: on failure, a static phrase, or NULL
 * Return: 0; -EINVAL it may not be probed; -EILSEQ there is no instruction; -EBUSY another's bytes
 * are there; -ENOENT no function is there; -ENOMEM; -ENOSPC the session has no more. If it is code of a module's,
 * that may go: then the probe is gone, and keeps its counts.
 */
int dp_kmod_add(u64 addr, u32 *probe, const char **why);
/** dp_kmod_opcode() - the byte at @addr, without what is written there; 0: none can be read. For this module
 *  alone */
u8 dp_kmod_opcode(u64 addr);
/** enum dp_kmod_state - where the code of a probe is */
enum dp_kmod_state {
	DP_KMOD_THERE,
	DP_KMOD_PENDING, /* its module has not been loaded yet */
	DP_KMOD_GONE,
};

/** dp_kmod_state() - of a probe. For this module alone */
enum dp_kmod_state dp_kmod_state(u32 probe);
/** dp_kmod_symbol() - address of a function or variable of the kernel; 0: it has none of that name */
u64 dp_kmod_symbol(const char *name);
/** dp_kmod_commit() - arm what was added and turned on, disarm what was turned off.
 *  @bad: on failure the address concerned, or 0 */
int dp_kmod_commit(u64 *bad);
/** dp_kmod_turn() - a probe is to be on, or off, from the next commit on */
void dp_kmod_turn(u32 probe, bool on);

/** enum dp_kmod_knob - what is for all probes, with handlers and of sessions, also of later ones: they are
 *  armed, unless they are off; they are jumps, where they can be */
enum dp_kmod_knob {
	DP_KMOD_ARMED,
	DP_KMOD_JUMPS,
};

/** dp_kmod_knob() - Return: is it on? At first it is. For this module alone */
bool dp_kmod_knob(enum dp_kmod_knob knob);
/** dp_kmod_set_knob() - Return: 0; -EBUSY others have written over a probe: the knob stays; -ENOMEM. For this module
 *  alone */
int dp_kmod_set_knob(enum dp_kmod_knob knob, bool on);

/** dp_kmod_hits() - of a probe, exact when no thread is at the site */
u64 dp_kmod_hits(u32 probe);
/** dp_kmod_missed() - hits within hits since the session began, of all probes */
u64 dp_kmod_missed(void);
/** dp_kmod_arrivals() - threads that came into the middle of jumps since the session began */
u64 dp_kmod_arrivals(void);
/** dp_kmod_missed_of() - hits of a probe whose program has not run. For this module alone */
u64 dp_kmod_missed_of(u32 probe);
/** dp_kmod_mode() - "jump" or "trap"; dp_kmod_reason() - why not "jump", or NULL */
const char *dp_kmod_mode(u32 probe);
const char *dp_kmod_reason(u32 probe);
struct dp_account;
/** dp_kmod_calls() - what has become of the calls that a probe on returns has followed. Return: 0; -ENOENT. For this
 *  module alone */
int dp_kmod_calls(u32 probe, struct dp_account *account);
/** dp_kmod_add_program() - see dp_engine_add_program(); before the commit */
int dp_kmod_add_program(const struct dp_program_spec *spec, u32 *program,
			u32 *offset, const char **why);
/** dp_kmod_bind() - have a probe run a program; before the commit */
void dp_kmod_bind(u32 probe, const struct dp_binding *binding);
/** dp_kmod_interpret() - detours leave each program to the interpreter at its instruction @from, counted from 1; 0:
 *  where they have to, as is usual. Before the first program. Return: 0; -EBUSY */
int dp_kmod_interpret(u32 from);
/** dp_kmod_native() - does the detour of a probe run its program, as far as it can? */
bool dp_kmod_native(u32 probe);
/** dp_kmod_met() - hits for which the detour itself has counted the program's variable */
u64 dp_kmod_met(u32 probe);
/** dp_kmod_starts() - is it a place where a program begins? For this module alone */
bool dp_kmod_starts(u32 program, u32 start);
/** dp_kmod_local() - value of a program's variable; dp_kmod_global() - of one that all have. The latter
 *  is for this module alone */
u64 dp_kmod_local(u32 program, u32 index);
u64 dp_kmod_global(u32 index);
/** dp_kmod_records() - take records: see dp_engine_records(). Return: how many */
size_t dp_kmod_records(void (*take)(void *arg,
				    const struct dp_record_copy *record),
		       void *arg);
/** dp_kmod_tally() - what became of hits and records of a probe */
u64 dp_kmod_tally(u32 probe, enum dp_tally what);
/** dp_kmod_status() - see dp_engine_state(). Return: enum dp_status_bit. For this module alone */
u32 dp_kmod_status(u32 probe, s64 *count);

/* Of this module: probes that call handlers, between dp_kmod_enter() and dp_kmod_leave(). */

struct dp_engine;
struct dp_handlers;

/** dp_kmod_enter() - take the lock. @makes: if there is no engine, make one
 *  Return: 0; the lock is not taken: -ENOMEM; -ENOENT without @makes: there is none. */
int dp_kmod_enter(bool makes);
/** dp_kmod_leave() - release the lock. An engine without probes and session goes. */
void dp_kmod_leave(void);
struct dp_engine *dp_kmod_engine(void);
/** dp_kmod_add_handlers() - as dp_kmod_add(), for dp_live_commit(); the module whose code it is may go
 *  @addr: set to the instruction */
int dp_kmod_add_handlers(u64 *addr, const struct dp_handlers *handlers,
			 bool enabled, u32 *probe, const char **why);
/** dp_kmod_remove() - take probes away, and wait until no CPU is in a handler of theirs
 *  Return: 0; others have written over one of them since: it stays, and calls nothing: -EBUSY. */
int dp_kmod_remove(const u32 *list, u32 n);

#endif
