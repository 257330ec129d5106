/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * helper: the short-lived process that prepares ours.
 *
 * A program of its own, carried in the library as data: a child that shares
 * neither our memory nor our libc, so that it may stop every thread we have.
 */
#ifndef DP_HELPER_H
#define DP_HELPER_H

#include <dprobes/diag.h>
#include "port_types.h"

#define DP_HELPER_ORDERS 0 /* descriptors of the helper */
#define DP_HELPER_ANSWER 1

/** struct dp_helper_order - what it is to do */
struct dp_helper_order {
	s32 pid; /* of the process, as the helper sees it; 0: its parent */
	u32 max_sites;
};

/** struct dp_helper_answer - what came of it */
struct dp_helper_answer {
	s32 err;
	u64 base;
	struct dp_diag diag;
};

/* The program's image. */
extern const char dp_helper_start[] __attribute__((visibility("hidden")));
extern const char dp_helper_end[] __attribute__((visibility("hidden")));

#endif
