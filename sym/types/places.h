/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * places: places in code as the child writes them, with numbers instead of pointers.
 *
 * The child fills a struct dp_found from debug information (lines.c, inlined.c); the tool
 * checks each number and makes a struct dp_line_places of it.
 */
#ifndef DP_TYPES_PLACES_H
#define DP_TYPES_PLACES_H

#include "sym/lines.h"
#include "sym/types/reader.h"

#define DP_FOUND_TEXT (1u << 20)

/** struct dp_found_place - as struct dp_line_place; texts are offsets, 0: none */
struct dp_found_place {
	u64 addr; /* in the file */
	u32 function, caller, file;
	u32 line, source;
	u8 inlined, nowhere;
};

/** struct dp_found_file - as struct dp_line_file */
struct dp_found_file {
	u32 path, next, last;
	u8 exact;
};

/**
 * struct dp_found - what a child has found
 * @text: bytes of @bytes; "" at 0 is for what is not known
 * @full: not 0 if there was more than there is room for
 * @split: not 0 if some of it is in files that are not read
 * The rest is the child's own.
 * @recent: texts that were written last, in turn, for the same few come again and again
 */
struct dp_found {
	u32 places, files, text;
	u8 full, split;
	u32 recent[16], turn;
	u64 origin; /* of the function that was named last, and that name */
	u32 name;
	struct dp_found_place place[DP_LINE_PLACES];
	struct dp_found_file file[DP_LINE_FILES];
	char bytes[DP_FOUND_TEXT];
};

/** dp_found_text() - write a text, in the child. Return: where; 0 also if there is no room. */
u32 dp_found_text(struct dp_found *found, const char *text);
/** dp_found_add() - write a place, in the child */
void dp_found_add(struct dp_found *found, const struct dp_found_place *place);

/**
 * struct dp_scope - a function, or an inlined copy, that a walk has come to
 * @die: of it; @tag: of that
 * @out: the scope around it, or NULL
 * @entry: its entry, in the file; 0 if it has no code
 * @seen: for the visitor
 */
struct dp_scope {
	Dwarf_Die *die;
	int tag;
	const struct dp_scope *out;
	u64 entry;
	u32 seen;
};

/** dp_scopes_walk() - show all functions and copies of a unit to @visit, the outer ones first;
 *  in the child. What was cut off from a copy, and inlined in it, is that copy. */
void dp_scopes_walk(struct dp_reader *r, Dwarf_Die *unit,
		    void (*visit)(struct dp_reader *r, struct dp_scope *scope));
/** dp_scope_name() - linkage name of a function, or of one of C its name, or NULL; in the child */
const char *dp_scope_name(const struct dp_reader *r, Dwarf_Die *die);

#define DP_SOURCE_PATH 4096
/** dp_source_path() - resolve "." and ".." in a path, as far as that can be done without looking
 *  @to: room for DP_SOURCE_PATH bytes. Return: false: nothing remains, or it is too long */
bool dp_source_path(const char *path, char *to);
/** dp_unit_path() - the whole path of a file that a unit calls @name; in the child. Otherwise as
 *  dp_source_path() */
bool dp_unit_path(const struct dp_reader *r, Dwarf_Die *unit, const char *name,
		  char *to);
/** dp_scope_call() - where a copy was called; in the child
 *  @path: of the file, DP_SOURCE_PATH bytes; "" if unknown. Return: line; 0: unknown */
u32 dp_scope_call(const struct dp_reader *r, Dwarf_Die *die, char *path);
/** dp_scope_declared() - the same of where a function was declared, or defined if it was not */
u32 dp_scope_declared(const struct dp_reader *r, Dwarf_Die *die, char *path);
/** dp_scope_fill() - write all that is told of a scope but @addr and @source; in the child */
void dp_scope_fill(struct dp_reader *r, const struct dp_scope *scope,
		   struct dp_found_place *place);

/** dp_unit_is_split() - are a unit's functions in a file of their own (.dwo)? In the child */
bool dp_unit_is_split(const struct dp_reader *r, Dwarf_Die *unit);

/**
 * dp_places_read() - have a child find places, and check them
 * @r: with @work, and @own for it
 * Context: the tool's process.
 */
int dp_places_read(struct dp_reader *r, struct dp_modules *mods,
		   const struct dp_module *m, struct dp_line_places *places);

#endif
