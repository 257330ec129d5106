// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* system: which specs of the kernel a session can have. */
#include "tracer/system.h"
#include "tracer/session.h"
#include "proc/inspect.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

bool dp_system_is(const struct dp_spec *spec)
{
	return !strcmp(spec->module, "kernel");
}

bool dp_system_wanted(const struct dp_tracer_options *opt)
{
	struct dp_spec spec;
	bool is;

	if (!opt->nr_specs || dp_spec_parse(opt->specs[0], &spec, NULL))
		return false;
	is = dp_system_is(&spec);
	dp_spec_free(&spec);
	return is;
}

static int refuse(struct dp_diag *diag, int err, int column, int span,
		  const char *why)
{
	dp_diag_set(diag, err, "%s", why);
	dp_diag_caret(diag, column, span);
	return err;
}

static int refuse_point(const struct dp_spec *spec, struct dp_diag *diag,
			int err, const char *why)
{
	return refuse(diag, err, spec->point_col,
		      (int)strcspn(spec->text + spec->point_col, " ({"), why);
}

/* Options that are about a process */
static const char *bad_option(const struct dp_tracer_options *opt)
{
	if (opt->pid)
		return "the kernel's functions are everybody's, and probes there count what all processes do: leave -p away";
	if (opt->children)
		return "probes in the kernel count what all processes do: leave -f away";
	if (opt->block || opt->buffer)
		return "the kernel waits for nobody, and dprobes.ko's room for records is what it is: leave --block and --buffer away";
	if (opt->core || opt->minidump || opt->debugger)
		return "exit 1 and 2 are the kernel's own: leave --core, --minidump and --debugger away, which are for processes";
	if (opt->coarse)
		return "records of the kernel have the time of their hits: leave --coarse-time away";
	return opt->inlined ?
		       "--inlined is not for the kernel, whose debug information is not read" :
		       NULL;
}

/* A session that traces has no programs for values that no expression has. */
static int check_data(const struct dp_session *s, const struct dp_spec *spec,
		      struct dp_diag *diag)
{
	if (spec->kind != DP_SPEC_WATCH)
		return 0;
	if (spec->cond)
		return refuse(
			diag, -EOPNOTSUPP, spec->cond_col,
			(int)strlen(spec->cond),
			"a watchpoint on the kernel has no condition: a program with watch = w compares new and old (dprobes run)");
	return s->kind->record && !s->kind->programs ?
		       refuse_point(
			       spec, diag, -EOPNOTSUPP,
			       "dprobes stat counts what is watched in the kernel; values are logged by a program with watch = w (dprobes run)") :
		       0;
}

static void read_thread(u32 tid, u32 *pid, char *name, size_t size)
{
	FILE *f = fopen(dp_path("/proc/%u/status", tid).s, "re");
	char line[64];
	u32 tgid;

	while (f && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "Name:\t", 6))
			snprintf(name, size, "%.*s",
				 (int)strcspn(line + 6, "\n"), line + 6);
		/* 0: it is just going */
		if (sscanf(line, "Tgid: %u", &tgid) == 1) {
			*pid = tgid ?: *pid;
			break;
		}
	}
	if (f)
		fclose(f);
}

void dp_system_task(struct dp_source_task *task)
{
	static const char *const interruptions[] = { "[softirq]", "[irq]",
						     "[nmi]" };
	u32 context = task->tid >> DP_SYSTEM_CONTEXT;

	task->tid &= (1u << DP_SYSTEM_CONTEXT) - 1;
	task->pid = task->pid ?: task->tid;
	if (task->tid)
		read_thread(task->tid, &task->pid, task->name, task->size);
	else
		snprintf(task->name, task->size, "[idle]");
	if (context && context <= 3)
		snprintf(task->name, task->size, "%s",
			 interruptions[context - 1]);
}

int dp_system_check(const struct dp_session *s, const struct dp_spec *spec,
		    struct dp_diag *diag)
{
	bool of_kernel = dp_system_is(spec) || s->opt->everybody;
	const char *why;

	if (s->nr_specs &&
	    (dp_system_is(&s->specs[0]) || s->opt->everybody) != of_kernel)
		return refuse_point(
			spec, diag, -EOPNOTSUPP,
			"probes in the kernel and in a process take a command each: start a second dprobes for this one");
	if (!of_kernel)
		return s->opt->maxactive ?
			       refuse_point(
				       spec, diag, -EINVAL,
				       "all calls of a process are followed: --maxactive is for r:kernel:FUNCTION") :
			       0;
	if (!s->kind->system)
		return refuse(
			diag, -EOPNOTSUPP, spec->module_col, 6,
			"probes in the kernel are for dprobes stat, trace, stacks, list and run so far");
	why = bad_option(s->opt);
	if (why)
		return refuse(diag, -EINVAL, spec->module_col, 6, why);
	return check_data(s, spec, diag);
}
