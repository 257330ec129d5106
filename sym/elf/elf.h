/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * elf: bounds-checked reading of one ELF file.
 *
 * Knows nothing of processes, so that a fuzzer can feed it bytes. Context of every function:
 * tool process; may sleep and allocate.
 */
#ifndef DP_SYM_ELF_ELF_H
#define DP_SYM_ELF_ELF_H

#include "port_types.h"
#include "sym/elf/headers.h"

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

#endif
