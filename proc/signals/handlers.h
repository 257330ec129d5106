/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* handlers: signal handlers of the program that have interrupted the agent. */
#ifndef DP_PROC_SIGNALS_HANDLERS_H
#define DP_PROC_SIGNALS_HANDLERS_H

struct dp_process;
struct dp_view;

/** dp_handlers_end() - let threads run, one at a time, until such handlers have returned. As
 *  far as that goes in a moment. */
void dp_handlers_end(struct dp_process *proc, const struct dp_view *view);

#endif
