/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * split: units of debug information that are in files of their own (.dwo, .dwp).
 *
 * The child may open no file. It asks the tool for the one of a unit, by a socket, and gets a
 * descriptor. The tool believes the child no more than it believes the file: what it opens is a
 * regular file with units in it that were split off, and nothing else.
 */
#ifndef DP_TYPES_SPLIT_H
#define DP_TYPES_SPLIT_H

#include "port_types.h"
#include "sym/elf/elf.h"
#include "sym/types/package.h"
#include "sym/types/reader.h"

/** enum dp_split_what - FIND: a file is asked for; UNFIT: the one that came is of another build */
enum dp_split_what { DP_SPLIT_FIND, DP_SPLIT_UNFIT };

/** struct dp_split_ask - @what; @id: of the unit; @name, @dir: of its file, by the unit */
struct dp_split_ask {
	u64 id;
	u32 what;
	char name[DP_ALTLINK_MAX], dir[DP_ALTLINK_MAX];
};

/**
 * struct dp_split - what the tool serves a child with
 * @debug: file with the debug information; @program: that of the module
 * @root: before paths
 * @package: if @has_package, which is known once @looked
 * @left: bytes that may still be cut out of packages
 * @missing: whether there was a question without an answer
 */
struct dp_split {
	const struct dp_elf *debug, *program;
	const char *root;
	struct dp_package package;
	bool looked, has_package;
	u64 left;
	bool missing;
};

/** dp_split_serve() - answer the child at the other end of @line until it ends */
void dp_split_serve(struct dp_split *s, int line);

/** dp_split_join() - in the child: go from a unit that stands for a split one to that.
 *  @line: to the tool, or -1. Return: false: its file is not there */
bool dp_split_join(const struct dp_reader *r, Dwarf_Die *unit, int line);

#endif
