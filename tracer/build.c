// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* build: --build-ppdf, which makes a file of a program that is applied where there are no symbols. */
#include "tracer/place.h"
#include "tracer/run.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int dp_tracer_build(const struct dp_tracer_options *opt, char **bad_line,
		    struct dp_diag *diag)
{
	struct run run = { .opt = opt, .bad_line = bad_line };
	struct file f = { 0 };
	char *text = NULL;
	size_t len;
	int err;

	*bad_line = NULL;
	err = dp_run_text(&run, opt->specs[0], &text, &len, diag);
	if (!err)
		err = dp_run_assemble(&run, opt->specs[0], text, len, &f, diag);
	if (!err && f.program->modtype != DP_MODTYPE_USER)
		err = dp_lang_complain(
			f.program, f.program->name_at, -EOPNOTSUPP, bad_line,
			diag,
			"where functions of the kernel are is known when it runs: insert the file itself");
	if (!err && f.program->nr_values)
		err = dp_lang_complain(
			f.program, f.program->values[0].at, -EOPNOTSUPP,
			bad_line, diag,
			"values are of a process that has debug information; write push r and push mem");
	if (!err)
		err = dp_place_program(f.program, opt->classic->symbols ?: "",
				       true, bad_line, diag);
	if (!err) {
		err = dp_lang_write_ppdf(f.program, opt->out);
		if (err)
			dp_diag_set(diag, err, "%s cannot be written: %s",
				    opt->specs[0], strerror(-err));
	}
	dp_lang_free(f.program);
	free(text);
	return err;
}
