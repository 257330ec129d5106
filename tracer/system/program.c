// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * program: programs from files whose probes are in the kernel: modtype = kernel, and kmod.
 *
 * What the language has for processes alone is refused before anything is asked of the kernel, with its
 * place in the text. Which instructions the kernel carries out dprobes.ko knows.
 */
#include "lang/lang.h"
#include "tracer/system.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/** struct refusal - words, and what they are about */
struct refusal {
	const char *why;
	const struct dp_source_place *at;
};

static const char *check_data(const struct dp_lang_point *pt)
{
	return !pt->len ?
		       "the kernel does not tell how many bytes a variable has: write len = 1, 2, 4 or 8" :
	       pt->symbol && pt->value < 0 ?
		       "a place in the kernel is not before its variable" :
		       NULL;
}

static struct refusal check_point(const struct dp_lang_point *pt)
{
	const char *why =
		dp_lang_is_data(pt) ?
			check_data(pt) :
		pt->retprobe && pt->value ?
			"calls of a function return, not of a place in it: write offset = FUNCTION" :
		pt->usdt || pt->hook ?
			"tracepoints and hooks are of processes: write offset = FUNCTION" :
		pt->line ?
			"the kernel's debug information is not read: write offset = FUNCTION, or FUNCTION + N" :
		!pt->symbol ?
			"a place in the kernel is a function, or one with an offset: write offset = FUNCTION + N" :
		pt->value < 0 ?
			"a place in the kernel is not before its function" :
			NULL;

	return (struct refusal){ why, &pt->at };
}

static struct refusal check_header(const struct dp_lang_program *p)
{
	const struct dp_lang_filter *f = &p->filter;

	if (p->build_len)
		return (struct refusal){
			"build_id is of files: the kernel that runs is the one that is probed",
			&p->build_at
		};
	if (f->pid >= 0 || f->comm || f->cgroup || f->user)
		return (struct refusal){
			"probes in the kernel are everybody's: in place of pid, comm, uid and cgroup the program compares push pid",
			&p->name_at
		};
	return (struct refusal){ NULL, NULL };
}

int dp_system_program(const struct dp_lang_program *p,
		      const struct dp_source_place **at, struct dp_diag *diag)
{
	struct refusal r = check_header(p);
	size_t i;

	for (i = 0; i < p->nr_points && !r.why; i++)
		r = check_point(&p->points[i]);
	*at = r.at;
	return r.why ? dp_diag_set(diag, -EOPNOTSUPP, "%s", r.why) : 0;
}

/* w:kernel:POINT/LEN[:ACCESS] */
static char *data_spec(const char *module, const struct dp_lang_point *pt)
{
	const char *access = pt->watch == DP_LANG_WATCH_ACCESS ? ":rw" : "";
	char *text;
	int n;

	if (pt->symbol)
		n = asprintf(&text, "w:kernel:\"%s:%s\"+0x%lx/%u%s", module,
			     pt->symbol, (u64)pt->value, pt->len, access);
	else
		n = asprintf(&text, "w:kernel:0x%lx/%u%s", (u64)pt->value,
			     pt->len, access);
	return n < 0 ? NULL : text;
}

char *dp_system_spec(const struct dp_lang_program *p,
		     const struct dp_lang_point *pt)
{
	const char *module = p->modtype == DP_MODTYPE_KMOD ? p->name :
							     DP_SYSTEM_IMAGE;
	const char *kind = pt->retprobe ? "r:" : "";
	char plus[32] = "", *text;

	if (dp_lang_is_data(pt))
		return data_spec(module, pt);
	if (pt->value)
		snprintf(plus, sizeof(plus), "+0x%lx", (u64)pt->value);
	return asprintf(&text, "%skernel:\"%s:%s\"%s", kind, module, pt->symbol,
			plus) < 0 ?
		       NULL :
		       text;
}
