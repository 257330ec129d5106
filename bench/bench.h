/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bench: what is measured, round by round, all in one run.
 *
 * Every round visits every bench once and measures the unprobed call beside
 * each, so that whatever the machine does at that moment happens to all alike.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "bench/victim.h"

/* A multiple of BENCH_PLACES */
#define BENCH_ROUNDS 16

/**
 * struct bench_run - one victim and what is being done to it
 * @victim: its path, of which @folder characters are the folder with its '/'
 * @absent: why the current bench cannot be measured
 * @note: what its figure is, where the name does not say it; "" for nothing
 */
struct bench_run {
	pid_t pid;
	struct bench_shared *shared;
	const char *victim;
	int folder;
	char absent[160];
	char note[160];
};

/**
 * struct bench - one line of the result
 * @core: ours, as opposed to a peer's
 * @measure: one value in @unit. Return: 0, or -1 with @run->absent set
 */
struct bench {
	const char *name, *unit;
	bool core;
	int (*measure)(struct bench_run *run, const struct bench *bench,
		       double *value);
	enum bench_function function;
};

/** bench_calls() - nanoseconds per call of a function in the victim */
double bench_calls(struct bench_run *run, enum bench_function function,
		   uint64_t calls);

/** bench_two() - the same of two threads at once, on a CPU each, ours too */
double bench_two(struct bench_run *run, enum bench_function function,
		 uint64_t calls);
/* as many threads as BENCH_CROWD; the mean of their times on a CPU */
double bench_many_threads(struct bench_run *run, enum bench_function function,
			  uint64_t calls);

/** bench_check() - end, if the victim has ended */
void bench_check(const struct bench_run *run);

/** bench_now() - milliseconds, monotonic */
double bench_now(void);

/* ours.c */
int bench_counter(struct bench_run *run, const struct bench *bench, double *ns);
int bench_trap(struct bench_run *run, const struct bench *bench, double *ns);
int bench_pair_exits(struct bench_run *run, const struct bench *bench,
		     double *ns);
int bench_pair_timed(struct bench_run *run, const struct bench *bench,
		     double *ns);
int bench_graph(struct bench_run *run, const struct bench *bench, double *ns);
int bench_attach(struct bench_run *run, const struct bench *bench, double *ms);
int bench_stopped(struct bench_run *run, const struct bench *bench, double *ms);
int bench_program(struct bench_run *run, const struct bench *bench, double *ns);
int bench_program_mem(struct bench_run *run, const struct bench *bench,
		      double *ns);
int bench_hist_key(struct bench_run *run, const struct bench *bench,
		   double *ns);
int bench_hist_string(struct bench_run *run, const struct bench *bench,
		      double *ns);
int bench_hist_threads(struct bench_run *run, const struct bench *bench,
		       double *ns);
int bench_jumps(struct bench_run *run, const struct bench *bench, double *ns);
int bench_record(struct bench_run *run, const struct bench *bench, double *ns);
int bench_record_coarse(struct bench_run *run, const struct bench *bench,
			double *ns);
int bench_record_cold(struct bench_run *run, const struct bench *bench,
		      double *ns);
int bench_every_insn(struct bench_run *run, const struct bench *bench,
		     double *ns);
int bench_reader(struct bench_run *run, const struct bench *bench, double *ns);
int bench_rings(struct bench_run *run, const struct bench *bench,
		double *bytes);
int bench_detach(struct bench_run *run, const struct bench *bench, double *ms);

int bench_counter_two(struct bench_run *run, const struct bench *bench,
		      double *ns);

/* many.c: ours, of many probes at once */
int bench_on(struct bench_run *run, const struct bench *bench, double *ms);
int bench_off(struct bench_run *run, const struct bench *bench, double *ms);
int bench_site(struct bench_run *run, const struct bench *bench, double *bytes);

/* command.c: ours, as it is typed */
int bench_command(struct bench_run *run, const struct bench *bench, double *ms);
int bench_command_on(struct bench_run *run, const struct bench *bench,
		     double *ms);
int bench_command_off(struct bench_run *run, const struct bench *bench,
		      double *ms);

/* stack.c: ours, as it is typed */
int bench_stack_known(struct bench_run *run, const struct bench *bench,
		      double *ns);

/* sql.c: ours, on a real program */
int bench_sql_entries(struct bench_run *run, const struct bench *bench,
		      double *times);
int bench_sql_returns(struct bench_run *run, const struct bench *bench,
		      double *times);

/* peer_*.c: the others' */
int bench_uprobe(struct bench_run *run, const struct bench *bench, double *ns);
int bench_uretprobe(struct bench_run *run, const struct bench *bench,
		    double *ns);
int bench_gdb(struct bench_run *run, const struct bench *bench, double *ns);
int bench_uftrace(struct bench_run *run, const struct bench *bench, double *ns);
int bench_lttng(struct bench_run *run, const struct bench *bench, double *ns);

/** bench_plain() - the unprobed call itself */
int bench_plain(struct bench_run *run, const struct bench *bench, double *ns);

#endif
