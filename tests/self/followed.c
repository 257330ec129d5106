// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * followed: handlers that detours call themselves, beside all that can befall them: threads, signals,
 * jumps out of them, children, faults, recursion, other probes, and their removal.
 */
#include "tests/self/self.h"
#include <sys/time.h>

#define ALT_SIZE 65536
#define NOPROBE __attribute__((noinline, noclone, noipa))

NOPROBE static long first(long a)
{
	__asm__ volatile("" : "+r"(a));
	return a * 3 + 1;
}

NOPROBE static long second(long a)
{
	__asm__ volatile("" : "+r"(a));
	return a * 5 + 2;
}

static volatile long runs;
static _Thread_local volatile long mine;
static volatile unsigned long seen[8];

static int counts(struct kprobe *p, struct pt_regs *regs)
{
	__atomic_fetch_add(&runs, 1, __ATOMIC_RELAXED);
	return 0;
}

/* --- what it sees, and changes --- */

static int looks(struct kprobe *p, struct pt_regs *regs)
{
	seen[0] = regs->di;
	seen[1] = regs->sp;
	seen[2] = regs->ip;
	seen[3] = (unsigned long)p;
	seen[4] = regs->bx;
	seen[5] = regs->r15;
	return 0;
}

static int changes(struct kprobe *p, struct pt_regs *regs)
{
	regs->di = regs->di + 100;
	regs->r14 ^= 1;
	return 0;
}

/* Calls first(2) with these registers; r[0] is the stack pointer at its first instruction. */
static void call_with(unsigned long *r)
{
	__asm__ volatile("push %%rbx\n push %%rbp\n push %%r12\n push %%r13\n"
			 "push %%r14\n push %%r15\n push %0\n"
			 "mov 8(%0), %%rbx\n mov 16(%0), %%r15\n"
			 "mov 24(%0), %%r14\n mov 32(%0), %%rbp\n"
			 "lea -8(%%rsp), %%rax\n mov %%rax, (%0)\n"
			 "mov $2, %%edi\n call *%1\n"
			 "pop %%rcx\n mov %%rax, 40(%%rcx)\n"
			 "mov %%rbx, 8(%%rcx)\n mov %%r15, 16(%%rcx)\n"
			 "mov %%r14, 24(%%rcx)\n mov %%rbp, 32(%%rcx)\n"
			 "pop %%r15\n pop %%r14\n pop %%r13\n pop %%r12\n"
			 "pop %%rbp\n pop %%rbx\n"
			 : "+c"(r)
			 : "d"(first)
			 : "rax", "rsi", "rdi", "r8", "r9", "r10", "r11",
			   "memory", "cc");
}

static int registers(void *arg)
{
	struct kprobe p = { .addr = (void *)first, .pre_handler = looks };
	struct kprobe q = { .addr = (void *)first, .pre_handler = changes };
	unsigned long r[6] = { 0, 11, 22, 33, 44, 0 };

	EXPECT(!register_kprobe(&p));
	call_with(r);
	EXPECT(r[5] == 7 && r[1] == 11 && r[2] == 22 && r[3] == 33 &&
	       r[4] == 44);
	EXPECT(seen[0] == 2 && seen[1] == r[0] && seen[4] == 11 &&
	       seen[5] == 22);
	EXPECT(seen[2] == (unsigned long)first + 1);
	EXPECT(seen[3] == (unsigned long)&p);
	unregister_kprobe(&p);
	/* Another handler at the site, which touches others */
	EXPECT(!register_kprobe(&q));
	call_with(r);
	EXPECT(r[5] == 307 && r[1] == 11 && r[2] == 22 && r[3] == 32 &&
	       r[4] == 44);
	unregister_kprobe(&q);
	EXPECT(!register_kprobe(&p));
	seen[5] = 0;
	call_with(r);
	EXPECT(r[5] == 7 && seen[5] == 22 && r[3] == 32);
	return 0;
}

/* --- more probes, and fewer, at a live site --- */

static int full(struct kprobe *p, struct pt_regs *regs)
{
	__atomic_fetch_add(&runs, 1000, __ATOMIC_RELAXED);
	seen[6] = regs->flags;
	return 0;
}

static int others(void *arg)
{
	struct kprobe p = { .addr = (void *)first, .pre_handler = counts };
	struct kprobe q = { .addr = (void *)first, .pre_handler = full };
	struct kprobe n = { .addr = (void *)first };
	struct kretprobe r = { .kp.addr = (void *)first };

	EXPECT(!register_kprobe(&p) && first(1) == 4 && runs == 1);
	EXPECT(!register_kprobe(&q) && first(1) == 4 && runs == 1002);
	EXPECT(!register_kprobe(&n) && first(1) == 4 && runs == 2003);
	disable_kprobe(&q);
	EXPECT(first(1) == 4 && runs == 2004);
	unregister_kprobe(&n);
	EXPECT(first(1) == 4 && runs == 2005);
	enable_kprobe(&q);
	unregister_kprobe(&p);
	EXPECT(first(1) == 4 && runs == 3005);
	unregister_kprobe(&q);
	EXPECT(first(1) == 4 && runs == 3005);
	EXPECT(!register_kretprobe(&r) && !register_kprobe(&p));
	EXPECT(first(1) == 4 && runs == 3006);
	unregister_kretprobe(&r);
	EXPECT(first(1) == 4 && runs == 3007);
	EXPECT(dp_kprobe_hits(&p) == 2);
	return 0;
}

/* --- recursion, and a signal in a handler --- */

static int calls(struct kprobe *p, struct pt_regs *regs)
{
	runs++;
	mine = second((long)regs->di);
	return 0;
}

static int recursion(void *arg)
{
	struct kprobe a = { .addr = (void *)first, .pre_handler = calls };
	struct kprobe b = { .addr = (void *)second, .pre_handler = counts };
	long i;

	EXPECT(!register_kprobe(&a) && !register_kprobe(&b));
	for (i = 0; i < 1000; i++)
		EXPECT(first(i) == i * 3 + 1 && mine == i * 5 + 2);
	EXPECT(runs == 1000 && b.nmissed == 1000 && !a.nmissed);
	EXPECT(dp_kprobe_hits(&a) == 1000 && !dp_kprobe_hits(&b));
	return 0;
}

/* --- jumps out of it, by a fault's handler of the program's, and on the alternate stack --- */

static sigjmp_buf back;
static volatile bool spins;

static int waits(struct kprobe *p, struct pt_regs *regs)
{
	runs++;
	while (spins)
		__asm__ volatile("pause");
	return 0;
}

static void jumps_out(int sig)
{
	spins = false;
	siglongjmp(back, 1);
}

static void ends_it(int sig)
{
	mine = second(7);
	spins = false;
}

/* At a breakpoint signals wait until the handler is over. */
static int leave(bool alternate)
{
	struct kprobe a = { .addr = (void *)first, .pre_handler = waits };
	struct kprobe b = { .addr = (void *)second, .pre_handler = counts };
	struct sigaction act = { .sa_handler = jumps_out,
				 .sa_flags = alternate ? SA_ONSTACK : 0 };
	stack_t ss = { .ss_sp = malloc(ALT_SIZE), .ss_size = ALT_SIZE };
	struct itimerval t = { .it_value = { 0, 20000 } };
	long i;

	EXPECT(!sigaltstack(&ss, NULL));
	EXPECT(!sigaction(SIGALRM, &act, NULL));
	EXPECT(!register_kprobe(&a) && !register_kprobe(&b));
	if (!(a.flags & KPROBE_FLAG_OPTIMIZED))
		return CANNOT;
	for (i = 0; i < 5; i++) {
		spins = true;
		setitimer(ITIMER_REAL, &t, NULL);
		if (!sigsetjmp(back, 1))
			first(1);
		EXPECT(!spins);
		EXPECT(first(2) == 7 && second(1) == 7);
	}
	EXPECT(!a.nmissed && !b.nmissed && runs == 15);
	/* One that returns: its hit is one in a handler. */
	act.sa_handler = ends_it;
	EXPECT(!sigaction(SIGALRM, &act, NULL));
	spins = true;
	setitimer(ITIMER_REAL, &t, NULL);
	EXPECT(first(1) == 4 && mine == 37);
	EXPECT(b.nmissed == 1 && runs == 16);
	unregister_kprobe(&a);
	unregister_kprobe(&b);
	return 0;
}

static int leaves(void *arg)
{
	return leave(false);
}

static int leaves_alternate(void *arg)
{
	return leave(true);
}

/* A hit on the alternate stack */
static void hits(int sig)
{
	mine = first(3);
}

static int alternate(void *arg)
{
	struct kprobe a = { .addr = (void *)first, .pre_handler = counts };
	struct sigaction act = { .sa_handler = hits, .sa_flags = SA_ONSTACK };
	stack_t ss = { .ss_sp = malloc(ALT_SIZE), .ss_size = ALT_SIZE };
	int i;

	EXPECT(!register_kprobe(&a));
	first(1);
	EXPECT(!sigaltstack(&ss, NULL) && !sigaction(SIGUSR1, &act, NULL));
	for (i = 0; i < 100; i++) {
		raise(SIGUSR1);
		EXPECT(mine == 10);
		mine = 0;
	}
	EXPECT(runs == 101 && !a.nmissed && dp_kprobe_hits(&a) == 101);
	return 0;
}

/* --- faults --- */

static int reads(struct kprobe *p, struct pt_regs *regs)
{
	unsigned long at = regs->si;

	runs++;
	__asm__ volatile("mov (%0), %0" : "+a"(at));
	seen[0] = at;
	regs->di = 50;
	return 0;
}

static int mends(struct kprobe *p, struct pt_regs *regs, int trap)
{
	static unsigned long word = 77;

	regs->ax = (unsigned long)&word;
	return 1;
}

NOPROBE static long pair(long a, long *b)
{
	__asm__ volatile("" : "+r"(a));
	return a * 3 + (b != NULL);
}

static int faults(void *arg)
{
	struct kprobe a = { .addr = (void *)pair, .pre_handler = reads };
	struct kprobe b = { .addr = (void *)pair,
			    .pre_handler = reads,
			    .fault_handler = mends };
	long word = 5;

	EXPECT(!register_kprobe(&a));
	EXPECT(pair(1, &word) == 151 && seen[0] == 5);
	EXPECT(pair(1, NULL) == 3 && runs == 2);
	/* It has been given up. */
	EXPECT(pair(1, &word) == 4 && runs == 2);
	unregister_kprobe(&a);
	a.flags = 0;
	EXPECT(!register_kprobe(&a));
	EXPECT(pair(1, &word) == 151 && runs == 3);
	unregister_kprobe(&a);
	EXPECT(!register_kprobe(&b));
	EXPECT(pair(1, NULL) == 150 && seen[0] == 77 && runs == 4);
	EXPECT(pair(1, &word) == 151 && runs == 5);
	return 0;
}

/* --- children --- */

static int idle(void *arg)
{
	_exit(first(1) == 4 ? (int)(runs & 127) : 120);
}

static int children(void *arg)
{
	static char stack[65536] __attribute__((aligned(16)));
	struct kprobe a = { .addr = (void *)first, .pre_handler = counts };
	int status, i;
	pid_t pid;

	EXPECT(!register_kprobe(&a));
	first(1);
	for (i = 0; i < 20; i++) {
		pid = i & 1 ? vfork() : fork();
		if (!pid)
			_exit(first(1) == 4 && runs == i + 1 ? 0 : 1);
		EXPECT(waitpid(pid, &status, 0) == pid && !status);
		EXPECT(first(2) == 7 && runs == i + 2);
	}
	pid = clone(idle, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
	EXPECT(pid > 0 && waitpid(pid, &status, 0) == pid);
	EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 21);
	EXPECT(first(2) == 7 && runs == 22);
	EXPECT(dp_kprobe_hits(&a) == 22 && !a.nmissed);
	return 0;
}

/* --- unregistering waits for it --- */

static volatile bool inside, over;

static int stays(struct kprobe *p, struct pt_regs *regs)
{
	inside = true;
	while (spins)
		__asm__ volatile("pause");
	over = true;
	return 0;
}

static void *hit_once(void *arg)
{
	return (void *)first(1);
}

static void *let_go(void *arg)
{
	usleep(50000);
	spins = false;
	return NULL;
}

static int waited_for(void *arg)
{
	struct kprobe a = { .addr = (void *)first, .pre_handler = stays };
	pthread_t t, u;
	void *result;
	int i;

	for (i = 0; i < 3; i++) {
		inside = over = false;
		spins = true;
		EXPECT(!register_kprobe(&a));
		EXPECT(!pthread_create(&t, NULL, hit_once, NULL));
		while (!inside)
			usleep(100);
		EXPECT(!pthread_create(&u, NULL, let_go, NULL));
		unregister_kprobe(&a);
		EXPECT(over);
		EXPECT(!pthread_join(u, NULL) && !pthread_join(t, &result));
		EXPECT(result == (void *)4);
		a.addr = (void *)first;
	}
	return 0;
}

/* --- threads, signals, and probes that come, go and change --- */

#define THREADS 4

static volatile bool stop;
static unsigned long made[THREADS], signalled[THREADS];
static _Thread_local int number = -1;

static void on_signal(int sig)
{
	if (number < 0)
		return;
	if (first(sig) != sig * 3 + 1)
		abort();
	signalled[number]++;
}

static void *worker(void *arg)
{
	unsigned long n = 0;
	long i = 0;

	number = (int)(long)arg;
	while (!stop) {
		i = (i + 1) & 0xffff;
		if (first(i) != i * 3 + 1)
			abort();
		n++;
	}
	made[number] = n;
	return NULL;
}

/* Each hit is one of a call, whatever comes between; each of its handlers has run, or is missed. */
static int exact(void *arg)
{
	struct kprobe a = { .addr = (void *)first, .pre_handler = counts };
	struct sigaction act = { .sa_handler = on_signal,
				 .sa_flags = SA_RESTART };
	struct itimerval t = { .it_value = { 0, 200 },
			       .it_interval = { 0, 200 } };
	struct itimerval none = { 0 };
	double end = seconds() + (double)amount("SECONDS", 2);
	unsigned long all = 0;
	cpu_set_t set;
	pthread_t th[THREADS];
	long i;

	EXPECT(!sigaction(SIGALRM, &act, NULL));
	EXPECT(!register_kprobe(&a));
	for (i = 0; i < THREADS; i++)
		EXPECT(!pthread_create(&th[i], NULL, worker, (void *)i));
	setitimer(ITIMER_REAL, &t, NULL);
	for (i = 0; seconds() < end; i++) {
		CPU_ZERO(&set);
		CPU_SET((int)i & 1, &set);
		pthread_setaffinity_np(th[i % THREADS], sizeof(set), &set);
		usleep(300);
	}
	setitimer(ITIMER_REAL, &none, NULL);
	stop = true;
	for (i = 0; i < THREADS; i++) {
		EXPECT(!pthread_join(th[i], NULL));
		all += made[i] + signalled[i];
	}
	EXPECT(dp_kprobe_hits(&a) + a.nmissed == all);
	EXPECT((unsigned long)runs == dp_kprobe_hits(&a));
	return 0;
}

static int (*const handlers[])(struct kprobe *, struct pt_regs *) = {
	counts, looks, full, changes, NULL,
};

/* With "changes" the function returns more. */
static void *checker(void *arg)
{
	long i = 0, r;

	number = (int)(long)arg;
	while (!stop) {
		i = (i + 1) & 0xffff;
		r = first(i);
		if (r != i * 3 + 1 && r != i * 3 + 301)
			abort();
	}
	return NULL;
}

static void on_change_signal(int sig)
{
	long r = first(sig);

	if (r != sig * 3 + 1 && r != sig * 3 + 301)
		abort();
}

static int coming_and_going(void *arg)
{
	struct kprobe p[2] = { { .addr = NULL } };
	struct sigaction act = { .sa_handler = on_change_signal,
				 .sa_flags = SA_RESTART };
	struct itimerval t = { .it_value = { 0, 300 },
			       .it_interval = { 0, 300 } };
	struct itimerval none = { 0 };
	double end = seconds() + (double)amount("SECONDS", 3);
	unsigned int state = (unsigned int)amount("SEED", 1);
	bool in[2] = { false, false };
	pthread_t th[THREADS];
	long i;
	int k;

	EXPECT(!sigaction(SIGALRM, &act, NULL));
	for (i = 0; i < THREADS; i++)
		EXPECT(!pthread_create(&th[i], NULL, checker, (void *)i));
	setitimer(ITIMER_REAL, &t, NULL);
	while (seconds() < end) {
		k = draw(&state) & 1;
		if (!in[k]) {
			p[k] = (struct kprobe){ .addr = (void *)first };
			p[k].pre_handler =
				handlers[draw(&state) %
					 (k ? 3 :
					      sizeof(handlers) /
							  sizeof(handlers[0]))];
			EXPECT(!register_kprobe(&p[k]));
			in[k] = true;
		} else if (draw(&state) % 3) {
			disable_kprobe(&p[k]);
			if (draw(&state) & 1)
				enable_kprobe(&p[k]);
		} else {
			unregister_kprobe(&p[k]);
			/* No handler runs any more that gets it. */
			memset(&p[k], 0x5a, sizeof(p[k]));
			in[k] = false;
		}
	}
	setitimer(ITIMER_REAL, &none, NULL);
	stop = true;
	for (i = 0; i < THREADS; i++)
		EXPECT(!pthread_join(th[i], NULL));
	return 0;
}

int main(void)
{
	ok_child(registers, NULL, 20,
		 "registers are as the handler has left them");
	ok_child(others, NULL, 20, "a site whose probes change");
	ok_child(recursion, NULL, 20, "hits in a handler are missed");
	ok_child(leaves, NULL, 20, "a signal's handler leaves it");
	ok_child(leaves_alternate, NULL, 20, "the same on the alternate stack");
	ok_child(alternate, NULL, 20, "hits on the alternate stack");
	ok_child(faults, NULL, 20, "it faults, and is given up, or mended");
	ok_child(children, NULL, 20, "no child calls it");
	ok_child(waited_for, NULL, 20, "unregistering waits for it");
	ok_child(exact, NULL, 60, "hits are calls");
	ok_child(coming_and_going, NULL, 60, "probes come, go and change");
	return plan();
}
