/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * service: the tool's interface to a process that uses libdprobes.
 *
 * struct dp_service lies in a private mapping with a name. The tool finds it in
 * /proc/PID/maps, and a fork child has its own copy. The tool may read all of it. To give
 * an order, the tool writes it and makes a thread of the process call @entry with the
 * order's number. One tool at a time holds DP_LOCK_ORDER (proc/attach/lock.c).
 *
 *     IDLE ─► ASKED ─► RUNS ─► DONE ─► IDLE      a number in the upper half,
 *     tool    tool    library library  tool      the state in the lower
 *
 * A thread that comes with another number than the order's returns at once, so a tool may
 * die at any point.
 */
#ifndef DP_SERVICE_H
#define DP_SERVICE_H

#include <dprobes/diag.h>
#include "engine/layout/ring.h"
#include "engine/vm/program.h"
#include "port_types.h"

#define DP_SERVICE_PATH "/memfd:libdprobes"
#define DP_SERVICE_MAGIC 0x31656369767265ffull
#define DP_SERVICE_VERSION 7
#define DP_SERVICE_ORDER 65536
#define DP_SERVICE_MODULES 64
#define DP_SERVICE_LINES 512 /* a power of two */
#define DP_SERVICE_TEXT 1008
#define DP_SERVICE_STACK (512u << 10)
#define DP_SERVICE_PAGE 4096u

enum dp_service_state {
	DP_SERVICE_IDLE,
	DP_SERVICE_ASKED,
	DP_SERVICE_RUNS,
	DP_SERVICE_DONE,
};

enum dp_service_verb {
	DP_SERVICE_LOAD, /* words: module, parameters, @alias=function */
	DP_SERVICE_UNLOAD, /* words: name */
	DP_SERVICE_TURN, /* words: number of a knob, 0 or 1 */
	DP_SERVICE_BEGIN, /* forget the programs of guests; there are none */
	DP_SERVICE_PROGRAM, /* programs for guests */
	DP_SERVICE_PROBE, /* guests by @addr, disabled at first */
	DP_SERVICE_SWITCH, /* guests by @probe: those with @on are enabled, the others not */
	DP_SERVICE_UNPROBE, /* guests by @probe */
	DP_SERVICE_CLEAN, /* all guests */
	DP_SERVICE_SETTLE, /* discard records of guests for which nothing comes any more */
	DP_SERVICE_HOOKS, /* @order becomes the hooks and their exits, a line each */
	DP_SERVICE_EXIT, /* words: 1 or 0, hook, exit: armed or disarmed */
};

#define DP_GUEST_WHY 96

/**
 * struct dp_guest - a probe that a tool has in this process's engine
 * @addr: of the instruction
 * @probe: its number in the engine, by which the arena's tables tell its counts
 * @hits: its count when it left
 * @err: of its probe: 0 or a negative errno; then there is none, and @why says why
 * @kind: DP_KIND_PLAIN, DP_KIND_ENTER, DP_KIND_EXIT, DP_KIND_UNWIND; @way: DP_WAY_*
 * @group: of an exit: the number of the probe at its function's entry, or DP_NO_GROUP
 * @bound: it runs a program, as @binding says
 */
struct dp_guest {
	u64 addr;
	u64 hits;
	u32 probe;
	s32 err;
	u32 kind, way, group, on;
	struct dp_binding binding;
	u32 bound;
	char why[DP_GUEST_WHY];
};

/**
 * struct dp_guest_program - a program for guests; @nr_starts u32 and the code follow
 * @size: bytes of all that, whole words
 * @number: which the process gives it
 * @spec: see struct dp_program_spec, whose pointers are not used
 */
struct dp_guest_program {
	u32 size, number;
	char name[DP_PROGRAM_NAME];
	struct dp_program_spec spec;
};

#define DP_SERVICE_GUESTS (DP_SERVICE_ORDER / sizeof(struct dp_guest))

/** enum dp_service_knob - a switch over all probes of the process; 1 at first */
enum dp_service_knob {
	DP_KNOB_ENABLED,
	DP_KNOB_OPTIMIZATION,
	DP_KNOBS,
};

/** struct dp_service_module - a loaded module
 *  @forked: a parent process loaded it; its probes are not in this process */
struct dp_service_module {
	char name[64];
	char path[256];
	u64 size;
	s32 refs;
	u32 forked;
};

/** struct dp_service_line - a line of the modules' messages
 *  @seq: of line n: 2n + 1 while it is being written, 2n + 2 afterwards */
struct dp_service_line {
	u64 seq;
	u16 len;
	u8 level, pad[5];
	char text[DP_SERVICE_TEXT];
};

struct dp_service {
	u64 magic;
	u32 version;
	u32 owner; /* process id, in its own namespace */
	u64 entry;
	u64 state;
	u32 verb;
	s32 err;
	u32 refused; /* nothing was done; the tool may try again */
	u32 nr_guests; /* of an order about guests */
	u32 hosted; /* how many guests there are */
	u32 guests_of; /* the tool that they are of, by its own process id; written by it */
	struct dp_diag diag;
	union {
		char order[DP_SERVICE_ORDER]; /* words, a line each */
		struct dp_guest guests[DP_SERVICE_GUESTS];
	};
	u32 changes; /* of @modules; odd during a change */
	u32 nr_modules;
	struct dp_service_module modules[DP_SERVICE_MODULES];
	u32 knobs[DP_KNOBS];
	u64 next; /* number of the next line */
	u64 lost;
	struct dp_service_line lines[DP_SERVICE_LINES];
	u8 guard[DP_SERVICE_PAGE] __attribute__((aligned(4096)));
	u8 stack[DP_SERVICE_STACK];
};

#endif
