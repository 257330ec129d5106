// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* debugfile: the separate files that hold a stripped module's symbols and debug information. */
#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "sym/elf/elf.h"

#define DEBUG_DIR "/usr/lib/debug"

bool dp_debugfile_is(const struct dp_elf *elf, const u8 *id, size_t len)
{
	u8 other[DP_BUILD_ID_MAX];

	return dp_elf_build_id(elf, other) == len && !memcmp(id, other, len);
}

/* Opens @path if it was made from the same build. Return: -ESTALE: it was not */
static int open_same(const char *path, const u8 *id, size_t id_len,
		     struct dp_elf *debug)
{
	struct stat st;
	int fd = dp_elf_open_file(path, &st), err;

	if (fd < 0)
		return fd;
	err = dp_elf_open_debug(debug, fd);
	if (err)
		return err;
	if (dp_debugfile_is(debug, id, id_len))
		return 0;
	dp_elf_close(debug);
	return -ESTALE;
}

static int open_by_id(const char *root, const u8 *id, size_t id_len,
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

/* Return: 0, or the error of two tries that tells more */
static int either(int first, int second)
{
	return second && first == -ESTALE ? first : second;
}

/* As the process sees it, or as the tool does. */
static int by_build_id(const char *root, const u8 *id, size_t id_len,
		       struct dp_elf *debug)
{
	int err = open_by_id(root, id, id_len, debug);

	if (!err || !*root)
		return err;
	return either(err, open_by_id("", id, id_len, debug));
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
	if (err)
		err = by_link(elf, root, path, id, len, debug);
	return err;
}

int dp_altlink_read(const struct dp_elf *elf, struct dp_altlink *link)
{
	const Elf64_Shdr *sh = dp_elf_section(elf, ".gnu_debugaltlink");
	size_t name, len;
	void *data;

	if (!sh)
		return -ENOENT;
	if (sh->sh_size > sizeof(link->name) + DP_BUILD_ID_MAX ||
	    dp_elf_load_section(elf, sh, &data))
		return -ENOEXEC;
	name = strlen(data) + 1;
	len = name < sh->sh_size ? sh->sh_size - name : 0;
	if (name <= sizeof(link->name) && len >= 2 && len <= DP_BUILD_ID_MAX) {
		memcpy(link->name, data, name);
		memcpy(link->id, (u8 *)data + name, len);
		link->len = len;
	} else {
		link->len = 0;
	}
	free(data);
	return link->len ? 0 : -ENOEXEC;
}

char *dp_debugfile_beside(const struct dp_elf *elf, const char *root,
			  char path[DP_ALTLINK_MAX])
{
	char link[40], *slash;
	size_t at = strlen(root);
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/thread-self/fd/%d", elf->fd);
	memcpy(path, root, at);
	n = readlink(link, path + at, DP_ALTLINK_MAX - at);
	if (n <= 0 || (size_t)n >= DP_ALTLINK_MAX - at)
		return NULL;
	path[at + (size_t)n] = '\0';
	slash = strrchr(path + at, '/');
	return slash ? slash + 1 : NULL;
}

static int open_beside(const struct dp_elf *elf, const char *root,
		       const struct dp_altlink *link, struct dp_elf *alt)
{
	char path[DP_ALTLINK_MAX], *base = dp_debugfile_beside(elf, root, path);

	if (!base || strlen(link->name) >= (size_t)(path + sizeof(path) - base))
		return -ENOENT;
	strcpy(base, link->name);
	return open_same(path, link->id, link->len, alt);
}

static int open_at(const char *root, const struct dp_altlink *link,
		   struct dp_elf *alt)
{
	char path[2 * DP_ALTLINK_MAX];

	snprintf(path, sizeof(path), "%s%s", root, link->name);
	return open_same(path, link->id, link->len, alt);
}

static int open_named(const struct dp_elf *elf, const char *root,
		      const struct dp_altlink *link, struct dp_elf *alt)
{
	return *link->name == '/' ? open_at(root, link, alt) :
				    open_beside(elf, root, link, alt);
}

int dp_altlink_open(const struct dp_altlink *link, const struct dp_elf *elf,
		    const char *root, struct dp_elf *alt)
{
	int err = by_build_id(root, link->id, link->len, alt);

	if (err)
		err = either(err, open_named(elf, root, link, alt));
	if (err && *root)
		err = either(err, open_named(elf, "", link, alt));
	return err;
}
