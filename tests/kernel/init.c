// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* init: the guest's only program: loads test modules and prints what they say as TAP. */
#include "tests/kernel/init.h"
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
static int tell(char *log)
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

static int is_quiet(const char *log)
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
static char *read_log(void)
{
	static char log[SIZE];
	int n = klogctl(READ_AND_CLEAR, log, SIZE - 1);

	log[n > 0 ? n : 0] = '\0';
	return log;
}

/* Return: its address, or 0. */
static unsigned long find(const char *name)
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
	return find(function) != 0;
}

int dp_init_kprobes(void)
{
	return has("register_kprobe");
}

void dp_init_skip(const char *what, const char *why)
{
	printf("ok %u - %s # SKIP %s\n", ++number, what, why);
}

static void run(const char *name)
{
	static char copy[SIZE];
	char of[64];
	int loaded, unloaded, quiet, again;
	char *log;

	snprintf(of, sizeof(of), "%s: ", name);
	read_log();
	loaded = dp_init_load(name, "");
	unloaded = dp_init_unload(name);
	log = read_log();
	strcpy(copy, log);
	dp_init_check(loaded, "the module loads", of);
	dp_init_check(tell(copy), "it comes to its end", of);
	dp_init_check(unloaded, "it goes", of);
	quiet = *log && is_quiet(log);
	if (!loaded || !unloaded || !quiet)
		printf("%s\n", log);
	again = dp_init_load(name, "") && dp_init_unload(name);
	dp_init_check(again, "it comes and goes again", of);
	log = read_log();
	dp_init_check(quiet && *log && is_quiet(log),
		      "the kernel complains of nothing", of);
	if (!again || !is_quiet(log))
		printf("%s\n", log);
}

/* What programs do: files, pipes, memory, children, signals */
static void use_kernel(void)
{
	static char page[65536];
	int pipes[2], i, fd, status;
	pid_t child;
	void *map;

	for (i = 0; i < 40; i++) {
		fd = open(i & 1 ? "/proc/self/status" : "/proc/meminfo",
			  O_RDONLY);
		while (fd >= 0 && read(fd, page, sizeof(page)) > 0)
			continue;
		close(fd);
		fd = open("/scratch", O_RDWR | O_CREAT | O_TRUNC, 0600);
		if (write(fd, page, sizeof(page)) < 0 || fsync(fd))
			printf("# scratch is not written\n");
		close(fd);
		map = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memset(map, i, 1 << 20);
		if (pipe(pipes))
			continue;
		child = fork();
		if (!child) {
			memset(map, i + 1, 1 << 19);
			_exit(write(pipes[1], page, 4096) == 4096 ? 7 : 1);
		}
		if (read(pipes[0], page, 4096) != 4096 ||
		    waitpid(child, &status, 0) != child ||
		    WEXITSTATUS(status) != 7)
			printf("not ok %u - a child works\n", ++number);
		close(pipes[0]);
		close(pipes[1]);
		munmap(map, 1 << 20);
		unlink("/scratch");
		usleep(1000);
	}
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		dp_init_check(0, path, "written: ");
	close(fd);
}

static unsigned int read_number(const char *path)
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
	put("/tracing/set_ftrace_filter", "vfs_* *mmap* *fork* *wake* gcd");
	put("/tracing/current_tracer", tracer);
}

/* Probes all over the kernel, while it works */
static void run_many(const char *name, const char *parameters)
{
	char of[64];
	int loaded;
	char *log;
	pid_t child;

	snprintf(of, sizeof(of), "%s %s: ", name + strlen("dp"), parameters);
	read_log();
	loaded = dp_init_load(name, parameters);
	use_kernel();
	trace("function");
	use_kernel();
	trace("nop");
	/* They go while they are hit. */
	child = fork();
	while (!child)
		use_kernel();
	usleep(20000);
	dp_init_check(loaded && dp_init_unload(name), "they come and go", of);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	log = read_log();
	if (!is_quiet(log))
		printf("%s\n", log);
	dp_init_check(is_quiet(log), "the kernel complains of nothing", of);
	dp_init_check(tell(log), "they come to their end", of);
}

int dp_init_load_probes(void)
{
	static unsigned long lookup;
	char parameters[64];

	lookup = lookup ? lookup : find(LOOKUP);
	snprintf(parameters, sizeof(parameters), "lookup=%#lx", lookup);
	return dp_init_load("dprobes", parameters);
}

static void load_probes(void)
{
	char parameters[64];
	unsigned long lookup = find(LOOKUP);

	snprintf(parameters, sizeof(parameters), "lookup=%#lx", lookup + 1);
	dp_init_check(lookup && !dp_init_load("dprobes", parameters) &&
			      !dp_init_load("dprobes", "lookup=0"),
		      "dprobes.ko does not load with a wrong address", "");
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

/* A probe and a return probe, which count together */
static int are_hit(const char *times, unsigned int hits)
{
	unsigned int now = read_number("/sys/module/dpgone/parameters/hits");

	put("/sys/module/dpvictim/parameters/work", times);
	return read_number("/sys/module/dpgone/parameters/hits") - now == hits;
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

	read_log();
	dp_init_check(dp_init_load("dpvictim", "") &&
			      dp_init_load("dpgone", ""),
		      "a module is probed", "gone: ");
	turn_all();
	dp_init_check(dp_init_unload("dpvictim") &&
			      are_listed("  dpvictim [GONE]\n"),
		      "it goes, and its probes are gone", "gone: ");
	put("/sys/module/dpgone/parameters/step", "1");
	dp_init_check(dp_init_load("dpvictim", ""), "it comes again", "gone: ");
	put("/sys/module/dpgone/parameters/step", "2");
	dp_init_check(dp_init_unload("dpvictim") && dp_init_unload("dpgone"),
		      "and both go, with probes left", "gone: ");
	log = read_log();
	if (!is_quiet(log))
		printf("%s\n", log);
	dp_init_check(is_quiet(log), "the kernel complains of nothing",
		      "gone: ");
	dp_init_check(tell(log), "it comes to its end", "gone: ");
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
	char *log = read_log();

	if (!is_quiet(log))
		printf("%s\n", log);
	dp_init_check(is_quiet(log), "the kernel complains of nothing", of);
	dp_init_check(tell(log), "it comes to its end", of);
}

/* A probe goes while programs sleep inside; dprobes.ko goes when they have returned. */
static void run_orphans(void)
{
	int status, other, again;
	pid_t late, killed;

	read_log();
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
	load_probes();
}

/* Programs end inside, fewer at once than can be followed. */
static void run_ends(void)
{
	pid_t child[3];
	int i, round;

	read_log();
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

/* The kernel's command line may name one of them: only=many */
static int is_named(const char *name)
{
	const char *only = getenv("only");

	return only && !strcmp(only, name);
}

static int is_wanted(const char *name)
{
	return !getenv("only") || is_named(name);
}

/* What is in user space says what is wrong, and the kernel is to say nothing. */
static void run_quietly(void (*tests)(void), const char *of)
{
	char *log;

	read_log();
	tests();
	log = read_log();
	dp_init_check(is_quiet(log), "the kernel complains of nothing", of);
	if (!is_quiet(log))
		printf("%s\n", log);
}

static unsigned int first_turn(void)
{
	const char *from = getenv("from");

	return from ? (unsigned int)atoi(from) : 0;
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
	read_log();
	loaded = dp_init_load(name, "");
	dp_init_check(loaded && dp_init_unload(name), "it comes and goes", of);
	log = read_log();
	nested = times(log, NESTED) == 1;
	/* The line of the whole is one more. */
	dp_init_check(times(log, "    ok ") >= 5 &&
			      times(log, "not ok ") == 2 * nested &&
			      (nested || is_quiet(log)),
		      "all of the kernel's tests pass, but for one", of);
	if (nested)
		printf("not ok %u - %sa trace goes through two return probes # TODO unwinders stop at stubs\n",
		       ++number, of);
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
	read_log();
	loaded = dp_init_load(name, "");
	for (i = 0; i < 5; i++)
		waitpid(sleeper(1), NULL, 0);
	dp_init_check(loaded && dp_init_unload(name), "it comes and goes", of);
	log = read_log();
	dp_init_check(times(log, says) >= 5 && is_quiet(log),
		      "it tells of each call", of);
	if (times(log, says) < 5)
		printf("%s\n", log);
}

/* Of other modules */
static void run_handlers(void)
{
	if (is_wanted("kprobes"))
		run("dpkprobes");
	if (is_wanted("exits"))
		run("dpexits");
	if (is_wanted("jprobes"))
		run("dpjprobes");
	if (is_wanted("nmi"))
		run("dpnmi");
	if (is_wanted("preempted"))
		run("dppreempted");
	if (is_wanted("orphans")) {
		run_ends();
		run_orphans();
	}
	/* Of one source: what they tell is the same. */
	if (is_wanted("sample")) {
		if (dp_init_kprobes())
			run("dpsample");
		else
			dp_init_skip("dpsample", DP_INIT_NO_KPROBES);
		run("dpsampleours");
	}
	if (is_wanted("theirs")) {
		run_sample("kprobe_example", "handler_pre: <kernel_clone>");
		run_sample("kretprobe_example", "kernel_clone returned");
		run_kunit("test_kprobes");
	}
	if (is_wanted("examples"))
		run_example();
	if (is_wanted("gone"))
		run_gone();
	if (is_named("figures"))
		run("dpfigures");
}

int main(int argc, char **argv)
{
	unsigned int i;

	if (argc >= 5 && !strcmp(argv[1], "work"))
		return dp_tool_work(argv + 2);

	if (getpid() != 1)
		return 1;
	mount("dev", "/dev", "devtmpfs", 0, NULL);
	mount("proc", "/proc", "proc", 0, NULL);
	mount("sys", "/sys", "sysfs", 0, NULL);
	mount("debug", DP_DEBUG, "debugfs", 0, NULL);
	mkdir("/tracing", 0700);
	mount("tracing", "/tracing", "tracefs", 0, NULL);
	if (!freopen("/dev/console", "w", stdout))
		reboot(RB_POWER_OFF);
	printf("\nTAP version 13\n");
	if (is_wanted("port"))
		run("dpport");
	if (is_wanted("facts"))
		dp_init_check(dp_facts_write(),
			      "facts about the kernel are written", "");
	load_probes();
	if (is_wanted("facts"))
		run("dpfacts");
	if (is_wanted("probes"))
		run("dpprobes");
	if (is_wanted("programs"))
		run("dpprograms");
	run_handlers();
	if (is_wanted("device")) {
		run_quietly(dp_device_try, "device: ");
		run_quietly(dp_device_programs, "device, programs: ");
		run_quietly(dp_device_random, "device, at random: ");
	}
	if (is_wanted("device-returns"))
		run_quietly(dp_returns_try, "returns: ");
	if (is_wanted("modules"))
		run_quietly(dp_modules_try, "modules: ");
	if (is_wanted("files"))
		run_quietly(dp_files_try, "files: ");
	if (is_wanted("tool"))
		run_quietly(dp_tool_try, "tool: ");
	if (is_wanted("run"))
		run_quietly(dp_run_try, "run: ");
	for (i = 0; i < 3 && is_wanted("many"); i++)
		run_probes(40, 7 * i, i);
	for (i = 0; i < 2 && is_wanted("returns"); i++)
		run_returns(40, 11 * i);
	/* Every function of the kernel, in turns: it takes long. from=12 begins with jumps. */
	for (i = first_turn(); i < 2 * TURNS && is_named("all"); i++)
		run_probes(TURNS, i % TURNS, i / TURNS);
	for (i = first_turn(); i < 3 * TURNS && is_named("all-returns"); i++)
		run_returns(3 * TURNS, i);
	if (is_wanted("device") && has("lock_kernel_down"))
		run_quietly(dp_device_locked, "device, locked down: ");
	else if (is_wanted("device"))
		dp_init_skip("device, locked down",
			     "this kernel cannot be locked down");
	dp_init_check(dp_init_unload("dprobes") && !dp_files_there(),
		      "dprobes.ko goes, with its files", "");
	if (is_wanted("tool"))
		dp_tool_absent();
	printf("%s", is_quiet(read_log()) ? "" : "# the kernel complains\n");
	printf("1..%u\n", number);
	fflush(stdout);
	fsync(1);
	sync();
	reboot(RB_POWER_OFF);
	return 1;
}
