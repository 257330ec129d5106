/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* instances: calls tracked from entry to exit, as control sees them. */
#ifndef DP_SITE_INSTANCES_H
#define DP_SITE_INSTANCES_H

#include "port_types.h"

struct dp_engine;
struct dp_target;

/**
 * dp_engine_track() - a probe at a function's entry begins instances
 * @logs: a record is made when an instance ends: struct dp_leaving, and what the probe's
 *   program has logged. Then some probe has to be bound to a program.
 *
 * Before dp_engine_bind() and the layout. Return: 0; -ENOMEM too many probes.
 */
int dp_engine_track(struct dp_engine *engine, u32 probe, bool logs);
/** dp_live_track() - a probe of dp_live_add() tracks calls. @group: of an exit: the probe at its
 *  function's entry, or DP_NO_GROUP. Before the commit. */
void dp_live_track(struct dp_engine *engine, u32 probe, u32 group);
/** dp_engine_track_xmm() - the probe's calls return a floating-point number. After
 *  dp_engine_track(), before the layout. */
void dp_engine_track_xmm(struct dp_engine *engine, u32 probe);

/**
 * dp_engine_add_exit() - instances end at an instruction
 * @enter: the probe that begins them; DP_NO_GROUP: none, and instances tail-called to
 *   this function end here
 * @way: DP_WAY_TAIL, DP_WAY_TAKEN, DP_WAY_SHARED, DP_WAY_TAIL_TARGET
 *
 * At this instruction the stack pointer is what it was at the entry.
 * Return: as dp_engine_add().
 */
int dp_engine_add_exit(struct dp_engine *engine, u32 enter, u32 way, u64 addr,
		       const u8 *code, size_t size, u32 *probe,
		       const char **why);

/**
 * dp_engine_add_unwind() - an instruction leaves a part of the stack, and its instances
 * @way: DP_WAY_UNTIL_CX, DP_WAY_UNTIL_DI
 * Return: as dp_engine_add().
 */
int dp_engine_add_unwind(struct dp_engine *engine, u32 way, u64 addr,
			 const u8 *code, size_t size, u32 *probe);

/** dp_engine_hidden_at() - the probe of this kind and of no group at @addr, or DP_NO_GROUP
 *  dp_engine_hidden_spare() - one whose code has gone: dp_engine_move() */
u32 dp_engine_hidden_at(const struct dp_engine *engine, u8 kind, u64 addr);
u32 dp_engine_hidden_spare(const struct dp_engine *engine, u8 kind);
/** dp_engine_set_way() - change how a probe's function is left there: DP_WAY_* */
void dp_engine_set_way(struct dp_engine *engine, u32 probe, u32 way);

/**
 * dp_engine_instances_want() - is it time for a further table of instances?
 * Return: size of the next table in bytes, whole pages; 0: there is room, or there are
 * already as many tables as there can be.
 */
u64 dp_engine_instances_want(const struct dp_engine *engine);
/** dp_engine_instances_grow() - add a table, all zeros: at @addr in the target, and at
 *  @ours in the tool for as long as the engine lives */
void dp_engine_instances_grow(struct dp_engine *engine, u64 addr, void *ours);
/** dp_engine_instances_owed() - bytes of the next table that @of has and @engine lacks; 0:
 *  @engine has as many. For dp_engine_instances_grow(). After the build. */
u64 dp_engine_instances_owed(const struct dp_engine *engine,
			     const struct dp_engine *of);
/** dp_engine_instances_at() - address of a table in the target, or 0 */
u64 dp_engine_instances_at(const struct dp_engine *engine, u32 table);

/**
 * dp_engine_admit() - may instances begin?
 *
 * They may from the end of dp_engine_commit() on. Control forbids it before it disarms
 * sites: with only some sites armed, an instance could begin whose end is not seen.
 */
void dp_engine_admit(struct dp_engine *engine, bool may);

struct dp_account;
/** dp_account_begin() - account of the instances of the probe @enter, without those that its exits
 *  have counted; dp_account_exit() - these. For both see dp_engine_account(). */
void dp_account_begin(const struct dp_engine *engine, u32 enter,
		      struct dp_account *account);
void dp_account_exit(const struct dp_engine *engine, u32 exit,
		     struct dp_account *account);
/** dp_engine_account() - account of the instances of the probe @enter. Those that have not
 *  ended, see dp_engine_instances(), count as lost; those that dp_engine_forget_disabled()
 *  has taken, as inside. */
void dp_engine_account(const struct dp_engine *engine, u32 enter,
		       struct dp_account *account);

struct dp_record_copy;
/**
 * struct dp_instance_copy - an instance that has not ended
 * @index: its place; @serial: which of the instances that have had that place
 * @probe: the probe at its function's entry
 * @slot: where its return address is; @ret: the return address, 0: not known
 * @whole: it is neither beginning nor ending
 */
struct dp_instance_copy {
	u32 index, probe;
	u64 serial, slot, ret;
	bool whole;
};

/** dp_engine_instances() - take the instances in the tables; safe while the target runs.
 *  Return: how many. */
size_t dp_engine_instances(
	const struct dp_engine *engine,
	void (*take)(void *arg, const struct dp_instance_copy *instance),
	void *arg);
/** dp_engine_instances_still() - has the instance still not ended? */
bool dp_engine_instances_still(const struct dp_engine *engine,
			       const struct dp_instance_copy *instance);
/** dp_engine_instance_record() - the record of an instance found abandoned:
 *  DP_CALL_ABANDONED, at the present time */
void dp_engine_instance_record(const struct dp_engine *engine,
			       const struct dp_instance_copy *instance,
			       struct dp_record_copy *record);

/**
 * dp_engine_fork_instances() - copy the instances whose calls the child's memory still
 *    has
 * @was, @is: the id of the thread that forked, and its id in the child
 * @holds: is this the word at @slot of the child's memory?
 *
 * When the child has as many tables: dp_engine_instances_owed(). The copied instances are
 * DP_TALLY_BROUGHT.
 */
void dp_engine_fork_instances(struct dp_engine *child,
			      const struct dp_engine *of, u32 was, u32 is,
			      bool (*holds)(void *arg, u64 slot, u64 word),
			      void *arg);

/** dp_engine_blocks_crowded() - does more than half of the directory of blocks have stacks?
 *  dp_engine_blocks_reclaim() - give back the blocks of stacks on which no tracked call runs.
 *  Context: no thread is in the agent. Return: how many. */
bool dp_engine_blocks_crowded(const struct dp_engine *engine);
u32 dp_engine_blocks_reclaim(struct dp_engine *engine);

/** dp_instances_measure() - lines of the table, blocks, and bytes of an instance */
void dp_instances_measure(const struct dp_engine *engine, u32 *lines,
			  u32 *blocks, u32 *stride);
/** dp_instances_open() - note the first table, which is in the arena */
void dp_instances_open(struct dp_engine *engine);

#endif
