// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* kallsyms: names of addresses and addresses of names. */
#include "lib/compat/compat.h"
#include "lib/compat/image.h"

unsigned long kallsyms_lookup_name(const char *name)
{
	return dp_compat_hooks.lookup(dp_compat_alias(name));
}

int kernel_text_address(unsigned long addr)
{
	struct dp_mapping m;

	return dp_mapping_at(addr, &m) && m.exec;
}

int sprint_symbol(char *buffer, unsigned long addr)
{
	return dp_symbol_print(buffer, KSYM_SYMBOL_LEN, addr, true);
}

int sprint_symbol_no_offset(char *buffer, unsigned long addr)
{
	return dp_symbol_print(buffer, KSYM_SYMBOL_LEN, addr, false);
}

/* Names of objects are few, and callers keep pointers to them. */
static char *keep(const char *object)
{
	static char kept[128][64];
	size_t i;
	char none;

	for (i = 0; i < ARRAY_SIZE(kept); i++) {
		if (!strcmp(kept[i] + 1, object) && kept[i][0])
			return kept[i] + 1;
		none = 0;
		if (try_cmpxchg(&kept[i][0], &none, 1)) {
			strscpy(kept[i] + 1, object, sizeof(kept[i]) - 1);
			return kept[i] + 1;
		}
	}
	return kept[0] + 1;
}

const char *kallsyms_lookup(unsigned long addr, unsigned long *size,
			    unsigned long *offset, char **modname,
			    char *namebuf)
{
	struct dp_symbol symbol;

	if (!dp_image_symbol(addr, &symbol) || !symbol.name[0])
		return NULL;
	if (size)
		*size = symbol.size;
	if (offset)
		*offset = symbol.offset;
	if (modname)
		*modname = symbol.object[0] ? keep(symbol.object) : NULL;
	if (namebuf)
		strscpy(namebuf, symbol.name, KSYM_NAME_LEN);
	return namebuf ? namebuf : "";
}

int lookup_symbol_name(unsigned long addr, char *name)
{
	return kallsyms_lookup(addr, NULL, NULL, NULL, name) ? 0 : -ERANGE;
}
