/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * image: the ELF files that are mapped in this process, readable in handlers.
 *
 * Mappings are read from /proc/self/maps each time. A file is mapped once, for ever, and
 * found again by device and inode.
 */
#ifndef DP_LIB_COMPAT_IMAGE_H
#define DP_LIB_COMPAT_IMAGE_H

#include <linux/types.h>
#include "sym/elf/headers.h"

/**
 * struct dp_mapping - a line of /proc/self/maps
 * @path: cut at its size; empty if there is none
 */
struct dp_mapping {
	unsigned long start, end, offset;
	unsigned long dev, ino;
	bool exec;
	char path[256];
};

/** dp_mapping_at() - find the mapping of an address. Context: any. Return: false: none. */
bool dp_mapping_at(unsigned long addr, struct dp_mapping *m);

/**
 * struct dp_image - a mapped file
 * @elf: its parsed headers
 */
struct dp_image {
	int state;
	unsigned long dev, ino;
	struct dp_elf elf;
};

/** dp_image_get() - the file behind a mapping, and its load bias: what to add to the file's
 *  addresses. Context: any. Return: NULL if the file cannot be read, or its path leads to
 *  another file now, or @m maps no segment. */
const struct dp_image *dp_image_get(const struct dp_mapping *m,
				    unsigned long *bias);

/**
 * struct dp_symbol - the symbol in which an address lies
 * @object: basename of the file; empty: the main program
 * @name: empty if no symbol covers it
 */
struct dp_symbol {
	unsigned long offset, size;
	char object[64];
	char name[128];
};

/** dp_image_symbol() - Return: false if no file is mapped at @addr. */
bool dp_image_symbol(unsigned long addr, struct dp_symbol *symbol);

#endif
