// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * pools: memory for copies, detours and islands, which a tool's engine asks for as it plans.
 *
 *   collect ─ engine plans ─► buffers here ─ map, all at once ─► write ─► armed
 *
 * A pool that is asked for while the tool collects is only noted, and its code goes into a
 * buffer. Remote calls map all of them from one file, and their code is written later, when
 * no thread is held any more.
 *
 * All are private, so they share one hole of the file.
 */
#include "engine/layout/arena.h"
#include "engine/layout/base.h"
#include "engine/plan/plan.h"
#include "engine/site/internal.h"
#include "engine/site/live.h"
#include "proc/attach/area.h"
#include "proc/attach/pools.h"
#include "proc/attach_other.h"
#include "proc/proc.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/remote.h"
#include "proc/ptrace/stop.h"
#include "sym/list.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/* The hole at the beginning of each file */
#define HOLE DP_FILE_ARENA_OFFSET

/** struct dp_pool_buffer - a pool that is not written yet
 * @code: its contents; @touched: one byte for each page: it has code, and is written */
struct dp_pool_buffer {
	u64 addr, size;
	u8 *code, *touched;
};

void dp_pools_collect(struct dp_process *proc)
{
	proc->collects = true;
}

void dp_pools_drop(struct dp_process *proc)
{
	size_t i;

	for (i = 0; i < proc->nr_buffers; i++) {
		free(proc->buffers[i].code);
		free(proc->buffers[i].touched);
	}
	free(proc->buffers);
	proc->buffers = NULL;
	proc->nr_buffers = proc->cap_buffers = 0;
	proc->collects = false;
}

static int note(struct dp_process *proc, u64 addr, u64 size)
{
	struct dp_pool_buffer b = { .addr = addr,
				    .size = size,
				    .code = malloc(size),
				    .touched = calloc(size / DP_PAGE, 1) };

	if (b.code && b.touched &&
	    !dp_list_add(&proc->buffers, &proc->nr_buffers, &proc->cap_buffers,
			 &b, sizeof(b)))
		return 0;
	free(b.code);
	free(b.touched);
	return -ENOMEM;
}

/* Of a file, so that its name shows it is ours. */
int dp_pools_code(struct dp_process *proc, u64 addr, u64 size, int flags)
{
	s32 there;
	long ret = dp_share_make(proc, size, NULL, &there);

	if (ret)
		return (int)ret;
	ret = dp_remote_call(proc, SYS_mmap, addr, size, PROT_READ | PROT_EXEC,
			     MAP_PRIVATE | flags, there, 0);
	dp_share_close(proc, &there, 1);
	return dp_remote_failed(ret) ? (int)ret : 0;
}

int dp_pools_add(void *arg, u64 addr, u64 size)
{
	struct dp_process *proc = arg;
	int err;

	if (proc->collects)
		return note(proc, addr, size);
	proc->wants_pool = true;
	if (!proc->attached_other || !proc->remote)
		return -ENOMEM;
	err = dp_pools_code(proc, addr, size, MAP_FIXED_NOREPLACE);
	return err && err != -EEXIST ? -ENOMEM : err;
}

static struct dp_pool_buffer *buffer_at(const struct dp_process *proc, u64 addr)
{
	size_t i;

	for (i = proc->nr_buffers; i-- > 0;)
		if (addr - proc->buffers[i].addr < proc->buffers[i].size)
			return &proc->buffers[i];
	return NULL;
}

/* Return: how many of the bytes the buffer has taken. */
static size_t keep(struct dp_pool_buffer *b, u64 addr, const void *code,
		   size_t len)
{
	u64 at = addr - b->addr, i;

	len = len < b->size - at ? len : b->size - at;
	for (i = at / DP_PAGE; i <= (at + len - 1) / DP_PAGE; i++) {
		if (!b->touched[i])
			memset(b->code + i * DP_PAGE, 0, DP_PAGE);
		b->touched[i] = 1;
	}
	memcpy(b->code + at, code, len);
	return len;
}

/* An island may lie across two pools. */
int dp_pools_put(void *arg, u64 addr, const void *code, size_t len)
{
	struct dp_process *proc = arg;
	struct dp_pool_buffer *b;
	size_t n;

	for (; len; addr += n, code = (const u8 *)code + n, len -= n) {
		b = buffer_at(proc, addr);
		if (!b)
			return dp_process_write(proc, addr, code, len);
		n = keep(b, addr, code, len);
	}
	return 0;
}

/* Return: how many holes there are without the range. */
static size_t leave_out(struct dp_hole *holes, size_t n, u64 start, u64 end)
{
	size_t had = n, i;

	for (i = 0; i < had; i++) {
		struct dp_hole *h = &holes[i];

		if (h->start >= end || h->end <= start)
			continue;
		if (h->end > end)
			holes[n++] = (struct dp_hole){ end, h->end, false };
		h->end = start > h->start ? start : h->start;
	}
	return n;
}

/* The agent has been mapped since the mappings were read, or is about to be. For Uprobes they are
 * read now: a thread that is to make calls may have made one of its own last. */
int dp_pools_holes(void *arg, struct dp_hole **holes, size_t *n)
{
	struct dp_process *proc = arg;
	const struct dp_maps *maps;
	u64 base = proc->engine->map.base;
	int err;

	if (!proc->collects)
		return dp_holes_find(proc->pid, 2 * DP_MAX_POOLS, holes, n);
	maps = proc->nr_threads ? dp_stop_maps(proc) : dp_last_maps(proc);
	if (!maps)
		return dp_memory_gone(proc) ? -ESRCH : -ENOMEM;
	err = dp_holes_among(proc->pid, maps, 2 * DP_MAX_POOLS, holes, n);
	if (!err)
		*n = leave_out(*holes, *n, base, base + proc->file_size);
	return err;
}

static void unmap(struct dp_process *proc, u64 addr, u64 size)
{
	if (size)
		dp_remote_call(proc, SYS_munmap, addr, size);
}

/* On failure nothing of it is mapped. */
static long map_one(struct dp_process *proc, const struct dp_pool_buffer *b,
		    s32 there)
{
	u64 done, size;
	long ret = 0;

	for (done = 0; done < b->size; done += size) {
		size = b->size - done < HOLE ? b->size - done : HOLE;
		ret = dp_remote_call(proc, SYS_mmap, b->addr + done, size,
				     PROT_READ | PROT_EXEC,
				     MAP_PRIVATE | MAP_FIXED_NOREPLACE, there,
				     0);
		if (dp_remote_failed(ret)) {
			unmap(proc, b->addr, done);
			return ret;
		}
		dp_kill_point("install: pool");
	}
	return 0;
}

long dp_pools_map(struct dp_process *proc, s32 there)
{
	const struct dp_pool_buffer *b = proc->buffers;
	long ret = 0;
	size_t i;

	proc->collects = false;
	for (i = 0; i < proc->nr_buffers && !ret; i++)
		ret = map_one(proc, &b[i], there);
	if (ret)
		while (--i > 0)
			unmap(proc, b[i - 1].addr, b[i - 1].size);
	return ret;
}

long dp_pools_share(struct dp_process *proc)
{
	s32 there;
	long ret = proc->nr_buffers ? dp_share_make(proc, HOLE, NULL, &there) :
				      0;

	proc->collects = false;
	if (ret || !proc->nr_buffers)
		return ret;
	ret = dp_pools_map(proc, there);
	dp_share_close(proc, &there, 1);
	return ret;
}

static int write_one(const struct dp_process *proc,
		     const struct dp_pool_buffer *b)
{
	u64 pages = b->size / DP_PAGE, i, end;
	int err = 0;

	for (i = 0; i < pages && !err; i = end + 1) {
		for (end = i; end < pages && b->touched[end]; end++)
			continue;
		if (end > i)
			err = dp_process_write(proc, b->addr + i * DP_PAGE,
					       b->code + i * DP_PAGE,
					       (end - i) * DP_PAGE);
	}
	return err;
}

int dp_pools_write(struct dp_process *proc)
{
	int err = 0;
	size_t i;

	for (i = 0; i < proc->nr_buffers && !err; i++)
		err = write_one(proc, &proc->buffers[i]);
	dp_pools_drop(proc);
	return err;
}
