// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* spec-offset: FILE:OFFSET of a spec in a command: spec-offset SPEC -- CMD. */
#include "resolve/points.h"
#include "proc/proc.h"
#include "sym/sym.h"
#include <dprobes/diag.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	struct dp_points points = { 0 };
	struct dp_modules *mods = NULL;
	struct dp_process *proc;
	struct dp_diag diag;
	struct dp_spec spec;
	u64 offset;
	int err;

	if (argc < 4)
		return 2;
	err = dp_process_launch(argv + 3, &proc, &diag);
	if (!err)
		err = dp_modules_open(dp_process_pid(proc),
				      dp_process_mem(proc), &mods, &diag);
	if (!err)
		err = dp_spec_parse(argv[1], &spec, &diag);
	if (!err)
		err = dp_points_resolve(proc, mods, &spec, &points, &diag);
	if (!err)
		err = dp_module_addr_file(mods, points.v[0].addr, &offset);
	if (err) {
		fprintf(stderr, "%s\n", diag.text);
		return 1;
	}
	printf("%s:0x%llx\n", dp_module_at(mods, points.v[0].addr)->path,
	       (unsigned long long)offset);
	dp_process_kill_launched(proc);
	dp_process_close(proc);
	return 0;
}
