// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* init: the guest's only program: loads test modules and prints what they say as TAP. */
#include "tests/kernel/init.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SAYS "dptest: "
#define LOOKUP "kallsyms_lookup_name"
enum { READ_AND_CLEAR = 4, SIZE = 1 << 20 };

static unsigned int number;

static void check(int is, const char *what, const char *of)
{
	printf("%sok %u - %s%s\n", is ? "" : "not ", ++number, of, what);
}

static int load(const char *name, const char *parameters)
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

static int unload(const char *name)
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
			check(*says == 'o', what + 3, "");
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

static void run(const char *name)
{
	static char copy[SIZE];
	char of[64];
	int loaded, unloaded, quiet, again;
	char *log;

	snprintf(of, sizeof(of), "%s: ", name);
	read_log();
	loaded = load(name, "");
	unloaded = unload(name);
	log = read_log();
	strcpy(copy, log);
	check(loaded, "the module loads", of);
	check(tell(copy), "it comes to its end", of);
	check(unloaded, "it goes", of);
	quiet = *log && is_quiet(log);
	if (!loaded || !unloaded || !quiet)
		printf("%s\n", log);
	again = load(name, "") && unload(name);
	check(again, "it comes and goes again", of);
	log = read_log();
	check(quiet && *log && is_quiet(log), "the kernel complains of nothing",
	      of);
	if (!again || !is_quiet(log))
		printf("%s\n", log);
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

static void load_probes(void)
{
	char parameters[64];
	unsigned long lookup = find(LOOKUP);

	snprintf(parameters, sizeof(parameters), "lookup=%#lx", lookup + 1);
	check(lookup && !load("dprobes", parameters) &&
		      !load("dprobes", "lookup=0"),
	      "dprobes.ko does not load with a wrong address", "");
	snprintf(parameters, sizeof(parameters), "lookup=%#lx", lookup);
	check(load("dprobes", parameters), "dprobes.ko loads", "");
}

int main(void)
{
	mount("dev", "/dev", "devtmpfs", 0, NULL);
	mount("proc", "/proc", "proc", 0, NULL);
	if (!freopen("/dev/console", "w", stdout))
		reboot(RB_POWER_OFF);
	printf("\nTAP version 13\n");
	run("dpport");
	check(dp_facts_write(), "facts about the kernel are written", "");
	load_probes();
	run("dpfacts");
	run("dpprobes");
	check(unload("dprobes"), "dprobes.ko goes", "");
	printf("%s", is_quiet(read_log()) ? "" : "# the kernel complains\n");
	printf("1..%u\n", number);
	fflush(stdout);
	fsync(1);
	sync();
	reboot(RB_POWER_OFF);
	return 1;
}
