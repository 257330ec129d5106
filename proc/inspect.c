// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* inspect: the probes of a process, read from outside without touching it. */
#include "proc/private.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int list_probes(const struct dp_view *view, struct dp_armed **list,
		       size_t *n)
{
	u32 i;

	*list = calloc(view->nr_probes + 1, sizeof(**list));
	if (!*list)
		return -ENOMEM;
	for (i = 0; i < view->nr_probes; i++) {
		const struct dp_site_entry *s =
			&view->sites[view->probes[i].site];

		if (!s->armed)
			continue;
		(*list)[(*n)++] = (struct dp_armed){
			.addr = s->addr,
			.kind = 'k',
			.disabled = !view->probes[i].enabled,
			.optimized = s->mode == DP_MODE_JUMP,
			.hits = dp_view_hits(view, i),
		};
	}
	return 0;
}

static int read_arena(const struct dp_process *proc, struct dp_armed **list,
		      size_t *n, pid_t *tool)
{
	struct dp_view view;
	void *arena;
	size_t size;
	u64 addr;
	int err = dp_arena_load(proc, &arena, &size, &addr);

	if (err)
		return err;
	err = dp_view_open(&view, arena, size);
	if (!err && view.arena->control.owner != proc->ns_pid)
		err = -ENOENT;
	if (!err) {
		const struct dp_arena_control *c = &view.arena->control;

		*tool = dp_tool_start((pid_t)c->tool) == c->tool_start ?
				(pid_t)c->tool :
				0;
		err = list_probes(&view, list, n);
	}
	free(arena);
	return err;
}

int dp_process_inspect(pid_t pid, struct dp_armed **list, size_t *n,
		       pid_t *tool, struct dp_diag *diag)
{
	struct dp_process *proc = dp_process_new();
	struct dp_status st;
	int err;

	*list = NULL;
	*n = 0;
	*tool = 0;
	if (!proc)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	proc->pid = pid;
	if (dp_status_read(pid, pid, &st))
		err = dp_diag_set(diag, -ESRCH, "no process %d", pid);
	else
		err = dp_process_open_mem(proc, diag);
	if (!err) {
		proc->ns_pid = st.ns_pid;
		err = read_arena(proc, list, n, tool);
		if (err)
			dp_diag_set(
				diag, err,
				err == -ENOENT ?
					"process %d is not probed" :
					"what is mapped into process %d as dprobes is damaged",
				pid);
	}
	dp_process_close(proc);
	return err;
}
