/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * allowed: may an address be probed?
 *
 * The rules are the same for all that ask. Which of them are asked for whom, and in which
 * order, is a table in allowed.c.
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
 * enum dp_asker - for whom
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
 * struct dp_place - an address, and what is found there
 * @start: where its function begins, if that is known beforehand; or 0
 * @plus, @given: the address as the user wrote it, for the nearest instructions; NULL: they
 *                are not named
 * @maps: what is mapped now; NULL: it is known that code is
 * @map: of @maps, the one that has it
 * @code: @size bytes from there on, as they are without our probes
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
 * dp_allowed_check() - may a probe be there, as far as looking goes?
 * @reach_reader: the process
 * @why: DP_WHY_MAX bytes: a phrase that continues "ADDR cannot be probed: ", but for
 *       DP_ASKER_KPROBE, for which it is a whole sentence
 * Return: 0; -EINVAL it is no code, or one of ours, or an instruction that works only where it
 * is, or one that others recognise; -EILSEQ it is no instruction, or may be none; -EBUSY
 * a breakpoint is there; -EFAULT nothing is there; -ENOMEM.
 */
int dp_allowed_check(struct dp_reach_reader *reach_reader,
		     struct dp_place *place, enum dp_asker asker, char *why);

/** dp_allowed_unarmed() - why probes that were allowed could not be armed: a phrase as
 *  above, of what dp_live_commit() returned */
const char *dp_allowed_unarmed(int err);

#endif
