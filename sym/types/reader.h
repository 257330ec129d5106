/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reader: debug information of functions, read by libdw in a child.
 *
 * Functions with a struct dp_reader run in the child, but for dp_reader_read().
 */
#ifndef DP_TYPES_READER_H
#define DP_TYPES_READER_H

#include <dwarf.h>
#include <elfutils/libdw.h>
#include "sym/types.h"

/* DP_LIBDW(X): X(function) for each function of libdw that is used */
#define DP_LIBDW(X)                         \
	X(dwarf_begin)                      \
	X(dwarf_cu_info)                    \
	X(dwarf_setalt)                     \
	X(dwarf_new_oom_handler)            \
	X(dwarf_addrdie)                    \
	X(dwarf_getaranges)                 \
	X(dwarf_nextcu)                     \
	X(dwarf_offdie)                     \
	X(dwarf_dieoffset)                  \
	X(dwarf_getfuncs)                   \
	X(dwarf_entrypc)                    \
	X(dwarf_ranges)                     \
	X(dwarf_attr)                       \
	X(dwarf_attr_integrate)             \
	X(dwarf_hasattr)                    \
	X(dwarf_formref_die)                \
	X(dwarf_formstring)                 \
	X(dwarf_formudata)                  \
	X(dwarf_getlocation_addr)           \
	X(dwarf_haspc)                      \
	X(dwarf_getlocations)               \
	X(dwarf_getlocation)                \
	X(dwarf_getlocation_attr)           \
	X(dwarf_getlocation_implicit_value) \
	X(dwarf_formaddr)                   \
	X(dwarf_formblock)                  \
	X(dwarf_lineprologueend)            \
	X(dwarf_child)                      \
	X(dwarf_siblingof)                  \
	X(dwarf_diecu)                      \
	X(dwarf_srclang)                    \
	X(dwarf_tag)

/* DP_LIBDW_LINES(X): the same for line tables */
#define DP_LIBDW_LINES(X)           \
	X(dwarf_getsrcfiles)        \
	X(dwarf_filesrc)            \
	X(dwarf_getsrclines)        \
	X(dwarf_onesrcline)         \
	X(dwarf_lineaddr)           \
	X(dwarf_lineno)             \
	X(dwarf_linesrc)            \
	X(dwarf_linebeginstatement) \
	X(dwarf_lineendsequence)    \
	X(dwarf_getscopes_die)

struct dp_libdw {
#define DP_MEMBER(f) __typeof__(f) *f;
	DP_LIBDW(DP_MEMBER)
	DP_LIBDW_LINES(DP_MEMBER)
#undef DP_MEMBER
};

/**
 * struct dp_reader - what is read of functions
 * @addr, @n: entries of the functions in the process, ascending
 * @bias: of their module
 * @wanted: names that are asked for, at @addr[0], which may be anywhere in its function then;
 *          or NULL
 * @out: memory that the child and the tool share
 * @size: bytes of it
 * @see: told that the DIE @function is the one at @addr[@i], for each such DIE
 * @has: whether no more need be read of @addr[@i]
 * @work: what the child does instead of telling @see, or NULL; @own: for it
 * @dw, @dwarf: the child's
 * @line: the child's, to the tool; -1: there is none, and no unit is in another file
 */
struct dp_reader {
	const u64 *addr;
	size_t n;
	u64 bias;
	const struct dp_wanted *wanted;
	void *out;
	size_t size;
	void (*see)(const struct dp_reader *r, Dwarf_Die *function, size_t i);
	bool (*has)(const struct dp_reader *r, size_t i);
	void (*work)(struct dp_reader *r);
	void *own;
	struct dp_libdw dw;
	Dwarf *dwarf;
	int line;
};

/**
 * dp_reader_read() - have a child read the debug information of @m into @r->out
 * Context: the tool's process. The child has ended when it returns.
 * Return: as dp_types_returned(). @r->out is for munmap(2) if it is not NULL, and hostile.
 */
int dp_reader_read(struct dp_reader *r, struct dp_modules *mods,
		   const struct dp_module *m);

/** dp_reader_libdw() - load libdw. Return: false: it is not installed */
bool dp_reader_libdw(struct dp_libdw *dw);
/** dp_reader_next_unit() - the unit at *@at, or behind; *@at, at first 0, is moved behind it.
 *  Return: false: there is no more */
bool dp_reader_next_unit(const struct dp_reader *r, Dwarf_Off *at,
			 Dwarf_Die *unit);
/** dp_lang_is_c(), dp_lang_is_cxx() - is a unit's language C, or C++? */
bool dp_lang_is_c(int lang);
bool dp_lang_is_cxx(int lang);
/** dp_reader_walk() - read the functions of @r->dwarf */
void dp_reader_walk(struct dp_reader *r);
/** dp_reader_number() - a number that a DIE, or a DIE that it refers to, has; 0 without one */
u64 dp_reader_number(const struct dp_reader *r, Dwarf_Die *die,
		     unsigned int name);
/** dp_reader_type() - the type that a DIE has. Return: false: none */
bool dp_reader_type(const struct dp_reader *r, Dwarf_Die *die, Dwarf_Die *type);
/** dp_reader_peel() - go to what a typedef, const, … is of, where it is defined. Return: false:
 *  void */
bool dp_reader_peel(const struct dp_reader *r, Dwarf_Die *die);
/** dp_reader_base() - a base type, or an enumeration that has no other type */
struct dp_type dp_reader_base(const struct dp_reader *r, Dwarf_Die *die);
/** dp_reader_is_c() - whether the language of @function says all that its callers pass and get
 *  as C does: assembly says nothing of it, and Go and Fortran say it otherwise */
bool dp_reader_is_c(const struct dp_reader *r, Dwarf_Die *function);

#endif
