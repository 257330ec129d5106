// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * storm: all of libc is probed by the process that uses it, probes come and go
 * at random, and what libc does is right all the same.
 *
 * TOGGLES: changes a run; ONLY: the name of one run; SEED.
 */
#include <stdio.h>

int workload(int argc, char **argv);
/* Its own "ok" is no test. */
#define printf(...) printf("# " __VA_ARGS__)
#define main workload
#include "tests/victims/storm.c"
#undef main
#undef printf
#define seconds test_seconds
#include "tests/self/self.h"
#undef seconds
#include <Zydis/Zydis.h>
#include <sys/time.h>

#define INSNS 5000
#define HOTTEST 20
#define MOST 16384

static struct kprobe probes[MOST];
static struct kretprobe returns[MOST];
static bool is_in[MOST], is_off[MOST], return_in[MOST];
static unsigned long counts[MOST], entered[MOST], returned[MOST];
static int nr_probes, nr_returns;
static unsigned int seed_;

static DP_HANDLER_GPR int count_gpr(struct kprobe *p, struct pt_regs *regs)
{
	__atomic_fetch_add(&counts[p - probes], 1, __ATOMIC_RELAXED);
	return 0;
}

static int count_plain(struct kprobe *p, struct pt_regs *regs)
{
	volatile double x = (double)regs->di;

	__atomic_fetch_add(&counts[p - probes], x == x, __ATOMIC_RELAXED);
	errno = 77;
	return 0;
}

static void after(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
	__atomic_fetch_add(&counts[p - probes], 1, __ATOMIC_RELAXED);
}

static int enter(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	*(unsigned long *)ri->data = regs->sp;
	__atomic_fetch_add(&entered[ri->rp - returns], 1, __ATOMIC_RELAXED);
	return 0;
}

static int leave(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	if (*(unsigned long *)ri->data + 8 != regs->sp)
		wrong("a return with another stack pointer", 0);
	__atomic_fetch_add(&returned[ri->rp - returns], 1, __ATOMIC_RELAXED);
	return 0;
}

static void add_probe(void *addr)
{
	struct kprobe *p = &probes[nr_probes];

	if (nr_probes == MOST)
		return;
	p->addr = addr;
	p->pre_handler = nr_probes % 3 ? count_gpr : count_plain;
	if (nr_probes % 50 == 7)
		p->post_handler = after;
	nr_probes++;
}

/* Instructions of libc, drawn at random. */
static void add_insns(const struct function *f, size_t n)
{
	ZydisDecoder decoder;
	ZydisDecodedInstruction insn;
	ZydisDecodedOperand operands[10];
	size_t i, at;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
			 ZYDIS_STACK_WIDTH_64);
	for (i = 0; i < n; i++)
		for (at = 0; at < f[i].size && at < 3000; at += insn.length) {
			if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(
				    &decoder, f[i].at + at, f[i].size - at,
				    &insn, operands)))
				break;
			if (at && nr_probes < (int)n + INSNS &&
			    draw(&seed_) % 40 == 0)
				add_probe(f[i].at + at);
		}
}

static const char *const hottest[HOTTEST] = {
	"malloc",
	"free",
	"memcpy",
	"strlen",
	"snprintf",
	"vsnprintf",
	"realloc",
	"strtol",
	"qsort",
	"pthread_mutex_lock",
	"pthread_mutex_unlock",
	"pthread_cond_broadcast",
	"calloc",
	"memset",
	"strchr",
	"fwrite",
	"random_r",
	"getenv",
	"raise",
	"strtod",
};
static int hot[HOTTEST * 4], nr_hot;

static void find_hot(const struct function *f, size_t n)
{
	size_t i, k;

	for (i = 0; i < n; i++)
		for (k = 0; k < HOTTEST; k++)
			if (!strcmp(f[i].name, hottest[k]))
				hot[nr_hot++] = (int)i;
}

/* In batches; where one is refused, one by one. */
static int enlist(int refused)
{
	struct kprobe *list[256];
	int i, k, n;

	for (i = 0; i < nr_probes; i += n) {
		n = nr_probes - i < 256 ? nr_probes - i : 256;
		for (k = 0; k < n; k++)
			list[k] = &probes[i + k];
		if (!register_kprobes(list, n)) {
			memset(&is_in[i], 1, (size_t)n);
			continue;
		}
		for (k = 0; k < n; k++) {
			is_in[i + k] = !register_kprobe(list[k]);
			refused += !is_in[i + k];
		}
	}
	return refused;
}

static void enlist_returns(const struct function *f, size_t n)
{
	size_t i;

	for (i = 0; i < n && nr_returns < MOST; i += 3) {
		struct kretprobe *r = &returns[nr_returns];

		*r = (struct kretprobe){ .kp.addr = f[i].at,
					 .handler = leave,
					 .entry_handler = enter,
					 .maxactive = 64,
					 .data_size = 8 };
		return_in[nr_returns] = !register_kretprobe(r);
		nr_returns++;
	}
}

static void toggle(int i)
{
	int err = 0, was = errno;

	if (!is_in[i]) {
		err = register_kprobe(&probes[i]);
		is_in[i] = !err;
		is_off[i] = false;
	} else if (draw(&seed_) % 2) {
		unregister_kprobe(&probes[i]);
		is_in[i] = false;
	} else {
		err = is_off[i] ? enable_kprobe(&probes[i]) :
				  disable_kprobe(&probes[i]);
		is_off[i] = !is_off[i];
	}
	if (err && err != -EINVAL && err != -EILSEQ) {
		printf("# toggling probe %d at %p: %d %s\n", i,
		       (void *)probes[i].addr, err, dp_last_diag()->text);
		wrong("toggling", 0);
	}
	errno = was;
}

static void toggle_return(void)
{
	int i = (int)(draw(&seed_) % (unsigned int)nr_returns);
	struct kretprobe *r = &returns[i];

	if (return_in[i]) {
		unregister_kretprobe(r);
		return_in[i] = false;
	} else {
		return_in[i] = !register_kretprobe(r);
	}
}

static void knobs(void)
{
	dp_kprobes_optimization((int)(draw(&seed_) % 2));
	dp_kprobes_enabled((int)(draw(&seed_) % 2));
}

static long toggles;

static void *toggler(void *arg)
{
	long i;

	while (!done)
		usleep(1000);
	for (i = 0; i < toggles && !failures; i++) {
		if (nr_returns && i % 16 == 3)
			toggle_return();
		else if (i % 4 && nr_hot)
			toggle(hot[draw(&seed_) % (unsigned int)nr_hot]);
		else
			toggle((int)(draw(&seed_) % (unsigned int)nr_probes));
		if (i % 512 == 511)
			knobs();
	}
	dp_kprobes_optimization(1);
	dp_kprobes_enabled(1);
	stop = 1;
	return NULL;
}

static void on_prof(int sig)
{
	char text[64];
	int was = errno;
	size_t n;

	n = (size_t)snprintf(text, sizeof(text), "%d %f %x", sig, 1.5, 77);
	if (n != 14 || strcmp(text, "27 1.500000 4d"))
		wrong("a signal handler", 0);
	errno = was;
}

static void profile(int flags)
{
	struct sigaction act = { .sa_handler = on_prof,
				 .sa_flags = SA_RESTART | flags };
	struct itimerval timer = { { 0, 1000 }, { 0, 1000 } };

	sigaction(SIGPROF, &act, NULL);
	setitimer(ITIMER_PROF, &timer, NULL);
}

static int run_one(const char *name)
{
	char *args[] = { "storm", strstr(name, "blocked") ? "-ct4b" : "-ct4",
			 "-f", NULL };
	struct itimerval off = { { 0, 0 }, { 0, 0 } };
	struct text text = text_of("libc.so.6");
	struct function *f;
	size_t n = functions_of(&text, &f), i;
	unsigned long hits = 0;
	pthread_t thread;
	int refused;

	if (!strstr(name, "forks"))
		args[2] = NULL;
	for (i = 0; i < n; i++)
		add_probe(f[i].at);
	if (register_kprobe(&probes[0]))
		return 5;
	unregister_kprobe(&probes[0]);
	text_note(&text);
	find_hot(f, n);
	add_insns(f, n);
	if (strstr(name, "returns"))
		enlist_returns(f, n);
	refused = enlist(0);
	printf("# %d probes, %d refused, %d return probes\n", nr_probes,
	       refused, nr_returns);
	fflush(stdout);
	if (strstr(name, "signals"))
		profile(strstr(name, "stack") ? SA_ONSTACK : 0);
	pthread_create(&thread, NULL, toggler, NULL);
	optind = 1;
	workload(2 + (args[2] != NULL), args);
	pthread_join(thread, NULL);
	setitimer(ITIMER_PROF, &off, NULL);
	for (i = 0; i < (size_t)nr_probes; i++) {
		hits += counts[i];
		unregister_kprobe(&probes[i]);
	}
	for (i = 0; i < (size_t)nr_returns; i++) {
		unregister_kretprobe(&returns[i]);
		if (returned[i] > entered[i])
			wrong("more returns than calls", (unsigned int)i);
	}
	printf("# %lu hits, %lu rounds\n", hits, done);
	if (hits < 1000 || refused > nr_probes / 5)
		return 3;
	if (text_differs(&text))
		return 4;
	return failures != 0;
}

static const struct {
	const char *name, *arm;
} runs[] = {
	{ "plain", "" },
	{ "plain trap", "trap" },
	{ "blocked", "" },
	{ "signals", "" },
	{ "signals stack", "" },
	{ "returns", "" },
	{ "returns blocked", "" },
	{ "returns signals", "" },
	{ "returns signals trap", "trap" },
	{ "forks", "" },
	{ "returns forks signals", "" },
};

int main(int argc, char **argv)
{
	const char *only = getenv("ONLY");
	char command[600];
	size_t i;
	int status;

	toggles = amount("TOGGLES", 400);
	seed_ = (unsigned int)amount("SEED", 1);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1)
		return run_one(argv[1]);
	for (i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		if (only && strcmp(only, runs[i].name))
			continue;
		snprintf(command, sizeof(command),
			 "DPROBES_ARM=%s timeout -s ABRT %ld %s '%s'",
			 runs[i].arm, amount("LIMIT", 100), argv[0],
			 runs[i].name);
		fflush(stdout);
		status = system(command);
		if (!ok(!status, "storm in oneself: %s", runs[i].name))
			printf("# status %x\n", status);
	}
	return plan();
}
