// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* ours: what dprobes itself costs: a hit, an attach, a detach. */
#include "bench/bench.h"
#include "engine/control/control.h"
#include "proc/proc.h"
#include <stdio.h>
#include <unistd.h>

#define CALLS 3000

struct attached {
	struct dp_process *proc;
	struct dp_engine *engine;
	u32 probe;
};

static int fail(struct bench_run *run, const char *text)
{
	snprintf(run->absent, sizeof(run->absent), "%.150s", text);
	return -1;
}

static void detach(struct attached *a)
{
	dp_process_close(a->proc);
	dp_engine_destroy(a->engine);
}

static int attach(struct bench_run *run, const struct bench *b,
		  struct attached *a)
{
	u64 addr = run->shared->addr[b->function];
	struct dp_diag diag;
	const char *why;
	u8 code[16];

	*a = (struct attached){ 0 };
	dp_diag_clear(&diag);
	if (dp_process_attach(run->pid, &a->proc, &diag) ||
	    dp_engine_create(&a->engine) ||
	    pread(dp_process_mem(a->proc), code, sizeof(code), (off_t)addr) !=
		    sizeof(code) ||
	    dp_engine_add(a->engine, addr, code, sizeof(code), &a->probe,
			  &why) ||
	    dp_process_install(a->proc, a->engine, &diag)) {
		detach(a);
		return fail(run, diag.text);
	}
	return 0;
}

int bench_trap(struct bench_run *run, const struct bench *b, double *ns)
{
	double plain = bench_calls(run, b->function, CALLS);
	struct attached a;

	if (attach(run, b, &a))
		return -1;
	*ns = bench_calls(run, b->function, CALLS) - plain;
	if (dp_engine_hits(a.engine, a.probe) != CALLS) {
		detach(&a);
		return fail(run, "the hits are not the calls");
	}
	detach(&a);
	return 0;
}

int bench_attach(struct bench_run *run, const struct bench *b, double *ms)
{
	double begin = bench_now();
	struct attached a;

	if (attach(run, b, &a))
		return -1;
	*ms = bench_now() - begin;
	detach(&a);
	return 0;
}

/* The victim's only thread makes the remote calls, so it stands still for all
 * of them: nothing is hidden by a thread that runs on. */
int bench_stopped(struct bench_run *run, const struct bench *b, double *ms)
{
	struct attached a;

	run->shared->gap_ns = 0;
	if (attach(run, b, &a))
		return -1;
	*ms = (double)run->shared->gap_ns / 1e6;
	detach(&a);
	return 0;
}

int bench_detach(struct bench_run *run, const struct bench *b, double *ms)
{
	struct attached a;
	double begin;

	if (attach(run, b, &a))
		return -1;
	begin = bench_now();
	dp_process_detach(a.proc, NULL);
	*ms = bench_now() - begin;
	detach(&a);
	return 0;
}
