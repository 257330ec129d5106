/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Jprobes: handlers with the probed function's own arguments. The newest manual has dropped
 * them: a kprobe's pre_handler sees the same arguments in its regs.
 *
 * Contexts, errors and source as in <dprobes/kprobes.h>, which includes this.
 */
#ifndef DPROBES_JPROBE_H
#define DPROBES_JPROBE_H

#include <dprobes/kprobes.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

#define MAX_STACK_SIZE 64

/**
 * struct jprobe - a handler with the signature of the probed function
 * @kp: says which function; it must be its first instruction
 * @entry: called in the function's place, with its arguments; ends with
 *         jprobe_return(). It sees a copy of the first MAX_STACK_SIZE bytes of
 *         the arguments on the stack: what it does to them is undone.
 */
struct jprobe {
	struct kprobe kp;
	void *entry;
	void *dp_private[2];
};

/** register_jprobe() - Return: as register_kprobe(); -EINVAL also without @entry, with an
 *  offset, or not at a function's beginning; -EEXIST there is a jprobe on it. */
int register_jprobe(struct jprobe *jp);
void unregister_jprobe(struct jprobe *jp);
int register_jprobes(struct jprobe **jps, int num);
void unregister_jprobes(struct jprobe **jps, int num);
int disable_jprobe(struct jprobe *jp);
int enable_jprobe(struct jprobe *jp);

/** jprobe_return() - from a jprobe's handler into the probed function. Does not
 *  return. Context: a jprobe's handler only. */
void jprobe_return(void) __attribute__((noreturn));

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
