/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * halt: a process is stopped at a probe, for a debugger.
 *
 * Context: tool process, one thread at a time per object; may sleep and allocate.
 */
#ifndef DP_PROC_HALT_H
#define DP_PROC_HALT_H

#include <stdbool.h>
#include "port_types.h"

struct dp_diag;
struct dp_process;

/**
 * dp_process_halt() - stop a process by SIGSTOP, with a thread of it in front of its instruction
 * @tid: the thread that has asked for it, as the tool knows it
 * @inside: the same, as the process knows it: it waits in the agent, if it still does
 * @there: out: the thread is where it has hit, with the registers of then. Else it had gone on.
 *
 * The thread is led out of the agent, instruction by instruction, while the others are held. It
 * executes nothing of the program's before the signal stops it. Probes stay as they are: they are to
 * be taken out before the process goes on, or the thread hits once more.
 * Return: 0; -ESRCH the process has ended, or executed another program; -EPERM it may not be sent
 * signals; -EAGAIN the thread does not come out of the agent: the process is not stopped; as
 * dp_process_attach(); with words.
 */
int dp_process_halt(struct dp_process *proc, u32 tid, u32 inside, bool *there,
		    struct dp_diag *diag);

/** dp_process_stop() - stop a process by SIGSTOP, wherever its threads are. Return: 0; -ESRCH; -EPERM */
int dp_process_stop(const struct dp_process *proc);

#endif
