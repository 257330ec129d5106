// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * server: a program with three hooks, which plug-ins use.
 *
 *     server REQUESTS PLUGIN.so...
 *
 * Without plug-ins the hooks are three nops. The server links no library of hooks; plug-ins do.
 */
#include "server.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

DEFINE_HOOK(request_came, const struct request *);
DEFINE_WRITABLE_HOOK(answer_made, int);
DEFINE_HOOK(request_over, const struct request *, int);

/* Return: bytes of the answer, or what an exit returns in its place */
static int serve(const struct request *r)
{
	int bytes = r->size * 2;

	HOOK_RET(request_came, r);
	HOOK(answer_made, &bytes);
	HOOK(request_over, r, bytes);
	return bytes;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1, sum = 0, i;
	void *plugin;

	for (i = 2; i < argc; i++) {
		plugin = dlopen(argv[i], RTLD_NOW);
		if (!plugin) {
			fprintf(stderr, "server: %s\n", dlerror());
			return 1;
		}
	}
	printf("ready\n");
	fflush(stdout);
	for (i = 0; i < n; i++) {
		struct request r = { (int)i, (int)(i % 10) };

		sum += serve(&r);
		usleep(1000);
	}
	printf("%ld\n", sum);
	return 0;
}
