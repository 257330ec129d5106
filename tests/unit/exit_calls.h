/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* exit_calls: functions whose calls are tracked to their exits, in a world in memory; what is
 * logged of them is read from the ring. */
#ifndef DP_TEST_EXIT_CALLS_H
#define DP_TEST_EXIT_CALLS_H

#include <string.h>
#include "engine/hit/hit.h"
#include "engine/instance/exits.h"
#include "arch/arch.h"
#include "port/fake/hit/world.h"
#include "engine/insn/class.h"
#include "engine/layout/base.h"
#include "engine/layout/block.h"
#include "engine/layout/site.h"
#include "engine/layout/ring.h"
#include "engine/layout/instance.h"
#include "engine/vm/vm.h"

#define LINES 16
#define STAGED 16
#define ABORT 0x0b

/* Functions, by the probe at their entry; each one's exit follows it. The last
 * ones are an exit of none of them, and an unwinder. */
enum {
	PLAIN,
	PLAIN_EXIT,
	LOGS,
	LOGS_EXIT,
	OTHER,
	SHARED_EXIT,
	NOBODYS_EXIT,
	UNWINDER,
	PROBES
};

/* push 0x77; log 1; exit */
static const u8 logs[] = { 0x4c, 0x77, 0, 0, 0, 0, 0, 0, 0, 0x1b, 1, 0, 0x0d };
static const u8 logged[] = { DP_ITEM_ELEMENTS, 1, 0, 0x77 };

static struct dp_leaving told;
static struct dp_record told_head;
static u8 told_log[64];
static u32 nr_told;

static inline void hear(void)
{
	const struct dp_record *r;

	while ((r = dp_fake_record())) {
		told_head = *r;
		memcpy(&told, r + 1, sizeof(told));
		memcpy(told_log, (char *)(r + 1) + sizeof(told),
		       r->len - sizeof(told));
		nr_told++;
	}
}

static inline struct dp_probe_entry *probe_at(u32 i)
{
	return (struct dp_probe_entry *)dp_probe(i);
}

static inline void make_function(u32 enter, u32 exit, u32 way)
{
	dp_fake_probe(enter, 0, DP_KIND_ENTER);
	dp_fake_probe(exit, 0, DP_KIND_EXIT)->group = enter;
	probe_at(exit)->way = way;
}

static inline int setup(void **state)
{
	struct dp_site_entry *branch;

	dp_fake_begin(DP_CAUGHT_JUMPS);
	branch = dp_fake_site(0, 0x401000);
	branch->class = DP_INSN_JCC;
	branch->cc = 4; /* equal */
	dp_fake_instances(LINES, STAGED);
	dp_arena.control.tail_target = 1;
	make_function(PLAIN, PLAIN_EXIT, 0);
	make_function(LOGS, LOGS_EXIT, 0);
	make_function(OTHER, SHARED_EXIT, DP_WAY_SHARED);
	/* Functions have entries of their own. */
	probe_at(PLAIN)->site = 1;
	probe_at(OTHER)->site = 2;
	probe_at(LOGS)->way = DP_WAY_LOGS;
	dp_fake_program(LOGS, logs, sizeof(logs));
	dp_fake_probe(NOBODYS_EXIT, 0, DP_KIND_EXIT);
	dp_fake_probe(UNWINDER, 0, DP_KIND_UNWIND)->way = DP_WAY_UNTIL_CX;
	nr_told = 0;
	return 0;
}

#define BLOCKS 16

/* The same with blocks */
static inline int setup_blocks(void **state)
{
	setup(state);
	dp_fake_blocks(BLOCKS);
	return 0;
}

static inline u64 tally(u32 probe, enum dp_tally what)
{
	return dp_probe_state(probe)->tally[what];
}

/* A thread whose return address is at @slot; the word there is readable. */
static inline struct dp_hit at_slot(struct dp_mcontext *regs, u64 *slot)
{
	struct dp_hit hit = { .mc = regs, .sp = (u64)slot };

	memset(regs, 0, sizeof(*regs));
	hit.low = (u64)slot;
	hit.high = (u64)(slot + 1);
	return hit;
}

static inline void enter(u32 function, u64 *slot)
{
	struct dp_mcontext regs;
	struct dp_hit hit = at_slot(&regs, slot);

	dp_exit_instance_begin(function, dp_site_at(0), &hit);
	hear();
}

static inline void leave(u32 exit, u64 *slot, u64 value)
{
	struct dp_mcontext regs;
	struct dp_hit hit = at_slot(&regs, slot);

	regs.rax = value;
	dp_exit_instance_end(exit, dp_site_at(0), &hit);
	hear();
}

static inline struct dp_instance_line *lines_of(u32 table)
{
	return (void *)dp_arena.control.instance_tables[table].lines;
}

static inline u32 in_table(u32 table)
{
	u32 lines = dp_arena.control.instance_tables[table].line_mask + 1;
	u32 n = 0, i, way;

	for (i = 0; i < lines; i++)
		for (way = 0; way < DP_INSTANCE_WAYS; way++)
			n += lines_of(table)[i].key[way] != 0;
	return n;
}

static inline struct dp_exit_instance *block_word(u32 i)
{
	return (void *)((char *)dp_at(dp_arena.control.blocks_off) +
			i * dp_arena.control.instance_stride);
}

static inline u32 in_blocks(void)
{
	u32 n = 0, i;

	for (i = 0; dp_arena.control.block_mask && i < BLOCKS * DP_BLOCK_WORDS;
	     i++)
		n += block_word(i)->group != 0;
	return n;
}

static inline u32 in_use(void)
{
	u32 n = in_blocks(), t;

	for (t = 0; t < dp_arena.control.nr_instance_tables; t++)
		n += in_table(t);
	return n;
}

static inline u64 displaced(void)
{
	u64 n = 0;
	u32 i, t;

	for (t = 0; t < dp_arena.control.nr_instance_tables; t++)
		for (i = 0; i <= dp_arena.control.instance_tables[t].line_mask;
		     i++)
			n += lines_of(t)[i].displaced;
	return n;
}

/* The stack pointer is to be behind @until. */
static inline void unwind(u64 *from, u64 *until)
{
	struct dp_mcontext regs;
	struct dp_hit hit = at_slot(&regs, from);

	regs.rcx = (u64)until;
	dp_exit_instance_unwind(UNWINDER, &hit);
	hear();
}

#endif
