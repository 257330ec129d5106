// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * reader: debug information of functions, read by libdw in a child.
 *
 *   tool ─► fork ─► child: alarm, limits ─► libdw ─► answers into shared memory ─► _exit
 *     └─► waits for the child, which the alarm ends when it takes too long
 *
 * The file may be hostile. What it does to libdw happens in a child that may make only the
 * calls for memory and for reading. libdw is loaded in the child, so that no other command
 * waits for it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "sym/aside.h"
#include "sym/list.h"
#include "sym/names/mod.h"
#include "sym/types/reader.h"

#define MEMORY_MOST (4ull << 30) /* more than the tool has */
#define PEELS_MAX 64 /* a typedef of a const of a typedef of … */

static bool find_libdw(struct dp_libdw *dw)
{
	void *lib = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);

#define FIND(f)                                         \
	*(void **)&dw->f = lib ? dlsym(lib, #f) : NULL; \
	if (!dw->f)                                     \
		return false;
	DP_LIBDW(FIND)
#undef FIND
	return true;
}

u64 dp_reader_number(const struct dp_reader *r, Dwarf_Die *die,
		     unsigned int name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	if (!r->dw.dwarf_attr_integrate(die, name, &attr) ||
	    r->dw.dwarf_formudata(&attr, &value))
		return 0;
	return value;
}

bool dp_reader_type(const struct dp_reader *r, Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attr;

	return r->dw.dwarf_attr_integrate(die, DW_AT_type, &attr) &&
	       r->dw.dwarf_formref_die(&attr, type);
}

/* A type in a unit of its own is declared where it is used. */
static void follow_signature(const struct dp_reader *r, Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Die type;

	if (r->dw.dwarf_attr(die, DW_AT_signature, &attr) &&
	    r->dw.dwarf_formref_die(&attr, &type))
		*die = type;
}

bool dp_reader_peel(const struct dp_reader *r, Dwarf_Die *die)
{
	Dwarf_Die next;
	int i;

	for (i = 0; i < PEELS_MAX; i++) {
		switch (r->dw.dwarf_tag(die)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			/* "const void" has no type behind it. */
			if (!dp_reader_type(r, die, &next))
				return false;
			*die = next;
			break;
		default:
			follow_signature(r, die);
			return true;
		}
	}
	return true;
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

struct dp_type dp_reader_base(const struct dp_reader *r, Dwarf_Die *die)
{
	u64 bytes = dp_reader_number(r, die, DW_AT_byte_size);
	u64 encoding = dp_reader_number(r, die, DW_AT_encoding);
	struct dp_type type = { kind_of_base(encoding, bytes),
				(u8)(8 * bytes) };

	if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
		type.kind = DP_TYPE_UNKNOWN;
	return type.kind ? type : (struct dp_type){ 0 };
}

bool dp_reader_is_c(const struct dp_reader *r, Dwarf_Die *function)
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

static void note_at(const struct dp_reader *r, u64 pc, Dwarf_Die *function)
{
	u64 addr = pc + r->bias;
	const u64 *at =
		bsearch(&addr, r->addr, r->n, sizeof(*r->addr), dp_list_order);

	if (!at)
		return;
	while (at > r->addr && at[-1] == addr)
		at--;
	for (; at < r->addr + r->n && *at == addr; at++)
		if (!r->has(r, (size_t)(at - r->addr)))
			r->see(r, function, (size_t)(at - r->addr));
}

static void note_within(const struct dp_reader *r, Dwarf_Die *function)
{
	if (!r->has(r, 0) &&
	    r->dw.dwarf_haspc(function, r->addr[0] - r->bias) > 0)
		r->see(r, function, 0);
}

static int note(Dwarf_Die *function, void *arg)
{
	struct dp_reader *r = arg;
	Dwarf_Addr pc, unit, end;

	if (r->wanted)
		note_within(r, function);
	else if (!r->dw.dwarf_entrypc(function, &pc))
		note_at(r, pc, function);
	/* A function in several pieces: its entry is in the first. */
	else if (r->dw.dwarf_ranges(function, 0, &unit, &pc, &end) > 0)
		note_at(r, pc, function);
	return DWARF_CB_OK;
}

/* Read only the units that an index by address names. Return: false if there is no
 * index. */
static bool read_some(struct dp_reader *r)
{
	Dwarf_Aranges *index;
	Dwarf_Off last = 0;
	Dwarf_Die unit;
	size_t n, i;

	if (r->dw.dwarf_getaranges(r->dwarf, &index, &n) || !n)
		return false;
	for (i = 0; i < r->n; i++) {
		if (r->has(r, i) ||
		    !r->dw.dwarf_addrdie(r->dwarf, r->addr[i] - r->bias,
					 &unit) ||
		    r->dw.dwarf_dieoffset(&unit) == last)
			continue;
		last = r->dw.dwarf_dieoffset(&unit);
		r->dw.dwarf_getfuncs(&unit, note, r, 0);
	}
	return true;
}

static void read_all(struct dp_reader *r)
{
	Dwarf_Off at = 0, next;
	size_t head;
	Dwarf_Die unit;

	while (!r->dw.dwarf_nextcu(r->dwarf, at, &next, &head, NULL, NULL,
				   NULL)) {
		if (r->dw.dwarf_offdie(r->dwarf, at + head, &unit) &&
		    !(r->wanted &&
		      !r->dw.dwarf_haspc(&unit, r->addr[0] - r->bias)))
			r->dw.dwarf_getfuncs(&unit, note, r, 0);
		if (r->n == 1 && r->has(r, 0))
			break;
		at = next;
	}
}

/* Run in the child. @fd: the file. Return: the exit status. */
static int read_functions(struct dp_reader *r, int fd)
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
static void be_child(struct dp_reader *r, int fd)
{
	static const int deadly[] = { SIGALRM, SIGINT, SIGTERM, SIGHUP };
	sigset_t none;
	size_t i;

	for (i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++)
		signal(deadly[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	alarm(DP_TYPES_SECONDS);
	_exit(read_functions(r, fd));
}

static int read_aside(struct dp_reader *r, int fd)
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

static int read_file(struct dp_reader *r, int fd)
{
	void *out = mmap(NULL, r->size, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (out == MAP_FAILED)
		return -ENOMEM;
	r->out = out;
	return read_aside(r, fd);
}

static int read_debug_file(struct dp_reader *r, struct dp_modules *mods,
			   const struct dp_module *m, struct dp_elf *elf)
{
	struct dp_elf debug;
	char root[32];
	int err;

	dp_file_root(mods, root, sizeof(root));
	err = dp_debugfile_open(elf, root, m->path, &debug);
	if (err)
		return dp_is_shortage(err) ? err : -ENOENT;
	err = read_file(r, debug.fd);
	dp_elf_close(&debug);
	return err;
}

int dp_reader_read(struct dp_reader *r, struct dp_modules *mods,
		   const struct dp_module *m)
{
	struct dp_elf elf;
	int err = dp_file_open_elf(mods, dp_mod_of(m), &elf);

	r->out = NULL;
	r->bias = m->bias;
	if (err)
		return dp_is_shortage(err) ? err : -ENOENT;
	err = dp_elf_section(&elf, ".debug_info") ?
		      read_file(r, elf.fd) :
		      read_debug_file(r, mods, m, &elf);
	dp_elf_close(&elf);
	return err;
}
