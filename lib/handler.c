// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * handler: find the registers to save around a handler.
 *
 * Most handlers touch a counter or a table. To save all vector registers costs several
 * times as much as such a handler. So a handler's code, and all that it calls, is examined
 * at registration. If it jumps or calls through a pointer or the PLT, all are saved.
 */
#include "lib/follow.h"
#include "lib/leads.h"
#include "lib/self.h"
#include "resolve/reach.h"

#define INSNS_MAX 1024
#define CACHE 64

/** struct walk - a walk through a handler's code */
struct walk {
	struct dp_trail trail;
	enum dp_insn_state state;
	u8 xmms;
};

static struct {
	u64 handler, generation;
	u8 needs;
	u32 spares;
} cache[CACHE];

static void follow(struct walk *w, u64 addr, const struct insn_facts *f)
{
	u64 to[2];
	u32 n = dp_leads(addr + f->len, f, to), i;

	if (f->class == DP_INSN_CALL_IND || (!n && f->class != DP_INSN_RET)) {
		w->state = DP_STATE_ALL;
		return;
	}
	for (i = 0; i < n; i++)
		if (!dp_trail_add(&w->trail, to[i]))
			w->state = DP_STATE_ALL;
}

static size_t fetch(void *arg, u64 addr, u8 *code, size_t size)
{
	struct dp_reach_reader text = { .target = &dp_self.text.target,
					.engine = dp_self.engine };

	return dp_reach_fetch(&text, addr, code, size);
}

static void step(struct walk *w, u64 addr)
{
	enum dp_insn_state state;
	struct insn_facts f;
	u8 code[DP_INSN_MAX], xmms;
	size_t n = fetch(NULL, addr, code, sizeof(code));

	if (!n || dp_insn_facts(code, n, &f)) {
		w->state = DP_STATE_ALL;
		return;
	}
	if (dp_leads_nowhere(code, &f))
		return;
	state = dp_insn_state(code, n, &xmms);
	if (xmms > w->xmms)
		w->xmms = xmms;
	if (state > w->state)
		w->state = state;
	if (w->state < DP_STATE_ALL)
		follow(w, addr, &f);
}

static u8 examine(u64 handler)
{
	static struct walk w;
	u64 addr;

	w.xmms = 0;
	w.state = DP_STATE_GENERAL;
	dp_trail_begin(&w.trail, INSNS_MAX);
	dp_trail_add(&w.trail, handler);
	while (w.state < DP_STATE_ALL && dp_trail_next(&w.trail, &addr))
		step(&w, addr);
	if (w.state == DP_STATE_GENERAL || w.state == DP_STATE_ALL)
		return (u8)w.state;
	return (u8)(w.state | (w.xmms > 8 ? DP_STATE_XMM16 :
			       w.xmms > 4 ? DP_STATE_XMM8 :
					    0));
}

/* What is known of a handler: its place in the cache. */
static u32 look_up(u64 handler)
{
	static const struct dp_follow_text text = { .fetch = fetch };
	u64 generation = dp_symbol_map_generation(dp_self.symbols);
	u32 i = dp_site_hash(handler) % CACHE;

	if (cache[i].handler == handler && cache[i].generation == generation)
		return i;
	cache[i].handler = handler;
	cache[i].generation = generation;
	cache[i].needs = examine(handler);
	cache[i].spares = ~dp_follow(&text, handler);
	return i;
}

u8 dp_handler_needs(const void *handler)
{
	if (!handler || dp_is_gpr(handler))
		return DP_STATE_GENERAL;
	return cache[look_up((u64)handler)].needs;
}

u32 dp_handler_spares(const void *handler)
{
	return handler ? cache[look_up((u64)handler)].spares : 0;
}
