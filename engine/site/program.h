/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* program: what an engine's probes can run. */
#ifndef DP_SITE_PROGRAM_H
#define DP_SITE_PROGRAM_H

#include "port_types.h"

struct dp_engine;

/**
 * struct dp_program_spec - a program as it is inserted
 * @name: of what it probes, for whoever asks later
 * @code: 8-byte words; @starts: where the handlers of its @nr_starts probes begin
 * @nr_lv, @nr_gv: variables it uses, at most 256 each
 * @jmpmax: jumps a hit, at most 65535; @logmax: bytes a record, at most DP_VM_LOG
 * @stack: elements of the RPN stack: 1024 or 32
 *
 * What exceeds a limit is clamped.
 */
struct dp_program_spec {
	const char *name;
	const u8 *code;
	u32 code_len;
	const u32 *starts;
	u32 nr_starts;
	u32 nr_lv, nr_gv;
	u32 jmpmax, logmax, stack;
};

/**
 * dp_engine_add_program() - verify a program and take it in
 * @program: number of the new program, from 0
 * @offset: on failure, where in the code
 * @why: on failure, a static phrase
 *
 * Before the layout. The code is copied.
 * Return: 0; -EINVAL the verifier rejects it; -ENOMEM.
 */
int dp_engine_add_program(struct dp_engine *engine,
			  const struct dp_program_spec *spec, u32 *program,
			  u32 *offset, const char **why);

/** struct dp_binding - how a probe runs a program; see struct dp_probe_entry */
struct dp_binding {
	u32 program;
	u32 start;
	u16 major, minor;
	u32 passcount, maxhits;
	bool logonfault;
};

/** dp_engine_bind() - have a probe run a program. Before the layout. */
void dp_engine_bind(struct dp_engine *engine, u32 probe,
		    const struct dp_binding *binding);

/** dp_engine_local() - value of a variable; 0 past the end */
u64 dp_engine_local(const struct dp_engine *engine, u32 program, u32 index);
u64 dp_engine_global(const struct dp_engine *engine, u32 index);
/** dp_engine_globals() - how many there are */
u32 dp_engine_globals(const struct dp_engine *engine);

/** dp_programs_longest() - bytes of the longest record of any */
u32 dp_programs_longest(const struct dp_engine *engine);
void dp_programs_free(struct dp_engine *engine);

#endif
