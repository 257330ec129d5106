/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * order: what another process has this tool do with its probes.
 *
 * struct dp_orders lies in a private mapping of the tool with a name. The asker finds it in
 * /proc/TOOL/maps, and writes one order at a time through /proc/TOOL/mem: the kernel lets
 * those write who may trace the tool. An asker holds DP_LOCK_ORDER of the tool meanwhile.
 *
 *     IDLE ─► ASKED ─► TAKEN ─► DONE ─► IDLE      a number in the upper half,
 *     asker   asker    tool     tool    asker     the state in the lower
 *
 * The tool looks at least every DP_ORDER_LOOK_MS. An asker that waits no longer writes its
 * number to @withdrawn. The tool reads that after it has taken the order, and the asker
 * reads the state after it has written. So either the asker sees that the order is taken,
 * or the tool that it is withdrawn. A tool that ends by an order waits until the asker has read its
 * answer, which is gone with it. An asker and the tool may die at any point.
 */
#ifndef DP_TRACER_ORDER_H
#define DP_TRACER_ORDER_H

#include <dprobes/diag.h>
#include <sys/types.h>
#include "port_types.h"

#define DP_ORDER_NAME "dprobes-orders"
#define DP_ORDER_PATH "/memfd:" DP_ORDER_NAME
#define DP_ORDER_MAGIC 0x317265647244706full
#define DP_ORDER_VERSION 5
/* In the place of a process: the kernel */
#define DP_ORDER_KERNEL 0xffffffffu
#define DP_ORDER_POINTS 131072
#define DP_ORDER_LOOK_MS 100
#define DP_ORDER_TEXT (DP_ORDER_POINTS * sizeof(struct dp_order_point))

enum dp_order_state {
	DP_ORDER_IDLE,
	DP_ORDER_ASKED,
	DP_ORDER_TAKEN,
	DP_ORDER_DONE,
};

enum dp_order_verb {
	DP_ORDER_DISABLE,
	DP_ORDER_ENABLE,
	/* of a dprobes hold: hold.h */
	DP_ORDER_INSERT,
	DP_ORDER_REMOVE,
	DP_ORDER_QUERY,
	DP_ORDER_VARIABLES,
	DP_ORDER_RESET,
};

/** struct dp_order_point - the probes at an address; @returns: the return probes */
struct dp_order_point {
	u64 addr;
	u64 returns;
};

/** struct dp_order_watch - a watchpoint of the tool's, and its hits of a moment ago
 *  @access: DP_SITE_WRITTEN, DP_SITE_ACCESSED, DP_SITE_EXECUTED; @len: bytes, 0 of an instruction */
struct dp_order_watch {
	u64 addr, hits;
	u32 len, access;
};
#define DP_ORDER_WATCHES 4

/**
 * struct dp_orders
 * @held: the process in which this tool, a dprobes hold, holds programs, or DP_ORDER_KERNEL; 0: it is
 *        none
 * @watched: the process in which this tool has the @nr_watches @watches, for listings
 * @pid: the probed process; @how: of the verb
 * @nr: of @points, ascending by dp_order_compare(); of a hold's verbs, bytes of @text
 * @err, @diag: the answer; @replied: bytes of @text that go with it
 */
struct dp_orders {
	u64 magic;
	u32 version;
	s32 err;
	u64 state;
	u64 withdrawn;
	u32 held;
	u32 verb, pid, nr, how, replied;
	u32 watched, nr_watches;
	struct dp_order_watch watches[DP_ORDER_WATCHES];
	struct dp_diag diag;
	union {
		struct dp_order_point points[DP_ORDER_POINTS];
		char text[DP_ORDER_TEXT];
	};
};

/** struct dp_order_text - a copy of an order for a hold; a NUL is behind the @len bytes of @text */
struct dp_order_text {
	u32 verb, how;
	char *text;
	size_t len;
};

/** dp_order_compare() - for qsort(3) and bsearch(3) */
static inline int dp_order_compare(const void *x, const void *y)
{
	const struct dp_order_point *a = x, *b = y;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return (a->returns > b->returns) - (a->returns < b->returns);
}

struct dp_session;

#define DP_ORDER_READ_SECONDS 1

/** dp_order_close() - take no more orders. Context: the probes are gone; waits until the last answer has
 *  been read, DP_ORDER_READ_SECONDS at most */
void dp_order_close(void);
/** dp_order_open() - take orders from now on. Without memory the tool takes none, which the
 *  asker is told. */
void dp_order_open(void);
/** dp_order_target() - a session's process, or DP_ORDER_KERNEL */
u32 dp_order_target(const struct dp_session *s);
/** dp_order_held() - say that this tool holds programs by a session */
void dp_order_held(const struct dp_session *s);
/** struct dp_order_place - "process 12", or "the kernel" */
struct dp_order_place {
	char s[32];
};
struct dp_order_place dp_order_place(u32 target);
/** dp_order_watches() - let others see what watchpoints a session has, and their hits. @t: now, by
 *  dp_source_now(); it is done every DP_ORDER_LOOK_MS. NULL: none any more */
void dp_order_watches(const struct dp_session *s, double t);
/** dp_order_look() - carry out an order for one of these sessions, if there is one. Context:
 *  their probes are armed. @births: called before text is written, which a child must not
 *  be made in; NULL: no process is followed */
void dp_order_look(struct dp_session *const *sessions, size_t n,
		   void (*births)(struct dp_session *s));

#endif
