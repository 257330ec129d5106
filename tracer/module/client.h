/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * client: the tool's side of lib/service.h, of one process that uses libdprobes.
 *
 * What is read from the process is checked before use.
 *
 * Context of every function: tool process, one thread at a time per object; may sleep.
 */
#ifndef DP_TRACER_CLIENT_H
#define DP_TRACER_CLIENT_H

#include "lib/service.h"
#include "proc/proc.h"
#include <stddef.h>
#include <stdio.h>

struct dp_diag;

/** struct dp_client - the process's service
 *  @proc: its memory has the struct dp_service, at @addr; every access is to that memory,
 *         whatever the process executes
 *  @line: number of the line of the modules that is shown next
 *  @out: where lines are shown; NULL: nowhere */
struct dp_client {
	pid_t pid;
	struct dp_process *proc;
	u64 addr;
	u64 line;
	FILE *out;
};

/**
 * struct dp_client_order - what the process is asked to do
 * @verb: enum dp_service_verb; @data: its @len bytes; @nr_guests: if they are guests, which
 *        are read back when it has been done
 * @patience: seconds for which to try where the library is busy
 */
struct dp_client_order {
	u32 verb, nr_guests;
	void *data;
	size_t len;
	double patience;
};

/** dp_client_open() - Return: 0; -ESRCH no process; -EOPNOTSUPP it has no service, or
 *  another version's; as dp_process_open(). */
int dp_client_open(struct dp_client *c, pid_t pid, FILE *out,
		   struct dp_diag *diag);
void dp_client_close(struct dp_client *c);

/**
 * dp_client_ask() - have a thread of the process do it, one tool at a time
 *
 * Return: 0; what the library returned, with its words; -EAGAIN it is busy, no thread could be
 * asked, or it goes on without an end; -EBUSY another tool is at work there; -ESRCH.
 */
int dp_client_ask(struct dp_client *c, const struct dp_client_order *order,
		  struct dp_diag *diag);
/** dp_client_lines() - show the lines of modules from @c->line on */
void dp_client_lines(struct dp_client *c);
/** dp_client_gone() - words for a process that has none of its memory any more. Return: -ESRCH. */
int dp_client_gone(const struct dp_client *c, struct dp_diag *diag);

/** dp_client_get() - read @n bytes of the service from @offset on. Return: 0; -ESRCH. */
int dp_client_get(const struct dp_client *c, size_t offset, void *to, size_t n);
#define DP_CLIENT_GET(c, field, to) \
	dp_client_get(c, offsetof(struct dp_service, field), to, sizeof(*(to)))

#define DP_CLIENT_PUT(c, field, from)                                          \
	dp_process_write((c)->proc,                                            \
			 (c)->addr + offsetof(struct dp_service, field), from, \
			 sizeof(*(from)))

#endif
