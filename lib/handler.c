// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * handler: find the registers to save around a handler.
 *
 * Most handlers touch a counter or a table. To save all vector registers costs several
 * times as much as such a handler. So a handler's code, and all that it calls, is examined
 * at registration. If it jumps or calls through a pointer or the PLT, all are saved.
 */
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

static void step(struct walk *w, u64 addr)
{
	struct dp_reach_reader text = { .target = &dp_self.text.target,
					.engine = dp_self.engine };
	enum dp_insn_state state;
	struct insn_facts f;
	u8 code[DP_INSN_MAX], xmms;
	size_t n = dp_reach_fetch(&text, addr, code, sizeof(code));

	if (!n || dp_insn_facts(code, n, &f)) {
		w->state = DP_STATE_ALL;
		return;
	}
	/* ud2, where the compiler knows that control does not come. */
	if (f.class == DP_INSN_REFUSED && code[0] == 0x0f && code[1] == 0x0b)
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

u8 dp_handler_needs(const void *handler)
{
	u64 addr = (u64)handler;
	u64 generation = dp_symbol_map_generation(dp_self.symbols);
	u32 i = dp_site_hash(addr) % CACHE;

	if (!handler || dp_is_gpr(handler))
		return DP_STATE_GENERAL;
	if (cache[i].handler != addr || cache[i].generation != generation) {
		cache[i].handler = addr;
		cache[i].generation = generation;
		cache[i].needs = examine(addr);
	}
	return cache[i].needs;
}
