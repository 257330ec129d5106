// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * tool_names: names and types of the kernel's source in specs, as the kernel describes them itself.
 *
 * __x64_sys_getsid() and __x64_sys_umask() get a struct pt_regs, and return a long. What
 * its fields say is compared with what is at their places.
 */
#include "tests/kernel/init.h"
#include "tests/kernel/tool_init.h"
#include "tests/kernel/device_init.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STATUS 3
#define GETSID "kernel:" DP_GETSID
#define UMASK "kernel:" DP_UMASK
#define WORK "--", "/init", "work", "40", "77", "0", "60"

static void conditions(void)
{
	int status = DP_TOOL("stat", GETSID " if regs->di == 5",
			     UMASK " if regs == 1 || *regs == 2", WORK);

	dp_tool_check(status == 2 && dp_tool_says("*regs"),
		      "a struct is no number");
	status = DP_TOOL("stat", GETSID " if regs->di == 5",
			 UMASK " if regs == 1", WORK);
	dp_tool_check(status == STATUS && dp_tool_says("177 hits (60 counted)"),
		      "a field behind a parameter");
	status = DP_TOOL(
		"stat",
		GETSID
		" if ((struct pt_regs *)arg0)->di == 5 && (pid_t)regs->di == 5",
		WORK);
	dp_tool_check(status == STATUS && dp_tool_says("100 hits (60 counted)"),
		      "types by their names");
	status = DP_TOOL("stat", "r:" UMASK " if retval < 0",
			 "r:" GETSID " if retval == 18 && regs->di == 5", WORK);
	dp_tool_check(status == STATUS &&
			      dp_tool_says("177 hits (0 counted)") &&
			      dp_tool_says("40 not followed"),
		      "what is returned has its type");
	status =
		DP_TOOL("stat", "--json", GETSID "{count() by regs->di}", WORK);
	dp_tool_check(status == STATUS && strstr(dp_tool_out, "60"), "a key");
}

static void traces(void)
{
	int status = DP_TOOL("trace",
			     GETSID "(regs->di, at=*(u64 *)(arg0 + 0x70))",
			     "r:" UMASK, WORK);

	dp_tool_check(status == STATUS && dp_tool_occurrences("\n") == 177 &&
			      dp_tool_occurrences(" regs->di=5 at=5\n") == 60 &&
			      dp_tool_occurrences(" regs->di=0 at=0\n") == 40 &&
			      dp_tool_occurrences(" = 18 <") == 77,
		      "values, and returns by their types");
	status = DP_TOOL(
		"trace",
		"kernel:vfs_write(count, file->f_path.dentry->d_name.name:str) if count == 1",
		"--", "/init", "work", "0", "0", "0");
	dp_tool_check(!strstr(dp_tool_out, "fault") && status >= 0,
		      "through pointers");
}

/* Its instructions differ from kernel to kernel. Return: the exit status that says why */
static int in_the_middle(void)
{
	char spec[80];
	int status = 0, offset;

	for (offset = 4; offset < 24; offset++) {
		snprintf(spec, sizeof(spec), GETSID "+0x%x if regs->di == 3",
			 offset);
		status = DP_TOOL("stat", spec);
		if (dp_tool_says("holds at functions' entries"))
			return status;
	}
	return 0;
}

static void refusals(void)
{
	int status = DP_TOOL("stat", GETSID " if task == 3");

	dp_tool_check(status == 2 && dp_tool_says("task"),
		      "a name that it has not");
	status = DP_TOOL("stat", GETSID " if regs->none == 3");
	dp_tool_check(status == 2 && dp_tool_says("none"),
		      "a member that it has not");
	dp_tool_check(in_the_middle() == 2, "in the middle of a function");
	status = DP_TOOL("stat", "kernel:dpbytes:tell if n == 3");
	dp_tool_check(status == 2 && dp_tool_says("write arg0 to arg5"),
		      "of a module that does not describe its types");
	status = DP_TOOL("list", "-v", GETSID);
	dp_tool_check(!status && strstr(dp_tool_out, "values: ") &&
			      strstr(dp_tool_out, "regs"),
		      "they are listed");
}

static void unknown(void)
{
	int status = DP_TOOL("stat", GETSID " if regs->di == 3");

	dp_tool_check(status == 2 && dp_tool_says("/sys/kernel/btf"),
		      "a kernel that describes no types");
	status = DP_TOOL("stat", "r:" UMASK " if retval < 0");
	dp_tool_check(status == 2 && dp_tool_says("/sys/kernel/btf"),
		      "nor what is returned");
	status = DP_TOOL("trace", "r:" UMASK "()", WORK);
	dp_tool_check(status == STATUS &&
			      dp_tool_occurrences(" = rax=0x12 <0.0") == 77,
		      "of a type that is not known");
}

void dp_tool_names(void)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK)) {
		unknown();
		return;
	}
	conditions();
	traces();
	refusals();
}
