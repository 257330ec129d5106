/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* child: the two halves of how a fork child leaves. */
#ifndef DP_SIGNALS_CHILD_H
#define DP_SIGNALS_CHILD_H

#include "port_types.h"

#pragma GCC visibility push(hidden)

/** dp_hit_leave_text() - the first half of dp_hit_leave(): nothing but the text. Return: as above. */
bool dp_hit_leave_text(void);
/** dp_hit_leave_signals() - its second half: actions and masks */
void dp_hit_leave_signals(u64 *mask);

#pragma GCC visibility pop

#endif
