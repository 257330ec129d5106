// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * core_memory: the memory of a core file, read beside the running process.
 *
 * A page that has never been touched is not touched by reading it: where the kernel knows none, it is
 * zeros. Pages of zeros are holes in the file. What cannot be read is a segment without bytes, so that
 * nobody takes it for zeros. Over what has been read come the stacks that were copied while threads were
 * held, and the program's own code.
 */
#include "engine/site/engine.h"
#include "proc/attach/core.h"
#include "proc/proc.h"
#include "proc/ptrace/procfs.h"
#include "sym/list.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGES 64
#define CHUNK (PAGES * DP_PAGE)
#define PM_SWAP (1ull << 62)
#define PM_PRESENT (1ull << 63)

/** enum page - what is known of one */
enum page {
	READ,
	ZERO,
	UNREAD,
};

/** struct chunk - a piece of a mapping; @n: pages of it */
struct chunk {
	const struct dp_core_map *map;
	u64 at;
	u32 n;
	enum page pages[PAGES];
	u8 bytes[CHUNK];
};

/** struct reader - of the memory; @pagemap: /proc/PID/pagemap, or -1 */
struct reader {
	struct dp_core *core;
	int pagemap;
	u64 done;
	struct chunk chunk;
};

static void find_zeros(const struct reader *r, struct chunk *c)
{
	u64 entries[PAGES];
	size_t size = c->n * sizeof(*entries);
	u32 i;

	if (!c->map->zeros ||
	    pread(r->pagemap, entries, size,
		  (off_t)(c->at / DP_PAGE * sizeof(*entries))) != (ssize_t)size)
		return;
	for (i = 0; i < c->n; i++)
		if (!(entries[i] & (PM_PRESENT | PM_SWAP)))
			c->pages[i] = ZERO;
}

static void read_pages(const struct dp_process *proc, struct chunk *c, u32 from,
		       u32 n)
{
	u8 *to = c->bytes + from * DP_PAGE;
	u64 at = c->at + from * DP_PAGE;
	u32 i;

	if (!dp_process_read(proc, at, to, n * DP_PAGE))
		return;
	for (i = 0; i < n; i++)
		if (dp_process_read(proc, at + i * DP_PAGE, to + i * DP_PAGE,
				    DP_PAGE)) {
			memset(to + i * DP_PAGE, 0, DP_PAGE);
			c->pages[from + i] = UNREAD;
		}
}

/* How many pages from the @i-th on are of one kind? */
static u32 run(const struct chunk *c, u32 i)
{
	u32 n = 1;

	while (i + n < c->n && c->pages[i + n] == c->pages[i])
		n++;
	return n;
}

/* The part of @from, @size bytes at address @at, that is in the chunk */
static void overlay(struct chunk *c, u64 at, const u8 *from, u64 size)
{
	u64 low = at > c->at ? at : c->at, end = c->at + c->n * DP_PAGE, i;
	u64 high = at + size < end ? at + size : end;

	if (low >= high)
		return;
	memcpy(c->bytes + (low - c->at), from + (low - at), high - low);
	for (i = (low - c->at) / DP_PAGE; i * DP_PAGE < high - c->at; i++)
		if (c->pages[i] == ZERO)
			c->pages[i] = READ;
}

static void fill(const struct reader *r, struct chunk *c)
{
	const struct dp_core *core = r->core;
	u32 i, n;
	size_t t;

	memset(c->bytes, 0, c->n * DP_PAGE);
	for (i = 0; i < c->n; i++)
		c->pages[i] = READ;
	find_zeros(r, c);
	for (i = 0; i < c->n; i += n) {
		n = run(c, i);
		if (c->pages[i] == READ)
			read_pages(core->proc, c, i, n);
	}
	if (c->map->prot & PROT_EXEC && core->proc->engine)
		dp_engine_originals(core->proc->engine, c->at, c->bytes,
				    c->n * DP_PAGE);
	for (t = 0; t < core->threads.n; t++)
		overlay(c, core->threads.v[t].stack_at,
			core->threads.v[t].stack,
			core->threads.v[t].stack_size);
}

static u32 flags_of(u32 prot)
{
	return (prot & PROT_READ ? PF_R : 0) | (prot & PROT_WRITE ? PF_W : 0) |
	       (prot & PROT_EXEC ? PF_X : 0);
}

/* @filled: the file has its bytes, next */
static int add_segment(struct dp_core *core, const struct dp_core_map *m,
		       u64 at, u64 size, bool filled)
{
	Elf64_Phdr *last = core->segments.n ?
				   &core->segments.v[core->segments.n - 1] :
				   NULL;
	const Elf64_Phdr p = { .p_type = PT_LOAD,
			       .p_flags = flags_of(m->prot),
			       .p_offset = core->at,
			       .p_vaddr = at,
			       .p_filesz = filled ? size : 0,
			       .p_memsz = size,
			       .p_align = DP_PAGE };

	if (last && at != m->start && last->p_vaddr + last->p_memsz == at &&
	    !last->p_filesz == !filled) {
		last->p_filesz += p.p_filesz;
		last->p_memsz += size;
		return 0;
	}
	return dp_list_push(&core->segments, &p);
}

int dp_core_put(struct dp_core *core, const void *bytes, size_t len)
{
	const char *from = bytes;
	ssize_t n;

	for (; len; from += n, len -= (size_t)n, core->at += (size_t)n) {
		n = pwrite(core->want->file, from, len, (off_t)core->at);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (!n)
			return -ENOSPC;
		n = n < 0 ? 0 : n;
	}
	return 0;
}

static bool is_zero(const u8 *page)
{
	return !page[0] && !memcmp(page, page + 1, DP_PAGE - 1);
}

static int put_pages(struct dp_core *core, const u8 *bytes, u32 n)
{
	int err = 0;
	u32 i;

	for (i = 0; i < n && !err; i++, bytes += DP_PAGE)
		if (is_zero(bytes))
			core->at += DP_PAGE;
		else
			err = dp_core_put(core, bytes, DP_PAGE);
	return err;
}

static int put_chunk(struct dp_core *core, struct chunk *c)
{
	u32 i, k, n;
	int err = 0;

	for (i = 0; i < c->n && !err; i += n) {
		bool filled = c->pages[i] != UNREAD;

		for (n = 0, k = i; k < c->n; k++, n++)
			if ((c->pages[k] != UNREAD) != filled)
				break;
		err = add_segment(core, c->map, c->at + i * DP_PAGE,
				  n * DP_PAGE, filled);
		if (!err && filled)
			err = put_pages(core, c->bytes + i * DP_PAGE, n);
		else if (!filled)
			core->result->unread += n * DP_PAGE;
	}
	return err;
}

static int put_range(struct reader *r, const struct dp_core_map *m, u64 from,
		     u64 to)
{
	struct chunk *c = &r->chunk;
	int err = 0;

	for (; from < to && !err; from += c->n * DP_PAGE) {
		c->map = m;
		c->at = from;
		c->n = to - from < CHUNK ? (u32)((to - from) / DP_PAGE) : PAGES;
		fill(r, c);
		err = put_chunk(r->core, c);
		r->done += c->n * DP_PAGE;
		if (!err && r->core->want->progress)
			r->core->want->progress(r->core->want->arg, r->done,
						r->core->all);
		if (!err && dp_memory_gone(r->core->proc))
			err = -ESRCH;
	}
	return err;
}

/* The first range from @from on that is wanted. A small file has the stacks of threads. */
static bool next_range(const struct dp_core *core, const struct dp_core_map *m,
		       u64 from, u64 *low, u64 *high)
{
	size_t i;

	*low = from;
	*high = m->start + m->bytes;
	if (from < *high)
		return true;
	*low = m->end;
	for (i = 0; core->want->small && i < core->threads.n; i++) {
		const struct dp_core_thread *t = &core->threads.v[i];
		u64 begin = t->stack_at & -(u64)DP_PAGE;
		u64 end = (t->stack_at + t->stack_size + DP_PAGE - 1) &
			  -(u64)DP_PAGE;

		begin = begin > from ? begin : from;
		if (end > begin && begin < *low) {
			*low = begin;
			*high = end < m->end ? end : m->end;
		}
	}
	return *low < m->end;
}

static int put_map(struct reader *r, const struct dp_core_map *m)
{
	u64 at = m->start, low, high;
	int err = 0;

	while (!err && next_range(r->core, m, at, &low, &high)) {
		if (low > at)
			err = add_segment(r->core, m, at, low - at, false);
		if (!err)
			err = put_range(r, m, low, high);
		at = high;
	}
	if (!err && at < m->end)
		err = add_segment(r->core, m, at, m->end - at, false);
	return err;
}

int dp_core_memory(struct dp_core *core)
{
	struct reader *r = malloc(sizeof(*r));
	int err = 0;
	size_t i;

	if (!r)
		return -ENOMEM;
	r->core = core;
	r->done = 0;
	r->pagemap = open(dp_path("/proc/%d/pagemap", core->proc->pid).s,
			  O_RDONLY | O_CLOEXEC);
	core->at = DP_PAGE; /* behind the header */
	for (i = 0; i < core->maps.n && !err; i++)
		err = put_map(r, &core->maps.v[i]);
	if (r->pagemap >= 0)
		close(r->pagemap);
	free(r);
	return err;
}
