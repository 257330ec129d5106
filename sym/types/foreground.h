/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* foreground: for a while, keys of the terminal are for a child alone. */
#ifndef DP_TYPES_FOREGROUND_H
#define DP_TYPES_FOREGROUND_H

#include <sys/types.h>

/**
 * dp_foreground_give() - have keys like ^C reach @child only, not the command that the tool has
 *                        launched
 * Context: the tool's process; nothing is done where its output is no terminal, as others in a
 * pipe may read keys, and where it is in the background.
 * Return: for dp_foreground_back()
 */
int dp_foreground_give(pid_t child);
void dp_foreground_back(int terminal);

#endif
