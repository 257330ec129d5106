// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * reader: the tool's end of the rings.
 *
 * A record is copied before it is checked, and the ring's geometry is the reader's own.
 * Whatever the target writes there, no byte outside the ring is touched.
 */
#include "engine/layout/ring.h"
#include "engine/site/counts.h"
#include "engine/site/internal.h"
#include "engine/site/stream.h"
#include "port.h"

static struct dp_ring *ring_at(const struct dp_engine *e, u32 i)
{
	const struct dp_reader *r = &e->reader;

	return (void *)((char *)e->arena + r->ring_off +
			(u64)i * r->ring_stride);
}

static struct dp_slot *slot_at(const struct dp_engine *e, u32 ring, u64 number)
{
	const struct dp_reader *r = &e->reader;

	return (void *)((char *)(ring_at(e, ring) + 1) +
			(number & r->slot_mask) * r->slot_size);
}

_Static_assert(sizeof(struct dp_slot) % sizeof(u64) == 0 &&
		       sizeof(struct dp_record) % sizeof(u64) == 0 &&
		       sizeof(((struct dp_record_copy *)0)->data) %
				       sizeof(u64) ==
			       0,
	       "records are copied in words");

/* Each word once, whatever the target writes there. The last one may have bytes behind @n, which
 * both have room for. */
static void copy(void *to, const void *from, u64 n)
{
	const volatile u64 *s = from;
	u64 *d = to, words = (n + sizeof(u64) - 1) / sizeof(u64);

	while (words--)
		*d++ = *s++;
}

/* Return: false if the slot makes no sense. */
static bool copy_record(const struct dp_engine *e, const struct dp_slot *slot,
			struct dp_record_copy *to)
{
	copy(&to->head, &slot->record, sizeof(to->head));
	if (to->head.probe >= e->nr_probes || to->head.len > sizeof(to->data) ||
	    to->head.len > e->reader.slot_size - sizeof(*slot) ||
	    to->head.traces > to->head.len)
		return false;
	copy(to->data, slot + 1, to->head.len);
	return true;
}

/* Free the slot for its next writer. */
static void pass_on(struct dp_engine *e, u32 i, struct dp_slot *slot)
{
	u64 round = e->reader.next[i]++ & ~(u64)e->reader.slot_mask;

	__atomic_store_n(&slot->turn, round + e->reader.slot_mask + 1,
			 __ATOMIC_RELEASE);
}

/* Skip a number that was taken and never handed over; only once no thread writes. */
static bool skip_torn(struct dp_engine *e, u32 i, struct dp_slot *slot)
{
	u64 next = __atomic_load_n(&ring_at(e, i)->next, __ATOMIC_ACQUIRE);

	if (next - e->reader.next[i] - 1 > e->reader.slot_mask)
		return false;
	e->reader.torn++;
	pass_on(e, i, slot);
	return true;
}

static size_t read_ring(struct dp_engine *e, u32 i,
			void (*take)(void *, const struct dp_record_copy *),
			void *arg, bool ended)
{
	struct dp_record_copy *record = &e->scratch->record;
	size_t n = 0, seen;

	/* At most one round of the ring: the target may go on making records. */
	for (seen = 0; seen <= e->reader.slot_mask; seen++) {
		u64 number = e->reader.next[i];
		u64 round = number & ~(u64)e->reader.slot_mask;
		struct dp_slot *slot = slot_at(e, i, number);
		u64 turn = __atomic_load_n(&slot->turn, __ATOMIC_ACQUIRE);

		if (turn != round + 1) {
			if ((ended || number < e->reader.settled[i]) &&
			    skip_torn(e, i, slot))
				continue;
			break;
		}
		if (copy_record(e, slot, record))
			take(arg, record);
		else
			e->reader.torn++;
		n++;
		pass_on(e, i, slot);
	}
	return n;
}

size_t dp_engine_records(struct dp_engine *e,
			 void (*take)(void *, const struct dp_record_copy *),
			 void *arg, bool ended)
{
	size_t n = 0;
	u32 i;

	if (!e->arena || !e->nr_programs)
		return 0;
	for (i = 0; i < e->reader.rings; i++)
		n += read_ring(e, i, take, arg, ended);
	return n + dp_stream_read(e, take, arg);
}

static bool is_stuck(const struct dp_engine *e, u32 i)
{
	u64 number = e->reader.next[i];
	u64 round = number & ~(u64)e->reader.slot_mask;

	return __atomic_load_n(&slot_at(e, i, number)->turn,
			       __ATOMIC_ACQUIRE) != round + 1 &&
	       __atomic_load_n(&ring_at(e, i)->next, __ATOMIC_ACQUIRE) -
			       number >
		       e->reader.slot_mask / 4;
}

bool dp_engine_records_stuck(const struct dp_engine *e)
{
	u32 i;

	for (i = 0; e->arena && e->nr_programs && i < e->reader.rings; i++)
		if (is_stuck(e, i))
			return true;
	return false;
}

void dp_engine_records_settled(struct dp_engine *e)
{
	u32 i;

	for (i = 0; i < e->reader.rings; i++)
		e->reader.settled[i] =
			__atomic_load_n(&ring_at(e, i)->next, __ATOMIC_ACQUIRE);
}

u64 dp_engine_ticks(void)
{
	return dp_port_clock();
}

u64 dp_engine_torn(const struct dp_engine *e)
{
	return e->reader.torn;
}
