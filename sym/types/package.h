/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * package: a .dwp file, which holds the .dwo files of a program.
 *
 * Not every libdw can read one. So the units that are asked for are cut out: each becomes a file
 * in memory as it was before it was packed. Context: the tool's process; the file is hostile.
 */
#ifndef DP_TYPES_PACKAGE_H
#define DP_TYPES_PACKAGE_H

#include <stdbool.h>
#include "port_types.h"
#include "sym/elf/elf.h"

/* Bytes that are cut out of packages for one reading */
#define DP_PACKAGE_MOST (1ull << 30)

/** struct dp_package - @elf: the file; @index: its section .debug_cu_index, of @len bytes */
struct dp_package {
	struct dp_elf elf;
	u8 *index;
	u64 len;
};

/**
 * dp_package_open() - open a package
 * @fd: is the package's from then on, on error, too
 * Return: -ENOENT it is none; -ENOEXEC; -ENOMEM; -EFBIG
 */
int dp_package_open(struct dp_package *p, int fd);
void dp_package_close(struct dp_package *p);
/**
 * dp_package_cut() - a unit as a file of its own
 * @id: of the unit
 * @left: bytes that may still be cut out; less by those that are
 * Return: a descriptor for close(2); -ENOENT the package does not have it; -ENOEXEC it is
 * damaged, or compressed; -EFBIG it is larger than @left; errors of memfd_create(2).
 */
int dp_package_cut(const struct dp_package *p, u64 id, u64 *left);

/** dp_package_is_loose() - has a .dwo file several sections of units? Those of types are such, with
 *  -fdebug-types-section, and libdw takes one section of a name only. */
bool dp_package_is_loose(const struct dp_elf *dwo);
/** dp_package_join() - such a file with its sections joined. @left, Return: as dp_package_cut() */
int dp_package_join(const struct dp_elf *dwo, u64 *left);

#endif
