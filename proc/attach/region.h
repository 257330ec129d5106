/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * region: the agent's memory, here and in the target.
 *
 * Context of every function: tool process, one thread at a time per object.
 */
#ifndef DP_PROC_ATTACH_REGION_H
#define DP_PROC_ATTACH_REGION_H

#include <string.h>
#include "port_types.h"
#include "sym/sym.h"
#include "engine/layout/arena.h"

struct dp_layout_need;
struct dp_process;
struct dp_remote;

#define DP_MEMFD_PATH "/memfd:dprobes"
static inline bool dp_path_is_ours(const char *path)
{
	return !strncmp(path, DP_MEMFD_PATH, sizeof(DP_MEMFD_PATH) - 1);
}

/** dp_map_is_arena() - does an arena begin there? */
static inline bool dp_map_is_arena(const struct dp_map *map)
{
	return dp_path_is_ours(map->path) && map->perms[2] != 'x' &&
	       map->offset == DP_ARENA_OFFSET;
}

/** dp_region_open() - make its files, map them here, and pass them to the target
 *  @there: two descriptors there. Return: 0 or a negative errno. */
int dp_region_open(struct dp_process *proc, struct dp_remote *remote,
		   const struct dp_layout_need *need, s32 *there);
/** dp_region_map() - map all of it there: @proc->base. Return: 0 or a negative errno. */
long dp_region_map(struct dp_process *proc, struct dp_remote *remote,
		   const struct dp_layout_need *need, const s32 *there);
/** dp_region_share() - only what the target writes and we read, over what is there at
 *  @proc->base. Return: as above. */
long dp_region_share(const struct dp_process *proc, struct dp_remote *remote,
		     const struct dp_layout_need *need, const s32 *there);
void dp_region_close(struct dp_process *proc, struct dp_remote *remote,
		     const s32 *there);
/** dp_region_settle() - from here on a process that probes itself has its arena for
 *  itself. Nobody runs. Return: as above. */
long dp_region_settle(struct dp_process *proc, struct dp_remote *remote);
/** dp_region_write() - the agent's code, and that of the pools, as it was built. Return: 0
 *  or a negative errno. */
int dp_region_write(const struct dp_process *proc,
		    const struct dp_layout_need *need);

#endif
