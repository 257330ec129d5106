// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * guest: probes that a tool has in this process, beside the program's own.
 *
 * They are probes of the process's engine, so both share sites, jumps and rules. A guest
 * counts, runs a program, or tracks calls by exits; it calls nothing. The tool knows it by
 * its number in the engine, and reads counts, variables and records from the arena. The
 * program's lists do not show it.
 *
 *     BEGIN ─► PROGRAM… ─► PROBE… ─► SWITCH… ─► UNPROBE
 *                                           of a tool that was killed: CLEAN, by the next one
 *
 * A program's room is used again at BEGIN, when no thread runs a program.
 *
 * A fork child has no guests: dp_self begins anew there.
 */
#include "lib/self.h"
#include "lib/service.h"
#include "engine/site/build.h"
#include "engine/site/counts.h"
#include "engine/site/instances.h"
#include "engine/site/program.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FEW 64
/* How long a program may run on: the thread may be off its CPU */
#define NAPS 20
#define NAP_NS 1000000
#define RUNS_ON "a thread is in the middle of a probe's program"

/** struct dp_guest_probe - @p registers it */
struct dp_guest_probe {
	struct kprobe p;
	struct dp_guest_probe *next;
};

static struct dp_guest_probe *find(u32 probe)
{
	struct kprobe *p;

	if (probe >= dp_self.nr_users || !dp_self.users[probe].guest)
		return NULL;
	p = dp_self.users[probe].p;
	return (struct dp_guest_probe *)p;
}

static struct dp_request request_of(struct dp_guest_probe *g,
				    const struct dp_guest *v)
{
	return (struct dp_request){
		.user = { .p = &g->p, .kind = 'k', .guest = true },
		.handlers = { .kind = (u8)v->kind,
			      .way = v->way,
			      .user = (u64)&g->p },
		.group = v->group,
		.binding = v->bound ? &v->binding : NULL,
	};
}

/* Only there was the program's code verified to begin. */
static bool is_start(const struct dp_program *p, u32 at)
{
	u32 i;

	for (i = 0; i < p->spec.nr_starts; i++)
		if (p->starts[i] == at)
			return true;
	return false;
}

static bool is_sane_binding(const struct dp_engine *e,
			    const struct dp_binding *b)
{
	const struct dp_program *p;

	if (b->program >= e->nr_programs)
		return false;
	p = &e->programs[b->program];
	return (b->start == DP_NO_START || is_start(p, b->start)) &&
	       (!b->leaves || is_start(p, b->leaves - 1));
}

/* What an order may ask for: nothing here calls into the process. */
static bool is_sane(const struct dp_guest *v)
{
	const struct dp_engine *e = dp_self.engine;
	bool exit = v->kind == DP_KIND_EXIT && v->group != DP_NO_GROUP;

	if (v->kind != DP_KIND_PLAIN && v->kind != DP_KIND_ENTER &&
	    v->kind != DP_KIND_EXIT && v->kind != DP_KIND_UNWIND)
		return false;
	return (!v->bound || is_sane_binding(e, &v->binding)) &&
	       (!exit ||
		(find(v->group) && e->probes[v->group].kind == DP_KIND_ENTER));
}

static void refuse(void *arg, u32 i, int err)
{
	struct dp_guest *v = arg;

	v[i].err = err;
	snprintf(v[i].why, sizeof(v[i].why), "%.*s", DP_GUEST_WHY - 1,
		 dp_last_diag()->text);
	dp_diag_clear(dp_last());
}

static int make(struct dp_guest *v, struct dp_request *requests, u32 n)
{
	struct dp_guest_probe *g;
	u32 i;

	for (i = 0; i < n; i++) {
		if (!is_sane(&v[i]))
			return dp_fail(-EINVAL, "the order is damaged");
		g = calloc(1, sizeof(*g));
		if (!g)
			return dp_fail(-ENOMEM, "out of memory");
		g->p.addr = (kprobe_opcode_t *)v[i].addr;
		g->p.flags = KPROBE_FLAG_DISABLED;
		requests[i] = request_of(g, &v[i]);
		v[i].err = 0;
	}
	return 0;
}

/* Those that are not registered go. */
static void keep(struct dp_guest *v, const struct dp_request *requests, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		struct dp_guest_probe *g = (void *)requests[i].user.p;

		if (!g || !dp_probe_index(&g->p, &v[i].probe)) {
			free(g);
			continue;
		}
		g->next = dp_self.guests;
		dp_self.guests = g;
		dp_self.nr_guests++;
	}
}

int dp_guests_add(struct dp_guest *v, u32 n)
{
	struct dp_request *requests = calloc(n, sizeof(*requests));
	int err = requests ? dp_self_begin(true) :
			     dp_fail(-ENOMEM, "out of memory");

	if (!err) {
		err = make(v, requests, n);
		if (!err)
			err = dp_probes_register_each(requests, n, refuse, v);
		keep(v, requests, n);
		dp_self_end();
	}
	free(requests);
	return err;
}

/* Return: false: a thread still runs a program, maybe one that it left by siglongjmp. */
static bool wait_for_programs(void)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };
	int i;

	for (i = 0; dp_live_runs_programs(dp_self.engine); i++) {
		if (i == NAPS)
			return false;
		nanosleep(&nap, NULL);
	}
	return true;
}

static int forget_programs(void)
{
	if (dp_self.nr_guests)
		return dp_fail(-EBUSY, "there are guests already");
	if (!wait_for_programs())
		return dp_fail(-EAGAIN, RUNS_ON);
	dp_programs_restart(dp_self.engine);
	return 0;
}

int dp_guests_begin(void)
{
	int err = dp_self_begin(false);

	if (err)
		return err;
	err = forget_programs();
	dp_self_end();
	return err;
}

static int add_program(struct dp_guest_program *p)
{
	struct dp_program_spec spec = p->spec;
	u64 starts = (u64)spec.nr_starts * sizeof(u32);
	const char *why = "the order is damaged";
	u32 offset;
	int err = -EINVAL;

	p->name[DP_PROGRAM_NAME - 1] = '\0';
	spec.name = p->name;
	spec.starts = (const void *)(p + 1);
	spec.code = (const u8 *)(p + 1) + starts;
	if (sizeof(*p) + starts + spec.code_len <= p->size)
		err = dp_engine_add_program(dp_self.engine, &spec, &p->number,
					    &offset, &why);
	if (!err && !dp_programs_fit(dp_self.engine)) {
		dp_programs_drop(dp_self.engine, p->number);
		why = "there is no room for so many programs, or for such long logs";
		err = -ENOSPC;
	}
	return err ? dp_fail(err, "%s", why) : 0;
}

int dp_guests_program(void *programs, size_t size, u32 n)
{
	struct dp_guest_program *p = programs;
	int err = dp_self_begin(false);

	if (err)
		return err;
	for (; n-- && !err; p = (void *)((char *)p + p->size)) {
		if (size < sizeof(*p) || p->size < sizeof(*p) ||
		    p->size > size || p->size % sizeof(u64))
			err = dp_fail(-EINVAL, "the order is damaged");
		else
			err = add_program(p);
		size -= err ? 0 : p->size;
	}
	dp_programs_fill(dp_self.engine);
	dp_self_end();
	return err;
}

static bool is_disabled(u32 probe)
{
	return probe < dp_self.nr_users && dp_self.users[probe].guest &&
	       !dp_self.engine->probes[probe].enabled;
}

static bool is_over(u32 tid, u32 probe)
{
	return is_disabled(probe) ||
	       (tgkill(getpid(), (pid_t)tid, 0) && errno == ESRCH);
}

int dp_guests_settle(void)
{
	int err = dp_self_begin(false);

	if (err)
		return err;
	if (dp_live_runs_programs(dp_self.engine))
		err = dp_fail(-EAGAIN, RUNS_ON);
	dp_live_settle(dp_self.engine, is_over);
	dp_self_end();
	return err;
}

static int turn(u32 *probes, u32 n, bool on)
{
	u32 i;
	int err;

	if (!n)
		return 0;
	err = dp_live_enable(dp_self.engine, &dp_self.text.target, probes, n,
			     on);
	for (i = 0; i < n; i++)
		dp_self.users[probes[i]].disabled = !on || err;
	return err ? dp_fail(err, "the probes cannot be switched") : 0;
}

static int switch_all(const struct dp_guest *v, u32 n, u32 *probes)
{
	int pass, err = 0;
	u32 i, chosen;

	for (i = 0; i < n; i++)
		if (!find(v[i].probe))
			return dp_fail(-EINVAL, "probe %u is no guest",
				       v[i].probe);
	for (pass = 0; pass < 2 && !err; pass++) {
		for (i = chosen = 0; i < n; i++) {
			const struct dp_user *u = &dp_self.users[v[i].probe];

			if (!v[i].on == !pass && !u->gone)
				probes[chosen++] = v[i].probe;
		}
		err = turn(probes, chosen, pass);
	}
	dp_flags_refresh();
	return err;
}

int dp_guests_switch(const struct dp_guest *v, u32 n)
{
	u32 *probes = calloc(n, sizeof(*probes));
	int err = probes ? dp_self_begin(false) :
			   dp_fail(-ENOMEM, "out of memory");

	if (!err) {
		err = switch_all(v, n, probes);
		dp_self_end();
	}
	free(probes);
	return err;
}

static void forget(struct dp_guest_probe *g)
{
	struct dp_guest_probe **at = &dp_self.guests;

	while (*at && *at != g)
		at = &(*at)->next;
	/* An order may name a guest twice. */
	if (!*at)
		return;
	*at = g->next;
	dp_self.nr_guests--;
	free(g);
}

/* No thread is to begin what a guest does more than count, nor to end it later. */
static void still(struct kprobe *const *probes, u32 n)
{
	const struct dp_probe *p;
	u32 few[FEW], chosen = 0, i, probe;
	bool any = false;

	for (i = 0; i < n; i++) {
		if (!dp_probe_index(probes[i], &probe))
			continue;
		p = &dp_self.engine->probes[probe];
		if (p->kind == DP_KIND_PLAIN && !p->bound)
			continue;
		any = true;
		few[chosen++] = probe;
		if (chosen == FEW) {
			turn(few, chosen, false);
			chosen = 0;
		}
	}
	turn(few, chosen, false);
	if (any && wait_for_programs())
		dp_live_settle(dp_self.engine, is_over);
}

/* What a probe has counted stays in the tables until its number is another's. */
static int remove_all(struct dp_guest *v, u32 n, struct kprobe **probes)
{
	u32 i;

	for (i = 0; i < n; i++) {
		struct dp_guest_probe *g = find(v[i].probe);

		if (!g)
			return dp_fail(-EINVAL, "probe %u is no guest",
				       v[i].probe);
		probes[i] = &g->p;
	}
	still(probes, n);
	dp_probes_unregister(probes, n);
	for (i = 0; i < n; i++) {
		v[i].hits = dp_engine_hits(dp_self.engine, v[i].probe);
		forget((struct dp_guest_probe *)probes[i]);
	}
	return 0;
}

int dp_guests_remove(struct dp_guest *v, u32 n)
{
	struct kprobe **probes = calloc(n, sizeof(*probes));
	int err = probes ? dp_self_begin(false) :
			   dp_fail(-ENOMEM, "out of memory");

	if (!err) {
		err = remove_all(v, n, probes);
		dp_self_end();
	}
	free(probes);
	return err;
}

int dp_guests_clean(void)
{
	struct kprobe *few[FEW];
	int err = dp_self_begin(false);
	u32 n, i;

	while (!err && dp_self.guests) {
		struct dp_guest_probe *g = dp_self.guests;

		for (n = 0; g && n < sizeof(few) / sizeof(*few); g = g->next)
			few[n++] = &g->p;
		dp_self.guests = g;
		dp_self.nr_guests -= n;
		still(few, n);
		dp_probes_unregister(few, n);
		for (i = 0; i < n; i++)
			free(few[i]);
	}
	if (!err)
		dp_self_end();
	return err == -ESRCH ? 0 : err;
}
