/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * confine: a thread waits because it is about to install a seccomp filter.
 *
 * Context of every function: tool process, one thread at a time per object.
 */
#ifndef DP_PROC_CONFINE_H
#define DP_PROC_CONFINE_H

#include "port_types.h"

struct dp_process;

/** dp_process_confines() - is a thread about to install a seccomp filter? */
bool dp_process_confines(const struct dp_process *proc);

/**
 * dp_process_confined() - see to a thread that waits because it is about to install a
 * seccomp filter, if there is one
 *
 * Return: NULL, and nobody waits any more; or why no probe can be there under the filter, in
 * words. Then it waits for dp_process_detach(), or for too long already.
 */
const char *dp_process_confined(struct dp_process *proc);

/** dp_process_hold_asking() - from now on such a thread waits for the end of the probes; or
 *  not any more */
void dp_process_hold_asking(struct dp_process *proc, bool hold);

#endif
