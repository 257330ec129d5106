// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* fuzz_elf: any bytes as an ELF file, through every reader of sym/. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "sym/exits.h"
#include "sym/rules.h"
#include "sym/unwind/cfi.h"
#include "sym/codemap.h"
#include "sym/elf/elf.h"
#include "sym/elf/symtab.h"
#include "sym/elf/relocs.h"
#include "sym/flow/map.h"
#include "sym/flow/slot.h"
#include "sym/names/mod.h"
#include "sym/unwind/fdes.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void look_up(struct dp_symtab *tab)
{
	const struct dp_sym *sym;
	size_t i;

	if (dp_symtab_index(tab) || dp_symtab_sort(tab))
		return;
	for (i = 0; i < tab->n && i < 64; i++) {
		if (!dp_symtab_at(tab, tab->v[i].value + 1) &&
		    tab->v[i].rank != DP_RANK_LABEL)
			abort();
		for (sym = dp_symtab_first(tab, tab->v[i].name);
		     sym && sym != &tab->v[i]; sym = dp_symtab_next(tab, sym))
			;
		if (!sym)
			abort();
	}
}

static void read_symbols(const struct dp_elf *elf, const struct dp_dynsym *ds)
{
	struct dp_symtab tab = { 0 };
	struct dp_elf mini;
	char **needed;
	u64 value;
	size_t n;

	if (!dp_dynamic_needed(elf, &needed, &n)) {
		while (n--)
			free(needed[n]);
		free(needed);
	}
	dp_dynsym_find(ds, "malloc", &value);
	dp_symtab_add_dynsym(&tab, ds, elf);
	dp_symtab_add_symtab(&tab, elf, elf);
	if (!dp_minidebug_open(elf, &mini)) {
		dp_symtab_add_symtab(&tab, &mini, elf);
		dp_elf_close(&mini);
	}
	look_up(&tab);
	dp_symtab_free(&tab);
}

static void ask(struct dp_exits *exits, const struct dp_code_map *map,
		u64 entry)
{
	struct dp_exit_list list;
	const char *why = NULL;
	size_t i;

	if (dp_exits_find(exits, entry, &list, &why) && (list.n || !why))
		abort();
	for (i = 0; i < list.n; i++)
		if (!dp_code_map_boundary(map, list.v[i].addr) ||
		    (i && list.v[i].addr <= list.v[i - 1].addr))
			abort();
	dp_exits_free(&list);
}

static void read_exits(const struct dp_elf *elf, const struct dp_code_map *map)
{
	struct dp_exits *exits;
	size_t i;

	if (dp_exits_load(elf, map, &exits))
		return;
	ask(exits, map, elf->eh.e_entry);
	for (i = 0; i < map->n_fragment && i < 64; i++)
		ask(exits, map, map->fragment[i].start);
	dp_exits_close(exits);
}

static void read_code(const struct dp_elf *elf, const struct dp_fdes *fdes,
		      const struct dp_dynsym *ds)
{
	struct dp_symtab tab = { 0 };
	struct dp_code_map *map;
	u64 start = 0, end;

	dp_symtab_add_symtab(&tab, elf, elf);
	if (!dp_survey_run(elf, fdes, &tab, ds, 0, &map)) {
		if (!dp_code_map_target(map, 0, ~0ull, &start))
			abort();
		if (!dp_code_map_function(map, elf->eh.e_entry, &start, &end) &&
		    (start > elf->eh.e_entry || end <= elf->eh.e_entry))
			abort();
		read_exits(elf, map);
		dp_code_map_close(map);
	}
	dp_symtab_free(&tab);
}

static void read_returns(const struct dp_elf *elf, const struct dp_fdes *fdes)
{
	const struct dp_fde *fde;
	size_t i;
	u64 at;

	for (i = 0; i < fdes->n && i < 64; i++) {
		fde = &fdes->v[i];
		if (dp_fdes_read_return_address(fdes, elf, fde->start, &at) ==
			    1 &&
		    (at < fde->start || at >= fde->end))
			abort();
	}
}

static void read_rules(const struct dp_elf *elf)
{
	struct dp_rules rules;
	size_t i;

	if (dp_rules_read(&rules, elf))
		return;
	for (i = 0; i < rules.n; i++)
		if (rules.v[i].which >= rules.nr_rules ||
		    (i && rules.v[i].start <= rules.v[i - 1].start))
			abort();
	if (rules.n && rules.v[rules.n - 1].which)
		abort();
	dp_rules_at(&rules, elf->eh.e_entry);
	dp_rules_free(&rules);
}

static void read_rest(const struct dp_elf *elf, const struct dp_dynsym *ds)
{
	struct dp_relocs rel;
	struct dp_fdes fdes;
	u8 id[DP_BUILD_ID_MAX];
	char *soname;
	u64 vaddr, n;

	dp_elf_build_id(elf, id);
	dp_rseq_section(elf, &vaddr, &n);
	dp_dynamic_soname(elf, &soname);
	free(soname);
	if (!dp_relocs_load(&rel, elf, ds)) {
		dp_relocs_in_plt(&rel, elf->eh.e_entry);
		dp_relocs_free(&rel);
	}
	if (!dp_fdes_load(&fdes, elf)) {
		dp_fdes_find(&fdes, elf->eh.e_entry);
		read_code(elf, &fdes, ds);
		read_returns(elf, &fdes);
		dp_fdes_free(&fdes);
	}
}

static void read_debugfile(const struct dp_elf *elf)
{
	struct dp_elf debug;

	if (!dp_debugfile_open(elf, "/nonexistent", "/nonexistent/x", &debug))
		dp_elf_close(&debug);
}

static bool read_word(void *arg, uint64_t addr, uint64_t *value)
{
	*value = addr * 3;
	return addr & 1;
}

static void evaluate(const struct dp_eh *eh, u64 at)
{
	static const uint64_t reg[DP_CFI_REGS];
	const struct dp_expr x = { reg, read_word, NULL };
	uint64_t value;

	dp_expr_value(&x,
		      (struct dp_cursor){ eh->data + at, eh->data + eh->len,
					  false },
		      &reg[0], &value);
}

static void search_rows(const struct dp_elf *elf, u64 addr)
{
	struct dp_cursor rules;
	struct dp_fde fde;
	struct dp_eh eh;
	struct dp_cfi m;
	int i;

	if (!dp_eh_find(elf, addr, &eh, &fde, &rules))
		return;
	if (addr < fde.start || addr >= fde.end)
		abort();
	for (dp_cfi_begin(&m, &eh, &fde, rules); dp_cfi_next(&m);) {
		if (m.row.cfa_expr)
			evaluate(&eh, m.row.cfa_expr);
		for (i = 0; i < DP_CFI_REGS; i++)
			if (m.row.how[i] >= DP_CFI_AT_EXPR)
				evaluate(&eh, (u64)m.row.value[i]);
	}
}

/* As handlers do, where the bytes lie. Tables stand at multiples of eight in files. */
static void read_in_place(const u8 *data, size_t size)
{
	struct dp_elf_table table;
	struct dp_elf view;
	size_t i, named = 0;

	if (!dp_elf_view(&view, data, size) ||
	    (view.eh.e_phoff | view.eh.e_shoff) % 8)
		return;
	for (i = 0; i < 64; i++)
		search_rows(&view, view.eh.e_entry + i * 256);
	if (!dp_elf_table(&view, SHT_DYNSYM, &table) || (u64)table.v % 8)
		return;
	for (i = 0; i < table.n; i++)
		if (table.v[i].st_name < table.str_len)
			named += strlen(table.str + table.v[i].st_name);
	if (table.n && table.str_len == 1 && named)
		abort();
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);
	struct dp_dynsym ds = { 0 };
	struct dp_elf elf;

	if (fd < 0)
		return 0;
	read_in_place(data, size);
	if (write(fd, data, size) != (ssize_t)size) {
		close(fd);
		return 0;
	}
	if (dp_elf_open_fd(&elf, fd))
		return 0;
	dp_dynsym_load(&ds, &elf);
	read_symbols(&elf, &ds);
	read_rest(&elf, &ds);
	read_rules(&elf);
	read_debugfile(&elf);
	dp_dynsym_free(&ds);
	dp_elf_close(&elf);
	return 0;
}
