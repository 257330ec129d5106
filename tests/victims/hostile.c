// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * hostile: a program that writes what it likes to the memory that it shares with who
 * probes it: hostile SEED [words|flood|lines [MS]]. Words here and there, or all that there
 * is, or what it shares with insmod; again and again, so long, or until it is killed, or by
 * its own doing.
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SPANS 16
#define NEAR 65536

struct span {
	unsigned char *start;
	size_t size;
};

long victim_function(long n);

static uint64_t state;
static bool floods;
static const char *whose = "dprobes";

__attribute__((noipa)) long victim_function(long n)
{
	return n * 3 + 1;
}

static uint64_t number(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static size_t shared(struct span *spans)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned long start, end;
	char line[512], perms[8];
	size_t n = 0;

	while (f && n < SPANS && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %7s", &start, &end, perms) == 3 &&
		    !strcmp(perms, "rw-s") && strstr(line, whose))
			spans[n++] =
				(struct span){ (void *)start, end - start };
	if (f)
		fclose(f);
	return n;
}

/* Small and large numbers, near the beginning and anywhere. */
static void spoil(const struct span *s)
{
	size_t room = number() & 1 && s->size > NEAR ? NEAR : s->size;
	size_t at = number() % (room / 8) * 8;
	uint64_t value = number() >> (number() & 56);

	if (number() & 1)
		memcpy(s->start + at, &value, 8);
	else
		memcpy(s->start + at, &value, 4);
}

/* All of it, with something in it that is no noise. */
static void flood(const struct span *s)
{
	uint64_t *word = (void *)s->start, value = 0;
	size_t i, like = number() % 4;

	for (i = 0; i < s->size / 8; i++) {
		if (i % 8 == 0)
			value = like == 0 ? 0 :
				like == 1 ? ~0ull :
					    number() >> (number() & 56);
		__atomic_store_n(&word[i], value, __ATOMIC_RELAXED);
	}
}

/* What has been taken away meanwhile is nobody's fault but its own. */
static void *scribble(void *arg)
{
	struct timespec nap = { 0, 200000 };
	struct span spans[SPANS];
	size_t n, i;

	for (;;) {
		n = shared(spans);
		for (i = 0; i < 20 && n && !floods; i++)
			spoil(&spans[number() % n]);
		for (i = 0; i < n && floods; i++)
			flood(&spans[i]);
		nanosleep(&nap, NULL);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct timespec nap = { 0, 50000 };
	pthread_t thread;
	long i, rounds = argc > 3 ? atol(argv[3]) * 10 : 0;

	floods = argc > 2 && strcmp(argv[2], "words");
	if (argc > 2 && !strcmp(argv[2], "lines"))
		whose = "insmod of dprobes";
	state = 0x9e3779b97f4a7c15u *
		(argc > 1 ? strtoul(argv[1], NULL, 0) + 1 : 1);
	puts("running");
	fflush(stdout);
	pthread_create(&thread, NULL, scribble, NULL);
	for (i = 0; !rounds || i < rounds; i++) {
		victim_function(i);
		nanosleep(&nap, NULL);
	}
	return 0;
}
