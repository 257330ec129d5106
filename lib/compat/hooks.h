/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* hooks: functions of the library that compat calls, and the sink of modules' messages. */
#ifndef DP_LIB_COMPAT_HOOKS_H
#define DP_LIB_COMPAT_HOOKS_H

#include <stdbool.h>
#include <stddef.h>

#include <dprobes/task.h>

#pragma GCC visibility push(hidden)

struct pt_regs;
struct dp_compat_loaded;

/**
 * dp_printk_set() - set the sink of printk's lines
 * @sink: gets a line without its newline, NUL-terminated, and its level, 0 to 7.
 *        It runs where printk was called, in handlers too, on several threads at
 *        once. NULL: one write(2) a line to file descriptor 2, without level.
 * @arg: handed to @sink
 *
 * Context: task. The old sink may still be running when this returns.
 * Return: 0; -ENOMEM.
 */
int dp_printk_set(void (*sink)(int level, const char *text, size_t len,
			       void *arg),
		  void *arg);

/**
 * struct dp_compat_hooks - functions that the library sets, or NULL
 * @lookup: never NULL: find a function's address by name, as register_kprobe() does.
 *          Return: 0: there is none. Context: task or handler, as the function allows.
 * @hit_regs: registers of the hit whose handler the calling thread runs, or NULL.
 *            Context: any.
 * @leave: for stack traces: if *@ip is in generated code, such as a return probe's stub,
 *         set *@ip and *@sp to their values after that code. Return: true if so.
 *         Context: any.
 * @sweep: unregister all probes that are, or whose handlers are, in the @size bytes from
 *         @start on, and wait for these handlers. Return: how many there were.
 *         Context: task.
 * @changed: a module was loaded or unloaded; @list has all modules. Context: task.
 * @closed: a module's code has been unmapped. Context: task.
 * @settle: wait until all handlers that run now have ended, except the calling thread's
 *          own. Context: task.
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
 * struct dp_probed - the probed thread of another process, whose handler runs here
 * @task: its task_struct for current; @named: all of @task has been filled in
 * @mem: descriptor of the process's /proc/PID/mem, which reads nothing of a program
 *       executed later; @there: an address that @mem can read until an exec
 */
struct dp_probed {
	struct task_struct task;
	bool named;
	int mem;
	unsigned long there;
};

/** dp_probed - set while the calling thread runs such a handler; else NULL */
extern __thread struct dp_probed *dp_probed
	__attribute__((tls_model("initial-exec")));

/** dp_task_known() - current, with the name it had at the first call; later calls need no
 *  system call. Context: any. */
struct task_struct *dp_task_known(void);

/**
 * dp_compat_alias() - the function that an alias stands for
 * @name: as a probe names it
 * Return: the function of the alias @name, or @name. Every lookup by name calls this
 * first. Context: any.
 */
const char *dp_compat_alias(const char *name);
/** dp_compat_alias_add() - make @name stand for @target, such as "do_fork" for "fork".
 *  Copies both.
 *  Return: 0; -EINVAL empty names; -ENOMEM. Context: any. */
int dp_compat_alias_add(const char *name, size_t len, const char *target);

#pragma GCC visibility pop

#endif
