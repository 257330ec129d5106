// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* frame: where the frame of a function is, by the rows of its frame description. */
#include <errno.h>
#include <string.h>
#include "sym/elf/elf.h"
#include "sym/types/frame.h"

#define RBP 6

static int load_rows(struct dp_frame *f, const struct dp_elf *elf,
		     struct dp_eh *eh)
{
	struct dp_fdes fdes = { 0 };
	const struct dp_fde *fde;
	int err = dp_fdes_load(&fdes, elf);

	fde = err ? NULL : dp_fdes_find(&fdes, f->pc);
	if (fde)
		err = dp_rows_read(&f->rows, eh, fde);
	dp_fdes_free(&fdes);
	return err;
}

int dp_frame_load(struct dp_frame *f, const struct dp_elf *elf, u64 pc)
{
	struct dp_eh eh;
	int err;

	memset(f, 0, sizeof(*f));
	f->pc = pc;
	err = dp_eh_load(&eh, elf);
	if (err)
		return err == -ENOMEM ? err : 0;
	err = load_rows(f, elf, &eh);
	dp_eh_free(&eh);
	if (err)
		f->rows.n = 0;
	return err == -ENOMEM ? err : 0;
}

void dp_frame_free(struct dp_frame *f)
{
	dp_rows_free(&f->rows);
}

bool dp_frame_cfa(const struct dp_frame *f, u8 *reg, s64 *offset)
{
	const struct dp_row *row = dp_rows_at(&f->rows, f->pc);

	if (!row || row->reg >= DP_ROW_LOST)
		return false;
	*reg = row->reg;
	*offset = row->cfa;
	return true;
}

/* The caller's stack pointer is found by the frame pointer, once that has been set; where it is
 * found by the stack pointer, that is as deep as in the body. */
bool dp_frame_is_built(const struct dp_frame *f, u8 reg, u64 built)
{
	const struct dp_row *now = dp_rows_at(&f->rows, f->pc);
	const struct dp_row *then = dp_rows_at(&f->rows, built);

	if (!now || now->reg != reg)
		return false;
	if (reg == RBP)
		return true;
	return built && f->pc >= built && then && then->reg == reg &&
	       then->cfa == now->cfa;
}
