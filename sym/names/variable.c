// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * variable: what a module calls by a name that is no function's.
 *
 * An exported name means what the program itself has by that name, if it has it: there the dynamic
 * linker has led all uses to.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include "sym/names/mod.h"
#include "sym/names/scan.h"
#include "sym/variable.h"

/* Exported by @m. Return: false: it is not, or cannot be read. */
static bool exports(struct dp_modules *mods, const struct dp_module *m,
		    const char *name, u64 *addr)
{
	struct dp_mod *mod = dp_mod_of(m);

	if (dp_mod_load(mods, mod, DP_MOD_DYNSYM) ||
	    dp_dynsym_find(&mod->read.dynsym, name, addr))
		return false;
	*addr += m->bias;
	return true;
}

/* Of a name that @m exports: which one is meant */
static int choose(struct dp_modules *mods, const struct dp_module *m,
		  const char *name, u64 *addr)
{
	const struct dp_module *other;
	size_t i, n = 0;
	u64 there;

	for (i = 0; i < dp_modules_count(mods); i++) {
		other = dp_modules_get(mods, i);
		if (other == m || !exports(mods, other, name, &there))
			continue;
		if (other->is_main) {
			*addr = there;
			return 0;
		}
		n++;
	}
	return n && !m->is_main ? -EINVAL : 0;
}

static int scan_table(struct dp_scan *s, const struct dp_elf *elf)
{
	const Elf64_Shdr *strings,
		*sh = dp_elf_symbols(elf, SHT_SYMTAB, &strings);
	void *str = NULL, *v = NULL;
	int err = sh ? dp_elf_load_section(elf, strings, &str) : -ENOENT;
	const Elf64_Sym *sym;
	u64 i;

	if (!err)
		err = dp_elf_load_section(elf, sh, &v);
	for (i = 0; !err && i < sh->sh_size / sizeof(*sym); i++) {
		sym = (const Elf64_Sym *)v + i;
		if (sym->st_name < strings->sh_size)
			dp_scan_look_at(s, sym,
					(const char *)str + sym->st_name);
	}
	free(v);
	free(str);
	return err;
}

/* Several cannot be told apart. @tls: the segment that it is in, if it is of each thread's own */
static int scan(struct dp_scan *s, struct dp_modules *mods,
		const struct dp_module *m, Elf64_Phdr *tls)
{
	const Elf64_Phdr *ph;
	struct dp_elf elf;
	int fd = dp_module_open(mods, m), err;

	if (fd < 0)
		return fd;
	err = dp_elf_open_fd(&elf, fd);
	if (err)
		return err;
	err = scan_table(s, &elf);
	ph = s->of_thread ? dp_elf_segment(&elf, PT_TLS) : NULL;
	if (ph)
		*tls = *ph;
	else if (s->of_thread)
		err = err ?: -ENOENT;
	dp_elf_close(&elf);
	return err ? err : s->n == 1 ? 0 : s->n ? -EINVAL : -ENOENT;
}

/* One that is not exported */
static int find_static(struct dp_modules *mods, const struct dp_module *m,
		       const char *name, u64 *addr)
{
	struct dp_scan s = { .name = name };
	int err = scan(&s, mods, m, NULL);

	*addr = s.value + m->bias;
	return err;
}

/* The segment ends where the thread pointer points, but for what its alignment takes. */
int dp_variable_of_thread(struct dp_modules *mods, const struct dp_module *m,
			  const char *name, u64 *offset)
{
	struct dp_scan s = { .name = name, .of_thread = true };
	Elf64_Phdr tls = { 0 };
	int err = m->is_main ? scan(&s, mods, m, &tls) : -ENOENT;
	u64 align = tls.p_align ?: 1, first = -tls.p_vaddr & (align - 1);

	if (!err && (align & (align - 1)))
		err = -ENOEXEC;
	*offset =
		s.value - first - ((tls.p_memsz - first + align - 1) & -align);
	return err;
}

int dp_variable_find(struct dp_modules *mods, const struct dp_module *m,
		     const char *name, u64 *addr)
{
	if (exports(mods, m, name, addr))
		return choose(mods, m, name, addr);
	return find_static(mods, m, name, addr);
}

int dp_variable_own(struct dp_modules *mods, const struct dp_module *m,
		    const char *name, u64 *addr)
{
	return exports(mods, m, name, addr) ? 0 :
					      find_static(mods, m, name, addr);
}
