// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * watches: watchpoints in one's own process: exact counts by all threads, registers against single steps
 * of a child, debug registers that are taken, recursion, children, and watchpoints that come and go.
 */
#include "tests/self/tap.h"
#include <dirent.h>
#include <dprobes/hw_breakpoint.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define EACH 500

static volatile long word __attribute__((aligned(8)));
static volatile long words[8] __attribute__((aligned(8)));
static volatile unsigned long calls, elsewhere;
static volatile long sum;

__attribute__((noinline, noclone, noipa)) static void store(long value)
{
	word = value;
}

__attribute__((noinline, noclone, noipa)) static void load(void)
{
	sum += word;
}

/* Each changes the word. */
__attribute__((noinline, noclone, noipa)) static void ways(void)
{
	long other = 7;

	__asm__ volatile("xorl %%ecx, %%ecx\n"
			 "movq $1, %0\n"
			 "addq $1, %0\n"
			 "lock incq %0\n"
			 "movb $9, %0\n"
			 "xchgq %1, %0\n"
			 "movl $5, 4+%0\n"
			 "notq %0\n"
			 : "+m"(word), "+r"(other)
			 :
			 : "rcx", "cc", "memory");
	__asm__ volatile("leaq %0, %%rdi; movl $8, %%ecx; movl $0x41, %%eax;"
			 "cld; rep stosb"
			 :
			 : "m"(word)
			 : "rdi", "rcx", "rax", "memory");
}

static void count(struct perf_event *bp, struct perf_sample_data *data,
		  struct pt_regs *regs)
{
	__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
}

/* Of store(): the value is in its argument's register still. */
static void look(struct perf_event *bp, struct perf_sample_data *data,
		 struct pt_regs *regs)
{
	bool good = data->addr == (unsigned long)&word &&
		    bp->overflow_handler_context == &words &&
		    (long)regs->di == word && regs->ip > (unsigned long)store &&
		    regs->ip < (unsigned long)store + 32;

	calls++;
	elsewhere += !good;
}

static struct perf_event_attr attr_of(const volatile void *addr, int len,
				      unsigned int type)
{
	struct perf_event_attr attr;

	hw_breakpoint_init(&attr);
	attr.bp_addr = (unsigned long)addr;
	attr.bp_len = (unsigned long)len;
	attr.bp_type = type;
	return attr;
}

static struct perf_event **watch(const volatile void *addr, int len,
				 unsigned int type,
				 perf_overflow_handler_t handler)
{
	struct perf_event_attr attr = attr_of(addr, len, type);

	calls = elsewhere = 0;
	return register_wide_hw_breakpoint(&attr, handler, (void *)&words);
}

static int error_of(const volatile void *addr, int len, unsigned int type,
		    perf_overflow_handler_t handler)
{
	struct perf_event **bp = watch(addr, len, type, handler);

	return dp_hw_breakpoint_error(bp);
}

/* All hits have been counted, and have called the handler. */
static void exactly(struct perf_event **bp, unsigned long n, const char *what)
{
	unsigned long missed, hits = dp_hw_breakpoint_hits(*bp, &missed);

	is((long)calls, (long)n, what);
	is((long)hits, (long)n, "… which the kernel has counted");
	is((long)missed, 0, "… and none is missed");
}

/* --- threads --- */

static pthread_barrier_t barrier;

static void *store_some(void *early)
{
	sigset_t every;
	long i;

	if (early) {
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
		sigfillset(&every);
		pthread_sigmask(SIG_SETMASK, &every, NULL);
	}
	for (i = 0; i < EACH; i++)
		store(i);
	return NULL;
}

static void threads(void)
{
	pthread_t t[6];
	struct perf_event **bp;
	int i;

	pthread_barrier_init(&barrier, NULL, 4);
	for (i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, store_some, &barrier);
	pthread_barrier_wait(&barrier);
	bp = watch(&word, HW_BREAKPOINT_LEN_8, HW_BREAKPOINT_W, count);
	pthread_barrier_wait(&barrier);
	for (; i < 6; i++)
		pthread_create(&t[i], NULL, store_some, NULL);
	store_some(NULL);
	for (i = 0; i < 6; i++)
		pthread_join(t[i], NULL);
	exactly(bp, 7 * EACH,
		"threads that are there, blocked signals, and new threads");
	unregister_wide_hw_breakpoint(bp);
	store(1);
	is((long)calls, 7 * EACH, "none is called behind the end");
}

static void *of_one(void *arg)
{
	struct perf_event_attr attr =
		attr_of(&word, HW_BREAKPOINT_LEN_8, HW_BREAKPOINT_W);
	struct perf_event *bp;
	pthread_t other;

	calls = 0;
	bp = register_user_hw_breakpoint(&attr, count, NULL, get_current());
	if (!dp_hw_breakpoint_error(bp)) {
		pthread_create(&other, NULL, store_some, NULL);
		pthread_join(other, NULL);
		store(5);
		store(6);
	}
	unregister_hw_breakpoint(bp);
	return (void *)calls;
}

static void one_thread(void)
{
	void *got;
	pthread_t t;

	pthread_create(&t, NULL, of_one, NULL);
	pthread_join(t, &got);
	is((long)got, 2, "a watchpoint of one thread");
}

/* --- what is told --- */

static void values(void)
{
	struct perf_event **bp =
		watch(&word, HW_BREAKPOINT_LEN_8, HW_BREAKPOINT_W, look);
	long i;

	for (i = 0; i < 100; i++)
		store(i * 3);
	load();
	exactly(bp, 100, "writes");
	is((long)elsewhere, 0, "the handler sees registers, value and context");
	unregister_wide_hw_breakpoint(bp);
	bp = watch(&word, HW_BREAKPOINT_LEN_8, HW_BREAKPOINT_RW, count);
	for (i = 0; i < 50; i++)
		load();
	store(1);
	exactly(bp, 51, "reads and writes");
	unregister_wide_hw_breakpoint(bp);
	bp = watch((char *)&word + 4, HW_BREAKPOINT_LEN_2, HW_BREAKPOINT_W,
		   count);
	ways();
	/* of its single stores all but that of the first byte, and two bytes of the string */
	exactly(bp, 6 + 2, "a part of the word");
	unregister_wide_hw_breakpoint(bp);
}

static volatile unsigned long last_ip;

static void note_ip(struct perf_event *bp, struct perf_sample_data *data,
		    struct pt_regs *regs)
{
	last_ip = regs->ip;
	calls++;
}

static void executed(void)
{
	struct perf_event **bp =
		watch((void *)store, sizeof(long), HW_BREAKPOINT_X, note_ip);
	long i;

	for (i = 0; i < 40; i++)
		store(i);
	exactly(bp, 40, "executions");
	is((long)last_ip, (long)store, "before the instruction");
	unregister_wide_hw_breakpoint(bp);
}

/* --- the oracle: a child goes through ways() step by step --- */

struct steps {
	unsigned long ip[64], cx[64];
	int n;
};
static struct steps told; /* by the handler */

static void note_step(struct perf_event *bp, struct perf_sample_data *data,
		      struct pt_regs *regs)
{
	if (told.n < 64) {
		told.ip[told.n] = regs->ip;
		told.cx[told.n] = regs->cx;
	}
	told.n++;
}

static bool step(pid_t pid, struct user_regs_struct *regs)
{
	int status;

	return !ptrace(PTRACE_SINGLESTEP, pid, 0, 0) &&
	       waitpid(pid, &status, 0) == pid && WIFSTOPPED(status) &&
	       !ptrace(PTRACE_GETREGS, pid, 0, regs);
}

static void take_steps(pid_t pid, struct steps *steps)
{
	struct user_regs_struct regs;
	long before = ptrace(PTRACE_PEEKDATA, pid, &word, 0), now;

	while (step(pid, &regs)) {
		now = ptrace(PTRACE_PEEKDATA, pid, &word, 0);
		if (now != before && steps->n < 64) {
			steps->ip[steps->n] = regs.rip;
			steps->cx[steps->n++] = regs.rcx;
		}
		before = now;
	}
}

static struct steps by_steps(void)
{
	struct steps steps = { .n = 0 };
	int status;
	pid_t pid = fork();

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		ways();
		_exit(0);
	}
	if (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status))
		take_steps(pid, &steps);
	return steps;
}

static int nothing(struct kprobe *p, struct pt_regs *regs)
{
	return 0;
}

/* QEMU's processor comes back to a string instruction whose last round has trapped, and then leaves it. Its single
 * steps do not. So the last hit, of all, is told one instruction early. */
static bool is_qemu(void)
{
	static char text[1 << 14];
	FILE *f = fopen("/proc/cpuinfo", "r");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	if (f)
		fclose(f);
	text[n] = '\0';
	return strstr(text, "QEMU TCG");
}

static bool is_early(const struct steps *steps, int i)
{
	return i && i == steps->n - 1 && told.ip[i] == steps->ip[i - 1] &&
	       told.cx[i] == steps->cx[i] && is_qemu();
}

static void same_as(const struct steps *steps, const char *what)
{
	int i, other = 0;

	is(told.n, steps->n, what);
	for (i = 0; i < steps->n && i < told.n; i++)
		other += (told.ip[i] != steps->ip[i] ||
			  told.cx[i] != steps->cx[i]) &&
			 !is_early(steps, i);
	is(other, 0, "… with the registers of single steps");
}

static void oracle(void)
{
	struct kprobe probes[8] = { { 0 } };
	struct steps steps;
	struct perf_event **bp;
	int i, n = 0;

	word = 0;
	memset(&told, 0, sizeof(told));
	steps = by_steps();
	is(steps.n, 15, "single steps saw every way to write");
	bp = watch(&word, HW_BREAKPOINT_LEN_8, HW_BREAKPOINT_W, note_step);
	ways();
	same_as(&steps, "as many hits as steps");
	/* The stores themselves are probed, and go through copies; only a probe at its beginning does not
	 * break a string instruction into its rounds. */
	for (i = 0; i + 9 < steps.n; i++) {
		probes[n].addr = (void *)steps.ip[i];
		probes[n].pre_handler = nothing;
		n += !register_kprobe(&probes[n]);
	}
	ok(n >= 5, "the stores are probed, too: %d", n);
	word = 0;
	memset(&told, 0, sizeof(told));
	ways();
	same_as(&steps, "as many hits in copies");
	for (i = 0; i < n; i++)
		unregister_kprobe(&probes[i]);
	unregister_wide_hw_breakpoint(bp);
}

/* --- handlers --- */

static void recurses(struct perf_event *bp, struct perf_sample_data *data,
		     struct pt_regs *regs)
{
	calls++;
	store(7);
	store(8);
}

static volatile int in_handler;

static void registers(struct perf_event *bp, struct perf_sample_data *data,
		      struct pt_regs *regs)
{
	struct perf_event_attr attr =
		attr_of(&words[0], HW_BREAKPOINT_LEN_8, HW_BREAKPOINT_W);

	calls++;
	in_handler = dp_hw_breakpoint_error(
		register_wide_hw_breakpoint(&attr, count, NULL));
}

static void changes(struct perf_event *bp, struct perf_sample_data *data,
		    struct pt_regs *regs)
{
	calls++;
	regs->ax = 1234;
}

static void handlers(void)
{
	struct perf_event **bp =
		watch(&word, HW_BREAKPOINT_LEN_8, HW_BREAKPOINT_W, recurses);
	unsigned long missed, hits;
	long ax = 1;
	int i;

	for (i = 0; i < 10; i++)
		store(i);
	hits = dp_hw_breakpoint_hits(*bp, &missed);
	is((long)calls, 10, "a handler that writes is not called for that");
	is((long)hits, 30, "all is counted");
	is((long)missed, 20, "and what called no handler is missed");
	unregister_wide_hw_breakpoint(bp);
	bp = watch(&word, HW_BREAKPOINT_LEN_8, HW_BREAKPOINT_W, registers);
	store(1);
	is(in_handler, -EAGAIN, "a handler cannot register");
	unregister_wide_hw_breakpoint(bp);
	bp = watch(&word, HW_BREAKPOINT_LEN_8, HW_BREAKPOINT_W, changes);
	__asm__ volatile("movq $3, %1" : "+a"(ax), "=m"(word));
	is(ax, 1234, "what a handler changes in registers is changed");
	unregister_wide_hw_breakpoint(bp);
}

/* --- limits --- */

static int descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void limits(void)
{
	struct perf_event **bp[4];
	int had = descriptors(), i;

	is(error_of(&word, HW_BREAKPOINT_LEN_8, HW_BREAKPOINT_W, NULL), -EINVAL,
	   "no handler");
	is(error_of((char *)&word + 2, HW_BREAKPOINT_LEN_4, HW_BREAKPOINT_W,
		    count),
	   -EINVAL, "unaligned");
	is(error_of(&word, 3, HW_BREAKPOINT_W, count), -EINVAL, "three bytes");
	is(error_of(&word, HW_BREAKPOINT_LEN_8, HW_BREAKPOINT_R, count),
	   -EINVAL, "reads alone");
	is(error_of((void *)store, 1, HW_BREAKPOINT_X, count), -EINVAL,
	   "an instruction has the length of a word");
	for (i = 0; i < 4; i++)
		bp[i] = watch(&words[i], HW_BREAKPOINT_LEN_8, HW_BREAKPOINT_W,
			      count);
	is(dp_hw_breakpoint_error(bp[3]), 0, "four");
	is(error_of(&words[4], HW_BREAKPOINT_LEN_8, HW_BREAKPOINT_W, count),
	   -ENOSPC, "and no fifth");
	ok(strstr(dp_last_diag()->text, "no debug register left") != NULL,
	   "in words");
	unregister_wide_hw_breakpoint(bp[0]);
	bp[0] = watch(&words[4], HW_BREAKPOINT_LEN_8, HW_BREAKPOINT_W, count);
	is(dp_hw_breakpoint_error(bp[0]), 0, "one that is free again");
	for (i = 0; i < 5; i++)
		words[i] = i;
	is((long)calls, 4, "each of the four is hit");
	for (i = 0; i < 4; i++)
		unregister_wide_hw_breakpoint(bp[i]);
	unregister_wide_hw_breakpoint(NULL);
	unregister_hw_breakpoint((void *)(long)-ENOSPC);
	is(descriptors(), had, "no descriptor is left");
}

/* --- children --- */

static int in_child(struct perf_event **old)
{
	struct perf_event **bp;
	long i;

	for (i = 0; i < 30; i++)
		store(i);
	if (calls || dp_hw_breakpoint_hits(*old, NULL))
		return 1;
	unregister_wide_hw_breakpoint(old);
	bp = watch(&word, HW_BREAKPOINT_LEN_8, HW_BREAKPOINT_W, count);
	if (dp_hw_breakpoint_error(bp))
		return 2;
	for (i = 0; i < 30; i++)
		store(i);
	return calls == 30 ? 42 : 3;
}

static void children(void)
{
	struct perf_event **bp =
		watch(&word, HW_BREAKPOINT_LEN_8, HW_BREAKPOINT_W, count);
	int status = 0;
	pid_t pid = fork();

	if (!pid)
		_exit(in_child(bp));
	store(1);
	waitpid(pid, &status, 0);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 42,
	   "a child has none, and may have its own: %x", status);
	pid = vfork();
	if (!pid) {
		word = 9;
		_exit(0);
	}
	waitpid(pid, &status, 0);
	exactly(bp, 1, "nor counts what children do");
	unregister_wide_hw_breakpoint(bp);
}

/* --- coming and going --- */

static volatile bool over;
static unsigned long stored;

static void *store_always(void *none)
{
	unsigned long n = 0;

	while (!over) {
		store((long)n++);
		if (n % 64 == 0)
			usleep(1);
	}
	__atomic_fetch_add(&stored, n, __ATOMIC_RELAXED);
	return NULL;
}

static void on_trap(int sig)
{
	calls += 1000000;
}

static void churn(void)
{
	long rounds = amount("WATCHES_ROUNDS", 100), i, wrong = 0;
	struct perf_event **bp;
	unsigned long hits = 0, missed = 0, all = 0;
	pthread_t t[3];
	int k;

	over = false;
	stored = 0;
	for (k = 0; k < 3; k++)
		pthread_create(&t[k], NULL, store_always, NULL);
	for (i = 0; i < rounds; i++) {
		bp = watch(&word, HW_BREAKPOINT_LEN_8,
			   i % 2 ? HW_BREAKPOINT_W : HW_BREAKPOINT_RW, count);
		if (dp_hw_breakpoint_error(bp)) {
			wrong++;
			continue;
		}
		usleep(500);
		hits = dp_hw_breakpoint_hits(*bp, &missed);
		unregister_wide_hw_breakpoint(bp);
		/* Each thread may be on its way to a handler that is not called any more. */
		wrong += calls + 3 < hits - missed;
		all += calls;
	}
	over = true;
	for (k = 0; k < 3; k++)
		pthread_join(t[k], NULL);
	is(wrong, 0, "watchpoints that come and go while threads store");
	ok(all > 0 && stored >= all, "have hits: %lu of %lu", all, stored);
}

static void own_traps(void)
{
	struct perf_event **bp =
		watch(&word, HW_BREAKPOINT_LEN_8, HW_BREAKPOINT_W, count);

	signal(SIGTRAP, on_trap);
	store(1);
	raise(SIGTRAP);
	store(2);
	is((long)calls, 1000002, "the program's own SIGTRAP comes to it");
	signal(SIGTRAP, SIG_DFL);
	unregister_wide_hw_breakpoint(bp);
}

/* By ptrace(2), without the library: is a child stopped behind a store to the word? */
static bool is_child_trapped(void)
{
	const size_t at = offsetof(struct user, u_debugreg);
	pid_t pid = fork();
	int status, set;

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		store(1);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	set = !ptrace(PTRACE_POKEUSER, pid, at, &word) &&
	      !ptrace(PTRACE_POKEUSER, pid, at + 7 * sizeof(long), 0x90001l);
	ptrace(PTRACE_CONT, pid, 0, 0);
	waitpid(pid, &status, 0);
	if (WIFEXITED(status))
		return !set;
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return true;
}

/* --- several at a time --- */

static volatile unsigned long of_word[4];
static bool by_registers;

static void count_word(struct perf_event *bp, struct perf_sample_data *data,
		       struct pt_regs *regs)
{
	unsigned long i = (data->addr - (unsigned long)words) / sizeof(long);

	if (i < 4)
		__atomic_fetch_add(&of_word[i], 1, __ATOMIC_RELAXED);
}

static void *store_words(void *of)
{
	long i, k, n = (long)of;

	for (i = 0; i < n; i++)
		for (k = 0; k < 4; k++)
			if (i % (k + 1) == 0)
				words[k] = i;
	return NULL;
}

/* The next instruction is watched, too. */
__attribute__((noinline, noclone, noipa)) static void store_and_go(void)
{
	__asm__ volatile("movq $1, %0\n"
			 ".globl watches_next\n"
			 "watches_next: nop"
			 : "=m"(words[1])
			 :
			 : "memory");
}
extern const char watches_next[];

static void several(void)
{
	static const unsigned long want[4] = { 180, 90, 60, 45 };
	struct perf_event **bp[4], **part, **code;
	unsigned long hits, missed, bad = 0, sum_of = 0;
	pthread_t t[2];
	int i;

	for (i = 0; i < 4; i++) {
		of_word[i] = 0;
		bp[i] = watch(&words[i], HW_BREAKPOINT_LEN_8, HW_BREAKPOINT_W,
			      count_word);
	}
	for (i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, store_words, (void *)60l);
	store_words((void *)60l);
	for (i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	for (i = 0; i < 4; i++) {
		hits = dp_hw_breakpoint_hits(*bp[i], &missed);
		if (of_word[i] != want[i] || hits != want[i] || missed)
			printf("# %d: %lu stored, %lu called, %lu hits, %lu missed\n",
			       i, want[i], of_word[i], hits, missed);
		bad += of_word[i] != want[i] || hits != want[i] || missed;
		sum_of += of_word[i];
		unregister_wide_hw_breakpoint(bp[i]);
	}
	is((long)sum_of, 375, "four watchpoints, hit as often as stored");
	/* Of QEMU's events one that is inherited counts at times a hit of another one. */
	if (by_registers || !is_qemu())
		is((long)bad, 0, "… each of them");
	of_word[0] = of_word[1] = 0;
	part = watch(&words[1], HW_BREAKPOINT_LEN_8, HW_BREAKPOINT_W,
		     count_word);
	code = watch(watches_next, sizeof(long), HW_BREAKPOINT_X, count);
	for (i = 0; i < 20; i++)
		store_and_go();
	/* Of two events that one trap has, the kernel signals one. */
	is((long)dp_hw_breakpoint_hits(*part, &missed), 20,
	   "data, before an instruction");
	is((long)(of_word[1] + missed), 20, "… which is called, or missed");
	is((long)calls, 20, "that is watched, too");
	if (by_registers)
		is((long)missed, 0, "… and neither is missed");
	unregister_wide_hw_breakpoint(part);
	unregister_wide_hw_breakpoint(code);
}

/* --- threads that end at once --- */

static void *store_once(void *none)
{
	store(1);
	return NULL;
}

static void short_lives(void)
{
	struct perf_event **bp =
		watch(&word, HW_BREAKPOINT_LEN_8, HW_BREAKPOINT_W, count);
	unsigned long had = dp_hw_breakpoint_bare(*bp);
	pthread_t t[4];
	int i, k;

	for (i = 0; i < 25; i++) {
		for (k = 0; k < 4; k++)
			pthread_create(&t[k], NULL, store_once, NULL);
		for (k = 0; k < 4; k++)
			pthread_join(t[k], NULL);
	}
	exactly(bp, 100, "threads that store once, and end");
	is((long)(dp_hw_breakpoint_bare(*bp) - had), 0,
	   "each has begun with it");
	unregister_wide_hw_breakpoint(bp);
}

/* --- without events: what the threads' registers are --- */

static volatile bool lets_go;
static volatile int waiting;

static void *wait_for_end(void *none)
{
	__atomic_fetch_add(&waiting, 1, __ATOMIC_SEQ_CST);
	while (!lets_go)
		usleep(1000);
	return NULL;
}

/* Of a thread that is stopped. An address that is not set says that its bits are its maker's. */
static int set_in(pid_t tid)
{
	const size_t at = offsetof(struct user, u_debugreg);
	long control = ptrace(PTRACE_PEEKUSER, tid, at + 7 * sizeof(long), 0);
	int i, n = 0;

	for (i = 0; i < 4; i++)
		n += (control >> 2 * i & 3) &&
		     ptrace(PTRACE_PEEKUSER, tid, at + i * sizeof(long), 0);
	return n;
}

static int look_at(pid_t tid)
{
	int status, n;

	if (ptrace(PTRACE_SEIZE, tid, 0, 0) ||
	    ptrace(PTRACE_INTERRUPT, tid, 0, 0) ||
	    waitpid(tid, &status, __WALL) != tid)
		return 100;
	n = set_in(tid);
	ptrace(PTRACE_DETACH, tid, 0, 0);
	return n;
}

/* Where Yama keeps a child from that */
static void let_trace(void)
{
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
}

/* Of all threads; as a child sees it. @least: of the one with fewest. */
static int registers_set(bool least)
{
	pid_t self = getpid(), tid, child;
	char path[64];
	int status, n = 0, all = 0, few = 100;
	struct dirent *d;
	DIR *dir;

	let_trace();
	child = fork();
	if (!child) {
		snprintf(path, sizeof(path), "/proc/%d/task", self);
		dir = opendir(path);
		while ((d = readdir(dir))) {
			tid = atoi(d->d_name);
			if (!tid)
				continue;
			n = look_at(tid);
			all += n;
			few = n < few ? n : few;
		}
		_exit(least ? few : all);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void left_clear(void)
{
	struct perf_event **bp[2];
	pthread_t t[4];
	int i;

	lets_go = false;
	waiting = 0;
	for (i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, wait_for_end, NULL);
	bp[0] = watch(&word, HW_BREAKPOINT_LEN_8, HW_BREAKPOINT_W, count);
	bp[1] = watch(&words[2], HW_BREAKPOINT_LEN_4, HW_BREAKPOINT_RW, count);
	for (; i < 4; i++)
		pthread_create(&t[i], NULL, wait_for_end, NULL);
	while (waiting < 4)
		usleep(100);
	is(registers_set(true), 2, "each of five threads has both registers");
	unregister_wide_hw_breakpoint(bp[0]);
	is(registers_set(false), 5, "each has one");
	unregister_wide_hw_breakpoint(bp[1]);
	is(registers_set(false), 0, "no thread has a register left");
	lets_go = true;
	for (i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}

/* A thread that no libc has made */
static char raw_stack[16384] __attribute__((aligned(16)));
static volatile int raw_tid;

static void raw_thread(void)
{
	while (!lets_go)
		__asm__ volatile("pause");
	store(1);
	__asm__ volatile("xor %%edi, %%edi; movl $60, %%eax; syscall" ::
				 : "memory");
	__builtin_unreachable();
}

static void make_raw_thread(void)
{
	register long r10 __asm__("r10") = (long)&raw_tid;
	register long r8 __asm__("r8") = 0;
	register void (*go)(void) __asm__("r12") = raw_thread;
	long ret = SYS_clone;

	/* VM, FS, FILES, SIGHAND, THREAD, SYSVSEM, CHILD_SETTID, CHILD_CLEARTID */
	__asm__ volatile("syscall; test %%rax, %%rax; jnz 1f; call *%%r12; 1:"
			 : "+a"(ret)
			 : "D"(0x1250f00l), "S"(raw_stack + sizeof(raw_stack)),
			   "d"(0l), "r"(r10), "r"(r8), "r"(go)
			 : "rcx", "r11", "memory");
	while (!raw_tid)
		usleep(100);
}

static void bare(void)
{
	struct perf_event **bp =
		watch(&word, HW_BREAKPOINT_LEN_8, HW_BREAKPOINT_W, count);

	lets_go = false;
	raw_tid = 0;
	make_raw_thread();
	is((long)dp_hw_breakpoint_bare(*bp), 1,
	   "a thread by a system call of the program's own begins without");
	is((long)dp_hw_breakpoint_bare(*bp), 1, "and is counted once");
	lets_go = true;
	while (raw_tid)
		usleep(100);
	exactly(bp, 1, "but watches from then on");
	unregister_wide_hw_breakpoint(bp);
}

/* --- without events: another tracer --- */

static void traced(void)
{
	struct perf_event **bp;
	int ready[2], end[2], status;
	pid_t self = getpid(), child;
	char c;

	if (pipe(ready) || pipe(end))
		return;
	let_trace();
	child = fork();
	if (!child) {
		close(end[1]);
		c = !ptrace(PTRACE_SEIZE, self, 0, 0);
		c = write(ready[1], &c, 1) == 1 && read(end[0], &c, 1) == 1;
		_exit(c);
	}
	ok(read(ready[0], &c, 1) == 1 && c, "a tracer is there");
	is(error_of(&word, HW_BREAKPOINT_LEN_8, HW_BREAKPOINT_W, count), -EBUSY,
	   "which keeps watchpoints out");
	ok(strstr(dp_last_diag()->text, "traces thread") != NULL,
	   "in words: %s", dp_last_diag()->text);
	close(end[1]);
	waitpid(child, &status, 0);
	close(end[0]);
	close(ready[0]);
	close(ready[1]);
	bp = watch(&word, HW_BREAKPOINT_LEN_8, HW_BREAKPOINT_W, count);
	store(1);
	exactly(bp, 1, "until it has gone");
	unregister_wide_hw_breakpoint(bp);
}

/* --- without events: the child that sets them is killed --- */

static void kill_children(const char *path)
{
	char text[4096];
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
	char *at = text, *end;
	long pid;

	if (f)
		fclose(f);
	text[n] = '\0';
	for (; (pid = strtol(at, &end, 10)) > 0; at = end)
		kill((pid_t)pid, SIGKILL);
}

static volatile bool killing;

/* The library's children are this thread's maker's. */
static void *kill_always(void *none)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	while (killing) {
		kill_children(path);
		usleep((unsigned int)rand() % 3000);
	}
	return NULL;
}

static void killed(void)
{
	long rounds = amount("WATCHES_ROUNDS", 100) / 2, i;
	long good = 0, wrong = 0, refused = 0;
	struct perf_event **bp;
	pthread_t t;

	killing = true;
	pthread_create(&t, NULL, kill_always, NULL);
	for (i = 0; i < rounds || (i < 50 * rounds && !(good && refused));
	     i++) {
		bp = watch(&word, HW_BREAKPOINT_LEN_8, HW_BREAKPOINT_W, count);
		if (dp_hw_breakpoint_error(bp)) {
			refused++;
			wrong += dp_hw_breakpoint_error(bp) != -EPERM;
			store(1);
			wrong += calls != 0;
			continue;
		}
		store(1);
		wrong += calls != 1 && !dp_hw_breakpoint_bare(*bp);
		good++;
		unregister_wide_hw_breakpoint(bp);
	}
	killing = false;
	pthread_join(t, NULL);
	ok(good && refused, "children killed: %ld watchpoints, %ld refusals",
	   good, refused);
	is(wrong, 0, "each is whole, or none");
	bp = watch(&word, HW_BREAKPOINT_LEN_8, HW_BREAKPOINT_W, count);
	unregister_wide_hw_breakpoint(bp);
	is(registers_set(false), 0, "and no thread has a register left");
}

static void both(void)
{
	limits();
	threads();
	one_thread();
	values();
	executed();
	oracle();
	handlers();
	children();
	several();
	short_lives();
	own_traps();
	churn();
}

/* As if the kernel permitted no events */
static void without_events(void)
{
	puts("# by registers");
	setenv("DPROBES_WATCH", "registers", 1);
	by_registers = true;
	left_clear();
	traced();
	bare();
	both();
	killed();
	left_clear();
}

int main(void)
{
	struct perf_event **bp =
		watch(&word, HW_BREAKPOINT_LEN_8, HW_BREAKPOINT_W, count);

	if (dp_hw_breakpoint_error(bp)) {
		if (strstr(dp_last_diag()->text, "did not trap"))
			ok(!is_child_trapped(),
			   "debug registers by ptrace(2) raise no trap either");
		skip("watchpoints", dp_last_diag()->text);
		return plan();
	}
	unregister_wide_hw_breakpoint(bp);
	both();
	without_events();
	return plan();
}
