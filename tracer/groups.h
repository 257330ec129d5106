/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* groups: what processes of the same program have counted at the same probe, with -f. */
#ifndef DP_GROUPS_H
#define DP_GROUPS_H

#include "port_types.h"
#include <stdbool.h>
#include <stddef.h>

struct dp_row;
struct dp_session;
struct dp_spec;
struct dp_table;

/**
 * struct dp_group - a row of the table
 * @program: file name of the program; @name: of the probe; both owned
 * @nth: which of the probes of @spec with this name in a process
 * @mode: "both": a jump in some processes, a breakpoint in others
 * @processes: how many have been added; @last: the last of them
 * @parts: of a total: groups that it is the sum of
 */
struct dp_group {
	char *program, *name;
	const struct dp_spec *spec;
	const char *mode;
	u64 hits, missed, processes, last;
	u32 nth, parts;
};

/**
 * struct dp_groups - groups in the order in which they came; begins as zeros
 * @places: a hash table of numbers of groups plus one; @size: a power of two
 * @sessions: how many processes have been counted
 * @lost: there was no memory for some of it
 */
struct dp_groups {
	struct dp_group *v;
	size_t n, room;
	u32 *places;
	size_t size;
	u64 sessions;
	bool lost;
};

/** dp_groups_session() - the rows that follow are of another process */
void dp_groups_session(struct dp_groups *g);
/** dp_groups_add() - add a row of a process to its program's. Without memory @g->lost is set. */
void dp_groups_add(struct dp_groups *g, const struct dp_row *row);
/** dp_groups_count() - add what all probes of a session have counted */
void dp_groups_count(struct dp_groups *g, const struct dp_session *s);
/** dp_groups_rows() - add the rows of all groups to a table; the table does not outlive @g */
void dp_groups_rows(const struct dp_groups *g, struct dp_table *t);
/** dp_groups_total() - into @total, which begins as zeros: a group for each probe that several
 *  programs have had, as "(all)" */
void dp_groups_total(const struct dp_groups *g, struct dp_groups *total);
/** dp_groups_report() - print the table of a run whose processes have all been counted */
void dp_groups_report(const struct dp_session *s);
void dp_groups_free(struct dp_groups *g);

#endif
