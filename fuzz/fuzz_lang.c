// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* fuzz_lang: any bytes as a program; what assembles, does so again listed. */
#include <stdlib.h>
#include <string.h>
#include "lang/lang.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static char *listing(const struct dp_lang_program *p, size_t *len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	if (!out)
		abort();
	dp_lang_disassemble(p, out);
	fclose(out);
	return text;
}

static void assemble_again(const struct dp_lang_program *p)
{
	struct dp_lang_program *again;
	size_t len;
	char *text = listing(p, &len);

	/* Labels make a listing of a large program larger than a file may be. */
	if (!text || len > 1 << 20) {
		free(text);
		return;
	}
	if (dp_lang_assemble("listing", text, len, p->word, &again, NULL, NULL))
		abort();
	if (again->code_len != p->code_len ||
	    again->nr_points != p->nr_points ||
	    memcmp(again->code, p->code, p->code_len))
		abort();
	dp_lang_free(again);
	free(text);
}

static void assemble(const char *text, size_t len, u8 word)
{
	struct dp_lang_program *p;
	struct dp_diag diag;
	char *line;

	dp_diag_clear(&diag);
	if (!dp_lang_assemble("fuzz", text, len, word, &p, &line, &diag)) {
		assemble_again(p);
		dp_lang_free(p);
	} else if (!diag.text[0] || p ||
		   (line && diag.column > (int)strlen(line))) {
		abort();
	}
	free(line);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	assemble((const char *)data, size, 4);
	assemble((const char *)data, size, 8);
	return 0;
}
