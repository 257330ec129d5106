/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* failure: where functions say why they have failed. */
#ifndef DP_SYM_FAILURE_H
#define DP_SYM_FAILURE_H

#include "port_types.h"

struct dp_modules;

/**
 * dp_failure_errno() - where the errno of each thread of a process is
 * @word: address of a word with the distance from the thread pointer, which the dynamic linker may
 *        have yet to fill in; 0: there is none
 * @offset: that distance, where there is no word
 *
 * Context: tool; may sleep. Source: the code of libc's __errno_location().
 * Return: false: it is not known: there is no such function, or several, or its code is another.
 */
bool dp_failure_errno(struct dp_modules *mods, u64 *word, s64 *offset);

#endif
