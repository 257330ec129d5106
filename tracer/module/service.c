// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* service: modules of a process that uses libdprobes already. */
#include "tracer/session.h"
#include "tracer/module/client.h"
#include "tracer/module/dormant.h"
#include "proc/proc.h"
#include "sym/sym.h"
#include "tracer/output.h"
#include <dirent.h>
#include <dprobes/diag.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAP_US 2000
#define WATCH_US 50000
#define PATIENCE_SECONDS 3

static int ask(struct dp_client *c, u32 verb, const char *text,
	       struct dp_diag *diag)
{
	const struct dp_client_order order = { .verb = verb,
					       .data = (void *)text,
					       .len = strlen(text) + 1,
					       .patience = PATIENCE_SECONDS };

	return dp_client_ask(c, &order, diag);
}

char *dp_order_text(const struct dp_tracer_options *opt)
{
	char module[PATH_MAX], *text = NULL;
	size_t size, i;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	fputs(realpath(opt->specs[0], module) ? module : opt->specs[0], f);
	for (i = 1; i < opt->nr_specs; i++)
		fprintf(f, "\n%s", opt->specs[i]);
	for (i = 0; i < opt->nr_aliases; i++)
		fprintf(f, "\n@%s", opt->aliases[i]);
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}

static int order(const struct dp_tracer_options *opt, u32 verb,
		 const char *text, struct dp_diag *diag)
{
	struct dp_client c;
	int err;

	if (!text)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	err = dp_order_check(opt, diag);
	if (err)
		return err;
	if (strlen(text) >= DP_SERVICE_ORDER)
		return dp_diag_set(diag, -EINVAL,
				   "the parameters are too long");
	err = dp_client_open(&c, opt->pid, opt->out, diag);
	if (err)
		return err;
	err = ask(&c, verb, text, diag);
	dp_client_close(&c);
	return err;
}

int dp_tracer_insmod_pid(const struct dp_tracer_options *opt,
			 struct dp_diag *diag)
{
	char *text = dp_order_text(opt);
	int err = order(opt, DP_SERVICE_LOAD, text, diag);

	free(text);
	return err;
}

int dp_tracer_rmmod(const struct dp_tracer_options *opt, struct dp_diag *diag)
{
	return order(opt, DP_SERVICE_UNLOAD, opt->specs[0], diag);
}

/* Read all modules as they were at one moment. */
static int get_modules(const struct dp_client *c,
		       struct dp_service_module *list, u32 *n)
{
	u32 before, after = 1;
	int tries;

	for (tries = 0; tries < 1000; tries++) {
		if (DP_CLIENT_GET(c, changes, &before) ||
		    DP_CLIENT_GET(c, nr_modules, n) ||
		    dp_client_get(c, offsetof(struct dp_service, modules), list,
				  DP_SERVICE_MODULES * sizeof(*list)) ||
		    DP_CLIENT_GET(c, changes, &after))
			return -ESRCH;
		if (before == after && !(before & 1))
			return *n > DP_SERVICE_MODULES ? -EBADMSG : 0;
		usleep(NAP_US);
	}
	return -EAGAIN;
}

static void show_module(const struct dp_client *c,
			const struct dp_service_module *m, bool verbose)
{
	dp_output_print(c->out, "%-7d %.*s %lu %d %s", c->pid,
			(int)sizeof(m->name), m->name, m->size, m->refs,
			m->forked ? "Forked" : "Live");
	if (verbose)
		dp_output_print(c->out, " %.*s", (int)sizeof(m->path), m->path);
	dp_output_print(c->out, "\n");
}

static int show_modules(const struct dp_client *c, bool verbose)
{
	struct dp_service_module *list =
		calloc(DP_SERVICE_MODULES, sizeof(*list));
	u32 n = 0, i;
	int err = list ? get_modules(c, list, &n) : -ENOMEM;

	for (i = 0; !err && i < n; i++)
		show_module(c, &list[i], verbose);
	free(list);
	return err;
}

/* Call @act for every process that uses libdprobes and that the user may open. */
static int each(const struct dp_tracer_options *opt,
		int (*act)(struct dp_client *c, void *arg), void *arg)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	struct dp_client c;
	int first = 0, err;

	while (dir && (entry = readdir(dir))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid <= 0 || dp_client_open(&c, pid, opt->out, NULL))
			continue;
		err = act(&c, arg);
		first = first ? first : err;
		dp_client_close(&c);
	}
	if (dir)
		closedir(dir);
	return first;
}

static int show_one(struct dp_client *c, void *arg)
{
	const struct dp_tracer_options *opt = arg;

	show_modules(c, opt->verbose);
	return 0;
}

int dp_tracer_lsmod(const struct dp_tracer_options *opt, struct dp_diag *diag)
{
	struct dp_client c;
	int err = 0;

	if (opt->pid)
		err = dp_client_open(&c, opt->pid, opt->out, diag);
	if (err)
		return err;
	dp_output_print(opt->out, "PID     MODULE SIZE USED STATE%s\n",
			opt->verbose ? " FILE" : "");
	if (!opt->pid) {
		each(opt, show_one, (void *)opt);
		return 0;
	}
	err = show_modules(&c, opt->verbose);
	dp_client_close(&c);
	return err ? dp_diag_set(diag, -EAGAIN,
				 "the modules of process %d cannot be read",
				 opt->pid) :
		     0;
}

static volatile sig_atomic_t stopped;

static void stop(int sig)
{
	stopped = 1;
}

int dp_tracer_dmesg(const struct dp_tracer_options *opt, struct dp_diag *diag)
{
	double end = dp_source_now() + opt->duration;
	struct dp_client c;
	u64 next = 0;
	int err = dp_client_open(&c, opt->pid, opt->out, diag);

	if (err)
		return err;
	DP_CLIENT_GET(&c, next, &next);
	c.line = next > DP_SERVICE_LINES ? next - DP_SERVICE_LINES : 0;
	dp_client_lines(&c);
	signal(SIGINT, stop);
	signal(SIGTERM, stop);
	while (opt->watch && !stopped && !ferror(c.out) &&
	       (!opt->duration || dp_source_now() < end) &&
	       !DP_CLIENT_GET(&c, next, &next)) {
		dp_client_lines(&c);
		usleep(WATCH_US);
	}
	dp_client_close(&c);
	return 0;
}

struct turning {
	enum dp_service_knob knob;
	int value; /* -1: only shown */
	const char *name;
	bool all;
	struct dp_diag *diag;
};

static int turn_one(struct dp_client *c, void *arg)
{
	const struct turning *t = arg;
	char text[32];
	u32 knobs[DP_KNOBS];
	int err = 0;

	snprintf(text, sizeof(text), "%d %d", t->knob, t->value);
	if (t->value >= 0)
		err = ask(c, DP_SERVICE_TURN, text, t->diag);
	if (!err && DP_CLIENT_GET(c, knobs, &knobs))
		err = dp_client_gone(c, t->diag);
	/* Among all processes, a process that has ended is skipped. */
	if (err)
		return t->all && err == -ESRCH ? 0 : err;
	if (t->all)
		dp_output_print(c->out, "%d ", c->pid);
	if (*t->name)
		dp_output_print(c->out, "%s = ", t->name);
	dp_output_print(c->out, "%u\n", knobs[t->knob] != 0);
	return 0;
}

int dp_tracer_knob(const struct dp_tracer_options *opt, bool optimization,
		   int value, const char *name, struct dp_diag *diag)
{
	struct turning t = { .knob = optimization ? DP_KNOB_OPTIMIZATION :
						    DP_KNOB_ENABLED,
			     .value = value,
			     .name = name,
			     .all = !opt->pid,
			     .diag = diag };
	struct dp_client c;
	int err;

	if (!opt->pid)
		return each(opt, turn_one, &t);
	err = dp_client_open(&c, opt->pid, opt->out, diag);
	if (err)
		return err;
	err = turn_one(&c, &t);
	dp_client_close(&c);
	return err;
}

static void show_hooks(const struct dp_client *c, const char *text)
{
	const char *end;

	for (; (end = strchr(text, '\n')); text = end + 1)
		dp_output_print(c->out, "%.*s\n", (int)(end - text), text);
}

static int list_hooks(struct dp_client *c, struct dp_diag *diag)
{
	char *text = calloc(1, DP_SERVICE_ORDER + 1);
	int err = text ? ask(c, DP_SERVICE_HOOKS, "", diag) :
			 dp_diag_set(diag, -ENOMEM, "out of memory");

	if (!err && dp_client_get(c, offsetof(struct dp_service, order), text,
				  DP_SERVICE_ORDER))
		err = dp_client_gone(c, diag);
	if (!err)
		show_hooks(c, text);
	free(text);
	return err;
}

static int switch_exit(struct dp_client *c, const struct dp_tracer_options *opt,
		       struct dp_diag *diag)
{
	size_t hook = strcspn(opt->exit, ":");
	char text[512];

	if (!opt->exit[hook] || !hook || !opt->exit[hook + 1] ||
	    strpbrk(opt->exit, "\n") ||
	    snprintf(text, sizeof(text), "%d\n%.*s\n%s", !opt->disarms,
		     (int)hook, opt->exit,
		     opt->exit + hook + 1) >= (int)sizeof(text))
		return dp_diag_set(
			diag, -EINVAL,
			"%s is not HOOK:EXIT, as dprobes hooks -p %d lists them",
			opt->exit, opt->pid);
	return ask(c, DP_SERVICE_EXIT, text, diag);
}

int dp_tracer_hooks(const struct dp_tracer_options *opt, struct dp_diag *diag)
{
	struct dp_client c;
	int err;

	if (dp_hooks_are_dormant(opt->pid))
		return opt->exit ? dp_hooks_refuse_dormant(opt, diag) :
				   dp_hooks_list_dormant(opt, diag);
	err = dp_client_open(&c, opt->pid, opt->out, diag);
	if (err)
		return err;
	err = opt->exit ? switch_exit(&c, opt, diag) : list_hooks(&c, diag);
	dp_client_close(&c);
	return err;
}
