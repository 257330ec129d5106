// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * host: the source for a process that probes itself, with libdprobes.
 *
 * The process has an engine already, and the tool's probes go into that: guests
 * (lib/guest.c). A thread of the process registers them, switches them and takes them out;
 * lib/service.h is how it is asked. The tool reads their counts from the engine's tables,
 * which are private to the process: when it ends, what was read last is all there is.
 *
 * Guests count. Conditions, records and calls need tables that such an engine has not got.
 *
 * Lock: DP_LOCK_GUEST of the process, as long as the source is open.
 */
#include "proc/attach_other.h"
#include "proc/inspect.h"
#include "proc/proc.h"
#include "resolve/points.h"
#include "sym/list.h"
#include "sym/sym.h"
#include "tracer/module/client.h"
#include "tracer/output.h"
#include "tracer/source.h"
#include "tracer/tracer.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How long a busy library is asked again: before anything has changed, and to take out. */
#define PATIENCE_SECONDS 0.1
#define LEAVE_SECONDS 5
#define LEAVE_NAP_US 20000
#define LOOK_SECONDS 0.1
#define IDLE_MS 100

/**
 * struct host
 * @guests: @n of them; a point's @probe is an index here
 * @seen: what was last read of each; @looked: when, in seconds
 * @patches: what the engine has written over, when the modules were read
 * @locked: the lock is held; @in: they are registered; @out: they have been taken out, and @guests have their hits;
 * @ended: the process has ended with them
 * @execed: path of the program that the process executed, or ""
 */
struct host {
	struct dp_source source;
	struct dp_client client;
	struct dp_guest *guests;
	struct dp_armed *seen;
	u32 *probes;
	size_t n, room;
	double looked;
	struct dp_host_patch *patches;
	size_t nr_patches;
	bool locked, in, out, ended;
	char exe[PATH_MAX], execed[PATH_MAX];
};

static struct host *host_of(const struct dp_source *source)
{
	return (struct host *)source;
}

static int cannot(const struct host *h, struct dp_diag *diag, const char *what)
{
	return dp_diag_set(
		diag, -EOPNOTSUPP,
		"process %d probes itself, with libdprobes: there dprobes stat can count hits, but %s",
		h->client.pid, what);
}

/* @verb about @n guests from @from on */
static int ask(struct host *h, u32 verb, size_t from, size_t n, double patience,
	       struct dp_diag *diag)
{
	const struct dp_client_order order = {
		.verb = verb,
		.nr_guests = (u32)n,
		.data = h->guests + from,
		.len = n * sizeof(*h->guests),
		.patience = patience,
	};

	return dp_client_ask(&h->client, &order, diag);
}

/* By as many orders as it takes; @done: so many guests are through. */
static int ask_all(struct host *h, u32 verb, size_t *done, double patience,
		   struct dp_diag *diag)
{
	size_t most = DP_SERVICE_GUESTS, n;
	int err = 0;

	while (*done < h->n && !err) {
		n = h->n - *done < most ? h->n - *done : most;
		err = ask(h, verb, *done, n, patience, diag);
		*done += err ? 0 : n;
	}
	return err;
}

/* Take out what a tool that was killed has left. */
static int clean(struct host *h, struct dp_diag *diag)
{
	const struct dp_client_order order = { .verb = DP_SERVICE_CLEAN,
					       .data = "",
					       .len = 1,
					       .patience = PATIENCE_SECONDS };
	u32 hosted = 0;

	DP_CLIENT_GET(&h->client, hosted, &hosted);
	return hosted ? dp_client_ask(&h->client, &order, diag) : 0;
}

static void read_exe(pid_t pid, char *to)
{
	ssize_t n = readlink(dp_path("/proc/%d/exe", pid).s, to, PATH_MAX - 1);

	to[n < 0 ? 0 : n] = '\0';
}

static void fill(struct host *h)
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
static void sign(const struct host *h, u32 tool)
{
	DP_CLIENT_PUT(&h->client, guests_of, &tool);
}

static int begin(struct host *h, const struct dp_tracer_options *opt,
		 bool timed, struct dp_diag *diag)
{
	int err = dp_client_open(&h->client, opt->pid, NULL, diag);

	if (err)
		return err;
	fill(h);
	if (timed)
		return cannot(h, diag,
			      "neither conditions nor records are possible");
	err = dp_process_lock(h->client.proc, DP_LOCK_GUEST, diag);
	if (err)
		return err;
	h->locked = true;
	sign(h, (u32)getpid());
	return clean(h, diag);
}

static int open_host(const struct dp_tracer_options *opt, bool timed,
		     struct dp_source **source, struct dp_diag *diag)
{
	struct host *h = calloc(1, sizeof(*h));

	if (!h)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	*source = &h->source;
	h->source.ops = &dp_host_source;
	h->source.pid = opt->pid;
	return begin(h, opt, timed, diag);
}

static bool ended(const struct dp_source *source)
{
	const struct dp_process *proc = host_of(source)->client.proc;

	return proc && dp_process_ended(proc) && !dp_process_replaced(proc);
}

static bool outdated(const struct dp_source *source, bool failed)
{
	const struct dp_process *proc = host_of(source)->client.proc;

	if (!proc)
		return false;
	return failed ? dp_process_executes(proc) : dp_process_replaced(proc);
}

static int lost(const struct dp_source *source, struct dp_diag *diag)
{
	return dp_process_lost(source->pid, diag);
}

/* Index of the first patch that ends behind @addr */
static size_t first_patch(const struct host *h, u64 addr)
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
	const struct host *h = arg;
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
	struct host *h = host_of(source);
	int err;

	free(h->patches);
	h->patches = NULL;
	h->nr_patches = 0;
	err = dp_host_patches(source->pid, &h->patches, &h->nr_patches, diag);
	if (!err)
		err = dp_modules_open(source->pid,
				      dp_process_mem(h->client.proc), mods,
				      diag);
	if (!err)
		dp_modules_set_mend(*mods, mend, h);
	return err;
}

static int resolve(struct dp_source *source, struct dp_modules *mods,
		   const struct dp_spec *spec, struct dp_points *points,
		   struct dp_diag *diag)
{
	if (spec->kind == DP_SPEC_RETURN)
		return cannot(host_of(source), diag,
			      "returns cannot be probed");
	return dp_points_resolve(host_of(source)->client.proc, mods, spec,
				 points, diag);
}

static bool read_memory(const struct dp_source *source, u64 addr, void *to,
			size_t size)
{
	return !dp_process_read(host_of(source)->client.proc, addr, to, size);
}

static int add_guests(struct host *h, struct dp_points *points)
{
	struct dp_guest g = { 0 };
	size_t i;

	for (i = 0; i < points->n; i++) {
		struct dp_point *p = &points->v[i];

		p->probe = h->n ? (u32)h->n - 1 : 0;
		if (p->refused)
			continue;
		p->probe = (u32)h->n;
		g.addr = p->addr;
		if (dp_list_add(&h->guests, &h->n, &h->room, &g, sizeof(g)))
			return -ENOMEM;
	}
	h->seen = calloc(h->n + 1, sizeof(*h->seen));
	h->probes = calloc(h->n + 1, sizeof(*h->probes));
	return h->seen && h->probes ? 0 : -ENOMEM;
}

/* What the process says of a refusal: one line. Return: a negative errno. */
static int read_refusal(const struct dp_guest *g, char *words)
{
	size_t n = 0;

	while (n < DP_GUEST_WHY && g->why[n] && g->why[n] != '\n')
		n++;
	memcpy(words, g->why, n);
	words[n] = '\0';
	return g->err < 0 && g->err > -4096 ? g->err : -EINVAL;
}

/* The library has refused some. What is refused of a glob is left out, another is an error. */
static int take_refusals(struct host *h, struct dp_points *points,
			 struct dp_diag *diag)
{
	char words[DP_GUEST_WHY + 1];
	size_t i, left = 0;
	int err;

	for (i = 0; i < points->n; i++) {
		struct dp_point *p = &points->v[i];
		const struct dp_guest *g = &h->guests[p->probe];

		if (p->refused || !g->err) {
			left += !p->refused;
			continue;
		}
		err = read_refusal(g, words);
		if (!p->spec->glob)
			return dp_diag_set(diag, err, "%s: %s", p->name, words);
		p->refused = err;
		snprintf(p->reason, sizeof(p->reason), "%s", words);
	}
	return left ? 0 :
		      dp_diag_set(diag, -EINVAL,
				  "none of the matches can be probed");
}

/* Keep those that have a number, among the first @asked. */
static void pack(struct host *h, struct dp_points *points, size_t asked)
{
	size_t i, n = 0;

	for (i = 0; i < points->n; i++) {
		struct dp_point *p = &points->v[i];

		if (!p->refused && p->probe < asked &&
		    !h->guests[p->probe].err) {
			h->guests[n] = h->guests[p->probe];
			h->probes[n] = h->guests[n].probe;
			p->probe = (u32)n++;
		} else {
			p->probe = n ? (u32)n - 1 : 0;
		}
	}
	h->n = n;
}

static int leave(struct host *h, struct dp_diag *diag);

static int add(struct dp_source *source, const struct dp_source_request *want,
	       struct dp_diag *diag)
{
	struct host *h = host_of(source);
	struct dp_diag words = { .text = "" };
	size_t done = 0;
	int err;

	if (want->listed)
		return 0;
	if (add_guests(h, want->points))
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	err = ask_all(h, DP_SERVICE_PROBE, &done, PATIENCE_SECONDS, &words);
	h->in = done;
	if (!err)
		err = take_refusals(h, want->points, &words);
	pack(h, want->points, done);
	if (err) {
		leave(h, NULL);
		return dp_diag_set(diag, err, "%s", words.text);
	}
	return 0;
}

static int add_program(struct dp_source *source,
		       const struct dp_program_spec *spec, u32 *program,
		       u32 *offset, const char **why)
{
	*offset = 0;
	*why = "no program can run in a process that probes itself";
	return -EOPNOTSUPP;
}

static void bind(struct dp_source *source, const struct dp_point *point,
		 const struct dp_binding *binding)
{
}

static void look(struct host *h, double t)
{
	if (h->in && !h->out &&
	    !dp_host_look(h->source.pid, h->probes, h->seen, h->n, NULL))
		h->looked = t;
}

static int turn(struct host *h, struct dp_diag *diag)
{
	size_t done = 0;
	int err = ask_all(h, DP_SERVICE_SWITCH, &done, PATIENCE_SECONDS, diag);

	look(h, dp_source_now());
	return err;
}

static int arm(struct dp_source *source, struct dp_diag *diag)
{
	struct host *h = host_of(source);
	size_t i;
	int err;

	for (i = 0; i < h->n; i++)
		h->guests[i].on = 1;
	err = turn(h, diag);
	if (err)
		leave(h, NULL);
	return err;
}

static enum dp_source_state wait_for(struct dp_source *source, int ms)
{
	struct host *h = host_of(source);

	if (dp_process_replaced(h->client.proc)) {
		read_exe(source->pid, h->execed);
		return DP_SOURCE_EXECED;
	}
	return dp_process_poll(h->client.proc, ms) == DP_PROCESS_EXITED ?
		       DP_SOURCE_EXITED :
		       DP_SOURCE_RUNS;
}

static void tend(struct dp_source *source, double t,
		 void (*foreign)(void *arg, u64 addr, bool away), void *arg,
		 struct dp_source_news *news)
{
	struct host *h = host_of(source);

	if (t - h->looked >= LOOK_SECONDS)
		look(h, t);
	*news = (struct dp_source_news){ .most = IDLE_MS };
}

static size_t records(struct dp_source *source, dp_source_take take, void *arg,
		      bool over)
{
	return 0;
}

static u64 ticks(void)
{
	return 0;
}

static u32 thread(const struct dp_source *source, u32 tid)
{
	return dp_process_thread(host_of(source)->client.proc, tid);
}

static void count(const struct dp_source *source, const struct dp_point *point,
		  struct dp_source_count *count)
{
	const struct host *h = host_of(source);
	const struct dp_armed *seen = &h->seen[point->probe];

	if (!h->in) {
		*count = (struct dp_source_count){ .mode = "unknown" };
		return;
	}
	*count = (struct dp_source_count){
		.hits = h->out ? h->guests[point->probe].hits : seen->hits,
		.missed = seen->missed,
		.interior = seen->middle,
		.mode = seen->optimized ? "jump" : "trap",
	};
}

static const char *reason(const struct dp_source *source,
			  const struct dp_point *point, size_t exit)
{
	const struct host *h = host_of(source);

	return h->in ? h->seen[point->probe].reason :
		       "the engine of the process decides it";
}

static int by_addr(const void *a, const void *b)
{
	const struct dp_armed *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void totals(const struct dp_source *source,
		   struct dp_source_totals *totals)
{
	const struct host *h = host_of(source);
	struct dp_armed *v = calloc(h->n + 1, sizeof(*v));
	size_t i;

	*totals = (struct dp_source_totals){ .sites = 0 };
	if (v)
		memcpy(v, h->seen, h->n * sizeof(*v));
	if (v)
		qsort(v, h->n, sizeof(*v), by_addr);
	for (i = 0; v && i < h->n; i++) {
		if (i && v[i].addr == v[i - 1].addr)
			continue;
		totals->sites++;
		totals->jumps += v[i].optimized;
		totals->gone += v[i].gone;
		totals->interior += v[i].middle;
	}
	free(v);
}

static u64 variable(const struct dp_source *source, u32 program, u32 index)
{
	return 0;
}

static void calls(const struct dp_source *source, const struct dp_point *point,
		  struct dp_account *counts)
{
	*counts = (struct dp_account){ 0 };
}

static int enable(struct dp_source *source, const struct dp_points *points,
		  const bool *which, bool on, struct dp_diag *diag)
{
	struct host *h = host_of(source);
	size_t i;
	int err;

	for (i = 0; i < points->n; i++)
		if (which[i])
			h->guests[points->v[i].probe].on = on;
	err = turn(h, diag);
	for (i = 0; err && i < points->n; i++)
		if (which[i])
			h->guests[points->v[i].probe].on =
				!h->seen[points->v[i].probe].disabled;
	return err;
}

static void tell_age(struct host *h)
{
	h->ended = true;
	dp_output_say(
		"the counts are those of %.0f ms before the end: they were in memory of process %d alone",
		(dp_source_now() - h->looked) * 1000, h->source.pid);
}

/* No thread may be there to be asked for a while, or the library be busy. */
static int leave(struct host *h, struct dp_diag *diag)
{
	double deadline = dp_source_now() + LEAVE_SECONDS;
	struct dp_diag words = { .text = "" };
	size_t done = 0;
	int err;

	if (!h->in || h->out || h->ended)
		return 0;
	look(h, dp_source_now());
	while ((err = ask_all(h, DP_SERVICE_UNPROBE, &done, PATIENCE_SECONDS,
			      &words)) == -EAGAIN &&
	       dp_source_now() < deadline)
		usleep(LEAVE_NAP_US);
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
	struct host *h = host_of(source);

	if (alive)
		return leave(h, diag);
	tell_age(h);
	return 0;
}

static void settle(struct dp_source *source, dp_source_take take, void *arg)
{
}

static void end(const struct dp_source *source, struct dp_source_end *end)
{
	const struct host *h = host_of(source);

	*end = (struct dp_source_end){ .execed = h->execed };
	if (h->client.proc)
		end->known = dp_process_status(h->client.proc, &end->status);
}

static void kill_launched(struct dp_source *source)
{
}

static void close_host(struct dp_source *source)
{
	struct host *h = host_of(source);

	if (!h)
		return;
	leave(h, NULL);
	if (h->locked)
		sign(h, 0);
	if (h->client.proc)
		dp_client_close(&h->client);
	dp_modules_close(source->mods);
	free(h->guests);
	free(h->seen);
	free(h->probes);
	free(h->patches);
	free(h);
}

int dp_host_detach(pid_t pid, struct dp_diag *diag)
{
	struct host h = { 0 };
	u32 hosted = 0;
	int err = dp_client_open(&h.client, pid, NULL, diag);

	if (err)
		return err;
	err = dp_process_lock(h.client.proc, DP_LOCK_GUEST, diag);
	if (!err) {
		DP_CLIENT_GET(&h.client, hosted, &hosted);
		err = clean(&h, diag);
	}
	dp_client_close(&h.client);
	return err ? err : hosted != 0;
}

const struct dp_source_ops dp_host_source = {
	.name = "the engine of a process that probes itself",
	.open = open_host,
	.ended = ended,
	.outdated = outdated,
	.lost = lost,
	.modules = modules,
	.resolve = resolve,
	.read = read_memory,
	.add = add,
	.add_program = add_program,
	.bind = bind,
	.arm = arm,
	.wait = wait_for,
	.tend = tend,
	.records = records,
	.ticks = ticks,
	.thread = thread,
	.count = count,
	.reason = reason,
	.totals = totals,
	.variable = variable,
	.calls = calls,
	.enable = enable,
	.disarm = disarm,
	.settle = settle,
	.end = end,
	.kill = kill_launched,
	.close = close_host,
};
