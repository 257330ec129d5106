// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* code: the bytes of a process's text, which may be coming and going. */
#include "resolve/code.h"
#include "proc/proc.h"
#include <string.h>
#include <unistd.h>

static const struct dp_map *map_of(const struct dp_modules *mods, u64 addr)
{
	return dp_maps_find(dp_modules_maps(mods), addr);
}

size_t dp_code_read_file(struct dp_modules *mods, u64 addr, u8 *to, size_t size)
{
	const struct dp_module *m = dp_module_at(mods, addr);
	const struct dp_map *map = map_of(mods, addr);
	ssize_t n;
	int fd = m ? dp_module_open(mods, m) : -ENOENT;

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
	ssize_t n = dp_modules_read(c->mods, addr, to, DP_CODE_WINDOW);

	return n > 0 ? (size_t)n : 0;
}

static bool may_go(const struct dp_code *c, u64 addr)
{
	const struct dp_module *m = dp_module_at(c->mods, addr);

	return m && !dp_module_stays(c->mods, m);
}

/* Is the mapping around @addr still that of the snapshot? */
static bool is_in_place(const struct dp_code *c, u64 addr)
{
	const struct dp_map *was = map_of(c->mods, addr), *is;
	struct dp_maps maps;
	bool same;

	if (!was || dp_maps_read(c->pid, &maps))
		return false;
	is = dp_maps_find(&maps, addr);
	same = dp_map_same(is, was) && is->perms[2] == 'x';
	dp_maps_free(&maps);
	return same;
}

static bool is_same(const u8 *a, size_t n, const u8 *b, size_t m)
{
	return n >= m && !memcmp(a, b, m);
}

/* Memory that differs from the file counts if a second read agrees, and the mapping was in
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
	n = dp_code_read_file(c->mods, addr, file, sizeof(file));
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
