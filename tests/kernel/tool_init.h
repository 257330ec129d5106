/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* tool_init: dprobes(1), as the guest's first program runs it. */
#ifndef DP_KERNEL_TOOL_INIT_H
#define DP_KERNEL_TOOL_INIT_H

#include <sys/types.h>

/** What the tool that was waited for last has written, to stdout and to stderr */
extern char dp_tool_out[1 << 18], dp_tool_said[1 << 16];

/** dp_tool_start() - run the tool; @argv: behind its name, to NULL
 *  dp_tool_finish() - wait for it. Return: exit status, or 128 and the signal */
pid_t dp_tool_start(const char *const *argv);
int dp_tool_finish(pid_t tool);
#define DP_TOOL(...)    \
	dp_tool_finish( \
		dp_tool_start((const char *const[]){ __VA_ARGS__, NULL }))

/** dp_tool_wait() - until so many functions have other bytes. Return: have they? */
int dp_tool_wait(int n);
/** dp_tool_check() - a test; if it has failed, what was written is shown */
void dp_tool_check(int is, const char *what);
/** dp_tool_says() - is it on stderr? dp_tool_occurrences() - how often on stdout? */
int dp_tool_says(const char *words);
unsigned int dp_tool_occurrences(const char *words);

/** dp_tool_returns() - returns of the kernel's functions; dp_tool_kept() - values in tables */
void dp_tool_returns(void);
/** dp_tool_names() - names and types of the kernel's source */
void dp_tool_names(void);
void dp_tool_kept(void);

#endif
