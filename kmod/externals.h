/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * externals: functions of modules that programs call: <dprobes/kernel/external.h>.
 *
 *     registered ─► called at hits ─► unregistered, or the module goes ─► RCU waits ─► the number is free
 *
 * A program that names a number keeps the module meanwhile, as a file does whose functions it has.
 */
#ifndef DP_KMOD_EXTERNALS_H
#define DP_KMOD_EXTERNALS_H

#include "port_types.h"

struct module;

/** Functions that a program can name */
#define DP_EXTERNALS_NAMED 8

/** struct dp_externals_used - modules that a program keeps, @n of them; zeros at first */
struct dp_externals_used {
	struct module *owner[DP_EXTERNALS_NAMED];
	u32 n;
};

/** dp_externals_table() - for the arena: its functions by number, as engine/hit/own.c calls them */
u64 dp_externals_table(void);
/**
 * dp_externals_use() - keep the modules of the functions that a program names
 * @code: verified; @at: on failure, where in it
 * @why: on failure, a static phrase
 * Return: 0; -EINVAL with @why: nobody has registered one, its module is going, or there are too many; then none is kept.
 */
int dp_externals_use(struct dp_externals_used *used, const u8 *code, u32 len,
		     u32 *at, const char **why);
/** dp_externals_leave() - the program has gone */
void dp_externals_leave(struct dp_externals_used *used);
/** dp_externals_go() - a module goes: its functions are unregistered. Context: task; may sleep */
void dp_externals_go(const struct module *module);

#endif
