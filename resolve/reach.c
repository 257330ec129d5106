// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* reach: how many bytes a jump may displace, and which of them others jump to. */
#include "resolve/reach.h"
#include "resolve/code.h"
#include "engine/site/live.h"
#include "engine/site/reach.h"
#include <stdlib.h>
#include <string.h>
#include "sym/list.h"

/* The largest function that is read whole. */
#define FUNCTION_MAX (16u << 20)

static int read_rseq(struct dp_reach_reader *g, u64 addr)
{
	const struct dp_module *m = dp_module_at(g->mods, addr);
	int err;

	if (m == g->module)
		return 0;
	free(g->rseq);
	g->rseq = NULL;
	g->nr_rseq = 0;
	err = m ? dp_module_rseq(g->mods, m, &g->rseq, &g->nr_rseq) : 0;
	g->module = err ? NULL : m;
	return err;
}

int dp_reach_in_rseq(struct dp_reach_reader *g, u64 addr)
{
	size_t i;
	int err = read_rseq(g, addr);

	for (i = 0; i < g->nr_rseq && !err; i++)
		err = addr >= g->rseq[i].start && addr < g->rseq[i].end;
	return err;
}

static void mend(struct dp_reach_reader *g, u64 addr, u8 *code, size_t size)
{
	if (g->engine && size)
		dp_engine_originals(g->engine, addr, code, size);
}

size_t dp_reach_fetch(struct dp_reach_reader *g, u64 addr, u8 *code,
		      size_t size)
{
	if (g->source)
		return dp_code_read(g->source, addr, code, size);
	while (size && g->target->ops->read(g->target, addr, code, size))
		size--;
	mend(g, addr, code, size);
	return size;
}

size_t dp_reach_read(struct dp_reach_reader *g, u64 addr, u8 *code, size_t size)
{
	u64 at = addr - g->start;

	if (g->source || !g->code || at >= g->size)
		return dp_reach_fetch(g, addr, code, size);
	if (size > g->size - at)
		size = g->size - at;
	memcpy(code, g->code + at, size);
	return size;
}

bool dp_reach_enter(struct dp_reach_reader *g, u64 start, u64 end)
{
	size_t want = end - start + 2 * DP_REGION_MAX;
	ssize_t n;

	if (g->code && g->start == start && g->end == end)
		return g->size >= end - start;
	g->branched = 0;
	free(g->code);
	g->code = want <= FUNCTION_MAX ? malloc(want) : NULL;
	n = g->code ? dp_modules_read(g->mods, start, g->code, want) : -1;
	g->size = n > 0 ? (size_t)n : 0;
	mend(g, start, g->code, g->size);
	g->start = start;
	g->end = end;
	return g->size >= end - start;
}

/* Bytes of nops from @at on that belong to no function. */
static u64 padding(struct dp_reach_reader *g, u64 at, u64 enough)
{
	u64 from = at, start, end;
	struct insn_facts f;

	while (at < enough && at - g->start < g->size &&
	       dp_function_bounds(g->mods, at, &start, &end)) {
		const u8 *code = g->code + (at - g->start);

		if (dp_insn_facts(code, g->size - (at - g->start), &f) ||
		    !dp_insn_is_nop(code, f.len))
			break;
		at += f.len;
	}
	return at - from;
}

/* A function is decoded once, not for each of its probes. */
static bool find_entries(struct dp_reach_reader *g, u64 end)
{
	size_t size = end - g->start;

	if (g->branched == end)
		return true;
	free(g->entries.v);
	g->branched = 0;
	g->entries.v = malloc((size / 2 + 1) * sizeof(u64));
	if (!g->entries.v)
		return false;
	dp_entries_find(&g->entries, g->code, size, g->start);
	qsort(g->entries.v, g->entries.n, sizeof(u64), dp_list_order);
	g->branched = end;
	return true;
}

/* The end of the room at @addr: a restartable sequence cuts @limit. */
static u64 before_rseq(const struct dp_reach_reader *g, u64 addr, u64 limit)
{
	size_t i;

	for (i = 0; i < g->nr_rseq; i++)
		if (g->rseq[i].start > addr && g->rseq[i].start < limit)
			limit = g->rseq[i].start;
	return limit;
}

/* May the probe's jump be written with breakpoints inside, where jumps of quiesce have none? The tool has
 * that for exits alone: a loop that begins at an entry comes there more often than the function is called. */
static bool may_break(const struct dp_reach_reader *g,
		      const struct dp_engine *e, u32 probe)
{
	return g->arming == DP_ARM_QUIESCE && !e->own && !e->signal_free &&
	       e->probes[probe].kind == DP_KIND_EXIT;
}

/* Why threads may come to the middle of a jump at @addr, or NULL */
static const char *find_arrivals(struct dp_reach_reader *g, u64 addr)
{
	if (g->mapped != g->module) {
		dp_code_map_close(g->map);
		g->map = NULL;
		g->mapped = g->module;
		if (g->module &&
		    dp_code_map_open(g->mods, g->module, &g->map, NULL))
			g->map = NULL;
	}
	if (!g->map)
		return "its module's code cannot be mapped out";
	if (dp_code_map_unresolved(g->map, addr))
		return "its function has branches whose targets are not known";
	if (dp_code_map_target(g->map, addr, addr + DP_JUMP_SIZE, NULL))
		return "branches arrive in the bytes that a jump needs";
	return NULL;
}

/* Why quiesce cannot put a jump at @addr, or NULL. @arrive: set if threads may come to its middle */
static const char *arrivals(struct dp_reach_reader *g, u64 addr,
			    bool may_arrive, bool *arrive)
{
	const char *why = g->arming == DP_ARM_QUIESCE ? find_arrivals(g, addr) :
							NULL;

	*arrive = why && may_arrive;
	return *arrive ? NULL : why;
}

void dp_reach_allow(struct dp_reach_reader *g, struct dp_engine *engine,
		    u32 probe, u64 addr)
{
	u64 start, end, limit, next_start, next_end;
	bool interior = g->arming == DP_ARM_INTERIOR, arrive = false;
	struct dp_reach reach;
	const char *why;

	if (g->never)
		why = g->never;
	else if (read_rseq(g, addr))
		why = "its module's restartable sequences cannot be read";
	else
		why = arrivals(g, addr, may_break(g, engine, probe), &arrive);
	interior |= arrive;
	if (!why && (dp_function_bounds(g->mods, addr, &start, &end) ||
		     !dp_reach_enter(g, start, end)))
		why = "nothing is known of the function around it";
	if (why) {
		dp_engine_forbid_jump(engine, probe, why);
		return;
	}
	limit = end + padding(g, end, addr + DP_REGION_MAX);
	/* The next function's instructions in the region keep breakpoints. */
	if (limit - addr < DP_JUMP_SIZE && interior && limit == end &&
	    !dp_function_bounds(g->mods, end, &next_start, &next_end) &&
	    next_start == end && dp_reach_enter(g, start, next_end))
		limit = end = next_end;
	if (!find_entries(g, end)) {
		dp_engine_forbid_jump(engine, probe, "out of memory");
		return;
	}
	reach = (struct dp_reach){ .start = start,
				   .code = g->code,
				   .size = g->size,
				   .function = end - start,
				   .entries = g->entries,
				   .room = before_rseq(g, addr, limit) - addr,
				   .arrivals = arrive };
	dp_engine_allow_jump(engine, probe, &reach);
}

void dp_reach_allow_live(struct dp_reach_reader *g, u32 probe, u64 addr)
{
	if (!dp_live_is_new(g->engine, probe))
		return;
	if (g->arming == DP_ARM_TRAP)
		dp_engine_forbid_jump(g->engine, probe,
				      "breakpoints were asked for");
	else
		dp_reach_allow(g, g->engine, probe, addr);
}

bool dp_reach_x87(struct dp_reach_reader *g, u64 addr)
{
	u64 start, end;
	struct insn_facts f;
	size_t at;

	if (dp_function_bounds(g->mods, addr, &start, &end) ||
	    !dp_reach_enter(g, start, end))
		return true;
	if (addr == start)
		return false;
	for (at = 0; at < end - start; at += f.len)
		if (dp_insn_facts(g->code + at, g->size - at, &f) ||
		    dp_insn_is_x87(g->code + at, &f))
			return true;
	return false;
}

void dp_reach_reader_close(struct dp_reach_reader *g)
{
	free(g->code);
	free(g->entries.v);
	free(g->rseq);
	dp_code_map_close(g->map);
}
