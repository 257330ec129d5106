// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * dispatch: a program under Syscall User Dispatch, as emulators of other systems are.
 *
 *   dispatch selector|often|threads|range|narrow|later STOP
 *
 * A "guest" makes calls with a number that Linux does not have; they are to come to the
 * program's handler of SIGSYS, and nothing else is, each from the one instruction that
 * makes them, and with the guest's registers. selector: a byte forbids all calls while
 * the guest runs, but the one by which the handler returns. often: the program itself runs as
 * long as the guest does. threads: so in three threads,
 * each with its own byte, beside one without. range: there is no byte; calls are
 * permitted in libc. narrow: nor there, but in one instruction. later: as selector, from when the
 * file STOP.on is there. Until the file STOP is there; then "right N", or "wrong" and why.
 */
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif
#define GUEST_CALL 0xf00
#define ANSWER 42
#define ALLOW 0
#define BLOCK 1
#define ROUNDS 2000

/* What the kernel's sigaction takes: libc's own restorer makes its call elsewhere. */
struct action {
	void (*handler)(int, siginfo_t *, void *);
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask;
};
#define SA_RESTORER 0x04000000

extern char guest_called[], returns[];
void restorer(void);
long guest_call(long magic);
long victim_function(long n);
long short_function(long n);
static __thread volatile unsigned char selector;
static __thread volatile long answered;
static volatile long wrong[8];
static const char *const what[8] = {
	"a call that the guest did not make",
	"a call from elsewhere",
	"the guest's registers",
	"the guest's results",
	"calls were not forbidden any more",
	"an answer",
	"a mask",
	"an answer lost",
};
static char stop[256], on[256];
static volatile int ends;
static long between; /* functions that are called while all calls are permitted */

__asm__(".globl restorer, returns\n"
	"restorer: movl $15, %eax\n"
	"returns: syscall\n"
	".globl guest_call, guest_called\n"
	"guest_call: movl $0xf00, %eax\n"
	"movq %rdi, %r9\n"
	"syscall\n"
	"guest_called: ret\n");

__attribute__((noipa)) long victim_function(long n)
{
	return n * 3 + 1 + n / 7 - n / 7;
}

/* A jump has no room here. */
__attribute__((noipa, naked)) long short_function(long n)
{
	__asm__("ret");
}

static void dispatched(int sig, siginfo_t *si, void *context)
{
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;

	selector = ALLOW;
	if (r[REG_RAX] != GUEST_CALL || si->si_syscall != GUEST_CALL)
		wrong[0]++;
	if (r[REG_RIP] != (greg_t)guest_called)
		wrong[1]++;
	if (r[REG_RDI] != r[REG_R9])
		wrong[2]++;
	answered++;
	r[REG_RAX] = ANSWER;
	selector = BLOCK;
}

static void guest(int forbidden)
{
	long i;

	for (i = 0; i < 300; i++)
		if (victim_function(i) != i * 3 + 1 || short_function(i) < 0)
			wrong[3]++;
	if (guest_call(0x1234567) != ANSWER)
		wrong[5]++;
	if (forbidden && selector != BLOCK)
		wrong[4]++;
}

static int libc_text(struct dl_phdr_info *info, size_t size, void *arg)
{
	unsigned long *range = arg;
	int i;

	if (!strstr(info->dlpi_name, "libc.so"))
		return 0;
	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_flags & PF_X) {
			range[0] = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
			range[1] = info->dlpi_phdr[i].p_memsz;
		}
	return 1;
}

static int dispatch(int by_selector, int narrow)
{
	unsigned long range[2] = { (unsigned long)returns, 3 };

	if (!by_selector && !narrow)
		dl_iterate_phdr(libc_text, range);
	return prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, range[0], range[1],
		     by_selector ? &selector : NULL);
}

/* The mask that it had in the beginning is the one it has in the end. */
static void work(int by_selector)
{
	sigset_t before, after;
	long rounds, i, k;

	sigemptyset(&before);
	sigemptyset(&after);
	sigprocmask(SIG_SETMASK, NULL, &before);
	for (rounds = 0; !ends; rounds++) {
		for (i = 0; i < 20; i++) {
			selector = BLOCK;
			guest(by_selector);
			selector = ALLOW;
			for (k = 0; k < between; k++)
				victim_function(k);
		}
		if (rounds % 16 == 0 && !access(stop, F_OK))
			ends = 1;
	}
	if (answered != rounds * 20)
		wrong[7]++;
	sigprocmask(SIG_SETMASK, NULL, &after);
	if (memcmp(&before, &after, 8)) /* libc leaves the rest */
		wrong[6]++;
}

static void *thread(void *arg)
{
	if (dispatch(1, 0))
		wrong[5]++;
	work(1);
	return NULL;
}

static void *bystander(void *arg)
{
	while (!ends)
		usleep(1000);
	return NULL;
}

/* Its handlers make calls of their own at the end, which nothing permits. */
static void narrow_work(void)
{
	for (;;)
		if (victim_function(7) != 22)
			__builtin_trap();
}

static int tell(void)
{
	int i, bad = 0;

	for (i = 0; i < 8; i++)
		if (wrong[i]) {
			printf("wrong: %s, %ld\n", what[i], wrong[i]);
			bad = 1;
		}
	if (!bad)
		printf("right %ld\n", answered);
	return bad;
}

int main(int argc, char **argv)
{
	struct action a = { dispatched, SA_SIGINFO | SA_RESTORER | SA_NODEFER,
			    restorer, 0 };
	struct sigaction plain = { .sa_sigaction = dispatched,
				   .sa_flags = SA_SIGINFO | SA_NODEFER };
	const char *how = argc > 2 ? argv[1] : "";
	int by_selector = strcmp(how, "range") && strcmp(how, "narrow");
	pthread_t t[3];
	int i;

	if (argc < 3)
		return 2;
	snprintf(stop, sizeof(stop), "%s", argv[2]);
	snprintf(on, sizeof(on), "%.200s.on", argv[2]);
	setvbuf(stdout, NULL, _IOLBF, 0);
	between = strcmp(how, "often") ? 0 : 5000;
	/* libc's restorer is where calls are permitted, or ours. */
	if (!strcmp(how, "range") ?
		    sigaction(SIGSYS, &plain, NULL) :
		    syscall(SYS_rt_sigaction, SIGSYS, &a, NULL, 8))
		return 3;
	if (!strcmp(how, "later")) {
		puts("ready");
		while (access(on, F_OK) && victim_function(1) == 4)
			usleep(100);
	}
	if (!strcmp(how, "narrow"))
		puts("ready");
	if (dispatch(by_selector, !strcmp(how, "narrow"))) {
		puts("there is no dispatch");
		return 77;
	}
	if (!strcmp(how, "narrow"))
		narrow_work();
	for (i = 0; i < 3 && !strcmp(how, "threads"); i++)
		pthread_create(&t[i], NULL, i ? thread : bystander, NULL);
	if (strcmp(how, "later"))
		puts("ready");
	work(by_selector);
	for (i = 0; i < 3 && !strcmp(how, "threads"); i++)
		pthread_join(t[i], NULL);
	return tell();
}
