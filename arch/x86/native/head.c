// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* head: what stands before the instructions of a detour that has a program. */
#include "arch/x86/native/body.h"
#include "arch/x86/native/head.h"
#include "arch/x86/sequence.h"
#include "engine/insn/callout.h"

/* A record may wait for the first instruction. Only threads that leave make records, so they have
 * a copy of their own, with a call-out behind it. Return: its bytes. */
static u32 put_first(struct dp_body *b, const struct dp_detour_spec *s)
{
	const struct dp_region *r = s->region;
	struct dp_out *o = b->o;
	struct dp_copy copy;

	if (!s->after[0])
		return 0;
	if (dp_insn_relocate(s->code, &r->facts[0], s->from, o->at + o->len,
			     &copy, NULL)) {
		b->fails = true;
		return 0;
	}
	dp_put(o, copy.code, copy.body_len);
	dp_end_copy(o, o->len - copy.body_len, r->facts[0].class,
		    r->nr > 1 ? 1 : DP_UNWIND_BEHIND);
	dp_put_move_stack(o, -DP_RED_ZONE_SIZE);
	dp_put_callout(o, s->entry, s->after[0] - 1);
	return copy.body_len;
}

/** struct leave - the jump from there: offset of its displacement; it leads to @skip bytes behind
 *  what comes next */
struct leave {
	unsigned int jump, skip;
};

/* The agent counts the hit and runs the program. */
static struct leave put_leave(struct dp_body *b, const struct dp_detour_spec *s)
{
	struct dp_out *o = b->o;
	struct leave l;

	dp_body_bind(b, DP_LABEL_LEAVE);
	dp_body_inside(b);
	if (s->rseq)
		dp_sequence_forget(o, s->rseq);
	dp_body_exit(b, true);
	dp_put_callout(o, s->entry, (s->before[0] - 1) | DP_CALLOUT_UNCOUNTED);
	l.skip = put_first(b, s);
	DP_PUT(o, 0xe9);
	l.jump = o->len;
	dp_put32(o, 0);
	return l;
}

/* Where an interruption leads: to the beginning */
static unsigned int put_abort(struct dp_body *b, const struct dp_detour_spec *s,
			      u8 label)
{
	unsigned int at;

	dp_sequence_sign(b->o, s->rseq);
	at = b->o->len;
	dp_body_inside(b);
	dp_body_jump(b, DP_CC_ALWAYS, label);
	return at;
}

/* mov $counter, %edx: as long for every counter, so that the code has one length */
static void put_counter(struct dp_body *b, u32 counter)
{
	DP_PUT(b->o, 0xba);
	dp_put32(b->o, counter);
}

/* rdx: which counter. Its flags are saved. */
static void put_count(struct dp_body *b, const struct dp_detour_spec *s,
		      unsigned int abort)
{
	struct dp_sequence q = { .rseq = s->rseq,
				 .table = s->table,
				 .descriptor =
					 b->n->nr_records *
					 (unsigned int)DP_SEQUENCE_DESCRIPTOR,
				 .abort = abort };

	dp_body_bind(b, DP_LABEL_UNMET);
	dp_sequence_begin(b->o, &q);
	dp_x86_test(b->o, DP_RCX);
	dp_body_jump(b, DP_CC_E, DP_LABEL_LEAVE);
	DP_PUT(b->o, 0x48, 0xff, 0x04, 0x11); /* incq (%rcx,%rdx) */
	dp_sequence_commit(b->o, &q);
	dp_sequence_describe(b->o, &q);
}

/* The CPU is in a hit, and so is this: cmpb $0, %gs:busy; jne leave */
static void put_ask_busy(struct dp_body *b, const struct dp_percpu *p)
{
	DP_PUT(b->o, 0x65, 0x80, 0x3c, 0x25);
	dp_put32(b->o, (u32)p->busy);
	DP_PUT(b->o, 0);
	dp_body_jump(b, DP_CC_E ^ DP_CC_NOT, DP_LABEL_LEAVE);
}

/* mov %gs:counters, %rcx; lock incq counter(%rcx): the thread may change its CPU in between. */
static void put_count_locked(struct dp_body *b, const struct dp_percpu *p,
			     u32 counter)
{
	DP_PUT(b->o, 0x65, 0x48, 0x8b, 0x0c, 0x25);
	dp_put32(b->o, (u32)p->counters);
	DP_PUT(b->o, 0xf0, 0x48, 0xff, 0x81);
	dp_put32(b->o, counter);
}

/* Where threads have no restartable sequences */
static void put_program_percpu(struct dp_body *b,
			       const struct dp_detour_spec *s)
{
	bool unmet = dp_body_ends(b, DP_NATIVE_UNMET);

	dp_put_at(b->o, 0, 0);
	dp_body_enter(b);
	put_ask_busy(b, s->percpu);
	dp_body_blocks(b);
	if (dp_body_ends(b, DP_NATIVE_MET)) {
		dp_body_bind(b, DP_LABEL_MET);
		put_count_locked(b, s->percpu, s->met_counter);
		if (unmet)
			dp_body_jump(b, DP_CC_ALWAYS, DP_LABEL_OUT);
	}
	if (unmet) {
		dp_body_bind(b, DP_LABEL_UNMET);
		put_count_locked(b, s->percpu, s->counter);
	}
	dp_body_bind(b, DP_LABEL_OUT);
	dp_body_exit(b, false);
}

/* A hit is not met until it is known to be. */
static void put_program(struct dp_body *b, const struct dp_detour_spec *s,
			unsigned int abort)
{
	dp_put_at(b->o, 0, 0);
	dp_body_enter(b);
	if (dp_body_ends(b, DP_NATIVE_UNMET))
		put_counter(b, s->counter);
	dp_body_blocks(b);
	if (dp_body_ends(b, DP_NATIVE_MET)) {
		dp_body_bind(b, DP_LABEL_MET);
		put_counter(b, s->met_counter);
	}
	if (dp_body_counts(b))
		put_count(b, s, abort);
	dp_body_bind(b, DP_LABEL_OUT);
	dp_body_exit(b, false);
}

static void put(struct dp_body *b, const struct dp_detour_spec *s,
		struct dp_detour *d)
{
	unsigned int descriptors = b->n->nr_records + dp_body_counts(b);
	unsigned int abort = 0;
	struct leave l;
	u8 i;

	b->o->len = descriptors * DP_SEQUENCE_DESCRIPTOR + s->pad;
	l = put_leave(b, s);
	d->leave = b->label[DP_LABEL_LEAVE];
	if (dp_body_counts(b))
		abort = put_abort(b, s, DP_LABEL_UNMET);
	for (i = 0; i < b->n->nr_records; i++)
		b->abort[i] = (u16)put_abort(b, s, (u8)(DP_LABEL_RECORD + i));
	d->start = (u16)b->o->len;
	put_program(b, s, abort);
	dp_put_aim_far(b->o, l.jump, l.skip);
}

/* Nothing is restarted. */
static void put_percpu(struct dp_body *b, const struct dp_detour_spec *s,
		       struct dp_detour *d)
{
	struct leave l;

	b->o->len = s->pad;
	l = put_leave(b, s);
	d->leave = b->label[DP_LABEL_LEAVE];
	d->start = (u16)b->o->len;
	put_program_percpu(b, s);
	dp_put_aim_far(b->o, l.jump, l.skip);
}

static int encode(struct dp_out *o, const struct dp_detour_spec *s,
		  struct dp_detour *d, unsigned int most)
{
	struct dp_body b = { .n = s->native, .spec = s, .most = most };

	/* Records are made in sequences. */
	if (s->percpu && s->native->nr_records)
		return -ENOMEM;
	do {
		dp_body_begin(&b, o);
		if (s->percpu)
			put_percpu(&b, s, d);
		else
			put(&b, s, d);
	} while (!dp_body_end(&b));
	return b.fails || o->len > most ? -ENOMEM : 0;
}

int dp_native_head(struct dp_out *o, const struct dp_detour_spec *s,
		   struct dp_detour *d)
{
	return encode(o, s, d, DP_NATIVE_MAX + s->pad);
}

/* With room for the first instruction's copy, and to touch what takes most code */
bool dp_native_encodes(const struct dp_native *native,
		       const struct dp_percpu *percpu,
		       struct dp_detour *scratch)
{
	static const struct dp_rseq rseq;
	const struct dp_detour_spec spec = {
		.native = native,
		.rseq = percpu ? NULL : &rseq,
		.percpu = percpu,
		.stream = { .commits = DP_COMMITS_IF_TOUCHED,
			    .memory = { .operand = { .disp = 0x7fffffff,
						     .base = DP_RAX,
						     .index = DP_RCX,
						     .scale = 8 },
					.size = 64,
					.writes = true } },
		.before = { 1 },
	};
	struct dp_out o = { .code = scratch->code };

	return !encode(&o, &spec, scratch, DP_NATIVE_MAX - DP_NATIVE_FIRST);
}
