// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * patched: the patched mappings, and which sites are gone.
 *
 * A patched page is a private copy. If every private page of a mapping is ours, and holds
 * once restored what the file holds, dropping the pages is the fastest and most thorough
 * way to leave. A fork child does so with one call for each mapping. The child cannot
 * check the condition, so the tool does beforehand.
 */
#include "arch/arch.h"
#include "engine/layout/arena.h"
#include "engine/text/strategy.h"
#include "engine/layout/base.h"
#include "engine/layout/site.h"
#include "engine/site/engine.h"
#include "engine/site/view.h"
#include "engine/insn/region.h"
#include "proc/attach/area.h"
#include "proc/proc.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/remote.h"
#include "proc/ptrace/stop.h"
#include "proc/attach_other.h"
#include "sym/sym.h"
#include <string.h>
#include "engine/site/internal.h"

static bool has_site(const struct dp_engine *e, const struct dp_map *m)
{
	size_t i;
	u64 addr;

	for (i = 0; dp_engine_site(e, i, &addr); i++)
		if (addr >= m->start && addr < m->end)
			return true;
	return false;
}

static struct dp_mapped text_of(const struct dp_map *m)
{
	return (struct dp_mapped){ .start = m->start,
				   .size = m->end - m->start,
				   .offset = m->offset,
				   .inode = m->inode,
				   .dev_major = m->dev_major,
				   .dev_minor = m->dev_minor };
}

/* Is it mapped as long as the process lives? The program, the text of its system calls,
 * and what these need. */
static bool stays(const struct dp_process *proc, const struct dp_map *m)
{
	const struct dp_module *module;
	size_t i;

	for (i = 0; i < proc->nr_texts; i++)
		if (proc->texts[i].start == m->start)
			return true;
	if (!strcmp(m->path, proc->exe))
		return true;
	module = proc->found ? dp_module_at(proc->found, m->start) : NULL;
	return module && dp_module_stays(proc->found, module);
}

/* Any other mapping may go at any time: each write there is preceded by a look. */
static void mark_unowned(struct dp_process *proc, const struct dp_maps *maps)
{
	const struct dp_map *m, *last = NULL;
	bool unowned = false;
	struct dp_view view;
	u32 i;

	if (!dp_process_view(proc, &view))
		return;
	for (i = 0; i < view.nr_sites; i++) {
		if (view.sites[i].watch)
			continue;
		m = dp_maps_find(maps, view.sites[i].addr);
		if (!m || m != last)
			unowned = !m || !stays(proc, m);
		last = m;
		view.sites[i].unowned = unowned && !view.sites[i].intercept;
	}
}

static const struct dp_mapped *text_around(const struct dp_arena_control *c,
					   u64 addr)
{
	u32 i;

	for (i = 0; i < dp_few(&c->nr_patched, DP_MAX_PATCHED); i++)
		if (addr - c->patched[i].start < c->patched[i].size)
			return &c->patched[i];
	return NULL;
}

/* The mapping as it was noted. */
static struct dp_map map_of(const struct dp_mapped *t)
{
	return (struct dp_map){ .start = t->start,
				.end = t->start + t->size,
				.offset = t->offset,
				.inode = t->inode,
				.dev_major = t->dev_major,
				.dev_minor = t->dev_minor };
}

static bool is_there(const struct dp_maps *maps, const struct dp_mapped *t,
		     u64 addr)
{
	const struct dp_map *m = dp_maps_find(maps, addr), was = map_of(t);

	return m && dp_origin_same(dp_map_origin(m, addr),
				   dp_map_origin(&was, addr));
}

/* Add a mapping that is not noted yet. Return: false: it held changed pages, or there is no
 * room for it. */
static bool note(struct dp_arena_control *c, pid_t pid, const struct dp_map *m)
{
	u32 n = dp_few(&c->nr_patched, DP_MAX_PATCHED);

	if (text_around(c, m->start))
		return true;
	if (n == DP_MAX_PATCHED)
		return false;
	c->patched[n] = text_of(m);
	__atomic_store_n(&c->nr_patched, n + 1, __ATOMIC_RELEASE);
	return dp_pages_untouched(pid, m);
}

/* Forget mappings that have gone, and which others may replace. */
static void forget_gone(struct dp_arena_control *c, const struct dp_maps *maps)
{
	u32 i, n = 0;

	for (i = 0; i < c->nr_patched; i++)
		if (is_there(maps, &c->patched[i], c->patched[i].start))
			c->patched[n++] = c->patched[i];
	c->nr_patched = n;
}

/* A fork child may read the list meanwhile: it then restores byte by byte. */
void dp_patched_note(struct dp_process *proc)
{
	struct dp_arena_control *c = &dp_engine_arena(proc->engine)->control;
	const struct dp_maps *maps =
		proc->found ? dp_modules_maps(proc->found) : dp_last_maps(proc);
	bool revertible = c->revertible || !c->nr_patched;
	size_t i;

	__atomic_store_n(&c->revertible, 0, __ATOMIC_SEQ_CST);
	if (!maps)
		return;
	forget_gone(c, maps);
	for (i = 0; i < maps->n; i++)
		if (maps->v[i].perms[2] == 'x' &&
		    has_site(proc->engine, &maps->v[i]))
			revertible &= note(c, proc->pid, &maps->v[i]);
	__atomic_store_n(&c->revertible, revertible, __ATOMIC_SEQ_CST);
	mark_unowned(proc, maps);
}

void dp_patched_add(struct dp_arena_control *c, pid_t pid, u64 addr)
{
	const struct dp_map *m;
	struct dp_maps maps;

	if (!c->revertible || text_around(c, addr))
		return;
	m = dp_maps_read(pid, &maps) ? NULL : dp_maps_find(&maps, addr);
	if (!m || !note(c, pid, m))
		c->revertible = 0;
	dp_maps_free(&maps);
}

/* Is the whole mapping there? While a library is being mapped, other mappings come to
 * the place of its text first; the loader event comes afterwards. */
static bool is_whole(const struct dp_maps *maps, const struct dp_mapped *t,
		     u64 addr)
{
	const struct dp_map *m = dp_maps_find(maps, addr), was = map_of(t);

	return dp_map_same(m, &was) && m->perms[2] == 'x';
}

/* @arming: sites that are off are about to be armed */
static bool mark_gone(struct dp_view *view, const struct dp_maps *maps,
		      bool arming)
{
	const struct dp_arena_control *c = &view->arena->control;
	bool any = false;
	u32 i;

	for (i = 0; i < view->nr_sites; i++) {
		struct dp_site_entry *s = &view->sites[i];
		const struct dp_mapped *t = text_around(c, s->addr);
		bool anew = arming && s->armed == DP_SITE_OFF;

		if (s->intercept || !t || s->armed == DP_SITE_GONE ||
		    (anew ? is_whole(maps, t, s->addr) :
			    is_there(maps, t, s->addr)))
			continue;
		any |= !dp_site_set_state(s, DP_SITE_GONE);
	}
	return any;
}

bool dp_patched_gone(const struct dp_process *proc, struct dp_view *view)
{
	struct dp_maps maps;
	bool any;

	if (dp_maps_read(proc->pid, &maps))
		return false;
	any = mark_gone(view, &maps, false);
	dp_maps_free(&maps);
	return any;
}

/* The next text mapping of a program or library, or of a file that looks like one. */
static const struct dp_map *next_text(const struct dp_maps *maps, size_t *i)
{
	while (*i < maps->n) {
		const struct dp_map *m = &maps->v[(*i)++];

		if (m->perms[2] == 'x' && m->inode && m->path[0] == '/' &&
		    !dp_path_is_ours(m->path))
			return m;
	}
	return NULL;
}

static bool same_patched(const struct dp_maps *a, const struct dp_maps *b)
{
	const struct dp_map *m, *n;
	size_t i = 0, k = 0;

	do {
		m = next_text(a, &i);
		n = next_text(b, &k);
		if (!m || !n)
			return m == n;
	} while (m->start == n->start &&
		 dp_origin_same(dp_map_origin(m, m->start),
				dp_map_origin(n, n->start)));
	return false;
}

/* What is where a site is to be written? Return: as dp_site_bytes(); -1: it cannot be read */
static int bytes_at(const struct dp_process *proc,
		    const struct dp_site_entry *s)
{
	u8 now[sizeof(s->orig)];

	return dp_process_read(proc, s->addr, now, dp_site_patch_len(s)) ?
		       -1 :
		       (int)dp_site_bytes(s, now);
}

/* The code of some sites was read while something else was mapped there. */
static bool mark_other(struct dp_process *proc, struct dp_view *view)
{
	bool any = false;
	u32 i;

	for (i = 0; i < view->nr_sites; i++) {
		struct dp_site_entry *s = &view->sites[i];

		if (!s->unowned || !dp_site_patch_len(s) ||
		    s->armed != DP_SITE_OFF ||
		    dp_engine_jumps_over(proc->engine, s->addr) ||
		    bytes_at(proc, s) == DP_BYTES_ORIGINAL)
			continue;
		any |= !dp_site_set_state(s, DP_SITE_GONE);
	}
	return any;
}

void dp_patched_compare(struct dp_process *proc)
{
	struct dp_view view;
	struct dp_maps maps;

	if (!dp_engine_arena(proc->engine)->control.linker_state ||
	    !dp_process_view(proc, &view) || dp_maps_read(proc->pid, &maps))
		return;
	mark_gone(&view, &maps, true);
	proc->missed |= mark_other(proc, &view) ||
			(proc->found &&
			 !same_patched(dp_modules_maps(proc->found), &maps));
	dp_maps_free(&maps);
}

/* Has an armed site its original bytes again? Then the same library has been unmapped
 * and mapped anew. */
static bool is_lost(const struct dp_process *proc,
		    const struct dp_site_entry *site)
{
	return site->armed == DP_SITE_THERE && dp_site_patch_len(site) &&
	       bytes_at(proc, site) == DP_BYTES_ORIGINAL;
}

void dp_patched_mark(const struct dp_process *proc, struct dp_view *view)
{
	u32 i;

	dp_patched_gone(proc, view);
	for (i = 0; i < view->nr_sites; i++)
		if (is_lost(proc, &view->sites[i]))
			dp_site_set_state(&view->sites[i], DP_SITE_GONE);
}

/* Neither our patch, nor a breakpoint, which may be another tracer's. */
static bool is_other(const struct dp_process *proc,
		     const struct dp_site_entry *site)
{
	u8 now[sizeof(site->orig)], n = dp_site_patch_len(site);

	if (site->armed != DP_SITE_THERE || !n)
		return dp_process_read(proc, site->addr, now, 1);
	return dp_process_read(proc, site->addr, now, n) ||
	       (now[0] != DP_BREAKPOINT &&
		dp_site_bytes(site, now) != DP_BYTES_PATCH);
}

/* Has the site's entry been the same all the while? */
static bool is_steady(const struct dp_process *proc, u64 addr,
		      const struct dp_site_entry *site)
{
	struct dp_site_entry now;

	return !dp_process_read(proc, addr, &now, sizeof(now)) &&
	       now.addr == site->addr && now.armed == site->armed &&
	       now.wanted == site->wanted && now.mode == site->mode;
}

void dp_patched_mark_live(const struct dp_process *proc, struct dp_view *view,
			  u64 arena)
{
	u64 sites = arena + (u64)((char *)view->sites - (char *)view->arena);
	u32 i;

	for (i = 0; i < view->nr_sites; i++) {
		struct dp_site_entry *s = &view->sites[i];

		if (s->addr && s->first_probe && is_other(proc, s) &&
		    is_steady(proc, sites + i * sizeof(*s), s))
			dp_site_set_state(s, DP_SITE_GONE);
	}
}

void dp_process_note_gone(struct dp_process *proc)
{
	struct dp_view view;

	if (dp_process_view(proc, &view))
		dp_patched_gone(proc, &view);
}

void dp_process_mark_gone(struct dp_process *proc)
{
	struct dp_view view;

	if (dp_process_view(proc, &view))
		dp_patched_mark(proc, &view);
}
