/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tracepoints: the static tracepoints of a program (USDT), which its notes tell of.
 *
 * A tracepoint is a nop. For each one the linker has put a note into section .note.stapsdt, which no
 * process has in memory: it is read from the file.
 *
 * Context of every function: tool process; may sleep and allocate. Source: SystemTap's wiki,
 * UserSpaceProbeImplementation.
 */
#ifndef DP_SYM_TRACEPOINTS_H
#define DP_SYM_TRACEPOINTS_H

#include <stddef.h>
#include "port_types.h"

struct dp_elf;
struct dp_module;
struct dp_modules;
struct dp_prototype;

/**
 * struct dp_tracepoint - one place of a tracepoint; several may have the same names
 * @provider, @name: never empty
 * @arguments: operands of an assembler, as "-4@%eax 8@$5"; or ""
 * @addr: of the nop, in the file; it is in executable memory of the program
 * @semaphore: in the file, of 16 bits, in memory that the program may write; 0: it has none
 */
struct dp_tracepoint {
	const char *provider, *name, *arguments;
	u64 addr, semaphore;
};

/**
 * struct dp_tracepoints - those of one file, in the order of its notes
 * @damaged: notes that make no sense, and have been passed over
 * @text: what the strings are in
 */
struct dp_tracepoints {
	struct dp_tracepoint *v;
	size_t n, room, damaged;
	char *text;
};

/**
 * dp_tracepoints_read() - read the notes of a file
 * @list: zeros; to be freed with dp_tracepoints_free(), also on error
 * Return: 0, also if it has none; -EFBIG; -ENOMEM; an error of the file's.
 */
int dp_tracepoints_read(struct dp_tracepoints *list, const struct dp_elf *elf);
void dp_tracepoints_free(struct dp_tracepoints *list);

/** dp_module_tracepoints() - those of a module; they live as long as @mods.
 *  Return: NULL: it has none, or its file cannot be read */
const struct dp_tracepoints *dp_module_tracepoints(struct dp_modules *mods,
						   const struct dp_module *m);

/**
 * dp_tracepoint_arguments() - the arguments of a tracepoint, as names and places of their values
 * @m: its module, whose symbols the arguments may name
 * @title: "python:line"; @arguments: of a struct dp_tracepoint
 * @p: a prototype in one block of memory, for free(), with a scope of tracepoint's:
 *     variables arg0, arg1, …
 *
 * What is not read there is NOWHERE, with the reason and the operand's text.
 * Return: 0; -ENOMEM.
 */
int dp_tracepoint_arguments(struct dp_modules *mods, const struct dp_module *m,
			    const char *title, const char *arguments,
			    struct dp_prototype **p);

#endif
