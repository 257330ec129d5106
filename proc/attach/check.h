/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* check: what cannot be handled is refused before it is touched. */
#ifndef DP_PROC_ATTACH_CHECK_H
#define DP_PROC_ATTACH_CHECK_H

#include <sys/types.h>
#include "port_types.h"

struct dp_diag;
struct dp_process;

/** dp_check_linker() - the dynamic linker of program or script @path, as it names it.
 *  Return: 0; -ENOENT it has none that can be read. */
int dp_check_linker(const char *path, char *linker, size_t size);
int dp_check_program(const char *path, const char *shown, struct dp_diag *diag);
/** dp_check_can_suspend() - may we suspend seccomp filters of what we trace? */
bool dp_check_can_suspend(void);
int dp_check_process(struct dp_process *proc, struct dp_diag *diag);
/** dp_check_filters() - have its threads got filters that we have not looked at? */
bool dp_check_filters(const struct dp_process *proc);
/** dp_check_thread() - has this one, and are they in force for what we have it do? */
bool dp_check_thread(const struct dp_process *proc, pid_t tid);

#endif
