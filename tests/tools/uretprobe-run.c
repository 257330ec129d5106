// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * uretprobe-run: a command with the kernel's own return probe on every function of
 * its program but _start, which would break it for sure: uretprobe-run PROGRAM ARGS.
 * Ends as the program does; with 77 if there are no such probes.
 */
#include "bench/pmu.h"
#include "proc/proc.h"
#include "sym/sym.h"
#include "tests/tools/held.h"
#include <dprobes/diag.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

struct functions {
	char path[4096];
	u64 *offset;
	size_t n;
};

static void note(struct functions *f, struct dp_modules *mods,
		 const struct dp_symbols *list)
{
	size_t i;

	f->offset = calloc(list->n, sizeof(*f->offset));
	for (i = 0; i < list->n; i++)
		if (strcmp(list->v[i].name, "_start"))
			f->n += !dp_module_addr_file(mods, list->v[i].addr,
						     &f->offset[f->n]);
	snprintf(f->path, sizeof(f->path), "%s", list->v[0].module->path);
}

/* A process of the command shows them, and is not let run. */
static int look(char **argv, struct functions *f, struct dp_diag *diag)
{
	struct dp_symbols list = { 0 };
	struct dp_modules *mods = NULL;
	struct dp_process *proc;
	int err = dp_process_launch(argv, &proc, diag);

	if (err)
		return err;
	err = dp_modules_open(dp_process_pid(proc), dp_process_mem(proc), &mods,
			      diag);
	if (!err)
		err = dp_symbols_find(mods, NULL, "*", &list, NULL, diag);
	if (!err)
		note(f, mods, &list);
	dp_process_kill_launched(proc);
	dp_process_close(proc);
	return err;
}

static uint64_t return_bit(void)
{
	FILE *f = fopen("/sys/bus/event_source/devices/uprobe/format/retprobe",
			"re");
	unsigned int bit = 0;

	if (f && fscanf(f, "config:%u", &bit) != 1)
		bit = 0;
	if (f)
		fclose(f);
	return 1ull << bit;
}

static int run(char **argv, const struct functions *f)
{
	int type = pmu_uprobe_type(), go = -1, status;
	struct rlimit most, was;
	size_t i, n = 0;
	pid_t pid;

	if (type < 0)
		return 77;
	pid = held_start(argv, &go);
	getrlimit(RLIMIT_NOFILE, &was);
	most = (struct rlimit){ was.rlim_max, was.rlim_max };
	setrlimit(RLIMIT_NOFILE, &most);
	for (i = 0; i < f->n; i++)
		n += held_probe(type, return_bit(), f->path, f->offset[i], pid,
				1) >= 0;
	if (!n)
		kill(pid, SIGKILL);
	status = held_end(pid, go);
	if (!n)
		return 77;
	if (WIFSIGNALED(status))
		raise(WTERMSIG(status));
	return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	struct functions f = { .n = 0 };
	struct dp_diag diag;

	dp_diag_clear(&diag);
	if (argc < 2)
		return 2;
	if (look(argv + 1, &f, &diag)) {
		fprintf(stderr, "%s\n", diag.text);
		return 1;
	}
	return run(argv + 1, &f);
}
