/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * chart: modules of ours that reserve addresses near code, so that unwinders know the
 * detours which are put there.
 *
 * Unwinders find the description of code by the module that it is in, and detours have to be
 * within 2 GB of what they displace. So a chart is a module that has hardly more than its
 * description, and is so large that detours find room in it:
 *
 *   ┌──────┬──────────────────────────────────────────────────────┬─────────┐
 *   │ head │ PROT_NONE … pools and islands … PROT_NONE             │ dynamic │
 *   └──────┴──────────────────────────────────────────────────────┴─────────┘
 *
 * One FDE describes all of it: its expressions look up the state of the pc in tables, which are
 * filled when code is put there. Nothing is registered with an unwinder, and no lock is taken.
 */
#ifndef DP_CHART_H
#define DP_CHART_H

#include "engine/site/live.h"

/**
 * dp_charts_open() - make a chart near the program, and one near its libraries, once
 *
 * Where that is impossible, detours go elsewhere, and unwinders end in them.
 * Context: task; no lock of the library is held, because the dynamic linker's is taken, under
 * which constructors of the program may call the library.
 */
void dp_charts_open(void);

/** dp_chart_has() - does a chart reserve all of [@addr, @addr + @size)? Context: any */
bool dp_chart_has(u64 addr, u64 size);

/** dp_charts_holes() - add what is free in charts to @holes, which has room for @room more.
 *  Return: 0 or an errno. Context: the library's lock is held. */
int dp_charts_holes(struct dp_hole *holes, size_t *n, size_t room);

/** dp_chart_note() - note the states of code in a chart; of other code, nothing.
 *  Context: the library's lock is held. */
void dp_chart_note(const struct dp_charted *code);

/* chart_frames: the description. */

/* Code is noted in pieces of so many bytes. */
#define DP_CHART_PIECE 0x10000u
#define DP_CHART_SHIFT 16
/* Code that stands for one place of the program begins at such an address. */
#define DP_CHART_GRAIN 16
#define DP_CHART_GRAIN_SHIFT 4
/* State of a stub: it has been called, so its return address is on top. */
#define DP_CHART_CALLED 0xfe
/* Registers that code of ours may change */
#define DP_CHART_REGS 9
#define DP_CHART_NEVER 0xff

/**
 * struct dp_chart_piece - a state for each byte of code; for each grain, the number of its note
 */
struct dp_chart_piece {
	u8 state[DP_CHART_PIECE];
	u32 note[DP_CHART_PIECE / DP_CHART_GRAIN];
};

/**
 * struct dp_chart_note - the code for one place of the program
 * @addr: of the first instruction
 * @duplicate: of the duplicate's ret
 * @offset: of the instruction of each state, from @addr
 * @slot: of each register, DP_CHART_NEVER for none
 * @at: where the code begins
 */
struct dp_chart_note {
	u64 addr, duplicate;
	u8 offset[8];
	u8 slot[16];
	u64 at;
};

/**
 * struct dp_chart_tables - what the description's expressions read
 * @sp: by state: bytes from the thread's stack pointer, or frame, to the program's stack pointer
 * @saved: by state: slots that have registers
 * @inner: by state: it is behind the first instruction
 * @pieces: the first one is empty, for code that is not noted
 */
struct dp_chart_tables {
	u16 sp[256];
	u8 saved[256];
	u8 inner[256];
	struct dp_chart_piece *pieces;
	struct dp_chart_note *notes;
};

/**
 * struct dp_chart - one chart
 * @start, @end: where code may be
 * @index: by DP_CHART_PIECE from @start on: the number of the piece, 0 for none
 */
struct dp_chart {
	u64 start, end;
	u32 *index;
};

#define DP_CHART_FRAMES 3072
/** dp_chart_describe() - encode a CIE and the FDE of a chart, with an end
 *  @out: DP_CHART_FRAMES bytes; @fde: set to the FDE's offset
 *  Return: bytes. */
u32 dp_chart_describe(const struct dp_chart *chart,
		      const struct dp_chart_tables *tables, u8 *out, u32 *fde);

/** dp_jit_tell() - tell debuggers of a chart, by the interface for compilers at run time.
 *  Source: gdb's manual, "JIT Compilation Interface". */
void dp_jit_tell(const struct dp_chart *chart, const u8 *frames, u32 len);

#endif
