// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* kallsyms: names of addresses, addresses of names, and functions that stand for names. */
#include "lib/compat/compat.h"
#include "lib/compat/image.h"

struct dp_compat_hooks dp_compat_hooks;

/* Entries are added in front and never freed: a handler may be reading them. */
struct alias {
	struct alias *next;
	char *name;
	char *target;
};

static struct alias *aliases;

const char *dp_compat_alias(const char *name)
{
	struct alias *alias = smp_load_acquire(&aliases);

	for (; alias; alias = alias->next)
		if (!strcmp(alias->name, name))
			return alias->target;
	return name;
}

int dp_compat_alias_add(const char *name, size_t len, const char *target)
{
	struct alias *alias;

	if (!len || !*target)
		return -EINVAL;
	alias = kzalloc(sizeof(*alias), GFP_KERNEL);
	if (!alias)
		return -ENOMEM;
	alias->name = kstrndup(name, len, GFP_KERNEL);
	alias->target = kstrdup(target, GFP_KERNEL);
	if (!alias->name || !alias->target) {
		kfree(alias->name);
		kfree(alias->target);
		kfree(alias);
		return -ENOMEM;
	}
	alias->next = READ_ONCE(aliases);
	while (!try_cmpxchg(&aliases, &alias->next, alias))
		continue;
	return 0;
}

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
	return dp_symbol_print(buffer, KSYM_SYMBOL_LEN, addr, DP_SYMBOL_OFFSET);
}

int sprint_backtrace(char *buffer, unsigned long addr)
{
	return dp_symbol_print(buffer, KSYM_SYMBOL_LEN, addr, DP_SYMBOL_RETURN);
}

int sprint_symbol_no_offset(char *buffer, unsigned long addr)
{
	return dp_symbol_print(buffer, KSYM_SYMBOL_LEN, addr, DP_SYMBOL_NAME);
}

/* Names of objects are few, and callers keep pointers to them. Return: NULL: there are too
 * many. */
static char *keep(const char *object)
{
	static char kept[128][1 + sizeof(((struct dp_symbol *)0)->object)];
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
	return NULL;
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
