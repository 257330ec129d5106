// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* files: those that together have the debug information of a module. */
#include <elf.h>
#include <errno.h>
#include <string.h>
#include "sym/types/download.h"
#include "sym/types/files.h"
#include "sym/types/note.h"

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

static bool has_info(const struct dp_elf *elf)
{
	return dp_elf_section(elf, ".debug_info") ||
	       dp_elf_section(elf, ".zdebug_info");
}

static int download_separate(struct dp_files *f, const struct dp_module *m)
{
	u8 id[DP_BUILD_ID_MAX];
	size_t len = dp_elf_build_id(&f->program, id);

	return len < 2 ? -ENOENT : dp_download(id, len, m->base, &f->separate);
}

/* The file's own, that of a file nearby, or that of a server. */
static int find_debug(struct dp_files *f, const struct dp_module *m)
{
	int err;

	if (has_info(&f->program))
		return 0;
	err = dp_debugfile_open(&f->program, f->root, m->path, &f->separate);
	if (!err && !has_info(&f->separate)) {
		dp_elf_close(&f->separate);
		err = -ENOENT;
	}
	if (err && !dp_is_shortage(err))
		err = download_separate(f, m);
	if (err)
		return dp_is_shortage(err) ? err : -ENOENT;
	f->debug = &f->separate;
	return 0;
}

static int find_alt(struct dp_files *f, const struct dp_module *m)
{
	struct dp_altlink link;
	int err = dp_altlink_read(f->debug, &link);

	if (err == -ENOENT)
		return 0;
	if (!err) {
		err = dp_altlink_open(&link, f->debug, f->root, &f->alt);
		if (err == -ESTALE)
			dp_note("debug information that %s has in common with other files is not used, as it is of another build: %s",
				m->base, link.name);
		if (err && !dp_is_shortage(err))
			err = dp_download(link.id, link.len, m->base, &f->alt);
		if (err)
			dp_note("debug information that %s has in common with other files (dwz) is not there: %s",
				m->base, link.name);
	}
	f->has_alt = !err;
	if (!err)
		return 0;
	return dp_is_shortage(err) ? err : -ENOLINK;
}

/* Return: bytes that the debug sections of a file take, unpacked */
static u64 size_of(struct dp_files *f, const struct dp_elf *elf)
{
	u64 size = elf->size, more;
	Elf64_Chdr head;
	size_t i;

	for (i = 1; i < elf->n_sh; i++) {
		if (!(elf->sh[i].sh_flags & SHF_COMPRESSED) ||
		    strncmp(dp_elf_section_name(elf, &elf->sh[i]), ".debug_",
			    7) ||
		    dp_elf_read(elf, elf->sh[i].sh_offset, &head, sizeof(head)))
			continue;
		f->zstd |= head.ch_type == ELFCOMPRESS_ZSTD;
		more = head.ch_size;
		size = more > DP_FILES_MEMORY ? more : size + more;
	}
	return size;
}

static int measure(struct dp_files *f)
{
	u64 size = size_of(f, f->debug);

	if (f->has_alt)
		size += size_of(f, &f->alt);
	return size > DP_FILES_MEMORY ? -EFBIG : 0;
}

int dp_files_open(struct dp_files *f, struct dp_modules *mods,
		  const struct dp_module *m)
{
	int err = dp_file_open_elf(mods, dp_mod_of(m), &f->program);

	if (err)
		return dp_is_shortage(err) ? err : -ENOENT;
	f->debug = &f->program;
	f->has_alt = f->zstd = false;
	dp_file_root(mods, f->root, sizeof(f->root));
	err = find_debug(f, m) ?: find_alt(f, m) ?: measure(f);
	if (err)
		dp_files_close(f);
	return err;
}

void dp_files_close(struct dp_files *f)
{
	if (f->debug == &f->separate)
		dp_elf_close(&f->separate);
	dp_elf_close(&f->program);
	if (f->has_alt)
		dp_elf_close(&f->alt);
}
