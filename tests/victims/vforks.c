// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * vforks: a thread that is in vfork() nearly always, so that no stop reaches it:
 * vforks MS [THREADS]. Its children sleep for MS ms and end; other threads work.
 * Until SIGTERM; then "right" or what was wrong.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

long victim_function(long n);

static volatile sig_atomic_t stop;
static volatile int wrong;

__attribute__((noipa)) long victim_function(long n)
{
	return n * 3 + 1;
}

static void on_term(int sig)
{
	stop = 1;
}

static void work(void)
{
	long i;

	for (i = 0; i < 100; i++)
		if (victim_function(i) != i * 3 + 1)
			wrong = 1;
}

static void *worker(void *arg)
{
	while (!stop)
		work();
	return NULL;
}

int main(int argc, char **argv)
{
	long ms = argc > 1 ? atol(argv[1]) : 10;
	int n = argc > 2 ? atoi(argv[2]) : 0, i, status;
	struct timespec nap = { ms / 1000, ms % 1000 * 1000000 };
	pthread_t threads[16];
	pid_t pid;

	signal(SIGTERM, on_term);
	for (i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, worker, NULL);
	puts("running");
	fflush(stdout);
	while (!stop) {
		work();
		pid = vfork();
		if (pid == 0) {
			nanosleep(&nap, NULL);
			_exit(7);
		}
		if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
		    WEXITSTATUS(status) != 7)
			wrong = 1;
	}
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	puts(wrong ? "wrong" : "right");
	return wrong;
}
