// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* debugfile: the separate file that holds a stripped module's symbols. */
#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "sym/elf/elf.h"

#define DEBUG_DIR "/usr/lib/debug"

/* Opens @path if it was made from the same build. */
static int open_same(const char *path, const u8 *id, size_t id_len,
		     struct dp_elf *debug)
{
	u8 other[DP_BUILD_ID_MAX];
	struct stat st;
	int fd = dp_elf_open_file(path, &st), err;

	if (fd < 0)
		return fd;
	err = dp_elf_open_fd(debug, fd);
	if (err)
		return err;
	if (dp_elf_build_id(debug, other) == id_len &&
	    !memcmp(id, other, id_len))
		return 0;
	dp_elf_close(debug);
	return -ENOENT;
}

static int by_build_id(const char *root, const u8 *id, size_t id_len,
		       struct dp_elf *debug)
{
	char path[PATH_MAX], hex[2 * DP_BUILD_ID_MAX + 1];
	size_t i;

	for (i = 0; i < id_len; i++)
		sprintf(hex + 2 * i, "%02x", id[i]);
	snprintf(path, sizeof(path), "%s" DEBUG_DIR "/.build-id/%.2s/%s.debug",
		 root, hex, hex + 2);
	return open_same(path, id, id_len, debug);
}

/* .gnu_debuglink: a file name beside the module or below DEBUG_DIR. */
static int by_link(const struct dp_elf *elf, const char *root,
		   const char *module, const u8 *id, size_t id_len,
		   struct dp_elf *debug)
{
	static const char *const form[] = {
		"%s%.*s/%s",
		"%s%.*s/.debug/%s",
		"%s" DEBUG_DIR "%.*s/%s",
	};
	const Elf64_Shdr *sh = dp_elf_section(elf, ".gnu_debuglink");
	const char *slash = strrchr(module, '/');
	char path[PATH_MAX];
	void *name;
	size_t i;
	int err = -ENOENT;

	if (!sh || !slash || sh->sh_size > NAME_MAX + 8 ||
	    dp_elf_load_section(elf, sh, &name))
		return -ENOENT;
	for (i = 0; i < 3 && err && !strchr(name, '/'); i++) {
		if ((size_t)snprintf(path, sizeof(path), form[i], root,
				     (int)(slash - module), module,
				     (char *)name) >= sizeof(path))
			break;
		err = open_same(path, id, id_len, debug);
	}
	free(name);
	return err;
}

int dp_debugfile_open(const struct dp_elf *elf, const char *root,
		      const char *path, struct dp_elf *debug)
{
	u8 id[DP_BUILD_ID_MAX];
	size_t len = dp_elf_build_id(elf, id);
	int err;

	/* Without a build-id nothing says that the two belong together. */
	if (len < 2)
		return -ENOENT;
	err = by_build_id(root, id, len, debug);
	if (err && *root)
		err = by_build_id("", id, len, debug);
	if (err)
		err = by_link(elf, root, path, id, len, debug);
	return err;
}
