/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* instances: calls that are tracked from entry to exit, from outside. */
#ifndef DP_SITE_INSTANCES_H
#define DP_SITE_INSTANCES_H

#include "port_types.h"

struct dp_engine;
struct dp_target;

/**
 * dp_engine_track() - a probe begins instances: calls of the function it is at the
 * entry of
 * @logs: a record is made when one ends: struct dp_leaving, and what the probe's
 *        program has logged. Then some probe has to be bound to a program.
 *
 * Before dp_engine_bind() and the layout. Return: 0; -ENOMEM too many probes.
 */
int dp_engine_track(struct dp_engine *engine, u32 probe, bool logs);
/** dp_engine_track_xmm() - what its calls return is a floating-point number. After
 *  dp_engine_track(), before the layout. */
void dp_engine_track_xmm(struct dp_engine *engine, u32 probe);

/**
 * dp_engine_add_exit() - instances end at an instruction
 * @enter: the probe that begins them
 *         DP_NO_GROUP: none; calls that have jumped to this function end here
 * @way: DP_WAY_TAIL, DP_WAY_TAKEN, DP_WAY_SHARED, DP_WAY_TAIL_TARGET
 *
 * At this instruction the stack pointer is what it was at the entry.
 * Return: as dp_engine_add().
 */
int dp_engine_add_exit(struct dp_engine *engine, u32 enter, u32 way, u64 addr,
		       const u8 *code, size_t size, u32 *probe,
		       const char **why);

/**
 * dp_engine_add_unwind() - at an instruction a part of the stack is left, with the
 * instances that are on it
 * @way: DP_WAY_UNTIL_CX, DP_WAY_UNTIL_DI
 * Return: as dp_engine_add().
 */
int dp_engine_add_unwind(struct dp_engine *engine, u32 way, u64 addr,
			 const u8 *code, size_t size, u32 *probe);

/**
 * dp_engine_instances_want() - is it time for a further table of instances?
 * Return: bytes that it takes, whole pages; 0: there is room, or there are as many
 * as there can be.
 */
u64 dp_engine_instances_want(const struct dp_engine *engine);
/** dp_engine_instances_grow() - here it is, all zeros: at @addr in the target, and at
 *  @ours here, as long as the engine lives */
void dp_engine_instances_grow(struct dp_engine *engine, u64 addr, void *ours);
/** dp_engine_instances_like() - an engine that takes over from another is to have the same
 *  tables. Before the layout. */
void dp_engine_instances_like(struct dp_engine *engine,
			      const struct dp_engine *of);
/** dp_engine_instances_owed() - bytes of the next table that @of has and @engine, which is
 *  built, has not yet; 0: it has as many. It goes to dp_engine_instances_grow(). */
u64 dp_engine_instances_owed(const struct dp_engine *engine,
			     const struct dp_engine *of);
/** dp_engine_instances_at() - where a table is in the target; 0: there is none */
u64 dp_engine_instances_at(const struct dp_engine *engine, u32 table);

/**
 * dp_engine_admit() - may instances begin?
 *
 * From the end of dp_engine_arm() on they may. It is taken back before the sites
 * are disarmed: while only some of them are armed an instance could begin and its end
 * not be seen.
 */
void dp_engine_admit(struct dp_engine *engine, bool may);

struct dp_account;
/** dp_engine_account() - of the probe @enter; those that have not ended, dp_engine_instances(),
 *  are among the lost */
void dp_engine_account(const struct dp_engine *engine, u32 enter,
		       struct dp_account *account);

struct dp_record_copy;
/**
 * struct dp_instance_copy - an instance that has not ended
 * @index: its place; @serial: and which one there
 * @probe: at whose function
 * @slot: where its return address is; @ret: which one that is, 0: not known
 * @whole: it is neither beginning nor ending
 */
struct dp_instance_copy {
	u32 index, probe;
	u64 serial, slot, ret;
	bool whole;
};

/** dp_engine_instances() - those that are in the tables; safe while the target runs.
 *  Return: how many. */
size_t dp_engine_instances(
	const struct dp_engine *engine,
	void (*take)(void *arg, const struct dp_instance_copy *instance),
	void *arg);
/** dp_engine_instances_still() - has it not ended since? */
bool dp_engine_instances_still(const struct dp_engine *engine,
			       const struct dp_instance_copy *instance);
/** dp_engine_instance_record() - the record of an instance that is found to be over:
 *  DP_CALL_ABANDONED, now */
void dp_engine_instance_record(const struct dp_engine *engine,
			       const struct dp_instance_copy *instance,
			       struct dp_record_copy *record);

/**
 * dp_engine_fork_instances() - the child returns from what its parent was in, too
 * @holds: is this the word at @slot of the child's memory?
 *
 * When it has as many tables: dp_engine_instances_owed(). These are DP_TALLY_BROUGHT.
 */
void dp_engine_fork_instances(struct dp_engine *child,
			      const struct dp_engine *of, u32 was, u32 is,
			      bool (*holds)(void *arg, u64 slot, u64 word),
			      void *arg);

/** dp_instances_carry() - all that are in the tables of @of; it does not run */
void dp_instances_carry(struct dp_engine *engine, const struct dp_engine *of);
/** dp_instances_measure() - lines of the table, and bytes an instance */
void dp_instances_measure(const struct dp_engine *engine, u32 *lines,
			  u32 *stride);
/** dp_instances_open() - the first table is in the arena */
void dp_instances_open(struct dp_engine *engine);

#endif
