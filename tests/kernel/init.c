// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* init: the guest's only program: loads test modules and prints what they say as TAP. */
#include "tests/kernel/init.h"
#include "tests/kernel/long_init.h"
#include "tests/kernel/user_init.h"
#include "tests/kernel/work_init.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SAYS "dptest: "
#define LOOKUP "kallsyms_lookup_name"
enum { READ_AND_CLEAR = 4, SIZE = 1 << 20, TURNS = 12 };

static unsigned int number;

void dp_init_check(int is, const char *what, const char *of)
{
	printf("%sok %u - %s%s\n", is ? "" : "not ", ++number, of, what);
}

int dp_init_load(const char *name, const char *parameters)
{
	char path[64];
	int fd;
	long err;

	snprintf(path, sizeof(path), "/%s.ko", name);
	fd = open(path, O_RDONLY);
	err = fd < 0 ? -1 : syscall(SYS_finit_module, fd, parameters, 0);
	close(fd);
	return !err;
}

int dp_init_unload(const char *name)
{
	return !syscall(SYS_delete_module, name, O_NONBLOCK);
}

/* Return: whether the last test was reached. */
int dp_init_tell(char *log)
{
	int done = 0;
	char *line;

	for (line = strtok(log, "\n"); line; line = strtok(NULL, "\n")) {
		char *says = strstr(line, SAYS), *what;

		if (!says)
			continue;
		says += strlen(SAYS);
		done |= !strcmp(says, "done");
		if (*says == '#')
			printf("%s\n", says);
		/* The kernel says things of the module in its name, too. */
		what = strstr(says, " - ");
		if (what &&
		    (!strncmp(says, "ok ", 3) || !strncmp(says, "not ok ", 7)))
			dp_init_check(*says == 'o', what + 3, "");
	}
	return done;
}

int dp_init_is_quiet(const char *log)
{
	static const char *const bad[] = { "WARNING:",	 "BUG:",      "Oops",
					   "Call Trace", "rcu: INFO", "stall" };
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (strstr(log, bad[i]))
			return 0;
	return 1;
}

/* Return: what the kernel has said since the last call, for one more. */
char *dp_init_log(void)
{
	static char log[SIZE];
	int n = klogctl(READ_AND_CLEAR, log, SIZE - 1);

	log[n > 0 ? n : 0] = '\0';
	return log;
}

unsigned long dp_init_address(const char *name)
{
	char line[256], symbol[128];
	FILE *f = fopen("/proc/kallsyms", "r");
	unsigned long at, found = 0;

	while (f && !found && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx %*c %127s", &at, symbol) == 2 &&
		    !strcmp(symbol, name))
			found = at;
	if (f)
		fclose(f);
	return found;
}

/* Does the kernel have a function of that name? */
static int has(const char *function)
{
	return dp_init_address(function) != 0;
}

int dp_init_kprobes(void)
{
	return has("register_kprobe");
}

/* Else each call that is followed has a stub. */
int dp_init_lists(void)
{
	char is = 'Y';
	FILE *f = fopen("/sys/module/dprobes/parameters/stubs", "r");

	if (f && fread(&is, 1, 1, f) != 1)
		is = 'Y';
	if (f)
		fclose(f);
	return is == 'N' && has("arch_rethook_trampoline");
}

int dp_init_debugfs(void)
{
	return has("debugfs_create_dir");
}

int dp_init_events(void)
{
	return !access("/tracing/kprobe_events", F_OK);
}

void dp_init_skip(const char *what, const char *why)
{
	printf("ok %u - %s # SKIP %s\n", ++number, what, why);
}

void dp_init_todo(const char *of, const char *what, const char *why)
{
	printf("not ok %u - %s%s # TODO %s\n", ++number, of, what, why);
}

/* Return: are there no complaints? */
static int run_once(const char *name, const char *parameters, const char *of)
{
	static char copy[SIZE];
	int loaded, unloaded, quiet;
	char *log;

	dp_init_log();
	loaded = dp_init_load(name, parameters);
	unloaded = dp_init_unload(name);
	log = dp_init_log();
	strcpy(copy, log);
	dp_init_check(loaded, "the module loads", of);
	dp_init_check(dp_init_tell(copy), "it comes to its end", of);
	dp_init_check(unloaded, "it goes", of);
	quiet = *log && dp_init_is_quiet(log);
	if (!loaded || !unloaded || !quiet)
		printf("%s\n", log);
	return quiet;
}

void dp_init_run(const char *name, const char *parameters)
{
	char of[96];

	snprintf(of, sizeof(of), "%s %s: ", name, parameters);
	dp_init_check(run_once(name, parameters, of),
		      "the kernel complains of nothing", of);
}

void dp_init_run_twice(const char *name)
{
	char of[64];
	int quiet, again;
	char *log;

	snprintf(of, sizeof(of), "%s: ", name);
	quiet = run_once(name, "", of);
	again = dp_init_load(name, "") && dp_init_unload(name);
	dp_init_check(again, "it comes and goes again", of);
	log = dp_init_log();
	dp_init_check(quiet && *log && dp_init_is_quiet(log),
		      "the kernel complains of nothing", of);
	if (!again || !dp_init_is_quiet(log))
		printf("%s\n", log);
}

static void work(void)
{
	if (dp_work_some())
		dp_init_check(0, "programs have their results", "");
}

void dp_init_put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		dp_init_check(0, path, "written: ");
	close(fd);
}

unsigned int dp_init_number(const char *path)
{
	FILE *f = fopen(path, "r");
	unsigned int n = ~0u;

	if (f && fscanf(f, "%u", &n) != 1)
		n = ~0u;
	if (f)
		fclose(f);
	return n;
}

/* The kernel's own tracer writes the text of functions that may have probes. */
static void trace(const char *tracer)
{
	if (!has("ftrace_set_filter"))
		return;
	dp_init_put("/tracing/set_ftrace_filter",
		    "vfs_* *mmap* *fork* *wake* gcd");
	dp_init_put("/tracing/current_tracer", tracer);
}

/* Probes all over the kernel, while it works */
static void run_many(const char *name, const char *parameters)
{
	char of[64];
	int loaded;
	char *log;
	pid_t child;

	snprintf(of, sizeof(of), "%s %s: ", name + strlen("dp"), parameters);
	dp_init_log();
	loaded = dp_init_load(name, parameters);
	work();
	trace("function");
	work();
	trace("nop");
	/* They go while they are hit. */
	child = fork();
	while (!child)
		work();
	usleep(20000);
	dp_init_check(loaded && dp_init_unload(name), "they come and go", of);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	log = dp_init_log();
	if (!dp_init_is_quiet(log))
		printf("%s\n", log);
	dp_init_check(dp_init_is_quiet(log), "the kernel complains of nothing",
		      of);
	dp_init_check(dp_init_tell(log), "they come to their end", of);
}

int dp_init_load_probes(void)
{
	static unsigned long lookup;
	char parameters[64];

	lookup = lookup ? lookup : dp_init_address(LOOKUP);
	/* The kernel's command line may ask for stubs, or for none. */
	snprintf(parameters, sizeof(parameters), "lookup=%#lx%s%s", lookup,
		 getenv("stubs") ? " stubs=" : "", getenv("stubs") ?: "");
	return dp_init_load("dprobes", parameters);
}

void dp_init_try_to_load(void)
{
	char parameters[64];
	unsigned long lookup = dp_init_address(LOOKUP);
	const char *said;

	dp_init_log();
	snprintf(parameters, sizeof(parameters), "lookup=%#lx", lookup + 1);
	dp_init_check(lookup && !dp_init_load("dprobes", parameters) &&
			      !dp_init_load("dprobes", "lookup=0"),
		      "dprobes.ko does not load with a wrong address", "");
	said = dp_init_log();
	snprintf(parameters, sizeof(parameters), "%lx", lookup + 1);
	dp_init_check(strstr(said, "dprobes: lookup=") &&
			      !strstr(said, parameters),
		      "it says so, without the address", "");
	dp_init_check(dp_init_load_probes(), "dprobes.ko loads", "");
}

static void run_probes(unsigned int each, unsigned int first,
		       unsigned int arming)
{
	char parameters[64];

	snprintf(parameters, sizeof(parameters), "each=%u first=%u arming=%u",
		 each, first, arming);
	run_many("dpmany", parameters);
}

static void run_returns(unsigned int each, unsigned int first)
{
	char parameters[64];

	snprintf(parameters, sizeof(parameters), "each=%u first=%u", each,
		 first);
	run_many("dpmanyreturns", parameters);
}

/* Is it in the variable's list? */
static int is_listed(const char *variable, const char *name)
{
	const char *list = getenv(variable);
	size_t len = strlen(name), n;

	for (; list && *list; list += n + (list[n] == ',')) {
		n = strcspn(list, ",");
		if (n == len && !strncmp(list, name, n))
			return 1;
	}
	return 0;
}

int dp_init_is_named(const char *name)
{
	return is_listed("only", name);
}

int dp_init_is_wanted(const char *name)
{
	return getenv("only") ? dp_init_is_named(name) :
				!is_listed("except", name);
}

/* What is in user space says what is wrong, and the kernel is to say nothing. */
static void run_quietly(void (*tests)(void), const char *of)
{
	char *log;

	dp_init_log();
	tests();
	log = dp_init_log();
	dp_init_check(dp_init_is_quiet(log), "the kernel complains of nothing",
		      of);
	if (!dp_init_is_quiet(log))
		printf("%s\n", log);
}

static unsigned int first_turn(void)
{
	const char *from = getenv("from");

	return from ? (unsigned int)atoi(from) : 0;
}

static void ask_at_random(void)
{
	dp_device_random(DP_DEVICE_RANDOM);
}

static void run_part(const struct dp_init_part *part)
{
	struct timespec begun, ended;

	clock_gettime(CLOCK_MONOTONIC, &begun);
	if (part->has && !part->has())
		dp_init_skip(part->name, part->why);
	else if (part->module)
		dp_init_run_twice(part->module);
	else if (part->of)
		run_quietly(part->run, part->of);
	else
		part->run();
	clock_gettime(CLOCK_MONOTONIC, &ended);
	printf("# %s: %.1f s\n", part->name,
	       (double)(ended.tv_sec - begun.tv_sec) +
		       (double)(ended.tv_nsec - begun.tv_nsec) / 1e9);
}

void dp_init_run_parts(const struct dp_init_part *part)
{
	for (; part->name; part++)
		if (part->named ? dp_init_is_named(part->name) :
				  dp_init_is_wanted(part->name))
			run_part(part);
}

static void write_facts(void)
{
	dp_init_check(dp_facts_write(), "facts about the kernel are written",
		      "");
}

static void run_some_probes(void)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		run_probes(40, 7 * i, i);
}

static void run_some_returns(void)
{
	unsigned int i;

	for (i = 0; i < 2; i++)
		run_returns(40, 11 * i);
}

/* Every function of the kernel, in turns: it takes long. from=12 begins with jumps. */
static void run_all(void)
{
	unsigned int i;

	for (i = first_turn(); i < 2 * TURNS; i++)
		run_probes(TURNS, i % TURNS, i / TURNS);
}

static void run_all_returns(void)
{
	unsigned int i;

	for (i = first_turn(); i < 3 * TURNS; i++)
		run_returns(3 * TURNS, i);
}

static int can_be_locked(void)
{
	return has("lock_kernel_down");
}

/* Without dprobes.ko */
static const struct dp_init_part first[] = {
	{ .name = "port", .module = "dpport" },
	{ .name = "facts", .run = write_facts },
	{}
};

static const struct dp_init_part engine[] = {
	{ .name = "facts", .module = "dpfacts" },
	{ .name = "probes", .module = "dpprobes" },
	{ .name = "programs", .module = "dpprograms" },
	{ .name = "native", .module = "dpnative" },
	{}
};

#define CAMPAIGN .of = "campaign: ", .named = 1
#define DEBUGFS .has = dp_init_debugfs, .why = DP_INIT_NO_DEBUGFS

static const struct dp_init_part rest[] = {
	{ .name = "device", .run = dp_device_try, .of = "device: " },
	{ .name = "device",
	  .run = dp_device_programs,
	  .of = "device, programs: " },
	{ .name = "random", .run = ask_at_random, .of = "device, at random: " },
	{ .name = "clients", .run = dp_clients_try, .of = "clients: " },
	{ .name = "failed", .run = dp_failed_try, .of = "failed: " },
	{ .name = "external", .run = dp_external_try, .of = "external: " },
	{ .name = "device-returns", .run = dp_returns_try, .of = "returns: " },
	{ .name = "watch", .run = dp_watch_try, .of = "watch: " },
	{ .name = "user", .run = dp_user_try, .of = "user: " },
	{ .name = "user-returns",
	  .run = dp_user_returns,
	  .of = "user, returns: " },
	{ .name = "user-files", .run = dp_user_files, .of = "user, files: " },
	{ .name = "modules", .run = dp_modules_try, .of = "modules: " },
	{ .name = "files", .run = dp_files_try, .of = "files: ", DEBUGFS },
	{ .name = "tool", .run = dp_tool_try, .of = "tool: " },
	{ .name = "stacks", .run = dp_stacks_try, .of = "stacks: " },
	{ .name = "tables", .run = dp_tables_try, .of = "tables: " },
	{ .name = "run", .run = dp_run_try, .of = "run: " },
	{ .name = "facilities",
	  .run = dp_facilities_try,
	  .of = "facilities: ",
	  DEBUGFS },
	{ .name = "hooks", .run = dp_hooks_try, .of = "hooks: " },
	{ .name = "hotplug", .run = dp_hotplug_try, .of = "hotplug: " },
	{ .name = "debugger", .run = dp_debugger_try, .named = 1 },
	{ .name = "dump", .run = dp_facilities_dump, .named = 1 },
	{ .name = "many", .run = run_some_probes },
	{ .name = "returns", .run = run_some_returns },
	{ .name = "all", .run = run_all, .named = 1 },
	{ .name = "all-returns", .run = run_all_returns, .named = 1 },
	{ .name = "differ", .run = dp_long_differ, CAMPAIGN },
	{ .name = "insns", .run = dp_long_insns, CAMPAIGN },
	{ .name = "cycles", .run = dp_long_cycles, CAMPAIGN },
	{ .name = "fire", .run = dp_long_fire, CAMPAIGN },
	{ .name = "hostile", .run = dp_long_hostile, CAMPAIGN },
	{ .name = "locked",
	  .run = dp_device_locked,
	  .of = "device, locked down: ",
	  .has = can_be_locked,
	  .why = "this kernel cannot be locked down" },
	{}
};

static void mount_all(void)
{
	mount("dev", "/dev", "devtmpfs", 0, NULL);
	mount("proc", "/proc", "proc", 0, NULL);
	mount("sys", "/sys", "sysfs", 0, NULL);
	mount("debug", DP_DEBUG, "debugfs", 0, NULL);
	mkdir("/tracing", 0700);
	mount("tracing", "/tracing", "tracefs", 0, NULL);
}

static void end(void)
{
	printf("%s", dp_init_is_quiet(dp_init_log()) ?
			     "" :
			     "# the kernel complains\n");
	printf("1..%u\n", number);
	fflush(stdout);
	fsync(1);
	sync();
	reboot(RB_POWER_OFF);
}

int main(int argc, char **argv)
{
	if (argc >= 5 && !strcmp(argv[1], "work"))
		return dp_tool_work(argv + 2);
	if (argc == 3 && !strcmp(argv[1], "steps"))
		return dp_user_steps(atoi(argv[2]));
	if (argc == 2 && !strcmp(argv[1], DP_WORK_CHILD))
		return DP_WORK_STATUS;

	if (getpid() != 1)
		return 1;
	mount_all();
	if (!freopen("/dev/console", "w", stdout))
		reboot(RB_POWER_OFF);
	printf("\nTAP version 13\n");
	dp_init_run_parts(first);
	dp_init_try_to_load();
	dp_init_run_parts(engine);
	dp_init_run_parts(dp_handlers_parts);
	dp_init_run_parts(rest);
	dp_init_check(dp_init_unload("dprobes") && !dp_files_there(),
		      "dprobes.ko goes, with its files", "");
	if (dp_init_is_wanted("tool"))
		dp_tool_absent();
	end();
	return 1;
}
