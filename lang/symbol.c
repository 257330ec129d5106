// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* symbol: names of the probed module. */
#include "lang/private.h"
#include <ctype.h>
#include <string.h>

int dp_lang_symbol_use(struct dp_lang_reader *r,
		       const struct dp_lang_operand *operand, u32 bits,
		       u64 *value)
{
	const struct dp_lang_number *n = &operand->number;
	struct dp_lang_program *p = r->program;
	struct dp_lang_symbol s = { .at = operand->name.at };
	void *symbols;

	if (bits && bits != 64)
		return dp_lang_bad(
			r, operand->name.at,
			"an address has 64 bits; write \"push %.*s\"",
			DP_TOKEN_SHOWN(&operand->name));
	symbols = dp_lang_grow(p->symbols, p->nr_symbols, sizeof(*p->symbols));
	if (!symbols)
		return dp_lang_nomem(r->diag);
	p->symbols = symbols;
	s.name = strndup(operand->name.s, operand->name.len);
	s.code = p->code_len + 1;
	if (!s.name)
		return dp_lang_nomem(r->diag);
	p->symbols[p->nr_symbols++] = s;
	*value = n->negative ? -n->value : n->value;
	return 0;
}

const struct dp_lang_symbol *
dp_lang_symbol_at(const struct dp_lang_program *program, u32 code)
{
	size_t i;

	for (i = 0; i < program->nr_symbols; i++)
		if (program->symbols[i].code == code)
			return &program->symbols[i];
	return NULL;
}

const struct dp_lang_value *
dp_lang_value_at(const struct dp_lang_program *program, u32 code)
{
	size_t i;

	for (i = 0; i < program->nr_values; i++)
		if (program->values[i].code == code)
			return &program->values[i];
	return NULL;
}

bool dp_lang_is_line(const char *text, u32 len)
{
	u32 digits = 0;

	while (digits < len && isdigit((u8)text[len - 1 - digits]))
		digits++;
	return digits && len > digits + 1 && text[len - 1 - digits] == ':' &&
	       text[len - 2 - digits] != ':';
}
