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
#include <sys/time.h>
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

/* @tail: it has jumped to where nobody could see from outside */
static void tell(const char *name, int returned, int tail, int unwound,
		 int abandoned, int inside)
{
	std::printf("%s %d %d %d %d %d %d\n", name,
		    returned + tail + unwound + abandoned + inside, returned,
		    tail, unwound, abandoned, inside);
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

PROBED unsigned long ret_odd(unsigned long n);

PROBED unsigned long ret_even(unsigned long n)
{
	if (!n)
		return 17;
	return ret_odd(n - 1);
}

PROBED unsigned long ret_odd(unsigned long n)
{
	if (!n)
		return 18;
	return ret_even(n - 1);
}

/* Through a chain of functions of which only this one is followed by name */
extern "C" __attribute__((noipa)) unsigned long chain_last(unsigned long i)
{
	return i % 3 ? i * 5 : 2;
}

extern "C" __attribute__((noipa)) unsigned long chain_middle(unsigned long i)
{
	if (i % 5 == 0)
		return 1;
	return chain_last(i + 1);
}

PROBED unsigned long ret_chain(unsigned long i)
{
	return chain_middle(i * 2);
}

static unsigned long chained(unsigned long i)
{
	return i * 2 % 5 ? (i * 2 + 1) % 3 ? (i * 2 + 1) * 5 : 2 : 1;
}

PROBED long ret_elsewhere(const char *text)
{
	return std::atol(text);
}

static unsigned long (*volatile anywhere)(unsigned long) = chain_last;

PROBED unsigned long ret_pointer(unsigned long i)
{
	return anywhere(i);
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
	tell("ret_value", n, 0, 0, 0, 0);
}

static void deep(int n)
{
	expect(ret_deep(n) == (long)n * (n + 1) / 2, "a sum");
	tell("ret_deep", n + 1, 0, 0, 0, 0);
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
	tell("ret_inner", n - n / 2, 0, 0, n / 2, 0);
	tell("ret_outer", n - n / 2, 0, 0, n / 2, 0);
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
	tell("ret_thrower", n - caught, 0, caught, 0, 0);
	tell("ret_between", n - caught, 0, caught, 0, 0);
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
	tell("ret_value", 4 * n, 0, 0, 0, 0);
	tell("ret_deep", 16 * n, 0, 0, 0, 0);
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
	tell("ret_coroutine", 1998, 0, 0, 0, 2);
}

static void tails(int n)
{
	for (int i = 0; i < n; i++)
		expect(ret_tail(i) == (i % 4 ? 3ul * i + 4 : 7), "a tail");
	tell("ret_tail", n, 0, 0, 0, 0);
	tell("ret_value", n - (n + 3) / 4, 0, 0, 0, 0);
}

/* Between followed functions, and back to the first of them */
static void mutual(int n)
{
	for (int i = 0; i < n; i++)
		expect(ret_even(10) == 17, "a mutual tail");
	tell("ret_even", n, 5 * n, 0, 0, 0);
	tell("ret_odd", n, 4 * n, 0, 0, 0);
}

static void chains(int n)
{
	for (int i = 0; i < n; i++)
		expect(ret_chain(i) == chained(i), "a chain");
	tell("ret_chain", n, 0, 0, 0, 0);
}

/* Seen to return if the linker had bound the name before. */
static void elsewhere(int n)
{
	bool bound = std::getenv("LD_BIND_NOW");

	for (int i = 0; i < n; i++)
		expect(ret_elsewhere("-12") == -12, "a tail elsewhere");
	tell("ret_elsewhere", bound ? n : 0, bound ? 0 : n, 0, 0, 0);
}

static void pointers(int n)
{
	for (int i = 0; i < n; i++)
		expect(ret_pointer(3) == 2, "a pointer");
	tell("ret_pointer", 0, n, 0, 0, 0);
}

/* How threads end */
static bool destroyed;
struct guard {
	~guard()
	{
		destroyed = ret_value(2) == 7;
	}
};

PROBED void ret_quits(int depth)
{
	guard g;

	if (depth)
		ret_quits(depth - 1);
	else
		pthread_exit(NULL);
	__asm__("");
}

PROBED void ret_sleeps(int depth)
{
	guard g;

	if (depth)
		ret_sleeps(depth - 1);
	else
		for (;;)
			pause();
	__asm__("");
}

static void *quitter(void *)
{
	ret_quits(3);
	return NULL;
}

static void *sleeper(void *)
{
	ret_sleeps(2);
	return NULL;
}

static void quits(int n)
{
	pthread_t t;

	for (int i = 0; i < n; i++) {
		destroyed = false;
		pthread_create(&t, NULL, quitter, NULL);
		pthread_join(t, NULL);
		expect(destroyed, "destructors of a thread that quits");
	}
	tell("ret_quits", 0, 0, 4 * n, 0, 0);
	tell("ret_value", 4 * n, 0, 0, 0, 0);
}

static void cancels(int n)
{
	pthread_t t;

	for (int i = 0; i < n; i++) {
		destroyed = false;
		pthread_create(&t, NULL, sleeper, NULL);
		usleep(1000);
		pthread_cancel(t);
		pthread_join(t, NULL);
		/* It may not have come so far. */
	}
}

PROBED long ret_deeper(long n)
{
	volatile long mine = n;

	return n ? ret_deeper(n - 1) + mine : 0;
}

static long deeper_depth;

static void *deeper_thread(void *)
{
	expect(ret_deeper(deeper_depth) ==
		       deeper_depth * (deeper_depth + 1) / 2,
	       "a deeper sum");
	return NULL;
}

/* Four threads at once, @n frames each; a line a round until the input ends */
static void deeper(int n)
{
	pthread_attr_t attr;
	pthread_t t[4];
	char byte;

	deeper_depth = n;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64u * (unsigned)n + (1u << 20));
	do {
		for (pthread_t &p : t)
			if (pthread_create(&p, &attr, deeper_thread, NULL))
				std::exit(1);
		for (pthread_t p : t)
			pthread_join(p, NULL);
		std::printf("round %d\n", 4 * (n + 1));
		std::fflush(stdout);
	} while (read(0, &byte, 1) == 1);
}

/* A handler that leaves whatever it has interrupted, very often */
static sigjmp_buf home;

static void leave_for_good(int)
{
	siglongjmp(home, 1);
}

PROBED unsigned long ret_short(unsigned long i)
{
	return i ^ 5;
}

PROBED unsigned long ret_nested(unsigned long i)
{
	return ret_short(i) + ret_short(i + 1);
}

static void leaves(int n)
{
	struct itimerval often = { { 0, 50 }, { 0, 50 } };
	struct itimerval never = {};
	static volatile int left;
	struct sigaction sa = {};
	char byte;

	sa.sa_handler = leave_for_good;
	sigaction(SIGALRM, &sa, NULL);
	if (sigsetjmp(home, 1))
		left++;
	else
		setitimer(ITIMER_REAL, &often, NULL);
	for (unsigned long i = 0; left < n; i++)
		expect(ret_nested(i) == (i ^ 5) + ((i + 1) ^ 5),
		       "what is nested");
	setitimer(ITIMER_REAL, &never, NULL);
	std::puts("left");
	std::fflush(stdout);
	/* And then in peace, when it is told to. */
	if (read(0, &byte, 1) == 1)
		values(1000);
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
	tell("ret_forks", 20, 0, 0, 0, 0);
	tell("ret_vforks", 20, 0, 0, 0, 0);
	tell("ret_value", 0, 0, 0, 0, 0);
	tell("ret_deep", 0, 0, 0, 0, 0);
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
	tell("ret_raises", n, 0, 0, 0, 0);
	tell("ret_value", n, 0, 0, 0, 0);
}

/* The process ends inside. */
PROBED void ret_last()
{
	tell("ret_last", 0, 0, 0, 0, 1);
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
		{ "mutual", mutual },
		{ "chains", chains },
		{ "elsewhere", elsewhere },
		{ "pointers", pointers },
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
	if (!std::strcmp(mode, "quits"))
		quits(n);
	if (!std::strcmp(mode, "cancels"))
		cancels(n);
	if (!std::strcmp(mode, "deeper"))
		deeper(n);
	if (!std::strcmp(mode, "leaves"))
		leaves(n);
	if (all || !std::strcmp(mode, "last"))
		ret_last();
	return 0;
}
