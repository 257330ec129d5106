// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* vars: show or reset the variables of programs that any running dprobes has loaded. */
#include "tracer/hold.h"
#include "tracer/session.h"
#include "proc/inspect.h"
#include "tracer/output.h"
#include <dirent.h>
#include <dprobes/diag.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* @pid: 0: of the kernel */
static void print(const struct dp_tracer_vars_options *opt, pid_t pid,
		  const char *name, u32 i, u64 value)
{
	const char *space = *name ? "lv" : "gv";

	if (!opt->json) {
		dp_output_print(opt->out, "%d %s %s[%u] = 0x%lx (%ld)\n", pid,
				*name ? name : "global", space, i, value,
				value);
		return;
	}
	dp_output_print(opt->out, "{\"pid\":%d,\"name\":", pid);
	dp_json_string(opt->out, name);
	dp_output_print(opt->out,
			",\"space\":\"%s\",\"index\":%u,\"value\":%lu}\n",
			space, i, value);
}

static bool wanted(const struct dp_tracer_vars_options *opt, const char *name)
{
	bool both = !opt->local && !opt->global;
	const char *base = strrchr(name, '/');

	if (!*name)
		return both || opt->global;
	return (both || opt->local) &&
	       (!opt->name || !strcmp(opt->name, name) ||
		(base && !strcmp(opt->name, base + 1)));
}

/* Return: how many variables were shown or reset; a negative errno. */
static int one(const struct dp_tracer_vars_options *opt, pid_t pid,
	       const struct dp_variables *v, struct dp_diag *diag)
{
	u32 i, end = opt->last < v->n ? opt->last + 1 : v->n;
	int err;

	if (!wanted(opt, v->name) || opt->first >= end)
		return 0;
	if (opt->reset) {
		err = dp_process_zero(pid, v->addr + 8 * opt->first,
				      end - opt->first);
		if (err)
			return dp_diag_set(
				diag, err,
				"cannot reset variables in process %d: %s", pid,
				strerror(-err));
	}
	for (i = opt->first; !opt->reset && i < end; i++)
		print(opt, pid, v->name, i, v->values[i]);
	return (int)(end - opt->first);
}

static int process(const struct dp_tracer_vars_options *opt, pid_t pid,
		   struct dp_diag *diag)
{
	struct dp_variables *list;
	int found = 0, n;
	size_t nr, i;
	int err = dp_process_variables(pid, &list, &nr, diag);

	if (err)
		return err;
	for (i = 0; i < nr; i++) {
		n = one(opt, pid, &list[i], diag);
		if (n < 0) {
			found = n;
			break;
		}
		found += n;
	}
	free(list);
	return found;
}

/** struct asked - what is wanted of the kernel's; @found: how many of them there are */
struct asked {
	const struct dp_tracer_vars_options *opt;
	int found;
};

static void take(void *arg, u32 index, u64 value, const char *name)
{
	struct asked *a = arg;

	if (!wanted(a->opt, name) || index < a->opt->first ||
	    index > a->opt->last)
		return;
	a->found++;
	print(a->opt, 0, name, index, value);
}

/* Of programs that are held in the kernel. Return: how many; a negative errno */
static int kernels(const struct dp_tracer_vars_options *opt,
		   struct dp_diag *diag)
{
	const bool both = !opt->local && !opt->global;
	const struct dp_held_reset reset = {
		.how = (both || opt->local ? DP_HELD_LOCALS : 0) |
		       (both || opt->global ? DP_HELD_GLOBALS : 0),
		.first = opt->first,
		.last = opt->last,
		.name = opt->name ?: "",
	};
	struct asked a = { .opt = opt };
	int err;

	if (opt->reset)
		return dp_held_reset_kernels(&reset, diag);
	err = dp_held_each_variable(take, &a, diag);
	return err ?: a.found;
}

int dp_tracer_vars(const struct dp_tracer_vars_options *opt,
		   struct dp_diag *diag)
{
	struct dirent *d;
	int found = 0, n;
	DIR *dir;

	if (opt->pid) {
		n = process(opt, opt->pid, diag);
		return n < 0 ? n : !n;
	}
	dir = opendir("/proc");
	if (!dir)
		return dp_diag_set(diag, -errno, "cannot read /proc");
	while ((d = readdir(dir))) {
		n = atoi(d->d_name) > 0 ? process(opt, atoi(d->d_name), NULL) :
					  0;
		if (n > 0)
			found += n;
	}
	closedir(dir);
	n = kernels(opt, diag);
	return n < 0 ? n : !(found + n);
}
