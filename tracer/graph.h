/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* graph: trees of calls, and how they are printed. */
#ifndef DP_GRAPH_H
#define DP_GRAPH_H

#include "tracer/calltree.h"
#include "tracer/traced.h"

/** struct dp_graph_thread - whose calls they are; @tree: the calls */
struct dp_graph_thread {
	struct dp_session *s;
	u32 pid, tid;
	char comm[24];
	struct dp_calltree tree;
};

/** struct dp_graph_out - how trees are printed; @thread: whose was printed last; @objects: how many events have been */
struct dp_graph_out {
	const struct dp_tracer_options *opt;
	u64 thread, objects;
};

/** dp_graph_print() - print the first @n trees of a thread, which have been made */
void dp_graph_print(struct dp_graph_out *out, const struct dp_graph_thread *t,
		    size_t n);
/** dp_graph_print_end() - there are no more, in any thread */
void dp_graph_print_end(const struct dp_graph_out *out);

#endif
