/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* facilities: what programs may ask the kernel for as they end ("exit N"). Context of all: task. */
#ifndef DP_KMOD_FACILITIES_H
#define DP_KMOD_FACILITIES_H

#include "port_types.h"

/** dp_facilities_begin() - find the kernel's debugger, if it has one. After dp_safe_begin() */
void dp_facilities_begin(void);
/** dp_facilities_missing() - why may no program end by "exit @n"? Return: a static phrase; NULL: it may */
const char *dp_facilities_missing(u32 n);
/** dp_facilities_acts() - is it one that the kernel itself carries out? */
bool dp_facilities_acts(u32 n);
/** dp_facilities_dumps() - may programs end the kernel, for a dump? At first not.
 *  dp_facilities_set_dumps() - Return: 0; -EPERM the kernel is locked down */
bool dp_facilities_dumps(void);
int dp_facilities_set_dumps(bool on);

#endif
