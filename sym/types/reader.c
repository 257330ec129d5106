// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * reader: debug information of functions, read by libdw in a child.
 *
 *   tool ─► fork ─► child: alarm, limits ─► libdw ─► answers into shared memory ─► _exit
 *     ├─► opens files that the child needs: split.c
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
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "sym/aside.h"
#include "sym/list.h"
#include "sym/types/files.h"
#include "sym/types/pass.h"
#include "sym/types/reader.h"
#include "sym/types/split.h"

#define PEELS_MAX 64 /* a typedef of a const of a typedef of … */

bool dp_reader_libdw(struct dp_libdw *dw)
{
	void *lib = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);

#define FIND(f)                                         \
	*(void **)&dw->f = lib ? dlsym(lib, #f) : NULL; \
	if (!dw->f)                                     \
		return false;
	DP_LIBDW(FIND)
	DP_LIBDW_LINES(FIND)
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

bool dp_lang_is_c(int lang)
{
	return lang == DW_LANG_C || lang == DW_LANG_C89 ||
	       lang == DW_LANG_C99 || lang == DW_LANG_C11;
}

bool dp_lang_is_cxx(int lang)
{
	return lang == DW_LANG_C_plus_plus || lang == DW_LANG_C_plus_plus_03 ||
	       lang == DW_LANG_C_plus_plus_11 || lang == DW_LANG_C_plus_plus_14;
}

bool dp_reader_is_c(const struct dp_reader *r, Dwarf_Die *function)
{
	Dwarf_Die unit;
	int lang;

	if (!r->dw.dwarf_diecu(function, &unit, NULL, NULL))
		return false;
	lang = r->dw.dwarf_srclang(&unit);
	return dp_lang_is_c(lang) || dp_lang_is_cxx(lang) ||
	       lang == DW_LANG_Rust;
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

static void read_unit(struct dp_reader *r, Dwarf_Die *unit)
{
	if (dp_split_join(r, unit, r->line))
		r->dw.dwarf_getfuncs(unit, note, r, 0);
}

/* Read only the units that an index by address names. Return: false if it does not name one for
 * each address. */
static bool read_some(struct dp_reader *r)
{
	Dwarf_Aranges *index;
	Dwarf_Off last = 0;
	bool all = true;
	Dwarf_Die unit;
	size_t n, i;

	if (r->dw.dwarf_getaranges(r->dwarf, &index, &n) || !n)
		return false;
	for (i = 0; i < r->n; i++) {
		if (r->has(r, i))
			continue;
		if (!r->dw.dwarf_addrdie(r->dwarf, r->addr[i] - r->bias,
					 &unit)) {
			all = false;
			continue;
		}
		if (r->dw.dwarf_dieoffset(&unit) == last)
			continue;
		last = r->dw.dwarf_dieoffset(&unit);
		read_unit(r, &unit);
	}
	return all;
}

bool dp_reader_next_unit(const struct dp_reader *r, Dwarf_Off *at,
			 Dwarf_Die *unit)
{
	Dwarf_Off this, next;
	size_t head;

	while (!r->dw.dwarf_nextcu(r->dwarf, *at, &next, &head, NULL, NULL,
				   NULL)) {
		this = *at + head;
		*at = next;
		if (r->dw.dwarf_offdie(r->dwarf, this, unit))
			return true;
	}
	return false;
}

static void read_all(struct dp_reader *r)
{
	Dwarf_Off at = 0;
	Dwarf_Die unit;

	while (!(r->n == 1 && r->has(r, 0)) &&
	       dp_reader_next_unit(r, &at, &unit))
		if (!r->wanted ||
		    r->dw.dwarf_haspc(&unit, r->addr[0] - r->bias))
			read_unit(r, &unit);
}

void dp_reader_walk(struct dp_reader *r)
{
	if (r->work)
		r->work(r);
	else if (!read_some(r))
		read_all(r);
}

/* Descriptors of the child */
enum { LINE, DEBUG, ALT, DESCRIPTORS };

static __attribute__((noreturn)) void end_for_memory(void)
{
	_exit(EFBIG);
}

/* Return: NULL if there is nothing in it that can be read */
static Dwarf *open_info(const struct dp_reader *r, int fd)
{
	Dwarf *dwarf = r->dw.dwarf_begin(fd, DWARF_C_READ);
	Dwarf_Off next;
	size_t head;

	if (!dwarf ||
	    r->dw.dwarf_nextcu(dwarf, 0, &next, &head, NULL, NULL, NULL))
		return NULL;
	r->dw.dwarf_new_oom_handler(dwarf, end_for_memory);
	return dwarf;
}

/* Return: the exit status */
static int begin(struct dp_reader *r, const struct dp_files *f)
{
	Dwarf *alt = f->has_alt ? open_info(r, ALT) : NULL;

	r->dwarf = open_info(r, DEBUG);
	if (!r->dwarf || (f->has_alt && !alt))
		return f->zstd ? EPROTONOSUPPORT : EBADMSG;
	if (alt)
		r->dw.dwarf_setalt(r->dwarf, alt);
	return 0;
}

/* Run in the child. Return: the exit status. */
static int read_functions(struct dp_reader *r, const struct dp_files *f)
{
	int status;

	if (!dp_reader_libdw(&r->dw))
		return EOPNOTSUPP;
	if (!dp_aside_confine(DP_FILES_MEMORY, LINE))
		return EACCES;
	status = begin(r, f);
	if (!status)
		dp_reader_walk(r);
	return status;
}

/* The alarm cannot be put off: the calls for that are forbidden. */
static void be_child(struct dp_reader *r, const struct dp_files *f, int line)
{
	static const int deadly[] = { SIGALRM, SIGINT, SIGTERM, SIGHUP };
	const int fd[DESCRIPTORS] = { line, f->debug->fd,
				      f->has_alt ? f->alt.fd : -1 };
	sigset_t none;
	size_t i;

	for (i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++)
		signal(deadly[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	alarm(DP_TYPES_SECONDS);
	r->line = dp_pass_keep(fd, DESCRIPTORS, LINE);
	dp_aside_alone(r->out);
	_exit(read_functions(r, f));
}

/* What libdw does when it finds no memory is to exit with this status. */
#define EXIT_NO_MEMORY 1

static int wait_for(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGALRM ? -ETIMEDOUT : -EBADMSG;
	return WEXITSTATUS(status) == EXIT_NO_MEMORY ? -EFBIG :
						       -WEXITSTATUS(status);
}

static int read_aside(struct dp_reader *r, const struct dp_files *f)
{
	struct dp_split split = { .debug = f->debug,
				  .program = &f->program,
				  .root = f->root };
	int pair[2], err;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	child = fork();
	err = child < 0 ? -errno : 0;
	if (!child)
		be_child(r, f, pair[1]);
	close(pair[1]);
	if (!err) {
		dp_split_serve(&split, pair[0]);
		err = wait_for(child);
	}
	close(pair[0]);
	return err ?: split.missing ? -ENOLINK : 0;
}

static bool has_all(const struct dp_reader *r)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		if (!r->has(r, i))
			return false;
	return true;
}

static int read_files(struct dp_reader *r, const struct dp_files *f)
{
	void *out = mmap(NULL, r->size, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int err;

	if (out == MAP_FAILED)
		return -ENOMEM;
	r->out = out;
	err = read_aside(r, f);
	/* What is missing may be what was not asked for. */
	return err == -ENOLINK && has_all(r) ? 0 : err;
}

int dp_reader_read(struct dp_reader *r, struct dp_modules *mods,
		   const struct dp_module *m)
{
	struct dp_files files;
	int err = dp_files_open(&files, mods, m);

	r->out = NULL;
	r->bias = m->bias;
	if (err)
		return err;
	err = read_files(r, &files);
	dp_files_close(&files);
	return err;
}
