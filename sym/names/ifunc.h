/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ifunc: which implementation of an IFUNC a process runs. Context: tool process; may sleep, allocate. */
#ifndef DP_SYM_NAMES_IFUNC_H
#define DP_SYM_NAMES_IFUNC_H

#include "port_types.h"

struct dp_mod;
struct dp_modules;
struct dp_sym;

/* Where did the implementation come to lie? */
enum dp_ifunc_place {
	DP_IFUNC_NOWHERE, /* not chosen yet */
	DP_IFUNC_HERE, /* in the module that defines it */
	DP_IFUNC_ELSEWHERE, /* chosen, but outside (the vDSO) */
	DP_IFUNC_SEVERAL, /* the slots disagree */
};
int dp_ifunc_resolve(struct dp_modules *mods, struct dp_mod *mod,
		     const struct dp_sym *sym, u64 *addr,
		     enum dp_ifunc_place *place);

#endif
