/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * symbol: names and addresses of one's own process.
 *
 * A dp_symbol_map shows the process as it was at the last dp_symbol_map_refresh().
 * What a function hands out lives until the next refresh that returns 1, or until
 * dp_symbol_map_close(). A module's file is read at the first question about a name or
 * an address of it, and only once as long as it stays loaded.
 *
 * Context of every function: task, in any thread, even after the first one has ended;
 * may sleep and allocate; not in a handler. The caller holds one lock, and has
 * cancellation of its thread disabled, because files are read. No lock of the
 * dynamic linker is taken but dl_iterate_phdr()'s own, so that the caller may be in a
 * constructor that dlopen() runs. Writes nothing, sends no signal. Keeps no
 * descriptor; those it opens for a moment are close-on-exec. errno is not preserved.
 * Takes about 14 KB of stack.
 */
#ifndef DP_RESOLVE_SYMBOL_H
#define DP_RESOLVE_SYMBOL_H

#include <dprobes/diag.h>
#include "sym/exits.h"
#include "sym/sym.h"

struct dp_symbol_map;

/** dp_symbol_map_open() - Return: 0; -EOPNOTSUPP there is no /proc; -EACCES,
 *  -EPERM, -EMFILE, -ENFILE, -ENOMEM, with words in @diag. */
int dp_symbol_map_open(struct dp_symbol_map **map, struct dp_diag *diag);
/** dp_symbol_map_close() - NULL is fine */
void dp_symbol_map_close(struct dp_symbol_map *map);

/**
 * dp_symbol_map_refresh() - see which libraries came and went
 *
 * Called at the beginning of every library call: without a change it costs one
 * dl_iterate_phdr() that stops at once. A fork child can use its copy.
 * Return: 1 something has changed; 0 nothing has; an error as of dp_symbol_map_open(),
 * and the map is as it was.
 */
int dp_symbol_map_refresh(struct dp_symbol_map *map, struct dp_diag *diag);

/**
 * dp_symbol_map_resolve() - the function that a name means
 * @name: NAME or MODULE:NAME; "::" separates nothing
 * @sym: filled in
 *
 * NAME is looked for in this order:
 *   1. the main program, its exported names before its static ones;
 *   2. what the libraries export, in the order of the link map, as the dynamic linker
 *      binds NAME;
 *   3. the other names of the libraries, in the same order: old versions, hidden and
 *      static names.
 * So a static function of the program goes before a function of libc of the same name,
 * as for calls in the program. A static helper in a library does not hide what another
 * library exports. A library loaded later changes an answer only if it exports a name
 * that was found in 3 before. Modules that the link map lacks (other namespaces of
 * dlmopen()) come last.
 *
 * MODULE is a soname, path (links are followed), basename or glob of one module;
 * empty, or the program's basename or command name: the main program. NAME is
 * the linkage name; without "@VERSION" it is the default version, or the only one.
 * An IFUNC is the implementation that the process uses.
 *
 * Return: 0; -ENOENT no such module, or no such function, with near names in
 * @diag; -EINVAL several functions of one module have that name (the candidates are
 * listed with their addresses), or MODULE means several modules, or the name is that
 * of exported data; -EOPNOTSUPP an IFUNC without a known implementation in its module;
 * -ENOMEM, -EMFILE, -ENFILE. Near names take milliseconds to find: pass no @diag where
 * words are not wanted.
 */
int dp_symbol_map_resolve(struct dp_symbol_map *map, const char *name,
			  struct dp_symbol *sym, struct dp_diag *diag);

/**
 * dp_symbol_map_name() - name an address
 * @name: name of the function that holds @addr; NULL on error
 * @offset: of @addr in the function; on error, in the module's file
 * @module: file name of the module; NULL: the main program, or no module
 *
 * Return: 0; -ENOENT @addr is in no function that has a name. A name that ends
 * before @addr is never given. The vDSO is no module.
 */
int dp_symbol_map_name(struct dp_symbol_map *map, u64 addr, const char **name,
		       u64 *offset, const char **module);

/** dp_symbol_map_modules() - the modules, for readers of code */
struct dp_modules *dp_symbol_map_modules(struct dp_symbol_map *map);

/** dp_symbol_map_exits() - the reader of exits. The caller calls dp_exit_reader_rest() before
 *  it releases the lock. */
struct dp_exit_reader *dp_symbol_map_exits(struct dp_symbol_map *map);

/** dp_symbol_map_linked() - is @addr in a module that the dynamic linker has loaded? A
 *  refresh then tells when it goes. */
bool dp_symbol_map_linked(const struct dp_symbol_map *map, u64 addr);

/**
 * dp_symbol_map_hold() - call @work while no library can be unloaded
 * @work: must not allocate nor wait for other threads: the linker's lock is held
 * @ret: what @work returned
 * Return: true; false: libraries have come or gone since the last refresh, and
 * @work has not been called.
 */
bool dp_symbol_map_hold(const struct dp_symbol_map *map,
			int (*work)(void *what), void *what, int *ret);

/** dp_symbol_map_generation() - grows with every refresh that returns 1; never 0 */
u64 dp_symbol_map_generation(const struct dp_symbol_map *map);

/**
 * enum dp_loaded - is the code still there that an address once had?
 * @DP_LOADED_GONE: no: its library has been unloaded, whatever is there now
 * @DP_LOADED_SAME: yes
 * @DP_LOADED_MAYBE: libraries have been unloaded, and the same file is at the same
 *                   place now. It may have been unloaded and loaded again: what was
 *                   written into its text tells.
 */
enum dp_loaded {
	DP_LOADED_GONE,
	DP_LOADED_SAME,
	DP_LOADED_MAYBE,
};

/**
 * dp_symbol_map_loaded() - has the module of @addr stayed?
 * @since: the generation in which the module was there; pass the current one to learn
 *         whether any module's code is there now
 */
enum dp_loaded dp_symbol_map_loaded(const struct dp_symbol_map *map, u64 addr,
				    u64 since);

#endif
