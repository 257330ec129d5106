/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* dormant: the hooks of a process that does not use libdprobes. */
#ifndef DP_TRACER_DORMANT_H
#define DP_TRACER_DORMANT_H

#include <stdbool.h>
#include <sys/types.h>

struct dp_diag;
struct dp_tracer_options;

/** dp_hooks_are_dormant() - is there such a process, and is the library not in it? */
bool dp_hooks_are_dormant(pid_t pid);
/** dp_hooks_list_dormant() - print its hooks, a line each, as gkh_list() has them
 *  Return: 0; -ENOENT it has none; as dp_modules_open(). */
int dp_hooks_list_dormant(const struct dp_tracer_options *opt,
			  struct dp_diag *diag);
/** dp_hooks_refuse_dormant() - say why no exit can be armed there. Return: -EOPNOTSUPP */
int dp_hooks_refuse_dormant(const struct dp_tracer_options *opt,
			    struct dp_diag *diag);

#endif
