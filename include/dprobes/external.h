/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * External functions: functions of this process that probe programs call.
 *
 * Programs in the language of dprobes.lang(7) are run in a process that probes itself by the library,
 * for "dprobes run -p PID". Such a program calls a function by its number: "push" of each argument,
 * "push" of the number, "call_kmod". What the function returns is then on the stack. The header of the
 * program has to say "allow = call". A function may be the program's, or of a shared object that
 * "dprobes insmod" has loaded.
 *
 * The functions are exits of the hook "dprobes_call" (unsigned int number, const unsigned long *args, unsigned long
 * *value), which is there from the first one on: see <dprobes/gkh.h>. *@value is what the program finds, 0 before
 * the function. Exits of others see the calls; they run as the functions do. One that says GKH_TERMINATE stands
 * in for the function.
 */
#ifndef DPROBES_EXTERNAL_H
#define DPROBES_EXTERNAL_H

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** The last number that can be registered; the first one is 0 */
#define DP_EXTERNAL_LAST 255
/** The most arguments that a function can have */
#define DP_EXTERNAL_ARGUMENTS 6

/**
 * dp_external_fn - an external function
 * @ctx: as registered
 * @args: the arguments, the one that was pushed first in @args[0]; valid during the call
 *
 * Context: as a kprobe's pre_handler: the thread that hit, at any instruction of the program's. The
 * vector state and errno are kept for it. It must not call the library, nor take a lock that the
 * interrupted code may hold, nor leave by longjmp(3). If it faults, the program gets the exception
 * EX_INVALID_OPERAND, its probe is disabled, and dp_set_report() tells.
 * Return: what the program finds on the stack.
 */
typedef unsigned long dp_external_fn(void *ctx, const unsigned long *args);

/**
 * dp_external_register() - have programs call a function
 * @number: from 0 to DP_EXTERNAL_LAST
 * @name: for messages; copied; 31 bytes at most, without control characters
 * @fn: called from the next hit on, by several threads at once
 * @ctx: handed to @fn
 * @nr: how many arguments it has, up to DP_EXTERNAL_ARGUMENTS
 *
 * The process is prepared for probes, if it has none yet. A fork child has no such functions. Where a
 * number has none, and in the middle of a handler, call_kmod is EX_INVALID_OPERAND.
 * Context: task, never a handler; may sleep; thread-safe.
 * Return: 0; -EINVAL no such number, or too many arguments, or @fn or @name is not as it is to be;
 * -EBUSY the number is taken; as register_kprobe(): the process cannot be prepared; dp_last_diag()
 * has words.
 * Source: DProbes 3.0, call_kmod; ours.
 */
int dp_external_register(unsigned int number, const char *name,
			 dp_external_fn *fn, void *ctx, unsigned int nr);

/**
 * dp_external_unregister() - no program calls it any more
 *
 * Returns when no thread is in the function, but for the calling one.
 * Context: as dp_external_register().
 * Return: 0; -ENOENT nothing has registered for @number.
 */
int dp_external_unregister(unsigned int number);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
