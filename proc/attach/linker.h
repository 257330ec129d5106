/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* linker: the thread for which the tool looks at libraries. Context: tool process. */
#ifndef DP_PROC_ATTACH_LINKER_H
#define DP_PROC_ATTACH_LINKER_H

#include "port_types.h"

struct dp_process;
struct dp_thread;

/** dp_linker_waits() - is it this one, and does it wait, or is it about to? */
bool dp_linker_waits(const struct dp_process *proc, const struct dp_thread *t);
/** dp_linker_home() - send it to where it has told of them, and will again. Return: 0;
 *  -ESRCH */
int dp_linker_home(struct dp_process *proc);

/**
 * dp_linker_hold() - from now on no library is unmapped before dp_linker_release(), if the
 * linker's probe is armed; but see there for how long
 */
void dp_linker_hold(struct dp_process *proc);

/** dp_linker_release() - who waits goes on when it is answered: see dp_process_asked() */
void dp_linker_release(const struct dp_process *proc);

#endif
