/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * External functions: functions of a kernel's modules that programs in the kernel call, by dprobes.ko.
 *
 * Such a program calls a function by its number: "push" of each argument, "push" of the number, "call_kmod". What the
 * function returns is then on the stack. The header of the program has to say "allow = call". A program that names a number
 * which nobody has registered is refused. Where the number is computed, and there is no function, call_kmod is
 * EX_INVALID_OPERAND.
 *
 * A module says MODULE_IMPORT_NS(DPROBES) and has a licence that is compatible with the GPL. A function that is its own is
 * not called any more when the module goes. Programs that name it keep the module until they have gone.
 */
#ifndef DPROBES_KERNEL_EXTERNAL_H
#define DPROBES_KERNEL_EXTERNAL_H

#include <linux/export.h>

struct module;

/** The last number that can be registered; the first one is 0 */
#define DP_EXTERNAL_LAST 255
/** The most arguments that a function can have */
#define DP_EXTERNAL_ARGUMENTS 6

/**
 * dp_external_fn - an external function
 * @ctx: as registered
 * @args: the arguments, the one that was pushed first in @args[0]; valid during the call
 *
 * Context: where the probe is, which may be an NMI, with preemption off: it neither sleeps nor takes a lock that the
 * interrupted code may hold. Several CPUs may be in it.
 * Return: what the program finds on the stack.
 */
typedef unsigned long dp_external_fn(void *ctx, const unsigned long *args);

/**
 * dp_external_register() - have programs call a function of this module
 * @number: from 0 to DP_EXTERNAL_LAST
 * @fn: called from the next hit on
 * @ctx: handed to @fn
 * @nr: how many arguments it has, up to DP_EXTERNAL_ARGUMENTS
 *
 * Context: task; may sleep.
 * Return: 0; -EINVAL no such number, no function, or too many arguments; -EBUSY the number is taken.
 * Source: DProbes 3.0, call_kmod; ours.
 */
#define dp_external_register(number, fn, ctx, nr) \
	dp_external_register_of(THIS_MODULE, number, fn, ctx, nr)
/** dp_external_unregister() - no program calls it any more: no CPU is in the function. Context: task; may sleep.
 *  Return: 0; -ENOENT this module has registered nothing for @number. */
#define dp_external_unregister(number) \
	dp_external_unregister_of(THIS_MODULE, number)

int dp_external_register_of(struct module *owner, unsigned int number,
			    dp_external_fn *fn, void *ctx, unsigned int nr);
int dp_external_unregister_of(struct module *owner, unsigned int number);

#endif
