/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * codemap: what is known about the ways into a module's code.
 *
 * A jump over several instructions is safe only if nobody arrives in the middle
 * of them. The map is drawn once from the module's file (the process's own
 * memory may hold breakpoints) and errs on one side: an address that is no
 * target may be called one, a target is never called none, except where a
 * function is said to be unresolved.
 *
 * Addresses are those of the target process. Context of every function: tool
 * process; opening may sleep and allocate; a map that is open is constant, so
 * that any number of threads may ask it.
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
 * Return: 0; -ENOENT the file that was mapped is not to be had; -EOPNOTSUPP it
 * has no code, or more segments than any linker makes; -ENOMEM. Words are in
 * @diag.
 */
int dp_code_map_open(struct dp_modules *mods, const struct dp_module *m,
		     struct dp_code_map **map, struct dp_diag *diag);
void dp_code_map_close(struct dp_code_map *map);

/**
 * dp_code_map_target() - may control arrive between two addresses?
 * @start, @end: addresses; asked about is what lies strictly between them
 * @first: the first such address, or NULL
 *
 * A target is where control arrives other than from the instruction before:
 * what a direct branch or call names, entries of jump tables, landing pads,
 * whatever the code or its data holds the address of, symbols, starts of
 * functions, every endbr64. The return address behind a call is not one: the
 * caller sees the call. Neither is the next instruction of a thread that is
 * stopped in between. Addresses outside the module's code count as targets.
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
 * By frame description first, else by symbol; a function whose cold part lies
 * elsewhere has two. Where descriptions overlap the later one loses.
 * Return: 0; -ENOENT.
 */
int dp_code_map_function(const struct dp_code_map *map, u64 addr, u64 *start,
			 u64 *end);

/**
 * dp_code_map_unresolved() - may control arrive anywhere in this function?
 *
 * True if it could not be decoded, if it has an indirect jump whose targets
 * were not found, if its landing pads were not, if it is not known to be made by
 * a compiler that tells about its frames while the rest of the module is, and
 * where there is no function at all.
 */
bool dp_code_map_unresolved(const struct dp_code_map *map, u64 addr);

#endif
