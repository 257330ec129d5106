// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* vars: show or reset the variables of programs that any running dprobes has loaded. */
#include "tracer/session.h"
#include "proc/inspect.h"
#include "tracer/output.h"
#include <dirent.h>
#include <dprobes/diag.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void print(const struct dp_tracer_vars_options *opt, pid_t pid,
		  const struct dp_variables *v, u32 i)
{
	const char *space = *v->name ? "lv" : "gv";

	if (!opt->json) {
		dp_output_print(opt->out, "%d %s %s[%u] = 0x%lx (%ld)\n", pid,
				*v->name ? v->name : "global", space, i,
				v->values[i], v->values[i]);
		return;
	}
	dp_output_print(opt->out, "{\"pid\":%d,\"name\":", pid);
	dp_json_string(opt->out, v->name);
	dp_output_print(opt->out,
			",\"space\":\"%s\",\"index\":%u,\"value\":%lu}\n",
			space, i, v->values[i]);
}

static bool wanted(const struct dp_tracer_vars_options *opt,
		   const struct dp_variables *v)
{
	bool both = !opt->local && !opt->global;
	const char *base = strrchr(v->name, '/');

	if (!*v->name)
		return both || opt->global;
	return (both || opt->local) &&
	       (!opt->name || !strcmp(opt->name, v->name) ||
		(base && !strcmp(opt->name, base + 1)));
}

/* Return: how many variables were shown or reset; a negative errno. */
static int one(const struct dp_tracer_vars_options *opt, pid_t pid,
	       const struct dp_variables *v, struct dp_diag *diag)
{
	u32 i, end = opt->last < v->n ? opt->last + 1 : v->n;
	int err;

	if (!wanted(opt, v) || opt->first >= end)
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
		print(opt, pid, v, i);
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
	return !found;
}
