// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * swapper: a program that has another process in its table of descriptors, which does
 * something to each that comes while it is attached to. Usage: swapper FILE WHAT MICROSECONDS
 *
 * WHAT: swap (put FILE, opened with no rights to its contents, in its place, and then a
 * file of our own), shrink (keep it, and truncate it), close.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FIRST 9
#define WATCHED 4

static int file, own;

static void spin(long us)
{
	struct timespec t, start;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do
		clock_gettime(CLOCK_MONOTONIC, &t);
	while ((t.tv_sec - start.tv_sec) * 1000000 +
		       (t.tv_nsec - start.tv_nsec) / 1000 <
	       us);
}

static void act(const char *what, int fd, long us)
{
	int kept;

	if (!strcmp(what, "swap")) {
		dup2(file, fd);
		spin(us);
		dup2(own, fd);
	} else if (!strcmp(what, "shrink")) {
		kept = dup(fd);
		spin(us);
		if (!ftruncate(kept, 0))
			printf("truncated\n");
		if (!ftruncate(kept, 1 << 30))
			printf("grown\n");
	} else {
		spin(us);
		close(fd);
	}
}

static void watch(const char *what, long us)
{
	char done[WATCHED] = { 0 };
	int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		for (i = 0; i < WATCHED; i++)
			if (!done[i] && fcntl(FIRST + i, F_GETFD) >= 0) {
				act(what, FIRST + i, us);
				done[i] = 1;
			}
}

int main(int argc, char **argv)
{
	int fd, i;

	if (argc < 4)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	file = open(argv[1], O_PATH);
	own = memfd_create("own", 0);
	if (ftruncate(own, 256 << 20))
		return 2;
	while ((fd = open("/dev/null", O_RDONLY)) < FIRST + WATCHED - 1)
		if (fd < 0)
			return 2;
	for (i = 0; i < WATCHED; i++)
		close(FIRST + i);
	if (!syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0))
		watch(argv[2], atol(argv[3]));
	printf("ready\n");
	for (;;) {
		free(malloc(10));
		usleep(1000);
	}
}
