// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* handlers_init: probes of other modules, which have handlers in C. */
#include "tests/kernel/init.h"
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A probe and a return probe, which count together */
static int are_hit(const char *times, unsigned int hits)
{
	unsigned int now = dp_init_number("/sys/module/dpgone/parameters/hits");

	dp_init_put("/sys/module/dpvictim/parameters/work", times);
	return dp_init_number("/sys/module/dpgone/parameters/hits") - now ==
	       hits;
}

static int are_listed(const char *end)
{
	const char *list = dp_files_list(),
		   *k = strstr(list, "  k  dpvictim_work+0x"),
		   *r = strstr(list, "  r  dpvictim_work+0x");
	size_t len = strlen(end);

	if (k && r && !strncmp(strchr(k, '\n') + 1 - len, end, len) &&
	    !strncmp(strchr(r, '\n') + 1 - len, end, len))
		return 1;
	printf("# %s\n", list);
	return 0;
}

static void turn_all(void)
{
	dp_init_check(
		are_listed("  dpvictim [OPTIMIZED]\n") && are_hit("4", 8) &&
			!dp_files_put("enabled", "0") && are_hit("4", 0) &&
			!dp_files_put("enabled", "1") && are_hit("4", 8),
		"a knob is for probes with handlers, too", "gone: ");
	dp_init_check(!dp_files_put("optimization", "0") && are_hit("4", 8) &&
			      are_listed("  dpvictim \n") &&
			      !dp_files_put("optimization", "1") &&
			      are_hit("4", 8) &&
			      are_listed("  dpvictim [OPTIMIZED]\n"),
		      "and the other one", "gone: ");
}

/* A probe on a module's function, which goes, and comes again; then the module with the probe goes. */
static void run_gone(void)
{
	char *log;

	dp_init_log();
	dp_init_check(dp_init_load("dpvictim", "") &&
			      dp_init_load("dpgone", ""),
		      "a module is probed", "gone: ");
	if (dp_init_debugfs())
		turn_all();
	else
		dp_init_skip("gone: the knobs", DP_INIT_NO_DEBUGFS);
	dp_init_check(dp_init_unload("dpvictim") &&
			      (!dp_init_debugfs() ||
			       are_listed("  dpvictim [GONE]\n")),
		      "it goes, and its probes are gone", "gone: ");
	dp_init_put("/sys/module/dpgone/parameters/step", "1");
	dp_init_check(dp_init_load("dpvictim", ""), "it comes again", "gone: ");
	dp_init_put("/sys/module/dpgone/parameters/step", "2");
	dp_init_check(dp_init_unload("dpvictim") && dp_init_unload("dpgone"),
		      "and both go, with probes left", "gone: ");
	log = dp_init_log();
	if (!dp_init_is_quiet(log))
		printf("%s\n", log);
	dp_init_check(dp_init_is_quiet(log), "the kernel complains of nothing",
		      "gone: ");
	dp_init_check(dp_init_tell(log), "it comes to its end", "gone: ");
}

/* Not by the function that is probed */
static void pause_ms(unsigned int ms)
{
	struct pollfd none = { .fd = -1 };

	poll(&none, 0, (int)ms);
}

static pid_t sleeper(unsigned int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };
	pid_t child = fork();

	if (!child)
		_exit(nanosleep(&t, NULL) ? 1 : 7);
	return child;
}

static void tell_all(const char *of)
{
	char *log = dp_init_log();

	if (!dp_init_is_quiet(log))
		printf("%s\n", log);
	dp_init_check(dp_init_is_quiet(log), "the kernel complains of nothing",
		      of);
	dp_init_check(dp_init_tell(log), "it comes to its end", of);
}

/* A probe goes while programs sleep inside; dprobes.ko goes when they have returned. */
static void run_orphans(void)
{
	int status, other, again;
	pid_t late, killed;

	dp_init_log();
	dp_init_check(dp_init_load("dporphans", ""), "the module loads",
		      "orphans: ");
	waitpid(sleeper(10), NULL, 0);
	late = sleeper(2000);
	killed = sleeper(100000);
	pause_ms(300);
	dp_init_check(dp_init_unload("dporphans"),
		      "it goes, with sleepers inside", "orphans: ");
	dp_init_check(!dp_init_unload("dprobes"), "dprobes.ko does not",
		      "orphans: ");
	kill(killed, SIGKILL);
	waitpid(late, &status, 0);
	waitpid(killed, &other, 0);
	dp_init_check(WIFEXITED(status) && WEXITSTATUS(status) == 7 &&
			      WIFSIGNALED(other),
		      "the sleepers return", "orphans: ");
	for (again = 0; again < 30 && !dp_init_unload("dprobes"); again++)
		pause_ms(100);
	dp_init_check(again < 30, "then dprobes.ko goes", "orphans: ");
	tell_all("orphans: ");
	dp_init_try_to_load();
}

/* Programs end inside, fewer at once than can be followed. */
static void run_ends(void)
{
	pid_t child[3];
	int i, round;

	dp_init_log();
	dp_init_check(dp_init_load("dporphans", "ends=1"), "the module loads",
		      "ends: ");
	for (round = 0; round < 5; round++) {
		for (i = 0; i < 3; i++) {
			child[i] = fork();
			if (!child[i])
				_exit(0);
		}
		for (i = 0; i < 3; i++)
			waitpid(child[i], NULL, 0);
		pause_ms(1200);
	}
	dp_init_check(dp_init_unload("dporphans"), "it goes", "ends: ");
	tell_all("ends: ");
}

/* Return: how often a text has another in it. */
static unsigned int times(const char *text, const char *word)
{
	unsigned int n = 0;

	for (text = strstr(text, word); text; text = strstr(text + 1, word))
		n++;
	return n;
}

/* How long functions take: examples/kernel */
static void run_example(void)
{
	char page[4096], *line, *rest = page;
	unsigned long long from, calls, sum = 0;
	unsigned int i, bad = 0;
	FILE *f;

	bad += !dp_init_load("read_latency", "function=vfs_write");
	for (i = 0; i < 100; i++) {
		f = fopen("/scratch", "w");
		fputs("some", f);
		fclose(f);
	}
	f = fopen("/sys/module/read_latency/parameters/histogram", "r");
	page[f ? fread(page, 1, sizeof(page) - 1, f) : 0] = '\0';
	while ((line = strsep(&rest, "\n")))
		if (sscanf(line, "%llu %llu", &from, &calls) == 2)
			sum += calls;
	bad += !f || fclose(f) || !dp_init_unload("read_latency");
	dp_init_check(!bad && sum >= 100 && sum < 1000, "a histogram of calls",
		      "examples: ");
	printf("# %llu calls\n", sum);
}

static int is_there(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/%s.ko", name);
	if (!access(path, F_OK))
		return 1;
	dp_init_skip(
		name,
		"the kernel has no frame for it, or its sources are not there");
	return 0;
}

#define NESTED "not ok 6 test_stacktrace_on_nested_kretprobe"

/* Its frame for tests says what has passed. A failure in a handler is told by what complains of itself. */
static void run_kunit(const char *name)
{
	char of[64];
	char *log;
	int loaded, nested;

	if (!is_there(name))
		return;
	snprintf(of, sizeof(of), "%s: ", name);
	dp_init_log();
	loaded = dp_init_load(name, "");
	dp_init_check(loaded && dp_init_unload(name), "it comes and goes", of);
	log = dp_init_log();
	nested = times(log, NESTED) == 1;
	/* The line of the whole is one more. */
	dp_init_check(times(log, "    ok ") >= 5 &&
			      times(log, "not ok ") == 2 * nested &&
			      (nested || dp_init_is_quiet(log)),
		      "all of the kernel's tests pass, but for one of traces",
		      of);
	if (dp_init_lists())
		dp_init_check(!nested, "a trace goes through two return probes",
			      of);
	else if (nested)
		dp_init_todo(of, "a trace goes through two return probes",
			     "unwinders stop at stubs");
	if (times(log, "not ok ") != 2 * nested)
		printf("%s\n", log);
}

/* The kernel's own, built with our probes instead of its own */
static void run_sample(const char *name, const char *says)
{
	char of[64];
	char *log;
	int i, loaded;

	if (!is_there(name))
		return;
	snprintf(of, sizeof(of), "%s: ", name);
	dp_init_log();
	loaded = dp_init_load(name, "");
	for (i = 0; i < 5; i++)
		waitpid(sleeper(1), NULL, 0);
	dp_init_check(loaded && dp_init_unload(name), "it comes and goes", of);
	log = dp_init_log();
	dp_init_check(times(log, says) >= 5 && dp_init_is_quiet(log),
		      "it tells of each call", of);
	if (times(log, says) < 5)
		printf("%s\n", log);
}

#define RT "/proc/sys/kernel/sched_rt_runtime_us"

/* What has a CPU is to have all of it. */
static void run_preempted(void)
{
	int limited = !access(RT, F_OK);

	if (limited)
		dp_init_put(RT, "-1");
	dp_init_run_twice("dppreempted");
	if (limited)
		dp_init_put(RT, "950000");
}

/* By the manuals: tests/kernel/conform */
static void run_conform(void)
{
	char parameters[16];
	unsigned int arming;

	for (arming = 0; arming < 3; arming++) {
		snprintf(parameters, sizeof(parameters), "arming=%u", arming);
		dp_init_run("dpconform", parameters);
	}
}

static void run_sample_itself(void)
{
	if (dp_init_kprobes())
		dp_init_run_twice("dpsample");
	else
		dp_init_skip("dpsample", DP_INIT_NO_KPROBES);
	dp_init_run_twice("dpsampleours");
}

static void run_tasks(void)
{
	run_ends();
	run_orphans();
}

static void run_theirs(void)
{
	run_sample("kprobe_example", "handler_pre: <kernel_clone>");
	run_sample("kretprobe_example", "kernel_clone returned");
	run_kunit("test_kprobes");
}

static void run_second(void)
{
	dp_init_run("dprewritten", "cpu=1");
}

const struct dp_init_part dp_handlers_parts[] = {
	{ .name = "kprobes", .module = "dpkprobes" },
	{ .name = "quick", .module = "dpquick" },
	{ .name = "conform", .run = run_conform },
	{ .name = "exits", .module = "dpexits" },
	{ .name = "traces", .module = "dptraces" },
	{ .name = "jprobes", .module = "dpjprobes" },
	{ .name = "nmi", .module = "dpnmi" },
	{ .name = "watchpoints", .module = "dpwatch" },
	{ .name = "preempted", .run = run_preempted },
	{ .name = "orphans", .run = run_tasks },
	/* Of one source: what they tell is the same. */
	{ .name = "sample", .run = run_sample_itself },
	{ .name = "theirs", .run = run_theirs },
	{ .name = "rewritten", .module = "dprewritten" },
	/* For a kernel that begins with one CPU: maxcpus=1 */
	{ .name = "second", .run = run_second, .named = 1 },
	{ .name = "examples", .run = run_example },
	{ .name = "gone", .run = run_gone },
	{ .name = "figures", .module = "dpfigures", .named = 1 },
	{}
};
