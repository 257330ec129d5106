/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * image: the ELF files that are mapped in this process, read where handlers run.
 *
 * Mappings come from /proc/self/maps each time; the files are mapped once, for
 * ever, and found again by device and inode.
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

/** dp_mappings() - call @each until it returns true. Context: any.
 *  Return: whether one did. */
bool dp_mappings(bool (*each)(const struct dp_mapping *m, void *arg),
		 void *arg);

/**
 * struct dp_image - a mapped file
 * @elf: what its bytes say
 */
struct dp_image {
	int state;
	unsigned long dev, ino;
	struct dp_elf elf;
};

/** dp_image_get() - the file behind a mapping. Context: any. Return: NULL if it
 *  cannot be read, or is another one by now. */
const struct dp_image *dp_image_get(const struct dp_mapping *m);
/** dp_image_bias() - what to add to the file's addresses. Return: false if no
 *  segment has what is mapped at @m. */
bool dp_image_bias(const struct dp_image *image, const struct dp_mapping *m,
		   unsigned long *bias);

/**
 * struct dp_symbol - what an address lies in
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
/** dp_image_lookup() - Return: the address of a function, or 0. @module: NULL, or
 *  the beginning of a file's name, @module_len bytes */
unsigned long dp_image_lookup(const char *module, size_t module_len,
			      const char *name);

#endif
