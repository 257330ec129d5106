// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_filter: what filters say, with the kernel as the oracle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "arch/uframe.h"
#include "engine/layout/arena.h"
#include "engine/layout/private.h"
#include "engine/site/engine.h"
#include "engine/site/internal.h"
#include "proc/linker.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/stop.h"
#include "proc/seccomp/filters.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define TRIES 8
#define MOST 24

#define LOAD(field) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define JEQ(k, t, f) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, k, t, f)
#define RET(k) BPF_STMT(BPF_RET | BPF_K, k)
#define ask(code, nr) dp_filter_ask(code, ARRAY_SIZE(code), nr)

static void a_list_of_calls(void **state)
{
	static const struct sock_filter code[] = {
		LOAD(arch),
		JEQ(AUDIT_ARCH_X86_64, 1, 0),
		RET(SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
		JEQ(SYS_rt_sigreturn, 1, 0),
		JEQ(SYS_write, 0, 1),
		RET(SECCOMP_RET_ALLOW),
		RET(SECCOMP_RET_ERRNO | 1),
	};

	assert_int_equal(ask(code, SYS_rt_sigreturn), DP_FILTER_ALWAYS);
	assert_int_equal(ask(code, SYS_write), DP_FILTER_ALWAYS);
	assert_int_equal(ask(code, SYS_read), DP_FILTER_NEVER);
}

static void arguments_and_callers_are_not_known(void **state)
{
	static const struct sock_filter by_argument[] = {
		LOAD(nr),
		JEQ(SYS_clone, 0, 3),
		LOAD(args[0]),
		JEQ(17, 0, 1),
		RET(SECCOMP_RET_ALLOW),
		RET(SECCOMP_RET_KILL_PROCESS),
	};
	static const struct sock_filter by_caller[] = {
		LOAD(instruction_pointer),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 4096, 0, 1),
		RET(SECCOMP_RET_ALLOW),
		RET(SECCOMP_RET_TRAP),
	};
	static const struct sock_filter same[] = {
		LOAD(args[1]),
		JEQ(3, 0, 1),
		RET(SECCOMP_RET_ALLOW),
		RET(SECCOMP_RET_LOG),
	};

	assert_int_equal(ask(by_argument, SYS_clone), DP_FILTER_PERHAPS);
	assert_int_equal(ask(by_argument, SYS_fork), DP_FILTER_NEVER);
	assert_int_equal(ask(by_caller, SYS_fork), DP_FILTER_PERHAPS);
	assert_int_equal(ask(same, SYS_fork), DP_FILTER_ALWAYS);
}

static void others_decide(void **state)
{
	static const u32 actions[] = { SECCOMP_RET_TRACE,
				       SECCOMP_RET_USER_NOTIF,
				       SECCOMP_RET_TRAP };
	struct sock_filter code[] = { RET(0) };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(actions); i++) {
		code[0].k = actions[i];
		assert_int_equal(ask(code, SYS_read), DP_FILTER_PERHAPS);
	}
	code[0].k = 0x12340000;
	assert_int_equal(ask(code, SYS_read), DP_FILTER_NEVER);
}

/* What is known survives where ways meet that agree on it. */
static void ways_meet(void **state)
{
	static const struct sock_filter code[] = {
		LOAD(nr),
		BPF_STMT(BPF_ST, 3),
		LOAD(args[0]),
		JEQ(1, 0, 1),
		BPF_STMT(BPF_LD | BPF_IMM, 7),
		BPF_STMT(BPF_LD | BPF_MEM, 3),
		JEQ(SYS_read, 0, 1),
		RET(SECCOMP_RET_ALLOW),
		RET(SECCOMP_RET_ERRNO),
	};

	assert_int_equal(ask(code, SYS_read), DP_FILTER_ALWAYS);
	assert_int_equal(ask(code, SYS_write), DP_FILTER_NEVER);
}

/* 4,096 instructions with a fork of the way at every second one. */
static void many_ways_take_no_time(void **state)
{
	struct sock_filter *code = calloc(4096, sizeof(*code));
	size_t i;

	assert_non_null(code);
	for (i = 0; i < 4094; i += 2) {
		code[i] = (struct sock_filter)LOAD(args[0]);
		code[i + 1] = (struct sock_filter)JEQ((u32)i, 0, 1);
	}
	for (; i < 4096; i++)
		code[i] = (struct sock_filter)RET(SECCOMP_RET_ALLOW);
	assert_int_equal(dp_filter_ask(code, 4096, SYS_read), DP_FILTER_ALWAYS);
	free(code);
}

static void what_is_no_filter_decides_nothing(void **state)
{
	static const struct sock_filter falls[] = { LOAD(nr) };
	static const struct sock_filter far[] = {
		BPF_STMT(BPF_JMP | BPF_JA, 0xffffffff), RET(SECCOMP_RET_ALLOW)
	};

	assert_int_equal(dp_filter_ask(NULL, 0, SYS_read), DP_FILTER_PERHAPS);
	assert_int_equal(ask(falls, SYS_read), DP_FILTER_PERHAPS);
	assert_int_equal(ask(far, SYS_read), DP_FILTER_PERHAPS);
}

static u32 one_of(const u32 *v, size_t n)
{
	return v[(size_t)rand() % n];
}
#define ONE_OF(v) one_of(v, ARRAY_SIZE(v))

static const u32 calls[] = { SYS_getppid, SYS_getpid };
static const u32 results[] = {
	SECCOMP_RET_ALLOW,	  SECCOMP_RET_ALLOW,
	SECCOMP_RET_LOG,	  SECCOMP_RET_ERRNO | 5,
	SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD,
	SECCOMP_RET_TRACE,	  0x7ff50000
};
static const u32 constants[] = { 0,	 1,	      2,
				 31,	 SYS_getppid, SYS_getpid,
				 0xffff, 0x80000000,  AUDIT_ARCH_X86_64 };
static const u32 loads[] = { 0, 0, 0, 4, 8, 16, 24, 40, 60 };
static const u32 alus[] = { BPF_ADD, BPF_SUB, BPF_MUL, BPF_AND, BPF_OR,
			    BPF_XOR, BPF_LSH, BPF_RSH, BPF_DIV, BPF_NEG };
static const u32 jumps[] = { BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET };

static struct sock_filter random_alu(void)
{
	u32 op = ONE_OF(alus), src = rand() % 3 ? BPF_K : BPF_X;
	u32 k = ONE_OF(constants);

	if (op == BPF_LSH || op == BPF_RSH)
		k %= 32;
	if (op == BPF_DIV && !k)
		k = 3;
	if (op == BPF_NEG)
		src = k = 0;
	return (struct sock_filter)BPF_STMT((u16)(BPF_ALU | op | src),
					    src == BPF_X ? 0 : k);
}

/* @left: instructions behind it */
static struct sock_filter random_step(int left, bool *stored)
{
	u16 src = rand() % 3 ? BPF_K : BPF_X;

	switch (rand() % 10) {
	case 0:
	case 1:
	case 2:
		return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						    ONE_OF(loads));
	case 3:
		return random_alu();
	case 4:
		return (struct sock_filter)BPF_STMT(
			(u16)(BPF_MISC | (rand() % 2 ? BPF_TAX : BPF_TXA)), 0);
	case 5:
		if (*stored)
			return (struct sock_filter)BPF_STMT(
				(u16)((rand() % 2 ? BPF_LD : BPF_LDX) |
				      BPF_MEM),
				0);
		/* fall through */
	case 6:
		return (struct sock_filter)BPF_STMT(
			(u16)((rand() % 2 ? BPF_LD : BPF_LDX) | BPF_IMM),
			ONE_OF(constants));
	default:
		return (struct sock_filter)BPF_JUMP(
			(u16)(BPF_JMP | ONE_OF(jumps) | src),
			src == BPF_X ? 0 : ONE_OF(constants),
			(u8)(rand() % left), (u8)(rand() % left));
	}
}

/* One that the kernel takes. */
static size_t random_filter(struct sock_filter *code)
{
	int n = 4 + rand() % (MOST - 4), i = 0;
	bool stored = rand() % 2;

	if (stored) {
		code[i++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_IMM,
							 ONE_OF(constants));
		code[i++] = (struct sock_filter)BPF_STMT(BPF_ST, 0);
	}
	for (; i < n - 1; i++)
		code[i] = rand() % 8 ? random_step(n - 1 - i, &stored) :
				       (struct sock_filter)RET(ONE_OF(results));
	code[n - 1] = (struct sock_filter)RET(ONE_OF(results));
	if (rand() % 8 == 0)
		code[n - 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_A, 0);
	return (size_t)n;
}

struct tried {
	u32 begun, made;
};

/* A child makes the call, with all kinds of arguments; its end needs none. */
static void try_it(const struct sock_filter *code, size_t n, u32 nr,
		   struct tried *tried)
{
	struct sock_fprog prog = { (unsigned short)n, (void *)code };
	static const struct rlimit none;
	long expected, ret;
	int i;

	setrlimit(RLIMIT_CORE, &none);
	signal(SIGILL, SIG_DFL);
	expected = syscall(nr);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		_exit(1);
	for (i = 0; i < TRIES; i++) {
		tried->begun++;
		ret = syscall(nr, i & 1 ? (long)ONE_OF(constants) : rand(),
			      rand() % 2, rand(), ONE_OF(constants), 0, -1l);
		tried->made += ret == expected;
	}
	__builtin_trap();
}

static void the_kernel_agrees(void **state)
{
	struct tried *tried = mmap(NULL, sizeof(*tried), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const char *times = getenv("TIMES");
	int left = times ? atoi(times) : 1500, decided = 0, status;
	struct sock_filter code[MOST];
	enum dp_filter_says says;
	size_t n;
	u32 nr;
	pid_t pid;

	assert_ptr_not_equal(tried, MAP_FAILED);
	srand(7);
	while (left-- > 0) {
		n = random_filter(code);
		nr = ONE_OF(calls);
		says = dp_filter_ask(code, n, nr);
		*tried = (struct tried){ 0 };
		pid = fork();
		assert_true(pid >= 0);
		if (!pid)
			try_it(code, n, nr, tried);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status) && tried->begun);
		if (says == DP_FILTER_ALWAYS)
			assert_int_equal(tried->made, TRIES);
		else if (says == DP_FILTER_NEVER)
			assert_int_equal(tried->made, 0);
		decided += says != DP_FILTER_PERHAPS;
	}
	assert_true(decided > (times ? 0 : 500));
	munmap(tried, sizeof(*tried));
}

#define INSTALLERS 3

/** struct meeting - what the installers and the test share
 *  @tid: the thread that is about to install a filter; @go: its number, from 1 on, may
 *  @done: so many have */
struct meeting {
	pid_t tid;
	u32 go, done;
};

static struct meeting *meeting;
static struct dp_mcontext asks;

static void *install(void *arg)
{
	const struct sock_filter code[] = { RET(SECCOMP_RET_ALLOW) };
	const struct sock_fprog prog = { 1, (struct sock_filter *)code };
	u32 mine = (u32)(uintptr_t)arg;

	while (__atomic_load_n(&meeting->done, __ATOMIC_ACQUIRE) < mine - 1)
		usleep(100);
	__atomic_store_n(&meeting->tid, gettid(), __ATOMIC_RELEASE);
	/* As the agent waits: with the address of the registers in r8. */
	while (__atomic_load_n(&meeting->go, __ATOMIC_ACQUIRE) < mine)
		syscall(SYS_futex, &meeting->go, FUTEX_WAIT, mine - 1, NULL,
			&asks, 0);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		_exit(1);
	__atomic_store_n(&meeting->tid, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&meeting->done, mine, __ATOMIC_RELEASE);
	for (;;)
		pause();
}

static void be_confined(void)
{
	pthread_t t;
	uintptr_t i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (i = 1; i <= INSTALLERS; i++)
		pthread_create(&t, NULL, install, (void *)i);
	for (;;)
		pause();
}

static void ask_for_one(struct dp_process *proc, u64 number)
{
	struct dp_arena *a = dp_engine_arena(proc->engine);

	a->hit.filter_ask = number << DP_FILTER_NUMBER | (u64)&asks;
	assert_null(dp_process_filter_installed(proc));
	assert_true(dp_filter_answered(a->hit.filter_ask,
				       a->control.filter_answered));
}

static void see_one_install(struct dp_process *proc, u32 number)
{
	struct dp_thread_state d = { 0 };
	pid_t tid;

	do
		tid = __atomic_load_n(&meeting->tid, __ATOMIC_ACQUIRE);
	while (!tid || !dp_thread_state_read(proc->pid, tid, &d) ||
	       d.nr != SYS_futex);
	ask_for_one(proc, number);
	__atomic_store_n(&meeting->go, number, __ATOMIC_RELEASE);
	syscall(SYS_futex, &meeting->go, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	while (__atomic_load_n(&meeting->done, __ATOMIC_ACQUIRE) < number)
		assert_int_equal(waitpid(proc->pid, NULL, WNOHANG), 0);
}

/* Counted together, they would hide a filter that comes unseen. */
static void each_thread_has_its_own(void **state)
{
	static const struct sock_filter code[] = { RET(SECCOMP_RET_ALLOW) };
	static const struct {
		u16 len, pad[3];
		const struct sock_filter *code;
	} prog = { .len = 1, .code = code };
	struct dp_engine engine = { .arena = calloc(1,
						    sizeof(struct dp_arena)) };
	struct dp_process proc = { .pidfd = -1,
				   .installed = true,
				   .engine = &engine };
	char path[64];
	u32 i;

	meeting = mmap(NULL, sizeof(*meeting), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(meeting, MAP_FAILED);
	asks.rax = SYS_prctl;
	asks.rdi = PR_SET_SECCOMP;
	asks.rsi = SECCOMP_MODE_FILTER;
	asks.rdx = (u64)&prog;
	proc.pid = fork();
	if (!proc.pid)
		be_confined();
	snprintf(path, sizeof(path), "/proc/%d/mem", proc.pid);
	proc.mem = open(path, O_RDWR | O_CLOEXEC);
	assert_true(proc.mem >= 0);
	for (i = 1; i <= INSTALLERS; i++) {
		see_one_install(&proc, i);
		assert_int_equal(proc.nr_filters, 1);
		assert_false(dp_process_filters_came(&proc, 0));
	}
	/* While it is not known which thread asks, it may be any. */
	ask_for_one(&proc, i);
	assert_int_equal(proc.nr_filters, 2);
	kill(proc.pid, SIGKILL);
	waitpid(proc.pid, NULL, 0);
	close(proc.mem);
	munmap(meeting, sizeof(*meeting));
	free(engine.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_of_calls),
		cmocka_unit_test(arguments_and_callers_are_not_known),
		cmocka_unit_test(others_decide),
		cmocka_unit_test(ways_meet),
		cmocka_unit_test(many_ways_take_no_time),
		cmocka_unit_test(what_is_no_filter_decides_nothing),
		cmocka_unit_test(the_kernel_agrees),
		cmocka_unit_test(each_thread_has_its_own),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
