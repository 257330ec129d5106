/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * facts: what stands in the way of probing a process, looked up one by one.
 *
 * Reads /proc and asks the kernel; nothing is touched. The kernel's own answer
 * decides: what the other facts are for is to say why it is what it is, and what
 * would help.
 *
 * Context of every function: tool process; may sleep.
 */
#ifndef DP_FACTS_H
#define DP_FACTS_H

#include <sys/types.h>
#include "port_types.h"

/** enum dp_fact_state */
enum dp_fact_state {
	DP_FACT_OK,
	DP_FACT_NOTE, /* it does not stand in the way */
	DP_FACT_NO,
};

#define DP_FACT_TEXT 256

/**
 * struct dp_fact - one line
 * @name: one word; @text: a phrase
 * @remedy: what would help, an imperative; "" for nothing
 */
struct dp_fact {
	const char *name;
	enum dp_fact_state state;
	char text[DP_FACT_TEXT];
	char remedy[DP_FACT_TEXT];
};

#define DP_FACTS_MAX 40

/** struct dp_facts - begins as zeros */
struct dp_facts {
	struct dp_fact v[DP_FACTS_MAX];
	size_t n;
};

/** dp_facts_machine() - of the kernel, and of who we are; @alone: there is no process
 *  in question */
void dp_facts_machine(struct dp_facts *facts, bool alone);
/** dp_facts_permission() - may we trace process @pid? */
void dp_facts_permission(struct dp_facts *facts, pid_t pid);
/** dp_facts_process() - of process @pid: that, and all else that decides */
void dp_facts_process(struct dp_facts *facts, pid_t pid);
/** dp_facts_forbid() - does any of them stand in the way? */
bool dp_facts_forbid(const struct dp_facts *facts);

struct dp_status;
#define DP_CAP_SYS_PTRACE 19

/** dp_fact_add() - one more. Return: it, for its remedy. */
struct dp_fact *dp_fact_add(struct dp_facts *facts, const char *name,
			    enum dp_fact_state state, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void dp_fact_remedy(struct dp_fact *fact, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/** dp_fact_yama() - for tracing @pid; 0: nobody in particular */
void dp_fact_yama(struct dp_facts *facts, const struct dp_status *us, pid_t pid);
/** dp_line_read() - a file's first line, without its end. Return: false if there
 *  is none. */
bool dp_line_read(const char *path, char *line, size_t size);

#endif
