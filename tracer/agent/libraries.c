// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * libraries: replace the agent when libraries come or go.
 *
 * A hidden probe sits at the function that the dynamic linker calls at a loader event. A
 * thread that hits it with new libraries in place waits until the tool has looked. If the
 * libraries have what a spec wants, the tool holds the process for a moment. It replaces
 * the agent by another with more probes, which goes on counting where the old one stopped.
 */
#include "engine/site/counts.h"
#include "engine/site/instances.h"
#include "proc/linker.h"
#include "proc/proc.h"
#include "sym/sym.h"
#include "tracer/agent/agent.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define CODE_MAX 32
#define FREEZE_TRIES 30
#define FREEZE_NAP_NS 300000

const char *dp_agent_unheard(const struct dp_source *source)
{
	const struct dp_process *proc = dp_agent_of(source)->proc;
	struct dp_loader_event loader_event;

	if (dp_process_dispatches(proc))
		return "it dispatches system calls to a handler of its own, and a breakpoint in the dynamic linker makes some";
	if (dp_process_no_traps(proc) || !dp_process_may_wait(proc))
		return "its seccomp filter allows no breakpoint in the dynamic linker";
	if (!dp_loader_event_find(source->mods, &loader_event))
		return "it has no dynamic linker that tells of libraries";
	return NULL;
}

/* Can probed code be unloaded, or has some been unloaded already? */
static bool may_lose(const struct dp_agent *a, const struct dp_points *points)
{
	struct dp_modules *mods = a->source.mods;
	const struct dp_module *m = NULL;
	size_t i;
	u64 addr;

	for (i = 0; i < points->n; i++)
		if (points->v[i].gone)
			return true;
	for (i = 0; (addr = dp_engine_site(a->engine, i)); i++) {
		if (m && addr >= m->text_start && addr < m->text_end)
			continue;
		m = dp_module_at(mods, addr);
		if (m && !dp_module_stays(mods, m))
			return true;
	}
	return false;
}

static int watch_linker(struct dp_agent *a, const char **why)
{
	struct dp_loader_event loader_event;
	u64 record;
	u8 code[CODE_MAX];
	ssize_t n;
	int err;

	*why = "its dynamic linker does not tell where";
	if (!dp_loader_event_find(a->source.mods, &loader_event))
		return -EOPNOTSUPP;
	err = dp_loader_event_record(a->proc, &loader_event, &record);
	if (err)
		return err;
	n = pread(dp_process_mem(a->proc), code, sizeof(code),
		  (off_t)loader_event.function);
	return dp_engine_watch_linker(
		a->engine, loader_event.function, code, n > 0 ? (size_t)n : 0,
		record + offsetof(struct r_debug, r_state), why);
}

int dp_agent_watch(struct dp_agent *a, const struct dp_source_request *want,
		   struct dp_diag *diag)
{
	struct dp_source *s = &a->source;
	const char *why;
	size_t i;
	int err;

	if (!want->coming && !s->watches &&
	    (!may_lose(a, want->points) || dp_agent_unheard(s)))
		return 0;
	err = watch_linker(a, &why);
	s->watches = !err;
	/* Then an unloaded library is noticed only when its text is written. */
	if (err && !want->coming)
		return 0;
	for (i = 0; !err && i < want->nr_specs; i++)
		if (want->pending[i])
			dp_engine_set_pending(a->engine, want->specs[i].text);
	return err ? dp_diag_set(
			     diag, err,
			     "process %d cannot be watched for libraries: %s",
			     s->pid, why) :
		     0;
}

static u32 hear(struct dp_source *source)
{
	return dp_process_hear(dp_agent_of(source)->proc);
}

static void answer(struct dp_source *source, u32 heard)
{
	dp_process_answer_heard(dp_agent_of(source)->proc, heard);
}

static void look(struct dp_source *source)
{
	dp_process_mark_gone(dp_agent_of(source)->proc);
}

static bool is_gone(const struct dp_source *source,
		    const struct dp_point *point)
{
	return dp_engine_is_gone(dp_agent_of(source)->engine, point->probe);
}

/* Freeze the process while no thread is in a signal handler that will return into the agent;
 * after FREEZE_TRIES at any moment. @stale: set if the process has run meanwhile */
static int freeze(struct dp_agent *a, bool *stale, struct dp_diag *diag)
{
	const struct timespec nap = { 0, FREEZE_NAP_NS };
	int tries, err = dp_process_freeze(a->proc, diag);

	for (tries = 1; !err && tries < FREEZE_TRIES; tries++) {
		if (dp_process_may_leave(a->proc))
			return 0;
		dp_process_thaw(a->proc);
		*stale = true;
		nanosleep(&nap, NULL);
		err = dp_process_freeze(a->proc, diag);
	}
	return err;
}

/* Detach while the process is held. If a thread cannot be brought out of the agent so, the
 * process runs on, unprobed, until that thread has left. */
static int detach(struct dp_agent *a, void (*births)(void *arg), void *arg,
		  bool *stale, struct dp_diag *diag)
{
	bool frozen;
	int err;

	/* A thread that forked may wait until its child is taken in. A child that is forked
	 * before the freeze still has the old probes. */
	births(arg);
	err = freeze(a, stale, diag);
	frozen = !err;
	if (!err) {
		births(arg);
		err = dp_process_detach(a->proc, diag);
	}
	if (err != -EAGAIN)
		return err;
	if (frozen)
		dp_process_thaw(a->proc);
	*stale = true;
	fputs("dprobes: a thread was in a probe: for a moment there are none\n",
	      stderr);
	dp_engine_admit(a->engine, false);
	err = dp_process_detach(a->proc, diag);
	return err ? err : dp_process_freeze(a->proc, diag);
}

static int hold(struct dp_source *source, const struct dp_modules *mods,
		void (*births)(void *arg), void *arg, bool *stale,
		struct dp_diag *diag)
{
	struct dp_agent *a = dp_agent_of(source);
	int err = detach(a, births, arg, stale, diag);

	if (err)
		return err;
	if (a->logs)
		dp_engine_settle_all(a->engine);
	/* Libraries may have come and gone since @mods was read. */
	*stale |= dp_process_outdated(a->proc, mods);
	return 0;
}

static int rearm(struct dp_agent *a, const struct dp_source_request *want,
		 struct dp_diag *diag)
{
	int err = dp_points_renew(a->proc, a->source.mods, want->points);

	if (err)
		return dp_diag_set(diag, err, "out of memory");
	err = dp_agent_add(&a->source, want, diag);
	return err ? err : dp_process_reinstall(a->proc, a->engine, diag);
}

/* The old engine must stay until the process runs; its counts hold if the new one
 * fails. */
static int replace(struct dp_source *source, struct dp_modules *mods,
		   const struct dp_source_request *want, struct dp_diag *diag)
{
	struct dp_agent *a = dp_agent_of(source), old = *a;
	int err;

	a->engine = NULL;
	a->calls = NULL;
	source->mods = mods;
	err = rearm(a, want, diag);
	dp_process_thaw(a->proc);
	if (err) {
		dp_agent_drop(a);
		*a = old;
	} else {
		dp_agent_drop(&old);
	}
	return err;
}

static void let_on(struct dp_source *source)
{
	dp_process_thaw(dp_agent_of(source)->proc);
}

const struct dp_source_libraries dp_agent_libraries = {
	.unheard = dp_agent_unheard,
	.hear = hear,
	.answer = answer,
	.look = look,
	.is_gone = is_gone,
	.hold = hold,
	.replace = replace,
	.let_on = let_on,
};
