/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * private: what the files of sym/ share among themselves.
 *
 * Data runs one way: elf (bytes of one file) -> dynamic, versions, dynsym,
 * symtab, relocs, fdes (tables of one file) -> module (one file in a process)
 * -> find, symbol, bounds, codemap (answers). The first two layers know nothing of
 * processes, so that a fuzzer can feed them bytes. What they have in common with
 * handlers is in sym/elf/headers.h and sym/unwind.
 */
#ifndef DP_SYM_PRIVATE_H
#define DP_SYM_PRIVATE_H

#include <elf.h>
#include <errno.h>
#include <unistd.h>
#include "sym/elf/headers.h"
#include "sym/sym.h"
#include "sym/unwind/eh.h"

/*
 * What is read of a file, or of a process, at most: -EFBIG if there is more. The largest programs
 * have a fifth of it.
 */
#define DP_TABLE_MAX (512ull << 20) /* bytes of one table of a file */
#define DP_NAMES_MAX (4u << 20) /* functions of one file */
#define DP_UNPACKED_MAX (64u << 20) /* bytes of .gnu_debugdata: a few KB can unpack to any amount */
#define DP_UNPACKER_MEMORY (256ull << 20)
#define DP_MAPS_TEXT_MAX (128u << 20) /* bytes of /proc/PID/maps: a million mappings, with paths */

/* *v: room for one more element. */
int dp_grow(void *v, size_t n, size_t *room, size_t size);

/* Both take over their input, also when they fail with -ENOEXEC or -ENOMEM. */
int dp_elf_open_fd(struct dp_elf *elf, int fd);
int dp_elf_open_image(struct dp_elf *elf, void *image, size_t size);
void dp_elf_close(struct dp_elf *elf);
int dp_elf_read(const struct dp_elf *elf, u64 off, void *buf, u64 len);
/* *out: malloc()ed copy with a NUL behind it. */
int dp_elf_load(const struct dp_elf *elf, u64 off, u64 len, void **out);
int dp_elf_load_section(const struct dp_elf *elf, const Elf64_Shdr *sh,
			void **out);
const Elf64_Shdr *dp_elf_section(const struct dp_elf *elf, const char *name);
const char *dp_elf_section_name(const struct dp_elf *elf, const Elf64_Shdr *sh);
#define DP_BUILD_ID_MAX 64
/* Length of the build-id, 0 if there is none. */
size_t dp_elf_build_id(const struct dp_elf *elf, u8 id[DP_BUILD_ID_MAX]);

/** struct dp_dynamic - the entries of PT_DYNAMIC that are of use here */
struct dp_dynamic {
	u64 symtab, strtab, strsz, hash, gnu_hash, soname;
	u64 rela, relasz, jmprel, pltrelsz;
	u64 relr, relrsz;
	u64 versym, verdef, verneed;
	u64 flags_1;
};

/* -ENOENT: not dynamically linked. */
int dp_dynamic_read(const struct dp_elf *elf, struct dp_dynamic *dyn);
/* *soname: malloc()ed, or NULL on error. -ENOENT: it has none. */
int dp_dynamic_soname(const struct dp_elf *elf, char **soname);
/* All DT_NEEDED, each malloc()ed, and so is the list. */
int dp_dynamic_needed(const struct dp_elf *elf, char ***names, size_t *n);

/** struct dp_versions - version index to name; the names point into a dynstr */
struct dp_versions {
	const char **v;
	size_t n;
};

int dp_versions_load(struct dp_versions *vers, const struct dp_elf *elf,
		     const struct dp_dynamic *dyn, const char *str,
		     size_t str_len);
const char *dp_versions_name(const struct dp_versions *vers, u16 index);

/** struct dp_dynsym - .dynsym of one file */
struct dp_dynsym {
	Elf64_Sym *v;
	size_t n;
	char *str;
	size_t str_len;
	u16 *ver; /* n entries, or NULL */
	struct dp_versions versions;
};

/* Of a version: it is not the default. */
#define DP_VERSION_HIDDEN 0x8000

/* Is something there that has an address? */
static inline bool dp_dynsym_defines(const Elf64_Sym *sym)
{
	return sym->st_shndx != SHN_UNDEF && sym->st_value &&
	       ELF64_ST_TYPE(sym->st_info) != STT_TLS;
}

int dp_dynsym_load(struct dp_dynsym *ds, const struct dp_elf *elf);
void dp_dynsym_free(struct dp_dynsym *ds);
const char *dp_dynsym_name(const struct dp_dynsym *ds, size_t i);
const char *dp_dynsym_version(const struct dp_dynsym *ds, size_t i,
			      bool *hidden);
int dp_dynsym_find(const struct dp_dynsym *ds, const char *name, u64 *value);
/* The same without the tables. Return: 0; -ENOENT there is none; anything else: they have
 * to be asked. */
int dp_gnuhash_find(const struct dp_elf *elf, const char *name, u64 *value);

/* The higher one wins when one name stands for several addresses. */
enum dp_rank {
	DP_RANK_LABEL, /* local, no type: may be inside a function */
	DP_RANK_STATIC,
	DP_RANK_OLD, /* exported, but not the default version */
	DP_RANK_GLOBAL,
	DP_RANK_EXPORT,
};

/** struct dp_sym - one name of one function, addresses as in the file */
struct dp_sym {
	const char *name;
	const char *version; /* or NULL */
	const char *file; /* source file, or NULL */
	u64 value, size;
	u32 hash;
	u8 type; /* STT_* */
	u8 rank; /* enum dp_rank */
	bool chosen; /* added here: the implementation of an IFUNC */
};

/**
 * struct dp_symtab - all function names of one module
 * @keep: blocks that the names live in
 * @bucket, @next: hash chains, indices plus one
 * @order: indices ascending by address, the best name of each address only
 * @full: a .symtab was found, here or in a debug file
 */
struct dp_symtab {
	struct dp_sym *v;
	size_t n, room;
	void **keep;
	size_t n_keep;
	u32 *bucket, *next;
	size_t n_bucket;
	u32 *order;
	size_t n_order;
	bool full;
};

u32 dp_name_hash(const char *name);
/* @text: the module's own file: its segments say what is executable. */
int dp_symtab_add_dynsym(struct dp_symtab *tab, const struct dp_dynsym *ds,
			 const struct dp_elf *text);
/* -ENOENT: @elf has no .symtab. */
int dp_symtab_add_symtab(struct dp_symtab *tab, const struct dp_elf *elf,
			 const struct dp_elf *text);
int dp_symtab_add(struct dp_symtab *tab, const struct dp_sym *sym);
int dp_symtab_keep(struct dp_symtab *tab, void *block);
int dp_symtab_index(struct dp_symtab *tab);
int dp_symtab_sort(struct dp_symtab *tab);
const struct dp_sym *dp_symtab_first(const struct dp_symtab *tab,
				     const char *name);
const struct dp_sym *dp_symtab_next(const struct dp_symtab *tab,
				    const struct dp_sym *sym);
const struct dp_sym *dp_symtab_at(const struct dp_symtab *tab, u64 value);
int dp_symtab_compare(const struct dp_sym *a, const struct dp_sym *b);
void dp_symtab_free(struct dp_symtab *tab);

/* Open the ELF file inside section .gnu_debugdata. -ENOENT: there is none. */
int dp_minidebug_open(const struct dp_elf *elf, struct dp_elf *mini);
/* Open the separate debug file of @elf under root directory @root. */
int dp_debugfile_open(const struct dp_elf *elf, const char *root,
		      const char *path, struct dp_elf *debug);

struct dp_fdes {
	struct dp_fde *v; /* ascending */
	size_t n, room;
};

/* -ENOENT: the file has none. */
int dp_eh_load(struct dp_eh *f, const struct dp_elf *elf);
/* One FDE and its CIE only; @fde->at becomes its place among the two. */
int dp_eh_load_one(struct dp_eh *f, const struct dp_elf *elf,
		   struct dp_fde *fde);
void dp_eh_free(struct dp_eh *f);

int dp_fdes_load(struct dp_fdes *fdes, const struct dp_elf *elf);
const struct dp_fde *dp_fdes_find(const struct dp_fdes *fdes, u64 value);
void dp_fdes_free(struct dp_fdes *fdes);

/** struct dp_reloc - one slot that the dynamic linker fills with a function */
struct dp_reloc {
	u64 slot;
	u64 resolver; /* IRELATIVE: address of the resolver; else 0 */
	const char *name; /* other kinds: the symbol, in a dynstr */
	const char *version;
	u32 hash;
};

#define DP_PLT_MAX 6

struct dp_relocs {
	struct dp_reloc *v;
	size_t n, room;
	struct dp_range plt[DP_PLT_MAX];
	size_t n_plt;
};

int dp_relocs_load(struct dp_relocs *rel, const struct dp_elf *elf,
		   const struct dp_dynsym *ds);
/* The sections of stubs alone. */
void dp_relocs_find_plts(struct dp_relocs *rel, const struct dp_elf *elf);
bool dp_relocs_in_plt(const struct dp_relocs *rel, u64 value);
void dp_relocs_free(struct dp_relocs *rel);

/* Where __rseq_cs is in the file's addresses. */
int dp_rseq_section(const struct dp_elf *elf, u64 *vaddr, u64 *n);

/** struct dp_mod - a module with what is known about it so far */
struct dp_mod {
	struct dp_module pub; /* first, so that a dp_module is a dp_mod */
	char *path, *soname;
	const struct dp_map *head; /* mapping of file offset 0, or NULL */
	const struct dp_map *text; /* an executable mapping */
	struct dp_elf shape; /* headers only: closed, but @ph stays */
	int missing; /* why the file is not to be had: errno, or 0 */
	bool have_dynsym, have_symtab, have_fdes, have_relocs, have_rseq;
	bool have_needs, stays; /* needs.c */
	u64 rseq, n_rseq; /* where __rseq_cs is in the file's addresses */
	struct dp_dynsym dynsym;
	struct dp_symtab symtab;
	struct dp_fdes fdes;
	struct dp_relocs relocs;
};

struct dp_modules {
	pid_t pid;
	int mem;
	struct dp_maps maps;
	struct dp_mod **v;
	size_t n;
	struct dp_mod **of_map; /* of each mapping: its module, or NULL */
	struct dp_mod *main;
	bool have_needs; /* which of them stay is known */
	struct dp_mod_name *names; /* sorted; NULL: not asked for yet */
	size_t n_names;
};

/* What a module goes by */
struct dp_mod_name {
	const char *name;
	const struct dp_mod *mod;
};

static inline struct dp_mod *dp_mod_of(const struct dp_module *m)
{
	return (struct dp_mod *)m;
}

int dp_mem_read(const struct dp_modules *mods, u64 addr, void *buf, size_t len);
/* A descriptor of the very file that is mapped, or a negative errno. */
int dp_file_open(const struct dp_modules *mods, const struct dp_map *map,
		 const struct dp_map *head);
int dp_file_open_elf(const struct dp_modules *mods, const struct dp_mod *mod,
		     struct dp_elf *elf);
/* Empty, and 0, for one's own process. */
int dp_file_root(const struct dp_modules *mods, char *buf, size_t len);
/* The path of a file in /proc/PID; 0 is the calling thread. */
void dp_file_proc(char *buf, size_t len, pid_t pid, const char *file);

/* How messages call the process. */
static inline int dp_mods_pid(const struct dp_modules *mods)
{
	return mods->pid ? mods->pid : getpid();
}

/* May pass, and says nothing about a file. */
static inline bool dp_is_shortage(int err)
{
	return err == -ENOMEM || err == -EMFILE || err == -ENFILE;
}

/* Fill in the parts of a module; a damaged file has empty tables. -ENOMEM,
 * -EMFILE, -ENFILE. */
int dp_mod_load_dynsym(struct dp_modules *mods, struct dp_mod *mod);
/* One symbol of it. */
int dp_mod_dynsym(struct dp_modules *mods, struct dp_mod *mod, const char *name,
		  u64 *value);
int dp_mod_load_symtab(struct dp_modules *mods, struct dp_mod *mod);
int dp_mod_load_fdes(struct dp_modules *mods, struct dp_mod *mod);
int dp_mod_load_relocs(struct dp_modules *mods, struct dp_mod *mod);
int dp_mod_sort(struct dp_modules *mods, struct dp_mod *mod);
const char *dp_mod_name(const struct dp_mod *mod);

/* Where did the implementation come to lie? */
enum dp_ifunc_place {
	DP_IFUNC_NOWHERE, /* not chosen yet */
	DP_IFUNC_HERE, /* in the module that defines it */
	DP_IFUNC_ELSEWHERE, /* chosen, but outside (the vDSO) */
	DP_IFUNC_SEVERAL, /* the slots disagree */
};

int dp_ifunc_resolve(struct dp_modules *mods, struct dp_mod *mod,
		     const struct dp_sym *sym, u64 *addr,
		     enum dp_ifunc_place *place);

#define DP_NEAR_MAX 3

/** struct dp_near - the names most like one that was not found */
struct dp_near {
	const char *want;
	const char *name[DP_NEAR_MAX];
	unsigned int cost[DP_NEAR_MAX];
	size_t n;
};

void dp_near_offer(struct dp_near *near, const char *name);
void dp_near_say(const struct dp_near *near, struct dp_diag *diag);

#endif
