// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * intercepted: threads that do nothing but make the calls which a probed process has intercepted, and
 * look at what these leave behind, while a library comes and goes.
 *
 *	intercepted LIBRARY ROUNDS
 *
 * A signal that a thread has blocked comes when it unblocks it, so its handler interrupts
 * the call. Prints how often the threads and the library were called.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 3
#define TRAP_FLAG 0x100

static volatile int stop;
static long calls;
static __thread volatile int handled;

__attribute__((noipa)) static long victim_function(long n)
{
	return n + 1;
}

static void on_signal(int sig)
{
	handled++;
	__atomic_fetch_add(&calls, victim_function(0), __ATOMIC_RELAXED);
}

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	printf("wrong: %s\n", what);
	fflush(stdout);
	_Exit(1);
}

static unsigned long flags(void)
{
	unsigned long f;

	__asm__ volatile("pushfq; pop %0" : "=r"(f));
	return f;
}

static void *hooked(void *arg)
{
	sigset_t ours, old, now;
	int n;

	sigemptyset(&ours);
	sigaddset(&ours, SIGUSR1);
	for (n = 0; !stop; n++) {
		pthread_sigmask(SIG_BLOCK, &ours, &old);
		pthread_kill(pthread_self(), SIGUSR1);
		must(!sigismember(&old, SIGUSR1) &&
			     !sigismember(&old, SIGTERM) &&
			     !sigismember(&old, SIGTRAP),
		     "the mask before");
		must(handled == n, "a blocked signal");
		pthread_sigmask(SIG_SETMASK, &old, &now);
		must(sigismember(&now, SIGUSR1) && !sigismember(&now, SIGTERM),
		     "the mask meanwhile");
		must(handled == n + 1, "a signal");
		must(!(flags() & TRAP_FLAG), "the flags");
	}
	return NULL;
}

static long use(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW);
	double (*cbrt)(double) = lib ? (double (*)(double))dlsym(lib, "cbrt") :
				       NULL;

	must(cbrt && cbrt(18) == 2, "the library");
	must(!dlclose(lib), "its end");
	return 3; /* its constructor, twice */
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_signal };
	long rounds = argc == 3 ? atol(argv[2]) : 0, of_library = 0;
	pthread_t threads[THREADS];
	int i;

	sigaction(SIGUSR1, &sa, NULL);
	for (i = 0; i < THREADS; i++)
		must(!pthread_create(&threads[i], NULL, hooked, NULL),
		     "thread");
	while (rounds--)
		of_library += use(argv[1]);
	stop = 1;
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("right: %ld and %ld\n", calls, of_library);
	return 0;
}
