/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * allowed: may an address be probed?
 *
 * A table in allowed.c has the rules in order, and tells for each which askers it applies
 * to.
 *
 * Context: task; may sleep and allocate; not thread-safe on one struct dp_reach_reader.
 */
#ifndef DP_RESOLVE_ALLOWED_H
#define DP_RESOLVE_ALLOWED_H

#include "resolve/reach.h"
#include "sym/sym.h"

#define DP_WHY_MAX 160
#define DP_PLACE_CODE 32

/**
 * enum dp_asker - what the probe is for
 * @DP_ASKER_SPEC: a spec of the command
 * @DP_ASKER_EXIT: an exit of a function, which is known to be an instruction
 * @DP_ASKER_UPROBE: the library, in another process
 * @DP_ASKER_KPROBE: the library, in its own process
 */
enum dp_asker {
	DP_ASKER_SPEC = 1,
	DP_ASKER_EXIT = 2,
	DP_ASKER_UPROBE = 4,
	DP_ASKER_KPROBE = 8,
};

/**
 * struct dp_place - an address, and the code there
 * @start: start of its function if the caller knows it, or 0
 * @plus, @given: the address as the user wrote it, to name the nearest instructions;
 *                @plus NULL: they are not named
 * @maps: the current mappings; NULL: the caller knows that code is there
 * @map: the mapping in @maps that holds @addr
 * @code: @size bytes from @addr on, without our probes
 */
struct dp_place {
	u64 addr;
	u64 start;
	const char *plus;
	u64 given;
	const struct dp_maps *maps;
	const struct dp_map *map;
	u8 code[DP_PLACE_CODE];
	size_t size;
};

/**
 * dp_allowed_check() - may a probe be there, as far as reading tells?
 * @reach_reader: the process
 * @why: DP_WHY_MAX bytes: a phrase that continues "ADDR cannot be probed: "; for
 *       DP_ASKER_KPROBE a whole sentence
 * Return: 0; -EINVAL no code, our own code, an instruction that works only where it is,
 * or one that other programs recognise; -EILSEQ no instruction, or maybe none; -EBUSY
 * a breakpoint is there; -EFAULT nothing is there; -ENOMEM, -EMFILE, -ENFILE.
 */
int dp_allowed_check(struct dp_reach_reader *reach_reader,
		     struct dp_place *place, enum dp_asker asker, char *why);

/** dp_allowed_unarmed() - why allowed probes could not be armed: a phrase as above, for an
 *  error of dp_live_commit() */
const char *dp_allowed_unarmed(int err);

#endif
