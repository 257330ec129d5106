// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * blacklist: what may not be probed.
 *
 * Forbidden are the library itself, its mappings, and functions that modules declare with
 * NOKPROBE_SYMBOL(). Functions that handlers or the library call may be probed: a hit
 * inside a handler is recognised, and runs no handler.
 *
 * Lock: "notes" (DESIGN.md, Locks), the last in the order.
 */
#include "lib/self.h"
#include "lib/modules.h"
#include <dlfcn.h>
#include <pthread.h>

#define MODULES_MAX 256

/** struct note - what a module has said of itself */
struct note {
	const char *gpr_start, *gpr_stop;
	const void *const *start, *const *stop;
};

static struct note notes[MODULES_MAX];
static size_t nr_notes;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void dp_module_note(const void *gpr_start, const void *gpr_stop,
		    const void *const *start, const void *const *stop)
{
	size_t i;

	if (!gpr_start && !start)
		return;
	pthread_mutex_lock(&lock);
	for (i = 0; i < nr_notes; i++)
		if (notes[i].gpr_start == gpr_start && notes[i].start == start)
			break;
	if (!gpr_stop && !stop) {
		if (i < nr_notes)
			notes[i] = notes[--nr_notes];
	} else if (i < MODULES_MAX) {
		notes[i] = (struct note){ gpr_start, gpr_stop, start, stop };
		if (i == nr_notes)
			nr_notes++;
	}
	pthread_mutex_unlock(&lock);
}

void dp_notes_in_child(void)
{
	pthread_mutex_init(&lock, NULL);
}

bool dp_is_gpr(const void *handler)
{
	const char *at = handler;
	bool is = false;
	size_t i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < nr_notes && !is; i++)
		is = at >= notes[i].gpr_start && at < notes[i].gpr_stop;
	pthread_mutex_unlock(&lock);
	return is;
}

static bool note_at(size_t i, struct note *n)
{
	bool there;

	pthread_mutex_lock(&lock);
	there = i < nr_notes;
	if (there)
		*n = notes[i];
	pthread_mutex_unlock(&lock);
	return there;
}

/* A note of an unloaded module must not be read. */
static bool is_loaded(const struct note *n)
{
	u64 at = (u64)(n->start ? (const void *)n->start : n->gpr_start);
	struct dp_modules *mods = dp_symbol_map_modules(dp_self.symbols);
	size_t i;

	for (i = 0; i < dp_modules_count(mods); i++) {
		const struct dp_module *m = dp_modules_get(mods, i);

		if (at >= m->bias && at - m->text_end < (1ull << 30))
			return true;
	}
	return false;
}

static bool visit_functions(const struct note *n, dp_forbidden_fn *visit,
			    void *arg)
{
	const void *const *f;
	const char *module;
	struct dp_forbidden r;
	u64 offset;

	for (f = n->start; f && f < n->stop; f++) {
		r.start = (u64)*f;
		r.why = "it is declared with NOKPROBE_SYMBOL()";
		if (dp_symbol_map_name(dp_self.symbols, r.start, &r.name,
				       &offset, &module))
			r.name = "?";
		if (dp_function_bounds(dp_symbol_map_modules(dp_self.symbols),
				       (u64)*f, &r.start, &r.end)) {
			r.start = (u64)*f;
			r.end = r.start + 1;
		}
		if (visit(&r, arg))
			return true;
	}
	return false;
}

/* A statically linked library shares its mapping with the program, so only the agent can
 * be told apart. */
static bool find_library(struct dp_forbidden *r)
{
	const struct dp_module *m = dp_module_at(
		dp_symbol_map_modules(dp_self.symbols), (u64)find_library);
	struct dl_find_object own;

	if ((m && m->is_main) || _dl_find_object((void *)find_library, &own))
		return false;
	*r = (struct dp_forbidden){ (u64)own.dlfo_map_start,
				    (u64)own.dlfo_map_end, "libdprobes",
				    "it is the library's own code" };
	return true;
}

bool dp_blacklist_visit(dp_forbidden_fn *visit, void *arg)
{
	const struct dp_arena_control *c =
		dp_self.arena ? &dp_self.arena->control : NULL;
	struct dp_forbidden r;
	struct note n;
	size_t i;
	u32 k;

	if (find_library(&r) && visit(&r, arg))
		return true;
	r = (struct dp_forbidden){ dp_self.base, dp_self.base + DP_AGENT_TEXT,
				   "agent", "it is the engine's own code" };
	if (dp_self.base && visit(&r, arg))
		return true;
	for (k = 0; c && k < c->nr_pools; k++) {
		r = (struct dp_forbidden){ c->pools[k].start,
					   c->pools[k].start + c->pools[k].size,
					   "copies", "it is generated code" };
		if (visit(&r, arg))
			return true;
	}
	for (i = 0; note_at(i, &n); i++)
		if (is_loaded(&n) && visit_functions(&n, visit, arg))
			return true;
	return false;
}

struct search {
	u64 addr;
	const char *why;
};

static bool holds(const struct dp_forbidden *r, void *arg)
{
	struct search *s = arg;

	if (s->addr < r->start || s->addr >= r->end)
		return false;
	s->why = r->why;
	return true;
}

const char *dp_blacklisted(u64 addr)
{
	struct search s = { .addr = addr };

	/* The engine never calls this function, and modules look it up with a kprobe. */
	if (addr == (u64)dp_compat_kallsyms_lookup_name)
		return NULL;
	dp_blacklist_visit(holds, &s);
	return s.why;
}
