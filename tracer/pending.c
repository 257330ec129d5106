// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * pending: specs whose library has not been loaded yet.
 *
 * A hidden probe sits where the dynamic linker tells debuggers of libraries. A thread
 * that comes there with new ones in place waits until we have looked. If they have
 * what is wanted the process is held for a moment, while the agent is replaced by
 * one with more probes, which goes on counting where the old one was.
 */
#include "tracer/session.h"
#include "resolve/exits.h"
#include "proc/linker.h"
#include "proc/proc.h"
#include "sym/sym.h"
#include "tracer/output.h"
#include "engine/site/counts.h"
#include "engine/site/engine.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "resolve/ground.h"
#include "resolve/points.h"

#define CODE_MAX 32
#define FREEZE_TRIES 30
#define FREEZE_NAP_NS 300000

static bool is_file(const struct dp_session *s, const char *dir, size_t len,
		    const char *name)
{
	char path[2 * PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/root%.*s/%s",
		 dp_process_pid(s->proc), (int)len, dir, name);
	return !stat(path, &st) && S_ISREG(st.st_mode) &&
	       dp_file_is_library(path);
}

static bool is_in_list(const struct dp_session *s, const char *dirs,
		       const char *name)
{
	size_t len;

	for (; *dirs; dirs += len + (dirs[len] == ':')) {
		len = strcspn(dirs, ":");
		if (len && is_file(s, dirs, len, name))
			return true;
	}
	return false;
}

static bool is_in_environment(const struct dp_session *s, const char *name)
{
	static const char key[] = "LD_LIBRARY_PATH=";
	char path[64], *line = NULL;
	size_t size = 0;
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/environ",
		 dp_process_pid(s->proc));
	f = fopen(path, "re");
	while (f && !found && getdelim(&line, &size, '\0', f) > 0)
		found = !strncmp(line, key, sizeof(key) - 1) &&
			is_in_list(s, line + sizeof(key) - 1, name);
	free(line);
	if (f)
		fclose(f);
	return found;
}

/* Beside something that is loaded; the program is. */
static bool is_beside(const struct dp_session *s, const char *name)
{
	size_t i;

	for (i = 0; i < dp_modules_count(s->mods); i++) {
		const struct dp_module *m = dp_modules_get(s->mods, i);

		if (*m->path == '/' &&
		    is_file(s, m->path, (size_t)(m->base - m->path) - 1, name))
			return true;
	}
	return false;
}

/* Could the process load it? What is nowhere is more likely misspelt. */
static bool is_loadable(const struct dp_session *s, const char *name)
{
	static const char dirs[] =
		"/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib64:/usr/lib64:"
		"/lib:/usr/lib:/usr/local/lib:/usr/local/lib/x86_64-linux-gnu";
	char cwd[64], here[PATH_MAX];
	ssize_t n;

	if (*name == '/')
		return is_file(s, "", 0, name + 1);
	snprintf(cwd, sizeof(cwd), "/proc/%d/cwd", dp_process_pid(s->proc));
	n = readlink(cwd, here, sizeof(here));
	return is_in_list(s, dirs, name) || is_beside(s, name) ||
	       is_in_environment(s, name) ||
	       (n > 0 && is_file(s, here, (size_t)n, name));
}

static bool has_module(struct dp_modules *mods, const struct dp_spec *spec)
{
	const struct dp_module **list =
		calloc(dp_modules_count(mods) + 1, sizeof(*list));
	size_t n = 0;
	bool has = !list ||
		   !dp_modules_match(mods, spec->module, list, &n, NULL);

	free(list);
	return has;
}

static bool has_linker(const struct dp_session *s)
{
	size_t i;

	for (i = 0; i < dp_modules_count(s->mods); i++)
		if (dp_modules_get(s->mods, i)->is_linker)
			return true;
	return false;
}

/* Why nobody would tell us of it; NULL: somebody will. */
static const char *unheard(const struct dp_session *s)
{
	struct dp_notice notice;

	if (dp_process_dispatches(s->proc))
		return "it dispatches system calls to a handler of its own, and a breakpoint in the dynamic linker makes some";
	if (dp_process_no_traps(s->proc) || !dp_process_may_wait(s->proc))
		return "its seccomp filter allows no breakpoint in the dynamic linker";
	if (!dp_notice_find(s->mods, &notice))
		return "it has no dynamic linker that tells of libraries";
	return NULL;
}

/* Which process, where there are several. */
static const char *whose(const struct dp_session *s, char *text, size_t size)
{
	*text = '\0';
	if (s->opt->children)
		snprintf(text, size, "process %d: ", dp_process_pid(s->proc));
	return text;
}

static void say(const struct dp_session *s, const struct dp_spec *spec,
		const char *what)
{
	char text[32];

	if (!s->opt->quiet)
		dp_output_print(stderr, "dprobes: %s%s %s\n",
				whose(s, text, sizeof(text)), spec->text, what);
}

/* Others may have the library, so it is no error; but one that could load it is not
 * passed over in silence. */
static void tell_unheard(const struct dp_session *s, const struct dp_spec *spec,
			 const char *why)
{
	if (!s->opt->quiet && (s->opt->verbose || has_linker(s)))
		dp_output_print(
			stderr,
			"dprobes: process %d: %s is not waited for: %s; have it load %s before dprobes begins\n",
			dp_process_pid(s->proc), spec->text, why, spec->module);
}

static bool may_come(const struct dp_session *s, const struct dp_spec *spec)
{
	return s->opt->pending || is_loadable(s, spec->module);
}

/* In one of several processes, most of which will never load it. */
static bool may_wait(const struct dp_session *s, const struct dp_spec *spec)
{
	const char *why;

	if (!may_come(s, spec))
		return false;
	why = unheard(s);
	if (why)
		tell_unheard(s, spec, why);
	return !why;
}

static bool may_wait_alone(const struct dp_session *s,
			   const struct dp_spec *spec, struct dp_diag *diag)
{
	const char *why = unheard(s);

	if (why)
		dp_diag_add(
			diag,
			"; it cannot be waited for, because process %d cannot be watched: %s",
			dp_process_pid(s->proc), why);
	else if (may_come(s, spec))
		return true;
	else if (s->kind->waits)
		dp_diag_add(diag, "; --pending waits for it to be loaded");
	return false;
}

bool dp_pending_take(struct dp_session *s, size_t i, struct dp_diag *diag)
{
	const struct dp_spec *spec = &s->specs[i];
	char text[32];

	if (!s->kind->report || !*spec->module ||
	    spec->form == DP_POINT_ADDRESS || has_module(s->mods, spec))
		return false;
	if (s->opt->children ? !may_wait(s, spec) :
			       !may_wait_alone(s, spec, diag))
		return false;
	s->pending[i] = true;
	s->nr_coming++;
	/* With -f that is so of nearly every process. */
	if (!s->opt->quiet && (!s->house || s->opt->verbose))
		dp_output_print(
			stderr,
			"dprobes: %s%s is pending: %s is not loaded yet\n",
			whose(s, text, sizeof(text)), spec->text, spec->module);
	return true;
}

/* Can any code be unloaded that is probed? Some has been, if not. */
static bool may_lose(const struct dp_session *s)
{
	const struct dp_module *m = NULL;
	size_t i;
	u64 addr;

	for (i = 0; i < s->points.n; i++)
		if (s->points.v[i].gone)
			return true;
	for (i = 0; (addr = dp_engine_site(s->engine, i)); i++) {
		if (m && addr >= m->text_start && addr < m->text_end)
			continue;
		m = dp_module_at(s->mods, addr);
		if (m && !dp_module_stays(s->mods, m))
			return true;
	}
	return false;
}

static int watch_linker(struct dp_session *s, const char **why)
{
	struct dp_notice notice;
	u64 record;
	u8 code[CODE_MAX];
	ssize_t n;
	int err;

	*why = "its dynamic linker does not tell where";
	if (!dp_notice_find(s->mods, &notice))
		return -EOPNOTSUPP;
	err = dp_notice_record(s->proc, &notice, &record);
	if (err)
		return err;
	n = pread(dp_process_mem(s->proc), code, sizeof(code),
		  (off_t)notice.function);
	return dp_engine_watch_linker(
		s->engine, notice.function, code, n > 0 ? (size_t)n : 0,
		record + offsetof(struct r_debug, r_state), why);
}

int dp_pending_watch(struct dp_session *s, struct dp_diag *diag)
{
	const char *why;
	size_t i;
	int err;

	if (!s->kind->report ||
	    (!s->nr_coming && !s->watches && (!may_lose(s) || unheard(s))))
		return 0;
	err = watch_linker(s, &why);
	s->watches = !err;
	/* Then what goes is seen when something is written to it. */
	if (err && !s->nr_coming)
		return 0;
	for (i = 0; !err && i < s->nr_specs; i++)
		if (s->pending[i])
			dp_engine_set_pending(s->engine, s->specs[i].text);
	return err ? dp_diag_set(
			     diag, err,
			     "process %d cannot be watched for libraries: %s",
			     dp_process_pid(s->proc), why) :
		     0;
}

static bool same_points(const struct dp_point *was, const struct dp_point *is)
{
	return !strcmp(was->name, is->name) && was->refused == is->refused &&
	       was->nr_exits == is->nr_exits;
}

static void exchange(struct dp_point *a, struct dp_point *b)
{
	struct dp_point c = *a;

	*a = *b;
	*b = c;
}

/* The library is there again, and most likely somewhere else: the points stay the
 * same, and with them what was counted. Return: are they? */
static bool return_points(struct dp_session *s, struct dp_modules *mods,
			  const struct dp_spec *spec, size_t first, size_t n)
{
	struct dp_points again = { 0 };
	struct dp_diag diag;
	bool same;
	size_t i;

	dp_diag_clear(&diag);
	same = !dp_points_resolve(s->proc, mods, spec, &again, &diag) &&
	       again.n == n;
	for (i = 0; same && i < n; i++)
		same = same_points(&s->points.v[first + i], &again.v[i]);
	for (i = 0; same && i < n; i++)
		exchange(&s->points.v[first + i], &again.v[i]);
	dp_points_free(&again);
	return same;
}

/* Points of one spec are side by side. Return: how many. */
static size_t points_of(const struct dp_session *s, const struct dp_spec *spec,
			size_t *first)
{
	size_t n = 0;

	for (*first = 0; *first < s->points.n; ++*first)
		if (s->points.v[*first].spec == spec)
			break;
	while (*first + n < s->points.n && s->points.v[*first + n].spec == spec)
		n++;
	return n;
}

static bool note_gone(struct dp_session *s, size_t first, size_t n)
{
	bool any = false;
	size_t i;

	for (i = first; i < first + n; i++) {
		struct dp_point *p = &s->points.v[i];

		p->gone |= !p->refused &&
			   dp_engine_is_gone(s->engine, s->probes[i]);
		any |= p->gone;
	}
	return any;
}

/* Return: is there something to be armed? */
static bool look_again(struct dp_session *s, struct dp_modules *mods,
		       struct dp_spec *spec)
{
	size_t first, n = points_of(s, spec, &first);
	bool was = n && s->points.v[first].gone;

	if (!note_gone(s, first, n))
		return false;
	if (!has_module(mods, spec)) {
		if (!was && s->opt->verbose)
			say(s, spec, "is gone: its library has been unloaded");
		return false;
	}
	if (return_points(s, mods, spec, first, n)) {
		if (s->opt->verbose)
			say(s, spec, "is there again");
		return true;
	}
	if (!was)
		say(s, spec, "is not armed again: it is another library now");
	return false;
}

static bool look_first(struct dp_session *s, struct dp_modules *mods,
		       struct dp_spec *spec, bool *pending)
{
	struct dp_diag diag;
	char text[32];

	if (!has_module(mods, spec))
		return false;
	*pending = false;
	dp_diag_clear(&diag);
	if (dp_points_resolve(s->proc, mods, spec, &s->points, &diag)) {
		if (dp_process_ended(s->proc))
			return false;
		dp_output_print(stderr, "dprobes: %s%s cannot be probed: %s\n",
				whose(s, text, sizeof(text)), spec->text,
				diag.text);
		return false;
	}
	spec->found = true;
	return true;
}

/* What is there now that was not. Return: is there anything? */
static bool find_points(struct dp_session *s, struct dp_modules *mods)
{
	bool any = false;
	size_t i;

	dp_process_mark_gone(s->proc);
	for (i = 0; i < s->nr_specs; i++) {
		struct dp_spec *spec = &s->specs[i];

		if (s->pending[i])
			any |= look_first(s, mods, spec, &s->pending[i]);
		else
			any |= look_again(s, mods, spec);
	}
	return any;
}

/* At a moment when nobody is in a handler of the program's that has interrupted the agent;
 * if there is one. @stale: it has run on since what is there was looked at */
static int freeze(struct dp_session *s, bool *stale, struct dp_diag *diag)
{
	const struct timespec nap = { 0, FREEZE_NAP_NS };
	int tries, err = dp_process_freeze(s->proc, diag);

	for (tries = 1; !err && tries < FREEZE_TRIES; tries++) {
		if (dp_process_may_leave(s->proc))
			return 0;
		dp_process_thaw(s->proc);
		*stale = true;
		nanosleep(&nap, NULL);
		err = dp_process_freeze(s->proc, diag);
	}
	return err;
}

/* The first way holds the process; where a thread cannot be brought out of the agent
 * like that, it has to run on, unprobed for as long as that takes. */
static int detach(struct dp_session *s, bool *stale, struct dp_diag *diag)
{
	bool frozen;
	int err;

	/* A thread that has made a child may be waiting for that to be taken in. And
	 * what is made while we come to a stop still has the probes that there are. */
	dp_follow_births(s);
	err = freeze(s, stale, diag);
	frozen = !err;
	if (!err) {
		dp_follow_births(s);
		err = dp_process_detach(s->proc, diag);
	}
	if (err != -EAGAIN)
		return err;
	if (frozen)
		dp_process_thaw(s->proc);
	*stale = true;
	dp_calls_stop(s);
	fputs("dprobes: a thread was in a probe: for a moment there are none\n",
	      stderr);
	err = dp_process_detach(s->proc, diag);
	return err ? err : dp_process_freeze(s->proc, diag);
}

/* What a session has of its own for one engine. */
struct part {
	struct dp_modules *mods;
	struct dp_engine *engine;
	struct dp_points points;
	bool *pending;
	u32 *probes, *programs;
	size_t *point_of;
	size_t nr_points, nr_probes;
};

static void take_part(struct dp_session *s, struct part *part)
{
	*part = (struct part){ .mods = s->mods,
			       .engine = s->engine,
			       .points = s->points,
			       .pending = s->pending,
			       .probes = s->probes,
			       .programs = s->programs,
			       .point_of = s->point_of,
			       .nr_points = s->nr_points,
			       .nr_probes = s->nr_probes };
	s->mods = NULL;
	s->engine = NULL;
	s->points = (struct dp_points){ 0 };
	s->pending = NULL;
	s->probes = s->programs = NULL;
	s->point_of = NULL;
}

static void drop_part(struct part *part)
{
	dp_points_free(&part->points);
	dp_modules_close(part->mods);
	dp_engine_destroy(part->engine);
	free(part->pending);
	free(part->probes);
	free(part->programs);
	free(part->point_of);
}

static void put_part(struct dp_session *s, const struct part *part)
{
	s->mods = part->mods;
	s->engine = part->engine;
	s->points = part->points;
	s->pending = part->pending;
	s->probes = part->probes;
	s->programs = part->programs;
	s->point_of = part->point_of;
	s->nr_points = part->nr_points;
	s->nr_probes = part->nr_probes;
}

/**
 * struct find - what a session would have with the libraries that there are now
 * @draft: a copy of it, of which only points and what is pending count
 * @any: is there something to be armed?
 */
struct find {
	struct dp_session draft;
	struct dp_modules *mods;
	bool any;
};

static void drop_find(struct find *f)
{
	dp_points_free(&f->draft.points);
	dp_modules_close(f->mods);
	free(f->draft.pending);
}

/* Return: -ESRCH it ends. */
static int look(struct dp_session *s, struct find *f, struct dp_diag *diag)
{
	size_t bytes = s->nr_specs * sizeof(*s->pending);
	int err;

	*f = (struct find){ .draft = *s };
	f->draft.points = (struct dp_points){ 0 };
	f->draft.pending = malloc(bytes);
	err = dp_modules_open(dp_process_pid(s->proc), dp_process_mem(s->proc),
			      &f->mods, diag);
	if (!err &&
	    (!f->draft.pending || dp_points_copy(&f->draft.points, &s->points)))
		err = dp_diag_set(diag, -ENOMEM, "out of memory");
	if (err) {
		drop_find(f);
		return err;
	}
	memcpy(f->draft.pending, s->pending, bytes);
	f->any = find_points(&f->draft, f->mods);
	return 0;
}

static int rearm(struct dp_session *s, const struct find *f,
		 struct dp_diag *diag)
{
	int err;

	dp_calls_free(s);
	dp_grounds_close(&s->grounds);
	s->mods = f->mods;
	s->points = f->draft.points;
	s->pending = f->draft.pending;
	err = dp_points_renew(s->proc, s->mods, &s->points);
	if (err)
		return dp_diag_set(diag, err, "out of memory");
	err = dp_session_add_probes(s, diag);
	if (!err)
		err = dp_process_reinstall(s->proc, s->engine, diag);
	return err;
}

static void tell_armed(const struct dp_session *s, const bool *was)
{
	size_t i, first;

	for (i = 0; i < s->nr_specs; i++)
		if (was[i] && !s->pending[i] &&
		    points_of(s, &s->specs[i], &first))
			say(s, &s->specs[i], "is not pending any more");
}

/* Nobody is probed. On failure what was counted so far is what counts. */
static int take_find(struct dp_session *s, struct find *f, struct dp_diag *diag)
{
	struct part old, failed;
	int err;

	dp_session_last_records(s, true);
	take_part(s, &old);
	err = rearm(s, f, diag);
	dp_process_thaw(s->proc);
	if (err) {
		take_part(s, &failed);
		drop_part(&failed);
		put_part(s, &old);
	} else {
		tell_armed(s, old.pending);
		drop_part(&old);
	}
	return err;
}

static int replace(struct dp_session *s, struct find *f, struct dp_diag *diag)
{
	bool stale = false;
	int err = detach(s, &stale, diag);

	/* Libraries may have come and gone since. */
	if (!err)
		stale |= dp_process_outdated(s->proc, f->mods);
	if (err || stale)
		drop_find(f);
	if (!err && stale)
		err = look(s, f, diag);
	if (!err)
		return take_find(s, f, diag);
	dp_process_thaw(s->proc);
	return err;
}

/* Nothing is waited for, and nothing has gone that was found. */
static bool is_settled(const struct dp_session *s)
{
	size_t i;

	for (i = 0; i < s->nr_specs; i++)
		if (s->pending[i])
			return false;
	dp_process_mark_gone(s->proc);
	for (i = 0; i < s->points.n; i++)
		if (s->points.v[i].gone ||
		    (!s->points.v[i].refused &&
		     dp_engine_is_gone(s->engine, s->probes[i])))
			return false;
	return true;
}

int dp_pending_look(struct dp_session *s, struct dp_diag *diag)
{
	u32 heard = dp_process_hear(s->proc);
	struct find f;
	int err;

	if (is_settled(s)) {
		dp_process_answer_heard(s->proc, heard);
		return 0;
	}
	err = look(s, &f, diag);

	if (err)
		return err == -ESRCH ? 0 : err;
	if (f.any)
		return replace(s, &f, diag);
	dp_points_free(&s->points);
	s->points = f.draft.points;
	memcpy(s->pending, f.draft.pending, s->nr_specs * sizeof(*s->pending));
	f.draft.points = (struct dp_points){ 0 };
	dp_onwards_free(&s->points);
	drop_find(&f);
	dp_process_answer_heard(s->proc, heard);
	return 0;
}

void dp_pending_tell(const struct dp_session *s)
{
	char text[32];
	size_t i;

	for (i = 0; i < s->nr_specs && !s->opt->quiet; i++)
		if (s->pending[i])
			dp_output_print(
				stderr,
				"dprobes: %s%s was never armed: %s was not loaded\n",
				whose(s, text, sizeof(text)), s->specs[i].text,
				s->specs[i].module);
}
