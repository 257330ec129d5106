// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * backtrace: walk the stack of a thread at a site, and find the number of what is there.
 *
 * Only what rules say is followed. Where they end, or lead to what cannot be, so does the walk.
 * Stack pointers ascend from frame to frame. Only a signal's frame may lead anywhere, because its
 * handler may run on another stack; the number of frames bounds that.
 */
#include "engine/hit/backtrace.h"

/* A walk is one loop, whose state is in registers: nothing takes the address of a part of it. */
#define INLINE static inline __attribute__((always_inline))

/* --- the rule of a pc --- */

static const struct dp_backtrace_module *
module_at(const struct dp_backtrace_map *map, u64 pc)
{
	u32 low = 0, high = map->nr, at;

	if (high > DP_BACKTRACE_MODULES)
		return NULL;
	while (low < high) {
		at = (low + high) / 2;
		if (pc < map->v[at].start)
			high = at;
		else if (pc < map->v[at].end)
			return &map->v[at];
		else
			low = at + 1;
	}
	return NULL;
}

/* How many of the ranges begin at @offset or before? */
static u32 upto(const u32 *ranges, u32 nr, u32 offset)
{
	u32 low = 0, high = nr, at;

	while (low < high) {
		at = (low + high) / 2;
		if (offset < ranges[at])
			high = at;
		else
			low = at + 1;
	}
	return low;
}

/* Control may write the map meanwhile: what is read then means nothing, but is in the arena. */
static u32 search(const struct dp_backtrace *b, u32 generation, u64 pc)
{
	const struct dp_backtrace_map *map =
		(void *)(b->arena + b->head->map[generation & 1]);
	const struct dp_backtrace_module *module = module_at(map, pc);
	struct dp_backtrace_module m;
	u32 n, rule;

	if (!module)
		return 0;
	m = *(const volatile struct dp_backtrace_module *)module;
	if (m.ranges + (u64)m.nr * sizeof(u32) > b->size ||
	    m.rules + (u64)m.nr * sizeof(u16) > b->size ||
	    (m.ranges | m.rules * 2) % sizeof(u32))
		return 0;
	n = upto((void *)(b->arena + m.ranges), m.nr, (u32)(pc - m.start));
	rule = n ? ((u16 *)(b->arena + m.rules))[n - 1] : 0;
	return rule < b->head->nr_rules ? rule : 0;
}

/* The walk's own state stays in registers: its address is not taken. */
static __attribute__((noinline)) u32
search_and_keep(const struct dp_backtrace_head *head, char *arena, u64 size,
		u32 generation, u64 pc, u64 *kept)
{
	struct dp_backtrace b = { .head = head, .arena = arena, .size = size };
	u32 rule = search(&b, generation, pc);

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__atomic_load_n(&head->generation, __ATOMIC_RELAXED) != generation)
		return 0;
	__atomic_store_n(
		kept, dp_kept_word(pc, generation % DP_KEPT_GENERATIONS) | rule,
		__ATOMIC_RELAXED);
	return rule;
}

INLINE const struct dp_rule *rule_of(const struct dp_backtrace *b)
{
	u32 generation =
		__atomic_load_n(&b->head->generation, __ATOMIC_ACQUIRE);
	const struct dp_rule *rules = (void *)(b->arena + b->head->rule);
	/* The code of a call is before the address to which it returns. */
	u64 pc = b->pc - !b->exact, *kept, word;
	u32 rule;

	if (!generation || pc >> DP_BACKTRACE_PC)
		return &rules[0];
	kept = (u64 *)(b->arena + b->head->kept) + dp_kept_index(pc);
	word = __atomic_load_n(kept, __ATOMIC_RELAXED) ^
	       dp_kept_word(pc, generation % DP_KEPT_GENERATIONS);
	rule = word < b->head->nr_rules ?
		       (u32)word :
		       search_and_keep(b->head, b->arena, b->size, generation,
				       pc, kept);
	return &rules[rule];
}

/* --- a frame --- */

/* What walks do not follow is there in the first frame, and in one that a signal has interrupted. */
static __attribute__((noinline)) struct dp_load
other_register(const struct dp_backtrace_head *head, const char *arena,
	       struct dp_regs *regs, u64 signal, u8 number)
{
	if (regs)
		return (struct dp_load){ 1, dp_regs_value(regs, number) };
	if (signal)
		return dp_generated_register(head, arena, signal, number);
	return (struct dp_load){ 0, 0 };
}

INLINE struct dp_load general(const struct dp_backtrace *b, u8 number)
{
	if (number == DP_RULE_SP)
		return (struct dp_load){ 1, b->sp };
	if (number == DP_RULE_FRAME && b->framed)
		return (struct dp_load){ 1, b->frame };
	return other_register(b->head, b->arena, b->regs, b->signal, number);
}

INLINE enum dp_backtrace_end find_cfa(const struct dp_backtrace *b,
				      const struct dp_rule *rule, u64 *cfa)
{
	struct dp_load base = general(b, rule->base);

	if (!base.ok)
		return DP_END_UNKNOWN;
	*cfa = base.value + (u64)(s64)rule->cfa;
	if (rule->how == DP_RULE_AT) {
		base = dp_backtrace_load(*cfa);
		if (!base.ok)
			return DP_END_UNREADABLE;
		*cfa = base.value + (u64)(s64)rule->more;
	}
	if (rule->how == DP_RULE_PLT &&
	    b->pc % DP_RULE_PLT_ENTRY >= (u32)rule->more)
		*cfa += sizeof(u64);
	return DP_END_NONE;
}

/* A frame register that cannot be read is not known; only what needs it ends. */
INLINE void go_frame(struct dp_backtrace *b, const struct dp_rule *rule,
		     u64 cfa)
{
	u64 from = rule->frame_how == DP_FRAME_AT_CFA ? cfa : b->frame;
	struct dp_load word;

	if (rule->frame_how == DP_FRAME_SAME)
		return;
	if (rule->frame_how == DP_FRAME_LOST ||
	    (rule->frame_how == DP_FRAME_AT_FRAME && !b->framed)) {
		b->framed = false;
		return;
	}
	word = dp_backtrace_load(from + (u64)(s64)rule->frame);
	b->framed = word.ok;
	b->frame = word.value;
}

INLINE enum dp_backtrace_end arrive(struct dp_backtrace *b, u64 pc)
{
	b->pc = pc;
	if (!pc)
		return DP_END_COMPLETE;
	return pc < DP_PAGE || pc >> DP_BACKTRACE_PC ? DP_END_BROKEN :
						       DP_END_NONE;
}

/* @ascends: the frame has to be above the last one */
INLINE enum dp_backtrace_end go_up(struct dp_backtrace *b,
				   const struct dp_rule *rule, bool ascends)
{
	bool skipped = rule->ret == DP_RULE_RET_SKIPPED;
	bool below = rule->ret == DP_RULE_RET_BELOW || skipped;
	enum dp_backtrace_end end;
	struct dp_load back;
	u64 cfa;

	end = find_cfa(b, rule, &cfa);
	if (end)
		return end;
	/* A function that has its return address in a register may have nothing on the stack. */
	if ((ascends && cfa < b->sp + (below ? sizeof(u64) : 0)) ||
	    cfa % sizeof(u64))
		return DP_END_BROKEN;
	back = below ? dp_backtrace_load(cfa - sizeof(u64) -
					 (skipped ? DP_RED_ZONE_SIZE : 0)) :
		       general(b, rule->ret);
	if (!back.ok)
		return below ? DP_END_UNREADABLE : DP_END_UNKNOWN;
	go_frame(b, rule, cfa);
	b->sp = cfa;
	b->regs = NULL;
	b->signal = 0;
	b->exact = skipped;
	return arrive(b, back.value);
}

/* The frame that a signal has interrupted, whatever its code is */
INLINE enum dp_backtrace_end go_through(struct dp_backtrace *b)
{
	struct dp_load frame, pc, sp;

	b->regs = NULL;
	b->signal = b->sp;
	frame = dp_backtrace_load(b->signal + DP_SIGNAL_FRAME);
	pc = dp_backtrace_load(b->signal + DP_SIGNAL_PC);
	sp = dp_backtrace_load(b->signal + DP_SIGNAL_SP);
	if (!frame.ok || !pc.ok || !sp.ok)
		return DP_END_UNREADABLE;
	b->frame = frame.value;
	b->sp = sp.value;
	b->framed = true;
	b->exact = true;
	return arrive(b, pc.value);
}

void dp_backtrace_begin(struct dp_backtrace *b, struct dp_regs *regs)
{
	b->regs = regs;
	b->signal = 0;
	b->pc = dp_regs_pc(regs);
	b->sp = dp_regs_sp(regs);
	b->frame = dp_regs_value(regs, DP_RULE_FRAME);
	b->framed = true;
	b->exact = true;
}

/* The walk's own state stays in registers: its address is not taken. */
INLINE enum dp_backtrace_end go_to_program(struct dp_backtrace *b)
{
	enum dp_backtrace_end end = go_through(b);
	struct dp_backtrace copy = *b;

	if (end)
		return end;
	end = dp_generated_leave(&copy);
	*b = copy;
	return end ?: arrive(b, b->pc);
}

/* The agent may run on a stack of its own. Who calls bounds the frames. */
enum dp_backtrace_end dp_backtrace_pass(struct dp_backtrace *b)
{
	const struct dp_rule *rule = rule_of(b);
	enum dp_backtrace_end end;

	switch (rule->how) {
	case DP_RULE_NONE:
	case DP_RULE_LAST:
		return DP_END_UNKNOWN;
	case DP_RULE_SIGNAL:
		end = go_through(b);
		if (!end)
			b->pc = dp_backtrace_trapped(b->signal, b->pc);
		return end;
	default:
		return go_up(b, rule, false);
	}
}

INLINE enum dp_backtrace_end next(struct dp_backtrace *b)
{
	const struct dp_rule *rule = rule_of(b);

	switch (rule->how) {
	case DP_RULE_NONE:
		return DP_END_UNKNOWN;
	case DP_RULE_LAST:
		return DP_END_COMPLETE;
	case DP_RULE_SIGNAL:
		return go_to_program(b);
	default:
		return go_up(b, rule, true);
	}
}

enum dp_backtrace_end dp_backtrace_next(struct dp_backtrace *b)
{
	return next(b);
}

u32 dp_backtrace_number(const struct dp_backtrace *from)
{
	struct dp_backtrace b = *from;
	struct dp_known_account *account = (void *)(b.arena + b.head->account);
	enum dp_backtrace_end end;
	u32 node = 0, n = 0;

	do {
		node = dp_known_go(b.head, b.arena, node,
				   b.pc | (b.exact ? DP_BACKTRACE_EXACT : 0));
		end = next(&b);
		if (++n == DP_BACKTRACE_FRAMES && !end)
			end = DP_END_DEEP;
	} while (node && !end);
	if (node)
		node = dp_known_go(b.head, b.arena, node, end);
	if (!node)
		__atomic_fetch_add(&account->lost, 1, __ATOMIC_RELAXED);
	return node;
}
