/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* numbers: system calls whose number comes from elsewhere. Context: tool process. */
#ifndef DP_PROC_ATTACH_NUMBERS_H
#define DP_PROC_ATTACH_NUMBERS_H

#include "port_types.h"

struct dp_process;
struct dp_span;

/** dp_numbers_find() - system calls whose number is not known from the code before
 *  them, where the function around them is */
void dp_numbers_find(struct dp_process *proc, const struct dp_span *span,
		     const u8 *text);

#endif
