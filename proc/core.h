/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * core: a core file of a process that runs on.
 *
 * Context: tool process, one thread at a time per object; may sleep and allocate.
 */
#ifndef DP_PROC_CORE_H
#define DP_PROC_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include "port_types.h"

struct dp_diag;
struct dp_process;

/**
 * struct dp_core_request - what a core file is to have
 * @file: an empty regular file, open for reading and writing; the caller's
 * @small: only stacks, and what is needed to find names: data of modules, and small mappings
 * @tid: the thread that comes first, as the tool knows it; 0: any
 * @inside: the same, as the process knows it: it waits in the agent, if it still does
 * @progress: called now and then, with the bytes that have been done, of all; or NULL
 */
struct dp_core_request {
	int file;
	bool small;
	u32 tid, inside;
	void (*progress)(void *arg, u64 done, u64 all);
	void *arg;
};

/**
 * struct dp_core_result - what it has
 * @threads: how many; @asleep: of these, threads that were left asleep, because the program would
 *           see that they woke: of their registers only those of their system call are known
 * @inside: threads that were in the agent; their frames begin there
 * @held: the wanted thread was where it had hit
 * @size: bytes of the file; @unread: of memory that could not be read
 * @held_ns: for how long the threads were held
 */
struct dp_core_result {
	u32 threads, asleep, inside;
	bool held;
	u64 size, unread, held_ns;
};

/**
 * dp_process_core() - write a core file of a process
 *
 * All threads are held while their registers and stacks are copied. Other memory is read while the
 * process runs. The file has the program's own code, and pcs in it, and no mapping of a tool's.
 * What it has from when is in a note of it, by the name of DPROBES.
 * Return: 0; -ESRCH the process has ended, or executed another program; -ENOMEM; as write(2); as
 * dp_process_attach(); with words.
 */
int dp_process_core(struct dp_process *proc, const struct dp_core_request *want,
		    struct dp_core_result *result, struct dp_diag *diag);
/** dp_process_core_end() - thread @inside goes on, if it waits for its core file. dp_process_core() sees to that
 *  as soon as its stack has been copied. */
void dp_process_core_end(struct dp_process *proc, u32 inside);

#endif
