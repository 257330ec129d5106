/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * demangle: linkage names of C++ and Rust as their sources write them.
 *
 * The library that can read them is linked with the command alone, which hands it over by
 * dp_demangle_use(). Without it no name is demangled, neither in what is asked for nor in
 * what is shown.
 *
 * Names are hostile input. A few hundred bytes can stand for a text of any length, or keep
 * a reader busy for years. So a child reads them that can do nothing else. A name longer than
 * DP_MANGLED_MAX, one whose text is longer than DP_DEMANGLED_MAX, and one that takes longer than
 * 20 ms of CPU time stay as they are; after sixteen of the last kind, so do all.
 *
 * Context of every function: one thread of the tool's; may fork and wait.
 */
#ifndef DP_SYM_DEMANGLE_H
#define DP_SYM_DEMANGLE_H

#include <stddef.h>
#include "port_types.h"

struct dp_module;
struct dp_modules;

#define DP_MANGLED_MAX 4096
#define DP_DEMANGLED_MAX 4096

/** enum dp_demangle_form - how much of a function is written */
enum dp_demangle_form {
	DP_DEMANGLE_BRIEF, /* ns::f<int> */
	DP_DEMANGLE_PARAMETERS, /* ns::f<int>(int) */
	DP_DEMANGLE_WHOLE, /* void ns::f<int>(int) */
	DP_DEMANGLE_FORMS,
};

/** struct dp_demangler - a reader of one language's linkage names
 * @read: call @emit for each piece of the text; @emit may not return. Return: false if
 *        @name is no such name
 * @no_heap: it uses its stack alone, and may be left at any instruction
 */
struct dp_demangler {
	bool (*read)(const char *name, enum dp_demangle_form form,
		     void (*emit)(const char *piece, size_t len, void *arg),
		     void *arg);
	bool no_heap;
};

/** dp_demangle_use() - demangle with the first of @n readers that knows a name
 * @list: lives on; NULL: demangle nothing
 */
void dp_demangle_use(const struct dp_demangler *list, size_t n);

/** dp_demangle_ready() - is any name demangled? */
bool dp_demangle_ready(void);

/** dp_demangle_begin() - many names follow, until dp_demangle_end(): one child reads them.
 *  Nests. */
void dp_demangle_begin(void);
void dp_demangle_end(void);

/**
 * dp_demangle_ahead() - read some names at one time, which dp_demangle() is then asked for
 * @name, @stride: the first of @n names, and the bytes from one to the next
 * Return: how many from the first one on are cared for; at least 1, if @n is not 0.
 */
size_t dp_demangle_ahead(const char *const *name, size_t stride, size_t n);

/**
 * dp_demangle() - read a linkage name
 * @text: room for DP_DEMANGLED_MAX + 1 bytes
 * Return: false if @name stays as it is; @text is undefined then.
 */
bool dp_demangle(const char *name, enum dp_demangle_form form, char *text);

/** dp_demangle_match() - is any form of a linkage name @want, or does it match that glob? */
bool dp_demangle_match(const char *name, const char *want, bool glob);

/**
 * dp_demangle_symbol() - the shortest form of a linkage name that means one address
 * @m: the module that has a symbol @name at @addr, an address of the process
 * @text: as for dp_demangle()
 *
 * dp_symbols_find() in the module finds just this address for it. The first question demangles
 * all names of the module.
 * Return: false if there is no such form.
 */
bool dp_demangle_symbol(struct dp_modules *mods, const struct dp_module *m,
			const char *name, u64 addr, char *text);

#endif
