/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * host: the source for a process that probes itself, with libdprobes.
 *
 * The process has an engine already, and the tool's probes go into that: guests
 * (lib/guest.c). A thread of the process registers them, switches them and takes them out;
 * lib/service.h is how it is asked. The tool reads counts from a copy of the engine's tables.
 * These are private to the process: when it ends, what was read last is all there is. What
 * programs log and count is in memory that the two share (proc/host.h).
 *
 * Lock: DP_LOCK_GUEST of the process, as long as the source is open.
 */
#ifndef DP_TRACER_HOST_H
#define DP_TRACER_HOST_H

#include "proc/host.h"
#include "tracer/instances/instances.h"
#include "tracer/module/client.h"
#include "tracer/source.h"
#include <limits.h>

/* How long a busy library is asked again before anything has changed. */
#define DP_HOST_PATIENCE 0.1

/**
 * struct dp_host_source
 * @engine: has the programs, and mirrors the process's engine; @host: where it looks
 * @guests: @n of them, first the @nr_entries of points, whose @probe is an index here
 * @calls: calls that have not ended
 * @points: the session's
 * @index: 1 + index of the guest with a number in the engine, for @nr_index numbers
 * @jumps: of each guest: its site is a jump, as of the last look before they are @stopped
 * @looked: when counts were last read, in seconds; @settled: when waiting records were;
 *          @moved: when records last came, or none was in the way of others
 * @patches: what the engine has written over, when the modules were read
 * @locked: the lock is held; @shared: records can come
 * @in: guests are registered; @out: they have been taken out, and have their hits
 * @ended: the process has ended with them
 * @execed: path of the program that the process executed, or ""
 */
struct dp_host_source {
	struct dp_source source;
	struct dp_client client;
	struct dp_engine *engine;
	struct dp_host *host;
	struct dp_guest *guests;
	size_t n, room, nr_entries;
	struct dp_calls *calls;
	const struct dp_points *points;
	u32 *index, nr_index;
	bool *jumps;
	double looked, settled, moved;
	struct dp_host_patch *patches;
	size_t nr_patches;
	bool locked, shared, in, stopped, out, ended;
	char reason[DP_REASON_SIZE];
	char exe[PATH_MAX], execed[PATH_MAX];
};

static inline struct dp_host_source *dp_host_of(const struct dp_source *source)
{
	return (struct dp_host_source *)source;
}

/** dp_host_order() - an order without data */
struct dp_client_order dp_host_order(u32 verb);
/** dp_host_ask_all() - an order about guests, by as many orders as it takes
 *  @done: so many are through; @n: up to here. Return: as dp_client_ask(). */
int dp_host_ask_all(struct dp_host_source *h, u32 verb, size_t *done, size_t n,
		    double patience, struct dp_diag *diag);
/** dp_host_leave() - take the guests out. Return: 0 or a negative errno with words. */
int dp_host_leave(struct dp_host_source *h, struct dp_diag *diag);

/* guests.c: points and programs become guests; see struct dp_source_ops */
int dp_host_add(struct dp_source *source, const struct dp_source_request *want,
		struct dp_diag *diag);
int dp_host_add_program(struct dp_source *source,
			const struct dp_program_spec *spec, u32 *program,
			u32 *offset, const char **why);
void dp_host_bind(struct dp_source *source, const struct dp_point *point,
		  const struct dp_binding *binding);

/** dp_host_refusal() - what the process says of a guest that it has refused: room for
 *  DP_GUEST_WHY + 1 bytes. Return: a negative errno. */
int dp_host_refusal(const struct dp_guest *g, char *words);

/* exits.c: guests at the exits of functions; see struct dp_source_ops */
/** dp_host_add_exits() - for all points; the entries have their numbers. Return: 0; a negative
 *  errno with words. */
int dp_host_add_exits(struct dp_host_source *h, struct dp_points *points,
		      struct dp_diag *diag);
/** dp_host_exit() - number of the guest at the @k-th exit of an entry. Return: false: none. */
bool dp_host_exit(const struct dp_host_source *h, u32 entry, size_t k,
		  u32 *probe);
void dp_host_calls(const struct dp_source *source, const struct dp_point *p,
		   struct dp_account *counts);
void dp_host_settle(struct dp_source *source, dp_source_take take, void *arg);

/** struct dp_host_taking - records on their way to @take, with a point's number each */
struct dp_host_taking {
	struct dp_host_source *h;
	dp_source_take take;
	void *arg;
};

/* counts.c: what the process has counted and recorded; see struct dp_source_ops */
/** dp_host_refresh() - read the counts. @t: the time */
void dp_host_refresh(struct dp_host_source *h, double t);
void dp_host_count(const struct dp_source *source, const struct dp_point *point,
		   struct dp_source_count *count);
const char *dp_host_reason(const struct dp_source *source,
			   const struct dp_point *point, size_t exit);
void dp_host_totals(const struct dp_source *source,
		    struct dp_source_totals *totals);
u64 dp_host_variable(const struct dp_source *source, u32 program, u32 index);
size_t dp_host_records(struct dp_source *source, dp_source_take take, void *arg,
		       bool ended);
/** dp_host_translate() - give a record of the engine's, by a struct dp_host_taking, the number of
 *  its point */
void dp_host_translate(void *arg, const struct dp_record_copy *record);
/** dp_host_is_disabled() - is a guest disabled, as of the last look? */
bool dp_host_is_disabled(const struct dp_host_source *h, size_t guest);

#endif
