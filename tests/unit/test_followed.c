// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * followed: detours that call a followed handler, run. The handler is made for the registers that
 * it touches: it notes what it reads, writes some, and leaves rubbish in all that it may change.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/rseq.h>
#include "arch/arch.h"
#include "engine/insn/callout.h"
#include "engine/insn/detour.h"
#include "engine/layout/handler.h"
#include "engine/layout/probe.h"
#include "hex.h"
#include "machine.h"

#define SIGNATURE 0x53053053
#define CPUS 65536
#define COUNTER 24 /* offset of the counter */
#define WORDS 16 /* counters of each CPU */
#define NUMBER 0x12345u
#define RED_ZONE 128
#define RUBBISH 0x5bad0000u
#define USER 0x1122334455667788ull
#define AREA 0x10000
enum { TEXT = 0, OUT = 0x80, STUB = 0x100, HANDLER = 0x400, DETOUR = 0x2000 };

static u8 *area;
static u8 stack[32768] __attribute__((aligned(64)));
#define STACK_POINTER (stack + 24576)
static u8 own[DP_STACK_SIZE] __attribute__((aligned(4096)));
static u64 *table, counters[CPUS / 64][WORDS];
static __thread u64 self;

/* What the detour reads */
static u64 fast;
static u32 vm_children;
static struct dp_probe_entry probe;

/* What the handler has seen: fields by their registers' numbers, the 16th is ip; its stack
 * pointer; whether the thread was busy; its first argument; how often it was called */
static u64 seen[17], seen_sp, seen_user, calls;
static u32 seen_busy;

static struct dp_stack *mine(void)
{
	return (void *)(own + sizeof(own) - sizeof(struct dp_stack));
}

static u64 at(u32 offset)
{
	return (u64)(uintptr_t)(area + offset);
}

static u32 draw(void)
{
	static u64 state = 1;

	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (u32)(state >> 33);
}

static u8 *put(u8 *to, const char *bytes)
{
	return to + hex(bytes, to);
}

static u8 *put_word(u8 *to, u64 value, size_t size)
{
	memcpy(to, &value, size);
	return to + size;
}

/* mov %rax, to */
static u8 *put_note(u8 *to, const void *where)
{
	return put_word(put(to, "48a3"), (u64)(uintptr_t)where, 8);
}

/* mov offset(%rsi), %rax; mov %rax, to */
static u8 *put_look(u8 *to, u32 offset, const void *where)
{
	return put_note(put_word(put(to, "488b86"), offset, 4), where);
}

static u32 slot(u32 reg)
{
	return dp_touches_slot(reg);
}

/** struct handler - @touches: see struct dp_probe_entry; @writes: of these, what it changes in
 *  its argument */
struct handler {
	u32 touches, writes;
};

static u64 written(u32 reg)
{
	return 0x1000u + reg;
}

static void put_handler(const struct handler *h)
{
	u8 *to = area + HANDLER;
	u32 r;

	to = put_note(put(to, "4889f8"), &seen_user); /* mov %rdi, %rax */
	to = put_note(put(to, "4889e0"), &seen_sp); /* mov %rsp, %rax */
	/* movzbl busy+8(%rsp), %eax; movl %eax, to */
	to = put(to, "0fb6442418 a3");
	to = put_word(to, (u64)(uintptr_t)&seen_busy, 8);
	to = put(to, "48b8"); /* mov $calls, %rax; incq (%rax) */
	to = put(put_word(to, (u64)(uintptr_t)&calls, 8), "48ff00");
	for (r = 0; r < DP_GPRS; r++)
		if (h->touches >> r & 1)
			to = put_look(to, slot(r), &seen[r]);
	if (h->touches & DP_TOUCHES_IP)
		to = put_look(to, 128, &seen[16]);
	for (r = 0; r < DP_GPRS; r++)
		if (h->writes >> r & 1) { /* movq $value, offset(%rsi) */
			to = put_word(put(to, "48c786"), slot(r), 4);
			to = put_word(to, written(r), 4);
		}
	for (r = 0; r < DP_GPRS; r++)
		if (r != DP_GPR_SP &&
		    h->touches >> r & 1) { /* mov $rubbish, %r */
			*to++ = (u8)(0x48 | r >> 3);
			*to++ = 0xc7;
			*to++ = (u8)(0xc0 | (r & 7));
			to = put_word(to, RUBBISH + r, 4);
		}
	to = put(to, draw() & 1 ? "31c0 c3" : "b07f 0401 b800000000 f9 c3");
}

static const struct dp_rseq *own_rseq(void)
{
	static struct dp_rseq rseq = { .signature = SIGNATURE };

	rseq.offset = (s32)__rseq_offset;
	return &rseq;
}

static s32 self_offset(void)
{
	return (s32)((u64)(uintptr_t)&self -
		     (u64)(uintptr_t)__builtin_thread_pointer());
}

static const struct {
	const char *name, *text;
} codes[] = {
	{ "prologue", "55 4889e5 4154" }, { "red zone", "4889442480" },
	{ "flags", "9c 8f44 24f0 90" },	  { "sub rsp", "4881ec00010000" },
	{ "nops", "0f1f440000" },
};
#define CODES (sizeof(codes) / sizeof(codes[0]))

/* jmp *0(%rip): machine_leave */
static void put_code(const char *text)
{
	u32 n = (u32)hex(text, area + TEXT);

	dp_detour_entry_stub(area + TEXT + n, (u64)(uintptr_t)machine_leave);
	dp_detour_entry_stub(area + STUB, (u64)(uintptr_t)machine_told);
}

static void put_detour(u32 touches, u32 pad)
{
	struct dp_detour_followed followed = {
		.fast = (u64)(uintptr_t)&fast,
		.vm_children = (u64)(uintptr_t)&vm_children,
		.touches = touches,
	};
	struct dp_region r = { .nr = 0 };
	struct dp_detour_spec s = { .from = at(TEXT),
				    .at = at(DETOUR),
				    .pad = pad,
				    .entry = at(STUB),
				    .code = area + TEXT,
				    .region = &r,
				    .before = { NUMBER + 1 },
				    .rseq = own_rseq(),
				    .table = (u64)(uintptr_t)table,
				    .counter = COUNTER,
				    .self = self_offset(),
				    .followed = &followed };
	struct dp_detour d;

	while (r.len < DP_JUMP_SIZE) {
		r.at[r.nr] = (u8)r.len;
		assert_int_equal(dp_insn_facts(area + TEXT + r.len, 64,
					       &r.facts[r.nr]),
				 0);
		r.len = (u8)(r.len + r.facts[r.nr++].len);
	}
	assert_int_equal(dp_detour_make(&s, &d), 0);
	assert_true(d.at[0] <= DP_FOLLOWED_MAX + pad);
	memcpy(area + DETOUR, d.code, d.len);
	dp_emit_jmp(area + TEXT, s.from, s.at + d.start);
}

static u64 counted(void)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < CPUS / 64; i++)
		sum += counters[i][COUNTER / 8];
	return sum;
}

static void usable(bool yes)
{
	u32 i;

	for (i = 0; i < CPUS; i++)
		table[i] = yes ? (u64)(uintptr_t)counters[i % (CPUS / 64)] : 0;
}

static void reset(void)
{
	memset(stack, 0x5a, sizeof(stack));
	memset(counters, 0, sizeof(counters));
	memset(seen, 0, sizeof(seen));
	memset(mine(), 0, sizeof(*mine()));
	usable(true);
	calls = nr_told = 0;
	vm_children = 0;
	self = (u64)(uintptr_t)mine();
	fast = (u64)(uintptr_t)&probe;
}

#define DF 0x400u
#define FLAGS 0xcd5u /* and CF PF AF ZF SF OF */

static void draw_registers(struct machine *m)
{
	u32 r;

	for (r = 0; r < 16; r++)
		m->r[r] = (u64)draw() << 32 | draw();
	m->r[RSP] = (u64)(uintptr_t)STACK_POINTER;
	m->flags = 0x202 | (draw() & FLAGS);
}

static void go(const struct machine *m)
{
	machine_in = *m;
	machine_go = at(TEXT);
	machine_run();
}

static u64 rseq_cs(void)
{
	u64 cs;

	__asm__ volatile("movq %%fs:(%1), %0"
			 : "=r"(cs)
			 : "r"((s64)__rseq_offset + 8));
	return cs;
}

static u8 above[RED_ZONE + 256];

/* What the code comes to by itself, the handler's writes in place */
static struct machine run_alone(const struct machine *m,
				const struct handler *h, const char *text)
{
	struct machine changed = *m;
	u32 r;

	for (r = 0; r < DP_GPRS; r++)
		if (h->writes >> r & 1)
			changed.r[r] = written(r);
	reset();
	put_code(text);
	go(&changed);
	memcpy(above, STACK_POINTER - RED_ZONE, sizeof(above));
	return machine_out;
}

static void expect_same(const struct machine *want, const char *what)
{
	u32 r;

	for (r = 0; r < 16; r++)
		if (machine_out.r[r] != want->r[r])
			fail_msg("%s: register %u is %llx, not %llx", what, r,
				 (unsigned long long)machine_out.r[r],
				 (unsigned long long)want->r[r]);
	assert_int_equal(machine_out.flags & (FLAGS | DF),
			 want->flags & (FLAGS | DF));
	assert_memory_equal(STACK_POINTER - RED_ZONE, above, sizeof(above));
	assert_int_equal(rseq_cs(), 0);
	assert_int_not_equal(dp_stack_busy(mine()), DP_BUSY_FOLLOWED);
}

static void expect_called(const struct machine *m, const struct handler *h)
{
	u32 r;

	assert_int_equal(calls, 1);
	assert_int_equal(counted(), 1);
	assert_int_equal(nr_told, 0);
	assert_int_equal(mine()->busy, DP_BUSY_TURN);
	assert_int_equal(seen_busy, DP_BUSY_FOLLOWED);
	assert_int_equal(seen_user, USER);
	assert_int_equal(seen_sp, self - 8);
	for (r = 0; r < DP_GPRS; r++)
		if (h->touches >> r & 1)
			assert_int_equal(seen[r], m->r[r]);
	if (h->touches & DP_TOUCHES_IP)
		assert_int_equal(seen[16], at(TEXT) + DP_BREAKPOINT_BEHIND);
}

static void be_handler(const struct handler *h)
{
	probe.touches = h->touches;
	probe.pre = at(HANDLER);
	probe.user = USER;
	put_handler(h);
}

/* The handler itself needs rax, and reads by rsi and rdi. */
static struct handler draw_handler(void)
{
	struct handler h = { .touches = draw() & draw() & 0x1ffff };

	h.touches |= 1u << RAX;
	h.writes = h.touches & draw() & 0xffff & ~(1u << RSP);
	return h;
}

static void begin(const struct machine *m, const struct handler *h,
		  const char *text, struct machine *want)
{
	*want = run_alone(m, h, text);
	reset();
	put_code(text);
}

static void all_is_as_without(void **state)
{
	struct machine m, want;
	struct handler h;
	u32 i;

	for (i = 0; i < 20000; i++) {
		draw_registers(&m);
		h = draw_handler();
		be_handler(&h);
		begin(&m, &h, codes[i % CODES].text, &want);
		put_detour(h.touches | (draw() & draw() & 0x1ffff), i % 32);
		go(&m);
		expect_same(&want, codes[i % CODES].name);
		expect_called(&m, &h);
	}
}

/* Why the detour leaves a hit to the agent */
enum cause {
	NO_TABLE,
	NO_STACK,
	VM_CHILD,
	BUSY,
	ON_ALTERNATE,
	ON_ALTERNATE_END,
	NO_PROBE,
	TOUCHES_MORE,
	CAUSES
};

/* Where the stack pointer is instead: at the end of what it must not be in, or beyond */
static void arrange(enum cause cause, bool beyond, u32 touches)
{
	u64 sp = (u64)(uintptr_t)STACK_POINTER;

	switch (cause) {
	case NO_TABLE:
		usable(beyond);
		break;
	case NO_STACK:
		self = beyond ? self : 0;
		break;
	case VM_CHILD:
		vm_children = !beyond;
		break;
	case BUSY:
		mine()->busy = beyond ? 0 : DP_BUSY_SELF;
		break;
	case ON_ALTERNATE:
		mine()->alt_sp = sp + beyond;
		mine()->alt_size = 4096;
		break;
	case ON_ALTERNATE_END:
		mine()->alt_sp = sp - 4096 + !beyond;
		mine()->alt_size = 4096;
		break;
	case NO_PROBE:
		fast = beyond ? fast : 0;
		break;
	default:
		probe.touches = beyond ? touches : touches | 1u << 13;
	}
}

static void left_to_the_agent(void **state)
{
	const struct handler none = { 0 },
			     h = { .touches = 0x0c7, .writes = 4 };
	struct machine m, want;
	u32 cause, beyond, told_number;

	for (cause = 0; cause < CAUSES; cause++)
		for (beyond = 0; beyond < 2; beyond++) {
			draw_registers(&m);
			be_handler(&h);
			begin(&m, beyond ? &h : &none, codes[0].text, &want);
			put_detour(h.touches, 0);
			arrange(cause, beyond, h.touches);
			go(&m);
			expect_same(&want, "left");
			if (beyond) {
				expect_called(&m, &h);
				continue;
			}
			told_number =
				NUMBER |
				(cause == NO_TABLE ? DP_CALLOUT_UNCOUNTED : 0);
			assert_int_equal(calls, 0);
			assert_int_equal(nr_told, 1);
			assert_int_equal(told[0], told_number);
			assert_int_equal(counted(), cause != NO_TABLE);
			assert_int_equal(dp_stack_busy(mine()),
					 cause == BUSY ? DP_BUSY_SELF : 0);
		}
}

/* The thread's stack pointer is within the handlers' stack: struct dp_stack is at its end. */
static void on_its_own_stack(void **state)
{
	static const s64 from[] = { 0, -512, -32768 };
	const struct handler h = { .touches = 0x0c7 };
	struct machine m;
	u32 i;

	for (i = 0; i < 3; i++) {
		be_handler(&h);
		reset();
		put_code(codes[4].text);
		put_detour(h.touches, 0);
		draw_registers(&m);
		/* The highest byte below it counts as within. */
		m.r[RSP] = self + (u64)from[i] - 8;
		m.flags = 0x202;
		go(&m);
		assert_int_equal(calls, 0);
		assert_int_equal(nr_told, 1);
		assert_int_equal(counted(), 1);
		assert_int_equal(machine_out.r[RSP], m.r[RSP]);
	}
}

/* The lowest bytes of the program's stack that are written */
static void takes_little_of_the_stack(void **state)
{
	const struct handler h = { .touches = 0x1ffff };
	struct machine m;
	u32 i = 0;

	draw_registers(&m);
	be_handler(&h);
	reset();
	put_code(codes[4].text);
	put_detour(h.touches, 0);
	go(&m);
	while (STACK_POINTER[-4096 + (s32)i] == 0x5a)
		i++;
	assert_true(4096 - i <= 384);
}

/* A handler that is given up goes on behind the call: the word below its struct dp_stack. */
static void given_up(void **state)
{
	struct handler h = { .touches = 0x1c7 };
	struct machine m, want;
	u8 *to;

	draw_registers(&m);
	be_handler(&h);
	begin(&m, &h, codes[0].text, &want);
	put_detour(h.touches, 0);
	/* mov $rubbish, %eax, %ecx, %r8; lea 8(%rsp), %rsp; jmp *-8(%rsp):
	 * rsp may be anything before */
	to = put(area + HANDLER, "b855555555 b955555555 49c7c055555555");
	to = put(to, "50 50 48bc");
	put(put_word(to, self, 8), "ff6424f8");
	go(&m);
	expect_same(&want, "given up");
	assert_int_equal(dp_stack_busy(mine()), 0);
	assert_int_equal(counted(), 1);
}

static int set_up(void **state)
{
	area = mmap(NULL, AREA, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	table = mmap(NULL, CPUS * sizeof(*table), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return area == MAP_FAILED || table == MAP_FAILED ? -1 : 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_as_without),
		cmocka_unit_test(left_to_the_agent),
		cmocka_unit_test(on_its_own_stack),
		cmocka_unit_test(takes_little_of_the_stack),
		cmocka_unit_test(given_up),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, set_up, NULL);
}
