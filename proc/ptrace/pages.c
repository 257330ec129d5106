// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* pages: which pages of a mapping are private to the process, and the file behind it. */
#include "proc/proc.h"
#include "proc/ptrace/procfs.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/remote.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PM_FILE (1ull << 61)
#define PM_SWAP (1ull << 62)
#define PM_PRESENT (1ull << 63)

static bool private_page(u64 entry)
{
	return (entry & PM_SWAP) ||
	       ((entry & PM_PRESENT) && !(entry & PM_FILE));
}

/* @pid: 0: the calling thread. */
static u64 *read_pagemap(pid_t pid, u64 start, u64 size)
{
	size_t bytes = size / DP_PAGE * 8;
	u64 *map = malloc(bytes);
	int fd = open(pid ? dp_path("/proc/%d/pagemap", pid).s :
			    "/proc/thread-self/pagemap",
		      O_RDONLY | O_CLOEXEC);

	if (!map || fd < 0 ||
	    pread(fd, map, bytes, (off_t)(start / DP_PAGE * 8)) !=
		    (ssize_t)bytes) {
		free(map);
		map = NULL;
	}
	if (fd >= 0)
		close(fd);
	return map;
}

bool dp_pages_untouched(pid_t pid, const struct dp_map *m)
{
	u64 *map = read_pagemap(pid, m->start, m->end - m->start);
	size_t i, n = (m->end - m->start) / DP_PAGE;
	bool clean = map && m->inode && m->perms[3] == 'p';

	for (i = 0; clean && i < n; i++)
		clean = !private_page(map[i]);
	free(map);
	return clean;
}

static bool same_as_file(const struct dp_process *proc, int fd, u64 addr,
			 u64 offset)
{
	u8 now[DP_PAGE], file[DP_PAGE];
	ssize_t n = pread(fd, file, sizeof(file), (off_t)offset);

	if (n <= 0 || dp_process_read(proc, addr, now, sizeof(now)))
		return false;
	memset(file + n, 0, sizeof(file) - (size_t)n);
	return !memcmp(now, file, sizeof(now));
}

static int open_mapped(const struct dp_process *proc, const struct dp_map *m)
{
	char path[PATH_MAX + 64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", proc->pid,
		 (unsigned long long)m->start, (unsigned long long)m->end);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/%d/root%s", proc->pid, m->path);
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

struct dp_text_file dp_pages_file(const struct dp_process *proc,
				  const struct dp_map *m)
{
	struct dp_text_file file = { -1, m->offset };
	struct stat st;

	if (!dp_pages_untouched(proc->pid, m))
		return file;
	file.fd = open_mapped(proc, m);
	/* The path may lead to another file by now. */
	if (file.fd >= 0 && (fstat(file.fd, &st) || !dp_map_is_file(m, &st))) {
		close(file.fd);
		file.fd = -1;
	}
	return file;
}

bool dp_pages_clean(const struct dp_process *proc, const struct dp_mapped *text)
{
	const struct dp_map *m;
	struct dp_maps maps;
	bool clean = false;
	u64 *map, i;
	int fd;

	if (dp_maps_read(proc->pid, &maps))
		return false;
	m = dp_maps_find(&maps, text->start);
	map = read_pagemap(proc->pid, text->start, text->size);
	if (m && map && m->start == text->start &&
	    m->end == text->start + text->size) {
		fd = open_mapped(proc, m);
		clean = fd >= 0;
		for (i = 0; clean && i < text->size / DP_PAGE; i++)
			clean = !private_page(map[i]) ||
				same_as_file(proc, fd, m->start + i * DP_PAGE,
					     m->offset + i * DP_PAGE);
		if (fd >= 0)
			close(fd);
	}
	free(map);
	dp_maps_free(&maps);
	return clean;
}

bool dp_pages_ours(const struct dp_maps *maps)
{
	bool found = false;
	size_t i;

	for (i = 0; i < maps->n; i++)
		found |= dp_path_is_ours(maps->v[i].path);
	return found;
}
