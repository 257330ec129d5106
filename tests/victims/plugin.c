// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * plugin: a library comes and goes, at commands from the standard input.
 *
 *	open close  of libm.so.6, or of the argument
 *	call        its cbrt(), three times, and check
 *	fill        memory of our own in the place where its code was
 *	check       is that memory as it was? also in a fork child
 *	quit
 *
 * A line is printed behind each: "ok" or "wrong", and the command.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define AROUND (64 * 4096)

static const char *name = "libm.so.6";
static void *lib;
static double (*root)(double);
static unsigned char *filled;

static int do_open(void)
{
	lib = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	root = lib ? (double (*)(double))dlsym(lib, "cbrt") : NULL;
	return root != NULL;
}

static int do_call(void)
{
	volatile double cube = 27;
	int i, right = root != NULL;

	for (i = 0; right && i < 3; i++)
		right = root(cube) > 2.999 && root(cube) < 3.001;
	return right;
}

static int do_close(void)
{
	return lib && !dlclose(lib);
}

/* Around the place where cbrt was. */
static int do_fill(void)
{
	unsigned char *at =
		(void *)(((unsigned long)root & ~4095ul) - AROUND / 2);

	filled = mmap(at, AROUND, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (filled != at)
		return 0;
	memset(filled, 0x5a, AROUND);
	return 1;
}

static int is_filled(void)
{
	size_t i;

	for (i = 0; i < AROUND; i++)
		if (filled[i] != 0x5a)
			return 0;
	return 1;
}

static int do_check(void)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid)
		_exit(is_filled() ? 42 : 1);
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	       WEXITSTATUS(status) == 42 && is_filled();
}

static int obey(const char *word)
{
	if (!strcmp(word, "open"))
		return do_open();
	if (!strcmp(word, "call"))
		return do_call();
	if (!strcmp(word, "close"))
		return do_close();
	if (!strcmp(word, "fill"))
		return do_fill();
	if (!strcmp(word, "check"))
		return do_check();
	return 0;
}

int main(int argc, char **argv)
{
	char line[64];

	if (argc > 1)
		name = argv[1];
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strcmp(line, "quit"))
			return 0;
		printf("%s %s\n", obey(line) ? "ok" : "wrong", line);
	}
	return 0;
}
