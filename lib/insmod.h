/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * insmod: memory that the tool shares with a process which it starts with a module.
 *
 * The tool sets the environment variable DP_INSMOD_ENV to these lines:
 *
 *     /proc/TOOL/fd/N      struct dp_insmod
 *     preload              what LD_PRELOAD was
 *     module
 *     parameters, and @alias=function
 *
 * The tool preloads the library. The library reads the variable, takes it out of the
 * environment, loads the module, and writes the module's messages into the file.
 */
#ifndef DP_INSMOD_H
#define DP_INSMOD_H

#include <dprobes/diag.h>
#include "port_types.h"

#define DP_INSMOD_ENV "DPROBES_INSMOD"
#define DP_INSMOD_LINES 2048 /* a power of two */
#define DP_INSMOD_TEXT 1012
#define DP_INSMOD_REFUSED 125 /* exit status if the module is refused */

/** enum dp_insmod_state - state of the module */
enum dp_insmod_state {
	DP_INSMOD_WAITS,
	DP_INSMOD_LOADED,
	DP_INSMOD_FAILED, /* @diag says why */
	DP_INSMOD_ENDED, /* its exit was called at the command's end */
	/* the command could not be executed; set by the tool's child */
	DP_INSMOD_NO_COMMAND,
};

/**
 * struct dp_insmod_line - one message
 * @turn: line n goes into place n mod DP_INSMOD_LINES. n: a writer may take the place;
 *        n + 1: the line is written; n + DP_INSMOD_LINES: the tool has read it.
 */
struct dp_insmod_line {
	u64 turn;
	u16 len;
	u8 level, pad;
	char text[DP_INSMOD_TEXT];
};

/** struct dp_insmod - the shared memory: zeros at first, except @turn of the lines, which
 *  the tool sets */
struct dp_insmod {
	u32 state;
	s32 err;
	u64 next; /* number of the next line */
	u64 lost; /* lines that found no free place */
	char exe[4096]; /* program into which the module is loaded */
	struct dp_diag diag;
	struct dp_insmod_line lines[DP_INSMOD_LINES];
};

#endif
