// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* search: the prototype files that there are for a library. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>
#include "sym/prototypes/parse.h"

#define SHARE "share/dprobes/prototypes"

struct search {
	const char *soname;
	void (*see)(void *arg, const char *file, const char *text, size_t len);
	void *arg;
};

static ssize_t read_all(int fd, char *text, size_t room)
{
	size_t n = 0;
	ssize_t got;

	do {
		got = read(fd, text + n, room - n);
		n += got > 0 ? (size_t)got : 0;
	} while (got > 0 && n < room);
	return got < 0 ? -1 : (ssize_t)n;
}

/* Of a file that is longer than it may be, what is there. */
static void read_open(const struct search *s, const char *file, int fd)
{
	struct stat st;
	size_t room;
	ssize_t n;
	char *text;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size <= 0)
		return;
	room = st.st_size < DP_PROTO_FILE ? (size_t)st.st_size : DP_PROTO_FILE;
	text = malloc(room);
	if (!text)
		return;
	n = read_all(fd, text, room);
	if (n > 0)
		s->see(s->arg, file, text, (size_t)n);
	free(text);
}

static void try_file(const struct search *s, const char *dir, int dir_len,
		     int name_len)
{
	char file[PATH_MAX];
	int fd, n = snprintf(file, sizeof(file), "%.*s/%.*s.conf", dir_len, dir,
			     name_len, s->soname);

	if (n < 0 || n >= (int)sizeof(file))
		return;
	fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return;
	read_open(s, file, fd);
	close(fd);
}

/* libssl.so.1.1, libssl.so.1, libssl.so: without numbers at the end, one by one */
static void try_dir(const struct search *s, const char *dir, int dir_len)
{
	size_t n = strlen(s->soname), digits;

	for (;;) {
		try_file(s, dir, dir_len, (int)n);
		for (digits = 0; digits < n; digits++)
			if (s->soname[n - 1 - digits] < '0' ||
			    s->soname[n - 1 - digits] > '9')
				break;
		if (!digits || digits == n || s->soname[n - 1 - digits] != '.')
			return;
		n -= digits + 1;
	}
}

static void try_list(const struct search *s, const char *dirs)
{
	size_t n;

	for (; dirs; dirs = dirs[n] ? dirs + n + 1 : NULL) {
		n = strcspn(dirs, ":");
		if (n && n < PATH_MAX)
			try_dir(s, dirs, (int)n);
	}
}

static void try_below(const struct search *s, const char *dir, const char *rest)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/%s", dir, rest);

	if (n > 0 && n < (int)sizeof(path))
		try_dir(s, path, n);
}

static void try_home(const struct search *s)
{
	const char *data = secure_getenv("XDG_DATA_HOME"),
		   *home = secure_getenv("HOME");

	if (data && *data == '/')
		try_below(s, data, "dprobes/prototypes");
	else if (home && *home == '/')
		try_below(s, home, ".local/" SHARE);
}

/* Both an installed tool and one that was just built have the files there. */
static void try_beside(const struct search *s)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	int up;

	if (n <= 0)
		return;
	path[n] = '\0';
	for (up = 0; up < 2; up++) {
		char *slash = strrchr(path, '/');

		if (!slash)
			return;
		*slash = '\0';
	}
	try_below(s, path, SHARE);
}

/* The name comes from a file that anybody has made. */
static bool good_name(const char *soname)
{
	return *soname && *soname != '.' && !strchr(soname, '/') &&
	       strlen(soname) <= NAME_MAX;
}

static void try_all(const struct search *s)
{
	try_list(s, secure_getenv("DPROBES_PROTOTYPES"));
	if (!getauxval(AT_SECURE)) {
		try_home(s);
		try_beside(s);
	}
	try_below(s, DP_PREFIX, SHARE);
}

/* Before glibc 2.34 these had functions that libc.so.6 has now. */
static bool part_of_libc(const char *soname)
{
	static const char *const parts[] = { "libanl.so.1", "libdl.so.2",
					     "libpthread.so.0", "librt.so.1",
					     "libutil.so.1" };
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (!strcmp(soname, parts[i]))
			return true;
	return false;
}

void dp_proto_search(const char *soname,
		     void (*see)(void *arg, const char *file, const char *text,
				 size_t len),
		     void *arg)
{
	struct search s = { soname, see, arg };

	if (!good_name(soname))
		return;
	try_all(&s);
	if (!part_of_libc(soname))
		return;
	s.soname = "libc.so";
	try_all(&s);
}
