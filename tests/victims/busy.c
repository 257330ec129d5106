// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* busy: threads that check their own results: busy THREADS [ROUNDS]. It says "running" when
 * each has worked once: they have the memory then that they will have. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile sig_atomic_t stop;
static long rounds, limit;
static int wrong;
static pthread_barrier_t ready;

static void on_term(int sig)
{
	stop = 1;
}

static int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

static void mix(uint64_t *digest, const void *data, size_t len)
{
	const unsigned char *p = data;

	while (len--)
		*digest = *digest * 1099511628211ull ^ *p++;
}

static void text_work(uint64_t *digest, unsigned int i)
{
	char line[256], word[32], *save, *tok;
	double value;
	int a, b, n;

	n = snprintf(line, sizeof(line), "%u %08x %.7g %a %s %-10s|%+5d", i,
		     i * 77777, i * 1.37e-5, i / 3.0, "word", "left", (int)i);
	mix(digest, line, (size_t)n);
	value = strtod(line, NULL);
	mix(digest, &value, sizeof(value));
	n = sscanf("12 abc 77", "%d %31s %d", &a, word, &b);
	mix(digest, word, strlen(word));
	n += a + b;
	mix(digest, &n, sizeof(n));
	strcpy(line, "a,b;c,d");
	for (tok = strtok_r(line, ",;", &save); tok;
	     tok = strtok_r(NULL, ",;", &save))
		mix(digest, tok, 1);
}

static void memory_work(uint64_t *digest, unsigned int i)
{
	int numbers[40];
	unsigned int k;
	char *m, *out = NULL;
	size_t len = 0;
	FILE *f;

	for (k = 0; k < 40; k++)
		numbers[k] = (int)((i * 1103515245u + k * 12345) ^ (k << 7));
	qsort(numbers, 40, sizeof(int), compare);
	mix(digest, numbers, sizeof(numbers));
	m = malloc(100 + i * 50);
	memset(m, (int)i, 100);
	m = realloc(m, 10000);
	mix(digest, m, 100);
	free(m);
	f = open_memstream(&out, &len);
	fwrite("stream", 1, 6, f);
	fprintf(f, "%u", i);
	fclose(f);
	mix(digest, out, len);
	free(out);
}

static uint64_t work(unsigned int seed)
{
	uint64_t digest = seed;
	time_t when = 1000000000 + seed * 86400;
	char text[64];
	struct tm tm;
	unsigned int i;

	errno = 1234;
	for (i = 0; i < 8; i++) {
		text_work(&digest, i + seed);
		memory_work(&digest, i + seed);
	}
	gmtime_r(&when, &tm);
	mix(&digest, text, strftime(text, sizeof(text), "%F %T %A %j", &tm));
	if (errno != 1234)
		digest = 0;
	return digest;
}

static void *worker(void *arg)
{
	unsigned int seed = (unsigned int)(uintptr_t)arg;
	uint64_t expected = work(seed);

	pthread_barrier_wait(&ready);
	while (!stop && (!limit || rounds < limit)) {
		if (work(seed) != expected)
			wrong = 1;
		__atomic_fetch_add(&rounds, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 2, i;
	pthread_t threads[64];

	limit = argc > 2 ? atol(argv[2]) : 0;
	signal(SIGTERM, on_term);
	pthread_barrier_init(&ready, NULL, (unsigned int)(n > 1 ? n + 1 : 1));
	if (n == 1) {
		puts("running");
		fflush(stdout);
		worker((void *)1);
	}
	for (i = 0; n > 1 && i < n; i++)
		pthread_create(&threads[i], NULL, worker,
			       (void *)(uintptr_t)(i + 1));
	if (n > 1) {
		pthread_barrier_wait(&ready);
		puts("running");
	}
	fflush(stdout);
	for (i = 0; n > 1 && i < n; i++)
		pthread_join(threads[i], NULL);
	if (limit)
		puts(wrong ? "wrong" : "right");
	else
		printf("%s after %ld rounds\n", wrong ? "wrong" : "right",
		       rounds);
	return wrong;
}
