// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * uprobed: does what it is told on its standard input, a word a line, and says on
 * its standard output what came of it.
 */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 400

volatile long number = 1000; /* for a handler to change */
static const char text[] = "text of a program";
static pthread_t threads[THREADS];
static volatile int stop;
static long wrong, rounds;
static volatile long signals;

static void on_signal(int sig)
{
	signals++;
}

/* Its first instruction is as long as a jump; it returns at one place. */
static long __attribute__((noinline)) twice(long x)
{
	__asm__ volatile("movabs $2, %%rax\n\t" : : : "rax");
	return 2 * x;
}

/* Through a pointer, so that there is no second one for some argument. */
static long (*volatile call)(long x) = twice;

/* Calls itself, and is left in several ways. */
static jmp_buf away;
static long __attribute__((noinline)) nest(long depth)
{
	long more;

	if (depth > 100)
		return -1;
	if (depth < 0)
		longjmp(away, 1);
	if (!depth)
		return 0;
	more = nest(depth - 1);
	__asm__ volatile("" : "+r"(more));
	return more + 1;
}

/* A function that touches no vector register, but for its probe. */
static int keeps_vectors(void)
{
	double in[16], out[16] = { 0 };
	register double *from __asm__("rbx") = in;
	register double *to __asm__("r12") = out;
	register long (*f)(long) __asm__("r13") = call;
	int i;

	for (i = 0; i < 16; i++)
		in[i] = i * 1.25 + 7;
	__asm__ volatile(
		".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n\t"
		"movsd 8*\\n(%%rbx), %%xmm\\n\n\t"
		".endr\n\t"
		"mov $5, %%edi\n\t"
		"call *%%r13\n\t"
		".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n\t"
		"movsd %%xmm\\n, 8*\\n(%%r12)\n\t"
		".endr"
		:
		: "r"(from), "r"(to), "r"(f)
		: "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11",
		  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6",
		  "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
		  "xmm14", "xmm15", "cc", "memory");
	return !memcmp(in, out, sizeof(in));
}

static void *spin(void *arg)
{
	long i;

	for (i = 1; !stop; i++) {
		if (call(i) != 2 * i)
			__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&rounds, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void *once(void *arg)
{
	if (call(5) != 10)
		__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
	return (void *)syscall(SYS_gettid);
}

static void start(void *(*function)(void *), int n)
{
	int i;

	stop = 0;
	wrong = rounds = 0;
	for (i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, function, NULL);
	puts("started");
}

static void finish(int n)
{
	int i;

	stop = 1;
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	printf("%ld of %ld wrong\n", wrong, rounds);
}

static void by_child(void)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid)
		_exit((int)call(21));
	waitpid(pid, &status, 0);
	printf("%d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static void *execute(void *arg)
{
	execl("/proc/self/exe", "uprobed", (char *)NULL);
	return NULL;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Code that belongs to no file, and goes: it returns a number. */
static unsigned char *code;

static void map_code(unsigned char number)
{
	const unsigned char bytes[] = { 0xb8, number, 0, 0, 0, 0x90, 0xc3 };

	code = mmap(code, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS | (code ? MAP_FIXED : 0), -1,
		    0);
	memcpy(code, bytes, sizeof(bytes));
}

/* Code in memory that is shared: no tracer can write there. */
static void *share_code(void)
{
	static const unsigned char bytes[] = { 0xb8, 6, 0, 0, 0, 0x90, 0xc3 };
	int fd = memfd_create("code", MFD_CLOEXEC);

	if (write(fd, bytes, sizeof(bytes)) != sizeof(bytes))
		return NULL;
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
}

static int obey(const char *word)
{
	static int n;
	pthread_t thread;
	double began;
	long got;

	if (!strcmp(word, "call")) {
		printf("%ld\n", call(21));
	} else if (!strcmp(word, "time")) {
		began = now();
		got = call(21);
		printf("%ld %.0f\n", got, now() - began);
	} else if (!strncmp(word, "nest ", 5)) {
		printf("%ld\n", setjmp(away) ? -2 : nest(atol(word + 5)));
	} else if (!strcmp(word, "vectors")) {
		printf("%s\n", keeps_vectors() ? "kept" : "lost");
	} else if (!strcmp(word, "number")) {
		printf("%ld\n", number);
	} else if (!strncmp(word, "spin ", 5)) {
		start(spin, n = atoi(word + 5));
	} else if (!strncmp(word, "once ", 5)) {
		start(once, n = atoi(word + 5));
	} else if (!strcmp(word, "finish")) {
		finish(n);
	} else if (!strcmp(word, "thread")) {
		pthread_create(&threads[0], NULL, once, NULL);
		pthread_join(threads[0], (void **)&got);
		printf("%ld\n", got);
	} else if (!strncmp(word, "map ", 4)) {
		map_code((unsigned char)atoi(word + 4));
		printf("%p\n", (void *)code);
	} else if (!strcmp(word, "share")) {
		printf("%p\n", share_code());
	} else if (!strcmp(word, "run")) {
		printf("%d\n", ((int (*)(void))code)());
	} else if (!strcmp(word, "unmap")) {
		printf("%d\n", munmap(code, 4096));
	} else if (!strcmp(word, "fork")) {
		by_child();
	} else if (!strcmp(word, "exec")) {
		execute(NULL);
	} else if (!strcmp(word, "exec-later")) {
		/* From another thread, while this one is in the call. */
		pthread_create(&thread, NULL, execute, NULL);
		call(1);
		pause();
	} else if (!strcmp(word, "exit")) {
		return 0;
	}
	fflush(stdout);
	return 1;
}

int main(void)
{
	char line[64];

	signal(SIGUSR1, on_signal);
	printf("%p %p %p %p %p %p\n", (void *)twice, (void *)&number,
	       (void *)text, (void *)getppid, (void *)nest, (void *)&signals);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (!obey(line))
			break;
	}
	return 7;
}
