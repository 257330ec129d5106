/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * watchpoint: the parts of the source whose hits the processor's debug registers make.
 *
 *   session ─► source.c ─► places.c   specs → addresses
 *                     ├──► proc/watch a breakpoint event of each thread for each address
 *                     ├──► values.c   a program of the kernel's that reads the values at a hit
 *                     ├──► doer.c     the instruction before the one at which a thread went on
 *                     ├──► cost.c     what frequent hits take
 *                     └──► taken.c    hits of registers that the tool sets where there are no events
 *
 * Of these, a program's watchpoints have places, events or registers, and cost (tracer/agent/data.c).
 */
#ifndef DP_TRACER_WATCHPOINT_H
#define DP_TRACER_WATCHPOINT_H

#include "proc/watch.h"
#include "tracer/source.h"
#include "tracer/watched.h"

/** struct dp_watch_cost - how many hits there were when that was looked at; @ns: what an event costs, once that has been
 *  measured; @told: what they cost */
struct dp_watch_cost {
	double looked;
	u64 seen, ns;
	bool told;
};
void dp_watch_cost_begin(struct dp_watch_cost *cost, double t);

/** struct dp_watch_armed - watchpoints of a process: by events, or by registers where these are not NULL */
struct dp_watch_armed {
	struct dp_watch_events events;
	struct dp_watch_registers *registers;
};
/** dp_watch_armed_count() - the hits of one watchpoint by all threads */
u64 dp_watch_armed_count(const struct dp_watch_armed *armed, u32 watch);
/** dp_watch_cost_look() - say once what hits cost, when they take more than 3 % of a CPU
 *  @nr: watchpoints; @t: now, by dp_source_now(); @without: what the measure lacks, or "" */
void dp_watch_cost_look(struct dp_watch_cost *cost,
			const struct dp_watch_armed *armed, u32 nr, double t,
			bool signals, const char *without);

/** enum dp_watch_way - $DPROBES_WATCH: how debug registers are set */
enum dp_watch_way {
	DP_WATCH_EITHER, /* by events; by ptrace(2) where the kernel permits no events */
	DP_WATCH_EVENTS,
	DP_WATCH_REGISTERS,
};
/** dp_watch_way_read() - Return: 0; -EINVAL with words. */
int dp_watch_way_read(enum dp_watch_way *way, struct dp_diag *diag);
/** dp_watch_bare_tell() - say how many threads came that got no registers */
void dp_watch_bare_tell(const struct dp_watch_armed *armed);

struct dp_watch_values;

/**
 * dp_watch_values_open() - programs for the kernel that judge hits
 * @logs: they make a record of each for which its condition holds
 * @bytes: of their ring, or 0: as usual
 *
 * Context: tool; may sleep. Return: 0; -EPERM, -EOPNOTSUPP, -ENOMEM with words.
 */
int dp_watch_values_open(struct dp_watch_values **values, pid_t pid,
			 const struct dp_watchpoint *watches, size_t n,
			 bool logs, u64 bytes, struct dp_diag *diag);
/** dp_watch_values_programs() - descriptors, one of each watchpoint */
const int *dp_watch_values_programs(const struct dp_watch_values *values);
/** dp_watch_values_begin() - what is there now is the value last seen */
void dp_watch_values_begin(struct dp_watch_values *values, u32 watch, u64 now);
/** dp_watch_values_lost() - records of a watchpoint for which there was no room */
u64 dp_watch_values_lost(const struct dp_watch_values *values, u32 watch);
/** dp_watch_values_held() - hits of a watchpoint for which its condition held */
u64 dp_watch_values_held(const struct dp_watch_values *values, u32 watch);

/** struct dp_watch_record - a hit as the kernel's program writes it; @tid: as the process knows it */
struct dp_watch_record {
	u64 ticks, now, before, pc;
	u32 watch, tid, cpu, known;
};

/** dp_watch_values_read() - hand on what has come. Return: how many. */
size_t dp_watch_values_read(struct dp_watch_values *values,
			    void (*take)(void *arg,
					 const struct dp_watch_record *record),
			    void *arg);
void dp_watch_values_close(struct dp_watch_values *values);

struct dp_watch_taken;

/**
 * dp_watch_taken_open() - what the kernel's programs do at hits of events, done by the tool at those of registers
 * @logs: hits make records. Return: 0; -ENOMEM; as dp_watch_condition(); with words.
 */
int dp_watch_taken_open(struct dp_watch_taken **taken,
			const struct dp_process *proc,
			const struct dp_watchpoint *watches, size_t n,
			bool logs, struct dp_diag *diag);
/** dp_watch_taken_taker() - for dp_watch_registers_open() */
struct dp_watch_taker dp_watch_taken_taker(struct dp_watch_taken *taken);
u64 dp_watch_taken_held(const struct dp_watch_taken *taken, u32 watch);
/** dp_watch_taken_read() - hand on what has come. Return: how many. */
size_t dp_watch_taken_read(struct dp_watch_taken *taken,
			   void (*take)(void *arg,
					const struct dp_watch_record *record),
			   void *arg);
/** dp_watch_taken_close() - NULL is fine */
void dp_watch_taken_close(struct dp_watch_taken *taken);

/**
 * dp_watch_place() - append the point of a spec
 * Return: 0; -ENOENT; -ENOTUNIQ; -EFAULT; -EINVAL unaligned, or of another size; -ENOMEM; as dp_points_resolve(); with
 * words and a caret.
 */
int dp_watch_place(struct dp_process *proc, struct dp_modules *mods,
		   const struct dp_spec *spec, struct dp_points *points,
		   struct dp_diag *diag);

/**
 * dp_watch_shown() - may the values of a spec be shown of @len bytes? 0: an instruction's
 * Return: 0; -EINVAL, -EOPNOTSUPP with a caret; -ENOMEM.
 */
int dp_watch_shown(const struct dp_spec *spec, u8 len, struct dp_diag *diag);

/**
 * dp_watch_doer() - the instruction that wrote to memory just before a thread came to @pc
 *
 * Instructions are decoded from the beginning of the function on, and nothing is guessed.
 * Context: tool; may sleep. Return: its address; 0: it is not known.
 */
u64 dp_watch_doer(struct dp_modules *mods, u64 pc);

#endif
