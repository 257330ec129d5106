// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* semaphores: see proc/semaphores.h. */
#include "engine/layout/arena.h"
#include "engine/layout/private.h"
#include "engine/layout/site.h"
#include "engine/site/view.h"
#include "proc/attach/attach.h"
#include "proc/ptrace/process.h"
#include "proc/semaphores.h"
#include "proc/proc.h"
#include "sym/sym.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define HIGHEST 0xffff

/**
 * struct notes - a copy of a process's notes
 * @base: of the agent; @maps: of the process now
 * @v, @n: those that have ever been used
 */
struct notes {
	const struct dp_process *proc;
	u64 base;
	struct dp_maps maps;
	struct dp_semaphore v[DP_SEMAPHORES];
	u64 n;
};

static u64 at(const struct notes *s, u64 i)
{
	return s->base + DP_PRIVATE_AT(semaphores) + i * sizeof(s->v[0]);
}

/* The program can have written anything there: it can harm only itself. */
static struct notes *read_notes(const struct dp_process *proc, u64 base)
{
	struct notes *s = calloc(1, sizeof(*s));
	u64 where = base + DP_PRIVATE_AT(nr_semaphores);

	if (!s)
		return NULL;
	s->proc = proc;
	s->base = base;
	if (dp_process_read(proc, where, &s->n, sizeof(s->n)))
		s->n = 0;
	if (s->n > DP_SEMAPHORES)
		s->n = DP_SEMAPHORES;
	if (s->n && dp_process_read(proc, at(s, 0), s->v, s->n * sizeof(*s->v)))
		s->n = 0;
	return s;
}

static void free_notes(struct notes *s)
{
	if (s)
		dp_maps_free(&s->maps);
	free(s);
}

static int write_note(const struct notes *s, u64 i)
{
	return dp_process_write(s->proc, at(s, i), &s->v[i], sizeof(s->v[i]));
}

static void drop_note(struct notes *s, u64 i)
{
	memset(&s->v[i], 0, sizeof(s->v[i]));
	write_note(s, i);
}

/* May the program write there, in memory of its own? */
static bool is_data(const struct notes *s, u64 addr)
{
	const struct dp_map *m = dp_maps_find(&s->maps, addr);

	return m && m->perms[3] == 'p' && m->perms[2] != 'x' &&
	       m->end - addr >= sizeof(u16);
}

/* Is the code mapped that the semaphore belongs to, and the semaphore? */
static bool is_there(const struct notes *s, const struct dp_semaphore *v)
{
	const struct dp_origin was = { v->inode, v->offset, v->dev_major,
				       v->dev_minor };
	const struct dp_map *m = dp_maps_find(&s->maps, v->code);

	return m && dp_origin_same(dp_map_origin(m, v->code), was) &&
	       is_data(s, v->addr);
}

static bool read_word(const struct notes *s, u64 addr, u16 *word)
{
	return !dp_process_read(s->proc, addr, word, sizeof(*word));
}

static bool write_word(const struct notes *s, u64 addr, u16 word)
{
	return !dp_process_write(s->proc, addr, &word, sizeof(word));
}

static void lower(struct notes *s, u64 i)
{
	struct dp_semaphore *v = &s->v[i];
	u16 now;

	if (is_there(s, v) && read_word(s, v->addr, &now) &&
	    dp_semaphore_is_up(v, now)) {
		v->state = DP_SEMAPHORE_LOWERING;
		v->was = now;
		write_note(s, i);
		dp_kill_point("semaphores: lowering");
		write_word(s, v->addr, (u16)(now - 1));
		dp_kill_point("semaphores: lowered");
	}
	drop_note(s, i);
}

void dp_semaphores_lower(const struct dp_process *proc, u64 base)
{
	struct notes *s = read_notes(proc, base);
	u64 i;

	if (s && s->n && !dp_maps_read(proc->pid, &s->maps))
		for (i = 0; i < s->n; i++)
			if (s->v[i].addr)
				lower(s, i);
	free_notes(s);
}

static u64 find(const struct notes *s, u64 addr)
{
	u64 i = 0;

	while (i < s->n && s->v[i].addr != addr)
		i++;
	return i;
}

/* The number of a note for a semaphore that has none. Return: DP_SEMAPHORES: there is no room */
static u64 new_note(struct notes *s)
{
	u64 i = find(s, 0), where = s->base + DP_PRIVATE_AT(nr_semaphores);

	if (i < s->n || s->n == DP_SEMAPHORES)
		return i;
	s->n++;
	return dp_process_write(s->proc, where, &s->n, sizeof(s->n)) ?
		       DP_SEMAPHORES :
		       i;
}

static int failed(const struct notes *s, int err, u64 addr,
		  struct dp_diag *diag)
{
	if (err == -ENOSPC)
		return dp_diag_set(
			diag, err,
			"only %d semaphores can be raised at once: tracepoints with others stay off; name fewer",
			DP_SEMAPHORES);
	return dp_diag_set(
		diag, err,
		"the semaphore at 0x%lx of process %d cannot be raised: its tracepoint stays off",
		addr, s->proc->pid);
}

static int raise_noted(struct notes *s, u64 i)
{
	struct dp_semaphore *v = &s->v[i];
	u16 now;

	if (!is_there(s, v) || !read_word(s, v->addr, &now) || now == HIGHEST)
		return -EFAULT;
	v->state = DP_SEMAPHORE_RAISING;
	v->was = now;
	if (write_note(s, i))
		return -EFAULT;
	dp_kill_point("semaphores: raising");
	if (!write_word(s, v->addr, (u16)(now + 1)))
		return -EFAULT;
	dp_kill_point("semaphores: raised");
	v->state = DP_SEMAPHORE_RAISED;
	return write_note(s, i) ? -EFAULT : 0;
}

static int raise(struct notes *s, const struct dp_semaphore_use *use)
{
	const struct dp_map *m = dp_maps_find(&s->maps, use->code);
	struct dp_origin is = dp_map_origin(m, use->code);
	u64 i = new_note(s);
	int err;

	if (i == DP_SEMAPHORES)
		return -ENOSPC;
	s->v[i] = (struct dp_semaphore){ .addr = use->addr,
					 .code = use->code,
					 .inode = is.inode,
					 .offset = is.offset,
					 .dev_major = is.dev_major,
					 .dev_minor = is.dev_minor };
	err = raise_noted(s, i);
	if (err)
		drop_note(s, i);
	return err;
}

static bool is_wanted(u64 addr, const struct dp_semaphore_use *uses, size_t n)
{
	while (n && uses[n - 1].addr != addr)
		n--;
	return n;
}

static int set(struct notes *s, const struct dp_semaphore_use *uses, size_t n,
	       struct dp_diag *diag)
{
	int err = 0, bad;
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->v[i].addr && !is_wanted(s->v[i].addr, uses, n))
			lower(s, i);
	for (i = 0; i < n; i++) {
		if (find(s, uses[i].addr) < s->n)
			continue;
		bad = raise(s, &uses[i]);
		if (bad && !err)
			err = failed(s, bad, uses[i].addr, diag);
	}
	return err;
}

int dp_semaphores_set(struct dp_process *proc, u64 base,
		      const struct dp_semaphore_use *uses, size_t n,
		      struct dp_diag *diag)
{
	struct notes *s = read_notes(proc, base);
	int err = s ? 0 : -ENOMEM;

	/* A process that has ended has none. */
	if (!err && (s->n || n) && !dp_maps_read(proc->pid, &s->maps))
		err = set(s, uses, n, diag);
	free_notes(s);
	if (err == -ENOMEM)
		dp_diag_set(diag, err, "out of memory");
	return dp_process_ended(proc) ? 0 : err;
}

/* A site that has been taken out may have left its semaphore to another place of the tracepoint. */
static bool is_gone(const struct dp_view *view, u64 code)
{
	u32 i = 0;

	while (i < view->nr_sites && view->sites[i].addr != code)
		i++;
	return i < view->nr_sites && view->sites[i].armed == DP_SITE_GONE;
}

void dp_semaphores_forget(struct dp_process *proc)
{
	struct notes *s = read_notes(proc, proc->base);
	struct dp_view view;
	u64 i;

	if (s && s->n && dp_process_view(proc, &view))
		for (i = 0; i < s->n; i++)
			if (s->v[i].addr && is_gone(&view, s->v[i].code))
				drop_note(s, i);
	free_notes(s);
}
