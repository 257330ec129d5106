// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* rseq: the restartable sequences that a module declares in __rseq_cs. */
#include <elf.h>
#include <stdlib.h>
#include "sym/names/mod.h"

#define SEQUENCES_MAX 4096

struct rseq_entry {
	u32 version, flags;
	u64 start, len, abort;
};

int dp_rseq_section(const struct dp_elf *elf, u64 *vaddr, u64 *n)
{
	const Elf64_Shdr *sh = dp_elf_section(elf, "__rseq_cs");

	if (!sh || !(sh->sh_flags & SHF_ALLOC))
		return -ENOENT;
	*vaddr = sh->sh_addr;
	*n = sh->sh_size / sizeof(struct rseq_entry);
	if (*n > SEQUENCES_MAX)
		*n = SEQUENCES_MAX;
	return 0;
}

static bool is_sane(const struct dp_module *m, const struct rseq_entry *e)
{
	return e->len && e->start >= m->text_start && e->start < m->text_end &&
	       e->len <= m->text_end - e->start;
}

/* Read from the target's memory: in a shared object the addresses are relocated. */
static int read_entries(struct dp_modules *mods, const struct dp_module *m,
			u64 vaddr, u64 n, struct dp_range **ranges, size_t *out)
{
	struct dp_range *v = calloc(n + 1, sizeof(*v));
	struct rseq_entry e;
	size_t kept = 0;
	u64 i;

	if (!v)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		if (dp_mem_read(mods, m->bias + vaddr + i * sizeof(e), &e,
				sizeof(e)) ||
		    !is_sane(m, &e))
			continue;
		v[kept].start = e.start;
		v[kept++].end = e.start + e.len;
	}
	*ranges = v;
	*out = kept;
	return 0;
}

static int load_rseq(struct dp_modules *mods, struct dp_mod *mod)
{
	struct dp_elf elf;
	int err = dp_file_open_elf(mods, mod, &elf);

	if (dp_is_shortage(err))
		return err;
	mod->have_rseq = true;
	if (err)
		return 0;
	if (dp_rseq_section(&elf, &mod->rseq, &mod->n_rseq))
		mod->n_rseq = 0;
	dp_elf_close(&elf);
	return 0;
}

int dp_module_rseq(struct dp_modules *mods, const struct dp_module *m,
		   struct dp_range **ranges, size_t *n)
{
	struct dp_mod *mod = dp_mod_of(m);
	int err = mod->have_rseq ? 0 : load_rseq(mods, mod);

	*ranges = NULL;
	*n = 0;
	return err || !mod->n_rseq ?
		       err :
		       read_entries(mods, m, mod->rseq, mod->n_rseq, ranges, n);
}
