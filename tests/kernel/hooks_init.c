// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* hooks_init: hooks of modules: exits of others, the file in debugfs, and modules that go. */
#include "tests/kernel/init.h"
#include "tests/kernel/tool_init.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define OF "hooks: "
#define RUN "/sys/module/dphooked/parameters/run"

static const char *read_hooks(void)
{
	static char text[4096];
	int fd = open(DP_DEBUG "/dprobes/hooks", O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	close(fd);
	return text;
}

static int are_listed(const char *lines)
{
	if (!strncmp(read_hooks(), lines, strlen(lines)))
		return 1;
	printf("# %s\n", read_hooks());
	return 0;
}

static unsigned int calls(const char *times)
{
	unsigned int was =
		dp_init_number("/sys/module/dphookexits/parameters/calls");

	dp_init_put(RUN, times);
	return dp_init_number("/sys/module/dphookexits/parameters/calls") - was;
}

static void file(void)
{
	dp_init_check(calls("5") == 5 && are_listed("dptest_step active 5\n"
						    "  1 counting 1 writable\n"
						    "  2 shut 0\n"
						    "dptest_change idle 0\n"),
		      "hooks and exits are listed", OF);
	dp_init_check(!dp_files_put("hooks", "disarm dptest_step counting") &&
			      !calls("5") &&
			      are_listed("dptest_step idle 5\n"
					 "  1 counting 0 writable\n"),
		      "an exit is disarmed from outside", OF);
	dp_init_check(
		dp_files_put("hooks", "arm dptest_step shut") == EPERM &&
			dp_files_put("hooks", "arm dptest_step x") == ENOENT &&
			dp_files_put("hooks", "arm x counting") == ENOENT &&
			dp_files_put("hooks", "arm dptest_step") == EINVAL &&
			dp_files_put("hooks", "x dptest_step counting") ==
				EINVAL &&
			!calls("5"),
		"where its owner has said so", OF);
	dp_tool_check(!DP_TOOL("hooks", "--arm", "dptest_step:counting",
			       "kernel") &&
			      calls("5") == 5,
		      OF "and by the command");
	dp_tool_check(!DP_TOOL("hooks", "kernel") &&
			      dp_tool_occurrences(
				      "dptest_step active 10\n"
				      "  1 counting 1 writable\n") == 1,
		      OF "which lists them");
	dp_tool_check(DP_TOOL("hooks", "--arm", "dptest_step:shut", "kernel") &&
			      dp_tool_says("may not be armed from outside"),
		      OF "and says why not");
}

static void load_exits(const char *parameters)
{
	char *log;

	dp_init_log();
	dp_init_check(dp_init_load("dphookexits", parameters), "exits come",
		      OF);
	log = dp_init_log();
	dp_init_check(dp_init_is_quiet(log), "and nothing complains", OF);
	dp_init_check(dp_init_tell(log), "they come to their end", OF);
}

void dp_hooks_try(void)
{
	dp_init_check(dp_init_load("dphooked", ""), "a module has hooks", OF);
	load_exits("stay=1");
	if (dp_init_debugfs())
		file();
	else
		dp_init_skip("hooks: the file", DP_INIT_NO_DEBUGFS);
	dp_init_check(dp_init_unload("dphookexits"), "exits go, armed", OF);
	dp_init_put(RUN, "5");
	dp_init_check(!dp_init_debugfs() ||
			      are_listed("dptest_step idle 10\n"
					 "dptest_change idle 0\n"),
		      "and are called no more", OF);
	load_exits("");
	dp_init_check(calls("5") == 5, "others come", OF);
	dp_init_check(
		dp_init_unload("dphooked") &&
			dp_init_number(
				"/sys/module/dphookexits/parameters/deleted") ==
				1 &&
			!*read_hooks(),
		"the hooks go, and exits are orphaned", OF);
	dp_init_check(dp_init_load("dphooked", "") &&
			      dp_init_unload("dphookexits") &&
			      dp_init_unload("dphooked"),
		      "they come again, and all go", OF);
}
