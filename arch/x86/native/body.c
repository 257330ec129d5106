// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* body: blocks, tests and jumps of a program's code; its frame. */
#include "arch/x86/native/body.h"
#include "engine/insn/bits.h"

#define RED_ZONE 128
#define WORD 8
#define PASSES 16
#define SHORT 120

static bool is_full(struct dp_body *b)
{
	if (b->o->len + DP_BODY_MARGIN > b->most)
		b->fails = true;
	return b->fails;
}

/* Both ends of a program count in one sequence. */
static bool counts_by_rdx(const struct dp_body *b)
{
	return dp_body_counts(b) && !b->spec->percpu;
}

void dp_body_begin(struct dp_body *b, struct dp_out *o)
{
	int i;

	b->o = o;
	b->nr_jumps = 0;
	b->local = DP_LABEL_LOCAL;
	b->used = 1u << DP_RAX | 1u << DP_RCX;
	b->needs_homes = b->fails = false;
	b->nr_homes = 0;
	if (b->n->nr_records || counts_by_rdx(b))
		b->used |= 1u << DP_RDX;
	if (!b->pass)
		b->saved = b->used;
	for (i = 0; i < DP_X86_REGS; i++) {
		b->known.holds[i] = DP_BODY_NONE;
		b->locked[i] = 0;
	}
	b->locked[DP_RDX] = counts_by_rdx(b);
	for (i = 0; i < DP_NATIVE_VALUES; i++) {
		b->home[i] = DP_BODY_NONE;
		b->known.high[i] = false;
	}
}

static void fill_in(struct dp_body *b)
{
	unsigned int end = b->o->len, i;

	for (i = 0; i < b->nr_jumps; i++) {
		u32 from = b->jumps[i].at + b->jumps[i].size;
		s32 far = (s32)b->label[b->jumps[i].label] - (s32)from;

		b->o->len = b->jumps[i].at;
		if (b->jumps[i].size == 1) {
			b->o->far |= far != (int8_t)far;
			DP_PUT(b->o, (u8)far);
		} else {
			dp_put32(b->o, (u32)far);
		}
	}
	b->o->len = end;
}

/* Code is the same as before if all labels are. */
static bool is_settled(struct dp_body *b)
{
	bool same = true;
	int i;

	for (i = 0; i < DP_BODY_LABELS; i++) {
		same &= b->before[i] == b->label[i];
		b->before[i] = b->label[i];
	}
	return same;
}

bool dp_body_end(struct dp_body *b)
{
	bool enough = !(b->used & ~b->saved) && !b->needs_homes;
	bool done = is_settled(b) && enough && b->shortens;

	b->fails |= b->pass++ == PASSES;
	if (done || b->fails) {
		fill_in(b);
		return true;
	}
	b->shortens = enough;
	b->saved |= b->used;
	b->homes |= b->needs_homes;
	return false;
}

void dp_body_bind(struct dp_body *b, u8 label)
{
	b->label[label] = (u16)b->o->len;
}

/* From then on, code only becomes shorter from pass to pass, and so do the distances in it. */
static bool is_short(const struct dp_body *b, u8 label)
{
	s32 far = (s32)b->before[label] - (s32)b->o->len;

	return b->shortens && far < SHORT && far > -SHORT;
}

void dp_body_jump(struct dp_body *b, u8 cc, u8 label)
{
	u8 size = is_short(b, label) ? 1 : 4;

	if (is_full(b) || b->nr_jumps == DP_BODY_JUMPS) {
		b->fails = true;
		return;
	}
	if (size == 1)
		DP_PUT(b->o, cc == DP_CC_ALWAYS ? 0xeb : (u8)(0x70 | cc), 0);
	else if (cc == DP_CC_ALWAYS)
		DP_PUT(b->o, 0xe9, 0, 0, 0, 0);
	else
		DP_PUT(b->o, 0x0f, (u8)(0x80 | cc), 0, 0, 0, 0);
	b->jumps[b->nr_jumps].at = (u16)(b->o->len - size);
	b->jumps[b->nr_jumps].label = label;
	b->jumps[b->nr_jumps++].size = size;
}

/* The frame: homes, flags, registers. */

static u32 count(u32 bits)
{
	return dp_bits_count(bits);
}

s32 dp_body_frame(const struct dp_body *b)
{
	u32 homes = b->homes ? DP_BODY_HOMES : 0;

	return (s32)(RED_ZONE + WORD * (homes + 1 + count(b->saved)));
}

static struct dp_x86_rm flags_slot(const struct dp_body *b)
{
	return dp_x86_at(DP_RSP, b->homes ? DP_BODY_HOMES * WORD : 0);
}

struct dp_x86_rm dp_body_slot(const struct dp_body *b, u8 reg)
{
	struct dp_x86_rm slot = flags_slot(b);

	slot.disp += (s32)(WORD * (1 + count(b->saved & ((1u << reg) - 1))));
	return slot;
}

void dp_body_register(struct dp_body *b, u8 to, u8 reg)
{
	if (reg == DP_RSP)
		dp_x86_lea(b->o, to, dp_x86_at(DP_RSP, dp_body_frame(b)));
	else
		dp_x86_mov(b->o, to,
			   b->saved >> reg & 1 ? dp_body_slot(b, reg) :
						 dp_x86_in(reg));
}

static void put_push(struct dp_out *o, u8 op, u8 reg)
{
	if (reg >> 3)
		DP_PUT(o, 0x41);
	DP_PUT(o, (u8)(op | (reg & 7)));
}

static void push(struct dp_body *b, u8 reg)
{
	put_push(b->o, 0x50, reg);
	dp_put_deeper(b->o, WORD);
}

static void pop(struct dp_body *b, u8 reg)
{
	put_push(b->o, 0x58, reg);
	dp_put_deeper(b->o, -WORD);
}

static void move_stack(struct dp_body *b, s32 by)
{
	if (!by)
		return;
	dp_x86_lea(b->o, DP_RSP, dp_x86_at(DP_RSP, by));
	dp_put_deeper(b->o, -by);
}

/* Slots are counted from the red zone on. */
static void note_slots(const struct dp_body *b)
{
	u8 reg, slot = 0;

	if (!b->o->unwind)
		return;
	for (reg = DP_X86_REGS; reg-- > 0;)
		b->o->unwind->slot[reg] = b->saved >> reg & 1 ? ++slot : 0;
}

void dp_body_inside(struct dp_body *b)
{
	dp_put_at(b->o, (u32)dp_body_frame(b), 0);
	dp_put_saved(b->o);
}

/* lahf; seto %al: all flags that arithmetic changes */
void dp_body_enter(struct dp_body *b)
{
	u8 reg;

	move_stack(b, -RED_ZONE);
	note_slots(b);
	dp_put_saved(b->o);
	for (reg = DP_X86_REGS; reg-- > 0;)
		if (b->saved >> reg & 1)
			push(b, reg);
	DP_PUT(b->o, 0x9f, 0x0f, 0x90, 0xc0);
	push(b, DP_RAX);
	move_stack(b, -flags_slot(b).disp);
}

/* add $0x7f, %al overflows if %al is 1; sahf */
void dp_body_exit(struct dp_body *b, bool red_zone)
{
	u8 reg;

	move_stack(b, flags_slot(b).disp);
	pop(b, DP_RAX);
	DP_PUT(b->o, 0x04, 0x7f, 0x9e);
	for (reg = 0; reg < DP_X86_REGS; reg++)
		if (b->saved >> reg & 1)
			pop(b, reg);
	move_stack(b, red_zone ? 0 : RED_ZONE);
}

/* Tests */

static bool is_one(const struct dp_body *b, u8 value)
{
	return b->n->values[value].op == DP_NATIVE_CONST &&
	       b->n->values[value].imm == 1;
}

/* Two labels, one of which is next */
struct ways {
	u8 yes, no, next;
};

static void choose(struct dp_body *b, u8 cc, struct ways w)
{
	if (w.next != w.yes)
		dp_body_jump(b, cc, w.yes);
	if (w.next == w.yes)
		dp_body_jump(b, cc ^ DP_CC_NOT, w.no);
	else if (w.next != w.no)
		dp_body_jump(b, DP_CC_ALWAYS, w.no);
}

static void test(struct dp_body *b, u8 value, struct ways w);

/* What came into a register on the way through a test is there on some ways only. */
static void forget_lost(struct dp_body *b)
{
	int i;

	for (i = 0; i < DP_X86_REGS; i++)
		if (b->lost >> i & 1)
			b->known.holds[i] = DP_BODY_NONE;
}

static void test_two(struct dp_body *b, const struct dp_native_value *v,
		     struct ways w)
{
	bool both = v->op == DP_NATIVE_AND;
	u8 middle = b->local;

	if (b->local == DP_BODY_LABELS) {
		b->fails = true;
		return;
	}
	b->local++;
	test(b, v->a,
	     (struct ways){ both ? middle : w.yes, both ? w.no : middle,
			    middle });
	dp_body_bind(b, middle);
	forget_lost(b);
	test(b, v->b, w);
}

static void test(struct dp_body *b, u8 value, struct ways w)
{
	const struct dp_native_value *v = &b->n->values[value];

	if (is_full(b))
		return;
	switch (v->op) {
	case DP_NATIVE_EQ:
	case DP_NATIVE_LTU:
	case DP_NATIVE_LTS:
		choose(b, dp_body_compare(b, v), w);
		return;
	case DP_NATIVE_XOR:
		if (!v->truth || !(is_one(b, v->a) || is_one(b, v->b)))
			break;
		test(b, is_one(b, v->a) ? v->b : v->a,
		     (struct ways){ w.no, w.yes, w.next });
		return;
	case DP_NATIVE_AND:
	case DP_NATIVE_OR:
		if (!v->truth)
			break;
		test_two(b, v, w);
		return;
	default:
		break;
	}
	dp_x86_test(b->o, dp_body_value(b, value));
	choose(b, DP_CC_E ^ DP_CC_NOT, w);
}

bool dp_body_ends(const struct dp_body *b, enum dp_native_end end)
{
	u8 i;

	for (i = 0; i < b->n->nr_blocks; i++)
		if (b->n->blocks[i].end == end)
			return true;
	return false;
}

bool dp_body_counts(const struct dp_body *b)
{
	return dp_body_ends(b, DP_NATIVE_MET) ||
	       dp_body_ends(b, DP_NATIVE_UNMET);
}

/* What comes behind the last block */
static u8 falls_to(const struct dp_body *b)
{
	return dp_body_ends(b, DP_NATIVE_MET)	? DP_LABEL_MET :
	       dp_body_ends(b, DP_NATIVE_UNMET) ? DP_LABEL_UNMET :
						  DP_LABEL_OUT;
}

static u8 label_of(enum dp_native_end end)
{
	return end == DP_NATIVE_MET   ? DP_LABEL_MET :
	       end == DP_NATIVE_UNMET ? DP_LABEL_UNMET :
					DP_LABEL_LEAVE;
}

static bool loads(const struct dp_body *b, const struct dp_native_block *block)
{
	u8 v;

	for (v = block->first; v < block->last; v++)
		if (b->n->values[v].op == DP_NATIVE_LOAD)
			return true;
	return false;
}

static bool makes_record(const struct dp_body *b,
			 const struct dp_native_block *block)
{
	return block->end == DP_NATIVE_RECORD &&
	       (b->spec->stream.commits != DP_COMMITS_LEAVES ||
		b->n->records[block->record].table);
}

/* Where a block leads that does nothing else; or the block itself. */
static u8 target(const struct dp_body *b, u8 i)
{
	const struct dp_native_block *block = &b->n->blocks[i];

	return block->end == DP_NATIVE_TEST || makes_record(b, block) ||
			       loads(b, block) ?
		       i :
		       label_of(block->end);
}

static void put_block(struct dp_body *b, u8 i, bool last);

/* Both ways begin with what is known now. @last: what comes behind the last block is next. */
static void put_ways(struct dp_body *b, const struct dp_native_block *block,
		     bool last)
{
	struct dp_body_known known;
	struct ways w = { target(b, block->yes), target(b, block->no), 0 };
	bool yes = w.yes == block->yes, no = w.no == block->no;

	w.next = yes  ? w.yes :
		 no   ? w.no :
		 last ? falls_to(b) :
			(u8)DP_LABEL_LOCAL;
	b->lost = 0;
	test(b, block->test, w);
	forget_lost(b);
	known = b->known;
	if (yes)
		put_block(b, block->yes, last && !no);
	b->known = known;
	if (no)
		put_block(b, block->no, last);
}

static void put_block(struct dp_body *b, u8 i, bool last)
{
	const struct dp_native_block *block = &b->n->blocks[i];
	u8 v;

	dp_body_bind(b, i);
	for (v = block->first; v < block->last && !is_full(b); v++)
		if (b->n->values[v].op == DP_NATIVE_LOAD)
			dp_body_load(b, v);
	if (block->end == DP_NATIVE_TEST)
		put_ways(b, block, last);
	else if (makes_record(b, block))
		dp_body_record(b, block, last && falls_to(b) == DP_LABEL_OUT);
	else if (!last || label_of(block->end) != falls_to(b))
		dp_body_jump(b, DP_CC_ALWAYS, label_of(block->end));
}

void dp_body_blocks(struct dp_body *b)
{
	put_block(b, 0, true);
}
