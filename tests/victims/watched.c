// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * watched: a variable that is written in many ways, as often as it is told.
 *
 * Without arguments it reads commands: b N (N writes), t N (N threads one after the other, ten
 * writes each), p N (four threads at once, N writes each), f N (a child writes N times), k N (the
 * kernel writes N times), r N (N reads), m N (N rounds of threads, children that write, in its memory and in
 * their own, a program that is spawned, and signals whose handler writes), e (becomes cat), q (exits with 5). It answers with what
 * it has written itself, in all. With "ways" it writes once in each way, and ends; with "stores"
 * likewise, but not by a stack that is there; with "pointer" it writes where main() is.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

volatile long watched __attribute__((aligned(8)));
volatile int watched_small;
long watched_many[4];
static volatile long sum;
static long written;

void watched_write(long value);
__attribute__((noinline, noclone)) void watched_write(long value)
{
	watched = value;
	__atomic_fetch_add(&written, 1, __ATOMIC_RELAXED);
}

static void *write_some(void *n)
{
	long i;

	for (i = 0; i < (long)n; i++)
		watched_write(i);
	return NULL;
}

static void by_threads(int threads, long n)
{
	pthread_t list[4];
	int i;

	for (i = 0; i < threads; i++)
		pthread_create(&list[i], NULL, write_some, (void *)n);
	for (i = 0; i < threads; i++)
		pthread_join(list[i], NULL);
}

static void by_child(long n)
{
	long i;

	if (!fork()) {
		for (i = 0; i < n; i++)
			watched = i;
		_exit(0);
	}
	wait(NULL);
}

static void by_kernel(long n)
{
	int fd = open("/dev/zero", O_RDONLY);

	while (n--)
		if (read(fd, (void *)&watched, sizeof(watched)) < 0)
			break;
	close(fd);
}

/* One write in each way; the calls to strings and vectors are not the compiler's to change. */
static void stores(void)
{
	long old = 0, in[4] = { 11, 12, 13, 14 };

	asm volatile("movq $1, %0\n"
		     "addq $1, %0\n"
		     "lock incq %0\n"
		     "movb $9, %0\n"
		     "xchgq %1, %0\n"
		     "movl $5, 4+%0\n"
		     "lock xaddq %1, %0\n"
		     "notq %0\n"
		     : "+m"(watched), "+r"(old)
		     :
		     : "cc", "memory");
	asm volatile("movups (%1), %%xmm0; movups %%xmm0, -8+%0"
		     : "+m"(watched)
		     : "r"(in)
		     : "xmm0", "memory");
	asm volatile("leaq %0, %%rdi; movl $8, %%ecx; movl $0x41, %%eax;"
		     "cld; rep stosb"
		     :
		     : "m"(watched)
		     : "rdi", "rcx", "rax", "memory");
}

/* A signal's frame would be written below. */
static void by_stack(void)
{
	asm volatile("movq %%rsp, %%rax; leaq 8+%0, %%rsp; pushq $77;"
		     "movq %%rax, %%rsp"
		     :
		     : "m"(watched)
		     : "rax", "memory");
}

static void on_signal(int sig)
{
	watched_write(sig);
}

/* A child in our memory writes; it is not the thread that is watched. */
static void by_vfork(void)
{
	if (!vfork()) {
		watched = 1;
		_exit(0);
	}
	wait(NULL);
}

static void by_all(long n)
{
	char *const argv[] = { "true", NULL };
	pid_t pid;

	signal(SIGUSR1, on_signal);
	while (n--) {
		by_threads(4, 5);
		by_child(3);
		by_vfork();
		if (!posix_spawn(&pid, "/bin/true", NULL, NULL, argv, NULL))
			waitpid(pid, NULL, 0);
		raise(SIGUSR1);
	}
}

static void obey(const char *line)
{
	long n = atol(line + 1), i;

	switch (*line) {
	case 'b':
		write_some((void *)n);
		break;
	case 't':
		for (i = 0; i < n; i++)
			by_threads(1, 10);
		break;
	case 'p':
		by_threads(4, n);
		break;
	case 'f':
		by_child(n);
		break;
	case 'k':
		by_kernel(n);
		break;
	case 'r':
		for (i = 0; i < n; i++)
			sum += watched;
		break;
	case 'm':
		by_all(n);
		break;
	case 'e':
		execl("/bin/cat", "cat", NULL);
		break;
	default:
		exit(5);
	}
}

int main(int argc, char **argv)
{
	char line[64];

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && !strcmp(argv[1], "pointer")) {
		*(volatile long *)watched_many = (long)main;
		return 0;
	}
	if (argc > 1) {
		stores();
		if (!strcmp(argv[1], "ways"))
			by_stack();
		return 0;
	}
	puts("ready");
	while (fgets(line, sizeof(line), stdin)) {
		obey(line);
		printf("%ld\n", written);
	}
	return 0;
}
