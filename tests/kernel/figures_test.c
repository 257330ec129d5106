// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * figures_test: what a hit costs, beside the kernel's own probe of the same kind.
 *
 * All are armed at once, each on a function of its own, and take turns. Under QEMU the times are the
 * translator's: their ratios are what counts.
 */
#include <dprobes/kernel/kprobes.h>
#include "kmod/session.h"
#include "tests/kernel/assemble.h"
#include "tests/kernel/test.h"
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/sort.h>

#define CALLS 200
#define ROUNDS 401
#define WAIT_MS 5000

typedef int victim(int n);

victim dpfigures_plain, dpfigures_theirs, dpfigures_ours, dpfigures_short,
	dpfigures_their_trap, dpfigures_our_trap, dpfigures_their_return,
	dpfigures_our_return, dpfigures_counted, dpfigures_met, dpfigures_unmet,
	dpfigures_loaded;

enum {
	PLAIN,
	SHORT,
	THEIR_TRAP,
	OUR_TRAP,
	THEIR_JUMP,
	OUR_JUMP,
	THEIR_RETURN,
	OUR_RETURN,
	COUNTED,
	MET,
	UNMET,
	LOADED,
	FUNCTIONS
};

static victim *const functions[FUNCTIONS] = {
	[PLAIN] = dpfigures_plain,
	[SHORT] = dpfigures_short,
	[THEIR_TRAP] = dpfigures_their_trap,
	[OUR_TRAP] = dpfigures_our_trap,
	[THEIR_JUMP] = dpfigures_theirs,
	[OUR_JUMP] = dpfigures_ours,
	[THEIR_RETURN] = dpfigures_their_return,
	[OUR_RETURN] = dpfigures_our_return,
	[COUNTED] = dpfigures_counted,
	[MET] = dpfigures_met,
	[UNMET] = dpfigures_unmet,
	[LOADED] = dpfigures_loaded,
};

/* @added: to the function without a probe */
static const struct figure {
	const char *name;
	int of, to;
} figures[] = {
	{ "kprobe_trap", THEIR_TRAP, SHORT },
	{ "trap", OUR_TRAP, SHORT },
	{ "kprobe_jump", THEIR_JUMP, PLAIN },
	{ "jump", OUR_JUMP, PLAIN },
	{ "kretprobe", THEIR_RETURN, PLAIN },
	{ "return", OUR_RETURN, PLAIN },
	{ "counter", COUNTED, PLAIN },
	{ "predicate", MET, PLAIN },
	{ "predicate_unmet", UNMET, PLAIN },
	{ "predicate_memory", LOADED, PLAIN },
};

static u64 took[FUNCTIONS][ROUNDS];
static unsigned long hits[FUNCTIONS];
static u32 counted, programmed[FUNCTIONS];
static const u64 there = 1;

/* if what is on the stack is not 0: count it */
static void write_count(struct dp_asm *c)
{
	dp_asm_op64(c, DP_OPCODE_JNZ, 1);
	dp_asm_op(c, DP_OPCODE_ABORT);
	dp_asm_op16(c, DP_OPCODE_INC_LV_I, 0);
	dp_asm_op(c, DP_OPCODE_EXIT);
}

/* if rdi, a number of the call, is less than that */
static void write_below(struct dp_asm *c)
{
	dp_asm_op16(c, DP_OPCODE_PUSH_R, DP_ASM_RDI);
	dp_asm_op64(c, DP_OPCODE_PUSH, CALLS);
	dp_asm_op(c, DP_OPCODE_LTS);
	write_count(c);
}

static void write_above(struct dp_asm *c)
{
	dp_asm_op64(c, DP_OPCODE_PUSH, CALLS);
	dp_asm_op16(c, DP_OPCODE_PUSH_R, DP_ASM_RDI);
	dp_asm_op(c, DP_OPCODE_LTS);
	write_count(c);
}

/* … if a word of memory is not 0 */
static void write_reads(struct dp_asm *c)
{
	dp_asm_op64(c, DP_OPCODE_PUSH, (u64)&there);
	dp_asm_op(c, DP_OPCODE_PUSH_MEM_U64);
	write_count(c);
}

static int on_their_trap(struct kprobe *p, struct pt_regs *regs)
{
	hits[THEIR_TRAP]++;
	return 0;
}

static int on_their_jump(struct kprobe *p, struct pt_regs *regs)
{
	hits[THEIR_JUMP]++;
	return 0;
}

static int on_their_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	hits[THEIR_RETURN]++;
	return 0;
}

static int on_our_trap(struct dp_kprobe *p, struct pt_regs *regs)
{
	hits[OUR_TRAP]++;
	return 0;
}

static int on_our_jump(struct dp_kprobe *p, struct pt_regs *regs)
{
	hits[OUR_JUMP]++;
	return 0;
}

static int on_our_return(struct dp_kretprobe_instance *ri, struct pt_regs *regs)
{
	hits[OUR_RETURN]++;
	return 0;
}

static struct kprobe their_trap = { .addr = (u8 *)dpfigures_their_trap,
				    .pre_handler = on_their_trap };
static struct kprobe their_jump = { .addr = (u8 *)dpfigures_theirs,
				    .pre_handler = on_their_jump };
static struct kretprobe their_return = { .kp.addr =
						 (u8 *)dpfigures_their_return,
					 .handler = on_their_return };
static struct dp_kprobe our_trap = { .addr = (u8 *)dpfigures_our_trap,
				     .pre_handler = on_our_trap };
static struct dp_kprobe our_jump = { .addr = (u8 *)dpfigures_ours,
				     .pre_handler = on_our_jump };
static struct dp_kretprobe our_return = { .kp.addr = (u8 *)dpfigures_our_return,
					  .handler = on_our_return };

/* On the function @of */
static int program(int of, void (*write)(struct dp_asm *c))
{
	static struct dp_asm c;
	static const u32 start;
	struct dp_program_spec spec = { .name = "kernel",
					.code = c.bytes,
					.starts = &start,
					.nr_starts = 1,
					.nr_lv = 1,
					.jmpmax = 9,
					.stack = 32 };
	struct dp_binding binding = { .maxhits = ~0u, .logonfault = true };
	const char *why = NULL;
	u32 offset;
	int err;

	c.n = 0;
	write(&c);
	spec.code_len = c.n;
	err = dp_kmod_add_program(&spec, &binding.program, &offset, &why) ?:
		      dp_kmod_add((unsigned long)functions[of], &programmed[of],
				  NULL);
	if (!err)
		dp_kmod_bind(programmed[of], &binding);
	return err;
}

static int begin_session(void)
{
	u64 bad;

	return dp_kmod_begin(DP_KMOD_JUMP) ?:
		       dp_kmod_add((unsigned long)dpfigures_counted, &counted, NULL) ?:
		       program(MET, write_below)    ?:
		       program(UNMET, write_above)  ?:
		       program(LOADED, write_reads) ?:
						      dp_kmod_commit(&bad);
}

static int arm(void)
{
	int err = register_kprobe(&their_trap) ?: begin_session();

	if (err)
		return err;
	err = register_kprobe(&their_jump) ?: register_kretprobe(&their_return);
	return err				     ?:
		       dp_register_kprobe(&our_trap) ?:
		       dp_register_kprobe(&our_jump) ?:
		       dp_register_kretprobe(&our_return);
}

static void disarm(void)
{
	unregister_kprobe(&their_trap);
	unregister_kprobe(&their_jump);
	unregister_kretprobe(&their_return);
	dp_unregister_kprobe(&our_trap);
	dp_unregister_kprobe(&our_jump);
	dp_unregister_kretprobe(&our_return);
	dp_kmod_end();
}

/* The kernel makes jumps of its probes some time after they are registered. */
static bool await_jumps(void)
{
	int ms;

	for (ms = 0; ms < WAIT_MS; ms += 10) {
		if (*(u8 *)dpfigures_theirs == 0xe9 &&
		    *(u8 *)dpfigures_their_return == 0xe9)
			return true;
		msleep(10);
	}
	return false;
}

static u64 time_calls(victim *call)
{
	u64 began;
	int i;

	preempt_disable();
	began = ktime_get_ns();
	for (i = 0; i < CALLS; i++) {
		call(i);
		barrier();
	}
	began = ktime_get_ns() - began;
	preempt_enable();
	return began;
}

static void measure(void)
{
	int round, i;

	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < FUNCTIONS; i++)
			took[i][round] = time_calls(functions[i]);
		cond_resched();
	}
}

static int by_value(const void *a, const void *b)
{
	const s64 x = *(const s64 *)a, y = *(const s64 *)b;

	return (x > y) - (x < y);
}

/* In tenths of a ns. Return: the median */
static s64 added(const struct figure *f, s64 *least, s64 *most)
{
	static s64 v[ROUNDS];
	int i;

	for (i = 0; i < ROUNDS; i++)
		v[i] = ((s64)took[f->of][i] - (s64)took[f->to][i]) * 10 / CALLS;
	sort(v, ROUNDS, sizeof(*v), by_value, NULL);
	*least = v[0];
	*most = v[ROUNDS - 1];
	return v[ROUNDS / 2];
}

static void tell(void)
{
	s64 least, most, value;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(figures); i++) {
		value = added(&figures[i], &least, &most);
		note("{\"bench\":\"kernel_%s\",\"unit\":\"ns\",\"value\":%lld.%lld,\"min\":%lld.%lld,\"max\":%lld.%lld}\n",
		     figures[i].name, value / 10, abs(value % 10), least / 10,
		     abs(least % 10), most / 10, abs(most % 10));
	}
}

static void check_hits(void)
{
	unsigned int i;

	hits[COUNTED] = dp_kmod_hits(counted);
	for (i = MET; i < FUNCTIONS; i++) {
		hits[i] = dp_kmod_hits(programmed[i]);
		check(dp_kmod_met(programmed[i]) ==
			      (i == UNMET ? 0 : CALLS * ROUNDS),
		      "and is met by the detour, or not (%u)\n", i);
	}
	for (i = THEIR_TRAP; i < FUNCTIONS; i++)
		check(hits[i] == CALLS * ROUNDS,
		      "every call is a hit of %u (%lu)\n", i, hits[i]);
}

static int __init begin(void)
{
	bool jumps;
	int err = arm();

	check(!err, "all are armed (%d)\n", err);
	jumps = !err && await_jumps();
	check(jumps && *(u8 *)dpfigures_their_trap == 0xcc,
	      "theirs are what they are to be\n");
	check(dp_kprobe_optimized(&our_jump) &&
		      dp_kprobe_optimized(&our_return.kp) &&
		      !dp_kprobe_optimized(&our_trap),
	      "ours are\n");
	if (jumps) {
		measure();
		check_hits();
		tell();
	}
	disarm();
	pr_info("dptest: done\n");
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Measures probes");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(DPROBES);
