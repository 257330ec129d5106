/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The thread that a handler is about, and its memory, with the kernel's names.
 *
 * In a handler of a uprobe that runs in task context that is the probed thread, in
 * another process; everywhere else it is the calling thread, in this one.
 *
 * Who has other uses for the word current defines DP_NO_CURRENT first, and calls
 * get_current().
 */
#ifndef DPROBES_TASK_H
#define DPROBES_TASK_H

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

#define TASK_COMM_LEN 16

struct mm_struct;
struct cred;

/**
 * struct task_struct - a thread
 * @pid: its number (gettid()), as this process knows it
 * @tgid: its process's number (getpid())
 * @flags: 0; it is never a kernel thread
 * @mm: not NULL
 * @comm: its name at the time of asking
 * @parent, @real_parent: the process that made its process, as it was when this
 *                        thread was first asked for; of a probed thread itself
 * @start_time: when it was made, in nanoseconds since the machine was started, by
 *              hundredths of a second
 * @cred, @real_cred: whose rights it has, at the time of asking; for modules
 *
 * It lives as long as the thread; that of a probed thread as long as the handler.
 */
struct task_struct {
	volatile long state;
	unsigned int flags;
	int prio;
	pid_t pid;
	pid_t tgid;
	struct mm_struct *mm;
	struct mm_struct *active_mm;
	struct task_struct *real_parent;
	struct task_struct *parent;
	struct task_struct *group_leader;
	char comm[TASK_COMM_LEN];
	__extension__ unsigned long long start_time;
	const struct cred *cred, *real_cred;
};

/** get_current() - Context: any; async-signal-safe. Two system calls at the first
 *  use in a thread, one for the name afterwards. */
struct task_struct *get_current(void) __asm__("dp_compat_get_current")
	__attribute__((__pure__));
#ifndef DP_NO_CURRENT
#define current get_current()
#endif

/**
 * copy_from_user(), copy_to_user() - read and write the probed program's memory
 *
 * Through the kernel, so a bad address is an error, never a fault.
 * Context: any; a system call or two each.
 * Return: how many bytes were not copied; what copy_from_user() could not read
 * becomes 0.
 */
unsigned long
copy_from_user(void *to, const void *from,
	       unsigned long n) __asm__("dp_compat_copy_from_user");
unsigned long copy_to_user(void *to, const void *from,
			   unsigned long n) __asm__("dp_compat_copy_to_user");

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
