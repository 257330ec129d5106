// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * peer_uprobe: the kernel's own probes on the same functions, with a BPF
 * program that does nothing where the kernel can, else counting in perf.
 */
#include "bench/bench.h"
#include "bench/peer_bpf.h"
#include "bench/pmu.h"
#include "sym/sym.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALLS 3000
#define PERF_RETURN 1 /* bit of config, says the PMU's format/retprobe */

/* Where to probe, and how: as offset in the file that is mapped there. */
struct place {
	pid_t pid;
	const char *path;
	u64 offset;
	bool on_return;
};

static int open_perf(const struct place *p)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	int type = pmu_uprobe_type();

	if (type < 0) {
		errno = ENODEV;
		return -1;
	}
	attr.type = (u32)type;
	attr.config = p->on_return ? PERF_RETURN : 0;
	attr.config1 = (u64)(uintptr_t)p->path;
	attr.config2 = p->offset;
	return (int)syscall(SYS_perf_event_open, &attr, p->pid, -1, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

static int measure_at(struct bench_run *run, const struct bench *b,
		      const struct place *p, double *ns)
{
	double plain = bench_calls(run, b->function, CALLS);
	int fd = peer_bpf_uprobe(p->pid, p->path, p->offset, p->on_return);
	bool perf = fd < 0;
	u64 count = 0;

	if (perf)
		fd = open_perf(p);
	if (fd < 0) {
		snprintf(run->absent, sizeof(run->absent), "uprobe PMU: %s",
			 strerror(errno));
		return -1;
	}
	snprintf(run->note, sizeof(run->note),
		 perf ? "perf event, counting" :
			"uprobe_multi, a BPF program that does nothing");
	*ns = bench_calls(run, b->function, CALLS) - plain;
	if (perf && (read(fd, &count, sizeof(count)) != sizeof(count) ||
		     count != CALLS))
		fprintf(stderr, "bench: %s counted %llu of %d\n", b->name,
			(unsigned long long)count, CALLS);
	close(fd);
	return 0;
}

static int measure(struct bench_run *run, const struct bench *b, bool on_return,
		   double *ns)
{
	u64 addr = run->shared->addr[b->function];
	const struct dp_map *map;
	struct dp_maps maps;
	int err = -1;

	snprintf(run->absent, sizeof(run->absent), "no map of the victim");
	if (dp_maps_read(run->pid, &maps))
		return -1;
	map = dp_maps_find(&maps, addr);
	if (map) {
		struct place p = { .pid = run->pid,
				   .path = map->path,
				   .offset = addr - map->start + map->offset,
				   .on_return = on_return };

		err = measure_at(run, b, &p, ns);
	}
	dp_maps_free(&maps);
	return err;
}

int bench_uprobe(struct bench_run *run, const struct bench *b, double *ns)
{
	return measure(run, b, false, ns);
}

int bench_uretprobe(struct bench_run *run, const struct bench *b, double *ns)
{
	return measure(run, b, true, ns);
}
