// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* init: the guest's only program: loads the test module and prints what it says as TAP. */
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
enum { READ_ALL = 3, SIZE = 1 << 20 };

static unsigned int number;

static void check(int is, const char *what)
{
	printf("%sok %u - %s\n", is ? "" : "not ", ++number, what);
}

static int load(void)
{
	int fd = open("/dptest.ko", O_RDONLY);
	long err = fd < 0 ? -1 : syscall(SYS_finit_module, fd, "", 0);

	close(fd);
	return !err;
}

static int unload(void)
{
	return !syscall(SYS_delete_module, "dptest", O_NONBLOCK);
}

/* Return: whether the last test was reached. */
static int tell(char *log)
{
	int done = 0;
	char *line;

	for (line = strtok(log, "\n"); line; line = strtok(NULL, "\n")) {
		char *says = strstr(line, SAYS), *what = NULL;

		if (!says)
			continue;
		says += strlen(SAYS);
		done |= !strcmp(says, "done");
		/* The kernel says things of the module in its name, too. */
		what = strstr(says, " - ");
		if (what &&
		    (!strncmp(says, "ok ", 3) || !strncmp(says, "not ok ", 7)))
			check(*says == 'o', what + 3);
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

static void run(void)
{
	static char log[SIZE], copy[SIZE];
	int loaded = load(), unloaded = unload(), again;
	int quiet, n;

	n = klogctl(READ_ALL, log, SIZE - 1);
	log[n > 0 ? n : 0] = '\0';
	memcpy(copy, log, SIZE);
	check(loaded, "the module loads");
	check(tell(copy), "it comes to its end");
	check(unloaded, "it goes");
	again = load() && unload();
	check(again, "it comes and goes again");
	n = klogctl(READ_ALL, log, SIZE - 1);
	log[n > 0 ? n : 0] = '\0';
	quiet = n > 0 && is_quiet(log);
	check(quiet, "the kernel complains of nothing");
	if (!loaded || !unloaded || !again || !quiet)
		printf("%s\n", log);
}

int main(void)
{
	mount("dev", "/dev", "devtmpfs", 0, NULL);
	if (!freopen("/dev/console", "w", stdout))
		reboot(RB_POWER_OFF);
	printf("\nTAP version 13\n");
	run();
	printf("1..%u\n", number);
	fflush(stdout);
	fsync(1);
	sync();
	reboot(RB_POWER_OFF);
	return 1;
}
