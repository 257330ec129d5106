/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* items: what a program has logged. */
#ifndef DP_TRACER_ITEMS_H
#define DP_TRACER_ITEMS_H

#include <stdio.h>
#include "port_types.h"

struct dp_diag;
struct dp_record_copy;
struct dp_stamp;

/** struct dp_item - one item of a log
 *  @token: enum dp_vm_item; @count: bytes or elements; @size: bytes */
struct dp_item {
	u8 token;
	u32 count, size;
	const u8 *payload;
};

/**
 * dp_item_next() - take the next item off a log
 * @at: offset, advanced
 * Return: false at the end, or where the rest of the log makes no sense.
 */
bool dp_item_next(const struct dp_record_copy *record, u32 *at,
		  struct dp_item *item);
/**
 * dp_items_text(), dp_items_json() - print a record
 * @outcome: what became of its facility, in words; NULL: that is not known yet
 */
void dp_items_text(FILE *out, const struct dp_stamp *stamp, const char *probe,
		   const struct dp_record_copy *record,
		   const struct dp_diag *outcome);
void dp_items_json(FILE *out, const struct dp_stamp *stamp, const char *probe,
		   const struct dp_record_copy *record,
		   const struct dp_diag *outcome);

#endif
