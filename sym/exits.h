/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * exits: the instructions by which a function is left.
 *
 * A return probe that leaves the return address alone is a probe on each of them. A
 * function is what its entry leads to: the fragment around it, its cold parts, and
 * the shared ends of assembly that it jumps or falls into. A function is left by its
 * rets and its tail jumps, where the stack pointer stands at the return address
 * again. Either all exits are known, or the function is refused.
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
 * @addr: address of the instruction, maybe far from the entry (a cold part)
 * @kind: enum dp_exit_kind. Before a tail jump the return value is not known yet:
 *        the tail target returns in the function's place. A jump back to the
 *        function's own entry counts as a tail jump, because it hits the probe on
 *        the entry again.
 * @conditional: jcc, jrcxz or loop: the function is left only if the jump is taken
 * @shared: calls of other functions, or calls through another entry, come here too.
 *          A hit without an instance is then no loss to report. If false, every hit
 *          belongs to a call that passed the entry.
 * @to: target of a direct tail jump, maybe a stub of the linker's; else 0
 */
struct dp_exit {
	u64 addr;
	u64 to;
	u8 len;
	u8 kind;
	bool conditional;
	bool shared;
};

/** struct dp_exit_list - exits ascending by address, each once */
struct dp_exit_list {
	struct dp_exit *v;
	size_t n;
};

struct dp_exits;

/**
 * dp_exits_open() - prepare for questions about the functions of a module
 * @mods, @m: as for dp_code_map_open(); not needed any more afterwards
 * @map: the module's map, which has to live as long as the new object
 * @exits: the new object, to be closed with dp_exits_close(). It holds a copy of
 *         the module's code, but no descriptor: close it soon.
 * Return: 0; -ENOENT the file cannot be read; -EOPNOTSUPP it has no code; -ENOMEM,
 * -EMFILE, -ENFILE. Words are in @diag.
 */
int dp_exits_open(struct dp_modules *mods, const struct dp_module *m,
		  const struct dp_code_map *map, struct dp_exits **exits,
		  struct dp_diag *diag);
void dp_exits_close(struct dp_exits *exits);

/**
 * struct dp_exit_reader - what has been read of one module, kept for the next question
 * about it; begins as zeros
 */
struct dp_exit_reader {
	const struct dp_module *module;
	struct dp_code_map *map;
	struct dp_exits *exits; /* NULL: it rests, or opening failed */
	bool rests;
};

/**
 * dp_exit_reader_open() - read a module, unless the reader has it already
 * Return: 0; an error of dp_code_map_open() or dp_exits_open(). A module that has failed
 * before gives -EOPNOTSUPP, unless memory or descriptors were short. Words are in @diag.
 */
int dp_exit_reader_open(struct dp_exit_reader *reader, struct dp_modules *mods,
			const struct dp_module *m, struct dp_diag *diag);
/**
 * dp_exit_reader_rest() - give back the module's code until the next question
 *
 * The map stays: of 50 MB of code it takes seconds to draw, and a quarter of that memory.
 * A module that could not be read is forgotten.
 */
void dp_exit_reader_rest(struct dp_exit_reader *reader);
void dp_exit_reader_close(struct dp_exit_reader *reader);

/**
 * dp_exits_find() - all instructions by which the function at @entry is left
 * @entry: address of the function's entry
 * @list: filled in; free with dp_exits_free(). Empty, and no error, for a function
 *        that never returns.
 * @why: on failure a static phrase that continues "the exits of f are not known: "
 * Return: 0; -ENOENT no function is there; -EOPNOTSUPP the exits cannot be known;
 * -ENOMEM.
 */
int dp_exits_find(struct dp_exits *exits, u64 entry, struct dp_exit_list *list,
		  const char **why);
void dp_exits_free(struct dp_exit_list *list);

struct dp_exits_file;
struct stat;

/**
 * dp_exits_file_open() - prepare for questions about the functions of a file, of no process
 * Return: 0; -ENOENT and the like: it cannot be opened; -ENOEXEC, -EOPNOTSUPP it is no file with code for
 * x86-64; -ENOMEM.
 */
int dp_exits_file_open(const char *path, struct dp_exits_file **file);
void dp_exits_file_close(struct dp_exits_file *file);
/** dp_exits_file_stat() - fstat(2) of it, before anything of it was read */
void dp_exits_file_stat(const struct dp_exits_file *file, struct stat *st);
/**
 * dp_exits_file_find() - as dp_exits_find(), with addresses of the file, of exits where calls of no other function come
 * Return: as dp_exits_find(); also -EOPNOTSUPP @entry does not begin a function, or others end where it does.
 */
int dp_exits_file_find(struct dp_exits_file *file, u64 entry,
		       struct dp_exit_list *list, const char **why);
/** dp_exits_file_insn() - where the instruction at an address is in the file, and its first byte. Return: 0; -ENOENT. */
int dp_exits_file_insn(const struct dp_exits_file *file, u64 addr, u64 *offset,
		       u8 *opcode);

/**
 * dp_entry_reads_return_address() - is the function a return-address reader?
 * @entry: address of the function's entry
 *
 * Found are loads from and stores to the slot, an lea of its address, and pops of it,
 * in the code of the frame description that begins at @entry, but in no cold part.
 * Not found: an address computed from another one, as that of an argument on the stack.
 * Return: 1 it is; 0 it is not; DP_ENTRY_IS_NONE the stack at @entry is not as behind a
 * call: code jumps to this part, but cannot call it; -ENOENT no description begins
 * there, or the file cannot be read; -ENOMEM; -EMFILE, -ENFILE it cannot be read now;
 * -EOPNOTSUPP description or code is not understood.
 */
#define DP_ENTRY_IS_NONE 2
int dp_entry_reads_return_address(struct dp_modules *mods, u64 entry);

#endif
