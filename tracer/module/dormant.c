// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * dormant: the hooks of a process that does not use libdprobes, as a static program.
 *
 * No exit is there, so all are idle. They are known by the notes of the process's modules.
 */
#include "tracer/module/dormant.h"
#include "tracer/output.h"
#include "tracer/tracer.h"
#include "lib/service.h"
#include "proc/inspect.h"
#include "proc/proc.h"
#include "sym/hooks.h"
#include "sym/sym.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* Has the list the name of its @i-th note already? A hook may have several places. */
static bool is_known(const struct dp_hook_notes *list, size_t i)
{
	size_t k;

	for (k = 0; k < i; k++)
		if (!strcmp(list->v[k].name, list->v[i].name))
			return true;
	return false;
}

static int show_module(const struct dp_modules *mods, const struct dp_module *m,
		       FILE *out)
{
	struct dp_hook_notes list;
	int n = 0;
	size_t i;

	/* What has no file, as the vdso, has no hooks. */
	if (dp_hook_notes_read(mods, m, "*", &list))
		return 0;
	for (i = 0; i < list.n; i++) {
		if (is_known(&list, i))
			continue;
		dp_output_print(out, "%s idle 0\n", list.v[i].name);
		n++;
	}
	dp_hook_notes_free(&list);
	return n;
}

static int show_all(const struct dp_modules *mods,
		    const struct dp_tracer_options *opt, struct dp_diag *diag)
{
	size_t i, n = 0;

	for (i = 0; i < dp_modules_count(mods); i++)
		n += (size_t)show_module(mods, dp_modules_get(mods, i),
					 opt->out);
	return n ? 0 :
		   dp_diag_set(
			   diag, -ENOENT,
			   "process %d has no hooks, and does not use libdprobes.so",
			   opt->pid);
}

bool dp_hooks_are_dormant(pid_t pid)
{
	return !kill(pid, 0) && !dp_mapping_named(pid, DP_SERVICE_PATH);
}

int dp_hooks_list_dormant(const struct dp_tracer_options *opt,
			  struct dp_diag *diag)
{
	int mem =
		open(dp_path("/proc/%d/mem", opt->pid).s, O_RDONLY | O_CLOEXEC);
	struct dp_modules *mods;
	int err;

	if (mem < 0)
		return dp_diag_set(diag, -errno,
				   "process %d may not be looked at: %s",
				   opt->pid, strerror(errno));
	err = dp_modules_open(opt->pid, mem, &mods, diag);
	if (!err) {
		err = show_all(mods, opt, diag);
		dp_modules_close(mods);
	}
	close(mem);
	return err;
}

int dp_hooks_refuse_dormant(const struct dp_tracer_options *opt,
			    struct dp_diag *diag)
{
	return dp_diag_set(
		diag, -EOPNOTSUPP,
		"process %d does not use libdprobes.so, so its hooks have no exits; hook:%.*s is a probe there, for stat, trace and run",
		opt->pid, (int)strcspn(opt->exit, ":"), opt->exit);
}
