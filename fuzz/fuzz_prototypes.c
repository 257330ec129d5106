// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* fuzz_prototypes: any bytes as a prototype file; what it describes can be walked and shown. */
#include <stdlib.h>
#include <string.h>
#include "sym/prototypes/parse.h"
#include "fuzz/walk.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void see(void *arg, const void *thing)
{
	const struct dp_prototype *f = thing;
	char text[64];
	u32 i, parts = 0;

	must(f->n <= DP_PROTOTYPE_PARAMETERS && *f->name);
	walk(f->returns, 1, 0, &parts);
	for (i = 0; i < f->n; i++) {
		parts = 0;
		must(f->parameters[i].type->size);
		walk(f->parameters[i].type, 1, 0, &parts);
	}
	dp_prototypes_show_return(text, sizeof(text), f, f->failure, 2);
}

static void complain(void *arg, const struct dp_diag *diag, const char *line)
{
	size_t *n = arg;

	must(++*n <= DP_PROTOTYPES_REPORTS && diag->text[0] &&
	     diag->column >= 0 && diag->span > 0);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static struct dp_proto_table table;
	size_t complaints = 0;

	dp_proto_parse(&table, "fuzz", (const char *)data, size, complain,
		       &complaints);
	dp_proto_names_each(&table.functions, see, NULL);
	dp_proto_free(&table.arena);
	memset(&table, 0, sizeof(table));
	return 0;
}
