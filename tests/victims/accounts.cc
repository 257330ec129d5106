// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * accounts: many calls in many threads, left in every way. Each thread counts how its functions were
 * entered and left, and the sums are printed: what a probe has to see, to the unit.
 *
 *     accounts MODE THREADS TURNS
 */
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

/* Apart, so that jumps of any kind have room. */
#define PROBED extern "C" __attribute__((noipa, aligned(64)))
#define SMALL_STACK 16384
#define ROUTINES 64

enum function {
	LEAF,
	NESTED,
	DEEP,
	TAIL,
	ONWARD,
	THROWER,
	BETWEEN,
	JUMPER,
	UNDER,
	YIELDS,
	RAISES,
	QUITS,
	WORKS,
	FUNCTIONS,
};

static const char *const names[FUNCTIONS] = {
	"leaf",	  "nested", "deep",   "tail",	"onward", "thrower", "between",
	"jumper", "under",  "yields", "raises", "quits",  "works",
};

/* How calls of a function have ended */
struct ends {
	long returned, tail, unwound, left;
};

static __thread struct ends mine[FUNCTIONS];
static struct ends all[FUNCTIONS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void expect(bool is, const char *what)
{
	if (is)
		return;
	std::printf("WRONG: %s\n", what);
	std::exit(1);
}

static void hand_in()
{
	pthread_mutex_lock(&lock);
	for (int f = 0; f < FUNCTIONS; f++) {
		all[f].returned += mine[f].returned;
		all[f].tail += mine[f].tail;
		all[f].unwound += mine[f].unwound;
		all[f].left += mine[f].left;
		mine[f] = {};
	}
	pthread_mutex_unlock(&lock);
}

static void print_all()
{
	for (int f = 0; f < FUNCTIONS; f++) {
		const struct ends *e = &all[f];
		long entered = e->returned + e->tail + e->unwound + e->left;

		if (entered)
			std::printf("acc_%s %ld %ld %ld %ld %ld\n", names[f],
				    entered, e->returned, e->tail, e->unwound,
				    e->left);
	}
}

PROBED unsigned long acc_leaf(unsigned long i)
{
	return i * 3 + 1;
}

PROBED unsigned long acc_nested(unsigned long i)
{
	return acc_leaf(i) ^ acc_leaf(i + 1);
}

PROBED long acc_deep(long n)
{
	volatile long own = n;

	return n ? acc_deep(n - 1) + own : 0;
}

static unsigned long (*volatile anywhere)(unsigned long) = acc_leaf;

/* A jump to where nobody could see from outside */
PROBED unsigned long acc_tail(unsigned long i)
{
	return anywhere(i + 7);
}

PROBED unsigned long acc_onward(unsigned long i)
{
	return acc_leaf(i + 8);
}

PROBED unsigned long acc_thrower(unsigned long i)
{
	if (i % 3 == 0)
		throw i;
	return i;
}

PROBED unsigned long acc_between(unsigned long i)
{
	return acc_thrower(i) + 1;
}

/* As short as functions are that do something */
PROBED unsigned long acc_works(unsigned long i)
{
	for (int n = 0; n < 6; n++)
		i = i * 6364136223846793005ul + 1442695040888963407ul;
	return i | 1;
}

static __thread jmp_buf out;

PROBED unsigned long acc_jumper(unsigned long i)
{
	volatile unsigned long own = i;

	if (i % 3 == 0)
		longjmp(out, 1);
	return i ^ own ^ i;
}

/* @depth: so many frames between */
PROBED unsigned long acc_under(unsigned long i, int depth)
{
	volatile unsigned long own = depth ? 1 : 0;

	return (depth ? acc_under(i, depth - 1) : acc_jumper(i)) + own;
}

/* Plain: calls that return. */
static void calls(unsigned long i)
{
	expect(acc_leaf(i) == i * 3 + 1, "a leaf");
	expect(acc_nested(i) == ((i * 3 + 1) ^ (i * 3 + 4)), "what is nested");
	expect(acc_tail(i) == (i + 7) * 3 + 1, "a tail");
	expect(acc_onward(i) == (i + 8) * 3 + 1, "another tail");
	expect(acc_deep(3) == 6, "a sum");
	mine[LEAF].returned += 5;
	mine[NESTED].returned++;
	mine[TAIL].tail++;
	mine[ONWARD].tail++;
	mine[DEEP].returned += 4;
}

static void throws(unsigned long i)
{
	bool caught = false;

	try {
		expect(acc_between(i) == i + 1, "no throw");
	} catch (unsigned long what) {
		expect(what == i, "what was thrown");
		caught = true;
	}
	expect(caught == (i % 3 == 0), "throws");
	(caught ? mine[THROWER].unwound : mine[THROWER].returned)++;
	(caught ? mine[BETWEEN].unwound : mine[BETWEEN].returned)++;
}

/* From another depth each time, so that other calls come to the slots of those that were left. */
static void jumps(unsigned long i)
{
	volatile bool jumped = false;
	const int depth = (int)(i % 5);

	if (setjmp(out))
		jumped = true;
	else
		expect(acc_under(i, depth) == i + (unsigned long)depth,
		       "no jump");
	expect(jumped == (i % 3 == 0), "jumps");
	(jumped ? mine[JUMPER].left : mine[JUMPER].returned)++;
	(jumped ? mine[UNDER].left : mine[UNDER].returned) += depth + 1;
	expect(acc_leaf(i) == i * 3 + 1, "a leaf after a jump");
	mine[LEAF].returned++;
}

/* Of 250 calls one is left, deep or not so deep; the others return. */
static void abandons(unsigned long i)
{
	const int depth = (int)(i % 5);
	unsigned long n, sum = 0;

	if (!setjmp(out))
		acc_under(i * 3, depth);
	mine[JUMPER].left++;
	mine[UNDER].left += depth + 1;
	for (n = 0; n < 244 - (unsigned long)depth; n++)
		sum += acc_works(n);
	expect(sum, "a sum of works");
	mine[WORKS].returned += (long)n;
	acc_nested(i);
	mine[NESTED].returned++;
	mine[LEAF].returned += 2;
}

/* Coroutines: of one thread each */
struct routine {
	ucontext_t own, *caller;
	char *stack;
	long left;
	bool ended;
};

/* Suspended in the middle */
PROBED long acc_yields(struct routine *r, long depth)
{
	volatile long own = depth;

	if (depth)
		return acc_yields(r, depth - 1) + own;
	swapcontext(&r->own, r->caller);
	return own;
}

static void body(unsigned high, unsigned low)
{
	struct routine *r = (struct routine *)((unsigned long)high << 32 | low);

	while (r->left--)
		expect(acc_yields(r, 3) == 6, "a coroutine's sum");
	r->ended = true;
	swapcontext(&r->own, r->caller);
}

static void make(struct routine *r, size_t stack, long turns)
{
	unsigned long at = (unsigned long)r;

	*r = {};
	r->left = turns;
	r->stack = (char *)mmap(NULL, stack, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	expect(r->stack != MAP_FAILED, "room for a stack");
	getcontext(&r->own);
	r->own.uc_stack.ss_sp = r->stack;
	r->own.uc_stack.ss_size = stack;
	makecontext(&r->own, (void (*)())body, 2, (unsigned)(at >> 32),
		    (unsigned)at);
}

static void resume(struct routine *r)
{
	ucontext_t here;

	r->caller = &here;
	swapcontext(&here, &r->own);
}

/* All of them in turns. Each third is left inside, and its stack goes. */
static void coroutines(unsigned long i)
{
	struct routine *r = new struct routine[ROUTINES];

	for (int n = 0; n < ROUTINES; n++)
		make(&r[n], SMALL_STACK, 3);
	for (int turn = 0; turn < 4; turn++)
		for (int n = 0; n < ROUTINES; n++)
			if (turn < 3 || n % 3)
				resume(&r[(n * 7) % ROUTINES]);
	for (int n = 0; n < ROUTINES; n++) {
		bool ended = r[(n * 7) % ROUTINES].ended;

		expect(ended == (n % 3 != 0), "ends of coroutines");
		mine[YIELDS].returned += 4 * (ended ? 3 : 2);
		mine[YIELDS].left += ended ? 0 : 4;
	}
	for (int n = 0; n < ROUTINES; n++)
		munmap(r[n].stack, SMALL_STACK);
	delete[] r;
	calls(i);
}

/* One at a time, on a stack of its own that comes and goes. */
static void stacks(unsigned long i)
{
	struct routine r;
	long times = (long)(i % 3) + 1;
	bool leave = i % 5 == 0;

	make(&r, SMALL_STACK * (1 + i % 7), times);
	for (long n = 0; n < times + !leave; n++)
		resume(&r);
	expect(r.ended == !leave, "the end of a coroutine");
	mine[YIELDS].returned += 4 * (times - leave);
	mine[YIELDS].left += leave ? 4 : 0;
	munmap(r.stack, SMALL_STACK * (1 + i % 7));
}

/* Signals that a thread sends to itself */
static __thread sigjmp_buf home;
static __thread volatile bool goes;

static void on_signal(int)
{
	expect(acc_nested(5) == ((5 * 3 + 1) ^ (6 * 3 + 1)),
	       "a call in a handler");
	mine[NESTED].returned++;
	mine[LEAF].returned += 2;
	if (goes)
		siglongjmp(home, 1);
}

PROBED int acc_raises(int sig)
{
	pthread_kill(pthread_self(), sig);
	return sig;
}

static void signals(unsigned long i)
{
	volatile bool left = false;

	goes = i % 3 == 0;
	if (sigsetjmp(home, 1))
		left = true;
	else
		expect(acc_raises(SIGUSR1) == SIGUSR1, "a signal");
	expect(left == (i % 3 == 0), "siglongjmp");
	(left ? mine[RAISES].left : mine[RAISES].returned)++;
	calls(i);
}

/* Threads that end inside */
PROBED void acc_quits(int depth)
{
	if (depth)
		acc_quits(depth - 1);
	else
		pthread_exit(NULL);
	__asm__("");
}

static void *quitter(void *arg)
{
	unsigned long i = (unsigned long)arg;

	calls(i);
	throws(i);
	jumps(i);
	mine[QUITS].unwound += 4;
	hand_in();
	acc_quits(3);
	return NULL;
}

static void brief(unsigned long i)
{
	pthread_t t;

	expect(!pthread_create(&t, NULL, quitter, (void *)i), "a thread");
	pthread_join(t, NULL);
}

/* Each of them, those that take long the more seldom */
static void mixed(unsigned long i)
{
	calls(i);
	jumps(i);
	if (i % 16 == 1)
		throws(i / 16);
	if (i % 16 == 2)
		signals(i / 16);
	if (i % 64 == 3)
		stacks(i / 64);
	if (i % 1024 == 4)
		coroutines(i);
	if (i % 256 == 5)
		brief(i / 256);
}

static void (*turn)(unsigned long i);
static unsigned long turns;

static void *thread(void *)
{
	for (unsigned long i = 0; i < turns; i++)
		turn(i);
	hand_in();
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*turn)(unsigned long i);
	} modes[] = {
		{ "calls", calls },	      { "throws", throws },
		{ "jumps", jumps },	      { "abandons", abandons },
		{ "coroutines", coroutines }, { "stacks", stacks },
		{ "signals", signals },	      { "brief", brief },
		{ "mixed", mixed },
	};
	int nr = argc == 4 ? std::atoi(argv[2]) : 0;
	pthread_t *t = new pthread_t[nr];

	for (const auto &m : modes)
		if (argc == 4 && !std::strcmp(argv[1], m.name))
			turn = m.turn;
	expect(turn, "usage: accounts MODE THREADS TURNS");
	turns = std::strtoul(argv[3], NULL, 10);
	std::signal(SIGUSR1, on_signal);
	for (int i = 0; i < nr; i++)
		expect(!pthread_create(&t[i], NULL, thread, NULL), "a thread");
	for (int i = 0; i < nr; i++)
		pthread_join(t[i], NULL);
	print_all();
	return 0;
}
