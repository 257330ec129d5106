/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* pmu: the kernel's own probes as performance events. */
#ifndef BENCH_PMU_H
#define BENCH_PMU_H

#include <stdio.h>

/** pmu_uprobe_type() - for perf_event_open(2). Return: -1 if there is none. */
static inline int pmu_uprobe_type(void)
{
	FILE *f = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
	int type = -1;

	if (f) {
		if (fscanf(f, "%d", &type) != 1)
			type = -1;
		fclose(f);
	}
	return type;
}

#endif
