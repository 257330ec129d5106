// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fuzz_backtrace: any rules, registers and stack, walked twice: within bounds, to the same end; and
 * what the reader says is what was walked.
 */
#include "backtrace_world.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#define CODE 0x400000ull
#define STACK 0x7f0000000000ull
#define RULES 8
/* Of a frame: its register's word, its return address, the frame register; or three of a signal */
#define READS 4

static u64 stack[128];

static void must(bool good)
{
	if (!good)
		abort();
}

static bool take(const u8 **data, size_t *size, void *to, size_t n)
{
	if (*size < n)
		return false;
	memcpy(to, *data, n);
	*data += n;
	*size -= n;
	return true;
}

/* Numbers that mean something are likelier than others. */
static void tame(u64 *word)
{
	if (*word >> 56 & 1)
		*word = STACK + *word % sizeof(stack);
	else if (*word >> 57 & 1)
		*word = CODE + *word % (16 * RULES + 16);
}

static void put_code(struct dp_rule *rules)
{
	u32 ranges[RULES], which[RULES], i;
	struct dp_backtrace_code code = { ranges, which, RULES, rules, RULES };
	struct dp_backtrace_place place = { CODE, CODE + 16 * RULES, 0 };

	for (i = 0; i < RULES; i++) {
		ranges[i] = 16 * i;
		which[i] = i;
		rules[i].how %= DP_RULE_SIGNAL + 1;
		rules[i].base %= 16;
		rules[i].cfa %= 256;
		rules[i].frame %= 256;
		if (rules[i].ret >= 16)
			rules[i].ret = DP_RULE_RET_BELOW;
	}
	must(!dp_engine_add_code(world.e, &code, &place.code) &&
	     !dp_engine_map_code(world.e, &place, 1));
}

static u32 walk(struct dp_regs *regs)
{
	struct dp_backtrace b = world_walk();
	u32 number;

	world.reads = 0;
	dp_backtrace_begin(&b, regs);
	number = dp_backtrace_number(&b);
	must(number && world.reads <= READS * DP_BACKTRACE_FRAMES);
	return number;
}

/* The same walk, frame by frame */
static void check(struct dp_regs *regs, const u64 *frames, u32 n,
		  enum dp_backtrace_end end)
{
	struct dp_backtrace b = world_walk();
	enum dp_backtrace_end is = DP_END_NONE;
	u32 i;

	dp_backtrace_begin(&b, regs);
	for (i = 0; !is; i++) {
		must(i < n && (frames[i] & ~DP_BACKTRACE_EXACT) == b.pc &&
		     !(b.pc >> DP_BACKTRACE_PC));
		is = dp_backtrace_next(&b);
		if (!is && i + 1 == DP_BACKTRACE_FRAMES)
			is = DP_END_DEEP;
	}
	must(i == n && is == end);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u64 frames[DP_BACKTRACE_FRAMES], *word;
	struct dp_rule rules[RULES];
	enum dp_backtrace_end end;
	struct dp_regs regs;
	u32 number, n;

	if (!take(&data, &size, rules, sizeof(rules)) ||
	    !take(&data, &size, &regs, sizeof(regs)))
		return 0;
	memset(stack, 0, sizeof(stack));
	for (word = stack; word < stack + 128; word++)
		if (take(&data, &size, word, sizeof(*word)))
			tame(word);
	for (word = (u64 *)&regs; word < (u64 *)(&regs + 1); word++)
		tame(word);
	dp_regs_set_pc(&regs, CODE + dp_regs_pc(&regs) % (16 * RULES));
	world_begin(1024, 1000);
	world_window(0, STACK, sizeof(stack), stack);
	put_code(rules);
	number = walk(&regs);
	must(walk(&regs) == number);
	n = dp_engine_backtrace(world.e, number, frames, &end);
	check(&regs, frames, n, end);
	world_end();
	return 0;
}
