// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * blocked: probed code where a breakpoint would be fatal or be seen:
 * blocked MODE [ROUNDS]. 0: until SIGTERM.
 *
 * mask          all signals are blocked
 * pending       the same with a SIGTRAP pending, delivered once at the end
 * exec          the same, and at the end it executes itself, to look whether the SIGTRAP is
 *               still pending
 * ignore        SIGTRAP is ignored
 * clearsighand  children of clone3(CLONE_CLEAR_SIGHAND), half of them with all
 *               signals blocked
 * handler       SIGTRAPs of its own by int3, raise() and sigqueue(), with actions
 *               of all kinds, whose handler is where work() is called too
 * spawn         posix_spawn(), system() and threads, in which libc blocks all
 * sleep         SIGUSR1 comes in calls whose own mask blocks everything else;
 *               in some of them, so does a SIGTRAP
 * open          the other way about: SIGTRAP is blocked but in such calls
 * leave         the handler that such calls are for leaves by siglongjmp, and makes
 *               children, which go on from there
 * cancel        threads are cancelled asleep in such calls
 * asleep        SIGUSR1 from outside wakes it in such calls, all of one kind:
 *               blocked asleep ROUNDS KIND; it says so each time
 *
 * Every round calls work() and malloc(), and looks that masks, actions and
 * pending signals are what the program made them. Says "running", and at the end
 * one line that is the same for every right run of as many rounds.
 *
 * BLOCKED_SIGNAL=N in the environment: another signal than SIGTRAP, one of a fault, which
 * an instruction for it raises instead of int3. "traps" are of that signal then.
 */
#include <errno.h>
#include <linux/sched.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

/* Set by libc, and seen in what the kernel gives back. */
#define SA_RESTORER 0x04000000
#define ANSWER 0x1234567890abcdefl

#ifndef __GLIBC__
/* musl has it not. */
#define NR_RAW 3
static int epoll_pwait2(int fd, struct epoll_event *events, int max,
			const struct timespec *timeout, const sigset_t *mask)
{
	return (int)syscall(SYS_epoll_pwait2, fd, events, max, timeout, mask,
			    8);
}
#else
#define NR_RAW 2
#endif

struct mode {
	const char *name;
	void (*begin)(void);
	void (*round)(long n);
	void (*end)(void);
};

extern char **environ;
long work(long n);

/* The signal that all is about */
static int own = SIGTRAP;
static volatile int failures;
static volatile long traps, wanted_traps;
static sigset_t usual, full;

static void check(int good, const char *what, long n)
{
	if (good || failures++)
		return;
	printf("wrong: %s in round %ld\n", what, n);
	fflush(stdout);
}

/* The sum of the squares below n, with branches, a call and memory. */
static __attribute__((noinline)) long square(long n)
{
	return n * n;
}

__attribute__((noinline)) long work(long n)
{
	long sums[8] = { 0 }, i, sum = 0;

	__asm__ volatile("" ::: "memory");
	for (i = 0; i < n; i++)
		sums[i & 7] += i & 1 ? square(i) : i * i;
	for (i = 0; i < 8; i++)
		sum += sums[i];
	return sum;
}

static int work_is_right(long n)
{
	n &= 31;
	return work(n) == (n - 1) * n * (2 * n - 1) / 6;
}

static int libc_is_right(long n)
{
	size_t len = (size_t)(n & 1023) + 1;
	char *text = malloc(len + 1);
	int right;

	memset(text, 'x', len);
	text[len] = 0;
	right = strlen(text) == len;
	text = realloc(text, 2 * len + 1);
	memmove(text + len, text, len + 1);
	right = right && strlen(text) == 2 * len && !strchr(text, 'y');
	free(text);
	return right;
}

static void do_work(long n)
{
	check(work_is_right(n), "work()", n);
	check(libc_is_right(n), "libc", n);
}

/* Among the signals that a mask can have. */
static int same_set(const sigset_t *a, const sigset_t *b, int but)
{
	int sig;

	for (sig = 1; sig < NSIG; sig++)
		if (sig != but && sigismember(a, sig) != sigismember(b, sig))
			return 0;
	return 1;
}

static int mask_is(const sigset_t *wanted, int but)
{
	sigset_t now;

	sigprocmask(SIG_BLOCK, NULL, &now);
	return same_set(&now, wanted, but);
}

static int is_pending(int sig)
{
	sigset_t now;

	sigpending(&now);
	return sigismember(&now, sig);
}

static void nothing(void)
{
}

/* Neither SIGKILL, SIGSTOP nor what libc keeps to itself can be blocked. */
static void block_all(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	sigprocmask(SIG_BLOCK, NULL, &full);
}

static void mask_round(long n)
{
	do_work(n);
	check(mask_is(&full, 0), "mask", n);
	check(!is_pending(own), "a SIGTRAP is pending", n);
}

static void mask_end(void)
{
	sigprocmask(SIG_SETMASK, &usual, NULL);
	do_work(0);
}

static void count_trap(int sig)
{
	traps++;
}

static void pending_begin(void)
{
	signal(own, count_trap);
	block_all();
	raise(own);
	wanted_traps = 1;
}

static void pending_round(long n)
{
	do_work(n);
	check(mask_is(&full, 0), "mask", n);
	check(is_pending(own), "no SIGTRAP is pending", n);
	check(!traps, "a SIGTRAP was delivered", n);
}

static void ignore_begin(void)
{
	signal(own, SIG_IGN);
}

static void ignore_round(long n)
{
	struct sigaction now;
	int status = -1;
	pid_t pid;

	do_work(n);
	raise(own);
	check(!sigaction(own, NULL, &now) && now.sa_handler == SIG_IGN,
	      "what sigaction says", n);
	if (n % 64)
		return;
	pid = fork();
	if (pid == 0) {
		raise(own);
		_exit(work_is_right(n) && libc_is_right(n) ? 5 : 6);
	}
	waitpid(pid, &status, 0);
	check(WIFEXITED(status) && WEXITSTATUS(status) == 5, "a fork child", n);
}

static void on_usr1(int sig)
{
}

static void clearsighand_begin(void)
{
	signal(SIGUSR1, on_usr1);
}

static void cleared_child(long n, const sigset_t *mask)
{
	struct sigaction now;

	/* First of all, before any call of the kernel. */
	if (!work_is_right(n))
		_exit(99);
	if (sigaction(SIGUSR1, NULL, &now) || now.sa_handler != SIG_DFL)
		_exit(100);
	if (sigaction(own, NULL, &now) || now.sa_handler != SIG_DFL)
		_exit(101);
	if (!mask_is(mask, 0))
		_exit(102);
	if (!work_is_right(n))
		_exit(103);
	_exit(libc_is_right(n) ? (int)(n & 63) : 104);
}

static void clearsighand_round(long n)
{
	struct clone_args args = { .flags = CLONE_CLEAR_SIGHAND,
				   .exit_signal = SIGCHLD };
	int status = -1;
	pid_t pid;

	if (n & 1)
		block_all();
	pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0)
		cleared_child(n, n & 1 ? &full : &usual);
	sigprocmask(SIG_SETMASK, &usual, NULL);
	check(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
		      WEXITSTATUS(status) == (n & 63),
	      "a child", n);
	do_work(n);
}

static struct sigaction action;
static sigset_t in_handler;
static volatile int depth, nests, raises, raised;

/* Where the instruction of breakpoint() is, and where the next is. */
static volatile greg_t fault_at, fault_end;
static char *beyond_file;

/* What rax becomes is the handler's answer. */
#define RAISE(insn)                                                      \
	__asm__ volatile("lea 1f(%%rip), %%rcx\n\tmov %%rcx, %1\n\t"     \
			 "lea 2f(%%rip), %%rcx\n\tmov %%rcx, %2\n\t"     \
			 "xor %%ecx, %%ecx\n1:\t" insn "\n2:"            \
			 : "+a"(answer), "=m"(fault_at), "=m"(fault_end) \
			 : "D"(address)                                  \
			 : "rcx", "rdx", "memory", "cc")

static __attribute__((noinline)) long breakpoint(void)
{
	long answer = 0;
	const char *address = own == SIGBUS ? beyond_file : (char *)16;

	switch (own) {
	case SIGTRAP:
		RAISE("int3");
		break;
	case SIGILL:
		RAISE("ud2");
		break;
	case SIGFPE:
		RAISE("idivl %%ecx");
		break;
	default:
		RAISE("movl (%3), %%edx");
	}
	return answer;
}

/* The address that the kernel tells, of an instruction or of memory. */
static int address_is_right(const siginfo_t *info)
{
	switch (own) {
	case SIGTRAP:
		return 1;
	case SIGBUS:
		return info->si_addr == beyond_file;
	case SIGSEGV:
		return info->si_addr == (void *)16;
	default:
		return info->si_addr == (void *)fault_at;
	}
}

static void on_own_trap(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	long n = traps++;

	depth++;
	check(mask_is(&in_handler, 0), "mask in the handler", n);
	check(same_set(&uc->uc_sigmask, &usual, 0) || depth > 1,
	      "mask in the frame", n);
	if (info->si_code == SI_QUEUE)
		check(info->si_value.sival_int == 77, "si_value", n);
	else
		check(info->si_code > 0 || info->si_code == SI_TKILL, "si_code",
		      n);
	if (info->si_code > 0) {
		check(uc->uc_mcontext.gregs[REG_RIP] ==
			      (own == SIGTRAP ? fault_end : fault_at),
		      "pc in the frame", n);
		check(address_is_right(info), "address in siginfo", n);
		uc->uc_mcontext.gregs[REG_RIP] = fault_end;
		uc->uc_mcontext.gregs[REG_RAX] = ANSWER;
	}
	do_work(n);
	if (depth == 1 && nests)
		check(breakpoint() == ANSWER, "int3 in the handler", n);
	/* One that comes when this handler has returned. */
	if (raises)
		raised = !raised;
	if (raised) {
		raise(own);
		check(is_pending(own) && traps == n + 1,
		      "a SIGTRAP in its handler", n);
	}
	depth--;
}

static void handler_begin(void)
{
	static char memory[65536];
	stack_t ss = { .ss_sp = memory, .ss_size = sizeof(memory) };
	int fd = memfd_create("empty", 0);

	sigaltstack(&ss, NULL);
	beyond_file = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
}

static void set_action(long n)
{
	int sig, all = n & 8;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = on_own_trap;
	action.sa_flags = SA_SIGINFO;
	if (n & 1)
		action.sa_flags |= SA_NODEFER;
	if (n & 2)
		action.sa_flags |= SA_ONSTACK;
	if (n & 4)
		action.sa_flags |= SA_RESTART;
	if (all)
		sigfillset(&action.sa_mask);
	else
		sigaddset(&action.sa_mask, SIGUSR1);
	/* A mask of everything includes SIGTRAP, whatever SA_NODEFER says. */
	in_handler = usual;
	for (sig = 1; sig < NSIG; sig++)
		if (sigismember(&action.sa_mask, sig) == 1 && sig != SIGKILL &&
		    sig != SIGSTOP)
			sigaddset(&in_handler, sig);
	if (!(action.sa_flags & SA_NODEFER))
		sigaddset(&in_handler, own);
	nests = !sigismember(&in_handler, own);
	raises = !nests && n & 16;
	sigaction(own, &action, NULL);
}

static void handler_round(long n)
{
	union sigval value = { .sival_int = 77 };
	struct sigaction now;
	long before = traps;
	sigset_t kept;

	set_action(n);
	do_work(n);
	check(breakpoint() == ANSWER, "what int3 returned", n);
	raise(own);
	sigqueue(getpid(), own, value);
	check(traps - before == (nests || raises ? 6 : 3), "number of traps",
	      n);
	kept = action.sa_mask;
	sigdelset(&kept, SIGKILL);
	sigdelset(&kept, SIGSTOP);
	check(!sigaction(own, NULL, &now) && now.sa_sigaction == on_own_trap &&
		      (now.sa_flags & ~SA_RESTORER) == action.sa_flags &&
		      same_set(&now.sa_mask, &kept, 0),
	      "what sigaction says", n);
	wanted_traps += nests || raises ? 6 : 3;
}

static void *thread(void *arg)
{
	do_work((long)arg);
	return arg;
}

static void run_true(long n)
{
	char *argv[] = { "true", NULL };
	posix_spawnattr_t attr;
	sigset_t all, none;
	int status = -1;
	pid_t pid;

	sigfillset(&all);
	sigemptyset(&none);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, n & 1 ? POSIX_SPAWN_SETSIGDEF |
							POSIX_SPAWN_SETSIGMASK :
						0);
	if (posix_spawn(&pid, "/bin/true", NULL, &attr, argv, environ))
		pid = -1;
	posix_spawnattr_destroy(&attr);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		printf("posix_spawn(): status %x\n", status);
	check(!status, "posix_spawn()", n);
}

static void spawn_round(long n)
{
	pthread_t threads[3];
	void *back;
	long i;

	for (i = 0; i < 3; i++)
		check(!pthread_create(&threads[i], NULL, thread,
				      (void *)(n + i)),
		      "pthread_create()", n);
	run_true(n);
	if (n % 16 == 0)
		check(WEXITSTATUS(system("exit 7")) == 7, "system()", n);
	do_work(n);
	for (i = 0; i < 3; i++)
		check(!pthread_join(threads[i], &back) &&
			      back == (void *)(n + i),
		      "pthread_join()", n);
	check(mask_is(&usual, 0), "mask", n);
}

static int epoll, ready[2];

static int call_sigsuspend(const sigset_t *mask)
{
	return sigsuspend(mask);
}

/* The others wait for a byte that comes only where it is wanted. */
static int call_ppoll(const sigset_t *mask)
{
	struct pollfd fd = { .fd = ready[0], .events = POLLIN };

	return ppoll(&fd, 1, NULL, mask);
}

static int call_pselect(const sigset_t *mask)
{
	fd_set fds;

	FD_ZERO(&fds);
	FD_SET(ready[0], &fds);
	return pselect(ready[0] + 1, &fds, NULL, NULL, NULL, mask);
}

static int call_epoll_pwait(const sigset_t *mask)
{
	struct epoll_event event;

	return epoll_pwait(epoll, &event, 1, -1, mask);
}

static int call_epoll_pwait2(const sigset_t *mask)
{
	struct epoll_event event;

	return epoll_pwait2(epoll, &event, 1, NULL, mask);
}

static int call_raw_ppoll(const sigset_t *mask)
{
	struct pollfd fd = { .fd = ready[0], .events = POLLIN };

	return (int)syscall(SYS_ppoll, &fd, 1, NULL, mask, 8);
}

static int call_raw_pselect(const sigset_t *mask)
{
	struct {
		const sigset_t *mask;
		size_t size;
	} pair = { mask, 8 };
	fd_set fds;

	FD_ZERO(&fds);
	FD_SET(ready[0], &fds);
	return (int)syscall(SYS_pselect6, ready[0] + 1, &fds, NULL, NULL, NULL,
			    &pair);
}

static int (*const calls[])(const sigset_t *mask) = {
	call_sigsuspend,   call_ppoll,	   call_pselect,     call_epoll_pwait,
	call_epoll_pwait2, call_raw_ppoll, call_raw_pselect,
};
#define NR_CALLS ((long)(sizeof(calls) / sizeof(calls[0])))

static sigset_t inside, inside_handler;
static volatile long wakes, asleep;
static volatile int until_told;
static volatile int with_trap, wake_with;
/* Every probe is one. The kernel keeps one pending SIGTRAP: one that is sent to a thread may be lost
 * beside a breakpoint. */
static int breakpoints_only;
enum { RAISED = 1, SENT = 2 };
static pthread_t sleeper;

/* Where the thread under test is about to sleep, this one wakes it. */
static void *waker(void *arg)
{
	long seen = 0, n, i;

	for (;;) {
		n = __atomic_load_n(&asleep, __ATOMIC_ACQUIRE);
		if (n == seen) {
			sched_yield();
			continue;
		}
		seen = n;
		if (n & 1)
			usleep((useconds_t)(n * 37 % 300));
		for (i = 0; i < n * 7919 % 4096; i++)
			__asm__ volatile("pause");
		if (with_trap == SENT)
			pthread_kill(sleeper, own);
		pthread_kill(sleeper, wake_with);
	}
	return arg;
}

static void on_wake(int sig)
{
	int i;

	wakes++;
	for (i = 0; i < 20; i++)
		do_work(wakes + i);
	check(mask_is(&inside_handler, 0), "mask in the handler", wakes);
	if (with_trap == RAISED)
		raise(own);
	/* One that was sent may have come before the call. */
	if (with_trap)
		check(is_pending(own) == (traps == wanted_traps),
		      "a SIGTRAP in the handler", wakes);
	if (with_trap == RAISED)
		check(traps == wanted_traps, "a SIGTRAP came too early", wakes);
}

static void on_trap_inside(int sig, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;

	traps++;
	do_work(traps);
	check(mask_is(&inside_handler, own), "mask in the handler", traps);
	check(same_set(&uc->uc_sigmask, &usual, own), "mask in the frame",
	      traps);
}

static void sleeps_begin(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct sigaction act = { .sa_handler = on_wake };
	const char *arming = getenv("DPROBES_ARM");
	pthread_t thread;

	breakpoints_only = own == SIGTRAP && arming && !strcmp(arming, "trap");
	sigaction(SIGUSR1, &act, NULL);
	sigaddset(&usual, SIGUSR1);
	sigprocmask(SIG_SETMASK, &usual, NULL);
	epoll = epoll_create1(0);
	if (pipe(ready) || epoll_ctl(epoll, EPOLL_CTL_ADD, ready[0], &event))
		check(0, "pipe", 0);
	sleeper = pthread_self();
	block_all();
	pthread_create(&thread, NULL, waker, NULL);
	sigprocmask(SIG_SETMASK, &usual, NULL);
}

static void sleep_begin(void)
{
	signal(own, count_trap);
	sleeps_begin();
	wake_with = SIGUSR1;
	inside_handler = full;
	inside = full;
	sigdelset(&inside, SIGUSR1);
}

static void sleep_round(long n)
{
	long before = wakes;
	int ret;

	with_trap = n % 5 ? (int)(n % 3) : RAISED;
	/* Any stop, whoever makes it, lets a signal come that only the call blocks. */
	if ((until_told || breakpoints_only) && with_trap == SENT)
		with_trap = 0;
	if (n % 5 == 0)
		raise(SIGUSR1);
	else
		__atomic_store_n(&asleep, n + 1, __ATOMIC_RELEASE);
	ret = calls[n % NR_CALLS](&inside);
	check(ret == -1 && errno == EINTR, "what the call returned", n);
	check(wakes == before + 1, "number of wakes", n);
	wanted_traps += with_trap != 0;
	check(traps == wanted_traps, "number of traps", n);
	check(mask_is(&usual, 0), "mask", n);
	do_work(n);
}

static long kind;

static void asleep_begin(void)
{
	struct sigaction act = { .sa_handler = on_wake };
	struct epoll_event event = { .events = EPOLLIN };

	sigaction(SIGUSR1, &act, NULL);
	sigaddset(&usual, SIGUSR1);
	block_all();
	sigprocmask(SIG_SETMASK, &usual, NULL);
	inside_handler = full;
	inside = full;
	sigdelset(&inside, SIGUSR1);
	epoll = epoll_create1(0);
	check(!pipe(ready) &&
		      !epoll_ctl(epoll, EPOLL_CTL_ADD, ready[0], &event),
	      "pipe", 0);
}

static void asleep_round(long n)
{
	int ret = calls[kind % NR_CALLS](&inside);

	check(ret == -1 && errno == EINTR, "what the call returned", n);
	check(wakes == n + 1, "number of wakes", n);
	check(mask_is(&usual, 0), "mask", n);
	do_work(n);
	printf("awake %ld\n", wakes);
	fflush(stdout);
}

static void open_begin(void)
{
	struct sigaction act = { .sa_sigaction = on_trap_inside,
				 .sa_flags = SA_SIGINFO };

	sigaction(own, &act, NULL);
	sigaddset(&usual, own);
	sleeps_begin();
	sigemptyset(&inside);
	sigaddset(&inside, SIGTERM);
}

/* Something to return at once goes before a signal. */
static void open_ready(long n)
{
	char c = 'x';
	int which = 1 + (int)(n % (NR_CALLS - 1));

	check(write(ready[1], &c, 1) == 1, "write()", n);
	raise(own);
	check(calls[which](&inside) == 1, "what the call returned", n);
	check(read(ready[0], &c, 1) == 1, "read()", n);
	check(traps == wanted_traps, "a SIGTRAP came too early", n);
	check(is_pending(own), "no SIGTRAP is pending", n);
	check(mask_is(&usual, 0), "mask", n);
}

static void open_round(long n)
{
	int ret;

	inside_handler = inside;
	wake_with = n % 3 == 1 ? SIGUSR1 : own;
	if (wake_with == SIGUSR1)
		sigaddset(&inside_handler, SIGUSR1);
	if (n % 6 == 0)
		open_ready(n);
	else if (n % 3 == 0 || (breakpoints_only && wake_with == own))
		raise(own);
	else
		__atomic_store_n(&asleep, n + 1, __ATOMIC_RELEASE);
	ret = calls[n % NR_CALLS](&inside);
	check(ret == -1 && errno == EINTR, "what the call returned", n);
	wanted_traps += wake_with == own;
	check(traps == wanted_traps, "number of traps", n);
	check(!is_pending(own), "a SIGTRAP is pending", n);
	check(mask_is(&usual, 0), "mask", n);
	do_work(n);
}

static sigjmp_buf out;
static volatile int jumps, forks, is_child;

static void on_leave(int sig)
{
	int status = -1;
	pid_t pid;

	wakes++;
	do_work(wakes);
	check(mask_is(&inside_handler, 0), "mask in the handler", wakes);
	if (forks && !is_child) {
		pid = fork();
		is_child = !pid;
		if (pid)
			waitpid(pid, &status, 0);
		check(!pid || (WIFEXITED(status) && WEXITSTATUS(status) == 5),
		      "a child", wakes);
	}
	do_work(wakes);
	if (jumps)
		siglongjmp(out, 1);
}

static void leave_begin(void)
{
	sleep_begin();
	signal(SIGUSR1, on_leave);
}

/* From elsewhere on the stack than the last time. */
static __attribute__((noinline)) int call_deeper(long depth, long n)
{
	volatile char room[48];
	int ret;

	room[0] = (char)depth;
	ret = depth ? call_deeper(depth - 1, n) : calls[n % NR_CALLS](&inside);
	return room[0] == (char)depth ? ret : 0;
}

static void leave_child(long n)
{
	long before = wakes;
	int ret;

	jumps = 0;
	raise(SIGUSR1);
	ret = calls[(n + 1) % NR_CALLS](&inside);
	check(ret == -1 && errno == EINTR && wakes == before + 1,
	      "a call of a child's", n);
	check(mask_is(&usual, 0), "mask of a child", n);
	do_work(n);
	_exit(failures ? 6 : 5);
}

static void leave_round(long n)
{
	long before = wakes;
	int ret;

	jumps = n % 3 != 0;
	forks = n % 16 < 2;
	if (!sigsetjmp(out, 1)) {
		__atomic_store_n(&asleep, n + 1, __ATOMIC_RELEASE);
		ret = call_deeper(n * 7 % 5, n);
		check(ret == -1 && errno == EINTR && !jumps,
		      "what the call returned", n);
	}
	check(mask_is(&usual, 0), "mask", n);
	check(wakes == before + 1, "number of wakes", n);
	if (is_child)
		leave_child(n);
	do_work(n);
}

static volatile long cleanups;
static volatile pid_t cancelled_tid;

static void on_cancel(void *arg)
{
	do_work((long)arg);
	cleanups++;
}

static __attribute__((noinline)) long cancelled(long n)
{
	sigset_t mask = full;

	cancelled_tid = gettid();
	pthread_cleanup_push(on_cancel, (void *)n);
	__atomic_store_n(&asleep, n + 1, __ATOMIC_RELEASE);
	for (;;)
		calls[n % (NR_CALLS - NR_RAW)](&mask);
	pthread_cleanup_pop(0);
	return n;
}

static void *cancelled_thread(void *arg)
{
	return (void *)cancelled((long)arg);
}

static void cancel_begin(void)
{
	block_all();
	sigprocmask(SIG_SETMASK, &usual, NULL);
	epoll = epoll_create1(0);
	check(!pipe(ready), "pipe()", 0);
}

/* Is it asleep in the call? */
static int sleeps(pid_t tid)
{
	char path[64], state = 'R';
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	f = fopen(path, "re");
	if (f) {
		if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
			state = 'R';
		fclose(f);
	}
	return state == 'S';
}

static void cancel_round(long n)
{
	long before = cleanups;
	pthread_t thread;
	void *back;

	cancelled_tid = 0;
	check(!pthread_create(&thread, NULL, cancelled_thread, (void *)n),
	      "pthread_create()", n);
	while (__atomic_load_n(&asleep, __ATOMIC_ACQUIRE) != n + 1 ||
	       !sleeps(cancelled_tid))
		sched_yield();
	pthread_cancel(thread);
	check(!pthread_join(thread, &back) && back == PTHREAD_CANCELED,
	      "pthread_join()", n);
	check(cleanups == before + 1, "cleanup", n);
	do_work(n);
}

/* What is pending stays so, and what is blocked. */
static void exec_end(void)
{
	if (!failures)
		execl("/proc/self/exe", "blocked", "executed", NULL);
	check(0, "execl()", 0);
}

static int executed(void)
{
	sigset_t mask;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	printf("executed: SIGTRAP is %sblocked and %spending\n",
	       sigismember(&mask, own) ? "" : "not ",
	       is_pending(own) ? "" : "not ");
	return 0;
}

static const struct mode modes[] = {
	{ "sleep", sleep_begin, sleep_round, nothing },
	{ "open", open_begin, open_round, nothing },
	{ "asleep", asleep_begin, asleep_round, nothing },
	{ "leave", leave_begin, leave_round, nothing },
	{ "cancel", cancel_begin, cancel_round, nothing },
	{ "mask", block_all, mask_round, mask_end },
	{ "pending", pending_begin, pending_round, mask_end },
	{ "exec", pending_begin, pending_round, exec_end },
	{ "ignore", ignore_begin, ignore_round, nothing },
	{ "clearsighand", clearsighand_begin, clearsighand_round, nothing },
	{ "handler", handler_begin, handler_round, nothing },
	{ "spawn", nothing, spawn_round, nothing },
};

/* SIGTERM stays blocked and is looked for. */
static void run(const struct mode *mode, long rounds)
{
	sigset_t term;
	long n;

	until_told = !rounds;
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	sigprocmask(SIG_BLOCK, NULL, &usual);
	puts("running");
	fflush(stdout);
	mode->begin();
	for (n = 0; !failures && !is_pending(SIGTERM); n++) {
		if (rounds && n >= rounds)
			break;
		mode->round(n);
	}
	mode->end();
	check(traps == wanted_traps, "number of traps at the end", n);
	if (failures)
		return;
	if (rounds)
		printf("right: %s, %ld rounds, %ld traps\n", mode->name, n,
		       traps);
	else
		printf("right: %s\n", mode->name);
}

int main(int argc, char **argv)
{
	long rounds = argc > 2 ? atol(argv[2]) : 100;
	size_t i;

	kind = argc > 3 ? atol(argv[3]) : 0;
	if (getenv("BLOCKED_SIGNAL"))
		own = atoi(getenv("BLOCKED_SIGNAL"));
	if (argc > 1 && !strcmp(argv[1], "executed"))
		return executed();
	for (i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(argv[1], modes[i].name)) {
			run(&modes[i], rounds);
			return failures != 0;
		}
	fputs("blocked: no such mode\n", stderr);
	return 2;
}
