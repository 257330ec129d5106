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
#include <sys/ptrace.h>
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
	limits();
	threads();
	one_thread();
	values();
	executed();
	oracle();
	handlers();
	children();
	own_traps();
	churn();
	return plan();
}
