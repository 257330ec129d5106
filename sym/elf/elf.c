// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * elf: bounds-checked reading of one ELF file.
 *
 * Parts are copied with pread() and never mapped: a file that is truncated meanwhile
 * gives an error instead of SIGBUS. A large file is not read whole.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "sym/elf/elf.h"

int dp_elf_read(const struct dp_elf *elf, u64 off, void *buf, u64 len)
{
	ssize_t got;

	if (off > elf->size || len > elf->size - off)
		return -ENOEXEC;
	if (elf->image) {
		memcpy(buf, elf->image + off, len);
		return 0;
	}
	while (len) {
		got = pread(elf->fd, buf, len, off);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return -ENOEXEC;
		buf = (char *)buf + got;
		off += got;
		len -= got;
	}
	return 0;
}

int dp_elf_load(const struct dp_elf *elf, u64 off, u64 len, void **out)
{
	char *buf;
	int err;

	if (off > elf->size || len > elf->size - off)
		return -ENOEXEC;
	if (len > DP_TABLE_MAX)
		return -EFBIG;
	buf = malloc(len + 1);
	if (!buf)
		return -ENOMEM;
	err = dp_elf_read(elf, off, buf, len);
	if (err) {
		free(buf);
		return err;
	}
	buf[len] = '\0';
	*out = buf;
	return 0;
}

int dp_elf_load_at(const struct dp_elf *elf, u64 vaddr, u64 *len, void **out)
{
	u64 off, avail;
	int err = dp_elf_offset(elf, vaddr, &off, &avail);

	if (err)
		return err;
	if (*len > avail)
		*len = avail;
	return dp_elf_load(elf, off, *len, out);
}

int dp_elf_load_section(const struct dp_elf *elf, const Elf64_Shdr *sh,
			void **out)
{
	if (sh->sh_type == SHT_NOBITS || (sh->sh_flags & SHF_COMPRESSED))
		return -ENOEXEC;
	return dp_elf_load(elf, sh->sh_offset, sh->sh_size, out);
}

static int load_segments(struct dp_elf *elf)
{
	void *ph;
	int err;

	if (!elf->eh.e_phnum)
		return 0;
	if (elf->eh.e_phentsize != sizeof(Elf64_Phdr))
		return -ENOEXEC;
	err = dp_elf_load(elf, elf->eh.e_phoff,
			  (u64)elf->eh.e_phnum * sizeof(Elf64_Phdr), &ph);
	if (err)
		return err;
	elf->ph = ph;
	elf->n_ph = elf->eh.e_phnum;
	return 0;
}

/* A program runs without sections: a damaged table counts as none. */
static int load_sections(struct dp_elf *elf)
{
	Elf64_Shdr first;
	u64 n, names;
	void *p;
	int err;

	if (!elf->eh.e_shoff || elf->eh.e_shentsize != sizeof(Elf64_Shdr) ||
	    dp_elf_read(elf, elf->eh.e_shoff, &first, sizeof(first)))
		return 0;
	n = dp_elf_sections(elf, &first, &names);
	if (!n || names >= n)
		return 0;
	err = dp_elf_load(elf, elf->eh.e_shoff, n * sizeof(Elf64_Shdr), &p);
	if (err)
		return err == -ENOMEM ? err : 0;
	elf->sh = p;
	err = dp_elf_load_section(elf, &elf->sh[names], &p);
	if (err)
		return err == -ENOMEM ? err : 0;
	elf->names = p;
	elf->names_len = elf->sh[names].sh_size;
	elf->n_sh = n;
	return 0;
}

/* Debug information alone may be in a file as the compiler writes it. */
static bool is_debug(const Elf64_Ehdr *eh)
{
	Elf64_Ehdr as = *eh;

	if (as.e_type == ET_REL)
		as.e_type = ET_DYN;
	return dp_elf_is_ours(&as);
}

static int open_common(struct dp_elf *elf, bool (*is)(const Elf64_Ehdr *eh))
{
	int err = dp_elf_read(elf, 0, &elf->eh, sizeof(elf->eh));

	if (!err && !is(&elf->eh))
		err = -ENOEXEC;
	if (!err)
		err = load_segments(elf) ?: load_sections(elf);
	if (err)
		dp_elf_close(elf);
	return err;
}

/* Its /proc/PID/fd is closed to a process that has got rights by executing its file. */
static int open_again(int at, const char *path)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	char link[40];
	int fd;

	snprintf(link, sizeof(link), "/proc/thread-self/fd/%d", at);
	fd = open(link, flags);
	return fd < 0 ? open(path, flags) : fd;
}

/* What is no file is not even opened: that has effects with some devices. */
int dp_elf_open_file(const char *path, struct stat *st)
{
	int at = open(path, O_PATH | O_CLOEXEC), fd;

	if (at < 0)
		return -errno;
	if (fstat(at, st) || !S_ISREG(st->st_mode)) {
		close(at);
		return -ENOENT;
	}
	fd = open_again(at, path);
	fd = fd < 0 ? -errno : fd;
	close(at);
	if (fd >= 0 && (fstat(fd, st) || !S_ISREG(st->st_mode))) {
		close(fd);
		return -ENOENT;
	}
	return fd;
}

static int open_fd(struct dp_elf *elf, int fd, bool (*is)(const Elf64_Ehdr *eh))
{
	struct stat st;

	memset(elf, 0, sizeof(*elf));
	elf->fd = fd;
	if (fstat(fd, &st) || st.st_size < 0) {
		dp_elf_close(elf);
		return -ENOEXEC;
	}
	elf->size = st.st_size;
	return open_common(elf, is);
}

int dp_elf_open_fd(struct dp_elf *elf, int fd)
{
	return open_fd(elf, fd, dp_elf_is_ours);
}

int dp_elf_open_debug(struct dp_elf *elf, int fd)
{
	return open_fd(elf, fd, is_debug);
}

int dp_elf_open_image(struct dp_elf *elf, void *image, size_t size)
{
	memset(elf, 0, sizeof(*elf));
	elf->fd = -1;
	elf->image = image;
	elf->size = size;
	return open_common(elf, dp_elf_is_ours);
}

void dp_elf_close(struct dp_elf *elf)
{
	if (elf->fd >= 0)
		close(elf->fd);
	free(elf->image);
	free(elf->ph);
	free(elf->sh);
	free(elf->names);
	memset(elf, 0, sizeof(*elf));
	elf->fd = -1;
}

const char *dp_elf_section_name(const struct dp_elf *elf, const Elf64_Shdr *sh)
{
	return sh->sh_name < elf->names_len ? elf->names + sh->sh_name : "";
}

const Elf64_Shdr *dp_elf_section(const struct dp_elf *elf, const char *name)
{
	size_t i;

	for (i = 1; i < elf->n_sh; i++) {
		if (!strcmp(dp_elf_section_name(elf, &elf->sh[i]), name))
			return &elf->sh[i];
	}
	return NULL;
}

static size_t scan_notes(const u8 *note, u64 len, u8 *id)
{
	Elf64_Nhdr nh;
	u64 off = 0, name, desc;

	while (len - off >= sizeof(nh)) {
		memcpy(&nh, note + off, sizeof(nh));
		name = off + sizeof(nh);
		desc = name + (((u64)nh.n_namesz + 3) & ~3ull);
		if (desc > len || nh.n_descsz > len - desc)
			return 0;
		if (nh.n_type == NT_GNU_BUILD_ID && nh.n_namesz == 4 &&
		    !memcmp(note + name, "GNU", 4) && nh.n_descsz > 0 &&
		    nh.n_descsz <= DP_BUILD_ID_MAX) {
			memcpy(id, note + desc, nh.n_descsz);
			return nh.n_descsz;
		}
		off = desc + (((u64)nh.n_descsz + 3) & ~3ull);
		if (off > len)
			return 0;
	}
	return 0;
}

static size_t note_build_id(const struct dp_elf *elf, u64 off, u64 len, u8 *id)
{
	size_t n;
	void *p;

	if (len > 65536 || dp_elf_load(elf, off, len, &p))
		return 0;
	n = scan_notes(p, len, id);
	free(p);
	return n;
}

size_t dp_elf_build_id(const struct dp_elf *elf, u8 id[DP_BUILD_ID_MAX])
{
	size_t i, n = 0;

	/* Sections first: segments of a debug file have no offsets. */
	for (i = 1; i < elf->n_sh && !n; i++)
		if (elf->sh[i].sh_type == SHT_NOTE)
			n = note_build_id(elf, elf->sh[i].sh_offset,
					  elf->sh[i].sh_size, id);
	for (i = 0; i < elf->n_ph && !n; i++)
		if (elf->ph[i].p_type == PT_NOTE)
			n = note_build_id(elf, elf->ph[i].p_offset,
					  elf->ph[i].p_filesz, id);
	return n;
}
