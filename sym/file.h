/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * file: names of one ELF file, of no process, and the code that they stand for.
 *
 * Its contents are hostile input. Context of every function: tool process; may sleep and allocate.
 */
#ifndef DP_SYM_FILE_H
#define DP_SYM_FILE_H

#include <stddef.h>
#include "port_types.h"

struct dp_symfile;
struct stat;

#define DP_SYMFILE_ID 64

/**
 * dp_symfile_open() - open a file with names
 * @path: of the names; @code: of the program itself, if that is another file, or NULL
 * Return: 0; -ENOENT and the like: a file cannot be opened; -ENOEXEC one is no ELF file for x86-64;
 * -ENODATA there is no code in it, as in a debug file; -ESTALE the two are of different builds, or another file has got the
 * name meanwhile; -ENOMEM.
 */
int dp_symfile_open(const char *path, const char *code,
		    struct dp_symfile **file);
void dp_symfile_close(struct dp_symfile *file);
/** dp_symfile_stat() - fstat(2) of the file with the code, before anything of it was read */
void dp_symfile_stat(const struct dp_symfile *file, struct stat *st);

/** dp_symfile_function() - address in the file of a function, or of a label in code
 *  Return: 0; -ENOENT; -EINVAL several have that name; -EOPNOTSUPP it is an IFUNC. */
int dp_symfile_function(const struct dp_symfile *file, const char *name,
			u64 *addr);
/** dp_symfile_any() - of anything that has a name. Return: 0; -ENOENT; -EINVAL. */
int dp_symfile_any(const struct dp_symfile *file, const char *name, u64 *addr);
/** dp_symfile_offset() - where the code at an address is in the file. Return: 0; -ENOENT. */
int dp_symfile_offset(const struct dp_symfile *file, u64 addr, u64 *offset);
/** dp_symfile_address() - of code at an offset in the file. Return: 0; -ENOENT. */
int dp_symfile_address(const struct dp_symfile *file, u64 offset, u64 *addr);
/** dp_symfile_code() - code from an offset on. Return: bytes, @size at most. */
size_t dp_symfile_code(const struct dp_symfile *file, u64 offset, u8 *code,
		       size_t size);
/** dp_symfile_begins() - does an instruction begin at @addr, as decoded from @start on? Before @start nothing is known:
 *  then it is true, as for what is far behind. */
bool dp_symfile_begins(const struct dp_symfile *file, u64 start, u64 addr);
/** dp_symfile_id() - the build-id. Return: bytes; 0: there is none. */
size_t dp_symfile_id(const struct dp_symfile *file, u8 id[DP_SYMFILE_ID]);

struct dp_module;
struct dp_modules;
/** dp_module_id() - the build-id of a process's module. Return: bytes; 0: it has none, or is not
 *  readable. */
size_t dp_module_id(const struct dp_modules *mods, const struct dp_module *m,
		    u8 id[DP_SYMFILE_ID]);

#endif
