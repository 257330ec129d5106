// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * bench: one JSON object a line: {"bench":NAME,"unit":U,"value":V,"min":…,"max":…},
 * value being the median of interleaved rounds, and "note" what was measured;
 * {"bench":NAME,"absent":REASON} if it was not; "jumps": how many times that of the bench
 * "jumps" in this run. bench [core | NAME] VICTIM: only ours, only one and "jumps".
 */
#include "bench/bench.h"
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define PLAIN_CALLS 200000

static const struct bench benches[] = {
	{ "call", "ns", true, bench_plain, BENCH_PUSH },
	{ "jumps", "ns", true, bench_jumps, BENCH_JUMPS },
	{ "counter", "ns", true, bench_counter, BENCH_PUSH },
	{ "counter_2threads", "ns", true, bench_counter_two, BENCH_PUSH },
	{ "trap", "ns", true, bench_trap, BENCH_PUSH },
	{ "pair_exits", "ns", true, bench_pair_exits, BENCH_PUSH },
	{ "pair_timed", "ns", true, bench_pair_timed, BENCH_PUSH },
	{ "graph", "ns", true, bench_graph, BENCH_PUSH },
	{ "program", "ns", true, bench_program, BENCH_PUSH },
	{ "program_mem", "ns", true, bench_program_mem, BENCH_PUSH },
	{ "hist_key", "ns", true, bench_hist_key, BENCH_PUSH },
	{ "hist_string", "ns", true, bench_hist_string, BENCH_PUSH },
	{ "hist_8threads", "ns", true, bench_hist_threads, BENCH_PUSH },
	{ "stack_known", "ns", true, bench_stack_known, BENCH_PUSH },
	{ "record", "ns", true, bench_record, BENCH_PUSH },
	{ "record_coarse", "ns", true, bench_record_coarse, BENCH_PUSH },
	{ "record_cold", "ns", true, bench_record_cold, BENCH_PUSH },
	{ "reader", "ns", true, bench_reader, BENCH_PUSH },
	{ "every_insn", "ns", true, bench_every_insn, BENCH_LOOP },
	{ "ring_bytes", "B", true, bench_rings, BENCH_PUSH },
	{ "attach_first", "ms", true, bench_attach, BENCH_PUSH },
	{ "attach_stopped", "ms", true, bench_stopped, BENCH_PUSH },
	{ "detach", "ms", true, bench_detach, BENCH_PUSH },
	{ "command_first", "ms", true, bench_command, BENCH_PUSH },
	{ "command_on_1k", "ms", true, bench_command_on, BENCH_PUSH },
	{ "command_off_1k", "ms", true, bench_command_off, BENCH_PUSH },
	{ "on_10k_pid", "ms", true, bench_on, BENCH_PUSH },
	{ "off_10k_pid", "ms", true, bench_off, BENCH_PUSH },
	{ "sql_entries", "x", true, bench_sql_entries, BENCH_PUSH },
	{ "sql_returns", "x", true, bench_sql_returns, BENCH_PUSH },
	{ "site_bytes", "B", true, bench_site, BENCH_PUSH },
	{ "uprobe_push", "ns", false, bench_uprobe, BENCH_PUSH },
	{ "uprobe_nop5", "ns", false, bench_uprobe, BENCH_NOP5 },
	{ "uprobe_endbr64", "ns", false, bench_uprobe, BENCH_ENDBR64 },
	{ "uretprobe", "ns", false, bench_uretprobe, BENCH_PUSH },
	{ "gdb_ftrace", "ns", false, bench_gdb, BENCH_NOP5 },
	{ "uftrace", "ns", false, bench_uftrace, BENCH_NOP5 },
	{ "lttng_ust", "ns", false, bench_lttng, BENCH_NOP5 },
};

#define NR_BENCHES (sizeof(benches) / sizeof(benches[0]))

struct series {
	double v[BENCH_ROUNDS];
	int n;
	char absent[160];
	char note[160];
};

double bench_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

void bench_check(const struct bench_run *run)
{
	if (waitpid(run->pid, NULL, WNOHANG) != run->pid)
		return;
	fputs("bench: the victim has ended\n", stderr);
	exit(1);
}

static double ask(struct bench_run *run, enum bench_function function,
		  uint64_t calls, uint32_t threads)
{
	const struct timespec nap = { 0, 1000000 };
	struct bench_shared *s = run->shared;
	uint32_t number = s->asked + 1;

	s->function = function;
	s->calls = calls;
	s->threads = threads;
	__atomic_store_n(&s->asked, number, __ATOMIC_RELEASE);
	while (__atomic_load_n(&s->answered, __ATOMIC_ACQUIRE) != number) {
		bench_check(run);
		if (threads > 1)
			nanosleep(&nap, NULL);
	}
	return (double)s->ns / (double)calls;
}

double bench_calls(struct bench_run *run, enum bench_function function,
		   uint64_t calls)
{
	return ask(run, function, calls, 1);
}

double bench_two(struct bench_run *run, enum bench_function function,
		 uint64_t calls)
{
	return ask(run, function, calls, 2);
}

double bench_many_threads(struct bench_run *run, enum bench_function function,
			  uint64_t calls)
{
	return ask(run, function, calls, BENCH_CROWD);
}

int bench_plain(struct bench_run *run, const struct bench *b, double *ns)
{
	*ns = bench_calls(run, b->function, PLAIN_CALLS);
	return 0;
}

static void start(struct bench_run *run, const char *victim)
{
	int fd = memfd_create("bench", 0);
	const char *base = strrchr(victim, '/');
	cpu_set_t set;

	run->victim = victim;
	run->folder = base ? (int)(base - victim) + 1 : 0;
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set);
	if (fd < 0 || ftruncate(fd, 4096))
		exit(1);
	run->shared =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	run->pid = fork();
	if (run->pid == 0) {
		dup2(fd, BENCH_SHARED_FD);
		execl(victim, victim, NULL);
		_exit(127);
	}
	while (!__atomic_load_n(&run->shared->ready, __ATOMIC_ACQUIRE))
		if (waitpid(run->pid, NULL, WNOHANG) == run->pid)
			exit(1);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Text of other tools, made fit for a JSON string. */
static void print_text(const char *key, const char *text)
{
	printf(",\"%s\":\"", key);
	for (; *text; text++)
		putchar(*text == '"' || *text == '\\' ||
					(unsigned char)*text < ' ' ?
				'\'' :
				*text);
	putchar('"');
}

/* The median, or 0 */
static double median(struct series *s)
{
	qsort(s->v, (size_t)s->n, sizeof(s->v[0]), by_value);
	return s->n ? s->v[s->n / 2] : 0;
}

/* @jumps: what the bench of that name has shown */
static void print(const struct bench *b, struct series *s, double jumps)
{
	double value = median(s);

	printf("{\"bench\":\"%s\"", b->name);
	if (!s->n) {
		print_text("absent", s->absent);
		puts("}");
		return;
	}
	printf(",\"unit\":\"%s\",\"value\":%.2f,\"min\":%.2f,\"max\":%.2f",
	       b->unit, value, s->v[0], s->v[s->n - 1]);
	if (!strcmp(b->unit, "ns") && jumps > 0)
		printf(",\"jumps\":%.1f", value / jumps);
	if (*s->note)
		print_text("note", s->note);
	puts("}");
}

static void measure(struct bench_run *run, const struct bench *b,
		    struct series *s)
{
	*run->note = '\0';
	if (b->measure(run, b, &s->v[s->n])) {
		memcpy(s->absent, run->absent, sizeof(s->absent));
		return;
	}
	memcpy(s->note, run->note, sizeof(s->note));
	s->n++;
}

/* A peer that was not there twice is not asked for again. */
static bool wanted(const struct bench *b, const struct series *s, int round,
		   const char *only)
{
	if (only && !strcmp(only, "core"))
		return b->core;
	if (only && b->measure != bench_jumps && strcmp(only, b->name) != 0)
		return false;
	return b->core || round < 2 || s->n;
}

static bool is_known(const char *only)
{
	size_t i;

	for (i = 0; i < NR_BENCHES; i++)
		if (!strcmp(only, benches[i].name))
			return true;
	return !strcmp(only, "core");
}

static void print_all(struct series *series, const char *only)
{
	double jumps = 0;
	size_t i;

	for (i = 0; i < NR_BENCHES; i++)
		if (benches[i].measure == bench_jumps)
			jumps = median(&series[i]);
	for (i = 0; i < NR_BENCHES; i++)
		if (wanted(&benches[i], &series[i], 0, only))
			print(&benches[i], &series[i], jumps);
}

/* The functions that are measured now */
static void choose(struct bench_run *run, int place)
{
	struct bench_shared *s = run->shared;
	int f;

	for (f = 0; f < BENCH_FUNCTIONS; f++)
		s->addr[f] = s->at[f][place];
	s->place = (uint32_t)place;
}

int main(int argc, char **argv)
{
	static struct series series[NR_BENCHES];
	const char *only = argc == 3 ? argv[1] : NULL;
	struct bench_run run = { 0 };
	size_t i;
	int round;

	if (argc < 2 || argc > 3 || (only && !is_known(only))) {
		fputs("usage: bench [core | NAME] VICTIM\n", stderr);
		return 2;
	}
	start(&run, argv[argc - 1]);
	for (round = 0; round < BENCH_ROUNDS; round++) {
		choose(&run, round % BENCH_PLACES);
		for (i = 0; i < NR_BENCHES; i++)
			if (wanted(&benches[i], &series[i], round, only))
				measure(&run, &benches[i], &series[i]);
	}
	print_all(series, only);
	kill(run.pid, SIGKILL);
	waitpid(run.pid, NULL, 0);
	return 0;
}
