/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * codemap: the ways into a module's code.
 *
 * A jump over several instructions is safe only if no thread arrives in the middle
 * of them. The map is drawn once from the module's file, because the process's own
 * memory may hold breakpoints. It errs on one side: an address that is no target may
 * be called a target. The reverse happens only in a function that is reported as
 * unresolved.
 *
 * Addresses are those of the target process. Context of every function: tool
 * process; opening may sleep and allocate; an open map is constant, so that any
 * number of threads may read it.
 */
#ifndef DP_CODEMAP_H
#define DP_CODEMAP_H

#include "sym/sym.h"

struct dp_code_map;

/**
 * dp_code_map_open() - draw the map of a module
 * @mods: the process
 * @m: one of its modules
 * @map: the new map, to be closed with dp_code_map_close(); it is independent
 *       of @mods
 * Return: 0; -ENOENT the mapped file cannot be read any more; -EOPNOTSUPP it has no
 * code, more segments than any linker makes, or relocations that cannot be read; -ENOMEM,
 * -EMFILE, -ENFILE. Words are in @diag.
 */
int dp_code_map_open(struct dp_modules *mods, const struct dp_module *m,
		     struct dp_code_map **map, struct dp_diag *diag);
void dp_code_map_close(struct dp_code_map *map);

/**
 * dp_code_map_target() - may control arrive between two addresses?
 * @start, @end: addresses; only what lies strictly between them counts
 * @first: the first such address, or NULL
 *
 * A target is an address at which control may arrive other than from the instruction
 * before. Direct branches and calls, jump tables, landing pads, symbols, starts of
 * functions and addresses in code or data tell of targets; every endbr64 is one. The
 * return address behind a call is no target: the caller of this function sees the call.
 * Nor is the next instruction of a thread that is stopped in between.
 * Addresses outside the module's code count as targets.
 *
 * Between functions it is not known where instructions begin: see
 * dp_code_map_unresolved().
 */
bool dp_code_map_target(const struct dp_code_map *map, u64 start, u64 end,
			u64 *first);

/**
 * dp_code_map_boundary() - does an instruction begin at @addr?
 *
 * As decoded from the start of the function around it.
 */
bool dp_code_map_boundary(const struct dp_code_map *map, u64 addr);

/**
 * dp_code_map_function() - bounds of the function around an address
 * @start, @end: filled in, [start, end)
 *
 * Frame descriptions go before symbols. A function whose cold part lies elsewhere has
 * two such ranges. Where descriptions overlap, the later one is cut.
 * Return: 0; -ENOENT.
 */
int dp_code_map_function(const struct dp_code_map *map, u64 addr, u64 *start,
			 u64 *end);

/**
 * dp_code_map_unresolved() - may control arrive anywhere in this function?
 *
 * True if the function cannot be decoded, or if the targets of an indirect jump or its
 * landing pads were not found. Also true where there is no function, and for code
 * without a frame description in a module that describes most of its code.
 */
bool dp_code_map_unresolved(const struct dp_code_map *map, u64 addr);

#endif
