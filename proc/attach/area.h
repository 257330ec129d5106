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

/** dp_map_is_arena() - does an arena begin at @map? */
static inline bool dp_map_is_arena(const struct dp_map *map)
{
	return dp_path_is_ours(map->path) && map->perms[2] != 'x' &&
	       map->offset == DP_ARENA_OFFSET;
}

/** dp_area_make() - make the agent's two files, and map them here. The target may run.
 *  Return: 0 or a negative errno. */
int dp_area_make(struct dp_process *proc, const struct dp_layout_need *need,
		 int *files);
/** dp_area_drop() - close those of the files that are open; they stay mapped */
void dp_area_drop(int *files);
/** dp_area_pass() - pass the files to the target. @there: their descriptors there
 *  Return: as above. */
int dp_area_pass(struct dp_process *proc, const int *files, s32 *there);
/** dp_area_map() - map all parts in the target, at @proc->base; @at: where that is to be, or 0
 *  Return: as above; -EEXIST another mapping is there, and nothing is mapped. */
long dp_area_map(struct dp_process *proc, const struct dp_layout_need *need,
		 const s32 *there, u64 at);
/** dp_area_inherit() - replace what a fork child shares with its parent. Return: as above. */
long dp_area_inherit(struct dp_process *proc, const struct dp_layout_need *need,
		     const s32 *there);
void dp_area_close(struct dp_process *proc, const s32 *there);
/** dp_area_settle() - make the arena private to a process that probes itself. No thread
 *  runs. Return: as above. */
long dp_area_settle(struct dp_process *proc);
/* share: memory that the target and the tool share. */

/** dp_share_file() - a file without a name, of zeros, whose size is sealed.
 *  Return: its descriptor, closed on exec; or a negative errno. */
int dp_share_file(u64 size);
/** dp_share_pass() - pass @n of the tool's files, two at most, to the target
 *  @there: their descriptors there; the caller closes them. Return: 0 or a negative errno. */
int dp_share_pass(struct dp_process *proc, const int *files, u32 n, s32 *there);
/** dp_share_close() - close @n descriptors in the target */
void dp_share_close(struct dp_process *proc, const s32 *there, u32 n);
/** dp_share_has() - is descriptor @fd of the thread that makes the calls a file of a tool's?
 *  Another thread that has passed it may have had descriptors of its own. */
bool dp_share_has(const struct dp_process *proc, s32 fd);

/**
 * dp_share_make() - memory without a name, of zeros, that is not mapped in the target yet
 * @ours: where it is mapped here; NULL: it is not
 * @there: its descriptor in the target
 * Return: 0 or a negative errno.
 */
int dp_share_make(struct dp_process *proc, u64 size, void **ours, s32 *there);

/** dp_share_why() - explain why memory of @size bytes could not be shared. @text: room
 *  for DP_LIMITS_TEXT bytes. Return: @text. */
const char *dp_share_why(const struct dp_process *proc, int err, u64 size,
			 char *text);
/** dp_share_map() - dp_share_make(), and map it in the target, too, from offset @from on, until
 *  dp_shares_forget(); @over: replace the mapping at this address, or 0
 *  Return: address, or a negative errno. */
long dp_share_map(struct dp_process *proc, u64 over, u64 from, u64 size,
		  void **ours);
/** dp_share_over() - dp_process_share() in place of what is mapped at @over; fork children do not
 *  have it */
int dp_share_over(struct dp_process *proc, u64 over, u64 size, void **ours,
		  struct dp_diag *diag);
/** dp_shares_forget() - unmap all shares in the tool; dp_unmap() unmaps those of the target */
void dp_shares_forget(struct dp_process *proc);

/* patched: mappings of text that have sites, and sites whose code is gone. */

/** dp_patched_note() - note the mappings of text in which the engine has sites */
void dp_patched_note(struct dp_process *proc);
/** dp_patched_gone() - mark sites whose code is not mapped any more DP_SITE_GONE; what
 *  is mapped there now is not touched. Return: has any site become so now? */
bool dp_patched_gone(const struct dp_process *proc, struct dp_view *view);
/** dp_patched_compare() - dp_patched_gone() of sites about to be armed, and note
 *  whether libraries have changed since the sites were found. While the linker is held. */
void dp_patched_compare(struct dp_process *proc);
/** dp_process_note_gone() - dp_patched_gone() of the tool's own probes */
void dp_process_note_gone(struct dp_process *proc);
/** dp_patched_mark() - dp_patched_gone(), and mark armed sites that have their original
 *  bytes again: the same library has been unmapped and mapped anew */
void dp_patched_mark(const struct dp_process *proc, struct dp_view *view);
/** dp_patched_mark_live() - mark the gone sites of a process that probes itself, which
 *  may not have noticed them. @arena: its address there; the process goes on changing it. */
void dp_patched_mark_live(const struct dp_process *proc, struct dp_view *view,
			  u64 arena);

/* holes: unmapped ranges among mappings that have been read. Context: may allocate. */

/** dp_holes_among() - dp_holes_find() of mappings that have been read */
int dp_holes_among(pid_t pid, const struct dp_maps *maps, size_t more,
		   struct dp_hole **holes, size_t *n);
/** dp_holes_highest() - an address for @size bytes, about where the kernel would map them; 0:
 *  there is none */
u64 dp_holes_highest(const struct dp_maps *maps, u64 size);

#endif
