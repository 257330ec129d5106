// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * externals: functions of modules that programs call.
 *
 * A hit looks for the function by its number, and calls it with preemption off. So RCU knows when no CPU is in one that has
 * been unregistered. The number is free from then on.
 *
 * Lock: externals; below the engine's, and nothing is taken under it. Hits take none.
 */
#include "kmod/externals.h"
#include "engine/layout/own.h"
#include "engine/vm/decode.h"
#include "engine/vm/ops.h"
#include "engine/vm/vm.h"
#include <dprobes/kernel/external.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>

static_assert(DP_EXTERNAL_ARGUMENTS == DP_VM_ARGUMENTS);
static_assert(DP_EXTERNAL_LAST == DP_EXTERNALS - 1);

static DEFINE_MUTEX(externals);
static struct dp_own_function entries[DP_EXTERNALS];
static struct module *owners[DP_EXTERNALS];

u64 dp_externals_table(void)
{
	return (u64)entries;
}

/* The function comes last: who sees it sees the rest. */
static void enter(unsigned int number, struct module *owner, dp_external_fn *fn,
		  void *ctx, unsigned int nr)
{
	owners[number] = owner;
	entries[number].user = (u64)ctx;
	entries[number].what = nr;
	smp_store_release(&entries[number].function, (u64)fn);
}

int dp_external_register_of(struct module *owner, unsigned int number,
			    dp_external_fn *fn, void *ctx, unsigned int nr)
{
	int err = 0;

	if (number > DP_EXTERNAL_LAST || !fn || nr > DP_EXTERNAL_ARGUMENTS)
		return -EINVAL;
	mutex_lock(&externals);
	if (entries[number].function)
		err = -EBUSY;
	else
		enter(number, owner, fn, ctx, nr);
	mutex_unlock(&externals);
	return err;
}
EXPORT_SYMBOL_NS_GPL(dp_external_register_of, DPROBES);

static void close(unsigned int number)
{
	WRITE_ONCE(entries[number].function, 0);
	synchronize_rcu();
	owners[number] = NULL;
}

int dp_external_unregister_of(struct module *owner, unsigned int number)
{
	int err = -ENOENT;

	if (number > DP_EXTERNAL_LAST)
		return err;
	mutex_lock(&externals);
	if (entries[number].function && owners[number] == owner) {
		close(number);
		err = 0;
	}
	mutex_unlock(&externals);
	return err;
}
EXPORT_SYMBOL_NS_GPL(dp_external_unregister_of, DPROBES);

void dp_externals_go(const struct module *module)
{
	unsigned int i;

	mutex_lock(&externals);
	for (i = 0; i < DP_EXTERNALS; i++)
		if (entries[i].function && owners[i] == module)
			close(i);
	mutex_unlock(&externals);
}

static int use(struct dp_externals_used *used, u64 number, const char **why)
{
	*why = "call_kmod: no module has registered a function of that number";
	if (number > DP_EXTERNAL_LAST || !entries[number].function ||
	    !try_module_get(owners[number]))
		return -EINVAL;
	if (used->n < DP_EXTERNALS_NAMED) {
		used->owner[used->n++] = owners[number];
		return 0;
	}
	module_put(owners[number]);
	*why = "call_kmod: a program names eight functions at most";
	return -EINVAL;
}

/* A number that is pushed just before the call is named. Others are known at hits. */
int dp_externals_use(struct dp_externals_used *used, const u8 *code, u32 len,
		     u32 *at, const char **why)
{
	bool named = false;
	u32 i, next;
	u64 arg, number = 0;
	int err = 0;

	mutex_lock(&externals);
	for (i = 0; i < len && !err; i = next) {
		next = dp_op_decode(code, i, &arg);
		if (code[i] == DP_OPCODE_CALL_KMOD && named)
			err = use(used, number, why);
		if (err)
			*at = i;
		named = code[i] == DP_OPCODE_PUSH;
		number = arg;
	}
	mutex_unlock(&externals);
	if (err)
		dp_externals_leave(used);
	return err;
}

void dp_externals_leave(struct dp_externals_used *used)
{
	while (used->n)
		module_put(used->owner[--used->n]);
}
