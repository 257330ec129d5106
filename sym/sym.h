/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sym: names and addresses of one process.
 *
 * A dp_modules object is a snapshot of the executable ELF files that a process has mapped,
 * with their load bias. Symbols come from .symtab, .dynsym, a separate debug file found by
 * build-id, and .gnu_debugdata, opened lazily per module. File contents are hostile input.
 *
 * Context of every function: tool process, may sleep and allocate, not thread-safe on one
 * object. Memory belongs to the dp_modules object and lives until dp_modules_close(), unless
 * said otherwise.
 */
#ifndef DP_SYM_H
#define DP_SYM_H

#include <sys/types.h>
#include <dprobes/diag.h>
#include "port_types.h"

/** struct dp_map - one line of /proc/PID/maps */
struct dp_map {
	u64 start, end; /* addresses in the target, [start, end) */
	u64 offset; /* file offset of start */
	u64 inode;
	u32 dev_major, dev_minor;
	char perms[5]; /* "r-xp" */
	char *path; /* "" for anonymous; without " (deleted)" */
};

/** struct dp_maps - all mappings of a process, ascending */
struct dp_maps {
	struct dp_map *v;
	size_t n;
};

/**
 * dp_maps_read() - read a process's mappings
 * @pid: process (or thread) id, 0 for one's own process
 * @maps: filled in; free with dp_maps_free()
 * Return: 0; -ESRCH no such process (or a zombie); -EPERM/-EACCES; -ENOMEM;
 * -EFBIG more mappings than the reader accepts.
 */
int dp_maps_read(pid_t pid, struct dp_maps *maps);
/** dp_maps_too_many() - set @diag for that -EFBIG. Return: -EFBIG */
int dp_maps_too_many(pid_t pid, struct dp_diag *diag);
void dp_maps_free(struct dp_maps *maps);
/** dp_maps_find() - the mapping that holds @addr, or NULL */
const struct dp_map *dp_maps_find(const struct dp_maps *maps, u64 addr);

/** struct dp_origin - the file and offset that an address maps; all zero: no file */
struct dp_origin {
	u64 inode, offset;
	u32 dev_major, dev_minor;
};

/** dp_map_origin() - origin of @addr in @map; NULL: nothing is mapped there */
struct dp_origin dp_map_origin(const struct dp_map *map, u64 addr);
bool dp_origin_same(struct dp_origin a, struct dp_origin b);
/** dp_map_same() - are both the same mapping: the same addresses with the same origin?
 *  NULL is none */
bool dp_map_same(const struct dp_map *a, const struct dp_map *b);
/** dp_map_same_file() - do both map one file by one path? */
bool dp_map_same_file(const struct dp_map *a, const struct dp_map *b);
/** dp_map_is_file() - does @map map that file? On overlay and btrfs the numbers differ. */
struct stat;
bool dp_map_is_file(const struct dp_map *map, const struct stat *st);

struct dp_modules;

/**
 * struct dp_module - one ELF file mapped executable
 * @path: as /proc/PID/maps shows it (in the target's mount namespace)
 * @base: file name without directories
 * @soname: DT_SONAME, or NULL
 * @bias: address in the target minus address in the file
 * @text_start, @text_end: span of its executable mappings in the target
 * @is_main: the module is the program itself
 * @is_linker: the module is the dynamic linker (the program's PT_INTERP)
 */
struct dp_module {
	const char *path;
	const char *base;
	const char *soname;
	u64 bias;
	u64 text_start, text_end;
	bool is_main;
	bool is_linker;
};

/**
 * dp_modules_open() - find the modules of a process
 * @pid: process (or thread) id; 0 for one's own process, which works from any
 *       thread, after the first one has ended, and in any pid namespace
 * @mem: descriptor of /proc/PID/mem opened for reading; stays the caller's and
 *       must outlive the object. Not used for one's own process.
 * @mods: the new object, to be closed with dp_modules_close()
 * Return: 0 or a negative errno with words in @diag.
 */
int dp_modules_open(pid_t pid, int mem, struct dp_modules **mods,
		    struct dp_diag *diag);
void dp_modules_close(struct dp_modules *mods);

/** dp_modules_set_mend() - have @mend put original bytes into what is read at @addr */
typedef void dp_modules_mend_fn(void *arg, u64 addr, u8 *bytes, size_t len);
void dp_modules_set_mend(struct dp_modules *mods, dp_modules_mend_fn *mend,
			 void *arg);
/** dp_modules_read() - read memory. Return: bytes, fewer where it ends; a negative errno. */
ssize_t dp_modules_read(const struct dp_modules *mods, u64 addr, void *buf,
			size_t len);

/** dp_modules_maps() - the mappings of the snapshot; they live as long as @mods */
const struct dp_maps *dp_modules_maps(const struct dp_modules *mods);
size_t dp_modules_count(const struct dp_modules *mods);
const struct dp_module *dp_modules_get(const struct dp_modules *mods, size_t i);
/** dp_modules_linker() - the dynamic linker, or NULL */
const struct dp_module *dp_modules_linker(const struct dp_modules *mods);
/** dp_module_is_alone() - is its file name unique among the modules of the process? */
bool dp_module_is_alone(struct dp_modules *mods, const struct dp_module *m);

/** dp_module_at() - the module whose executable mapping holds @addr, or NULL */
const struct dp_module *dp_module_at(const struct dp_modules *mods, u64 addr);

/** dp_module_open() - open the very file that is mapped. Return: a descriptor, which the
 *  caller closes; a negative errno. */
int dp_module_open(const struct dp_modules *mods, const struct dp_module *m);
/** dp_module_stays() - is the module loaded for the life of its process? False where this
 *  is not certain. */
bool dp_module_stays(struct dp_modules *mods, const struct dp_module *m);

/**
 * struct dp_symbol - one function
 * @module: the module that defines it
 * @name: linkage name, without version
 * @addr: address in the target: for an IFUNC that of the implementation which
 *        this process chose
 * @size: bytes, 0 if unknown
 * @global: exported or global; false for a static function
 * @ifunc: @name is an IFUNC and @addr its chosen implementation
 */
struct dp_symbol {
	const struct dp_module *module;
	const char *name;
	u64 addr;
	u64 size;
	bool global;
	bool ifunc;
};

struct dp_symbols {
	struct dp_symbol *v;
	size_t n, room;
	bool demangled; /* found by their demangled names */
};

/**
 * dp_symbols_find() - functions by module and name
 * @mods: the process
 * @module: soname, path (links are followed), basename or glob over these; ""
 *          or NULL means the main program, which also answers to its command
 *          name (python3 for python3.11) if no module has that name
 * @name: linkage name or glob (*, ?, [..]); may carry "@VERSION"/"@@VERSION".
 *        A function of literally that name goes before the glob. What matches no
 *        linkage name is matched with demangled names (sym/demangle.h)
 * @out: filled in, sorted by address; free with dp_symbols_free()
 *
 * An exact name gives exactly one symbol: aliases at one address are one; the default version
 * wins over older ones; exported wins over static. Two different addresses for it are an error
 * that lists the candidates as specs (name@VERSION, else MODULE:+FILEOFFSET with the source
 * file if known). An exact name under a glob of modules gives one symbol a module.
 *
 * A demangled name gives all functions that have it, without their parameters or with them.
 * A glob gives each distinct address once, under the name that matched. IFUNCs whose
 * implementation is unknown are left out and counted in @skipped. A glob matches no symbols
 * that cannot be called: local labels of assembly, cold pieces of functions ("f.cold").
 *
 * @skipped: number of matches left out of a glob, or NULL
 * Return: 0; -ENOENT no such module or no such function (with near names in
 * @diag); -EINVAL ambiguous; -EOPNOTSUPP an IFUNC not yet chosen by this
 * process; -ENOMEM.
 */
int dp_symbols_find(struct dp_modules *mods, const char *module,
		    const char *name, struct dp_symbols *out, size_t *skipped,
		    struct dp_diag *diag);
/** dp_symbols_find_in() - the same in one module, without words */
int dp_symbols_find_in(struct dp_modules *mods, const struct dp_module *m,
		       const char *name, struct dp_symbols *out);
void dp_symbols_free(struct dp_symbols *list);

/** dp_symbol_is_fragment() - is @name that of a function's cold piece ("f.cold"), to
 *  which code jumps and which cannot be called? */
bool dp_symbol_is_fragment(const char *name);

/** dp_file_is_library() - is the file a library that a program can load? */
bool dp_file_is_library(const char *path);
/** dp_file_has_section() - has the ELF file a section called @name? */
bool dp_file_has_section(const char *path, const char *name);

/**
 * dp_modules_match() - the modules that @pattern names (as in dp_symbols_find)
 * @list: @n of them, free()d by the caller
 * Return: 0; -ENOENT with the nearest module names in @diag; -ENOMEM.
 */
int dp_modules_match(struct dp_modules *mods, const char *pattern,
		     const struct dp_module ***list, size_t *n,
		     struct dp_diag *diag);

/**
 * dp_module_function() - one function by its exact name
 * @m: the module to look in
 * @name: no glob; may carry "@VERSION"/"@@VERSION"
 * @exported: find only a default version that the module exports
 * @sym: filled in; the size of an IFUNC's implementation is 0
 *
 * The cheap form of dp_symbols_find(), for many names: a hash probe.
 * Return: 0; -ENOENT without words in @diag; -EINVAL ambiguous, the addresses are
 * in @diag; -EOPNOTSUPP an IFUNC without one known implementation; -ENOMEM,
 * -EMFILE, -ENFILE.
 */
int dp_module_function(struct dp_modules *mods, const struct dp_module *m,
		       const char *name, bool exported, struct dp_symbol *sym,
		       struct dp_diag *diag);

/**
 * dp_modules_say_near() - append to @diag the functions whose names are nearest to
 * @name, and which modules have few or no names
 * @list, @n: the modules; of the first all names count, of the others the exported
 *            names only
 */
void dp_modules_say_near(struct dp_modules *mods,
			 const struct dp_module *const *list, size_t n,
			 const char *name, struct dp_diag *diag);

/**
 * dp_module_adopt() - take over what has been read of a module's file
 * @to: a module of a new snapshot
 * @from: the same module, not unloaded in between, in an older snapshot, which may only
 *        be closed from then on
 */
void dp_module_adopt(const struct dp_module *to, const struct dp_module *from);

/**
 * dp_symbol_at() - name an address
 * @sym: the function that holds @addr, or else the nearest one before it in the same
 *       module; global names win over static ones
 * Return: 0; -ENOENT if no module or no symbol is there.
 */
int dp_symbol_at(struct dp_modules *mods, u64 addr, struct dp_symbol *sym);

/**
 * dp_function_bounds() - where the function around @addr starts and ends
 *
 * A symbol with a size goes before an FDE of .eh_frame, which serves stripped files.
 * Both bounds are addresses of the target.
 * Return: 0; -ENOENT if nothing is known.
 */
int dp_function_bounds(struct dp_modules *mods, u64 addr, u64 *start, u64 *end);

/**
 * dp_module_file_addr() - address of a file offset
 * Return: 0; -ENOENT if that offset is not mapped executable (words in @diag).
 */
int dp_module_file_addr(struct dp_modules *mods, const struct dp_module *m,
			u64 offset, u64 *addr, struct dp_diag *diag);

/** dp_module_addr_file() - file offset of an address in an executable mapping.
 *  Return: 0; -ENOENT. */
int dp_module_addr_file(struct dp_modules *mods, u64 addr, u64 *offset);

/** struct dp_range - addresses [start, end) of the target */
struct dp_range {
	u64 start, end;
};

/**
 * dp_module_rseq() - restartable sequences that a module declares
 * @ranges: filled in with the critical sections (section __rseq_cs), free()d by
 *          the caller
 * Return: 0 (with @n possibly 0); -ENOMEM, -EMFILE, -ENFILE.
 */
int dp_module_rseq(struct dp_modules *mods, const struct dp_module *m,
		   struct dp_range **ranges, size_t *n);

/**
 * dp_module_dynsym() - address of an exported symbol, of any type
 *
 * For the tool's own needs (_r_debug, _dl_debug_state): .dynsym only, data symbols too,
 * no IFUNC resolution.
 * Return: 0; -ENOENT.
 */
int dp_module_dynsym(struct dp_modules *mods, const struct dp_module *m,
		     const char *name, u64 *addr);

/**
 * dp_thread_tid_offset() - offset of the thread's id in libc, from the thread pointer
 * Return: bytes; 0 if libc does not say.
 * Source: glibc's nptl_db, _thread_db_pthread_tid.
 */
u32 dp_thread_tid_offset(struct dp_modules *mods);

#endif
