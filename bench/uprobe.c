// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* uprobe: the kernel's own probes on the same functions, counting in perf. */
#include "bench/bench.h"
#include "sym/sym.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALLS 3000

static int pmu_type(void)
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

static int open_event(pid_t pid, u64 addr, int type)
{
	struct perf_event_attr attr = { .size = sizeof(attr),
					.type = (u32)type };
	const struct dp_map *map;
	struct dp_maps maps;
	int fd = -1;

	if (dp_maps_read(pid, &maps))
		return -1;
	map = dp_maps_find(&maps, addr);
	if (map) {
		attr.config1 = (u64)(uintptr_t)map->path;
		attr.config2 = addr - map->start + map->offset;
		fd = (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1,
				  PERF_FLAG_FD_CLOEXEC);
	}
	dp_maps_free(&maps);
	return fd;
}

int bench_uprobe(struct bench_run *run, const struct bench *b, double *ns)
{
	double plain = bench_calls(run, b->function, CALLS);
	int type = pmu_type(), fd;
	u64 count = 0;

	if (type < 0) {
		snprintf(run->absent, sizeof(run->absent), "no uprobe PMU");
		return -1;
	}
	fd = open_event(run->pid, run->shared->addr[b->function], type);
	if (fd < 0) {
		snprintf(run->absent, sizeof(run->absent), "uprobe PMU: %s",
			 strerror(errno));
		return -1;
	}
	*ns = bench_calls(run, b->function, CALLS) - plain;
	if (read(fd, &count, sizeof(count)) != sizeof(count) || count != CALLS)
		fprintf(stderr, "bench: %s counted %llu of %d\n", b->name,
			(unsigned long long)count, CALLS);
	close(fd);
	return 0;
}
