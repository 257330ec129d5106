// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * returns: ways out of functions. Each mode checks itself, and prints how often
 * its functions were entered and how those calls ended: what a probe has to see.
 */
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define PROBED extern "C" __attribute__((noipa))

static void expect(bool is, const char *what)
{
	if (is)
		return;
	std::printf("WRONG: %s\n", what);
	std::exit(1);
}

static void tell(const char *name, int returned, int tail, int abandoned,
		 int inside)
{
	std::printf("%s %d %d %d %d %d\n", name,
		    returned + tail + abandoned + inside, returned, tail,
		    abandoned, inside);
}

PROBED unsigned long ret_value(unsigned long i)
{
	return i * 3 + 1;
}

PROBED long ret_deep(long n)
{
	volatile long mine = n;

	return n ? ret_deep(n - 1) + mine : 0;
}

static jmp_buf out;

PROBED void ret_inner(int i)
{
	if (i % 2)
		longjmp(out, i);
}

PROBED int ret_outer(int i)
{
	ret_inner(i);
	return i;
}

PROBED int ret_thrower(int i)
{
	if (i % 3 == 0)
		throw i;
	return i;
}

PROBED int ret_between(int i)
{
	return ret_thrower(i) + 1;
}

PROBED unsigned long ret_tail(unsigned long i)
{
	if (i % 4 == 0)
		return 7;
	return ret_value(i + 1);
}

PROBED int ret_forks(int *in_child)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		*in_child = 1;
		return 0;
	}
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

PROBED int ret_vforks()
{
	volatile pid_t pid = vfork();
	int status;

	if (pid == 0)
		_exit((int)ret_value(3));
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

static void values(int n)
{
	for (int i = 0; i < n; i++)
		expect(ret_value(i) == 3ul * i + 1, "a value");
	tell("ret_value", n, 0, 0, 0);
}

static void deep(int n)
{
	expect(ret_deep(n) == (long)n * (n + 1) / 2, "a sum");
	tell("ret_deep", n + 1, 0, 0, 0);
}

static void jumps(int n)
{
	volatile int jumped = 0;

	for (volatile int i = 0; i < n; i++)
		if (setjmp(out))
			jumped++;
		else
			expect(ret_outer(i) == i, "no jump");
	expect(jumped == n / 2, "jumps");
	tell("ret_inner", n - n / 2, 0, n / 2, 0);
	tell("ret_outer", n - n / 2, 0, n / 2, 0);
}

static void throws(int n)
{
	int caught = 0;

	for (int i = 0; i < n; i++)
		try {
			expect(ret_between(i) == i + 1, "no throw");
		} catch (int what) {
			expect(what == i, "what was thrown");
			caught++;
		}
	expect(caught == (n + 2) / 3, "throws");
	tell("ret_thrower", n - caught, 0, caught, 0);
	tell("ret_between", n - caught, 0, caught, 0);
}

static void *thread(void *arg)
{
	int n = *(int *)arg;

	for (int i = 0; i < n; i++) {
		expect(ret_value(i) == 3ul * i + 1, "a value in a thread");
		expect(ret_deep(3) == 6, "a sum in a thread");
	}
	return NULL;
}

static void threads(int n)
{
	pthread_t t[4];

	for (pthread_t &p : t)
		pthread_create(&p, NULL, thread, &n);
	for (pthread_t p : t)
		pthread_join(p, NULL);
	tell("ret_value", 4 * n, 0, 0, 0);
	tell("ret_deep", 16 * n, 0, 0, 0);
}

static ucontext_t hub, routine[2];
static int steps, suspended;

/* Suspended in the middle, both at once, and each resumed by another thread than
 * the one that entered it. */
PROBED int ret_coroutine(int which)
{
	suspended++;
	swapcontext(&routine[which], &hub);
	steps += which + 1;
	return which;
}

static void routine_main(int which)
{
	for (int i = 0; i < 1000; i++)
		expect(ret_coroutine(which) == which, "a coroutine's value");
}

static void *resume(void *arg)
{
	swapcontext(&hub, &routine[(long)arg]);
	return NULL;
}

static void coroutines()
{
	static char stacks[2][65536];
	pthread_t t;

	for (int i = 0; i < 2; i++) {
		getcontext(&routine[i]);
		routine[i].uc_stack.ss_sp = stacks[i];
		routine[i].uc_stack.ss_size = sizeof(stacks[i]);
		routine[i].uc_link = &hub;
		makecontext(&routine[i], (void (*)())routine_main, 1, i);
	}
	for (int i = 0; i < 2000; i++)
		if (i % 50 == 7) {
			pthread_create(&t, NULL, resume, (void *)(long)(i % 2));
			pthread_join(t, NULL);
		} else {
			resume((void *)(long)(i % 2));
		}
	expect(suspended == 2000 && steps == 999 * 3, "steps of coroutines");
	tell("ret_coroutine", 1998, 0, 0, 2);
}

static void tails(int n)
{
	for (int i = 0; i < n; i++)
		expect(ret_tail(i) == (i % 4 ? 3ul * i + 4 : 7), "a tail");
	tell("ret_tail", (n + 3) / 4, n - (n + 3) / 4, 0, 0);
	tell("ret_value", n - (n + 3) / 4, 0, 0, 0);
}

static void forks()
{
	int in_child = 0, i, sum = 0;

	for (i = 0; i < 20; i++) {
		std::fflush(stdout);
		int got = ret_forks(&in_child);

		if (in_child) {
			expect(ret_deep(10) == 55, "a sum in a child");
			std::fflush(stdout);
			_exit((int)ret_value(1));
		}
		sum += got;
		sum += ret_vforks();
	}
	expect(sum == 20 * (4 + 10), "children");
	tell("ret_forks", 20, 0, 0, 0);
	tell("ret_vforks", 20, 0, 0, 0);
	tell("ret_value", 0, 0, 0, 0);
	tell("ret_deep", 0, 0, 0, 0);
}

static volatile int handled;

static void on_signal(int)
{
	handled += ret_value(1) == 4;
}

PROBED int ret_raises(int sig)
{
	raise(sig);
	return sig;
}

static void signals(int n)
{
	std::signal(SIGUSR1, on_signal);
	for (int i = 0; i < n; i++)
		expect(ret_raises(SIGUSR1) == SIGUSR1, "a signal");
	expect(handled == n, "handlers");
	tell("ret_raises", n, 0, 0, 0);
	tell("ret_value", n, 0, 0, 0);
}

/* The process ends inside. */
PROBED void ret_last()
{
	tell("ret_last", 0, 0, 0, 1);
	std::fflush(stdout);
	std::exit(0);
}

PROBED long ret_waits()
{
	char byte = 0;
	long n = read(0, &byte, 1);

	return n == 1 ? byte : -1;
}

/* Until the input ends: a byte a call. */
static void waits()
{
	long c, sum = 0;

	std::puts("waiting");
	std::fflush(stdout);
	while ((c = ret_waits()) >= 0)
		sum += c;
	std::printf("sum %ld\n", sum);
}

__attribute__((noipa)) static void overwrite()
{
	volatile char stack[4096];

	for (volatile char &c : stack)
		c = 1;
}

/* A call that is over, and nothing of it on the stack any more. */
static void stale()
{
	if (!setjmp(out))
		ret_inner(1);
	overwrite();
	waits();
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "all";
	bool all = !std::strcmp(mode, "all");
	int n = argc > 2 ? std::atoi(argv[2]) : 1000;
	static const struct {
		const char *name;
		void (*run)(int n);
	} modes[] = {
		{ "values", values },
		{ "deep", deep },
		{ "jumps", jumps },
		{ "throws", throws },
		{ "threads", threads },
		{ "coroutines", [](int) { coroutines(); } },
		{ "tails", tails },
		{ "forks", [](int) { forks(); } },
		{ "signals", signals },
	};

	for (const auto &m : modes)
		if (all || !std::strcmp(mode, m.name))
			m.run(n);
	if (!std::strcmp(mode, "waits"))
		waits();
	if (!std::strcmp(mode, "stale"))
		stale();
	if (all || !std::strcmp(mode, "last"))
		ret_last();
	return 0;
}
