// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * rows: where the return address is, by .eh_frame.
 *
 * Only the rules for the CFA and for the return address are kept.
 */
#include <stdlib.h>
#include <string.h>
#include "sym/unwind/cfi.h"
#include "sym/list.h"
#include "sym/unwind/fdes.h"

#define RA_OFFSET (-8)

static int put_row(struct dp_rows *rows, const struct dp_cfi *m, u64 ra)
{
	struct dp_row row = {
		.start = m->start,
		.cfa = m->row.cfa,
		.reg = m->row.cfa_reg < DP_ROW_LOST ? m->row.cfa_reg :
						      DP_ROW_NO_REG,
		.ra = ra < DP_CFI_REGS && m->row.how[ra] == DP_CFI_AT_CFA &&
		      m->row.value[ra] == RA_OFFSET,
	};

	if (rows->n && rows->v[rows->n - 1].start == m->start)
		rows->n--;
	return dp_list_push(rows, &row);
}

int dp_rows_read(struct dp_rows *rows, struct dp_eh *frames,
		 const struct dp_fde *fde)
{
	struct dp_cursor rules;
	struct dp_fde again;
	struct dp_cfi m;
	int err = 0;

	rows->n = 0;
	if (!dp_eh_read(frames, fde->at, &again, &rules))
		return -EILSEQ;
	dp_cfi_begin(&m, frames, fde, rules);
	while (!err && dp_cfi_next(&m))
		err = put_row(rows, &m, frames->ra);
	if (m.bad)
		rows->n = 0;
	if (err)
		return err;
	return rows->n ? 0 : -EILSEQ;
}

const struct dp_row *dp_rows_at(const struct dp_rows *rows, u64 addr)
{
	size_t n = dp_list_upto(rows->v, rows->n, sizeof(*rows->v),
				offsetof(struct dp_row, start), addr);

	return n ? &rows->v[n - 1] : NULL;
}

void dp_rows_free(struct dp_rows *rows)
{
	free(rows->v);
	memset(rows, 0, sizeof(*rows));
}
