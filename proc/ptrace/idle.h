/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* idle: a thread that does nothing in particular, and can be asked to do something. */
#ifndef DP_PROC_PTRACE_IDLE_H
#define DP_PROC_PTRACE_IDLE_H

struct dp_diag;
struct dp_map;
struct dp_process;

/**
 * dp_idle_stop() - one thread that is asleep in a call of libc in which it holds no
 * lock
 * @text: libc's
 * Return: 0; -EAGAIN there is none just now; as dp_stop_all(), with words.
 */
int dp_idle_stop(struct dp_process *proc, const struct dp_map *text,
		 struct dp_diag *diag);

#endif
