// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * detour: generated code around the instructions that a jump replaces.
 *
 * Counting is a restartable sequence (rseq): a load, an lea and a store on the counter of
 * this CPU, which touch no flag. The kernel sends a thread that is preempted, migrated or
 * interrupted before the store back to the beginning. So each hit counts exactly once,
 * without a locked instruction. The table of the CPUs' counters is zero where this is not
 * possible: in a fork child, in a thread without a registered rseq area, and while there
 * are CLONE_VM children. Then the detour calls the agent.
 *
 * Source: linux/rseq.h for the descriptor and the signature.
 */
#include "engine/insn/detour.h"
#include "arch/arch.h"
#include "arch/x86/counted.h"
#include "arch/x86/emit.h"
#include "arch/x86/followed.h"
#include "arch/x86/native/encode.h"
#include "arch/x86/native/head.h"
#include "arch/x86/sequence.h"
#include "engine/insn/callout.h"
#include "engine/insn/unwind.h"

#define RED_ZONE DP_RED_ZONE_SIZE
/* Of save() */
#define SAVED_DEPTH (RED_ZONE + 16)

static u64 here(const struct dp_out *o)
{
	return o->at + o->len;
}

/* Behind the descriptor. */
#define TRACKED_TARGET DP_SEQUENCE_DESCRIPTOR
#define TRACKED_HEAD (DP_SEQUENCE_DESCRIPTOR + 8)

/* push target(%rip); push $number; call entry; jmp *8(%rsp)
 * target: lea 144(%rsp), %rsp */
static void call_tracked(struct dp_out *o, const struct dp_detour_spec *s,
			 u32 number)
{
	DP_PUT(o, 0xff, 0x35);
	dp_put_rel32(o, o->at + TRACKED_TARGET);
	dp_put_deeper(o, 8);
	DP_PUT(o, 0x68);
	dp_put32(o, number | DP_CALLOUT_TRACKED);
	dp_put_deeper(o, 8);
	DP_PUT(o, 0xe8);
	dp_put_rel32(o, s->tracked);
	DP_PUT(o, 0xff, 0x64, 0x24, 0x08);
}

/* Call out with the number of the first instruction. */
static void call_first(struct dp_out *o, const struct dp_detour_spec *s,
		       u32 more)
{
	u32 number = (s->before[0] - 1) | more;

	if (s->tracked)
		call_tracked(o, s, number);
	else
		dp_put_callout(o, s->entry, number);
}

static void call_out(struct dp_out *o, u64 entry, u32 number)
{
	if (!number)
		return;
	dp_put_move_stack(o, -RED_ZONE);
	dp_put_callout(o, entry, number - 1);
}

/* @by: the stub of where to, 0: as all others */
static void call_before(struct dp_out *o, const struct dp_detour_spec *s,
			u32 number, u64 by)
{
	if (!number || !by) {
		call_out(o, s->entry, number);
		return;
	}
	dp_put_move_stack(o, -RED_ZONE);
	dp_put_callout_by(o, by, number - 1);
}

static void save(struct dp_out *o)
{
	dp_put_move_stack(o, -RED_ZONE);
	dp_put_saved(o);
	DP_PUT(o, 0x50); /* push %rax */
	dp_put_deeper(o, 8);
	DP_PUT(o, 0x51); /* push %rcx */
	dp_put_deeper(o, 8);
}

/* Where the code begins behind save() */
static void begin_saved(struct dp_out *o)
{
	dp_put_at(o, SAVED_DEPTH, o->insn);
	dp_put_saved(o);
}

/* Undo save(), except for the red zone. */
static void restore(struct dp_out *o)
{
	DP_PUT(o, 0x59); /* pop %rcx */
	dp_put_deeper(o, -8);
	DP_PUT(o, 0x58); /* pop %rax */
	dp_put_deeper(o, -8);
}

/* Offsets in a counting detour. For a jump with one byte of displacement: offset of that
 * byte. */
struct count {
	unsigned int slow, to_insn, abort, to_restart;
	unsigned int target; /* where a tracked call goes on otherwise */
};

/* A call-out comes before the first instruction: a displacement of one byte may not reach. */
static void put_to_insn(struct dp_out *o, struct count *c)
{
	DP_PUT(o, 0xe9);
	dp_put32(o, 0);
	c->to_insn = o->len - 4;
}

/* The code where counting is not possible, and the abort handler that restarts counting. Both
 * stand before the counting code, which falls through. */
static void put_slow(struct dp_out *o, const struct dp_detour_spec *s,
		     struct count *c)
{
	c->slow = o->len;
	begin_saved(o);
	dp_sequence_forget(o, s->rseq);
	restore(o);
	call_first(o, s, DP_CALLOUT_UNCOUNTED);
	put_to_insn(o, c);
	dp_sequence_sign(o, s->rseq);
	c->abort = o->len;
	begin_saved(o);
	DP_PUT(o, 0xeb, 0);
	c->to_restart = o->len - 1;
}

/* mov $enable_word, %rcx; mov (%rcx), %rcx; jrcxz 1f; jmp call_out;
 * 1: mov %fs:self, %rcx; jrcxz over; movzbl busy(%rcx), %ecx; jrcxz over; call_out: … */
static void put_enable_word(struct dp_out *o, const struct dp_detour_spec *s,
			    struct count *c)
{
	unsigned int to_self, to_call_out, to_over, to_idle, to_end;

	DP_PUT(o, 0x48, 0xb9);
	dp_put64(o, s->enable_word);
	DP_PUT(o, 0x48, 0x8b, 0x09, 0xe3, 0);
	to_self = o->len - 1;
	DP_PUT(o, 0xeb, 0);
	to_call_out = o->len - 1;
	dp_put_aim(o, to_self);
	DP_PUT(o, 0x64, 0x48, 0x8b, 0x0c, 0x25);
	dp_put32(o, (u32)s->self);
	DP_PUT(o, 0xe3, 0);
	to_over = o->len - 1;
	DP_PUT(o, 0x0f, 0xb6, 0x49, DP_DETOUR_BUSY, 0xe3, 0);
	to_idle = o->len - 1;
	dp_put_aim(o, to_call_out);
	restore(o);
	call_first(o, s, 0);
	if (s->tracked) {
		c->target = o->len;
		dp_put_at(o, DP_TRACKED_DEPTH, o->insn);
		dp_put_move_stack(o, DP_TRACKED_DEPTH);
	}
	DP_PUT(o, 0xeb, 0);
	to_end = o->len - 1;
	dp_put_aim(o, to_over);
	dp_put_aim(o, to_idle);
	begin_saved(o);
	restore(o);
	dp_put_move_stack(o, RED_ZONE);
	dp_put_aim(o, to_end);
}

static void put_count(struct dp_out *o, const struct dp_detour_spec *s,
		      struct count *c)
{
	struct dp_sequence q = { .rseq = s->rseq,
				 .table = s->table,
				 .counter = s->counter };

	dp_put_at(o, 0, o->insn);
	save(o);
	dp_put_aim(o, c->to_restart);
	dp_sequence_put(o, &q);
	o->code[q.to_slow] = (u8)(c->slow - (q.to_slow + 1));
	if (s->enable_word) {
		put_enable_word(o, s, c);
	} else {
		restore(o);
		dp_put_move_stack(o, RED_ZONE);
	}
	dp_put_aim_far(o, c->to_insn, 0);
	q.abort = c->abort;
	dp_sequence_describe(o, &q);
}

static void put_counting(struct dp_out *o, const struct dp_detour_spec *s,
			 struct dp_detour *d)
{
	struct dp_out head = *o;
	struct count c = { 0 };

	o->len = (s->tracked ? TRACKED_HEAD : DP_SEQUENCE_DESCRIPTOR) + s->pad;
	put_slow(o, s, &c);
	d->start = (u16)o->len;
	put_count(o, s, &c);
	if (!s->tracked)
		return;
	head.len = TRACKED_TARGET;
	dp_put64(&head, o->at + c.target);
}

/* lea -136(%rsp), %rsp; push $number; push back(%rip); jmp *entry(%rip); back: jmp *8(%rsp);
 * lea 144(%rsp), %rsp; and the region's first instruction. The agent counts, and goes on to a stub, or writes the
 * address for the jump. */
static void put_tracked(struct dp_out *o, const struct dp_detour_spec *s,
			struct dp_detour *d)
{
	u32 number = s->before[0] - 1;
	struct dp_out head = *o;

	head.unwind = NULL;
	head.len = s->pad;
	o->len = s->pad + 8;
	d->start = (u16)o->len;
	dp_put_at(o, 0, 0);
	dp_put_move_stack(o, -(RED_ZONE + 8));
	DP_PUT(o, 0x68);
	dp_put32(o, number);
	dp_put_deeper(o, 8);
	DP_PUT(o, 0xff, 0x35);
	dp_put_rel32(o, o->at + head.len);
	dp_put_deeper(o, 8);
	DP_PUT(o, 0xff, 0x25);
	dp_put_rel32(o, s->tracked + DP_STUB_WORD);
	dp_put64(&head, here(o));
	dp_put_deeper(o, -8);
	DP_PUT(o, 0xff, 0x64, 0x24, 0x08);
	dp_put_move_stack(o, DP_TRACKED_DEPTH);
}

/* The agent makes the system call, and returns behind the region:
 * lea -128(%rsp), %rsp; push $back; movl $back >> 32, 4(%rsp); mov $nr, %eax;
 * jmp *0(%rip); .quad dp_intercept_entry */
static void put_intercept(struct dp_out *o, const struct dp_detour_spec *s)
{
	u64 back = s->from + s->region->len;

	dp_put_move_stack(o, -RED_ZONE);
	DP_PUT(o, 0x68);
	dp_put32(o, (u32)back);
	dp_put_deeper(o, 8);
	DP_PUT(o, 0xc7, 0x44, 0x24, 0x04);
	dp_put32(o, (u32)(back >> 32));
	DP_PUT(o, 0xb8);
	dp_put32(o, s->intercept);
	DP_PUT(o, 0xff, 0x25, 0, 0, 0, 0);
	dp_put64(o, s->intercept_entry);
}

/* A descriptor has to be aligned. It stands behind the jump over what is hardly ever run. */
static unsigned int place_descriptor(const struct dp_out *o)
{
	const unsigned int behind = 12; /* restore, the red zone, the jump */

	return (o->len + behind + DP_SEQUENCE_DESCRIPTOR - 1) &
	       ~(DP_SEQUENCE_DESCRIPTOR - 1u);
}

/*     save
 *  1: count
 *     restore; jmp 2f
 *     descriptor; abort: jmp 1b
 *     slow: restore; call out
 *  2: */
static void count_inner(struct dp_out *o, const struct dp_detour_spec *s, int i)
{
	struct dp_sequence q = { .rseq = s->inner_rseq,
				 .table = s->table,
				 .counter = s->inner[i] - 1 };
	unsigned int again, to_end;

	save(o);
	again = o->len;
	dp_sequence_put(o, &q);
	q.descriptor = place_descriptor(o);
	o->len = again;
	dp_sequence_put(o, &q);
	restore(o);
	dp_put_move_stack(o, RED_ZONE);
	DP_PUT(o, 0xeb, 0);
	to_end = o->len - 1;
	while (o->len < q.descriptor)
		DP_PUT(o, DP_BREAKPOINT);
	o->len += DP_SEQUENCE_DESCRIPTOR;
	dp_sequence_sign(o, s->inner_rseq);
	q.abort = o->len;
	begin_saved(o);
	dp_put_jmp(o, o->at + again);
	dp_put_aim(o, q.to_slow);
	dp_sequence_forget(o, s->inner_rseq);
	restore(o);
	dp_put_callout(o, s->entry, s->before[i] - 1);
	dp_put_aim(o, to_end);
	dp_sequence_describe(o, &q);
}

/* Let the copies of @branches, each of which ends with its displacement, lead to @to. */
static void aim(struct dp_out *o, const struct dp_detour *d, const u8 *len,
		u8 branches, u16 to)
{
	unsigned int end = o->len;
	int i;

	for (i = 0; i < DP_REGION_INSNS; i++) {
		if (!(branches >> i & 1))
			continue;
		o->len = d->insn[i] + len[i] - 4;
		dp_put_rel32(o, o->at + to);
	}
	o->len = end;
}

/* Branches from one instruction of the region to a later one stay in the detour. */
static void aim_inside(struct dp_out *o, const struct dp_region *r,
		       const struct dp_detour *d, const u8 *len)
{
	u8 earlier;
	int k;

	for (k = 1; k < r->nr; k++) {
		earlier = (u8)((1 << k) - 1);
		aim(o, d, len, dp_region_branches(r, r->at[k]) & earlier,
		    d->at[k]);
	}
}

static void put_duplicate(struct dp_out *o, const struct dp_detour_spec *s,
			  struct dp_detour *d, const u8 *len)
{
	const struct dp_duplicate *l = &s->duplicate;

	if (!l->before)
		return;
	d->duplicate = (u16)o->len;
	dp_put_at(o, 0, DP_UNWIND_DUPLICATE);
	call_before(o, s, l->before, l->by);
	d->duplicate_insn = (u16)o->len;
	dp_put(o, l->code, l->len);
	aim(o, d, len, l->branches, d->duplicate);
}

/* What comes before instruction @i */
static void put_before(struct dp_out *o, const struct dp_detour_spec *s, int i,
		       struct dp_counted *counted)
{
	if (s->call_at[i])
		dp_counted_put(o, s, i, counted);
	else if (i && s->inner[i])
		count_inner(o, s, i);
	else if (i || !(s->rseq || s->tracked || s->native))
		call_before(o, s, s->before[i], s->by[i]);
}

/* Where the last instruction does not fall through, nothing is where the jump back would be. */
static void put_cold(struct dp_out *o, const struct dp_detour_spec *s,
		     const struct dp_counted *counted)
{
	int i;

	for (i = 0; i < s->region->nr; i++) {
		if (!s->call_at[i])
			continue;
		DP_PUT(o, DP_BREAKPOINT);
		dp_counted_cold(o, s, i, &counted[i]);
	}
}

static int put_insns(struct dp_out *o, const struct dp_detour_spec *s,
		     struct dp_detour *d)
{
	struct dp_counted counted[DP_REGION_INSNS];
	const struct dp_region *r = s->region;
	u8 len[DP_REGION_INSNS] = { 0 };
	struct dp_copy copy;
	int i, err;

	for (i = 0; i < r->nr; i++) {
		d->at[i] = (u16)o->len;
		dp_put_at(o, 0, (u8)i);
		if (i + 1 == r->nr)
			call_out(o, s->entry, s->call);
		put_before(o, s, i, &counted[i]);
		d->insn[i] = (u16)o->len;
		if (s->intercept_entry && i + 1 == r->nr) {
			put_intercept(o, s);
			continue;
		}
		err = dp_insn_relocate(s->code + r->at[i], &r->facts[i],
				       s->from + r->at[i], here(o), &copy,
				       NULL);
		if (err)
			return err;
		dp_put(o, copy.code, copy.body_len);
		dp_end_copy(o, d->insn[i], r->facts[i].class,
			    i + 1 < r->nr ? (u8)(i + 1) : DP_UNWIND_BEHIND);
		len[i] = copy.body_len;
		d->atomic |= (u8)(copy.atomic << i);
		if (i || !s->native)
			call_out(o, s->entry, s->after[i]);
	}
	d->at[i] = (u16)o->len;
	if (!s->intercept_entry && dp_insn_falls_through(r->facts[i - 1].class))
		dp_put_jmp(o, s->from + r->len);
	aim_inside(o, r, d, len);
	put_duplicate(o, s, d, len);
	put_cold(o, s, counted);
	return 0;
}

int dp_detour_make(const struct dp_detour_spec *s, struct dp_detour *d)
{
	struct dp_out o = { .code = d->code,
			    .at = s->at,
			    .unwind = &d->unwind };
	int err = 0;

	*d = (struct dp_detour){ 0 };
	/* What saves others says so. */
	d->unwind.slot[DP_RAX] = 1;
	d->unwind.slot[DP_RCX] = 2;
	if (s->calls.wipe) {
		d->unwind.slot[DP_RDX] = 3;
		d->unwind.slot[DP_RSI] = 4;
	}
	if (s->native)
		err = dp_native_head(&o, s, d);
	else if (s->followed)
		dp_followed_head(&o, s, d);
	else if (s->rseq)
		put_counting(&o, s, d);
	else if (s->tracked)
		put_tracked(&o, s, d);
	else
		d->start = (u16)(o.len = s->pad);
	if (err)
		return err;
	err = put_insns(&o, s, d);
	d->len = (u16)o.len;
	if (!err && o.far)
		err = -ENOMEM;
	return err;
}

unsigned int dp_detour_entry_stub(u8 *code, u64 target)
{
	struct dp_out o = { .code = code };

	DP_PUT(&o, 0xff, 0x25, 0, 0, 0, 0);
	dp_put64(&o, target);
	return o.len;
}

void dp_detour_stubs(u8 *code, const struct dp_agent_entries *entries)
{
	dp_detour_entry_stub(code + DP_STUB_HIT, entries->hit);
	dp_detour_entry_stub(code + DP_STUB_TRACKED, entries->tracked);
	dp_detour_entry_stub(code + DP_STUB_OBSERVE, entries->observe);
	dp_detour_entry_stub(code + DP_STUB_ENTER, entries->enter);
	dp_detour_entry_stub(code + DP_STUB_EXIT, entries->exit);
	dp_detour_entry_stub(code + DP_STUB_ENTER_TIMED, entries->enter_timed);
	dp_detour_entry_stub(code + DP_STUB_EXIT_TIMED, entries->exit_timed);
	dp_detour_entry_stub(code + DP_STUB_HANDLER, entries->handler);
	dp_detour_entry_stub(code + DP_STUB_PAIR, entries->pair);
	dp_detour_entry_stub(code + DP_STUB_KEEP, entries->keep);
	dp_detour_entry_stub(code + DP_STUB_KEEP_TEXTS, entries->keep_texts);
}
