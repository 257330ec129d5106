// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* stacks: of the threads that hit probes, with names. */
#include "tracer/stacks.h"
#include "tracer/output.h"
#include "tracer/session.h"
#include "sym/sym.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdlib.h>

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
	return err ? dp_diag_set(diag, err,
				 "process %d: its stacks cannot be walked: %s",
				 s->source->pid,
				 err == -ENOMEM ?
					 "out of memory" :
					 "its probes are there already") :
		     0;
}

/* "module:function+0x…", or "module+0x…", an address in its file; NULL: no module is there. The
 * caller's. @back: the function is the one that has made a call, and @addr is behind the call. */
static char *name_of(struct dp_modules *mods, u64 addr, bool back)
{
	const struct dp_module *m = mods ? dp_module_at(mods, addr - back) :
					   NULL;
	struct dp_symbol sym;
	char *text = NULL;
	u64 off;
	int n;

	if (!m)
		return NULL;
	if (dp_symbol_at(mods, addr - back, &sym) ||
	    addr - back - sym.addr >= (sym.size ?: 1)) {
		n = asprintf(&text, "%s+0x%lx", m->base, addr - m->bias);
		return n < 0 ? NULL : text;
	}
	off = addr - sym.addr;
	if (off)
		n = asprintf(&text, "%s:%s+0x%lx", m->base, sym.name, off);
	else
		n = asprintf(&text, "%s:%s", m->base, sym.name);
	return n < 0 ? NULL : text;
}

static u32 get(const struct dp_session *s, u32 number,
	       u64 frames[DP_BACKTRACE_FRAMES], enum dp_backtrace_end *end)
{
	return s->ops->stacks->get(s->source, number, frames, end);
}

/* A signal's handler returns to the begin of the code that ends it: the frame that it has
 * interrupted comes next. */
static char *name_frame(const struct dp_session *s, const u64 *frames, u32 i,
			u32 n)
{
	bool exact = frames[i] & DP_BACKTRACE_EXACT ||
		     (i + 1 < n && frames[i + 1] & DP_BACKTRACE_EXACT);

	return name_of(s->source->mods, frames[i] & ~DP_BACKTRACE_EXACT,
		       !exact);
}

void dp_stacks_print(FILE *out, const struct dp_session *s, u32 number)
{
	u64 frames[DP_BACKTRACE_FRAMES];
	enum dp_backtrace_end end;
	u32 n = get(s, number, frames, &end), i;
	char *name;

	for (i = 0; i < n; i++) {
		name = name_frame(s, frames, i, n);
		if (name)
			dp_output_print(out, "    %s\n", name);
		else
			dp_output_print(out, "    0x%llx\n",
					frames[i] & ~DP_BACKTRACE_EXACT);
		free(name);
	}
	if (ends[end].text)
		dp_output_print(out, "    [%s]\n", ends[end].text);
}

void dp_stacks_json(FILE *out, const struct dp_session *s, u32 number)
{
	u64 frames[DP_BACKTRACE_FRAMES];
	enum dp_backtrace_end end;
	u32 n = get(s, number, frames, &end), i;
	char hex[24], *name;

	fputs(",\"stack\":[", out);
	for (i = 0; i < n; i++) {
		name = name_frame(s, frames, i, n);
		snprintf(hex, sizeof(hex), "0x%llx",
			 frames[i] & ~DP_BACKTRACE_EXACT);
		if (i)
			putc(',', out);
		dp_json_string(out, name ?: hex);
		free(name);
	}
	dp_output_print(out, "],\"stack_end\":\"%s\"", ends[end].word);
}
