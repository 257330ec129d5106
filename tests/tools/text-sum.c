// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* text-sum: a digest of every executable file mapping of a process; but of one that goes
 * meanwhile. */
#include "sym/sym.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int digest(int mem, const struct dp_map *m, u64 *sum)
{
	unsigned char page[4096];
	u64 at;
	int k;

	*sum = 14695981039346656037ull;
	for (at = m->start; at < m->end; at += sizeof(page)) {
		if (pread(mem, page, sizeof(page), (off_t)at) != sizeof(page))
			return -1;
		for (k = 0; k < (int)sizeof(page); k++)
			*sum = (*sum ^ page[k]) * 1099511628211ull;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct dp_maps maps;
	char path[64];
	size_t i;
	u64 sum;
	int mem;

	if (argc < 2 || dp_maps_read(atoi(argv[1]), &maps))
		return 1;
	snprintf(path, sizeof(path), "/proc/%s/mem", argv[1]);
	mem = open(path, O_RDONLY);
	for (i = 0; i < maps.n; i++) {
		const struct dp_map *m = &maps.v[i];

		if (m->perms[2] == 'x' && m->inode && !digest(mem, m, &sum))
			printf("%016llx %s\n", (unsigned long long)sum,
			       m->path);
	}
	dp_maps_free(&maps);
	return 0;
}
