// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* host: the host source, from taking hold of a process to closing it. */
#include "engine/site/counts.h"
#include "engine/site/engine.h"
#include "proc/attach_other.h"
#include "proc/host.h"
#include "proc/halt.h"
#include "proc/inspect.h"
#include "proc/proc.h"
#include "resolve/points.h"
#include "sym/sym.h"
#include "tracer/host/host.h"
#include "tracer/output.h"
#include "tracer/semaphores.h"
#include "tracer/tracer.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEAVE_SECONDS 5
#define LEAVE_NAP_US 20000
#define LOOK_SECONDS 0.1
#define IDLE_MS 100
/* Records that wait for threads take contexts: so many, and no more often, is looked at. */
#define MANY_WAIT (DP_CONTEXTS / 4)
#define SETTLE_SECONDS 1

/* Only what an order asks for is believed of the answer. */
static void take_answer(u32 verb, struct dp_guest *to,
			const struct dp_guest *from, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (verb == DP_SERVICE_PROBE) {
			to[i].probe = from[i].probe;
			to[i].err = from[i].err;
			memcpy(to[i].why, from[i].why, sizeof(to[i].why));
		} else if (verb == DP_SERVICE_UNPROBE) {
			to[i].hits = from[i].hits;
		}
}

/* @verb about @n guests from @from on */
static int ask(struct dp_host_source *h, u32 verb, size_t from, size_t n,
	       double patience, struct dp_diag *diag)
{
	struct dp_client_order order = {
		.verb = verb,
		.nr_guests = (u32)n,
		.len = n * sizeof(*h->guests),
		.patience = patience,
	};
	int err;

	order.data = malloc(order.len);
	if (!order.data)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	memcpy(order.data, h->guests + from, order.len);
	err = dp_client_ask(&h->client, &order, diag);
	if (!err)
		take_answer(verb, h->guests + from, order.data, n);
	free(order.data);
	return err;
}

int dp_host_ask_all(struct dp_host_source *h, u32 verb, size_t *done, size_t n,
		    double patience, struct dp_diag *diag)
{
	size_t most = DP_SERVICE_GUESTS, some;
	int err = 0;

	while (*done < n && !err) {
		some = n - *done < most ? n - *done : most;
		err = ask(h, verb, *done, some, patience, diag);
		*done += err ? 0 : some;
	}
	return err;
}

struct dp_client_order dp_host_order(u32 verb)
{
	return (struct dp_client_order){
		.verb = verb, .data = "", .len = 1, .patience = DP_HOST_PATIENCE
	};
}

/* Take out what a tool that was killed has left. */
static int clean(struct dp_host_source *h, struct dp_diag *diag)
{
	const struct dp_client_order order = dp_host_order(DP_SERVICE_CLEAN);
	u32 hosted = 0;

	DP_CLIENT_GET(&h->client, hosted, &hosted);
	return hosted ? dp_client_ask(&h->client, &order, diag) : 0;
}

static void read_exe(pid_t pid, char *to)
{
	ssize_t n = readlink(dp_path("/proc/%d/exe", pid).s, to, PATH_MAX - 1);

	to[n < 0 ? 0 : n] = '\0';
}

static void fill(struct dp_host_source *h)
{
	read_exe(h->client.pid, h->exe);
	h->source = (struct dp_source){
		.ops = &dp_host_source,
		.pid = h->client.pid,
		.inside = dp_process_inside(h->client.proc),
		.exe = h->exe,
	};
}

/* Who switches its probes from outside asks the tool: tracer/order.h. */
static void sign(const struct dp_host_source *h, u32 tool)
{
	DP_CLIENT_PUT(&h->client, guests_of, &tool);
}

static int begin(struct dp_host_source *h, const struct dp_tracer_options *opt,
		 struct dp_diag *diag)
{
	int err = dp_client_open(&h->client, opt->pid, NULL, diag);

	if (err)
		return err;
	fill(h);
	err = dp_process_lock(h->client.proc, DP_LOCK_GUEST, diag);
	if (err)
		return err;
	h->locked = true;
	sign(h, (u32)getpid());
	err = clean(h, diag) ?:
		      dp_host_open(h->client.proc, h->engine, &h->host, diag);
	if (!err)
		dp_host_lower(h->client.proc);
	return err;
}

static int open_host(const struct dp_tracer_options *opt, bool timed,
		     struct dp_source **source, struct dp_diag *diag)
{
	struct dp_host_source *h = calloc(1, sizeof(*h));

	if (!h)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	*source = &h->source;
	h->source.ops = &dp_host_source;
	h->source.pid = opt->pid;
	if (dp_engine_create(&h->engine))
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	return begin(h, opt, diag);
}

static bool ended(const struct dp_source *source)
{
	const struct dp_process *proc = dp_host_of(source)->client.proc;

	return proc && dp_process_ended(proc) && !dp_process_replaced(proc);
}

static bool outdated(const struct dp_source *source, bool failed)
{
	const struct dp_process *proc = dp_host_of(source)->client.proc;

	if (!proc)
		return false;
	return failed ? dp_process_executes(proc) : dp_process_replaced(proc);
}

static int lost(const struct dp_source *source, struct dp_diag *diag)
{
	return dp_process_lost(source->pid, diag);
}

/* Index of the first patch that ends behind @addr */
static size_t first_patch(const struct dp_host_source *h, u64 addr)
{
	size_t low = 0, high = h->nr_patches;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (h->patches[mid].addr + h->patches[mid].len <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void mend(void *arg, u64 addr, u8 *bytes, size_t len)
{
	const struct dp_host_source *h = arg;
	size_t i, k;

	for (i = first_patch(h, addr);
	     i < h->nr_patches && h->patches[i].addr < addr + len; i++)
		for (k = 0; k < h->patches[i].len; k++)
			if (h->patches[i].addr + k - addr < len)
				bytes[h->patches[i].addr + k - addr] =
					h->patches[i].orig[k];
}

static int modules(const struct dp_source *source, struct dp_modules **mods,
		   struct dp_diag *diag)
{
	struct dp_host_source *h = dp_host_of(source);
	int err;

	free(h->patches);
	h->patches = NULL;
	h->nr_patches = 0;
	if (dp_host_look(h->host) ||
	    dp_host_patches(h->host, &h->patches, &h->nr_patches))
		return dp_diag_set(diag, -EBADMSG,
				   "the probes of process %d cannot be read",
				   source->pid);
	err = dp_modules_open(source->pid, dp_process_mem(h->client.proc), mods,
			      diag);
	if (!err)
		dp_modules_set_mend(*mods, mend, h);
	return err;
}

static int resolve(struct dp_source *source, struct dp_modules *mods,
		   const struct dp_spec *spec, struct dp_points *points,
		   struct dp_diag *diag)
{
	if (spec->kind == DP_SPEC_WATCH)
		return dp_diag_set(
			diag, -EOPNOTSUPP,
			"process %d probes itself, and there programs have no watchpoints; dprobes trace has",
			source->pid);
	return dp_points_resolve(dp_host_of(source)->client.proc, mods, spec,
				 points, diag);
}

static bool read_memory(const struct dp_source *source, u64 addr, void *to,
			size_t size)
{
	return !dp_process_read(dp_host_of(source)->client.proc, addr, to,
				size);
}

/* A call begins when all that ends it is in place. */
static int turn(struct dp_host_source *h, struct dp_diag *diag)
{
	size_t entries = 0, exits = h->nr_entries;
	int err = dp_host_ask_all(h, DP_SERVICE_SWITCH, &exits, h->n,
				  DP_HOST_PATIENCE, diag);

	if (!err)
		err = dp_host_ask_all(h, DP_SERVICE_SWITCH, &entries,
				      h->nr_entries, DP_HOST_PATIENCE, diag);
	dp_host_refresh(h, dp_source_now());
	return err;
}

static bool is_on(const void *host, const struct dp_point *p)
{
	return ((const struct dp_host_source *)host)->guests[p->probe].on;
}

static void raise(struct dp_host_source *h, const struct dp_points *points)
{
	dp_points_raise(h->client.proc, dp_host_base(h->host), points, is_on,
			h);
}

static int arm(struct dp_source *source, struct dp_diag *diag)
{
	struct dp_host_source *h = dp_host_of(source);
	size_t i;
	int err;

	for (i = 0; i < h->n; i++)
		h->guests[i].on = 1;
	err = turn(h, diag);
	if (err)
		dp_host_leave(h, NULL);
	else
		raise(h, h->points);
	return err;
}

/* A process that is ending has lost its memory, too, and its program's file. */
static enum dp_source_state wait_for(struct dp_source *source, int ms)
{
	struct dp_host_source *h = dp_host_of(source);

	if (dp_process_poll(h->client.proc, ms) == DP_PROCESS_EXITED)
		return DP_SOURCE_EXITED;
	if (dp_process_replaced(h->client.proc))
		read_exe(source->pid, h->execed);
	return h->execed[0] ? DP_SOURCE_EXECED : DP_SOURCE_RUNS;
}

/* Threads may have ended before their instruction completed. */
static void settle_waiting(struct dp_host_source *h, double t)
{
	const struct dp_client_order order = dp_host_order(DP_SERVICE_SETTLE);

	h->settled = t;
	if (dp_engine_waiting(h->engine) >= MANY_WAIT)
		dp_client_ask(&h->client, &order, NULL);
	dp_calls_look(h->calls, false);
}

static void tend(struct dp_source *source, double t,
		 void (*foreign)(void *arg, u64 addr, bool away), void *arg,
		 struct dp_source_news *news)
{
	struct dp_host_source *h = dp_host_of(source);

	if (t - h->looked >= LOOK_SECONDS)
		dp_host_refresh(h, t);
	if (h->shared && t - h->settled >= SETTLE_SECONDS)
		settle_waiting(h, t);
	*news = (struct dp_source_news){ .most = IDLE_MS };
}

static u32 thread(const struct dp_source *source, u32 tid)
{
	return dp_process_thread(dp_host_of(source)->client.proc, tid);
}

static int enable(struct dp_source *source, const struct dp_points *points,
		  const bool *which, bool on, struct dp_diag *diag)
{
	struct dp_host_source *h = dp_host_of(source);
	size_t i;
	int err;

	for (i = 0; i < points->n; i++)
		if (which[i])
			h->guests[points->v[i].probe].on = on;
	err = turn(h, diag);
	for (i = 0; err && i < points->n; i++)
		if (which[i])
			h->guests[points->v[i].probe].on =
				!dp_host_is_disabled(h, points->v[i].probe);
	raise(h, points);
	return err;
}

static void tell_age(struct dp_host_source *h)
{
	h->ended = true;
	dp_output_say(
		"the counts are those of %.0f ms before the end: they were in memory of process %d alone",
		(dp_source_now() - h->looked) * 1000, h->source.pid);
}

/* No thread may be there to be asked for a while, or the library be busy. */
static int insist(struct dp_host_source *h, u32 verb, size_t from, size_t to,
		  struct dp_diag *diag)
{
	double deadline = dp_source_now() + LEAVE_SECONDS;
	int err;

	while ((err = dp_host_ask_all(h, verb, &from, to, DP_HOST_PATIENCE,
				      diag)) == -EAGAIN &&
	       dp_source_now() < deadline)
		usleep(LEAVE_NAP_US);
	return err;
}

/* What programs have done is told by counts that do not change any more. */
static int stop_programs(struct dp_host_source *h, struct dp_diag *diag)
{
	const struct dp_client_order settle = dp_host_order(DP_SERVICE_SETTLE);
	double deadline = dp_source_now() + LEAVE_SECONDS;
	size_t i;
	int err;

	if (!h->shared)
		return 0;
	dp_host_refresh(h, dp_source_now());
	h->stopped = true;
	for (i = 0; i < h->n; i++)
		h->guests[i].on = 0;
	err = insist(h, DP_SERVICE_SWITCH, 0, h->nr_entries, diag);
	dp_calls_look(h->calls, true);
	if (!err)
		err = insist(h, DP_SERVICE_SWITCH, h->nr_entries, h->n, diag);
	while (!err && dp_client_ask(&h->client, &settle, NULL) == -EAGAIN &&
	       dp_source_now() < deadline)
		usleep(LEAVE_NAP_US);
	return err;
}

int dp_host_leave(struct dp_host_source *h, struct dp_diag *diag)
{
	struct dp_diag words = { .text = "" };
	int err;

	if (!h->in || h->out || h->ended)
		return 0;
	dp_host_lower(h->client.proc);
	err = stop_programs(h, &words);
	dp_host_refresh(h, dp_source_now());
	if (!err)
		err = insist(h, DP_SERVICE_UNPROBE, 0, h->n, &words);
	h->out = !err;
	if (err == -ESRCH)
		tell_age(h);
	if (!err || err == -ESRCH)
		return 0;
	return dp_diag_set(
		diag, err,
		"the probes stay in process %d, and count; the next dprobes there takes them out: %.300s",
		h->source.pid, words.text);
}

static int disarm(struct dp_source *source, bool alive, struct dp_diag *diag)
{
	struct dp_host_source *h = dp_host_of(source);

	if (alive)
		return dp_host_leave(h, diag);
	tell_age(h);
	return 0;
}

static int stop(struct dp_source *source)
{
	return dp_process_stop(dp_host_of(source)->client.proc);
}

static void end(const struct dp_source *source, struct dp_source_end *end)
{
	const struct dp_host_source *h = dp_host_of(source);

	*end = (struct dp_source_end){ .execed = h->execed };
	if (h->client.proc)
		end->known = dp_process_status(h->client.proc, &end->status);
}

static void kill_launched(struct dp_source *source)
{
}

static void close_host(struct dp_source *source)
{
	struct dp_host_source *h = dp_host_of(source);

	if (!h)
		return;
	dp_host_leave(h, NULL);
	if (h->locked)
		sign(h, 0);
	if (h->client.proc)
		dp_client_close(&h->client);
	dp_host_close(h->host);
	dp_engine_destroy(h->engine);
	dp_modules_close(source->mods);
	free(h->guests);
	dp_calls_close(h->calls);
	free(h->index);
	free(h->jumps);
	free(h->patches);
	free(h);
}

int dp_host_detach(pid_t pid, struct dp_diag *diag)
{
	struct dp_host_source h = { 0 };
	u32 hosted = 0;
	int err = dp_client_open(&h.client, pid, NULL, diag);

	if (err)
		return err;
	err = dp_process_lock(h.client.proc, DP_LOCK_GUEST, diag);
	if (!err) {
		DP_CLIENT_GET(&h.client, hosted, &hosted);
		err = clean(&h, diag);
		dp_host_lower(h.client.proc);
	}
	dp_client_close(&h.client);
	return err ? err : hosted != 0;
}

const struct dp_source_ops dp_host_source = {
	.name = "the engine of a process that probes itself",
	.functions = true,
	.open = open_host,
	.ended = ended,
	.outdated = outdated,
	.lost = lost,
	.modules = modules,
	.resolve = resolve,
	.read = read_memory,
	.add = dp_host_add,
	.add_program = dp_host_add_program,
	.bind = dp_host_bind,
	.arm = arm,
	.wait = wait_for,
	.tend = tend,
	.records = dp_host_records,
	.ticks = dp_engine_ticks,
	.thread = thread,
	.count = dp_host_count,
	.reason = dp_host_reason,
	.totals = dp_host_totals,
	.variable = dp_host_variable,
	.calls = dp_host_calls,
	.enable = enable,
	.stop = stop,
	.disarm = disarm,
	.settle = dp_host_settle,
	.end = end,
	.kill = kill_launched,
	.close = close_host,
};
