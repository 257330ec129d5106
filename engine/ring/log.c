// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * log: records on their way to the reader.
 *
 * A record goes into the stream of its CPU, by a restartable sequence. Where a thread has none of
 * those, it goes into a ring: each shard has one, of slots of one size. A writer takes a number, which selects a
 * slot, fills the slot, and hands it over by one store of the slot's turn. Until then
 * the reader does not look at it. Neither waits for the other: where the reader has not
 * emptied a slot yet, the record is lost, and counted; or the tool has asked for all records,
 * and the writer waits as long as there is a tool that reads.
 */
#include "arch/arch.h"
#include "engine/layout/ring.h"
#include "engine/layout/arena.h"
#include "engine/layout/private.h"
#include "engine/layout/site.h"
#include "engine/ring/log.h"
#include "engine/hit/hit.h"
#include "engine/hit/program.h"
#include "engine/hit/thread.h"
#include "port.h"
#include "engine/vm/vm.h"

/* Fork children can write to a ring, and must not keep their parent in a loop here. Other
 * writers come in between so often only when they want to. */
#define MOST_TRIES 1000
#define WAIT_MS 1

static struct dp_slot *slot_at(struct dp_ring *ring, u64 number)
{
	const struct dp_arena_control *c = &dp_arena.control;

	return (void *)((char *)(ring + 1) +
			(number & c->slot_mask) * c->slot_size);
}

static u64 round_of(u64 number)
{
	return number & ~(u64)dp_arena.control.slot_mask;
}

/* Return: a slot that this writer owns, or NULL when the ring is full. */
static struct dp_slot *take_slot(struct dp_ring *ring, u64 *number)
{
	u32 tries;

	for (tries = 0; tries < MOST_TRIES; tries++) {
		u64 n = __atomic_load_n(&ring->next, __ATOMIC_RELAXED);
		struct dp_slot *slot = slot_at(ring, n);
		s64 ahead =
			(s64)(__atomic_load_n(&slot->turn, __ATOMIC_ACQUIRE) -
			      round_of(n));

		if (ahead < 0)
			return NULL;
		/* Else another writer has overtaken this one. */
		if (!ahead && __atomic_compare_exchange_n(
				      &ring->next, &n, n + 1, false,
				      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
			*number = n;
			return slot;
		}
	}
	return NULL;
}

static struct dp_ring *ring_here(u32 cpu)
{
	const struct dp_arena_control *c = &dp_arena.control;

	return dp_at(c->ring_off + (u64)(cpu & c->shard_mask) * c->ring_stride);
}

static bool ring_is_full(struct dp_ring *ring)
{
	u64 n = __atomic_load_n(&ring->next, __ATOMIC_RELAXED);

	return (s64)(__atomic_load_n(&slot_at(ring, n)->turn,
				     __ATOMIC_ACQUIRE) -
		     round_of(n)) < 0;
}

/* The stream of the CPU that this thread is on, if it can use that, or NULL */
static const struct dp_stream *stream_here(u32 cpu)
{
	const struct dp_arena_control *c = &dp_arena.control;

	return c->stream_mask && cpu < DP_TABLE_WORDS && dp_table[cpu] ?
		       dp_at(c->stream_off + (u64)cpu * c->stream_stride) :
		       NULL;
}

static bool is_full(u32 cpu)
{
	const struct dp_stream *s = stream_here(cpu);

	return s ? __atomic_load_n(&s->head, __ATOMIC_RELAXED) >=
			       __atomic_load_n(&s->limit, __ATOMIC_ACQUIRE) :
		   ring_is_full(ring_here(cpu));
}

/* Wait a moment, if the tool reads, and will do so. Return: how long, in ticks; 0: it will not */
static u64 wait_a_moment(void)
{
	const struct dp_arena_control *c = &dp_arena.control;
	u64 began;

	if (!c->block ||
	    __atomic_load_n(&c->tool_futex, __ATOMIC_RELAXED) & DP_TOOL_DIED ||
	    __atomic_load_n(&dp_private.leaving, __ATOMIC_RELAXED))
		return 0;
	began = dp_port_ticks();
	dp_port_wait(&c->block, 1, WAIT_MS);
	return dp_port_ticks() - began;
}

u64 dp_log_wait(void)
{
	u64 took, all = 0;

	while (dp_arena.control.block && is_full(dp_hit_cpu()) &&
	       (took = wait_a_moment()))
		all += took;
	return all;
}

/* The reader has shown what is later than a hit that has waited. */
static bool waits_on(struct dp_record *head, struct dp_leaving *leaving)
{
	u64 took = wait_a_moment();

	if (!took)
		return false;
	head->ticks += took;
	if (leaving) {
		leaving->entered += took;
		leaving->waited += took;
	}
	return true;
}

static void fill(struct dp_record *r, const struct dp_context *ctx)
{
	const struct dp_vm *vm = &ctx->vm;

	*r = (struct dp_record){
		.ticks = ctx->ticks,
		.probe = ctx->probe,
		.tid = ctx->tid,
		.major = vm->major,
		.minor = vm->minor,
		.exception = vm->end == DP_VM_EXCEPTION ? vm->exception : 0,
		.len = vm->lp + vm->stp,
		.traces = vm->stp,
		.facility = vm->facility,
		.flags = (vm->truncated ? DP_RECORD_TRUNCATED : 0) | vm->taken,
		.parm = { vm->parm[0], vm->parm[1] },
	};
}

static void write(struct dp_record *to, const struct dp_record *head,
		  const struct dp_log_part *parts, u32 nr)
{
	u8 *data = (u8 *)(to + 1);
	u32 i;

	*to = *head;
	for (i = 0; i < nr; data += parts[i++].len)
		dp_bytes_copy(data, parts[i].bytes, parts[i].len);
}

/* Return: false if the ring is full. */
static bool put_in_ring(struct dp_record *head, const struct dp_log_part *parts,
			u32 nr)
{
	struct dp_slot *slot;
	u64 number;

	head->cpu = dp_hit_cpu();
	slot = take_slot(ring_here(head->cpu), &number);
	if (!slot)
		return false;
	write(&slot->record, head, parts, nr);
	/* A full barrier: this thread's next record gets its time when this one
	 * can be seen. */
	__atomic_exchange_n(&slot->turn, round_of(number) + 1,
			    __ATOMIC_SEQ_CST);
	return true;
}

static enum dp_stream_put_result put_in_stream(struct dp_record *head,
					       const struct dp_log_part *parts,
					       u32 nr, bool now)
{
	const struct dp_arena_control *c = &dp_arena.control;
	u32 probe = head->probe;
	enum dp_stream_put_result how;
	struct dp_stream_put p;

	if (!c->stream_mask || c->rseq_signature != DP_STREAM_SIGNATURE ||
	    probe >= DP_STREAM_PROBES ||
	    head->len > DP_STREAM_MOST - sizeof(*head))
		return DP_STREAM_UNUSABLE;
	p.table = (u64)dp_table;
	p.base = (u64)dp_at(c->stream_off);
	p.stride = c->stream_stride;
	p.mask = c->stream_mask;
	p.rseq = c->rseq_offset;
	p.nr = nr;
	p.stamps = now;
	p.sequence = (u64)dp_private.sequence;
	p.head = (struct dp_log_part){ head, sizeof(*head) };
	p.part = parts;
	p.bytes = (sizeof(*head) + head->len + 7u) & ~7ull;
	head->probe = dp_stream_what(probe, 0, DP_STREAM_WHOLE);
	how = dp_stream_put(&p);
	head->probe = probe;
	return how;
}

void dp_log_put(struct dp_record *head, struct dp_leaving *leaving,
		const struct dp_log_part *parts, u32 nr, bool now)
{
	enum dp_stream_put_result how;

	do {
		how = put_in_stream(head, parts, nr, now);
		if (how == DP_STREAM_UNUSABLE && put_in_ring(head, parts, nr))
			how = DP_STREAM_PUT;
	} while (how != DP_STREAM_PUT && waits_on(head, leaving));
	if (how != DP_STREAM_PUT)
		dp_tally(head->probe, DP_TALLY_LOST);
}

void dp_log_commit(struct dp_context *ctx)
{
	struct dp_log_part parts[] = { { ctx->vm.log, ctx->vm.lp },
				       { ctx->vm.traces, ctx->vm.stp } };
	struct dp_record head;

	fill(&head, ctx);
	dp_log_put(&head, NULL, parts, 2, !ctx->waits);
}

void dp_log_discard(struct dp_context *ctx)
{
	dp_tally(ctx->probe, DP_TALLY_DISCARDED);
	dp_program_undo(ctx->probe);
}
