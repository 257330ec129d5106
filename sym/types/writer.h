/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* writer: what the child writes into a struct dp_tree. All of it runs in the child. */
#ifndef DP_TYPES_WRITER_H
#define DP_TYPES_WRITER_H

#include "sym/types/reader.h"
#include "sym/types/tree.h"

/**
 * struct writer - a tree while it is written
 * @die, @dimension: type of each number; @dimension counts those of an array
 * @pointers: that lead to it
 * @filled: how many have had their turn
 * @searches: for definitions of what is declared only
 */
struct writer {
	const struct dp_reader *r;
	struct dp_tree *t;
	u32 filled, searches;
	Dwarf_Die die[DP_TREE_TYPES];
	u32 dimension[DP_TREE_TYPES];
	u8 pointers[DP_TREE_TYPES];
};

/** dp_writer_text() - put a text. Return: DP_TREE_TEXT: there is no room */
u32 dp_writer_text(struct writer *w, const char *text);
/** dp_writer_name() - a DIE's name; NULL: it has none */
const char *dp_writer_name(const struct writer *w, Dwarf_Die *die);
/** dp_writer_type() - put the type that a variable has. Return: DP_TREE_NONE: no room */
u32 dp_writer_type(struct writer *w, Dwarf_Die *die);
/** dp_writer_enter() - put a type, which is no typedef. Return: DP_TREE_NONE: no room */
u32 dp_writer_enter(struct writer *w, const Dwarf_Die *type);
/** dp_writer_origin() - what @die is a copy of, itself if it is none */
Dwarf_Die dp_writer_origin(const struct writer *w, const Dwarf_Die *die);

/** dp_writer_is_struct() - is it the tag of a struct, a union or a class? */
bool dp_writer_is_struct(int tag);
/** dp_writer_is_part() - is a member, or a base class, in the memory of its struct, at one place? */
bool dp_writer_is_part(const struct writer *w, Dwarf_Die *die);
/** dp_writer_passed() - how a struct is passed: enum dp_prototype_passed (passed.c) */
u8 dp_writer_passed(const struct writer *w, Dwarf_Die *die);

/** dp_scope_put() - put the names that hold at the address, in @function (scope.c) */
void dp_scope_put(struct writer *w, Dwarf_Die *function);

/**
 * struct dp_locating - where a variable is
 * @function: that has the frame; @pc: in the file; @entry, @built: where it begins, and where its
 *            frame is built, 0: not known
 * @why: enum dp_place_why, of the piece at hand
 */
struct dp_locating {
	struct writer *w;
	Dwarf_Die *function;
	u64 pc, entry, built;
	bool listed;
	u8 why;
};

/** dp_location_put() - put the pieces of variable @die into @v (location.c) */
void dp_location_put(struct dp_locating *l, Dwarf_Die *die,
		     struct dp_tree_variable *v);

#endif
