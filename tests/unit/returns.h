/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* returns: calls that are tracked through stubs, in a world in memory: they are made at slots,
 * and return from there. */
#ifndef DP_TEST_RETURNS_H
#define DP_TEST_RETURNS_H

#include <string.h>
#include "engine/hit/hit.h"
#include "engine/hit/call.h"
#include "engine/instance/instance.h"
#include "engine/instance/retprobe.h"
#include "arch/arch.h"
#include "port/fake/hit/world.h"
#include "port.h"
#include "engine/insn/callout.h"
#include "engine/layout/base.h"
#include "engine/layout/arena.h"
#include "engine/layout/site.h"
#include "engine/layout/instance.h"
#include "engine/layout/handler.h"

#define AT 0x401000ull
#define DETOUR 0x7000000ull
#define HOME 0x404000ull /* + n: where the call at slot n returns to */
#define STUBS 32
#define SLOTS 64
#define BELOW 512 /* words, where signals write */
#define DATA 16
#define CANARY 0x7777777777777777ull

static struct dp_site_entry *site;
static struct dp_frames *stubs;
static struct dp_stack *stack;
static u64 slots[BELOW + SLOTS + 8];

static struct {
	u32 entries, returns;
	u64 instance, addr, ip, sp, now, task, data, alt_size;
	u64 order[8];
	struct dp_stack stack;
} seen;
static u32 veto;

static inline u32 entry(struct dp_instance *ri, struct dp_regs *regs)
{
	seen.entries++;
	seen.instance = (u64)ri;
	seen.addr = ri->ret_addr;
	seen.now = *(u64 *)regs->sp;
	seen.task = ri->task;
	seen.data = *(u64 *)(ri + 1) | ((u64 *)(ri + 1))[1];
	*(u64 *)(ri + 1) = 5;
	return veto;
}

static inline u32 handler(struct dp_instance *ri, struct dp_regs *regs)
{
	u64 sp;

	seen.order[seen.returns++ % 8] = (u64)ri;
	seen.instance = (u64)ri;
	seen.ip = regs->ip;
	seen.sp = regs->sp;
	seen.data = *(u64 *)(ri + 1);
	seen.stack = *dp_stack_known();
	dp_port_altstack(&sp, &seen.alt_size);
	return 0;
}

static inline int begin(void **state)
{
	u32 i;

	dp_fake_begin(DP_CAUGHT);
	dp_arena.control.own_process = 1;
	dp_fake_stacks();
	stubs = dp_fake_frames(STUBS);
	site = dp_fake_site(0, AT);
	site->calls = 1;
	site->single = site->copy;
	dp_fake_jump(site)->base = DETOUR;
	dp_fake_jump(site)->insn[0] = 24;
	memset(&seen, 0, sizeof(seen));
	memset(slots, 0, sizeof(slots));
	for (i = 0; i < SLOTS; i++)
		slots[i + BELOW] = HOME + i;
	veto = 0;
	stack = dp_stack_mine();
	return 0;
}

static inline struct dp_instance_pool *follow(u32 probe, u32 n)
{
	struct dp_instance_pool *f;
	u32 i;

	dp_fake_probe(probe, 0, DP_KIND_RETURN);
	f = dp_fake_instance_pool(probe, n);
	f->entry = (u64)entry;
	f->handler = (u64)handler;
	f->user = 60 + probe;
	f->data_size = DATA;
	for (i = 0; i < n; i++) {
		u64 *data = (u64 *)(dp_instance_at(f, i) + 1);

		dp_instance_at(f, i)->user = f->user;
		data[0] = data[1] = data[2] = CANARY;
	}
	return f;
}

static u64 *slot(u32 i)
{
	return &slots[i + BELOW];
}

/* The function is entered with its return address at a slot. Through its breakpoint. */
static inline void call(u32 i)
{
	dp_fake_regs()->rsp = (u64)slot(i);
	dp_fake_breakpoint(AT);
}

static inline bool is_stubs(u64 addr)
{
	return addr - DP_FAKE_STUBS < STUBS * DP_STUB_SIZE &&
	       (addr - DP_FAKE_STUBS) % DP_STUB_SIZE == DP_STUB_BACK;
}

static inline u64 number(u32 i)
{
	return (*slot(i) - DP_FAKE_STUBS) / DP_STUB_SIZE;
}

static inline struct dp_frame *frame_of(u32 i)
{
	return dp_stub_frame(number(i));
}

/* As a stub and entry.S leave a return from a slot. */
static inline struct dp_returned *returned(u32 i)
{
	struct dp_returned *at = (void *)((u64)(slot(i) + 1) - sizeof(*at));

	at->back = number(i);
	return at;
}

/* Return: where the thread goes on. */
static inline u64 come_back(u32 i)
{
	struct dp_returned *at = returned(i);

	dp_return_hit(at);
	return at->back;
}

static inline u64 entered(const struct dp_instance_pool *f)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < f->nr; i++)
		sum += dp_instance_entered(dp_instance_at(f, i));
	return sum;
}

static inline u64 ended(const struct dp_instance_pool *f, enum dp_call_end how)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < f->nr; i++)
		sum += dp_instance_ended(dp_instance_at(f, i), how);
	return sum;
}

static inline u32 used(const struct dp_instance_pool *f)
{
	u32 i, n = 0;

	for (i = 0; i < f->nr; i++)
		n += !!dp_instance_at(f, i)->used;
	return n;
}

static inline u32 missed(const struct dp_instance_pool *f)
{
	return *(u32 *)f->nmissed;
}

#endif
