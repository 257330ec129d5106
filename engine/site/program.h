/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* program: programs that an engine's probes run. */
#ifndef DP_SITE_PROGRAM_H
#define DP_SITE_PROGRAM_H

#include "port_types.h"
#include "engine/vm/program.h"

struct dp_engine;

/* Variables of a program, and global ones of all */
#define DP_VARS_MAX 256

/**
 * dp_engine_add_program() - verify and add a program
 * @program: number of the new program, from 0
 * @offset: on failure, where in the code
 * @why: on failure, a static phrase
 *
 * Before dp_engine_plan(). The code is copied.
 * Return: 0; -EINVAL the verifier rejects it; -ENOSPC there are not so many variables to share;
 * -ENOMEM.
 */
int dp_engine_add_program(struct dp_engine *engine,
			  const struct dp_program_spec *spec, u32 *program,
			  u32 *offset, const char **why);

/** dp_engine_programs() - how many there are; dp_engine_program() - one of them, as it was added, with
 *  the engine's own copies */
u32 dp_engine_programs(const struct dp_engine *engine);
struct dp_program_spec dp_engine_program(const struct dp_engine *engine,
					 u32 program);

/** dp_engine_bind() - have a probe run a program. Before dp_engine_plan(). */
void dp_engine_bind(struct dp_engine *engine, u32 probe,
		    const struct dp_binding *binding);

/** dp_program_unbind() - a probe runs no program any more. What its detours have counted of a variable stays.
 *  Context: no thread comes to it */
void dp_program_unbind(struct dp_engine *engine, u32 probe);
/** dp_program_fold() - put what detours of a probe have counted into the memory of its variable. They count it no more */
void dp_program_fold(struct dp_engine *engine, u32 probe);
/** dp_program_remove() - forget a program, whose number and room are the next one's
 *  Context: no probe is bound to it, no thread runs it, and no other uses its variables */
void dp_program_remove(struct dp_engine *engine, u32 program);

/** dp_program_note() - note what the program of a probe asks of its site */
void dp_program_note(struct dp_engine *engine, u32 probe);

/** dp_engine_local() - value of a program's variable; 0 past the end */
u64 dp_engine_local(const struct dp_engine *engine, u32 program, u32 index);
u64 dp_engine_global(const struct dp_engine *engine, u32 index);
/** dp_engine_zero_local(), dp_engine_zero_global() - one becomes 0. What is counted meanwhile may be lost
 *  dp_engine_zero_globals() - all global ones do, and none is allocated */
void dp_engine_zero_local(struct dp_engine *engine, u32 program, u32 index);
void dp_engine_zero_global(struct dp_engine *engine, u32 index);
void dp_engine_zero_globals(struct dp_engine *engine);
/** dp_engine_globals() - how many global variables there are */
u32 dp_engine_globals(const struct dp_engine *engine);

/** dp_program_locals() - local variables for which a program takes room */
u32 dp_program_locals(const struct dp_program_spec *spec);
/** dp_programs_fit() - find room in the tables for all programs. Return: is there any? */
bool dp_programs_fit(struct dp_engine *e);
/** dp_programs_forget_places() - the tables are new, and empty */
void dp_programs_forget_places(struct dp_engine *e);
/** dp_programs_drop() - forget all programs from the @n-th on */
void dp_programs_drop(struct dp_engine *e, u32 n);
/** dp_programs_restart() - forget all programs, and use their room again, also that of variables: no
 *  thread runs one, and no probe has one */
void dp_programs_restart(struct dp_engine *e);
/** struct dp_program_rooms - bytes of the largest log, stack traces and heap */
struct dp_program_rooms {
	u32 log, traces, heap;
};

/** dp_programs_rooms() - of any program, known or expected */
struct dp_program_rooms dp_programs_rooms(const struct dp_engine *engine);

/** dp_programs_longest() - bytes of the longest log that an instance of a call has room for */
u32 dp_programs_longest(const struct dp_engine *engine);
void dp_programs_free(struct dp_engine *engine);

#endif
