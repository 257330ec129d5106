/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * symbol: names and addresses of one's own process.
 *
 * A dp_symbol_map shows the process as it was at the last dp_symbol_map_refresh();
 * whatever any function hands out lives until the next refresh that returns 1, or
 * until dp_symbol_map_close(). A module's file is read when a name or an address of
 * it is first asked for, and once only as long as it stays loaded.
 *
 * Context of every function: task, in any thread, the first one may have ended; may
 * sleep and allocate; not in a handler; the caller holds one lock, and has
 * cancellation of its thread disabled, because files are read. No lock of the
 * dynamic linker is taken but dl_iterate_phdr()'s own, so that the caller may sit
 * in a constructor that dlopen() runs. Writes nothing, sends no signal; keeps no
 * descriptor, and those it opens for a moment are close-on-exec. errno is not
 * preserved. Takes about 14 KB of stack.
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
 * At the beginning of every call into the library: without a change it costs one
 * dl_iterate_phdr() that stops at once. A fork child can go on with its copy.
 * Return: 1, something has changed; 0; as dp_symbol_map_open(), and then the map
 * is as it was.
 */
int dp_symbol_map_refresh(struct dp_symbol_map *map, struct dp_diag *diag);

/**
 * dp_symbol_map_resolve() - the function that a name means
 * @name: NAME or MODULE:NAME; "::" separates nothing
 * @sym: filled in
 *
 * NAME is looked for in this order:
 *   1. the main program, its exported names before its static ones;
 *   2. what the libraries export, in load order (the order of the link map): what
 *      the dynamic linker would bind NAME to;
 *   3. what else the libraries have, in load order: old versions, hidden and
 *      static names.
 * So a static function of the program goes before a function of libc of the same
 * name, as calls in the program do, but a static helper in some library does not
 * hide what another one exports; and a library that is loaded later changes no
 * answer unless it exports what so far was found in 3 only. Modules that the
 * link map does not have (other namespaces of dlmopen()) come last.
 *
 * MODULE is a soname, path (links are followed), basename or glob of one module;
 * empty, or the program's basename or command name: the main program. NAME is
 * the linkage name; without "@VERSION" it is the default version, or the only one.
 * An IFUNC is the implementation that the process uses.
 *
 * Return: 0; -ENOENT no such module, or no such function, with near names in
 * @diag; -EINVAL several functions of one module have that name, the candidates
 * with their addresses, or MODULE means several modules, or the name is one of
 * exported data; -EOPNOTSUPP an IFUNC that no implementation in its module is known
 * of; -ENOMEM, -EMFILE, -ENFILE. Near names take milliseconds to find: pass no
 * @diag where words are not wanted.
 */
int dp_symbol_map_resolve(struct dp_symbol_map *map, const char *name,
			  struct dp_symbol *sym, struct dp_diag *diag);

/**
 * dp_symbol_map_name() - name an address
 * @name: of the function that holds @addr; NULL on error
 * @offset: of @addr in it; on error in the module's file
 * @module: file name of the module; NULL: the main program, or no module
 *
 * Return: 0; -ENOENT @addr is in no function that has a name. A name that ends
 * before @addr is never given. The vDSO is no module.
 */
int dp_symbol_map_name(struct dp_symbol_map *map, u64 addr, const char **name,
		       u64 *offset, const char **module);

/** dp_symbol_map_modules() - for those who look at code */
struct dp_modules *dp_symbol_map_modules(struct dp_symbol_map *map);

/** dp_symbol_map_exits() - where functions of its modules are left. The caller has it
 *  rest before he lets go of the lock. */
struct dp_exit_reader *dp_symbol_map_exits(struct dp_symbol_map *map);

/** dp_symbol_map_linked() - is an address in what the dynamic linker has loaded, so
 *  that a refresh tells when it goes? */
bool dp_symbol_map_linked(const struct dp_symbol_map *map, u64 addr);

/**
 * dp_symbol_map_hold() - do something while no library can be unloaded
 * @work: must not allocate, nor wait for other threads: it has the linker's lock
 * @ret: what it returns
 * Return: true; false: libraries have come or gone since the last refresh, and
 * @work has not been called.
 */
bool dp_symbol_map_hold(const struct dp_symbol_map *map,
			int (*work)(void *what), void *what, int *ret);

/** dp_symbol_map_generation() - grows with every refresh that returns 1; never 0 */
u64 dp_symbol_map_generation(const struct dp_symbol_map *map);

/**
 * enum dp_loaded - is the code that an address had once still there?
 * @DP_LOADED_GONE: no: its library has been unloaded, whatever is there now
 * @DP_LOADED_SAME: yes
 * @DP_LOADED_MAYBE: something was unloaded, and the same file is at the same
 *                   place now: it may have been unloaded and loaded again in
 *                   between. What was written into its text tells.
 */
enum dp_loaded {
	DP_LOADED_GONE,
	DP_LOADED_SAME,
	DP_LOADED_MAYBE,
};

/**
 * dp_symbol_map_loaded() - has the module of @addr stayed?
 * @since: the generation in which it was there; the current one to learn whether
 *         any module's code is there now
 */
enum dp_loaded dp_symbol_map_loaded(const struct dp_symbol_map *map, u64 addr,
				    u64 since);

#endif
