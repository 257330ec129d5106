/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * area: the agent's memory, here and in the target.
 *
 * Context of every function: tool process, one thread at a time per object.
 */
#ifndef DP_PROC_ATTACH_AREA_H
#define DP_PROC_ATTACH_AREA_H

#include "port_types.h"
#include "engine/layout/arena.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/remote.h"
#include "sym/sym.h"

struct dp_hole;
struct dp_layout_need;
struct dp_map;
struct dp_maps;
struct dp_process;
struct dp_remote;
struct dp_view;

/** dp_map_is_arena() - does an arena begin there? */
static inline bool dp_map_is_arena(const struct dp_map *map)
{
	return dp_path_is_ours(map->path) && map->perms[2] != 'x' &&
	       map->offset == DP_ARENA_OFFSET;
}

/** dp_area_open() - make its files, map them here, and pass them to the target
 *  @there: two descriptors there. Return: 0 or a negative errno. */
int dp_area_open(struct dp_process *proc, struct dp_remote *remote,
		 const struct dp_layout_need *need, s32 *there);
/** dp_area_map() - map all of it there: @proc->base. Return: 0 or a negative errno. */
long dp_area_map(struct dp_process *proc, struct dp_remote *remote,
		 const struct dp_layout_need *need, const s32 *there);
/** dp_area_share() - only what the target writes and we read, over what is there at
 *  @proc->base. Return: as above. */
long dp_area_share(const struct dp_process *proc, struct dp_remote *remote,
		   const struct dp_layout_need *need, const s32 *there);
void dp_area_close(struct dp_process *proc, struct dp_remote *remote,
		   const s32 *there);
/** dp_area_settle() - from here on a process that probes itself has its arena for
 *  itself. Nobody runs. Return: as above. */
long dp_area_settle(struct dp_process *proc, struct dp_remote *remote);
/** dp_area_write() - the agent's code, and that of the pools, as it was built. Return: 0
 *  or a negative errno. */
int dp_area_write(const struct dp_process *proc,
		  const struct dp_layout_need *need);

/*
 * share: memory of the target that is mapped in the tool, too.
 *
 * Context of every function: tool process, one thread at a time per object.
 */

/** dp_share_file() - a file without a name, of zeros, whose size is sealed.
 *  Return: its descriptor, closed on exec; or a negative errno. */
int dp_share_file(u64 size);
/** dp_share_pass() - give the target @n of our files, two at most
 *  @there: their descriptors there, to be closed there. Return: 0 or a negative errno. */
int dp_share_pass(struct dp_process *proc, struct dp_remote *remote,
		  const int *files, u32 n, s32 *there);
/** dp_share_close() - close @n descriptors there */
void dp_share_close(struct dp_remote *remote, const s32 *there, u32 n);

/**
 * dp_share_make() - memory without a name, of zeros, mapped here and not there yet
 * @there: its descriptor there
 * Return: 0 or a negative errno.
 */
int dp_share_make(struct dp_process *proc, struct dp_remote *remote, u64 size,
		  void **ours, s32 *there);

/** dp_share_why() - why memory of @size bytes could not be shared. @text: room for
 *  DP_LIMITS_TEXT bytes. Return: @text. */
const char *dp_share_why(const struct dp_process *proc, int err, u64 size,
			 char *text);
/** dp_share_map() - and mapped there, too; @over: at this address, in place of what is
 *  there, or 0. Return: address, or a negative errno. */
long dp_share_map(struct dp_process *proc, struct dp_remote *remote, u64 over,
		  u64 size, void **ours);
/** dp_shares_forget() - unmap @n of ours; what the target has dp_unmap() unmaps */
void dp_shares_forget(struct dp_process *proc, size_t from, size_t n);

/* patched: mappings in which there are probes, and code that has gone. */

void dp_patched_note(struct dp_process *proc);
/** dp_patched_gone() - sites whose code is not mapped any more become DP_SITE_GONE:
 *  whatever is there now is not touched. Return: are there any new ones? */
bool dp_patched_gone(const struct dp_process *proc, struct dp_view *view);
/** dp_patched_compare() - dp_patched_gone() of what is to be armed, and has anything changed since
 *  it was found? While the linker is held. */
void dp_patched_compare(struct dp_process *proc);
/** dp_process_note_gone() - dp_patched_gone() of our own probes */
void dp_process_note_gone(struct dp_process *proc);
/** dp_patched_mark() - and so do those that are not armed any more though their code is
 *  there: the same library has been unmapped and mapped again */
void dp_patched_mark(const struct dp_process *proc, struct dp_view *view);
/** dp_patched_mark_live() - in a process that probes itself: those whose code has gone, which it
 *  need not have noticed. @arena: its address there; it goes on changing. */
void dp_patched_mark_live(const struct dp_process *proc, struct dp_view *view,
			  u64 arena);

/* holes: where nothing is mapped, of mappings that have been read. Context: may allocate. */

/** dp_holes_among() - dp_holes_find() of mappings that have been read */
int dp_holes_among(const struct dp_maps *maps, size_t more,
		   struct dp_hole **holes, size_t *n);

#endif
