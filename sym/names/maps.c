// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* maps: the address space of a process as /proc/PID/maps lists it. */
#include <dprobes/diag.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "sym/list.h"
#include "sym/names/mod.h"

#define DELETED " (deleted)"

/* Read the whole file: *out is NUL-terminated and malloc()ed. */
static int slurp(int fd, char **out, size_t *len)
{
	size_t room = 16384, used = 0;
	char *buf = malloc(room), *bigger;
	ssize_t got;

	if (!buf)
		return -ENOMEM;
	while ((got = read(fd, buf + used, room - used - 1)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			free(buf);
			return -errno;
		}
		used += got;
		if (used > DP_MAPS_TEXT_MAX) {
			free(buf);
			return -EFBIG;
		}
		if (room - used > 4096)
			continue;
		bigger = realloc(buf, room *= 2);
		if (!bigger) {
			free(buf);
			return -ENOMEM;
		}
		buf = bigger;
	}
	buf[used] = '\0';
	*out = buf;
	*len = used;
	return 0;
}

/* The kernel writes a newline in a path as \012. */
static void unescape(char *s)
{
	char *to = s;

	while (*s) {
		if (!strncmp(s, "\\012", 4)) {
			*to++ = '\n';
			s += 4;
		} else {
			*to++ = *s++;
		}
	}
	*to = '\0';
}

static int parse_path(struct dp_map *map, const char *path)
{
	size_t len = strlen(path), tail = strlen(DELETED);

	if (len > tail && path[0] == '/' &&
	    !strcmp(path + len - tail, DELETED)) {
		map->deleted = true;
		len -= tail;
	}
	map->path = strndup(path, len);
	if (!map->path)
		return -ENOMEM;
	unescape(map->path);
	return 0;
}

static unsigned int digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	return c >= 'a' && c <= 'f' ? (unsigned int)(c - 'a') + 10 : ~0u;
}

/* Take a number as the kernel writes it, and the character behind it. A line has six, and
 * some processes have thousands of lines. */
static bool take(const char **at, unsigned int base, char after, u64 *v)
{
	const char *s = *at;

	for (*v = 0; digit(*s) < base; s++)
		*v = *v * base + digit(*s);
	if (s == *at || *s != after)
		return false;
	*at = s + 1;
	return true;
}

static bool take_perms(const char **at, char *perms)
{
	if (strnlen(*at, 5) < 5 || (*at)[4] != ' ')
		return false;
	memcpy(perms, *at, 4);
	*at += 5;
	return true;
}

static int parse_line(struct dp_map *map, const char *line)
{
	u64 major, minor;

	memset(map, 0, sizeof(*map));
	if (!take(&line, 16, '-', &map->start) ||
	    !take(&line, 16, ' ', &map->end) ||
	    !take_perms(&line, map->perms) ||
	    !take(&line, 16, ' ', &map->offset) ||
	    !take(&line, 16, ':', &major) || !take(&line, 16, ' ', &minor) ||
	    !take(&line, 10, ' ', &map->inode))
		return -EINVAL;
	map->dev_major = (u32)major;
	map->dev_minor = (u32)minor;
	return parse_path(map, line + strspn(line, " "));
}

static size_t count_lines(const char *text)
{
	size_t n = 0;

	while ((text = strchr(text, '\n'))) {
		text++;
		n++;
	}
	return n;
}

static int parse(char *text, struct dp_maps *maps)
{
	size_t room = count_lines(text);
	char *line, *save;
	int err;

	maps->v = calloc(room + 1, sizeof(*maps->v));
	if (!maps->v)
		return -ENOMEM;
	for (line = strtok_r(text, "\n", &save); line && maps->n < room;
	     line = strtok_r(NULL, "\n", &save)) {
		err = parse_line(&maps->v[maps->n], line);
		if (err == -ENOMEM)
			return err;
		if (!err)
			maps->n++;
	}
	return 0;
}

int dp_maps_read(pid_t pid, struct dp_maps *maps)
{
	char name[64], *text = NULL;
	size_t len = 0;
	int fd, err;

	memset(maps, 0, sizeof(*maps));
	dp_file_proc(name, sizeof(name), pid, "maps");
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	err = slurp(fd, &text, &len);
	close(fd);
	if (err)
		return err;
	/* A zombie has no address space left: its maps file is empty. */
	err = len ? parse(text, maps) : -ESRCH;
	free(text);
	if (err)
		dp_maps_free(maps);
	return err;
}

int dp_maps_too_many(pid_t pid, struct dp_diag *diag)
{
	return dp_diag_set(
		diag, -EFBIG,
		"process %d has more mappings than dprobes reads, %u MB of /proc/%d/maps",
		(int)pid, DP_MAPS_TEXT_MAX >> 20, (int)pid);
}

void dp_maps_free(struct dp_maps *maps)
{
	size_t i;

	for (i = 0; i < maps->n; i++)
		free(maps->v[i].path);
	free(maps->v);
	memset(maps, 0, sizeof(*maps));
}

const struct dp_map *dp_maps_find(const struct dp_maps *maps, u64 addr)
{
	size_t i = dp_list_upto(maps->v, maps->n, sizeof(*maps->v),
				offsetof(struct dp_map, end), addr);

	return i < maps->n && addr >= maps->v[i].start ? &maps->v[i] : NULL;
}

struct dp_origin dp_map_origin(const struct dp_map *map, u64 addr)
{
	if (!map || !map->inode)
		return (struct dp_origin){ 0 };
	return (struct dp_origin){ .inode = map->inode,
				   .offset = addr - map->start + map->offset,
				   .dev_major = map->dev_major,
				   .dev_minor = map->dev_minor };
}

bool dp_origin_same(struct dp_origin a, struct dp_origin b)
{
	return a.inode == b.inode && a.offset == b.offset &&
	       a.dev_major == b.dev_major && a.dev_minor == b.dev_minor;
}

bool dp_map_same(const struct dp_map *a, const struct dp_map *b)
{
	return a && b && a->start == b->start && a->end == b->end &&
	       dp_origin_same(dp_map_origin(a, a->start),
			      dp_map_origin(b, b->start));
}

bool dp_map_same_file(const struct dp_map *a, const struct dp_map *b)
{
	return a->inode == b->inode && a->dev_major == b->dev_major &&
	       a->dev_minor == b->dev_minor && !strcmp(a->path, b->path);
}

bool dp_map_is_file(const struct dp_map *map, const struct stat *st)
{
	return st->st_ino == map->inode &&
	       major(st->st_dev) == map->dev_major &&
	       minor(st->st_dev) == map->dev_minor;
}
