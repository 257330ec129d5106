// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * host: the engine of a process that probes itself, as a tool sees it.
 *
 *   here                      there                 how
 *   copy            rw-p      arena        rw-p     copied at each look
 *   records … vars  rw-s      the same     rw-s     dp_host_share(): mapped over the arena's part
 *
 * The process can write to what is shared, and can map all of that file. So the file has
 * nothing else.
 */
#include "engine/site/mirror.h"
#include "engine/site/internal.h"
#include "engine/text/state.h"
#include "proc/attach/attach.h"
#include "proc/attach/area.h"
#include "proc/code/intercepts.h"
#include "proc/host.h"
#include "proc/proc.h"
#include "proc/semaphores.h"
#include "proc/ptrace/process.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/** struct dp_host - @addr: of the arena there; @copy: @size bytes here */
struct dp_host {
	struct dp_process *proc;
	struct dp_engine *engine;
	u64 addr;
	size_t size;
	struct dp_arena *copy;
	struct dp_span part; /* what is shared: offset and size; or nothing */
};

int dp_host_find(pid_t pid, struct dp_diag *diag)
{
	struct dp_process *proc;
	int own;

	if (dp_process_open(pid, &proc, NULL))
		return 0;
	proc->ns_pid = dp_process_inside(proc);
	own = dp_recover_own(proc, diag);
	dp_process_close(proc);
	return own;
}

static int begin(struct dp_host *h, struct dp_diag *diag)
{
	int err = dp_arena_find(h->proc, &h->size, &h->addr, diag);

	if (err)
		return err == -ENOENT ? dp_arena_cannot(h->proc, err, diag) :
					err;
	h->copy = mmap(NULL, h->size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (h->copy == MAP_FAILED) {
		h->copy = NULL;
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	}
	return dp_host_look(h) ? dp_arena_cannot(h->proc, -EBADMSG, diag) : 0;
}

int dp_host_open(struct dp_process *proc, struct dp_engine *engine,
		 struct dp_host **host, struct dp_diag *diag)
{
	struct dp_host *h = calloc(1, sizeof(*h));
	int err;

	*host = h;
	if (!h)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	h->proc = proc;
	h->engine = engine;
	proc->ns_pid = dp_process_inside(proc);
	err = begin(h, diag);
	if (err) {
		dp_host_close(h);
		*host = NULL;
	}
	return err;
}

int dp_host_look(struct dp_host *h)
{
	int err = dp_arena_read(h->proc, h->addr, h->copy, h->size);

	if (!err)
		err = dp_mirror_look(h->engine, h->copy, h->size);
	if (!err)
		dp_patched_mark_live(h->proc, &h->engine->view, h->addr);
	return err;
}

/* Put what is shared where it belongs in the copy. */
static int move_part(struct dp_host *h)
{
	struct dp_share *share = &h->proc->shares[h->proc->nr_shares - 1];
	void *to = (char *)h->copy + h->part.start;

	if (mremap(share->at, share->size, share->size,
		   MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED)
		return -ENOMEM;
	h->proc->nr_shares--;
	return 0;
}

int dp_host_share(struct dp_host *h, struct dp_diag *diag)
{
	u64 from, to;
	void *ours;
	int err;

	if (!dp_mirror_part(h->engine, &from, &to))
		return dp_arena_cannot(h->proc, -EBADMSG, diag);
	h->part = (struct dp_span){ from, to - from };
	err = dp_kind_find(h->proc, diag);
	if (!err)
		err = dp_share_over(h->proc, h->addr + from, to - from, &ours,
				    diag);
	if (!err && move_part(h))
		err = dp_diag_set(diag, -ENOMEM, "out of memory");
	if (err) {
		h->part.size = 0;
		return err;
	}
	dp_mirror_open(h->engine);
	return 0;
}

void dp_host_close(struct dp_host *h)
{
	if (!h)
		return;
	/* The process keeps the mapping, and no page of it. */
	if (h->part.size)
		madvise((char *)h->copy + h->part.start, h->part.size,
			MADV_REMOVE);
	if (h->copy)
		munmap(h->copy, h->size);
	free(h);
}

static int by_addr(const void *a, const void *b)
{
	const struct dp_host_patch *p = a, *q = b;

	return p->addr < q->addr ? -1 : p->addr > q->addr;
}

int dp_host_patches(const struct dp_host *h, struct dp_host_patch **list,
		    size_t *n)
{
	const struct dp_view *view = &h->engine->view;
	u32 i;

	*n = 0;
	*list = calloc(view->nr_sites + 1, sizeof(**list));
	if (!*list)
		return -ENOMEM;
	for (i = 0; i < view->nr_sites; i++) {
		const struct dp_site_entry *s = &view->sites[i];
		u8 len = dp_site_patch_len(s);

		if (!s->addr || !s->armed || s->armed == DP_SITE_GONE || !len ||
		    len > DP_JUMP_SIZE)
			continue;
		(*list)[*n].addr = s->addr;
		(*list)[*n].len = len;
		memcpy((*list)[(*n)++].orig, s->orig, len);
	}
	qsort(*list, *n, sizeof(**list), by_addr);
	return 0;
}

u64 dp_host_base(const struct dp_host *host)
{
	return host->addr - DP_ARENA_OFFSET;
}

void dp_host_lower(struct dp_process *proc)
{
	size_t size;
	u64 addr;

	if (!dp_arena_find(proc, &size, &addr, NULL))
		dp_semaphores_lower(proc, addr - DP_ARENA_OFFSET);
}
