// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * source: probes in the kernel, which dprobes.ko has, from opening its device to closing it.
 *
 * The kernel takes the probes out when the file is closed, however the tool ends. So there is
 * nothing to recover. A probe is added as its point is found, for only the module knows whether
 * it may be.
 */
#include "tracer/output.h"
#include "tracer/source.h"
#include "tracer/stacks.h"
#include "tracer/system.h"
#include "tracer/system/session.h"
#include "tracer/tracer.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IDLE_MS 100

/* Who has given neither a process nor a command may have meant one. */
static int open_device(struct dp_system_session *s,
		       const struct dp_tracer_options *opt,
		       struct dp_diag *diag)
{
	int err = dp_system_device_open(&s->device, opt->maxactive, diag);
	struct dp_diag words = *diag;

	if (!err || !opt->everybody || opt->argv)
		return err;
	return dp_diag_set(
		diag, err,
		"without -p PID or -- CMD programs are for the kernel, or for all processes: %s",
		words.text);
}

static int open_system(const struct dp_tracer_options *opt, bool timed,
		       struct dp_source **source, struct dp_diag *diag)
{
	struct dp_system_session *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	s->source = (struct dp_source){ .ops = &dp_system_source,
					.exe = opt->argv ? opt->argv[0] :
							   "the kernel" };
	s->device.fd = s->command.watch = s->command.start = -1;
	s->quiet = opt->quiet;
	s->pending = opt->pending;
	*source = &s->source;
	err = open_device(s, opt, diag) ?:
		      dp_system_command_open(&s->command, opt->argv, diag);
	s->source.pid = s->command.pid;
	s->source.launched = s->command.pid > 0;
	return err;
}

static bool ended(const struct dp_source *source)
{
	return false;
}

static bool outdated(const struct dp_source *source, bool failed)
{
	return false;
}

static int lost(const struct dp_source *source, struct dp_diag *diag)
{
	return dp_diag_set(diag, -EAGAIN, "the kernel is not probed any more");
}

static int modules(const struct dp_source *source, struct dp_modules **mods,
		   struct dp_diag *diag)
{
	*mods = NULL;
	if (dp_system_of(source)->armed)
		dp_system_begin_anew(dp_system_of(source));
	return 0;
}

static bool read_memory(const struct dp_source *source, u64 addr, void *to,
			size_t size)
{
	return false;
}

int dp_system_bind_all(struct dp_system_session *s,
		       const struct dp_source_request *want,
		       struct dp_diag *diag)
{
	size_t i;
	int err = want->prepare ? want->prepare(want->arg, diag) : 0;

	for (i = s->had; want->bind && i < want->points->n && !err; i++) {
		if (want->points->v[i].refused)
			continue;
		s->users =
			s->files[want->points->v[i].probe % DP_SYSTEM_PROBES];
		err = want->bind(want->arg, i, diag);
	}
	s->had = want->points->n;
	return err;
}

/* They have been added. */
static int add(struct dp_source *source, const struct dp_source_request *want,
	       struct dp_diag *diag)
{
	struct dp_system_session *s = dp_system_of(source);
	u64 bad;
	int err;

	if (!s->probes)
		return dp_diag_set(
			diag, -ENOENT,
			"none of these functions can be probed (-v says why)");
	err = dp_system_bind_all(s, want, diag);
	if (err || !want->listed)
		return err;
	err = dp_system_device_commit(&s->device, DP_DEVICE_PLAN, &bad);
	return err ? dp_diag_set(diag, err, "probes cannot be planned: %s",
				 strerror(-err)) :
		     0;
}

int dp_system_say_unarmed(int err, u64 bad, bool returns, struct dp_diag *diag)
{
	const char *why =
		err == -EINVAL && returns ?
			"a program at returns does not end by exit 1 or exit 2" :
		err == -ESTALE ?
			"a file has been written since it was looked at" :
		err == -EBUSY ?
			"a probe of the kernel's own is there (kprobe)" :
		err == -ENOMEM && returns ?
			"dprobes.ko follows 8192 calls at a time, of all functions: name fewer, or a smaller --maxactive" :
		err == -ENOSPC || err == -ENOMEM ?
			"dprobes.ko has no room for so many probes, or so long programs" :
			strerror(-err);

	return bad ? dp_diag_set(diag, err,
				 "the kernel cannot be probed at 0x%lx: %s",
				 bad, why) :
		     dp_diag_set(diag, err, "the kernel cannot be probed: %s",
				 why);
}

static int arm(struct dp_source *source, struct dp_diag *diag)
{
	struct dp_system_session *s = dp_system_of(source);
	u64 bad = 0;
	int err = s->unbound ? -EINVAL :
			       dp_system_device_commit(&s->device, 0, &bad);

	s->armed = !err;
	if (!err && !s->quiet)
		dp_system_say_off();
	return err ? dp_system_say_unarmed(err, bad, s->source.tracks, diag) :
		     0;
}

static void go(struct dp_source *source)
{
	dp_system_command_go(&dp_system_of(source)->command);
}

static enum dp_source_state wait_for(struct dp_source *source, int ms)
{
	struct dp_system_session *s = dp_system_of(source);

	return dp_system_command_wait(&s->command, ms) ? DP_SOURCE_EXITED :
							 DP_SOURCE_RUNS;
}

static void tend(struct dp_source *source, double t,
		 void (*foreign)(void *arg, u64 addr, bool away), void *arg,
		 struct dp_source_news *news)
{
	*news = (struct dp_source_news){ .most = IDLE_MS };
	dp_system_device_renew(&dp_system_of(source)->device);
}

static int add_aggregate(struct dp_source *source,
			 const struct dp_aggregate_shape *shape, u32 *table,
			 const char **why)
{
	struct dp_system_session *s = dp_system_of(source);

	return dp_system_kept_add(&s->kept, &s->device, shape, table, why);
}

static const struct dp_aggregate_entry *
aggregate(const struct dp_source *source, u32 table)
{
	return dp_system_kept_table(&dp_system_of(source)->kept, table);
}

static int read_aggregate(const struct dp_source *source, u32 table,
			  void (*take)(void *arg, const u64 *key,
				       const u64 *row),
			  void *arg)
{
	const struct dp_system_session *s = dp_system_of(source);

	return dp_system_kept_read(&s->kept, &s->device, table, take, arg);
}

static void aggregate_lost(const struct dp_source *source, u32 table,
			   u64 lost[DP_LOST_NR])
{
	dp_system_kept_lost(&dp_system_of(source)->device, table, lost);
}

/* As the module stamps records */
static u64 ticks(void)
{
	return __builtin_ia32_rdtsc();
}

static u32 thread(const struct dp_source *source, u32 tid)
{
	return tid;
}

static void task(const struct dp_source *source, struct dp_source_task *t)
{
	const struct dp_system_hitter *h = &dp_system_of(source)->hitter;

	if (h->pid && h->tid == t->tid) {
		t->pid = h->pid;
		snprintf(t->name, t->size, "%s", h->comm);
	} else {
		dp_system_task(t);
	}
}

static bool opcode(const struct dp_source *source, const struct dp_point *point,
		   u8 *byte)
{
	*byte = dp_system_of(source)->opcodes[point->probe % DP_SYSTEM_PROBES];
	return true;
}

/* How a probe is armed, or was */
static const struct dp_device_count *armed(const struct dp_source *source,
					   const struct dp_point *point)
{
	struct dp_system_session *s = dp_system_of(source);

	return s->was ? &s->was[point->probe] :
			dp_system_device_count(&s->device, point->probe);
}

static void tally_calls(struct dp_system_session *s,
			const struct dp_point *point, struct dp_source_count *c)
{
	struct dp_device_calls calls;

	if (point->spec->kind != DP_SPEC_RETURN)
		return;
	calls = dp_system_device_calls(&s->device, point->probe);
	c->tally[DP_TALLY_INSTANCES] = calls.full;
	c->tally[DP_TALLY_UNJUDGED] = calls.unjudged;
}

static void count(const struct dp_source *source, const struct dp_point *point,
		  struct dp_source_count *c)
{
	const struct dp_device_count *n = dp_system_device_count(
		&dp_system_of(source)->device, point->probe);

	*c = (struct dp_source_count){ .hits = n->hits,
				       .missed = n->missed,
				       .status = n->status,
				       .count = n->count };
	c->tally[DP_TALLY_LOST] = n->lost;
	c->tally[DP_TALLY_PASSED] = n->passed;
	c->tally[DP_TALLY_DISABLED] = n->disabled;
	c->tally[DP_TALLY_CONTEXT] = n->context;
	c->onward = n->onward;
	tally_calls(dp_system_of(source), point, c);
	n = armed(source, point);
	c->mode = n->state == DP_DEVICE_IS_PENDING ? "off" :
		  n->mode == DP_DEVICE_BY_JUMP	   ? "jump" :
		  n->mode == DP_DEVICE_BY_WATCH	   ? "watch" :
						     "trap";
}

static const char *reason(const struct dp_source *source,
			  const struct dp_point *point, size_t exit)
{
	if (point->refused)
		return point->reason;
	return armed(source, point)->reason;
}

static void totals(const struct dp_source *source, struct dp_source_totals *all)
{
	const struct dp_system_session *s = dp_system_of(source);
	const struct dp_device_counts now = dp_system_device_sum(&s->device),
				      *sites = s->was ? &s->sites : &now;

	*all = (struct dp_source_totals){ .sites = sites->sites,
					  .jumps = sites->jumps,
					  .globals = s->globals,
					  .interior = now.arrivals };
}

static u64 variable(const struct dp_source *source, u32 program, u32 index)
{
	return dp_system_device_variable(&dp_system_of(source)->device, program,
					 index);
}

static int zero(struct dp_source *source, u32 program, u32 first, u32 n)
{
	return dp_system_device_zero(&dp_system_of(source)->device, program,
				     first, n);
}

static void calls(const struct dp_source *source, const struct dp_point *point,
		  struct dp_account *counts)
{
	const struct dp_device_calls n = dp_system_device_calls(
		&dp_system_of(source)->device, point->probe);

	*counts = (struct dp_account){
		.entered = n.entered,
		.returned = n.returned,
		.abandoned = n.ended,
		.inside = n.inside,
		.missed = n.missed,
		.unmet = n.unmet,
		.lost = (s64)(n.entered - n.returned - n.ended - n.inside -
			      n.missed - n.unmet),
	};
}

static void remember(struct dp_system_session *s)
{
	u32 i;

	if (s->was)
		return;
	s->sites = dp_system_device_sum(&s->device);
	dp_system_device_renew(&s->device);
	s->was = calloc(s->probes + 1, sizeof(*s->was));
	for (i = 0; s->was && i < s->probes; i++)
		s->was[i] = *dp_system_device_count(&s->device, i);
}

static int disarm(struct dp_source *source, bool alive, struct dp_diag *diag)
{
	struct dp_system_session *s = dp_system_of(source);
	u64 bad;
	u32 i;
	int err = 0;

	remember(s);
	for (i = 0; i < s->probes && s->armed && !err; i++)
		if (!s->gone[i])
			err = dp_system_device_turn(&s->device, i, false);
	if (s->armed && !err)
		err = dp_system_device_commit(&s->device, 0, &bad);
	s->armed = false;
	dp_system_device_renew(&s->device);
	return err ? dp_diag_set(
			     diag, err,
			     "probes stay in the kernel, where somebody has written over one; dprobes.ko takes them out when it can: %s",
			     strerror(-err)) :
		     0;
}

static void say_absent(const struct dp_system_session *s, u32 state,
		       const char *what)
{
	u32 i, n = 0;

	for (i = 0; s->was && i < s->probes; i++)
		n += s->was[i].state == state;
	if (n)
		dp_output_say("%u probe%s %s", n, n == 1 ? "" : "s", what);
}

static void settle(struct dp_source *source, dp_source_take take, void *arg)
{
	struct dp_system_session *s = dp_system_of(source);
	u64 within = dp_system_device_sum(&s->device).within;

	if (!s->quiet) {
		say_absent(s, DP_DEVICE_IS_PENDING,
			   "waited for a module in vain, or for its function");
		say_absent(s, DP_DEVICE_IS_GONE, "went with the module");
	}
	if (within && !s->quiet)
		dp_output_say(
			"%lu hit%s came while the same CPU was in another hit, and %s not counted",
			within, within == 1 ? "" : "s",
			within == 1 ? "is" : "are");
}

static void end(const struct dp_source *source, struct dp_source_end *e)
{
	*e = (struct dp_source_end){
		.known = dp_system_of(source)->command.ended,
		.status = dp_system_of(source)->command.status,
		.execed = ""
	};
}

static void kill_launched(struct dp_source *source)
{
	dp_system_command_close(&dp_system_of(source)->command);
}

static void close_system(struct dp_source *source)
{
	struct dp_system_session *s = dp_system_of(source);

	if (!s)
		return;
	dp_system_device_close(&s->device);
	dp_system_command_close(&s->command);
	dp_system_symbols_free(&s->symbols);
	dp_system_kept_free(&s->kept);
	free(s->was);
	free(s->seen);
	free(s->last.code);
	free(s);
}

const struct dp_source_ops dp_system_source = {
	.name = "the kernel",
	.slow = "ten",
	.functions = true,
	.everybody = true,
	.open = open_system,
	.ended = ended,
	.outdated = outdated,
	.lost = lost,
	.modules = modules,
	.resolve = dp_system_resolve,
	.read = read_memory,
	.add = add,
	.add_program = dp_system_add_program,
	.add_aggregate = add_aggregate,
	.aggregate = aggregate,
	.read_aggregate = read_aggregate,
	.aggregate_lost = aggregate_lost,
	.bind = dp_system_bind,
	.stacks = &dp_system_stacks,
	.arm = arm,
	.go = go,
	.wait = wait_for,
	.tend = tend,
	.records = dp_system_records,
	.ticks = ticks,
	.thread = thread,
	.task = task,
	.symbol = dp_system_symbol,
	.also = dp_system_also,
	.unchanged = dp_system_unchanged,
	.opcode = opcode,
	.count = count,
	.reason = reason,
	.totals = totals,
	.variable = variable,
	.zero = zero,
	.exchange = dp_system_exchange,
	.retire = dp_system_retire,
	.calls = calls,
	.disarm = disarm,
	.settle = settle,
	.end = end,
	.kill = kill_launched,
	.close = close_system,
};
