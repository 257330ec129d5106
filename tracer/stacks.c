// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* stacks: of the threads that hit probes, with names. */
#include "tracer/stacks.h"
#include "tracer/output.h"
#include "tracer/session.h"
#include "sym/demangle.h"
#include "sym/sym.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <search.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* For people, and for programs */
static const struct {
	const char *text, *word;
} ends[DP_END_NR] = {
	[DP_END_NONE] = { "there was no room for one more stack", "full" },
	[DP_END_COMPLETE] = { NULL, "complete" },
	[DP_END_UNKNOWN] = { "no unwind information of that code", "unknown" },
	[DP_END_UNREADABLE] = { "memory that cannot be read", "unreadable" },
	[DP_END_BROKEN] = { "no frame can be there", "broken" },
	[DP_END_DEEP] = { "and more frames", "deep" },
};

int dp_stacks_walk(struct dp_session *s, struct dp_diag *diag)
{
	int err;

	if (!s->ops->stacks)
		return dp_diag_set(
			diag, -EOPNOTSUPP,
			"stacks are not there yet in process %d: it probes itself, or only data is watched",
			s->source->pid);
	err = s->ops->stacks->walk(s->source);
	if (err == -EPERM)
		return dp_diag_set(
			diag, err,
			"stacks are addresses of the kernel: to see them takes CAP_SYSLOG, and kernel.kptr_restrict below 2");
	return err ? dp_diag_set(diag, err,
				 "process %d: its stacks cannot be walked: %s",
				 s->source->pid,
				 err == -ENOMEM ?
					 "out of memory" :
					 "its probes are there already") :
		     0;
}

/* Demangled names, by their linkage names: the same functions come again and again. */
#define DEMANGLED_MOST 50000

/** struct demangled - @text: of linkage name @name; NULL: that stays as it is */
struct demangled {
	char *name, *text;
};

static int by_name(const void *a, const void *b)
{
	const struct demangled *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static struct demangled *remember(void **tree, const char *name)
{
	struct demangled *d = calloc(1, sizeof(*d));
	char text[DP_DEMANGLED_MAX + 1];

	if (!d)
		return NULL;
	d->name = strdup(name);
	if (d->name && dp_demangle(name, DP_DEMANGLE_BRIEF, text))
		d->text = strdup(text);
	if (d->name && tsearch(d, tree, by_name))
		return d;
	free(d->name);
	free(d->text);
	free(d);
	return NULL;
}

static const char *shown_name(const char *name)
{
	struct demangled want = { .name = (char *)name }, **found, *d;
	static void *tree;
	static u32 n;

	if (!dp_demangle_ready() || name[0] != '_' ||
	    (name[1] != 'Z' && name[1] != 'R'))
		return name;
	found = tfind(&want, &tree, by_name);
	if (found)
		return (*found)->text ?: name;
	d = n < DEMANGLED_MOST ? remember(&tree, name) : NULL;
	n += d != NULL;
	return d && d->text ? d->text : name;
}

static char *text_of(const char *fmt, ...)
{
	char *text;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	return n < 0 ? NULL : text;
}

/* @back: the function is the one that has made a call, and @addr is behind the call. */
static struct dp_named_frame frame_at(struct dp_modules *mods, u64 addr,
				      bool back)
{
	const struct dp_module *m = mods ? dp_module_at(mods, addr - back) :
					   NULL;
	struct dp_symbol sym;
	const char *name;
	u64 off;

	if (!m)
		return (struct dp_named_frame){ text_of("0x%lx", addr),
						text_of("[unknown]") };
	if (dp_symbol_at(mods, addr - back, &sym) ||
	    addr - back - sym.addr >= (sym.size ?: 1))
		return (struct dp_named_frame){ text_of("%s+0x%lx", m->base,
							addr - m->bias),
						text_of("[%s]", m->base) };
	off = addr - sym.addr;
	name = shown_name(sym.name);
	return (struct dp_named_frame){ off ? text_of("%s:%s+0x%lx", m->base,
						      name, off) :
					      text_of("%s:%s", m->base, name),
					text_of("%s", name) };
}

/* A signal's handler returns to the begin of the code that ends it: the frame that it has
 * interrupted comes next. */
static struct dp_named_frame frame_of(const struct dp_session *s,
				      const u64 *frames, u32 i, u32 n)
{
	bool exact = frames[i] & DP_BACKTRACE_EXACT ||
		     (!s->ops->stacks->name && i + 1 < n &&
		      frames[i + 1] & DP_BACKTRACE_EXACT);
	u64 pc = frames[i] & ~DP_BACKTRACE_EXACT;
	struct dp_named_frame named;

	if (s->ops->stacks->name) {
		s->ops->stacks->name(s->source, pc, !exact, &named);
		return named;
	}
	return frame_at(s->ops->stacks->modules(s->source), pc, !exact);
}

void dp_frames_free(struct dp_named_frame *v, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		free(v[i].text);
		free(v[i].function);
	}
}

int dp_stacks_frames(const struct dp_session *s, u32 number,
		     struct dp_named_frame v[DP_BACKTRACE_FRAMES], u32 *n,
		     enum dp_backtrace_end *end)
{
	u64 frames[DP_BACKTRACE_FRAMES];
	bool failed = false;
	u32 i;

	*end = DP_END_NONE;
	*n = s->ops->stacks ?
		     s->ops->stacks->get(s->source, number, frames, end) :
		     0;
	for (i = 0; i < *n; i++) {
		v[i] = frame_of(s, frames, i, *n);
		failed |= !v[i].text || !v[i].function;
	}
	if (failed)
		dp_frames_free(v, *n);
	return failed ? -ENOMEM : 0;
}

const char *dp_stacks_end(enum dp_backtrace_end end)
{
	return ends[end].word;
}

void dp_frames_print(FILE *out, const struct dp_named_frame *v, u32 n,
		     enum dp_backtrace_end end)
{
	u32 i;

	for (i = 0; i < n; i++)
		dp_output_print(out, "    %s\n", v[i].text);
	if (ends[end].text)
		dp_output_print(out, "    [%s]\n", ends[end].text);
}

void dp_stacks_print(FILE *out, const struct dp_session *s, u32 number)
{
	struct dp_named_frame v[DP_BACKTRACE_FRAMES];
	enum dp_backtrace_end end;
	u32 n;

	if (dp_stacks_frames(s, number, v, &n, &end))
		return;
	dp_frames_print(out, v, n, end);
	dp_frames_free(v, n);
}
