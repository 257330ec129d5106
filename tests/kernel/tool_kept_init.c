// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* tool_kept_init: dprobes(1) keeps values of the kernel's hits, in the guest. */
#include "tests/kernel/device_init.h"
#include "tests/kernel/init.h"
#include "tests/kernel/tool_init.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define STATUS 3
#define GETSID "kernel:" DP_GETSID
#define UMASK "kernel:" DP_UMASK
#define SID "*(u64 *)(arg0 + 0x70)"
/* getsid(0) 40 times, umask(022) 77 times, which returns 18, getsid(5) 60 times */
#define WORK "--", "/init", "work", "40", "77", "0", "60"

static int has(const char *words)
{
	return strstr(dp_tool_out, words) != NULL;
}

static void entries(void)
{
	int status = DP_TOOL("stat", "--json", GETSID "{count() by " SID "}",
			     UMASK "{count()}", WORK);

	dp_tool_check(status == STATUS && has("\"hits\":60,\"by\":{") &&
			      has(":5},\"count()\":60}") &&
			      has(":0},\"count()\":40}") &&
			      has(",\"count()\":77}"),
		      "hits are counted by keys");
	status = DP_TOOL("stat", "--json",
			 GETSID "{sum(" SID "), min(" SID "), max(" SID
				"), first(" SID "), last(" SID
				"), distinct(" SID ")} if arg0 != 0",
			 WORK);
	dp_tool_check(status == STATUS && has("\"hits\":100") &&
			      has("sum(" SID ")\":300,") &&
			      has("min(" SID ")\":0,") &&
			      has("max(" SID ")\":5,") &&
			      has("first(" SID ")\":0,") &&
			      has("last(" SID ")\":5,") &&
			      has("distinct(" SID ")\":2"),
		      "and their values kept");
	status = DP_TOOL("stat", "--json", GETSID "{hist(" SID ")}",
			 UMASK "{hist(" SID ")}",
			 UMASK "{lhist(" SID ",0,20,10)} if arg0 == 0", WORK);
	dp_tool_check(status == STATUS &&
			      has("[{\"min\":0,\"max\":0,\"count\":40}") &&
			      has("{\"min\":4,\"max\":7,\"count\":60}]") &&
			      has("[{\"min\":16,\"max\":31,\"count\":77}]"),
		      "as histograms, each spec's own");
}

static void returns(void)
{
	int status = DP_TOOL("stat", "--json",
			     "r:" UMASK "{count(), sum((long)retval), sum(" SID
			     "), hist(latency) by comm}",
			     WORK);

	dp_tool_check(status == STATUS && has("\"by\":{\"comm\":\"init\"}") &&
			      has("\"count()\":77") &&
			      has("\"sum((long)retval)\":1386") &&
			      has("\"sum(" SID ")\":1386") &&
			      dp_tool_says("77 returned"),
		      "values of the entry, and of the return");
	status = DP_TOOL(
		"stat", "--json",
		"r:" UMASK
		"{count() by comm} if (int)retval == 18 && latency > 1ns",
		"r:" GETSID "{count() by comm} if (int)retval == 1", WORK);
	dp_tool_check(status == STATUS && has("\"count()\":77") &&
			      dp_tool_occurrences("\"count()\"") == 1 &&
			      !dp_tool_says("read"),
		      "where a condition holds");
	status = DP_TOOL("stat", "r:" UMASK "{hist(arg1)} if " SID " == 18",
			 WORK);
	dp_tool_check(status == STATUS && has("77 |@"),
		      "of the entry alone, at the return");
}

/* What is in no table is told. */
#define FIRST "/first"

static int is_in_file(const char *path, const char *words)
{
	char text[4096] = "";
	FILE *f = fopen(path, "r");

	if (f) {
		text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
		fclose(f);
	}
	return strstr(text, words) != NULL;
}

/* Two of them at a time, each with tables and programs of its own */
static void beside(void)
{
	static const char *const argv[] = {
		"stat", "--json", "-o", FIRST, GETSID "{sum(1) by " SID "}",
		NULL
	};
	pid_t first = dp_tool_start(argv);
	int armed = dp_tool_wait(1), status;

	status = DP_TOOL("stat", "--json", GETSID "{count()}",
			 UMASK "{hist(" SID ") by comm}", WORK);
	dp_tool_check(armed && status == STATUS && has(",\"count()\":100}") &&
			      has("{\"min\":16,\"max\":31,\"count\":77}]"),
		      "beside another one");
	kill(first, SIGINT);
	status = dp_tool_finish(first);
	dp_tool_check(!status && is_in_file(FIRST, ":5},\"sum(1)\":60}") &&
			      is_in_file(FIRST, ":0},\"sum(1)\":40}"),
		      "which has its own");
}

static void losses(void)
{
	int status = DP_TOOL("stat", "--json", GETSID "{count() by *(u64 *)8}",
			     WORK);

	dp_tool_check(status == STATUS && !has("\"count()\":") &&
			      has("\"unreadable\":100,"),
		      "what cannot be read is in no table");
	status = DP_TOOL("stat", "--json",
			 "r:" UMASK "{count() by *(u64 *)(long)retval}", WORK);
	dp_tool_check(status == STATUS && !has("\"count()\":") &&
			      has("\"unreadable\":77,"),
		      "at a return, too");
	status = DP_TOOL("stat", "--json", "--map-size", "1",
			 GETSID "{count() by " SID "}", WORK);
	dp_tool_check(status == STATUS && has("\"count()\":40") &&
			      !has("\"count()\":60") &&
			      has("\"lost\":{\"full\":60,\"unreadable\":0,"),
		      "what there is no room for");
}

/* Each time that the tool reads records, it makes one. */
static void own(void)
{
	int status = DP_TOOL("stat", "--duration", "300ms",
			     "kernel:__x64_sys_read{count()}");

	dp_tool_check(!status && strstr(dp_tool_out, "count()"),
		      "what the tool itself does has an end");
}

/* It reads a directory, which fails, until it is killed. */
static pid_t failing(void)
{
	pid_t child = fork();
	char byte;
	int fd;

	if (child)
		return child;
	fd = open("/", O_RDONLY | O_DIRECTORY);
	while (fd >= 0 && read(fd, &byte, 1) < 0)
		usleep(1000);
	_exit(1);
}

/* As dprobes(1) has it */
static void errors(void)
{
	pid_t child = failing();
	int status = DP_TOOL(
		"stat", "--json", "--duration", "300ms",
		"r:kernel:vfs_*{count() by (int)retval} if (int)retval < 0");

	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	dp_tool_check(!status && has("\"by\":{\"(int)retval\":-21}") &&
			      !has("\"(int)retval\":0"),
		      "calls that fail, of many functions, by their errors");
}

/* As examples/README.md has it */
static void example(void)
{
	int status = DP_TOOL("stat", "r:kernel:vfs_read{hist(latency) by comm}",
			     "--", "/init", "work", "0", "0", "200");
	const char *at = strstr(dp_tool_out, "comm=\"init\"");
	long sum = 0;

	while (at && (at = strstr(at + 1, ") ")) && at[1] == ' ')
		sum += strtol(at + 1, NULL, 10);
	dp_tool_check(status == STATUS && sum >= 200,
		      "a histogram of how long reads take");
	if (sum < 200)
		printf("# sum %ld\n", sum);
}

void dp_tool_kept(void)
{
	entries();
	returns();
	beside();
	losses();
	own();
	errors();
	example();
}
