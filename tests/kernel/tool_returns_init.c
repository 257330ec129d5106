// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* tool_returns_init: dprobes(1) on the returns of the kernel's functions, in the guest. */
#include "tests/kernel/device_init.h"
#include "tests/kernel/init.h"
#include "tests/kernel/tool_init.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STATUS 3
#define PLAIN "kernel:" DP_GETSID
#define GETSID "r:kernel:" DP_GETSID
#define UMASK "r:kernel:" DP_UMASK
#define MASK "mask=*(u64 *)(arg0 + 0x70)"
/* umask(022), so often: it returns 18, which it was */
#define WORK "--", "/init", "work", "40", "77", "0"

static void counts(void)
{
	int status = DP_TOOL("stat", "--json", GETSID, UMASK, WORK);

	dp_tool_check(
		status == STATUS &&
			strstr(dp_tool_out,
			       "{\"probe\":\"r:kernel:" DP_GETSID
			       "\",\"hits\":40,\"missed\":0,\"mode\":\"jump\",\"returned\":40,") &&
			strstr(dp_tool_out,
			       "\"hits\":77,\"missed\":0,\"mode\":\"jump\",\"returned\":77,") &&
			dp_tool_says("; calls: 117 returned; "),
		"calls are counted to their returns");
	status = DP_TOOL("stat", UMASK " if (int)retval == 18", WORK);
	dp_tool_check(status == STATUS && dp_tool_says("77 hits (77 counted)"),
		      "for what they return");
	status = DP_TOOL("stat", UMASK " if (int)retval < 0", WORK);
	dp_tool_check(status == STATUS && dp_tool_says("77 hits (0 counted)"),
		      "and not for what they do not");
	status = DP_TOOL("stat", UMASK " if latency > 1ns && latency < 10s",
			 GETSID " if latency > 10s", WORK);
	dp_tool_check(status == STATUS && dp_tool_says("117 hits (77 counted)"),
		      "for their latency");
	status = DP_TOOL("stat", UMASK " if *(u64 *)(arg0 + 0x70) == 19", WORK);
	dp_tool_check(
		status == STATUS &&
			dp_tool_says("77 not followed for their condition"),
		"and for what they get");
	status = DP_TOOL("stat", "-v", "r:kernel:vfs_get*", "--", "/init",
			 "work", "0", "0", "9");
	dp_tool_check(status == STATUS && dp_tool_says(" returned"), "a glob");
}

static void traces(void)
{
	int status = DP_TOOL("trace", UMASK "(" MASK ",retval:s64)", WORK);

	dp_tool_check(status == STATUS && dp_tool_occurrences("\n") == 77 &&
			      dp_tool_occurrences(" init r:kernel:" DP_UMASK
						  " mask=18 = 18 <0.0") == 77 &&
			      dp_tool_says("77 records"),
		      "a line for each return");
	status = DP_TOOL("trace", "--json",
			 UMASK "(" MASK ",retval:s64,latency)", WORK);
	dp_tool_check(
		status == STATUS &&
			dp_tool_occurrences(
				"\"args\":{\"mask\":18,\"latency\":") == 77 &&
			dp_tool_occurrences(",\"ret\":18,\"latency_ns\":") ==
				77 &&
			dp_tool_occurrences(",\"exit\":\"return\"}") == 77 &&
			!strstr(dp_tool_out, "\"latency_ns\":0,"),
		"as JSON");
	status = DP_TOOL("trace", GETSID "(retval:s32) if (int)retval < 0",
			 UMASK
			 "(retval:s32) if (int)retval == 18 && latency > 1ns",
			 WORK);
	dp_tool_check(status == STATUS && dp_tool_occurrences("\n") == 77 &&
			      dp_tool_occurrences(" = 18 <") == 77,
		      "with conditions");
	status = DP_TOOL("trace", "-n", "5", UMASK "(retval:s64)", WORK);
	dp_tool_check(dp_tool_occurrences("\n") == 5 && status >= 0,
		      "so many of them");
}

/* The latency of one call as its record has it, and as the program has computed it, are about the same. */
static void latencies(void)
{
	const char *at;
	long of_record, of_program;
	int near = 0;

	DP_TOOL("trace", "--json", UMASK "(latency)", WORK);
	for (at = dp_tool_out; (at = strstr(at, "\"latency\":")); at++) {
		of_program = atol(at + strlen("\"latency\":"));
		at = strstr(at, "\"latency_ns\":");
		if (!at)
			break;
		of_record = atol(at + strlen("\"latency_ns\":"));
		near += of_program > 0 && labs(of_program - of_record) <= 1;
	}
	dp_tool_check(near == 77, "one latency, wherever it is told");
}

static pid_t waiter(int *end)
{
	int ends[2];
	char byte;
	pid_t child;

	if (pipe(ends))
		return -1;
	child = fork();
	if (!child) {
		close(ends[1]);
		_exit(read(ends[0], &byte, 1) == 1 ? 7 : 1);
	}
	close(ends[0]);
	*end = ends[1];
	return child;
}

/* The tool ends while calls are inside, one more than can be followed. */
static void inside(void)
{
	static const char *const argv[] = { "stat", "--maxactive",
					    "1",    "r:kernel:pipe_read",
					    PLAIN,  NULL };
	pid_t tool = dp_tool_start(argv), first, second;
	int armed = dp_tool_wait(1), end = -1, other = -1, status;

	first = waiter(&end);
	usleep(300000);
	second = waiter(&other);
	usleep(300000);
	kill(tool, SIGINT);
	status = dp_tool_finish(tool);
	dp_tool_check(
		armed && !status &&
			dp_tool_says(
				", 1 missed for want of a free instance (maxactive)") &&
			dp_tool_says("2 hits, 1 missed") &&
			dp_tool_says("calls: 0 returned, 1 still inside;"),
		"what is inside at the end is told, and what was missed");
	if (write(end, "", 1) != 1 || write(other, "", 1) != 1)
		return;
	waitpid(first, &status, 0);
	waitpid(second, &other, 0);
	dp_tool_check(WEXITSTATUS(status) == 7 && WEXITSTATUS(other) == 7,
		      "and returns");
}

static void refuses(void)
{
	int status = DP_TOOL("stat", "--maxactive", "8192", GETSID, UMASK);

	dp_tool_check(status == 1 &&
			      dp_tool_says("follows 8192 calls at a time"),
		      "more than can be followed");
	status = DP_TOOL("stat", "--maxactive", "9000", GETSID);
	dp_tool_check(status == 2 && dp_tool_says("--maxactive 9000"),
		      "at all");
	status = DP_TOOL("stat", "--maxactive", "5", "main", WORK);
	dp_tool_check(status == 2 && dp_tool_says("is for r:kernel:FUNCTION"),
		      "of a process");
	status = DP_TOOL("stat", GETSID "+0x5", WORK);
	dp_tool_check(status == 2 &&
			      dp_tool_says("a return probe has no offset"),
		      "an instruction's return");
	status = DP_TOOL("stat", "r:kernel:__switch_to");
	dp_tool_check(status == 2, "a return to another task");
	status = DP_TOOL("stat", "kernel:vfs_* if arg0 == 1");
	dp_tool_check(
		status == 1 &&
			dp_tool_says(
				"too many programs: name fewer functions\n"),
		"more conditions than a session has room for");
	status = DP_TOOL("list", "-v", GETSID);
	dp_tool_check(!status && strstr(dp_tool_out, GETSID " ") &&
			      !dp_device_changed(),
		      "list, by a name that can be given again");
}

void dp_tool_returns(void)
{
	counts();
	traces();
	latencies();
	inside();
	refuses();
}
