// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* code: the bytes of a process's text, which may be coming and going. */
#include "proc/proc.h"
#include "tracer/code.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

static const struct dp_map *map_of(const struct dp_code *c, u64 addr)
{
	return dp_maps_find(dp_modules_maps(c->mods), addr);
}

size_t dp_code_read_file(const struct dp_code *c, u64 addr, u8 *to, size_t size)
{
	const struct dp_module *m = dp_module_at(c->mods, addr);
	const struct dp_map *map = map_of(c, addr);
	ssize_t n;
	int fd = m ? dp_module_open(c->mods, m) : -ENOENT;

	if (fd < 0)
		return 0;
	if (size > map->end - addr)
		size = map->end - addr;
	n = pread(fd, to, size, (off_t)(map->offset + (addr - map->start)));
	close(fd);
	return n > 0 ? (size_t)n : 0;
}

static size_t read_memory(const struct dp_code *c, u64 addr, u8 *to)
{
	ssize_t n =
		pread(dp_process_mem(c->proc), to, DP_CODE_WINDOW, (off_t)addr);

	return n > 0 ? (size_t)n : 0;
}

static bool may_go(const struct dp_code *c, u64 addr)
{
	const struct dp_module *m = dp_module_at(c->mods, addr);

	return m && !dp_module_stays(c->mods, m);
}

/* Is the mapping around @addr still the one that was found? */
static bool is_in_place(const struct dp_code *c, u64 addr)
{
	const struct dp_map *was = map_of(c, addr), *is;
	struct dp_maps maps;
	bool same;

	if (!was || dp_maps_read(dp_process_pid(c->proc), &maps))
		return false;
	is = dp_maps_find(&maps, addr);
	same = is && is->perms[2] == 'x' && is->start == was->start &&
	       is->end == was->end && is->inode == was->inode;
	dp_maps_free(&maps);
	return same;
}

static bool is_same(const u8 *a, size_t n, const u8 *b, size_t m)
{
	return n >= m && !memcmp(a, b, m);
}

/* Other bytes than the file's count if they are there a second time, with the mapping in
 * place in between. */
static bool is_certain(const struct dp_code *c, u64 addr)
{
	u8 again[DP_CODE_WINDOW];

	return c->size && is_in_place(c, addr) &&
	       is_same(c->window, c->size, again, read_memory(c, addr, again));
}

static void fill(struct dp_code *c, u64 addr)
{
	u8 file[DP_CODE_WINDOW];
	size_t n;

	c->addr = addr;
	c->size = read_memory(c, addr, c->window);
	if (!may_go(c, addr))
		return;
	n = dp_code_read_file(c, addr, file, sizeof(file));
	if (!n || is_same(c->window, c->size, file, n) || is_certain(c, addr))
		return;
	memcpy(c->window, file, n);
	c->size = n;
}

size_t dp_code_read(struct dp_code *c, u64 addr, u8 *to, size_t size)
{
	if (addr < c->addr || addr + size > c->addr + c->size)
		fill(c, addr);
	if (size > c->addr + c->size - addr)
		size = c->addr + c->size - addr;
	memcpy(to, c->window + (addr - c->addr), size);
	return size;
}
