// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * pairs: return probes whose handlers are followed: what the program and the handlers find in
 * registers, calls within calls, more calls than instances, threads, and faults.
 *
 * CALLS: how many each of the threads makes.
 */
#include "tests/self/tap.h"
#include <pthread.h>
#include <string.h>

#define APART __attribute__((noipa))
#define THREADS 8

/* Registers by their numbers, and the flags */
enum { AX, CX, DX, BX, SP, BP, SI, DI, R8, R9, R10, R11, FLAGS = 16, REGS };
#define CARRY 1ul

/* Changes rax alone, and depends on a flag. Calls it with these registers: they are then as it leaves them. */
unsigned long pairs_function(unsigned long a);
void pairs_call(unsigned long *r);
extern char pairs_back[];

__asm__(".text\n"
	".type pairs_function, @function\n"
	"pairs_function:\n"
	"	lea	(%rdi,%rdi,2), %rax\n"
	"	adc	$1, %rax\n"
	"	ret\n"
	".size pairs_function, .-pairs_function\n"
	".type pairs_call, @function\n"
	"pairs_call:\n"
	"	push	%rbx\n	push	%rbp\n	push	%r12\n"
	"	push	%r13\n	push	%r14\n	push	%r15\n"
	"	push	%rdi\n"
	"	lea	-8(%rsp), %rax\n	mov	%rax, 32(%rdi)\n"
	"	push	128(%rdi)\n	popfq\n"
	"	mov	(%rdi), %rax\n	mov	8(%rdi), %rcx\n"
	"	mov	16(%rdi), %rdx\n	mov	24(%rdi), %rbx\n"
	"	mov	40(%rdi), %rbp\n	mov	48(%rdi), %rsi\n"
	"	mov	64(%rdi), %r8\n	mov	72(%rdi), %r9\n"
	"	mov	80(%rdi), %r10\n	mov	88(%rdi), %r11\n"
	"	mov	96(%rdi), %r12\n	mov	104(%rdi), %r13\n"
	"	mov	112(%rdi), %r14\n	mov	120(%rdi), %r15\n"
	"	mov	56(%rdi), %rdi\n"
	"	call	pairs_function\n"
	"pairs_back:\n"
	"	xchg	%rdi, (%rsp)\n"
	"	mov	%rax, (%rdi)\n	mov	%rcx, 8(%rdi)\n"
	"	mov	%rdx, 16(%rdi)\n	mov	%rbx, 24(%rdi)\n"
	"	mov	%rbp, 40(%rdi)\n	mov	%rsi, 48(%rdi)\n"
	"	mov	%r8, 64(%rdi)\n	mov	%r9, 72(%rdi)\n"
	"	mov	%r10, 80(%rdi)\n	mov	%r11, 88(%rdi)\n"
	"	mov	%r12, 96(%rdi)\n	mov	%r13, 104(%rdi)\n"
	"	mov	%r14, 112(%rdi)\n	mov	%r15, 120(%rdi)\n"
	"	pop	56(%rdi)\n"
	"	pop	%r15\n	pop	%r14\n	pop	%r13\n"
	"	pop	%r12\n	pop	%rbp\n	pop	%rbx\n"
	"	ret\n"
	".size pairs_call, .-pairs_call\n");

static volatile unsigned long seen[8];
static volatile long runs[2];
static volatile unsigned long last; /* word of the data */

static int looks(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	seen[0] = regs->di;
	seen[1] = regs->r8;
	seen[2] = ((unsigned long *)ri->data)[0] |
		  ((unsigned long *)ri->data)[last];
	((unsigned long *)ri->data)[last] = 7;
	((unsigned long *)ri->data)[0] = 7;
	runs[0]++;
	return 0;
}

static int looks_back(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	seen[3] = regs->ax;
	seen[4] = *(unsigned long *)ri->data;
	seen[5] = (unsigned long)ri->ret_addr;
	regs->ax += 1000;
	runs[1]++;
	return 0;
}

/* These read, change, and use what others do not. */
static int looks_for_more(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	seen[0] = regs->di;
	seen[1] = regs->ip;
	seen[2] = regs->sp;
	regs->r9 = regs->r10 + 1;
	__asm__ volatile("xor %%r10d, %%r10d\n xor %%r11d, %%r11d" ::
				 : "r10", "r11", "cc");
	runs[0]++;
	return 0;
}

static int looks_back_for_more(struct kretprobe_instance *ri,
			       struct pt_regs *regs)
{
	seen[3] = regs->ax;
	seen[4] = regs->ip;
	seen[5] = regs->sp;
	regs->r11 += 5;
	__asm__ volatile("xor %%r9d, %%r9d" ::: "r9", "cc");
	runs[1]++;
	return 0;
}

static int counts(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	__atomic_fetch_add(&runs[0], 1, __ATOMIC_RELAXED);
	return 0;
}

static int counts_back(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	__atomic_fetch_add(&runs[1], 1, __ATOMIC_RELAXED);
	return 0;
}

static void fill(unsigned long *r, unsigned long n)
{
	int i;

	for (i = 0; i < REGS; i++)
		r[i] = (unsigned long)i * 0x0101010101010101ul + n;
	r[DI] = n;
	r[FLAGS] = 0x202 | (n & 1 ? CARRY : 0);
}

/* What has changed besides rax is @changed, a bit for each. */
static bool same(const unsigned long *a, const unsigned long *b,
		 unsigned int changed)
{
	int i;

	for (i = CX; i < FLAGS; i++)
		if (i != SP && !(changed >> i & 1) && a[i] != b[i])
			return false;
	return true;
}

static struct dp_kretprobe_account account_of(struct kretprobe *rp)
{
	struct dp_kretprobe_account a = { 0 };

	dp_kretprobe_account(rp, &a);
	return a;
}

static bool ended(struct kretprobe *rp, unsigned long calls)
{
	struct dp_kretprobe_account a = account_of(rp);

	return dp_kprobe_hits(&rp->kp) == calls && a.entries == calls &&
	       a.returned == calls && !a.inside && !a.unwound && !a.abandoned &&
	       !a.missed;
}

#define TIMES 9

/* The first calls are not the usual ones: there is no stub yet. */
static void registers(size_t words)
{
	struct kretprobe rp = { .kp.addr = (void *)pairs_function,
				.entry_handler = looks,
				.handler = looks_back,
				.data_size = 8 * words };
	unsigned long r[REGS], was[REGS], n, good = 0, told = 0;

	last = words - 1;
	runs[0] = runs[1] = 0;
	is(register_kretprobe(&rp), 0, "handlers that are followed");
	for (n = 1; n <= TIMES; n++) {
		fill(r, n);
		memcpy(was, r, sizeof(r));
		pairs_call(r);
		good += same(r, was, 0) && r[AX] == 3 * n + 1 + n % 2 + 1000;
		told += seen[0] == n && seen[1] == was[R8] && !seen[2] &&
			seen[3] == 3 * n + 1 + n % 2 && seen[4] == 7 &&
			seen[5] == (unsigned long)pairs_back;
	}
	is((long)good, TIMES, "the program finds its registers and flags");
	is((long)told, TIMES,
	   "handlers find them, data that is clear, and change them");
	ok(ended(&rp, TIMES) && runs[0] == TIMES && runs[1] == TIMES,
	   "every call has been entered and has returned");
	unregister_kretprobe(&rp);
}

static void more_registers(void)
{
	struct kretprobe rp = { .kp.addr = (void *)pairs_function,
				.entry_handler = looks_for_more,
				.handler = looks_back_for_more };
	unsigned long r[REGS], was[REGS], n, good = 0, told = 0;

	runs[0] = runs[1] = 0;
	is(register_kretprobe(&rp), 0, "handlers that touch more");
	for (n = 1; n <= TIMES; n++) {
		fill(r, n);
		memcpy(was, r, sizeof(r));
		pairs_call(r);
		good += same(r, was, 1u << R9 | 1u << R11) &&
			r[AX] == 3 * n + 1 + n % 2 && r[R9] == was[R10] + 1 &&
			r[R11] == was[R11] + 5;
		told += seen[0] == n &&
			seen[1] == (unsigned long)pairs_function + 1 &&
			seen[2] == r[SP] && seen[3] == 3 * n + 1 + n % 2 &&
			seen[4] == (unsigned long)pairs_back &&
			seen[5] == r[SP] + 8;
	}
	is((long)good, TIMES, "the program finds its registers and flags");
	is((long)told, TIMES, "handlers find ip and sp, too");
	ok(ended(&rp, TIMES) && runs[0] == TIMES && runs[1] == TIMES,
	   "every call has been entered and has returned");
	unregister_kretprobe(&rp);
}

static APART long down(long n)
{
	long sum = n ? down(n - 1) + 1 : 0;

	__asm__ volatile("" : "+r"(sum));
	return sum;
}

static APART long leaf(long n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 2;
}

static APART long around(long n)
{
	return leaf(n) + leaf(n) + 1;
}

static void calls_within_calls(void)
{
	struct kretprobe rp = { .kp.addr = (void *)down,
				.entry_handler = counts,
				.handler = counts_back,
				.maxactive = 4 };
	struct kretprobe of_leaf = rp, of_around = rp;
	struct dp_kretprobe_account a;
	long i, sum = 0;

	runs[0] = runs[1] = 0;
	register_kretprobe(&rp);
	for (i = 0; i < 100; i++)
		sum += down(i % 10);
	a = account_of(&rp);
	is(sum, 450, "calls within calls");
	/* Of calls 1 to 10 deep, ten times: all but those deeper than 4. */
	is((long)a.entries, 10 * (1 + 2 + 3 + 7 * 4),
	   "as many as there are instances for");
	is(rp.nmissed, 10 * (1 + 2 + 3 + 4 + 5 + 6), "the others are missed");
	ok(a.returned == a.entries && !a.inside && runs[0] == (long)a.entries &&
		   runs[1] == (long)a.entries,
	   "all that were entered have returned");
	unregister_kretprobe(&rp);
	of_leaf.kp.addr = (void *)leaf;
	of_around.kp.addr = (void *)around;
	register_kretprobe(&of_leaf);
	register_kretprobe(&of_around);
	for (i = sum = 0; i < 100; i++)
		sum += around(i);
	is(sum, 100 * 99 + 500, "calls of two functions");
	ok(ended(&of_leaf, 200) && ended(&of_around, 100), "are told apart");
	unregister_kretprobe(&of_around);
	unregister_kretprobe(&of_leaf);
}

static volatile bool go;

static void *calls(void *arg)
{
	long i, n = *(long *)arg;

	while (!go)
		;
	for (i = 0; i < n; i++)
		if (around(i) != 2 * i + 5)
			return arg;
	return NULL;
}

static void threads(int active)
{
	struct kretprobe rp = { .kp.addr = (void *)around,
				.entry_handler = counts,
				.handler = counts_back,
				.maxactive = active };
	struct kretprobe inner = rp;
	struct dp_kretprobe_account a, b;
	long i, n = amount("CALLS", 100000), wrong = 0;
	pthread_t t[THREADS];
	void *failed;

	runs[0] = runs[1] = 0;
	inner.kp.addr = (void *)leaf;
	register_kretprobe(&rp);
	register_kretprobe(&inner);
	go = false;
	for (i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, calls, &n);
	go = true;
	for (i = 0; i < THREADS; i++) {
		pthread_join(t[i], &failed);
		wrong += failed != NULL;
	}
	a = account_of(&rp);
	b = account_of(&inner);
	is(wrong, 0, "threads find what they would without probes");
	is((long)a.entries + rp.nmissed, THREADS * n,
	   "all calls are accounted for");
	is((long)b.entries + inner.nmissed, 2 * THREADS * n,
	   "and the inner ones");
	ok(a.returned == a.entries && b.returned == b.entries && !a.inside &&
		   !b.inside && runs[0] == runs[1] &&
		   runs[0] == (long)(a.entries + b.entries),
	   "all that were entered have returned");
	if (active >= THREADS)
		is(rp.nmissed + inner.nmissed, 0,
		   "none is missed if there are as many instances as threads");
	unregister_kretprobe(&inner);
	unregister_kretprobe(&rp);
}

static pthread_barrier_t turn;

static void *calls_in_turn(void *arg)
{
	long i;

	for (i = 0; i < 10; i++)
		leaf(i);
	pthread_barrier_wait(&turn);
	pthread_barrier_wait(&turn);
	for (i = 0; i < 10; i++)
		leaf(i);
	return NULL;
}

/* Threads that live, and are not in a call, keep no instance from others. */
static void in_turn(void)
{
	struct kretprobe rp = { .kp.addr = (void *)leaf,
				.entry_handler = counts,
				.handler = counts_back,
				.maxactive = 1 };
	pthread_t t;
	long i;

	register_kretprobe(&rp);
	pthread_barrier_init(&turn, NULL, 2);
	pthread_create(&t, NULL, calls_in_turn, NULL);
	pthread_barrier_wait(&turn);
	for (i = 0; i < 10; i++)
		leaf(i);
	pthread_barrier_wait(&turn);
	pthread_join(t, NULL);
	ok(ended(&rp, 30), "threads have one instance in turn");
	unregister_kretprobe(&rp);
}

static unsigned long *volatile bad;

static int faults(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	runs[0]++;
	*bad = regs->di;
	runs[0] += 1000;
	return 0;
}

/* The handler is given up, and the call goes on. */
static void faulting(bool back)
{
	struct kretprobe rp = { .kp.addr = (void *)pairs_function,
				.entry_handler = back ? NULL : faults,
				.handler = back ? faults : NULL };
	unsigned long r[REGS], was[REGS], good = 0, n, room;

	bad = &room;
	runs[0] = 0;
	register_kretprobe(&rp);
	for (n = 1; n <= TIMES; n++) {
		if (n == TIMES - 1)
			bad = NULL;
		fill(r, n);
		memcpy(was, r, sizeof(r));
		pairs_call(r);
		good += same(r, was, 0) && r[AX] == 3 * n + 1 + n % 2;
	}
	is((long)good, TIMES, "a handler faults, and the program goes on");
	is(runs[0], (TIMES - 2) * 1001 + 1, "it is not called again");
	is((long)account_of(&rp).inside, 0, "no call is left inside");
	unregister_kretprobe(&rp);
}

int main(void)
{
	registers(1);
	registers(5);
	more_registers();
	calls_within_calls();
	in_turn();
	threads(2);
	threads(THREADS);
	threads(500);
	faulting(false);
	faulting(true);
	return plan();
}
