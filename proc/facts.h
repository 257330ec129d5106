/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * facts: what stands in the way of probing a process.
 *
 * Reads /proc and asks the kernel; touches nothing. The kernel's own answer decides. The
 * other facts explain that answer, and tell what would help.
 *
 * Context of every function: tool process; may sleep.
 */
#ifndef DP_PROC_FACTS_H
#define DP_PROC_FACTS_H

#include <sys/types.h>
#include "port_types.h"

struct dp_diag;
struct dp_status;

/** enum dp_fact_state */
enum dp_fact_state {
	DP_FACT_OK,
	DP_FACT_NOTE, /* does not prevent probing */
	DP_FACT_NO,
};

#define DP_FACT_TEXT 256

/**
 * struct dp_fact - one line of the report
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

/** dp_facts_machine() - facts of the kernel and of the caller's rights; @alone: no
 *  process is in question */
void dp_facts_machine(struct dp_facts *facts, bool alone);
/** dp_facts_permission() - may the caller trace process @pid? */
void dp_facts_permission(struct dp_facts *facts, pid_t pid);
/** dp_facts_process() - permission to trace process @pid, and all else that decides */
void dp_facts_process(struct dp_facts *facts, pid_t pid);
/** dp_facts_forbid() - does any fact from the @from-th on forbid probing?
 *  dp_facts_overrule() - turn those into notes: the kernel has answered otherwise */
bool dp_facts_forbid(const struct dp_facts *facts, size_t from);
void dp_facts_overrule(struct dp_facts *facts, size_t from);

#define DP_CAP_SYS_PTRACE 19

/** dp_fact_add() - add a fact. @remedy: NULL: none; a fact that is OK gets none.
 *  Return: the new fact, for dp_fact_remedy(). */
struct dp_fact *dp_fact_add(struct dp_facts *facts, const char *name,
			    enum dp_fact_state state, const char *remedy,
			    const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/** dp_fact_remedy() - the remedy, where it is not a constant */
void dp_fact_remedy(struct dp_fact *fact, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/** dp_fact_yama() - does Yama permit tracing @pid; 0: no process in particular */
void dp_fact_yama(struct dp_facts *facts, const struct dp_status *us,
		  pid_t pid);

/* limits: the resource limits of a process, and which of them explains an error. Context: tool
 * process, or a process with libdprobes. */

/** dp_limits_file() - make a file of @size zeros in memory; @name is for /proc/PID/maps.
 *  Return: its descriptor, closed on exec; -EFBIG the process may have no such file, and
 *  would get SIGXFSZ, which ends it; another errno. */
int dp_limits_file(const char *name, u64 size);

/** dp_limits_descriptors() - has this process the file descriptors that an attach takes? Without
 *  them nothing that it reads of another process could be told from that process's end.
 *  Return: 0; -EMFILE, -ENFILE, with words. */
int dp_limits_descriptors(struct dp_diag *diag);

/** dp_limits_tight() - is the address space of a process or of this one limited, or is memory of it
 *  locked? Then memory that may never be touched is no less dear. */
bool dp_limits_tight(pid_t pid);

/** dp_limits_survive() - ignore SIGXFSZ, so that a write beyond RLIMIT_FSIZE fails
 *  instead of ending this process */
void dp_limits_survive(void);
/** dp_limits_restore() - give a child that is about to execute a command the SIGXFSZ
 *  action from before dp_limits_survive() */
void dp_limits_restore(void);

#define DP_LIMITS_TEXT 128

/**
 * dp_limits_why() - why a request failed in process @pid
 * @err: the error that the process got, negative
 * @size: of the memory that was requested
 * @mappings: how many mappings the process has
 * @text: room for DP_LIMITS_TEXT bytes
 *
 * Return: @text: the limit that explains @err, or the error's own words.
 */
const char *dp_limits_why(pid_t pid, int err, u64 size, size_t mappings,
			  char *text);

#endif
