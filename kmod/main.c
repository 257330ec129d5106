// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * main: the module comes and goes.
 *
 *     insmod dprobes.ko lookup=0x$(awk '$3 == "kallsyms_lookup_name" { print $1 }' /proc/kallsyms)
 *
 * The kernel exports neither that function nor what it finds. An address that is not its own is
 * refused, and nothing is called.
 */
#include "kmod/device.h"
#include "kmod/calls.h"
#include "kmod/facilities.h"
#include "kmod/files.h"
#include "kmod/hooks.h"
#include "kmod/later.h"
#include "kmod/modules.h"
#include "kmod/safe.h"
#include "kmod/watches.h"
#include "port/kernel/compat.h"
#include "engine/insn/insn.h"
#include <linux/module.h>

static unsigned long lookup;
module_param(lookup, ulong, 0);
MODULE_PARM_DESC(lookup, "address of kallsyms_lookup_name()");

static bool stubs = DP_KERNEL_DOUBTS_LOCKDEP;
module_param(stubs, bool, 0444);
MODULE_PARM_DESC(
	stubs,
	"return probes have stubs of their own, where traces of stacks stop, also if the kernel has a trampoline");

static int __init begin_interfaces(void)
{
	int err = dp_modules_begin();

	if (err)
		return err;
	err = dp_device_begin();
	if (err)
		dp_modules_end();
	else
		dp_files_begin();
	return err;
}

static int __init find_kernel(void)
{
	int err;

	if (DP_KERNEL_CHECKS_CALLS) {
		pr_err("dprobes: this kernel checks the types of functions as they are called (kCFI), which handlers would not pass\n");
		return -EOPNOTSUPP;
	}
	err = dp_safe_begin(lookup);
	if (err)
		pr_err("dprobes: lookup= is not kallsyms_lookup_name(), or this kernel lacks what probes need\n");
	return err;
}

static int __init begin(void)
{
	int err = find_kernel() ?: dp_watches_begin();

	if (err)
		return err;
	dp_facilities_begin();
	dp_calls_begin(dp_safe_trampoline(), !stubs);
	err = begin_interfaces();
	if (err)
		dp_watches_end();
	return err;
}

/* There is no session: it would keep the module. */
static void __exit end(void)
{
	dp_files_end();
	dp_device_end();
	dp_modules_end();
	dp_later_stop();
	dp_watches_end();
	dp_hook_look_end();
	dp_calls_end();
}

/* Tests compare them with another decoder's. */
EXPORT_SYMBOL_NS_GPL(dp_insn_facts, DPROBES);

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Probes on the kernel's code");
MODULE_LICENSE("Dual BSD/GPL");
