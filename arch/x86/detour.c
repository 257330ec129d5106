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
#include "arch/x86/emit.h"
#include "engine/insn/callout.h"

#define RED_ZONE 128
#define RSEQ_CPU_ID 4
#define RSEQ_CS 8
#define RSEQ_DESCRIPTOR 32

static u64 here(const struct dp_out *o)
{
	return o->at + o->len;
}

/* lea @by(%rsp), %rsp */
static void move_stack(struct dp_out *o, s32 by)
{
	if (by == -RED_ZONE) { /* fits in a byte */
		DP_PUT(o, 0x48, 0x8d, 0x64, 0x24, 0x80);
		return;
	}
	DP_PUT(o, 0x48, 0x8d, 0xa4, 0x24);
	dp_put32(o, (u32)by);
}

/* The stack pointer is below the red zone here. */
static void call_agent(struct dp_out *o, u64 entry, u32 number)
{
	DP_PUT(o, 0x68); /* push $number */
	dp_put32(o, number);
	DP_PUT(o, 0xe8); /* call entry */
	dp_put_rel32(o, entry);
	move_stack(o, RED_ZONE + 8);
}

/* Behind the descriptor. */
#define TRACKED_TARGET RSEQ_DESCRIPTOR
#define TRACKED_HEAD (RSEQ_DESCRIPTOR + 8)

/* push target(%rip); push $number; call entry; jmp *8(%rsp)
 * target: lea 144(%rsp), %rsp */
static void call_tracked(struct dp_out *o, const struct dp_detour_spec *s,
			 u32 number)
{
	DP_PUT(o, 0xff, 0x35);
	dp_put_rel32(o, o->at + TRACKED_TARGET);
	DP_PUT(o, 0x68);
	dp_put32(o, number | DP_CALLOUT_TRACKED);
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
		call_agent(o, s->entry, number);
}

static void call_out(struct dp_out *o, u64 entry, u32 number)
{
	if (!number)
		return;
	move_stack(o, -RED_ZONE);
	call_agent(o, entry, number - 1);
}

static void save(struct dp_out *o)
{
	move_stack(o, -RED_ZONE);
	DP_PUT(o, 0x50, 0x51); /* push %rax; push %rcx */
}

/* Undo save(), except for the red zone. */
static void restore(struct dp_out *o)
{
	DP_PUT(o, 0x59, 0x58); /* pop %rcx; pop %rax */
}

/* Offsets in a counting detour. For a jump with one byte of displacement: offset of that
 * byte. */
struct count {
	unsigned int slow, to_insn, abort, to_restart;
	unsigned int restart, first, committed;
	unsigned int target; /* where a tracked call goes on otherwise */
};

static void aim(struct dp_out *o, unsigned int displacement)
{
	unsigned int far = o->len - (displacement + 1);

	o->code[displacement] = (u8)far;
	o->far |= far > 127;
}

/* A thread clears its rseq_cs before it leaves the detour: the kernel may read the
 * descriptor at any time, even after the detour is released. */
static void put_forget(struct dp_out *o, const struct dp_detour_spec *s)
{
	DP_PUT(o, 0x64, 0x48, 0xc7, 0x04, 0x25); /* movq $0, %fs:rseq_cs */
	dp_put32(o, (u32)s->rseq->offset + RSEQ_CS);
	dp_put32(o, 0);
}

/* A call-out comes before the first instruction: a displacement of one byte may not reach. */
static void put_to_insn(struct dp_out *o, struct count *c)
{
	DP_PUT(o, 0xe9);
	dp_put32(o, 0);
	c->to_insn = o->len - 4;
}

static void aim_far(struct dp_out *o, unsigned int displacement)
{
	unsigned int end = o->len;

	o->len = displacement;
	dp_put32(o, end - (displacement + 4));
	o->len = end;
}

/* The code where counting is not possible, and the abort handler that restarts counting. Both
 * stand before the counting code, which falls through. */
static void put_slow(struct dp_out *o, const struct dp_detour_spec *s,
		     struct count *c)
{
	c->slow = o->len;
	put_forget(o, s);
	restore(o);
	call_first(o, s, DP_CALLOUT_UNCOUNTED);
	put_to_insn(o, c);
	DP_PUT(o, 0x0f, 0xb9, 0x3d); /* ud1: the signature is its operand */
	dp_put32(o, s->rseq->signature);
	c->abort = o->len;
	DP_PUT(o, 0xeb, 0);
	c->to_restart = o->len - 1;
}

/* mov $enable_word, %rcx; mov (%rcx), %rcx; jrcxz 1f; jmp call_out;
 * 1: mov %fs:self, %rcx; jrcxz over; mov busy(%rcx), %ecx; jrcxz over; call_out: … */
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
	aim(o, to_self);
	DP_PUT(o, 0x64, 0x48, 0x8b, 0x0c, 0x25);
	dp_put32(o, (u32)s->self);
	DP_PUT(o, 0xe3, 0);
	to_over = o->len - 1;
	DP_PUT(o, 0x8b, 0x49, DP_DETOUR_BUSY, 0xe3, 0);
	to_idle = o->len - 1;
	aim(o, to_call_out);
	restore(o);
	call_first(o, s, 0);
	if (s->tracked) {
		c->target = o->len;
		move_stack(o, DP_TRACKED_DEPTH);
	}
	DP_PUT(o, 0xeb, 0);
	to_end = o->len - 1;
	aim(o, to_over);
	aim(o, to_idle);
	restore(o);
	move_stack(o, RED_ZONE);
	aim(o, to_end);
}

static void put_count(struct dp_out *o, const struct dp_detour_spec *s,
		      struct count *c)
{
	u32 area = (u32)s->rseq->offset;

	save(o);
	c->restart = o->len;
	aim(o, c->to_restart);
	DP_PUT(o, 0x48, 0x8d, 0x05); /* lea descriptor(%rip), %rax */
	dp_put_rel32(o, o->at);
	DP_PUT(o, 0x64, 0x48, 0x89, 0x04, 0x25); /* mov %rax, %fs:rseq_cs */
	dp_put32(o, area + RSEQ_CS);
	c->first = o->len;
	/* The table has an entry for each value of 16 bits. */
	DP_PUT(o, 0x64, 0x0f, 0xb7, 0x04, 0x25); /* movzwl %fs:cpu_id, %eax */
	dp_put32(o, area + RSEQ_CPU_ID);
	DP_PUT(o, 0x48, 0xb9); /* mov $table, %rcx */
	dp_put64(o, s->table);
	DP_PUT(o, 0x48, 0x8b, 0x0c, 0xc1); /* mov (%rcx,%rax,8), %rcx */
	DP_PUT(o, 0xe3, (u8)(c->slow - (o->len + 2))); /* jrcxz slow */
	DP_PUT(o, 0x48, 0x8b, 0x81); /* mov counter(%rcx), %rax */
	dp_put32(o, s->counter);
	DP_PUT(o, 0x48, 0x8d, 0x40, 0x01); /* lea 1(%rax), %rax */
	DP_PUT(o, 0x48, 0x89, 0x81); /* mov %rax, counter(%rcx) */
	dp_put32(o, s->counter);
	c->committed = o->len;
	put_forget(o, s);
	if (s->enable_word) {
		put_enable_word(o, s, c);
	} else {
		restore(o);
		move_stack(o, RED_ZONE);
	}
	aim_far(o, c->to_insn);
}

static void put_descriptor(struct dp_out *o, const struct count *c)
{
	dp_put64(o, 0); /* version, flags */
	dp_put64(o, o->at + c->first);
	dp_put64(o, c->committed - c->first);
	dp_put64(o, o->at + c->abort);
}

static void put_counting(struct dp_out *o, const struct dp_detour_spec *s,
			 struct dp_detour *d)
{
	struct dp_out head = *o;
	struct count c = { 0 };

	o->len = s->tracked ? TRACKED_HEAD : RSEQ_DESCRIPTOR;
	put_slow(o, s, &c);
	d->start = (u16)o->len;
	put_count(o, s, &c);
	put_descriptor(&head, &c);
	if (s->tracked)
		dp_put64(&head, o->at + c.target);
}

/* The agent makes the system call, and returns behind the region:
 * lea -128(%rsp), %rsp; push $back; movl $back >> 32, 4(%rsp); mov $nr, %eax;
 * jmp *0(%rip); .quad dp_intercept_entry */
static void put_intercept(struct dp_out *o, const struct dp_detour_spec *s)
{
	u64 back = s->from + s->region->len;

	DP_PUT(o, 0x48, 0x8d, 0x64, 0x24, 0x80, 0x68);
	dp_put32(o, (u32)back);
	DP_PUT(o, 0xc7, 0x44, 0x24, 0x04);
	dp_put32(o, (u32)(back >> 32));
	DP_PUT(o, 0xb8);
	dp_put32(o, s->intercept);
	DP_PUT(o, 0xff, 0x25, 0, 0, 0, 0);
	dp_put64(o, s->intercept_entry);
}

static int put_insns(struct dp_out *o, const struct dp_detour_spec *s,
		     struct dp_detour *d)
{
	const struct dp_region *r = s->region;
	struct dp_copy copy;
	int i, err;

	for (i = 0; i < r->nr; i++) {
		d->at[i] = (u16)o->len;
		if (i + 1 == r->nr)
			call_out(o, s->entry, s->call);
		if (i || !s->rseq)
			call_out(o, s->entry, s->before[i]);
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
		d->atomic |= (u8)(copy.atomic << i);
		call_out(o, s->entry, s->after[i]);
	}
	d->at[i] = (u16)o->len;
	if (!s->intercept_entry && dp_insn_falls_through(r->facts[i - 1].class))
		dp_put_jmp(o, s->from + r->len);
	return 0;
}

int dp_detour_make(const struct dp_detour_spec *s, struct dp_detour *d)
{
	struct dp_out o = { d->code, 0, s->at, false };
	int err;

	*d = (struct dp_detour){ 0 };
	if (s->rseq)
		put_counting(&o, s, d);
	err = put_insns(&o, s, d);
	d->len = (u16)o.len;
	if (!err && o.far)
		err = -ENOMEM;
	return err;
}

unsigned int dp_detour_entry_stub(u8 *code, u64 target)
{
	struct dp_out o = { code, 0, 0, false };

	DP_PUT(&o, 0xff, 0x25, 0, 0, 0, 0);
	dp_put64(&o, target);
	return o.len;
}

void dp_detour_stubs(u8 *code, const struct dp_agent_entries *entries)
{
	dp_detour_entry_stub(code + DP_STUB_HIT, entries->hit);
	dp_detour_entry_stub(code + DP_STUB_TRACKED, entries->tracked);
	dp_detour_entry_stub(code + DP_STUB_OBSERVE, entries->observe);
}
