// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * backtrace: stacks as hits walk them.
 *
 * Oracle: libgcc's unwinder, before each instruction of code with frame pointers and without, in the PLT
 * and libc, in handlers on another stack, and in what they have interrupted.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>
#include "backtrace_world.h"
#include "sym/elf/elf.h"
#include "sym/rules.h"

#define ROOM (8u << 20)
#define MODULES 32
#define TRAP_FLAG 0x100ull

/* --- the modules of this process --- */

static struct dp_backtrace_place places[MODULES];
static u32 nr_places;

static int by_start(const void *a, const void *b)
{
	const struct dp_backtrace_place *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void add_rules(const struct dp_rules *rules, u64 bias, u64 start,
		      u64 end)
{
	u32 *ranges = malloc((rules->n + 1) * sizeof(u32));
	u32 *which = malloc((rules->n + 1) * sizeof(u32)), n = 0;
	struct dp_backtrace_code code = { .ranges = ranges,
					  .which = which,
					  .rules = rules->rule,
					  .nr_rules = (u32)rules->nr_rules };
	size_t i;

	for (i = 0; i < rules->n; i++) {
		ranges[n] = (u32)(rules->v[i].start + bias - start);
		which[n++] = rules->v[i].which;
	}
	code.nr = n;
	places[nr_places].start = start;
	places[nr_places].end = end;
	assert_int_equal(
		dp_engine_add_code(world.e, &code, &places[nr_places].code), 0);
	nr_places++;
	free(ranges);
	free(which);
}

static int add_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char *path = *info->dlpi_name ? info->dlpi_name :
					      "/proc/self/exe";
	int fd = open(path, O_RDONLY | O_CLOEXEC), i;
	u64 end = 0;
	struct dp_rules rules;
	struct dp_elf elf;

	if (fd < 0)
		return 0; /* the vdso */
	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD)
			end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr +
			      info->dlpi_phdr[i].p_memsz;
	assert_int_equal(dp_elf_open_fd(&elf, fd), 0);
	if (!dp_rules_read(&rules, &elf)) {
		add_rules(&rules, info->dlpi_addr, info->dlpi_addr, end);
		dp_rules_free(&rules);
	}
	dp_elf_close(&elf);
	return 0;
}

static char other_stack[64 << 10];

static int begin(void **state)
{
	pthread_attr_t attr;
	void *stack;
	size_t size;

	/* Sanitizers have more code, and so more different stacks. */
	world_begin(ROOM, 1 << 18);
	nr_places = 0;
	dl_iterate_phdr(add_module, NULL);
	qsort(places, nr_places, sizeof(*places), by_start);
	assert_int_equal(dp_engine_map_code(world.e, places, nr_places), 0);
	assert_int_equal(pthread_getattr_np(pthread_self(), &attr), 0);
	pthread_attr_getstack(&attr, &stack, &size);
	pthread_attr_destroy(&attr);
	world_window(0, (u64)stack, size, stack);
	world_window(1, (u64)other_stack, sizeof(other_stack), other_stack);
	return 0;
}

static int end(void **state)
{
	world_end();
	return 0;
}

/* --- before each instruction --- */

struct frames {
	u64 pc[2 * DP_BACKTRACE_FRAMES];
	u32 n;
};

static _Unwind_Reason_Code collect(struct _Unwind_Context *context, void *arg)
{
	struct frames *f = arg;
	u64 pc = _Unwind_GetIP(context);

	if (pc && f->n < 2 * DP_BACKTRACE_FRAMES)
		f->pc[f->n++] = pc;
	return _URC_NO_REASON;
}

/** struct differing - the first difference; @instructions: so many were compared */
static struct differing {
	u64 instructions, complete;
	struct frames ours, theirs;
	enum dp_backtrace_end end;
	bool found;
} diff;

static bool agree(const struct frames *ours, const struct frames *theirs)
{
	return ours->n == theirs->n &&
	       !memcmp(ours->pc, theirs->pc, ours->n * sizeof(u64));
}

/* Their walk begins in the handler. */
static void cut(struct frames *theirs, u64 pc)
{
	u32 i = 0;

	while (i < theirs->n && theirs->pc[i] != pc)
		i++;
	theirs->n -= i;
	memmove(theirs->pc, &theirs->pc[i], theirs->n * sizeof(u64));
}

static void compare(struct dp_regs *regs)
{
	struct dp_backtrace b = world_walk();
	struct frames ours = { .n = 0 }, theirs = { .n = 0 };
	enum dp_backtrace_end end;
	u32 number, i;

	_Unwind_Backtrace(collect, &theirs);
	cut(&theirs, dp_regs_pc(regs));
	dp_backtrace_begin(&b, regs);
	number = dp_backtrace_number(&b);
	ours.n = dp_engine_backtrace(world.e, number, ours.pc, &end);
	for (i = 0; i < ours.n; i++)
		ours.pc[i] &= ~DP_BACKTRACE_EXACT;
	diff.instructions++;
	diff.complete += end == DP_END_COMPLETE;
	if (diff.found || agree(&ours, &theirs))
		return;
	diff.found = true;
	diff.end = end;
	diff.ours = ours;
	diff.theirs = theirs;
}

static void step(int sig, siginfo_t *info, void *uc)
{
	const struct dp_mcontext *m =
		(void *)((ucontext_t *)uc)->uc_mcontext.gregs;
	struct dp_regs regs;

	dp_regs_from(&regs, m);
	compare(&regs);
}

static bool stepping;

static void steps_on(void)
{
	if (!stepping)
		return;
	__builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() |
				       TRAP_FLAG);
}

static void steps_off(void)
{
	__builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() &
				       ~TRAP_FLAG);
}

static void step_through(void (*run)(void))
{
	struct sigaction act = { .sa_sigaction = step, .sa_flags = SA_SIGINFO },
			 was;
	u32 i;

	run(); /* so that names are bound */
	memset(&diff, 0, sizeof(diff));
	sigaction(SIGTRAP, &act, &was);
	stepping = true;
	steps_on();
	run();
	steps_off();
	stepping = false;
	sigaction(SIGTRAP, &was, NULL);
	print_message("# %lu instructions, %lu to the outermost frame\n",
		      diff.instructions, diff.complete);
	for (i = 0; diff.found && i < diff.ours.n; i++)
		print_message("# ours   %lx\n", diff.ours.pc[i]);
	for (i = 0; diff.found && i < diff.theirs.n; i++)
		print_message("# theirs %lx\n", diff.theirs.pc[i]);
	if (diff.found)
		fail_msg("the walk ended by %d", diff.end);
	/* The compiler does not describe how it sets the flags. */
	assert_true(diff.instructions - diff.complete < 20);
}

static volatile u64 sink;

__attribute__((noinline)) static int leaf(int a)
{
	return (int)(sink += (u64)a * 3);
}

__attribute__((noinline)) static int deep(int n)
{
	char text[32];

	if (!n)
		return leaf(7);
	snprintf(text, sizeof(text), "%d %s", n, "x");
	return deep(n - 1) + text[0];
}

__attribute__((noinline, optimize("no-omit-frame-pointer"))) static int
framed(int n)
{
	return deep(n) + leaf(n);
}

__attribute__((noinline)) static int of_any_size(int n)
{
	char *p = alloca((size_t)n);

	memset(p, n, (size_t)n);
	return framed(2) + p[n - 1] + leaf(1);
}

__attribute__((noinline)) static int aligned(int n)
{
	char p[128] __attribute__((aligned(128)));

	memset(p, n, sizeof(p));
	sink += (u64)p[n & 63];
	return of_any_size(n) + p[0];
}

/* All registers that are saved are used, and the frame register for other things. */
__attribute__((noinline)) static u64 crowded(u64 a, u64 b, u64 c, u64 d, u64 e,
					     u64 f, u64 g, u64 h)
{
	u64 i;

	for (i = 0; i < 3; i++) {
		a += b ^ (u64)leaf((int)c);
		b += c ^ d;
		c += d * e;
		d += e ^ f;
		e += f + g;
		f += g ^ h;
		g += h + (u64)aligned(40);
		h += a;
	}
	return a + b + c + d + e + f + g + h;
}

static int order(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b + leaf(0) * 0;
}

static void code_of_all_kinds(void)
{
	int v[] = { 5, 3, 9, 1 };

	qsort(v, 4, sizeof(*v), order);
	sink += crowded(1, 2, 3, 4, 5, 6, 7, 8);
	sink += strtoul("123", NULL, 0) + strlen("abc");
	free(malloc(100));
}

static void each_instruction(void **state)
{
	step_through(code_of_all_kinds);
	assert_true(diff.instructions > 5000);
}

static void handler(int sig)
{
	steps_on();
	of_any_size(24);
	steps_off();
}

__attribute__((noinline)) static void interrupted(int sig)
{
	raise(sig);
	leaf(2);
}

static void interrupted_twice(int sig)
{
	steps_on();
	interrupted(SIGUSR2);
	steps_off();
}

static void signals(void)
{
	interrupted(SIGUSR1);
	interrupted(SIGUSR2);
	interrupted(SIGALRM);
}

static void handle(int sig, void (*with)(int), int flags)
{
	struct sigaction act = { .sa_handler = with, .sa_flags = flags };

	assert_int_equal(sigaction(sig, &act, NULL), 0);
}

static void through_signals(void **state)
{
	stack_t other = { .ss_sp = other_stack,
			  .ss_size = sizeof(other_stack) };

	assert_int_equal(sigaltstack(&other, NULL), 0);
	handle(SIGUSR1, handler, 0);
	handle(SIGUSR2, handler, SA_ONSTACK);
	handle(SIGALRM, interrupted_twice, 0);
	step_through(signals);
	assert_true(diff.instructions > 3000);
	other.ss_flags = SS_DISABLE;
	sigaltstack(&other, NULL);
}

/* --- stacks as they could be --- */

#define CODE 0x400000ull
#define STACK 0x7f0000000000ull
#define WORDS 256

static u64 stack[WORDS];
static struct dp_regs regs;

/* Code with rule n at CODE + 16 * n, from rule 1 on */
static void begin_fake(const struct dp_rule *rules, u32 nr)
{
	u32 ranges[16], which[16], i;
	struct dp_backtrace_code code = { ranges, which, nr, rules, nr };
	struct dp_backtrace_place place = { CODE, CODE + 16 * nr, 0 };

	for (i = 0; i < nr; i++) {
		ranges[i] = 16 * i;
		which[i] = i;
	}
	world_begin(ROOM, 1000);
	assert_int_equal(dp_engine_add_code(world.e, &code, &place.code), 0);
	assert_int_equal(dp_engine_map_code(world.e, &place, 1), 0);
	world_window(0, STACK, sizeof(stack), stack);
	memset(stack, 0, sizeof(stack));
	memset(&regs, 0, sizeof(regs));
}

#define PC_OF(rule) (CODE + 16 * (rule) + 5)

enum {
	NONE,
	LAST,
	WORD,
	FRAMED,
	FARTHER,
	BACK,
	SIGNAL,
	OTHER,
	AT,
	REALIGNED,
	NR
};

static const struct dp_rule fakes[NR] = {
	[LAST] = { .how = DP_RULE_LAST },
	[WORD] = { DP_RULE_REG, DP_RULE_SP, DP_FRAME_SAME, DP_RULE_RET_BELOW, 8,
		   0, 0 },
	[FRAMED] = { DP_RULE_REG, DP_RULE_FRAME, DP_FRAME_AT_CFA,
		     DP_RULE_RET_BELOW, 16, 0, -16 },
	[FARTHER] = { DP_RULE_REG, DP_RULE_SP, DP_FRAME_LOST, DP_RULE_RET_BELOW,
		      32, 0, 0 },
	[BACK] = { DP_RULE_REG, DP_RULE_SP, DP_FRAME_SAME, DP_RULE_RET_BELOW,
		   -64, 0, 0 },
	[SIGNAL] = { .how = DP_RULE_SIGNAL },
	[OTHER] = { DP_RULE_REG, 10, DP_FRAME_SAME, DP_RULE_RET_BELOW, 0, 0,
		    0 },
	[AT] = { DP_RULE_AT, DP_RULE_SP, DP_FRAME_SAME, DP_RULE_RET_BELOW, 0, 8,
		 0 },
	[REALIGNED] = { DP_RULE_REG, DP_RULE_SP, DP_FRAME_AT_FRAME,
			DP_RULE_RET_BELOW, 8, 0, 0 },
};

static u32 walk(u64 pc, u64 frames[DP_BACKTRACE_FRAMES],
		enum dp_backtrace_end *end)
{
	struct dp_backtrace b = world_walk();

	dp_regs_set_pc(&regs, pc);
	dp_regs_set_sp(&regs, STACK);
	dp_backtrace_begin(&b, &regs);
	return dp_engine_backtrace(world.e, dp_backtrace_number(&b), frames,
				   end);
}

static void walks_end(void **state)
{
	u64 frames[DP_BACKTRACE_FRAMES];
	enum dp_backtrace_end end;

	begin_fake(fakes, NR);
	/* In code that nothing is known of */
	assert_int_equal(walk(0x1234567, frames, &end), 1);
	assert_int_equal(frames[0], 0x1234567 | DP_BACKTRACE_EXACT);
	assert_int_equal(end, DP_END_UNKNOWN);
	/* Likewise, behind a call */
	stack[0] = 0x5000;
	assert_int_equal(walk(PC_OF(WORD), frames, &end), 2);
	assert_int_equal(frames[1], 0x5000);
	assert_int_equal(end, DP_END_UNKNOWN);
	/* The outermost, and a return address that is none */
	assert_int_equal(walk(PC_OF(LAST), frames, &end), 1);
	assert_int_equal(end, DP_END_COMPLETE);
	stack[0] = 0;
	assert_int_equal(walk(PC_OF(WORD), frames, &end), 1);
	assert_int_equal(end, DP_END_COMPLETE);
	stack[0] = 1ull << 60;
	assert_int_equal(walk(PC_OF(WORD), frames, &end), 1);
	assert_int_equal(end, DP_END_BROKEN);
	stack[0] = DP_END_COMPLETE; /* no code is there */
	assert_int_equal(walk(PC_OF(WORD), frames, &end), 1);
	assert_int_equal(end, DP_END_BROKEN);
	/* A frame that is not above, not aligned, not to be read */
	assert_int_equal(walk(PC_OF(BACK), frames, &end), 1);
	assert_int_equal(end, DP_END_BROKEN);
	regs.bp = STACK + 4;
	assert_int_equal(walk(PC_OF(FRAMED), frames, &end), 1);
	assert_int_equal(end, DP_END_BROKEN);
	regs.bp = STACK + sizeof(stack);
	assert_int_equal(walk(PC_OF(FRAMED), frames, &end), 1);
	assert_int_equal(end, DP_END_UNREADABLE);
	world_end();
}

/* Only the first frame has all registers, and what has been lost is not used. */
static void registers_that_are_not_known(void **state)
{
	u64 frames[DP_BACKTRACE_FRAMES];
	enum dp_backtrace_end end;

	begin_fake(fakes, NR);
	regs.r10 = STACK + 8;
	stack[0] = PC_OF(OTHER);
	assert_int_equal(walk(PC_OF(OTHER), frames, &end), 2);
	assert_int_equal(end, DP_END_UNKNOWN);
	regs.bp = STACK + 64;
	stack[3] = PC_OF(FRAMED);
	assert_int_equal(walk(PC_OF(FARTHER), frames, &end), 2);
	assert_int_equal(end, DP_END_UNKNOWN);
	/* Where it has not been lost */
	stack[0] = PC_OF(FRAMED);
	stack[9] = PC_OF(LAST);
	assert_int_equal(walk(PC_OF(WORD), frames, &end), 3);
	assert_int_equal(end, DP_END_COMPLETE);
	world_end();
}

/* The frame register is at an address that cannot be read, or where it points itself. */
static void frames_are_loaded(void **state)
{
	u64 frames[DP_BACKTRACE_FRAMES];
	enum dp_backtrace_end end;

	begin_fake(fakes, NR);
	regs.bp = STACK - 8;
	stack[0] = PC_OF(FRAMED);
	assert_int_equal(walk(PC_OF(FRAMED), frames, &end), 2);
	assert_int_equal(end, DP_END_UNKNOWN);
	regs.bp = STACK + 8 * 10;
	stack[10] = STACK + 8 * 30;
	stack[31] = PC_OF(LAST);
	assert_int_equal(walk(PC_OF(REALIGNED), frames, &end), 3);
	assert_int_equal(end, DP_END_COMPLETE);
	world_end();
}

static void registers_of_a_signal(void **state)
{
	struct dp_ucontext *uc = (void *)&stack[1];
	u64 frames[DP_BACKTRACE_FRAMES];
	enum dp_backtrace_end end;

	begin_fake(fakes, NR);
	stack[0] = CODE + 16 * SIGNAL + 1;
	uc->mc.rip = CODE + 16 * OTHER; /* not of the code before it */
	uc->mc.rsp = STACK + 8 * 200;
	uc->mc.r10 = STACK + 8 * 210;
	stack[209] = CODE + 16 * LAST + 1;
	assert_int_equal(walk(PC_OF(WORD), frames, &end), 4);
	assert_int_equal(frames[2], uc->mc.rip | DP_BACKTRACE_EXACT);
	assert_int_equal(end, DP_END_COMPLETE);
	/* The frame register is the one that was interrupted. */
	regs.bp = STACK + 8 * 230;
	uc->mc.rip = PC_OF(FRAMED);
	uc->mc.rbp = STACK + 8 * 220;
	stack[221] = CODE + 16 * LAST + 1;
	assert_int_equal(walk(PC_OF(WORD), frames, &end), 4);
	assert_int_equal(end, DP_END_COMPLETE);
	/* Those of the frame behind that are not known any more. */
	uc->mc.rip = PC_OF(WORD);
	stack[200] = PC_OF(OTHER);
	assert_int_equal(walk(PC_OF(WORD), frames, &end), 4);
	assert_int_equal(end, DP_END_UNKNOWN);
	/* A frame that leads to itself */
	uc->mc.rsp = STACK;
	assert_int_equal(walk(PC_OF(WORD), frames, &end), DP_BACKTRACE_FRAMES);
	assert_int_equal(end, DP_END_DEEP);
	world_end();
}

/* At a handler's end, where it has returned to */
static void a_signal_returns(void **state)
{
	struct dp_ucontext *uc = (void *)&stack[0];
	u64 frames[DP_BACKTRACE_FRAMES];
	enum dp_backtrace_end end;

	begin_fake(fakes, NR);
	regs.r10 = STACK + 8 * 190;
	stack[189] = 0x5000;
	uc->mc.rip = PC_OF(OTHER);
	uc->mc.rsp = STACK + 8 * 200;
	uc->mc.r10 = STACK + 8 * 210;
	stack[209] = PC_OF(LAST);
	assert_int_equal(walk(CODE + 16 * SIGNAL, frames, &end), 3);
	assert_int_equal(end, DP_END_COMPLETE);
	world_end();
}

/* Each of the three registers that a walk goes on with may not be readable. */
static void signal_frames_in_part(void **state)
{
	struct dp_ucontext *uc = (void *)&stack[1];
	u64 *words[] = { &uc->mc.rbp, &uc->mc.rsp, &uc->mc.rip };
	u64 frames[DP_BACKTRACE_FRAMES];
	enum dp_backtrace_end end;
	u64 i, at;

	begin_fake(fakes, NR);
	stack[0] = CODE + 16 * SIGNAL + 1;
	uc->mc.rip = PC_OF(LAST);
	uc->mc.rsp = STACK + 8 * 200;
	for (i = 0; i < 3; i++) {
		at = (u64)((char *)words[i] - (char *)stack);
		world_window(0, STACK, at, stack);
		world_window(1, STACK + at + 8, sizeof(stack) - at - 8,
			     words[i] + 1);
		assert_int_equal(walk(PC_OF(WORD), frames, &end), 2);
		assert_int_equal(end, DP_END_UNREADABLE);
	}
	world_end();
}

static void deep_stacks(void **state)
{
	u64 frames[DP_BACKTRACE_FRAMES], i;
	enum dp_backtrace_end end;

	begin_fake(fakes, NR);
	for (i = 0; i < WORDS; i++)
		stack[i] = PC_OF(WORD);
	assert_int_equal(walk(PC_OF(WORD), frames, &end), DP_BACKTRACE_FRAMES);
	assert_int_equal(end, DP_END_DEEP);
	for (i = 0; i < DP_BACKTRACE_FRAMES; i++)
		assert_int_equal(frames[i],
				 PC_OF(WORD) | (i ? 0 : DP_BACKTRACE_EXACT));
	stack[DP_BACKTRACE_FRAMES - 2] = PC_OF(LAST);
	assert_int_equal(walk(PC_OF(WORD), frames, &end), DP_BACKTRACE_FRAMES);
	assert_int_equal(end, DP_END_COMPLETE);
	world_end();
}

/* Code that has gone is not taken for what was there, though its rule was kept. */
static void code_comes_and_goes(void **state)
{
	struct dp_backtrace_place places[2] = {
		{ 0 }
	}; /* two of them overlap */
	u64 frames[DP_BACKTRACE_FRAMES], i;
	enum dp_backtrace_end end;

	begin_fake(fakes, NR);
	for (i = 0; i < 2 * DP_KEPT_GENERATIONS + 10; i++) {
		places[0].start = CODE + 16 * (i & 1);
		places[0].end = places[0].start + 16 * NR;
		places[1] = places[0];
		assert_int_equal(dp_engine_map_code(world.e, places, i % 3),
				 i % 3 == 2 ? -EINVAL : 0);
		if (i % 3 == 2)
			continue;
		walk(CODE + 16 * LAST + 16 * (i & 1), frames, &end);
		assert_int_equal(end, i % 3 ? DP_END_COMPLETE : DP_END_UNKNOWN);
	}
	world_end();
}

/* --- numbers --- */

static u32 number(u32 n, u64 last)
{
	struct dp_backtrace b = world_walk();
	u32 i;

	for (i = 0; i + 1 < n; i++)
		stack[i] = PC_OF(WORD);
	stack[n - 1] = last;
	dp_regs_set_pc(&regs, PC_OF(WORD));
	dp_regs_set_sp(&regs, STACK);
	dp_backtrace_begin(&b, &regs);
	return dp_backtrace_number(&b);
}

static void a_stack_has_one_number(void **state)
{
	u64 frames[DP_BACKTRACE_FRAMES];
	enum dp_backtrace_end end;
	u32 numbers[100], i, n;

	begin_fake(fakes, NR);
	for (i = 0; i < 100; i++) {
		numbers[i] = number(10, 0x500000 + i);
		assert_true(numbers[i]);
		for (n = 0; n < i; n++)
			assert_int_not_equal(numbers[i], numbers[n]);
	}
	for (i = 0; i < 100; i++) {
		assert_int_equal(number(10, 0x500000 + i), numbers[i]);
		n = dp_engine_backtrace(world.e, numbers[i], frames, &end);
		assert_int_equal(n, 11);
		assert_int_equal(frames[10], 0x500000 + i);
		assert_int_equal(end, DP_END_UNKNOWN);
	}
	assert_int_equal(dp_engine_backtrace(world.e, 0, frames, &end), 0);
	assert_int_equal(dp_engine_backtrace(world.e, ~0u, frames, &end), 0);
	world_end();
}

static void without_room(void **state)
{
	u32 i, none = 0;

	begin_fake(fakes, NR);
	for (i = 0; i < 20000; i++)
		none += !number(5, 0x500000 + i);
	assert_true(none > 18000);
	assert_int_equal(dp_engine_backtraces_lost(world.e), none);
	/* Those that have a number keep it. */
	assert_true(number(5, 0x500000));
	world_end();
}

#define THREADS 4

static void *number_many(void *arg)
{
	struct dp_backtrace b = world_walk();
	u32 *nodes = arg, i, from = 0;

	for (i = 0; i < 20000; i++) {
		from = dp_known_step(b.head, b.arena, i % 7 ? from : 0,
				     0x600000 + i % 5000);
		nodes[i] = from;
	}
	return NULL;
}

/* Threads that come with the same frames at a time: none is there twice. */
static void threads_have_the_same_numbers(void **state)
{
	static u32 nodes[THREADS][20000];
	const struct dp_known_account *account;
	pthread_t thread[THREADS];
	u64 used = 0, i;
	u64 *word;

	world_begin(ROOM, 1 << 16);
	for (i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, number_many, nodes[i]);
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (i = 1; i < THREADS; i++)
		assert_memory_equal(nodes[i], nodes[0], sizeof(nodes[0]));
	word = (u64 *)(world.arena + world_walk().head->node);
	for (i = 0; i <= world_walk().head->node_mask; i++)
		used += word[i] != 0;
	account = (void *)(world.arena + world_walk().head->account);
	assert_int_equal(account->used, used);
	assert_true(used > 15000);
	world_end();
}

/* The target has written anything where nodes are. */
static void nodes_of_a_stranger(void **state)
{
	u64 frames[DP_BACKTRACE_FRAMES], seed = 1, *word;
	enum dp_backtrace_end end;
	u32 i, most = 0, n;

	begin_fake(fakes, NR);
	word = (u64 *)(world.arena + world_walk().head->node);
	for (i = 0; i <= world_walk().head->node_mask; i++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		word[i] = seed | 1;
		if (i % 3 == 0) /* ends */
			word[i] = dp_known_node(1 + i % 5, i % 64);
	}
	for (i = 0; i < 3 * world_walk().head->node_mask; i++) {
		n = dp_engine_backtrace(world.e, i, frames, &end);
		assert_true(n <= DP_BACKTRACE_FRAMES && end < DP_END_NR);
		most = n > most ? n : most;
	}
	assert_int_equal(most, DP_BACKTRACE_FRAMES);
	world_end();
}

static void refused(void **state)
{
	u32 ranges[] = { 0, 8, 8 }, which[] = { 0, 1, 0 }, code;
	struct dp_backtrace_code c = { ranges, which, 3, fakes, 2 };
	struct dp_backtrace_place two[] = { { 0x1000, 0x2000, 0 },
					    { 0x1fff, 0x3000, 0 } };
	u32 i;

	begin_fake(fakes, NR);
	assert_int_equal(dp_engine_add_code(world.e, &c, &code), -EINVAL);
	ranges[2] = 9;
	which[2] = 2;
	assert_int_equal(dp_engine_add_code(world.e, &c, &code), -EINVAL);
	which[2] = 1;
	for (i = 0; !dp_engine_add_code(world.e, &c, &code); i++)
		continue;
	assert_int_equal(dp_engine_add_code(world.e, &c, &code), -ENOSPC);
	assert_true(i > ROOM / 30);
	assert_int_equal(dp_engine_map_code(world.e, two, 2), -EINVAL);
	two[1].start++;
	assert_int_equal(dp_engine_map_code(world.e, two, 2), 0);
	assert_int_equal(dp_engine_walk_stacks(world.e, 1, 1, NULL, NULL),
			 -EBUSY);
	world_end();
}

/* Frames that the port finds by itself: there is no code, and no rule. */
static void given_by_the_port(void **state)
{
	enum { TABLES = 256, OWN = 512 };
	u64 frames[DP_BACKTRACE_FRAMES];
	enum dp_backtrace_end why;
	struct dp_backtrace_place place = { 1, 2, 0 };
	struct dp_engine *e;
	char *arena;
	u32 node, full, i;

	assert_int_equal(dp_engine_create(&e), 0);
	assert_int_equal(dp_engine_keep_stacks(e, 600), 0);
	arena = calloc(1, OWN + dp_backtraces_bytes(e));
	assert_in_range(dp_backtraces_tables(e), 1, OWN - TABLES);
	e->arena = (void *)arena;
	dp_backtraces_fill(e, OWN, TABLES);
	assert_false(dp_engine_walks(e));
	assert_int_equal(dp_engine_map_code(e, &place, 1), -EINVAL);
	assert_int_equal(dp_engine_keep_stacks(e, 1), -EBUSY);
	node = dp_known_step((void *)(arena + TABLES), arena, 0, 0x1234);
	node = dp_known_step((void *)(arena + TABLES), arena, node, 0x5678);
	node = dp_known_step((void *)(arena + TABLES), arena, node,
			     DP_END_COMPLETE);
	assert_int_equal(dp_engine_backtrace(e, node, frames, &why), 2);
	assert_true(frames[0] == 0x1234 && frames[1] == 0x5678 &&
		    why == DP_END_COMPLETE);
	for (i = 0, full = 1; i < 2000 && full; i++)
		full = dp_known_step((void *)(arena + TABLES), arena, 0,
				     0x10000 + i);
	assert_in_range(i, 600, 1000);
	dp_engine_forget_stacks(e);
	assert_int_equal(dp_engine_backtrace(e, node, frames, &why), 0);
	assert_int_not_equal(dp_known_step((void *)(arena + TABLES), arena, 0,
					   0x10000 + i),
			     0);
	e->arena = NULL;
	dp_engine_destroy(e);
	free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_instruction, begin, end),
		cmocka_unit_test_setup_teardown(through_signals, begin, end),
		cmocka_unit_test(walks_end),
		cmocka_unit_test(registers_that_are_not_known),
		cmocka_unit_test(frames_are_loaded),
		cmocka_unit_test(registers_of_a_signal),
		cmocka_unit_test(a_signal_returns),
		cmocka_unit_test(signal_frames_in_part),
		cmocka_unit_test(deep_stacks),
		cmocka_unit_test(code_comes_and_goes),
		cmocka_unit_test(a_stack_has_one_number),
		cmocka_unit_test(without_room),
		cmocka_unit_test(threads_have_the_same_numbers),
		cmocka_unit_test(nodes_of_a_stranger),
		cmocka_unit_test(refused),
		cmocka_unit_test(given_by_the_port),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
