// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_drain: whether threads of another process, running and asleep, are out of some code. */
#include <dprobes/diag.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "arch/arch.h"
#include "arch/uregs.h"
#include "proc/attach/attach.h"
#include "proc/attach/drain.h"
#include "proc/proc.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/stop.h"

/** struct looked - what is asked of the threads, and with what
 *  @inside: is the code of the thread that sleeps the code in question?
 *  @poor: the tool has no descriptor left after it has looked at the stopped threads
 *  @running: pc of the stopped thread */
struct looked {
	bool inside, poor;
	u64 running;
};

#define STACK 65536
#define BELOW 4096 /* so far below the stack pointer is the frame, */
#define CODE 0x1234567000 /* and this is where it leads to */

/** struct left - a signal frame below a stack, behind another thread's stack
 *  @signo: in the frame; @short_of: its stack pointer below the thread's
 *  @agents: is the restorer the agent's? @out: may the thread in front stay? */
struct left {
	int signo;
	u64 short_of;
	bool agents, out;
};

static const struct left *left;
static struct dp_sigframe frame;
static atomic_int none_begun;
static atomic_int *begun = &none_begun; /* threads that are where they stay */

extern const char restorer[];
__asm__(".text\n"
	"restorer:\n\t"
	"mov $15, %rax\n\t"
	"syscall\n");

static pid_t victim;
static struct dp_process *proc;

static void *run(void *arg)
{
	atomic_fetch_add(begun, 1);
	for (;;)
		__asm__ volatile("pause");
	return arg;
}

/* A stop would end its call: the tool leaves the first thread asleep. */
static void be_victim(void)
{
	struct epoll_event e;
	pthread_t t;
	int fd = epoll_create1(0);

	alarm(60);
	pthread_create(&t, NULL, run, NULL);
	for (;;)
		epoll_wait(fd, &e, 1, -1);
}

/* What its handler left below its stack */
static void *leave_frame(void *arg)
{
	u64 *sp;

	__asm__ volatile("mov %%rsp, %0" : "=r"(sp));
	frame.uc.mc.rsp = (u64)sp - left->short_of;
	memcpy(sp - BELOW / sizeof(*sp), &frame, sizeof(frame));
	atomic_fetch_add(begun, 1);
	__asm__ volatile("1: pause; jmp 1b" : : : "memory");
	return arg;
}

static void on_stack(u8 *stack, void *(*function)(void *))
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, STACK);
	pthread_create(&t, &attr, function, NULL);
}

static void be_side_by_side(void)
{
	u8 *stacks = mmap(NULL, 2 * STACK, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	frame.restorer = (u64)restorer;
	frame.uc.mc.rip = CODE;
	frame.uc.mc.cs = 0x33;
	frame.info.signo = left->signo;
	alarm(60);
	on_stack(stacks, run);
	on_stack(stacks + STACK, leave_frame);
	atomic_fetch_add(begun, 1);
	for (;;)
		pause();
}

static void await_sleep(void)
{
	u64 sp, pc;

	while (!dp_thread_state_asleep(victim, victim, &sp, &pc))
		usleep(100);
}

static int begin(void **state)
{
	struct dp_diag diag = { 0 };

	victim = fork();
	if (!victim)
		be_victim();
	await_sleep();
	assert_int_equal(dp_process_attach(victim, &proc, &diag), 0);
	/* The look at the process may have woken it. */
	await_sleep();
	assert_int_equal(dp_stop_all(proc, &diag), 0);
	assert_int_equal(proc->nr_threads, 1);
	assert_null(dp_stop_held(proc, victim));
	return 0;
}

static int end(void **state)
{
	dp_stop_release(proc);
	dp_process_close(proc);
	kill(victim, SIGKILL);
	waitpid(victim, NULL, 0);
	return 0;
}

static void set_files(rlim_t n)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = n ? limit.rlim_max : 0;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static bool is_inside(const void *arg, u64 pc)
{
	const struct looked *l = arg;

	if (l->poor)
		set_files(0);
	return pc != l->running && l->inside;
}

static bool nowhere(const void *arg, u64 pc, u64 *to)
{
	return false;
}

static bool look(bool inside, bool poor)
{
	const struct looked l = { inside, poor,
				  dp_uregs_pc(&proc->threads[0].regs) };
	const struct dp_moves moves = { .arg = &l,
					.from = is_inside,
					.to = nowhere };
	bool out = dp_threads_move(proc, &moves);

	set_files(1);
	return out;
}

static void asleep_elsewhere(void **state)
{
	assert_true(look(false, false));
}

static void asleep_inside(void **state)
{
	assert_false(look(true, false));
}

/* Where the threads cannot be listed, any may be inside. */
static void asleep_where_nothing_tells(void **state)
{
	assert_false(look(true, true));
}

static bool leads_there(const void *arg, u64 pc)
{
	return pc == CODE || (left->agents && pc == (u64)restorer);
}

static void await_begin(void)
{
	int i;

	for (i = 0; i < 300000 && atomic_load(begun) != 3; i++)
		usleep(100);
	assert_int_equal(atomic_load(begun), 3);
}

static void stacks_side_by_side(void **state)
{
	static const struct left cases[] = {
		/* A handler may still run: nothing tells that it does not. */
		{ SIGTRAP, 256, true, false },
		{ SIGTRAP, 256, false, false },
		/* It has ended. */
		{ DP_SIGINFO_ENDED, 256, true, true },
		/* But not for a look that lets threads be in the agent. */
		{ DP_SIGINFO_ENDED, 256, false, false },
		/* The other thread is where it was when the signal came. */
		{ SIGTRAP, 0, false, true },
		/* Deeper, by now, than the frame's upper end */
		{ SIGTRAP, (u64)-1024, false, true },
		{ SIGTRAP, (u64)(BELOW - DP_FRAME_MAX), false, true },
		/* So far away is no frame from the stack pointer that it interrupted. */
		{ SIGTRAP, (u64)(BELOW - DP_FRAME_MAX - 16), false, false },
	};
	const struct dp_moves moves = { .from = leads_there, .to = nowhere };
	struct dp_diag diag = { 0 };
	pid_t victims[sizeof(cases) / sizeof(*cases)];
	atomic_int *all_begun = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	size_t i;

	/* All before the first look, which leaves frames on this stack. */
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		left = &cases[i];
		begun = &all_begun[i];
		victims[i] = fork();
		if (!victims[i])
			be_side_by_side();
	}
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		left = &cases[i];
		victim = victims[i];
		begun = &all_begun[i];
		await_begin();
		assert_int_equal(dp_process_attach(victim, &proc, &diag), 0);
		if (dp_stop_all(proc, &diag))
			fail_msg("case %zu: %s", i, diag.text);
		if (dp_threads_move(proc, &moves) != left->out)
			fail_msg("case %zu", i);
		end(state);
	}
}

/* Interrupted in a restorer, a thread is one word inside the frame that it returns through. */
static void a_frame_counts_in_its_restorer(void **state)
{
	const struct dp_ucontext uc = { .mc = { .rsp = 0x10800 } };
	const struct dp_ucontext aside = { .stack = { .sp = 0xf000,
						      .size = 0x2000 },
					   .mc = { .rsp = 0x10800 } };

	assert_false(dp_frame_is_past(&uc, 0x10000, 0x10000));
	assert_false(dp_frame_is_past(&uc, 0x10000, 0x10008));
	assert_true(dp_frame_is_past(&uc, 0x10000, 0x10009));
	assert_true(dp_frame_is_past(&uc, 0x10000, 0x10800));
	assert_false(dp_frame_is_past(&uc, 0x10000, 0x10801));
	/* On an alternate stack: nothing lies between. */
	assert_false(dp_frame_is_past(&aside, 0x10000, 0x10400));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(asleep_elsewhere, begin, end),
		cmocka_unit_test_setup_teardown(asleep_inside, begin, end),
		cmocka_unit_test_setup_teardown(asleep_where_nothing_tells,
						begin, end),
		cmocka_unit_test(stacks_side_by_side),
		cmocka_unit_test(a_frame_counts_in_its_restorer),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("drain", tests, NULL, NULL);
}
