// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* split: units of debug information that are in files of their own (.dwo, .dwp). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "sym/aside.h"
#include "sym/types/note.h"
#include "sym/types/pass.h"
#include "sym/types/split.h"

/* The tool may have rights that who wrote the path has not. So what is opened is looked at, and
 * only what was made for this is handed on. */
static int open_unit(const char *path, u64 *left)
{
	struct stat st;
	struct dp_elf elf;
	int fd = dp_elf_open_file(path, &st);

	if (fd < 0)
		return fd;
	if (dp_elf_open_debug(&elf, fd))
		return -ENOENT;
	if (!dp_elf_section(&elf, ".debug_info.dwo"))
		fd = -ENOENT;
	else if (dp_package_is_loose(&elf))
		fd = dp_package_join(&elf, left);
	else
		fd = fcntl(elf.fd, F_DUPFD_CLOEXEC, 0);
	dp_elf_close(&elf);
	return fd;
}

static int open_beside(const struct dp_elf *elf, const char *root,
		       const char *name, u64 *left)
{
	char path[DP_ALTLINK_MAX], *base = dp_debugfile_beside(elf, root, path);

	if (!base || strlen(name) >= (size_t)(path + sizeof(path) - base))
		return -ENOENT;
	strcpy(base, name);
	return open_unit(path, left);
}

static int open_in(const char *root, const char *dir, const char *name,
		   u64 *left)
{
	char path[3 * DP_ALTLINK_MAX];

	snprintf(path, sizeof(path), "%s%s%s%s", root, dir, *dir ? "/" : "",
		 name);
	return open_unit(path, left);
}

/* As libdw does: beside the file that names it, or where it was built. */
static int open_named(struct dp_split *s, const struct dp_split_ask *ask,
		      const char *root)
{
	int fd;

	if (*ask->name == '/')
		return open_in(root, "", ask->name, &s->left);
	fd = open_beside(s->debug, root, ask->name, &s->left);
	if (fd < 0)
		fd = open_beside(s->program, root, ask->name, &s->left);
	if (fd < 0 && *ask->dir == '/')
		fd = open_in(root, ask->dir, ask->name, &s->left);
	return fd;
}

static bool try_package(struct dp_split *s, const struct dp_elf *elf,
			const char *root)
{
	char path[DP_ALTLINK_MAX + 4];
	struct stat st;
	int fd;

	if (!dp_debugfile_beside(elf, root, path))
		return false;
	strcat(path, ".dwp");
	fd = dp_elf_open_file(path, &st);
	return fd >= 0 && !dp_package_open(&s->package, fd);
}

static bool find_package(struct dp_split *s)
{
	if (!s->looked)
		s->has_package = try_package(s, s->program, s->root) ||
				 try_package(s, s->debug, s->root) ||
				 (*s->root && (try_package(s, s->program, "") ||
					       try_package(s, s->debug, "")));
	s->looked = true;
	return s->has_package;
}

static int find(struct dp_split *s, const struct dp_split_ask *ask)
{
	int fd = -ENOENT, err = 0;

	if (find_package(s)) {
		fd = dp_package_cut(&s->package, ask->id, &s->left);
		err = fd;
	}
	if (fd < 0)
		fd = open_named(s, ask, s->root);
	if (fd < 0 && *s->root)
		fd = open_named(s, ask, "");
	if (fd >= 0)
		return fd;
	s->missing = true;
	dp_note("debug information that is split off is not there: %s, in %s%s",
		ask->name, *ask->dir ? ask->dir : ".",
		err == -EFBIG ? ", and the .dwp file is too large" :
		err == -ENOEXEC ?
				", and the .dwp file is damaged or compressed" :
		err ? ", nor in the .dwp file" :
		      "");
	return -1;
}

static bool answer(struct dp_split *s, int line, struct dp_split_ask *ask)
{
	int fd = -1;
	bool done = true;

	ask->name[sizeof(ask->name) - 1] = ask->dir[sizeof(ask->dir) - 1] = 0;
	if (ask->what == DP_SPLIT_FIND) {
		fd = find(s, ask);
	} else {
		s->missing = true;
		dp_note("debug information that is split off is not used, as it is of another build: %s",
			ask->name);
	}
	done = dp_pass_send(line, &done, sizeof(done), fd);
	if (fd >= 0)
		close(fd);
	return done;
}

void dp_split_serve(struct dp_split *s, int line)
{
	struct dp_split_ask ask;
	ssize_t n;

	s->left = DP_PACKAGE_MOST;
	do {
		n = recv(line, &ask, sizeof(ask), 0);
		if (n == sizeof(ask) && !answer(s, line, &ask))
			break;
	} while (n == sizeof(ask) || (n < 0 && errno == EINTR));
	if (s->has_package)
		dp_package_close(&s->package);
}

/* From here on in the child */

static void put_string(const struct dp_reader *r, Dwarf_Die *die,
		       unsigned int name, char to[DP_ALTLINK_MAX])
{
	Dwarf_Attribute attr;
	const char *text = NULL;

	if (r->dw.dwarf_attr(die, name, &attr))
		text = r->dw.dwarf_formstring(&attr);
	if (text && strlen(text) < DP_ALTLINK_MAX)
		strcpy(to, text);
}

/* Return: the descriptor that is the answer; -1: it is that there is none */
static int ask_for(int line, struct dp_split_ask *ask, enum dp_split_what what)
{
	bool done;
	int fd = -1;

	ask->what = what;
	if (write(line, ask, sizeof(*ask)) == sizeof(*ask))
		dp_pass_receive(line, &done, sizeof(done), &fd);
	return fd;
}

/* libdw opens the file of a unit at the first question about it, and only then. */
bool dp_split_join(const struct dp_reader *r, Dwarf_Die *unit, int line)
{
	static struct dp_split_ask ask;
	Dwarf_Die split = { 0 };
	uint64_t id = 0;
	uint8_t type;
	int fd;

	if (r->dw.dwarf_cu_info(unit->cu, NULL, &type, NULL, NULL, &id, NULL,
				NULL) ||
	    type != DW_UT_skeleton)
		return true;
	if (line < 0)
		return false;
	memset(&ask, 0, sizeof(ask));
	ask.id = id;
	put_string(r, unit, DW_AT_dwo_name, ask.name);
	if (!*ask.name)
		put_string(r, unit, DW_AT_GNU_dwo_name, ask.name);
	put_string(r, unit, DW_AT_comp_dir, ask.dir);
	fd = ask_for(line, &ask, DP_SPLIT_FIND);
	dp_aside_lend(fd);
	r->dw.dwarf_cu_info(unit->cu, NULL, NULL, NULL, &split, NULL, NULL,
			    NULL);
	if (dp_aside_lend(-1) >= 0)
		close(fd);
	if (!split.addr && fd >= 0)
		ask_for(line, &ask, DP_SPLIT_UNFIT);
	if (split.addr)
		*unit = split;
	return split.addr;
}
