/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* stream: the tool's end of the streams, where detours put records. */
#ifndef DP_SITE_STREAM_H
#define DP_SITE_STREAM_H

#include "port_types.h"

struct dp_engine;
struct dp_record_copy;

/** dp_stream_open() - note where the streams are, and let detours write to them */
void dp_stream_open(struct dp_engine *e);

/** dp_stream_read() - take the records, as dp_engine_records() does, and count their hits */
size_t dp_stream_read(struct dp_engine *e,
		      void (*take)(void *, const struct dp_record_copy *),
		      void *arg);

#endif
