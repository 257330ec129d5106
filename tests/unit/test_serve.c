// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * serve: what the threads that serve a process make of its upcalls. The process is made up:
 * this one asks itself.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <sched.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "engine/layout/base.h"
#include "lib/compat/hooks.h"
#include "lib/foreign.h"
#include "proc/attach_other.h"
#include "proc/linker.h"
#include "proc/proc.h"

#define UPCALLS 8
#define PROBES 4
#define PID 1234567
#define THREAD 77 /* in the process's own namespace */
#define BASE 0x7100000000ull
#define MEM 42
#define IP 0x401000

/** there - the process
 *  @pidfd: readable when it ends; @installs: it is about to install a filter
 *  @put: how often a thread has dropped its reference; @installed: filters */
static struct {
	struct dp_foreign f;
	union {
		struct dp_upcalls upcalls;
		char room[sizeof(struct dp_upcalls) +
			  UPCALLS * sizeof(struct dp_upcall)];
	};
	struct dp_client clients[PROBES], *by_index[PROBES];
	struct uprobe u[PROBES];
	bool occupied[UPCALLS];
	int pidfd, looks;
	u32 installs, installed, put, client_puts;
} there;

int __wrap_dp_attach_other_pidfd(const struct dp_process *proc);
u64 __wrap_dp_attach_other_base(const struct dp_process *proc);
int __wrap_dp_process_mem(const struct dp_process *proc);
u32 __wrap_dp_process_thread(const struct dp_process *proc, u32 tid);
bool __wrap_dp_process_installs_filter(const struct dp_process *proc);
void __wrap_dp_foreign_look(struct dp_foreign *f);
u32 __wrap_dp_foreign_cede(struct dp_foreign *f);
void __wrap_dp_foreign_put(struct dp_foreign *f);
void __wrap_dp_foreign_filter_install(struct dp_foreign *f);
void __wrap_dp_client_put(struct dp_client *c);

int __wrap_dp_attach_other_pidfd(const struct dp_process *proc)
{
	return there.pidfd;
}

u64 __wrap_dp_attach_other_base(const struct dp_process *proc)
{
	return BASE;
}

int __wrap_dp_process_mem(const struct dp_process *proc)
{
	return MEM;
}

u32 __wrap_dp_process_thread(const struct dp_process *proc, u32 tid)
{
	return tid == THREAD ? PID + 1 : 0;
}

bool __wrap_dp_process_installs_filter(const struct dp_process *proc)
{
	return __atomic_load_n(&there.installs, __ATOMIC_ACQUIRE);
}

/* Futexes, so that no test sleeps longer than it has to. */
static void change(u32 *word, u32 by)
{
	__atomic_fetch_add(word, by, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, word, FUTEX_WAKE, 1000, NULL, NULL, 0);
}

static void wait_while(u32 *word, u32 value)
{
	while (__atomic_load_n(word, __ATOMIC_SEQ_CST) == value)
		syscall(SYS_futex, word, FUTEX_WAIT, value, NULL, NULL, 0);
}

static void wait_until(u32 *word, u32 value)
{
	u32 now;

	while ((now = __atomic_load_n(word, __ATOMIC_SEQ_CST)) != value)
		wait_while(word, now);
}

void __wrap_dp_foreign_look(struct dp_foreign *f)
{
	u64 one;

	/* It has been seen: it is not readable any more. */
	if (read(there.pidfd, &one, sizeof(one)) > 0)
		change((u32 *)&there.looks, 1);
}

u32 __wrap_dp_foreign_cede(struct dp_foreign *f)
{
	return 3;
}

void __wrap_dp_foreign_put(struct dp_foreign *f)
{
	assert_ptr_equal(f, &there.f);
	change(&there.put, 1);
}

void __wrap_dp_foreign_filter_install(struct dp_foreign *f)
{
	/* Others answer meanwhile. */
	assert_true(f->busy > 0);
	__atomic_store_n(&there.installs, 0, __ATOMIC_RELEASE);
	change(&there.installed, 1);
}

void __wrap_dp_client_put(struct dp_client *c)
{
	pthread_mutex_lock(&dp_foreign_state);
	c->refs--;
	pthread_mutex_unlock(&dp_foreign_state);
	change(&there.client_puts, 1);
}

/* --- handlers --- */

static struct dp_probed seen;
static struct pt_regs seen_regs;
static u32 entered, gate;

static void change_registers(struct uprobe *u, struct pt_regs *regs)
{
	seen = *dp_probed;
	seen_regs = *regs;
	assert_true(dp_serve_in_handler());
	regs->ax = 99;
	change(&entered, 1);
}

static void wait_at_gate(struct uprobe *u, struct pt_regs *regs)
{
	change(&entered, 1);
	wait_while(&gate, 0);
	regs->ax = 100;
}

static int begin(void **state)
{
	u32 i;

	memset(&there, 0, sizeof(there));
	entered = gate = 0;
	there.pidfd = eventfd(0, EFD_NONBLOCK);
	for (i = 0; i < PROBES; i++) {
		there.clients[i] = (struct dp_client){
			.u = &there.u[i],
			.handler = i ? wait_at_gate : change_registers,
			.at = &there.f,
			.addr = IP + i,
			.refs = 1,
		};
		there.by_index[i] = &there.clients[i];
	}
	there.f = (struct dp_foreign){ .pid = PID,
				       .clients = there.by_index,
				       .nr_clients = PROBES,
				       .refs = 1,
				       .upcalls = &there.upcalls,
				       .nr_upcalls = UPCALLS,
				       .occupied = there.occupied };
	there.upcalls.high = UPCALLS;
	return dp_serve_begin(&there.f);
}

/* All its threads end, and each drops its reference. */
static int end(void **state)
{
	dp_serve_end(&there.f);
	wait_until(&there.put, there.f.refs - 1);
	close(there.f.stop);
	close(there.pidfd);
	return 0;
}

static struct dp_upcall *ask(u32 place, u32 probe, u32 tid)
{
	struct dp_upcall *c = &there.upcalls.v[place];
	struct pt_regs regs = { .ip = IP + probe, .ax = 7, .sp = 5 };

	c->tid = tid;
	c->probe = probe;
	memcpy(c->regs, &regs, sizeof(regs));
	__atomic_store_n(&c->state, DP_UPCALL_REQUESTED, __ATOMIC_RELEASE);
	change(&there.upcalls.calls, 1);
	return c;
}

static unsigned long result(const struct dp_upcall *c)
{
	struct pt_regs regs;

	memcpy(&regs, c->regs, sizeof(regs));
	assert_int_equal(regs.sp, 5);
	return regs.ax;
}

static void expect_answer(struct dp_upcall *c, unsigned long ax)
{
	wait_until(&c->state, DP_UPCALL_ANSWERED);
	assert_int_equal(result(c), ax);
	assert_false(there.occupied[c - there.upcalls.v]);
	c->state = DP_UPCALL_FREE;
}

static void handlers_run_for_the_thread_that_asks(void **state)
{
	expect_answer(ask(0, 0, THREAD), 99);
	assert_int_equal(entered, 1);
	assert_int_equal(seen.task.pid, PID + 1);
	assert_int_equal(seen.task.tgid, PID);
	assert_int_equal(seen.mem, MEM);
	assert_int_equal(seen.there, BASE);
	assert_int_equal(seen_regs.ip, IP);
	assert_int_equal(seen_regs.ax, 7);
	wait_until(&there.client_puts, 1);
	assert_int_equal(there.clients[0].refs, 1);
	/* One that has ended, or that is another process's */
	expect_answer(ask(UPCALLS - 1, 0, THREAD + 1), 99);
	assert_int_equal(seen.task.pid, PID);
	assert_int_equal(entered, 2);
	assert_false(dp_serve_in_handler());
}

/* Their threads go on as if there were no probe. */
static void some_upcalls_have_no_handler(void **state)
{
	struct dp_upcall *c;

	there.clients[1].off = true;
	expect_answer(ask(0, 1, THREAD), 7);
	there.clients[2].interrupt = true;
	expect_answer(ask(0, 2, THREAD), 7);
	there.clients[3].addr++;
	expect_answer(ask(0, 3, THREAD), 7);
	expect_answer(ask(0, PROBES, THREAD), 7);
	there.by_index[0] = NULL;
	expect_answer(ask(0, 0, THREAD), 7);
	assert_int_equal(entered, 0);
	assert_int_equal(there.client_puts, 0);
	/* What nobody has asked is not answered. */
	c = &there.upcalls.v[1];
	c->state = DP_UPCALL_TAKEN;
	expect_answer(ask(2, 0, THREAD), 7);
	assert_int_equal(c->state, DP_UPCALL_TAKEN);
}

/* A handler that takes long keeps no other from running. */
static void handlers_run_at_once(void **state)
{
	struct dp_upcall *c[UPCALLS];
	u32 i;

	for (i = 0; i < UPCALLS; i++)
		c[i] = ask(i, 1 + i % 3, THREAD);
	wait_until(&entered, UPCALLS);
	pthread_mutex_lock(&dp_foreign_state);
	assert_int_equal(there.f.busy, UPCALLS);
	assert_true(there.f.workers > UPCALLS);
	pthread_mutex_unlock(&dp_foreign_state);
	for (i = 0; i < UPCALLS; i++) {
		assert_int_equal(c[i]->state, DP_UPCALL_RUNS);
		assert_true(there.occupied[i]);
	}
	/* The process may write that a place is free: there is one handler for each. */
	__atomic_store_n(&c[0]->state, DP_UPCALL_REQUESTED, __ATOMIC_RELEASE);
	change(&there.upcalls.calls, 1);
	there.by_index[0] = &there.clients[0];
	__atomic_store_n(&c[1]->state, DP_UPCALL_ABANDONED, __ATOMIC_RELEASE);
	change(&gate, 1);
	for (i = 2; i < UPCALLS; i++)
		expect_answer(c[i], 100);
	/* Of what was given up nothing is written, and nobody is woken. */
	while (__atomic_load_n(&c[1]->state, __ATOMIC_ACQUIRE) ==
	       DP_UPCALL_ABANDONED)
		sched_yield();
	assert_int_equal(c[1]->state, DP_UPCALL_FREE);
	assert_int_equal(result(c[1]), 7);
	/* Now it is another upcall. */
	expect_answer(c[0], 100);
	wait_until(&there.client_puts, UPCALLS + 1);
	assert_int_equal(entered, UPCALLS + 1);
}

/* Only places that were ever used are looked at, and no more than there are. */
static void places_are_counted(void **state)
{
	struct dp_upcall *c;

	there.upcalls.high = 1;
	c = ask(1, 0, THREAD);
	expect_answer(ask(0, 0, THREAD), 99);
	assert_int_equal(c->state, DP_UPCALL_REQUESTED);
	there.upcalls.high = 0xffffffff;
	change(&there.upcalls.calls, 1);
	expect_answer(c, 99);
}

static void filters_are_seen_to(void **state)
{
	__atomic_store_n(&there.installs, 1, __ATOMIC_RELEASE);
	change(&there.upcalls.calls, 1);
	wait_until(&there.installed, 1);
	expect_answer(ask(0, 0, THREAD), 99);
	assert_false(__atomic_load_n(&there.installs, __ATOMIC_ACQUIRE));
}

/* Into @text: which signals a thread blocks, in proc(5)'s words. */
static void read_blocked(u32 tid, char text[128])
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%u/status", tid);
	f = fopen(path, "r");
	assert_non_null(f);
	do
		assert_non_null(fgets(text, 128, f));
	while (strncmp(text, "SigBlk:", 7));
	fclose(f);
}

/* None of the program's signals is delivered to a thread of ours. */
static void no_signal_is_delivered(void **state)
{
	char all[128], threads[128];
	sigset_t most, mask;

	sigfillset(&most);
	pthread_sigmask(SIG_SETMASK, &most, &mask);
	read_blocked((u32)syscall(SYS_gettid), all);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	read_blocked(there.upcalls.owner, threads);
	assert_string_equal(threads, all);
	read_blocked((u32)syscall(SYS_gettid), threads);
	assert_string_not_equal(threads, all);
}

/* The owner, which the kernel is to tell the process's threads of. */
static void the_owner_is_a_thread(void **state)
{
	struct robust_list_head *head;
	char path[64], name[64] = "";
	u64 one = 1;
	size_t size;
	FILE *f;

	assert_true(there.upcalls.owner > 0);
	snprintf(path, sizeof(path), "/proc/self/task/%u/comm",
		 there.upcalls.owner);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(name, sizeof(name), f));
	fclose(f);
	assert_string_equal(name, "dprobes keeper\n");
	/* One entry, whose futex is that word. */
	assert_int_equal(syscall(SYS_get_robust_list, there.upcalls.owner,
				 &head, &size),
			 0);
	assert_int_equal((u64)head->list.next + (u64)head->futex_offset,
			 (u64)&there.upcalls.owner);
	assert_ptr_equal(head->list.next->next, &head->list);
	assert_ptr_not_equal(head->list.next, &head->list);
	/* It looks when the process ends. */
	assert_int_equal(write(there.pidfd, &one, sizeof(one)), sizeof(one));
	wait_until((u32 *)&there.looks, 1);
}

static void all_that_wait_are_woken(void **state)
{
	u32 calls;

	calls = __atomic_load_n(&there.upcalls.calls, __ATOMIC_SEQ_CST);
	dp_serve_end(&there.f);
	assert_int_equal(there.upcalls.owner, 0);
	assert_int_not_equal(there.upcalls.calls, calls);
	assert_true(there.f.ending);
	/* The keeper and the worker, with what they held */
	wait_until(&there.put, 2);
	assert_int_equal(there.f.refs, 3);
	assert_int_equal(there.f.workers, 0);
	assert_int_equal(there.f.busy, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			handlers_run_for_the_thread_that_asks, begin, end),
		cmocka_unit_test_setup_teardown(some_upcalls_have_no_handler,
						begin, end),
		cmocka_unit_test_setup_teardown(handlers_run_at_once, begin,
						end),
		cmocka_unit_test_setup_teardown(places_are_counted, begin, end),
		cmocka_unit_test_setup_teardown(filters_are_seen_to, begin,
						end),
		cmocka_unit_test_setup_teardown(no_signal_is_delivered, begin,
						end),
		cmocka_unit_test_setup_teardown(the_owner_is_a_thread, begin,
						end),
		cmocka_unit_test_setup_teardown(all_that_wait_are_woken, begin,
						end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
