// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* recover: find what a killed tool left in a process, and take it out. */
#include "agent/image.h"
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
#include <stdio.h>
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

/* Programs of guests, and their variables */
static int read_programs(const struct dp_process *proc, u64 addr, char *arena,
			 size_t size)
{
	const struct dp_arena_control c = ((struct dp_arena *)arena)->control;
	int err;

	if (!c.nr_programs)
		return 0;
	err = read_part(proc, addr, arena, size, c.program_off,
			(u64)c.nr_programs * sizeof(struct dp_program_entry));
	if (!err)
		err = read_part(proc, addr, arena, size, c.gv_off,
				((u64)c.nr_gv + c.max_locals) * sizeof(u64));
	return err;
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
	for (i = 0; !err && i < shards && i < 2 * DP_MAX_SHARDS; i++) {
		u64 at = c.counter_off + (u64)i * c.shard_stride;

		err = read_part(proc, addr, arena, size, at,
				(u64)c.nr_sites * sizeof(u64));
		if (!err)
			err = read_part(proc, addr, arena, size,
					at + c.probe_counters * sizeof(u64),
					(u64)c.nr_probes * sizeof(u64));
		if (!err && c.met_counters)
			err = read_part(proc, addr, arena, size,
					at + c.met_counters * sizeof(u64),
					(u64)c.nr_sites * sizeof(u64));
	}
	return err ?: read_programs(proc, addr, arena, size);
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

/** struct head - what is at the same place in the arena of every version
 *  @magic: set once the arena is complete, before anything is armed */
struct head {
	u64 magic;
	u32 version;
};

/* Another version's arena may begin elsewhere in its file. */
static bool is_arena(const struct dp_process *proc, const struct dp_map *m)
{
	struct head head;

	return dp_map_is_arena(m) ||
	       (dp_path_is_ours(m->path) &&
		!dp_process_read(proc, m->start, &head, sizeof(head)) &&
		head.magic == DP_LAYOUT_MAGIC);
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
		if (is_arena(proc, &maps.v[i])) {
			*addr = maps.v[i].start;
			err = 0;
		}
	dp_maps_free(&maps);
	return err;
}

static int not_ours(const struct dp_process *proc, struct dp_diag *diag,
		    const char *which)
{
	struct dp_status st = { .uids = { 0 } };

	dp_status_read(proc->pid, proc->pid, &st);
	return dp_diag_set(
		diag, -EBUSY,
		"process %d, of uid %u, has probes of another %s in it, which this dprobes (layout %u) must not touch; use the dprobes that they are of",
		proc->pid, st.uids[0], which, DP_LAYOUT_VERSION);
}

/* Of an agent that had not been copied whole when its tool was killed, the rest is zeros. */
static bool is_agent(const u8 *text)
{
	u32 i = 0;

	while (i < dp_agent_image_size && text[i] == dp_agent_image[i])
		i++;
	while (i < dp_agent_image_size && !text[i])
		i++;
	return i == dp_agent_image_size;
}

/* What an entry point's address means is the same in the same bytes only. */
static bool is_our_agent(const struct dp_process *proc, u64 base)
{
	u8 *text = malloc(dp_agent_image_size);
	bool same = text &&
		    !dp_process_read(proc, base, text, dp_agent_image_size) &&
		    is_agent(text);

	free(text);
	return same;
}

/* Return: 0; -EBUSY; -ENOENT it has never been in use. */
static int check_version(const struct dp_process *proc, u64 addr,
			 struct dp_diag *diag)
{
	struct head head;
	char which[32];

	if (dp_process_read(proc, addr, &head, sizeof(head)) ||
	    head.magic != DP_LAYOUT_MAGIC)
		return -ENOENT;
	if (head.version == DP_LAYOUT_VERSION)
		return 0;
	snprintf(which, sizeof(which), "version (layout %u)", head.version);
	return not_ours(proc, diag, which);
}

static int is_damaged(const struct dp_process *proc, struct dp_diag *diag)
{
	return dp_diag_set(
		diag, -EBADMSG,
		"what is mapped into process %d as dprobes is damaged, and left as it is",
		proc->pid);
}

int dp_arena_find(const struct dp_process *proc, size_t *size, u64 *addr,
		  struct dp_diag *diag)
{
	const u64 at = offsetof(struct dp_arena, control.arena_size);
	u64 bytes;
	int err = find_arena(proc, addr) ?: check_version(proc, *addr, diag);

	if (err)
		return err;
	if (dp_process_read(proc, *addr + at, &bytes, sizeof(bytes)) ||
	    bytes < sizeof(struct dp_arena) || bytes > ARENA_MAX)
		return is_damaged(proc, diag);
	*size = bytes;
	return 0;
}

int dp_arena_read(const struct dp_process *proc, u64 addr,
		  struct dp_arena *arena, size_t size)
{
	return dp_process_read(proc, addr, arena, sizeof(*arena)) ||
			       arena->control.arena_size != size ||
			       read_arena(proc, addr, (char *)arena, size) ?
		       -EBADMSG :
		       0;
}

int dp_arena_load(const struct dp_process *proc, void **out, size_t *size,
		  u64 *addr, struct dp_diag *diag)
{
	int err = dp_arena_find(proc, size, addr, diag);

	if (err)
		return err;
	*out = calloc(1, *size);
	if (!*out)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	if (!dp_arena_read(proc, *addr, *out, *size))
		return 0;
	free(*out);
	return is_damaged(proc, diag);
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

/* Return: false: no arena of this version. */
static bool read_control(const struct dp_process *proc,
			 struct dp_arena_control *control)
{
	u64 addr;

	return !find_arena(proc, &addr) &&
	       !dp_process_read(proc, addr + offsetof(struct dp_arena, control),
				control, sizeof(*control)) &&
	       control->magic == DP_LAYOUT_MAGIC;
}

static bool is_own(const struct dp_process *proc,
		   const struct dp_arena_control *c)
{
	return c->own_process && !c->nr_upcalls && c->owner == proc->ns_pid;
}

int dp_recover_own(const struct dp_process *proc, struct dp_diag *diag)
{
	struct dp_arena_control control;
	u64 addr;
	int err;

	if (find_arena(proc, &addr))
		return 0;
	err = check_version(proc, addr, diag);
	if (err)
		return err == -EBUSY ? err : 0;
	if (!read_control(proc, &control) || !is_own(proc, &control))
		return 0;
	return is_our_agent(proc, control.base) ? 1 :
						  not_ours(proc, diag, "build");
}

bool dp_recover_taken(const struct dp_process *proc, struct dp_diag *diag)
{
	struct dp_arena_control control;

	return read_control(proc, &control) && is_taken(proc, &control, diag);
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
		return is_damaged(proc, diag);
	if (!is_our_agent(proc, view.arena->control.base))
		return not_ours(proc, diag, "build");
	if (is_own(proc, &view.arena->control))
		return dp_diag_set(
			diag, -EBUSY,
			"process %d probes itself, with libdprobes; only dprobes stat, trace and run can add probes to its own",
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
	int err = dp_arena_load(proc, &arena, &size, &addr, diag);

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
