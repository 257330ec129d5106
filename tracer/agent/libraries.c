// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * libraries: probe code that comes, while the rest stays probed.
 *
 * A hidden probe sits at the function that the dynamic linker calls at a loader event. A
 * thread that hits it with new libraries in place waits until the tool has looked. If the
 * libraries have what a spec wants, the tool adds probes to the engine, and arms them.
 */
#include "engine/site/counts.h"
#include "proc/linker.h"
#include "proc/proc.h"
#include "proc/semaphores.h"
#include "sym/sym.h"
#include "tracer/agent/agent.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <unistd.h>

#define CODE_MAX 32

static const char *unheard(const struct dp_source *source)
{
	const struct dp_process *proc = dp_agent_of(source)->proc;
	struct dp_loader_event loader_event;

	if (dp_process_permits(proc).dispatches)
		return "it dispatches system calls to a handler of its own, and a breakpoint in the dynamic linker makes some";
	if (dp_process_permits(proc).no_traps ||
	    !dp_process_permits(proc).waits)
		return "its seccomp filter allows no breakpoint in the dynamic linker";
	if (!dp_loader_event_find(source->mods, &loader_event))
		return "it has no dynamic linker that tells of libraries";
	return NULL;
}

/* Can probed code be unloaded? */
static bool may_lose(const struct dp_agent *a)
{
	struct dp_modules *mods = a->source.mods;
	const struct dp_module *m = NULL;
	size_t i;
	u64 addr;

	for (i = 0; dp_engine_site(a->engine, i, &addr); i++) {
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

static void name_pending(struct dp_agent *a,
			 const struct dp_source_request *want)
{
	size_t i;

	dp_engine_set_pending(a->engine, NULL);
	for (i = 0; i < want->nr_specs; i++)
		if (want->pending[i])
			dp_engine_set_pending(a->engine, want->specs[i].text);
}

int dp_agent_watch(struct dp_agent *a, const struct dp_source_request *want,
		   struct dp_diag *diag)
{
	struct dp_source *s = &a->source;
	const char *why;
	int err;

	if (!want->coming && !s->watches &&
	    ((!may_lose(a) && !a->stacks) || unheard(s)))
		return 0;
	err = watch_linker(a, &why);
	s->watches = !err;
	/* Then an unloaded library is noticed only when its text is written. */
	if (err && !want->coming)
		return 0;
	if (!err)
		name_pending(a, want);
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
	dp_agent_stacks_look(dp_agent_of(source));
	dp_process_answer_heard(dp_agent_of(source)->proc, heard);
}

static void look(struct dp_source *source)
{
	dp_process_mark_gone(dp_agent_of(source)->proc);
	dp_semaphores_forget(dp_agent_of(source)->proc);
}

static bool is_gone(const struct dp_source *source,
		    const struct dp_point *point)
{
	return dp_engine_is_gone(dp_agent_of(source)->engine, point->probe);
}

/* The points that had come are not probed. */
static void refuse_from(struct dp_agent *a, struct dp_points *points,
			size_t first, u32 last, int err)
{
	size_t i;

	for (i = first; i < points->n; i++) {
		points->v[i].refused = err;
		points->v[i].probe = last;
	}
	a->nr_points = points->n;
	a->last = last;
}

/* What was added before it failed would be armed with what comes next. */
static int add(struct dp_agent *a, const struct dp_source_request *want,
	       struct dp_diag *diag)
{
	int err = dp_agent_add_more(a, want, diag);

	if (err && !dp_process_ended(a->proc))
		dp_process_retract(a->proc);
	return err;
}

static int extend(struct dp_source *source, struct dp_modules *mods,
		  const struct dp_source_request *want, struct dp_diag *diag)
{
	struct dp_agent *a = dp_agent_of(source);
	size_t had = a->nr_points;
	u32 last = a->last;
	int err;

	dp_modules_close(source->mods);
	source->mods = mods;
	err = dp_agent_data_room(a, want, had, diag) ?: add(a, want, diag);
	name_pending(a, want);
	dp_process_found_in(a->proc, mods);
	if (!err)
		err = dp_process_extend(a->proc, diag);
	if (err && !dp_process_ended(a->proc))
		refuse_from(a, want->points, had, last, err);
	dp_agent_semaphores(a, want->points);
	return err;
}

const struct dp_source_libraries dp_agent_libraries = {
	.unheard = unheard,
	.hear = hear,
	.answer = answer,
	.look = look,
	.is_gone = is_gone,
	.extend = extend,
};
