/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* filter: in which processes the programs of a file run. */
#ifndef DP_TRACER_FILTER_H
#define DP_TRACER_FILTER_H

#include <stdbool.h>
#include <sys/types.h>
#include "lang/lang.h"

/**
 * dp_filter_wants() - is a process one of those that the header of a file means?
 * @pid: as the tool sees it; it has been found
 *
 * It is looked at as it is now: a process may take another name later. Context: tool.
 * Return: false with words in @diag.
 */
bool dp_filter_wants(const struct dp_lang_filter *f, pid_t pid,
		     struct dp_diag *diag);

#endif
