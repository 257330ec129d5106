// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * frames: the stubs, how many there are, what they stand for, and what becomes of exceptions
 * that pass through them. No call is tracked. The unwinder is this program's own.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>
#include <Zydis/Zydis.h>
#include "agent/image.h"
#include "engine/layout/handler.h"
#include "lib/frames.h"

#define FIRST (DP_STACKS * DP_SPARE_FRAMES) /* frames that threads may keep */
#define A_PAGE (DP_STUBS_A_PAGE - 1)

extern const char dp_frame_pad[] __attribute__((visibility("hidden")));
extern u64 dp_stub_returned __attribute__((visibility("hidden")));
extern u64 dp_stub_unwound __attribute__((visibility("hidden")));
_Unwind_Reason_Code dp_frame_personality(int version, _Unwind_Action actions,
					 _Unwind_Exception_Class class,
					 struct _Unwind_Exception *exception,
					 struct _Unwind_Context *context)
	__attribute__((visibility("hidden")));

/* --- the agent, V8 and an unwinder --- */

static u64 passed, nr_passed;

static void pass(u64 number)
{
	passed = number;
	nr_passed++;
}

static u64 base(void)
{
	return (u64)pass - dp_agent_return_passed;
}

typedef u64 resolver_fn(u64 slot);
void _ZN2v82V832SetReturnAddressLocationResolverEPFmmE(resolver_fn *to)
	__attribute__((visibility("default")));
static resolver_fn *resolver;
static u32 nr_told;

void _ZN2v82V832SetReturnAddressLocationResolverEPFmmE(resolver_fn *to)
{
	resolver = to;
	nr_told++;
}

/** _Unwind_Context - of an unwinder that changes nothing but this */
struct _Unwind_Context {
	_Unwind_Ptr ip;
	_Unwind_Word gr[2];
};

_Unwind_Ptr _Unwind_GetIP(struct _Unwind_Context *c)
{
	return c->ip;
}

void _Unwind_SetIP(struct _Unwind_Context *c, _Unwind_Ptr ip)
{
	c->ip = ip;
}

void _Unwind_SetGR(struct _Unwind_Context *c, int i, _Unwind_Word value)
{
	c->gr[i == __builtin_eh_return_data_regno(1)] = value;
}

void _Unwind_Resume(struct _Unwind_Exception *exception)
{
	abort();
}

/* --- */

static struct dp_frame *frame_at(u32 i)
{
	return (struct dp_frame *)dp_frames()->table + i;
}

/* What a call returns to that has frame @i. */
static u64 stub(u32 i)
{
	return dp_frames()->stubs + (u64)i * DP_STUB_SIZE + DP_STUB_BACK;
}

static struct dp_pair_facts facts;

static u64 usable(void)
{
	return dp_frames()->nr / DP_STUBS_A_PAGE * A_PAGE;
}

static void limit_files(u64 size)
{
	struct rlimit l;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &l), 0);
	l.rlim_cur = size < l.rlim_max ? size : l.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
}

/* Nothing is mapped if it cannot be, and no instance counts that was refused. */
static void no_stubs_where_files_are_limited(void **state)
{
	limit_files(0);
	assert_int_equal(dp_frames_reserve(1000000, base(), &facts), -EFBIG);
	assert_int_equal(dp_frames()->nr, 0);
	assert_int_equal(nr_told, 1);
	limit_files(RLIM_INFINITY);
	assert_null(dp_frame_of(stub(1)));
}

/* Each instance has a stub, and each thread its spare ones. */
static void there_are_as_many_as_needed(void **state)
{
	u64 had, step, rest;

	assert_int_equal(dp_frames_reserve(1, base(), &facts), 0);
	assert_int_equal(facts.stub_bytes, dp_frames()->nr * DP_STUB_SIZE);
	assert_int_equal(facts.stubs, dp_frames()->stubs);
	assert_int_equal(facts.table, dp_frames()->table);
	assert_int_equal(facts.bias + facts.table / 2, facts.stubs);
	assert_int_equal(dp_stub_returned, base() + dp_agent_return_entry);
	assert_int_equal(dp_stub_unwound, base() + dp_agent_unwound_entry);
	assert_int_equal(nr_told, 1);
	had = dp_frames()->nr;
	assert_true(usable() > FIRST + 1);
	/* To the last stub, twice. */
	rest = usable() - FIRST - 1;
	assert_int_equal(dp_frames_reserve(rest, base(), &facts), 0);
	dp_frames_release(rest);
	assert_int_equal(dp_frames_reserve(rest, base(), &facts), 0);
	assert_int_equal(dp_frames()->nr, had);
	/* One more needs one step more. */
	assert_int_equal(dp_frames_reserve(1, base(), &facts), 0);
	step = dp_frames()->nr - had;
	assert_true(step > 0 && usable() - A_PAGE < FIRST + rest + 2 + step);
	dp_frames_release(1);
	assert_int_equal(dp_frames_reserve(1, base(), &facts), 0);
	assert_int_equal(dp_frames()->nr, had + step);
	/* A step is one file, as large as its stubs. */
	limit_files(step * DP_STUB_SIZE - 1);
	assert_int_equal(dp_frames_reserve(step, base(), &facts), -EFBIG);
	assert_int_equal(dp_frames()->nr, had + step);
	limit_files(step * DP_STUB_SIZE);
	rest = usable() - FIRST - rest - 2;
	assert_int_equal(dp_frames_reserve(rest, base(), &facts), 0);
	assert_int_equal(dp_frames()->nr, had + step);
	assert_int_equal(dp_frames_reserve(1, base(), &facts), 0);
	assert_int_equal(dp_frames()->nr, had + 2 * step);
	limit_files(RLIM_INFINITY);
}

/** operands of the four instructions of a stub */
struct parts {
	s64 up;
	u64 cont, number, target;
};

static void decode(u64 at, struct parts *p)
{
	static const ZydisMnemonic mnemonics[] = { ZYDIS_MNEMONIC_LEA,
						   ZYDIS_MNEMONIC_CALL,
						   ZYDIS_MNEMONIC_PUSH,
						   ZYDIS_MNEMONIC_JMP };
	ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	ZydisDecoder d;
	u32 i;

	ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (i = 0; i < 4; i++, at += insn.length) {
		assert_true(ZYAN_SUCCESS(
			ZydisDecoderDecodeFull(&d, (void *)at, 15, &insn, o)));
		assert_int_equal(insn.mnemonic, mnemonics[i]);
		if (i == 0) {
			assert_int_equal(o[0].reg.value, ZYDIS_REGISTER_RSP);
			assert_int_equal(o[1].mem.base, ZYDIS_REGISTER_RSP);
			assert_int_equal(o[1].mem.index, ZYDIS_REGISTER_NONE);
			p->up = o[1].mem.disp.value;
		}
		if (i == 1)
			ZydisCalcAbsoluteAddress(&insn, &o[0], at, &p->cont);
		else if (i == 2)
			p->number = o[0].imm.value.u;
		else
			ZydisCalcAbsoluteAddress(&insn, &o[0], at, &p->target);
	}
}

/* The call of stub i reads frame i, and pushes its own address, which tells i. */
static void each_stub_is_of_its_frame(void **state)
{
	struct parts p;
	u32 i;

	for (i = 0; i < dp_frames()->nr; i++) {
		u64 at = dp_frames()->stubs + (u64)i * DP_STUB_SIZE;

		if (!(i % DP_STUBS_A_PAGE)) {
			/* Here the unwind information finds the frames. */
			assert_int_equal(at % DP_PAGE, 0);
			assert_int_equal(*(u64 *)at + at, (u64)frame_at(i));
			continue;
		}
		decode(at, &p);
		assert_int_equal(p.up, DP_TRACKED_DEPTH + 8);
		assert_int_equal(p.cont, (u64)&frame_at(i)->cont);
		assert_int_equal(p.number, i);
		assert_int_equal(p.target, (u64)&dp_stub_returned);
	}
}

static void they_cannot_be_written(void **state)
{
	struct dp_frames *f = dp_frames();
	u64 last = f->stubs + (f->nr - 1) * DP_STUB_SIZE;

	/* The kernel reads there, and does not write. */
	assert_int_equal(dp_frame_home(f->stubs + 8), *(u64 *)(f->stubs + 8));
	assert_int_equal(dp_frame_home(last), *(u64 *)last);
	assert_int_equal(syscall(SYS_pipe2, f->stubs, 0), -1);
	assert_int_equal(errno, EFAULT);
}

static void a_return_address_tells_its_frame(void **state)
{
	u64 nr = dp_frames()->nr;

	assert_ptr_equal(dp_frame_of(stub(1)), frame_at(1));
	assert_ptr_equal(dp_frame_of(stub((u32)nr - 1)), frame_at((u32)nr - 1));
	assert_null(dp_frame_of(stub((u32)nr)));
	assert_null(dp_frame_of(stub(1) - 1));
	assert_null(dp_frame_of(stub(1) + 1));
	assert_null(
		dp_frame_of(dp_frames()->stubs - DP_STUB_SIZE + DP_STUB_BACK));
	assert_null(dp_frame_of(0));
}

/* The program's own return address, wherever it is. */
static void the_way_home_is_known(void **state)
{
	struct dp_frame *f = frame_at(5);
	u64 slot = 0x1234;

	f->ret_addr = 0x5678;
	f->slot = (u64)&slot;
	assert_int_equal(dp_frame_home((u64)&slot), 0x1234);
	assert_false(dp_frame_is_there(f));
	assert_int_equal(resolver((u64)&slot), (u64)&slot);
	slot = stub(6);
	assert_false(dp_frame_is_there(f));
	slot = stub(5);
	assert_true(dp_frame_is_there(f));
	assert_int_equal(dp_frame_home((u64)&slot), 0x5678);
	assert_int_equal(resolver((u64)&slot), (u64)&f->ret_addr);
	/* Nothing can be read there. */
	assert_int_equal(dp_frame_home(8), 0);
	f->slot = 8;
	assert_false(dp_frame_is_there(f));
	memset(f, 0, sizeof(*f));
}

/* The last one comes first; the stamp tells that the list has changed. */
static void frames_that_are_left_make_a_list(void **state)
{
	struct dp_frames *all = dp_frames();
	u64 had = all->abandoned = 7ull << 32 | 3;

	dp_frame_leave(frame_at(9));
	assert_int_equal(frame_at(9)->state, DP_FRAME_ABANDONED);
	assert_int_equal(frame_at(9)->next_free, 3);
	assert_int_equal(all->abandoned, 8ull << 32 | 9);
	dp_frame_leave(frame_at(11));
	assert_int_equal(frame_at(11)->next_free, 9);
	assert_int_equal(all->abandoned, had + (2ull << 32) + 8);
	all->abandoned = 0;
}

/* --- exceptions --- */

static struct _Unwind_Exception exception;

/* An exception comes to frame 5, of whose probes those with @unwind hear of it. */
static _Unwind_Reason_Code raise_it(_Unwind_Action actions,
				    struct _Unwind_Context *c, bool first,
				    bool second)
{
	struct dp_instance_pool pools[] = { { .unwind = first },
					    { .unwind = second } };
	struct dp_instance outer = { .instance_pool = (u64)&pools[1] };
	struct dp_instance inner = { .instance_pool = (u64)&pools[0],
				     .next = (u64)&outer };
	_Unwind_Reason_Code code;

	*c = (struct _Unwind_Context){ .ip = stub(5) };
	frame_at(5)->instances = (u64)&inner;
	frame_at(5)->cont = 0;
	nr_passed = 0;
	code = dp_frame_personality(1, actions, 0, &exception, c);
	if (code == _URC_INSTALL_CONTEXT) {
		assert_int_equal(nr_passed, 0);
		assert_int_equal(c->ip, (u64)dp_frame_pad);
		assert_int_equal(c->gr[0], (u64)&exception);
		assert_int_equal(c->gr[1], 5);
		assert_int_equal(frame_at(5)->cont, (u64)_Unwind_Resume);
		return code;
	}
	assert_int_equal(c->ip, stub(5));
	assert_int_equal(frame_at(5)->cont, 0);
	return code;
}

static void exceptions_go_through_the_pad(void **state)
{
	struct _Unwind_Context c;

	assert_int_equal(raise_it(_UA_SEARCH_PHASE, &c, true, true),
			 _URC_CONTINUE_UNWIND);
	assert_int_equal(nr_passed, 0);
	assert_int_equal(raise_it(_UA_CLEANUP_PHASE, &c, true, false),
			 _URC_INSTALL_CONTEXT);
	assert_int_equal(raise_it(_UA_CLEANUP_PHASE, &c, false, true),
			 _URC_INSTALL_CONTEXT);
	/* No probe wants to hear of it: it passes, except where it is caught. */
	assert_int_equal(raise_it(_UA_CLEANUP_PHASE, &c, false, false),
			 _URC_CONTINUE_UNWIND);
	assert_int_equal(nr_passed, 1);
	assert_int_equal(passed, 5);
	assert_int_equal(raise_it(_UA_CLEANUP_PHASE | _UA_HANDLER_FRAME, &c,
				  false, false),
			 _URC_INSTALL_CONTEXT);
}

static void exceptions_elsewhere_go_on(void **state)
{
	struct _Unwind_Context c = { .ip = stub(5) + 1 };
	char place[8] = { 0 };
	size_t one = 1;

	assert_int_equal(dp_frame_personality(1, _UA_CLEANUP_PHASE, 0,
					      &exception, &c),
			 _URC_CONTINUE_UNWIND);
	assert_int_equal(dp_frame_personality(2, _UA_CLEANUP_PHASE, 0,
					      &exception, &c),
			 _URC_FATAL_PHASE1_ERROR);
	/* libc calls it, and libc is no unwinder: it has none of the functions. */
	nr_passed = 0;
	assert_null(lfind((void *)1, place + (~(u64)place & 2), &one, 1,
			  (int (*)(const void *, const void *))(
				  void *)dp_frame_personality));
	assert_int_equal(nr_passed, 0);
}

/* Calls from everywhere are known again; the places for them are limited. */
static void many_unwinders_are_told_apart(void **state)
{
	struct _Unwind_Context c;
	u32 i;

#define CALL                                                                   \
	c = (struct _Unwind_Context){ .ip = stub(5) };                         \
	assert_int_equal(                                                      \
		dp_frame_personality(1, _UA_CLEANUP_PHASE | _UA_HANDLER_FRAME, \
				     0, &exception, &c),                       \
		_URC_INSTALL_CONTEXT);                                         \
	assert_int_equal(c.ip, (u64)dp_frame_pad);
#define CALLS CALL CALL CALL CALL CALL CALL CALL CALL CALL CALL CALL CALL
	for (i = 0; i < 2; i++) {
		CALLS CALLS CALLS
	}
	memset(frame_at(5), 0, sizeof(struct dp_frame));
}

/* Return: the descriptor that would be opened next. */
static int next_descriptor(void)
{
	int fd = dup(STDERR_FILENO);

	close(fd);
	return fd;
}

/* As many as there is room for, and no error where that is less than asked for. */
static void there_is_an_end(void **state)
{
	int next = next_descriptor();
	u64 all;

	assert_int_equal(dp_frames_reserve(1ull << 40, base(), &facts), 0);
	all = dp_frames()->nr;
	assert_true(usable() >= DP_FRAMES_MOST + FIRST);
	assert_int_equal(dp_frames_reserve(1ull << 40, base(), &facts), 0);
	assert_int_equal(dp_frames()->nr, all);
	each_stub_is_of_its_frame(state);
	/* The frames come behind the room for stubs. */
	assert_int_equal(dp_frames()->stubs + all * DP_STUB_SIZE,
			 dp_frames()->table);
	assert_int_equal(next_descriptor(), next);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_stubs_where_files_are_limited),
		cmocka_unit_test(there_are_as_many_as_needed),
		cmocka_unit_test(each_stub_is_of_its_frame),
		cmocka_unit_test(they_cannot_be_written),
		cmocka_unit_test(a_return_address_tells_its_frame),
		cmocka_unit_test(the_way_home_is_known),
		cmocka_unit_test(frames_that_are_left_make_a_list),
		cmocka_unit_test(exceptions_go_through_the_pad),
		cmocka_unit_test(exceptions_elsewhere_go_on),
		cmocka_unit_test(many_unwinders_are_told_apart),
		cmocka_unit_test(there_is_an_end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
