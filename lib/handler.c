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
#include "engine/text/target.h"

#define INSNS_MAX 1024
#define WINDOW 512
#define CACHE 64

/** struct walk - a walk through a handler's code
 * @code: bytes read last, @size bytes from @from
 */
struct walk {
	struct dp_trail trail;
	u64 from;
	size_t size;
	u8 code[WINDOW];
	enum dp_insn_state state;
	u8 xmms;
};

static struct {
	u64 handler, generation;
	u8 needs;
} cache[CACHE];

static void give_up(struct walk *w)
{
	w->state = DP_STATE_ALL;
}

/* Return: number of bytes at *@code, which are the original ones. */
static size_t look(struct walk *w, u64 addr, const u8 **code)
{
	struct dp_target *target = &dp_self.text.target;
	size_t n;

	if (addr < w->from || addr + DP_INSN_MAX > w->from + w->size) {
		w->from = addr;
		for (n = WINDOW; n; n /= 2)
			if (!target->ops->read(target, addr, w->code, n))
				break;
		w->size = n;
		dp_engine_originals(dp_self.engine, addr, w->code, n);
	}
	*code = w->code + (addr - w->from);
	return w->size - (addr - w->from);
}

static void follow(struct walk *w, u64 addr, const struct insn_facts *f)
{
	u64 to[2];
	u32 n = dp_leads(addr + f->len, f, to), i;

	if (f->class == DP_INSN_CALL_IND || (!n && f->class != DP_INSN_RET)) {
		give_up(w);
		return;
	}
	for (i = 0; i < n; i++)
		if (!dp_trail_add(&w->trail, to[i]))
			give_up(w);
}

static void step(struct walk *w, u64 addr)
{
	enum dp_insn_state state;
	struct insn_facts f;
	const u8 *code;
	u8 xmms;
	size_t n;

	n = look(w, addr, &code);
	if (!n || dp_insn_facts(code, n, &f)) {
		give_up(w);
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

	w.from = w.size = w.xmms = 0;
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
