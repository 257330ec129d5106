// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* loadable: could a process load a library? A name without a file is likely misspelt. */
#include "proc/inspect.h"
#include "sym/sym.h"
#include "tracer/session.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_file(const struct dp_session *s, const char *dir, size_t len,
		    const char *name)
{
	char path[2 * PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/root%.*s/%s", s->source->pid,
		 (int)len, dir, name);
	return !stat(path, &st) && S_ISREG(st.st_mode) &&
	       dp_file_is_library(path);
}

static bool is_in_list(const struct dp_session *s, const char *dirs,
		       const char *name)
{
	size_t len;

	for (; *dirs; dirs += len + (dirs[len] == ':')) {
		len = strcspn(dirs, ":");
		if (len && is_file(s, dirs, len, name))
			return true;
	}
	return false;
}

static bool is_in_environment(const struct dp_session *s, const char *name)
{
	static const char key[] = "LD_LIBRARY_PATH=";
	char *line = NULL;
	size_t size = 0;
	bool found = false;
	FILE *f;

	f = fopen(dp_path("/proc/%d/environ", s->source->pid).s, "re");
	while (f && !found && getdelim(&line, &size, '\0', f) > 0)
		found = !strncmp(line, key, sizeof(key) - 1) &&
			is_in_list(s, line + sizeof(key) - 1, name);
	free(line);
	if (f)
		fclose(f);
	return found;
}

/* Is the library in the directory of the program or of a loaded library? */
static bool is_beside(const struct dp_session *s, const char *name)
{
	size_t i;

	for (i = 0; i < dp_modules_count(s->source->mods); i++) {
		const struct dp_module *m = dp_modules_get(s->source->mods, i);

		if (*m->path == '/' &&
		    is_file(s, m->path, (size_t)(m->base - m->path) - 1, name))
			return true;
	}
	return false;
}

bool dp_loadable(const struct dp_session *s, const char *name)
{
	static const char dirs[] =
		"/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib64:/usr/lib64:"
		"/lib:/usr/lib:/usr/local/lib:/usr/local/lib/x86_64-linux-gnu";
	char here[PATH_MAX];
	ssize_t n;

	if (*name == '/')
		return is_file(s, "", 0, name + 1);
	n = readlink(dp_path("/proc/%d/cwd", s->source->pid).s, here,
		     sizeof(here));
	return is_in_list(s, dirs, name) || is_beside(s, name) ||
	       is_in_environment(s, name) ||
	       (n > 0 && is_file(s, here, (size_t)n, name));
}
