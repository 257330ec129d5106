/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * inspect: the probes of a process, read from outside without touching it.
 *
 * Context of every function: any process that may read the target's memory; may sleep.
 */
#ifndef DP_PROC_INSPECT_H
#define DP_PROC_INSPECT_H

#include <sys/types.h>
#include "port_types.h"
#include "engine/layout/arena.h"
#include "engine/layout/ring.h"

struct dp_diag;

#define DP_VARIABLES_MAX 256

/**
 * struct dp_armed - one armed probe of a process, as seen from outside
 * @watch: it is on data: DP_SITE_WRITTEN, DP_SITE_ACCESSED; @watch_len: bytes of that
 * @has_exits: a return probe that does not touch the return address: it has probes at the
 *             @exits of its function
 * @exit_traps: how many of these are breakpoints
 * @exit_tails: how many are jumps to other functions; @exit_lost: of these, to an unknown
 *             function
 */
struct dp_armed {
	u64 addr;
	char kind; /* 'k', 'r', 'j', 'd' of a program, 'w' of one on data */
	bool disabled;
	bool counts; /* it only counts hits: a guest, where the process probes itself */
	bool gone; /* its code is not mapped any more */
	bool optimized; /* jump mode */
	char reason[DP_REASON_SIZE]; /* why not in jump mode, if known */
	char pending[DP_PENDING_SIZE]; /* a spec that waits for its library, so
					* without an address */
	u64 hits, missed;
	u64 middle; /* interior arrivals at its site */
	u8 watch, watch_len;
	bool has_exits;
	u32 exits, exit_traps, exit_tails, exit_lost;
};

/**
 * dp_process_inspect() - read the probes that a tool has in a process
 * @pid: process id
 * @list: filled in, free()d by the caller
 * @tool: pid of the tool that owns the probes, in its own namespace; 0 if it has ended
 *
 * Reads only; everything found in the process is checked as hostile input.
 * Return: 0; -ENOENT the process has no agent; -ESRCH; -EPERM; -EBADMSG the arena is
 * damaged.
 */
int dp_process_inspect(pid_t pid, struct dp_armed **list, size_t *n,
		       pid_t *tool, struct dp_diag *diag);

/**
 * struct dp_variables - variables of one program, or the global ones
 * @name: of the module that the program probes; "" for the global variables
 * @addr: of the first variable in the target
 * @values: the @n values at the time of reading
 */
struct dp_variables {
	char name[DP_PROGRAM_NAME];
	u64 addr;
	u32 n;
	u64 values[DP_VARIABLES_MAX];
};

/**
 * dp_process_variables() - read the variables of the programs in a process
 * @list: filled in, free()d by the caller; the global ones come first
 * Return: as dp_process_inspect().
 */
int dp_process_variables(pid_t pid, struct dp_variables **list, size_t *n,
			 struct dp_diag *diag);

/** dp_process_zero() - set @n variables from @addr on to zero.
 *  Return: 0 or a negative errno. */
int dp_process_zero(pid_t pid, u64 addr, u32 n);

/* procfs: files in /proc, of one's own process, too. */

/** struct dp_path - a path in /proc, or as much of it as fits */
struct dp_path {
	char s[80];
};

/** dp_path() - a path, by a format of printf(3) */
struct dp_path dp_path(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));

/** dp_text_read() - one read(2) of a file, at most @size - 1 bytes, and a NUL behind them.
 *  Return: the number of bytes; negative: not readable, and @text is as it was. */
ssize_t dp_text_read(const char *path, char *text, size_t size);

/** dp_mapping_named() - address of the first mapping whose path begins so; 0: none */
u64 dp_mapping_named(pid_t pid, const char *path);

#endif
