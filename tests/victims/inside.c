// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * inside: something happens while many calls are inside.
 *
 *	inside DEPTH fork | open LIBRARY
 *
 * Goes down once, prints "down", and comes up when something arrives at the standard
 * input; goes down again, and there it forks, or opens the library and calls its
 * cbrt(). The child goes down to 10 once more. Prints "right" if all sums are.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK (256ul << 20)
#define CHILD_DEPTH 10

static long depth;
static const char *library; /* NULL: forks */
static int round_of;
static pid_t child = -1;
static int wrong;

static void at_the_bottom(void)
{
	double (*root)(double);
	void *lib;
	char c;

	if (!child || round_of > 2)
		return;
	if (round_of == 1) {
		puts("down");
		if (read(0, &c, 1) < 0)
			wrong = 1;
	} else if (!library) {
		child = fork();
	} else {
		lib = dlopen(library, RTLD_NOW);
		root = lib ? (double (*)(double))dlsym(lib, "cbrt") : NULL;
		wrong |= !root || root(27) > 3.001;
	}
}

static long inside_call(long n);
/* So that no loop is made of it. */
static long (*volatile deeper)(long) = inside_call;

__attribute__((noipa)) static long inside_call(long n)
{
	if (!n) {
		at_the_bottom();
		return 0;
	}
	return deeper(n - 1) + n;
}

static void *go_down(void *arg)
{
	for (round_of = 1; round_of <= 2; round_of++)
		wrong |= inside_call(depth) != depth * (depth + 1) / 2;
	if (!child)
		_exit(wrong | (inside_call(CHILD_DEPTH) != 55));
	return arg;
}

int main(int argc, char **argv)
{
	pthread_attr_t attr;
	pthread_t thread;
	int status = 0;

	depth = argc > 1 ? atol(argv[1]) : 0;
	library = argc > 3 ? argv[3] : NULL;
	setvbuf(stdout, NULL, _IOLBF, 0);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	if (pthread_create(&thread, &attr, go_down, NULL) ||
	    pthread_join(thread, NULL))
		return 2;
	if (!library && waitpid(child, &status, 0) != child)
		return 2;
	puts(wrong || status ? "wrong" : "right");
	return wrong || status;
}
