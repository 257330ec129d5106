// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* recover: find what a killed tool left in a process, and take it out. */
#include "engine/layout/private.h"
#include "engine/site/view.h"
#include "proc/attach/attach.h"
#include "proc/attach/area.h"
#include "proc/proc.h"
#include "proc/ptrace/stop.h"
#include "proc/ptrace/procfs.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/remote.h"
#include <dirent.h>
#include <dprobes/diag.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ARENA_MAX (1ull << 30)

static int read_part(const struct dp_process *proc, u64 addr, char *arena,
		     size_t size, u64 offset, u64 bytes)
{
	if (offset > size || bytes > size - offset)
		return -EBADMSG;
	return bytes ? dp_process_read(proc, addr + offset, arena + offset,
				       bytes) :
		       0;
}

/* The arena of a process that probes itself has room for very many probes. Reading the
 * unused part would allocate its pages. */
static int read_used(const struct dp_process *proc, u64 addr, char *arena,
		     size_t size)
{
	const struct dp_arena_control c = ((struct dp_arena *)arena)->control;
	u32 shards = 2 * (c.shard_mask + 1), i;
	int err;

	err = read_part(proc, addr, arena, size, c.site_off,
			(u64)c.nr_sites * sizeof(struct dp_site_entry));
	if (!err)
		err = read_part(proc, addr, arena, size, c.probe_off,
				(u64)c.nr_probes *
					sizeof(struct dp_probe_entry));
	if (!err)
		err = read_part(proc, addr, arena, size, c.state_off,
				(u64)c.nr_probes *
					sizeof(struct dp_probe_state));
	for (i = 0; !err && i < shards && i < 2 * DP_MAX_SHARDS; i++)
		err = read_part(proc, addr, arena, size,
				c.counter_off + (u64)i * c.shard_stride,
				(u64)c.nr_sites * sizeof(u64));
	return err;
}

/* All but the contexts, which say nothing. A fork child has no variables. */
static int read_whole(const struct dp_process *proc, u64 addr, char *arena,
		      size_t size)
{
	const struct dp_arena_control c = ((struct dp_arena *)arena)->control;
	int err;

	if (c.own_off < sizeof(struct dp_arena) || c.private_off < c.own_off ||
	    c.tables_off < c.private_off || c.tables_off > size)
		return -EBADMSG;
	err = read_part(proc, addr, arena, size, sizeof(struct dp_arena),
			c.own_off - sizeof(struct dp_arena));
	if (!err)
		err = read_part(proc, addr, arena, size, c.tables_off,
				size - c.tables_off);
	read_part(proc, addr, arena, size, c.own_off,
		  c.private_off - c.own_off);
	return err;
}

static int read_arena(const struct dp_process *proc, u64 addr, char *arena,
		      size_t size)
{
	if (((struct dp_arena *)arena)->control.own_process)
		return read_used(proc, addr, arena, size);
	return read_whole(proc, addr, arena, size);
}

/* Find the address of the arena. Return: 0; -ENOENT there is none; as dp_maps_read(). */
static int find_arena(const struct dp_process *proc, u64 *addr)
{
	struct dp_maps maps;
	int err = dp_maps_read(proc->pid, &maps);
	size_t i;

	if (err)
		return err;
	err = -ENOENT;
	for (i = 0; i < maps.n; i++)
		if (dp_map_is_arena(&maps.v[i])) {
			*addr = maps.v[i].start;
			err = 0;
		}
	dp_maps_free(&maps);
	return err;
}

int dp_arena_load(const struct dp_process *proc, void **out, size_t *size,
		  u64 *addr)
{
	const u64 at = offsetof(struct dp_arena, control.arena_size);
	struct dp_arena *arena;
	u64 bytes;
	int err = find_arena(proc, addr);

	if (err)
		return err;
	if (dp_process_read(proc, *addr + at, &bytes, sizeof(bytes)) ||
	    bytes < sizeof(*arena) || bytes > ARENA_MAX)
		return -ENOENT;
	arena = calloc(1, bytes);
	if (!arena)
		return -ENOMEM;
	err = -ENOENT;
	if (!dp_process_read(proc, *addr, arena, sizeof(*arena)) &&
	    arena->control.arena_size == bytes)
		err = read_arena(proc, *addr, (char *)arena, bytes);
	if (err) {
		free(arena);
		return err;
	}
	*out = arena;
	*size = bytes;
	return 0;
}

static bool any_left(const struct dp_process *proc)
{
	struct dp_maps maps;
	bool found;

	if (dp_maps_read(proc->pid, &maps))
		return false;
	found = dp_pages_ours(&maps);
	dp_maps_free(&maps);
	return found;
}

/* A descriptor of the shared memory that was not closed in time; or -1. A thread may have
 * descriptors of its own. */
static int leftover_fd(const struct dp_process *proc, pid_t tid)
{
	DIR *dir = opendir(dp_path("/proc/%d/task/%d/fd", proc->pid, tid).s);
	struct dirent *d;
	char to[64];
	int fd = -1;
	ssize_t n;

	while (dir && fd < 0 && (d = readdir(dir))) {
		n = readlinkat(dirfd(dir), d->d_name, to, sizeof(to) - 1);
		if (n <= 0)
			continue;
		to[n] = '\0';
		if (dp_path_is_ours(to))
			fd = atoi(d->d_name);
	}
	if (dir)
		closedir(dir);
	return fd;
}

bool dp_recover_needed(const struct dp_process *proc)
{
	return proc->remnants || leftover_fd(proc, proc->pid) >= 0;
}

/* Take out remains that were never armed. */
static int sweep(struct dp_process *proc, void *arg, struct dp_diag *diag)
{
	int err = dp_borrowed_alone(proc, diag), fd;

	if (err)
		return err;
	while ((fd = leftover_fd(proc, dp_remote_thread(proc))) >= 0 && !err)
		err = (int)dp_remote_call(proc, SYS_close, fd);
	if (!err)
		err = dp_unmap(proc);
	dp_borrowed_end(proc);
	return err;
}

static bool tool_lives(const struct dp_process *proc,
		       const struct dp_arena_control *c)
{
	return c->owner == proc->ns_pid && c->tool &&
	       (pid_t)c->tool != dp_tool_of(proc) &&
	       dp_tool_start((pid_t)c->tool) == c->tool_start;
}

static int is_taken(const struct dp_process *proc,
		    const struct dp_arena_control *c, struct dp_diag *diag)
{
	if (!tool_lives(proc, c))
		return 0;
	return dp_diag_set(
		diag, -EBUSY,
		"process %d is already probed by dprobes %u; end that first",
		proc->pid, c->tool);
}

bool dp_recover_taken(const struct dp_process *proc, struct dp_diag *diag)
{
	struct dp_arena_control control;
	u64 addr;

	return !find_arena(proc, &addr) &&
	       !dp_process_read(proc, addr + offsetof(struct dp_arena, control),
				&control, sizeof(control)) &&
	       control.magic == DP_LAYOUT_MAGIC &&
	       is_taken(proc, &control, diag);
}

/* Only the dead tool could write the sites' states; the arena here is a copy. So a note
 * tells a later tool that a breakpoint of ours can stand where a jump was. */
static void take_over(const struct dp_process *proc, struct dp_view *view)
{
	static const u64 yes = 1;
	u64 at = view->arena->control.base + DP_PRIVATE_AT(recovering);
	u64 begun;

	view->begun = !dp_process_read(proc, at, &begun, sizeof(begun)) &&
		      begun;
	dp_process_write(proc, at, &yes, sizeof(yes));
}

static int leave_behind(struct dp_process *proc, void *arena, size_t size,
			u64 addr, struct dp_diag *diag)
{
	struct dp_view view;
	int err = dp_view_open(&view, arena, size);

	if (err || view.arena->control.base != addr - DP_ARENA_OFFSET)
		return 0;
	if (view.arena->control.own_process &&
	    !view.arena->control.nr_upcalls &&
	    view.arena->control.owner == proc->ns_pid)
		return dp_diag_set(
			diag, -EBUSY,
			"process %d probes itself, with libdprobes; dprobes can list its probes, but not add to them yet",
			proc->pid);
	err = is_taken(proc, &view.arena->control, diag);
	if (err)
		return err;
	take_over(proc, &view);
	return dp_leave(proc, &view, diag);
}

int dp_recover(struct dp_process *proc, struct dp_diag *diag)
{
	void *arena;
	size_t size;
	u64 addr;
	int err = dp_arena_load(proc, &arena, &size, &addr);

	if (!err) {
		err = leave_behind(proc, arena, size, addr, diag);
		free(arena);
	} else if (err == -ENOENT) {
		err = 0;
	}
	if (!err && (any_left(proc) || leftover_fd(proc, proc->pid) >= 0))
		err = dp_tracer_child(proc, sweep, NULL, diag);
	return err;
}
