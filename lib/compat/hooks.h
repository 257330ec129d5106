/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* hooks: where the text of modules goes, and what compat asks of the library. */
#ifndef DP_LIB_COMPAT_HOOKS_H
#define DP_LIB_COMPAT_HOOKS_H

#include <stdbool.h>
#include <stddef.h>

#include <dprobes/task.h>

struct pt_regs;
struct dp_compat_loaded;

/**
 * dp_printk_set() - where printk's lines go
 * @sink: gets a line without its newline, NUL-terminated, and its level, 0 to 7.
 *        It runs where printk was called, in handlers too, on several threads at
 *        once. NULL: one write(2) a line to file descriptor 2, without level.
 * @arg: handed to @sink
 *
 * Context: task. A call of the old sink may still be on its way when it returns.
 * Return: 0; -ENOMEM.
 */
int dp_printk_set(void (*sink)(int level, const char *text, size_t len,
			       void *arg),
		  void *arg);

/**
 * struct dp_compat_hooks - what only the library knows; NULL where it does not
 * @lookup: the address of a function by name, as register_kprobe() finds it; 0:
 *          there is none. Context: task or handler, as @lookup can.
 * @hit_regs: the registers at the probe whose handler the calling thread is in,
 *            or NULL. Context: any.
 * @leave: for stack traces: if *@ip is in code that the library has made (a
 *         return probe's stub, say), set *@ip and *@sp as they will be when that
 *         code has returned, and say true. Context: any.
 * @sweep: take away all probes that are, or whose handlers are, in the @size bytes
 *         from @start on, and wait for these handlers. Return: how many there
 *         were. Context: task.
 * @changed: a module has come or gone; these are left. Context: task.
 * @closed: the code of one has gone. Context: task.
 * @settle: wait until no handler runs that has begun before, but for the calling
 *          thread's own. Context: task.
 */
struct dp_compat_hooks {
	unsigned long (*lookup)(const char *name);
	const struct pt_regs *(*hit_regs)(void);
	bool (*leave)(unsigned long *ip, unsigned long *sp);
	unsigned int (*sweep)(const char *start, size_t size);
	void (*changed)(const struct dp_compat_loaded *list);
	void (*closed)(void);
	void (*settle)(void);
};

extern struct dp_compat_hooks dp_compat_hooks;

/**
 * struct dp_probed - the thread that a handler in task context is about
 * @task: as current is to be; @named: its name has been looked up
 * @mem: descriptor of its /proc/PID/mem, through which nothing of a later program
 *       is seen; @there: an address that can be read as long as it is the same one
 */
struct dp_probed {
	struct task_struct task;
	bool named;
	int mem;
	unsigned long there;
};

/** dp_probed - while the calling thread runs such a handler; else NULL */
extern __thread struct dp_probed *dp_probed
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/** dp_task_known() - current, but with the name that it had when it was first asked
 *  for: without a system call. Context: any. */
struct task_struct *dp_task_known(void);

/**
 * dp_compat_alias() - the function that stands for another
 * @name: as a probe names it
 * Return: what dp_compat_load() was told to take for it, or @name. The library's
 * lookup by name calls it first. Context: any.
 */
const char *dp_compat_alias(const char *name);
/** dp_compat_alias_add() - "do_fork" stands for "fork" from now on. Copies both.
 *  Return: 0; -EINVAL empty names; -ENOMEM. Context: any. */
int dp_compat_alias_add(const char *name, size_t len, const char *target);

#endif
