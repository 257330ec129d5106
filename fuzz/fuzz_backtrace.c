// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fuzz_backtrace: any rules, generated code, registers and stack, walked twice: within bounds, to the
 * same end; and what the reader says is what was walked.
 */
#include "backtrace_world.h"
#include "engine/insn/unwind.h"
#include "engine/site/live.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#define CODE 0x400000ull
#define STACK 0x7f0000000000ull
#define RULES 8
#define AGENT (CODE + 16 * 6) /* and on, as far as it would be mapped */
#define POOL 0x500000ull
#define PIECES 6
#define NOTES 6
/* Of a frame: its register's word, its return address, the frame register; or three of a signal, and of
 * what it has interrupted */
#define READS (4 * (DP_GENERATED_FRAMES + 2))

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
	else if (*word >> 58 & 1)
		*word = POOL + *word % (64 * PIECES + 16);
}

/** struct any_piece - of generated code, at any place in its 64 bytes, or beyond */
struct any_piece {
	u64 addr;
	u8 at, len, slot[16], nr, state[NOTES], more[NOTES], offset[8];
};

/* Pieces may overlap: those that come first are gone then. */
static void put_piece(u32 i, const struct any_piece *p)
{
	struct dp_unwind_states states = { .nr = p->nr % (NOTES + 1) };
	struct dp_charted code = {
		.at = POOL + 64 * i + p->at % 64,
		.len = p->len + 1u,
		.states = p->nr & 0x80 ? NULL : &states,
		.addr = p->addr & 1 ? CODE + p->addr % (16 * RULES) : p->addr,
		.duplicate = CODE + p->addr % 16,
	};
	u32 k;

	memcpy(states.slot, p->slot, sizeof(states.slot));
	memcpy(code.offset, p->offset, sizeof(code.offset));
	for (k = 0; k < states.nr; k++)
		states.v[k] =
			(struct dp_unwind_note){ (u16)(k * p->len / NOTES),
						 p->state[k], p->more[k] };
	dp_generated_note(world.e, &code);
}

static void put_pieces(const u8 **data, size_t *size)
{
	struct dp_backtrace_head *head =
		(void *)(world.arena + world.e->backtraces.head_off);
	struct any_piece piece;
	u32 i;

	for (i = 0; i < PIECES && take(data, size, &piece, sizeof(piece)); i++)
		put_piece(i, &piece);
	head->agent = i & 1 ? AGENT : 0;
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
			rules[i].ret = DP_RULE_RET_BELOW - (rules[i].ret & 1);
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
	world_begin(1024, 1000);
	world_window(0, STACK, sizeof(stack), stack);
	put_code(rules);
	put_pieces(&data, &size);
	memset(stack, 0, sizeof(stack));
	for (word = stack; word < stack + 128; word++)
		if (take(&data, &size, word, sizeof(*word)))
			tame(word);
	for (word = (u64 *)&regs; word < (u64 *)(&regs + 1); word++)
		tame(word);
	dp_regs_set_pc(&regs, CODE + dp_regs_pc(&regs) % (16 * RULES));
	number = walk(&regs);
	must(walk(&regs) == number);
	n = dp_engine_backtrace(world.e, number, frames, &end);
	check(&regs, frames, n, end);
	world_end();
	return 0;
}
