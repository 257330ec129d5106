// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* param: set a module's parameters from text. */
#include "lib/compat/compat.h"
#include "lib/compat/module.h"
#include <dprobes-module.h>

/* The variable's size gives the range; its type's name gives the syntax only. */
static int set_signed(void *addr, u32 size, const char *value)
{
	long long n;
	int err = kstrtoll(value, 0, &n);

	if (err)
		return err;
	if (size < 8 &&
	    (n >= 1ll << (size * 8 - 1) || n < -(1ll << (size * 8 - 1))))
		return -ERANGE;
	memcpy(addr, &n, size);
	return 0;
}

static int set_unsigned(void *addr, u32 size, const char *value,
			unsigned int base)
{
	unsigned long long n;
	int err = kstrtoull(value, base, &n);

	if (err)
		return err;
	if (size < 8 && n >> (size * 8))
		return -ERANGE;
	memcpy(addr, &n, size);
	return 0;
}

static int set_truth(void *addr, u32 size, const char *value, bool invert)
{
	u64 n;
	bool truth = true;
	int err = value ? kstrtobool(value, &truth) : 0;

	if (err)
		return err;
	n = truth != invert;
	memcpy(addr, &n, size);
	return 0;
}

static int set_one(const struct dp_compat_param *param, char *addr,
		   const char *value)
{
	static const struct {
		const char *type;
		unsigned int base;
		bool sign;
	} numbers[] = {
		{ "short", 0, true },	 { "int", 0, true },
		{ "long", 0, true },	 { "byte", 0, false },
		{ "ushort", 0, false },	 { "uint", 0, false },
		{ "ulong", 0, false },	 { "ullong", 0, false },
		{ "hexint", 16, false },
	};
	const char *type = param->type;
	char *copy;
	size_t i;

	if (!strcmp(type, "bool") || !strcmp(type, "bool_enable_only"))
		return set_truth(addr, param->size, value, false);
	if (!strcmp(type, "invbool"))
		return set_truth(addr, param->size, value, true);
	if (!value)
		return -EINVAL;
	if (!strcmp(type, "string"))
		return strscpy(addr, value, param->size) < 0 ? -ENOSPC : 0;
	if (!strcmp(type, "charp")) {
		/* The old string may be a constant of the module, so it is not freed. */
		copy = kstrdup(value, GFP_KERNEL);
		if (copy)
			*(char **)addr = copy;
		return copy ? 0 : -ENOMEM;
	}
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		if (!strcmp(type, numbers[i].type))
			return numbers[i].sign ?
				       set_signed(addr, param->size, value) :
				       set_unsigned(addr, param->size, value,
						    numbers[i].base);
	return -EINVAL;
}

static int set_array(const struct dp_compat_param *param, const char *value)
{
	char *copy = kstrdup(value ? value : "", GFP_KERNEL), *rest = copy,
	     *item;
	unsigned int n = 0;
	int err = 0;

	if (!copy)
		return -ENOMEM;
	while (!err && (item = strsep(&rest, ","))) {
		err = n == param->max ? -EINVAL :
					set_one(param,
						(char *)param->addr +
							(size_t)n * param->size,
						item);
		n++;
	}
	kfree(copy);
	if (!err && param->num)
		*param->num = n;
	return err;
}

static int set_by_ops(const struct dp_compat_param *param, const char *value,
		      struct module *mod)
{
	struct kernel_param kp = {
		.name = param->name,
		.mod = mod,
		.ops = param->ops,
		.perm = (u16)param->perm,
		.arg = param->addr,
	};

	if (!param->ops || !param->ops->set)
		return -EPERM;
	return param->ops->set(value, &kp);
}

int dp_compat_param_set(const struct dp_compat_param *param, const char *value,
			struct module *mod, struct dp_diag *diag)
{
	int err;

	if (!strcmp(param->type, "ops"))
		err = set_by_ops(param, value, mod);
	else if (param->max)
		err = set_array(param, value);
	else
		err = set_one(param, param->addr, value);
	if (err == -ENOSPC)
		return dp_diag_set(
			diag, err,
			"the value of parameter %s is too long: it has room for %u characters",
			param->name, param->size - 1);
	if (err)
		return dp_diag_set(
			diag, err,
			"parameter %s cannot be %s%s%s: it is %s%s%s",
			param->name, value ? "\"" : "without a value",
			value ? value : "", value ? "\"" : "",
			param->max ? "an array of " : "of type ", param->type,
			err == -ERANGE ? ", and that is out of its range" : "");
	return 0;
}

/* Functions that modules name as the operations of a parameter. */
#define DP_PARAM(kind, type, parse, format)                                    \
	int param_set_##kind(const char *text, const struct kernel_param *kp)  \
	{                                                                      \
		return text ? parse(text, 0, kp->arg) : -EINVAL;               \
	}                                                                      \
	int param_get_##kind(char *buffer, const struct kernel_param *kp)      \
	{                                                                      \
		return scnprintf(buffer, 4096, format "\n", *(type *)kp->arg); \
	}

DP_PARAM(int, int, kstrtoint, "%i")
DP_PARAM(uint, unsigned int, kstrtouint, "%u")
DP_PARAM(ulong, unsigned long, kstrtoul, "%lu")

int param_set_bool(const char *text, const struct kernel_param *kp)
{
	return kstrtobool(text ? text : "1", kp->arg);
}

int param_get_bool(char *buffer, const struct kernel_param *kp)
{
	return scnprintf(buffer, 4096, "%c\n", *(bool *)kp->arg ? 'Y' : 'N');
}
