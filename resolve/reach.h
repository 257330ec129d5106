/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* reach: the code around a probe, as far as a jump there depends on it. */
#ifndef DP_RESOLVE_REACH_H
#define DP_RESOLVE_REACH_H

#include "sym/codemap.h"
#include "engine/insn/region.h"
#include "engine/site/arm.h"
#include "engine/site/internal.h"
#include "sym/sym.h"

struct dp_code;

/**
 * struct dp_reach_reader - reads a process's code; keeps what it read last
 * @mods: the process
 * @arming: how jumps will be written. A jump written by quiesce has no breakpoint inside
 *          that sends a thread on, so interior arrivals must be ruled out. By interior
 *          a region may reach into the next function.
 * @never: why no probe can be a jump; NULL: some can
 * @source: reads the bytes of text; NULL: @target does. dp_reach_allow() needs neither.
 * @engine: the engine whose armed probes are taken out of the bytes; NULL: none
 * @own: tells why an address may never be probed, or NULL; may itself be NULL
 */
struct dp_reach_reader {
	struct dp_modules *mods;
	enum dp_arming arming;
	const char *never;
	struct dp_code *source;
	struct dp_target *target;
	struct dp_engine *engine;
	const char *(*own)(u64 addr);
	/* the function that was read last, and where its module's restartable
	 * sequences are */
	u64 start, end;
	u8 *code;
	size_t size;
	/* of the code from @start to @branched; 0: not looked for yet */
	struct dp_entries entries;
	u64 branched;
	const struct dp_module *module;
	struct dp_range *rseq;
	size_t nr_rseq;
	const struct dp_module *mapped;
	struct dp_code_map *map;
};

/** dp_reach_allow() - let a probe at @addr be a jump if the code allows it, or
 *  note why not */
void dp_reach_allow(struct dp_reach_reader *reach_reader,
		    struct dp_engine *engine, u32 probe, u64 addr);

/** dp_reach_allow_live() - the same for a probe of @reach_reader->engine, if its site is new */
void dp_reach_allow_live(struct dp_reach_reader *reach_reader, u32 probe,
			 u64 addr);

/** dp_reach_enter() - read the function from @start to @end. Return: false: it is too
 *  large, or not there. */
bool dp_reach_enter(struct dp_reach_reader *reach_reader, u64 start, u64 end);
/** dp_reach_fetch() - current bytes, without our probes. Return: how many of @size there
 *  are. */
size_t dp_reach_fetch(struct dp_reach_reader *reach_reader, u64 addr, u8 *code,
		      size_t size);
/** dp_reach_read() - the same; without @source, the function that was entered last is not
 *  read again */
size_t dp_reach_read(struct dp_reach_reader *reach_reader, u64 addr, u8 *code,
		     size_t size);
/** dp_reach_in_rseq() - is @addr in a restartable sequence? Return: 1, 0; -ENOMEM, -EMFILE,
 *  -ENFILE. */
int dp_reach_in_rseq(struct dp_reach_reader *reach_reader, u64 addr);

/** dp_reach_x87() - may the code at @addr find values in x87 or MMX registers?
 *  At the beginning of a function there are none. */
bool dp_reach_x87(struct dp_reach_reader *reach_reader, u64 addr);

/** dp_reach_reader_close() - free what the reader holds */
void dp_reach_reader_close(struct dp_reach_reader *reach_reader);

#endif
