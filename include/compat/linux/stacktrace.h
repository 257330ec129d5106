/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stack traces: of the program at the probe, or of the caller outside of handlers. */
#ifndef DP_LINUX_STACKTRACE_H
#define DP_LINUX_STACKTRACE_H

#include <linux/types.h>
#include <linux/compiler.h>

struct task_struct;
struct pt_regs;

/**
 * stack_trace_save() - return addresses, the innermost first
 * @skip: entries to leave out at the beginning
 * In a handler the first entry is the probed instruction.
 * Context: any. Return: how many are in @store.
 */
unsigned int stack_trace_save(unsigned long *store, unsigned int size,
			      unsigned int skip) DP_COMPAT(stack_trace_save);
unsigned int stack_trace_save_regs(struct pt_regs *regs, unsigned long *store,
				   unsigned int size, unsigned int skip)
	DP_COMPAT(stack_trace_save_regs);
/** stack_trace_print() - by printk, a line each, @spaces in front */
void stack_trace_print(const unsigned long *trace, unsigned int n, int spaces)
	DP_COMPAT(stack_trace_print);
/** stack_trace_snprint() - Return: the length of the text */
int stack_trace_snprint(char *buf, size_t size, const unsigned long *trace,
			unsigned int n, int spaces)
	DP_COMPAT(stack_trace_snprint);
/** stack_trace_save_tsk() - of the current thread only; 0 of any other */
#define stack_trace_save_tsk(task, store, size, skip) \
	((task) == get_current() ? stack_trace_save(store, size, skip) : 0)
#define stack_trace_save_user(store, size) stack_trace_save(store, size, 0)

/* The older interface. */
struct stack_trace {
	unsigned int nr_entries, max_entries;
	unsigned long *entries;
	int skip;
};

static inline void save_stack_trace(struct stack_trace *trace)
{
	trace->nr_entries += stack_trace_save(trace->entries + trace->nr_entries,
					      trace->max_entries - trace->nr_entries,
					      trace->skip);
}

static inline void save_stack_trace_regs(struct pt_regs *regs,
					 struct stack_trace *trace)
{
	trace->nr_entries += stack_trace_save_regs(
		regs, trace->entries + trace->nr_entries,
		trace->max_entries - trace->nr_entries, trace->skip);
}

static inline void print_stack_trace(struct stack_trace *trace, int spaces)
{
	stack_trace_print(trace->entries, trace->nr_entries, spaces);
}

static inline int snprint_stack_trace(char *buf, size_t size,
				      struct stack_trace *trace, int spaces)
{
	return stack_trace_snprint(buf, size, trace->entries, trace->nr_entries,
				   spaces);
}

#endif
