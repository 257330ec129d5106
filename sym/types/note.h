/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* note: what is told of files with debug information that are looked for. */
#ifndef DP_TYPES_NOTE_H
#define DP_TYPES_NOTE_H

#include "sym/types.h"

/** dp_note() - have struct dp_types_manner.note told a sentence, if it has not been told it yet */
void dp_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** dp_note_progress() - have struct dp_types_manner.progress told */
void dp_note_progress(const char *module, u64 bytes, bool is_end);

#endif
