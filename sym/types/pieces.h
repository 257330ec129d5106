/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* pieces: places of variables, as a child has written them, checked and made the tool's own. */
#ifndef DP_TYPES_PIECES_H
#define DP_TYPES_PIECES_H

#include <stddef.h>
#include "sym/types/frame.h"
#include "sym/types/tree.h"

/** struct dp_pieces_of - what they are of; @frame: or NULL; @type, @text: of the tree, as built */
struct dp_pieces_of {
	const struct dp_tree *tree;
	const struct dp_frame *frame;
	const struct dp_prototype_type *type;
	const char *text;
};

/** dp_pieces_are_sane() - are the counts within their limits? */
bool dp_pieces_are_sane(const struct dp_tree_scope *s);
/** dp_pieces_room() - bytes that dp_pieces_build() fills; the counts are sane */
size_t dp_pieces_room(const struct dp_tree *t);
/**
 * dp_pieces_build() - make a scope
 * @room: dp_pieces_room() bytes of zeros, for a u64
 * @scope: NULL if none was asked for
 * Return: 0; -EBADMSG a number is out of its range.
 */
int dp_pieces_build(const struct dp_pieces_of *of, void *room,
		    const struct dp_scope **scope);

#endif
