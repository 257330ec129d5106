/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ask: have the tool that probes a process do something. */
#ifndef DP_TRACER_ASK_H
#define DP_TRACER_ASK_H

#include <stddef.h>
#include <sys/types.h>
#include "port_types.h"

struct dp_diag;

/**
 * struct dp_ask - an order for a tool
 * @tool: its process; @pid: the process that it probes
 * @verb, @how: enum dp_order_verb, and what belongs to it
 * @nr: of struct dp_orders; @body: @len bytes of its points or text
 * @reply: text that it answers with, malloc()ed; NULL: it is not wanted. NULL is stored where
 *         nothing has been answered
 */
struct dp_ask {
	pid_t tool, pid;
	u32 verb, how, nr;
	const void *body;
	size_t len;
	char **reply;
};

/**
 * dp_ask() - give an order, and wait until it has been carried out
 *
 * One asker at a time; others wait. Context: any process that may trace the tool; may sleep.
 * Return: 0; what the tool returned, with its words; -ESRCH the tool has ended; -EPERM;
 * -EAGAIN it does not answer; -EOPNOTSUPP it takes no orders, or not such.
 */
int dp_ask(const struct dp_ask *ask, struct dp_diag *diag);
/** dp_ask_gone() - words for a tool that has ended. Return: -ESRCH. */
int dp_ask_gone(pid_t tool, pid_t pid, struct dp_diag *diag);

#endif
