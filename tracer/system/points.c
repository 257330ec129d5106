// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * points: where a spec's probes are in the kernel, or in a file for all processes. Each is added as it is found.
 */
#include "tracer/system/session.h"
#include "sym/seen.h"
#include "tracer/system.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROOM 64

static struct dp_point *new_point(struct dp_points *points)
{
	size_t cap = points->n ? 2 * points->cap : ROOM;
	struct dp_point *more;

	if (points->n >= points->cap) {
		more = realloc(points->v, cap * sizeof(*more));
		if (!more)
			return NULL;
		points->v = more;
		points->cap = cap;
	}
	memset(&points->v[points->n], 0, sizeof(*more));
	return &points->v[points->n++];
}

/* "module:name+0x10", as it is told and as the kernel is asked for it */
static char *full_name(const struct dp_system_function *f, u64 offset,
		       const char *before)
{
	char plus[32] = "", *text;

	if (offset)
		snprintf(plus, sizeof(plus), "+0x%lx", offset);
	return asprintf(&text, "%s%s%s%s%s", before, f->module,
			*f->module ? ":" : "", f->name, plus) < 0 ?
		       NULL :
		       text;
}

static int out_of_memory(struct dp_diag *diag)
{
	return dp_diag_set(diag, -ENOMEM, "out of memory");
}

static u32 flags_of(const struct dp_system_session *s,
		    const struct dp_spec *spec,
		    const struct dp_system_function *f)
{
	u32 flags = s->pending && *f->module ? DP_DEVICE_PENDING : 0;

	if (spec->kind == DP_SPEC_RETURN)
		flags |= DP_DEVICE_RETURNS |
			 (spec->records ? DP_DEVICE_RECORDS : 0);
	return flags;
}

/* @module, @symbol: "" where it has none */
static struct dp_point *begin_point(struct dp_system_session *s,
				    const struct dp_spec *spec,
				    struct dp_points *points, char *name,
				    const char *module, const char *symbol)
{
	struct dp_point *p = new_point(points);

	if (!p) {
		free(name);
		return NULL;
	}
	p->spec = spec;
	p->name = name;
	p->symbol = strdup(symbol);
	p->module = strdup(*module ? module : "kernel");
	p->offset = spec->offset;
	p->program = DP_NO_PROGRAM;
	p->probe = s->probes ? s->probes - 1 : 0;
	return p->name && p->symbol && p->module ? p : NULL;
}

static void take_point(struct dp_system_session *s, struct dp_point *p,
		       const struct dp_system_added *added)
{
	p->addr = added->addr;
	p->probe = added->probe;
	s->source.tracks |= p->spec->kind == DP_SPEC_RETURN;
	s->probes = p->probe + 1;
	s->opcodes[p->probe % DP_SYSTEM_PROBES] = added->opcode;
}

static int add_point(struct dp_system_session *s, const struct dp_spec *spec,
		     const struct dp_system_function *f,
		     struct dp_points *points, struct dp_diag *diag)
{
	const char *kind = spec->kind == DP_SPEC_RETURN ? "r:kernel:" :
							  "kernel:";
	struct dp_point *p = begin_point(s, spec, points,
					 full_name(f, spec->offset, kind),
					 f->module, f->name);
	struct dp_system_added added = { .addr = f->addr };
	char words[DP_DEVICE_WORDS], *name;
	int err;

	name = p ? full_name(f, spec->offset, "") : NULL;
	if (!name)
		return out_of_memory(diag);
	p->addr = f->addr;
	err = dp_system_device_add(&s->device, name, flags_of(s, spec, f),
				   &added, words);
	free(name);
	if (err)
		dp_point_refuse(p, err, "%s", words);
	else
		take_point(s, p, &added);
	return 0;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The kernel has looked at it: whether it was another one before is told by now. */
static int note_seen(struct dp_system_session *s, u32 probe, int fd)
{
	if (!s->seen)
		s->seen = calloc(DP_SYSTEM_PROBES, sizeof(*s->seen));
	if (!s->seen)
		return -ENOMEM;
	return fstat(fd, &s->seen[probe % DP_SYSTEM_PROBES]) ? -errno : 0;
}

/* Is a further instruction in the same file? */
static bool is_seen(const struct dp_system_session *s, u32 probe, int fd)
{
	struct stat st;

	return !fstat(fd, &st) &&
	       dp_seen_same(&st, &s->seen[probe % DP_SYSTEM_PROBES]);
}

bool dp_system_unchanged(const struct dp_source *source,
			 const struct dp_point *p, const struct stat *since)
{
	return dp_seen_same(
		&dp_system_of(source)->seen[p->probe % DP_SYSTEM_PROBES],
		since);
}

/* The file that the path names now */
static int add_in_file(struct dp_system_session *s, const struct dp_spec *spec,
		       struct dp_point *p)
{
	struct dp_system_added added;
	char words[DP_DEVICE_WORDS];
	int fd = open(spec->module, O_RDONLY | O_CLOEXEC), err;

	if (fd < 0) {
		err = -errno;
		dp_point_refuse(p, err, "%s", strerror(-err));
		return err;
	}
	err = dp_system_device_file(&s->device, fd, spec->value, &added, words);
	if (!err) {
		err = note_seen(s, added.probe, fd);
		snprintf(words, sizeof(words), "%s", strerror(-err));
	}
	close(fd);
	if (err) {
		dp_point_refuse(p, err, "%s", words);
		return err;
	}
	added.addr = spec->value;
	take_point(s, p, &added);
	s->files[p->probe % DP_SYSTEM_PROBES] = true;
	return 0;
}

int dp_system_also(struct dp_source *source, const struct dp_point *p,
		   u64 offset, bool onward, u8 *opcode, struct dp_diag *diag)
{
	struct dp_system_added added = { .probe = p->probe };
	char words[DP_DEVICE_WORDS];
	int fd = open(p->spec->module, O_RDONLY | O_CLOEXEC), err;

	if (fd < 0)
		return dp_diag_set(diag, -errno, "%s: %s", p->spec->module,
				   strerror(errno));
	err = dp_system_device_also(&dp_system_of(source)->device, fd, offset,
				    onward ? DP_DEVICE_ONWARD : 0, &added,
				    words);
	if (!err && !is_seen(dp_system_of(source), p->probe, fd)) {
		err = -ESTALE;
		strcpy(words, "the file has changed meanwhile");
	}
	close(fd);
	*opcode = added.opcode;
	return err ? dp_diag_set(diag, err, "+0x%lx: %s", offset, words) : 0;
}

static int say(const struct dp_spec *spec, struct dp_diag *diag, int err,
	       const char *what, const char *why)
{
	dp_diag_set(diag, err, "%s: %s", what, why);
	dp_diag_caret(diag, spec->point_col,
		      (int)strcspn(spec->text + spec->point_col, " ({"));
	return err;
}

static int check_number(const struct dp_system_session *s,
			const struct dp_spec *spec,
			const struct dp_system_functions *found,
			struct dp_diag *diag)
{
	char words[128];

	if (!found->n)
		return say(
			spec, diag, -ENOENT, spec->text,
			"neither the kernel nor a loaded module has such a function (/proc/kallsyms)");
	if (found->n > 1 && !dp_spec_is_glob(spec) && !found->v[0].addr)
		return say(
			spec, diag, -ENOTUNIQ, spec->text,
			"several functions have that name, and the kernel does not show where they are (kernel.kptr_restrict)");
	if (s->probes + found->n <= s->device.info.probes)
		return 0;
	snprintf(words, sizeof(words),
		 "these are %zu functions, and %u can be probed at a time",
		 s->probes + found->n, s->device.info.probes);
	return say(spec, diag, -ENOSPC, spec->text, words);
}

static int add_points(struct dp_system_session *s, const struct dp_spec *spec,
		      const struct dp_system_functions *found,
		      struct dp_points *points, struct dp_diag *diag)
{
	size_t first = points->n, i;
	int err = check_number(s, spec, found, diag);

	for (i = 0; i < found->n && !err; i++) {
		err = add_point(s, spec, &found->v[i], points, diag);
		if (!err)
			points->v[points->n - 1].several = found->n > 1;
	}
	if (err || found->n > 1 || !points->v[first].refused)
		return err;
	return say(spec, diag, points->v[first].refused, points->v[first].name,
		   points->v[first].reason);
}

/* Of a module that is not loaded, which names a function. Return: false: it is not waited for. */
static bool take_absent(const struct dp_system_session *s,
			const struct dp_spec *spec,
			struct dp_system_functions *found)
{
	const char *colon = strchr(spec->name, ':');

	if (!s->pending || found->n || !colon || colon == spec->name ||
	    dp_spec_is_glob(spec))
		return false;
	found->v = calloc(1, sizeof(*found->v));
	if (!found->v)
		return false;
	found->n = found->cap = 1;
	found->v->module = strndup(spec->name, (size_t)(colon - spec->name));
	found->v->name = strdup(colon + 1);
	return found->v->module && found->v->name;
}

static int find(struct dp_system_session *s, const struct dp_spec *spec,
		struct dp_system_functions *found, struct dp_diag *diag)
{
	int err = dp_system_find(&s->symbols, spec->name, found, diag);

	if (err || found->n || take_absent(s, spec, found))
		return err;
	return found->n ? out_of_memory(diag) : 0;
}

/* "kernel:jiffies/8", or with an address in the name's place */
static char *data_name(const struct dp_spec *spec)
{
	const char *access = spec->access == DP_WATCH_ACCESS ? ":rw" : "",
		   *name = spec->name;
	char *text;
	int n;

	if (name &&
	    !strncmp(name, DP_SYSTEM_IMAGE ":", sizeof(DP_SYSTEM_IMAGE)))
		name += sizeof(DP_SYSTEM_IMAGE);
	if (spec->form == DP_POINT_ADDRESS)
		n = asprintf(&text, "kernel:0x%lx/%lu%s", spec->value,
			     spec->len, access);
	else if (spec->offset)
		n = asprintf(&text, "kernel:%s+0x%lx/%lu%s", name, spec->offset,
			     spec->len, access);
	else
		n = asprintf(&text, "kernel:%s/%lu%s", name, spec->len, access);
	return n < 0 ? NULL : text;
}

static int find_data(const struct dp_source *source, const struct dp_spec *spec,
		     u64 *addr, struct dp_diag *diag)
{
	int err;

	*addr = spec->value;
	if (!(dp_system_of(source)->device.info.flags & DP_DEVICE_ADDRESSES))
		return say(
			spec, diag, -EPERM, spec->text,
			"what is watched in the kernel takes CAP_SYSLOG, and kernel.kptr_restrict below 2");
	if (spec->form == DP_POINT_ADDRESS)
		return 0;
	err = dp_system_symbol(source, spec->name, addr, diag);
	if (err)
		dp_diag_caret(diag, spec->point_col, (int)strlen(spec->name));
	*addr += err ? 0 : spec->offset;
	return err;
}

static int resolve_data(struct dp_source *source, const struct dp_spec *spec,
			struct dp_points *points, struct dp_diag *diag)
{
	struct dp_system_session *s = dp_system_of(source);
	struct dp_system_added added = { 0 };
	char words[DP_DEVICE_WORDS];
	struct dp_point *p;
	int err = find_data(source, spec, &added.addr, diag);

	if (err)
		return err;
	p = begin_point(s, spec, points, data_name(spec), "",
			spec->name ? spec->name : "");
	if (!p)
		return out_of_memory(diag);
	p->addr = added.addr;
	p->len = (u8)spec->len;
	err = dp_system_device_watch(&s->device, spec, added.addr, &added.probe,
				     words);
	if (!err) {
		take_point(s, p, &added);
		return 0;
	}
	dp_point_refuse(p, err, "%s", words);
	return say(spec, diag, err, p->name, words);
}

/* Of a program for all processes, whose points have been found in its file */
static int resolve_file(struct dp_system_session *s, const struct dp_spec *spec,
			struct dp_points *points, struct dp_diag *diag)
{
	struct dp_point *p;
	char *name;
	int err;

	if (asprintf(&name, "%s:+0x%lx", base_of(spec->module), spec->value) <
	    0)
		return out_of_memory(diag);
	p = begin_point(s, spec, points, name, base_of(spec->module), "");
	if (!p)
		return out_of_memory(diag);
	p->offset = p->addr = spec->value;
	err = add_in_file(s, spec, p);
	return err ? say(spec, diag, err, p->name, p->reason) : 0;
}

int dp_system_resolve(struct dp_source *source, struct dp_modules *mods,
		      const struct dp_spec *spec, struct dp_points *points,
		      struct dp_diag *diag)
{
	struct dp_system_functions found = { 0 };
	int err;

	if (spec->kind == DP_SPEC_WATCH)
		return resolve_data(source, spec, points, diag);
	if (!dp_system_is(spec))
		return resolve_file(dp_system_of(source), spec, points, diag);
	err = find(dp_system_of(source), spec, &found, diag) ?:
		      add_points(dp_system_of(source), spec, &found, points,
				 diag);

	dp_system_functions_free(&found);
	return err;
}

int dp_system_symbol(const struct dp_source *source, const char *name,
		     u64 *addr, struct dp_diag *diag)
{
	struct dp_system_functions found = { 0 };
	int err = dp_system_find_any(&dp_system_of(source)->symbols, name,
				     &found, diag);

	if (!err && found.n != 1)
		err = dp_diag_set(
			diag, found.n ? -ENOTUNIQ : -ENOENT, "%s: %s", name,
			found.n ?
				"several symbols of the kernel have that name: write MODULE:NAME, or vmlinux:NAME" :
				"neither the kernel nor a loaded module has such a symbol (/proc/kallsyms)");
	if (!err && !found.v[0].addr)
		err = dp_diag_set(
			diag, -EPERM,
			"%s: the kernel does not show where that is (kernel.kptr_restrict)",
			name);
	if (!err)
		*addr = found.v[0].addr;
	dp_system_functions_free(&found);
	return err;
}
