// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_sym: names and addresses of this process and of children.
 *
 * Oracles: the dynamic linker (dlsym, dlvsym, dl_iterate_phdr), the addresses
 * of the fixtures, and binutils where they are installed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "sym/names/mod.h"
#include "sym/sym.h"
#include "fixtures/sym_fixtures.h"

#define LIBC "libc.so.6"
#define PYTHON "/usr/bin/python3"

/* A process under test: this one, or a child that has said it is ready. */
struct victim {
	pid_t pid;
	int mem;
	struct dp_modules *mods;
	struct dp_diag diag;
};

int sym_shadowed(int x); /* that of sym_dup_a.c */

static struct victim self;

static void look(struct victim *v, pid_t pid)
{
	char name[64];

	v->pid = pid;
	snprintf(name, sizeof(name), "/proc/%d/mem", pid);
	v->mem = open(name, O_RDONLY | O_CLOEXEC);
	assert_true(v->mem >= 0);
	assert_int_equal(dp_modules_open(pid, v->mem, &v->mods, &v->diag), 0);
}

static void drop(struct victim *v)
{
	dp_modules_close(v->mods);
	close(v->mem);
	if (v->pid == getpid())
		return;
	kill(v->pid, SIGKILL);
	waitpid(v->pid, NULL, 0);
}

/* Starts a program that writes a byte to stdout once it is up. */
static void start(struct victim *v, const char *path, char *const argv[])
{
	int p[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(p), 0);
	pid = fork();
	if (!pid) {
		dup2(p[1], 1);
		close(p[0]);
		close(p[1]);
		execv(path, argv);
		_exit(127);
	}
	close(p[1]);
	assert_int_equal(read(p[0], &c, 1), 1);
	close(p[0]);
	look(v, pid);
}

static void start_copy(struct victim *v, char *path)
{
	char *argv[] = { path, "--pause", NULL };

	start(v, path, argv);
}

static u64 find_in(struct victim *v, const char *module, const char *name)
{
	struct dp_symbols s;
	u64 addr;
	int err = dp_symbols_find(v->mods, module, name, &s, NULL, &v->diag);

	if (err)
		print_message("# %s:%s: %s\n", module, name, v->diag.text);
	assert_int_equal(err, 0);
	assert_int_equal(s.n, 1);
	addr = s.v[0].addr;
	dp_symbols_free(&s);
	return addr;
}

static int fail_in(struct victim *v, const char *module, const char *name)
{
	struct dp_symbols s;
	int err = dp_symbols_find(v->mods, module, name, &s, NULL, &v->diag);

	assert_int_not_equal(err, 0);
	assert_int_equal(s.n, 0);
	assert_true(v->diag.text[0]);
	return err;
}

static void assert_says(struct victim *v, const char *words)
{
	if (!strstr(v->diag.text, words))
		fail_msg("\"%s\" is not in \"%s\"", words, v->diag.text);
}

static const struct dp_module *module_named(struct victim *v, const char *name)
{
	const struct dp_module **list, *m;
	size_t n;

	assert_int_equal(dp_modules_match(v->mods, name, &list, &n, &v->diag),
			 0);
	assert_int_equal(n, 1);
	m = list[0];
	free(list);
	return m;
}

static const struct dp_module *main_of(struct victim *v)
{
	return module_named(v, "");
}

static void *libc_handle(void)
{
	void *h = dlopen(LIBC, RTLD_NOLOAD | RTLD_LAZY);

	assert_non_null(h);
	return h;
}

static int check_bias(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct dp_module *m;
	u64 text = 0;
	int i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_LOAD &&
		    (info->dlpi_phdr[i].p_flags & PF_X))
			text = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
	}
	if (!text || strstr(info->dlpi_name, "vdso"))
		return 0;
	m = dp_module_at(self.mods, text);
	assert_non_null(m);
	assert_int_equal(m->bias, info->dlpi_addr);
	if (!info->dlpi_name[0])
		assert_true(m->is_main);
	(*(size_t *)arg)++;
	return 0;
}

static void bias_is_the_linkers(void **state)
{
	size_t n = 0;

	dl_iterate_phdr(check_bias, &n);
	assert_int_equal(n, dp_modules_count(self.mods));
}

static void roles_are_told_apart(void **state)
{
	size_t i, mains = 0, linkers = 0;
	const struct dp_module *m;

	for (i = 0; i < dp_modules_count(self.mods); i++) {
		m = dp_modules_get(self.mods, i);
		mains += m->is_main;
		linkers += m->is_linker;
		if (m->is_linker)
			assert_non_null(strstr(m->base, "ld-"));
		assert_true(m->text_start < m->text_end);
		assert_ptr_equal(dp_module_at(self.mods, m->text_start), m);
	}
	assert_int_equal(mains, 1);
	assert_int_equal(linkers, 1);
	assert_null(dp_modules_get(self.mods, i));
	assert_null(dp_module_at(self.mods, 0));
	assert_null(dp_module_at(self.mods, (u64)&mains));
}

/* All that the linker has loaded for the program stay; what comes later can go. */
static void what_stays_is_needed(void **state)
{
	void *later = dlopen("libutil.so.1", RTLD_NOW | RTLD_LOCAL);
	size_t i, others = 0;
	struct dp_modules *mods;

	assert_non_null(later);
	assert_int_equal(dp_modules_open(0, -1, &mods, NULL), 0);
	for (i = 0; i < dp_modules_count(mods); i++) {
		const struct dp_module *m = dp_modules_get(mods, i);
		bool before = dp_module_at(self.mods, m->text_start) != NULL;

		assert_int_equal(dp_module_stays(mods, m), before);
		others += !before;
	}
	assert_int_equal(others, 1);
	dp_modules_close(mods);
	dlclose(later);
}

static void names_are_the_linkers(void **state)
{
	static const char *const names[] = {
		"malloc",	  "free",   "printf",  "getpid",   "qsort",
		"pthread_create", "memcpy", "memmove", "memset",   "strlen",
		"strchr",	  "strcmp", "_exit",   "realpath", "dlopen",
	};
	void *libc = libc_handle();
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_int_equal(find_in(&self, LIBC, names[i]),
				 (u64)dlsym(libc, names[i]));
	dlclose(libc);
}

static void ifuncs_are_resolved(void **state)
{
	void *libc = libc_handle();
	struct dp_symbols s;
	size_t i, n = 0, skipped;

	assert_int_equal(dp_symbols_find(self.mods, LIBC, "*", &s, &skipped,
					 &self.diag),
			 0);
	assert_true(s.n > 1500);
	for (i = 0; i < s.n; i++) {
		if (i)
			assert_true(s.v[i - 1].addr < s.v[i].addr);
		if (!s.v[i].ifunc || !dlsym(libc, s.v[i].name))
			continue;
		assert_int_equal(s.v[i].addr, (u64)dlsym(libc, s.v[i].name));
		n++;
	}
	print_message("# %zu functions, %zu IFUNCs skipped\n", s.n, skipped);
	dp_symbols_free(&s);
	dlclose(libc);
	assert_int_equal(find_in(&self, "", "sym_chosen"),
			 (u64)sym_implementation);
}

static void versions_select(void **state)
{
	void *libc = libc_handle();
	u64 old = (u64)dlvsym(libc, "realpath", "GLIBC_2.2.5");
	u64 new = (u64)dlvsym(libc, "realpath", "GLIBC_2.3");

	assert_int_equal(find_in(&self, LIBC, "realpath"), new);
	assert_int_equal(find_in(&self, LIBC, "realpath@GLIBC_2.3"), new);
	assert_int_equal(find_in(&self, LIBC, "realpath@@GLIBC_2.3"), new);
	assert_int_equal(find_in(&self, LIBC, "realpath@GLIBC_2.2.5"), old);
	assert_int_equal(fail_in(&self, LIBC, "realpath@@GLIBC_2.2.5"),
			 -ENOENT);
	assert_int_equal(fail_in(&self, LIBC, "realpath@NONE"), -ENOENT);
	assert_says(&self, "realpath@GLIBC_2.2.5");
	dlclose(libc);
}

/* One line of nm: "VALUE T name@@VERSION". */
static size_t check_nm_line(const struct dp_module *m, char *line)
{
	unsigned long long value;
	char type, name[512], *at;
	u64 addr;

	if (sscanf(line, "%llx %c %511s", &value, &type, name) != 3 ||
	    !strchr("TWt", type))
		return 0;
	at = strstr(name, "@@");
	if (at)
		*at = '\0';
	addr = find_in(&self, LIBC, name);
	if (addr - m->bias != value)
		fail_msg("%s: 0x%llx, nm says 0x%llx", name,
			 (unsigned long long)(addr - m->bias), value);
	return 1;
}

static void exports_are_those_of_nm(void **state)
{
	const struct dp_module *m = module_named(&self, LIBC);
	char command[512], line[1024];
	size_t n = 0;
	FILE *f;

	snprintf(command, sizeof(command),
		 "nm -D --defined-only %s 2>/dev/null", m->path);
	f = popen(command, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		n += check_nm_line(m, line);
	pclose(f);
	if (!n)
		skip();
	assert_true(n > 1000);
}

static void addresses_have_the_linkers_names(void **state)
{
	struct dp_symbols s;
	struct dp_symbol at;
	size_t i, n = 0;
	Dl_info info;

	assert_int_equal(
		dp_symbols_find(self.mods, LIBC, "*", &s, NULL, &self.diag), 0);
	for (i = 0; i < s.n; i++) {
		assert_int_equal(dp_symbol_at(self.mods, s.v[i].addr, &at), 0);
		assert_int_equal(at.addr, s.v[i].addr);
		if (!s.v[i].global || s.v[i].ifunc || s.v[i].size < 2 ||
		    !dladdr((void *)s.v[i].addr, &info) ||
		    (u64)info.dli_saddr != s.v[i].addr)
			continue;
		assert_int_equal(dp_symbol_at(self.mods, s.v[i].addr + 1, &at),
				 0);
		assert_int_equal(at.addr, s.v[i].addr);
		n++;
	}
	assert_true(n > 1000);
	dp_symbols_free(&s);
	assert_int_equal(dp_symbol_at(self.mods, find_in(&self, LIBC, "malloc"),
				      &at),
			 0);
	assert_string_equal(at.name, "malloc");
	assert_true(at.global);
	assert_int_equal(dp_symbol_at(self.mods, 16, &at), -ENOENT);
}

static void two_statics_are_ambiguous(void **state)
{
	const struct dp_module *m = main_of(&self);
	unsigned long long offset;
	struct dp_symbol at;
	u64 addr, back;
	char *plus;

	assert_int_equal(fail_in(&self, "", "sym_twice"), -EINVAL);
	assert_says(&self, "sym_dup_a.c");
	assert_says(&self, "sym_dup_b.c");
	plus = strstr(self.diag.text, ":+0x");
	assert_non_null(plus);
	offset = strtoull(plus + 2, NULL, 16);
	assert_int_equal(dp_module_file_addr(self.mods, m, offset, &addr,
					     &self.diag),
			 0);
	assert_int_equal(dp_symbol_at(self.mods, addr, &at), 0);
	assert_string_equal(at.name, "sym_twice");
	assert_false(at.global);
	assert_int_equal(at.addr, addr);
	assert_int_equal(dp_module_addr_file(self.mods, addr, &back), 0);
	assert_int_equal(back, offset);
}

static void exported_wins_over_static(void **state)
{
	assert_int_equal(sym_call_a(1) + sym_call_b(1), 2 + 3 + 5 + 6);
	assert_int_equal(find_in(&self, "", "sym_shadowed"), (u64)sym_shadowed);
}

static void fragments_are_found_by_name_only(void **state)
{
	struct dp_symbols s;

	find_in(&self, "", "sym_piece.cold");
	assert_int_equal(dp_symbols_find(self.mods, "", "sym_piece*", &s, NULL,
					 &self.diag),
			 0);
	assert_int_equal(s.n, 1);
	assert_string_equal(s.v[0].name, "sym_piece");
	dp_symbols_free(&s);
}

static void aliases_are_one(void **state)
{
	struct dp_symbols s;

	assert_int_equal(find_in(&self, "", "sym_second_alias"),
			 (u64)sym_first_alias);
	assert_int_equal(dp_symbols_find(self.mods, NULL, "sym_*_alias", &s,
					 NULL, &self.diag),
			 0);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].addr, (u64)sym_first_alias);
	dp_symbols_free(&s);
}

static void assembly_is_found(void **state)
{
	assert_int_equal(find_in(&self, "", "sym_assembly"), (u64)sym_assembly);
	find_in(&self, "", "_start");
	assert_int_equal(fail_in(&self, "", "_etext"), -ENOENT);
}

static void modules_go_by_many_names(void **state)
{
	const struct dp_module *libc = module_named(&self, LIBC);
	char link[] = "/tmp/dp-sym-link.XXXXXX";

	assert_ptr_equal(module_named(&self, libc->path), libc);
	assert_ptr_equal(module_named(&self, "libc.s*"), libc);
	assert_ptr_equal(module_named(&self, "*/libc.so.*"), libc);
	assert_ptr_equal(module_named(&self, main_of(&self)->base),
			 main_of(&self));
	close(mkstemp(link));
	unlink(link);
	assert_int_equal(symlink(libc->path, link), 0);
	assert_ptr_equal(module_named(&self, link), libc);
	unlink(link);
	assert_int_equal(fail_in(&self, "libc", "malloc"), -ENOENT);
	assert_says(&self, "no module \"libc\"");
	assert_says(&self, LIBC);
}

static void misses_are_explained(void **state)
{
	assert_int_equal(fail_in(&self, LIBC, "mallok"), -ENOENT);
	assert_says(&self, "no function \"mallok\" in libc.so.6; near names: "
			   "malloc");
	assert_int_equal(fail_in(&self, LIBC, "PTHREAD_creat"), -ENOENT);
	assert_says(&self, "pthread_create");
	assert_int_equal(fail_in(&self, "", "l64a"), -ENOENT);
	assert_says(&self, "has no function \"l64a\"; libc.so.6 has one: write "
			   "libc.so.6:l64a");
	assert_int_equal(fail_in(&self, LIBC, "nosuch_*"), -ENOENT);
	assert_int_equal(fail_in(&self, "lib*", "nosuch"), -ENOENT);
	assert_int_equal(fail_in(&self, LIBC, ""), -ENOENT);
	assert_int_equal(fail_in(&self, LIBC, "@"), -ENOENT);
}

static void offsets_outside_code_are_refused(void **state)
{
	u64 addr;

	assert_int_equal(dp_module_file_addr(self.mods, main_of(&self),
					     1ull << 40, &addr, &self.diag),
			 -ENOENT);
	assert_says(&self, "0x10000000000");
	assert_int_equal(dp_module_addr_file(self.mods, (u64)&addr, &addr),
			 -ENOENT);
}

static void dynsym_has_data_too(void **state)
{
	const struct dp_module *m = module_named(&self, LIBC);
	void *libc = libc_handle();
	u64 addr;

	assert_int_equal(dp_module_dynsym(self.mods, m, "environ", &addr), 0);
	assert_int_equal(addr, (u64)dlsym(libc, "environ"));
	assert_int_equal(dp_module_dynsym(self.mods, m, "_r_debug", &addr),
			 -ENOENT);
	assert_int_equal(dp_module_dynsym(self.mods, m, "errno", &addr),
			 -ENOENT);
	dlclose(libc);
}

static void sequences_are_read_from_memory(void **state)
{
	struct dp_range *r;
	size_t n;

	assert_int_equal(dp_module_rseq(self.mods, main_of(&self), &r, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(r[0].start, (u64)sym_in_sequence);
	assert_int_equal(r[0].end - r[0].start, sym_sequence_length);
	free(r);
	assert_int_equal(dp_module_rseq(self.mods, module_named(&self, LIBC),
					&r, &n),
			 0);
	assert_int_equal(n, 0);
	free(r);
}

/* That a file has too many names to be read is known of its next module, too. */
static void why_there_are_no_names_is_adopted(void **state)
{
	struct dp_mod from = { .read.have[DP_MOD_SYMTAB] = true,
			       .missing = -EFBIG };
	struct dp_mod to = { .read.have[DP_MOD_SYMTAB] = false };

	dp_module_adopt(&to.pub, &from.pub);
	assert_true(to.read.have[DP_MOD_SYMTAB]);
	assert_int_equal(to.missing, -EFBIG);
	/* A file that was away may be back. */
	from = (struct dp_mod){ .read.have[DP_MOD_FDES] = true,
				.missing = -ESTALE };
	to = (struct dp_mod){ .read.have[DP_MOD_FDES] = false };
	dp_module_adopt(&to.pub, &from.pub);
	assert_int_equal(to.missing, 0);
}

static void static_names_come_from_debug_files(void **state)
{
	struct dp_symbols s;
	int err = dp_symbols_find(self.mods, LIBC, "_int_malloc", &s, NULL,
				  &self.diag);

	if (access("/usr/lib/debug/.build-id", F_OK) || err) {
		print_message("# SKIP no debug file of libc: %s\n",
			      self.diag.text);
		dp_symbols_free(&s);
		skip();
	}
	assert_false(s.v[0].global);
	assert_true(s.v[0].size > 0);
	dp_symbols_free(&s);
}

static void no_such_process(void **state)
{
	struct dp_modules *mods;
	struct dp_diag diag;

	assert_int_equal(dp_modules_open(0x3ffffff, -1, &mods, &diag), -ESRCH);
	assert_non_null(strstr(diag.text, "no process 67108863"));
}

static void a_child_is_looked_up(void **state)
{
	char *argv[] = { "sh", "-c", "echo; kill -STOP $$", NULL };
	struct victim v;

	start(&v, "/bin/sh", argv);
	assert_true(main_of(&v)->is_main);
	assert_int_equal(find_in(&v, LIBC, "malloc") -
				 module_named(&v, LIBC)->bias,
			 find_in(&self, LIBC, "malloc") -
				 module_named(&self, LIBC)->bias);
	assert_int_equal(find_in(&v, LIBC, "memcpy") -
				 module_named(&v, LIBC)->bias,
			 find_in(&self, LIBC, "memcpy") -
				 module_named(&self, LIBC)->bias);
	drop(&v);
}

/* One line of readelf: "… FDE cie=… pc=START..END". */
static size_t check_fde_line(struct victim *v, const char *line, size_t *equal)
{
	unsigned long long start, end;
	const char *pc = strstr(line, " pc=");
	u64 from, to, mid;

	if (!strstr(line, " FDE ") || !pc ||
	    sscanf(pc, " pc=%llx..%llx", &start, &end) != 2 || start == end)
		return 0;
	mid = main_of(v)->bias + start + (end - start) / 2;
	assert_int_equal(dp_function_bounds(v->mods, mid, &from, &to), 0);
	assert_true(from <= mid && mid < to);
	*equal += from == start && to == end;
	return 1;
}

static void stripped_functions_have_bounds(void **state)
{
	char *argv[] = { "python3", "-c",
			 "import time; print(flush=True); time.sleep(60)",
			 NULL };
	char command[512], line[1024];
	size_t n = 0, equal = 0;
	struct victim v;
	FILE *f;

	if (access(PYTHON, X_OK))
		skip();
	start(&v, PYTHON, argv);
	assert_ptr_equal(module_named(&v, "python3"), main_of(&v));
	find_in(&v, "", "PyObject_Call");
	find_in(&v, "", "_start");
	snprintf(command, sizeof(command), "readelf -wF %s 2>/dev/null",
		 main_of(&v)->path);
	f = popen(command, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		n += check_fde_line(&v, line, &equal);
	pclose(f);
	drop(&v);
	print_message("# %zu of %zu FDEs are the bounds\n", equal, n);
	if (!n)
		skip();
	assert_true(equal * 100 >= n * 99);
}

static bool run(const char *format, const char *dir)
{
	char command[2048];

	snprintf(command, sizeof(command), format, dir);
	return !system(command);
}

static void make_dir(char *dir)
{
	assert_non_null(mkdtemp(dir));
	assert_true(run("cp /proc/$PPID/exe %s/exe", dir));
}

static u64 own_offset(const void *function)
{
	u64 offset;

	assert_int_equal(dp_module_addr_file(self.mods, (u64)function, &offset),
			 0);
	return offset;
}

static void assert_same_offset(struct victim *v, u64 addr, const void *function)
{
	u64 offset;

	assert_int_equal(dp_module_addr_file(v->mods, addr, &offset), 0);
	assert_int_equal(offset, own_offset(function));
}

static void minidebuginfo_is_unpacked(void **state)
{
	char dir[] = "/tmp/dp-sym.XXXXXX", path[64];
	struct victim v;
	u64 addr;

	make_dir(dir);
	if (!run("cd %s && cp exe all && objcopy -S --keep-section=.note.* "
		 "--keep-symbol=sym_call_a all m 2>/dev/null && "
		 "objcopy --only-keep-debug -g all m && xz m && "
		 "objcopy -S --add-section .gnu_debugdata=m.xz exe",
		 dir)) {
		print_message("# SKIP xz or objcopy is not installed\n");
		run("rm -r %s", dir);
		skip();
	}
	snprintf(path, sizeof(path), "%s/exe", dir);
	start_copy(&v, path);
	addr = find_in(&v, "", "sym_call_a");
	assert_same_offset(&v, addr, sym_call_a);
	drop(&v);
	run("rm -r %s", dir);
}

static void too_much_to_unpack_is_refused(void **state)
{
	char dir[] = "/tmp/dp-sym.XXXXXX", path[64];
	struct victim v;

	make_dir(dir);
	if (!run("cd %s && head -c 100M /dev/zero | xz -0 > m.xz && "
		 "objcopy -S --add-section .gnu_debugdata=m.xz exe",
		 dir)) {
		print_message("# SKIP xz or objcopy is not installed\n");
		run("rm -r %s", dir);
		skip();
	}
	snprintf(path, sizeof(path), "%s/exe", dir);
	start_copy(&v, path);
	assert_int_equal(fail_in(&v, "", "sym_call_a"), -ENOENT);
	assert_says(
		&v,
		"exe has no names to look up: its symbol tables are larger than dprobes reads");
	drop(&v);
	run("rm -r %s", dir);
}

/* Of the file's table of symbols, one that stands at its end, of @size bytes, or, of
 * symbols that are copies of a function's, @n. */
static void enlarge(const char *path, u64 size, size_t n)
{
	int fd = open(path, O_RDWR);
	Elf64_Sym sym, many[4096];
	struct stat st;
	Elf64_Ehdr eh;
	Elf64_Shdr sh;
	u64 at;
	size_t i;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(pread(fd, &eh, sizeof(eh), 0), sizeof(eh));
	for (at = eh.e_shoff, i = 0; i < eh.e_shnum; i++, at += sizeof(sh)) {
		assert_int_equal(pread(fd, &sh, sizeof(sh), (off_t)at),
				 sizeof(sh));
		if (sh.sh_type == SHT_SYMTAB)
			break;
	}
	assert_true(i < eh.e_shnum);
	for (i = 0; i < sh.sh_size; i += sizeof(sym)) {
		assert_int_equal(pread(fd, &sym, sizeof(sym),
				       (off_t)(sh.sh_offset + i)),
				 sizeof(sym));
		if (ELF64_ST_TYPE(sym.st_info) == STT_FUNC && sym.st_value)
			break;
	}
	assert_true(i < sh.sh_size);
	sh.sh_offset = ((u64)st.st_size + 7) & ~7ull;
	sh.sh_size = n ? n * sizeof(sym) : size;
	for (i = 0; i < 4096; i++)
		many[i] = sym;
	for (i = 0; i < n; i += 4096)
		assert_int_equal(
			pwrite(fd, many, sizeof(many),
			       (off_t)(sh.sh_offset + i * sizeof(sym))),
			sizeof(many));
	if (!n)
		assert_int_equal(ftruncate(fd, (off_t)(sh.sh_offset + size)),
				 0);
	assert_int_equal(pwrite(fd, &sh, sizeof(sh), (off_t)at), sizeof(sh));
	close(fd);
}

/* @n functions in a table of @size bytes. Return: are they read? */
static bool reads(u64 size, size_t n)
{
	char dir[] = "/tmp/dp-sym.XXXXXX", path[64];
	struct dp_symbols s;
	struct victim v;
	int err;

	make_dir(dir);
	snprintf(path, sizeof(path), "%s/exe", dir);
	enlarge(path, size, n);
	start_copy(&v, path);
	err = dp_symbols_find(v.mods, "", "main", &s, NULL, &v.diag);
	/* It is among those that are exported, or not. */
	if (err)
		assert_int_equal(err, -ENOENT);
	else
		dp_symbols_free(&s);
	err = strstr(v.diag.text,
		     "exe has no names to look up: its symbol tables are larger than dprobes reads (4194304 functions, 512 MB a table, 64 MB unpacked)") !=
	      NULL;
	/* Nor are some of them taken for all. */
	if (err)
		assert_int_equal(fail_in(&v, "", "m*n"), -ENOENT);
	drop(&v);
	run("rm -r %s", dir);
	return !err;
}

static void tables_are_not_of_any_size(void **state)
{
	assert_true(reads(0, 4096));
	assert_false(reads(513ull << 20, 0));
	assert_false(reads(0, (4u << 20) + 4096));
}

/* Zeroes what tells where the section headers are. */
static void forget_sections(const char *path)
{
	int fd = open(path, O_RDWR);
	Elf64_Ehdr eh;

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &eh, sizeof(eh), 0), sizeof(eh));
	eh.e_shoff = 0;
	eh.e_shnum = 0;
	eh.e_shstrndx = 0;
	assert_int_equal(pwrite(fd, &eh, sizeof(eh), 0), sizeof(eh));
	close(fd);
}

static void sections_are_not_needed(void **state)
{
	char dir[] = "/tmp/dp-sym.XXXXXX", path[64];
	u64 addr, start, end;
	struct victim v;

	make_dir(dir);
	snprintf(path, sizeof(path), "%s/exe", dir);
	forget_sections(path);
	start_copy(&v, path);
	assert_int_equal(dp_module_file_addr(v.mods, main_of(&v),
					     own_offset(sym_call_a), &addr,
					     &v.diag),
			 0);
	assert_int_equal(dp_function_bounds(v.mods, addr + 1, &start, &end), 0);
	assert_int_equal(start, addr);
	assert_int_equal(fail_in(&v, "", "sym_call_a"), -ENOENT);
	assert_says(&v, "stripped");
	drop(&v);
	run("rm -r %s", dir);
}

static bool has_map_files(void)
{
	const struct dp_module *m = main_of(&self);
	struct dp_maps maps;
	const struct dp_map *map;
	char path[96];
	int fd;

	assert_int_equal(dp_maps_read(getpid(), &maps), 0);
	map = dp_maps_find(&maps, m->text_start);
	snprintf(path, sizeof(path), "/proc/self/map_files/%llx-%llx",
		 (unsigned long long)map->start, (unsigned long long)map->end);
	dp_maps_free(&maps);
	fd = open(path, O_RDONLY);
	close(fd);
	return fd >= 0;
}

/* The child runs the old file; a new one has its name, or none has. */
static void check_gone(const char *format)
{
	char dir[] = "/tmp/dp-sym.XXXXXX", path[64];
	struct victim v;

	make_dir(dir);
	snprintf(path, sizeof(path), "%s/exe", dir);
	start_copy(&v, path);
	dp_modules_close(v.mods);
	assert_true(run(format, dir));
	assert_int_equal(dp_modules_open(v.pid, v.mem, &v.mods, &v.diag), 0);
	assert_non_null(main_of(&v));
	if (has_map_files()) {
		assert_same_offset(&v, find_in(&v, "", "sym_call_a"),
				   sym_call_a);
	} else {
		assert_int_equal(fail_in(&v, "", "sym_call_a"), -ENOENT);
		assert_says(&v, "deleted or replaced");
	}
	drop(&v);
	run("rm -rf %s", dir);
}

static void a_deleted_file_is_not_guessed(void **state)
{
	check_gone("rm %s/exe");
}

static void a_replaced_file_is_not_used(void **state)
{
	check_gone("cd %s && cp /bin/sh new && mv new exe");
}

static int open_self(void **state)
{
	look(&self, getpid());
	return 0;
}

static int close_self(void **state)
{
	drop(&self);
	return 0;
}

static int run_all(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bias_is_the_linkers),
		cmocka_unit_test(roles_are_told_apart),
		cmocka_unit_test(what_stays_is_needed),
		cmocka_unit_test(names_are_the_linkers),
		cmocka_unit_test(ifuncs_are_resolved),
		cmocka_unit_test(versions_select),
		cmocka_unit_test(exports_are_those_of_nm),
		cmocka_unit_test(addresses_have_the_linkers_names),
		cmocka_unit_test(two_statics_are_ambiguous),
		cmocka_unit_test(exported_wins_over_static),
		cmocka_unit_test(fragments_are_found_by_name_only),
		cmocka_unit_test(aliases_are_one),
		cmocka_unit_test(assembly_is_found),
		cmocka_unit_test(modules_go_by_many_names),
		cmocka_unit_test(misses_are_explained),
		cmocka_unit_test(offsets_outside_code_are_refused),
		cmocka_unit_test(dynsym_has_data_too),
		cmocka_unit_test(sequences_are_read_from_memory),
		cmocka_unit_test(why_there_are_no_names_is_adopted),
		cmocka_unit_test(static_names_come_from_debug_files),
		cmocka_unit_test(no_such_process),
		cmocka_unit_test(a_child_is_looked_up),
		cmocka_unit_test(stripped_functions_have_bounds),
		cmocka_unit_test(minidebuginfo_is_unpacked),
		cmocka_unit_test(too_much_to_unpack_is_refused),
		cmocka_unit_test(tables_are_not_of_any_size),
		cmocka_unit_test(sections_are_not_needed),
		cmocka_unit_test(a_deleted_file_is_not_guessed),
		cmocka_unit_test(a_replaced_file_is_not_used),
	};

	return cmocka_run_group_tests_name("sym", tests, open_self, close_self);
}

int main(int argc, char **argv)
{
	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (argc == 2 && !strcmp(argv[1], "--pause")) {
		if (write(1, "\n", 1) == 1)
			pause();
		return 0;
	}
	sym_chosen(1);
	return run_all();
}
