// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * hooks: notes of hooks in a module's file.
 *
 * They are notes of static probes (SDT), of the provider "gkh":
 *
 *   header │ "stapsdt" │ address of the nop │ of .stapsdt.base │ 0 │ "gkh" │ name │ ""
 */
#include "sym/elf/elf.h"
#include "sym/hooks.h"
#include "sym/list.h"
#include <elf.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define PROVIDER "gkh"
#define OWNER "stapsdt"
#define SDT_TYPE 3
#define NOTES_MAX (16u << 20)

struct addresses {
	u64 pc, base, semaphore;
};

struct reader {
	const struct dp_module *m;
	const char *pattern;
	u64 base; /* where .stapsdt.base is */
	struct dp_hook_notes *list;
};

/* The string behind one that begins at @text, or NULL */
static const char *next_text(const char *text, const char *end)
{
	const char *nul = memchr(text, '\0', (size_t)(end - text));

	return nul && nul + 1 < end ? nul + 1 : NULL;
}

static int read_one(struct reader *r, const char *desc, size_t size)
{
	const char *end = desc + size, *name;
	struct dp_hook_note note;
	struct addresses a;

	if (size < sizeof(a) + sizeof(PROVIDER))
		return 0;
	memcpy(&a, desc, sizeof(a));
	desc += sizeof(a);
	if (memcmp(desc, PROVIDER, sizeof(PROVIDER)))
		return 0;
	name = next_text(desc, end);
	if (!name || !next_text(name, end) || fnmatch(r->pattern, name, 0))
		return 0;
	note.name = name;
	note.addr =
		a.pc + (r->base && a.base ? r->base - a.base : 0) + r->m->bias;
	if (note.addr - r->m->text_start >= r->m->text_end - r->m->text_start)
		return 0;
	return dp_list_push(r->list, &note);
}

static size_t padded(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

static int read_all(struct reader *r, const char *at, size_t size)
{
	const Elf64_Nhdr *n;
	const char *desc;
	size_t len;
	int err = 0;

	for (; size >= sizeof(*n) && !err; at += len, size -= len) {
		n = (const void *)at;
		len = sizeof(*n) + padded(n->n_namesz) + padded(n->n_descsz);
		if (len > size || padded(n->n_descsz) > size)
			break;
		desc = at + sizeof(*n) + padded(n->n_namesz);
		if (n->n_type == SDT_TYPE && n->n_namesz == sizeof(OWNER) &&
		    !memcmp(n + 1, OWNER, sizeof(OWNER)))
			err = read_one(r, desc, n->n_descsz);
	}
	return err;
}

static int read_file(struct reader *r, const struct dp_elf *elf)
{
	const Elf64_Shdr *notes = dp_elf_section(elf, ".note.stapsdt"),
			 *base = dp_elf_section(elf, ".stapsdt.base");
	void *text;
	int err;

	if (!notes || !notes->sh_size)
		return 0;
	if (notes->sh_size > NOTES_MAX)
		return -EFBIG;
	err = dp_elf_load_section(elf, notes, &text);
	if (err)
		return err;
	r->base = base ? base->sh_addr : 0;
	r->list->text = text;
	return read_all(r, text, notes->sh_size);
}

int dp_hook_notes_read(const struct dp_modules *mods, const struct dp_module *m,
		       const char *pattern, struct dp_hook_notes *list)
{
	struct reader r = { .m = m, .pattern = pattern, .list = list };
	int fd = dp_module_open(mods, m), err;
	struct dp_elf elf;

	*list = (struct dp_hook_notes){ 0 };
	if (fd < 0)
		return fd;
	err = dp_elf_open_fd(&elf, fd);
	if (err)
		return err;
	err = read_file(&r, &elf);
	dp_elf_close(&elf);
	if (err)
		dp_hook_notes_free(list);
	return err;
}

void dp_hook_notes_free(struct dp_hook_notes *list)
{
	free(list->v);
	free(list->text);
	*list = (struct dp_hook_notes){ 0 };
}
