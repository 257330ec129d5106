/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * exchange: probes with programs that take the places of others, at one moment.
 *
 *     begin ─► programs, probes: add ─► commit ─► apply ─► join ─► now ─► end ─► apply
 *              new probes wait          detours of what    no thread is
 *                                       changes call out   in one of those
 *                                                └──► or give_up ─► end ─► apply
 *
 * Between begin and end no detour runs a program that is about to change: each hit calls the
 * interpreter, which reads the arena's generation once, and then which probes are on in it. So one
 * word, set by now, decides for all sites: a hit runs what was before, or what is new.
 *
 * Return probes are on, or off, by a word each, set at that moment one after the other.
 *
 * Context: control half, one thread at a time per engine. Not for a process's own engine.
 */
#ifndef DP_SITE_EXCHANGE_H
#define DP_SITE_EXCHANGE_H

#include "port_types.h"

struct dp_disabled;
struct dp_engine;

/** dp_exchange_begin() - from now on probes that are added wait for dp_exchange_now() */
void dp_exchange_begin(struct dp_engine *engine);
/** dp_exchange_program() - probes of this program are about to go. A program whose variables a new
 *  one shares (struct dp_program_spec) need not be named. */
void dp_exchange_program(struct dp_engine *engine, u32 program);
/** dp_exchange_joins() - does a new program share the variables of another one? */
bool dp_exchange_joins(const struct dp_engine *engine);
/** dp_exchange_inside() - is a pc in a detour that counts variables which are to be shared, or on the
 *  way to one, and not at the copy of the program's own instruction? */
bool dp_exchange_inside(const struct dp_engine *engine, u64 pc);
/**
 * dp_exchange_join() - let new programs share variables
 *
 * What detours have counted of them goes into their memory.
 * Context: no thread of the target is dp_exchange_inside().
 */
void dp_exchange_join(struct dp_engine *engine);
/** dp_exchange_now() - decide which probes are on from here on. @off: see dp_engine_choose() */
void dp_exchange_now(struct dp_engine *engine, const struct dp_disabled *off);
/**
 * dp_exchange_tidy() - take retired probes off their sites, so that what is left there can be run by
 * its detour again
 * Context: no thread of the target is in the agent.
 */
void dp_exchange_tidy(struct dp_engine *engine, const struct dp_disabled *off);
/**
 * dp_exchange_give_up() - instead of dp_exchange_now(): what has been added since dp_exchange_begin() never is on
 * @probe, @program: the first ones that were added
 *
 * Such probes are to be off from here on, in each choice. Such programs show no variables.
 */
void dp_exchange_give_up(struct dp_engine *engine, u32 probe, u32 program);
/**
 * dp_exchange_swap() - instead of dp_exchange_now(), where hits can be kept out: probes that wait are on, others off
 * Context: no thread of the target is in a hit.
 */
void dp_exchange_swap(struct dp_engine *engine, const u32 *come, u32 nr_come,
		      const u32 *go, u32 nr_go);
/** dp_exchange_end() - detours may run programs again, from the next dp_engine_apply() on */
void dp_exchange_end(struct dp_engine *engine);

#endif
