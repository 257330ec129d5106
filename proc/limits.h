/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * limits: what setrlimit(2) allows a process, and what an error has to do with it.
 *
 * Context of every function: tool process, or a process with libdprobes.
 */
#ifndef DP_LIMITS_H
#define DP_LIMITS_H

#include <sys/types.h>
#include "port_types.h"

/** dp_limits_file() - may this process have a file of @size bytes? Also one without a
 *  name counts; the kernel answers with SIGXFSZ, which ends it.
 *  Return: 0; -EFBIG. */
int dp_limits_file(u64 size);

/** dp_limits_survive() - let what this process writes beyond its RLIMIT_FSIZE fail, instead
 *  of ending it by SIGXFSZ */
void dp_limits_survive(void);
/** dp_limits_restore() - in a child that is about to execute a command: SIGXFSZ as before
 *  dp_limits_survive() */
void dp_limits_restore(void);

#define DP_LIMITS_TEXT 128

/**
 * dp_limits_why() - why process @pid could not do what it was to do
 * @err: the error that it got, negative
 * @size: of the memory that it was about
 * @mappings: how many it has
 * @text: room for DP_LIMITS_TEXT bytes
 *
 * Return: @text: the limit that explains @err, or the error's own words.
 */
const char *dp_limits_why(pid_t pid, int err, u64 size, size_t mappings,
			  char *text);

#endif
