/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* reader: the tool's end of the rings. */
#ifndef DP_RING_READER_H
#define DP_RING_READER_H

#include "port_types.h"
#include "engine/layout/ring.h"
#include "engine/layout/visit.h"
#include "engine/vm/vm.h"

struct dp_engine;

/** struct dp_record_copy - a record, out of the target's reach */
struct dp_record_copy {
	struct dp_record head;
	u8 data[sizeof(struct dp_leaving) + DP_VM_LOG];
};

/**
 * dp_engine_records() - take what is in the rings
 * @take: called for each record, in the order of its ring
 * @ended: nobody writes any more: what is half written is torn
 *
 * The target can write anything there; what does not make sense is dropped and
 * counted as torn.
 * Return: how many were taken.
 */
size_t dp_engine_records(struct dp_engine *engine,
			 void (*take)(void *arg,
				      const struct dp_record_copy *record),
			 void *arg, bool ended);
/** dp_engine_records_stuck() - does a ring wait for a record behind which a quarter of
 *  it has been taken? Whoever began it may have been taken away for good. */
bool dp_engine_records_stuck(const struct dp_engine *engine);
/** dp_engine_records_settled() - nobody is writing just now: what is half written is
 *  torn */
void dp_engine_records_settled(struct dp_engine *engine);
/** dp_engine_ticks() - the clock that records are stamped with, now */
u64 dp_engine_ticks(void);
/** dp_engine_torn() - records that were dropped so far */
u64 dp_engine_torn(const struct dp_engine *engine);

#endif
