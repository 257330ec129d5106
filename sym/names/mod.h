/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mod: the modules of one process, and the tables of each, read at the first question.
 *
 * Context of every function: tool process; may sleep and allocate; not thread-safe on one
 * object.
 */
#ifndef DP_SYM_NAMES_MOD_H
#define DP_SYM_NAMES_MOD_H

#include <errno.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
#include "port_types.h"
#include "sym/elf/elf.h"
#include "sym/elf/relocs.h"
#include "sym/elf/symtab.h"
#include "sym/demangle.h"
#include "sym/sym.h"
#include "sym/tracepoints.h"
#include "sym/unwind/fdes.h"

/* Find section __rseq_cs, in the file's addresses. */
int dp_rseq_section(const struct dp_elf *elf, u64 *vaddr, u64 *n);

/** enum dp_mod_table - what is read of a module's file at the first question about it */
enum dp_mod_table {
	DP_MOD_DYNSYM,
	DP_MOD_SYMTAB,
	DP_MOD_FDES,
	DP_MOD_RELOCS,
	DP_MOD_OBJECTS,
	DP_MOD_TRACEPOINTS,
	DP_MOD_TABLES,
};

/**
 * struct dp_demangled - the demangled names of a module's functions, ascending by hash, once
 *                       they are asked for often
 * @sym: index into the symtab
 */
struct dp_demangled_name {
	u64 hash; /* first, for dp_list_order() */
	u32 sym;
};

struct dp_demangled {
	struct dp_demangled_name *v;
	size_t n, room;
	bool have;
	u32 asked; /* questions answered without */
};

void dp_demangled_free(struct dp_demangled *all);

/** struct dp_named_list - symbols that have a demangled name */
struct dp_named {
	const char *name; /* of @sym */
	const struct dp_sym *sym;
};

struct dp_named_list {
	struct dp_named *v;
	size_t n, room;
};

/**
 * dp_demangled_find() - the functions one of whose forms is @text
 * @sure: false: for speed, there may be others among them, if several are found
 * @list: to be freed with dp_named_free()
 * Return: 0 or -ENOMEM.
 */
int dp_demangled_find(struct dp_demangled *all, const struct dp_symtab *tab,
		      const char *text, bool sure, struct dp_named_list *list);
void dp_named_free(struct dp_named_list *list);

/* Is the symbol a function that can be called: no label, and no cold piece of one? */
static inline bool dp_sym_is_called(const struct dp_sym *sym)
{
	return !sym->chosen && sym->rank != DP_RANK_LABEL &&
	       !dp_symbol_is_fragment(sym->name);
}

/* Before the name of symbol @i is demangled, and later those after it. @ahead: 0 at first */
static inline void dp_sym_demangle_ahead(const struct dp_symtab *tab, u32 i,
					 u32 *ahead)
{
	if (i >= *ahead)
		*ahead = i + (u32)dp_demangle_ahead(&tab->v[i].name,
						    sizeof(*tab->v),
						    tab->n - i);
}

/** struct dp_object - a variable; @value: its address in the file. @name: in struct dp_objects */
struct dp_object {
	u64 value, size;
	const char *name;
};

/** struct dp_objects - ascending; @text: their names */
struct dp_objects {
	struct dp_object *v;
	size_t n, room;
	char *text;
};

/** dp_objects_load() - read the symbol table of @elf, or of its debug file under @root.
 *  Return: 0; -ENOENT there is none; -ENOMEM; -EFBIG, and other errors of the file's */
int dp_objects_load(struct dp_objects *o, const struct dp_elf *elf,
		    const char *root, const char *path);
void dp_objects_free(struct dp_objects *o);

/** struct dp_mod - a module, and the tables of it that have been read */
struct dp_mod {
	struct dp_module pub; /* first, so that a dp_module is a dp_mod */
	char *path, *soname;
	const struct dp_map *head; /* mapping of file offset 0, or NULL */
	const struct dp_map *text; /* an executable mapping */
	struct stat known; /* of the mapped file, found by name */
	struct dp_elf shape; /* headers only: closed, but @ph stays */
	int missing; /* why the file cannot be read: errno, or 0 */
	bool have_rseq;
	bool have_needs, stays; /* needs.c */
	u64 rseq, n_rseq; /* where __rseq_cs is in the file's addresses */
	struct {
		bool have[DP_MOD_TABLES];
		struct dp_dynsym dynsym;
		struct dp_symtab symtab;
		struct dp_fdes fdes;
		struct dp_relocs relocs;
		struct dp_demangled demangled;
		struct dp_objects objects;
		struct dp_tracepoints tracepoints;
	} read;
};

struct dp_modules {
	pid_t pid;
	int mem;
	dp_modules_mend_fn *mend; /* of memory that is read; or NULL */
	void *mend_arg;
	struct dp_maps maps;
	struct dp_mod **v;
	size_t n;
	struct dp_mod **of_map; /* of each mapping: its module, or NULL */
	struct dp_mod *main;
	bool have_needs; /* it is known which modules stay */
	struct dp_mod_name *names; /* sorted; NULL: not asked for yet */
	size_t n_names;
};

/* A name that a module answers to. */
struct dp_mod_name {
	const char *name;
	const struct dp_mod *mod;
};

static inline struct dp_mod *dp_mod_of(const struct dp_module *m)
{
	return (struct dp_mod *)m;
}

int dp_mem_read(const struct dp_modules *mods, u64 addr, void *buf, size_t len);

/* The process id for messages. */
static inline int dp_mods_pid(const struct dp_modules *mods)
{
	return mods->pid ? mods->pid : getpid();
}

/* Is @err a shortage that may pass, and that says nothing about a file? */
static inline bool dp_is_shortage(int err)
{
	return err == -ENOMEM || err == -EMFILE || err == -ENFILE;
}

/* Fill in a table of a module; a damaged file has empty tables. -ENOMEM, -EMFILE, -ENFILE. */
int dp_mod_load(struct dp_modules *mods, struct dp_mod *mod,
		enum dp_mod_table table);
int dp_mod_sort(struct dp_modules *mods, struct dp_mod *mod);
/* dp_demangled_find() in a module */
int dp_mod_find_named(struct dp_modules *mods, struct dp_mod *mod,
		      const char *text, bool sure, struct dp_named_list *list);
const char *dp_mod_name(const struct dp_mod *mod);

/* Open the very file that is mapped. */
int dp_file_open_elf(const struct dp_modules *mods, const struct dp_mod *mod,
		     struct dp_elf *elf);
/* The root directory of the process; empty for one's own process. */
int dp_file_root(const struct dp_modules *mods, char *buf, size_t len);
/* The path of a file in /proc/PID; @pid 0 is the calling thread. */
void dp_file_proc(char *buf, size_t len, pid_t pid, const char *file);

/* Where does the implementation lie that a process chose for an IFUNC? */
enum dp_ifunc_place {
	DP_IFUNC_NOWHERE, /* not chosen yet */
	DP_IFUNC_HERE, /* in the module that defines it */
	DP_IFUNC_ELSEWHERE, /* chosen, but outside (the vDSO) */
	DP_IFUNC_SEVERAL, /* the slots disagree */
};
int dp_ifunc_resolve(struct dp_modules *mods, struct dp_mod *mod,
		     const struct dp_sym *sym, u64 *addr,
		     enum dp_ifunc_place *place);

#define DP_NEAR_MAX 3
#define DP_NEAR_LEN 63 /* no longer name is near any other */

/** struct dp_near - the names nearest to a mistyped name. Context: any. */
struct dp_near {
	const char *want;
	char name[DP_NEAR_MAX][DP_NEAR_LEN + 1];
	unsigned int cost[DP_NEAR_MAX];
	size_t n;
};
void dp_near_offer(struct dp_near *near, const char *name);
void dp_near_say(const struct dp_near *near, struct dp_diag *diag);

#endif
