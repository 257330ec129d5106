/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * elf: bounds-checked reading of one ELF file.
 *
 * Knows nothing of processes, so that a fuzzer can feed it bytes. Context of every
 * function: tool process; may sleep and allocate.
 */
#ifndef DP_SYM_ELF_ELF_H
#define DP_SYM_ELF_ELF_H

#include "port_types.h"
#include "sym/elf/headers.h"

struct stat;

/* Return: a descriptor of a regular file, or a negative errno. A FIFO or a device that a target
 * put there is not opened. */
int dp_elf_open_file(const char *path, struct stat *st);
/* They own their input from then on, also when they fail with -ENOEXEC or -ENOMEM. */
int dp_elf_open_fd(struct dp_elf *elf, int fd);
/* The same of a file that may be without a program: a .dwo, a .dwp, what dwz has put together */
int dp_elf_open_debug(struct dp_elf *elf, int fd);
int dp_elf_open_image(struct dp_elf *elf, void *image, size_t size);
void dp_elf_close(struct dp_elf *elf);
int dp_elf_read(const struct dp_elf *elf, u64 off, void *buf, u64 len);
/* *out: malloc()ed copy with a NUL behind it. */
int dp_elf_load(const struct dp_elf *elf, u64 off, u64 len, void **out);
/* The same by address. *len: at most so many bytes; on return, how many there are. -ENOENT */
int dp_elf_load_at(const struct dp_elf *elf, u64 vaddr, u64 *len, void **out);
int dp_elf_load_section(const struct dp_elf *elf, const Elf64_Shdr *sh,
			void **out);
const Elf64_Shdr *dp_elf_section(const struct dp_elf *elf, const char *name);
const char *dp_elf_section_name(const struct dp_elf *elf, const Elf64_Shdr *sh);

#define DP_BUILD_ID_MAX 64

#define DP_ALTLINK_MAX 4096 /* bytes of a path */

/* Length of the build-id, 0 if there is none. */
size_t dp_elf_build_id(const struct dp_elf *elf, u8 id[DP_BUILD_ID_MAX]);

/* Limits on what is read of a file or of a process: -EFBIG beyond them. The largest
 * programs need a fifth. */
#define DP_TABLE_MAX (512ull << 20) /* bytes of one table of a file */
#define DP_NAMES_MAX (4u << 20) /* functions of one file */
/* bytes of .gnu_debugdata: a few KB can unpack to any amount */
#define DP_UNPACKED_MAX (64u << 20)
#define DP_UNPACKER_MEMORY (256ull << 20)
/* bytes of /proc/PID/maps: a million mappings, with paths */
#define DP_MAPS_TEXT_MAX (128u << 20)

/** struct dp_dynamic - the entries of PT_DYNAMIC that the readers here use */
struct dp_dynamic {
	u64 symtab, strtab, strsz, hash, soname;
	u64 rela, relasz, jmprel, pltrelsz;
	u64 relr, relrsz;
	u64 versym, verdef, verneed;
	u64 flags_1;
};

/* -ENOENT: the file is not dynamically linked. */
int dp_dynamic_read(const struct dp_elf *elf, struct dp_dynamic *dyn);
/* *soname: malloc()ed, or NULL on error. -ENOENT: the file has no soname. */
int dp_dynamic_soname(const struct dp_elf *elf, char **soname);
/* All DT_NEEDED names; each name and the list itself are malloc()ed. */
int dp_dynamic_needed(const struct dp_elf *elf, char ***names, size_t *n);

/* Open the separate file, under root directory @root, that holds a stripped module's symbols. */
int dp_debugfile_open(const struct dp_elf *elf, const char *root,
		      const char *path, struct dp_elf *debug);

/**
 * struct dp_altlink - what section .gnu_debugaltlink says: debug information that several files
 *                     have in common (dwz) is in another one
 * @name: path of that file, or one from the directory of the file with the section
 * @id, @len: its build-id
 */
struct dp_altlink {
	char name[DP_ALTLINK_MAX];
	u8 id[DP_BUILD_ID_MAX];
	size_t len;
};

/* -ENOENT: there is no such section. */
int dp_altlink_read(const struct dp_elf *elf, struct dp_altlink *link);
/* Open the file that @link of @elf means. -ESTALE: there is only one of another build. */
int dp_altlink_open(const struct dp_altlink *link, const struct dp_elf *elf,
		    const char *root, struct dp_elf *alt);

/* Have @path begin with the directory that the file of @elf is in, as root directory @root has
 * it. Return: where the file's own name is in @path; NULL: that is not known. */
char *dp_debugfile_beside(const struct dp_elf *elf, const char *root,
			  char path[DP_ALTLINK_MAX]);
/* Is @elf of this build? */
bool dp_debugfile_is(const struct dp_elf *elf, const u8 *id, size_t len);

/* Open the ELF file inside section .gnu_debugdata. -ENOENT: there is no such section. */
int dp_minidebug_open(const struct dp_elf *elf, struct dp_elf *mini);

#endif
