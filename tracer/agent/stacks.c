// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * stacks: have hits walk the stacks of their threads, and know the code that is mapped for that.
 *
 *   module's file ─► rules ─► struct code, once for each file ─► the engine's tables
 *   modules now   ─► where each code is ─► the engine's map, anew at each loader event
 *
 * The agent is one of them: a signal may come while a thread is in it.
 */
#include "engine/site/backtrace.h"
#include "engine/site/engine.h"
#include "proc/frames.h"
#include "sym/rules.h"
#include "sym/sym.h"
#include "sym/list.h"
#include "tracer/agent/agent.h"
#include "tracer/stacks.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Room for the rules of libraries that come: of some thirty. Only what is used takes memory. */
#define SPARE (4u << 20)
#define RANGE_BYTES 6
/* Frames of different stacks */
#define NODES 200000

/** struct code - the rules of a file's code, from its first executable address on
 *  @size: of its executable mappings; @number: in the engine, if it is @added */
struct code {
	struct dp_origin origin;
	u64 size;
	u32 *ranges, *which, nr, nr_rules, number;
	struct dp_rule *rules;
	bool added;
};

/** struct dp_agent_stacks - the code that has been seen
 *  @agent: the agent's; @mods: where it was last, for names; NULL: where it was at first */
struct dp_agent_stacks {
	struct code *v, agent;
	size_t n, room;
	struct dp_modules *mods;
};

static struct dp_origin origin_of(struct dp_modules *mods,
				  const struct dp_module *m)
{
	return dp_map_origin(dp_maps_find(dp_modules_maps(mods), m->text_start),
			     m->text_start);
}

static struct code *find(struct dp_agent_stacks *s, struct dp_modules *mods,
			 const struct dp_module *m)
{
	struct dp_origin origin = origin_of(mods, m);
	size_t i;

	for (i = 0; i < s->n; i++)
		if (dp_origin_same(s->v[i].origin, origin) &&
		    s->v[i].size == m->text_end - m->text_start)
			return &s->v[i];
	return NULL;
}

static void free_code(struct code *c)
{
	free(c->ranges);
	free(c->which);
	free(c->rules);
}

/* @code: where the code is in the file. What begins before it counts from its begin. */
static void put_range(struct code *c, u64 code,
		      const struct dp_rule_range *range)
{
	u64 at = range->start < code ? 0 : range->start - code;

	if (at >= c->size)
		return;
	if (c->nr && c->ranges[c->nr - 1] == at)
		c->nr--;
	c->ranges[c->nr] = (u32)at;
	c->which[c->nr++] = range->which;
}

static int convert(struct code *c, u64 code, struct dp_rules *rules)
{
	size_t i;

	c->ranges = calloc(rules->n + 1, sizeof(*c->ranges));
	c->which = calloc(rules->n + 1, sizeof(*c->which));
	if (!c->ranges || !c->which)
		return -ENOMEM;
	for (i = 0; i < rules->n; i++)
		put_range(c, code, &rules->v[i]);
	c->rules = rules->rule;
	c->nr_rules = (u32)rules->nr_rules;
	rules->rule = NULL;
	return 0;
}

/* Code without rules, or too large for them, ends walks. */
static int read_code(struct dp_agent_stacks *s, struct dp_modules *mods,
		     const struct dp_module *m)
{
	struct code c = { .origin = origin_of(mods, m),
			  .size = m->text_end - m->text_start };
	struct dp_rules rules;
	int err;

	if (c.size > UINT32_MAX)
		return 0;
	err = dp_module_rules(mods, m, &rules);
	if (err)
		return err == -ENOMEM ? err : 0;
	err = convert(&c, m->text_start - m->bias, &rules) ?:
							     dp_list_push(s, &c);
	dp_rules_free(&rules);
	if (err)
		free_code(&c);
	return err;
}

static int read_all(struct dp_agent_stacks *s, struct dp_modules *mods)
{
	size_t i;
	int err = 0;

	for (i = 0; i < dp_modules_count(mods) && !err; i++)
		if (!find(s, mods, dp_modules_get(mods, i)))
			err = read_code(s, mods, dp_modules_get(mods, i));
	return err;
}

/* Of the agent, which is not in a module */
static int read_agent(struct dp_agent_stacks *s)
{
	const struct dp_agent_frames f = dp_attach_frames();
	struct code *c = &s->agent;
	struct dp_rules rules;
	int err;

	if (c->ranges)
		return 0;
	c->size = f.text;
	err = dp_rules_of(&rules, f.data, f.len, f.vaddr);
	if (err)
		return err;
	err = convert(c, 0, &rules);
	dp_rules_free(&rules);
	return err;
}

static void add(struct dp_engine *e, struct code *c)
{
	const struct dp_backtrace_code code = { c->ranges, c->which, c->nr,
						c->rules, c->nr_rules };

	if (!c->added && c->ranges)
		c->added = !dp_engine_add_code(e, &code, &c->number);
}

static void add_all(struct dp_agent *a)
{
	struct dp_agent_stacks *s = a->stacks;
	size_t i;

	add(a->engine, &s->agent);
	for (i = 0; i < s->n; i++)
		add(a->engine, &s->v[i]);
}

static int by_start(const void *a, const void *b)
{
	const struct dp_backtrace_place *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Modules whose mappings are among those of another one have no place of their own. */
static u32 apart(struct dp_backtrace_place *v, u32 nr)
{
	u32 i, n = 0;

	qsort(v, nr, sizeof(*v), by_start);
	for (i = 0; i < nr; i++)
		if (!n || v[i].start >= v[n - 1].end)
			v[n++] = v[i];
	return n < DP_BACKTRACE_MODULES ? n : DP_BACKTRACE_MODULES;
}

static void map_all(struct dp_agent *a, struct dp_modules *mods)
{
	size_t all = dp_modules_count(mods), i;
	struct dp_backtrace_place *v = calloc(all + 1, sizeof(*v));
	const struct code *c = &a->stacks->agent;
	u64 base = dp_engine_agent(a->engine);
	const struct dp_module *m;
	u32 n = 0;

	if (v && c->added && base)
		v[n++] = (struct dp_backtrace_place){ base, base + c->size,
						      c->number };
	for (i = 0; v && i < all; i++) {
		m = dp_modules_get(mods, i);
		c = find(a->stacks, mods, m);
		if (c && c->added)
			v[n++] = (struct dp_backtrace_place){ m->text_start,
							      m->text_end,
							      c->number };
	}
	/* Without memory walks end everywhere. */
	dp_engine_map_code(a->engine, v, v ? apart(v, n) : 0);
	free(v);
}

static void begin(void *arg)
{
	struct dp_agent *a = arg;
	size_t i;

	for (i = 0; i < a->stacks->n; i++)
		a->stacks->v[i].added = false;
	a->stacks->agent.added = false;
	add_all(a);
	map_all(a, a->source.mods);
}

static int walk(struct dp_source *source)
{
	struct dp_agent *a = dp_agent_of(source);
	u64 bytes;
	size_t i;
	int err;

	if (a->stacks)
		return 0;
	a->stacks = calloc(1, sizeof(*a->stacks));
	err = a->stacks ? read_agent(a->stacks) ?:
			  read_all(a->stacks, source->mods) :
			  -ENOMEM;
	bytes = err ? 0 : SPARE + (a->stacks->agent.nr + 1) * RANGE_BYTES;
	for (i = 0; !err && i < a->stacks->n; i++)
		bytes += (u64)a->stacks->v[i].nr * RANGE_BYTES + RANGE_BYTES;
	return err ?: dp_engine_walk_stacks(a->engine, bytes, NODES, begin, a);
}

static u32 get(const struct dp_source *source, u32 number,
	       u64 frames[DP_BACKTRACE_FRAMES], enum dp_backtrace_end *end)
{
	return dp_engine_backtrace(dp_agent_of(source)->engine, number, frames,
				   end);
}

static struct dp_modules *modules(const struct dp_source *source)
{
	const struct dp_agent *a = dp_agent_of((struct dp_source *)source);

	return a->stacks && a->stacks->mods ? a->stacks->mods : source->mods;
}

const struct dp_source_stacks dp_agent_stacks = {
	.walk = walk,
	.get = get,
	.modules = modules,
};

/* Where the code is now. Return: false: that is not known. */
static bool find_modules(struct dp_agent *a)
{
	struct dp_diag diag = { .text = "" };
	struct dp_modules *mods;

	if (!a->stacks)
		a->stacks = calloc(1, sizeof(*a->stacks));
	if (!a->stacks || a->source.ops->modules(&a->source, &mods, &diag))
		return false;
	dp_modules_close(a->stacks->mods);
	a->stacks->mods = mods;
	return true;
}

/* A fork child's engine walks, too, with the rules of its parent's. */
void dp_agent_stacks_look(struct dp_agent *a)
{
	if (!dp_engine_walks(a->engine))
		return;
	if (!find_modules(a)) {
		dp_engine_map_code(a->engine, NULL, 0);
		return;
	}
	read_agent(a->stacks);
	read_all(a->stacks, a->stacks->mods);
	add_all(a);
	map_all(a, a->stacks->mods);
}

void dp_agent_stacks_fork(struct dp_agent *child)
{
	if (dp_engine_walks(child->engine))
		find_modules(child);
}

void dp_agent_stacks_close(struct dp_agent *a)
{
	size_t i;

	for (i = 0; a->stacks && i < a->stacks->n; i++)
		free_code(&a->stacks->v[i]);
	if (a->stacks) {
		free_code(&a->stacks->agent);
		dp_modules_close(a->stacks->mods);
		free(a->stacks->v);
	}
	free(a->stacks);
}
