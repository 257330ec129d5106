/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * exits: by which instructions a function is left.
 *
 * A return probe that does not touch the return address is a probe on each of
 * them. A function is what its entry leads to: the fragment of code around it, its
 * cold parts, and whatever else it jumps into the middle of or falls into (the
 * shared ends of assembly). It is left by its rets and its tail jumps, where the
 * stack pointer stands at the return address again. Either all of them are known,
 * or the function is refused.
 *
 * Addresses are those of the target process. Context of every function: tool
 * process; may sleep and allocate; not thread-safe on one object.
 */
#ifndef DP_EXITS_H
#define DP_EXITS_H

#include "sym/codemap.h"

enum dp_exit_kind {
	DP_EXIT_RET, /* c3, c2 iw, with any prefix */
	DP_EXIT_TAIL, /* a jump to another function, or to its own entry */
};

/**
 * struct dp_exit - an instruction by which a function is left
 * @addr: where it stands, maybe far from the entry (a cold part)
 * @kind: enum dp_exit_kind. Before a tail jump the return value is not known
 *        yet: the function jumped to returns in this one's place. A jump back
 *        to the function's own entry counts as one, because the probe on the
 *        entry is hit again.
 * @conditional: jcc, jrcxz or loop: the function is left only if it is taken
 * @cc: then, its condition 0..15; DP_EXIT_COUNTS: jrcxz or loop, which count
 * @shared: calls of other functions come here too, or calls that came in by
 *          another entry: a hit that belongs to no call that was seen to
 *          enter is nothing to report. Where it is false every pass belongs to a
 *          call that passed the entry.
 * @to: of a direct tail jump: where it goes, maybe to a stub of the linker's; else 0
 */
struct dp_exit {
	u64 addr;
	u64 to;
	u8 len;
	u8 kind;
	u8 cc;
	bool conditional;
	bool shared;
};

#define DP_EXIT_COUNTS 16

/** struct dp_exit_list - ascending by address, each once */
struct dp_exit_list {
	struct dp_exit *v;
	size_t n;
};

struct dp_exits;

/**
 * dp_exits_open() - prepare to ask about the functions of a module
 * @mods, @m: as for dp_code_map_open(); not needed any more afterwards
 * @map: the module's map, which has to live as long as the new object
 * @exits: the new object, to be closed with dp_exits_close(). It holds a copy of
 *         the module's code, but no descriptor: not to be kept for long.
 * Return: 0; -ENOENT the file is not to be had; -EOPNOTSUPP it has no code;
 * -ENOMEM. Words are in @diag.
 */
int dp_exits_open(struct dp_modules *mods, const struct dp_module *m,
		  const struct dp_code_map *map, struct dp_exits **exits,
		  struct dp_diag *diag);
void dp_exits_close(struct dp_exits *exits);

/**
 * struct dp_exit_reader - what has been read of a module, kept for the next question
 * about it; begins as zeros
 */
struct dp_exit_reader {
	const struct dp_module *module;
	struct dp_code_map *map;
	struct dp_exits *exits; /* NULL: it rests, or there is nothing */
	bool rests;
};

/**
 * dp_exit_reader_open() - have a module read
 * Return: 0; otherwise as dp_code_map_open() and dp_exits_open(), the second time
 * -EOPNOTSUPP without words.
 */
int dp_exit_reader_open(struct dp_exit_reader *reader, struct dp_modules *mods,
			const struct dp_module *m, struct dp_diag *diag);
/**
 * dp_exit_reader_rest() - give back the module's code until the next question
 *
 * The map, which takes seconds to draw of 50 MB of code, and a quarter of their
 * memory, stays. A module of which nothing is known is forgotten.
 */
void dp_exit_reader_rest(struct dp_exit_reader *reader);
void dp_exit_reader_close(struct dp_exit_reader *reader);

/**
 * dp_exits_find() - all instructions by which the function at @entry is left
 * @entry: where it is entered
 * @list: filled in; free with dp_exits_free(). Empty, and no error, for a function
 *        that never returns.
 * @why: on failure a static phrase that continues "the exits of f are not known: "
 * Return: 0; -ENOENT no function is there; -EOPNOTSUPP they cannot be known;
 * -ENOMEM.
 */
int dp_exits_find(struct dp_exits *exits, u64 entry, struct dp_exit_list *list,
		  const char **why);
void dp_exits_free(struct dp_exit_list *list);

/**
 * dp_reads_return_address() - does a function look at where it was called from?
 * @entry: where it is entered
 * @at: the first instruction that does, or NULL
 *
 * Found are loads from the slot of the return address, its address being taken,
 * and pops of it, wherever the frame description or the code itself tells
 * where that slot is. Writing to it counts too. What is not found: an address
 * computed from another one (that of an argument on the stack, say).
 * Return: 1 it does; 0 it does not; -ENOENT no function is there; -EOPNOTSUPP
 * it cannot be decoded; -ENOMEM.
 */
int dp_reads_return_address(struct dp_exits *exits, u64 entry, u64 *at);

/**
 * dp_entry_reads_return_address() - the same without a map of the module
 * @entry: where a function is entered
 *
 * Quick, for single functions: looks at the code that one frame description
 * is about, and at no cold part.
 * Return: 1, 0, -ENOMEM as above; DP_ENTRY_IS_NONE the stack is not there as behind
 * a call: a part of a function, which is jumped to; -ENOENT no description begins
 * there, or the file is not to be had; -EOPNOTSUPP the description or the code is not understood.
 */
#define DP_ENTRY_IS_NONE 2
int dp_entry_reads_return_address(struct dp_modules *mods, u64 entry);

#endif
