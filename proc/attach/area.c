// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * area: the agent's memory, here and in the target.
 *
 *   here                    there                       from
 *   –                       text            r-xp        tables' file, a hole in it
 *   –                       wipe … private  rw-p        nothing
 *   control, tables  rw-s   the same        r--s        tables' file
 *   hit, own         rw-s   the same        rw-s        hit's file
 *   –                       contexts        rw-p        tables' file, a hole in it
 *   (pools.c)               pools           r-xp        tables' file, a hole in it;
 *                                                       later ones: files of their own
 *
 * Before the target gets the tables' file, it is sealed against all writing, except
 * through the tool's mapping.
 *
 * A process that will probe itself owns all of it in the end. Its arena is shared with
 * the helper, and with no child, until the helper has written everything. Then
 * dp_area_settle() replaces it by a private mapping of the same file.
 */
#include "engine/layout/arena.h"
#include "engine/layout/base.h"
#include "engine/plan/plan.h"
#include "engine/site/engine.h"
#include "proc/attach/area.h"
#include "proc/proc.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/remote.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
/* Bytes of streams that are populated: of all, and of each */
#define POPULATED (512u << 10)
#define POPULATED_EACH (256u << 10)
#define TABLES 0
#define HIT 1

/** struct part - part of the agent's memory: [start, end) from its base */
struct part {
	u64 start, end;
};

/** struct parts - the arena, and what it consists of */
struct parts {
	struct part arena, control, hit, own, contexts, tables;
};

static struct parts parts_of(const struct dp_layout_need *need)
{
	const u64 at = DP_ARENA_OFFSET, end = at + need->arena_size;
	u64 hit = at + DP_CONTROL_ROOM, own = at + need->own_off;
	u64 contexts = at + need->private_off, tables = at + need->tables_off;

	return (struct parts){ .arena = { at, end },
			       .control = { at, hit },
			       .hit = { hit, contexts },
			       .own = { own, contexts },
			       .contexts = { contexts, tables },
			       .tables = { tables, end } };
}

/* --- here --- */

static int map_file(const struct dp_process *proc, int fd, u64 start, u64 end)
{
	if (start >= end)
		return 0;
	return mmap((char *)proc->file + start, end - start,
		    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
		    (off_t)start) == MAP_FAILED ?
		       -ENOMEM :
		       0;
}

static int map_here(struct dp_process *proc, const struct dp_layout_need *need,
		    const int *files)
{
	const struct parts p = parts_of(need);
	u64 end = p.arena.end;
	int err;

	proc->file = mmap(NULL, end, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (proc->file == MAP_FAILED) {
		proc->file = NULL;
		return -ENOMEM;
	}
	proc->file_size = end;
	err = map_file(proc, files[TABLES], p.arena.start, end);
	if (!err && !proc->own_process)
		err = map_file(proc, files[HIT], p.hit.start, p.hit.end);
	return err;
}

static void unmap_here(struct dp_process *proc)
{
	if (proc->file)
		munmap(proc->file, proc->file_size);
	proc->file = NULL;
}

static int make_files(struct dp_process *proc,
		      const struct dp_layout_need *need, int *files)
{
	u64 size = DP_FILE_ARENA_OFFSET + need->arena_size;
	int err = 0, i, n = proc->own_process ? 1 : 2;

	files[TABLES] = files[HIT] = -1;
	for (i = 0; i < n && !err; i++) {
		files[i] = dp_share_file(size);
		err = files[i] < 0 ? files[i] : 0;
	}
	if (!err)
		err = map_here(proc, need, files);
	/* From now on the tables' file can be written only through the tool's mapping. */
	if (!err && n == 2 &&
	    (fcntl(files[TABLES], F_ADD_SEALS,
		   F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) ||
	     fcntl(files[HIT], F_ADD_SEALS, F_SEAL_SEAL)))
		err = -errno;
	return err;
}

int dp_area_make(struct dp_process *proc, const struct dp_layout_need *need,
		 int *files)
{
	int err = make_files(proc, need, files);

	proc->lacks_here = err != 0;
	if (!err)
		return 0;
	dp_area_drop(files);
	unmap_here(proc);
	return err;
}

void dp_area_drop(int *files)
{
	int i;

	for (i = TABLES; i <= HIT; i++) {
		if (files[i] >= 0)
			close(files[i]);
		files[i] = -1;
	}
}

/* --- there --- */

int dp_area_pass(struct dp_process *proc, const int *files, s32 *there)
{
	there[TABLES] = there[HIT] = -1;
	return dp_share_pass(proc, files, proc->own_process ? 1 : 2, there);
}

void dp_area_close(struct dp_process *proc, const s32 *there)
{
	/* dp_area_settle() needs this descriptor once more. */
	if (proc->own_process && proc->base)
		proc->unsettled = there[TABLES];
	else
		dp_share_close(proc, there, proc->own_process ? 1 : 2);
}

static long map_over(struct dp_process *proc, struct part part, int prot,
		     int flags, s32 fd)
{
	long ret;

	if (part.start >= part.end)
		return 0;
	ret = dp_remote_call(proc, SYS_mmap, proc->base + part.start,
			     part.end - part.start, prot,
			     (u64)(flags | MAP_FIXED), fd,
			     flags & MAP_ANONYMOUS ? 0 : part.start);
	dp_kill_point("area: mapped");
	return dp_remote_failed(ret) ? ret : 0;
}

static long advise(struct dp_process *proc, struct part part, int what)
{
	long ret;

	if (part.start >= part.end)
		return 0;
	ret = dp_remote_call(proc, SYS_madvise, proc->base + part.start,
			     part.end - part.start, what);
	/* What the kernel says when it lacks a mapping. */
	return ret == -EAGAIN ? -ENOMEM : ret;
}

/* The part that the target writes and the tool reads. */
static long map_hit(struct dp_process *proc, const struct parts *p,
		    const s32 *there)
{
	long ret = map_over(proc, p->hit, PROT_READ | PROT_WRITE, MAP_SHARED,
			    there[HIT]);

	return ret ? ret : advise(proc, p->own, MADV_DONTFORK);
}

/* The beginnings of streams, which are written first: at a hit, a page that is not there yet costs
 * as much as two hundred records. It is as good without: older kernels know no such advice. */
static void populate(struct dp_process *proc, const struct dp_layout_need *need)
{
	u64 share = need->nr_streams ? POPULATED / need->nr_streams : 0, from;
	u32 i;

	if (share > POPULATED_EACH)
		share = POPULATED_EACH;
	for (i = 0; i < need->nr_streams && share >= DP_PAGE; i++) {
		from = DP_ARENA_OFFSET + need->stream_off +
		       (u64)i * need->stream_stride;
		from &= ~(u64)(DP_PAGE - 1);
		advise(proc, (struct part){ from, from + share },
		       MADV_POPULATE_WRITE);
	}
}

/* Code and contexts are private since the child's birth. */
long dp_area_inherit(struct dp_process *proc, const struct dp_layout_need *need,
		     const s32 *there)
{
	const struct parts p = parts_of(need);
	long ret =
		map_over(proc, p.control, PROT_READ, MAP_SHARED, there[TABLES]);

	if (!ret)
		ret = map_over(proc, p.tables, PROT_READ, MAP_SHARED,
			       there[TABLES]);
	return ret ? ret : map_hit(proc, &p, there);
}

static long map_base(struct dp_process *proc, struct part arena,
		     const s32 *there, u64 at)
{
	int prot = PROT_READ | (proc->own_process ? PROT_WRITE : 0);
	long base = dp_remote_call(proc, SYS_mmap, at, arena.end, prot,
				   MAP_SHARED | (at ? MAP_FIXED_NOREPLACE : 0),
				   there[TABLES]);

	if (dp_remote_failed(base))
		return base;
	proc->base = (u64)base;
	dp_kill_point("install: area");
	return proc->own_process ? advise(proc, arena, MADV_DONTFORK) : 0;
}

long dp_area_settle(struct dp_process *proc)
{
	const struct parts p = parts_of(dp_engine_need(proc->engine));
	s32 there = proc->unsettled;
	long ret;

	if (!proc->own_process || there < 0)
		return 0;
	if (!dp_share_has(proc, there))
		return -EBADF;
	ret = map_over(proc, p.arena, PROT_READ | PROT_WRITE, MAP_PRIVATE,
		       there);
	dp_share_close(proc, &there, 1);
	proc->unsettled = -1;
	return ret;
}

static long map_private(struct dp_process *proc, const s32 *there)
{
	static const struct part text = { 0, DP_AGENT_TEXT };
	static const struct part priv = { DP_WIPE_OFFSET, DP_ARENA_OFFSET };
	static const struct part wiped = { DP_WIPE_OFFSET, DP_PRIVATE_OFFSET };
	long ret = map_over(proc, text, PROT_READ | PROT_EXEC, MAP_PRIVATE,
			    there[TABLES]);

	dp_kill_point("install: text");
	if (!ret)
		ret = map_over(proc, priv, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1);
	dp_kill_point("install: private");
	return ret ? ret : advise(proc, wiped, MADV_WIPEONFORK);
}

/* A program that closes all descriptors it finds may have opened another file in place
 * of the agent's meanwhile. */
static int prove(const struct dp_process *proc)
{
	const u64 at[] = { DP_ARENA_OFFSET, DP_ARENA_OFFSET + DP_CONTROL_ROOM };
	u64 word, had, seen;
	int err = 0;
	size_t i;

	for (i = 0; i < 2 && !err; i++) {
		u64 *ours = (void *)((char *)proc->file + at[i]);

		if (getrandom(&word, sizeof(word), 0) != sizeof(word))
			return -EIO;
		had = *ours;
		*ours = word;
		err = dp_process_read(proc, proc->base + at[i], &seen,
				      sizeof(seen));
		if (!err && seen != word)
			err = -EBUSY;
		*ours = had;
	}
	return err;
}

long dp_area_map(struct dp_process *proc, const struct dp_layout_need *need,
		 const s32 *there, u64 at)
{
	const struct parts p = parts_of(need);
	long ret = map_base(proc, p.arena, there, at);

	if (!ret)
		ret = map_private(proc, there);
	if (!ret && !proc->own_process)
		ret = map_hit(proc, &p, there);
	if (!ret && !proc->own_process)
		populate(proc, need);
	if (!ret && !proc->own_process)
		ret = map_over(proc, p.contexts, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE, there[TABLES]);
	return ret ? ret : prove(proc);
}
