// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * uretprobe: which calls have instances, and what their handlers see. The other process is a
 * child of this one, of which only the text is read; its hits are made up here.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "engine/layout/site.h"
#include "lib/foreign.h"
#include "lib/self.h"
#include "sym/never.h"

#define BUCKET 2048 /* bytes from a slot to the next with the same hash */
#define WORDS (3 * BUCKET / 8)
#define HOME 0x1111

static pid_t child;

/* Two ways out: a return, and a jump to another function. */
extern const char probed[], probed_return[], probed_jump[], behind[];
__asm__(".text\n"
	".balign 16\n"
	".type probed, @function\n"
	"probed:\n"
	"	.cfi_startproc\n"
	"	test %edi, %edi\n"
	"	jz probed_jump\n"
	"	mov %edi, %eax\n"
	"probed_return:\n"
	"	ret\n"
	"probed_jump:\n"
	"	jmp behind\n"
	"	.cfi_endproc\n"
	".size probed, . - probed\n"
	".balign 16\n"
	".type behind, @function\n"
	"behind:\n"
	"	.cfi_startproc\n"
	"	xor %eax, %eax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size behind, . - behind\n");

/* --- the engine of the other process --- */

static struct {
	struct dp_tracked_site *sites;
	u32 n;
	int err;
	bool tracked;
} engine;

int __wrap_dp_uprobes_add_tracked(struct dp_tracked_site *sites, u32 n);
bool __wrap_dp_tracked_any(const struct uretprobe *rp);
u32 __wrap_dp_uprobes_drop(const void *start, size_t size, bool returns);

int __wrap_dp_uprobes_add_tracked(struct dp_tracked_site *sites, u32 n)
{
	if (engine.err)
		return engine.err;
	engine.sites = sites;
	engine.n = n;
	return 0;
}

bool __wrap_dp_tracked_any(const struct uretprobe *rp)
{
	return engine.tracked;
}

static const void *dropped;

u32 __wrap_dp_uprobes_drop(const void *start, size_t size, bool returns)
{
	assert_int_equal(size, 1);
	assert_true(returns);
	dropped = start;
	return 1;
}

/* --- the handlers --- */

static struct {
	u32 entries, returns;
	unsigned long ip, sp, data;
	int jumped, refuse;
	struct uretprobe *rp;
} seen;

static int enter(struct uretprobe_instance *ri, struct pt_regs *regs)
{
	seen.entries++;
	assert_int_equal(ri->data[0], 0);
	ri->data[0] = regs->sp;
	return seen.refuse;
}

static int leave(struct uretprobe_instance *ri, struct pt_regs *regs)
{
	seen.returns++;
	seen.ip = regs->ip;
	seen.sp = regs->sp;
	seen.data = ri->data[0];
	seen.jumped = ri->jumped;
	seen.rp = ri->rp;
	assert_int_equal(ri->ret_addr, regs->ip);
	return 0;
}

static struct uretprobe probe;
static unsigned long stack[WORDS];

static int start(void **state)
{
	child = fork();
	if (!child)
		for (;;)
			pause();
	return child < 0 ? -1 : 0;
}

static int stop(void **state)
{
	kill(child, SIGKILL);
	return waitpid(child, NULL, 0) == child ? 0 : -1;
}

static int begin(void **state)
{
	u32 i;

	memset(&engine, 0, sizeof(engine));
	memset(&seen, 0, sizeof(seen));
	for (i = 0; i < WORDS; i++)
		stack[i] = HOME + i;
	probe = (struct uretprobe){ .u = { .pid = child,
					   .vaddr = (unsigned long)probed },
				    .handler = leave,
				    .entry_handler = enter,
				    .nmissed = 77 };
	return register_uretprobe(&probe);
}

/* The last site frees the function, with the calls that are tracked. */
static int end(void **state)
{
	u32 i;

	for (i = 0; i < engine.n; i++)
		dp_tracked_gone(&engine.sites[i]);
	return 0;
}

static struct dp_tracked_site *site_at(const char *addr)
{
	u32 i;

	for (i = 0; i < engine.n; i++)
		if (engine.sites[i].u.vaddr == (unsigned long)addr)
			return &engine.sites[i];
	fail_msg("%p is no site", (const void *)addr);
	return NULL;
}

/* A thread comes to @addr with its stack pointer at word @i. */
static void hit(const char *addr, u32 i)
{
	struct dp_tracked_site *s = site_at(addr);
	struct pt_regs regs = { .ip = (unsigned long)addr,
				.sp = (unsigned long)&stack[i] };
	struct pt_regs was = regs;

	s->u.handler(&s->u, &regs);
	assert_memory_equal(&regs, &was, sizeof(regs));
}

static void expect(u32 entries, u32 returns, u32 missed)
{
	assert_int_equal(seen.entries, entries);
	assert_int_equal(seen.returns, returns);
	assert_int_equal(probe.nmissed, missed);
}

static void sites_are_an_entry_and_exits(void **state)
{
	const struct dp_tracked_site *s = engine.sites;
	u32 i;

	assert_int_equal(engine.n, 3);
	for (i = 0; i < 3; i++) {
		assert_int_equal(s[i].is_exit, i > 0);
		assert_int_equal(s[i].u.pid, child);
		assert_ptr_equal(s[i].of, s[0].of);
		assert_ptr_equal(s[i].owner[0], &probe);
		assert_ptr_equal(s[i].owner[1], (void *)leave);
		assert_ptr_equal(s[i].owner[2], (void *)enter);
	}
	assert_int_equal(s[0].u.vaddr, (unsigned long)probed);
	assert_int_equal(s[0].way, 0);
	assert_int_equal(site_at(probed_return)->way & DP_WAY_TAIL, 0);
	assert_int_equal(site_at(probed_jump)->way & DP_WAY_TAIL, DP_WAY_TAIL);
	assert_int_equal(probe.nmissed, 0);
}

/* At the exit the handler sees the registers as after the return. */
static void a_call_goes_from_its_entry_to_its_exit(void **state)
{
	hit(probed, 5);
	expect(1, 0, 0);
	hit(probed_return, 5);
	expect(1, 1, 0);
	assert_int_equal(seen.ip, HOME + 5);
	assert_int_equal(seen.sp, (unsigned long)&stack[6]);
	assert_int_equal(seen.data, (unsigned long)&stack[5]);
	assert_int_equal(seen.jumped, 0);
	assert_ptr_equal(seen.rp, &probe);
	/* The call is over. */
	hit(probed_return, 5);
	expect(1, 1, 0);
	hit(probed, 5);
	hit(probed_jump, 5);
	expect(2, 2, 0);
	assert_int_equal(seen.jumped, 1);
}

/* Those with the same hash, in any order. */
static void calls_are_told_apart_by_their_slots(void **state)
{
	u32 in[] = { 3, 3 + BUCKET / 8, 3 + 2 * BUCKET / 8, 4 };
	u32 out[] = { 1, 0, 3, 2 }, i;

	for (i = 0; i < 4; i++)
		hit(probed, in[i]);
	for (i = 0; i < 4; i++) {
		hit(probed_return, in[out[i]]);
		assert_int_equal(seen.returns, i + 1);
		assert_int_equal(seen.data, (unsigned long)&stack[in[out[i]]]);
	}
	hit(probed_return, 7);
	expect(4, 4, 0);
}

/* Another function that shares the exit has another return address in that slot. */
static void the_exit_of_another_call_is_not_its_own(void **state)
{
	hit(probed, 5);
	stack[5]++;
	hit(probed_return, 5);
	expect(1, 0, 0);
	stack[5]--;
	hit(probed_return, 5);
	expect(1, 0, 0);
}

static void an_entry_handler_may_refuse(void **state)
{
	seen.refuse = 1;
	hit(probed, 5);
	hit(probed_return, 5);
	expect(1, 0, 0);
}

static int register_with(int maxactive, uretprobe_handler_t entry,
			 uretprobe_handler_t handler)
{
	end(NULL);
	memset(&engine, 0, sizeof(engine));
	probe.maxactive = maxactive;
	probe.entry_handler = entry;
	probe.handler = handler;
	probe.nmissed = 77;
	return register_uretprobe(&probe);
}

/* A call in the slot of an older one takes its place: that was abandoned. */
static void only_so_many_are_tracked(void **state)
{
	assert_int_equal(register_with(2, enter, leave), 0);
	hit(probed, 1);
	hit(probed, 2);
	expect(2, 0, 0);
	hit(probed, 3);
	expect(2, 0, 1);
	hit(probed, 2);
	expect(3, 0, 1);
	hit(probed_return, 3);
	expect(3, 0, 1);
	hit(probed_return, 2);
	hit(probed, 3);
	expect(4, 1, 1);
	hit(probed, 4);
	expect(4, 1, 2);
	hit(probed_return, 1);
	hit(probed_return, 3);
	expect(4, 3, 2);
	/* No number, no small limit. */
	assert_int_equal(register_with(0, enter, leave), 0);
	memset(&seen, 0, sizeof(seen));
	hit(probed, 1);
	hit(probed, 2);
	hit(probed, 3);
	expect(3, 0, 0);
}

static void either_handler_is_enough(void **state)
{
	assert_int_equal(register_with(0, NULL, leave), 0);
	hit(probed, 5);
	hit(probed_return, 5);
	expect(0, 1, 0);
	assert_int_equal(register_with(0, enter, NULL), 0);
	hit(probed, 5);
	hit(probed_return, 5);
	expect(1, 1, 0);
	unregister_uretprobe(&probe);
	assert_ptr_equal(dropped, &probe);
}

static void expect_refusal(const struct uretprobe *rp, int err,
			   const char *words)
{
	struct uretprobe copy = *rp;
	char text[256];

	engine.sites = NULL;
	assert_int_equal(register_uretprobe(&copy), err);
	snprintf(text, sizeof(text), words, rp->u.pid);
	assert_string_equal(dp_last_diag()->text, text);
	assert_null(engine.sites);
	assert_int_equal(copy.nmissed, rp->nmissed);
}

static void some_are_refused_with_words(void **state)
{
	struct uretprobe rp = { .u = { .pid = child,
				       .vaddr = (unsigned long)probed },
				.nmissed = 77 };
	char words[256];

	memset(&engine, 0, sizeof(engine));
	assert_int_equal(register_uretprobe(NULL), -EINVAL);
	expect_refusal(&rp, -EINVAL, "the probe has no handler");
	rp.handler = leave;
	engine.tracked = true;
	expect_refusal(&rp, -EEXIST, "the probe is registered already");
	engine.tracked = false;
	rp.u.pid = getpid();
	expect_refusal(&rp, -EOPNOTSUPP,
		       "process %d is this one: use register_kretprobe()");
	rp.u.pid = 0x7ffffff0;
	expect_refusal(
		&rp, -ESRCH,
		"the memory of process %d cannot be read: No such file or directory");
	rp.u.pid = child;
	rp.u.vaddr = 0x10;
	expect_refusal(&rp, -EFAULT,
		       "nothing can be read at 0x10 of process %d");
	rp.u.vaddr = (unsigned long)__sigsetjmp;
	snprintf(words, sizeof(words), "%s cannot have a return probe: %s",
		 "__sigsetjmp",
		 dp_never_tracked("__sigsetjmp", DP_RETURN_SITE));
	expect_refusal(&rp, -EINVAL, words);
	rp.u.vaddr = (unsigned long)probed + 1;
	assert_int_equal(register_uretprobe(&rp), -EINVAL);
	assert_string_not_equal(dp_last_diag()->text, "");
	/* What the engine says goes on to the caller. */
	rp.u.vaddr = (unsigned long)probed;
	engine.err = -EBUSY;
	assert_int_equal(register_uretprobe(&rp), -EBUSY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sites_are_an_entry_and_exits,
						begin, end),
		cmocka_unit_test_setup_teardown(
			a_call_goes_from_its_entry_to_its_exit, begin, end),
		cmocka_unit_test_setup_teardown(
			calls_are_told_apart_by_their_slots, begin, end),
		cmocka_unit_test_setup_teardown(
			the_exit_of_another_call_is_not_its_own, begin, end),
		cmocka_unit_test_setup_teardown(an_entry_handler_may_refuse,
						begin, end),
		cmocka_unit_test_setup_teardown(only_so_many_are_tracked, begin,
						end),
		cmocka_unit_test_setup_teardown(either_handler_is_enough, begin,
						end),
		cmocka_unit_test(some_are_refused_with_words),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start, stop);
}
