// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_codemap: ways into code.
 *
 * Oracles: assembly that knows its labels; objdump, for every direct branch of
 * some programs; and programs that run one instruction at a time: wherever one
 * arrives other than from the instruction before must be on the map.
 *
 * test_codemap --step CMD ARGS checks a whole run of any program.
 */
#include <dprobes/diag.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include "engine/insn/insn.h"
#include "sym/codemap.h"
#include "sym/elf/symtab.h"
#include "sym/elf/elf.h"
#include "sym/flow/map.h"
#include "sym/names/mod.h"
#include "sym/sym.h"
#include "sym/unwind/fdes.h"
#include "fixtures/codemap_fixtures.h"

#define LIBC "/lib/x86_64-linux-gnu/libc.so.6"
#define LIBSTDCXX "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"

static struct dp_modules *mods;
static struct dp_code_map *own;
static int mem;

static int open_self(void **state)
{
	const struct dp_module *m;
	struct dp_diag diag;

	mem = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	assert_int_equal(dp_modules_open(getpid(), mem, &mods, &diag), 0);
	m = dp_module_at(mods, (u64)codemap_asm);
	assert_non_null(m);
	assert_int_equal(dp_code_map_open(mods, m, &own, &diag), 0);
	return 0;
}

static int close_self(void **state)
{
	dp_code_map_close(own);
	dp_modules_close(mods);
	close(mem);
	return 0;
}

static bool is_target(const struct dp_code_map *map, u64 addr)
{
	u64 first = 0;

	if (!dp_code_map_target(map, addr - 1, addr + 1, &first))
		return false;
	assert_int_equal(first, addr);
	return true;
}

static void assembly_has_its_targets(void **state)
{
	const struct codemap_offsets *o = &codemap_offsets;
	u64 f = (u64)codemap_asm, start, end;
	size_t i;

	assert_true(is_target(own, f));
	assert_false(is_target(own, f + o->plain));
	for (i = 0; i < 4; i++)
		assert_true(is_target(own, f + o->cases[i]));
	assert_true(is_target(own, f + o->loop));
	assert_true(is_target(own, f + o->pad));
	assert_false(is_target(own, f + o->behind_call));
	assert_false(dp_code_map_target(own, f, f + o->cases[0], NULL));
	assert_true(dp_code_map_target(own, f, f + o->end, &start));
	assert_int_equal(start, f + o->cases[0]);
	assert_int_equal(dp_code_map_function(own, f + o->loop, &start, &end),
			 0);
	assert_int_equal(start, f);
	assert_int_equal(end, f + o->end);
	assert_false(dp_code_map_unresolved(own, f));
	assert_true(dp_code_map_boundary(own, f + o->behind_call));
	assert_false(dp_code_map_boundary(own, f + o->behind_call + 1));
}

static void tables_count_from_labels_too(void **state)
{
	u64 f = (u64)codemap_asm_pair;
	size_t i;

	for (i = 0; i < 3; i++)
		assert_true(is_target(own, f + codemap_pair_offsets[i]));
	assert_false(dp_code_map_unresolved(own, f));
}

static void computed_jumps_are_not_resolved(void **state)
{
	assert_true(dp_code_map_unresolved(own, (u64)codemap_asm_computed + 4));
	assert_false(dp_code_map_unresolved(own, (u64)codemap_asm_tail));
	assert_false(dp_code_map_unresolved(own, (u64)codemap_switch));
	assert_true(dp_code_map_unresolved(own, 16));
	assert_true(dp_code_map_unresolved(own, (u64)&own));
}

static void what_is_unknown_is_a_target(void **state)
{
	const struct dp_module *m = dp_module_at(mods, (u64)codemap_asm);
	u64 first;

	assert_true(dp_code_map_target(own, 16, 20, &first));
	assert_int_equal(first, 17);
	assert_true(dp_code_map_target(own, ~0ull - 8, ~0ull, NULL));
	assert_true(dp_code_map_target(own, (u64)codemap_asm,
				       m->text_end + 4096, NULL));
	assert_false(dp_code_map_target(own, 16, 17, NULL));
	assert_false(dp_code_map_target(own, 17, 16, NULL));
}

/* A file without a process. */
struct file {
	struct dp_elf elf;
	struct dp_fdes fdes;
	struct dp_symtab symtab;
	struct dp_dynsym dynsym;
	struct dp_code_map *map;
};

static int draw(struct file *f)
{
	dp_dynsym_load(&f->dynsym, &f->elf);
	dp_symtab_add_dynsym(&f->symtab, &f->dynsym, &f->elf);
	dp_symtab_add_symtab(&f->symtab, &f->elf, &f->elf);
	dp_fdes_load(&f->fdes, &f->elf);
	return dp_survey_run(&f->elf, &f->fdes, &f->symtab, &f->dynsym, 0,
			     &f->map);
}

static void drop(struct file *f)
{
	dp_code_map_close(f->map);
	dp_symtab_free(&f->symtab);
	dp_dynsym_free(&f->dynsym);
	dp_fdes_free(&f->fdes);
	dp_elf_close(&f->elf);
}

struct counts {
	size_t branches, insns, wrong;
};

/* "  401136:\tjne    401150 <main+0x10>", with any prefixes. */
static void check_line(const struct file *f, char *line, struct counts *n)
{
	char *tab = strchr(line, '\t'), *word, *next, *save, *rest;
	u64 addr = strtoull(line, &rest, 16), to;

	if (!tab || *rest != ':' || !dp_fdes_find(&f->fdes, addr))
		return;
	n->insns++;
	for (word = strtok_r(tab, " \t\n", &save); word; word = next) {
		next = strtok_r(NULL, " \t\n", &save);
		if (!next ||
		    !(word[0] == 'j' || !strncmp(word, "call", 4) ||
		      !strncmp(word, "loop", 4) || !strcmp(word, "xbegin")))
			continue;
		to = strtoull(next, &rest, 16);
		if (*rest || !dp_fdes_find(&f->fdes, to))
			return;
		n->branches++;
		if (!is_target(f->map, to) && !n->wrong++)
			print_message("# 0x%llx from 0x%llx\n",
				      (unsigned long long)to,
				      (unsigned long long)addr);
		return;
	}
}

static void check_objdump(const char *path)
{
	char command[512], line[1024];
	struct counts n = { 0 };
	struct file f = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	FILE *p;

	if (fd < 0)
		skip();
	assert_int_equal(dp_elf_open_fd(&f.elf, fd), 0);
	assert_int_equal(draw(&f), 0);
	snprintf(command, sizeof(command),
		 "objdump -d --no-show-raw-insn %s 2>/dev/null", path);
	p = popen(command, "r");
	assert_non_null(p);
	while (fgets(line, sizeof(line), p))
		check_line(&f, line, &n);
	pclose(p);
	print_message("# %zu branches, %zu instructions\n", n.branches,
		      n.insns);
	drop(&f);
	if (!n.insns)
		skip();
	assert_int_equal(n.wrong, 0);
	assert_true(n.branches > 1000);
}

static void branches_of_libc(void **state)
{
	check_objdump(LIBC);
}

static void branches_of_python(void **state)
{
	check_objdump("/usr/bin/python3");
}

static void branches_of_git(void **state)
{
	check_objdump("/usr/bin/git");
}

static void branches_of_sqlite(void **state)
{
	check_objdump("/usr/bin/sqlite3");
}

static void branches_of_libstdcxx(void **state)
{
	check_objdump(LIBSTDCXX);
}

/* A process that runs one instruction at a time. */
struct stepper {
	pid_t pid;
	int mem;
	struct dp_modules *mods;
	const struct dp_module *m; /* the last one looked at */
	struct {
		const struct dp_module *m;
		struct dp_code_map *map;
	} maps[64];
	size_t n_maps;
	u64 steps, arrivals, wrong;
};

static void stepper_forget(struct stepper *s)
{
	while (s->n_maps)
		dp_code_map_close(s->maps[--s->n_maps].map);
	if (s->mods)
		dp_modules_close(s->mods);
	s->mods = NULL;
	s->m = NULL;
}

static void stepper_look(struct stepper *s)
{
	char name[64];

	stepper_forget(s);
	close(s->mem);
	snprintf(name, sizeof(name), "/proc/%d/mem", s->pid);
	s->mem = open(name, O_RDONLY | O_CLOEXEC);
	assert_int_equal(dp_modules_open(s->pid, s->mem, &s->mods, NULL), 0);
}

/* NULL: not in a module (the vDSO). */
static struct dp_code_map *stepper_map(struct stepper *s, u64 addr)
{
	const struct dp_module *m = s->m;
	size_t i;

	if (!m || addr < m->text_start || addr >= m->text_end)
		m = dp_module_at(s->mods, addr);
	if (!m) {
		stepper_look(s);
		m = dp_module_at(s->mods, addr);
	}
	s->m = m;
	for (i = 0; i < s->n_maps; i++) {
		if (s->maps[i].m == m)
			return s->maps[i].map;
	}
	if (!m || i == 64 ||
	    dp_code_map_open(s->mods, m, &s->maps[i].map, NULL))
		return NULL;
	s->maps[i].m = m;
	s->n_maps++;
	return s->maps[i].map;
}

/* Callers of the map see calls for themselves. */
static bool is_behind_call(const struct stepper *s,
			   const struct dp_code_map *map, u64 addr)
{
	struct insn_facts f;
	u8 code[DP_INSN_MAX];
	u64 n;

	for (n = 2; n <= DP_INSN_MAX; n++) {
		if (dp_code_map_boundary(map, addr - n) &&
		    pread(s->mem, code, n, addr - n) == (ssize_t)n &&
		    !dp_insn_facts(code, n, &f) && f.len == n &&
		    (f.class == DP_INSN_CALL || f.class == DP_INSN_CALL_IND))
			return true;
	}
	return false;
}

/* Control went from one address to another; @f is about the first. */
static void check_step(struct stepper *s, u64 from, u64 to,
		       const struct insn_facts *f)
{
	struct dp_code_map *map = stepper_map(s, to);

	if (!map || to == from + f->len || to == from)
		return;
	s->arrivals++;
	if (is_target(map, to) || dp_code_map_unresolved(map, to) ||
	    is_behind_call(s, map, to))
		return;
	if (!s->wrong++)
		print_message("# 0x%llx in %s, from 0x%llx\n",
			      (unsigned long long)(to - s->m->bias), s->m->base,
			      (unsigned long long)from);
}

static u64 peek(pid_t pid, size_t reg)
{
	return ptrace(PTRACE_PEEKUSER, pid, reg, NULL);
}

static u64 pc_of(pid_t pid)
{
	return peek(pid, offsetof(struct user_regs_struct, rip));
}

/* A signal's end leads to wherever the signal came. */
static bool is_sigreturn(pid_t pid, const struct insn_facts *f)
{
	return f->class == DP_INSN_SYSCALL &&
	       peek(pid, offsetof(struct user_regs_struct, rax)) ==
		       SYS_rt_sigreturn;
}

/* A hypervisor that emulates it may forget the step, and the next instruction runs, too. */
static bool is_cpuid(const u8 *code)
{
	return code[0] == 0x0f && code[1] == 0xa2;
}

static void step_all(struct stepper *s, u64 limit)
{
	struct insn_facts f;
	u64 from, to = pc_of(s->pid);
	u8 code[DP_INSN_MAX];
	int status, sig = 0;
	bool back;

	for (; s->steps < limit; s->steps++) {
		from = to;
		memset(code, 0x90, sizeof(code));
		if (pread(s->mem, code, sizeof(code), from) <= 0 ||
		    dp_insn_facts(code, sizeof(code), &f))
			memset(&f, 0, sizeof(f));
		back = is_sigreturn(s->pid, &f) || is_cpuid(code);
		ptrace(PTRACE_SINGLESTEP, s->pid, NULL, sig);
		if (waitpid(s->pid, &status, 0) != s->pid ||
		    !WIFSTOPPED(status))
			break;
		sig = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
		to = pc_of(s->pid);
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8))
			stepper_look(s);
		else if (!back)
			check_step(s, from, to, &f);
	}
	kill(s->pid, SIGKILL);
	waitpid(s->pid, &status, 0);
	stepper_forget(s);
	close(s->mem);
	print_message("# %llu steps, %llu arrivals\n",
		      (unsigned long long)s->steps,
		      (unsigned long long)s->arrivals);
}

/* A child that has stopped and is traced. */
static void start(struct stepper *s, void (*run)(char **), char **argv)
{
	int status;

	s->mem = -1;
	s->pid = fork();
	if (!s->pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		run(argv);
		_exit(127);
	}
	assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
	assert_true(WIFSTOPPED(status));
	ptrace(PTRACE_SETOPTIONS, s->pid, NULL,
	       PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL);
	stepper_look(s);
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void work(char **argv)
{
	int v[] = { 5, 3, 9, 1, 7, 2 }, i;
	char text[256];
	jmp_buf jump;
	regex_t re;

	for (i = 0; i < 12; i++)
		codemap_switch(i);
	codemap_goto("abcabb@");
	codemap_goto_offsets("abcabb@");
	for (i = 0; i < 4; i++)
		codemap_asm(i);
	for (i = 0; i < 3; i++)
		codemap_asm_pair(i);
	codemap_asm_tail(1, codemap_asm);
	snprintf(text, sizeof(text), "%d %5.3f %-8s %c %x %p %zu %lld %e %%", 1,
		 2.5, "abc", 'd', 255, (void *)text, (size_t)3, 4ll, 1e100);
	qsort(v, 6, sizeof(*v), compare);
	sscanf("12 abc 3.5", "%d %9s %lf", v, text, (double *)(text + 64));
	if (!regcomp(&re, "(a|b)*c[0-9]+$", REG_EXTENDED))
		regexec(&re, "ababc123", 0, NULL, 0);
	if (!setjmp(jump))
		longjmp(jump, 1);
	_exit(0);
}

static void run_command(char **argv)
{
	execvp(argv[0], argv);
}

static void arrivals_of_a_run(void **state)
{
	struct stepper s = { 0 };

	start(&s, work, NULL);
	step_all(&s, 400000);
	assert_int_equal(s.wrong, 0);
	assert_true(s.arrivals > 1000);
}

static void arrivals_of_a_program(void **state)
{
	char *argv[] = { "sqlite3", ":memory:", "select 6*7", NULL };
	struct stepper s = { 0 };

	if (access("/usr/bin/sqlite3", X_OK))
		skip();
	start(&s, run_command, argv);
	step_all(&s, 300000);
	assert_int_equal(s.wrong, 0);
	assert_true(s.arrivals > 1000);
}

static u8 *read_file(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	u8 *p;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	*size = st.st_size;
	p = malloc(*size);
	assert_non_null(p);
	assert_int_equal(read(fd, p, *size), (ssize_t)*size);
	close(fd);
	return p;
}

static void try_image(const u8 *image, size_t size)
{
	struct file f = { 0 };
	u64 start, end;
	u8 *copy = malloc(size + 1);

	assert_non_null(copy);
	memcpy(copy, image, size);
	if (dp_elf_open_image(&f.elf, copy, size))
		return;
	if (!draw(&f)) {
		dp_code_map_target(f.map, 0, ~0ull, &start);
		dp_code_map_target(f.map, f.elf.eh.e_entry, ~0ull, &start);
		dp_code_map_function(f.map, f.elf.eh.e_entry, &start, &end);
	}
	drop(&f);
}

static u64 next_random(u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Any damage is survived: to the headers, to tables, to code. */
static void damaged_files_do_no_harm(void **state)
{
	static const u8 values[] = { 0, 1, 0x7f, 0x80, 0xff };
	u64 seed = 88172645463325252ull, r;
	u8 *image, *broken;
	size_t size, i, j, at;

	image = read_file("/bin/true", &size);
	broken = malloc(size);
	assert_non_null(broken);
	for (i = 0; i < 300; i++) {
		memcpy(broken, image, size);
		for (j = 0; j < 1 + i % 8; j++) {
			r = next_random(&seed);
			at = (r >> 8) % (i % 3 ? size : 1024);
			broken[at] = r & 1 ? values[r % 5] : r >> 40;
		}
		try_image(broken, size);
	}
	for (i = 0; i < 100; i++)
		try_image(image, next_random(&seed) % size);
	free(broken);
	free(image);
}

/* The entry of an image's PT_DYNAMIC with that tag. */
static Elf64_Dyn *dynamic_entry(u8 *image, s64 tag)
{
	const Elf64_Ehdr *eh = (void *)image;
	const Elf64_Phdr *ph = (void *)(image + eh->e_phoff);
	Elf64_Dyn *dyn;

	while (ph->p_type != PT_DYNAMIC)
		ph++;
	for (dyn = (void *)(image + ph->p_offset); dyn->d_tag != tag; dyn++)
		assert_int_not_equal(dyn->d_tag, DT_NULL);
	return dyn;
}

/* Return: what a map of the image comes to whose PT_DYNAMIC has another value. */
static int draw_otherwise(const u8 *image, size_t size, s64 tag, u64 value)
{
	struct file f = { 0 };
	u8 *copy = malloc(size);
	int err;

	assert_non_null(copy);
	memcpy(copy, image, size);
	if (tag)
		dynamic_entry(copy, tag)->d_un.d_val = value;
	assert_int_equal(dp_elf_open_image(&f.elf, copy, size), 0);
	err = draw(&f);
	drop(&f);
	return err;
}

/* Without them nothing tells where jumps through memory arrive. */
static void relocations_have_to_be_readable(void **state)
{
	size_t size;
	u8 *image = read_file("/bin/true", &size);

	assert_int_equal(draw_otherwise(image, size, 0, 0), 0);
	assert_int_equal(draw_otherwise(image, size, DT_RELA, 1ull << 40),
			 -EOPNOTSUPP);
	assert_int_equal(draw_otherwise(image, size, DT_RELASZ, 1ull << 30),
			 -EOPNOTSUPP);
	assert_int_equal(draw_otherwise(image, size, DT_RELASZ, size),
			 -EOPNOTSUPP);
	free(image);
}

extern void __asan_init(void) __attribute__((weak));

/* In a child: what drawing a map comes to with little memory to be had. */
static int draw_within(const char *path, u64 room)
{
	struct file f = { 0 };
	struct rlimit limit;
	FILE *p = fopen("/proc/self/statm", "r");
	unsigned long pages = 0;
	int err;

	if (!p || fscanf(p, "%lu", &pages) != 1)
		return 3;
	fclose(p);
	limit.rlim_cur = limit.rlim_max = pages * 4096 + room;
	err = setrlimit(RLIMIT_AS, &limit);
	if (!err)
		err = dp_elf_open_fd(&f.elf, open(path, O_RDONLY));
	if (!err)
		err = draw(&f);
	return err == -ENOMEM ? 1 : !err ? 0 : 2;
}

static void memory_may_run_out(void **state)
{
	size_t n = 0;
	int status;
	pid_t pid;

	if (__asan_init || access(LIBSTDCXX, R_OK))
		skip();
	do {
		pid = fork();
		if (!pid)
			_exit(draw_within(LIBSTDCXX, n << 17));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) <= 1);
		n++;
	} while (status);
	assert_true(n > 4);
}

static void the_file_has_to_be_there(void **state)
{
	struct dp_module m = *dp_module_at(mods, (u64)codemap_asm);
	struct dp_mod mod = { .pub = m, .missing = -ESTALE };
	struct dp_code_map *map;
	struct dp_diag diag;

	mod.read.have[DP_MOD_DYNSYM] = mod.read.have[DP_MOD_SYMTAB] =
		mod.read.have[DP_MOD_FDES] = true;
	mod.text = dp_maps_find(&mods->maps, (u64)&diag); /* of no file */
	assert_int_equal(dp_code_map_open(mods, &mod.pub, &map, &diag),
			 -ENOENT);
	assert_non_null(strstr(diag.text, "deleted or replaced"));
}

static int step_command(char **argv)
{
	struct stepper s = { 0 };

	start(&s, run_command, argv);
	step_all(&s, ~0ull);
	print_message("# %llu wrong\n", (unsigned long long)s.wrong);
	return s.wrong != 0;
}

/* Return: how many names the dynamic linker binds, each to its default version. */
static size_t compare_with_linker(void *lib, u64 base,
				  const struct dp_dynsym *ds)
{
	const Elf64_Sym *sym;
	size_t i, n = 0;
	bool hidden;
	u64 value, bound;

	for (i = 1; i < ds->n; i++) {
		sym = &ds->v[i];
		dp_dynsym_version(ds, i, &hidden);
		bound = (u64)dlsym(lib, dp_dynsym_name(ds, i));
		if (hidden || !bound || !dp_dynsym_defines(sym) ||
		    ELF64_ST_TYPE(sym->st_info) == STT_GNU_IFUNC)
			continue;
		assert_int_equal(
			dp_dynsym_find(ds, dp_dynsym_name(ds, i), &value), 0);
		assert_int_equal(base + value, bound);
		n++;
	}
	return n;
}

static void names_are_found_as_by_the_linker(void **state)
{
	static const char *const names[] = { "libc.so.6", "libm.so.6",
					     "ld-linux-x86-64.so.2",
					     "liblzma.so.5" };
	struct link_map *map;
	struct dp_dynsym ds;
	struct dp_elf elf;
	size_t i, n = 0;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		void *lib = dlopen(names[i], RTLD_LAZY);

		assert_non_null(lib);
		assert_int_equal(dlinfo(lib, RTLD_DI_LINKMAP, &map), 0);
		assert_int_equal(
			dp_elf_open_fd(&elf, open(map->l_name, O_RDONLY)), 0);
		assert_int_equal(dp_dynsym_load(&ds, &elf), 0);
		n += compare_with_linker(lib, map->l_addr, &ds);
		dp_dynsym_free(&ds);
		dp_elf_close(&elf);
		dlclose(lib);
	}
	assert_true(n > 1000);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(assembly_has_its_targets),
		cmocka_unit_test(tables_count_from_labels_too),
		cmocka_unit_test(computed_jumps_are_not_resolved),
		cmocka_unit_test(what_is_unknown_is_a_target),
		cmocka_unit_test(branches_of_libc),
		cmocka_unit_test(branches_of_python),
		cmocka_unit_test(branches_of_git),
		cmocka_unit_test(branches_of_sqlite),
		cmocka_unit_test(branches_of_libstdcxx),
		cmocka_unit_test(arrivals_of_a_run),
		cmocka_unit_test(arrivals_of_a_program),
		cmocka_unit_test(damaged_files_do_no_harm),
		cmocka_unit_test(relocations_have_to_be_readable),
		cmocka_unit_test(memory_may_run_out),
		cmocka_unit_test(the_file_has_to_be_there),
		cmocka_unit_test(names_are_found_as_by_the_linker),
	};

	if (argc > 2 && !strcmp(argv[1], "--step"))
		return step_command(argv + 2);
	/* Nothing large is kept for later, so that memory can run out. */
	mallopt(M_MMAP_THRESHOLD, 1 << 16);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("codemap", tests, open_self,
					   close_self);
}
