// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* symfile: names of one ELF file, of no process. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "engine/insn/insn.h"
#include "sym/elf/elf.h"
#include "sym/elf/symtab.h"
#include "sym/file.h"
#include "sym/names/mod.h"
#include "sym/names/scan.h"

_Static_assert(DP_SYMFILE_ID == DP_BUILD_ID_MAX, "a build-id is one");

/* A function is no longer than that */
#define FUNCTION_MOST (1u << 20)

/** struct dp_symfile - @names: with symbols; @code: with code, maybe the same file again
 *  @exports: what @functions has names of; @st: of @code, when it was opened */
struct dp_symfile {
	struct dp_elf names, code;
	struct dp_dynsym exports;
	struct dp_symtab functions;
	struct stat st;
};

static int open_elf(const char *path, struct dp_elf *elf, bool debug,
		    struct stat *st)
{
	int fd = dp_elf_open_file(path, st);

	if (fd < 0)
		return fd;
	fd = debug ? dp_elf_open_debug(elf, fd) : dp_elf_open_fd(elf, fd);
	/* What has failed is closed already. */
	if (fd)
		*elf = (struct dp_elf){ .fd = -1 };
	return fd;
}

/* What `objcopy --only-keep-debug` leaves has no code, and offsets that mean nothing. */
static bool has_code(const struct dp_elf *elf)
{
	const Elf64_Shdr *text = dp_elf_section(elf, ".text");

	return !text || text->sh_type == SHT_PROGBITS;
}

static int same_build(const struct dp_symfile *f)
{
	u8 id[DP_BUILD_ID_MAX];
	size_t n = dp_elf_build_id(&f->names, id);

	return !n || dp_debugfile_is(&f->code, id, n) ? 0 : -ESTALE;
}

static int read_functions(struct dp_symfile *f)
{
	int err = dp_symtab_add_symtab(&f->functions, &f->names, &f->code);

	/* A file without .symtab has what it exports. */
	if (!err || err == -ENOENT)
		err = dp_dynsym_load(&f->exports, &f->names) ?
			      0 :
			      dp_symtab_add_dynsym(&f->functions, &f->exports,
						   &f->code);
	return err ?: dp_symtab_index(&f->functions);
}

static int open_both(struct dp_symfile *f, const char *path, const char *code)
{
	struct stat names;
	int err = open_elf(path, &f->names, true, &names);

	if (err)
		return err;
	err = open_elf(code ? code : path, &f->code, false, &f->st);
	if (err)
		return err;
	/* Another file may have got the name. */
	if (!code &&
	    (names.st_ino != f->st.st_ino || names.st_dev != f->st.st_dev))
		return -ESTALE;
	if (!has_code(&f->code))
		return -ENODATA;
	err = same_build(f);
	return err ?: read_functions(f);
}

int dp_symfile_open(const char *path, const char *code,
		    struct dp_symfile **file)
{
	struct dp_symfile *f = calloc(1, sizeof(*f));
	int err;

	*file = NULL;
	if (!f)
		return -ENOMEM;
	f->names.fd = f->code.fd = -1;
	err = open_both(f, path, code);
	if (err)
		dp_symfile_close(f);
	else
		*file = f;
	return err;
}

void dp_symfile_close(struct dp_symfile *f)
{
	if (!f)
		return;
	dp_symtab_free(&f->functions);
	dp_dynsym_free(&f->exports);
	dp_elf_close(&f->names);
	dp_elf_close(&f->code);
	free(f);
}

void dp_symfile_stat(const struct dp_symfile *f, struct stat *st)
{
	*st = f->st;
}

int dp_symfile_function(const struct dp_symfile *f, const char *name, u64 *addr)
{
	const struct dp_sym *s, *best = NULL;
	bool several = false;

	for (s = dp_symtab_first(&f->functions, name); s;
	     s = dp_symtab_next(&f->functions, s)) {
		if (!best || s->rank > best->rank) {
			best = s;
			several = false;
		} else if (s->rank == best->rank && s->value != best->value) {
			several = true;
		}
	}
	if (!best)
		return -ENOENT;
	*addr = best->value;
	return several			   ? -EINVAL :
	       best->type == STT_GNU_IFUNC ? -EOPNOTSUPP :
					     0;
}

static void scan_table(struct dp_scan *s, const struct dp_elf *elf, u32 type)
{
	const Elf64_Shdr *strings, *sh = dp_elf_symbols(elf, type, &strings);
	void *str = NULL, *v = NULL;
	const Elf64_Sym *sym;
	u64 i;

	if (sh && !dp_elf_load_section(elf, strings, &str) &&
	    !dp_elf_load_section(elf, sh, &v))
		for (i = 0; i < sh->sh_size / sizeof(*sym); i++) {
			sym = (const Elf64_Sym *)v + i;
			if (sym->st_name < strings->sh_size)
				dp_scan_look_at(s, sym,
						(char *)str + sym->st_name);
		}
	free(v);
	free(str);
}

int dp_symfile_any(const struct dp_symfile *f, const char *name, u64 *addr)
{
	struct dp_scan s = { .name = name };

	scan_table(&s, &f->names, SHT_SYMTAB);
	if (!s.n)
		scan_table(&s, &f->names, SHT_DYNSYM);
	*addr = s.value;
	return !s.n ? -ENOENT : s.n > 1 ? -EINVAL : 0;
}

int dp_symfile_offset(const struct dp_symfile *f, u64 addr, u64 *offset)
{
	uint64_t avail, off;

	if (dp_elf_offset(&f->code, addr, &off, &avail))
		return -ENOENT;
	*offset = off;
	return 0;
}

int dp_symfile_address(const struct dp_symfile *f, u64 offset, u64 *addr)
{
	uint64_t bias;

	/* As if a process had the code at its offset */
	if (!dp_elf_bias(&f->code, offset, offset, true, &bias))
		return -ENOENT;
	*addr = offset - bias;
	return 0;
}

size_t dp_symfile_code(const struct dp_symfile *f, u64 offset, u8 *code,
		       size_t size)
{
	if (offset >= f->code.size)
		return 0;
	if (size > f->code.size - offset)
		size = f->code.size - offset;
	return dp_elf_read(&f->code, offset, code, size) ? 0 : size;
}

/* What cannot be decoded is looked at by whoever probes it. */
bool dp_symfile_begins(const struct dp_symfile *f, u64 start, u64 addr)
{
	u8 code[DP_INSN_MAX];
	struct insn_facts facts;
	u64 offset;
	size_t n;

	if (addr < start || addr - start > FUNCTION_MOST)
		return true;
	for (; start < addr; start += facts.len) {
		n = dp_symfile_offset(f, start, &offset) ?
			    0 :
			    dp_symfile_code(f, offset, code, sizeof(code));
		if (!n || dp_insn_facts(code, n, &facts))
			return true;
	}
	return start == addr;
}

size_t dp_symfile_id(const struct dp_symfile *f, u8 id[DP_SYMFILE_ID])
{
	return dp_elf_build_id(&f->code, id);
}

size_t dp_module_id(const struct dp_modules *mods, const struct dp_module *m,
		    u8 id[DP_SYMFILE_ID])
{
	struct dp_elf elf;
	size_t n;

	if (dp_file_open_elf(mods, dp_mod_of(m), &elf))
		return 0;
	n = dp_elf_build_id(&elf, id);
	dp_elf_close(&elf);
	return n;
}
