// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * file: the very file that a process has mapped.
 *
 * The path in /proc/PID/maps may name another file by now, or belong to another mount
 * namespace. On overlay and btrfs, device and inode in maps are not those of stat(). So
 * a candidate counts in four cases: device and inode agree, the kernel hands it out as
 * the mapped file, its first page (headers, build-id) equals that in memory, or that was so
 * before and the file has not changed: the process may have ended.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include "sym/names/mod.h"
#include "sym/seen.h"

#define HEAD_LEN 4096

/*
 * For one's own process no descriptor is kept: a program that closes all descriptors
 * would give ours to another file. The process id is of no use here once the first
 * thread has ended.
 */
ssize_t dp_modules_read(const struct dp_modules *mods, u64 addr, void *buf,
			size_t len)
{
	struct iovec to = { buf, len }, from = { (void *)addr, len };
	ssize_t got;

	if (mods->pid)
		got = pread(mods->mem, buf, len, (off_t)addr);
	else
		got = process_vm_readv(gettid(), &to, 1, &from, 1, 0);
	if (got > 0 && mods->mend)
		mods->mend(mods->mend_arg, addr, buf, (size_t)got);
	return got < 0 ? -errno : got;
}

void dp_modules_set_mend(struct dp_modules *mods, dp_modules_mend_fn *mend,
			 void *arg)
{
	mods->mend = mend;
	mods->mend_arg = arg;
}

int dp_mem_read(const struct dp_modules *mods, u64 addr, void *buf, size_t len)
{
	ssize_t got = dp_modules_read(mods, addr, buf, len);

	if (got < 0)
		return (int)got;
	return (size_t)got == len ? 0 : -EFAULT;
}

/* /proc/self is empty once the first thread has ended; the calling thread lives. */
void dp_file_proc(char *buf, size_t len, pid_t pid, const char *file)
{
	if (pid)
		snprintf(buf, len, "/proc/%d/%s", (int)pid, file);
	else
		snprintf(buf, len, "/proc/thread-self/%s", file);
}

int dp_file_root(const struct dp_modules *mods, char *buf, size_t len)
{
	int fd;

	*buf = '\0';
	if (!mods->pid)
		return 0;
	dp_file_proc(buf, len, mods->pid, "root");
	fd = open(buf, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		*buf = '\0';
		return -errno;
	}
	close(fd);
	return 0;
}

static bool same_head(const struct dp_modules *mods, int fd,
		      const struct dp_map *head)
{
	char mine[HEAD_LEN] = { 0 }, theirs[HEAD_LEN];
	ssize_t n;

	if (!head || head->perms[1] == 'w' ||
	    dp_mem_read(mods, head->start, theirs, sizeof(theirs)))
		return false;
	n = pread(fd, mine, sizeof(mine), 0);
	return n > (ssize_t)sizeof(Elf64_Ehdr) &&
	       !memcmp(mine, theirs, sizeof(mine));
}

static int open_mapped(const struct dp_modules *mods, const struct dp_map *map,
		       struct stat *st)
{
	char path[96], of[16] = "self";

	if (!map)
		return -ENOENT;
	if (mods->pid)
		snprintf(of, sizeof(of), "%d", (int)mods->pid);
	snprintf(path, sizeof(path), "/proc/%s/map_files/%lx-%lx", of,
		 map->start, map->end);
	return dp_elf_open_file(path, st);
}

static int open_path(const struct dp_modules *mods, const struct dp_map *map,
		     struct stat *st)
{
	char path[PATH_MAX + 32], root[32];

	dp_file_root(mods, root, sizeof(root));
	snprintf(path, sizeof(path), "%s%s", root, map->path);
	return dp_elf_open_file(path, st);
}

/* Is the file of that name, which is @st, the one that is mapped? Then that stays known. */
static bool know(const struct dp_modules *mods, struct dp_mod *mod, int named,
		 const struct stat *st)
{
	if (!same_head(mods, named, mod->head))
		return false;
	mod->known = *st;
	return true;
}

int dp_module_open(const struct dp_modules *mods, const struct dp_module *m)
{
	struct dp_mod *mod = dp_mod_of(m);
	struct stat st, unused;
	int named = open_path(mods, mod->text, &st), mapped;
	bool same;

	if (named >= 0 &&
	    (dp_map_is_file(mod->text, &st) || dp_seen_same(&mod->known, &st)))
		return named;
	mapped = open_mapped(mods, mod->head, &unused);
	if (mapped < 0)
		mapped = open_mapped(mods, mod->text, &unused);
	same = named >= 0 && know(mods, mod, named, &st);
	if (mapped < 0 && same)
		return named;
	if (named >= 0)
		close(named);
	if (mapped >= 0)
		return mapped;
	if (dp_is_shortage(named) || named == -EACCES)
		return named;
	return dp_is_shortage(mapped) ? mapped : -ESTALE;
}

int dp_file_open_elf(const struct dp_modules *mods, const struct dp_mod *mod,
		     struct dp_elf *elf)
{
	int fd = dp_module_open(mods, &mod->pub);

	return fd < 0 ? fd : dp_elf_open_fd(elf, fd);
}
