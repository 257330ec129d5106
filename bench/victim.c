// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* victim: calls a function as often as it is told, and says how long it took. */
#include "bench/victim.h"
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define PARTS 10
#define STRING_OF(x) #x
#define STRING(x) STRING_OF(x)

#define EACH_PLACE(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define DECLARE(k)                                       \
	void bench_push##k(const uint64_t *number);      \
	void bench_jumps##k(const uint64_t *number);     \
	void bench_loop##k(const uint64_t *number);      \
	void bench_calls##k(void (*f)(const uint64_t *), \
			    const uint64_t *number, uint64_t n);
EACH_PLACE(DECLARE)
void bench_nop5(const uint64_t *number);
void bench_endbr64(const uint64_t *number);
void bench_many(void);

#define TURNS STRING(BENCH_LOOP_TURNS)

/* At each place: the functions, and what calls them: f(number), n times. 64 bytes from its start on
 * are a function's own. */
/* clang-format off */
#define PLACE(k)                                                              \
	".macro begin" #k " name\n"                                           \
	".balign 128, 0xcc\n.skip 8 * " #k ", 0xcc\n"                         \
	".globl \\name\n.type \\name, @function\n\\name:\n.endm\n"           \
	"begin" #k " bench_push" #k "\n"                                      \
	".cfi_startproc\n push %rbp\n .cfi_def_cfa_offset 16\n"              \
	"mov %rsp, %rbp\n pop %rbp\n .cfi_def_cfa_offset 8\n ret\n"         \
	".cfi_endproc\n"                                                      \
	".size bench_push" #k ", . - bench_push" #k "\n"                      \
	"begin" #k " bench_jumps" #k "\n"                                     \
	".byte 0xe9\n.long 1f - . - 4\n2: ret\n"                             \
	".size bench_jumps" #k ", . - bench_jumps" #k "\n"                    \
	".skip 4096, 0xcc\n.balign 32\n"                                     \
	"1: push %rbp\n mov %rsp, %rbp\n pop %rbp\n jmp 2b\n"                \
	"begin" #k " bench_loop" #k "\n"                                      \
	"mov $" TURNS ", %ecx\n"                                              \
	"1: add %rdx, %rax\n mov %rax, %rsi\n shl $1, %rsi\n"                 \
	"sub %rax, %rsi\n xor %rsi, %rdx\n add $1, %rdx\n and $15, %edx\n"   \
	"dec %ecx\n jnz 1b\n ret\n"                                          \
	".size bench_loop" #k ", . - bench_loop" #k "\n"                      \
	"begin" #k " bench_calls" #k "\n"                                     \
	".cfi_startproc\n push %rbx\n push %r12\n push %r13\n"              \
	".cfi_def_cfa_offset 32\n"                                            \
	"mov %rdi, %rbx\n mov %rsi, %r12\n mov %rdx, %r13\n"                 \
	"1: mov %r12, %rdi\n call *%rbx\n dec %r13\n jnz 1b\n"               \
	"pop %r13\n pop %r12\n pop %rbx\n"                                  \
	".cfi_def_cfa_offset 8\n ret\n .cfi_endproc\n"                       \
	".size bench_calls" #k ", . - bench_calls" #k "\n"
__asm__(".text\n" EACH_PLACE(PLACE));
/* clang-format on */

__asm__(".text\n"
	".balign 64\n.globl bench_nop5\n.type bench_nop5, @function\n"
	"bench_nop5: nopl 8(%rax,%rax,1)\n push %rbp\n pop %rbp\n ret\n"
	".size bench_nop5, . - bench_nop5\n"
	".balign 64\n.globl bench_endbr64\n.type bench_endbr64, @function\n"
	"bench_endbr64: endbr64\n push %rbp\n pop %rbp\n ret\n"
	".size bench_endbr64, . - bench_endbr64\n"
	/* The first of many are functions to whoever asks for them by address. */
	".macro one\n"
	" push %rbp\n mov %rsp, %rbp\n pop %rbp\n ret\n"
	".balign " STRING(
		BENCH_MANY_STEP) ", 0xcc\n"
				 ".endm\n"
				 ".macro named\n"
				 ".type many\\@, @function\n"
				 "many\\@: one\n"
				 ".size many\\@, 6\n"
				 ".endm\n"
				 ".balign 64\n.globl bench_many\n.type bench_many, @function\n"
				 ".size bench_many, 6\nbench_many:\n"
				 ".rept " STRING(
					 BENCH_NAMED) "\nnamed\n.endr\n"
						      ".rept " STRING(BENCH_MANY) " - " STRING(
							      BENCH_NAMED) "\none\n.endr\n");

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Of parts, the median: another process on this CPU spoils a few only. */
typedef void function(const uint64_t *number);

#define CALLS(k) bench_calls##k,
static void (*const callers[BENCH_PLACES])(function *f, const uint64_t *number,
					   uint64_t n) = { EACH_PLACE(CALLS) };

/* What the functions are called with */
static const uint64_t *argument(const struct bench_shared *s)
{
	static const char text[] __attribute__((aligned(8))) = BENCH_TEXT;
	static const uint64_t number = BENCH_NUMBER;

	return s->text ? (const void *)text : &number;
}

static uint64_t time_calls(function *f, uint32_t place, uint64_t calls,
			   const uint64_t *number)
{
	uint64_t ns[PARTS], t;
	int part;

	if (calls % PARTS)
		callers[place](f, number, calls % PARTS);
	for (part = 0; part < PARTS; part++) {
		t = now();
		callers[place](f, number, calls / PARTS);
		ns[part] = now() - t;
	}
	qsort(ns, PARTS, sizeof(ns[0]), by_value);
	return ns[PARTS / 2] * PARTS;
}

#define PUSH(k) bench_push##k,
#define NOP5(k) bench_nop5,
#define ENDBR64(k) bench_endbr64,
#define JUMPS(k) bench_jumps##k,
#define LOOP(k) bench_loop##k,
static function *const functions[BENCH_FUNCTIONS][BENCH_PLACES] = {
	{ EACH_PLACE(PUSH) },  { EACH_PLACE(NOP5) }, { EACH_PLACE(ENDBR64) },
	{ EACH_PLACE(JUMPS) }, { EACH_PLACE(LOOP) },
};

static uint64_t time_function(const struct bench_shared *s)
{
	return time_calls(functions[s->function][s->place], s->place, s->calls,
			  argument(s));
}

/* Each level is a frame: what comes behind the call keeps it from being a jump. */
static __attribute__((noinline, noclone)) uint64_t
time_deep(const struct bench_shared *s, uint32_t deep)
{
	uint64_t ns = deep ? time_deep(s, deep - 1) : time_function(s);

	__asm__ volatile("" : "+r"(ns));
	return ns;
}

struct second {
	struct bench_shared *shared;
	uint64_t ns;
	int ready;
};

static void *second_thread(void *arg)
{
	struct second *s = arg;

	pin(0);
	__atomic_store_n(&s->ready, 1, __ATOMIC_RELEASE);
	s->ns = time_function(s->shared);
	return NULL;
}

static uint64_t time_two(struct bench_shared *s)
{
	struct second second = { .shared = s };
	pthread_t thread;
	uint64_t ns;

	if (pthread_create(&thread, NULL, second_thread, &second))
		exit(1);
	while (!__atomic_load_n(&second.ready, __ATOMIC_ACQUIRE))
		continue;
	ns = time_function(s);
	pthread_join(thread, NULL);
	return (ns + second.ns) / 2;
}

static uint64_t on_cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

struct one_of_many {
	struct bench_shared *shared;
	pthread_t thread;
	uint64_t ns;
	int cpu;
};

static void *one_of_many(void *arg)
{
	struct one_of_many *one = arg;
	const struct bench_shared *s = one->shared;
	uint64_t began;

	pin(one->cpu);
	began = on_cpu();
	callers[s->place](functions[s->function][s->place], argument(s),
			  s->calls);
	one->ns = on_cpu() - began;
	return NULL;
}

/* The mean of the time that each has been on a CPU */
static uint64_t time_many(struct bench_shared *s)
{
	struct one_of_many v[BENCH_CROWD];
	uint64_t ns = 0;
	uint32_t i;

	for (i = 0; i < BENCH_CROWD; i++) {
		v[i] = (struct one_of_many){ .shared = s, .cpu = i % 2 };
		if (pthread_create(&v[i].thread, NULL, one_of_many, &v[i]))
			exit(1);
	}
	for (i = 0; i < BENCH_CROWD; i++) {
		pthread_join(v[i].thread, NULL);
		ns += v[i].ns;
	}
	return ns / BENCH_CROWD;
}

/* A process of several threads is more to attach to than one with one. */
static void *sleeper(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/* One pass over what is watched. */
static void watch(struct bench_shared *s)
{
	static unsigned char was[BENCH_NAMED];
	const volatile unsigned char *at =
		(const volatile unsigned char *)s->watch;
	uint32_t i, n = __atomic_load_n(&s->watched, __ATOMIC_ACQUIRE);

	if (n != s->watching) {
		for (i = 0; i < n; i++)
			was[i] = at[i * BENCH_MANY_STEP];
		__atomic_store_n(&s->watching, n, __ATOMIC_RELEASE);
	}
	for (i = 0; i < n && at[i * BENCH_MANY_STEP] != was[i]; i++)
		continue;
	if (n && i == n && !s->changed)
		__atomic_store_n(&s->changed, now(), __ATOMIC_RELEASE);
}

int main(void)
{
	struct bench_shared *s = mmap(0, 4096, PROT_READ | PROT_WRITE,
				      MAP_SHARED, BENCH_SHARED_FD, 0);
	pthread_t thread;
	uint64_t last, t;
	int f, place;

	if (s == MAP_FAILED || pthread_create(&thread, NULL, sleeper, NULL))
		return 1;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin(1);
	for (f = 0; f < BENCH_FUNCTIONS; f++)
		for (place = 0; place < BENCH_PLACES; place++)
			s->at[f][place] = (uint64_t)functions[f][place];
	s->many = (uint64_t)bench_many;
	__atomic_store_n(&s->ready, 1, __ATOMIC_RELEASE);
	for (last = now();; last = t) {
		uint32_t asked = __atomic_load_n(&s->asked, __ATOMIC_ACQUIRE);

		t = now();
		if (t - last > s->gap_ns)
			s->gap_ns = t - last;
		watch(s);
		if (asked == s->answered)
			continue;
		s->ns = s->threads > 2	? time_many(s) :
			s->threads == 2 ? time_two(s) :
					  time_deep(s, s->deep);
		__atomic_store_n(&s->answered, asked, __ATOMIC_RELEASE);
		t = now();
	}
}
