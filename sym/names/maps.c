// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* maps: the address space of a process as /proc/PID/maps lists it. */
#include <dprobes/diag.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include "sym/list.h"
#include "sym/names/mod.h"

#define READ_MOST 4096 /* the kernel gives no more at a time */
#define DELETED " (deleted)"

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

	if (len > tail && path[0] == '/' && !strcmp(path + len - tail, DELETED))
		len -= tail;
	map->path = strndup(path, len);
	if (!map->path)
		return -ENOMEM;
	unescape(map->path);
	return 0;
}

/* Take a number and the character behind it. Some processes have thousands of lines, for
 * which sscanf() takes five times as long. */
static bool take(const char **at, int base, char after, u64 *v)
{
	char *end;

	*v = strtoull(*at, &end, base);
	if (end == *at || *end != after)
		return false;
	*at = end + 1;
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

static int add_line(struct dp_maps *maps, size_t *room, const char *line)
{
	struct dp_map map;
	int err = parse_line(&map, line);

	if (err)
		return err == -ENOMEM ? err : 0;
	err = dp_list_add(&maps->v, &maps->n, room, &map, sizeof(map));
	if (err)
		free(map.path);
	return err;
}

static int read_lines(FILE *f, struct dp_maps *maps)
{
	size_t total = 0, size = 0, room = 0;
	char *line = NULL;
	ssize_t n;
	int err = 0;

	while (!err && (n = getline(&line, &size, f)) > 0) {
		line[n - 1] = '\0';
		total += n;
		err = total > DP_MAPS_TEXT_MAX ? -EFBIG :
						 add_line(maps, &room, line);
	}
	if (!err && !feof(f))
		err = -errno;
	free(line);
	/* A zombie has no address space left: its maps file is empty. */
	return err || total ? err : -ESRCH;
}

int dp_maps_read(pid_t pid, struct dp_maps *maps)
{
	char name[64], buffer[READ_MOST];
	FILE *f;
	int err;

	memset(maps, 0, sizeof(*maps));
	dp_file_proc(name, sizeof(name), pid, "maps");
	f = fopen(name, "re");
	if (!f)
		return errno == ENOENT ? -ESRCH : -errno;
	/* Mappings may change from one read to the next. */
	setvbuf(f, buffer, _IOFBF, sizeof(buffer));
	err = read_lines(f, maps);
	fclose(f);
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
