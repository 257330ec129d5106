// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* ours: what dprobes itself costs: a hit, an attach, a detach. */
#include "bench/bench.h"
#include "engine/insn/class.h"
#include "engine/insn/insn.h"
#include "engine/insn/region.h"
#include "engine/site/instances.h"
#include "engine/layout/arena.h"
#include "engine/site/reach.h"
#include "engine/site/aggregate.h"
#include "engine/site/counts.h"
#include "engine/site/engine.h"
#include "engine/site/program.h"
#include "engine/vm/ops.h"
#include "engine/site/arm.h"
#include "proc/proc.h"
#include "sym/sym.h"
#include "tracer/expr.h"
#include <dprobes/diag.h>
#include <stdio.h>
#include <unistd.h>
#include "engine/site/internal.h"
#include "resolve/points.h"

/* By breakpoint; by jump; and as many as a ring takes. */
#define CALLS 3000
#define MANY_CALLS 1000000
#define RECORDS 20000
#define STRING_CALLS 10000
#define HITS 20000
/* of one with two values */
#define RECORD_BYTES 32
#define LOOPS 2000
/* So few that a tenth of them takes less than another process's turn. */
#define PAIRS 20000
/* The victim's functions are aligned to this. */
#define FUNCTION 64

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

/* As the tool does: the hit half need not ask the kernel. */
static void tell_tid_offset(struct attached *a)
{
	struct dp_modules *mods;

	if (dp_modules_open(dp_process_pid(a->proc), dp_process_mem(a->proc),
			    &mods, NULL))
		return;
	dp_engine_set_tid_offset(a->engine, dp_thread_tid_offset(mods));
	dp_modules_close(mods);
}

/* Have the probe run a program. @from: where it begins, or DP_NO_START */
static int add_program(struct attached *a, const u8 *code, u32 len, u32 logmax,
		       u32 from)
{
	struct dp_binding binding = { .maxhits = ~0u,
				      .logonfault = true,
				      .start = from };
	u32 start = 0, offset;
	const char *why;
	const struct dp_program_spec program = { .name = "bench",
						 .code = code,
						 .code_len = len,
						 .starts = &start,
						 .nr_starts = 1,
						 .nr_lv = 1,
						 .jmpmax = 32,
						 .logmax = logmax,
						 .stack = 32 };
	int err = dp_engine_add_program(a->engine, &program, &binding.program,
					&offset, &why);

	if (!err)
		dp_engine_bind(a->engine, a->probe, &binding);
	return err;
}

/* What "dprobes stat SPEC" and "dprobes trace SPEC" make of a condition and of
 * arguments. */
static int bind(struct attached *a, const char *text, bool trace)
{
	struct dp_trace_program p;
	struct dp_spec spec;
	int err = dp_spec_parse(text, &spec, NULL);

	tell_tid_offset(a);
	if (!err)
		err = trace ? dp_expr_trace(&spec, &p, NULL) :
			      dp_expr_count(&spec, &p, NULL);
	if (!err) {
		err = add_program(a, p.code, p.len, p.logmax, 0);
		dp_expr_free(&p);
	}
	dp_spec_free(&spec);
	return err;
}

/* What "dprobes stat" makes of a spec that keeps values, in table 0 */
static int bind_kept(struct attached *a, const char *text)
{
	struct dp_trace_program p;
	struct dp_spec spec;
	const char *why;
	u32 table;
	int err = dp_spec_parse(text, &spec, NULL);

	tell_tid_offset(a);
	err = err ?: dp_expr_aggregate(&spec, &p, NULL);
	if (!err) {
		p.shape.most = DP_AGGREGATE_USUAL;
		err = dp_engine_add_aggregate(a->engine, &p.shape, &table, &why) ?:
			      add_program(a, p.code, p.len, p.logmax, 0);
		dp_expr_free(&p);
	}
	dp_spec_free(&spec);
	return err;
}

/* What "dprobes trace" makes of a return of which no value is wanted. */
static int bind_nothing(struct attached *a)
{
	static const u8 code[] = { DP_OPCODE_EXIT };

	tell_tid_offset(a);
	return add_program(a, code, sizeof(code), 8, DP_NO_START);
}

/* What "dprobes graph" makes of a function */
static int bind_graph(struct attached *a)
{
	struct dp_trace_program p;
	struct dp_spec spec;
	int err = dp_spec_parse("r:f", &spec, NULL);

	tell_tid_offset(a);
	spec.bare = true;
	err = err ?: dp_expr_trace(&spec, &p, NULL);
	if (!err) {
		err = add_program(a, p.code, p.len, p.logmax,
				  p.enters ? 0 : DP_NO_START);
		dp_expr_free(&p);
	}
	dp_spec_free(&spec);
	return err;
}

static bool read_code(const struct attached *a, u64 addr,
		      u8 code[FUNCTION + DP_REGION_MAX])
{
	const size_t size = FUNCTION + DP_REGION_MAX;

	return pread(dp_process_mem(a->proc), code, size, (off_t)addr) ==
	       (ssize_t)size;
}

static int undone(struct bench_run *run, struct attached *a,
		  const struct dp_diag *diag)
{
	detach(a);
	return fail(run, diag->text);
}

/* A probe at the function, not installed yet. */
static int begin(struct bench_run *run, const struct bench *b,
		 struct attached *a)
{
	u64 addr = run->shared->addr[b->function];
	struct dp_diag diag;
	const char *why;
	u8 code[FUNCTION + DP_REGION_MAX];
	struct dp_reach reach = { addr,	    code,  sizeof(code), FUNCTION,
				  FUNCTION, { 0 }, false };

	*a = (struct attached){ 0 };
	dp_diag_clear(&diag);
	if (dp_process_attach(run->pid, &a->proc, &diag) ||
	    dp_engine_create(&a->engine) || !read_code(a, addr, code) ||
	    dp_engine_add(a->engine, addr, code, sizeof(code), &a->probe, &why))
		return undone(run, a, &diag);
	dp_engine_allow_jump(a->engine, a->probe, &reach);
	return 0;
}

static int install(struct bench_run *run, struct attached *a,
		   enum dp_arming arming)
{
	struct dp_diag diag;

	dp_diag_clear(&diag);
	dp_engine_set_arming(a->engine, arming);
	if (dp_process_install(a->proc, a->engine, &diag))
		return undone(run, a, &diag);
	dp_process_let_go(a->proc);
	if (arming != DP_ARM_TRAP && !dp_engine_jumps(a->engine)) {
		detach(a);
		return fail(run, "the probe is no jump");
	}
	return 0;
}

/* @spec: of the program that the probe runs, NULL for none */
static int attach_with(struct bench_run *run, const struct bench *b,
		       const char *spec, bool trace, enum dp_arming arming,
		       struct attached *a)
{
	if (begin(run, b, a))
		return -1;
	if (spec && bind(a, spec, trace)) {
		detach(a);
		return fail(run, "its program cannot be made");
	}
	return install(run, a, arming);
}

static int attach(struct bench_run *run, const struct bench *b,
		  struct attached *a)
{
	return attach_with(run, b, NULL, false, DP_ARM_DEFAULT, a);
}

/* Added cost of a hit whose probe runs a program. */
static int with_program(struct bench_run *run, const struct bench *b,
			const char *spec, bool trace, u64 calls,
			struct attached *a, double *ns)
{
	double plain = bench_calls(run, b->function, calls);

	if (attach_with(run, b, spec, trace, DP_ARM_DEFAULT, a))
		return -1;
	*ns = bench_calls(run, b->function, calls) - plain;
	return 0;
}

typedef double calls_fn(struct bench_run *run, enum bench_function function,
			uint64_t calls);

/* The same with a count alone, of @threads that make so many calls each. */
static int count(struct bench_run *run, const struct bench *b,
		 enum dp_arming arming, calls_fn *make, u64 threads, u64 calls,
		 double *ns)
{
	double plain = make(run, b->function, calls);
	struct attached a;

	if (attach_with(run, b, NULL, false, arming, &a))
		return -1;
	*ns = make(run, b->function, calls) - plain;
	if (dp_engine_hits(a.engine, a.probe) != threads * calls) {
		detach(&a);
		return fail(run, "the hits are not the calls");
	}
	detach(&a);
	return 0;
}

int bench_counter(struct bench_run *run, const struct bench *b, double *ns)
{
	return count(run, b, DP_ARM_DEFAULT, bench_calls, 1, MANY_CALLS, ns);
}

int bench_counter_two(struct bench_run *run, const struct bench *b, double *ns)
{
	return count(run, b, DP_ARM_DEFAULT, bench_two, 2, MANY_CALLS, ns);
}

/* Added cost, if the program has counted each call. */
static int counted(struct bench_run *run, const struct bench *b,
		   struct attached *a, double plain, double *ns)
{
	*ns = bench_calls(run, b->function, MANY_CALLS) - plain;
	if (dp_engine_local(a->engine, 0, 0) != MANY_CALLS) {
		detach(a);
		return fail(run, "the program has not counted the calls");
	}
	detach(a);
	return 0;
}

int bench_program(struct bench_run *run, const struct bench *b, double *ns)
{
	double plain = bench_calls(run, b->function, MANY_CALLS);
	struct attached a;

	return attach_with(run, b, "f if rdi != 12345 && rsi != 678", false,
			   DP_ARM_DEFAULT, &a) ?
		       -1 :
		       counted(run, b, &a, plain, ns);
}

static void add_hits(void *arg, const u64 *key, const u64 *row)
{
	u64 *hits = arg;

	(void)key;
	*hits += row[0];
}

/* Added cost of a hit that is kept, if all are. */
static int kept(struct bench_run *run, const struct bench *b, const char *spec,
		calls_fn *make, u64 calls, u64 hits, double *ns)
{
	double plain = make(run, b->function, calls);
	struct attached a;
	u64 sum = 0;

	if (begin(run, b, &a))
		return -1;
	if (bind_kept(&a, spec)) {
		detach(&a);
		return fail(run, "its program cannot be made");
	}
	if (install(run, &a, DP_ARM_DEFAULT))
		return -1;
	*ns = make(run, b->function, calls) - plain;
	dp_engine_read_aggregate(a.engine, 0, add_hits, &sum);
	detach(&a);
	return sum == hits ? 0 : fail(run, "the table has not kept the calls");
}

int bench_hist_key(struct bench_run *run, const struct bench *b, double *ns)
{
	return kept(run, b, "f{hist(rsi) by rdi}", bench_calls, HITS, HITS, ns);
}

int bench_hist_string(struct bench_run *run, const struct bench *b, double *ns)
{
	int err;

	run->shared->text = 1;
	err = kept(run, b, "f{hist(rsi) by rdi:str}", bench_calls, STRING_CALLS,
		   STRING_CALLS, ns);
	run->shared->text = 0;
	return err;
}

int bench_hist_threads(struct bench_run *run, const struct bench *b, double *ns)
{
	return kept(run, b, "f{hist(rsi) by rdi}", bench_many_threads,
		    MANY_CALLS, BENCH_CROWD * MANY_CALLS, ns);
}

/* The first argument leads to the number that is asked for. */
int bench_program_mem(struct bench_run *run, const struct bench *b, double *ns)
{
	static const u8 code[] = {
		DP_OPCODE_PUSH_R,
		0x64,
		0, /* rdi */
		DP_OPCODE_PUSH_MEM_U64,
		DP_OPCODE_PUSH,
		BENCH_NUMBER,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		DP_OPCODE_EQ,
		DP_OPCODE_JNZ,
		1,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		DP_OPCODE_ABORT,
		DP_OPCODE_INC_LV_I,
		0,
		0,
		DP_OPCODE_EXIT,
	};
	double plain = bench_calls(run, b->function, MANY_CALLS);
	struct attached a;

	if (begin(run, b, &a))
		return -1;
	if (add_program(&a, code, sizeof(code), 0, 0)) {
		detach(&a);
		return fail(run, "its program cannot be made");
	}
	return install(run, &a, DP_ARM_DEFAULT) ?
		       -1 :
		       counted(run, b, &a, plain, ns);
}

/* What a detour costs that does nothing: two jumps. */
int bench_jumps(struct bench_run *run, const struct bench *b, double *ns)
{
	double plain = bench_calls(run, BENCH_PUSH, MANY_CALLS);

	*ns = bench_calls(run, b->function, MANY_CALLS) - plain;
	return 0;
}

static void count_record(void *arg, const struct dp_record_copy *record)
{
	++*(unsigned long *)arg;
}

static unsigned long records(struct attached *a)
{
	unsigned long n = 0;

	dp_engine_records(a->engine, count_record, &n, false);
	return n;
}

/* Into pages of the ring that are new */
int bench_record_cold(struct bench_run *run, const struct bench *b, double *ns)
{
	struct attached a;
	unsigned long n;

	if (with_program(run, b, "f(rdi,rsi)", true, RECORDS, &a, ns))
		return -1;
	n = records(&a);
	detach(&a);
	return n == RECORDS ? 0 : fail(run, "the records are not the calls");
}

static int attach_logging(struct bench_run *run, const struct bench *b,
			  bool coarse, struct attached *a)
{
	if (begin(run, b, a))
		return -1;
	dp_engine_set_coarse(a->engine, coarse);
	if (bind(a, "f(rdi,rsi)", true)) {
		detach(a);
		return fail(run, "its program cannot be made");
	}
	return install(run, a, DP_ARM_DEFAULT);
}

/* Into a stream that has been written and read all around. @coarse: without time; @ns: of a call; @read:
 * of a record that is got out of the stream */
static int warm(struct bench_run *run, const struct bench *b, bool coarse,
		double *ns, double *read)
{
	const struct dp_arena_control *c;
	struct attached a;
	unsigned long n = 0;
	double begin;
	u32 turns;

	if (attach_logging(run, b, coarse, &a))
		return -1;
	c = &dp_engine_arena(a.engine)->control;
	turns = 2 + (c->stream_mask ? c->stream_mask / RECORDS / RECORD_BYTES :
				      c->slot_mask / RECORDS);
	for (; turns; turns--) {
		*ns = bench_calls(run, b->function, RECORDS);
		begin = bench_now();
		n = records(&a);
		*read = (bench_now() - begin) * 1e6 / RECORDS;
	}
	detach(&a);
	return n == RECORDS ? 0 : fail(run, "the records are not the calls");
}

int bench_record(struct bench_run *run, const struct bench *b, double *ns)
{
	double plain = bench_calls(run, b->function, RECORDS), read;
	int err = warm(run, b, false, ns, &read);

	*ns -= plain;
	return err;
}

int bench_record_coarse(struct bench_run *run, const struct bench *b,
			double *ns)
{
	double plain = bench_calls(run, b->function, RECORDS), read;
	int err = warm(run, b, true, ns, &read);

	*ns -= plain;
	return err;
}

int bench_reader(struct bench_run *run, const struct bench *b, double *ns)
{
	double call;

	return warm(run, b, false, &call, ns);
}

int bench_rings(struct bench_run *run, const struct bench *b, double *bytes)
{
	const struct dp_arena_control *c;
	struct attached a;

	if (attach_with(run, b, "f(rdi)", true, DP_ARM_DEFAULT, &a))
		return -1;
	c = &dp_engine_arena(a.engine)->control;
	*bytes = ((double)c->ring_stride + c->stream_stride) *
		 (c->shard_mask + 1);
	detach(&a);
	return 0;
}

/* Every instruction of a loop, each with its probe. */
int bench_every_insn(struct bench_run *run, const struct bench *b, double *ns)
{
	u64 start = run->shared->addr[b->function], at = start, hits = 0;
	double plain = bench_calls(run, b->function, LOOPS);
	u8 code[FUNCTION + DP_REGION_MAX];
	struct insn_facts f = { 0 };
	struct attached a;
	u32 i, probe;

	if (begin(run, b, &a))
		return -1;
	if (!read_code(&a, start, code)) {
		detach(&a);
		return fail(run, "the victim cannot be read");
	}
	for (i = 1; i <= BENCH_LOOP_INSNS; i++) {
		struct dp_reach reach = { start,    code,     sizeof(code),
					  FUNCTION, FUNCTION, { 0 },
					  false };

		dp_insn_facts(code + (at - start), DP_REGION_MAX, &f);
		at += f.len;
		reach.room = FUNCTION - (at - start);
		if (dp_engine_add(a.engine, at, code + (at - start),
				  sizeof(code) - (at - start), &probe, NULL)) {
			detach(&a);
			return fail(run, "an instruction cannot be probed");
		}
		dp_engine_allow_jump(a.engine, probe, &reach);
	}
	if (install(run, &a, DP_ARM_DEFAULT))
		return -1;
	*ns = (bench_calls(run, b->function, LOOPS) - plain) /
	      (BENCH_LOOP_TURNS * BENCH_LOOP_INSNS);
	for (i = 1; i <= BENCH_LOOP_INSNS; i++)
		hits += dp_engine_hits(a.engine, i);
	snprintf(run->note, sizeof(run->note),
		 "an instruction of a loop of %d, all probed; %llu traps",
		 BENCH_LOOP_INSNS,
		 (unsigned long long)dp_engine_interior_arrivals(a.engine));
	detach(&a);
	return hits == (u64)LOOPS * BENCH_LOOP_TURNS * BENCH_LOOP_INSNS ?
		       0 :
		       fail(run, "the hits are not the turns");
}

int bench_trap(struct bench_run *run, const struct bench *b, double *ns)
{
	return count(run, b, DP_ARM_TRAP, bench_calls, 1, CALLS, ns);
}

/* Entry and return of a function that is left by one ret, counted: a probe on each. */
static int add_exit(struct bench_run *run, struct attached *a, u64 entry,
		    bool timed, u32 *exit)
{
	u8 code[FUNCTION + DP_REGION_MAX];
	struct dp_reach reach = { entry,    code,  sizeof(code), FUNCTION,
				  FUNCTION, { 0 }, false };
	struct insn_facts f;
	u64 at = 0;

	if (!read_code(a, entry, code))
		return fail(run, "the victim cannot be read");
	while (!dp_insn_facts(code + at, sizeof(code) - at, &f) &&
	       f.class != DP_INSN_RET && at < FUNCTION)
		at += f.len;
	reach.room -= at;
	if (dp_engine_track(a->engine, a->probe, timed) ||
	    dp_engine_add_exit(a->engine, a->probe, 0, entry + at, code + at,
			       sizeof(code) - at, exit, NULL))
		return fail(run, "its exit cannot be probed");
	dp_engine_allow_jump(a->engine, *exit, &reach);
	return 0;
}

/* Entry and return of the function. @make: what binds the program of those that make records, or NULL */
static int attach_pair(struct bench_run *run, const struct bench *b,
		       int (*make)(struct attached *a), struct attached *a,
		       u32 *exit)
{
	if (begin(run, b, a))
		return -1;
	if (add_exit(run, a, run->shared->addr[b->function], make != NULL,
		     exit) ||
	    (make && make(a))) {
		detach(a);
		return fail(run, "the pair cannot be probed");
	}
	if (install(run, a, DP_ARM_DEFAULT))
		return -1;
	if (dp_engine_jumps(a->engine) == 2)
		return 0;
	detach(a);
	return fail(run, "the probes are no jumps");
}

int bench_pair_exits(struct bench_run *run, const struct bench *b, double *ns)
{
	double plain = bench_calls(run, b->function, PAIRS);
	struct attached a;
	bool all;
	u32 exit;

	if (attach_pair(run, b, NULL, &a, &exit))
		return -1;
	*ns = bench_calls(run, b->function, PAIRS) - plain;
	all = dp_engine_hits(a.engine, exit) == PAIRS;
	detach(&a);
	snprintf(run->note, sizeof(run->note),
		 "entry and return of another process, counted");
	return all ? 0 : fail(run, "the returns are not the calls");
}

/* The second round is into memory that has been written before. */
static int pair_timed(struct bench_run *run, const struct bench *b,
		      int (*make)(struct attached *a), double *ns)
{
	double plain = bench_calls(run, b->function, RECORDS);
	struct attached a;
	unsigned long n = 0;
	u32 exit, turns;

	if (attach_pair(run, b, make, &a, &exit))
		return -1;
	turns = 2 + dp_engine_arena(a.engine)->control.stream_mask / RECORDS /
			    sizeof(struct dp_stream_call);
	for (; turns; turns--) {
		*ns = bench_calls(run, b->function, RECORDS) - plain;
		n = records(&a);
	}
	detach(&a);
	return n == RECORDS ? 0 : fail(run, "the records are not the calls");
}

int bench_pair_timed(struct bench_run *run, const struct bench *b, double *ns)
{
	snprintf(run->note, sizeof(run->note),
		 "entry and return of another process, with time and record");
	return pair_timed(run, b, bind_nothing, ns);
}

int bench_graph(struct bench_run *run, const struct bench *b, double *ns)
{
	snprintf(run->note, sizeof(run->note),
		 "a call of which dprobes graph shows the time");
	return pair_timed(run, b, bind_graph, ns);
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
