// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * types: what functions return, according to debug information.
 *
 *   tool ─► fork ─► child: alarm, limits ─► libdw ─► types into shared memory ─► _exit
 *     └─► waits for the child, which the alarm ends when it takes too long
 *
 * The file may be hostile. What it does to libdw happens in a child that may make only the
 * calls for memory and for reading. Each entry of the child's table of types is checked.
 * libdw is loaded in the child, so that no other command waits for it.
 */
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "sym/aside.h"
#include "sym/list.h"
#include "sym/names/mod.h"
#include "sym/types.h"

#define MEMORY_MOST (4ull << 30) /* more than the tool has */
#define PEELS_MAX 64 /* a typedef of a const of a typedef of … */

/* DW_LIBDW(X): X(function) for each function of libdw that is used */
#define DW_LIBDW(X)             \
	X(dwarf_begin)          \
	X(dwarf_addrdie)        \
	X(dwarf_getaranges)     \
	X(dwarf_nextcu)         \
	X(dwarf_offdie)         \
	X(dwarf_dieoffset)      \
	X(dwarf_getfuncs)       \
	X(dwarf_entrypc)        \
	X(dwarf_ranges)         \
	X(dwarf_attr_integrate) \
	X(dwarf_formref_die)    \
	X(dwarf_formudata)      \
	X(dwarf_diecu)          \
	X(dwarf_srclang)        \
	X(dwarf_tag)

struct libdw {
#define MEMBER(f) __typeof__(f) *f;
	DW_LIBDW(MEMBER)
#undef MEMBER
};

/* The child's state. @addr: entries of the functions in the process. */
struct reader {
	struct libdw dw;
	Dwarf *dwarf;
	const u64 *addr;
	u64 bias;
	struct dp_type *type;
	size_t n;
};

static bool find_libdw(struct libdw *dw)
{
	void *lib = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);

#define FIND(f)                                         \
	*(void **)&dw->f = lib ? dlsym(lib, #f) : NULL; \
	if (!dw->f)                                     \
		return false;
	DW_LIBDW(FIND)
#undef FIND
	return true;
}

/* A number that a DIE, or a DIE that it refers to, has. */
static u64 number_of(const struct reader *r, Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	if (!r->dw.dwarf_attr_integrate(die, name, &attr) ||
	    r->dw.dwarf_formudata(&attr, &value))
		return 0;
	return value;
}

static bool type_of(const struct reader *r, Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attr;

	return r->dw.dwarf_attr_integrate(die, DW_AT_type, &attr) &&
	       r->dw.dwarf_formref_die(&attr, type);
}

/* Does a function without a type return nothing? In these languages it does; assembly
 * says nothing of it, and Go says it otherwise. */
static bool tells_void(const struct reader *r, Dwarf_Die *function)
{
	Dwarf_Die unit;

	if (!r->dw.dwarf_diecu(function, &unit, NULL, NULL))
		return false;
	switch (r->dw.dwarf_srclang(&unit)) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case DW_LANG_Rust:
		return true;
	default:
		return false;
	}
}

static u8 kind_of_base(u64 encoding, u64 bytes)
{
	switch (encoding) {
	case DW_ATE_signed:
	case DW_ATE_signed_char:
		return DP_TYPE_SIGNED;
	case DW_ATE_unsigned:
	case DW_ATE_unsigned_char:
	case DW_ATE_UTF:
		return DP_TYPE_UNSIGNED;
	case DW_ATE_boolean:
		return DP_TYPE_BOOL;
	case DW_ATE_float:
		return bytes == 4 || bytes == 8 ? DP_TYPE_FLOAT :
						  DP_TYPE_UNKNOWN;
	default:
		return DP_TYPE_UNKNOWN;
	}
}

static struct dp_type base(u64 encoding, u64 bytes)
{
	struct dp_type type = { kind_of_base(encoding, bytes),
				(u8)(8 * bytes) };

	if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
		type.kind = DP_TYPE_UNKNOWN;
	return type.kind ? type : (struct dp_type){ 0 };
}

/* Return: true if @die refers to another type, which is in @die then. */
static bool peel(const struct reader *r, Dwarf_Die *die, struct dp_type *type)
{
	Dwarf_Die next;
	bool more = type_of(r, die, &next);

	switch (r->dw.dwarf_tag(die)) {
	case DW_TAG_base_type:
		*type = base(number_of(r, die, DW_AT_encoding),
			     number_of(r, die, DW_AT_byte_size));
		return false;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		*type = (struct dp_type){ DP_TYPE_POINTER, 64 };
		return false;
	case DW_TAG_enumeration_type:
		if (!more)
			*type = base(number_of(r, die, DW_AT_encoding),
				     number_of(r, die, DW_AT_byte_size));
		break;
	case DW_TAG_typedef:
	case DW_TAG_const_type:
	case DW_TAG_volatile_type:
	case DW_TAG_restrict_type:
	case DW_TAG_atomic_type:
		/* "const void" has no type behind it. */
		if (!more)
			*type = (struct dp_type){ DP_TYPE_VOID, 0 };
		break;
	default:
		return false;
	}
	if (more)
		*die = next;
	return more;
}

static struct dp_type returned(const struct reader *r, Dwarf_Die *function)
{
	struct dp_type type = { 0 };
	Dwarf_Attribute attr;
	Dwarf_Die die;
	int i;

	if (!type_of(r, function, &die)) {
		if (!r->dw.dwarf_attr_integrate(function, DW_AT_type, &attr) &&
		    tells_void(r, function))
			type.kind = DP_TYPE_VOID;
		return type;
	}
	for (i = 0; i < PEELS_MAX && peel(r, &die, &type); i++)
		continue;
	return type;
}

static void note_at(struct reader *r, u64 pc, Dwarf_Die *function)
{
	u64 addr = pc + r->bias;
	const u64 *at =
		bsearch(&addr, r->addr, r->n, sizeof(*r->addr), dp_list_order);

	if (!at)
		return;
	while (at > r->addr && at[-1] == addr)
		at--;
	for (; at < r->addr + r->n && *at == addr; at++)
		if (!r->type[at - r->addr].kind)
			r->type[at - r->addr] = returned(r, function);
}

static int note(Dwarf_Die *function, void *arg)
{
	struct reader *r = arg;
	Dwarf_Addr pc, unit, end;

	if (!r->dw.dwarf_entrypc(function, &pc))
		note_at(r, pc, function);
	/* A function in several pieces: its entry is in the first. */
	else if (r->dw.dwarf_ranges(function, 0, &unit, &pc, &end) > 0)
		note_at(r, pc, function);
	return DWARF_CB_OK;
}

/* Read only the units that an index by address names. Return: false if there is no
 * index. */
static bool read_some(struct reader *r)
{
	Dwarf_Aranges *index;
	Dwarf_Off last = 0;
	Dwarf_Die unit;
	size_t n, i;

	if (r->dw.dwarf_getaranges(r->dwarf, &index, &n) || !n)
		return false;
	for (i = 0; i < r->n; i++) {
		if (r->type[i].kind ||
		    !r->dw.dwarf_addrdie(r->dwarf, r->addr[i] - r->bias,
					 &unit) ||
		    r->dw.dwarf_dieoffset(&unit) == last)
			continue;
		last = r->dw.dwarf_dieoffset(&unit);
		r->dw.dwarf_getfuncs(&unit, note, r, 0);
	}
	return true;
}

static void read_all(struct reader *r)
{
	Dwarf_Off at = 0, next;
	size_t head;
	Dwarf_Die unit;

	while (!r->dw.dwarf_nextcu(r->dwarf, at, &next, &head, NULL, NULL,
				   NULL)) {
		if (r->dw.dwarf_offdie(r->dwarf, at + head, &unit))
			r->dw.dwarf_getfuncs(&unit, note, r, 0);
		at = next;
	}
}

/* Run in the child. @fd: the file. Return: the exit status. */
static int read_types(struct reader *r, int fd)
{
	if (!find_libdw(&r->dw))
		return EOPNOTSUPP;
	if (!dp_aside_confine(MEMORY_MOST, -1))
		return EACCES;
	r->dwarf = r->dw.dwarf_begin(fd, DWARF_C_READ);
	if (!r->dwarf)
		return ENOENT;
	if (!read_some(r))
		read_all(r);
	return 0;
}

/* The alarm cannot be put off: the calls for that are forbidden. */
static void be_child(struct reader *r, int fd)
{
	static const int deadly[] = { SIGALRM, SIGINT, SIGTERM, SIGHUP };
	sigset_t none;
	size_t i;

	for (i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++)
		signal(deadly[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	alarm(DP_TYPES_SECONDS);
	_exit(read_types(r, fd));
}

static int read_aside(struct reader *r, int fd)
{
	pid_t child = fork();
	int status;

	if (!child)
		be_child(r, fd);
	if (child < 0)
		return -errno;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (WIFEXITED(status))
		return -WEXITSTATUS(status);
	return WTERMSIG(status) == SIGALRM ? -ETIMEDOUT : -EBADMSG;
}

static bool is_sane(struct dp_type t)
{
	switch (t.kind) {
	case DP_TYPE_VOID:
		return !t.bits;
	case DP_TYPE_FLOAT:
		return t.bits == 32 || t.bits == 64;
	case DP_TYPE_SIGNED:
	case DP_TYPE_UNSIGNED:
	case DP_TYPE_BOOL:
	case DP_TYPE_POINTER:
		return t.bits == 8 || t.bits == 16 || t.bits == 32 ||
		       t.bits == 64;
	default:
		return false;
	}
}

static int read_file(const struct reader *of, struct dp_type *type, int fd)
{
	size_t size = of->n * sizeof(*type), i;
	struct reader r = *of;
	struct dp_type t;
	int err;

	r.type = mmap(NULL, size, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (r.type == MAP_FAILED)
		return -ENOMEM;
	err = read_aside(&r, fd);
	for (i = 0; i < r.n; i++) {
		t = r.type[i];
		if (is_sane(t))
			type[i] = t;
	}
	munmap(r.type, size);
	return err;
}

int dp_types_returned(struct dp_modules *mods, const struct dp_module *m,
		      const u64 *addr, struct dp_type *type, size_t n)
{
	const struct reader r = { .addr = addr, .bias = m->bias, .n = n };
	struct dp_elf elf, debug;
	char root[32];
	int err;

	memset(type, 0, n * sizeof(*type));
	err = n ? dp_file_open_elf(mods, dp_mod_of(m), &elf) : -ENOENT;
	if (err)
		return dp_is_shortage(err) ? err : -ENOENT;
	if (dp_elf_section(&elf, ".debug_info")) {
		err = read_file(&r, type, elf.fd);
	} else {
		dp_file_root(mods, root, sizeof(root));
		err = dp_debugfile_open(&elf, root, m->path, &debug);
		if (!err) {
			err = read_file(&r, type, debug.fd);
			dp_elf_close(&debug);
		} else if (!dp_is_shortage(err)) {
			err = -ENOENT;
		}
	}
	dp_elf_close(&elf);
	return err;
}
