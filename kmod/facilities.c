// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * facilities: what programs may ask the kernel for as they end.
 *
 *     exit 1    kgdb_breakpoint(), while the kernel's debugger has a console
 *     exit 2    panic(), for a dump by kdump, while root has said so: debugfs, dprobes/dump
 *     exit N    from 16 on: the tool's, which reads the record
 *
 * The kernel exports neither whether a debugger has a console, nor, where it is built without, any of this.
 */
#include "kmod/facilities.h"
#include "kmod/safe.h"
#include "engine/layout/own.h"
#include "port/kernel/hold.h"
#include "port/kernel/text.h"
#include <linux/security.h>

#define DEBUGGER 1
#define DUMP 2

static int (*has_hit_break)(unsigned long addr);

/* Without a console there is no debugger, and its list is long. */
static bool has_break(u64 addr)
{
	return dp_kernel_debugs() && has_hit_break(addr);
}

void dp_facilities_begin(void)
{
	dp_kernel_facilities.breakpoint =
		(void *)dp_safe_symbol("kgdb_breakpoint");
	has_hit_break = (void *)dp_safe_symbol("kgdb_has_hit_break");
	if (has_hit_break)
		dp_kernel_text_cede_to(has_break);
	dp_kernel_facilities.console = (void *)dp_safe_symbol("dbg_io_ops");
}

static const char *debugger_missing(void)
{
	if (!dp_kernel_facilities.breakpoint || !dp_kernel_facilities.console)
		return "this kernel has no debugger (KGDB)";
	return dp_kernel_debugs() ?
		       NULL :
		       "the kernel's debugger has no console (kgdboc=)";
}

const char *dp_facilities_missing(u32 n)
{
	if (!n || n >= DP_FACILITY_REGISTERED)
		return NULL;
	if (dp_facilities_acts(n) && security_locked_down(LOCKDOWN_DEV_MEM))
		return "this kernel is locked down";
	if (n == DEBUGGER)
		return debugger_missing();
	if (n == DUMP)
		return dp_facilities_dumps() ?
			       NULL :
			       "programs may not end this kernel: see /sys/kernel/debug/dprobes/dump";
	return "a kernel has no core dumps";
}

bool dp_facilities_acts(u32 n)
{
	return n == DEBUGGER || n == DUMP;
}

bool dp_facilities_dumps(void)
{
	return READ_ONCE(dp_kernel_facilities.dumps);
}

int dp_facilities_set_dumps(bool on)
{
	int err = on ? security_locked_down(LOCKDOWN_DEV_MEM) : 0;

	if (!err)
		WRITE_ONCE(dp_kernel_facilities.dumps, on);
	return err;
}
