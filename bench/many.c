// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * many: what many probes cost that go on and off together, in a process that runs
 * meanwhile.
 *
 * From taking hold of the process until every probe is live, and back until
 * nothing is left in it. Finding the addresses is not part of it.
 */
#include "bench/bench.h"
#include "proc/proc.h"
#include "engine/layout/arena.h"
#include "engine/site/reach.h"
#include "engine/site/counts.h"
#include "engine/site/engine.h"
#include "engine/site/arm.h"
#include <dprobes/diag.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "engine/site/internal.h"

#define SIZE (BENCH_MANY * BENCH_MANY_STEP)

struct many {
	struct dp_process *proc;
	struct dp_engine *engine;
	u8 *text; /* with what a decoder may look at behind it */
	double begin;
};

static int fail(struct bench_run *run, const char *text)
{
	snprintf(run->absent, sizeof(run->absent), "%.150s", text);
	return -1;
}

static void end(struct many *m)
{
	dp_process_close(m->proc);
	dp_engine_destroy(m->engine);
	free(m->text);
}

static int add_all(const struct bench_run *run, struct many *m)
{
	u64 first = run->shared->many, at;
	const char *why;
	u32 probe;
	int err = 0;

	dp_engine_set_arming(m->engine, DP_ARM_DEFAULT);
	for (at = 0; at < SIZE && !err; at += BENCH_MANY_STEP) {
		struct dp_reach reach = { first + at,
					  m->text + at,
					  BENCH_MANY_STEP,
					  BENCH_MANY_STEP,
					  BENCH_MANY_STEP,
					  { 0 },
					  false };

		err = dp_engine_add(m->engine, first + at, m->text + at,
				    BENCH_MANY_STEP, &probe, &why);
		if (!err)
			dp_engine_allow_jump(m->engine, probe, &reach);
	}
	return err;
}

static int put_on(struct bench_run *run, struct many *m)
{
	struct dp_diag diag;
	int err;

	*m = (struct many){ .text = malloc(SIZE), .begin = bench_now() };
	dp_diag_clear(&diag);
	err = dp_process_attach(run->pid, &m->proc, &diag);
	if (!err)
		err = dp_engine_create(&m->engine);
	if (!err && pread(dp_process_mem(m->proc), m->text, SIZE,
			  (off_t)run->shared->many) != SIZE)
		err = -1;
	if (!err)
		err = add_all(run, m);
	if (!err)
		err = dp_process_install(m->proc, m->engine, &diag);
	if (!err)
		dp_process_let_go(m->proc);
	if (!err && dp_engine_jumps(m->engine) == BENCH_MANY)
		return 0;
	end(m);
	return fail(run, err ? diag.text : "not every probe is a jump");
}

int bench_on(struct bench_run *run, const struct bench *b, double *ms)
{
	struct many m;

	if (put_on(run, &m))
		return -1;
	*ms = bench_now() - m.begin;
	end(&m);
	return 0;
}

int bench_off(struct bench_run *run, const struct bench *b, double *ms)
{
	struct many m;
	double begin;

	if (put_on(run, &m))
		return -1;
	begin = bench_now();
	dp_process_detach(m.proc, NULL);
	*ms = bench_now() - begin;
	end(&m);
	return 0;
}

/* Pages of the mapping at @addr that are not the file's any more, in bytes. */
static double private_bytes(pid_t pid, u64 addr)
{
	char path[64], line[512];
	unsigned long long start, stop, kb;
	double bytes = 0;
	bool there = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/smaps", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx-%llx ", &start, &stop) == 2)
			there = addr >= start && addr < stop;
		else if (there && sscanf(line, "Anonymous: %llu", &kb) == 1)
			bytes = 1024.0 * (double)kb;
	}
	if (f)
		fclose(f);
	return bytes;
}

/* All that there is because of them, by the number of sites. */
int bench_site(struct bench_run *run, const struct bench *b, double *bytes)
{
	const struct dp_arena_control *c;
	struct many m;
	u32 i;

	if (put_on(run, &m))
		return -1;
	c = &dp_engine_arena(m.engine)->control;
	*bytes = (double)c->arena_size +
		 private_bytes(run->pid, run->shared->many);
	for (i = 0; i < c->nr_pools; i++)
		*bytes += (double)c->pools[i].size;
	*bytes /= BENCH_MANY;
	end(&m);
	return 0;
}
