// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* slot: where the return address is, and where functions are entered. */
#include <dprobes/diag.h>
#include <stdlib.h>
#include "sym/exits.h"
#include "sym/flow/slot.h"
#include "sym/names/mod.h"

#define REG_RSP 7 /* DWARF's number */
#define HOME 8 /* CFA minus stack pointer, as behind a call */

bool dp_row_is_home(const struct dp_row *row)
{
	return row && row->reg == REG_RSP && row->cfa == HOME && row->ra;
}

const u8 *dp_exits_code(const struct dp_exits *ex, const struct dp_fragment *p)
{
	const struct dp_text *t = dp_text_find(ex->map, p->start);

	return ex->code[t - ex->map->text] + (p->start - t->start);
}

int dp_exits_rows(struct dp_exits *ex, const struct dp_fragment *p,
		  struct dp_rows *rows)
{
	const struct dp_fde *fde = NULL;

	if (p->flags & DP_FRAGMENT_FDE)
		fde = dp_fdes_find(&ex->fdes, p->start);
	if (!fde)
		return dp_rows_derive(rows, dp_exits_code(ex, p), p->len,
				      p->start, HOME);
	return dp_rows_read(rows, &ex->frames, fde);
}

bool dp_exits_nops(const struct dp_exits *ex, u64 start, u64 end)
{
	const struct dp_text *t = dp_text_find(ex->map, start);

	return start == end || (t && end <= t->end &&
				dp_padding_is_nops(ex->code[t - ex->map->text] +
							   (start - t->start),
						   end - start));
}

bool dp_starts_home(struct dp_exits *ex, u64 addr)
{
	const struct dp_fragment *p = dp_fragments_find(ex->map, addr);

	if (!p || !(p->flags & DP_FRAGMENT_FDE))
		return true;
	return !dp_exits_rows(ex, p, &ex->other) &&
	       dp_row_is_home(dp_rows_at(&ex->other, addr));
}

bool dp_is_entry(struct dp_exits *ex, u64 addr)
{
	return dp_text_is_named(ex->map, addr) && dp_starts_home(ex, addr);
}

u64 dp_next_entry(struct dp_exits *ex, u64 start, u64 end)
{
	const struct dp_text *t = dp_text_find(ex->map, start);

	while (start < end && t) {
		start = dp_text_next_named(t, start, end);
		if (start >= end || dp_starts_home(ex, start))
			break;
		start++;
	}
	return start;
}

bool dp_is_stub(const struct dp_exits *ex, u64 addr)
{
	return dp_relocs_in_plt(&ex->stubs, addr);
}

static int load_code(struct dp_exits *ex, const struct dp_elf *elf)
{
	const struct dp_text *t;
	u64 len;
	void *code;
	size_t i;
	int err = 0;

	for (i = 0; i < ex->map->n_text && !err; i++) {
		t = &ex->map->text[i];
		len = t->end - t->start;
		err = dp_elf_load_at(elf, t->start, &len, &code);
		if (err)
			break;
		ex->code[i] = code;
		if (len < t->end - t->start)
			err = -ENOENT;
	}
	return !err || err == -ENOMEM ? err : -ENOENT;
}

/* A file may have no frame descriptions, or damaged ones. */
static int load_frames(struct dp_exits *ex, const struct dp_elf *elf)
{
	int err = dp_fdes_load(&ex->fdes, elf) ?: dp_eh_load(&ex->frames, elf);

	return err == -ENOMEM ? err : 0;
}

int dp_exits_load(const struct dp_elf *elf, const struct dp_code_map *map,
		  struct dp_exits **exits)
{
	struct dp_exits *ex = calloc(1, sizeof(*ex));
	int err = -ENOMEM;

	if (ex) {
		ex->map = map;
		dp_relocs_find_plts(&ex->stubs, elf);
		err = load_code(ex, elf);
	}
	if (!err)
		err = load_frames(ex, elf);
	if (err) {
		dp_exits_close(ex);
		ex = NULL;
	}
	*exits = ex;
	return err;
}

int dp_exits_open(struct dp_modules *mods, const struct dp_module *m,
		  const struct dp_code_map *map, struct dp_exits **exits,
		  struct dp_diag *diag)
{
	struct dp_elf elf;
	int err = dp_file_open_elf(mods, dp_mod_of(m), &elf);

	if (!err) {
		err = dp_exits_load(&elf, map, exits);
		dp_elf_close(&elf);
	}
	if (err && !dp_is_shortage(err))
		err = -ENOENT;
	return dp_code_map_say(mods, m, err, diag);
}

void dp_exits_close(struct dp_exits *ex)
{
	size_t i;

	if (!ex)
		return;
	for (i = 0; i < DP_TEXT_MAX; i++)
		free(ex->code[i]);
	dp_fdes_free(&ex->fdes);
	dp_eh_free(&ex->frames);
	dp_rows_free(&ex->rows);
	dp_rows_free(&ex->other);
	free(ex);
}

int dp_exit_reader_open(struct dp_exit_reader *r, struct dp_modules *mods,
			const struct dp_module *m, struct dp_diag *diag)
{
	int err = 0;

	if (r->module == m && !r->rests)
		return r->exits ? 0 :
				  dp_diag_set(diag, -EOPNOTSUPP,
					      "the code of %s is not known",
					      m->path);
	r->rests = false;
	if (r->module != m) {
		dp_exit_reader_close(r);
		r->module = m;
		err = dp_code_map_open(mods, m, &r->map, diag);
	}
	if (!err)
		err = dp_exits_open(mods, m, r->map, &r->exits, diag);
	/* The next question may find what is short now. */
	if (dp_is_shortage(err))
		dp_exit_reader_close(r);
	return err;
}

void dp_exit_reader_rest(struct dp_exit_reader *r)
{
	if (!r->exits && !r->rests) {
		dp_exit_reader_close(r);
		return;
	}
	dp_exits_close(r->exits);
	r->exits = NULL;
	r->rests = true;
}

void dp_exit_reader_close(struct dp_exit_reader *r)
{
	dp_exits_close(r->exits);
	dp_code_map_close(r->map);
	*r = (struct dp_exit_reader){ .module = NULL };
}
