// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cancelled: threads are cancelled at any moment while they run through detours that count, and
 * each is unwound to its cleanups.
 */
#include "tap.h"
#include <pthread.h>
#include <sched.h>

/* Frames of the stepped code have no cleanups; whoever calls it has. */
extern "C" void passes_for_ever(void);
extern "C" const char passed_often[];
__asm__(".text\n.balign 16\n.globl passed_often\n.type passed_often, @function\n"
	"passed_often:\n.cfi_startproc\n"
	"push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset 6, -16\n"
	"mov %rsp, %rbp\n.cfi_def_cfa_register 6\nnop\n"
	"pop %rbp\n.cfi_def_cfa 7, 8\nret\n.cfi_endproc\n"
	".size passed_often, .-passed_often\n"
	".balign 16\n.globl passes_for_ever\n.type passes_for_ever, @function\n"
	"passes_for_ever:\n.cfi_startproc\n"
	"push %rbx\n.cfi_def_cfa_offset 16\n.cfi_offset 3, -16\n"
	"1: call passed_often\njmp 1b\n.cfi_endproc\n"
	".size passes_for_ever, .-passes_for_ever\n");

#define TIMES 400

static unsigned long cleaned, begun;

struct cleanup {
	~cleanup()
	{
		__atomic_fetch_add(&cleaned, 1, __ATOMIC_RELAXED);
	}
};

static void *run(void *arg)
{
	cleanup here;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	__atomic_store_n(&begun, 1, __ATOMIC_RELEASE);
	passes_for_ever();
	return arg;
}

static void cancel_one(int moment)
{
	pthread_t thread;
	void *result;
	volatile int i;

	begun = 0;
	if (pthread_create(&thread, NULL, run, NULL))
		abort();
	while (!__atomic_load_n(&begun, __ATOMIC_ACQUIRE))
		sched_yield();
	for (i = 0; i < 200 + moment; i++)
		;
	pthread_cancel(thread);
	pthread_join(thread, &result);
	if (result != PTHREAD_CANCELED)
		abort();
}

int main()
{
	struct kprobe p = {};
	int i;

	p.addr = (kprobe_opcode_t *)passed_often;
	is(register_kprobe(&p), 0, "a count");
	ok(p.flags & KPROBE_FLAG_OPTIMIZED, "by a jump");
	for (i = 0; i < TIMES; i++)
		cancel_one(i);
	is((long)cleaned, TIMES, "each thread has come to its cleanups");
	unregister_kprobe(&p);
	return plan();
}
