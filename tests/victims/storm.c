// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * storm: pinned threads that check what libc does, round after round, while
 * probes come and go in it: storm [-t THREADS] [-n ROUNDS] [-s SECONDS] [-bcef].
 *
 * Every round's digest is compared with that of the same seed from before the
 * threads started. Without -n, -s and -e it ends by SIGTERM alone.
 *
 * -t  threads, pinned to the CPUs in turn (4)
 * -n  rounds of each thread
 * -s  seconds until the end
 * -b  the workers have all signals blocked
 * -c  threads are created and joined now and then
 * -e  ends with its stdin
 * -f  children by fork(), vfork(), posix_spawn() and popen() now and then
 *
 * Says "ready" when its threads run, and "ok ROUNDS" at the end, with the rounds
 * of all threads; what differs is printed with the part of the work it was in.
 */
#include <errno.h>
#include <iconv.h>
#include <poll.h>
#include <pthread.h>
#include <regex.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#define SEEDS 8
#define MOST_THREADS 256
#define VALUES 1000
#define FNV_BASIS 14695981039346656037ull
#define FNV_PRIME 1099511628211ull

struct part {
	const char *name;
	void (*run)(uint64_t *digest, unsigned int seed);
};

extern char **environ;

static int block, children, threads_too;
static long rounds_each;
static volatile int stop, failures;
static int ended;
static unsigned long done;
static cpu_set_t cpus;
static pthread_barrier_t begun;

static void mix(uint64_t *digest, const void *from, size_t len)
{
	const unsigned char *p = from;

	while (len--)
		*digest = (*digest ^ *p++) * FNV_PRIME;
}

static void mix_long(uint64_t *digest, long value)
{
	mix(digest, &value, sizeof(value));
}

static void mix_text(uint64_t *digest, const char *text)
{
	mix(digest, text, strlen(text) + 1);
}

static unsigned int next(unsigned int *state)
{
	return *state = *state * 1103515245u + 12345;
}

static void numbers(uint64_t *digest, unsigned int seed)
{
	char line[256], *end;
	double value;
	int i;

	for (i = 0; i < 8; i++) {
		snprintf(line, sizeof(line), "%u|%08x|%.9g|%a|%-9s|%+5d|%Lf",
			 seed, next(&seed), seed * 1.37e-7, i / 3.0, "left",
			 (int)seed, (long double)seed / 7);
		mix_text(digest, line);
		snprintf(line, sizeof(line), "%.15e rest", seed * 1.37e-7 - i);
		value = strtod(line, &end);
		mix(digest, &value, sizeof(value));
		mix_text(digest, end);
		snprintf(line, sizeof(line), "%x", next(&seed));
		mix_long(digest, strtol(line, NULL, 16 + i));
		mix_long(digest, (long)strtoull(line, NULL, 0));
	}
	errno = 0;
	mix_long(digest, strtol("99999999999999999999", &end, 10));
	mix_long(digest, errno);
}

static void scanning(uint64_t *digest, unsigned int seed)
{
	char line[128], word[32], set[32], *save, *tok;
	int a = 0, n = 0;
	float f = 0;

	snprintf(line, sizeof(line), "%u word%u [xyzzy] %g", seed & 0xffff,
		 seed % 7, (seed & 0xff) / 8.0);
	mix_long(digest, sscanf(line, "%d %31s [%31[a-y]zzy] %f%n", &a, word,
				set, &f, &n));
	mix_long(digest, sscanf(line, "%d %31s [%31[a-z]] %f%n", &a, word, set,
				&f, &n));
	mix_text(digest, word);
	mix_text(digest, set);
	mix(digest, &f, sizeof(f));
	mix_long(digest, a + n);
	for (tok = strtok_r(line, " []", &save); tok;
	     tok = strtok_r(NULL, " []", &save))
		mix_text(digest, tok);
}

static int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

static void sorting(uint64_t *digest, unsigned int seed)
{
	int values[VALUES], key, *found;
	int i;

	for (i = 0; i < VALUES; i++)
		values[i] = (int)(next(&seed) >> 8) - 5000000;
	key = values[seed % VALUES];
	qsort(values, VALUES, sizeof(int), compare);
	mix(digest, values, sizeof(values));
	found = bsearch(&key, values, VALUES, sizeof(int), compare);
	mix_long(digest, found ? *found : -1);
	for (i = 1; i < VALUES; i++)
		if (values[i - 1] > values[i])
			mix_long(digest, i);
}

static void searching(uint64_t *digest, unsigned int seed)
{
	char text[600], *at;
	size_t i, len = 100 + seed % 400;

	for (i = 0; i < len; i++)
		text[i] = (char)('a' + (next(&seed) >> 16) % 20);
	text[len] = 0;
	mix_long(digest, (long)strlen(text));
	mix_long(digest, (at = strchr(text, 'q')) ? at - text : -1);
	mix_long(digest, (at = strrchr(text, 'b')) ? at - text : -1);
	mix_long(digest, (at = strstr(text, "ab")) ? at - text : -1);
	mix_long(digest, (at = memchr(text, 'z', len)) ? at - text : -1);
	mix_long(digest, (long)strspn(text, "abcdefghijklm"));
	mix_long(digest, (long)strcspn(text, "t"));
	memmove(text + 37, text, len - 37);
	mix(digest, text, len);
	memmove(text, text + 41, len - 41);
	mix(digest, text, len);
	mix_long(digest, strcmp(text, "m") > 0);
	mix_long(digest, strncasecmp(text, "M", 1) > 0);
	mix_long(digest, memcmp(text, text + 1, len - 1) > 0);
	mix_text(digest, strncpy(text, "short", 40));
	mix_text(digest, stpcpy(text, "longer") - 3);
}

static void memory(uint64_t *digest, unsigned int seed)
{
	unsigned char *blocks[32] = { NULL };
	size_t sizes[32] = { 0 };
	int i, k;

	for (i = 0; i < 200; i++) {
		k = (next(&seed) >> 16) % 32;
		if (blocks[k]) {
			mix(digest, blocks[k], sizes[k] < 40 ? sizes[k] : 40);
			mix_long(digest, blocks[k][sizes[k] - 1]);
		}
		sizes[k] = 1 + (next(&seed) >> 16) % (i % 50 ? 3000 : 200000);
		if (i & 1) {
			free(blocks[k]);
			blocks[k] = malloc(sizes[k]);
		} else {
			blocks[k] = realloc(blocks[k], sizes[k]);
		}
		memset(blocks[k], i, sizes[k]);
	}
	for (k = 0; k < 32; k++)
		free(blocks[k]);
	blocks[0] = calloc(10, 30);
	mix(digest, blocks[0], 300);
	free(blocks[0]);
	blocks[0] = aligned_alloc(256, 1024);
	mix_long(digest, (long)((uintptr_t)blocks[0] & 255));
	free(blocks[0]);
}

static void dates(uint64_t *digest, unsigned int seed)
{
	time_t when = 1000000000 + (time_t)(seed % 1000) * 86399;
	char text[128];
	struct tm tm;

	gmtime_r(&when, &tm);
	mix(digest, text, strftime(text, sizeof(text), "%F %T %A %j %U", &tm));
	tm.tm_mday += 400;
	mix_long(digest, (long)mktime(&tm));
	mix(digest, text, strftime(text, sizeof(text), "%c %e %I %p", &tm));
	if (strptime("2011-12-13 14:15:16", "%Y-%m-%d %H:%M:%S", &tm))
		mix_long(digest, (long)timegm(&tm));
}

static void jump_out(jmp_buf env, int deep);
static void (*volatile deeper)(jmp_buf env, int deep) = jump_out;

static void jump_out(jmp_buf env, int deep)
{
	volatile char pad[64];

	pad[0] = (char)deep;
	if (deep > 0)
		deeper(env, deep - 1);
	longjmp(env, pad[0] ? 4 : 3);
}

static void jumps(uint64_t *digest, unsigned int seed)
{
	volatile int n = 0;
	jmp_buf env;

	if (setjmp(env) != 3 || ++n < 5)
		jump_out(env, (int)(seed % 9) + n);
	mix_long(digest, n);
}

static void letters(uint64_t *digest, unsigned int seed)
{
	char text[] = "h\xe9llo w\xf6rld", out[64] = "", *from = text,
	     *to = out;
	size_t left = sizeof(text), room = sizeof(out);
	iconv_t convert = iconv_open("UTF-16LE", "ISO-8859-1");
	wchar_t wide[32];

	text[seed % 5] = 'X';
	if (convert != (iconv_t)-1) {
		mix_long(digest,
			 (long)iconv(convert, &from, &left, &to, &room));
		mix(digest, out, sizeof(out) - room);
		iconv_close(convert);
	}
	mix_long(digest, (long)mbstowcs(wide, "gr\303\274n", 32));
	mix_long(digest, swprintf(wide, 32, L"%d|%ls|%5.2f", (int)seed, L"wide",
				  (seed & 63) / 4.0));
	mix(digest, wide, wcslen(wide) * sizeof(wchar_t));
	mix_long(digest, (long)wcstombs(out, wide, sizeof(out)));
	mix_text(digest, out);
}

static void streams(uint64_t *digest, unsigned int seed)
{
	char text[400], *line = NULL, *out = NULL;
	size_t room = 0, len = 0;
	FILE *f;
	int i;

	snprintf(text, sizeof(text), "first %u\nsecond\n\nlast without end",
		 seed);
	f = fmemopen(text, strlen(text), "r");
	while (getline(&line, &room, f) >= 0)
		mix_text(digest, line);
	fclose(f);
	f = fopen("/proc/self/stat", "r");
	mix_long(digest, getline(&line, &room, f) > 20);
	mix_long(digest, strtol(line, NULL, 10) == getpid());
	fclose(f);
	free(line);
	f = open_memstream(&out, &len);
	for (i = 0; i < 300; i++)
		fprintf(f, "%d,%c;", i ^ (int)seed, 'a' + i % 26);
	fwrite(text, 1, 20, f);
	fclose(f);
	mix(digest, out, len);
	free(out);
}

static void patterns(uint64_t *digest, unsigned int seed)
{
	char text[100];
	regmatch_t match[3];
	regex_t regex;

	snprintf(text, sizeof(text), "key%u = value-%x; rest", seed % 100,
		 seed);
	mix_long(digest, regcomp(&regex, "([a-z]+[0-9]*) *= *([^;]*);",
				 REG_EXTENDED | REG_ICASE));
	mix_long(digest, regexec(&regex, text, 3, match, 0));
	mix(digest, match, sizeof(match));
	regfree(&regex);
	mix_long(digest, regcomp(&regex, "*(", REG_EXTENDED));
	regfree(&regex);
}

static void chances(uint64_t *digest, unsigned int seed)
{
	struct random_data data = { .state = NULL };
	char state[64] = { 0 };
	const char *value;
	int32_t r;
	int i;

	initstate_r(seed, state, sizeof(state), &data);
	for (i = 0; i < 50; i++) {
		random_r(&data, &r);
		mix(digest, &r, sizeof(r));
	}
	value = getenv("STORM");
	mix_text(digest, value ? value : "none");
	value = getenv("STORM_NONE");
	mix_text(digest, value ? value : "none");
}

struct handoff {
	pthread_mutex_t lock;
	pthread_cond_t turned;
	int turn;
	uint64_t sum;
};

static void pass(struct handoff *h, int mine)
{
	int i;

	for (i = 0; i < 5; i++) {
		pthread_mutex_lock(&h->lock);
		while (h->turn != mine)
			pthread_cond_wait(&h->turned, &h->lock);
		h->sum = h->sum * 31 + (uint64_t)(i * 2 + mine);
		h->turn = !mine;
		pthread_cond_broadcast(&h->turned);
		pthread_mutex_unlock(&h->lock);
	}
}

/* The cpus that the process may use, in turn. */
static void pin(int n)
{
	cpu_set_t one;
	int cpu;

	n %= CPU_COUNT(&cpus);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &cpus) && n-- == 0)
			break;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
}

/* A partner for the handoffs of one worker, on another CPU. */
struct partner {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct handoff *work;
	int leave, cpu;
};

static __thread struct partner *partner;

static void *be_partner(void *arg)
{
	struct partner *p = arg;
	struct handoff *h;

	pin(p->cpu);
	pthread_mutex_lock(&p->lock);
	while (!p->leave) {
		h = p->work;
		if (!h) {
			pthread_cond_wait(&p->changed, &p->lock);
			continue;
		}
		pthread_mutex_unlock(&p->lock);
		pass(h, 1);
		pthread_mutex_lock(&p->lock);
		p->work = NULL;
		pthread_cond_broadcast(&p->changed);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

static struct partner *start_partner(int cpu)
{
	struct partner *p = calloc(1, sizeof(*p));

	p->cpu = cpu;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	if (pthread_create(&p->thread, NULL, be_partner, p))
		abort();
	return p;
}

static void end_partner(struct partner *p)
{
	pthread_mutex_lock(&p->lock);
	p->leave = 1;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
	free(p);
}

static void handoffs(uint64_t *digest, unsigned int seed)
{
	struct handoff h = { PTHREAD_MUTEX_INITIALIZER,
			     PTHREAD_COND_INITIALIZER, 0, seed };

	pthread_mutex_lock(&partner->lock);
	partner->work = &h;
	pthread_cond_broadcast(&partner->changed);
	pthread_mutex_unlock(&partner->lock);
	pass(&h, 0);
	pthread_mutex_lock(&partner->lock);
	while (partner->work)
		pthread_cond_wait(&partner->changed, &partner->lock);
	pthread_mutex_unlock(&partner->lock);
	mix(digest, &h.sum, sizeof(h.sum));
}

static __thread uint64_t *signalled;
static __thread sigjmp_buf signal_env;

static void on_usr(int sig, siginfo_t *info, void *context)
{
	char text[64];
	int saved = errno;

	snprintf(text, sizeof(text), "%d %.5g", sig, sig / 7.0);
	if (signalled)
		mix_text(signalled, text);
	errno = saved;
	if (sig == SIGUSR2)
		siglongjmp(signal_env, 1);
}

/* With -b they stay pending: the same for every seed and every round. */
static void signals(uint64_t *digest, unsigned int seed)
{
	if (block)
		return;
	signalled = digest;
	raise(SIGUSR1);
	if (!sigsetjmp(signal_env, 1))
		raise(SIGUSR2);
	pthread_kill(pthread_self(), SIGUSR1);
	signalled = NULL;
}

/* Which of the parts a fork child runs. */
#define SORTING 2

static const struct part parts[] = {
	{ "numbers", numbers },
	{ "scanning", scanning },
	[SORTING] = { "sorting", sorting },
	{ "searching", searching },
	{ "memory", memory },
	{ "dates", dates },
	{ "jumps", jumps },
	{ "letters", letters },
	{ "streams", streams },
	{ "patterns", patterns },
	{ "chances", chances },
	{ "handoffs", handoffs },
	{ "signals", signals },
};

enum { PARTS = sizeof(parts) / sizeof(parts[0]) };

static uint64_t reference[SEEDS][PARTS];

static uint64_t run_part(const struct part *part, unsigned int seed)
{
	uint64_t digest = FNV_BASIS;

	part->run(&digest, seed * 2654435761u);
	return digest;
}

static void wrong(const char *what, unsigned int seed)
{
	printf("wrong: %s, seed %u\n", what, seed);
	fflush(stdout);
	failures = 1;
	stop = 1;
}

static void make_reference(void)
{
	unsigned int seed;
	int i;

	partner = start_partner(0);
	for (seed = 0; seed < SEEDS; seed++)
		for (i = 0; i < PARTS; i++)
			reference[seed][i] = run_part(&parts[i], seed);
	end_partner(partner);
}

static void run_round(unsigned int seed)
{
	int i;

	for (i = 0; i < PARTS; i++)
		if (run_part(&parts[i], seed) != reference[seed][i])
			wrong(parts[i].name, seed);
}

static void expect(pid_t pid, int wanted, const char *what)
{
	int status = -1;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
	    WEXITSTATUS(status) != wanted) {
		printf("wrong: %s, status %x\n", what, status);
		wrong("children", 0);
	}
}

/* What other threads hold locks of is not touched in a fork child. */
static void make_children(void)
{
	char *argv[] = { "true", NULL }, line[16] = "";
	uint64_t digest = FNV_BASIS;
	pid_t pid;
	FILE *f;

	pid = fork();
	if (pid == 0) {
		sorting(&digest, 0);
		_exit(digest == reference[0][SORTING] ? 21 : 22);
	}
	expect(pid, 21, "fork()");
	pid = vfork();
	if (pid == 0)
		_exit(23);
	expect(pid, 23, "vfork()");
	if (posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ))
		pid = -1;
	expect(pid, 0, "posix_spawn()");
	f = popen("echo out", "r");
	if (!f || !fgets(line, sizeof(line), f) || strcmp(line, "out\n") ||
	    pclose(f))
		wrong("popen()", 0);
}

static void *short_life(void *arg)
{
	unsigned int seed = (unsigned int)(uintptr_t)arg;

	if (run_part(parts, seed) != reference[seed][0])
		wrong("a short-lived thread", seed);
	return arg;
}

static void make_threads(void)
{
	pthread_t made[2];
	void *back;
	uintptr_t i;

	for (i = 0; i < 2; i++)
		if (pthread_create(&made[i], NULL, short_life, (void *)i))
			wrong("pthread_create()", 0);
	for (i = 0; i < 2; i++)
		if (pthread_join(made[i], &back) || back != (void *)i)
			wrong("pthread_join()", 0);
}

static void *worker(void *arg)
{
	int n = (int)(uintptr_t)arg;
	sigset_t all;
	long i;

	sigfillset(&all);
	if (block)
		pthread_sigmask(SIG_BLOCK, &all, NULL);
	pin(n);
	partner = start_partner(n + 1);
	pthread_barrier_wait(&begun);
	for (i = 0; !stop && (!rounds_each || i < rounds_each); i++) {
		run_round((unsigned int)(i + n) % SEEDS);
		if (children && (i + n) % 16 == 0)
			make_children();
		if (threads_too && (i + n) % 4 == 0)
			make_threads();
		__atomic_fetch_add(&done, 1, __ATOMIC_RELAXED);
	}
	end_partner(partner);
	__atomic_fetch_add(&ended, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void on_term(int sig)
{
	stop = 1;
}

static void handle(void)
{
	struct sigaction usr = { .sa_sigaction = on_usr,
				 .sa_flags = SA_SIGINFO | SA_RESTART };
	struct sigaction term = { .sa_handler = on_term,
				  .sa_flags = SA_RESTART };

	sigaction(SIGUSR1, &usr, NULL);
	sigaction(SIGUSR2, &usr, NULL);
	sigaction(SIGTERM, &term, NULL);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The main thread, which has no signal blocked, only waits. */
static void wait_for_end(int threads, double limit, int until_eof)
{
	struct pollfd in = { .fd = until_eof ? 0 : -1, .events = POLLIN };
	double end = seconds() + limit;
	char byte;

	while (!stop && __atomic_load_n(&ended, __ATOMIC_ACQUIRE) < threads) {
		if (limit && seconds() > end)
			break;
		if (poll(&in, 1, 20) > 0 && read(0, &byte, 1) <= 0)
			break;
	}
	stop = 1;
}

static int storm(int threads, double limit, int until_eof)
{
	pthread_t ids[MOST_THREADS];
	int i;

	sched_getaffinity(0, sizeof(cpus), &cpus);
	setenv("STORM", "a value", 1);
	handle();
	make_reference();
	pthread_barrier_init(&begun, NULL, (unsigned int)threads + 1);
	for (i = 0; i < threads; i++)
		if (pthread_create(&ids[i], NULL, worker, (void *)(uintptr_t)i))
			return 1;
	pthread_barrier_wait(&begun);
	puts("ready");
	fflush(stdout);
	wait_for_end(threads, limit, until_eof);
	for (i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	if (!failures)
		printf("ok %lu\n", done);
	return failures;
}

int main(int argc, char **argv)
{
	int threads = 4, until_eof = 0, c;
	double limit = 0;

	while ((c = getopt(argc, argv, "bcefn:s:t:")) != -1) {
		if (c == 'b')
			block = 1;
		else if (c == 'c')
			threads_too = 1;
		else if (c == 'e')
			until_eof = 1;
		else if (c == 'f')
			children = 1;
		else if (c == 'n')
			rounds_each = atol(optarg);
		else if (c == 's')
			limit = atof(optarg);
		else if (c == 't')
			threads = atoi(optarg);
		else
			return 2;
	}
	if (threads < 1 || threads > MOST_THREADS)
		return 2;
	return storm(threads, limit, until_eof);
}
