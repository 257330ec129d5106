// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* device_find: a name as a user has it, and the address that it means. */
#include "kmod/device.h"
#include "kmod/session.h"
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/string.h>

#define BAD_OFFSET "an offset is a number: +0x1c or +28"

/* "name+0x10/0x40 [module]" of an address, taken apart */
struct symbol {
	char text[KSYM_SYMBOL_LEN];
	const char *module;
	unsigned long offset, size;
};

static bool describe(u64 addr, struct symbol *s)
{
	char *plus, *module;

	sprint_symbol(s->text, (unsigned long)addr);
	module = strstr(s->text, " [");
	plus = strrchr(s->text, '+');
	if (!plus || sscanf(plus, "+%lx/%lx", &s->offset, &s->size) != 2)
		return false;
	*plus = '\0';
	s->module = module ? module + 2 : "";
	return true;
}

/* Without its offset. Return: false: it is no number. */
static bool cut_offset(char *name, u64 *offset)
{
	char *plus = strchr(name, '+');

	*offset = 0;
	if (!plus)
		return true;
	*plus = '\0';
	return !kstrtou64(plus + 1, 0, offset);
}

/* A module may be named, and its text ends with a bracket and perhaps more. */
static bool is_of(const struct symbol *s, const char *name)
{
	const char *colon = strchr(name, ':');
	size_t len = colon ? colon - name : 0;

	if (colon && (strncmp(s->module, name, len) ||
		      (s->module[len] != ']' && s->module[len] != ' ')))
		return false;
	return !strcmp(s->text, colon ? colon + 1 : name);
}

/* A function may have other names, which the kernel tells only of names. */
static bool is_named(u64 addr, const struct symbol *s, const char *name)
{
	return !s->offset && (is_of(s, name) || dp_kmod_symbol(name) == addr);
}

int dp_device_find_offset(char *name, const char **why)
{
	u64 offset;

	*why = BAD_OFFSET;
	if (!cut_offset(name, &offset))
		return -EINVAL;
	*why = NULL;
	return 0;
}

int dp_device_find(char *name, u64 *addr, u64 *start, const char **why)
{
	struct symbol s;
	u64 offset;

	*why = BAD_OFFSET;
	if (!cut_offset(name, &offset))
		return -EINVAL;
	*start = *addr ?: dp_kmod_symbol(name);
	*why = "the kernel has no function of that name";
	if (!*start || !describe(*start, &s))
		return -ENOENT;
	*why = "another function is at that address";
	if (*addr && !is_named(*addr, &s, name))
		return -ENOENT;
	*why = "the offset is beyond the function's end";
	if (s.offset || (offset && offset >= s.size))
		return -EINVAL;
	*addr = *start + offset;
	*why = NULL;
	return 0;
}
