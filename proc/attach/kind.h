/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* kind: what a program is made of, as far as that decides where it makes its system calls. */
#ifndef DP_PROC_ATTACH_KIND_H
#define DP_PROC_ATTACH_KIND_H

#include <sys/types.h>
#include "port_types.h"

struct dp_diag;
struct dp_maps;
struct dp_process;

/** dp_auxv_get() - a word of its auxiliary vector; 0: it has none */
u64 dp_auxv_get(pid_t pid, u64 type);

/**
 * dp_kind_find() - where its code makes system calls: @proc->texts
 * @maps: read; the caller frees them
 *
 * Waits for a dynamic linker that is still at work.
 * Return: 0; -EAGAIN it does not get on; -ESRCH.
 */
int dp_kind_find(struct dp_process *proc, struct dp_maps *maps,
		 struct dp_diag *diag);

#endif
