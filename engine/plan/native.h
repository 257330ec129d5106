/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* native: which detours run a program themselves. */
#ifndef DP_PLAN_NATIVE_H
#define DP_PLAN_NATIVE_H

#include "port_types.h"
#include "engine/insn/detour.h"
#include "engine/vm/native/native.h"

struct dp_engine;
struct dp_jump_program;
struct dp_program;
struct dp_site;

/**
 * struct dp_native_start - what is made of a program from one of its starts
 * @tried: it is what it is going to be; @native: NULL: it is left to the interpreter
 */
struct dp_native_start {
	bool tried;
	struct dp_native *native;
};

/**
 * dp_native_of() - the program that the detour of a site runs
 * @runs: which it is
 *
 * It is that of the site's only probe, if it has no limit.
 * Context: control half. Return: NULL: none.
 */
const struct dp_native *dp_native_of(const struct dp_engine *e,
				     const struct dp_site *s,
				     struct dp_jump_program *runs);

/** dp_native_commits() - when a detour makes the site's records
 *  @memory: set for DP_COMMITS_IF_TOUCHED */
enum dp_commits dp_native_commits(const struct dp_engine *e,
				  const struct dp_site *s,
				  struct dp_insn_memory *memory);

/** dp_native_from() - what is made of a program; NULL: nothing. Until dp_native_free(). */
const struct dp_native *dp_native_from(const struct dp_engine *e, u32 program,
				       u32 start);

/** dp_native_free() - free what was made of a program */
void dp_native_free(struct dp_program *p);

#endif
