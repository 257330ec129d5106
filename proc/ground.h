/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ground: what a jump has to know of the code around a probe. */
#ifndef DP_PROC_GROUND_H
#define DP_PROC_GROUND_H

#include "engine/control/control.h"
#include "engine/insn/region.h"
#include "sym/codemap.h"

/**
 * struct dp_grounds - a reader; what it read last is kept
 * @mods: the process
 * @arming: how jumps will be written. By quiesce nothing is left inside a jump
 *          that would send anybody on, so it has to be known that nobody comes
 *          there; by interior a region may reach into the next function.
 * @never: why no probe can be a jump; NULL: some can
 * @mend, @arg: puts original bytes into code that was read where probes are armed;
 *              NULL: there are none
 */
struct dp_grounds {
	struct dp_modules *mods;
	enum dp_arming arming;
	const char *never;
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
	void (*mend)(void *arg, u64 addr, u8 *code, size_t size);
	void *arg;
};

/** dp_ground_allow() - let a probe at @addr be a jump if the code allows it, or
 *  note why not */
void dp_ground_allow(struct dp_grounds *grounds, struct dp_engine *engine,
		     u32 probe, u64 addr);

/** dp_ground_begins() - does an instruction begin at @addr? True also where that is
 *  not known. */
bool dp_ground_begins(struct dp_grounds *grounds, u64 addr);

/** dp_ground_x87() - may the code at @addr find values in x87 or MMX registers?
 *  At the beginning of a function there are none. */
bool dp_ground_x87(struct dp_grounds *grounds, u64 addr);

/** dp_grounds_close() - free what it has read */
void dp_grounds_close(struct dp_grounds *grounds);

#endif
