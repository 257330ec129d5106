// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * hostile: a program that writes what it likes to the memory that it shares with who
 * probes it: hostile SEED [words|flood|lines|records [MS]]. Words here and there, or all that
 * there is, or what it shares with insmod; or it leaves the memory to a child, which
 * makes records for ever. Again and again, so long, or until it is killed, or by its own
 * doing.
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#include "engine/layout/arena.h"
#include "engine/layout/ring.h"

#define SPANS 16
#define NEAR 65536
#define FORGED 424242 /* thread id of records that are not the program's */

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

/* What is shared, as it is laid out; NULL: nothing, or no records. */
static const struct dp_arena_control *find_control(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	const struct dp_arena_control *c = NULL;
	unsigned long start, end;
	char line[512], perms[8];

	while (f && !c && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %7s", &start, &end, perms) == 3 &&
		    perms[0] == 'r' && perms[3] == 's' &&
		    strstr(line, "/memfd:dprobes") &&
		    *(unsigned long *)start == DP_LAYOUT_MAGIC)
			c = (void *)start;
	if (f)
		fclose(f);
	return c && c->ring_off && c->nr_sites ? c : NULL;
}

static void put_record(char *ring, const struct dp_arena_control *c, uint64_t n)
{
	struct dp_slot *slot = (void *)(ring + sizeof(struct dp_ring) +
					(n & c->slot_mask) * c->slot_size);
	uint64_t round = n & ~(uint64_t)c->slot_mask;

	slot->record.probe = slot->record.len = 0;
	slot->record.ticks = ~0ull;
	slot->record.tid = FORGED;
	__atomic_store_n(&((struct dp_ring *)ring)->next, n + 1,
			 __ATOMIC_RELEASE);
	__atomic_store_n(&slot->turn, round + 1, __ATOMIC_RELEASE);
}

static void make_records(char *ring, const struct dp_arena_control *c)
{
	uint64_t n = ((struct dp_ring *)ring)->next;
	const struct dp_slot *slot;
	int64_t behind;

	for (;; n++) {
		slot = (void *)(ring + sizeof(struct dp_ring) +
				(n & c->slot_mask) * c->slot_size);
		do {
			behind = (int64_t)((n & ~(uint64_t)c->slot_mask) -
					   __atomic_load_n(&slot->turn,
							   __ATOMIC_ACQUIRE));
		} while (behind > 0);
		put_record(ring, c, n);
	}
}

/* From its parent the memory is taken away again. */
static void *have_child(void *arg)
{
	const struct dp_arena_control *c;
	struct dp_arena_control copy;

	do
		c = find_control();
	while (!c);
	copy = *c;
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		make_records((char *)c + copy.ring_off, &copy);
	}
	/* The child ends with this thread. */
	for (;;)
		pause();
	return NULL;
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
	pthread_create(&thread, NULL,
		       argc > 2 && !strcmp(argv[2], "records") ? have_child :
								 scribble,
		       NULL);
	for (i = 0; !rounds || i < rounds; i++) {
		victim_function(i);
		nanosleep(&nap, NULL);
	}
	return 0;
}
