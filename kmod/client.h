/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * client: whoever has probes in the kernel: each opener of /dev/dprobes, and other modules (session.h).
 *
 *     begin ─► add… ─► commit ─► … ─► add… turn… remove… ─► commit ─► … ─► end
 *
 * Clients share the engine, its tables, its rings, and the variables that all programs have. A probe of one is not
 * armed before its own commit. Numbers of probes and programs are the engine's; a number that has gone is another's.
 * Context of every function: task, may sleep; a lock keeps callers apart.
 */
#ifndef DP_KMOD_CLIENT_H
#define DP_KMOD_CLIENT_H

#include "engine/layout/aggregate.h"
#include "kmod/session.h"
#include "port_types.h"
#include <linux/bitops.h>
#include <linux/types.h>

struct dp_data;
struct file;

/**
 * struct dp_client - zeros at first; only these are for others than the files of the engine:
 * @take: gets each record of its probes, with @arg and the engine's lock held; NULL: nobody does
 * @shows: it may see the kernel's addresses. Variables that all programs have are shared by those of one kind
 */
struct dp_client {
	void (*take)(void *arg, const struct dp_record_copy *record);
	void *arg;
	bool shows;
	/* It has begun; programs that it has, that a committed probe has run, and that came since the last commit */
	bool begun;
	DECLARE_BITMAP(programs, DP_KMOD_PROGRAMS);
	DECLARE_BITMAP(bound, DP_KMOD_PROGRAMS);
	DECLARE_BITMAP(fresh, DP_KMOD_PROGRAMS);
	/* The engine's numbers of tables, by the client's */
	u8 table[DP_AGGREGATE_TABLES];
	u32 nr_tables;
	/* Calls that each probe on returns follows at a time; what was counted of all when it began */
	u32 most;
	u64 within, arrivals;
};

/**
 * dp_client_begin() - be one. This module stays until dp_client_end() succeeds.
 * @most: calls that each probe on returns follows at a time; 0: as many as is usual
 * Return: 0; -EBUSY it is one already, or there are probes that are armed in another way; -ENOMEM.
 */
int dp_client_begin(struct dp_client *c, enum dp_kmod_arming arming, u32 most);
/** dp_client_end() - disarm all of its probes, wait until no thread is in a copy or detour of theirs
 *  Return: 0; -ENOENT it is none; -EBUSY others have written over a probe since: it stays; an error of writing. */
int dp_client_end(struct dp_client *c);
/** dp_client_interpret() - see dp_kmod_interpret(); for all clients. Return: 0; -EBUSY others have programs */
int dp_client_interpret(struct dp_client *c, u32 from);

/** dp_client_add() - see dp_kmod_add(); *@addr becomes that of the instruction */
int dp_client_add(struct dp_client *c, u64 *addr, u32 *probe, const char **why);
/** enum dp_kmod_how - a probe: armed whenever MODULE is loaded, before its first code runs; on the returns of
 *  FUNCTION; and its calls make records */
enum dp_kmod_how { DP_KMOD_WAITS = 1, DP_KMOD_RETURNS = 2, DP_KMOD_LOGS = 4 };
/**
 * dp_client_add_named() - put a probe on "[MODULE:]FUNCTION[+OFFSET]"
 * @name: is written to
 * @addr: in: of FUNCTION, or 0; out: of the instruction, 0: it is not there yet
 * @start: out: of FUNCTION
 * @how: enum dp_kmod_how
 * @why: on failure, a static phrase, or NULL
 * Return: as dp_kmod_add()
 */
int dp_client_add_named(struct dp_client *c, char *name, u32 how, u64 *addr,
			u64 *start, u32 *probe, const char **why);
/** dp_client_watch() - put a probe on data. Return: as dp_watch_take(); -ENOENT; -ENOMEM; -ENOSPC. If it is a module's,
 *  that may go: then the probe is gone, and keeps its counts. */
int dp_client_watch(struct dp_client *c, const struct dp_data *data, u32 *probe,
		    const char **why);
/**
 * dp_client_add_mapped() - put a probe on the instruction at an offset of a file, in every process that maps it
 * @file: need not stay; @opcode: out: the first byte of the instruction
 * @why: on failure, a static phrase, or NULL
 * Return: as dp_inode_open(), and dp_kmod_add()
 */
int dp_client_add_mapped(struct dp_client *c, struct file *file, u64 offset,
			 u32 *probe, u8 *opcode, const char **why);
/**
 * dp_client_also() - let such a probe, which has not been committed, be at one more instruction of its file
 * @onward: it is a jump that leads on to another function: no hit, but counted if it is taken (DP_TALLY_TAIL_CALLED)
 * Return: as dp_client_add_mapped(); -EINVAL also: it is another file, or no jump; -ENOSPC
 */
int dp_client_also(struct dp_client *c, u32 probe, struct file *file,
		   u64 offset, bool onward, u8 *opcode, const char **why);

/** dp_client_turn() - a probe is to be on, or off, from the next commit on */
void dp_client_turn(struct dp_client *c, u32 probe, bool on);
/** dp_client_remove() - a probe is to be taken away by the next commit. Return: 0; -EINVAL it has no such probe */
int dp_client_remove(struct dp_client *c, u32 probe);
/**
 * dp_client_commit() - arm what came since the last one, turn what was turned, take away what was removed
 * @bad: on failure the address concerned, or 0
 *
 * Where probes both come and go, each hit sees all of the ones or all of the others. Programs whose last probe has gone go
 * with it. On failure what came is gone, and the others are as they were.
 * Return: 0; -EBUSY one of the kernel's own probes is there; -ENOSPC, -ENOMEM; an error of writing.
 */
int dp_client_commit(struct dp_client *c, u64 *bad);
/** dp_client_plan() - decide how what came is to be armed, without arming it: dp_kmod_mode() */
int dp_client_plan(struct dp_client *c);
/** dp_client_undo() - forget what came since the last commit, and what was turned or removed */
void dp_client_undo(struct dp_client *c);

struct dp_program_spec;
struct dp_binding;
/** dp_client_add_program() - see dp_engine_add_program(). @shares: 1 + number of the program whose variables it uses, 0: its
 *  own. Return: as that; -EBUSY programs of another kind of client have global variables; -ENOSPC */
int dp_client_add_program(struct dp_client *c,
			  const struct dp_program_spec *spec, u32 *program,
			  u32 *offset, const char **why);
/** dp_client_bind() - have a probe, which has not been committed, run a program */
void dp_client_bind(struct dp_client *c, u32 probe,
		    const struct dp_binding *binding);
/** dp_client_has_program() - of that number, still? */
bool dp_client_has_program(struct dp_client *c, u32 program);
/** dp_client_zero_local(), dp_client_zero_global() - a variable becomes 0 */
void dp_client_zero_local(struct dp_client *c, u32 program, u32 index);
void dp_client_zero_global(struct dp_client *c, u32 index);
/** dp_client_look() - let each client have the records that there are */
void dp_client_look(void);

/** dp_client_within() - hits within hits since it has begun, of all probes that there are; dp_client_arrivals() - threads
 *  that came into the middle of jumps */
u64 dp_client_within(const struct dp_client *c);
u64 dp_client_arrivals(const struct dp_client *c);
/** dp_client_sites() - addresses that it probes; @jumps: of these, by jumps */
u32 dp_client_sites(const struct dp_client *c, u32 *jumps);

#endif
