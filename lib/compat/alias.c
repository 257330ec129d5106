// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* alias: functions that stand for names in modules. */
#include "lib/compat/compat.h"

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
