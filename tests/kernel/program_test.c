// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* program_test: programs at probes of the kernel's functions, and the records that they make. */
#include <dprobes/kprobes.h>
#include "arch/arch.h"
#include "kmod/session.h"
#include "tests/kernel/assemble.h"
#include "tests/kernel/test.h"
#include <linux/delay.h>
#include <linux/gcd.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#define CALLS 3000

static unsigned long (*volatile call_gcd)(unsigned long, unsigned long) = gcd;

static void push_register(struct dp_asm *c, u16 reg)
{
	dp_asm_op16(c, DP_OPCODE_PUSH_R, reg);
}

/* Counts, and records both arguments and what the stack pointer points to: where the call returns to */
static void write_on_gcd(struct dp_asm *c)
{
	dp_asm_op16(c, DP_OPCODE_INC_LV_I, 0);
	push_register(c, DP_ASM_RDI);
	push_register(c, DP_ASM_RSI);
	dp_asm_op16(c, DP_OPCODE_LOG_I, 2);
	dp_asm_read(c, DP_ASM_RSP, 0);
	dp_asm_op16(c, DP_OPCODE_LOG_I, 1);
	dp_asm_op(c, DP_OPCODE_EXIT);
}

/* Reads where nothing is, but could be */
static void write_on_nothing(struct dp_asm *c)
{
	dp_asm_op16(c, DP_OPCODE_INC_LV_I, 1);
	dp_asm_op64(c, DP_OPCODE_PUSH, 0xfffffffffffff000);
	dp_asm_op(c, DP_OPCODE_PUSH_MEM_U64);
	dp_asm_op16(c, DP_OPCODE_LOG_I, 1);
	dp_asm_op(c, DP_OPCODE_EXIT);
}

/* Counts only */
static void write_on_tick(struct dp_asm *c)
{
	dp_asm_op16(c, DP_OPCODE_INC_LV_I, 0);
	push_register(c, DP_ASM_RSP);
	dp_asm_op16(c, DP_OPCODE_LOG_I, 1);
	dp_asm_op(c, DP_OPCODE_EXIT);
}

static int add(const void *function, void (*write)(struct dp_asm *c),
	       u32 *probe, u32 *program)
{
	static struct dp_asm c;
	static const u32 start;
	struct dp_program_spec spec = { .name = "kernel",
					.code = c.bytes,
					.starts = &start,
					.nr_starts = 1,
					.nr_lv = 2,
					.jmpmax = 100,
					.logmax = 64,
					.stack = 32 };
	struct dp_binding binding = { .major = 3, .minor = 7, .maxhits = ~0u };
	const char *why = NULL;
	u32 offset;
	int err;

	c.n = 0;
	write(&c);
	spec.code_len = c.n;
	err = dp_kmod_add_program(&spec, program, &offset, &why);
	err = err ?: dp_kmod_add((u64)function, probe, &why);
	if (err) {
		note("%d: %s\n", err, why ?: "");
		return err;
	}
	binding.program = *program;
	dp_kmod_bind(*probe, &binding);
	return 0;
}

static struct seen {
	unsigned int gcds, nothings, ticks, others, wrong, interrupts;
	u32 gcd, nothing, tick;
} seen;

/* Behind a prefix of three bytes the values stand, least significant byte first. */
static u64 value_at(const struct dp_record_copy *r, unsigned int at)
{
	u64 value;

	memcpy(&value, r->data + at, sizeof(value));
	return value;
}

static void take_gcd(const struct dp_record_copy *r)
{
	u64 back;

	if (!seen.gcds++)
		note("a record: %*ph\n", min_t(int, r->head.len, 64), r->data);
	if (r->head.len < 3 + 16 + 3 + 8) {
		seen.wrong++;
		return;
	}
	back = value_at(r, 22);
	seen.wrong += value_at(r, 3) + value_at(r, 11) != 12 + 18 ||
		      r->head.major != 3 || r->head.minor != 7 ||
		      r->head.tid != current->pid ||
		      !within_module_core((unsigned long)back, THIS_MODULE);
}

static void take(void *unused, const struct dp_record_copy *r)
{
	if (r->head.probe == seen.gcd)
		take_gcd(r);
	else if (r->head.probe == seen.nothing)
		seen.nothings += r->head.exception != 0;
	else if (r->head.probe == seen.tick)
		seen.ticks++, seen.interrupts += r->head.tid >> 28 == 2;
	else
		seen.others++;
}

static void programs(enum dp_kmod_arming arming)
{
	const char *how = arming == DP_KMOD_TRAP ? "trap" : "jump";
	void *tick = (void *)dp_kmod_symbol("update_process_times");
	void *copy = (void *)dp_kmod_symbol("copy_from_kernel_nofault");
	u32 program[3], within, i;
	u64 bad = 0, hits;
	int err = dp_kmod_begin(arming);

	memset(&seen, 0, sizeof(seen));
	err = err ?: add(gcd, write_on_gcd, &seen.gcd, &program[0]);
	err = err   ?:
		      add(int_sqrt, write_on_nothing, &seen.nothing,
			  &program[1]);
	err = err ?: add(tick, write_on_tick, &seen.tick, &program[2]);
	/* What programs read memory by */
	err = err ?: dp_kmod_add((u64)copy, &within, NULL);
	err = err ?: dp_kmod_commit(&bad);
	check(!err, "%s: programs are armed (%d at %llx)\n", how, err, bad);
	note("%s: %s %s %s\n", how, dp_kmod_mode(seen.gcd),
	     dp_kmod_mode(seen.nothing), dp_kmod_mode(seen.tick));
	for (i = 0; i < CALLS; i++) {
		if (call_gcd(12, 18) != 6)
			seen.wrong++;
		if (!(i % 100))
			int_sqrt(144 + i);
		if (!(i % 50))
			dp_kmod_records(take, NULL);
	}
	msleep(200);
	for (i = 0; i < 2; i++)
		dp_kmod_records(take, NULL);
	check(seen.gcds == CALLS && !dp_kmod_tally(seen.gcd, DP_TALLY_LOST) &&
		      dp_kmod_hits(seen.gcd) == CALLS,
	      "%s: each hit has made a record (%u of %llu)\n", how, seen.gcds,
	      dp_kmod_hits(seen.gcd));
	check(!seen.wrong && !seen.others,
	      "%s: records say what the arguments were (but %u)\n", how,
	      seen.wrong);
	check(dp_kmod_local(program[0], 0) == CALLS,
	      "%s: a variable counts (%llu)\n", how,
	      dp_kmod_local(program[0], 0));
	check(seen.nothings >= CALLS / 100,
	      "%s: what is not mapped is told (%u)\n", how, seen.nothings);
	note("%s: %llu hits within others, and %llu\n", how, dp_kmod_missed(),
	     dp_kmod_hits(within));
	check(dp_kmod_missed() >= CALLS / 100 &&
		      dp_kmod_hits(within) < CALLS / 100,
	      "%s: hits within hits are told, and run nothing\n", how);
	/* An idle CPU has no ticks. */
	for (hits = jiffies + HZ / 8;
	     time_before(jiffies, (unsigned long)hits);)
		cpu_relax();
	dp_kmod_turn(seen.tick, false);
	err = dp_kmod_commit(&bad);
	/* Traps that were on their way, on a virtual CPU that has waited for its turn, are over then. */
	synchronize_rcu();
	dp_kmod_records(take, NULL);
	hits = dp_kmod_hits(seen.tick);
	check(!err && hits > 5 && seen.ticks == hits &&
		      seen.interrupts == seen.ticks &&
		      dp_kmod_local(program[2], 0) == hits,
	      "%s: interrupts make records (%u of %llu)\n", how, seen.ticks,
	      hits);
	note("%s: of these by interrupts %u, run %llu, lost %llu, discarded %llu, without context %llu, within %llu\n",
	     how, seen.interrupts, dp_kmod_local(program[2], 0),
	     dp_kmod_tally(seen.tick, DP_TALLY_LOST),
	     dp_kmod_tally(seen.tick, DP_TALLY_DISCARDED),
	     dp_kmod_tally(seen.tick, DP_TALLY_CONTEXT),
	     dp_kmod_tally(seen.tick, DP_TALLY_RECURSED));
	err = dp_kmod_end();
	check(!err, "%s: and all of it goes (%d)\n", how, err);
}

static int nothing(struct dp_kprobe *p, struct pt_regs *regs)
{
	return 0;
}

/* Return: is what is seen that of this session alone? */
static bool session_of_five(bool reads)
{
	u32 program = ~0u, i;
	u64 bad, before, after;
	int err = dp_kmod_begin(DP_KMOD_JUMP);

	memset(&seen, 0, sizeof(seen));
	err = err ?: add(gcd, write_on_gcd, &seen.gcd, &program);
	err = err ?: dp_kmod_commit(&bad);
	before = dp_kmod_local(program, 0);
	for (i = 0; i < 5 && !err; i++)
		call_gcd(12, 18);
	after = dp_kmod_local(program, 0);
	if (reads)
		dp_kmod_records(take, NULL);
	err = err ?: dp_kmod_end();
	return !err && !program && !before && after == 5 &&
	       seen.gcds == (reads ? 5 : 0) && !seen.others;
}

/* A handler keeps the engine that both sessions have, and nothing else of the first one. */
static void forgotten(void)
{
	struct dp_kprobe keeper = { .symbol_name = "int_sqrt",
				    .pre_handler = nothing };
	int err = dp_register_kprobe(&keeper);
	bool first = session_of_five(false), second = session_of_five(true);

	dp_unregister_kprobe(&keeper);
	check(!err && first && second,
	      "programs, variables and records go with their session (%d, %d, %d, %u)\n",
	      err, first, second, seen.gcds);
}

static int __init begin(void)
{
	programs(DP_KMOD_TRAP);
	programs(DP_KMOD_JUMP);
	forgotten();
	pr_info("dptest: done\n");
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Tests programs at probes");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(DPROBES);
