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
#ifndef DP_PROC_FACTS_H
#define DP_PROC_FACTS_H

#include <sys/types.h>
#include "port_types.h"

struct dp_status;

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
/** dp_facts_forbid_from(), dp_facts_overrule() - of those from the @from-th on: does any
 *  stand in the way; and none does, for what was asked since says so */
bool dp_facts_forbid_from(const struct dp_facts *facts, size_t from);
void dp_facts_overrule(struct dp_facts *facts, size_t from);
/** dp_facts_forbid() - does any of them stand in the way? */
bool dp_facts_forbid(const struct dp_facts *facts);

#define DP_CAP_SYS_PTRACE 19

/** dp_fact_add() - one more. Return: it, for its remedy. */
struct dp_fact *dp_fact_add(struct dp_facts *facts, const char *name,
			    enum dp_fact_state state, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void dp_fact_remedy(struct dp_fact *fact, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/** dp_fact_yama() - for tracing @pid; 0: nobody in particular */
void dp_fact_yama(struct dp_facts *facts, const struct dp_status *us,
		  pid_t pid);

/*
 * limits: what setrlimit(2) allows a process, and what an error has to do with it.
 *
 * Context of every function: tool process, or a process with libdprobes.
 */

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
